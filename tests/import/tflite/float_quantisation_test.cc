// SPDX-License-Identifier: Apache-2.0
// Models of floats that are quantised by ranges.
#include "import/tflite/float_quantisation.h"

#include <cstring>
#include <filesystem>

#include "support/files.h"
#include "support/shared_data.h"
#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
constexpr auto kReal = tflite::TensorType::FLOAT32;

Bytes Reals(const std::vector<float>& floats) {
  Bytes bytes(floats.size() * 4);
  std::memcpy(bytes.data(), floats.data(), bytes.size());
  return bytes;
}

ImportAndGraph Ranged(const Bytes& model, const FloatRanges& ranges) {
  TfliteImportOptions options;
  options.name = "test";
  options.ranges = ranges;
  return ImportAndGraph(ImportTflite(model.data(), model.size(), options));
}

std::vector<std::string> Missing(const Bytes& model, const FloatRanges& ranges) {
  std::vector<std::string> names;
  try {
    Ranged(model, ranges);
  } catch (const Refusal& refusal) {
    for (const UnsupportedOperator& tensor : refusal.list())
      names.push_back(tensor.name);
  }
  return names;
}

// y = relu(w x + b), then beside z in one tensor.
struct Joined {
  TinyModel model;
  Bytes Made() {
    const int x = model.AddTensor("x", {1, 2}, kReal, 0, 0);
    const int z = model.AddTensor("z", {1, 1}, kReal, 0, 0);
    const int w = model.AddTensor("w", {2, 2}, kReal, 0, 0, Reals({127, -127, 64, 0}));
    const int b = model.AddTensor("b", {2}, kReal, 0, 0, Reals({1, -2}));
    const int y = model.AddTensor("y", {1, 2}, kReal, 0, 0);
    const int j = model.AddTensor("j", {1, 3}, kReal, 0, 0);
    const auto full =
        tflite::CreateFullyConnectedOptions(model.builder(), tflite::Activation::RELU);
    model.AddOperator(BuiltinOperator::FULLY_CONNECTED, {x, w, b}, {y},
                      BuiltinOptions::FullyConnectedOptions, full.Union());
    const auto join = tflite::CreateConcatenationOptions(model.builder(), 1);
    model.AddOperator(BuiltinOperator::CONCATENATION, {y, z}, {j},
                      BuiltinOptions::ConcatenationOptions, join.Union());
    return model.Finish({x, z}, {j});
  }
};

TEST_CASE("tflite ranges: weights keep their values, joined tensors share a range") {
  Joined joined;
  const ImportAndGraph import =
      Ranged(joined.Made(), {{"x", {-128, 127}}, {"y", {0, 100}}, {"z", {-128, 127}}});
  CHECK(import.quantised);
  CHECK(import.shapes_only.empty());
  // All scales are 1 and zeros 0: 127 x0 - 127 x1 + 1, 64 x0 - 2.
  sluice_sim::SimulateOptions options;
  options.graph = import.graph.data();
  options.graph_size = import.graph.size();
  const std::vector<Bytes> inputs = {Stored({2, 2}), Stored({-5})};
  options.inputs = &inputs;
  const auto result = sluice_sim::RunReference(options);
  REQUIRE_MESSAGE(result.ok, result.error);
  CHECK(result.outputs.at(0) == Stored({1, 126, -5}));
}

TEST_CASE("tflite ranges: each tensor that needs a range is told") {
  Joined joined;
  const Bytes model = joined.Made();
  // y, z and j have one range between them.
  CHECK(Missing(model, {{"j", {-1, 1}}}) == std::vector<std::string>{"x"});
  CHECK(Missing(model, {{"x", {-1, 1}}}) == std::vector<std::string>{"z", "y", "j"});
  CHECK_THROWS_AS(Ranged(model, {{"nobody", {0, 1}}}), Error);
  CHECK_THROWS_AS(Ranged(TinyConvolution(), {{"x", {0, 1}}}), Error);
}

