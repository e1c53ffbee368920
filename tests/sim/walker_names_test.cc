// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "firmware-sim/walker.h"

TEST_CASE("walker names: each status has a name of its own, other numbers have none") {
  const auto name = [](int code) -> std::string {
    return sluice_walk_status_name(static_cast<sluice_walk_status_t>(code));
  };
  std::set<std::string> names;
  for (int code = 0; code < SLUICE_WALK_CODE_COUNT; ++code) {
    CHECK(name(code).size() > 1);
    CHECK(name(code) != "unknown");
    CHECK(names.insert(name(code)).second);
  }
  CHECK(name(SLUICE_WALK_CODE_COUNT) == "unknown");
}
