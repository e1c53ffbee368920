// SPDX-License-Identifier: Apache-2.0
// Placement by itself: offsets of buffers, and order, spills and addresses of
// operators.
#include "api/arguments.h"
#include "api/create.h"
#include "api/objects.h"
#include "plan/operators/replace_tensors.h"
#include "plan/place/place_buffers.h"
#include "sluice/experimental.h"

struct sluice_replacement {
  explicit sluice_replacement(sluice::Memory* memory) : arena(memory) {}
  sluice::Arena arena;
  sluice::Replacement answer;
};

namespace sluice {
namespace {

bool Readable(const sluice_placement_problem_t& p) {
  return (p.buffer_count == 0 || p.buffers != nullptr) &&
         (p.gap_count == 0 || p.gaps != nullptr) &&
         (p.region_count == 0 || p.regions != nullptr);
}

bool Readable(const sluice_operator_graph_t& g) {
  return (g.tensor_count == 0 ||
          (g.tensor_bytes != nullptr && g.tensor_role != nullptr)) &&
         (g.operator_count == 0 ||
          (g.input_begin != nullptr && g.inputs != nullptr &&
           g.output_begin != nullptr && g.outputs != nullptr)) &&
         (g.edge_count == 0 || g.edges != nullptr);
}

// Checks the options, and makes the answer by `fill`.
template <typename Fill>
sluice_status_t MakeReplacement(sluice_context_t* context,
                                const sluice_replacement_options_t* options,
                                sluice_replacement_t** out, CallReport* report,
                                Fill fill) {
  sluice_replacement_options_t own;
  if (out == nullptr || options == nullptr || !ReadStruct(options, &own)) {
    return report->BadArgument(
        "options and result pointer must not be null, structs of a known version");
  }
  *out = nullptr;
  if (own.charge > SLUICE_CHARGE_PAPER) return report->BadArgument("unknown charge");
  const ContextUse use(context);
  if (!use.entered()) return report->InUse();
  return report->Done(Make(context, out, [&](sluice_replacement_t* object) {
    Arena scratch(&context->memory);
    const ReplacementCall call = {own, &object->arena, &scratch, report->get()};
    return fill(call, &object->answer);
  }));
}

}  // namespace
}  // namespace sluice

sluice_status_t sluice_place(sluice_context_t* context,
                             const sluice_placement_problem_t* problem,
                             const sluice_placement_options_t* options,
                             sluice_placement_t* placement,
                             sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_placement_problem_t own_problem;
  sluice_placement_options_t own_options;
  sluice_placement_t arrays;
  if (context == nullptr || problem == nullptr || placement == nullptr ||
      !sluice::ReadStruct(problem, &own_problem) ||
      !sluice::ReadStruct(options, &own_options) ||
      !sluice::ReadStruct(placement, &arrays) || !sluice::Readable(own_problem) ||
      (own_problem.buffer_count != 0 && arrays.offsets == nullptr)) {
    return report.BadArgument(
        "context, problem, its lists, offsets and placement must not be null, structs "
        "of a known version");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice_placement_t found = {};
  found.struct_size = sizeof found;
  found.offsets = arrays.offsets;
  found.conflict = arrays.conflict;
  sluice::Arena arena(&context->memory);
  const sluice::Status status =
      sluice::PlaceBuffers({own_problem, own_options, arrays.offsets, arrays.conflict},
                           &arena, &found, report.get());
  (void)sluice::WriteStruct(found, placement);
  return report.Done(status);
}

sluice_status_t sluice_replace(sluice_context_t* context, const sluice_graph_t* graph,
                               const sluice_replacement_options_t* options,
                               sluice_replacement_t** out_replacement,
                               sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  if (out_replacement != nullptr) *out_replacement = nullptr;
  if (context == nullptr || graph == nullptr) {
    return report.BadArgument("context and graph must not be null");
  }
  return sluice::MakeReplacement(
      context, options, out_replacement, &report,
      [&](const sluice::ReplacementCall& call, sluice::Replacement* out) {
        return sluice::ReplaceInGraph(graph->graph, call, out);
      });
}

sluice_status_t sluice_replace_operators(sluice_context_t* context,
                                         const sluice_operator_graph_t* operators,
                                         const sluice_replacement_options_t* options,
                                         sluice_replacement_t** out_replacement,
                                         sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  if (out_replacement != nullptr) *out_replacement = nullptr;
  sluice_operator_graph_t in;
  if (context == nullptr || operators == nullptr ||
      !sluice::ReadStruct(operators, &in) || !sluice::Readable(in)) {
    return report.BadArgument("context, operators and their lists must not be null");
  }
  return sluice::MakeReplacement(
      context, options, out_replacement, &report,
      [&](const sluice::ReplacementCall& call, sluice::Replacement* out) {
        return sluice::ReplaceInOperators(in, call, out);
      });
}

void sluice_replacement_destroy(sluice_replacement_t* replacement) {
  sluice::Destroy(replacement);
}

sluice_status_t sluice_replacement_report(const sluice_replacement_t* replacement,
                                          sluice_replacement_summary_t* out_report) {
  if (replacement == nullptr) return SLUICE_BAD_ARGUMENT;
  return sluice::WriteStruct(replacement->answer.report, out_report);
}

sluice_status_t sluice_replacement_plan(const sluice_replacement_t* replacement,
                                        const uint32_t** out_order,
                                        const sluice_residence_t** out_residences) {
  if (replacement == nullptr || out_order == nullptr || out_residences == nullptr) {
    return SLUICE_BAD_ARGUMENT;
  }
  *out_order = replacement->answer.order.data();
  *out_residences = replacement->answer.residences.data();
  return SLUICE_OK;
}

sluice_status_t sluice_minimum_footprint(sluice_context_t* context,
                                         const sluice_operator_graph_t* operators,
                                         const sluice_replacement_options_t* options,
                                         sluice_footprint_t* footprint,
                                         sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_operator_graph_t in;
  sluice_replacement_options_t own;
  sluice_footprint_t out;
  if (context == nullptr || operators == nullptr || footprint == nullptr ||
      !sluice::ReadStruct(operators, &in) || !sluice::ReadStruct(options, &own) ||
      !sluice::ReadStruct(footprint, &out) || !sluice::Readable(in) ||
      (in.operator_count != 0 && out.order == nullptr)) {
    return report.BadArgument(
        "context, operators, their lists, footprint and order must not be null, "
        "structs of a known version");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena scratch(&context->memory);
  sluice::Footprint found = {out.order, 0, false};
  const sluice::Status status =
      sluice::FindMinimumFootprint(in, {own, &scratch, &scratch, report.get()}, &found);
  if (status != sluice::Status::kOk) return report.Done(status);
  out.peak_bytes = found.peak_bytes;
  out.proved = found.proved ? 1 : 0;
  (void)sluice::WriteStruct(out, footprint);
  return report.Done(status);
}
