// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_together.h"

#include "base/checked.h"
#include "model/tile_geometry.h"
#include "plan/mesh/node_fit.h"
#include "plan/mesh/node_price.h"
#include "plan/mesh/node_resident.h"
#include "plan/mesh/node_steps.h"

namespace sluice {

namespace {

// A layer in more tiles than this gains more from the room of the layer before it than
// from loads during that layer.
constexpr int64_t kFewPieces = 8;
// Part of a program's steps that the tiles of one segment may take: one that is cut too
// finely must not leave the others without room.
constexpr size_t kMostOfSteps = 8;

// A buffer on the nodes of `layer`, at `begin`, that data are loaded into while layers
// `from` to `to` run.
struct Landing {
  NodeLayer* layer;
  uint32_t from, to;
  int64_t begin, bytes;
};

bool SameRegion(const NodeRegion& a, const NodeRegion& b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

bool RegionsOverlap(const NodeRegion& a, const NodeRegion& b) {
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    if (a.begin[axis] >= b.begin[axis] + b.extent[axis] ||
        b.begin[axis] >= a.begin[axis] + a.extent[axis]) {
      return false;
    }
  }
  return true;
}

// Places what lands at the highest address that is free on all nodes of the layer for
// as long as the data is needed.
Status PlaceLanding(NodeSchedule* self, Landing landing, int role, bool turns,
                    Vector<Landing>* landings) {
  const int64_t alignment = Max<int64_t>(
      self->context.hardware.scratchpad().alignment_bytes, sizeof(int64_t));
  landing.begin = (self->capacity - landing.bytes) / alignment * alignment;
  for (size_t k = 0; k < landings->size();) {
    const Landing& other = (*landings)[k++];
    if (!RegionsOverlap(landing.layer->region, other.layer->region) ||
        (turns && (other.from > landing.to || other.to < landing.from)) ||
        other.begin >= landing.begin + landing.bytes ||
        landing.begin >= other.begin + other.bytes) {
      continue;
    }
    landing.begin = (other.begin - landing.bytes) / alignment * alignment;
    k = 0;
  }
  if (landing.begin <= 0) return Status::kInfeasible;
  landing.layer->roles[role].begin = landing.begin;
  return landings->Push(landing);
}

// Places what lands on any of the layers.
Status PlaceLandings(NodeSchedule* self, Span<NodeLayer*> layers, bool turns,
                     int32_t slots, Vector<Landing>* landings) {
  const bool whole = turns && WayOf(*self, layers[0]->index).whole;
  for (uint32_t i = 0; i < layers.size(); ++i) {
    layers[i]->turns_taken = turns;
    layers[i]->whole = whole;
    for (int r = 0; r < kRoleOutput; ++r) {
      const int64_t bytes = SetSlots(layers[i], r, slots);
      if (bytes < 0) return Status::kInfeasible;
      if (bytes == 0) continue;
      uint32_t maker = 0;
      while (layers[maker]->roles[kRoleOutput].tensor != layers[i]->roles[r].tensor)
        ++maker;
      const Landing landing = {layers[i], turns ? maker : 0, i, 0, bytes};
      SLUICE_TRY(PlaceLanding(self, landing, r, turns, landings));
    }
  }
  return Status::kOk;
}

// The scratchpad bytes that layer i may use: those from `base` to `top`, shared with
// later layers on the same nodes.
struct Room {
  int64_t base, top, sharers;
};

Room RoomFor(const NodeSchedule& self, Span<NodeLayer*> layers, uint32_t i, bool turns,
             const Vector<Landing>& landings, Span<const int64_t> end) {
  Room room = {0, self.capacity, 1};
  for (const Landing& landing : landings) {
    if (!RegionsOverlap(layers[i]->region, landing.layer->region)) continue;
    if (turns && (landing.from > i || landing.to < i)) continue;
    room.top = Min(room.top, landing.begin);
  }
  for (uint32_t j = 0; j < layers.size() && !turns; ++j) {
    if (j == i || !RegionsOverlap(layers[i]->region, layers[j]->region)) continue;
    if (j < i) room.base = Max(room.base, end[j]);
    if (j > i) ++room.sharers;
  }
  return room;
}

// Layers that take turns may use the same bytes. Other layers that share nodes get
// disjoint ranges.
Status Arrange(NodeSchedule* self, Span<NodeLayer*> layers, bool turns, int32_t slots) {
  Vector<Landing> landings(self->arena);
  SLUICE_TRY(PlaceLandings(self, layers, turns, slots, &landings));
  Span<int64_t> end;
  SLUICE_TRY(self->arena->Allocate(layers.size(), &end));
  for (uint32_t i = 0; i < layers.size(); ++i) {
    const Room room = RoomFor(*self, layers, i, turns, landings, end);
    if (room.base >= room.top) return Status::kInfeasible;
    // After the range of the previous turn, if it fits there in few pieces: its weights
    // can then be loaded early.
    if (layers[i]->whole && i > 0) {
      end[i] = end[i - 1];
      const Status status = FitWholeParts(layers[i], room.top, &end[i]);
      if (status == Status::kOk && layers[i]->per_slice <= kFewPieces) continue;
      if (status != Status::kOk && status != Status::kInfeasible) return status;
    }
    end[i] = room.base;
    SLUICE_TRY(FitTiles(layers[i], room.base + (room.top - room.base) / room.sharers,
                        self->arena, &end[i]));
  }
  return Status::kOk;
}

// The roles of a layer that earlier layers of its segment make.
uint32_t LandsOn(const Layer& layer, Span<NodeLayer*> earlier) {
  const TileOperands operands = OperandsOf(layer);
  uint32_t lands = 0;
  for (int r = 0; r < kRoleOutput; ++r) {
    for (const NodeLayer* maker : earlier) {
      if (operands.tensor[r] != kNone &&
          maker->roles[kRoleOutput].tensor == operands.tensor[r]) {
        lands |= 1u << r;
      }
    }
  }
  return lands;
}

// Connects layer i to the earlier layers of its segment that it reads.
Status ConnectLayer(NodeSchedule* self, Span<NodeLayer*> layers, uint32_t i,
                    uint32_t group) {
  for (int r = 0; r < kRoleOutput; ++r) {
    const uint32_t t = layers[i]->roles[r].tensor;
    if (t == kNone) continue;
    if (ComesFrom(*self, t, group, false)) return Status::kInfeasible;
    for (uint32_t p = 0; p < i; ++p) {
      if (layers[p]->roles[kRoleOutput].tensor != t) continue;
      if (!Connect(layers[i], r, layers[p])) return Status::kInfeasible;
    }
  }
  return Status::kOk;
}

Status TakeTurns(NodeSchedule* self, Span<NodeLayer*> layers, int32_t slices) {
  const bool all = self->context.weights == nullptr;
  const int32_t shown = all ? slices : Min(slices, kShownSlices);
  SLUICE_TRY(self->context.program->BeginBlock());
  for (NodeLayer* layer : layers) ShowSteps(layer);
  for (int32_t slice = 0; slice < shown; ++slice) {
    const double like = StandsFor(slice, shown, slices);
    if (!all) SLUICE_TRY(BeginWeighted(self->context, like));
    for (NodeLayer* layer : layers) {
      layer->slice_weight = like;
      layer->time = layer->end_time / slices * ShownStep(slice, shown, slices);
      SLUICE_TRY(WriteSlice(layer));
    }
  }
  return Status::kOk;
}

Status MakeLayers(NodeSchedule* self, const NodeGroup& group, int32_t slices,
                  Span<NodeLayer*>* made) {
  SLUICE_TRY(self->arena->Allocate(group.layers, made));
  Span<NodeLayer*> layers = *made;
  for (uint32_t i = 0; i < group.layers; ++i) {
    const uint32_t l = self->order[group.first + i];
    const Layer& layer = self->lowering.executed[l];
    if (KindOf(layer.op) != LayerKind::kCompute ||
        self->graph.tensors[layer.outputs[0]].extent[0] % slices != 0 ||
        (slices > 1 && !CutsOf(self->graph, layer).cuttable[0])) {
      return Status::kInfeasible;
    }
    const uint32_t lands = LandsOn(layer, Span<NodeLayer*>(layers.data(), i));
    NodeLayerRequest request = {l, {}, {}, slices, lands};
    if (group.run != nullptr) {
      request.region = group.run->region;
      request.deal = group.run->deal;
      request.ordered = true;
    } else {
      const LayerOnNodes& at = group.segment->layers[i];
      if (at.layer != l) return Status::kInfeasible;
      request.region = at.region;
      request.deal = DealOf(self->graph, layer, at.split);
    }
    SLUICE_TRY(MakeNodeLayer(self->context, request, self->arena, &layers[i]));
    layers[i]->stores = IsStored(*self, l);
    SLUICE_TRY(ConnectLayer(self, layers, i, self->group_of[l]));
  }
  return Status::kOk;
}

// Tiles of the layers, of all nodes and slices.
size_t TilesOf(Span<NodeLayer*> layers) {
  size_t tiles = 0;
  for (const NodeLayer* layer : layers) {
    tiles += static_cast<size_t>(layer->per_slice * layer->slices) * layer->nodes;
  }
  return tiles;
}

}  // namespace

Status Interleave(NodeSchedule* self, Span<NodeLayer*> layers) {
  SLUICE_TRY(self->context.program->BeginBlock());
  SteadySlices steady;
  if (layers.size() == 1) {
    ShowSteps(layers[0]);
  } else {
    steady = ShowSlices(layers);
  }
  int64_t begin = steady.begin;  // of the next block, in slices
  for (bool stuck = false;;) {
    bool moved = false, done = true;
    if (begin > 0 && FinishedSlices(*layers[layers.size() - 1]) >= begin) {
      const bool first = begin < steady.end;
      SLUICE_TRY(BeginWeighted(self->context, first ? steady.weight : 1));
      begin = first ? steady.end : 0;
    }
    for (size_t i = layers.size(); i-- > 0;) {
      done = done && IsDone(*layers[i]);
      if (!MayStep(*layers[i])) continue;
      SLUICE_TRY(WriteStep(layers[i]));
      moved = true;
    }
    if (done) return Status::kOk;
    if (!moved && stuck) return Status::kInternal;
    stuck = !moved;
    for (size_t i = 0; stuck && i < layers.size(); ++i) {
      SLUICE_TRY(WritePending(layers[i]));
    }
  }
}

Status WriteTogether(NodeSchedule* self, const NodeGroup& group, bool write) {
  ArenaScope scope(self->arena);
  Span<NodeLayer*> layers;
  const bool run = group.run != nullptr;
  const int32_t slices = run ? group.run->slices : Max(group.segment->top_batch, 1);
  SLUICE_TRY(MakeLayers(self, group, slices, &layers));
  if (run) {
    SLUICE_TRY(ArrangeResident(self, layers));
    return write ? TakeTurnsAhead(self, layers, slices) : Status::kOk;
  }
  // Layers on the same region take turns.
  bool turns = true;
  for (const NodeLayer* layer : layers) {
    turns = turns && SameRegion(layer->region, layers[0]->region);
  }
  Status status = Arrange(self, layers, turns, slices > 1 && !turns ? 2 : 1);
  if (status == Status::kInfeasible && slices > 1 && !turns) {
    status = Arrange(self, layers, turns, 1);
  }
  if (status != Status::kOk) return status;
  if (TilesOf(layers) > self->context.most_steps / kMostOfSteps) {
    return Status::kInfeasible;
  }
  if (!write) return status;
  return turns ? TakeTurns(self, layers, slices) : Interleave(self, layers);
}

}  // namespace sluice
