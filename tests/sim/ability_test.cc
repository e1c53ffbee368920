// SPDX-License-Identifier: Apache-2.0
// The simulator: engines do only what the machine can do, and the host only what it
// cannot; the host executes the reference kernels.
#include "firmware-sim/ability.h"

#include <doctest/doctest.h>

#include "judge_case.h"
#include "support/host_case.h"

namespace sluice_test {
namespace {

void CheckTrap(const Case& c, const std::string& code) {
  for (const bool functional : {false, true}) {
    const auto r = Judge(c, functional);
    CHECK_FALSE(r.ok);
    INFO(r.error);
    CHECK(r.error_code == code);
  }
}

TEST_CASE("ability: the simulator refuses a tile that the machine cannot do") {
  Case c = ConvCase();
  c.hardware.ops = {{SLUICE_OP_CONV}};
  CHECK(Judge(c).ok);
  c.hardware.ops[0].arithmetic = 2;
  CheckTrap(c, "tile");
  c.hardware.ops = {{SLUICE_OP_DEPTHWISE_CONV}};
  CheckTrap(c, "tile");
}

TEST_CASE("ability: the simulator executes a host call, in the cycles it declares") {
  const auto r = Judge(HostAddCase());
  INFO(r.error);
  CHECK(r.ok);
  CHECK(r.compared_bytes == 64);
  CHECK(r.mismatches == 0);
  CHECK(r.cycles == kHostAddCycles);
}

TEST_CASE("ability: the simulator refuses host calls that are not the host's") {
  Case c = HostAddCase();
  c.hardware.ops.push_back({SLUICE_OP_MINIMUM});
  CheckTrap(c, "host");
  c = HostAddCase();
  c.hardware.ops.clear();
  CheckTrap(c, "host");
  c = HostAddCase();
  c.hardware.host.reset();
  CheckTrap(c, "host");
  c = HostAddCase();
  HostCall(&c).why = SLUICE_WHY_DTYPE;
  CheckTrap(c, "host");
  c = HostAddCase();
  --HostCall(&c).cycles_lo;
  CheckTrap(c, "host");
  c = HostAddCase();
  --HostCall(&c).inputs;
  CheckTrap(c, "host");
  c = HostAddCase();
  HostCall(&c).why = SLUICE_WHY_COUNT;
  CheckTrap(c, "stream");
}

// A layer of int8 tensors with such attributes; its input 1 is of uint8.
uint32_t WhyNotOf(int op, std::vector<int32_t> attributes, size_t inputs) {
  sluice_sim::Graph graph;
  graph.tensors.resize(3);
  graph.tensors[0].dtype = graph.tensors[2].dtype = SLUICE_DTYPE_INT8;
  graph.tensors[1].dtype = SLUICE_DTYPE_UINT8;
  sluice_sim::Layer layer;
  layer.op = op;
  for (uint32_t i = 0; i < inputs; ++i) layer.inputs.push_back(i);
  layer.outputs = {2};
  layer.attributes = std::move(attributes);
  sluice_sim::Hardware hardware;
  hardware.limited = true;
  sluice_sim::OpRow row;  // int8 alone, no scales, no zero points
  row.op = op;
  row.dtypes = 1u << SLUICE_DTYPE_INT8;
  row.arithmetic = 1;
  hardware.ops = {row};
  return WhyNot(graph, hardware, layer);
}

TEST_CASE("ability: scales and zero points of a greatest element do not count") {
  std::vector<int32_t> reduce(SLUICE_REDUCE_ATTRIBUTES, 3);
  reduce[SLUICE_REDUCE_KIND] = SLUICE_REDUCE_KIND_MAX;
  CHECK(WhyNotOf(SLUICE_OP_REDUCE, reduce, 1) == 0);
  reduce[SLUICE_REDUCE_KIND] = SLUICE_REDUCE_KIND_SUM;
  CHECK(WhyNotOf(SLUICE_OP_REDUCE, reduce, 1) == SLUICE_WHY_REQUANTISE);
}

TEST_CASE("ability: a mask's type does not count, a second operand's does") {
  CHECK(WhyNotOf(SLUICE_OP_SOFTMAX, {}, 2) == 0);
  CHECK(WhyNotOf(SLUICE_OP_MINIMUM, {}, 2) == SLUICE_WHY_DTYPE);
}

// Which scales a machine must have for these rows of (bias, multiplier, shift).
uint32_t ScalesNeeded(const std::vector<int32_t>& rows, bool seeded = false) {
  sluice_sim::Graph graph;
  graph.data = reinterpret_cast<const uint8_t*>(rows.data());
  graph.tensors.resize(4);
  for (const size_t t : {0, 1, 3}) graph.tensors[t].dtype = SLUICE_DTYPE_INT8;
  for (sluice_sim::Tensor& t : graph.tensors) t.extent = {1, 1, 1, 1};
  graph.tensors[2].dtype = SLUICE_DTYPE_INT32;
  graph.tensors[2].source = seeded ? sluice_sim::kSeeded : sluice_sim::kInline;
  graph.tensors[2].bytes = static_cast<int64_t>(4 * rows.size());
  sluice_sim::Layer layer;
  layer.op = SLUICE_OP_FULLY_CONNECTED;
  layer.inputs = {0, 1, 2};
  layer.outputs = {3};
  uint32_t needed = 0;
  for (const uint32_t bit : {1u, 2u, 4u}) {
    sluice_sim::Hardware hardware;
    hardware.limited = true;
    sluice_sim::OpRow row;
    row.op = layer.op;
    row.dtypes = 1u << SLUICE_DTYPE_INT8;
    row.arithmetic = 1;
    row.requantise = 7 & ~bit;
    hardware.ops = {row};
    if (WhyNot(graph, hardware, layer) == SLUICE_WHY_REQUANTISE) needed |= bit;
  }
  return needed;
}

TEST_CASE("ability: rows of one scale, of no scale, and of a scale each") {
  const int32_t half = 1 << 30;
  CHECK(ScalesNeeded({5, half, 1, 7, half, 1}) == 1);  // a scale of one
  CHECK(ScalesNeeded({5, half, 2, 7, half, 2}) == 2);
  CHECK(ScalesNeeded({5, half + 1, 1, 7, half + 1, 1}) == 2);
  CHECK(ScalesNeeded({5, half, 1, 7, half, 2}) == 4);
  CHECK(ScalesNeeded({5, half, 1, 7, half + 1, 1}) == 4);
  CHECK(ScalesNeeded({5, half, 1, 7, half, 1}, true) == 4);  // not known
}

TEST_CASE("ability: a call of the host moves the rows that it gathers, not the table") {
  sluice_sim::Graph graph;
  graph.tensors.resize(3);
  graph.tensors[0].bytes = 80;
  graph.tensors[1].bytes = 12;
  graph.tensors[2].bytes = 24;
  sluice_sim::Layer layer;
  layer.op = SLUICE_OP_GATHER;
  layer.inputs = {0, 1};
  layer.outputs = {2};
  CHECK(CallBytes(graph, layer) == 24 + 12 + 24);
  layer.op = SLUICE_OP_MINIMUM;
  CHECK(CallBytes(graph, layer) == 80 + 12 + 24);
}

TEST_CASE("ability: attributes behind a layer's own are zero") {
  sluice_sim::Layer layer;
  layer.op = SLUICE_OP_OPAQUE;
  layer.attributes = {5, 7};  // SLUICE_OPAQUE_CYCLES_LO and _HI
  CHECK(CallCycles({}, {}, layer) == 5 + (uint64_t{7} << 32));
  layer.attributes.pop_back();
  CHECK(CallCycles({}, {}, layer) == 5);
}

}  // namespace
}  // namespace sluice_test
