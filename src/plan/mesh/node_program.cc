// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_program.h"

#include <new>

#include "base/checked.h"
#include "plan/mesh/segment_plan.h"
#include "solve/baseline/layer_by_layer.h"

namespace sluice {

namespace {

// Layers that are written together. `segment`: nullptr for a layer by itself.
struct Group {
  uint32_t first;  // in order_
  uint32_t layers;
  const Segment* segment;
};

class NodeScheduler {
 public:
  NodeScheduler(const Graph& graph, const Hardware& hardware, const Lowering& lowering,
                int64_t capacity, bool whole, const NodeRegion& all,
                const TileCoster& coster, Budget* budget, Arena* scratch,
                Program* program)
      : graph_(graph),
        capacity_(capacity),
        whole_(whole),
        budget_(budget),
        arena_(scratch),
        lowering_(lowering),
        context_{graph,
                 hardware,
                 lowering_,
                 coster,
                 budget,
                 program,
                 static_cast<uint32_t>(NodesOf(all))},
        all_(all),
        groups_(scratch) {}

  Status Run(Span<const Segment> segments, Span<const uint32_t> order, Arena* places,
             NodeProgram* out, Diagnostic* diagnostic) {
    *out = NodeProgram{};
    SLUICE_TRY(FindOrder(order));
    SLUICE_TRY(arena_->Allocate(graph_.layers.size(), &group_of_));
    for (uint32_t& group : group_of_) group = kNone;
    SLUICE_TRY(Divide(segments));
    SLUICE_TRY(Replace(places, out, diagnostic));
    for (const Group& group : groups_) SLUICE_TRY(Write(group));
    out->lowering = lowering_;
    out->groups = static_cast<uint32_t>(groups_.size());
    return Status::kOk;
  }

 private:
  Status FindOrder(Span<const uint32_t> order) {
    order_ = order;
    if (!order.empty()) return Status::kOk;
    Span<uint32_t> all;
    SLUICE_TRY(arena_->Allocate(graph_.layers.size(), &all));
    uint32_t n = 0;
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) {
      if (lowering_.is_view[l] == 0) all[n++] = l;
    }
    order_ = Span<const uint32_t>(all.data(), n);
    return Status::kOk;
  }

  // Segments whose layers fit beside each other stay; the others fall apart.
  Status Divide(Span<const Segment> segments) {
    uint32_t at = 0;
    for (const Segment& segment : segments) {
      const uint32_t n = static_cast<uint32_t>(segment.layers.size());
      const Group whole = {at, n, &segment};
      if (n > 1) {
        Mark(whole, static_cast<uint32_t>(groups_.size()));
        const Status status = Together(whole, false);
        if (status == Status::kOk) {
          SLUICE_TRY(groups_.Push(whole));
          at += n;
          continue;
        }
        if (status != Status::kInfeasible) return status;
      }
      for (uint32_t i = 0; i < n; ++i)
        SLUICE_TRY(Alone(at++, n == 1 ? &segment : nullptr));
    }
    while (at < order_.size()) SLUICE_TRY(Alone(at++, nullptr));
    return Status::kOk;
  }
  Status Alone(uint32_t at, const Segment* segment) {
    const Group group = {at, 1, segment};
    Mark(group, static_cast<uint32_t>(groups_.size()));
    return groups_.Push(group);
  }
  void Mark(const Group& group, uint32_t number) {
    for (uint32_t i = 0; i < group.layers; ++i) {
      group_of_[order_[group.first + i]] = number;
    }
  }

  // Does anything outside of its group read what layer l makes?
  bool Stored(uint32_t l) const {
    const uint32_t out = lowering_.executed[l].outputs[0];
    const TensorKind kind = graph_.tensors[out].kind;
    if (kind != TensorKind::kIntermediate) return true;
    for (uint32_t m = 0; m < graph_.layers.size(); ++m) {
      // A PAD that is folded away is read by nobody.
      if (lowering_.is_view[m] != 0 && graph_.layers[m].op == SLUICE_OP_PAD) continue;
      if (group_of_[m] == group_of_[l] && lowering_.is_view[m] == 0) continue;
      for (const uint32_t t : lowering_.executed[m].inputs) {
        if (t == out) return true;
      }
    }
    return false;
  }

  // Is any of tensor t, seen through views, made in this group?
  bool ComesFrom(uint32_t t, uint32_t group, bool through) const {
    if (t == kNone) return false;
    const uint32_t p = graph_.tensors[t].producer;
    if (p == kNone) return false;
    if (lowering_.is_view[p] == 0) return through && group_of_[p] == group;
    for (const uint32_t input : lowering_.executed[p].inputs) {
      if (ComesFrom(input, group, true)) return true;
    }
    return false;
  }

