// SPDX-License-Identifier: Apache-2.0
// Executes a stream's lists, ordered by tokens alone, with the engines in any order.
// Checks that no instruction starts before its waits hold.
//
// Input   an image, what sluice_tokens made of it, depths of channels, whom to prefer
// Output  whether the lists ended, whether each wait held, the most tokens outstanding
// Cost    events * engines. Users link sluice_sim.
// Shares no code with src/lower: lists and waits come from the walker.
#ifndef SLUICE_TESTS_SUPPORT_TOKEN_MACHINE_H_
#define SLUICE_TESTS_SUPPORT_TOKEN_MACHINE_H_

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "base/rng.h"
#include "firmware-sim/walker.h"
#include "sluice/lowering.h"
#include "support/library.h"

namespace sluice_test {

struct TokensOfStream {
  std::vector<sluice_token_channel_t> channels;
  std::vector<sluice_token_step_t> instruction;
  std::vector<sluice_token_relay_t> relay;
  std::vector<sluice_token_use_t> use;
  uint32_t common_depth = 0;
};

// Asks the library for tokens. On false, library->diagnostic says why.
inline bool MakeTokens(Library* library, const std::vector<uint8_t>& image,
                       const std::vector<sluice_token_channel_t>& channels,
                       TokensOfStream* out) {
  sluice_token_lists_t* lists = nullptr;
  const sluice_token_options_t options = {
      sizeof options, static_cast<uint32_t>(channels.size()), channels.data()};
  library->status = sluice_tokens(library->context.get(), image.data(), image.size(),
                                  &options, &lists, &library->diagnostic);
  if (library->status != SLUICE_OK) return false;
  sluice_token_view_t v;
  std::memset(&v, 0, sizeof v);
  v.struct_size = sizeof v;
  sluice_token_lists_view(lists, &v);
  out->channels = channels;
  out->instruction.assign(v.instruction, v.instruction + v.instructions);
  out->relay.assign(v.relay, v.relay + v.relays);
  out->use.assign(v.channel, v.channel + v.channels);
  out->common_depth = v.common_depth;
  sluice_token_lists_destroy(lists);
  return true;
}

class TokenMachine {
 public:
  // One entry of an engine's list.
  struct Entry {
    bool relay = false;
    sluice_token_step_t step{};
  };
  // Called when an instruction starts or completes; relays do nothing.
  using Event = std::function<void(const sluice_walk_cursor_t* cursors, uint32_t engine,
                                   bool completes)>;
  static constexpr uint32_t kNobody = 0xffffffffu;

  struct Outcome {
    bool ended = false;
    bool waits_held = true;
    std::vector<uint32_t> outstanding;  // the most tokens, by channel
  };

  TokenMachine(const std::vector<uint8_t>& image, const TokensOfStream& tokens)
      : tokens_(tokens) {
    std::memset(&walker_, 0, sizeof walker_);
    walker_.image = image.data();
    std::memcpy(&walker_.header, image.data(), sizeof walker_.header);
    walker_.engines = walker_.header.engine_count;
    lists_.resize(walker_.engines);
    std::vector<size_t> next(walker_.engines, 0);  // relays, by engine
    std::vector<std::vector<sluice_token_relay_t>> relays(walker_.engines);
    for (const auto& r : tokens.relay) relays[r.engine].push_back(r);
    uint32_t first = 0;
    for (sluice_walk_visit_t visit = {}; visit.instance < walker_.header.instance_count;
         sluice_walk_next_visit(&walker_, &visit)) {
      sluice_block_t block;
      sluice_walk_block(&walker_, visit.instance, &block);
      for (uint32_t e = 0; e < walker_.engines; ++e) {
        uint32_t list[2];
        std::memcpy(list, image.data() + block.list_offset + 4 * size_t{e},
                    sizeof list);
        for (uint32_t i = list[0]; i < list[1]; ++i) {
          const uint32_t number = first + i;
          while (next[e] < relays[e].size() && relays[e][next[e]].before == number) {
            lists_[e].push_back({true, relays[e][next[e]++].step});
          }
          lists_[e].push_back({false, tokens.instruction[number]});
        }
      }
      first += block.instruction_count;
    }
    for (uint32_t e = 0; e < walker_.engines; ++e) {
      for (; next[e] < relays[e].size(); ++next[e]) {
        placed_ = placed_ && relays[e][next[e]].before == SLUICE_NO_INDEX;
        lists_[e].push_back({true, relays[e][next[e]].step});
      }
    }
  }
  // Whether each relay stands before an instruction of its engine or at the end.
  bool placed() const { return placed_; }

