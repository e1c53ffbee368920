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

// Positions 1 and 2 behind two of a cache; two heads of a query share a key and a value.
TinyOnnx Grouped(bool rotary, int32_t last) {
  TinyOnnx model;
  model.Input("x", {1, 2, 4});
  model.Quantised("x", "q", 1, 0);
  model.Reals("zero", {}, {0});
  model.Integers("b", {0});
  model.Integers("e", {2});
  model.Integers("axis", {2});
  model.Node("Slice", {"q", "b", "e", "axis"}, {"v"});
  model.Node("Mul", {"v", "zero"}, {"k"});
  model.Reals("pk", {1, 1, 2, 2}, {0, 0, 0, 0});
  model.Reals("pv", {1, 1, 2, 2}, {10, 20, 30, 40});
  onnx::TensorProto* length = model.graph->add_initializer();
  length->set_name("length");
  length->set_data_type(onnx::TensorProto::INT32);
  length->add_dims(1);
  length->add_int32_data(last);
  onnx::TensorProto* total = model.graph->add_initializer();
  total->set_name("total");
  total->set_data_type(onnx::TensorProto::INT32);
  total->add_int32_data(last + 1);
  std::vector<std::string> inputs = {"q", "k", "v", "pk", "pv", "length", "total"};
  if (rotary) {
    model.Reals("cos", {4, 1}, {9, 9, 0, 1});
    model.Reals("sin", {4, 1}, {9, 9, 1, 0});
    inputs.insert(inputs.end(), {"cos", "sin"});
  }
  onnx::NodeProto* node = Contrib(&model, "GroupQueryAttention", inputs, "y");
  TinyOnnx::Int(node, "num_heads", 2);
  TinyOnnx::Int(node, "kv_num_heads", 1);
  TinyOnnx::Int(node, "do_rotary", rotary ? 1 : 0);
  model.Output("y");
  return model;
}

TEST_CASE("onnx attention: groups of heads see a cache and what comes before") {
  // Keys of 0: means of the values that are seen.
  const float a = (10 + 30 + 1) / 3.0f, b = (20 + 40 + 2) / 3.0f;
  const Reals want = {a, b, a, b, 11.5f, 17, 11.5f, 17};
  const Bytes x = {1, 2, 3, 4, 5, 6, 7, 8};
  CheckNear(RealsFor(Grouped(false, 3), x), want);
  // Keys of 0 stay so when they are turned.
  CheckNear(RealsFor(Grouped(true, 3), x), want);
  // A cache that is not full by one.
  const float c = (10 + 1) / 2.0f, d = (20 + 2) / 2.0f, e = (10 + 1 + 5) / 3.0f,
              f = (20 + 2 + 6) / 3.0f;
  CheckNear(RealsFor(Grouped(false, 2), x), {c, d, c, d, e, f, e, f});
  TinyOnnx sinks = Grouped(true, 3);
  onnx::NodeProto* node = sinks.graph->mutable_node(sinks.graph->node_size() - 1);
  for (const char* name : {"", "", "zero"}) node->add_input(name);
  CHECK(Says(Complaint(sinks.Finish()), "GroupQueryAttention"));
}

// Grouped(), of which the run says the last position that is seen; the value of each position
// is its key as well.
TinyOnnx GroupedAtRun(bool rotary, int64_t window) {
  TinyOnnx model;
  model.Input("x", {1, 2, 4});
  model.Input("last", {1}, onnx::TensorProto::INT32);
  model.Quantised("x", "q", 1, 0);
  model.Reals("zero", {}, {0});
  model.Node("Mul", {"q", "zero"}, {"none"});  // all that is seen counts the same
  model.Integers("b", {0});
  model.Integers("e", {2});
  model.Integers("axis", {2});
  model.Node("Slice", {"q", "b", "e", "axis"}, {"v"});
  model.Reals("pk", {1, 1, 2, 2}, {10, 20, 30, 40});
  onnx::TensorProto* total = model.graph->add_initializer();
  total->set_name("total");
  total->set_data_type(onnx::TensorProto::INT32);
  total->add_int32_data(4);
  std::vector<std::string> inputs = {"none", "v", "v", "pk", "pk", "last", "total"};
  if (rotary) {
    model.Reals("cos", {4, 1}, {1, 1, 0, 9});
    model.Reals("sin", {4, 1}, {0, 0, 1, 9});
    inputs.insert(inputs.end(), {"cos", "sin"});
  }
  onnx::NodeProto* node = Contrib(&model, "GroupQueryAttention", inputs, "y");
  node->add_output("keys");
  node->add_output("values");
  TinyOnnx::Int(node, "num_heads", 2);
  TinyOnnx::Int(node, "kv_num_heads", 1);
  TinyOnnx::Int(node, "do_rotary", rotary ? 1 : 0);
  TinyOnnx::Int(node, "local_window_size", window);
  for (const char* name : {"y", "keys", "values"}) model.Output(name);
  return model;
}

