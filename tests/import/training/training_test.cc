// SPDX-License-Identifier: Apache-2.0
// tests/zoo/training_test.cc checks what whole steps compute.
#include "import/training/training.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "import/error.h"
#include "import/graph_writer.h"

namespace sluice::import {
namespace {

constexpr uint8_t kInt8 = SLUICE_DTYPE_INT8;

// A fully connected layer, then the given layer of one operand.
Bytes Behind(uint16_t op, const std::vector<int32_t>& attributes) {
  GraphWriter graph("two layers");
  const uint32_t x = graph.AddTensor("x", kInt8, Kind::kInput, {3, 20});
  const uint32_t w = graph.AddSeeded("w", kInt8, {8, 20}, 7);
  const std::vector<int32_t> rows(24, 1);
  const uint32_t parameters =
      graph.AddConstant("p", SLUICE_DTYPE_INT32, {8, 3}, rows.data(), 96);
  const uint32_t h = graph.AddTensor("h", kInt8, Kind::kIntermediate, {3, 8});
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_ACT_MIN] = -128;
  graph.AddLayer("fc", SLUICE_OP_FULLY_CONNECTED, {x, w, parameters}, {h}, a);
  const uint32_t y = graph.AddTensor("y", kInt8, Kind::kOutput, {3, 8});
  graph.AddLayer("last", op, {h}, {y}, attributes);
  return graph.Finish();
}

std::vector<uint16_t> OpsOf(const Bytes& bytes) {
  const GraphWriter graph(bytes);
  std::vector<uint16_t> ops;
  for (const LayerRow& l : graph.layers()) ops.push_back(l.op);
  return ops;
}

TEST_CASE("training: the layers of the inference graph come first") {
  const Bytes bytes = MakeTrainingGraph(Behind(SLUICE_OP_RESHAPE, {}));
  const GraphWriter graph(bytes);
  CHECK(OpsOf(bytes) == std::vector<uint16_t>{SLUICE_OP_FULLY_CONNECTED,
                                              SLUICE_OP_RESHAPE, SLUICE_OP_SUB,
                                              SLUICE_OP_RESHAPE, SLUICE_OP_RESHAPE,
                                              SLUICE_OP_WEIGHT_GRADIENT});
  CHECK(graph.name(graph.layers()[2].name) == "y.loss");
}

// With the cross entropy as loss, output - target is the error of the softmax's input.
TEST_CASE("training: a softmax's loss is passed to its input") {
  const auto ops = OpsOf(MakeTrainingGraph(Behind(SLUICE_OP_SOFTMAX, {1, 1, -1})));
  CHECK(std::count(ops.begin(), ops.end(), uint16_t{SLUICE_OP_OPAQUE}) == 0);
}

TEST_CASE("training: operators without a rule of their own run on the host") {
  for (const int op : {SLUICE_OP_SUB, SLUICE_OP_LAYER_NORM, SLUICE_OP_REDUCE,
                       SLUICE_OP_GATHER, SLUICE_OP_HARD_SWISH, SLUICE_OP_PRELU}) {
    CAPTURE(op);
    const auto ops = OpsOf(MakeTrainingGraph(Behind(static_cast<uint16_t>(op), {})));
    CHECK(std::count(ops.begin(), ops.end(), uint16_t{SLUICE_OP_OPAQUE}) == 1);
  }
}

TEST_CASE("training: ARGMAX has no gradient") {
  CHECK_THROWS_AS(MakeTrainingGraph(Behind(SLUICE_OP_ARGMAX, {})), Error);
}

TEST_CASE("training: an operator that there is not is refused by its number") {
  for (const int op : {0, int{SLUICE_OP_COUNT}, 0xffff}) {
    std::string why;
    try {
      MakeTrainingGraph(Behind(static_cast<uint16_t>(op), {}));
    } catch (const Error& error) {
      why = error.what();
    }
    CHECK(why.find("there is no operator " + std::to_string(op)) != std::string::npos);
  }
}

TEST_CASE("training: constants beyond the limit are refused") {
  const std::vector<int32_t> pool = {2, 2, 1, 1, 0, 0, 0, 0, -128, 127};
  const Bytes graph = Behind(SLUICE_OP_AVERAGE_POOL, pool);
  CHECK_NOTHROW(MakeTrainingGraph(graph));
  CHECK_THROWS_AS(MakeTrainingGraph(graph, 97), Error);
}

}  // namespace
}  // namespace sluice::import
