// SPDX-License-Identifier: Apache-2.0
// The least traffic between two memories over all tiles that fit the inner one.
//
// Input    the lengths that tiles of a problem may have; what words cost, and the room
// Output   a sum that no tile and no order of the loops above it goes below
// Errors   kOutOfMemory
// Cost     about 10 ns per tile; `most` of CountTiles limits their number
// Source   nest_limits.h, 1 to 3
#ifndef SLUICE_SOLVE_MAPPING_NEST_LEAST_TRAFFIC_H_
#define SLUICE_SOLVE_MAPPING_NEST_LEAST_TRAFFIC_H_

#include "base/array.h"
#include "base/memory.h"
#include "model/mapping_problem.h"

namespace sluice::least_traffic {

// The shortest tile of an axis of which there are so few.
struct TileCount {
  int64_t length;
  double count;
};

struct TileCounts {
  const MappingProblem* problem;
  Span<const TileCount> of[kDims];  // short tiles first
};

// At most `most` combinations, but for those of K: neighbours are joined to the shorter
// length and the smaller count where there are more.
Status CountTiles(const MappingProblem& problem, int64_t most, Arena* arena,
                  TileCounts* counts);

// A word that is visited n times costs (read + write) x n + last, less the reads of
// first visits, which outputs need not.
struct WordPrice {
  double read;
  double write;
  double last;
  double first_visits;
};

struct Boundary {
  bool moves[kOperands];
  WordPrice price[kOperands];
  double word_share[kOperands];  // of the inner memory that the operands share
  double own_words[kOperands];   // room of its own; 0: unlimited
  // The same, for the operand that stays while the loops above advance.
  double own_words_if_still[kOperands];
  bool sliding;  // neighbours' rows are not fetched again
};

// A tile that has the least traffic, and the operand that stays above it.
struct LeastTile {
  int64_t length[kDims];
  uint32_t still;  // kOperands: none
};

double LeastTraffic(const TileCounts& counts, const Boundary& boundary,
                    LeastTile* tile = nullptr);

}  // namespace sluice::least_traffic

#endif  // SLUICE_SOLVE_MAPPING_NEST_LEAST_TRAFFIC_H_
