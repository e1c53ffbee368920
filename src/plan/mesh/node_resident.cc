// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_resident.h"

#include "base/checked.h"
#include "base/first_fit.h"
#include "base/sort.h"
#include "plan/mesh/node_fit.h"
#include "plan/mesh/node_price.h"
#include "plan/mesh/node_steps.h"

namespace sluice {

namespace {

constexpr int32_t kShownAhead = 4;  // slices that show what a run costs

// What buffers have beyond the least, from most to nothing.
enum Room { kTwoOutputs = 0, kOneOutput, kTwoInputs, kLeast, kRooms };

// A role's buffers, in use while layers `from` to `to` of a slice run.
struct Held {
  NodeLayer* layer;
  int role;
  uint32_t from, to;
  int64_t bytes, begin;
};

bool InTurn(const Held& a, const Held& b) {  // longest and largest first
  const uint32_t steps[] = {a.to - a.from, b.to - b.from};
  if (steps[0] != steps[1]) return steps[0] > steps[1];
  return a.bytes > b.bytes;
}

// The buffers of layer i.
Status HoldLayer(Span<NodeLayer*> layers, uint32_t i, Room room, Vector<Held>* all) {
  NodeLayer* layer = layers[i];
  const uint32_t last = static_cast<uint32_t>(layers.size()) - 1;
  for (int r = 0; r < kTileRoles; ++r) {
    NodeRole* role = &layer->roles[r];
    if (role->tensor == kNone) continue;
    Held held = {layer, r, 0, last, 0, 0};
    if (role->producer != nullptr) {
      if (SetSlots(layer, r, 1) < 0) return Status::kInfeasible;
      for (held.from = 0; layers[held.from] != role->producer;) ++held.from;
      held.to = i;
    } else if (r == kRoleOutput) {
      role->count = layer->stores && room == kTwoOutputs && layer->slices > 1 ? 2 : 1;
      if (!layer->stores || room > kOneOutput) held.from = held.to = i;
    } else {
      role->count = role->many && room < kLeast ? 2 : 1;
    }
    held.bytes = role->bytes * role->count;
    SLUICE_TRY(all->Push(held));
  }
  return Status::kOk;
}

// Puts each buffer at the lowest address that is free for as long as it is in use.
Status PlaceHeld(const NodeSchedule& self, Vector<Held>* all, bool* placed) {
  ArenaScope scope(self.arena);
  Span<TakenRange> taken;
  SLUICE_TRY(self.arena->Allocate(all->size(), &taken));
  Sort(all->begin(), all->end(), InTurn);
  *placed = false;
  for (size_t i = 0; i < all->size(); ++i) {
    Held* held = &(*all)[i];
    size_t count = 0;
    for (size_t k = 0; k < i; ++k) {
      const Held& other = (*all)[k];
      if (other.to < held->from || other.from > held->to) continue;
      taken[count++] = TakenRange{other.begin, other.begin + other.bytes};
    }
    held->begin = FirstFit(held->bytes, 1, taken.Slice(0, count));
    if (held->begin + held->bytes > self.capacity) return Status::kOk;
  }
  for (const Held& held : *all) held.layer->roles[held.role].begin = held.begin;
  *placed = true;
  return Status::kOk;
}

}  // namespace

Status ArrangeResident(NodeSchedule* self, Span<NodeLayer*> layers) {
  for (NodeLayer* layer : layers) {
    layer->turns_taken = true;
    SLUICE_TRY(MeasureParts(layer));
    if (layer->sums) return Status::kInfeasible;
  }
  for (int room = 0; room < kRooms; ++room) {
    Vector<Held> all(self->arena);
    for (uint32_t i = 0; i < layers.size(); ++i) {
      SLUICE_TRY(HoldLayer(layers, i, static_cast<Room>(room), &all));
    }
    bool placed;
    SLUICE_TRY(PlaceHeld(*self, &all, &placed));
    if (placed) return Status::kOk;
  }
  return Status::kInfeasible;
}

Status TakeTurnsAhead(NodeSchedule* self, Span<NodeLayer*> layers, int32_t slices) {
  const bool all = self->context.weights == nullptr;
  const int32_t shown = all ? slices : Min(slices, kShownAhead);
  // Those between the first and the last one stand for all between these.
  const double like = shown > 2 ? static_cast<double>(slices - 2) / (shown - 2) : 1;
  SLUICE_TRY(self->context.program->BeginBlock());
  for (NodeLayer* layer : layers) SLUICE_TRY(WriteStep(layer));
  for (int32_t slice = 0; slice < shown; ++slice) {
    // Loops of instructions are found in each block by itself.
    const bool ends = slice == 0 || slice + 1 == shown;
    SLUICE_TRY(BeginWeighted(self->context, ends ? 1 : like));
    for (NodeLayer* layer : layers) {
      SLUICE_TRY(WritePending(layer));
      if (slice + 1 < shown) SLUICE_TRY(WriteStep(layer));
    }
  }
  return Status::kOk;
}

}  // namespace sluice
