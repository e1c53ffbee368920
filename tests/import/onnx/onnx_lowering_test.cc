// SPDX-License-Identifier: Apache-2.0
// How ONNX's values are stored: orders of axes, folded extents, transpositions saved.
#include "import/onnx/onnx_lowering.h"

#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"
#include "tests/zoo/planned.h"

namespace sluice_test {
namespace {

using sluice::import::AxisOrder;
using sluice::import::OnnxValue;

OnnxValue Shaped(const std::vector<int64_t>& dims) {
  OnnxValue value;
  value.name = "t";
  value.has_shape = true;
  value.dims = dims;
  return value;
}

TEST_CASE("onnx lowering: channels stand last, other axes keep their order") {
  CHECK(sluice::import::Straight(3) == AxisOrder{0, 1, 2});
  CHECK(sluice::import::ChannelsLast(4) == AxisOrder{0, 2, 3, 1});
  CHECK(sluice::import::ChannelsLast(3) == AxisOrder{0, 2, 1});
  CHECK(sluice::import::ChannelsLast(2) == AxisOrder{0, 1});
}

TEST_CASE("onnx lowering: more than four axes are folded from the front") {
  using sluice::import::Dims;
  using sluice::import::DimsIn;
  CHECK(DimsIn({2, 3, 4, 5}, {0, 2, 3, 1}) == Dims{2, 4, 5, 3});
  CHECK(DimsIn({2, 3, 4, 5, 6}, {0, 1, 2, 3, 4}) == Dims{6, 4, 5, 6});
  CHECK_THROWS_WITH(DimsIn({1, int64_t{1} << 31}, {0, 1}), "an extent above 2^31 - 1");
}

TEST_CASE("onnx lowering: axes count from either end, and shapes must be known") {
  using sluice::import::AxisOf;
  CHECK(AxisOf(Shaped({2, 3, 4}), -1) == 2);
  CHECK(AxisOf(Shaped({2, 3, 4}), 0) == 0);
  CHECK_THROWS_WITH(AxisOf(Shaped({2, 3, 4}), 3), "axis 3 of tensor t of rank 3");
  CHECK_THROWS_WITH(AxisOf(Shaped({2, 0}), 0), "tensor t has extent 0");
  OnnxValue unknown = Shaped({});
  unknown.has_shape = false;
  CHECK_THROWS_WITH(
      sluice::import::ShapeOf(unknown),
      "the shape of tensor t is not known and does not follow from its inputs");
}

TEST_CASE("onnx lowering: a constant's bytes in another order of axes") {
  OnnxValue value = Shaped({2, 3});
  value.type = sluice::import::kOnnxUint8;
  const Bytes numbers = {1, 2, 3, 4, 5, 6};
  value.data = numbers;
  CHECK(Permuted(value, {1, 0}) == Bytes{1, 4, 2, 5, 3, 6});
  CHECK(Permuted(value, {0, 1}) == numbers);
  OnnxValue wide = Shaped({2, 2});
  wide.type = sluice::import::kOnnxInt16;
  wide.data = Bytes{1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(Permuted(wide, {1, 0}) == Bytes{1, 2, 5, 6, 3, 4, 7, 8});
}

TEST_CASE(
    "onnx lowering: attention's transpositions are read in place where they can be") {
  TinyOnnx model;
  model.Input("x", {1, 5, 8});
  for (const char* name : {"q", "k"}) {
    const std::string n = name;
    model.Floats("w" + n, {8, 8});
    model.Node("MatMul", {"x", "w" + n}, {n});
    model.Integers("s" + n, {1, 5, 2, 4});
    model.Node("Reshape", {n, "s" + n}, {n + "4"});
  }
  TinyOnnx::Ints(model.Node("Transpose", {"q4"}, {"qh"}), "perm", {0, 2, 1, 3});
  TinyOnnx::Ints(model.Node("Transpose", {"k4"}, {"kh"}), "perm", {0, 2, 3, 1});
  model.Node("MatMul", {"qh", "kh"}, {"scores"});
  model.Node("Softmax", {"scores"}, {"y"});
  model.Output("y", {1, 2, 5, 5});
  const ImportAndGraph import = Import(model.Finish());
  CHECK(Count(import, SLUICE_OP_FULLY_CONNECTED) == 2);
  CHECK(Count(import, SLUICE_OP_TRANSPOSE) == 2);  // for heads; none for the keys
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  for (uint32_t l = 0; l < graph.layer_op()->size(); ++l) {
    if (graph.layer_op()->Get(l) != SLUICE_OP_BATCH_MATMUL) continue;
    CHECK(graph.layer_attributes()->Get(graph.layer_attribute_begin()->Get(l)) == 1);
  }
  Planned p(import.graph, "mcu-256k");
  CHECK(p.RefusedBy(p.plan) == "");
  CHECK(p.Run(p.Options()).outputs.at(0).size() == 50);
}

}  // namespace
}  // namespace sluice_test
