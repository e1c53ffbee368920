// SPDX-License-Identifier: Apache-2.0
// A counting interpreter: runs a loop nest step by step and unit by unit, and counts by
// the rules of model/access.h from coordinates alone. It shares no formula with
// access.h.
#ifndef SLUICE_TESTS_MODEL_WALK_H_
#define SLUICE_TESTS_MODEL_WALK_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
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

class NestWalk {
 public:
  NestWalk(const MappingProblem& problem, const Hardware& hardware,
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
  }

  AccessCounts Run(uint32_t resident) {
    for (int v = 0; v < kOperands; ++v) {
      if (!Has(problem_, v)) continue;
      int child = -1;
      for (int l = 0; l < static_cast<int>(nest_.levels); ++l) {
        if ((nest_.hold[l] >> v & 1) == 0) continue;
        const bool stays =
            l + 1 == static_cast<int>(nest_.levels) && (resident >> v & 1) != 0;
        if (!stays) ways_.push_back(Way(child, l, v));
        child = l;
      }
    }
    EnumerateUnits();
    std::vector<int64_t> digits(loops_.size(), 0);
    counts_ = AccessCounts{};
    for (;;) {
      Step(digits);
      int i = static_cast<int>(loops_.size()) - 1;
      while (i >= 0 && ++digits[i] == loops_[i].trips) digits[i--] = 0;
      if (i < 0) break;
    }
    for (const Way& way : ways_) {
      if (way.operand == kOutput && way.parent + 1 == static_cast<int>(nest_.levels)) {
        int64_t words = 0;
        for (const auto& tile : way.seen) words += tile.second;
        counts_.final_writes = words;
      }
    }
    for (uint32_t l = 0; l < nest_.levels; ++l) {
      counts_.instances[l] = static_cast<int64_t>(instances_[l].size());
    }
    return counts_;
  }
  bool late_opening = false;  // a unit starts to work within a stay

 private:
  using Key = std::vector<int64_t>;
  struct Way {
    Way(int c, int p, int v) : child(c), parent(p), operand(v) {}
    int child, parent, operand;
    Key identity;                   // moving temporal digits of the current stay
    std::map<Key, Box> unit_box;    // of the current stay, by unit
    std::map<Key, Box> united_box;  // by group and separate parts
    std::map<Key, int64_t> seen;    // outputs: group and tile -> words
    bool first = true;
  };

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