std::vector<Reals> RealsAtRun(const TinyOnnx& model, int32_t last) {
  const ImportAndGraph import = Import(model.Finish());
  CHECK(import.shapes_only.empty());
  Bytes said(4);
  std::memcpy(said.data(), &last, 4);
  const std::vector<Bytes> inputs = {{1, 2, 3, 4, 5, 6, 7, 8}, said};
  sluice_sim::SimulateOptions options;
  options.graph = import.graph.data();
  options.graph_size = import.graph.size();
  options.inputs = &inputs;
  const sluice_sim::SimulateResult result = sluice_sim::RunReference(options);
  REQUIRE_MESSAGE(result.ok, result.error);
  std::vector<Reals> reals;
  for (const Bytes& bytes : result.outputs) reals.push_back(RealsOf(bytes));
  return reals;
}

TEST_CASE("onnx attention: the run tells how much of a cache is in use") {
  const TinyOnnx model = GroupedAtRun(false, -1);
  const std::vector<Reals> full = RealsAtRun(model, 3), some = RealsAtRun(model, 2),
                           none = RealsAtRun(model, 1);
  const float a = 41 / 3.0f, b = 62 / 3.0f;
  CheckNear(full.at(0), {a, b, a, b, 11.5f, 17, 11.5f, 17});
  CheckNear(full.at(2), {10, 20, 30, 40, 1, 2, 5, 6});
  const float c = 16 / 3.0f, d = 28 / 3.0f;
  CheckNear(some.at(0), {5.5f, 11, 5.5f, 11, c, d, c, d});
  CheckNear(some.at(2), {10, 20, 1, 2, 5, 6, 0, 0});
  CheckNear(none.at(0), {1, 2, 1, 2, 3, 4, 3, 4});
  CheckNear(none.at(1), {1, 2, 5, 6, 0, 0, 0, 0});
}

TEST_CASE(
    "onnx attention: positions behind a cache in use are turned, and windows end") {
  const std::vector<Reals> turned = RealsAtRun(GroupedAtRun(true, -1), 2);
  CheckNear(turned.at(1), {10, 20, 1, 2, -6, 5, 0, 0});
  CheckNear(turned.at(2), {10, 20, 1, 2, 5, 6, 0, 0});
  const std::vector<Reals> near = RealsAtRun(GroupedAtRun(false, 2), 3);
  CheckNear(near.at(0), {15.5f, 21, 15.5f, 21, 3, 4, 3, 4});
}

TEST_CASE("onnx attention: a normalised sum gives the sum as well") {
  TinyOnnx model;
  model.Input("x", {1, 2});
  model.Quantised("x", "q", 1, 0);
  model.Reals("g", {2}, {1, 10});
  onnx::NodeProto* node =
      Contrib(&model, "SkipSimplifiedLayerNormalization", {"q", "q", "g"}, "n");
  for (const char* name : {"", "", "sum"}) node->add_output(name);
  // What stands behind the sum has its extents.
  Contrib(&model, "SkipSimplifiedLayerNormalization", {"sum", "n", "g"}, "y");
  model.Output("y");
  // The sum is 6 and 8, of which the mean of squares is 50.
  const float root = std::sqrt(50.0f), a = 6 + 6 / root, b = 8 + 80 / root,
              next = std::sqrt((a * a + b * b) / 2);
  CheckNear(RealsFor(model, {3, 4}), {a / next, 10 * b / next});
}

TEST_CASE("onnx attention: a mask says how many keys are seen, or which") {
  for (const bool which : {false, true}) {
    TinyOnnx model;
    model.Input("x", {1, 2, 1});
    model.Input("m", which ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1},
                onnx::TensorProto::INT32);
    model.Quantised("x", "xq", 1, 0);
    TinyOnnx::Int(
        Contrib(&model, "MultiHeadAttention", {"xq", "xq", "xq", "", "m"}, "y"),
        "num_heads", 1);
    model.Output("y");
    const ImportAndGraph import = Import(model.Finish());
    const std::vector<int32_t> seen = {1, 0};
    Bytes mask(which ? 8 : 4);
    std::memcpy(mask.data(), seen.data(), mask.size());
    const std::vector<Bytes> inputs = {{3, 9}, mask};
    sluice_sim::SimulateOptions options;
    options.graph = import.graph.data();
    options.graph_size = import.graph.size();
    options.inputs = &inputs;
    const sluice_sim::SimulateResult result = sluice_sim::RunReference(options);
    REQUIRE_MESSAGE(result.ok, result.error);
    CheckNear(RealsOf(result.outputs.at(0)), {3, 3});
  }
}

TEST_CASE("onnx attention: a cap bends the scores") {
  TinyOnnx model(13);
  model.proto.mutable_opset_import(0)->set_version(23);
  model.Input("x", {1, 1, 2, 1});
  model.Quantised("x", "q", 1, 0);
  onnx::AttributeProto* cap =
      model.Node("Attention", {"q", "q", "q"}, {"y"})->add_attribute();
  cap->set_name("softcap");
  cap->set_type(onnx::AttributeProto::FLOAT);
  cap->set_f(2);
  model.Output("y");
  // Scores 0 and 9 of the second position become 0 and 2 tanh(4.5).
  const float a = std::exp(2 * std::tanh(4.5f));
  CheckNear(RealsFor(model, {0, 3}), {1.5f, 3 * a / (a + 1)});
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
