// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_layer.h"

#include <new>

#include "base/checked.h"
#include "model/granules.h"

namespace sluice {

namespace {

// Sets the part of every loop that node i has. Returns 0 when the node has work.
uint32_t PartsOfNode(const NodeLayer& self, uint32_t i, int32_t index[kNodeLoops]) {
  uint32_t left[kMeshAxes] = {i % self.cols, i / self.cols};
  for (int v = 0; v < kNodeLoops; ++v) index[v] = 0;
  for (uint32_t axis = kMeshAxes; axis-- > 0;) {
    for (const uint8_t v : self.deal.order[axis]) {
      const uint32_t parts = static_cast<uint32_t>(self.deal.parts[axis][v]);
      index[v] = index[v] * (axis == kColumns ? self.deal.parts[axis][v] : 1) +
                 static_cast<int32_t>(left[axis] % parts);
      left[axis] /= parts;
    }
  }
  return left[0] + left[1];
}

// Orders the parts so that few loads serve all nodes.
void OrderParts(NodeLayer* self, uint32_t lands) {
  Box part = {};
  int32_t c = Max(self->channels, 1);
  for (int v = 0; v < kNodeLoops; ++v) {
    const int32_t share = PartExtent(
        self->extent[v], self->deal.parts[kColumns][v] * self->deal.parts[kRows][v],
        self->unit[v]);
    (v == kLoopC ? c : part.extent[v]) = share;
  }
  const auto boxes = [&](const Box& box, int32_t begin) {
    return BoxesAt(*self, box, self->channels == 0 ? 0 : begin,
                   self->channels == 0 ? 0 : Min(begin + c, self->channels));
  };
  const TileBoxes first = boxes(part, 0);
  SharedRole roles[kTileRoles] = {};
  uint32_t count = 0;
  for (int r = 0; r < kRoleOutput; ++r) {
    if (self->roles[r].tensor == kNone || (lands >> r & 1) != 0) continue;
    SharedRole* role = &roles[count++];
    const Tensor& tensor = self->context->graph.tensors[self->roles[r].tensor];
    role->bytes = static_cast<double>(first.box[r].elements()) * tensor.element_bytes;
    for (int v = 0; v < kNodeLoops; ++v) {
      const int32_t parts = self->deal.parts[kColumns][v] * self->deal.parts[kRows][v];
      Box other = part;
      if (v < kAxes) other.begin[v] = part.extent[v];
      if (parts == 1 || (v == kLoopC ? c : part.extent[v]) >= self->extent[v]) continue;
      if (v < kAxes) {
        other.extent[v] = Min(part.extent[v], self->extent[v] - part.extent[v]);
      }
      const TileBoxes next = boxes(other, v == kLoopC ? c : 0);
      role->depends[v] = !(next.box[r] == first.box[r]);
      if (role->depends[v]) role->bytes *= parts;
    }
  }
  const double sums = static_cast<double>(part.elements()) * self->nodes *
                      self->context->hardware.accumulator_bytes;
  OrderDeal(Span<const SharedRole>(roles, count), sums, &self->deal);
}

void DealOut(NodeLayer* self) {
  for (int v = 0; v < kNodeLoops; ++v) {
    self->share[v] = PartExtent(
        self->extent[v], self->deal.parts[kColumns][v] * self->deal.parts[kRows][v],
        self->unit[v]);
  }
  self->links =
      static_cast<int32_t>(CeilDivide(self->extent[kLoopC], self->share[kLoopC]));
  for (uint32_t i = 0; i < self->nodes; ++i) {
    NodeShare* share = &self->shares[i];
    int32_t index[kNodeLoops];
    share->used = PartsOfNode(*self, i, index) == 0;
    share->next = kNone;
    for (int v = 0; v < kNodeLoops; ++v) {
      const int64_t begin = int64_t{index[v]} * self->share[v];
      if (begin >= self->extent[v]) share->used = false;
      if (!share->used) break;
      const int32_t at = static_cast<int32_t>(begin);
      const int32_t n = Min(self->share[v], self->extent[v] - at);
      if (v < kAxes) {
        share->box.begin[v] = at;
        share->box.extent[v] = n;
      } else {
        share->c_begin = self->channels == 0 ? 0 : at;
        share->c_end = self->channels == 0 ? 0 : at + n;
        share->link = index[v];
      }
    }
  }
  for (uint32_t i = 0; self->links > 1 && i < self->nodes; ++i) {
    for (uint32_t j = 0; self->shares[i].used && j < self->nodes; ++j) {
      if (self->shares[j].used && self->shares[j].link == self->shares[i].link + 1 &&
          self->shares[j].box == self->shares[i].box) {
        self->shares[i].next = j;
      }
    }
  }
}

}  // namespace

Status MakeNodeLayer(const NodeContext& context, const NodeLayerRequest& request,
                     Arena* arena, NodeLayer** made) {
  void* raw = arena->AllocateBytes(sizeof(NodeLayer), alignof(NodeLayer));
  if (raw == nullptr) return Status::kOutOfMemory;
  NodeLayer* self = new (raw) NodeLayer{};
  self->context = &context;
  self->layer = &context.lowering.executed[request.layer];
  self->index = request.layer;
  self->region = request.region;
  self->cols = request.region.extent[kColumns];
  self->nodes = static_cast<uint32_t>(NodesOf(request.region));
  self->deal = request.deal;
  self->slices = request.slices;
  self->channels = AccumulatedChannels(context.graph, *self->layer);
  for (int32_t& shown : self->shown) shown = 1;
  const TileOperands operands = OperandsOf(*self->layer);
  for (int r = 0; r < kTileRoles; ++r) {
    self->roles[r] = NodeRole{operands.tensor[r], nullptr, false, 0, 0, 0};
  }
  *made = self;
  SLUICE_TRY(arena->Allocate(self->nodes, &self->shares));
  SLUICE_TRY(arena->Allocate(self->nodes, &self->turns));
  SLUICE_TRY(arena->Allocate(self->nodes, &self->covered));
  RestrictDeal(self->context->graph, *self->layer, &self->deal);
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    int64_t nodes = self->region.extent[axis];
    for (const uint8_t v : self->deal.order[axis]) {
      int32_t* parts = &self->deal.parts[axis][v];
      if (*parts > nodes) *parts = 1;  // more parts than nodes: whole on each
      nodes /= *parts;
    }
  }
  const CutRule rule =
      CutsOn(self->context->hardware.array, self->context->graph, *self->layer);
  const Tensor& out = self->context->graph.tensors[self->layer->outputs[0]];
  for (int v = 0; v < kNodeLoops; ++v) {
    self->extent[v] = v == kLoopC ? Max(self->channels, 1) : out.extent[v];
    self->unit[v] = v == kLoopC ? rule.sum_unit : rule.unit[v];
  }
  self->extent[0] /= self->slices;
  if (!request.ordered) OrderParts(self, request.lands);
  DealOut(self);
  return Status::kOk;
}

