// SPDX-License-Identifier: Apache-2.0
// Sequences through an LSTM.
#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
using tflite::TensorType;

struct Spec {
  float cell_scale = 1.0f / 2048;
  bool peephole = false, input_gate = true;
  tflite::Activation activation = tflite::Activation::TANH;
};

// Two inputs, one cell, three steps.
Bytes Lstm(const Spec& spec) {
  TinyModel model;
  const int x = model.AddTensor("x", {1, 3, 2}, TensorType::INT8, 0.05f, -3);
  std::vector<int32_t> inputs = {x};
  for (int i = 0; i < 4; ++i) {
    inputs.push_back(
        model.AddTensor("w", {1, 2}, TensorType::INT8, 0.01f, 0, {20, 250}));
  }
  for (int i = 0; i < 4; ++i) {
    inputs.push_back(model.AddTensor("r", {1, 1}, TensorType::INT8, 0.01f, 0, {9}));
  }
  for (int i = 0; i < 3; ++i) inputs.push_back(-1);
  for (int i = 0; i < 4; ++i) inputs.push_back(Int32s(&model, "b", {300}));
  inputs.insert(inputs.end(), {-1, -1});
  inputs.push_back(model.AddVariable("h", {1, 1}, TensorType::INT8, 1.0f / 128, 0));
  inputs.push_back(
      model.AddVariable("c", {1, 1}, TensorType::INT16, spec.cell_scale, 0));
  inputs.insert(inputs.end(), {-1, -1, -1, -1});
  if (spec.peephole) inputs[9] = inputs[1];
  if (!spec.input_gate) inputs[1] = inputs[5] = -1;
  const int y = model.AddTensor("y", {1, 3, 1}, TensorType::INT8, 1.0f / 128, 0);
  const auto options =
      tflite::CreateSequenceLSTMOptions(model.builder(), spec.activation);
  model.AddOperator(BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, inputs, {y},
                    BuiltinOptions::SequenceLSTMOptions, options.Union());
  return model.Finish({x}, {y});
}

TEST_CASE("tflite lstm: units multiply, the host computes the gates of each step") {
  const ImportAndGraph import = Import(Lstm({}));
  std::vector<int> ops = {SLUICE_OP_FULLY_CONNECTED};
  for (int step = 0; step < 3; ++step)
    ops.insert(ops.end(), {SLUICE_OP_FULLY_CONNECTED, SLUICE_OP_OPAQUE});
  ops.insert(ops.end(),
             {SLUICE_OP_CONCAT, SLUICE_OP_STATE_APPEND, SLUICE_OP_STATE_APPEND});
  CHECK(OpsOf(import) == ops);
  const std::vector<Bytes> inputs = {{10, 20, 30, 40, 50, 60}};
  std::vector<Bytes> states;
  sluice_sim::SimulateOptions options;
  options.graph = import.graph.data();
  options.graph_size = import.graph.size();
  options.inputs = &inputs;
  options.state_tensors = &states;
  const sluice_sim::SimulateResult first = sluice_sim::RunReference(options);
  REQUIRE_MESSAGE(first.ok, first.error);
  REQUIRE(states.size() == 2);
  CHECK(states[0].at(0) == first.outputs[0].at(2));  // the last output
  const sluice_sim::SimulateResult second = sluice_sim::RunReference(options);
  CHECK(second.outputs[0] != first.outputs[0]);
}

TEST_CASE("tflite lstm: what the function does not compute is refused by name") {
  const auto why = [](const Spec& spec) {
    const std::string message = MessageOf(Lstm(spec));
    const size_t from = message.find('('), to = message.rfind(')');
    return from == std::string::npos ? "" : message.substr(from + 1, to - from - 1);
  };
  Spec scale, peephole, gate, activation;
  scale.cell_scale = 0.001f;
  CHECK(why(scale) == "a cell whose scale is not a power of two from 2^-15 to 2^-9");
  peephole.peephole = true;
  CHECK(why(peephole) == "a peephole of some gates alone");
  gate.input_gate = false;
  CHECK(why(gate) == "half an input gate");
  activation.activation = tflite::Activation::RELU;
  CHECK(why(activation) == "missing options, or another activation than tanh");
}

}  // namespace
}  // namespace sluice::import
