// SPDX-License-Identifier: Apache-2.0
// Writes a plan of the space as a program, each transfer next to the tile that needs
// it. Nothing is decided here: boxes follow from the loops, addresses from the images.
//
// Input    a legal plan with offsets; the lowering whose places transfers use.
// Output   steps, right when executed one by one; one block per segment.
// Errors   kInfeasible: an operand does not lie in one image; kUnsupported: a tile of
//          2^32 cycles or more; those of AppendLayer; kStopped, kOutOfMemory.
// Cost     linear in tiles times the layers of their loops.
#ifndef SLUICE_PLAN_SPACE_WRITE_SPACE_H_
#define SLUICE_PLAN_SPACE_WRITE_SPACE_H_

#include "base/budget.h"
#include "model/lowering.h"
#include "model/program.h"
#include "model/space_plan.h"
#include "model/tile_cost.h"

namespace sluice {

struct SpaceSetting {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  const TileCoster& coster;
  Budget* budget;
};

Status WriteSpace(const SpaceSetting& setting, const SpacePlan& plan, Arena* scratch,
                  Program* program);

}  // namespace sluice

#endif  // SLUICE_PLAN_SPACE_WRITE_SPACE_H_
