// SPDX-License-Identifier: Apache-2.0
// Lower bounds on what the data of a GEMM cost, by ways to hold data, splits and tiles.
// Private to gemm_certificate and gemm_rates.
//
// Input    a claim whose problem and mapping have passed CheckGemmProblem and
//          CheckGemmLegal: its extents, memories and prices
// Output   sums per MAC at the claim's prices, without the MAC and leakage
// Errors   kOutOfMemory
// Cost     a bound of a split: five look-ups in tables that fill as they are asked for;
//          a least tile: linear in the lengths of two axes, times those of the third
// Source   gemm_certificate.h, facts 1 to 4
#ifndef SLUICE_VERIFY_GEMM_BOUNDS_H_
#define SLUICE_VERIFY_GEMM_BOUNDS_H_

#include "verify/gemm_terms.h"

namespace sluice::gemm_terms {

// The lengths of one axis that a tile may have, ascending, and what each costs, which
// falls.
struct AxisCosts {
  Span<int64_t> length;
  Span<double> cost;
  size_t count;
};

struct Room {  // the data that share a memory, and its words
  uint8_t holds;
  int64_t words;
};

// The least cost of the tiles that fit into the room and, multiplied by `spread`, into
// the upper room. Infinity if none fits.
double LeastTile(const AxisCosts axes[3], const Room& room, const Room& upper,
                 const int64_t spread[3]);

struct BoundTable {
  Span<double> of;  // unrolls; empty: not yet filled
  double least;
};
constexpr int kBoundKeys = 30;

struct GemmBounds {
  const ClaimedGemm* claim;
  Arena* arena;
  Span<const int64_t> divisors[3];
  Span<const int64_t> unrolls[3];  // divisors within the fanout
  BoundTable axis[3][kBoundKeys];
  Span<double> outer[24];  // by (middle memory's data, axis of the outer walk)
  AxisCosts inner[3];      // the last lists made
  AxisCosts middle[3];
};

Status PrepareBounds(const ClaimedGemm& claim, Arena* arena, GemmBounds* bounds);

// Calls visit(i, j, k, PEs) for every split with least <= PEs <= most, in ascending
// order, until it returns false; i, j, k are places in `unrolls`.
template <typename Visit>
void ForSplits(const GemmBounds& b, int64_t least, int64_t most, const Visit& visit) {
  for (size_t x = 0; x < b.unrolls[0].size(); ++x) {
    for (size_t y = 0; y < b.unrolls[1].size(); ++y) {
      const int64_t plane = b.unrolls[0][x] * b.unrolls[1][y];
      if (plane > most) break;
      for (size_t z = 0; z < b.unrolls[2].size(); ++z) {
        const int64_t pes = plane * b.unrolls[2][z];
        if (pes > most) break;
        if (pes >= least && !visit(x, y, z, pes)) return;
      }
    }
  }
}

// What the bounds of one way are made of.
struct WayBounds {
  Span<const double> axis[3];
  Span<double> outer;
  double least;  // over all splits
};
Status BoundsOfWay(GemmBounds* bounds, const Way& way, WayBounds* out);
// at: places in `unrolls`.
double BoundOfSplit(GemmBounds* bounds, const Way& way, const WayBounds& of,
                    const size_t at[3]);

// The part of a split's cost that does not depend on tiles.
double FeedOf(const ClaimedGemm& claim, const Way& way, const int64_t s[3]);
// What inner tiles cost along an axis. In a merged way the middle tile is that of all
// PEs.
Fill InnerFillOf(const ClaimedGemm& claim, const Way& way, int d, int64_t s);
// What the data in the middle memory cost along an axis of the middle tile. with_walker
// adds the fills of the inner memory with the datum along whose axis the middle loops
// walk.
Fill MiddleFillOf(const ClaimedGemm& claim, const Way& way, int d, int64_t s,
                  bool with_walker);

// Lists the multiples of `step` that divide `bound`; only the step itself if the cost
// does not fall with the length.
void ListLengths(Span<const int64_t> divisors, int64_t step, int64_t bound,
                 const Fill& fill, AxisCosts* axis);
// Lists the inner tiles, and finds the least.
double LeastInner(GemmBounds* bounds, const Way& way, const int64_t s[3]);
// The least over middle tiles that are multiples of `step`. Merged ways have no middle
// tile and must not be passed.
double LeastMiddle(GemmBounds* bounds, const Way& way, const int64_t step[3],
                   const int64_t s[3], bool with_walker);

}  // namespace sluice::gemm_terms

#endif  // SLUICE_VERIFY_GEMM_BOUNDS_H_
