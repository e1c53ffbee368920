// SPDX-License-Identifier: Apache-2.0
// Operators counted by name and reason, and the refusal that lists them.
#include "import/import_result.h"

#include <doctest/doctest.h>

namespace sluice::import {
namespace {

TEST_CASE("import result: equal operators are counted, others listed in their order") {
  std::vector<UnsupportedOperator> list;
  CountOperator(&list, "LRN", "");
  CountOperator(&list, "Conv", "groups");
  CountOperator(&list, "LRN", "");
  CountOperator(&list, "Conv", "dilated windows");
  REQUIRE(list.size() == 3);
  CHECK(list[0].name == "LRN");
  CHECK(list[0].count == 2);
  CHECK(list[1].reason == "groups");
  CHECK(list[1].count == 1);
  CHECK(list[2].reason == "dilated windows");
}

TEST_CASE(
    "import result: a refusal says how many of each and why, and keeps the list") {
  try {
    FailUnsupported({{"LRN", "", 2}, {"Conv", "groups", 1}});
    FAIL("it came back");
  } catch (const Refusal& refusal) {
    CHECK(refusal.fault() == Fault::kUnsupported);
    CHECK(std::string(refusal.what()) ==
          "operators that cannot be expressed:\n  2 x LRN (unknown)\n  1 x Conv "
          "(groups)");
    REQUIRE(refusal.list().size() == 2);
    CHECK(refusal.list()[1].name == "Conv");
  }
}

}  // namespace
}  // namespace sluice::import
