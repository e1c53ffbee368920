// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_groups.h"

namespace sluice {

namespace {

Status FindOrder(NodeSchedule* self, Span<const uint32_t> order) {
  self->order = order;
  if (!order.empty()) return Status::kOk;
  Span<uint32_t> all;
  SLUICE_TRY(self->arena->Allocate(self->graph.layers.size(), &all));
  uint32_t n = 0;
  for (uint32_t l = 0; l < self->graph.layers.size(); ++l) {
    if (self->lowering.is_view[l] == 0) all[n++] = l;
  }
  self->order = Span<const uint32_t>(all.data(), n);
  return Status::kOk;
}

}  // namespace

Status StartGroups(NodeSchedule* self, Span<const uint32_t> order) {
  SLUICE_TRY(FindOrder(self, order));
  SLUICE_TRY(self->arena->Allocate(self->graph.layers.size(), &self->group_of));
  for (uint32_t& group : self->group_of) group = kNone;
  return Status::kOk;
}

void MarkGroup(NodeSchedule* self, const NodeGroup& group) {
  const uint32_t number = static_cast<uint32_t>(self->groups.size());
  for (uint32_t i = 0; i < group.layers; ++i) {
    self->group_of[self->order[group.first + i]] = number;
  }
}

Status AddAlone(NodeSchedule* self, uint32_t at, const Segment* segment) {
  const NodeGroup group = {at, 1, segment};
  MarkGroup(self, group);
  return self->groups.Push(group);
}

bool IsStored(const NodeSchedule& self, uint32_t l) {
  const uint32_t out = self.lowering.executed[l].outputs[0];
  const TensorKind kind = self.graph.tensors[out].kind;
  if (kind != TensorKind::kIntermediate) return true;
  bool read = false;
  for (uint32_t m = 0; m < self.graph.layers.size(); ++m) {
    // Nothing reads the output of a PAD that is folded away.
    if (IsFolded(self.graph.layers[m].op, self.lowering.is_view[m])) continue;
    const bool together =
        self.group_of[m] == self.group_of[l] && self.lowering.is_view[m] == 0;
    for (const uint32_t t : self.lowering.executed[m].inputs) {
      if (t != out) continue;
      if (!together) return true;
      read = true;
    }
  }
  // An output that nobody reads is stored too: a layer whose output is unused may work
  // in DRAM itself (a copy, a host call).
  return !read;
}

bool ComesFrom(const NodeSchedule& self, uint32_t t, uint32_t group, bool through) {
  if (t == kNone) return false;
  const uint32_t p = self.graph.tensors[t].producer;
  if (p == kNone) return false;
  if (self.lowering.is_view[p] == 0) return through && self.group_of[p] == group;
  for (const uint32_t input : self.lowering.executed[p].inputs) {
    if (ComesFrom(self, input, group, true)) return true;
  }
  return false;
}

}  // namespace sluice
