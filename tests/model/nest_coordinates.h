// SPDX-License-Identifier: Apache-2.0
// Which box of an operand a unit has at a time, from the digits of a loop nest alone.
//
// Input    a problem, the fanouts of a machine, a nest.
// Output   loops and units that move, all combinations of units, boxes.
// Cost     linear in loops and units for each box.
#ifndef SLUICE_TESTS_MODEL_NEST_COORDINATES_H_
#define SLUICE_TESTS_MODEL_NEST_COORDINATES_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "model/access.h"

namespace sluice {

struct LoopIndex {
  int level;
  int dim;
  int64_t trips;
  int64_t step;
};

struct UnitIndex {  // one spatial digit
  int level;
  int axis;
  int dim;
  int64_t count;
  int64_t step;
};

struct Box {  // half-open ranges of the operand's axes, window axes as rows and columns
  std::array<int64_t, 5> begin;
  std::array<int64_t, 5> end;
  int64_t Words() const {
    int64_t words = 1;
    for (int i = 0; i < 5; ++i) words *= std::max<int64_t>(0, end[i] - begin[i]);
    return words;
  }
  int64_t WordsNotIn(const Box& other) const {
    Box both;
    for (int i = 0; i < 5; ++i) {
      both.begin[i] = std::max(begin[i], other.begin[i]);
      both.end[i] = std::max(both.begin[i], std::min(end[i], other.end[i]));
    }
    return Words() - both.Words();
  }
  void Join(const Box& other) {
    for (int i = 0; i < 5; ++i) {
      begin[i] = std::min(begin[i], other.begin[i]);
      end[i] = std::max(end[i], other.end[i]);
    }
  }
};

// An operand on its way from a level to the next one below that holds it; child -1: to
// the MACs.
struct OperandWay {
  int child, parent, operand;
};

class NestCoordinates {
 public:
  using Key = std::vector<int64_t>;

  NestCoordinates(const MappingProblem& problem, const Hardware& hardware,
                  const LoopNest& nest)
      : problem_(problem), hardware_(hardware), nest_(nest) {
    for (int d = 0; d < kDims; ++d) {
      int64_t step = 1;
      for (int l = 0; l < static_cast<int>(nest.levels); ++l) {
        for (int a = 0; a < static_cast<int>(kMaxAxes); ++a) {
          units_.push_back({l, a, d, nest.spatial[l][a][d], step});
          step *= nest.spatial[l][a][d];
        }
        step_[l][d] = step;
        step *= nest.temporal[l][d];
      }
    }
    for (int l = static_cast<int>(nest.levels) - 1; l >= 0; --l) {
      for (int i = kDims - 1; i >= 0; --i) {
        const int d = nest.order[l][i];
        loops_.push_back({l, d, nest.temporal[l][d], step_[l][d]});
      }
    }
    units_.erase(std::remove_if(units_.begin(), units_.end(),
                                [](const UnitIndex& u) { return u.count == 1; }),
                 units_.end());
    loops_.erase(std::remove_if(loops_.begin(), loops_.end(),
                                [](const LoopIndex& l) { return l.trips == 1; }),
                 loops_.end());
    EnumerateUnits();
  }

  int64_t Base(const std::vector<int64_t>& time, const std::vector<int64_t>& unit,
               int dim, int above) const {
    int64_t base = 0;
    for (size_t i = 0; i < loops_.size(); ++i) {
      if (loops_[i].dim == dim && loops_[i].level > above)
        base += time[i] * loops_[i].step;
    }
    for (size_t i = 0; i < units_.size(); ++i) {
      if (units_[i].dim == dim && units_[i].level > above)
        base += unit[i] * units_[i].step;
    }
    return base;
  }