  Box BoxOf(const Way& way, const std::vector<int64_t>& time,
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

  bool Fanouts(const Way& way, bool Fanout::*flag) const {
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
  Key Apart(const Way& way, const std::vector<int64_t>& unit) const {
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

  void Step(const std::vector<int64_t>& time) {
    std::vector<const std::vector<int64_t>*> active;
    for (const auto& unit : all_units_) {
      bool in = true;
      for (int d = 0; d < kDims && in; ++d)
        in = Base(time, unit, d, -1) < problem_.extent[d];
      if (!in) continue;
      active.push_back(&unit);
      for (int l = 0; l < static_cast<int>(nest_.levels); ++l) {
        instances_[l].insert(Digits(unit, l));
      }
    }
    counts_.cycles += 1;
    counts_.operations += static_cast<int64_t>(active.size());
    for (Way& way : ways_) StepWay(way, time, active);
  }

  void StepWay(Way& way, const std::vector<int64_t>& time,
               const std::vector<const std::vector<int64_t>*>& active) {
    Key identity;
    int changed = -1, changes = 0;
    for (size_t i = 0; i < loops_.size(); ++i) {
      const bool counts = way.child < 0 || (loops_[i].level > way.child &&
                                            Moves(loops_[i].dim, way.operand));
      if (!counts) continue;
      if (!way.first && way.identity[identity.size()] != time[i]) {
        ++changes;
        if (way.identity[identity.size()] + 1 == time[i]) changed = static_cast<int>(i);
      }
      identity.push_back(time[i]);
    }
    const bool fresh = way.first || changes != 0 || way.child < 0;
    const bool slides = way.child >= 0 && !way.first && changes == 1 && changed >= 0 &&
                        loops_[changed].dim >= kDimP && loops_[changed].dim <= kDimS &&
                        hardware_.levels[way.child].sliding && way.operand == kInput;
    way.first = false;
    way.identity = identity;
    std::map<Key, Box> unit_box, united_box;
    const bool forwards = Fanouts(way, &Fanout::forwarding);
    const bool shared = forwards || Fanouts(way, &Fanout::multicast);
    std::map<Key, int> group_of_unit;
    for (const auto* unit : active) {
      const Key id = Digits(*unit, way.child);
      if (unit_box.count(id) != 0) continue;
      const Box box = BoxOf(way, time, *unit);
      unit_box[id] = box;
      Key part = Digits(*unit, way.parent);
      part.push_back(-1);
      const Key apart = Apart(way, *unit);
      part.insert(part.end(), apart.begin(), apart.end());
      if (united_box.count(part) == 0) {
        united_box[part] = box;
      } else {
        united_box[part].Join(box);
      }
    }
    if (!fresh) {
      for (const auto& u : unit_box) late_opening |= way.unit_box.count(u.first) == 0;
      return;
    }
    if (way.operand == kOutput) {
      Accumulate(way, time, active);
    } else {
      Fetch(way, unit_box, united_box, shared, forwards, slides);
    }
    way.unit_box = unit_box;
    way.united_box = united_box;
  }

  void Fetch(Way& way, const std::map<Key, Box>& unit_box,
             const std::map<Key, Box>& united_box, bool shared, bool forwards,
             bool slides) {
    const auto words = [&](const Key& key, const Box& box,
                           const std::map<Key, Box>& before) {
      const auto it = before.find(key);
      return slides && it != before.end() ? box.WordsNotIn(it->second) : box.Words();
    };
    int64_t single = 0, united = 0;
    for (const auto& u : unit_box) single += words(u.first, u.second, way.unit_box);
    for (const auto& u : united_box) united += words(u.first, u.second, way.united_box);
    const int64_t read = shared ? united : single;
    counts_.reads[way.parent][way.operand] += read;
    if (way.child >= 0) counts_.writes[way.child][way.operand] += single;
    for (int l = way.child + 1; l <= way.parent; ++l) {
      counts_.transfers[l][way.operand] += read;
    }
    if (forwards) counts_.forwards[way.parent][way.operand] += single - read;
  }

  void Accumulate(Way& way, const std::vector<int64_t>& time,
                  const std::vector<const std::vector<int64_t>*>& active) {
    const bool reduced = Fanouts(way, &Fanout::reduction);
    const bool forwards = Fanouts(way, &Fanout::forwarding);
    std::set<Key> done_units, written;
    const auto before = way.seen;
    for (const auto* unit : active) {
      if (!done_units.insert(Digits(*unit, way.child)).second) continue;
      const Box box = BoxOf(way, time, *unit);
      Key tile = Digits(*unit, way.parent);
      tile.push_back(-1);
      tile.insert(tile.end(), box.begin.begin(), box.begin.end());
      const int64_t words = box.Words();
      if (way.child >= 0 && before.count(tile) != 0) {
        counts_.writes[way.child][kOutput] += words;
      }
      if (!reduced || written.insert(tile).second) {
        counts_.writes[way.parent][kOutput] += words;
        if (way.seen.count(tile) != 0) counts_.reads[way.parent][kOutput] += words;
        for (int l = way.child + 1; l <= way.parent; ++l) {
          counts_.transfers[l][kOutput] +=
              words + (way.seen.count(tile) != 0 ? words : 0);
        }
        way.seen[tile] = words;
      } else if (forwards) {
        counts_.forwards[way.parent][kOutput] += words;
      }
    }
  }

  const MappingProblem& problem_;
  const Hardware& hardware_;
  const LoopNest& nest_;
  int64_t step_[kMaxLevels][kDims];
  std::vector<LoopIndex> loops_;  // outermost first
  std::vector<UnitIndex> units_;
  std::vector<std::vector<int64_t>> all_units_;
  std::vector<Way> ways_;
  std::set<Key> instances_[kMaxLevels];
  AccessCounts counts_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_MODEL_WALK_H_
