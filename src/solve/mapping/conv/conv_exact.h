// SPDX-License-Identifier: Apache-2.0
// The best loop nest of one layer on registers, scratchpad and DRAM, by bounded search.
//
// Input    a problem, hardware of two or three levels with its array below level 1 (two
//          levels: from the scratchpad down), constraints from outside
// Output   the nest, its cost by model/layer_cost, and whether the search proved that
//          no nest of its space is better
// Errors   kBadInput; kInfeasible with bytes when even a tile of one element does not
//          fit; kUnsupported with the hierarchy; kStopped when the budget ends before
//          any nest is found
// Cost     typically 0.05-0.5 ms; scratch from the arena, rewound
// Source   GOMA sections IV-V on the groups {N,P,Q}, {K}, {C,R,S} with halo, and the
//          decomposed search of KAPLA's space
//
// The space. Array: per fanout axis all factors of which none can be raised to save a
// pass; with `wide` or a fixed tile all factors that need fewer passes than smaller
// ones; of axes above 64 units those that divide. Tiles of the scratchpad and of the
// registers: all that divide the passes left. Loop orders: which group is innermost at
// each level; the order outside of it does not matter. Filter taps: whole in the
// registers or looped over below the scratchpad, cut above it only if nothing else
// fits. Groups G: tiles of one pass, because larger ones never help. Operands: held
// wherever they may be; with `bypass` the registers hold the best set. Outside of the
// space, so that a result is not proved: sliding register tiles, fanouts elsewhere,
// more than 10000 ways to fill the array.
#ifndef SLUICE_SOLVE_MAPPING_CONV_CONV_EXACT_H_
#define SLUICE_SOLVE_MAPPING_CONV_CONV_EXACT_H_

#include <stdint.h>

#include "base/budget.h"
#include "base/memory.h"
#include "model/layer_cost.h"

namespace sluice {

// The cost of the level above the scratchpad when several nodes share it: per word that
// one node moves, wires included.
struct OuterPrice {
  double read_pj[kOperands];
  double write_partial_pj;  // of outputs
  double write_final_pj;
  double byte_share[kOperands];  // share of its bytes that counts against the bandwidth
  double cycles_per_byte;
};

struct MapConstraints {
  int64_t top_tile[kDims] = {};  // 0 = free; else the extent of the scratchpad tile
  uint32_t resident = 0;         // operand bits that lie whole in the scratchpad
  uint32_t energy_exponent = 1;  // cost = energy^n x cycles^m
  uint32_t delay_exponent = 0;
  bool wide = false;    // also tries arrays that leave usable units idle
  bool bypass = false;  // operands may bypass the registers
  // Few ways to fill the array: a dim goes as far as it can, or by a power of four of
  // the axis's units. For tiles.
  bool quick = false;
  double gap = 0;                     // stop at a nest within this share of the bound
  const OuterPrice* outer = nullptr;  // instead of the outermost level's own numbers
  double upper = 0;  // > 0: only nests below this objective; kInfeasible if none is
};

struct MappedNest {
  LoopNest nest;
  LayerCost cost;
  double objective;
  double bound;  // lower bound on all nests of the space
  bool proved;   // objective x (1 - gap) <= bound, and the space is as described
  int64_t evaluated;
};

// energy^n x cycles^m, multiplied in this order.
double MapObjective(const MapConstraints& constraints, double energy_pj, double cycles);

// What is mapped on what.
struct NestRequest {
  const MappingProblem& problem;
  const Hardware& hardware;
  const MapConstraints& constraints;
};

Status MapConvExact(const NestRequest& request, Budget* budget, Arena* arena,
                    MappedNest* mapped, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_CONV_CONV_EXACT_H_
