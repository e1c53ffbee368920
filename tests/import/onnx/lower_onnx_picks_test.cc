// SPDX-License-Identifier: Apache-2.0
// Elements that the host copies: stored numbers stay as they are.
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {
namespace {

const Bytes kNumbers = {10, 20, 30, 40, 50, 60};

// The bytes that an operator makes of the int8 numbers [2, 3] above, zero point 1.
Bytes Made(const std::string& op, const std::vector<std::vector<int64_t>>& constants,
           const std::vector<std::pair<std::string, int64_t>>& attributes = {}) {
  TinyOnnx model;
  model.Input("x", {2, 3});
  model.Quantised("x", "xq", 0.5f, 1);
  std::vector<std::string> inputs = {"xq"};
  for (const auto& constant : constants) {
    inputs.push_back("c" + std::to_string(inputs.size()));
    model.Integers(inputs.back(), constant);
  }
  onnx::NodeProto* node = model.Node(op, inputs, {"r"});
  for (const auto& [name, value] : attributes) TinyOnnx::Int(node, name, value);
  model.Quantised("r", "y", 0.5f, 1);
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(import.shapes_only.empty());
  return OutputFor(import, kNumbers);
}

TEST_CASE("onnx picks: slices with steps, forwards and backwards") {
  CHECK(Made("Slice", {{0}, {3}, {1}, {2}}) == Bytes{10, 30, 40, 60});
  CHECK(Made("Slice", {{-1}, {-9}, {1}, {-1}}) == Bytes{30, 20, 10, 60, 50, 40});
}

TEST_CASE("onnx picks: several indices, also from the end") {
  CHECK(Made("Gather", {{2, 0, -2}}, {{"axis", 1}}) == Bytes{30, 10, 20, 60, 40, 50});
  CHECK(Made("Tile", {{2, 1}}) ==
        Bytes{10, 20, 30, 40, 50, 60, 10, 20, 30, 40, 50, 60});
  // The first row is turned, of the second two elements.
  CHECK(Made("ReverseSequence", {{3, 2}}, {{"time_axis", 1}, {"batch_axis", 0}}) ==
        Bytes{30, 20, 10, 50, 40, 60});
  // What is filled in is 0, which stands for the number 1.
  CHECK(Made("Pad", {{0, 1, 0, 0}}) == Bytes{1, 10, 20, 30, 1, 40, 50, 60});
}

TEST_CASE("onnx picks: a pad value that is no stored 0 is filled in") {
  TinyOnnx model;
  model.Input("x", {1, 2});
  model.Quantised("x", "xq", 0.5f, 1);
  model.Integers("pads", {0, 1, 0, 0});
  model.Reals("value", {}, {2.5f});
  model.Node("Pad", {"xq", "pads", "value"}, {"r"});
  model.Quantised("r", "y", 0.5f, 1);
  model.Output("y");
  CHECK(OutputFor(Import(model.Finish()), {10, 20}) == Bytes{6, 10, 20});
}

TEST_CASE("onnx picks: an index out of range is the model's error") {
  TinyOnnx model;
  model.Input("x", {2, 3});
  model.Quantised("x", "xq", 0.5f, 1);
  model.Integers("i", {0, 3});
  TinyOnnx::Int(model.Node("Gather", {"xq", "i"}, {"y"}), "axis", 1);
  model.Output("y");
  CHECK(Says(Complaint(model.Finish()), "an index out of range"));
}

}  // namespace
}  // namespace sluice_test
