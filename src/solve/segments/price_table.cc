// SPDX-License-Identifier: Apache-2.0
#include "solve/segments/price_table.h"

namespace sluice {
namespace {

uint64_t Packed(const NodeRegion& region) {
  return uint64_t{region.begin[0]} << 48 | uint64_t{region.begin[1]} << 32 |
         uint64_t{region.extent[0]} << 16 | region.extent[1];
}

void KeyOf(const PriceTable& table, const LayerQuery& query, uint64_t key[6]) {
  const LayerTerms& terms = query.terms;
  const bool passes = terms.top_batch > 1 || terms.top_ifm > 1 || terms.top_ofm > 1;
  key[0] = table.class_of[query.position];
  key[1] = Packed(query.region);
  key[2] = static_cast<uint64_t>(terms.top_batch) << 32 |
           static_cast<uint64_t>(terms.top_ifm) << 16 |
           static_cast<uint64_t>(terms.top_ofm);
  // The consumer pays for the links of an output that stays on the chip.
  key[3] = static_cast<uint64_t>(terms.ifmap.kind) << 2 |
           static_cast<uint64_t>(terms.ofmap.kind != EndKind::kDram) << 1 |
           static_cast<uint64_t>(query.stay || !passes);
  key[4] = terms.ifmap.kind == EndKind::kNodes ? Packed(terms.ifmap.region) : 0;
  key[5] = static_cast<uint64_t>(query.reserved_bytes);
}

uint64_t HashKey(const uint64_t key[6]) {
  uint64_t h = 0;
  for (int i = 0; i < 6; ++i) {
    h = (h ^ key[i]) * 0x9e3779b97f4a7c15u;
    h ^= h >> 31;
  }
  return h;
}

}  // namespace

Status InitPriceTable(Span<const SegmentLayer> layers, PriceTable* table) {
  const size_t n = layers.size();
  SLUICE_TRY(table->arena->Allocate(n, &table->class_of));
  // Repeated layers are near each other or many: compare with the last layer of the
  // same hash.
  constexpr uint32_t kBuckets = 1024;
  Span<uint32_t> last;
  SLUICE_TRY(table->arena->Allocate(kBuckets, &last));
  for (uint32_t i = 0; i < n; ++i) {
    const MappingProblem& problem = layers[i].problem;
    uint64_t h = problem.operands;
    for (uint32_t d = 0; d < kDims; ++d) {
      h = (h ^ static_cast<uint64_t>(problem.extent[d])) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    }
    uint32_t* bucket = &last[h % kBuckets];
    const bool same = *bucket != 0 && SameProblem(layers[*bucket - 1].problem, problem);
    table->class_of[i] = same ? *bucket - 1 : i;
    *bucket = table->class_of[i] + 1;
  }
  return Status::kOk;
}

const PriceEntry* FindPrice(const PriceTable& table, const LayerQuery& query) {
  if (table.slots.empty()) return nullptr;
  uint64_t key[6];
  KeyOf(table, query, key);
  const size_t mask = table.slots.size() - 1;
  for (size_t at = HashKey(key) & mask; table.slots[at] != 0; at = (at + 1) & mask) {
    const PriceEntry& entry = table.entries[table.slots[at] - 1];
    if (memcmp(entry.key, key, sizeof key) == 0) return &entry;
  }
  return nullptr;
}

Status MakeRoomForPrice(PriceTable* table) {
  if (2 * (table->entries.size() + 1) <= table->slots.size()) return Status::kOk;
  const size_t size = table->slots.empty() ? 256 : 2 * table->slots.size();
  SLUICE_TRY(table->arena->Allocate(size, &table->slots));
  for (size_t i = 0; i < table->entries.size(); ++i) {
    size_t at = HashKey(table->entries[i].key) & (size - 1);
    while (table->slots[at] != 0) at = (at + 1) & (size - 1);
    table->slots[at] = static_cast<uint32_t>(i) + 1;
  }
  return Status::kOk;
}

Status RememberPrice(PriceTable* table, const LayerQuery& query, LayerPrice* price) {
  PriceEntry entry = {};
  entry.price = price;
  KeyOf(*table, query, entry.key);
  SLUICE_TRY(table->entries.Push(entry));
  const size_t mask = table->slots.size() - 1;
  size_t at = HashKey(entry.key) & mask;
  while (table->slots[at] != 0) at = (at + 1) & mask;
  table->slots[at] = static_cast<uint32_t>(table->entries.size());
  return Status::kOk;
}

}  // namespace sluice
