// SPDX-License-Identifier: Apache-2.0
// Plans of the space (segments, src/solve/space): joined tensors stay on chip, plans verify,
// compute the right bytes and take the cycles predicted. Random graphs: tests/property.
#include "plan/space/schedule_space.h"

#include <doctest/doctest.h>

#include "support/network_plan.h"
#include "zoo/network.h"
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

// Layers whose weights take longer to load than their tiles to compute. Cutting the tiles
// would cost energy and gain nothing: their time is hidden behind the next layer's loads.
// Only near the end, where nothing is loaded behind them, parts of channels gain.
TEST_CASE("space: what tiles take is hidden behind later loads") {
  for (const int images : {8, 32}) {
    CAPTURE(images);
    sluice::zoo::ZooOptions batch;
    batch.batch = images;
    NetworkPlan n(sluice::zoo::MakeZooGraph("mlp_l", batch), "soma-edge");
    REQUIRE(n.ok);
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK);
    const double product = n.Product();
    REQUIRE(n.Schedule(SLUICE_SOLVER_FUSION, 0) == SLUICE_OK);
    CHECK(product < 1.003 * n.Product());
  }
}

// 512 tokens from 3,072 to 768 channels. The sums leave little room for operands, which are
// loaded in whole passes of the array; operands that change in every iteration are loaded
// before those that wait for the previous tile.
TEST_CASE("space: a projection's sums take the scratchpad, and its operands stream") {
  sluice::zoo::Network net("projection");
  const auto x = net.Input("x", {512, 1, 1, 3072});
  NetworkPlan n(net.Finish(FullyConnected(&net, "down", x, 768, false)), "mcu-256k");
  REQUIRE(n.ok);
  n.delay_exponent = 1;
  constexpr double kLeast = 512.0 * 3072 * 768 / 128;
  struct {
    uint64_t bytes;
    double most;
  } const rows[] = {{262144, 1.31}, {65536, 2.6}, {32768, 3.7}};
  for (const auto& row : rows) {
    CAPTURE(row.bytes);
    REQUIRE(n.Schedule(SLUICE_SOLVER_DEFAULT, row.bytes) == SLUICE_OK);
    CHECK(n.Verify() == SLUICE_OK);
    CHECK(static_cast<double>(n.report.latency_cycles) < row.most * kLeast);
  }
}

}  // namespace
}  // namespace sluice_test
