// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/take_on_nodes.h"

#include "base/checked.h"
#include "model/report.h"
#include "plan/better_plan.h"
#include "plan/mesh/find_segments.h"
#include "plan/mesh/node_program.h"
#include "plan/objective.h"
#include "plan/space/take_space.h"

namespace sluice {
namespace {

// The smallest ratio seen of a stream's cost to the cost that its segments predict.
constexpr double kBelowPromise = 0.75;
// Longer programs are written once: how outputs are sent on changes them little.
constexpr size_t kWrittenTwice = 1 << 18;  // steps
// The search ends after so many parts of the mesh in a row that are no better. If plans are
// cheap to make, all parts are tried.
constexpr int kMostInVain = 2;
constexpr size_t kMuchWork = 1 << 20;  // steps of the plans written so far
constexpr double kNoCost = 1e300;

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

NodeRegion HalfOf(NodeRegion nodes) {
  uint32_t* longer = &nodes.extent[nodes.extent[kRows] > nodes.extent[kColumns]];
  *longer = (*longer + 1) / 2;
  return nodes;
}

struct Dealing {
  const SegmentSchedule& schedule;  // empty: layer by layer
  NodeRegion nodes;
  bool whole;                 // outputs are sent on in one piece
  Span<const LayerWay> ways;  // as in NodeCall
};

// Writes the program. *fits: it is complete.
Status WriteDealt(PlanCall* call, const Dealing& dealing, Candidate* found,
                  Arena* memory, bool* fits) {
  Diagnostic why = {};
  NodeProgram on_nodes;
  const Status status = ScheduleOnNodes(
      {call->graph, call->hardware, call->plain.lowering, call->capacity,
       dealing.schedule, dealing.nodes, dealing.whole, call->coster, &call->search,
       &found->places, memory, dealing.ways},
      &found->program, &on_nodes, &why);
  if (status == Status::kInternal) {
    return Fail(call->diagnostic, status, "nodes")
        .Text("layers on nodes wait for each other");
  }
  found->lowering = on_nodes.lowering;
  found->groups = on_nodes.groups;
  *fits = status == Status::kOk;
  return Status::kOk;
}

Status TakeDealt(PlanCall* call, const Dealing& dealing) {
  Candidate found(call->scratch->memory(), call->hardware);
  bool better = false;
  {
    Arena memory(call->scratch->memory());
    bool fits = false;
    SLUICE_TRY(WriteDealt(call, dealing, &found, &memory, &fits));
    better = fits && IsBetter(call, &found, &memory);
  }
  return TakeFound(call, better, &found);
}

// What plans that were written cost, layer by layer.
struct Measured {
  Measured(PlanCall* c, Arena* m) : call(c), memory(m) {}
  PlanCall* call;
  Arena* memory;
  // A layer's cost: of a cycle and of a pJ, in parts of the first plan's.
  double per_cycle = 0, per_pj = 0;
  size_t steps = 0;      // that were written
  Span<LayerWay> alone;  // the best way of each layer by itself
  Span<double> least;    // what it costs
};

// One plan's costs by layer; the first layer of those that overlap has all of theirs.
struct DealtCost {
  Span<double> of;
  double plan = kNoCost;
  size_t steps = 0;
};

void SetScale(Measured* self, const sluice_report_t& report) {
  if (self->per_cycle > 0 || self->per_pj > 0) return;
  const Exponents e = ExponentsOf(self->call->options);
  self->per_cycle = e.delay / Max(1.0, static_cast<double>(report.latency_cycles));
  self->per_pj = e.energy / Max(1.0, report.energy_pj);
}

// cost->plan stays kNoCost where the plan is too long or time or memory do not suffice.
Status Measure(Measured* self, const Dealing& dealing, DealtCost* cost) {
  PlanCall* call = self->call;
  Candidate found(call->scratch->memory(), call->hardware);
  Arena memory(call->scratch->memory());
  bool fits = false;
  SLUICE_TRY(self->memory->Allocate(call->graph.layers.size(), &cost->of));
  for (double& of : cost->of) of = kNoCost;
  SLUICE_TRY(WriteDealt(call, dealing, &found, &memory, &fits));
  const Program& program = found.program;
  cost->steps = program.size();
  self->steps += program.size();
  if (!fits) return Status::kOk;
  Span<int64_t> ends;
  Span<BlockCost> blocks;
  SLUICE_TRY(memory.Allocate(program.block_count(), &ends));
  SLUICE_TRY(memory.Allocate(program.block_count(), &blocks));
  if (CompleteCandidate({call->graph, call->hardware, call->bound}, &memory, &found,
                        ends) != Status::kOk ||
      FillBlockCosts({call->graph, call->hardware, program}, ends,
                     *call->scratch->memory(), blocks) != Status::kOk) {
    return Status::kOk;
  }
  SetScale(self, found.report);
  cost->plan = PlanCost(call->options, found.report);
  for (double& of : cost->of) of = 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].steps == 0) continue;
    cost->of[program.step(program.block_begin(b)).layer] +=
        blocks[b].energy_pj * self->per_pj +
        static_cast<double>(blocks[b].cycles) * self->per_cycle;
  }
  return Status::kOk;
}

