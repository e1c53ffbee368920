// SPDX-License-Identifier: Apache-2.0
// The first legal plan: every layer by itself, from DRAM to DRAM, in tiles that fit.
//
// Loads of the next tile are issued before the current one computes (double buffering);
// an operand whose box does not change stays where it is. One block per layer.
//
// Input    graph, hardware, lowering, scratchpad bytes; what tiles cost; known tilings
//          of this graph, chip and size, or NULL.
// Output   a program, right when executed step by step.
// Errors   kInfeasible with layer, tensor, required / available bytes and the smallest
//          scratchpad that works for the whole graph; kStopped when the budget ran out;
//          kUnsupported above 2^24 instructions, mostly before anything is written.
// Cost     linear in tiles; scratch for one layer's tiling at a time.
#ifndef SLUICE_SOLVE_BASELINE_LAYER_BY_LAYER_H_
#define SLUICE_SOLVE_BASELINE_LAYER_BY_LAYER_H_

#include "base/budget.h"
#include "model/lowering.h"
#include "model/program.h"
#include "model/tile_cost.h"
#include "solve/baseline/tiling_memo.h"

namespace sluice {

// A network, where it runs, and what its tiles cost.
struct LayerCall {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  int64_t scratchpad_bytes;
  TileCoster coster;
  Budget* budget;
  TilingMemo* tilings = nullptr;  // tilings that other calls found; may be NULL
};

Status ScheduleLayerByLayer(const LayerCall& call, Arena* scratch, Program* program,
                            Diagnostic* diagnostic);

// *steps: no more than that program has, and at most 2^24; without writing it. *layer: the
// one up to which it has more, or kNone.
Status CountSteps(const LayerCall& call, Arena* scratch, int64_t* steps,
                  uint32_t* layer);

// Appends one layer as a block of its own.
Status AppendLayer(const LayerCall& call, uint32_t layer, Arena* scratch,
                   Program* program);

}  // namespace sluice

#endif  // SLUICE_SOLVE_BASELINE_LAYER_BY_LAYER_H_
