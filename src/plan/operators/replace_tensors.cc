// SPDX-License-Identifier: Apache-2.0
#include "plan/operators/replace_tensors.h"

#include "base/budget.h"
#include "solve/placement/spill/graph_operators.h"
#include "solve/placement/spill/joint.h"
#include "solve/placement/spill/repeats.h"

namespace sluice {
namespace {

constexpr char kStage[] = "placement";
constexpr uint64_t kDefaultStates = 1 << 16;  // where the caller gives no limit

Status BadLists(Diagnostic* diagnostic, const char* what, uint32_t op) {
  return Fail(diagnostic, Status::kBadInput, kStage)
      .Layer(op)
      .Text(what)
      .Say(" list of operator # ends before it begins or is too long", op);
}

Status CheckLists(const sluice_operator_graph_t& in, Diagnostic* diagnostic) {
  for (uint32_t o = 0; o < in.operator_count; ++o) {
    if (in.input_begin[o] > in.input_begin[o + 1]) {
      return BadLists(diagnostic, "input", o);
    }
    if (in.output_begin[o] > in.output_begin[o + 1]) {
      return BadLists(diagnostic, "output", o);
    }
  }
  return Status::kOk;
}

Status ReadTensors(const sluice_operator_graph_t& in, Arena* arena,
                   Span<OperatorTensor>* tensors, Diagnostic* diagnostic) {
  SLUICE_TRY(arena->Allocate(in.tensor_count, tensors));
  for (uint32_t a = 0; a < in.tensor_count; ++a) {
    if (in.tensor_role[a] > SLUICE_PLACED_OUTPUT) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Tensor(a)
          .Say("tensor # has an unknown role", a);
    }
    (*tensors)[a] =
        OperatorTensor{in.tensor_bytes[a], static_cast<TensorRole>(in.tensor_role[a])};
  }
  return Status::kOk;
}

Status Order(const sluice_replacement_options_t& options, uint32_t operators,
             Arena* arena, Span<const uint32_t>* order) {
  if (options.keep_order == 0) return Status::kOk;
  Span<uint32_t> own;
  SLUICE_TRY(arena->Allocate(operators, &own));
  for (uint32_t o = 0; o < operators; ++o) {
    own[o] = options.order == nullptr ? o : options.order[o];
  }
  *order = own;
  return Status::kOk;
}

// tensor_of: the caller's number of each given tensor; empty: the same numbers.
Status Export(const RepeatedPlan& found, Span<const uint32_t> tensor_of,
              int64_t alignment, Arena* arena, Replacement* out) {
  const SpillPlan& plan = found.plan;
  SLUICE_TRY(arena->Allocate(plan.order.size(), &out->order));
  SLUICE_TRY(arena->Allocate(plan.residences.size(), &out->residences));
  for (size_t i = 0; i < plan.order.size(); ++i) {
    out->order[i] = found.operator_of[plan.order[i]];
  }
  for (size_t i = 0; i < plan.residences.size(); ++i) {
    const Residence& r = plan.residences[i];
    const uint32_t given = found.tensor_of[r.tensor];
    out->residences[i] =
        sluice_residence_t{tensor_of.empty() ? given : tensor_of[given],
                           r.begin,
                           r.end,
                           r.retrieved ? 1u : 0u,
                           r.spilled ? 1u : 0u,
                           r.takes_over,
                           r.offset};
  }
  sluice_replacement_summary_t& report = out->report;
  report.struct_size = sizeof report;
  report.proved = plan.proved ? 1 : 0;
  report.operator_count = static_cast<uint32_t>(plan.order.size());
  report.residence_count = static_cast<uint32_t>(plan.residences.size());
  report.spill_bytes = plan.spill_bytes;
  report.retrieve_bytes = plan.retrieve_bytes;
  report.lower_bound_bytes = plan.lower_bound;
  report.peak_bytes = plan.peak_bytes;
  report.largest_operator_bytes = LargestOperator(found.graph, alignment);
  report.again_bytes = found.repeat_bytes;
  report.states = plan.states;
  return Status::kOk;
}

// Diagnostics name operator tensors; the caller knows them by another number.
void Rename(Span<const uint32_t> tensor_of, Diagnostic* diagnostic) {
  if (diagnostic->tensor < tensor_of.size()) {
    diagnostic->tensor = tensor_of[diagnostic->tensor];
  }
}

// Fills `out`: the list of operands has all inputs first, then all outputs.
Status ReadOperators(const sluice_operator_graph_t& in, Arena* arena,
                     OperatorGraph* out, Diagnostic* diagnostic) {
  const uint32_t n = in.operator_count;
  SLUICE_TRY(CheckLists(in, diagnostic));
  const uint32_t first_in = n == 0 ? 0 : in.input_begin[0];
  const uint32_t first_out = n == 0 ? 0 : in.output_begin[0];
  const uint32_t inputs = n == 0 ? 0 : in.input_begin[n] - first_in;
  const uint32_t outputs = n == 0 ? 0 : in.output_begin[n] - first_out;
  if (outputs > kNoOperand - 1 - inputs) return BadLists(diagnostic, "output", n - 1);
  Span<OperatorTensor> tensors;
  Span<Operator> operators;
  Span<uint32_t> operands;
  Span<OperatorEdge> edges;
  SLUICE_TRY(ReadTensors(in, arena, &tensors, diagnostic));
  SLUICE_TRY(arena->Allocate(n, &operators));
  SLUICE_TRY(arena->Allocate(size_t{inputs} + outputs, &operands));
  SLUICE_TRY(arena->Allocate(in.edge_count, &edges));
  for (uint32_t i = 0; i < inputs; ++i) operands[i] = in.inputs[first_in + i];
  for (uint32_t i = 0; i < outputs; ++i) {
    operands[inputs + i] = in.outputs[first_out + i];
  }
  for (uint32_t o = 0; o < n; ++o) {
    operators[o] = Operator{in.input_begin[o] - first_in,
                            in.input_begin[o + 1] - in.input_begin[o],
                            inputs + in.output_begin[o] - first_out,
                            in.output_begin[o + 1] - in.output_begin[o],
                            in.in_place == nullptr ? kNoOperand : in.in_place[o]};
  }
  for (uint32_t e = 0; e < in.edge_count; ++e) {
    edges[e] = OperatorEdge{in.edges[size_t{2} * e], in.edges[size_t{2} * e + 1]};
  }
  *out = OperatorGraph{tensors, operators, operands, edges};
  return Status::kOk;
}

// Spills, retrievals and addresses for operators, or for operators and their order.
Status Replace(const OperatorGraph& graph, Span<const uint32_t> tensor_of,
               const ReplacementCall& call, Replacement* out) {
  const sluice_replacement_options_t& options = call.options;
  Arena* scratch = call.scratch;
  Diagnostic* diagnostic = call.diagnostic;
  JointOptions joint;
  joint.capacity = options.capacity_bytes;
  joint.alignment = options.alignment == 0 ? 1 : options.alignment;
  joint.charge =
      options.charge == SLUICE_CHARGE_PAPER ? SpillCharge::kPaper : SpillCharge::kHost;
  joint.max_states = options.max_states == 0 ? kDefaultStates : options.max_states;
  joint.exact = options.fast == 0;
  SLUICE_TRY(Order(options, static_cast<uint32_t>(graph.operators.size()), scratch,
                   &joint.fixed_order));
  Budget budget(scratch->memory()->time(), options.deadline_ns, 0, options.cancel);
  const size_t priced = options.again_bytes == nullptr ? 0 : graph.operators.size();
  RepeatedPlan plan;
  const Status status = PlanRepeats(graph, {options.again_bytes, priced}, joint,
                                    {&budget, scratch, diagnostic}, &plan);
  if (status != Status::kOk) {
    Rename(tensor_of, diagnostic);
    return status;
  }
  return Export(plan, tensor_of, joint.alignment, call.arena, out);
}

}  // namespace