// The best part of the mesh for each layer by itself: the whole, or halves of it until
// two in a row are better for no layer.
Status MeasureAlone(Measured* self) {
  const size_t n = self->call->graph.layers.size();
  NodeRegion nodes = WholeMesh(self->call->hardware);
  SLUICE_TRY(self->memory->Allocate(n, &self->alone));
  SLUICE_TRY(self->memory->Allocate(n, &self->least));
  for (size_t l = 0; l < n; ++l) {
    self->alone[l] = LayerWay{false, false, nodes};
    self->least[l] = kNoCost;
  }
  for (int in_vain = 0; NodesOf(nodes) > 1 && in_vain < kMostInVain;
       nodes = HalfOf(nodes)) {
    ArenaScope scope(self->memory);
    const SegmentSchedule none = {};
    DealtCost cost;
    SLUICE_TRY(Measure(self, {none, nodes, false, {}}, &cost));
    ++in_vain;
    for (size_t l = 0; l < n; ++l) {
      if (cost.of[l] >= self->least[l]) continue;
      self->least[l] = cost.of[l];
      self->alone[l].nodes = nodes;
      in_vain = 0;
    }
  }
  return Status::kOk;
}

double SumOver(const SegmentSchedule& schedule, const Segment& segment,
               Span<double> of) {
  double sum = 0;
  for (size_t i = 0; i < segment.layers.size(); ++i) {
    sum += of[schedule.order[segment.begin + i]];
  }
  return sum;
}

// Takes each segment in the way that costs least where it was measured: its layers
// together, in one of two ways, or each by itself.
Status TakeMixed(Measured* self, const SegmentSchedule& schedule,
                 const NodeRegion& nodes, const DealtCost (&together)[2]) {
  Span<LayerWay> ways;
  SLUICE_TRY(self->memory->Allocate(self->alone.size(), &ways));
  for (size_t l = 0; l < ways.size(); ++l) ways[l] = self->alone[l];
  for (const Segment& segment : schedule.segments) {
    double least = SumOver(schedule, segment, self->least);
    for (int pieces = 0; pieces < 2; ++pieces) {
      const double cost = SumOver(schedule, segment, together[pieces].of);
      if (cost >= least) continue;
      least = cost;
      LayerWay* way = &ways[schedule.order[segment.begin]];
      way->together = true;
      way->whole = pieces == 0;
    }
  }
  return TakeDealt(self->call, {schedule, nodes, true, ways});
}

Status TakeSegments(Measured* self, const NodeRegion& nodes) {
  PlanCall* call = self->call;
  Arena memory(call->scratch->memory());
  ArenaScope scope(self->memory);
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
  DealtCost together[2];
  SLUICE_TRY(Measure(self, {schedule, nodes, true, {}}, &together[0]));
  if (together[0].steps > kWrittenTwice) {
    together[1] = together[0];
  } else {
    SLUICE_TRY(Measure(self, {schedule, nodes, false, {}}, &together[1]));
  }
  SLUICE_TRY(TakeMixed(self, schedule, nodes, together));
  // What a group costs depends a little on its neighbours.
  for (int pieces = 0; pieces < 2; ++pieces) {
    if (together[pieces].plan >= kNoCost || !BeatsBest(*call, together[pieces].plan)) {
      continue;
    }
    SLUICE_TRY(TakeDealt(call, {schedule, nodes, pieces == 0, {}}));
  }
  return Status::kOk;
}

}  // namespace

Status TakeOnMesh(PlanCall* call) {
  const NodeRegion all = WholeMesh(call->hardware);
  const SegmentSchedule none = {};
  // Segments are mostly better than layers one by one, but take longer to find. With a
  // clock, a plan layer by layer comes first.
  if (call->clock->watched()) {
    SLUICE_TRY(TakeDealt(call, {none, all, false, {}}));
  }
  Arena memory(call->scratch->memory());
  Measured measured(call, &memory);
  SLUICE_TRY(MeasureAlone(&measured));
  SLUICE_TRY(TakeDealt(call, {none, all, false, measured.alone}));
  const bool segments = call->options.solver != SLUICE_SOLVER_BASELINE;
  int in_vain = 0;
  for (NodeRegion nodes = all; segments && NodesOf(nodes) > 1; nodes = HalfOf(nodes)) {
    const bool ends = in_vain >= kMostInVain && measured.steps > kMuchWork;
    if (ends || !MayPay(*call, NodesOf(nodes))) break;
    const bool had = call->has_plan();
    const double before = call->best_cost;
    SLUICE_TRY(TakeSegments(&measured, nodes));
    const bool better = call->has_plan() && (!had || call->best_cost < before);
    in_vain = better ? 0 : in_vain + 1;
  }
  return MayPay(*call, 1) ? TakeFromSpace(call) : Status::kOk;
}

}  // namespace sluice
