// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/nest/least_traffic.h"

#include "base/checked.h"

namespace sluice::least_traffic {
namespace {

constexpr double kEver = 1e300;
constexpr double kSlack = 1e-12;  // what fits exactly fits after rounding, too

double Real(int64_t n) { return static_cast<double>(n); }

// Rows (axis 0) or columns of the input that tiles need together, at least: `a` outputs
// under `b` taps, in any number of parts.
double SpanOf(const MappingProblem& problem, int axis, double a, double b) {
  const double step = Real(WindowStep(problem, axis));
  const double dilation = Real(problem.dilation[axis]);
  const double whole = (a - 1) * step + (b - 1) * dilation + 1;
  return Min(Min(whole, a * b),
             Min(a * ((b - 1) * dilation + 1), b * ((a - 1) * step + 1)));
}

// Rows or columns that all tiles fetch, at least, if there are so many of each or more.
double RowsOf(const MappingProblem& problem, int axis, double outputs, double taps) {
  const double p = Real(problem.extent[kDimP + axis]);
  const double r = Real(problem.extent[kDimR + axis]);
  const double step = Real(WindowStep(problem, axis));
  const double dilation = Real(problem.dilation[axis]);
  const auto sum = [&](double a, double b) {
    return b * p * step + a * r * dilation + a * b * (1 - step - dilation);
  };
  return Min(Min(sum(outputs, taps), sum(p, taps)), Min(sum(outputs, r), sum(p, r)));
}

struct WindowTile {
  double span;  // of the tile
  double rows;  // of all tiles
  double taps;  // length and count
  double tap_count;
};

struct Walk {
  const TileCounts& counts;
  const Boundary& boundary;
  double words[kOperands];  // whole; the input's without rows and columns
  double least;
  int64_t at[kDims];  // the tile tried
  LeastTile tile;     // that has the least
};

double CostOf(const WordPrice& price, double words, double visits) {
  return words * (price.read * visits + price.write * visits + price.last -
                  price.read * Min(visits, price.first_visits));
}

// Tiles of the three groups of loops: lengths and counts.
struct Groups {
  double rows, row_count;  // N P Q
  double sums, sum_count;  // C R S
  double input_tile;       // words
  double input_words;      // of all tiles
};

double CountOf(Span<const TileCount> list, double length) {
  size_t low = 0, high = list.size();  // the last that is not longer
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    (Real(list[middle].length) <= length ? low : high) = middle;
  }
  return list[low].count;
}

// The longest tile along K that fits, and each operand in turn as the one that stays.
void Try(Walk* walk, const Groups& groups) {
  const Boundary& b = walk->boundary;
  const double tile[kOperands] = {groups.input_tile, groups.sums, groups.rows};
  const double once[kOperands] = {groups.input_words, walk->words[kWeight],
                                  walk->words[kOutput]};
  if (b.moves[kInput] && b.own_words[kInput] > 0 &&
      groups.input_tile > b.own_words[kInput] * (1 + kSlack)) {
    return;
  }
  const double left =
      1 + kSlack - (b.moves[kInput] ? tile[kInput] * b.word_share[kInput] : 0);
  const double per_k = (b.moves[kWeight] ? tile[kWeight] * b.word_share[kWeight] : 0) +
                       (b.moves[kOutput] ? tile[kOutput] * b.word_share[kOutput] : 0);
  const double all = Real(walk->counts.problem->extent[kDimK]);
  double k = all;
  if (per_k * k > left) k = left / per_k * (1 + kSlack);
  for (uint32_t v = kWeight; v <= kOutput; ++v) {
    if (b.moves[v] && b.own_words[v] > 0) {
      k = Min(k, b.own_words[v] / tile[v] * (1 + kSlack));
    }
  }
  if (k < 1) return;
  const double visits[kOperands] = {CountOf(walk->counts.of[kDimK], k),
                                    groups.row_count, groups.sum_count};
  double sum = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (b.moves[v]) sum += CostOf(b.price[v], once[v], visits[v]);
  }
  double least = sum;
  uint32_t still = kOperands;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!b.moves[v]) continue;
    const double words = tile[v] * (v == kInput ? 1 : k);
    if (b.own_words_if_still[v] > 0 && words > b.own_words_if_still[v] * (1 + kSlack)) {
      continue;
    }
    const double stays =
        sum - CostOf(b.price[v], once[v], visits[v]) + CostOf(b.price[v], once[v], 1);
    if (stays >= least) continue;
    least = stays;
    still = v;
  }
  if (least >= walk->least) return;
  walk->least = least;
  for (uint32_t d = 0; d < kDims; ++d) walk->tile.length[d] = walk->at[d];
  walk->tile.length[kDimK] = static_cast<int64_t>(k);
  walk->tile.still = still;
}

