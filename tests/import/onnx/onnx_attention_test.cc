// SPDX-License-Identifier: Apache-2.0
// Attention and rotary embedding, by hand.
#include <cmath>

#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

void CheckNear(const Reals& got, const Reals& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CHECK(static_cast<double>(got[i]) ==
          doctest::Approx(static_cast<double>(want[i])).epsilon(1e-5));
  }
}

// Two positions of one number each; the second sees both, the first itself alone.
TEST_CASE("onnx attention: a causal mask hides what comes later") {
  TinyOnnx model(13);
  model.proto.mutable_opset_import(0)->set_version(23);
  model.Input("x", {1, 2, 1});
  model.Quantised("x", "q", 1, 0);
  onnx::NodeProto* node = model.Node("Attention", {"q", "q", "q"}, {"y"});
  TinyOnnx::Int(node, "q_num_heads", 1);
  TinyOnnx::Int(node, "kv_num_heads", 1);
  TinyOnnx::Int(node, "is_causal", 1);
  model.Output("y");
  const float a = std::exp(2.0f), b = std::exp(4.0f);  // scores 1 * 2 and 2 * 2
  CheckNear(RealsFor(model, {1, 2}), {1, (a * 1 + b * 2) / (a + b)});
}

TEST_CASE("onnx attention: heads of a query share a key, and a past comes first") {
  TinyOnnx model(13);
  model.proto.mutable_opset_import(0)->set_version(23);
  model.Input("x", {1, 2, 2, 1});
  model.Quantised("x", "q", 1, 0);
  model.Integers("first", {0});
  model.Integers("one", {1});
  model.Node("Slice", {"q", "first", "one", "one"}, {"head"});
  model.Reals("zero", {}, {0});
  model.Node("Mul", {"head", "zero"}, {"k"});
  model.Reals("pk", {1, 1, 1, 1}, {0});
  model.Reals("pv", {1, 1, 1, 1}, {4});
  model.Node("Attention", {"q", "k", "head", "", "pk", "pv"}, {"y"});
  model.Output("y");
  // Keys of 0: the mean of 4 and of the first head's values, which lie apart in the input.
  CheckNear(RealsFor(model, {1, 2, 3, 4}), {8 / 3.0f, 8 / 3.0f, 8 / 3.0f, 8 / 3.0f});
}

TEST_CASE("onnx attention: one weight for query, key and value, with a mask") {
  TinyOnnx model;
  model.Input("x", {1, 2, 1});
  model.Quantised("x", "xq", 1, 0);
  model.Reals("w", {1, 3}, {0, 0, 1});
  model.Reals("b", {3}, {0, 0, 10});
  onnx::TensorProto* mask = model.graph->add_initializer();
  mask->set_name("m");
  mask->set_data_type(onnx::TensorProto::INT32);
  mask->add_dims(1);
  mask->add_dims(2);
  mask->add_int32_data(7);
  mask->add_int32_data(0);
  TinyOnnx::Int(Contrib(&model, "Attention", {"xq", "w", "b", "m"}, "y"), "num_heads",
                1);
  model.Output("y");
  CheckNear(RealsFor(model, {1, 2}), {11, 11});
}

TEST_CASE("onnx attention: the operands of many heads have a bias") {
  TinyOnnx model;
  model.Input("x", {1, 2, 2});
  model.Quantised("x", "xq", 1, 0);
  model.Reals("b", {6}, {0, 0, 0, 0, 100, 200});
  model.Reals("zero", {}, {0});
  model.Node("Mul", {"xq", "zero"}, {"k"});
  TinyOnnx::Int(Contrib(&model, "MultiHeadAttention", {"xq", "k", "xq", "b"}, "y"),
                "num_heads", 2);
  model.Output("y");
  // The heads lie one behind the other.
  CheckNear(RealsFor(model, {1, 2, 3, 4}), {102, 102, 203, 203});
}

TEST_CASE("onnx attention: a rotary embedding turns halves, or pairs") {
  for (const bool pairs : {false, true}) {
    TinyOnnx model(13);
    model.proto.mutable_opset_import(0)->set_version(23);
    model.Input("x", {1, 1, 1, 4});
    model.Quantised("x", "xq", 1, 0);
    model.Reals("c", {1, 1, 2}, {0, 1});
    model.Reals("s", {1, 1, 2}, {1, 0});
    TinyOnnx::Int(model.Node("RotaryEmbedding", {"xq", "c", "s"}, {"y"}), "interleaved",
                  pairs ? 1 : 0);
    model.Output("y");
    // The first pair is turned by a right angle.
    CHECK(RealsFor(model, {1, 2, 3, 4}) ==
          (pairs ? Reals{-2, 1, 3, 4} : Reals{-3, 2, 1, 4}));
  }
}

}  // namespace
}  // namespace sluice_test
