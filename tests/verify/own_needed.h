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
    for (const sluice::Layer& layer : judge.graph.layers) {
      const bool rows =
          layer.op == SLUICE_OP_GATHER || layer.op == SLUICE_OP_STATE_APPEND;
      for (size_t i = rows ? 1 : 0; i < layer.inputs.size(); ++i) {
        const uint32_t t = layer.inputs[i];
        if (t != sluice::kNone) uses[t] = sluice::judge::kLoaded;
      }
    }
    REQUIRE(FindNeeded(judge, {uses.data(), uses.size()}, &of_all) ==
            sluice::Status::kOk);
  }

  std::vector<uint8_t> uses;
  sluice::judge::NeededOfAll of_all;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_VERIFY_OWN_NEEDED_H_
