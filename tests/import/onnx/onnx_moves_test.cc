// SPDX-License-Identifier: Apache-2.0
// Elements that Slice, Transpose and Gather copy, and broadcasting.
#include "import/onnx/onnx_moves.h"

#include <limits>

#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

using sluice::import::OnnxModel;
using sluice::import::OnnxNode;
using sluice::import::OnnxPlaces;
using sluice::import::OnnxValue;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// Places by a node with lists of integers behind its first input, of extents `from`;
// {-99}: they are not known.
OnnxPlaces Places(const char* op, const std::vector<int64_t>& from,
                  const std::vector<std::vector<int64_t>>& lists,
                  const std::vector<int64_t>& perm = {}, int64_t axis = 0) {
  OnnxModel model;
  OnnxNode node;
  node.op = op;
  if (!perm.empty()) node.attributes["perm"].ints = perm;
  if (axis != 0) node.attributes["axis"].i = axis;
  model.values.emplace_back();
  node.inputs.push_back(0);
  for (const auto& list : lists) {
    OnnxValue value;
    value.has_integers = true;
    value.integers = list;
    node.inputs.push_back(static_cast<int>(model.values.size()));
    model.values.push_back(value);
  }
  OnnxPlaces places;
  const bool known = sluice::import::MovedPlaces(model, node, from, &places);
  return known ? places : OnnxPlaces{-99};
}

const OnnxPlaces kNone = {-99};

TEST_CASE("onnx moves: slices go forwards and backwards, and end where the axis does") {
  CHECK(Places("Slice", {2, 3}, {{1}, {3}, {1}}) == OnnxPlaces{1, 2, 4, 5});
  CHECK(Places("Slice", {2, 3}, {{-1}, {kLeast + 1}, {0}, {-1}}) ==
        OnnxPlaces{3, 4, 5, 0, 1, 2});
  CHECK(Places("Slice", {2, 3}, {{9}, {-9}, {-1}, {-2}}) == OnnxPlaces{2, 0, 5, 3});
  CHECK(Places("Slice", {3}, {{2}, {0}, {0}, {-1}}) == OnnxPlaces{2, 1});
  CHECK(Places("Slice", {3}, {{-9}, {-8}, {0}, {-1}}) == OnnxPlaces{0});
  CHECK(Places("Slice", {3}, {{0}, {3}, {0}, {kLeast}}).empty());
  const int64_t most = std::numeric_limits<int64_t>::max();
  CHECK(Places("Slice", {3}, {{1}, {most}, {0}, {most}}) == OnnxPlaces{1});
  CHECK(Places("Slice", {2, 3}, {{0, 1}, {1, 2}}) == OnnxPlaces{1});
  CHECK(Places("Slice", {3}, {{0}, {3}, {0}, {0}}) == kNone);
  CHECK(Places("Slice", {3}, {{0}, {3}, {1}}) == kNone);
  CHECK(Places("Slice", {3}, {{0}, {3, 3}}) == kNone);
}

TEST_CASE("onnx moves: axes in another order, and picked slices") {
  CHECK(Places("Transpose", {2, 3}, {}) == OnnxPlaces{0, 3, 1, 4, 2, 5});
  CHECK(Places("Transpose", {1, 2, 2}, {}, {1, 0, 2}) == OnnxPlaces{0, 1, 2, 3});
  CHECK(Places("Transpose", {2, 3}, {}, {0, 0}) == kNone);
  CHECK(Places("Transpose", {2, 3}, {}, {0, 2}) == kNone);
  CHECK(Places("Gather", {3, 2}, {{2, -3}}) == OnnxPlaces{4, 5, 0, 1});
  CHECK(Places("Gather", {3, 2}, {{1}}, {}, -1) == OnnxPlaces{1, 3, 5});
  CHECK(Places("Gather", {3, 2}, {{3}}) == kNone);
  CHECK(Places("Gather", {3, 2}, {{0}}, {}, 2) == kNone);
  CHECK(Places("Relu", {3}, {}) == kNone);
  const int64_t huge = sluice::import::kMostMoved + 1;
  CHECK(Places("Transpose", {huge, 0}, {}) == kNone);
}

TEST_CASE("onnx moves: a tensor of ones and missing axes meets a larger one") {
  OnnxPlaces places;
  REQUIRE(sluice::import::BroadcastPlaces({2, 1}, {2, 2, 2}, &places));
  CHECK(places == OnnxPlaces{0, 0, 1, 1, 0, 0, 1, 1});
  CHECK_FALSE(sluice::import::BroadcastPlaces({2}, {3}, &places));
  CHECK_FALSE(sluice::import::BroadcastPlaces({1, 2}, {2}, &places));
}

// Pads as an exporter computes them of a list that goes from the last axis to the first, with
// pads before and behind each.
TEST_CASE(
    "onnx moves: pads whose order is turned by operators on constants are known") {
  TinyOnnx model;
  model.Input("x", {1, 1, 1, 2});
  model.Quantised("x", "xq", 0.5f, 7);
  model.Integers("four", {4});
  model.Integers("listed", {2, 1, 0, 0});
  onnx::AttributeProto* fill =
      model.Node("ConstantOfShape", {"four"}, {"zeros"})->add_attribute();
  fill->set_name("value");
  fill->set_type(onnx::AttributeProto::TENSOR);
  fill->mutable_t()->set_data_type(onnx::TensorProto::INT64);
  fill->mutable_t()->add_dims(1);
  fill->mutable_t()->add_int64_data(0);
  TinyOnnx::Int(model.Node("Concat", {"listed", "zeros"}, {"all"}), "axis", 0);
  model.Integers("pairs", {-1, 2});
  model.Node("Reshape", {"all", "pairs"}, {"paired"});
  model.Integers("last", {-1});
  model.Integers("front", {kLeast + 1});
  model.Integers("rows", {0});
  model.Node("Slice", {"paired", "last", "front", "rows", "last"}, {"turned"});
  TinyOnnx::Ints(model.Node("Transpose", {"turned"}, {"columns"}), "perm", {1, 0});
  model.Node("Reshape", {"columns", "last"}, {"flat"});
  TinyOnnx::Int(model.Node("Cast", {"flat"}, {"pads"}), "to", onnx::TensorProto::INT64);
  model.Node("Pad", {"xq", "pads"}, {"p"});
  model.Quantised("p", "y", 0.5f, 7);
  model.Output("y");
  CHECK(OutputFor(Import(model.Finish()), {1, 2}) == Bytes{7, 7, 1, 2, 7});
}

}  // namespace
}  // namespace sluice_test
