// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/take_on_nodes.h"

#include "base/checked.h"
#include "plan/better_plan.h"
#include "plan/mesh/find_segments.h"
#include "plan/mesh/node_program.h"
#include "plan/objective.h"

namespace sluice {
namespace {

// Streams have cost down to this part of what their segments promise.
constexpr double kBelowPromise = 0.75;
// Longer programs are written once: how outputs are sent on changes them little.
constexpr size_t kWrittenTwice = 1 << 17;  // steps
constexpr int kMostInVain = 2;

double CostOf(const PlanCall& call, double energy_pj, double cycles) {
  sluice_report_t report = {};
  report.energy_pj = energy_pj;
  report.latency_cycles = static_cast<uint64_t>(cycles);
  return PlanCost(call.options, report);
}

bool BeatsBest(const PlanCall& call, double cost) {
  return !call.has_plan() || cost < call.best_cost;
}

// False if no plan on so many nodes is better than the best one: their MACs alone take
// too long or too much energy.
bool MayPay(const PlanCall& call, int64_t nodes) {
  const Hardware& h = call.hardware;
  const double macs = static_cast<double>(call.plain.report.macs);
  const double cycles =
      macs / static_cast<double>(Max<int64_t>(h.macs_per_cycle, 1) * nodes);
  return BeatsBest(
      call, CostOf(call, cycles * h.leakage_pj_per_cycle + macs * h.mac_pj, cycles));
}

struct Dealing {
  const SegmentSchedule& schedule;  // empty: layer by layer
  NodeRegion nodes;
  bool whole;  // outputs are sent on in one piece
};

// *steps: of the program.
Status TakeDealt(PlanCall* call, const Dealing& dealing, size_t* steps) {
  Candidate found(call->scratch->memory(), call->hardware);
  bool better = false;
  {
    Arena memory(call->scratch->memory());
    Diagnostic why = {};
    NodeProgram on_nodes;
    const Status status =
        ScheduleOnNodes({call->graph, call->hardware, call->plain.lowering,
                         call->capacity, dealing.schedule, dealing.nodes, dealing.whole,
                         call->coster, &call->search, &found.places, &memory},
                        &found.program, &on_nodes, &why);
    if (status == Status::kInternal) {
      return Fail(call->diagnostic, status, "nodes")
          .Text("layers on nodes wait for each other");
    }
    found.lowering = on_nodes.lowering;
    found.groups = on_nodes.groups;
    *steps = found.program.size();
    better = status == Status::kOk && IsBetter(call, &found, &memory);
  }
  return TakeFound(call, better, &found);
}

Status TakeSegments(PlanCall* call, const NodeRegion& nodes) {
  Arena memory(call->scratch->memory());
  Diagnostic ignored = {};
  Hardware part = call->hardware;  // with the leakage of the whole chip
  part.node_cols = nodes.extent[kColumns];
  part.node_rows = nodes.extent[kRows];
  SegmentSchedule schedule = {};
  if (FindSegments(
          {call->graph, part, call->plain.lowering, call->capacity, call->options},
          &call->search, &memory, &schedule, &ignored) != Status::kOk) {
    return Status::kOk;
  }
  const SegmentCost& promise = schedule.cost;
  const double cost = CostOf(*call, promise.energy_pj * kBelowPromise,
                             static_cast<double>(promise.cycles) * kBelowPromise);
  if (!BeatsBest(*call, cost)) return Status::kOk;
  size_t steps = 0;
  SLUICE_TRY(TakeDealt(call, {schedule, nodes, true}, &steps));
  if (steps > kWrittenTwice) return Status::kOk;
  return TakeDealt(call, {schedule, nodes, false}, &steps);
}

// Segments are mostly better than layers one by one, but take longer to find. With a
// clock, a plan layer by layer comes first.
Status TakeOnPart(PlanCall* call, const NodeRegion& nodes) {
  const Dealing one_by_one = {SegmentSchedule{}, nodes, false};
  size_t steps = 0;
  const bool first = call->clock->watched();
  if (first) SLUICE_TRY(TakeDealt(call, one_by_one, &steps));
  if (call->options.solver != SLUICE_SOLVER_BASELINE) {
    SLUICE_TRY(TakeSegments(call, nodes));
  }
  return first ? Status::kOk : TakeDealt(call, one_by_one, &steps);
}

}  // namespace

Status TakeOnMesh(PlanCall* call) {
  int in_vain = 0;
  for (NodeRegion nodes = WholeMesh(call->hardware); NodesOf(nodes) > 1;) {
    if (in_vain == kMostInVain || !MayPay(*call, NodesOf(nodes))) break;
    const bool had = call->has_plan();
    const double before = call->best_cost;
    SLUICE_TRY(TakeOnPart(call, nodes));
    const bool better = call->has_plan() && (!had || call->best_cost < before);
    in_vain = better ? 0 : in_vain + 1;
    uint32_t* longer = &nodes.extent[nodes.extent[kRows] > nodes.extent[kColumns]];
    *longer = (*longer + 1) / 2;
  }
  return MayPay(*call, 1) ? TakeFromSpace(call) : Status::kOk;
}

}  // namespace sluice
