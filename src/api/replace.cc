// SPDX-License-Identifier: Apache-2.0
// sluice_replace and its kin: the C face of joint order, replacement and addresses.
#include <new>

#include "api/arguments.h"
#include "api/objects.h"
#include "base/budget.h"
#include "sluice/experimental.h"
#include "solve/placement/spill/graph_operators.h"
#include "solve/placement/spill/joint.h"
#include "solve/placement/spill/replacement.h"

struct sluice_replacement {
  explicit sluice_replacement(sluice::Memory* memory) : arena(memory) {}
  sluice::Arena arena;
  sluice::Span<uint32_t> order;
  sluice::Span<sluice_residence_t> residences;
  sluice_replacement_summary_t report = {};
};

namespace sluice {
namespace {

constexpr char kStage[] = "placement";
constexpr uint64_t kDefaultStates = 1 << 16;

Status BadLists(Diagnostic* diagnostic, const char* what, uint32_t op) {
  return Fail(diagnostic, Status::kBadInput, kStage)
      .Layer(op)
      .Text(what)
      .Text(" list of operator ")
      .Number(op)
      .Text(" ends before it begins or is too long");
}

// Operands end up as all inputs, then all outputs.
Status ReadOperators(const sluice_operator_graph_t& in, Arena* arena,
                     OperatorGraph* out, Diagnostic* diagnostic) {
  const uint32_t n = in.operator_count;
  for (uint32_t o = 0; o < n; ++o) {
    if (in.input_begin[o] > in.input_begin[o + 1]) {
      return BadLists(diagnostic, "input", o);
    }
    if (in.output_begin[o] > in.output_begin[o + 1]) {
      return BadLists(diagnostic, "output", o);
    }
  }
  const uint32_t first_in = n == 0 ? 0 : in.input_begin[0];
  const uint32_t first_out = n == 0 ? 0 : in.output_begin[0];
  const uint32_t inputs = n == 0 ? 0 : in.input_begin[n] - first_in;
  const uint32_t outputs = n == 0 ? 0 : in.output_begin[n] - first_out;
  if (outputs > kNoOperand - 1 - inputs) return BadLists(diagnostic, "output", n - 1);
  Span<OperatorTensor> tensors;
  Span<Operator> operators;
  Span<uint32_t> operands;
  Span<OperatorEdge> edges;
  SLUICE_TRY(arena->Allocate(in.tensor_count, &tensors));
  SLUICE_TRY(arena->Allocate(n, &operators));
  SLUICE_TRY(arena->Allocate(size_t{inputs} + outputs, &operands));
  SLUICE_TRY(arena->Allocate(in.edge_count, &edges));
  for (uint32_t a = 0; a < in.tensor_count; ++a) {
    if (in.tensor_role[a] > SLUICE_ROLE_OUTPUT) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Tensor(a)
          .Text("tensor ")
          .Number(a)
          .Text(" has an unknown role");
    }
    tensors[a] =
        OperatorTensor{in.tensor_bytes[a], static_cast<TensorRole>(in.tensor_role[a])};
  }
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
    edges[e] = OperatorEdge{in.edges[2 * e], in.edges[2 * e + 1]};
  }
  *out = OperatorGraph{tensors, operators, operands, edges};
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

// tensor_of: what the caller calls each tensor; empty: the same.
Status Export(const OperatorGraph& graph, const SpillPlan& plan,
              Span<const uint32_t> tensor_of, int64_t alignment,
              sluice_replacement_t* out) {
  SLUICE_TRY(out->arena.Allocate(plan.order.size(), &out->order));
  SLUICE_TRY(out->arena.Allocate(plan.residences.size(), &out->residences));
  for (size_t i = 0; i < plan.order.size(); ++i) out->order[i] = plan.order[i];
  for (size_t i = 0; i < plan.residences.size(); ++i) {
    const Residence& r = plan.residences[i];
    out->residences[i] =
        sluice_residence_t{tensor_of.empty() ? r.tensor : tensor_of[r.tensor],
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
  report.largest_operator_bytes = LargestOperator(graph, alignment);
  report.states = plan.states;
  return Status::kOk;
}

// Diagnostics name operator tensors; the caller knows them by another number.
void Rename(Span<const uint32_t> tensor_of, Diagnostic* diagnostic) {
  if (diagnostic->tensor < tensor_of.size()) {
    diagnostic->tensor = tensor_of[diagnostic->tensor];
  }
}

Status Replace(const OperatorGraph& graph, Span<const uint32_t> tensor_of,
               const sluice_replacement_options_t& options, Arena* scratch,
               sluice_replacement_t* out, Diagnostic* diagnostic) {
  JointOptions joint;
  joint.capacity = options.capacity_bytes;
  joint.alignment = options.alignment == 0 ? 1 : options.alignment;
  joint.charge =
      options.charge == SLUICE_CHARGE_PAPER ? SpillCharge::kPaper : SpillCharge::kHost;
  joint.max_states = options.max_states == 0 ? kDefaultStates : options.max_states;
  joint.exact = options.fast == 0;
  SLUICE_TRY(Order(options, static_cast<uint32_t>(graph.operators.size()), scratch,
                   &joint.fixed_order));
  Budget budget(options.deadline_ns, 0, options.cancel);
  SpillPlan plan;
  const Status status =
      options.keep_order != 0 && !graph.operators.empty()
          ? PlanReplacement(graph, joint, &budget, scratch, &plan, diagnostic)
          : PlanJoint(graph, joint, &budget, scratch, &plan, diagnostic);
  if (status != Status::kOk) {
    Rename(tensor_of, diagnostic);
    return status;
  }
  return Export(graph, plan, tensor_of, joint.alignment, out);
}

bool Readable(const sluice_operator_graph_t& g) {
  return (g.tensor_count == 0 ||
          (g.tensor_bytes != nullptr && g.tensor_role != nullptr)) &&
         (g.operator_count == 0 ||
          (g.input_begin != nullptr && g.inputs != nullptr &&
           g.output_begin != nullptr && g.outputs != nullptr)) &&
         (g.edge_count == 0 || g.edges != nullptr);
}

// Makes the object, lets `fill` fill it, destroys it on failure.
template <typename Fill>
sluice_status_t Make(sluice_context_t* context,
                     const sluice_replacement_options_t* options,
                     sluice_replacement_t** out, CallReport* report, Fill fill) {
  sluice_replacement_options_t own;
  if (out == nullptr || options == nullptr || !ReadStruct(options, &own)) {
    return report->BadArgument(
        "options and result pointer must not be null, structs of a known version");
  }
  *out = nullptr;
  if (own.charge > SLUICE_CHARGE_PAPER) return report->BadArgument("unknown charge");
  void* p = context->memory.Allocate(sizeof(sluice_replacement_t),
                                     alignof(sluice_replacement_t));
  if (p == nullptr) return report->Done(Status::kOutOfMemory);
  auto* object = new (p) sluice_replacement_t(&context->memory);
  Arena scratch(&context->memory);
  const Status status = fill(own, &scratch, object);
  if (status == Status::kOk) {
    *out = object;
  } else {
    sluice_replacement_destroy(object);
  }
  return report->Done(status);
}

}  // namespace
}  // namespace sluice

sluice_status_t sluice_replace(sluice_context_t* context, const sluice_graph_t* graph,
                               const sluice_replacement_options_t* options,
                               sluice_replacement_t** out_replacement,
                               sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  if (context == nullptr || graph == nullptr) {
    return report.BadArgument("context and graph must not be null");
  }
  return sluice::Make(
      context, options, out_replacement, &report,
      [&](const sluice_replacement_options_t& own, sluice::Arena* scratch,
          sluice_replacement_t* out) {
        sluice::GraphOperatorOptions which;
        which.parameters = own.parameters != 0;
        which.in_place = own.in_place != 0;
        sluice::GraphOperators operators;
        SLUICE_TRY(sluice::OperatorsOf(graph->graph, which, scratch, &operators));
        return sluice::Replace(operators.operators, operators.tensor_of, own, scratch,
                               out, report.get());
      });
}

sluice_status_t sluice_replace_operators(sluice_context_t* context,
                                         const sluice_operator_graph_t* operators,
                                         const sluice_replacement_options_t* options,
                                         sluice_replacement_t** out_replacement,
                                         sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_operator_graph_t in;
  if (context == nullptr || operators == nullptr ||
      !sluice::ReadStruct(operators, &in) || !sluice::Readable(in)) {
    return report.BadArgument("context, operators and their lists must not be null");
  }
  return sluice::Make(
      context, options, out_replacement, &report,
      [&](const sluice_replacement_options_t& own, sluice::Arena* scratch,
          sluice_replacement_t* out) {
        sluice::OperatorGraph graph;
        SLUICE_TRY(sluice::ReadOperators(in, scratch, &graph, report.get()));
        return sluice::Replace(graph, {}, own, scratch, out, report.get());
      });
}

void sluice_replacement_destroy(sluice_replacement_t* replacement) {
  if (replacement == nullptr) return;
  sluice::Memory* memory = replacement->arena.memory();
  replacement->~sluice_replacement();
  memory->Release(replacement, sizeof *replacement, alignof(sluice_replacement_t));
}

sluice_status_t sluice_replacement_report(const sluice_replacement_t* replacement,
                                          sluice_replacement_summary_t* out_report) {
  if (replacement == nullptr) return SLUICE_BAD_ARGUMENT;
  return sluice::WriteStruct(replacement->report, out_report);
}

sluice_status_t sluice_replacement_plan(const sluice_replacement_t* replacement,
                                        const uint32_t** out_order,
                                        const sluice_residence_t** out_residences) {
  if (replacement == nullptr || out_order == nullptr || out_residences == nullptr) {
    return SLUICE_BAD_ARGUMENT;
  }
  *out_order = replacement->order.data();
  *out_residences = replacement->residences.data();
  return SLUICE_OK;
}

sluice_status_t sluice_minimum_footprint(sluice_context_t* context,
                                         const sluice_operator_graph_t* operators,
                                         const sluice_replacement_options_t* options,
                                         uint32_t* order, int64_t* out_peak_bytes,
                                         uint32_t* out_proved,
                                         sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_operator_graph_t in;
  sluice_replacement_options_t own;
  if (context == nullptr || operators == nullptr || out_peak_bytes == nullptr ||
      !sluice::ReadStruct(operators, &in) || !sluice::ReadStruct(options, &own) ||
      !sluice::Readable(in) || (in.operator_count != 0 && order == nullptr)) {
    return report.BadArgument(
        "context, operators, their lists, order and peak must not be null");
  }
  sluice::Arena scratch(&context->memory);
  sluice::OperatorGraph graph;
  sluice::FootprintPlan plan;
  sluice::Budget budget(own.deadline_ns, 0, own.cancel);
  sluice::Status status = sluice::ReadOperators(in, &scratch, &graph, report.get());
  if (status == sluice::Status::kOk) {
    status = sluice::PlanFootprint(graph, &budget, &scratch, &plan, report.get());
  }
  if (status != sluice::Status::kOk) return report.Done(status);
  for (size_t i = 0; i < plan.order.size(); ++i) order[i] = plan.order[i];
  *out_peak_bytes = plan.peak_bytes;
  if (out_proved != nullptr) *out_proved = plan.proved ? 1 : 0;
  return report.Done(status);
}