void WalkChannels(Walk* walk, const WindowTile& rows, const WindowTile& columns,
                  Groups groups) {
  const double images = groups.rows;  // times outputs
  for (const TileCount& n : walk->counts.of[kDimN]) {
    groups.rows = images * Real(n.length);
    walk->at[kDimN] = n.length;
    const double row_count = groups.row_count;
    for (const TileCount& c : walk->counts.of[kDimC]) {
      Groups one = groups;
      walk->at[kDimC] = c.length;
      one.row_count = row_count * n.count;
      one.sums = Real(c.length) * rows.taps * columns.taps;
      one.sum_count = c.count * rows.tap_count * columns.tap_count;
      one.input_tile = Real(n.length * c.length) * rows.span * columns.span;
      one.input_words = walk->words[kInput] * rows.rows * columns.rows;
      Try(walk, one);
    }
  }
}

}  // namespace

Status CountTiles(const MappingProblem& problem, int64_t most, Arena* arena,
                  TileCounts* counts) {
  counts->problem = &problem;
  double ratio = 1;
  for (;;) {
    double tiles = 1;
    for (uint32_t d = 0; d < kDims; ++d) {
      Vector<TileCount> list(arena);
      const int64_t extent = d == kDimG ? 1 : problem.extent[d];
      for (int64_t length = 1; length <= extent;) {
        const int64_t count = CeilDivide(extent, length);
        const size_t size = list.size();
        // Joined: the first has the shorter length.
        if (size > 0 && count > 1 && list[size - 1].count <= Real(count) * ratio &&
            ratio > 1) {
          length = count == 1 ? extent + 1 : CeilDivide(extent, count - 1);
          continue;
        }
        SLUICE_TRY(list.Push(TileCount{length, Real(count)}));
        length = count == 1 ? extent + 1 : CeilDivide(extent, count - 1);
      }
      // A joined tile has the smallest count of those that it stands for: one more than
      // the next one's, at least.
      for (size_t i = 0; i + 1 < list.size() && ratio > 1; ++i) {
        const double next = Real(CeilDivide(extent, list[i + 1].length - 1));
        list[i].count = Min(list[i].count, next);
      }
      if (d != kDimK) tiles *= Real(static_cast<int64_t>(list.size()));
      counts->of[d] = list.span();
    }
    if (tiles <= Real(most) || ratio > 3) return Status::kOk;
    ratio = ratio == 1 ? 1.02 : 1 + (ratio - 1) * 1.5;
  }
}

double LeastTraffic(const TileCounts& counts, const Boundary& boundary,
                    LeastTile* tile) {
  const MappingProblem& problem = *counts.problem;
  const int64_t* extent = problem.extent;
  Walk walk = {counts, boundary, {}, kEver, {1, 1, 1, 1, 1, 1, 1, 1}, {}};
  walk.words[kInput] = Real(extent[kDimN]) * Real(extent[kDimG]) * Real(extent[kDimC]);
  walk.words[kWeight] = Real(TileWords(problem, kWeight, extent));
  walk.words[kOutput] = Real(TileWords(problem, kOutput, extent));
  for (const TileCount& p : counts.of[kDimP]) {
    for (const TileCount& r : counts.of[kDimR]) {
      WindowTile rows = {SpanOf(problem, 0, Real(p.length), Real(r.length)),
                         RowsOf(problem, 0, p.count, r.count), Real(r.length), r.count};
      if (boundary.sliding) rows.rows = RowsOf(problem, 0, 1, 1);
      for (const TileCount& q : counts.of[kDimQ]) {
        for (const TileCount& s : counts.of[kDimS]) {
          WindowTile columns = {SpanOf(problem, 1, Real(q.length), Real(s.length)),
                                RowsOf(problem, 1, q.count, s.count), Real(s.length),
                                s.count};
          if (boundary.sliding) columns.rows = RowsOf(problem, 1, 1, 1);
          walk.at[kDimP] = p.length;
          walk.at[kDimQ] = q.length;
          walk.at[kDimR] = r.length;
          walk.at[kDimS] = s.length;
          Groups groups = {};
          groups.rows = Real(p.length) * Real(q.length);
          groups.row_count = p.count * q.count;
          WalkChannels(&walk, rows, columns, groups);
        }
      }
    }
  }
  if (tile != nullptr) *tile = walk.tile;
  return walk.least == kEver ? 0 : walk.least;
}

}  // namespace sluice::least_traffic
