// SPDX-License-Identifier: Apache-2.0
#include "import/machine_fit.h"

#include <doctest/doctest.h>

#include "import/error.h"
#include "import/fitted.h"

namespace sluice::import {
namespace {

using sluice_test::FitNet;
using sluice_test::Gemmini;

constexpr uint8_t kInt8 = SLUICE_DTYPE_INT8;
constexpr FitNet::Window kThree = {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};

FitNet OneConv(int32_t weight_zero) {
  FitNet net(3);
  const uint32_t in = net.Input(kInt8, {1, 6, 6, 4});
  net.Close(net.Conv(in, kThree, 4, false, 1, {kInt8, kInt8, weight_zero}));
  return net;
}

TEST_CASE("machine fit: what the machine takes, field by field") {
  const Units units(Gemmini());
  CHECK(units.IsPartial());
  const UnitNeeds fits = {SLUICE_OP_DEPTHWISE_CONV, 1u << kInt8, 5, 16, 16, 4, 2};
  CHECK(units.Takes(fits));
  UnitNeeds needs = fits;
  needs.dtypes |= 1u << SLUICE_DTYPE_UINT8;
  CHECK_FALSE(units.Takes(needs));
  needs = fits;
  needs.zero_points |= 2;
  CHECK_FALSE(units.Takes(needs));
  needs = fits;
  needs.kernel_h = 17;
  CHECK_FALSE(units.Takes(needs));
  needs = fits;
  needs.op = SLUICE_OP_TRANSPOSED_CONV;
  CHECK_FALSE(units.Takes(needs));
}

TEST_CASE("machine fit: a graph whose products the machine takes stays as it is") {
  FitNet net = OneConv(0);
  GraphRows rows = ReadRows(net.graph.Finish());
  FitMachine(Gemmini(), 1 << 20, &rows);
  CHECK(WriteRows(rows) == net.graph.Finish());
  // A machine that names nothing does everything.
  net = OneConv(4);
  rows = ReadRows(net.graph.Finish());
  FitMachine(presets::LoadPreset("soma-edge"), 1 << 20, &rows);
  CHECK(WriteRows(rows) == net.graph.Finish());
}

TEST_CASE("machine fit: the old weight is left out") {
  const FitNet net = OneConv(-128);
  const GraphRows rows = sluice_test::Fitted(net);
  uint64_t constants = 0;
  for (const TensorRow& row : rows.tensors) constants += row.kind == Kind::kConstant;
  CHECK(constants == 2);
  CHECK(rows.constants.size() == 4u * 3 * 3 * 4 * 3 + 4 * 3 * 4);
}

TEST_CASE("machine fit: constants beyond the limit, bytes that are no machine") {
  FitNet net = OneConv(-128);
  GraphRows rows = ReadRows(net.graph.Finish());
  CHECK_THROWS_AS(FitMachine(Gemmini(), 256, &rows), Error);
  rows = ReadRows(net.graph.Finish());
  CHECK_THROWS_AS(FitMachine({1, 2, 3}, 1 << 20, &rows), Error);
}

}  // namespace
}  // namespace sluice::import