  // The layers of a segment at once: whether they fit, or the steps.
  Status Together(const Group& group, bool write) {
    ArenaScope scope(arena_);
    Span<NodeLayer*> layers;
    SLUICE_TRY(arena_->Allocate(group.layers, &layers));
    const Segment& segment = *group.segment;
    const int32_t slices = Max(segment.top_batch, 1);
    for (uint32_t i = 0; i < group.layers; ++i) {
      const LayerOnNodes& at = segment.layers[i];
      const Layer& layer = lowering_.executed[at.layer];
      if (KindOf(layer.op) != LayerKind::kCompute ||
          at.layer != order_[group.first + i] ||
          graph_.tensors[layer.outputs[0]].extent[0] % slices != 0) {
        return Status::kInfeasible;
      }
      SLUICE_TRY(Make(at.layer, at.region, DealOf(graph_, layer, at.split), slices,
                      &layers[i]));
      layers[i]->set_stores(Stored(at.layer));
      SLUICE_TRY(Connect(layers, i, group_of_[at.layer]));
    }
    // On one region they take turns.
    bool turns = true;
    for (const LayerOnNodes& at : segment.layers) {
      turns = turns && SameRegion(at.region, segment.layers[0].region);
    }
    Status status = Arrange(layers, turns, slices > 1 && !turns ? 2 : 1);
    if (status == Status::kInfeasible && slices > 1 && !turns) {
      status = Arrange(layers, turns, 1);
    }
    if (status != Status::kOk || !write) return status;
    return turns ? TakeTurns(layers, slices) : Interleave(layers);
  }

  Status Make(uint32_t layer, const NodeRegion& region, const NodeDeal& deal,
              int32_t slices, NodeLayer** out) {
    void* raw = arena_->AllocateBytes(sizeof(NodeLayer), alignof(NodeLayer));
    if (raw == nullptr) return Status::kOutOfMemory;
    *out = new (raw) NodeLayer(context_, layer, region, deal, slices);
    return (*out)->Init(arena_);
  }

  // What layer i takes from earlier ones of its segment.
  Status Connect(Span<NodeLayer*> layers, uint32_t i, uint32_t group) {
    for (int r = 0; r < kRoleOutput; ++r) {
      const uint32_t t = layers[i]->tensor(r);
      if (t == kNone) continue;
      if (ComesFrom(t, group, false)) return Status::kInfeasible;
      for (uint32_t p = 0; p < i; ++p) {
        if (layers[p]->tensor(kRoleOutput) != t) continue;
        if (!layers[i]->Take(r, layers[p])) return Status::kInfeasible;
      }
    }
    return Status::kOk;
  }

  // What lands lies at the upper end of the scratchpads, all else at the lower. Layers
  // that take turns have what they need only then; others that share nodes lie one
  // behind the other.
  Status Arrange(Span<NodeLayer*> layers, bool turns, int32_t slots) {
    Vector<Landing> landings(arena_);
    for (uint32_t i = 0; i < layers.size(); ++i) {
      layers[i]->set_drains(turns, whole_);
      for (int r = 0; r < kRoleOutput; ++r) {
        const int64_t bytes = layers[i]->SetSlots(r, slots);
        if (bytes < 0) return Status::kInfeasible;
        if (bytes == 0) continue;
        uint32_t maker = 0;
        while (layers[maker]->tensor(kRoleOutput) != layers[i]->tensor(r)) ++maker;
        const Landing landing = {layers[i], turns ? maker : 0, i, 0, bytes};
        SLUICE_TRY(PlaceLanding(landing, r, turns, &landings));
      }
    }
    Span<int64_t> end;
    SLUICE_TRY(arena_->Allocate(layers.size(), &end));
    for (uint32_t i = 0; i < layers.size(); ++i) {
      int64_t base = 0, sharers = 1, top = capacity_;
      for (const Landing& landing : landings) {
        if (!Overlap(layers[i]->region(), landing.layer->region())) continue;
        if (turns && (landing.from > i || landing.to < i)) continue;
        top = Min(top, landing.begin);
      }
      for (uint32_t j = 0; j < layers.size() && !turns; ++j) {
        if (j == i || !Overlap(layers[i]->region(), layers[j]->region())) continue;
        if (j < i) base = Max(base, end[j]);
        if (j > i) ++sharers;
      }
      if (base >= top) return Status::kInfeasible;
      // Behind the one whose turn it was before, if it fits there in one piece: then
      // its weights may come early.
      if (turns && whole_ && i > 0) {
        end[i] = end[i - 1];
        const Status status = layers[i]->FitWhole(top, &end[i]);
        if (status == Status::kOk) continue;
        if (status != Status::kInfeasible) return status;
      }
      end[i] = base;
      SLUICE_TRY(layers[i]->Fit(base + (top - base) / sharers, arena_, &end[i]));
    }
    return Status::kOk;
  }

