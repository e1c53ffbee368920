// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_program.h"

#include "base/checked.h"
#include "plan/mesh/node_fit.h"
#include "plan/mesh/node_together.h"
#include "solve/baseline/layer_by_layer.h"

namespace sluice {

namespace {

// Adds the group if its layers fit beside each other; *added says so.
Status AddTogether(NodeSchedule* self, const NodeGroup& group, bool* added) {
  MarkGroup(self, group);
  const Status status = WriteTogether(self, group, false);
  *added = status == Status::kOk;
  if (*added) return self->groups.Push(group);
  return status == Status::kInfeasible ? Status::kOk : status;
}

// Adds as many layers of the segment as fit beside each other, from position `at` on.
// Layers that take turns may end earlier: the others begin anew. Stages with nodes of
// their own need each other.
Status AddPart(NodeSchedule* self, const Segment& segment, uint32_t at) {
  const uint32_t all = static_cast<uint32_t>(segment.layers.size());
  const uint32_t skip = at - segment.begin;
  const bool whole = segment.kind == SegmentKind::kSpatial;
  Span<Segment> part;
  SLUICE_TRY(self->arena->Allocate(1, &part));
  part[0] = segment;
  part[0].begin = at;
  for (uint32_t n = all - skip; n > 1 && (n == all || !whole); --n) {
    part[0].layers = segment.layers.Slice(skip, skip + n);
    bool added = false;
    SLUICE_TRY(AddTogether(self, {at, n, part.data()}, &added));
    if (added) return Status::kOk;
    for (uint32_t i = 0; i < n; ++i) self->group_of[self->order[at + i]] = kNone;
  }
  return AddAlone(self, at, all == 1 ? &segment : nullptr);
}

// Keeps runs and segments whose layers fit beside each other, or parts of segments;
// others are written layer by layer.
Status DivideIntoGroups(NodeSchedule* self, Span<const Segment> segments) {
  const uint32_t layers = static_cast<uint32_t>(self->order.size());
  size_t next = 0;
  for (uint32_t at = 0; at < layers;) {
    while (next < segments.size() &&
           segments[next].begin + segments[next].layers.size() <= at) {
      ++next;
    }
    const NodeRun* run = WayOf(*self, self->order[at]).run;
    const bool inside = next < segments.size() && segments[next].begin <= at;
    if (run != nullptr) {
      bool added = false;
      SLUICE_TRY(AddTogether(self, {at, run->layers, nullptr, run}, &added));
      for (uint32_t i = 0; !added && i < run->layers; ++i) {
        SLUICE_TRY(AddAlone(self, at + i, nullptr));
      }
      at += run->layers;
      continue;
    }
    if (inside && WayOf(*self, self->order[segments[next].begin]).together) {
      SLUICE_TRY(AddPart(self, segments[next], at));
    } else {
      SLUICE_TRY(AddAlone(self, at, nullptr));
    }
    at += self->groups[self->groups.size() - 1].layers;
  }
  return Status::kOk;
}

// True if the layer has the same tiles as before; they are kept.
bool IsKnown(const NodeLayer& layer, const NodeDeal& deal, LayerTry* known) {
  const Tiling& now = layer.tiling;
  const Tiling& before = known->tiling;
  known->same = known->made && memcmp(now.chunk, before.chunk, sizeof now.chunk) == 0 &&
                now.c_chunk == before.c_chunk && now.k_outer == before.k_outer &&
                now.doubled == before.doubled;
  known->made = true;
  known->deal = deal;
  known->tiling = now;
  return known->same;
}

// Writes one layer as its segment says or on the nodes of its way, or on the first node
// if it cannot be dealt out.
Status WriteAlone(NodeSchedule* self, const NodeGroup& group) {
  const uint32_t l = self->order[group.first];
  const Layer& layer = self->lowering.executed[l];
  LayerTry* known = self->tries.empty() ? nullptr : &self->tries[l];
  if (known != nullptr && known->alike != l) return Status::kOk;
  if (KindOf(layer.op) == LayerKind::kCompute) {
    ArenaScope scope(self->arena);
    NodeRegion all = WayOf(*self, l).nodes;
    NodeDeal deal;
    if (group.segment != nullptr) {
      all = group.segment->layers[0].region;
      deal = DealOf(self->graph, layer, group.segment->layers[0].split);
    } else if (known != nullptr && known->made) {
      deal = known->deal;
    } else {
      deal = ChooseDeal(self->graph, self->context.hardware, layer, all, self->capacity,
                        self->arena);
    }
    NodeLayer* single = nullptr;
    SLUICE_TRY(MakeNodeLayer(self->context, {l, all, deal, 1}, self->arena, &single));
    single->whole = WayOf(*self, l).whole;
    int64_t end = 0;
    const Status status = FitTiles(single, self->capacity, self->arena, &end);
    if (status == Status::kOk) {
      if (known != nullptr && IsKnown(*single, deal, known)) return Status::kOk;
      return Interleave(self, Span<NodeLayer*>(&single, 1));
    }
    if (status != Status::kInfeasible) return status;
  }
  return AppendLayer(LayerCall{self->graph, self->context.hardware, self->lowering,
                               self->capacity, self->context.coster, self->budget},
                     l, self->arena, self->context.program);
}

Status WriteGroup(NodeSchedule* self, const NodeGroup& group) {
  const bool together = group.run != nullptr || group.layers > 1;
  return together ? WriteTogether(self, group, true) : WriteAlone(self, group);
}

// Gives places in DRAM for layers that overlap in time or run in another order than the
// graph's; tensors that stay on chip get none.
Status PlaceTensors(NodeSchedule* self, Arena* places, NodeProgram* out,
                    Diagnostic* diagnostic) {
  bool moved = false;
  for (const NodeGroup& group : self->groups) moved = moved || group.layers > 1;
  for (size_t i = 1; i < self->order.size(); ++i) {
    moved = moved || self->order[i] < self->order[i - 1];
  }
  if (!moved) return Status::kOk;
  Span<uint32_t> when;
  Span<uint8_t> on_chip;
  SLUICE_TRY(places->Allocate(self->graph.tensors.size(), &self->lowering.places));
  SLUICE_TRY(self->arena->Allocate(self->graph.layers.size(), &when));
  SLUICE_TRY(self->arena->Allocate(self->graph.tensors.size(), &on_chip));
  for (uint32_t l = 0; l < self->graph.layers.size(); ++l) {
    if (self->lowering.is_view[l] != 0) continue;
    when[l] = self->group_of[l];
    on_chip[self->lowering.executed[l].outputs[0]] = IsStored(*self, l) ? 0 : 1;
  }
  TimeViews(self->graph, self->lowering, when);
  for (const NodeGroup& group : self->groups)
    out->pipelined += group.layers > 1 ? 1 : 0;
  return PlaceInDram(self->graph, when, on_chip, self->arena, &self->lowering,
                     diagnostic);
}

Status WriteProgram(NodeSchedule* self, const NodeCall& call, NodeProgram* out,
                    Diagnostic* diagnostic) {
  *out = NodeProgram{};
  SLUICE_TRY(StartGroups(self, call.schedule.order));
  SLUICE_TRY(DivideIntoGroups(self, call.schedule.segments));
  SLUICE_TRY(PlaceTensors(self, call.places, out, diagnostic));
  const bool some =
      call.weights != nullptr && !(call.ways.empty() && call.schedule.segments.empty());
  for (const NodeGroup& group : self->groups) {
    if (some && group.run == nullptr && group.segment == nullptr) continue;
    SLUICE_TRY(WriteGroup(self, group));
  }
  for (const NodeGroup& group : self->groups) {
    if (!call.sizes.empty()) call.sizes[group.first] = group.layers;
  }
  out->lowering = self->lowering;
  out->groups = static_cast<uint32_t>(self->groups.size());
  return Status::kOk;
}

}  // namespace

Status ScheduleOnNodes(const NodeCall& call, Program* program, NodeProgram* out,
                       Diagnostic* diagnostic) {
  *out = NodeProgram{};
  Arena memory(call.scratch->memory());
  NodeSchedule schedule(call, &memory, program);
  const Status status = WriteProgram(&schedule, call, out, diagnostic);
  if (status == Status::kInfeasible) {
    return Fail(diagnostic, status, "nodes").Text("a layer fits no node");
  }
  return status;
}

}  // namespace sluice
