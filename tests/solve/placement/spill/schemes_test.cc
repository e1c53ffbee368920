// SPDX-License-Identifier: Apache-2.0
// The schemes that benches compare with, against the reference's account of them.
#include "tests/solve/placement/spill/schemes.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "support/shared_data.h"

namespace sluice_test {
namespace {

TEST_CASE("the four comparison schemes move the bytes that the reference counts") {
  const std::string folder = sluice_test::SharedPath("reference/cosma_cases");
  if (!std::filesystem::is_directory(folder)) {
    MESSAGE("skipped: " << folder << " is not there");
    return;
  }
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    const nlohmann::json j = nlohmann::json::parse(file);
    const Net net = ReadNet(j);
    std::vector<uint32_t> as_given(net.operators.size());
    for (uint32_t o = 0; o < as_given.size(); ++o) as_given[o] = o;
    const std::vector<uint32_t> least_peak = j["minpeak_order"];
    for (const auto& result : j["results"]) {
      if (result["mode"] != "paper") continue;
      for (const auto& [name, bytes] : result["baselines"].items()) {
        CAPTURE(j["name"].get<std::string>());
        CAPTURE(result["budget"].get<std::string>());
        CAPTURE(name);
        const auto says = [&, &key = name](const char* word) {
          return key.find(word) != std::string::npos;
        };
        CHECK(SchemeBytes(net, says("minpeak") ? least_peak : as_given, result["M"],
                          says("greedy") ? Leaves::kGreedy : Leaves::kBelady,
                          says("bestfit") ? Fit::kBest : Fit::kFirst) == bytes);
        ++compared;
      }
    }
  }
  CHECK(compared >= 250);
}

}  // namespace
}  // namespace sluice_test

TEST_CASE("schemes: next fit goes on behind the tensor placed last") {
  using sluice::TensorRole;
  sluice_test::Net net;
  const uint32_t in = net.Tensor(4, TensorRole::kInput);
  const uint32_t x = net.Tensor(2, TensorRole::kIntermediate);
  const uint32_t y = net.Tensor(2, TensorRole::kIntermediate);
  const uint32_t z = net.Tensor(4, TensorRole::kOutput);
  net.Op({in}, {x});  // at 0 and 4
  net.Op({x}, {y});   // at 0 by first fit, at 6 by next fit
  net.Op({x, y}, {z});
  const auto bytes = [&](sluice_test::Fit fit) {
    return sluice_test::SchemeBytes(net, {0, 1, 2}, 8, sluice_test::Leaves::kBelady,
                                    fit);
  };
  CHECK(bytes(sluice_test::Fit::kFirst) == 4);  // x is moved through DRAM
  CHECK(bytes(sluice_test::Fit::kNext) == 0);
}

TEST_CASE("schemes: an input that leaves is written as published, else DRAM has it") {
  using sluice::TensorRole;
  using sluice_test::SchemeBytes;
  sluice_test::Net net;
  const uint32_t a = net.Tensor(4, TensorRole::kInput);
  const uint32_t b = net.Tensor(8, TensorRole::kIntermediate);
  const uint32_t c = net.Tensor(4, TensorRole::kIntermediate);
  const uint32_t d = net.Tensor(4, TensorRole::kOutput);
  net.Op({a}, {b});
  net.Op({b}, {c});  // fills the scratchpad
  net.Op({a, c}, {d});
  for (const auto leaves :
       {sluice_test::Leaves::kBelady, sluice_test::Leaves::kGreedy}) {
    CHECK(SchemeBytes(net, {0, 1, 2}, 12, leaves) == 8);
    CHECK(SchemeBytes(net, {0, 1, 2}, 12, leaves, false) == 4);
  }
}