  // The highest place that is free on all nodes of the layer for as long as it is
  // needed: while layers `from` to `to` run.
  struct Landing {
    NodeLayer* layer;
    uint32_t from, to;
    int64_t begin, bytes;
  };
  Status PlaceLanding(Landing landing, int role, bool turns,
                      Vector<Landing>* landings) {
    const int64_t alignment =
        Max<int64_t>(context_.hardware.scratchpad().alignment_bytes, sizeof(int64_t));
    landing.begin = (capacity_ - landing.bytes) / alignment * alignment;
    for (size_t k = 0; k < landings->size();) {
      const Landing& other = (*landings)[k++];
      if (!Overlap(landing.layer->region(), other.layer->region()) ||
          (turns && (other.from > landing.to || other.to < landing.from)) ||
          other.begin >= landing.begin + landing.bytes ||
          landing.begin >= other.begin + other.bytes) {
        continue;
      }
      landing.begin = (other.begin - landing.bytes) / alignment * alignment;
      k = 0;
    }
    if (landing.begin <= 0) return Status::kInfeasible;
    landing.layer->PlaceLanding(role, landing.begin);
    return landings->Push(landing);
  }
  static bool SameRegion(const NodeRegion& a, const NodeRegion& b) {
    return memcmp(&a, &b, sizeof a) == 0;
  }
  static bool Overlap(const NodeRegion& a, const NodeRegion& b) {
    for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
      if (a.begin[axis] >= b.begin[axis] + b.extent[axis] ||
          b.begin[axis] >= a.begin[axis] + a.extent[axis]) {
        return false;
      }
    }
    return true;
  }

  Status TakeTurns(Span<NodeLayer*> layers, int32_t slices) {
    SLUICE_TRY(context_.program->BeginBlock());
    for (int32_t slice = 0; slice < slices; ++slice) {
      for (NodeLayer* layer : layers) SLUICE_TRY(layer->RunSlice());
    }
    return Status::kOk;
  }

  // Every layer goes on as soon as it can, later ones first: what they wait for is done.
  Status Interleave(Span<NodeLayer*> layers) {
    SLUICE_TRY(context_.program->BeginBlock());
    for (bool stuck = false;;) {
      bool moved = false, done = true;
      for (size_t i = layers.size(); i-- > 0;) {
        done = done && layers[i]->done();
        if (!layers[i]->Ready()) continue;
        SLUICE_TRY(layers[i]->Step());
        moved = true;
      }
      if (done) return Status::kOk;
      if (!moved && stuck) return Status::kInternal;
      stuck = !moved;
      for (size_t i = 0; stuck && i < layers.size(); ++i) {
        SLUICE_TRY(layers[i]->Finish());
      }
    }
  }

  // One layer on all nodes, or on the first where it cannot be dealt out.
  Status Single(const Group& group) {
    const uint32_t l = order_[group.first];
    const Layer& layer = lowering_.executed[l];
    if (KindOf(layer.op) == LayerKind::kCompute) {
      ArenaScope scope(arena_);
      const NodeRegion& all = all_;
      NodeDeal deal;
      if (group.segment != nullptr) {
        deal = DealOf(graph_, layer, group.segment->layers[0].split);
      } else {
        deal = ChooseDeal(graph_, context_.hardware, layer, all, capacity_, arena_);
      }
      NodeLayer* single = nullptr;
      SLUICE_TRY(Make(l, all, deal, 1, &single));
      int64_t end = 0;
      const Status status = single->Fit(capacity_, arena_, &end);
      if (status == Status::kOk) {
        return Interleave(Span<NodeLayer*>(&single, 1));
      }
      if (status != Status::kInfeasible) return status;
    }
    return AppendLayer(graph_, context_.hardware, lowering_, l, capacity_,
                       context_.coster, budget_, arena_, context_.program);
  }

  Status Write(const Group& group) {
    return group.layers == 1 ? Single(group) : Together(group, true);
  }

