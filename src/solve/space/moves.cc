// SPDX-License-Identifier: Apache-2.0
#include "solve/space/moves.h"

#include "base/checked.h"
#include "solve/space/segment.h"

namespace sluice {
namespace {

// The moves of a segment are numbered. kTrips per loop change its number of parts. Then:
constexpr int kTrips = 4;
constexpr int kDrop = kMaxLoops * kTrips;  // one per loop removes it
constexpr int kAdd = kDrop + kMaxLoops;    // one per axis adds a loop along it
// Three places to divide the segment; at each, both halves keep the loops, or only one.
constexpr int kDivide = kAdd + kAxes;
constexpr int kNext = kDivide + 9;  // four involve the next segment
// One per ordered pair of loops moves parts from the first loop to the second.
constexpr int kTrade = kNext + 4;
static_assert(kSegmentMoves == kTrade + kMaxLoops * (kMaxLoops - 1));

void Drop(int k, LoopChoice* loops) {
  for (--loops->count; k < loops->count; ++k) {
    loops->cut[k] = loops->cut[k + 1];
    loops->trips[k] = loops->trips[k + 1];
  }
}

// Cuts an axis in two by one more loop, the innermost around all layers. False if it is
// cut already.
bool Cut(int axis, LoopChoice* loops) {
  int at = loops->count;
  if (at == kMaxLoops) return false;
  for (int k = 0; k < at; ++k) {
    if (loops->cut[k] == axis) return false;
  }
  if (at > 0 && loops->cut[at - 1] == kSumCut) {
    loops->cut[at] = kSumCut;
    loops->trips[at] = loops->trips[at - 1];
    --at;
  }
  loops->cut[at] = static_cast<uint8_t>(axis);
  loops->trips[at] = 2;
  ++loops->count;
  return true;
}

// One part less of a loop leaves room only if another one has more of them; a sum, which
// takes most of the room, twice as many.
bool Trade(int move, LoopChoice* loops) {
  const int less = move / (kMaxLoops - 1);
  const int rest = move % (kMaxLoops - 1), more = rest + (rest >= less ? 1 : 0);
  if (less >= loops->count || more >= loops->count) return false;
  const int32_t add = loops->cut[more] == kSumCut ? loops->trips[more] : 1;
  loops->trips[less] -= 1;
  loops->trips[more] += add;
  return true;
}

// A segment and the next one: joined, or with another border between them.
bool DraftNext(const SegmentAt* next, int move, SegmentChange* out) {
  if (next == nullptr) return false;
  out->replaced = 2;
  out->border[2] = next->last;
  if (move < 2) {
    out->border[1] = next->last;
    if (move == 1) out->loops[0] = next->loops;
    return true;
  }
  out->made = 2;
  out->loops[1] = next->loops;
  out->border[1] += move == 2 ? 1u : ~0u;
  return out->border[1] > out->border[0] && out->border[1] < next->last;
}

// One loop around the segment, or around it and the next one.
bool DraftOne(const SegmentAt& segment, const SegmentAt* next, int move,
              SegmentChange* out) {
  const bool joins = move % 2 != 0;
  if (joins && next == nullptr) return false;
  out->replaced = joins ? 2 : 1;
  out->border[0] = segment.first;
  out->border[1] = joins ? next->last : segment.last;
  out->loops[0].Add(move / 6, 2 << move % 6 / 2);
  return true;
}

}  // namespace

bool DraftChange(const SegmentAt& segment, const SegmentAt* next, int move,
                 SegmentChange* out) {
  // Most segments have few loops or layers, so most moves end here.
  if (move >= kSegmentMoves) return DraftOne(segment, next, move - kSegmentMoves, out);
  const int on = move < kDrop ? move / kTrips : move - kDrop;
  if (move < kAdd && on >= segment.loops.count) return false;
  if (move >= kDivide && move < kNext && segment.last - segment.first < 2) return false;
  LoopChoice* loops = out->loops;
  loops[0] = loops[1] = segment.loops;
  out->border[0] = segment.first;
  out->border[1] = out->border[2] = segment.last;
  if (move >= kTrade) return Trade(move - kTrade, loops);
  if (move >= kNext) return DraftNext(next, move - kNext, out);
  if (move < kDrop) {
    const int32_t trips = loops->trips[on];
    const int32_t other[kTrips] = {trips + 1, trips - 1, trips * 2, (trips + 1) / 2};
    loops->trips[on] = other[move % kTrips];
  } else if (move < kAdd) {
    Drop(on, loops);
  } else if (move < kDivide) {
    if (!Cut(move - kAdd, loops)) return false;
  } else {
    const int place = (move - kDivide) / 3, bare = (move - kDivide) % 3;
    const uint32_t at[] = {segment.first + 1, (segment.first + segment.last) / 2,
                           segment.last - 1};
    out->border[1] = at[place];
    if (bare != 0) loops[bare - 1] = LoopChoice{};
    out->made = 2;
    // The places of short segments are one.
    if (place > 0 && at[place] <= at[place - 1]) return false;
    return at[place] > segment.first && at[place] < segment.last;
  }
  return true;
}

void FitLoops(const SpaceProblem& p, uint32_t first, uint32_t last, LoopChoice* loops) {
  const Tensor& out = p.graph->tensors[p.at(last - 1).outputs[0]];
  for (int k = loops->count; k-- > 0;) {
    int32_t trips = loops->trips[k];
    if (loops->cut[k] == kSumCut) {
      const uint32_t at = SummedOf(p, first, last);
      const bool may = at != kNone && loops->slice == 0 && loops->piece == 0;
      trips = may ? PartsOfSum(p, at, Max(trips, 1)) : 1;
    } else {
      // Parts of a size; no part is empty.
      const int64_t extent = out.extent[loops->cut[k]];
      const int64_t part =
          CeilDivide(extent, Max<int64_t>(Min<int64_t>(trips, extent), 1));
      trips = static_cast<int32_t>(CeilDivide(extent, part));
    }
    loops->trips[k] = trips;
    if (trips <= 1) Drop(k, loops);
  }
}

}  // namespace sluice
