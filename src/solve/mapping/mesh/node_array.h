// SPDX-License-Identifier: Apache-2.0
// Finds good nests of one node's part fast. Ways to run it on the array are remembered
// by the part's sizes; scratchpad tiles above them depend on the cost of words here.
// Private to node_parallel.
//
// Input    parts of a layer; one node's hardware of three levels whose registers hold
//          all operands; constraints without fixed tiles (others: kUnsupported)
// Output   FindArrayWays: the cheapest ways between scratchpad and array, by group
//          innermost; MapPart: the best point above them and its closed form cost
// Errors   kOutOfMemory; kUnsupported; MapPart: kInfeasible where no way fits or none
//          is below the limit
// Cost     some 50 us per new size, 5-20 us per part after that
// Source   the decomposed search of KAPLA's space: array, scratchpad and links couple
//          only through the tile sizes, so each is searched by itself, cheapest first
#ifndef SLUICE_SOLVE_MAPPING_MESH_NODE_ARRAY_H_
#define SLUICE_SOLVE_MAPPING_MESH_NODE_ARRAY_H_

#include "solve/mapping/conv/conv_exact_space.h"

namespace sluice {

struct ArrayWay {
  uint16_t axis[kMaxAxes][kDims];
  int32_t t0[kDims];  // passes in the registers
  uint32_t inner1;
  double pj;      // scratchpad and registers; the stationary operand is moved once
  double bytes;   // of the scratchpad
  double cycles;  // of the array
  double score;   // objective of this part alone
};

struct ArrayEntry {
  MappingProblem part;
  double least_cycles;        // of any way to fill the array
  Span<const ArrayWay> ways;  // by score
};

struct Divisors {
  int64_t number;  // 0: a free slot
  Span<const int64_t> of;
};

// Ways to run parts of layers on one node's array, remembered for one objective; empty
// at first. Results do not depend on earlier queries. Entries live as long as the
// arena.
struct ArrayTable {
  ArrayTable(Arena* a, double leakage)
      : arena(a),
        leakage_pj_per_cycle(leakage),
        entries(a),
        slots(),
        divisors(),
        divisor_count(0),
        choices(a) {}
  Arena* arena;
  double leakage_pj_per_cycle;  // of a node
  Vector<const ArrayEntry*> entries;
  Span<uint32_t> slots;     // hash of the part -> entry + 1
  Span<Divisors> divisors;  // hash of the number
  size_t divisor_count;
  Vector<conv_exact::SpatialChoice> choices;
};

// How many nodes may share an input or a weight, each holding a part; 1 = not shared.
struct Sharing {
  int64_t sharers[kOperands] = {1, 1, 1};
};

struct PartNest {
  double energy_pj;
  double cycles;
  double objective;
  conv_exact::SpatialChoice choice;
  conv_exact::Point point;
  uint32_t rotated;  // operand bits
};

// The least of a A/x + b B/y over 1 <= x <= A, 1 <= y <= B with x y <= room.
double LeastVisits(double a, double whole_x, double b, double whole_y, double room);

// Whether MapPart takes this problem and hardware.
bool IsPlainNode(const MappingProblem& problem, const Hardware& node,
                 const MapConstraints& constraints);

// The least energy, and separately the least cycles, of the problem on one node with an
// endless scratchpad and free DRAM.
Status LeastOnArray(const NestRequest& request, ArrayTable* table, double* pj,
                    double* cycles, Diagnostic* diagnostic);

// One node's part of a layer, and its surroundings.
struct PartRequest {
  const MappingProblem& part;
  const Hardware& node;
  const MapConstraints& constraints;
  const Sharing& sharing;
};

// *dram_pj: the least energy of the node's DRAM words, with tiles of any sizes. Below
// 0: nothing fits, or everything scores above constraints.upper. array_pj: energy of
// the array. *cycles: of the array on entry, of all on return.
Status EstimatePart(const PartRequest& request, double array_pj, ArrayTable* table,
                    double* dram_pj, double* cycles, Diagnostic* diagnostic);

// node, constraints: as for MapConvExact; constraints.upper limits the objective;
// dram_pj: the least energy of DRAM's words.
Status MapPart(const PartRequest& request, double dram_pj, ArrayTable* table,
               PartNest* found, LoopNest* nest, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_MESH_NODE_ARRAY_H_
