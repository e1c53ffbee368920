// SPDX-License-Identifier: Apache-2.0
// What matrix products load again, worked out by hand and compared with all tilings.
#include "model/reuse_bound.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

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
double ReuseOf(const GraphSpec& spec, int64_t room = kRoom, double mac = 1,
               uint32_t columns = 1) {
  sluice_test::HardwareSpec h;
  h.scratchpad_bytes = static_cast<uint64_t>(room);
  sluice_test::Nouns n(spec, h);
  n.hardware.node_cols = columns;
  Needs needs(&n.arena);
  REQUIRE(FindNeeds(n.graph, &n.arena, &needs) == Status::kOk);
  const ReusePrice prices[] = {{0, 1}, {1, mac}, {3, 3 * mac}};
  double again[] = {-1, -1, -1};
  const Arena::Mark before = n.arena.mark();
  REQUIRE(FindReuse({n.graph, needs, room * columns}, {prices, 3}, &n.arena, again) ==
          Status::kOk);
  CHECK(n.arena.mark().used == before.used);
  CHECK(again[0] == 0);
  CHECK(again[2] == doctest::Approx(3 * again[1]));
  return again[1];
}

double ByHand(int64_t pad = kRoom) {
  const double side = kSide, room = static_cast<double>(pad) + 16;
  return 2 * side * side * side / std::sqrt(room) - 2 * room - 3 * side * side;
}

TEST_CASE("reuse: two products load again what Loomis and Whitney say") {
  REQUIRE(ByHand() > 20000);
  CHECK(ReuseOf(Products(5)) == doctest::Approx(2 * ByHand()));
  // Weights that both read count for the first.
  CHECK(ReuseOf(Products(1)) == doctest::Approx(ByHand()));
  // MACs without energy make the second product's rows again for nothing.
  CHECK(ReuseOf(Products(5), kRoom, 0) == doctest::Approx(ByHand()));
  const double cheap = ReuseOf(Products(5), kRoom, 1.0 / 512);
  CHECK(cheap >= ByHand() * (1 - 1e-9));
  CHECK(cheap <= 2 * ByHand());
}

TEST_CASE("reuse: all nodes of a mesh together are one scratchpad") {
  CHECK(ReuseOf(Products(5), kRoom, 1, 2) == doctest::Approx(2 * ByHand(2 * kRoom)));
  CHECK(ReuseOf(Products(5), kRoom, 1, 1024) == 0);
}

// Queries, keys and values: three products of one input.
TEST_CASE("reuse: products of one input let it in once for all of them") {
  GraphSpec g = Products(5);
  const int32_t side = kSide;
  g.layers.resize(1);
  g.tensors[3].kind = 2;
  g.tensors[6] = {{1, 1, side, side}, kI8, 2};
  g.layers.push_back({SLUICE_OP_FULLY_CONNECTED, {0, 5, 2}, {6}, {}});
  const double matrix = double{kSide} * kSide, room = kRoom + 16;
  CHECK(ReuseOf(g) == doctest::Approx(2 * ByHand() + matrix + 2 * room));
  // The same weights cannot say which of two products a MAC belongs to.
  g.layers[1].inputs[1] = 1;
  CHECK(ReuseOf(g) == doctest::Approx(ByHand()));
}

TEST_CASE("reuse: what fits, and other roots, load nothing again") {
  CHECK(ReuseOf(Products(5), int64_t{1} << 20) == 0);
  GraphSpec g = Products(5);
  // A sum of windows in front of the second product is cheap to make.
  g.layers[1] = {SLUICE_OP_MAX_POOL, {3}, {4}, {1, 1, 1, 1}};
  CHECK(ReuseOf(g) == doctest::Approx(ByHand()));
}

// A convolution of `side` squared pixels with pads, three by three taps apart by `dilation`.
GraphSpec Windows(int32_t side, int32_t channels, int32_t stride, int32_t dilation) {
  GraphSpec g;
  const int32_t out = (side - 1) / stride + 1, pad = dilation;
  g.tensors = {{{1, side, side, channels}, kI8, 1},
               {{channels, 3, 3, channels}, kI8, 3, 3, 1},
               {{channels, 3}, kI32, 3, 3, 2},
               {{1, out, out, channels}, kI8, 2}};
  g.layers.push_back({SLUICE_OP_CONV,
                      {0, 1, 2},
                      {3},
                      {stride, stride, dilation, dilation, pad, pad, pad, pad}});
  return g;
}

// What is loaded again by tiles of h by w pixels, k filters and c channels, where the operand
// that lacks the inner loop stays. Counts each element of a tile's window, without those on
// pads; sums come back as bytes.
struct Loop {
  int32_t side, channels, stride, dilation;

  // Rows (or columns) of the input that tiles of `tile` outputs read, added up.
  double Read(int32_t tile) const {
    const int32_t out = (side - 1) / stride + 1;
    double read = 0;
    for (int32_t o = 0; o < out; o += tile) {
      std::vector<bool> seen(static_cast<size_t>(side));
      for (int32_t i = o; i < std::min(o + tile, out); ++i) {
        for (int32_t t = -1; t <= 1; ++t) {
          const int32_t at = i * stride + t * dilation;
          if (at >= 0 && at < side) seen[static_cast<size_t>(at)] = true;
        }
      }
      read += static_cast<double>(std::count(seen.begin(), seen.end(), true));
    }
    return read;
  }
  double Again(int32_t h, int32_t w, int32_t k, int32_t c, double room) const {
    const double out = (side - 1) / stride + 1, all = channels;
    const double tiles = std::ceil(out / h) * std::ceil(out / w);
    const double patches = Read(h) * Read(w), once = Read(side) * Read(side) * all;
    const double by_k = std::ceil(all / k), by_c = std::ceil(all / c);
    // Of all tiles the average patch, which the largest is not smaller than.
    if (patches / tiles * c + 9.0 * k * c + 1.0 * h * w * k > room) return 1e18;
    const double a = patches * all, b = 9 * all * all,
                 sums = (by_c - 1) * out * out * all;
    return std::min({a * by_k + b * tiles, a + b * tiles + sums, a * by_k + b + sums}) -
           once - b;
  }
};

TEST_CASE("reuse: no tiling of a convolution with windows loads less") {
  int bounded = 0;
  for (const Loop& loop : {Loop{10, 24, 1, 1}, Loop{12, 24, 2, 1}, Loop{14, 20, 1, 2},
                           Loop{15, 16, 2, 2}, Loop{8, 40, 1, 1}}) {
    for (const int room : {64, 128, 256, 512}) {
      double least = 1e18;
      for (int h = 1; h <= loop.side; ++h) {
        for (int w = 1; w <= loop.side; ++w) {
          for (int k = 1; k <= loop.channels; ++k) {
            for (int c = 1; 9 * k * c <= room && c <= loop.channels; ++c) {
              least = std::min(least, loop.Again(h, w, k, c, room));
            }
          }
        }
      }
      const double bound =
          ReuseOf(Windows(loop.side, loop.channels, loop.stride, loop.dilation), room);
      CAPTURE(room);
      CAPTURE(loop.channels);
      CHECK(bound <= least);
      bounded += bound > 0.2 * least ? 1 : 0;
    }
  }
  CHECK(bounded >= 4);
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
