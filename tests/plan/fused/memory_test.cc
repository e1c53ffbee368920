// SPDX-License-Identifier: Apache-2.0
// Memory of scheduling: the bound is known before the call, the call keeps to it, and with
// less memory there still is a plan.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "support/network_plan.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

TEST_CASE("the bound asked before is not exceeded") {
  for (const char* network :
       {"resnet50", "mobilenet_v1", "lraspp", "gpt2_small_decode", "vgg16"}) {
    for (const char* hardware : {"soma-edge", "mcu-256k"}) {
      for (const uint64_t iterations : {0, 50}) {
        CAPTURE(network);
        CAPTURE(hardware);
        NetworkPlan n(sluice::zoo::MakeZooGraph(network, {}), hardware);
        REQUIRE(n.ok);
        n.max_iterations = iterations;
        const uint64_t bound = n.MemoryBound();
        REQUIRE(bound > 0);
        const uint64_t live = n.memory().live;
        n.ForgetPeak();
        REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
        INFO("used " << n.memory().peak - live << " of " << bound);
        CHECK(n.memory().peak - live <= bound);
      }
    }
  }
}

TEST_CASE("ResNet-50 within 2 MiB") {
  NetworkPlan n(sluice::zoo::MakeZooGraph("resnet50", {}), "soma-edge");
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(n.memory().peak <= 2 * kMiB);
}

TEST_CASE(
    "halving the cap until refusal: valid plans, and the refusal says what helps") {
  for (const char* network : {"resnet50", "mobilenet_v1"}) {
    CAPTURE(network);
    const Bytes graph = sluice::zoo::MakeZooGraph(network, {});
    int plans = 0, refusals = 0;
    uint64_t cap = 8 * kMiB;
    double last = 0;
    while (refusals < 3) {
      CAPTURE(cap);
      NetworkPlan n(graph, "soma-edge", cap);
      if (!n.ok) break;  // not even the graph fits
      const sluice_status_t status = n.Schedule(SLUICE_SOLVER_DEFAULT, 0);
      CHECK(n.memory().peak <= cap + 256);  // 256 bytes for the context itself
      if (status == SLUICE_OK) {
        ++plans;
        last = n.Product();
        const Bytes bytes = n.PlanBytes();
        NetworkPlan judge(graph, "soma-edge");  // judging takes memory of its own
        REQUIRE(judge.Adopt(bytes) == SLUICE_OK);
        CHECK(judge.Verify() == SLUICE_OK);
        cap /= 2;
        continue;
      }
      REQUIRE(status == SLUICE_OUT_OF_MEMORY);
      ++refusals;
      INFO(n.diagnostic.message);
      CHECK(n.diagnostic.available_bytes == cap);
      REQUIRE(n.diagnostic.required_bytes > cap);
      if (refusals > 1) {
        // The bytes that a refusal names are enough after two refusals at most.
        CHECK(refusals == 2);
      }
      cap = n.diagnostic.required_bytes;
      NetworkPlan enough(graph, "soma-edge", cap);
      if (enough.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK) break;
    }
    CHECK(plans >= 3);
    CHECK(refusals >= 1);
    CHECK(last > 0);
  }
}

TEST_CASE("in a block of the size that was asked for, the same bytes") {
  const Bytes graph = sluice::zoo::MakeZooGraph("mobilenet_v1", {});
  NetworkPlan n(graph, "soma-edge");
  REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  const Bytes outside = n.PlanBytes();
  NetworkPlan ask(graph, "soma-edge");
  const uint64_t bytes = ask.memory().live + ask.MemoryBound() + 4096;
  std::vector<uint8_t> block(bytes);
  NetworkPlan inside(graph, "soma-edge", 0, block.data(), bytes);
  REQUIRE(inside.ok);
  REQUIRE(inside.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
  CHECK(inside.PlanBytes() == outside);
}

}  // namespace
}  // namespace sluice_test