Bytes Integers(const std::vector<int32_t>& numbers) {
  Bytes bytes(numbers.size() * 4);
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

// Scale and zero point of the graph's output.
std::pair<float, int> OutputScale(const ImportAndGraph& import) {
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  for (uint32_t t = 0; t < graph.tensor_kind()->size(); ++t) {
    if (graph.tensor_kind()->Get(t) != 2) continue;
    return {graph.tensor_scale()->Get(t), graph.tensor_zero_point()->Get(t)};
  }
  return {};
}

// Where bytes are moved beside constants or zeros, all have one quantisation; before, each constant
// had its own, and the numbers were wrong without a word.
TEST_CASE("tflite ranges: what is put beside a tensor has its quantisation") {
  const auto kInt = tflite::TensorType::INT32;
  {
    TinyModel m;  // pads of -100 around x, at a scale of 2
    const int x = m.AddTensor("x", {1, 2}, kReal, 0, 0);
    const int pads = m.AddTensor("p", {2, 2}, kInt, 0, 0, Integers({0, 0, 1, 1}));
    const int value = m.AddTensor("v", {1}, kReal, 0, 0, Reals({-100}));
    const int y = m.AddTensor("y", {1, 4}, kReal, 0, 0);
    m.AddOperator(BuiltinOperator::PADV2, {x, pads, value}, {y});
    const ImportAndGraph import =
        Ranged(m.Finish({x}, {y}), {{"x", {-10, 10}}, {"y", {-200, 310}}});
    CHECK(OutputFor(import, Stored({-28, 127})) == Stored({-78, -28, 127, -78}));
  }
  {
    TinyModel m;  // rows of zeros around x: 0 is the zero point
    const int at = m.AddTensor("i", {1, 1}, kInt, 0, 0, Integers({1}));
    const int x = m.AddTensor("x", {1, 2}, kReal, 0, 0);
    const int shape = m.AddTensor("s", {2}, kInt, 0, 0, Integers({2, 2}));
    const int y = m.AddTensor("y", {2, 2}, kReal, 0, 0);
    m.AddOperator(BuiltinOperator::SCATTER_ND, {at, x, shape}, {y});
    const ImportAndGraph import =
        Ranged(m.Finish({x}, {y}), {{"x", {0, 254}}, {"y", {0, 254}}});
    CHECK(OutputFor(import, Stored({5, 127})) == Stored({0, 0, 5, 127}));
    CHECK(OutputScale(import) == std::pair<float, int>(2.0f, 0));
  }
}

// A calibrator gives a range for every tensor; the kernel of SOFTMAX knows one quantisation.
TEST_CASE("tflite ranges: a range of a result whose kernel fixes it is not needed") {
  for (const auto op : {BuiltinOperator::SOFTMAX, BuiltinOperator::L2_NORMALIZATION}) {
    CAPTURE(op);
    TinyModel m;
    const int x = m.AddTensor("x", {1, 4}, kReal, 0, 0);
    const int y = m.AddTensor("y", {1, 4}, kReal, 0, 0);
    if (op == BuiltinOperator::SOFTMAX) {
      const auto softmax = tflite::CreateSoftmaxOptions(m.builder(), 1.0f);
      m.AddOperator(op, {x}, {y}, BuiltinOptions::SoftmaxOptions, softmax.Union());
    } else {
      m.AddOperator(op, {x}, {y});
    }
    const ImportAndGraph import =
        Ranged(m.Finish({x}, {y}), {{"x", {-2, 2}}, {"y", {0, 0.7f}}});
    CHECK(OutputScale(import).first ==
          (op == BuiltinOperator::SOFTMAX ? 1.0f / 256 : 1.0f / 128));
  }
}

// {tensor of the float model: range of the quantised one}.
FloatRanges RangesOfSibling(const Bytes& model) {
  FloatRanges ranges;
  const tflite::SubGraph& graph = *tflite::GetModel(model.data())->subgraphs()->Get(0);
  for (const tflite::Tensor* tensor : *graph.tensors()) {
    const auto* q = tensor->quantization();
    if (tensor->type() != tflite::TensorType::INT8 || q == nullptr ||
        q->scale() == nullptr || q->scale()->size() != 1) {
      continue;
    }
    std::string name = tensor->name()->str();
    if (name == "input_1_int8") name = "input_1";
    if (name == "Identity_int8" || name == "model/dense/MatMul") continue;
    const double scale = static_cast<double>(q->scale()->Get(0));
    const double zero = static_cast<double>(q->zero_point()->Get(0));
    ranges[name] = {static_cast<float>((-128 - zero) * scale),
                    static_cast<float>((127 - zero) * scale)};
  }
  return ranges;
}

TEST_CASE(
    "tflite ranges: a float network becomes the one that the converter quantised") {
  const std::string floats =
      sluice_test::SharedPath("models/people/pretrainedResnet.tflite");
  const std::string int8 =
      sluice_test::SharedPath("models/tflite/resnet8_cifar10_int8.tflite");
  if (!std::filesystem::exists(floats) || !std::filesystem::exists(int8)) {
    MESSAGE("skipped: " << floats << " is not there");
    return;
  }
  const Bytes sibling = sluice_test::ReadFile(int8);
  const ImportAndGraph made =
      Ranged(sluice_test::ReadFile(floats), RangesOfSibling(sibling));
  const ImportAndGraph theirs = Import(sibling);
  for (const int seed : {3, 50, 117}) {
    Bytes image(3072);
    for (size_t i = 0; i < image.size(); ++i) {
      image[i] = static_cast<uint8_t>(i * static_cast<size_t>(seed) / 7);
    }
    CHECK(OutputFor(made, image) == OutputFor(theirs, image));
  }
}

}  // namespace
}  // namespace sluice::import
