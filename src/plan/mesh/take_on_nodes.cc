// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/take_on_nodes.h"

#include "base/checked.h"
#include "model/report.h"
#include "plan/better_plan.h"
#include "plan/mesh/find_segments.h"
#include "plan/mesh/node_mix.h"
#include "plan/mesh/node_program.h"
#include "plan/mesh/node_runs.h"
#include "plan/mesh/segment_network.h"
#include "plan/objective.h"
#include "plan/space/take_space.h"
#include "solve/baseline/tiling_memo.h"

namespace sluice {
namespace {

// Where plans are dear to make, the search ends after a part of the mesh that is no better
// than the one before it; else it goes on as long as a part may be better.
constexpr size_t kMuchWork = 1 << 20;  // steps of the plans written so far
// Part of a program's steps that is left for what groups add to each other.
constexpr size_t kStepsLeft = 16;
constexpr double kNoCost = 1e300;

NodeRegion HalfOf(NodeRegion nodes) {
  uint32_t* longer = &nodes.extent[nodes.extent[kRows] > nodes.extent[kColumns]];
  *longer = (*longer + 1) / 2;
  return nodes;
}

size_t MuchWork(const PlanCall& call) { return Min(kMuchWork, call.most_steps / 2); }

struct Dealing {
  const SegmentSchedule& schedule;  // empty: layer by layer
  NodeRegion nodes;
  bool whole;                 // outputs are sent on in one piece
  Span<const LayerWay> ways;  // as in NodeCall
  Span<uint32_t> sizes = {};  // as in NodeCall
  bool aside = false;         // not part of Measured::steps
  Span<LayerTry> tries = {};  // as in NodeCall
};

// Writes the program, or what shows its price. *fits: it is complete.
Status WriteDealt(PlanCall* call, const Dealing& dealing, Candidate* found,
                  Vector<double>* weights, Arena* memory, bool* fits) {
  Diagnostic why = {};
  NodeProgram on_nodes;
  const Status status = ScheduleOnNodes(
      {call->graph, call->hardware, call->plain.lowering, call->capacity,
       dealing.schedule, dealing.nodes, dealing.whole, call->coster, &call->search,
       &found->places, memory, dealing.ways, dealing.tries, weights, call->most_steps,
       dealing.sizes},
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
    SLUICE_TRY(WriteDealt(call, dealing, &found, nullptr, &memory, &fits));
    better = fits && IsBetter(call, &found, &memory);
  }
  return TakeFound(call, better, &found);
}

// What plans that were written cost, layer by layer.
struct Measured {
  Measured(PlanCall* c, Arena* m) : call(c), memory(m), items(m) {}
  PlanCall* call;
  Arena* memory;
  // A layer's cost: of a cycle and of a pJ, in parts of the first plan's.
  double per_cycle = 0, per_pj = 0;
  size_t steps = 0;       // that were written; but for layers in a second way
  Span<LayerWay> alone;   // the best way of each layer by itself
  Span<uint32_t> alike;   // the first layer that costs the same
  Span<double> least;     // what it costs
  Span<size_t> steps_of;  // and takes
  Span<const uint32_t> order;
  Vector<NodeItem> items;  // layers together
};

// One plan's costs by layer; the first layer of those that overlap has all of theirs.
struct DealtCost {
  Span<double> of;
  Span<size_t> steps_of;
  bool fits = false;
  size_t steps = 0;
};

double WeightOf(const Vector<double>& weights, size_t block) {
  return block < weights.size() ? weights[block] : 1;
}

void SetScale(Measured* self, Span<const BlockCost> blocks,
              const Vector<double>& weights) {
  if (self->per_cycle > 0 || self->per_pj > 0) return;
  double cycles = 0, pj = 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    cycles += static_cast<double>(blocks[b].cycles) * WeightOf(weights, b);
    pj += blocks[b].energy_pj * WeightOf(weights, b);
  }
  const Exponents e = ExponentsOf(self->call->options);
  self->per_cycle = e.delay / Max(1.0, cycles);
  self->per_pj = e.energy / Max(1.0, pj);
}

// cost->fits stays false where the plan is too long or time or memory do not suffice.
Status Measure(Measured* self, const Dealing& dealing, DealtCost* cost) {
  PlanCall* call = self->call;
  Candidate found(call->scratch->memory(), call->hardware);
  Arena memory(call->scratch->memory());
  bool fits = false;
  SLUICE_TRY(self->memory->Allocate(call->graph.layers.size(), &cost->of));
  SLUICE_TRY(self->memory->Allocate(call->graph.layers.size(), &cost->steps_of));
  for (double& of : cost->of) of = kNoCost;
  Vector<double> weights(&memory);
  SLUICE_TRY(WriteDealt(call, dealing, &found, &weights, &memory, &fits));
  const Program& program = found.program;
  cost->steps = program.size();
  if (!dealing.aside) self->steps += program.size();
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
  SetScale(self, blocks, weights);
  cost->fits = true;
  for (double& of : cost->of) of = 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].steps == 0) continue;
    const uint32_t layer = program.step(program.block_begin(b)).layer;
    const double weight = WeightOf(weights, b);
    cost->steps_of[layer] +=
        static_cast<size_t>(weight * static_cast<double>(blocks[b].steps));
    cost->of[layer] +=
        weight * (blocks[b].energy_pj * self->per_pj +
                  static_cast<double>(blocks[b].cycles) * self->per_cycle);
  }
  return Status::kOk;
}