  Box BoxOf(const OperandWay& way, const std::vector<int64_t>& time,
            const std::vector<int64_t>& unit) const {
    int64_t lo[kDims], hi[kDims];
    for (int d = 0; d < kDims; ++d) {
      int64_t size = 1;
      for (int l = 0; l <= way.child; ++l) {
        size *= nest_.temporal[l][d];
        for (uint32_t a = 0; a < kMaxAxes; ++a) size *= nest_.spatial[l][a][d];
      }
      lo[d] = Base(time, unit, d, way.child);
      hi[d] = std::min(lo[d] + size, problem_.extent[d]);
    }
    Box box;
    const auto set = [&](int i, int64_t b, int64_t e) {
      box.begin[i] = b;
      box.end[i] = e;
    };
    if (way.operand == kWeight) {
      const int dims[5] = {kDimG, kDimK, kDimC, kDimR, kDimS};
      for (int i = 0; i < 5; ++i) set(i, lo[dims[i]], hi[dims[i]]);
    } else if (way.operand == kOutput) {
      const int dims[5] = {kDimN, kDimG, kDimK, kDimP, kDimQ};
      for (int i = 0; i < 5; ++i) set(i, lo[dims[i]], hi[dims[i]]);
    } else {
      set(0, lo[kDimN], hi[kDimN]);
      set(1, lo[kDimG], hi[kDimG]);
      set(2, lo[kDimC], hi[kDimC]);
      for (int x = 0; x < 2; ++x) {
        int64_t first = INT64_MAX, last = INT64_MIN;
        // Rows that no window touches do not exist.
        const int64_t window =
            1 + (problem_.extent[kDimR + x] - 1) * problem_.dilation[x];
        const int64_t step = std::min<int64_t>(problem_.stride[x], window);
        for (int64_t p = lo[kDimP + x]; p < hi[kDimP + x]; ++p) {
          for (int64_t r = lo[kDimR + x]; r < hi[kDimR + x]; ++r) {
            const int64_t row = p * step + r * problem_.dilation[x];
            first = std::min(first, row);
            last = std::max(last, row);
          }
        }
        set(3 + x, first, last + 1);
      }
    }
    return box;
  }

  bool Fanouts(const OperandWay& way, bool Fanout::*flag) const {
    for (const UnitIndex& u : units_) {
      if (u.level <= way.child || u.level > way.parent) continue;
      if (!(FanoutAt(hardware_, u.level, u.axis)->*flag)) return false;
    }
    return true;
  }

  Key Digits(const std::vector<int64_t>& unit, int above) const {
    Key key;
    for (size_t i = 0; i < units_.size(); ++i) {
      if (units_[i].level > above) key.push_back(unit[i]);
    }
    return key;
  }

  // Digits of window dims above the loop of a bypassed level: such units are served
  // apart.
  Key Apart(const OperandWay& way, const std::vector<int64_t>& unit) const {
    Key key;
    for (size_t i = 0; i < units_.size(); ++i) {
      const UnitIndex& u = units_[i];
      if (u.level <= way.child || u.level > way.parent) continue;
      if (way.operand != kInput || u.dim < kDimP || u.dim > kDimS) {
        // Other dims: different words, never a common box. (irrelevant ones: same
        // words)
        if (Moves(u.dim, way.operand)) key.push_back(unit[i]);
        continue;
      }
      bool gap = false;
      for (int l = way.child + 1; l < u.level; ++l) gap |= nest_.temporal[l][u.dim] > 1;
      if (gap) key.push_back(unit[i]);
    }
    return key;
  }

  const std::vector<LoopIndex>& loops() const { return loops_; }  // outermost first
  const std::vector<UnitIndex>& units() const { return units_; }
  const std::vector<Key>& all_units() const { return all_units_; }

 private:
  // All combinations of spatial digits.
  void EnumerateUnits() {
    std::vector<int64_t> digits(units_.size(), 0);
    for (;;) {
      all_units_.push_back(digits);
      int i = static_cast<int>(units_.size()) - 1;
      while (i >= 0 && ++digits[i] == units_[i].count) digits[i--] = 0;
      if (i < 0) break;
    }
  }

  const MappingProblem& problem_;
  const Hardware& hardware_;
  const LoopNest& nest_;
  int64_t step_[kMaxLevels][kDims];
  std::vector<LoopIndex> loops_;
  std::vector<UnitIndex> units_;
  std::vector<Key> all_units_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_MODEL_NEST_COORDINATES_H_
