// SPDX-License-Identifier: Apache-2.0
// Shared by the searches of a part: array ways and scratchpad tiles. Private to
// node_array.
//
// Input    a ConvSpace of one part
// Output   PartSearch; divisors and array ways out of the table
// Errors   kOutOfMemory
// Cost     20 ns for a remembered size
// Source   see node_array.h
#ifndef SLUICE_SOLVE_MAPPING_MESH_NODE_ARRAY_SEARCH_H_
#define SLUICE_SOLVE_MAPPING_MESH_NODE_ARRAY_SEARCH_H_

#include "solve/mapping/mesh/node_array.h"

namespace sluice::node_array {

using conv_exact::ConvSpace;

constexpr double kNever = 1e300;

inline int64_t RoomOf(const MemoryLevel& level) {
  return level.capacity_bytes == 0 ? INT64_MAX : level.capacity_bytes;
}

// The inputs of every search for one part.
struct PartSearch {
  const ConvSpace& space;
  double leakage;
  int64_t width[kOperands];  // bytes, 0: no such operand
  int64_t room[2];           // of registers and scratchpad
  double plane_words;        // N G C
  Sharing sharing;
};

PartSearch SearchOf(const ConvSpace& space, double leakage);

inline double ScoreOf(const PartSearch& search, double pj, double cycles) {
  const MapConstraints& constraints = search.space.constraints;
  if (constraints.energy_exponent == 1 && constraints.delay_exponent == 0) {
    return search.space.fixed_pj + pj + search.leakage * cycles;
  }
  return MapObjective(search.space.constraints,
                      search.space.fixed_pj + pj + search.leakage * cycles, cycles);
}

Status FindDivisors(ArrayTable* table, int64_t number, Span<const int64_t>* out);

// The cheapest ways between scratchpad and array.
Status FindArrayWays(const PartSearch& search, ConvSpace* space, ArrayTable* table,
                     const ArrayEntry** found);

}  // namespace sluice::node_array

#endif  // SLUICE_SOLVE_MAPPING_MESH_NODE_ARRAY_SEARCH_H_
