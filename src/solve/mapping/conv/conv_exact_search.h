// SPDX-License-Identifier: Apache-2.0
// State of one exact search and its lists of tiles. Private to conv_exact.
//
// Input    a ConvSpace; the spatial choice under way
// Output   register tiles, scratchpad tiles, divisors, bounds, all in the search's
//          arena
// Errors   kOutOfMemory
// Cost     O(tiles), some 50 ns each
// Source   see conv_exact.h
#ifndef SLUICE_SOLVE_MAPPING_CONV_CONV_EXACT_SEARCH_H_
#define SLUICE_SOLVE_MAPPING_CONV_CONV_EXACT_SEARCH_H_

#include "solve/mapping/conv/conv_exact_space.h"

namespace sluice::conv_exact {

// A way to fill the registers, and a lower bound on the array's cost above it by
// innermost group.
struct RegisterTile {
  int32_t t0[kDims];
  double least_pj[kGroups];
};

// A way to fill the scratchpad, and the group innermost above it.
struct TopTile {
  int64_t passes[kDims];  // below DRAM: t0 * t1
  uint32_t inner2;
  PointCost dram;
  double again_pj[kGroups];  // array cost of the still operand's later visits, at least
  double bound;
};

struct DivisorList {
  int64_t number;
  Span<const int64_t> divisors;
};

struct Candidate {
  double least_pj;
  uint32_t tile;
  uint32_t inner1;
};

struct Search {
  Search(Arena* a, Budget* b)
      : arena(a),
        budget(b),
        lists(a),
        choices(a),
        registers(a),
        tops(a),
        candidates(a) {}
  ConvSpace space;
  Arena* arena;
  Budget* budget;
  Vector<DivisorList> lists;            // of every pass count met
  Span<const int64_t> divisors[kDims];  // of the choice's passes
  Vector<SpatialChoice> choices;
  Vector<RegisterTile> registers;
  Vector<TopTile> tops;
  Vector<Candidate> candidates;
  PointCost once_dram;             // compulsory
  double least_input;              // words, in the best cut
  PointCost least_dram[kGroups];   // of the choice, later visits included, by inner1
  double least_array_pj[kGroups];  // over all register tiles of the choice, by inner1
  double least_array_bytes[kGroups];
  uint32_t top_order[kDims];
  int64_t alone[kDims];  // largest factor of a dim that fits the registers by itself
  int64_t step[2];       // see WindowStep
  int64_t capacity[2];
  int64_t width[2][kOperands];  // bytes; 0 = not held
  int64_t whole[kOperands];     // words
  bool plain[2];                // no shares reserved
  bool sorted;                  // candidates, cheapest first
  bool cut_taps;                // filter taps may be cut above the scratchpad
  double best;
  double limit;  // best x (1 - gap): candidates with a bound at or above it are skipped
  size_t best_choice;
  Point best_point;
  int64_t evaluated;
};

constexpr double kUnbounded = 1e300;
constexpr uint32_t kTileDims[] = {kDimN, kDimK, kDimC, kDimP, kDimQ, kDimR, kDimS};
constexpr int kTileDimCount = 7;

// All divisors of a number, found once.
Status FindDivisors(Search* search, int64_t number, Span<const int64_t>* out);

bool TileFits(const Search& search, uint32_t level, const int64_t extent[kDims],
              uint32_t resident);
void PrepareFits(Search* search);

// Every register tile of the choice that could still win.
Status ListRegisterTiles(Search* search, const SpatialChoice& choice);

// Scratchpad tiles whose bound is below the limit. OrderTop comes first.
void OrderTop(Search* search);
Status ListTopTiles(Search* search, const SpatialChoice& choice, int64_t passes[kDims],
                    int64_t extent[kDims]);
// The least DRAM energy (later visits included) and bytes of any tile of the choice.
Status FindLeastTop(Search* search, const SpatialChoice& choice, int64_t passes[kDims],
                    int64_t extent[kDims]);
// The least objective over inner groups with the given array costs.
double LeastObjective(const Search& search, const SpatialChoice& choice,
                      const PointCost dram[kGroups], const double array_pj[kGroups]);
// Tiles grown group by group, in each order of the groups: a first incumbent.
Status SeedTops(Search* search, const SpatialChoice& choice);

}  // namespace sluice::conv_exact

#endif  // SLUICE_SOLVE_MAPPING_CONV_CONV_EXACT_SEARCH_H_
