// SPDX-License-Identifier: Apache-2.0
// Plans of the space: joined data stays on chip, they verify, run to the right bytes and
// cost what was predicted. Random graphs: tests/property.
#include "plan/space/schedule_space.h"

#include <doctest/doctest.h>

#include "support/network_plan.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

TEST_CASE("space: networks with joins move little more than they must") {
  for (const char* network : {"googlenet", "densenet121", "amoebanet_d"}) {
    CAPTURE(network);
    NetworkPlan n(sluice::zoo::MakeZooGraph(network, {}), "soma-edge");
    REQUIRE(n.ok);
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    CHECK(n.Verify() == SLUICE_OK);
    const uint64_t moved = n.report.dram_read_bytes + n.report.dram_write_bytes;
    CHECK(n.report.spill_bytes < moved / 10);
    CHECK(n.report.latency_cycles < 2 * n.report.bound_latency_cycles);
    const double product = n.Product();
    REQUIRE(n.Schedule(SLUICE_SOLVER_FUSION, 0) == SLUICE_OK);
    CHECK(product <= n.Product());
  }
}

}  // namespace
}  // namespace sluice_test
