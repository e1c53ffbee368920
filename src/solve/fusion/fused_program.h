// SPDX-License-Identifier: Apache-2.0
// A fused schedule as buffers with lifetimes, and, once they have addresses, as steps.
//
// A load has a buffer of its own. The tile of a layer has one too, unless the layer is
// read by a later fine-grained group of the same fusion group: then one buffer holds
// its whole ofmap and the tiles write their boxes into it.
//
// Input    FusionRun and the notation, transfers and tiles found for it.
// Output   live ranges in positions + 1; steps of one engine in the notation's order,
//          interleaved so that they are right when executed one by one. One block per
//          fusion group.
// Errors   kInfeasible when the notation cannot be executed in order, kOutOfMemory.
// Cost     O(tiles + transfers + reads x loads of the same source).
#ifndef SLUICE_SOLVE_FUSION_FUSED_PROGRAM_H_
#define SLUICE_SOLVE_FUSION_FUSED_PROGRAM_H_

#include "model/live_range.h"
#include "model/program.h"
#include "solve/fusion/fusion.h"
#include "solve/fusion/problem.h"

namespace sluice {

struct FusedBuffers {
  Span<LiveRange> ranges;
  Span<uint32_t> of_transfer;      // loads; of weights: the first of their buffers
  Span<uint32_t> of_tile;          // by position
  Span<Box> frame;                 // by buffer of tiles: box of the ofmap it holds
  Span<uint32_t> group_of;         // by fusion layer: fusion group
  Span<uint32_t> fine_group_of;    // by fusion layer
  Span<uint32_t> position_groups;  // by position: fusion group
};

Status BuffersOfFused(const FusionRun& run, const FusionResult& fused, Arena* arena,
                      FusedBuffers* out);

// True when no byte of the layer's ofmap goes through DRAM.
bool StaysOnChip(const FusionRun& run, const FusedBuffers& buffers, uint32_t layer);

// What was found for a run, with an address for each of its buffers.
struct PlacedFusion {
  const FusionResult& fused;
  const FusedBuffers& buffers;
  Span<const int64_t> offsets;  // by buffer
};

Status AppendFused(const FusionRun& run, const Lowering& lowering,
                   const PlacedFusion& placed, Arena* scratch, Program* program);

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_FUSED_PROGRAM_H_
