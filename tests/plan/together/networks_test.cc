// SPDX-License-Identifier: Apache-2.0
// Real models together on a real chip.
#include <doctest/doctest.h>

#include <string>

#include "support/cohort.h"
#include "support/network_plan.h"
#include "support/shared_data.h"

namespace sluice_test {
namespace {

TEST_CASE("keyword, person and image models share a microcontroller, bit by bit") {
  std::vector<Bytes> graphs;
  for (const std::string& path : TfliteModels()) {
    for (const char* name : {"kws_ref_model", "vww_96", "resnet8"}) {
      if (path.find(name) != std::string::npos) graphs.push_back(ImportedGraph(path));
    }
  }
  if (graphs.empty()) {
    MESSAGE("skipped: the TFLite models are not there");
    return;
  }
  REQUIRE(graphs.size() == 3);
  Cohort c(graphs, sluice::presets::LoadPreset("mcu-256k"));
  REQUIRE(c.ok);
  c.options.points = 6;
  c.options.max_iterations = 200;
  c.options.scratchpad_bytes = 128 << 10;
  for (uint64_t limit : {0, 25000}) {
    CAPTURE(limit);
    c.options.max_turn_cycles = limit;
    REQUIRE(c.Schedule() == SLUICE_OK);
    CHECK(c.Verify(c.turns) == SLUICE_OK);
    const auto run = c.Run(c.turns, true);
    INFO(run.error);
    REQUIRE(run.ok);
    CHECK(run.cycles == c.summary.total_cycles);
    for (size_t m = 0; m < c.members.size(); ++m) {
      CHECK(run.streams[m].compared_bytes > 0);
      CHECK(run.streams[m].cycles == c.members[m].finish_cycles);
    }
    CHECK(c.turns.size() > (limit == 0 ? 2 : 10));
    REQUIRE(c.summary.equal_latency_sum != 0);
    CHECK(c.summary.latency_sum <= c.summary.equal_latency_sum);
    if (limit == 0) CHECK(c.summary.latency_sum < c.summary.equal_latency_sum);
  }
}

}  // namespace
}  // namespace sluice_test
