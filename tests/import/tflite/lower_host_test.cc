// SPDX-License-Identifier: Apache-2.0
// Operators that the host executes: 16-bit activations and SVDF.
#include <algorithm>

#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
using tflite::TensorType;

std::vector<int16_t> Shorts(const Bytes& bytes) {
  std::vector<int16_t> numbers(bytes.size() / 2);
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}
Bytes BytesOf(const std::vector<int16_t>& numbers) {
  Bytes bytes(numbers.size() * 2);
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

TEST_CASE(
    "tflite host: 16-bit products are a unit's between two of the host's, and "
    "reported") {
  TinyModel model;
  const int x = model.AddTensor("x", {1, 2}, TensorType::INT16, 0.5f, 0);
  const int w =
      model.AddTensor("w", {3, 2}, TensorType::INT8, 1.0f, 0, {1, 0, 0, 1, 2, 255});
  const int y = model.AddTensor("y", {1, 3}, TensorType::INT16, 0.5f, 0);
  const auto options =
      tflite::CreateFullyConnectedOptions(model.builder(), tflite::Activation::RELU);
  model.AddOperator(BuiltinOperator::FULLY_CONNECTED, {x, w, -1}, {y},
                    BuiltinOptions::FullyConnectedOptions, options.Union());
  const ImportAndGraph import = Import(model.Finish({x}, {y}));
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_OPAQUE, SLUICE_OP_FULLY_CONNECTED,
                                          SLUICE_OP_FULLY_CONNECTED, SLUICE_OP_OPAQUE});
  REQUIRE(import.opaque.size() == 1);
  CHECK(import.opaque[0].name == "FULLY_CONNECTED");
  CHECK(import.opaque[0].reason == "by a host function");
  CHECK(Shorts(OutputFor(import, BytesOf({1000, -7}))) ==
        std::vector<int16_t>{1000, 0, 2007});
}

TEST_CASE("tflite host: 16-bit activations that are added, padded or leak are tiled") {
  TinyModel model;
  const int x = model.AddTensor("x", {1, 3}, TensorType::INT16, 0.5f, 0);
  const int y = model.AddTensor("y", {1, 3}, TensorType::INT16, 0.5f, 0);
  const auto options = tflite::CreateLeakyReluOptions(model.builder(), 0.5f);
  model.AddOperator(BuiltinOperator::LEAKY_RELU, {x}, {y},
                    BuiltinOptions::LeakyReluOptions, options.Union());
  const ImportAndGraph import = Import(model.Finish({x}, {y}));
  CHECK(import.opaque.empty());
  CHECK(Shorts(OutputFor(import, BytesOf({-2000, 0, 3000}))) ==
        std::vector<int16_t>{-1000, 0, 3000});
}

TEST_CASE("tflite host: 16-bit scales that are powers of two are refused by name") {
  for (const float scale : {0.5f, 0.3f}) {
    TinyModel model;
    const int x = model.AddTensor("x", {1, 3}, TensorType::INT16, scale, 0);
    const int y = model.AddTensor("y", {1, 3}, TensorType::INT16, 0.5f, 0);
    model.AddOperator(BuiltinOperator::ADD, {x, x}, {y});
    const std::string why = MessageOf(model.Finish({x}, {y}));
    CHECK((why.find("16-bit scales that are powers of two") != std::string::npos) ==
          (scale == 0.5f));
  }
}

TEST_CASE("tflite host: a 16-bit weight or zero point is refused") {
  TinyModel model;
  const int x = model.AddTensor("x", {1, 2}, TensorType::INT16, 0.5f, 3);
  const int w = model.AddTensor("w", {1, 2}, TensorType::INT8, 1.0f, 0, {1, 0});
  const int y = model.AddTensor("y", {1, 1}, TensorType::INT16, 0.5f, 0);
  const auto options = tflite::CreateFullyConnectedOptions(model.builder());
  model.AddOperator(BuiltinOperator::FULLY_CONNECTED, {x, w, -1}, {y},
                    BuiltinOptions::FullyConnectedOptions, options.Union());
  CHECK(MessageOf(model.Finish({x}, {y}))
            .find("1 x FULLY_CONNECTED (16-bit numbers with a zero point)") !=
        std::string::npos);
}

