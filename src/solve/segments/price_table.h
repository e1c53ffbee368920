// SPDX-License-Identifier: Apache-2.0
// Prices of layers, remembered by problem, region and terms.
//
// Input    queries of one network
// Output   the price that was remembered for an equal query
// Errors   kOutOfMemory
// Cost     a hash table; equal layers share their prices
#ifndef SLUICE_SOLVE_SEGMENTS_PRICE_TABLE_H_
#define SLUICE_SOLVE_SEGMENTS_PRICE_TABLE_H_

#include "solve/segments/segments.h"

namespace sluice {

struct PriceEntry {
  LayerPrice* price;  // nullptr: infeasible
  uint64_t key[6];
};

struct PriceTable {
  explicit PriceTable(Arena* the_arena) : arena(the_arena), entries(the_arena) {}
  Arena* arena;
  Vector<PriceEntry> entries;
  Span<uint32_t> slots;
  Span<uint32_t> class_of;  // by position: first layer with the same problem
};

Status InitPriceTable(Span<const SegmentLayer> layers, PriceTable* table);

// nullptr: none is remembered.
const PriceEntry* FindPrice(const PriceTable& table, const LayerQuery& query);

// Call it before RememberPrice: a price may lie in the arena behind the larger table.
Status MakeRoomForPrice(PriceTable* table);
// price: nullptr if the layer is infeasible so. No price of this query may be known yet.
Status RememberPrice(PriceTable* table, const LayerQuery& query, LayerPrice* price);

}  // namespace sluice

#endif  // SLUICE_SOLVE_SEGMENTS_PRICE_TABLE_H_
