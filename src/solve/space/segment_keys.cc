// SPDX-License-Identifier: Apache-2.0
#include "solve/space/segment_keys.h"

#include "base/checked.h"
#include "base/hash.h"

namespace sluice {
namespace {

constexpr uint64_t kBase = 0x9e3779b97f4a7c15u;  // odd

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * kBase;
  return hash ^ hash >> 29;
}

// next: a position + 1; 0: none.
uint64_t Away(uint32_t next, uint32_t at) { return next == 0 ? 0 : next - at; }

}  // namespace

Status SegmentKeys::Init(Arena* arena) {
  const size_t n = p_.layer.size(), tensors = p_.roots.size();
  SLUICE_TRY(arena->Allocate(tensors, &root_));
  SLUICE_TRY(arena->Allocate(n + 1, &layers_));
  SLUICE_TRY(arena->Allocate(n + 1, &power_));
  for (uint32_t t = 0; t < tensors; ++t) {
    const SpaceRoot& root = p_.roots[t];
    const Tensor& tensor = p_.graph->tensors[t];
    const uint64_t kind = (root.constant ? 1u : 0u) | (root.output ? 2u : 0u) |
                          (root.dram ? 4u : 0u) |
                          (root.first_maker == kNone ? 8u : 0u) |
                          (root.first_maker != root.last_maker ? 16u : 0u);
    root_[t] = Mix(Mix(Mix(kBase, kind), static_cast<uint64_t>(root.bytes)),
                   Fnv1a(tensor.extent, sizeof tensor.extent, tensor.dtype));
  }
  Arena scratch(arena->memory());
  Span<uint64_t> signatures;
  SLUICE_TRY(scratch.Allocate(n, &signatures));
  SLUICE_TRY(Sign(signatures, &scratch));
  power_[0] = 1;
  for (uint32_t at = 0; at < n; ++at) {
    power_[at + 1] = power_[at] * kBase;
    layers_[at + 1] = layers_[at] * kBase + signatures[at];
  }
  return Status::kOk;
}

// Signs the layers from the last to the first. A signature covers how each operand lies in
// its root, the distance to the next layer that touches this root and to the next that reads
// it, and whether an earlier layer made a part of the root.
Status SegmentKeys::Sign(Span<uint64_t> signatures, Arena* scratch) const {
  Span<uint32_t> touch, read;  // by root: the next position that does, + 1
  SLUICE_TRY(scratch->Allocate(p_.roots.size(), &touch));
  SLUICE_TRY(scratch->Allocate(p_.roots.size(), &read));
  for (uint32_t at = static_cast<uint32_t>(signatures.size()); at-- > 0;) {
    const Layer& layer = p_.at(at);
    uint64_t hash = Fnv1a(layer.attributes.data(),
                          layer.attributes.size() * sizeof(int32_t), layer.op);
    hash = Mix(hash, p_.alone[at] + static_cast<uint64_t>(p_.slack[at]) * 2);
    for (const uint32_t t : layer.inputs) {
      if (t == kNone) {
        hash = Mix(hash, 0);
        continue;
      }
      const uint32_t root = p_.root_of[t];
      hash = HashOfOperand(at, t, Mix(hash, Away(touch[root], at)));
      hash = Mix(hash, Away(read[root], at));
      touch[root] = read[root] = at + 1;
    }
    for (const uint32_t t : layer.outputs) {
      const uint32_t root = p_.root_of[t];
      hash = HashOfOperand(at, t, Mix(hash, Away(touch[root], at)));
      hash = Mix(hash, Away(read[root], at));
      touch[root] = at + 1;
    }
    signatures[at] = hash;
  }
  return Status::kOk;
}

uint64_t SegmentKeys::HashOfOperand(uint32_t position, uint32_t tensor,
                                    uint64_t hash) const {
  const uint32_t root = p_.root_of[tensor];
  const uint32_t maker = p_.roots[root].first_maker;
  hash = Mix(Mix(hash, root_[root]), maker != kNone && maker < position ? 1 : 2);
  hash = Mix(hash, p_.IsMade(root, position));
  const Tensor& t = p_.graph->tensors[tensor];
  hash = Mix(hash, Fnv1a(t.extent, sizeof t.extent, t.dtype));
  if (tensor == root) return hash;
  const TensorPlace& place = p_.lowering->places[tensor];
  hash = Mix(hash, Fnv1a(place.stride, sizeof place.stride));
  return Mix(hash,
             static_cast<uint64_t>(OffsetInRoot(*p_.lowering, tensor, WholeBox(t))));
}

uint64_t SegmentKeys::Of(const SegmentKey& key) const {
  uint64_t hash = layers_[key.last] - layers_[key.first] * power_[key.last - key.first];
  hash = Mix(hash, key.last - key.first);
  for (int i = 0; i < key.loops.count; ++i) {
    hash = Mix(hash, key.loops.cut[i] + (uint64_t{1} << 32) *
                                            static_cast<uint32_t>(key.loops.trips[i]));
  }
  hash = Mix(hash, static_cast<uint64_t>(key.loops.slice));
  hash = Mix(hash, static_cast<uint64_t>(key.loops.piece));
  for (const Held& h : key.held) {
    const uint32_t next = p_.NextUse(h.root, key.first);
    hash = Mix(Mix(hash, root_[h.root]), next == kNone ? kNone : next - key.first);
    hash = Mix(hash, h.stored ? 1 : 2);
  }
  return hash | 1;
}

}  // namespace sluice
