// SPDX-License-Identifier: Apache-2.0
#include "solve/space/memo.h"

#include "base/checked.h"

namespace sluice {
namespace {

constexpr size_t kMostEntries = 32768;  // what is not found is computed again
constexpr uint8_t kOutputs = 128;       // operands from here on are outputs

size_t PowerOfTwo(size_t least) {
  size_t n = 1;
  while (n < least) n *= 2;
  return n;
}

}  // namespace

Status SegmentMemo::Init(Arena* arena) {
  SLUICE_TRY(keys_.Init(arena));
  const size_t n = p_.layer.size();
  // An entry and its misfits take at most a quarter of the memory that is free.
  constexpr uint64_t kShare = 4 * (sizeof(Entry) + 4 * sizeof(uint64_t));
  const uint64_t fits = arena->memory()->free_bytes() / kShare;
  size_t entries = PowerOfTwo(Min(n * n / 2, kMostEntries));
  while (entries > 1 && entries > fits) entries /= 2;
  SLUICE_TRY(arena->Allocate(4 * entries, &misfits_));
  return arena->Allocate(entries, &entries_);
}

bool SegmentMemo::MayFit(const SegmentKey& key) {
  last_ = 0;
  return maker_->Fits(key.held, key.first, key.last, key.loops);
}

bool SegmentMemo::Make(const SegmentKey& key, const SegmentLimit* limit) {
  excluded_ = false;
  const uint64_t hash = keys_.Of(key);
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
