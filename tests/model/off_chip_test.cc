// SPDX-License-Identifier: Apache-2.0
// Where bytes lie off chip and what it takes to move them, counted by hand.
#include "model/off_chip.h"

#include <doctest/doctest.h>

#include "support/read_graph.h"

namespace sluice_test {
namespace {

// A fully connected layer; its weights are 64 x 32 bytes.
GraphSpec Product(uint64_t encoded) {
  GraphSpec g;
  const std::vector<int32_t> attributes = {1, 1, 1, 1, 0, 0,    0,
                                           0, 1, 0, 0, 0, -128, 127};
  g.tensors = {{{4, 32}, SLUICE_DTYPE_INT8, 1},
               {{64, 32}, SLUICE_DTYPE_INT8, 3, 3, 1, encoded},
               {{64, 3}, SLUICE_DTYPE_INT32, 3, 3, 2},
               {{4, 64}, SLUICE_DTYPE_INT8, 2}};
  g.layers = {{SLUICE_OP_FULLY_CONNECTED, {0, 1, 2}, {3}, attributes}};
  return g;
}

// DRAM: 4 bytes per cycle, 10 pJ per bit. A flash with constants: 2 bytes in 3 cycles. A
// memory with inputs and outputs: 8 bytes per cycle.
HardwareSpec Machine() {
  HardwareSpec h;
  MemorySpec flash, near;
  flash.read_only = true;
  flash.latency_cycles = 7;
  flash.numerator = 2;
  flash.denominator = 3;
  flash.read_pj = 30;
  near.regions = 1u << SLUICE_REGION_INPUT | 1u << SLUICE_REGION_OUTPUT;
  near.numerator = 8;
  near.read_pj = 2;
  near.write_pj = 20;
  h.memories = {flash, near};
  return h;
}

TEST_CASE(
    "off chip: each region lies in the memory that names it, else in the last level") {
  const Nouns n(Product(0), Machine());
  CHECK(sluice::HoldCycles(n.hardware, SLUICE_REGION_CONST, 9) == 14);  // 9 * 3 / 2
  CHECK(sluice::HoldCycles(n.hardware, SLUICE_REGION_INPUT, 9) == 2);
  CHECK(sluice::HoldCycles(n.hardware, SLUICE_REGION_OUTPUT, 9) == 2);
  CHECK(sluice::HoldCycles(n.hardware, SLUICE_REGION_WORKSPACE, 9) == 3);
  CHECK(sluice::HomeLatency(n.hardware, SLUICE_REGION_CONST) == 7);
  CHECK(sluice::HomeLatency(n.hardware, SLUICE_REGION_STATE) == 0);
  CHECK(sluice::RegionOf(sluice::TensorKind::kConstant) == SLUICE_REGION_CONST);
  CHECK(sluice::RegionOf(sluice::TensorKind::kIntermediate) == SLUICE_REGION_WORKSPACE);
  CHECK(sluice::RegionOf(sluice::TensorKind::kState) == SLUICE_REGION_STATE);
}

TEST_CASE("off chip: a part of an encoded tensor moves its share, rounded up") {
  const Nouns n(Product(1000), HardwareSpec());  // of 2,048 bytes
  const sluice::Tensor& weights = n.graph.tensors[1];
  CHECK(sluice::MovedBytes(weights, 2048) == 1000);
  CHECK(sluice::MovedBytes(weights, 1024) == 500);
  CHECK(sluice::MovedBytes(weights, 1) == 1);
  CHECK(sluice::MovedBytes(weights, 3) == 2);
  CHECK(sluice::MovedBytes(n.graph.tensors[2], 3) == 3);
  CHECK(sluice::PortShare(n.hardware, weights) == doctest::Approx(1000.0 / 2048));
  CHECK_FALSE(sluice::AllAlike(n.graph, n.hardware));
  const Nouns plain(Product(0), HardwareSpec());
  CHECK(sluice::AllAlike(plain.graph, plain.hardware));
  CHECK(sluice::PortShare(plain.hardware, plain.graph.tensors[1]) == 1);
}

TEST_CASE(
    "off chip: bounds count constants where they lie, the rest where it costs least") {
  const Nouns n(Product(0), Machine());
  const sluice::MemoryLevel least = sluice::CheapestHome(n.hardware);
  CHECK(least.bandwidth.numerator == 8);
  CHECK(least.read_pj_per_bit == 2);
  CHECK(least.write_pj_per_bit == 10);
  CHECK(sluice::LeastHold(n.hardware, 20, 4) == 6 + 2);
  CHECK(sluice::PortShare(n.hardware, n.graph.tensors[1]) == doctest::Approx(6));
  CHECK(sluice::PortShare(n.hardware, n.graph.tensors[3]) == doctest::Approx(0.5));
  const Nouns plain(Product(0), HardwareSpec());
  CHECK(sluice::LeastHold(plain.hardware, 20, 4) == 5);
}

}  // namespace
}  // namespace sluice_test
