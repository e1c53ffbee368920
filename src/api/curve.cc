// SPDX-License-Identifier: Apache-2.0
// sluice_curve: checks arguments, then asks the planner for a plan per scratchpad size.
#include "plan/together/curve.h"

#include "api/arguments.h"
#include "api/create.h"
#include "api/objects.h"
#include "base/checked.h"
#include "sluice/experimental.h"

namespace sluice {
namespace {

constexpr uint32_t kMaxPoints = 256;

struct CurveCall {
  const Graph& graph;
  const Hardware& hardware;
  const sluice_schedule_options_t& options;
};

// out->count: points asked for, then points made.
Status Curve(const CurveCall& call, Arena* scratch, sluice_curve_list_t* out,
             Diagnostic* diagnostic) {
  const sluice_schedule_options_t& options = call.options;
  CurveRequest request = {options, out->count, 0, nullptr, 0};
  if (options.resume != nullptr) {
    request.resume = &options.resume->plan;
    request.resume_bytes = options.resume->bytes.size();
  }
  if (options.deadline_ns != 0) {
    const uint64_t now = scratch->memory()->time().Now();
    request.end_ns = now + Min(options.deadline_ns, UINT64_MAX - now);
  }
  if (options.energy_exponent == 0) request.options.delay_exponent = 1;
  Vector<CurvePoint> made(scratch);
  SLUICE_TRY(made.Reserve(out->count + 1));
  SLUICE_TRY(MakeCurve(call.graph, call.hardware, request, scratch, &made, diagnostic));
  out->count = static_cast<uint32_t>(made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    const CurvePoint& from = made[i];
    out->points[i] = {static_cast<uint64_t>(from.bytes),
                      static_cast<uint64_t>(from.need),
                      static_cast<uint64_t>(from.latency), from.energy_pj};
  }
  return Status::kOk;
}

}  // namespace
}  // namespace sluice

sluice_status_t sluice_curve(sluice_context_t* context, const sluice_graph_t* graph,
                             const sluice_hardware_t* hardware,
                             const sluice_schedule_options_t* options,
                             sluice_curve_list_t* curve,
                             sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_schedule_options_t own;
  sluice_curve_list_t out;
  if (context == nullptr || graph == nullptr || hardware == nullptr ||
      curve == nullptr || !sluice::ReadStruct(options, &own) ||
      !sluice::ReadStruct(curve, &out) || out.points == nullptr || out.count < 2 ||
      out.count > sluice::kMaxPoints) {
    return report.BadArgument(
        "context, graph, hardware, curve and its points must not be null, 2 to 256 "
        "points be asked for, structs be of a known version");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena scratch(&context->memory);
  const sluice::Status status = sluice::Curve({graph->graph, hardware->hardware, own},
                                              &scratch, &out, report.get());
  (void)sluice::WriteStruct(out, curve);
  return report.Done(status);
}
