// SPDX-License-Identifier: Apache-2.0
#include "plan/operators/repeat_cost.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/plan/operators/small_run.h"

namespace sluice {
namespace {

TEST_CASE(
    "repeat cost: bytes that move in the cycles, or for the energy, of the layer") {
  // The requantisation of 32 bytes: two cycles of 16 operations.
  sluice_test::SmallRun run(4096, sluice_test::Residual());
  Hardware& h = run.n.hardware;
  std::vector<MemoryLevel> levels(h.levels.begin(), h.levels.end());
  h.levels = {levels.data(), levels.size()};
  MemoryLevel& pad = levels[h.scratchpad_level];
  pad.read_pj_per_bit = pad.write_pj_per_bit = 0;
  h.vector_op_pj = h.mac_pj = h.leakage_pj_per_cycle = 0;
  const auto cost = [&] {
    return RepeatCost({run.coster, h, run.n.graph, run.n.graph.layers[0], 0});
  };
  levels.back().bandwidth = {3, 1};
  CHECK(cost() == 2 * 3 + 1);
  levels.back().bandwidth = {3, 2};
  CHECK(cost() == 3 + 1);
  levels.back().read_pj_per_bit = 1;
  levels.back().write_pj_per_bit = 2;
  h.vector_op_pj = 10;
  CHECK(cost() == 32 * 10 / 8 + 1);
  h.leakage_pj_per_cycle = 80;
  CHECK(cost() == (32 * 10 + 2 * 80) / 8 + 1);
  pad.write_pj_per_bit = 1;  // 32 bytes in, 32 out
  CHECK(cost() >= (32 * 10 + 2 * 80) / 8 + 64);
  levels.back().read_pj_per_bit = 0;
  CHECK(cost() == -1);
}

}  // namespace
}  // namespace sluice
