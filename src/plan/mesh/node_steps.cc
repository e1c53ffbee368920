// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_steps.h"

#include "base/checked.h"
#include "model/tile_cycles.h"
#include "plan/mesh/node_buffers.h"
#include "plan/mesh/node_price.h"

namespace sluice {

namespace {

bool Intersect(const Box& a, const Box& b, Box* out) {
  for (int x = 0; x < kAxes; ++x) {
    const int32_t begin = Max(a.begin[x], b.begin[x]);
    const int32_t end = Min(a.begin[x] + a.extent[x], b.begin[x] + b.extent[x]);
    if (begin >= end) return false;
    out->begin[x] = begin;
    out->extent[x] = end - begin;
  }
  return true;
}

// Times from a slice's first tile to that of the next.
int64_t PeriodOf(const NodeLayer& self) {
  return self.drains ? self.end_time / self.slices : self.per_slice;
}

// True if a tile that is not computed yet makes a part of the box.
bool Unfinished(const NodeLayer& self, int64_t slice, const Box& box) {
  Box unused;
  for (uint32_t i = 0; i < self.nodes; ++i) {
    if (!self.shares[i].used || self.shares[i].next != kNone) continue;
    Box part = self.shares[i].box;  // of as many slices as the box has
    part.begin[0] = box.begin[0];
    part.extent[0] = box.extent[0];
    if (!Intersect(part, box, &unused)) continue;
    if (self.turns[i].pending && Intersect(self.turns[i].tile.box, box, &unused))
      return true;
    const int64_t skew = int64_t{self.shares[i].link} * self.trips[kLoopC];
    const int64_t end = (slice + 1) * PeriodOf(self) + skew;
    for (int64_t t = Max(self.time, skew); t < end; ++t) {
      NodeTile tile;
      if (TileAt(self, i, t, &tile) && Intersect(tile.box, box, &unused)) return true;
    }
  }
  return false;
}

// Covers the nodes with same(i, i) by few rectangles, each of nodes that are the
// same as its first, and calls `send` once for each rectangle.
template <typename Same, typename Send>
Status ForRectangles(NodeLayer* self, Same same, Send send) {
  memset(self->covered.data(), 0, self->covered.size());
  const auto free = [&](uint32_t i, uint32_t j) {
    return self->covered[j] == 0 && same(j, j) && same(i, j);
  };
  for (uint32_t i = 0; i < self->nodes; ++i) {
    if (!free(i, i)) continue;
    uint32_t cols = 1, rows = 1;
    while (i % self->cols + cols < self->cols && free(i, i + cols)) ++cols;
    for (bool whole = true; whole && i + rows * self->cols < self->nodes;) {
      for (uint32_t c = 0; whole && c < cols; ++c)
        whole = free(i, i + rows * self->cols + c);
      if (whole) ++rows;
    }
    for (uint32_t k = 0; k < rows * cols; ++k) {
      self->covered[i + k / cols * self->cols + k % cols] = 1;
    }
    SLUICE_TRY(send(i, NodeRect{NodeAt(*self, i), cols, rows}));
  }
  return Status::kOk;
}

// Loads the boxes of a role that the next tiles need and that are not there yet.
Status WriteLoads(NodeLayer* self, int r) {
  const NodeRole& role = self->roles[r];
  for (NodeTurn& turn : self->turns) {
    turn.loads =
        turn.comes && (turn.current[r] < 0 || !(turn.loaded[r] == turn.boxes.box[r]));
    if (!turn.loads) continue;
    turn.current[r] = (turn.current[r] + 1) % role.count;
    turn.loaded[r] = turn.boxes.box[r];
  }
  return ForRectangles(
      self,
      [&](uint32_t i, uint32_t j) {
        return self->turns[j].loads &&
               self->turns[i].current[r] == self->turns[j].current[r] &&
               self->turns[i].loaded[r] == self->turns[j].loaded[r];
      },
      [&](uint32_t i, const NodeRect& rect) {
        Transfer load = {};
        load.role = WireRole(r);
        load.dram = TensorBox(role.tensor, self->context->lowering.places[role.tensor],
                              self->turns[i].loaded[r]);
        load.buffer =
            BoxIn(*self, r, self->turns[i].current[r], self->turns[i].loaded[r]);
        load.to = rect;
        return self->context->program->AddTransfer(StepKind::kLoad, self->index, load);
      });
}

// Makes the next tile of a node its current tile and describes its step.
Status Describe(NodeLayer* self, uint32_t i) {
  NodeTurn* turn = &self->turns[i];
  const NodeTile& tile = turn->next;
  const TileBoxes& boxes = turn->boxes;
  TileStep step = {};
  step.node = NodeAt(*self, i);
  for (int r = 0; r < kRoleOutput; ++r) {
    if (self->roles[r].tensor == kNone) continue;
    step.present[r] = true;
    step.operand[r] = self->roles[r].producer != nullptr
                          ? InLanding(*self, i, r, tile.slice, boxes.box[r])
                          : BoxIn(*self, r, turn->current[r], boxes.box[r]);
  }
  step.first = tile.starts && self->shares[i].link == 0;
  step.last = tile.ends && self->shares[i].next == kNone;
  if (self->sums) {
    step.has_accumulator = true;
    step.accumulator = Accumulator(*self, tile);
  }
  step.c_begin = tile.c_begin;
  step.c_end = tile.c_end;
  for (int a = 0; a < kAxes; ++a) step.origin[a] = tile.box.begin[a];
  for (int a = 0; a < 4; ++a) step.pad[a] = boxes.pad[a];
  step.macs = boxes.macs;
  step.vector_ops = boxes.vector_ops;
  const TileCost cost =
      DeclaredCost({self->context->coster, self->context->hardware,
                    self->context->graph, *self->layer, self->index},
                   boxes, TileSum{tile.c_end - tile.c_begin, step.first, step.last});
  if (cost.cycles > INT64_C(0xffffffff)) return Status::kUnsupported;
  step.cycles = cost.cycles;
  step.energy_pj = cost.energy_pj;
  step.scratchpad_pj = cost.scratchpad_pj;
  turn->tile = tile;
  turn->step = step;
  turn->pending = true;
  return Status::kOk;
}

// Forwards the tile that node `from` has made to all nodes that need a part of it.
Status Land(NodeLayer* self, int role, const NodeTile& tile, uint32_t from,
            const BufferBox& out, uint32_t layer) {
  for (uint32_t i = 0; i < self->nodes; ++i) {
    NodeTurn* turn = &self->turns[i];
    turn->lands = self->shares[i].used;
    if (!turn->lands ||
        (turn->landing_slice == tile.slice && turn->landing_role == role)) {
      continue;
    }
    turn->landing = LandingBox(*self, i, role, tile.slice);
    turn->landing_slice = tile.slice;
    turn->landing_role = role;
  }
  Box part;
  return ForRectangles(
      self,
      [&](uint32_t i, uint32_t j) {
        return self->turns[j].lands &&
               self->turns[i].landing == self->turns[j].landing &&
               Intersect(tile.box, self->turns[j].landing, &part);
      },
      [&](uint32_t i, const NodeRect& rect) {
        Intersect(tile.box, self->turns[i].landing, &part);
        Transfer forward = {};
        forward.role = SLUICE_ROLE_OUTPUT;
        forward.buffer = PartOfBuffer(out, tile.box, part);
        forward.landing = InLanding(*self, i, role, tile.slice, part);
        forward.landing.joins = 1;
        forward.node = from;
        forward.to = rect;
        return self->context->program->AddTransfer(StepKind::kForward, layer, forward);
      });
}

Status Deliver(NodeLayer* self, uint32_t i) {
  const NodeTurn& turn = self->turns[i];
  if (self->stores) {
    const uint32_t out = self->layer->outputs[0];
    Transfer store = {};
    store.role = SLUICE_ROLE_OUTPUT;
    store.dram = TensorBox(out, self->context->lowering.places[out], turn.tile.box);
    store.buffer = turn.step.operand[kRoleOutput];
    store.node = NodeAt(*self, i);
    SLUICE_TRY(
        self->context->program->AddTransfer(StepKind::kStore, self->index, store));
  }
  for (uint32_t s = 0; s < self->sink_count; ++s) {
    SLUICE_TRY(Land(self->sinks[s].consumer, self->sinks[s].role, turn.tile,
                    NodeAt(*self, i), turn.step.operand[kRoleOutput], self->index));
  }
  return Status::kOk;
}

Status WriteTile(NodeLayer* self, uint32_t i) {
  NodeTurn* turn = &self->turns[i];
  turn->pending = false;
  if (turn->step.last) {
    int32_t* current = &turn->current[kRoleOutput];
    *current = (*current + 1) % self->roles[kRoleOutput].count;
    turn->step.present[kRoleOutput] = true;
    turn->step.operand[kRoleOutput] =
        BoxIn(*self, kRoleOutput, *current, turn->tile.box);
  }
  SLUICE_TRY(self->context->program->AddTile(self->index, turn->step));
  if (turn->step.last) return Deliver(self, i);
  if (!turn->tile.ends) return Status::kOk;
  Transfer sum = {};
  sum.role = SLUICE_ROLE_PARTIAL_SUM;
  sum.buffer = sum.landing = turn->step.accumulator;
  sum.node = NodeAt(*self, i);
  sum.to.node = NodeAt(*self, self->shares[i].next);
  return self->context->program->AddTransfer(StepKind::kForward, self->index, sum);
}

}  // namespace

int64_t FinishedSlices(const NodeLayer& self) {
  if (IsDone(self)) return self.slices;
  const int64_t skew = int64_t{self.links - 1} * self.trips[kLoopC];
  const int64_t done = self.time - (self.pending ? 1 : 0);
  return Max<int64_t>(0, self.drains ? done : done - skew) / PeriodOf(self);
}

bool MayStep(const NodeLayer& self) {
  if (self.time == self.end_time) return false;
  for (uint32_t i = 0; i < self.nodes; ++i) {
    NodeTile tile;
    if (!TileAt(self, i, self.time, &tile)) continue;
    const TileBoxes boxes = BoxesAt(self, tile.box, tile.c_begin, tile.c_end);
    for (int r = 0; r < kTileRoles; ++r) {
      const NodeLayer* producer = self.roles[r].producer;
      if (producer != nullptr && Unfinished(*producer, tile.slice, boxes.box[r])) {
        return false;
      }
    }
    for (uint32_t s = 0; s < self.sink_count; ++s) {
      const NodeLayer& consumer = *self.sinks[s].consumer;
      if (tile.slice >=
          FinishedSlices(consumer) + consumer.roles[self.sinks[s].role].count) {
        return false;
      }
    }
  }
  return true;
}

Status WriteStep(NodeLayer* self) {
  if (self->context->budget->Exhausted()) return Status::kStopped;
  if (self->context->program->size() > self->context->most_steps)
    return Status::kUnsupported;
  if (!self->tiling.doubled) SLUICE_TRY(WritePending(self));
  SLUICE_TRY(BeginTime(*self, self->time));
  for (uint32_t i = 0; i < self->nodes; ++i) {
    NodeTurn* turn = &self->turns[i];
    turn->comes = TileAt(*self, i, self->time, &turn->next);
    if (!turn->comes) continue;
    turn->boxes = BoxesAt(*self, turn->next.box, turn->next.c_begin, turn->next.c_end);
  }
  for (int r = 0; r < kRoleOutput; ++r) {
    if (self->roles[r].tensor == kNone || self->roles[r].producer != nullptr) continue;
    SLUICE_TRY(WriteLoads(self, r));
  }
  SLUICE_TRY(WritePending(self));
  for (uint32_t i = 0; i < self->nodes; ++i) {
    if (self->turns[i].comes) SLUICE_TRY(Describe(self, i));
  }
  ++self->time;
  self->pending = true;
  return Status::kOk;
}

// Compute later links first: they are one tile behind.
Status WritePending(NodeLayer* self) {
  if (self->pending) SLUICE_TRY(BeginTime(*self, self->time - 1));
  for (int32_t link = self->links; link-- > 0;) {
    for (uint32_t i = 0; i < self->nodes; ++i) {
      if (self->turns[i].pending && self->shares[i].link == link)
        SLUICE_TRY(WriteTile(self, i));
    }
  }
  self->pending = false;
  return Status::kOk;
}

Status WriteSlice(NodeLayer* self) {
  for (NodeTurn& turn : self->turns) {
    for (int32_t& current : turn.current) current = -1;
  }
  for (int64_t left = self->end_time / self->slices; left > 0; --left)
    SLUICE_TRY(WriteStep(self));
  return WritePending(self);
}

}  // namespace sluice
