// SPDX-License-Identifier: Apache-2.0
// Cost of a schedule: latency, energy, buffer profile; and whether it is legal.
//
// Input    TileList (tiles with cycles, transfers with cycles) and DmaNotation.
// Output   cycles; pJ; bytes in use at each position (index position + 1).
// Errors   CheckDma names the rule a DRAM notation breaks; the others need a legal one.
// Cost     O(tiles + transfers); ProfileBuffer the same.
// Source   SoMa section IV-C: one DRAM channel, one compute engine, both in order. A
//          transfer may start once tile `start` may start; tile p once its loads and
//          all stores with end <= p are done.
#ifndef SLUICE_MODEL_TIMELINE_H_
#define SLUICE_MODEL_TIMELINE_H_

#include <stdint.h>

#include "model/notation.h"

namespace sluice {

// due: scratch of tiles + 1 elements.
int64_t Latency(const TileList& list, const DmaNotation& dma, Span<int32_t> due);

// bytes[p + 1]: bytes in use during tile p; bytes[0]: before tile 0. `bytes` has tiles
// + 2 elements, the last is scratch. Returns the peak.
int64_t ProfileBuffer(const TileList& list, const DmaNotation& dma,
                      Span<int64_t> bytes);

// The same if every transfer's bytes were held as briefly as its tiles allow, during [use, end).
int64_t ProfileMinimum(const TileList& list, Span<int64_t> bytes);

double Energy(const FusionProblem& problem, const TileList& list);

// The times that SoMa's first stage gives transfers: a load one tile before its first use, a store
// during the tile after. Transfers are in order of start, then weights first, then by end, then
// loads before stores.
void DoubleBuffer(const TileList& list, DmaNotation* dma);

enum class DmaFault : uint8_t {
  kLegal,
  kOrder,     // not a permutation, or tiles of one tensor out of order
  kDuration,  // start or end outside the range that the transfer's tiles allow
  kSource,    // a load before the store of the data it reads
  kBlocked,   // a transfer waits for a tile that waits for a later transfer
};
// seen: scratch of `transfers` elements. at: where in the DRAM order the rule breaks.
DmaFault CheckDma(const TileList& list, const DmaNotation& dma, Span<int32_t> seen,
                  uint32_t* at = nullptr);

}  // namespace sluice

#endif  // SLUICE_MODEL_TIMELINE_H_