Status ReplaceInGraph(const Graph& graph, const ReplacementCall& call,
                      Replacement* out) {
  GraphOperatorOptions which;
  which.parameters = call.options.parameters != 0;
  which.in_place = call.options.in_place != 0;
  GraphOperators operators;
  SLUICE_TRY(OperatorsOf(graph, which, call.scratch, &operators));
  return Replace(operators.operators, operators.tensor_of, call, out);
}

Status ReplaceInOperators(const sluice_operator_graph_t& operators,
                          const ReplacementCall& call, Replacement* out) {
  OperatorGraph graph;
  SLUICE_TRY(ReadOperators(operators, call.scratch, &graph, call.diagnostic));
  return Replace(graph, {}, call, out);
}

Status FindMinimumFootprint(const sluice_operator_graph_t& operators,
                            const ReplacementCall& call, Footprint* out) {
  OperatorGraph graph;
  FootprintPlan plan;
  Budget budget(call.scratch->memory()->time(), call.options.deadline_ns, 0,
                call.options.cancel);
  SLUICE_TRY(ReadOperators(operators, call.scratch, &graph, call.diagnostic));
  SLUICE_TRY(PlanFootprint(graph, &budget, call.scratch, &plan, call.diagnostic));
  for (size_t i = 0; i < plan.order.size(); ++i) out->order[i] = plan.order[i];
  out->peak_bytes = plan.peak_bytes;
  out->proved = plan.proved;
  return Status::kOk;
}

}  // namespace sluice
