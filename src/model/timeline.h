// SPDX-License-Identifier: Apache-2.0
// What a schedule costs: latency, energy, buffer profile; whether it is legal.
//
// Input    TileList (tiles with cycles, transfers with cycles) and DmaNotation.
// Output   cycles; pJ; bytes in use at each position (index position + 1).
// Errors   CheckDma names the rule a DRAM notation breaks; the others expect it legal.
// Cost     O(tiles + transfers); ProfileBuffer the same.
// Source   SoMa section IV-C: one DRAM channel, one compute engine, both in order. A
//          transfer may start once tile `start` may, and tile p once its loads and the
//          stores due by p are done.
#ifndef SLUICE_MODEL_TIMELINE_H_
#define SLUICE_MODEL_TIMELINE_H_

#include <stdint.h>

#include "model/notation.h"

namespace sluice {

// due: scratch of tiles + 1 elements.
int64_t Latency(const TileList& list, const DmaNotation& dma, Span<int32_t> due);

// bytes[p + 1] = in use during tile p; bytes[0] before tile 0. tiles + 2 elements (the
// last is scratch). Returns the peak.
int64_t ProfileBuffer(const TileList& list, const DmaNotation& dma,
                      Span<int64_t> bytes);

// On-chip and minimal use: every load at [use, end), every store at [use, end).
int64_t ProfileMinimum(const TileList& list, Span<int64_t> bytes);

double Energy(const FusionProblem& problem, const TileList& list);

// SoMa's first-stage attributes: loads one tile ahead, stores one tile after; ordered
// by start, weights first, end, loads before stores. order: scratch for sorting.
void DoubleBuffer(const TileList& list, DmaNotation* dma);

enum class DmaFault : uint8_t {
  kLegal,
  kOrder,     // not a permutation, or tiles of one stream out of order
  kDuration,  // start or end outside what the transfer's tiles allow
  kSource,    // a load before the store it reads
  kBlocked,   // a transfer waits for a tile that waits for a later transfer
};
// seen: scratch of `transfers` elements. at: where in the DRAM order the rule breaks.
DmaFault CheckDma(const TileList& list, const DmaNotation& dma, Span<int32_t> seen,
                  uint32_t* at = nullptr);

}  // namespace sluice

#endif  // SLUICE_MODEL_TIMELINE_H_