// The first layers that cost the same, where they are split alike as well.
Status TryAlone(Measured* self, const SegmentSchedule& schedule,
                Span<LayerTry>* tries) {
  SLUICE_TRY(self->memory->Allocate(self->alike.size(), tries));
  Span<const NodeSplit*> splits;
  SLUICE_TRY(self->memory->Allocate(self->alike.size(), &splits));
  for (const Segment& segment : schedule.segments) {
    for (const LayerOnNodes& at : segment.layers) splits[at.layer] = &at.split;
  }
  for (uint32_t l = 0; l < tries->size(); ++l) {
    const uint32_t of = self->alike[l];
    const bool same = splits[l] != nullptr && splits[of] != nullptr &&
                      memcmp(splits[l], splits[of], sizeof *splits[l]) == 0;
    (*tries)[l].alike = same ? of : l;
  }
  return Status::kOk;
}

// Whether the tensors lie in memories of one kind.
bool InSameRegion(const PlanCall& call, uint32_t a, uint32_t b) {
  if (a == kNone || b == kNone) return a == b;
  const Span<const TensorPlace> places = call.plain.lowering.places;
  return places[a].region == places[b].region;
}

bool CostAlike(const PlanCall& call, const Layer& a, const Layer& b) {
  bool same =
      SameLayer(call.graph, a, b) && InSameRegion(call, a.outputs[0], b.outputs[0]);
  for (size_t i = 0; same && i < a.inputs.size(); ++i) {
    same = InSameRegion(call, a.inputs[i], b.inputs[i]);
  }
  return same;
}

// Sets the first layer that costs the same.
Status FindAlike(Measured* self) {
  const PlanCall& call = *self->call;
  const Span<Layer> layers = call.plain.lowering.executed;
  Span<uint64_t> hashes;
  Span<uint32_t> alike;
  SLUICE_TRY(self->memory->Allocate(layers.size(), &hashes));
  SLUICE_TRY(self->memory->Allocate(layers.size(), &alike));
  self->alike = alike;
  for (uint32_t l = 0; l < layers.size(); ++l) {
    alike[l] = l;
    if (KindOf(layers[l].op) != LayerKind::kCompute || call.coster.by_layer) continue;
    hashes[l] = HashOfLayer(call.graph, layers[l]);
    for (uint32_t k = 0; k < l && alike[l] == l; ++k) {
      if (hashes[k] != hashes[l] || alike[k] != k) continue;
      if (CostAlike(call, layers[k], layers[l])) alike[l] = k;
    }
  }
  return Status::kOk;
}

