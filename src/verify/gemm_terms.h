// SPDX-License-Identifier: Apache-2.0
// GOMA's cost of one datum per MAC, and the ways to hold data and to walk: what both
// checks of a GEMM's mapping are made of. Private to gemm_certificate and gemm_rates.
//
// Input    a claim; an axis, lengths, where the datum lives
// Output   pJ per MAC; with one pJ per word of one memory and none elsewhere, words per
//          MAC
// Errors   none
// Cost     constant
// Source   GOMA equations (10)-(30)
#ifndef SLUICE_VERIFY_GEMM_TERMS_H_
#define SLUICE_VERIFY_GEMM_TERMS_H_

#include "verify/gemm_certificate.h"

namespace sluice::gemm_terms {

constexpr double kRounding = 1e-12;  // of a sum of a few terms in double, relative
// Tiles: 0 is the whole product, 1 in the shared memory, 2 in the PEs.
constexpr int kMiddle = 1;
constexpr int kInner = 2;

inline bool In(uint8_t holds, int d) { return (holds >> d & 1) != 0; }
inline int Members(uint8_t holds) { return In(holds, 0) + In(holds, 1) + In(holds, 2); }
inline double Real(int64_t n) { return static_cast<double>(n); }

// True if the words of the data in `holds` fit; tile extents are at most 2^31.
inline bool Fit(const int64_t tile[3], uint8_t holds, int64_t words) {
  int64_t left = words;
  for (int d = 0; d < 3; ++d) {
    if (!In(holds, d)) continue;
    const int64_t face = tile[(d + 1) % 3] * tile[(d + 2) % 3];
    if (face > left) return false;
    left -= face;
  }
  return true;
}

// --- Energy per MAC of one datum, equations (10)-(27). ---

// What a fill costs falls with the length of the tile: per_tile / length + always.
struct Fill {
  double per_tile;
  double always;
};

// Eq. (25).
inline Fill MiddleFill(const ClaimedGemm& c, int d) {
  const double fetch = c.read_pj[0] + c.write_pj[kMiddle];
  if (d != 2) return {fetch, 0};
  return {c.write_pj[0] + fetch, -fetch / Real(c.extent[2])};
}

// Eq. (26).
inline Fill InnerFill(const ClaimedGemm& c, int d, int source, int64_t s) {
  const double read = c.read_pj[source] / Real(s);
  const double fetch = c.write_pj[kInner] + read;
  if (d != 2) return {fetch, 0};
  return {fetch + c.write_pj[source] / Real(s), -fetch * Real(s) / Real(c.extent[2])};
}

// kept: outer loop trips during which a fill of the middle memory stays.
inline double FillMiddle(const ClaimedGemm& c, int d, int64_t l1, int64_t kept) {
  const Fill fill = MiddleFill(c, d);
  return fill.per_tile / (Real(l1) * Real(kept)) + fill.always;
}

// kept: loop trips during which a fill of the inner memory stays.
inline double FillInner(const ClaimedGemm& c, int d, int source, int64_t s, int64_t l3,
                        int64_t kept) {
  const Fill fill = InnerFill(c, d, source, s);
  return fill.per_tile / (Real(l3) * Real(kept)) + fill.always;
}

// Eq. (27).
inline double FeedMac(const ClaimedGemm& c, int d, int source, bool in_inner,
                      int64_t s) {
  const int from = in_inner ? kInner : source;
  const double share = in_inner ? 1.0 : 1.0 / Real(s);
  if (d != 2) return share * c.read_pj[from];
  const double rho = 1.0 - Real(s) / Real(c.extent[2]);
  return share * (c.write_pj[from] + rho * c.read_pj[from]);
}

Status Reject(Diagnostic* diagnostic, const char* rule, const char* text);

// Loop trips during which the datum of axis d stays; loops in `orders`, inner first.
inline int64_t Kept(const int64_t* const trips[], const uint8_t* const orders[],
                    int levels, int d) {
  int64_t kept = 1;
  for (int level = 0; level < levels; ++level) {
    for (int i = 0; i < 3; ++i) {
      const int axis = orders[level][i];
      if (trips[level][axis] == 1) continue;
      if (axis != d) return kept;
      kept *= trips[level][axis];
    }
  }
  return kept;
}

// Energy per MAC of all data of the claimed mapping, by a walk through its loops, at
// these prices.
inline double DataOfMapping(const ClaimedGemm& c, const ClaimedGemm& prices) {
  int64_t outer[3], middle[3];
  for (int d = 0; d < 3; ++d) {
    outer[d] = c.extent[d] / c.middle_tile[d];
    middle[d] = c.middle_tile[d] / (c.spatial[d] * c.inner_tile[d]);
  }
  const int64_t* trips[] = {middle, outer};
  const uint8_t* orders[] = {c.middle_order, c.outer_order};
  double pj = 0;
  for (int d = 0; d < 3; ++d) {
    const int source = In(c.middle_holds, d) ? kMiddle : 0;
    int64_t kept_outer = d == c.outer_order[0] ? outer[d] : 1;
    int64_t kept_inner = d == c.middle_order[0] ? middle[d] : 1;
    if (c.reuse_form) {
      kept_outer = Kept(trips + 1, orders + 1, 1, d);
      kept_inner = Kept(trips, orders, 2, d);
    }
    const bool in_inner = In(c.inner_holds, d);
    if (source == kMiddle) pj += FillMiddle(prices, d, c.middle_tile[d], kept_outer);
    if (in_inner) {
      pj += FillInner(prices, d, source, c.spatial[d], c.inner_tile[d], kept_inner);
    }
    pj += FeedMac(prices, d, source, in_inner, c.spatial[d]);
  }
  return pj;
}

struct Way {  // one way to hold data and to walk: a branch of the proof
  bool merged;
  uint8_t middle;
  uint8_t inner;
  int p;  // axis along which outer loops walk; merged: the axis of fact 3
  int q;  // axis along which middle loops walk
};

// Calls visit(way) for all branches, in the order of the proof.
template <typename Visit>
Status ForWays(const ClaimedGemm& c, const Visit& visit) {
  const auto walks = [](uint8_t holds, int axis) {
    return holds == 0 ? axis == 0 : In(holds, axis);
  };
  for (uint8_t middle = 0; middle < 8; ++middle) {
    for (int p = 0; p < 3; ++p) {
      if (!walks(middle, p) || Members(middle) > c.middle_words) continue;
      for (uint8_t inner = 0; inner < 8; ++inner) {
        for (int q = 0; q < 3; ++q) {
          if (!walks(inner, q) || Members(inner) > c.inner_words) continue;
          SLUICE_TRY(visit(Way{false, middle, inner, p, q}));
        }
      }
    }
  }
  for (int d = 0; c.reuse_form && d < 3; ++d) {
    for (int first = 0; first < 3; ++first) {
      for (int second = 0; second < 3; ++second) {
        const unsigned e = 1u << (d + 1) % 3;
        const unsigned f = 1u << (d + 2) % 3;
        const unsigned middle = (first == 1 ? e : 0) | (second == 1 ? f : 0);
        const unsigned inner = 1u << d | (first == 2 ? e : 0) | (second == 2 ? f : 0);
        const Way way = {true, static_cast<uint8_t>(middle),
                         static_cast<uint8_t>(inner), d, d};
        if (Members(way.middle) > c.middle_words) continue;
        if (Members(way.inner) > c.inner_words) continue;
        SLUICE_TRY(visit(way));
      }
    }
  }
  return Status::kOk;
}

}  // namespace sluice::gemm_terms

#endif  // SLUICE_VERIFY_GEMM_TERMS_H_
