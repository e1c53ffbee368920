// SPDX-License-Identifier: Apache-2.0
#include "import/fitted.h"
#include "support/setting.h"

namespace sluice::import {
namespace {

using sluice_test::FitNet;
using sluice_test::Fitted;
using sluice_test::OnHost;

constexpr uint8_t kInt8 = SLUICE_DTYPE_INT8, kUint8 = SLUICE_DTYPE_UINT8;

uint32_t Cases() {
  return static_cast<uint32_t>(sluice_test::Setting("SLUICE_FIT_CASES", 60));
}

FitNet::Types AnyTypes(FitNet* net, uint8_t out) {
  const uint8_t weight = net->Any(0, 1) != 0 ? kInt8 : kUint8;
  // Ends of the range have differences that two int8 numbers do not hold.
  const int32_t low = FitNet::Low(weight);
  const int32_t zero = net->Any(0, 3) == 0 ? low : low + net->Any(0, 255);
  return {weight, out, zero};
}

// Layers of an operator that computes `op` and is not the machine's.
size_t Count(const GraphRows& rows, uint16_t op) {
  size_t count = 0;
  for (const LayerRow& layer : rows.layers) count += layer.op == op ? 1 : 0;
  return count;
}

TEST_CASE("fit products: convolutions by weights less a zero point") {
  for (uint32_t seed = 0; seed < Cases(); ++seed) {
    CAPTURE(seed);
    FitNet net(seed);
    const uint32_t in = net.Input(
        kInt8, {net.Any(1, 2), net.Any(7, 10), net.Any(7, 10), 4 * net.Any(1, 2)});
    const bool depthwise = seed % 3 == 0;
    const FitNet::Window w = net.AnyWindow(3, true);
    const int32_t groups = depthwise || net.Any(0, 1) != 0 ? 1 : 2;
    net.Close(net.Conv(in, w, 6, depthwise, groups, AnyTypes(&net, kInt8)));
    const GraphRows rows = Fitted(net);
    // Both axes dilated and channels apart: there is nowhere for a row to stand twice.
    const bool spreads =
        w.dilation[0] == 1 || w.dilation[1] == 1 || (!depthwise && groups == 1);
    if (spreads) CHECK(OnHost(rows) == 0);
  }
}

TEST_CASE("fit products: a window as large as its image has another form") {
  for (const int32_t rows : {32, 30, 64}) {
    for (const int32_t columns : {1, 2}) {
      FitNet net(static_cast<uint32_t>(rows));
      const uint32_t in = net.Input(kInt8, {2, rows, columns, 6});
      const FitNet::Window w = {{rows, columns}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
      net.Close(net.Conv(in, w, 0, true, 1, {kInt8, kInt8, columns - 1}));
      CHECK(OnHost(Fitted(net)) == 0);
    }
  }
  // 17 rows have no other form.
  FitNet net(1);
  const uint32_t in = net.Input(kInt8, {1, 17, 1, 6});
  const FitNet::Window w = {{17, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  net.Close(net.Conv(in, w, 0, true, 1, {kInt8, kInt8, 0}));
  CHECK(OnHost(Fitted(net)) == 1);
}

TEST_CASE("fit products: rows by weights less a zero point") {
  for (uint32_t seed = 0; seed < Cases(); ++seed) {
    CAPTURE(seed);
    FitNet net(seed);
    const uint32_t in =
        net.Input(kInt8, {1, net.Any(1, 2), net.Any(1, 5), net.Any(1, 40)});
    net.Close(net.Fc(in, net.Any(1, 9), AnyTypes(&net, kInt8)));
    CHECK(OnHost(Fitted(net)) == 0);
  }
}

TEST_CASE("fit products: transposed convolutions are convolutions to several pixels") {
  for (uint32_t seed = 0; seed < 2 * Cases(); ++seed) {
    CAPTURE(seed);
    FitNet net(seed);
    const uint32_t in =
        net.Input(kInt8, {net.Any(1, 2), net.Any(3, 6), net.Any(3, 6), net.Any(1, 5)});
    FitNet::Window w = net.AnyWindow(5, false);
    for (size_t side = 0; side < 2; ++side)
      w.stride[side] = std::min(w.stride[side], w.size[side]);
    const FitNet::Types types =
        seed % 2 == 0 ? FitNet::Types{kInt8, kInt8, 0} : AnyTypes(&net, kInt8);
    net.Close(net.Transposed(in, w, net.Any(1, 5), types));
    const GraphRows rows = Fitted(net);
    CHECK(OnHost(rows) == 0);
    CHECK(Count(rows, SLUICE_OP_TRANSPOSED_CONV) == 0);
  }
}

TEST_CASE("fit products: a second operand less its zero point") {
  for (uint32_t seed = 0; seed < Cases(); ++seed) {
    CAPTURE(seed);
    FitNet net(seed);
    const int32_t heads = net.Any(1, 3), m = net.Any(1, 6), c = net.Any(1, 20),
                  k = net.Any(1, 7);
    const bool transposed = seed % 2 != 0;
    const uint32_t a = net.Input(kInt8, {1, heads, m, c}),
                   b = net.Input(
                       kInt8, transposed ? Dims{1, heads, k, c} : Dims{1, heads, c, k});
    const int32_t zero = seed % 5 == 0 ? -128 : net.Zero(kInt8);
    net.Close(net.Matmul(a, b, transposed, zero, kInt8));
    CHECK(OnHost(Fitted(net)) == 0);
  }
}

TEST_CASE("fit products: what has no other form stays the host's") {
  FitNet net(1);
  const uint32_t in = net.Input(kInt8, {1, 8, 8, 4});
  const FitNet::Window dilated = {{2, 2}, {1, 1}, {2, 2}, {0, 0}, {0, 0}};
  net.Close(net.Conv(in, dilated, 4, true, 1, {kInt8, kInt8, -128}));
  const GraphRows rows = Fitted(net);
  CHECK(OnHost(rows) == 1);
  CHECK(rows.layers.size() == 1);
}

}  // namespace
}  // namespace sluice::import