// The best part of the mesh for each layer by itself, in small tiles or large ones: the
// whole, or halves of it.
Status MeasureAlone(Measured* self, NodeRegion nodes) {
  const size_t n = self->call->graph.layers.size();
  SLUICE_TRY(self->memory->Allocate(n, &self->alone));
  SLUICE_TRY(self->memory->Allocate(n, &self->least));
  SLUICE_TRY(self->memory->Allocate(n, &self->steps_of));
  Span<LayerTry> tries;
  SLUICE_TRY(self->memory->Allocate(n, &tries));
  SLUICE_TRY(FindAlike(self));
  for (size_t l = 0; l < n; ++l) {
    self->alone[l] = LayerWay{false, false, nodes};
    self->least[l] = kNoCost;
  }
  for (bool in_vain = false; NodesOf(nodes) > 1; nodes = HalfOf(nodes)) {
    if (in_vain && self->steps > MuchWork(*self->call)) break;
    in_vain = true;
    for (uint32_t l = 0; l < n; ++l) {
      tries[l] = LayerTry{self->alike[l], false, false, {}, {}};
    }
    for (int whole = 0; whole < 2; ++whole) {
      ArenaScope scope(self->memory);
      const SegmentSchedule none = {};
      DealtCost cost;
      SLUICE_TRY(
          Measure(self, {none, nodes, whole == 1, {}, {}, whole == 1, tries}, &cost));
      for (size_t l = 0; l < n; ++l) {
        const uint32_t of = tries[l].alike;
        if (tries[of].same || cost.of[of] >= self->least[l]) continue;
        self->least[l] = cost.of[of];
        self->steps_of[l] = cost.steps_of[of];
        self->alone[l] = LayerWay{false, whole == 1, nodes};
        in_vain = false;
      }
    }
  }
  return Status::kOk;
}

// The order of segments, or of the graph where segments do not take all its layers.
Status SetOrder(Measured* self) {
  const PlanCall& call = *self->call;
  Span<SegmentLayer> layers;
  Span<uint32_t> order;
  Diagnostic ignored = {};
  Arena memory(self->memory->memory());
  const Status status = NetworkOfGraph(
      {call.graph, call.hardware, call.plain.lowering, 0}, &memory, &layers, &ignored);
  if (status == Status::kOutOfMemory || status == Status::kStopped) return status;
  uint32_t work = 0;
  for (const uint8_t view : call.plain.lowering.is_view) work += view == 0 ? 1 : 0;
  SLUICE_TRY(self->memory->Allocate(work, &order));
  const bool all = status == Status::kOk && layers.size() == work;
  uint32_t n = 0;
  for (uint32_t l = 0; l < call.graph.layers.size(); ++l) {
    if (call.plain.lowering.is_view[l] != 0) continue;
    order[n] = all ? layers[n].layer : l;
    ++n;
  }
  self->order = order;
  return Status::kOk;
}

template <typename T>
T SumOver(const Measured& self, uint32_t first, uint32_t layers, Span<T> of) {
  T sum = 0;
  for (uint32_t i = first; i < first + layers; ++i) sum += of[self.order[i]];
  return sum;
}

// The cheapest mixture of what was measured. *cost: what it should cost.
Status Mix(Measured* self, Arena* memory, Span<const NodeItem*>* cover, double* cost) {
  const uint32_t layers = static_cast<uint32_t>(self->order.size());
  Vector<NodeItem> items(memory);
  for (const NodeItem& item : self->items) SLUICE_TRY(items.Push(item));
  for (uint32_t i = 0; i < layers; ++i) {
    const uint32_t l = self->order[i];
    SLUICE_TRY(
        items.Push({i, 1, self->least[l], self->steps_of[l], self->alone[l], nullptr}));
  }
  *cost = kNoCost;
  const size_t most = self->call->most_steps;
  const Status found = MixItems(
      {layers, Span<NodeItem>(items.data(), items.size()), most - most / kStepsLeft},
      memory, cover);
  if (found == Status::kInfeasible) return Status::kOk;
  SLUICE_TRY(found);
  *cost = 0;
  for (const NodeItem* item : *cover) *cost += item->cost;
  return Status::kOk;
}

Status TakeMixed(Measured* self) {
  Arena memory(self->memory->memory());
  const size_t layers = self->order.size();
  Span<const NodeItem*> cover;
  double cost = kNoCost;
  SLUICE_TRY(Mix(self, &memory, &cover, &cost));
  if (cost >= kNoCost) return Status::kOk;
  Span<LayerWay> ways;
  Vector<Segment> segments(&memory);
  SLUICE_TRY(memory.Allocate(self->alone.size(), &ways));
  for (size_t l = 0; l < ways.size(); ++l) ways[l] = self->alone[l];
  for (const NodeItem* item : cover) {
    ways[self->order[item->first]] = item->way;
    if (item->segment != nullptr) SLUICE_TRY(segments.Push(*item->segment));
  }
  SegmentSchedule schedule = {};
  SLUICE_TRY(memory.Allocate(layers, &schedule.order));
  for (uint32_t i = 0; i < layers; ++i) schedule.order[i] = self->order[i];
  schedule.segments = Span<Segment>(segments.data(), segments.size());
  return TakeDealt(self->call, {schedule, WholeMesh(self->call->hardware), true, ways});
}

