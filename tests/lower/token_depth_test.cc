// SPDX-License-Identifier: Apache-2.0
// Depths of channels: the reported least depth ends, one less deadlocks, and the
// reported number of outstanding tokens is reached in some order.
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "support/random_stream.h"
#include "support/token_machine.h"

namespace sluice_test {
namespace {

std::vector<sluice_token_channel_t> SomeChannels(uint64_t seed, uint32_t engines) {
  return seed % 2 == 0 ? AllPairs(engines, 0)
                       : StarOf(static_cast<uint32_t>(seed / 2) % engines, engines, 0);
}

TEST_CASE("the least depths end, and one less deadlocks") {
  Library library;
  int several = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const StreamBuilder stream = MakeRandomStream(seed);
    const Bytes image = stream.Image();
    TokensOfStream tokens;
    REQUIRE(MakeTokens(&library, image, SomeChannels(seed, stream.engines()), &tokens));
    TokenMachine machine(image, tokens);
    std::vector<uint32_t> depth(tokens.channels.size(), tokens.common_depth);
    CHECK(machine.Run(depth, seed).ended);
    if (tokens.common_depth > 1) {
      ++several;
      depth.assign(depth.size(), tokens.common_depth - 1);
      CHECK_FALSE(machine.Run(depth, seed).ended);
    }
    for (size_t c = 0; c < depth.size(); ++c) {
      depth.assign(depth.size(), 0);
      const uint32_t least = tokens.use[c].least_depth;
      REQUIRE((least == 0) == (tokens.use[c].tokens == 0));
      CHECK(least <= tokens.use[c].outstanding);
      depth[c] = least;
      CHECK(machine.Run(depth, seed).ended);
      depth[c] = least - 1;
      if (least > 1) CHECK_FALSE(machine.Run(depth, seed).ended);
    }
  }
  CHECK(several > 50);
}

TEST_CASE("the most outstanding tokens are reached when the consumer is last") {
  Library library;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const StreamBuilder stream = MakeRandomStream(seed);
    const Bytes image = stream.Image();
    TokensOfStream tokens;
    REQUIRE(MakeTokens(&library, image, SomeChannels(seed, stream.engines()), &tokens));
    TokenMachine machine(image, tokens);
    const std::vector<uint32_t> any(tokens.channels.size(), 0);
    for (size_t c = 0; c < any.size(); ++c) {
      CAPTURE(c);
      const auto slow = machine.Run(any, seed, tokens.channels[c].consumer);
      CHECK(slow.ended);
      CHECK(slow.outstanding[c] == tokens.use[c].outstanding);
    }
    const auto free = machine.Run(any, seed);
    for (size_t c = 0; c < any.size(); ++c) {
      CHECK(free.outstanding[c] <= tokens.use[c].outstanding);
    }
  }
}

TEST_CASE("a depth that is too small is refused with the one that is needed") {
  Library library;
  int refused = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const StreamBuilder stream = MakeRandomStream(seed);
    const Bytes image = stream.Image();
    auto channels = SomeChannels(seed, stream.engines());
    TokensOfStream tokens, none;
    REQUIRE(MakeTokens(&library, image, channels, &tokens));
    if (tokens.common_depth < 2) continue;
    const uint32_t given = tokens.common_depth - 1;
    for (auto& c : channels) c.depth = given;
    REQUIRE_FALSE(MakeTokens(&library, image, channels, &none));
    CHECK(library.status == SLUICE_INFEASIBLE);
    CHECK(std::string(library.diagnostic.rule) == "depth");
    unsigned c = 0, from = 0, to = 0, has = 0, needs = 0, common = 0;
    REQUIRE(std::sscanf(library.diagnostic.message,
                        "channel %u from engine %u to engine %u has depth %u and needs "
                        "%u; %u in every channel are enough",
                        &c, &from, &to, &has, &needs, &common) == 6);
    CHECK(from == channels[c].producer);
    CHECK(to == channels[c].consumer);
    CHECK(has == given);
    CHECK(common == tokens.common_depth);
    TokenMachine machine(image, tokens);
    std::vector<uint32_t> depth(channels.size(), 0);
    std::fill(depth.begin(), depth.begin() + c, given);
    depth[c] = needs;
    CHECK(machine.Run(depth, seed).ended);
    depth[c] = needs - 1;
    CHECK_FALSE(machine.Run(depth, seed).ended);
    ++refused;
  }
  CHECK(refused > 50);
}

}  // namespace
}  // namespace sluice_test
