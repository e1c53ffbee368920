// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/fitted.h"
#include "support/setting.h"

namespace sluice::import {
namespace {

using sluice_test::FitNet;
using sluice_test::Fitted;
using sluice_test::OnHost;

constexpr uint8_t kInt8 = SLUICE_DTYPE_INT8, kUint8 = SLUICE_DTYPE_UINT8;

// One layer that is no product, whose numbers may be 128 less, or may not.
uint32_t Between(FitNet* net, uint32_t t, uint32_t which) {
  const Extents e = net->Of(t);
  const Dims dims(e.begin(), e.end());
  const std::vector<int32_t> pool = {2, 2, 1, 1, 1, 1, 0, 0, 3, 240};
  const auto scale = [&] { return 1 << 30; };
  switch (which) {
    case 0:
      return net->Made(SLUICE_OP_MAX_POOL, {t}, kUint8, dims, pool);
    case 1:
      return net->Made(SLUICE_OP_AVERAGE_POOL, {t}, kUint8, dims, pool);
    case 2:
      return net->Made(SLUICE_OP_ADD, {t, net->Bytes8(kUint8, {1, 1, 1, e[3]})}, kUint8,
                       dims,
                       {8, 7, scale(), 0, 200, scale(), -1, 90, scale(), -7, 0, 255});
    case 3:
      return net->Made(SLUICE_OP_MUL, {t, t}, kUint8, dims,
                       {0, 100, 0, 0, 120, 0, 0, 80, scale(), -5, 2, 251});
    case 4:
      return net->Made(SLUICE_OP_MINIMUM, {t, net->Bytes8(kUint8, {1, 1, 1, e[3]})},
                       kUint8, dims, {});
    case 5:
      return net->Made(SLUICE_OP_REQUANTIZE, {t}, kUint8, dims,
                       {60, scale(), 0, 140, 10, 250});
    case 6: {
      const uint32_t table = net->Bytes8(kUint8, {256});
      return net->Made(SLUICE_OP_LOOKUP, {t, table}, kUint8, dims, {});
    }
    case 7:
      return net->Made(SLUICE_OP_SOFTMAX, {t}, kUint8, dims, {1 << 30, 20, -2000});
    case 8:
      return net->Made(SLUICE_OP_CONCAT, {t, t}, kUint8, {e[0], e[1], e[2], 2 * e[3]},
                       {3});
    case 9:
      return net->Made(SLUICE_OP_SLICE, {t}, kUint8, {e[0], e[1], e[2], e[3] - 1},
                       {0, 0, 0, 1});
    case 10:
      return net->Made(SLUICE_OP_PAD, {t}, kUint8, {e[0], e[1] + 2, e[2], e[3]},
                       {0, 1, 0, 0, 77});
    case 11:
      return net->Made(SLUICE_OP_TRANSPOSE, {t}, kUint8, {e[0], e[2], e[1], e[3]},
                       {0, 2, 1, 3});
    case 12:
      return net->Made(SLUICE_OP_RESIZE_NEAREST, {t}, kUint8,
                       {e[0], 2 * e[1], 2 * e[2], e[3]}, {0, 1});
    case 13:
      return net->Made(SLUICE_OP_RESIZE_BILINEAR, {t}, kUint8,
                       {e[0], 2 * e[1], 2 * e[2], e[3]}, {0, 1});
    case 14:
      return net->Made(SLUICE_OP_PRELU, {t, net->Bytes8(kUint8, {1, 1, 1, e[3]})},
                       kUint8, dims, {90, 130, 100, scale(), 0, scale(), -7, 0, 255});
    case 15:
      return net->Made(SLUICE_OP_REDUCE, {t}, kUint8, {e[0], 1, e[2], e[3]},
                       {2, 0, 110, 120, scale(), -2, 0, 255});
    case 16:
      return net->Made(SLUICE_OP_REDUCE, {t}, kUint8, {e[0], 1, e[2], e[3]}, {2, 1});
    case 17:
      return net->Made(SLUICE_OP_HARD_SWISH, {t}, kUint8, dims,
                       {100, 90, 20000, -2, 22000, 1});
    default:
      return net->Made(SLUICE_OP_RESHAPE, {t}, kUint8, {e[0], e[1], 1, e[2] * e[3]},
                       {});
  }
}
constexpr uint32_t kBetween = 19;

constexpr FitNet::Window kThree = {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};

TEST_CASE("fit signed: uint8 networks have products of int8, and the same bytes") {
  const uint64_t cases = sluice_test::Setting("SLUICE_FIT_CASES", 60);
  for (uint32_t seed = 0; seed < cases; ++seed) {
    CAPTURE(seed);
    FitNet net(seed);
    uint32_t t = net.Input(kUint8, {1, 6, 7, 4});
    const auto types = [&] { return FitNet::Types{kUint8, kUint8, net.Any(100, 140)}; };
    t = net.Conv(t, kThree, 4, false, 1, types());
    for (uint32_t i = 0; i < 3; ++i)
      t = Between(&net, t, (seed + 7 * i * net.Any(1, 5)) % kBetween);
    const uint32_t end = net.Conv(t, kThree, 5, false, 1, types());
    if (seed % 3 == 0) net.Close(t);  // an output that is read inside
    net.Close(end);
    const GraphRows rows = Fitted(net);
    CHECK(OnHost(rows) == 0);
  }
}

TEST_CASE("fit signed: numbers that two products share need no layer between them") {
  FitNet net(5);
  const FitNet::Types types = {kUint8, kUint8, 128};
  const uint32_t first =
      net.Conv(net.Input(kUint8, {1, 6, 6, 4}), kThree, 4, false, 1, types);
  const uint32_t pool = Between(&net, first, 0);
  net.Close(net.Conv(pool, kThree, 4, false, 1, types));
  const GraphRows rows = Fitted(net);
  // One where the input comes in, one where the output leaves.
  CHECK(rows.layers.size() == 5);
}

TEST_CASE("fit signed: two activations of uint8") {
  FitNet net(9);
  const uint32_t a = net.Input(kUint8, {1, 2, 5, 8}),
                 b = net.Input(kUint8, {1, 2, 8, 3});
  net.Close(net.Matmul(a, b, false, 117, kUint8));
  CHECK(OnHost(Fitted(net)) == 0);
}

TEST_CASE("fit signed: a constant whose bytes are elsewhere stays") {
  FitNet net(2);
  const uint32_t t = net.Input(kUint8, {1, 6, 6, 4});
  const uint32_t seeded = net.graph.AddSeeded("", kUint8, {1, 1, 1, 4}, 7);
  const uint32_t smaller =
      net.Made(SLUICE_OP_MINIMUM, {t, seeded}, kUint8, {1, 6, 6, 4}, {});
  net.Close(net.Conv(smaller, kThree, 4, false, 1, {kUint8, kInt8, 128}));
  const GraphRows rows = Fitted(net);
  CHECK(OnHost(rows) == 1);
}

}  // namespace
}  // namespace sluice::import