// Measures runs of layers that take turns on these nodes.
Status MeasureRuns(Measured* self, const NodeRegion& nodes) {
  PlanCall* call = self->call;
  Span<NodeRun> runs;
  const Status found = FindRuns(
      {call->graph, call->hardware, call->plain.lowering, call->capacity, self->order,
       nodes, self->least, self->per_pj, self->per_cycle, call->coster, &call->search},
      self->memory, &runs);
  if (found != Status::kOk) return found == Status::kStopped ? Status::kOk : found;
  Span<LayerWay> ways;
  SLUICE_TRY(self->memory->Allocate(self->alone.size(), &ways));
  for (size_t l = 0; l < ways.size(); ++l) ways[l] = self->alone[l];
  for (const NodeRun& run : runs) ways[self->order[run.first]].run = &run;
  SegmentSchedule schedule = {};
  SLUICE_TRY(self->memory->Allocate(self->order.size(), &schedule.order));
  for (size_t i = 0; i < self->order.size(); ++i) schedule.order[i] = self->order[i];
  DealtCost written;
  Span<uint32_t> sizes;
  SLUICE_TRY(self->memory->Allocate(self->order.size(), &sizes));
  SLUICE_TRY(Measure(self, {schedule, nodes, true, ways, sizes}, &written));
  for (const NodeRun& run : runs) {
    // Where its buffers do not fit, nothing was written that could be measured.
    if (!written.fits || sizes[run.first] != run.layers ||
        written.steps_of[self->order[run.first]] == 0) {
      continue;
    }
    const double cost = SumOver(*self, run.first, run.layers, written.of);
    const size_t steps = SumOver(*self, run.first, run.layers, written.steps_of);
    const LayerWay& way = ways[self->order[run.first]];
    SLUICE_TRY(self->items.Push({run.first, run.layers, cost, steps, way, nullptr}));
  }
  return Status::kOk;
}

// Adds what was written of a segment: all of it, or parts of several layers.
Status AddParts(Measured* self, const Segment& segment, const LayerWay& way,
                const DealtCost& written, Span<const uint32_t> sizes) {
  const uint32_t all = static_cast<uint32_t>(segment.layers.size());
  for (uint32_t i = 0, n = 0; i < all; i += n) {
    n = Max(sizes[segment.begin + i], 1u);
    if (n == 1 && all > 1) continue;
    Span<Segment> part;
    SLUICE_TRY(self->memory->Allocate(1, &part));
    part[0] = segment;
    part[0].begin = segment.begin + i;
    part[0].layers = segment.layers.Slice(i, i + n);
    const double sum = SumOver(*self, part[0].begin, n, written.of);
    const size_t steps = SumOver(*self, part[0].begin, n, written.steps_of);
    SLUICE_TRY(self->items.Push({part[0].begin, n, sum, steps, way, part.data()}));
  }
  return Status::kOk;
}

// Measures segments on these nodes, each in two ways, where they promise to cost less
// than `least`; `alone`: layers by themselves, split as the mapper says.
Status MeasureSegments(Measured* self, const NodeRegion& nodes, bool alone,
                       double least) {
  PlanCall* call = self->call;
  Diagnostic ignored = {};
  Hardware part = call->hardware;  // with the leakage of the whole chip
  part.node_cols = nodes.extent[kColumns];
  part.node_rows = nodes.extent[kRows];
  SegmentSchedule schedule = {};
  if (FindSegments({call->graph, part, call->plain.lowering, call->capacity,
                    call->options, alone},
                   &call->search, self->memory, &schedule, &ignored) != Status::kOk) {
    return Status::kOk;
  }
  const SegmentCost& promise = schedule.cost;
  const double cost = promise.energy_pj * self->per_pj +
                      static_cast<double>(promise.cycles) * self->per_cycle;
  if (cost >= least) return Status::kOk;
  DealtCost written[2];
  Span<LayerTry> tries;
  if (alone) SLUICE_TRY(TryAlone(self, schedule, &tries));
  Span<uint32_t> sizes[2];
  for (int i = 0; i < 2; ++i) {
    SLUICE_TRY(self->memory->Allocate(self->order.size(), &sizes[i]));
    SLUICE_TRY(Measure(self, {schedule, nodes, i == 0, {}, sizes[i], alone, tries},
                       &written[i]));
    for (uint32_t l = 0; l < tries.size(); ++l) {
      const uint32_t of = tries[l].alike;
      written[i].of[l] = tries[of].same ? kNoCost : written[i].of[of];
      written[i].steps_of[l] = written[i].steps_of[of];
    }
    for (const Segment& segment : schedule.segments) {
      const LayerWay way = {true, i == 0, nodes};
      SLUICE_TRY(AddParts(self, segment, way, written[i], sizes[i]));
    }
  }
  return Status::kOk;
}

