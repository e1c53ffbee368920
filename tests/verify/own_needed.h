// SPDX-License-Identifier: Apache-2.0
// What is needed of each tensor where the engines do all layers, for tests of the judge's parts.
#ifndef SLUICE_TESTS_VERIFY_OWN_NEEDED_H_
#define SLUICE_TESTS_VERIFY_OWN_NEEDED_H_

#include <doctest/doctest.h>

#include <vector>

#include "verify/bound.h"
#include "verify/needed.h"

namespace sluice_test {

struct OwnNeeded {
  explicit OwnNeeded(const sluice::judge::Judge& judge)
      : uses(judge.graph.tensors.size()) {
    REQUIRE(FindNeeded(judge, {uses.data(), uses.size()}, &of_all) ==
            sluice::Status::kOk);
  }

  std::vector<uint8_t> uses;
  sluice::judge::NeededOfAll of_all;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_VERIFY_OWN_NEEDED_H_
