// SPDX-License-Identifier: Apache-2.0
#include "import/state_names.h"

#include <doctest/doctest.h>

#include "import/error.h"

namespace sluice::import {
namespace {

using Pairs = std::vector<std::pair<size_t, size_t>>;

TEST_CASE("state names: a word of the name is another, whole and not alone") {
  const auto found = [](const char* input, const char* output) {
    return !PairStates({{}, true}, {input}, {output}).empty();
  };
  CHECK(found("past_key_values.0.key", "present.0.key"));
  CHECK(found("past_key_values.0.key", "present_key_values.0.key"));
  CHECK(found("past.1", "present.1"));
  CHECK(found("h_in", "h_out"));
  CHECK(found("prev_state", "next_state"));
  CHECK_FALSE(found("past_key_values.0.key", "present.1.key"));
  CHECK_FALSE(found("in", "out"));
  CHECK_FALSE(found("input", "output"));
  CHECK_FALSE(found("past", "present"));
  CHECK_FALSE(found("main_1", "maout_1"));
}

TEST_CASE("state names: named pairs come first, each name in one pair") {
  const std::vector<std::string> in = {"x", "h_in", "c"}, out = {"h_out", "y", "c2"};
  CHECK(PairStates({{}, false}, in, out).empty());
  CHECK(PairStates({{{"c", "c2"}}, true}, in, out) == Pairs{{2, 2}, {1, 0}});
  CHECK(PairStates({{{"c", "h_out"}}, true}, in, out) == Pairs{{2, 0}});
  CHECK_THROWS_AS(PairStates({{{"c", "q"}}, true}, in, out), Error);
  CHECK_THROWS_AS(PairStates({{{"q", "y"}}, true}, in, out), Error);
  CHECK_THROWS_AS(PairStates({{{"c", "y"}, {"c", "c2"}}, true}, in, out), Error);
  CHECK_THROWS_AS(PairStates({{{"c", "y"}, {"x", "y"}}, true}, in, out), Error);
}

}  // namespace
}  // namespace sluice::import