// No plan on so many nodes costs less; fewer nodes have a higher bound.
double BoundOn(const Measured& self, int64_t nodes) {
  const PlanBound& bound = self.call->bound;
  const sluice_certificate_t& least = bound.certificate;
  const double tiles = static_cast<double>(least.all.cycles - least.host_cycles);
  const double any = static_cast<double>(bound.cycles);
  const double cycles = Max(any, tiles / static_cast<double>(nodes));
  const double leak = (cycles - any) * self.call->hardware.leakage_pj_per_cycle;
  return self.per_cycle * cycles + self.per_pj * (bound.energy_pj + leak);
}

// Measures layers together on the nodes and on halves of them, then takes the best of
// all.
Status TakeTogether(Measured* self, NodeRegion nodes) {
  SLUICE_TRY(SetOrder(self));
  double least = kNoCost;
  bool taken = false;  // what costs `least` is written
  for (bool in_vain = false; NodesOf(nodes) > 1; nodes = HalfOf(nodes)) {
    if (in_vain && self->steps > MuchWork(*self->call)) break;
    if (!MayPay(*self->call, NodesOf(nodes))) break;
    if (BoundOn(*self, NodesOf(nodes)) >= least) break;
    const double before = least;
    for (int kind = 0; kind < 3; ++kind) {
      Arena memory(self->memory->memory());
      Span<const NodeItem*> cover;
      SLUICE_TRY(kind == 1 ? MeasureRuns(self, nodes)
                           : MeasureSegments(self, nodes, kind == 0, least));
      SLUICE_TRY(Mix(self, &memory, &cover, &least));
    }
    in_vain = least >= before;
    if (least >= before) continue;
    // With a deadline, the best so far is written before more is measured.
    taken = self->call->options.deadline_ns != 0;
    if (taken) SLUICE_TRY(TakeMixed(self));
  }
  return taken ? Status::kOk : TakeMixed(self);
}

// Takes the best of what these nodes can do. *refused: a plan was too large to be judged.
Status TakeFromNodes(PlanCall* call, const NodeRegion& nodes, bool* refused) {
  const bool before_this = call->too_large;
  call->too_large = false;
  Arena memory(call->scratch->memory());
  Measured measured(call, &memory);
  SLUICE_TRY(MeasureAlone(&measured, nodes));
  const bool had = call->has_plan();
  const double before = call->best_cost;
  if (call->options.solver != SLUICE_SOLVER_BASELINE) {
    SLUICE_TRY(TakeTogether(&measured, nodes));
  }
  if (call->has_plan() == had && !(call->best_cost < before)) {
    SLUICE_TRY(TakeDealt(call, {{}, nodes, false, measured.alone}));
  }
  *refused = call->too_large;
  call->too_large = call->too_large || before_this;
  return Status::kOk;
}

}  // namespace

Status TakeOnMesh(PlanCall* call) {
  NodeRegion nodes = WholeMesh(call->hardware);
  // Segments are mostly better than layers one by one, but take longer to find. With a
  // deadline, a plan layer by layer comes first.
  if (call->options.deadline_ns != 0) {
    SLUICE_TRY(TakeDealt(call, {{}, nodes, false, {}}));
  }
  // What judging takes grows with nodes times steps: a part of the mesh may do better
  // than what can be judged on all of it.
  for (bool refused = true; refused && NodesOf(nodes) > 1; nodes = HalfOf(nodes)) {
    SLUICE_TRY(TakeFromNodes(call, nodes, &refused));
  }
  return !call->lacks_plain && MayPay(*call, 1) ? TakeFromSpace(call) : Status::kOk;
}

}  // namespace sluice
