// SPDX-License-Identifier: Apache-2.0
// Bounds on memory for small graphs, compared with numbers computed by hand.
#include "plan/memory_bound.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::kI8;
constexpr uint64_t kKiB = 1024, kMiB = 1024 * 1024;

sluice_test::GraphSpec Chain(uint32_t layers) {
  sluice_test::GraphSpec spec;
  spec.tensors.push_back({{1, 4, 4, 8}, kI8, 1});
  for (uint32_t i = 0; i < layers; ++i) {
    const uint8_t kind = i + 1 == layers ? 2 : 0;
    spec.tensors.push_back({{1, 4, 4, 8}, kI8, kind});
    spec.layers.push_back(
        {SLUICE_OP_REQUANTIZE, {i}, {i + 1}, {0, 1 << 30, 1, 0, -128, 127}});
  }
  return spec;
}

struct Asked {
  explicit Asked(uint32_t layers, uint32_t nodes = 1) : n(Chain(layers)) {
    n.hardware.node_cols = nodes;
  }
  sluice_test::Nouns n;
  sluice_schedule_options_t options = {};
  PlanRequest request{n.graph, n.hardware, options};
};

TEST_CASE("memory bound: the plain plan takes so much per layer and step") {
  Asked a(3);
  CHECK(PlainBytes(a.request, 0) == 160 * kKiB + 3 * 4096);
  CHECK(PlainBytes(a.request, 1000) == 160 * kKiB + 3 * 4096 + 200000);
  Asked mesh(3, 4);
  CHECK(PlainBytes(mesh.request, 0) == 160 * kKiB + 3 * 4096 + 24 * kMiB + 64 * 4 * 3);
}

TEST_CASE(
    "memory bound: fusion takes more with threads, and with a plan to go on from") {
  Asked a(2);
  const uint64_t plain = PlainBytes(a.request, 0), one = 2 * kMiB + 2 * 16 * kKiB;
  CHECK(FusionBytes(a.request, 0) == plain + one);
  CHECK(FusionBytes(a.request, 10) == plain + 2000 + one + 1280);
  // Where tile costs are searched for, fusion is the search.
  CHECK(SearchBytes(a.request, 10, false) ==
        FusionBytes(a.request, 10) + 2 * 64 * kKiB);
  const Plan earlier = {};
  a.request.resume_bytes = 500;
  CHECK(FusionBytes(a.request, 0) == plain + one);
  a.request.resume = &earlier;
  CHECK(FusionBytes(a.request, 0) == plain + one + 1000);
  a.request.resume = nullptr;
  const sluice_runner_t runner = {};
  a.options.runner = &runner;
  CHECK(FusionBytes(a.request, 0) == plain + 14 * one);  // four starts
  const Asked mesh(2, 2);
  CHECK(SearchBytes(mesh.request, 0, true) == PlainBytes(mesh.request, 0) + 640 * kMiB);
}

// And for fused plans of a small graph.
TEST_CASE("memory bound: a search of the space has room for pairs of near layers") {
  Asked a(4);
  CHECK(SearchBytes(a.request, 10, true) ==
        (384 + 448) * kKiB + 2560 + 4 * (12 * kKiB + 4 * 256));
  // The best plan of a small graph may have many more steps than the plain one has.
  CHECK(SearchBytes(a.request, 1000, true) ==
        (384 + 448) * kKiB + 256000 + 4 * (12 * kKiB + 4 * 256));
  CHECK(SearchBytes(Asked(200).request, 0, true) ==
        384 * kKiB + 200 * (12 * kKiB + 112 * 256));
  // A call that may be cancelled holds the plain plan meanwhile.
  const uint32_t word = 0;
  a.options.cancel = &word;
  CHECK(SearchBytes(a.request, 10, true) == (384 + 448) * kKiB + 2560 +
                                                4 * (12 * kKiB + 4 * 256) +
                                                PlainBytes(a.request, 10));
  a.options.cancel = nullptr;
  // Searches that go on, and such as start from a plan, fuse layers too.
  const uint64_t fusion = FusionBytes(a.request, 10) + 4 * 64 * kKiB;
  a.options.deadline_ns = 1;
  CHECK(SearchBytes(a.request, 10, true) == fusion);
  a.options.deadline_ns = 0;
  a.options.max_iterations = 1;
  CHECK(SearchBytes(a.request, 10, true) == fusion);
  a.options.max_iterations = 0;
  const Plan earlier = {};
  a.request.before = &earlier;
  CHECK(SearchBytes(a.request, 10, true) == fusion);
}

TEST_CASE("memory bound: the steps are those of the plain plan") {
  Asked a(3);
  uint64_t bytes = 0;
  REQUIRE(BoundMemory(a.request, &a.n.arena, &bytes, &a.n.diagnostic) == Status::kOk);
  // A load, a tile and a store for each layer.
  CHECK(bytes == 1024 + SearchBytes(a.request, 9, true));
  // Without a search the plain plan is made, and its bytes are counted.
  a.options.solver = SLUICE_SOLVER_BASELINE;
  const uint64_t live = a.n.memory.live_bytes(), peak = a.n.memory.peak_bytes();
  REQUIRE(BoundMemory(a.request, &a.n.arena, &bytes, &a.n.diagnostic) == Status::kOk);
  CHECK(a.n.memory.live_bytes() == live);
  CHECK(a.n.memory.peak_bytes() == peak);
  CHECK(bytes <= 1024 + peak - live);
  CHECK(bytes > 64 * kKiB);
  a.options.solver = 99;
  CHECK(BoundMemory(a.request, &a.n.arena, &bytes, &a.n.diagnostic) ==
        Status::kBadArgument);
}

TEST_CASE("memory bound: a call without room says what is enough") {
  Asked a(3);
  const uint64_t live = a.n.memory.live_bytes();
  CHECK(RefuseMemory(a.request, &a.n.arena, &a.n.diagnostic) == Status::kOutOfMemory);
  const uint64_t enough = live + PlainBytes(a.request, 9);
  CHECK(a.n.diagnostic.required_bytes == enough);
  CHECK(a.n.diagnostic.available_bytes == 0);
  CHECK(std::string(a.n.diagnostic.message) ==
        "the plain plan needs a context of " + std::to_string(enough) + " bytes");
  // If the steps of the plain plan cannot be counted, the message says so.
  Asked none(3);
  none.options.tile_row_count = 1;
  CHECK(RefuseMemory(none.request, &none.n.arena, &none.n.diagnostic) ==
        Status::kOutOfMemory);
  CHECK(
      std::string(none.n.diagnostic.message).find("counting the plain plan's steps") ==
      0);
}

}  // namespace
}  // namespace sluice
