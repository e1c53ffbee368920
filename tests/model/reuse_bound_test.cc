// SPDX-License-Identifier: Apache-2.0
// What matrix products load again, worked out by hand and compared with all tilings.
#include "model/reuse_bound.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "support/random_graph.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;

using sluice_test::kI32;
using sluice_test::kI8;
constexpr int32_t kSide = 96;
constexpr int64_t kRoom = 1024;

// An input of 96 rows times two matrices of 96x96, with a softmax between them.
GraphSpec Products(uint32_t second_weights) {
  GraphSpec g;
  g.tensors = {{{1, 1, kSide, kSide}, kI8, 1}, {{kSide, kSide}, kI8, 3, 3, 1},
               {{kSide, 3}, kI32, 3, 3, 2},    {{1, 1, kSide, kSide}, kI8, 0},
               {{1, 1, kSide, kSide}, kI8, 0}, {{kSide, kSide}, kI8, 3, 3, 3},
               {{1, 1, kSide, kSide}, kI8, 2}};
  g.layers.push_back({SLUICE_OP_FULLY_CONNECTED, {0, 1, 2}, {3}, {}});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {3}, {4}, {}});
  g.layers.push_back({SLUICE_OP_FULLY_CONNECTED, {4, second_weights, 2}, {6}, {}});
  return g;
}

// Bytes loaded again. Without `mac_pj` a MAC takes as much energy as loading a byte.
double ReuseOf(const GraphSpec& spec, int64_t room = kRoom, double mac_pj = -1,
               uint32_t columns = 1) {
  sluice_test::HardwareSpec h;
  h.scratchpad_bytes = static_cast<uint64_t>(room);
  sluice_test::Nouns n(spec, h);
  n.hardware.node_cols = columns;
  if (mac_pj >= 0) n.hardware.mac_pj = mac_pj;
  const double load = 8 * (n.hardware.dram().read_pj_per_bit +
                           n.hardware.scratchpad().write_pj_per_bit);
  REQUIRE(load > 0);
  if (mac_pj < 0) n.hardware.mac_pj = load;
  Needs needs(&n.arena);
  REQUIRE(FindNeeds(n.graph, &n.arena, &needs) == Status::kOk);
  double pj = -1;
  const Arena::Mark before = n.arena.mark();
  REQUIRE(EnergyOfReuse(n.graph, n.hardware, needs, &n.arena, &pj) == Status::kOk);
  CHECK(n.arena.mark().used == before.used);
  return pj / load;
}

double ByHand() {
  const double side = kSide, room = kRoom + 16;
  return 2 * side * side * side / std::sqrt(room) - 2 * room - 3 * side * side;
}

TEST_CASE("reuse: two products load again what Loomis and Whitney say") {
  REQUIRE(ByHand() > 20000);
  CHECK(ReuseOf(Products(5)) == doctest::Approx(2 * ByHand()));
  // Weights that both read count for the first.
  CHECK(ReuseOf(Products(1)) == doctest::Approx(ByHand()));
  // MACs without energy make the second product's rows again for nothing.
  CHECK(ReuseOf(Products(5), kRoom, 0) == doctest::Approx(ByHand()));
  const double cheap = ReuseOf(Products(5), kRoom, 1);
  CHECK(cheap >= ByHand() * (1 - 1e-9));
  CHECK(cheap <= 2 * ByHand());
}

TEST_CASE("reuse: what fits, meshes and other roots load nothing again") {
  CHECK(ReuseOf(Products(5), int64_t{1} << 20) == 0);
  CHECK(ReuseOf(Products(5), kRoom, -1, 2) == 0);
  GraphSpec g = Products(5);
  // A sum of windows in front of the second product is cheap to make.
  g.layers[1] = {SLUICE_OP_MAX_POOL, {3}, {4}, {1, 1, 1, 1}};
  CHECK(ReuseOf(g) == doctest::Approx(ByHand()));
}

TEST_CASE("reuse: no tiling and order of loops loads less") {
  double least = 1e18;
  const double side = kSide;
  for (int m = 1; m <= kSide; ++m) {
    for (int n = 1; n <= kSide; ++n) {
      for (int k = 1; k <= kSide; ++k) {
        const int held = m * k + k * n + m * n;
        if (held > kRoom) break;
        // Tiles of each operand come once per tile of the loop that they lack, but for
        // the operand that stays through the inner loop.
        const double by_m = std::ceil(side / m), by_n = std::ceil(side / n),
                     by_k = std::ceil(side / k), matrix = side * side;
        const double sums_stay = (by_n + by_m - 2) * matrix;
        const double a_stays = (by_m - 1 + by_k - 1) * matrix;
        const double b_stays = (by_n - 1 + by_k - 1) * matrix;
        least = std::min({least, sums_stay, a_stays, b_stays});
      }
    }
  }
  CHECK(ByHand() <= least);
  CHECK(least < 3 * ByHand());
}

}  // namespace
}  // namespace sluice