  // Places in DRAM for layers that overlap in time, and none for what stays on chip.
  Status Replace(Arena* places, NodeProgram* out, Diagnostic* diagnostic) {
    bool overlap = false;
    for (const Group& group : groups_) overlap = overlap || group.layers > 1;
    if (!overlap) return Status::kOk;
    Span<uint32_t> when;
    Span<uint8_t> on_chip;
    SLUICE_TRY(places->Allocate(graph_.tensors.size(), &lowering_.places));
    SLUICE_TRY(arena_->Allocate(graph_.layers.size(), &when));
    SLUICE_TRY(arena_->Allocate(graph_.tensors.size(), &on_chip));
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) {
      if (lowering_.is_view[l] == 0) {
        when[l] = group_of_[l];
        on_chip[lowering_.executed[l].outputs[0]] = Stored(l) ? 0 : 1;
        continue;
      }
      // Views do nothing; they stand at the time of what was written before them.
      for (const uint32_t t : lowering_.executed[l].inputs) {
        if (t == kNone || graph_.tensors[t].producer == kNone) continue;
        when[l] = Max(when[l], when[graph_.tensors[t].producer]);
      }
    }
    for (const Group& group : groups_) out->pipelined += group.layers > 1 ? 1 : 0;
    return PlaceInDram(graph_, when, on_chip, arena_, &lowering_, diagnostic);
  }

  const Graph& graph_;
  int64_t capacity_;
  bool whole_;
  Budget* budget_;
  Arena* arena_;
  Lowering lowering_;
  NodeContext context_;
  NodeRegion all_;  // the nodes for layers by themselves
  Span<const uint32_t> order_;
  Span<uint32_t> group_of_;  // by layer; kNone: views
  Vector<Group> groups_;
};

}  // namespace

Status ScheduleOnNodes(const Graph& graph, const Hardware& hardware,
                       const Lowering& lowering, int64_t capacity,
                       const SegmentSchedule& schedule, bool whole,
                       const TileCoster& coster, Budget* budget, Arena* places,
                       Arena* scratch, Program* program, NodeProgram* out,
                       Diagnostic* diagnostic) {
  *out = NodeProgram{};
  Arena memory(scratch->memory());
  // Layers by themselves are dealt out to fewer nodes where all make too long a plan.
  NodeRegion all = WholeMesh(hardware);
  Status status = Status::kUnsupported;
  const Program empty = *program;
  for (bool more = true; more && status == Status::kUnsupported;) {
    ArenaScope scope(&memory);
    *program = empty;
    NodeScheduler scheduler(graph, hardware, lowering, capacity, whole, all, coster,
                            budget, &memory, program);
    status = scheduler.Run(schedule.segments, schedule.order, places, out, diagnostic);
    more = schedule.segments.empty() && NodesOf(all) > 1;
    for (uint32_t& extent : all.extent) extent = (extent + 1) / 2;
  }
  if (status == Status::kInfeasible) {
    return Fail(diagnostic, status, "nodes").Text("a layer fits no node");
  }
  return status;
}

Status FindSegments(const Graph& graph, const Hardware& hardware,
                    const Lowering& lowering, int64_t capacity,
                    const sluice_schedule_options_t& options, Budget* budget,
                    Arena* arena, SegmentSchedule* schedule, Diagnostic* diagnostic) {
  for (const Tensor& t : graph.tensors) {
    if (t.kind == TensorKind::kState) return Status::kUnsupported;
  }
  Hardware one = WithNodeLeakage(hardware);
  Span<MemoryLevel> levels;
  SLUICE_TRY(arena->Allocate(one.levels.size(), &levels));
  for (size_t l = 0; l < levels.size(); ++l) levels[l] = hardware.levels[l];
  levels[one.scratchpad_level].capacity_bytes = capacity;
  one.levels = levels;
  Span<SegmentLayer> layers;
  SLUICE_TRY(NetworkOfGraph(graph, one, lowering, 0, arena, &layers, diagnostic));
  SegmentOptions wanted;
  const bool stated = options.energy_exponent != 0 || options.delay_exponent != 0;
  wanted.energy_exponent = stated ? options.energy_exponent : 1;
  wanted.delay_exponent = stated ? options.delay_exponent : 1;
  NodeParallelOptions nodes;
  nodes.node.constraints.energy_exponent = wanted.energy_exponent;
  nodes.node.constraints.delay_exponent = wanted.delay_exponent;
  NodePricer pricer(layers, one, nodes, budget, arena->memory());
  ChosenSegments chosen;
  SLUICE_TRY(ChooseSegments(layers, one, wanted, pricer.pricer(), budget, arena,
                            &chosen, diagnostic));
  size_t work = 0;
  for (const uint8_t view : lowering.is_view) work += view == 0 ? 1 : 0;
  if (chosen.schedule.order.size() != work) return Status::kUnsupported;
  *schedule = chosen.schedule;
  return Status::kOk;
}

}  // namespace sluice
