// SPDX-License-Identifier: Apache-2.0
// Which layers become the host's, for which reason, and how long they take on it:
// counted by hand from hardware.fbs.
#include "model/host.h"

#include <doctest/doctest.h>

#include <string>

#include "model/lowering.h"
#include "sluice/stream.h"
#include "support/read_graph.h"

namespace sluice_test {
namespace {

using sluice::FitToMachine;
using sluice::Status;
using sluice::WhyOnHost;

// conv 3x2, stride 2x1, dilation 1x3, int8 -> uint8, 4 channels; then an add.
struct Net {
  GraphSpec g;
  std::vector<int32_t> conv = std::vector<int32_t>(SLUICE_CONV_ATTRIBUTES);
  std::vector<int32_t> add = std::vector<int32_t>(SLUICE_BINARY_ATTRIBUTES);
  std::vector<int32_t> rows = {1, 5, 2, 3, 5, 2, 4, 5, 2, 0, 5, 2};

  GraphSpec Spec() {
    g.tensors = {{{1, 9, 9, 2}, SLUICE_DTYPE_INT8, 1},
                 {{4, 3, 2, 2}, SLUICE_DTYPE_INT8, 3, 3}};
    g.tensors.push_back(g.Inline({4, 3}, SLUICE_DTYPE_INT32, rows));
    g.tensors.push_back({{1, 4, 6, 4}, SLUICE_DTYPE_UINT8, 0});
    g.tensors.push_back({{1, 4, 6, 4}, SLUICE_DTYPE_UINT8, 2});
    conv[SLUICE_CONV_STRIDE_H] = 2;
    conv[SLUICE_CONV_STRIDE_W] = 1;
    conv[SLUICE_CONV_DILATION_H] = 1;
    conv[SLUICE_CONV_DILATION_W] = 3;
    g.layers = {{SLUICE_OP_CONV, {0, 1, 2}, {3}, conv},
                {SLUICE_OP_ADD, {3, 3}, {4}, add}};
    return g;
  }
};

uint32_t Why(const GraphSpec& g, const std::vector<OpSpec>& ops, uint32_t layer = 0) {
  HardwareSpec hardware;
  hardware.ops = ops;
  const Nouns n(g, hardware);
  return WhyOnHost(n.graph, n.hardware, n.graph.layers[layer]);
}

TEST_CASE("host: a row does a layer unless one of its limits forbids it") {
  const GraphSpec g = Net().Spec();
  const OpSpec conv = {SLUICE_OP_CONV};
  CHECK(Why(g, {}) == 0);
  CHECK(Why(g, {conv}) == 0);
  CHECK(Why(g, {conv}, 1) == SLUICE_WHY_OPERATOR);
  CHECK(Why(g, {{SLUICE_OP_ADD}}) == SLUICE_WHY_OPERATOR);
  struct Limit {
    uint32_t OpSpec::*field;
    uint32_t enough, little, why;
  };
  const Limit limits[] = {
      {&OpSpec::arithmetic, 7, 6, SLUICE_WHY_ARITHMETIC},
      {&OpSpec::dtypes, 6, 2, SLUICE_WHY_DTYPE},  // int8 and uint8
      {&OpSpec::dtypes, 6, 4, SLUICE_WHY_DTYPE},
      {&OpSpec::requantise, 2, 5, SLUICE_WHY_REQUANTISE},
      {&OpSpec::max_kernel_h, 3, 2, SLUICE_WHY_KERNEL},
      {&OpSpec::max_kernel_w, 2, 1, SLUICE_WHY_KERNEL},
      {&OpSpec::max_stride, 2, 1, SLUICE_WHY_STRIDE},
      {&OpSpec::max_dilation, 3, 2, SLUICE_WHY_DILATION},
  };
  for (const Limit& l : limits) {
    CAPTURE(l.why);
    OpSpec row = conv;
    row.*l.field = l.enough;
    CHECK(Why(g, {row}) == 0);
    row.*l.field = l.little;
    CHECK(Why(g, {row}) == l.why);
    CHECK(Why(g, {row, conv}) == 0);  // another row allows it
  }
  // Of several rows the one that fails the latest check gives the reason.
  OpSpec stride = conv, type = conv;
  stride.max_stride = 1;
  type.dtypes = 2;
  CHECK(Why(g, {stride, type}) == SLUICE_WHY_STRIDE);
  CHECK(Why(g, {type, stride}) == SLUICE_WHY_STRIDE);
}

TEST_CASE("host: channels may share a multiplier, and sums may stay as they are") {
  OpSpec row = {SLUICE_OP_CONV};
  const auto why = [&](const std::vector<int32_t>& rows, uint32_t requantise) {
    Net net;
    net.rows = rows;
    row.requantise = requantise;
    return Why(net.Spec(), {row});
  };
  const int32_t one = 1 << 30;
  const std::vector<int32_t> same = {1, 5, 2, 3, 5, 2, 4, 5, 2, 0, 5, 2};
  const std::vector<int32_t> shifts = {1, 5, 2, 3, 5, 2, 4, 5, 1, 0, 5, 2};
  const std::vector<int32_t> scales = {1, 5, 2, 3, 5, 2, 4, 5, 2, 0, 6, 2};
  const std::vector<int32_t> none = {9, one, 1, 3, one, 1, 4, one, 1, 0, one, 1};
  for (uint32_t bit : {1u, 2u, 4u}) {
    CAPTURE(bit);
    CHECK(why(none, bit) == (bit == 1 ? 0 : SLUICE_WHY_REQUANTISE));
    CHECK(why(same, bit) == (bit == 2 ? 0 : SLUICE_WHY_REQUANTISE));
    CHECK(why(shifts, bit) == (bit == 4 ? 0 : SLUICE_WHY_REQUANTISE));
    CHECK(why(scales, bit) == (bit == 4 ? 0 : SLUICE_WHY_REQUANTISE));
  }
  // Parameters that are not in the file are not known.
  GraphSpec g = Net().Spec();
  g.tensors[2] = {{4, 3}, SLUICE_DTYPE_INT32, 3, 3};
  row.requantise = 3;
  CHECK(Why(g, {row}) == SLUICE_WHY_REQUANTISE);
}

TEST_CASE("host: zero points count where they are not 0") {
  struct Zero {
    size_t attribute;
    uint32_t bit;
  };
  for (const Zero& z :
       {Zero{SLUICE_CONV_INPUT_ZERO, 1}, Zero{SLUICE_CONV_WEIGHT_ZERO, 2},
        Zero{SLUICE_CONV_OUTPUT_ZERO, 4}}) {
    Net net;
    net.conv[z.attribute] = -3;
    const GraphSpec g = net.Spec();
    OpSpec row = {SLUICE_OP_CONV};
    row.zero_points = z.bit;
    CHECK(Why(g, {row}) == 0);
    row.zero_points = 7 & ~z.bit;
    CHECK(Why(g, {row}) == SLUICE_WHY_ZERO_POINT);
  }
  Net net;
  net.add[SLUICE_BINARY_ZERO1] = 1;
  OpSpec row = {SLUICE_OP_ADD};
  row.zero_points = 5;
  CHECK(Why(net.Spec(), {row}, 1) == SLUICE_WHY_ZERO_POINT);
}

TEST_CASE("host: a call takes its own cycles, its bytes' and its work's") {
  Net net;
  HardwareSpec hardware;
  hardware.ops = {{SLUICE_OP_ADD}};
  hardware.host = HostSpec{1000, 7, 2, 10, 3};
  const Nouns n(net.Spec(), hardware);
  sluice::Memory memory(Nouns::Allocator(), 0);
  sluice::Arena arena(&memory);
  sluice::Graph fitted;
  sluice::Diagnostic d = {};
  REQUIRE(FitToMachine(n.graph, n.hardware, &arena, &fitted, &d) == Status::kOk);
  // The call moves 162 + 48 + 48 + 96 bytes and computes 96 outputs of 3 x 2 x 2 MACs.
  const int64_t bytes = 354, macs = 96 * 12;
  CHECK(sluice::HostCycles(fitted.layers[0]) ==
        1000 + (bytes * 2 + 6) / 7 + (macs * 3 + 9) / 10);
  CHECK(fitted.layers[0].op == SLUICE_OP_OPAQUE);
  CHECK(fitted.is_moved(0));
  CHECK(fitted.why[0] == SLUICE_WHY_OPERATOR);
  CHECK(fitted.given[0].op == SLUICE_OP_CONV);
  CHECK_FALSE(fitted.is_moved(1));
  CHECK(fitted.layers[1].op == SLUICE_OP_ADD);
  CHECK(sluice::WorkOfLayer(n.graph, n.graph.layers[0]) == macs);
}

TEST_CASE("host: a host that uses DRAM's port holds it for what it reads and writes") {
  for (const bool uses : {false, true}) {
    HardwareSpec hardware;
    hardware.dram_numerator = 7;
    hardware.dram_denominator = 2;
    hardware.ops = {{SLUICE_OP_ADD}};
    hardware.host = HostSpec{1000, 0, 1, 0, 1, 0, uses};
    const Nouns n(Net().Spec(), hardware);
    const sluice::Layer& layer = n.graph.layers[0];
    const sluice::HostTraffic traffic = sluice::HostTrafficOf(n.graph, layer);
    CHECK(traffic.read == 162 + 48 + 48);
    CHECK(traffic.written == 96);
    CHECK(sluice::HostHold(n.hardware, traffic.bytes()) ==
          (uses ? (354 * 2 + 6) / 7 : 0));
    // 10 pJ per bit, either way.
    CHECK(sluice::HostTrafficEnergy(n.hardware, traffic) == (uses ? 354 * 80 : 0));
  }
}

// A table of 50 rows of 3 bytes, of which 4 are taken by indices of 4 bytes.
TEST_CASE("host: a GATHER reads the rows that it takes, not its whole table") {
  GraphSpec g;
  g.tensors = {{{50, 3}, SLUICE_DTYPE_INT8, 3, 3},
               {{4}, SLUICE_DTYPE_INT32, 1},
               {{1, 1, 4, 3}, SLUICE_DTYPE_INT8, 2}};
  g.layers = {{SLUICE_OP_GATHER, {0, 1}, {2}, {}}};
  HardwareSpec hardware;
  hardware.ops = {{SLUICE_OP_ADD}};
  hardware.host = HostSpec{1000, 1, 1, 0, 1};
  const Nouns n(g, hardware);
  sluice::Memory memory(Nouns::Allocator(), 0);
  sluice::Arena arena(&memory);
  sluice::Graph fitted;
  sluice::Diagnostic d = {};
  REQUIRE(FitToMachine(n.graph, n.hardware, &arena, &fitted, &d) == Status::kOk);
  REQUIRE(fitted.is_moved(0));
  CHECK(sluice::HostCycles(fitted.layers[0]) == 1000 + 12 + 16 + 12);
  for (const sluice::Layer& layer : {n.graph.layers[0], fitted.layers[0]}) {
    const sluice::HostTraffic traffic = sluice::HostTrafficOf(n.graph, layer);
    CHECK(traffic.read == 12 + 16);
    CHECK(traffic.written == 12);
  }
}

TEST_CASE("host: free of charge a call still takes a cycle, at most 2^50 of them") {
  for (const uint64_t denominator : {uint64_t{1}, uint64_t{1} << 40}) {
    HardwareSpec hardware;
    hardware.ops = {{SLUICE_OP_ADD}};
    hardware.host = HostSpec{0, denominator == 1 ? 0u : 1u, denominator, 0, 1};
    GraphSpec g = Net().Spec();
    g.tensors[0].dims = {1, 99, 99, 2};
    g.tensors[3].dims = g.tensors[4].dims = {1, 49, 96, 4};
    const Nouns n(g, hardware);
    sluice::Memory memory(Nouns::Allocator(), 0);
    sluice::Arena arena(&memory);
    sluice::Graph fitted;
    sluice::Diagnostic d = {};
    REQUIRE(FitToMachine(n.graph, n.hardware, &arena, &fitted, &d) == Status::kOk);
    CHECK(sluice::HostCycles(fitted.layers[0]) ==
          (denominator == 1 ? 1 : int64_t{1} << 50));
  }
}

TEST_CASE("host: where there is none, a layer that needs it is named, and why") {
  HardwareSpec hardware;
  hardware.ops = {{SLUICE_OP_CONV}, {SLUICE_OP_ADD}};
  hardware.ops[1].dtypes = 2;
  const Nouns n(Net().Spec(), hardware);
  sluice::Memory memory(Nouns::Allocator(), 0);
  sluice::Arena arena(&memory);
  sluice::Graph fitted;
  sluice::Diagnostic d = {};
  CHECK(FitToMachine(n.graph, n.hardware, &arena, &fitted, &d) == Status::kUnsupported);
  CHECK(d.layer == 1);
  CHECK(std::string(d.message) ==
        "add: the machine's ops lack its types, and it has no host");
}

TEST_CASE("host: a PAD that its convolution takes over needs no row") {
  GraphSpec g = Net().Spec();
  g.tensors.push_back({{1, 8, 9, 2}, SLUICE_DTYPE_INT8, 1});
  g.tensors[0].kind = 0;  // the PAD adds a row of zeros above
  g.layers.insert(g.layers.begin(),
                  LayerSpec{SLUICE_OP_PAD, {5}, {0}, {0, 1, 0, 0, 0}});
  for (const bool conv : {true, false}) {
    CAPTURE(conv);
    HardwareSpec hardware;
    hardware.ops = {{SLUICE_OP_ADD}};
    if (conv) hardware.ops.push_back({SLUICE_OP_CONV});
    hardware.host = HostSpec{};
    const Nouns n(g, hardware);
    sluice::Memory memory(Nouns::Allocator(), 0);
    sluice::Arena arena(&memory);
    sluice::Graph fitted;
    sluice::Diagnostic d = {};
    REQUIRE(FitToMachine(n.graph, n.hardware, &arena, &fitted, &d) == Status::kOk);
    CHECK(fitted.is_moved(0) == !conv);
    CHECK(fitted.is_moved(1) == !conv);
  }
}

}  // namespace
}  // namespace sluice_test
