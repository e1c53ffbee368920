// SPDX-License-Identifier: Apache-2.0
// Products of floats by sums of bytes.
#include <cmath>

#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

constexpr int64_t kRows = 5, kInner = 24, kColumns = 7;

Reals Some(int64_t count, int first) {
  Reals reals;
  for (int64_t i = 0; i < count; ++i)
    reals.push_back(static_cast<float>((first + i * 7919) % 1009 - 504) * 0.0123f);
  return reals;
}

// Floats that nobody quantises: x / 1 of a quantised model.
TinyOnnx WithFloats(const std::vector<int64_t>& x) {
  TinyOnnx model;
  model.Input("x", x);
  model.Input("q", {1, 1});
  model.Quantised("q", "unused", 1, 0);
  model.Node("Relu", {"unused"}, {"z"});
  model.Output("z");
  model.Node("Abs", {"x"}, {"a"});
  return model;
}

// The output behind the unused one.
Reals ResultOf(const ImportAndGraph& import, const Reals& x) {
  const std::vector<Bytes> inputs = {BitsOfReals(x), Bytes(1)};
  sluice_sim::SimulateOptions options;
  options.graph = import.graph.data();
  options.graph_size = import.graph.size();
  options.inputs = &inputs;
  const sluice_sim::SimulateResult result = sluice_sim::RunReference(options);
  REQUIRE_MESSAGE(result.ok, result.error);
  return RealsOf(result.outputs.at(1));
}

// Rows of |x| by columns, [inner, columns].
void CheckProduct(const Reals& y, const Reals& x, const Reals& w) {
  REQUIRE(static_cast<int64_t>(y.size()) == kRows * kColumns);
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    double sum = 0, most = 0;
    for (int64_t k = 0; k < kInner; ++k) {
      const double term =
          std::abs(
              static_cast<double>(x[static_cast<size_t>(i / kColumns * kInner + k)])) *
          static_cast<double>(w[static_cast<size_t>(k * kColumns + i % kColumns)]);
      sum += term;
      most += std::abs(term);
    }
    CHECK(std::abs(sum - static_cast<double>(y[static_cast<size_t>(i)])) <=
          1e-6 * most);
  }
}

TEST_CASE("onnx parts: floats by a float weight are three products of a unit") {
  TinyOnnx model = WithFloats({kRows, kInner});
  const Reals x = Some(kRows * kInner, 5), w = Some(kInner * kColumns, 77);
  model.Reals("w", {kInner, kColumns}, w);
  model.Node("MatMul", {"a", "w"}, {"y"});
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(Count(import, SLUICE_OP_FULLY_CONNECTED) == 3);
  CHECK(import.rounded.size() == 1);
  CheckProduct(ResultOf(import, x), x, w);
}

TEST_CASE("onnx parts: floats by floats, both computed") {
  TinyOnnx model = WithFloats({kRows, kInner});
  const Reals x = Some(kRows * kInner, 5), w = Some(kInner * kColumns, 77);
  model.Reals("given", {kInner, kColumns}, w);
  model.Node("Neg", {"x"}, {"n"});
  model.Node("Reshape", {"n", "shape"}, {"b"});
  model.Integers("shape", {kInner, kRows});
  model.Node("MatMul", {"a", "b"}, {"y"});
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(Count(import, SLUICE_OP_BATCH_MATMUL) == 3);
  const Reals y = ResultOf(import, x);
  REQUIRE(y.size() == kRows * kRows);
  double first = 0;
  for (size_t k = 0; k < kInner; ++k)
    first -= std::abs(static_cast<double>(x[k])) * static_cast<double>(x[k * kRows]);
  CHECK(static_cast<double>(y[0]) == doctest::Approx(first).epsilon(1e-5));
}

TEST_CASE("onnx parts: floats by a quantised weight are one product of stacked rows") {
  TinyOnnx model = WithFloats({kRows, kInner});
  Reals w;
  std::vector<int8_t> stored;
  for (int64_t i = 0; i < kInner * kColumns; ++i) {
    stored.push_back(static_cast<int8_t>(i * 37 % 251 - 125));
    w.push_back(static_cast<float>(stored.back() - 3) * 0.5f);
  }
  model.Stored("w", {kInner, kColumns}, stored, 0.5f, 3);
  model.Node("MatMul", {"a", "w"}, {"y"});
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(Count(import, SLUICE_OP_FULLY_CONNECTED) == 1);
  const Reals x = Some(kRows * kInner, 5);
  CheckProduct(ResultOf(import, x), x, w);
}

TEST_CASE("onnx parts: convolutions of floats, forwards, depthwise and transposed") {
  struct Case {
    const char* op;
    int64_t groups;
    std::vector<int64_t> weight;
    uint16_t layer;
  };
  const Case cases[] = {{"Conv", 1, {3, 2, 3, 3}, SLUICE_OP_CONV},
                        {"Conv", 2, {4, 1, 3, 3}, SLUICE_OP_DEPTHWISE_CONV},
                        {"ConvTranspose", 1, {2, 3, 3, 3}, SLUICE_OP_TRANSPOSED_CONV},
                        {"ConvTranspose", 2, {2, 1, 3, 3}, SLUICE_OP_TRANSPOSED_CONV}};
  const Reals x = Some(2 * 2 * 5 * 4, 3);
  for (const Case& c : cases) {
    TinyOnnx model = WithFloats({2, 2, 5, 4});
    model.Reals("w", c.weight, Some(c.weight[0] * c.weight[1] * 9, 11));
    onnx::NodeProto* node = model.Node(c.op, {"a", "w"}, {"y"});
    TinyOnnx::Int(node, "group", c.groups);
    TinyOnnx::Ints(node, "pads", {1, 0, 1, 0});
    model.Output("y");
    const ImportAndGraph import = Import(model.Finish());
    CHECK(Count(import, c.layer) == 3);
    const Reals y = ResultOf(import, x);
    // The middle of the first image, by hand.
    if (c.groups != 1 || std::string(c.op) != "Conv") continue;
    double sum = 0;
    const Reals w = Some(3 * 2 * 9, 11);
    for (size_t i = 0; i < 2 * 9; ++i) {
      const size_t at = i / 9 * 20 + (i % 9 / 3 + 1) * 4 + i % 3;
      sum += std::abs(static_cast<double>(x[at])) * static_cast<double>(w[i]);
    }
    CHECK(static_cast<double>(y[2 * 2]) == doctest::Approx(sum).epsilon(1e-5));
  }
}

}  // namespace
}  // namespace sluice_test