bool Connect(NodeLayer* self, int role, NodeLayer* producer) {
  if (producer->sink_count == sizeof self->sinks / sizeof self->sinks[0]) return false;
  self->roles[role].producer = producer;
  producer->sinks[producer->sink_count++] = NodeSink{self, role};
  return true;
}

uint32_t NodeAt(const NodeLayer& self, uint32_t i) {
  return (self.region.begin[kRows] + i / self.cols) * self.context->hardware.node_cols +
         self.region.begin[kColumns] + i % self.cols;
}

bool TileAt(const NodeLayer& self, uint32_t i, int64_t time, NodeTile* tile) {
  const NodeShare& share = self.shares[i];
  const int64_t skew = int64_t{share.link} * self.trips[kLoopC];
  int64_t at = time - skew;
  if (self.drains) {
    const int64_t period = self.end_time / self.slices;
    const int64_t local = time % period - skew;
    if (local < 0 || local >= self.per_slice) return false;
    at = time / period * self.per_slice + local;
  }
  if (!share.used || at < 0 || at >= self.per_slice * self.slices) return false;
  tile->slice = at / self.per_slice;
  tile->number = at / self.shown[kLoopC];
  int64_t left = at % self.per_slice;
  for (int k = 0; k < kNodeLoops; ++k) {
    const int v = LoopAt(self, k);
    const int32_t shown = self.shown[v];
    const int32_t step =
        ShownStep(static_cast<int32_t>(left % shown), shown, self.trips[v]);
    left /= shown;
    if (v == kLoopC) {
      tile->c_begin = tile->c_end = 0;
      tile->starts = tile->ends = true;
      if (self.channels == 0) continue;
      const int64_t begin = share.c_begin + int64_t{step} * self.tiling.c_chunk;
      if (begin >= share.c_end) return false;
      tile->c_begin = static_cast<int32_t>(begin);
      tile->c_end = Min(tile->c_begin + self.tiling.c_chunk, share.c_end);
      tile->starts = step == 0;
      tile->ends = tile->c_end == share.c_end;
      continue;
    }
    const int64_t begin = int64_t{step} * self.tiling.chunk[v];
    if (begin >= share.box.extent[v]) return false;
    tile->box.begin[v] = share.box.begin[v] + static_cast<int32_t>(begin);
    tile->box.extent[v] =
        Min(self.tiling.chunk[v], share.box.extent[v] - static_cast<int32_t>(begin));
  }
  tile->box.begin[0] += static_cast<int32_t>(tile->slice) * self.extent[0];
  return true;
}

TileBoxes BoxesAt(const NodeLayer& self, const Box& box, int32_t c_begin,
                  int32_t c_end) {
  return BoxesOf(self.context->graph, *self.layer, box, c_begin, c_end);
}

Box LandingBox(const NodeLayer& self, uint32_t i, int role, int64_t slice) {
  Box part = self.shares[i].box;
  part.begin[0] += static_cast<int32_t>(slice) * self.extent[0];
  return BoxesAt(self, part, self.shares[i].c_begin, self.shares[i].c_end).box[role];
}

}  // namespace sluice
