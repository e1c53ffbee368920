// SPDX-License-Identifier: Apache-2.0
#include "solve/space/tiles.h"

#include <float.h>

#include "base/checked.h"

namespace sluice {
namespace {

constexpr int32_t kAllUpTo = 8;          // parts of channels
constexpr uint32_t kCrossed = 1u << 31;  // beside the bits of roles: see Crosses

// Parts of an extent after the part size is rounded up to whole passes of the array;
// sizes of at most half a pass stay as they are.
int32_t InPasses(int32_t extent, int32_t parts, int64_t pass) {
  const int64_t step = CeilDivide(extent, parts);
  return static_cast<int32_t>(
      CeilDivide(extent, 2 * step > pass ? RoundUpTo(step, pass) : step));
}

bool OverlapAlong(const Graph& graph, const Layer& layer, int axis) {
  const Window w = WindowOf(graph, layer, axis);
  return w.filter > w.stride;
}

void Insert(const LoopChoice& loops, double cost, TileChoices* out) {
  int to = out->count;
  while (to > 0 && out->cost[to - 1] > cost) --to;
  if (to == TileChoices::kMost) return;
  out->count = Min(out->count + 1, TileChoices::kMost);
  for (int k = out->count - 1; k > to; --k) {
    out->cost[k] = out->cost[k - 1];
    out->loops[k] = out->loops[k - 1];
  }
  out->cost[to] = cost;
  out->loops[to] = loops;
}

// Tries the loops with the whole sum in each tile. Where that does not fit, or where
// operands are loaded again and again, also tries parts of the sum, which leave room
// for larger tiles.
void Consider(const TileFacts& facts, const LoopChoice& loops, TileChoices* out) {
  double cost = 0;
  const auto most = [&] {
    return out->count == TileChoices::kMost ? out->cost[out->count - 1] : DBL_MAX;
  };
  // Parts of the sum inside of these loops move no fewer bytes.
  if (loops.count > 0 && LeastOf(facts, loops).cost >= most()) return;
  const bool fits = loops.count > 0 && EstimateTiles(facts, loops, most(), &cost);
  if (fits) Insert(loops, cost, out);
  // A coster's answer takes time and memory for each new shape of tile.
  if (fits && (facts.problem->coster.cost != nullptr || !Reloads(facts, loops))) return;
  int32_t last = 1;
  for (int32_t pieces = 2; pieces <= facts.extent[kSumCut]; pieces *= 2) {
    if (loops.count == kMaxLoops) return;
    // Parts of whole passes of the array, and smaller ones where those are too large.
    const int32_t ways[] = {InPasses(facts.channels, pieces,
                                     Max<int64_t>(facts.problem->hardware->array.c, 1)),
                            pieces};
    for (const int32_t way : ways) {
      const int32_t parts = PartsOfSum(*facts.problem, facts.position, way);
      if (parts <= last) continue;
      last = parts;
      LoopChoice choice = loops;
      choice.Add(kSumCut, parts);
      if (EstimateTiles(facts, choice, most(), &cost)) Insert(choice, cost, out);
    }
  }
}

}  // namespace

TripList TripsOf(int32_t extent, int32_t all_up_to) {
  TripList list;
  int32_t last = extent;
  for (int32_t n = 2; n < extent && list.size < 22;) {
    const int32_t step = (extent + n - 1) / n;
    if (step < last) list.trips[list.size++] = (extent + step - 1) / step;
    last = step;
    n = n < all_up_to ? n + 1 : n % 3 == 0 ? n / 3 * 4 : n / 2 * 3;
  }
  if (extent > 1 && (list.size == 0 || list.trips[list.size - 1] != extent)) {
    list.trips[list.size++] = extent;
  }
  return list;
}

OuterCuts::OuterCuts(const Graph& graph, const Layer& layer,
                     const int32_t extent[kAxes], int32_t all_up_to) {
  if (OverlapAlong(graph, layer, 1) && !OverlapAlong(graph, layer, 2)) {
    axis_[1] = 2;
    axis_[2] = 1;
  }
  for (int i = 0; i < 3; ++i) {
    extent_[i] = extent[axis_[i]];
    trips_[i] = TripsOf(extent_[i], all_up_to);
  }
}

LoopChoice OuterCuts::at(int i) const {
  LoopChoice loops;
  int n = 0;
  for (; i >= trips_[n].size; ++n) {
    i -= trips_[n].size;
    loops.Add(axis_[n], extent_[n]);
  }
  loops.Add(axis_[n], trips_[n].trips[i]);
  return loops;
}

bool Overlap(const Graph& graph, const Layer& layer) {
  return OverlapAlong(graph, layer, 1) && OverlapAlong(graph, layer, 2);
}

SquareCuts::SquareCuts(const Graph& graph, const Layer& layer,
                       const int32_t extent[kAxes])
    : images_(extent[0]) {
  const TripList rows = TripsOf(extent[1]), columns = TripsOf(extent[2]);
  if (!Overlap(graph, layer) || columns.size == 0) return;
  for (int r = 0; r < rows.size; ++r) {
    const int64_t height = CeilDivide(extent[1], rows.trips[r]);
    for (int c = 0, last = -1, wide = 2; wide > 0 && size_ < kMost; --wide) {
      while (c + 1 < columns.size &&
             CeilDivide(extent[2], columns.trips[c]) > wide * height) {
        ++c;
      }
      if (c == last) break;
      last = c;
      rows_[size_] = rows.trips[r];
      columns_[size_++] = columns.trips[c];
    }
  }
}

LoopChoice SquareCuts::at(int i) const {
  LoopChoice loops;
  loops.Add(0, images_);
  loops.Add(1, rows_[i]);
  loops.Add(2, columns_[i]);
  return loops;
}

Status TileChooser::Choose(uint32_t position, uint32_t whole, const TileChoices** out) {
  if (Crosses(of_.problem, of_.problem.at(position))) whole |= kCrossed;
  const uint64_t like = of_.prices->alike(position);
  for (size_t i = 0; i < known_.size(); ++i) {
    const Known& known = known_[i];
    if (known.like == like && known.whole == whole) {
      *out = &known.choices;
      return Status::kOk;
    }
  }
  Known fresh = {like, whole, {}};
  Fill(position, whole, &fresh.choices);
  SLUICE_TRY(known_.Push(fresh));
  *out = &known_[known_.size() - 1].choices;
  return Status::kOk;
}

// Tries channels in parts and images, rows or columns in parts, in both loop orders.
void TileChooser::Fill(uint32_t position, uint32_t whole, TileChoices* out) const {
  const TileFacts facts = FactsOfTiles(of_, position, whole);
  const TripList channels = TripsOf(facts.extent[3], kAllUpTo);
  const OuterCuts outer_cuts(*of_.problem.graph, *facts.layer, facts.extent);
  for (int k = -1; k < channels.size && !budget_->Exhausted(); ++k) {
    const int32_t parts = k < 0 ? 1 : channels.trips[k];
    if (lean_ && k >= 0 && (channels.size - k) % 2 == 0) continue;
    for (int s = -1; s < outer_cuts.size(); ++s) {
      if (lean_ && s >= 0 && (outer_cuts.size() - s) % 2 == 0) continue;
      const LoopChoice space = s < 0 ? LoopChoice{} : outer_cuts.at(s);
      LoopChoice inner = space;
      inner.Add(3, parts);
      Consider(facts, inner, out);
      if (parts == 1 || space.count == 0) continue;
      LoopChoice outer;
      outer.Add(3, parts);
      for (int i = 0; i < space.count; ++i) outer.Add(space.cut[i], space.trips[i]);
      Consider(facts, outer, out);
    }
  }
}

}  // namespace sluice