// Rows of this many 16-bit numbers by one column.
ImportAndGraph Wide(int32_t depth) {
  TinyModel model;
  const int x = model.AddTensor("x", {1, depth}, TensorType::INT16, 0.5f, 0);
  const int w = model.AddTensor("w", {1, depth}, TensorType::INT8, 1.0f, 0,
                                Bytes(static_cast<size_t>(depth), 1));
  const int y = model.AddTensor("y", {1, 1}, TensorType::INT16, 0.5f, 0);
  const auto options = tflite::CreateFullyConnectedOptions(model.builder());
  model.AddOperator(BuiltinOperator::FULLY_CONNECTED, {x, w, -1}, {y},
                    BuiltinOptions::FullyConnectedOptions, options.Union());
  return Import(model.Finish({x}, {y}));
}

TEST_CASE("tflite host: both bytes of 16-bit numbers are multiplied by a unit") {
  const ImportAndGraph import = Wide(2);
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  CHECK(std::count(graph.layer_op()->begin(), graph.layer_op()->end(),
                   SLUICE_OP_FULLY_CONNECTED) == 2);
  const std::vector<Bytes> inputs = {{0xff, 0xff, 0x03, 0x01}};  // -1 and 259
  sluice_sim::SimulateOptions options;
  options.graph = import.graph.data();
  options.graph_size = import.graph.size();
  options.inputs = &inputs;
  const sluice_sim::SimulateResult result = sluice_sim::RunReference(options);
  REQUIRE_MESSAGE(result.ok, result.error);
  CHECK(result.outputs.at(0) == Bytes{0x02, 0x01});
}

TEST_CASE("tflite host: sums that 32 bits may not hold are the host's") {
  for (const int32_t depth : {32768, 32769}) {
    const ImportAndGraph import = Wide(depth);
    const wire::Graph& graph = *wire::GetGraph(import.graph.data());
    CHECK(std::count(graph.layer_op()->begin(), graph.layer_op()->end(),
                     SLUICE_OP_FULLY_CONNECTED) == (depth == 32768 ? 2 : 0));
  }
}

// x -> Wobble -> y, z: an unknown operator that is left to the host.
ImportAndGraph Wobble() {
  TinyModel model;
  const int x = model.AddTensor("x", {4}, TensorType::INT8, 0.5f, 0);
  const int y = model.AddTensor("y", {4}, TensorType::INT8, 0.5f, 0);
  const int z = model.AddTensor("z", {4}, TensorType::INT8, 0.5f, 0);
  model.AddOperator(BuiltinOperator::CUSTOM, {x}, {y, z}, BuiltinOptions::NONE, 0,
                    "Wobble");
  return Import(model.Finish({x}, {y, z}), true);
}

using Functions = std::map<std::string, sluice_sim::HostFunction>;

sluice_sim::SimulateResult RunWobble(const Functions* functions) {
  const ImportAndGraph import = Wobble();
  const std::vector<Bytes> inputs = {{1, 2, 3, 4}};
  sluice_sim::SimulateOptions options;
  options.graph = import.graph.data();
  options.graph_size = import.graph.size();
  options.inputs = &inputs;
  options.host_functions = functions;
  return sluice_sim::RunReference(options);
}

TEST_CASE("tflite host: a custom operator is the caller's function of its name") {
  using sluice_sim::HostOperand;
  Functions functions;
  functions["CUSTOM:Wobble"] = [](const std::vector<HostOperand>& in,
                                  const std::vector<HostOperand>& out) {
    for (size_t i = 0; i < 4; ++i) {
      (*out[0].bytes)[i] = static_cast<uint8_t>((*in[0].bytes)[i] + 1);
      (*out[1].bytes)[i] = static_cast<uint8_t>((*in[0].bytes)[i] * 2);
    }
    return std::string();
  };
  const sluice_sim::SimulateResult good = RunWobble(&functions);
  REQUIRE_MESSAGE(good.ok, good.error);
  CHECK(good.outputs.at(0) == Bytes{2, 3, 4, 5});
  CHECK(good.outputs.at(1) == Bytes{2, 4, 6, 8});
  functions["CUSTOM:Wobble"] = [](const std::vector<HostOperand>&,
                                  const std::vector<HostOperand>&) {
    return std::string("not today");
  };
  CHECK(RunWobble(&functions).error.find("CUSTOM:Wobble: not today") !=
        std::string::npos);
  CHECK(RunWobble(nullptr).error.find("no host function \"CUSTOM:Wobble\" is known") !=
        std::string::npos);
}

}  // namespace
}  // namespace sluice::import
