// SPDX-License-Identifier: Apache-2.0
#include "solve/space/memo.h"

#include "base/checked.h"
#include "base/hash.h"

namespace sluice {
namespace {

constexpr uint64_t kBase = 0x9e3779b97f4a7c15u;  // odd
constexpr size_t kMostEntries = 32768;           // what is not found is computed again
constexpr uint8_t kOutputs = 128;                // operands from here on are outputs

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * kBase;
  return hash ^ hash >> 29;
}

// next: a position + 1; 0: none.
uint64_t Away(uint32_t next, uint32_t at) { return next == 0 ? 0 : next - at; }

size_t PowerOfTwo(size_t least) {
  size_t n = 1;
  while (n < least) n *= 2;
  return n;
}

}  // namespace

Status SegmentMemo::Init(Arena* arena) {
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
  // An entry and its misfits take at most a quarter of the memory that is free.
  constexpr uint64_t kShare = 4 * (sizeof(Entry) + 4 * sizeof(uint64_t));
  const uint64_t fits = arena->memory()->free_bytes() / kShare;
  size_t entries = PowerOfTwo(Min(n * n / 2, kMostEntries));
  while (entries > 1 && entries > fits) entries /= 2;
  SLUICE_TRY(arena->Allocate(4 * entries, &misfits_));
  return arena->Allocate(entries, &entries_);
}

// Signs the layers from the last to the first. A signature covers how each operand lies in
// its root, the distance to the next layer that touches this root and to the next that reads
// it, and whether an earlier layer made a part of the root.
Status SegmentMemo::Sign(Span<uint64_t> signatures, Arena* scratch) const {
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

uint64_t SegmentMemo::HashOfOperand(uint32_t position, uint32_t tensor,
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

uint64_t SegmentMemo::KeyOf(const SegmentKey& key) const {
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

bool SegmentMemo::MayFit(const SegmentKey& key) {
  last_ = 0;
  return maker_->Fits(key.held, key.first, key.last, key.loops);
}

bool SegmentMemo::Make(const SegmentKey& key, const SegmentLimit* limit) {
  excluded_ = false;
  const uint64_t hash = KeyOf(key);
  if (hash == last_) return true;
  bool fits = false;
  if (Find(key, hash, &fits)) {
    ++hits_;
    if (fits) last_ = hash;
    return fits;
  }
  fits = maker_->Make(key.held, key.first, key.last, key.loops, limit);
  if (fits && maker_->is_excluded()) {
    excluded_ = true;
    last_ = 0;
    cost_ = maker_->cost();
    return true;
  }
  fits = fits && maker_->held().size() <= kMostHeld;
  Keep(key, hash, fits);
  if (!fits) return false;
  last_ = hash;
  cost_ = maker_->cost();
  held_count_ = 0;
  for (const Held& h : maker_->held()) held_[held_count_++] = h;
  return true;
}

bool SegmentMemo::Find(const SegmentKey& key, uint64_t hash, bool* fits) {
  *fits = misfits_[hash >> 1 & (misfits_.size() - 1)] != hash;
  if (!*fits) return true;
  const Entry& entry = entries_[hash >> 1 & (entries_.size() - 1)];
  if (entry.key != hash) return false;
  cost_ = entry.cost;
  held_count_ = 0;
  for (size_t i = 0; i < entry.count; ++i) {
    const Name& name = entry.held[i];
    uint32_t root = 0;
    if (name.layer == kBefore) {
      root = key.held[name.operand].root;
    } else {
      const Layer& layer = p_.at(key.first + name.layer);
      root =
          p_.root_of[name.operand < kOutputs ? layer.inputs[name.operand]
                                             : layer.outputs[name.operand - kOutputs]];
    }
    held_[held_count_++] = {root, name.stored};
  }
  return true;
}

void SegmentMemo::Keep(const SegmentKey& key, uint64_t hash, bool fits) {
  if (!fits) {
    misfits_[hash >> 1 & (misfits_.size() - 1)] = hash;
    return;
  }
  if (maker_->held().size() > kMostKept) return;
  Entry* entry = &entries_[hash >> 1 & (entries_.size() - 1)];
  *entry = Entry{};
  entry->cost = maker_->cost();
  for (const Held& h : maker_->held()) {
    if (!NameOf(key, h, &entry->held[entry->count++])) return;
  }
  entry->key = hash;
}

bool SegmentMemo::NameOf(const SegmentKey& key, const Held& held, Name* name) const {
  name->stored = held.stored;
  name->layer = kBefore;
  for (size_t i = 0; i < key.held.size() && i < kOutputs; ++i) {
    name->operand = static_cast<uint8_t>(i);
    if (key.held[i].root == held.root) return true;
  }
  const uint32_t position = maker_->FirstTouchOf(held.root);
  name->layer = static_cast<uint16_t>(position - key.first);
  const Layer& layer = p_.at(position);
  for (size_t i = 0; i < layer.inputs.size() && i < kOutputs; ++i) {
    name->operand = static_cast<uint8_t>(i);
    const uint32_t t = layer.inputs[i];
    if (t != kNone && p_.root_of[t] == held.root) return true;
  }
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    name->operand = static_cast<uint8_t>(kOutputs + i);
    if (p_.root_of[layer.outputs[i]] == held.root) return true;
  }
  return false;
}

}  // namespace sluice
