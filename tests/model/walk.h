// SPDX-License-Identifier: Apache-2.0
// A counting interpreter: runs a loop nest step by step and unit by unit, and counts by
// the rules of model/access.h from coordinates alone. It shares no formula with
// access.h.
#ifndef SLUICE_TESTS_MODEL_WALK_H_
#define SLUICE_TESTS_MODEL_WALK_H_

#include <map>
#include <set>

#include "tests/model/nest_coordinates.h"

namespace sluice {

class NestWalk {
 public:
  NestWalk(const MappingProblem& problem, const Hardware& hardware,
           const LoopNest& nest)
      : problem_(problem),
        hardware_(hardware),
        nest_(nest),
        at_(problem, hardware, nest) {}

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
    std::vector<int64_t> digits(at_.loops().size(), 0);
    counts_ = AccessCounts{};
    for (;;) {
      Step(digits);
      int i = static_cast<int>(at_.loops().size()) - 1;
      while (i >= 0 && ++digits[i] == at_.loops()[i].trips) digits[i--] = 0;
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
  using Key = NestCoordinates::Key;
  struct Way : OperandWay {
    Way(int c, int p, int v) : OperandWay{c, p, v} {}
    Key identity;                   // moving temporal digits of the current stay
    std::map<Key, Box> unit_box;    // of the current stay, by unit
    std::map<Key, Box> united_box;  // by group and separate parts
    std::map<Key, int64_t> seen;    // outputs: group and tile -> words
    bool first = true;
  };

  void Step(const std::vector<int64_t>& time) {
    std::vector<const std::vector<int64_t>*> active;
    for (const auto& unit : at_.all_units()) {
      bool in = true;
      for (int d = 0; d < kDims && in; ++d)
        in = at_.Base(time, unit, d, -1) < problem_.extent[d];
      if (!in) continue;
      active.push_back(&unit);
      for (int l = 0; l < static_cast<int>(nest_.levels); ++l) {
        instances_[l].insert(at_.Digits(unit, l));
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
    for (size_t i = 0; i < at_.loops().size(); ++i) {
      const bool counts = way.child < 0 || (at_.loops()[i].level > way.child &&
                                            Moves(at_.loops()[i].dim, way.operand));
      if (!counts) continue;
      if (!way.first && way.identity[identity.size()] != time[i]) {
        ++changes;
        if (way.identity[identity.size()] + 1 == time[i]) changed = static_cast<int>(i);
      }
      identity.push_back(time[i]);
    }
    const bool fresh = way.first || changes != 0 || way.child < 0;
    const bool slides = way.child >= 0 && !way.first && changes == 1 && changed >= 0 &&
                        at_.loops()[changed].dim >= kDimP &&
                        at_.loops()[changed].dim <= kDimS &&
                        hardware_.levels[way.child].sliding && way.operand == kInput;
    way.first = false;
    way.identity = identity;
    std::map<Key, Box> unit_box, united_box;
    const bool forwards = at_.Fanouts(way, &Fanout::forwarding);
    const bool shared = forwards || at_.Fanouts(way, &Fanout::multicast);
    std::map<Key, int> group_of_unit;
    for (const auto* unit : active) {
      const Key id = at_.Digits(*unit, way.child);
      if (unit_box.count(id) != 0) continue;
      const Box box = at_.BoxOf(way, time, *unit);
      unit_box[id] = box;
      Key part = at_.Digits(*unit, way.parent);
      part.push_back(-1);
      const Key apart = at_.Apart(way, *unit);
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
    const bool reduced = at_.Fanouts(way, &Fanout::reduction);
    const bool forwards = at_.Fanouts(way, &Fanout::forwarding);
    std::set<Key> done_units, written;
    const auto before = way.seen;
    for (const auto* unit : active) {
      if (!done_units.insert(at_.Digits(*unit, way.child)).second) continue;
      const Box box = at_.BoxOf(way, time, *unit);
      Key tile = at_.Digits(*unit, way.parent);
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
  const NestCoordinates at_;
  std::vector<Way> ways_;
  std::set<Key> instances_[kMaxLevels];
  AccessCounts counts_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_MODEL_WALK_H_
