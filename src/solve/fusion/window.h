// SPDX-License-Identifier: Apache-2.0
// A stretch of a scheme as a fusion problem of its own, so that the cost of a search in
// it depends on its length, not on the network's.
//
// Input    FusionProblem, its TileMemo, a notation, positions [first, last) that start
//          and end at cuts.
// Output   problem, model and notation of the stretch, its layers numbered in their
//          order. Tensors that earlier tiles of the same fusion group left on chip are
//          resident, those that later tiles read are kept, and those that only pass by
//          take buffer bytes.
// Errors   kOutOfMemory.
// Cost     O(layers and edges of the stretch and of its ends' fusion groups).
// Source   own. Exact in energy and buffer unless the stretch moves a DRAM cut past a
//          tensor that crosses its border; latency ignores the overlap at the borders.
//          The caller scores the whole before it keeps a stretch's result.
#ifndef SLUICE_SOLVE_FUSION_WINDOW_H_
#define SLUICE_SOLVE_FUSION_WINDOW_H_

#include "model/notation.h"

namespace sluice {

// Scratch of whole-network size, kept between windows.
struct WindowIndex {
  Span<uint32_t> position;  // by layer of the whole problem
  Span<uint32_t> external;  // by source of the whole problem: external here
  Span<uint32_t> stamp;     // by source: window it was entered for
  uint32_t now = 0;

  Status Init(Arena* arena, const FusionProblem& problem);
};

struct SchemeWindow {
  const FusionProblem* whole;
  TileMemo* memo;        // of the whole problem
  Span<uint32_t> layer;  // of the whole problem, by layer here
  FusionProblem problem;
  TileModel model;  // its user is the window
  GroupNotation notation;
};

// The model behind a window's problem; the window must not move.
TileModel WindowModel(SchemeWindow* window);

// Positions [first, last) of a notation of the whole problem.
struct WindowPlace {
  const FusionProblem& whole;
  TileMemo* memo;  // of the whole problem
  const GroupNotation& notation;
  uint32_t first, last;
};

// index->position must hold for place.notation.
Status OpenWindow(const WindowPlace& place, WindowIndex* index, Arena* arena,
                  SchemeWindow* window);

}  // namespace sluice

#endif  // SLUICE_SOLVE_FUSION_WINDOW_H_