  // depth: by channel, 0 = unbounded. Engine `last` starts something only when no other
  // engine can.
  Outcome Run(const std::vector<uint32_t>& depth, uint64_t seed,
              uint32_t last = kNobody, const Event& event = nullptr) {
    sluice::Rng rng(seed);
    Outcome out;
    out.outstanding.assign(tokens_.channels.size(), 0);
    std::vector<uint32_t> held(tokens_.channels.size(), 0);
    std::vector<size_t> at(walker_.engines, 0);
    std::vector<bool> busy(walker_.engines, false);
    std::vector<sluice_walk_cursor_t> cursors(walker_.engines);
    sluice_walk_start(&walker_, cursors.data());
    while (true) {
      std::vector<uint32_t> ready;
      for (uint32_t e = 0; e < walker_.engines; ++e) {
        if (at[e] < lists_[e].size() && Ready(e, at[e], busy[e], held, depth)) {
          ready.push_back(e);
        }
      }
      if (ready.size() > 1 && last != kNobody && !busy[last]) {
        ready.erase(std::remove(ready.begin(), ready.end(), last), ready.end());
      }
      if (ready.empty()) break;
      const uint32_t e = ready[rng.Below(static_cast<uint32_t>(ready.size()))];
      const Entry& entry = lists_[e][at[e]];
      if (!busy[e]) {
        Move(entry.step.pops, -1, &held, &out.outstanding);
        if (!entry.relay) {
          const bool holds =
              sluice_walk_waits_hold(&walker_, cursors.data(), e, nullptr) != 0;
          out.waits_held = out.waits_held && holds;
        }
      }
      if (!entry.relay && event) event(cursors.data(), e, busy[e]);
      if (busy[e]) {
        Move(entry.step.pushes, 1, &held, &out.outstanding);
        if (!entry.relay) sluice_walk_complete(&walker_, cursors.data(), e);
        ++at[e];
      }
      busy[e] = !busy[e];
    }
    out.ended = true;
    for (uint32_t e = 0; e < walker_.engines; ++e) {
      out.ended = out.ended && at[e] == lists_[e].size();
    }
    return out;
  }

 private:
  bool Ready(uint32_t e, size_t at, bool busy, const std::vector<uint32_t>& held,
             const std::vector<uint32_t>& depth) const {
    const sluice_token_step_t& step = lists_[e][at].step;
    for (uint32_t c = 0; c < held.size(); ++c) {
      const uint64_t bit = uint64_t{1} << c;
      if (!busy && (step.pops & bit) != 0 &&
          (held[c] == 0 || tokens_.channels[c].consumer != e)) {
        return false;
      }
      if (busy && (step.pushes & bit) != 0 &&
          ((depth[c] != 0 && held[c] >= depth[c]) ||
           tokens_.channels[c].producer != e)) {
        return false;
      }
    }
    return true;
  }
  static void Move(uint64_t mask, int by, std::vector<uint32_t>* held,
                   std::vector<uint32_t>* most) {
    for (uint32_t c = 0; c < held->size(); ++c) {
      if ((mask >> c & 1) == 0) continue;
      (*held)[c] += static_cast<uint32_t>(by);
      (*most)[c] = std::max((*most)[c], (*held)[c]);
    }
  }

  const TokensOfStream& tokens_;
  sluice_walker_t walker_;
  std::vector<std::vector<Entry>> lists_;
  bool placed_ = true;
};

// A channel each way between `hub` and every other engine, as between VTA's compute
// engine and its load and store engines.
inline std::vector<sluice_token_channel_t> StarOf(uint32_t hub, uint32_t engines,
                                                  uint32_t depth) {
  std::vector<sluice_token_channel_t> channels;
  for (uint32_t e = 0; e < engines; ++e) {
    if (e == hub) continue;
    channels.push_back({e, hub, depth, 0});
    channels.push_back({hub, e, depth, 0});
  }
  return channels;
}

// A channel from every engine to every other one.
inline std::vector<sluice_token_channel_t> AllPairs(uint32_t engines, uint32_t depth) {
  std::vector<sluice_token_channel_t> channels;
  for (uint32_t a = 0; a < engines; ++a) {
    for (uint32_t b = 0; b < engines; ++b) {
      if (a != b) channels.push_back({a, b, depth, 0});
    }
  }
  return channels;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_TOKEN_MACHINE_H_
