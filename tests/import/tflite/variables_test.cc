// SPDX-License-Identifier: Apache-2.0
// Resource variables: several runs in a row.
#include "import/tflite/variables.h"

#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
using tflite::TensorType;
constexpr auto kInt8 = tflite::TensorType::INT8;

// Runs a model several times; each run starts with the states that the last one left.
struct Runs {
  Bytes graph;
  std::vector<Bytes> states;
  Bytes Next(const Bytes& input) {
    const std::vector<Bytes> inputs = {input};
    sluice_sim::SimulateOptions options;
    options.graph = graph.data();
    options.graph_size = graph.size();
    options.inputs = &inputs;
    options.state_tensors = &states;
    const sluice_sim::SimulateResult result = sluice_sim::RunReference(options);
    INFO(result.error);
    REQUIRE(result.ok);
    return result.outputs.at(0);
  }
};

// A delay: y = [x of the run before, x]. In the first run the initialiser's value is x.
struct Delay {
  TinyModel model;
  int handle = model.AddTensor("h", {}, TensorType::RESOURCE, 0, 0);
  int old = model.AddTensor("old", {1, 2}, kInt8, 0.5f, 0);
  int x = model.AddTensor("x", {1, 2}, kInt8, 0.5f, 0);
  int y = model.AddTensor("y", {1, 4}, kInt8, 0.5f, 0);

  void Once(int subgraph) {
    const auto options = tflite::CreateCallOnceOptions(model.builder(), subgraph);
    model.AddOperator(BuiltinOperator::CALL_ONCE, {}, {},
                      BuiltinOptions::CallOnceOptions, options.Union());
  }
  void Handle(int tensor) {
    const auto options =
        tflite::CreateVarHandleOptionsDirect(model.builder(), "", "memory");
    model.AddOperator(BuiltinOperator::VAR_HANDLE, {}, {tensor},
                      BuiltinOptions::VarHandleOptions, options.Union());
  }
  void Body() {
    Handle(handle);
    model.AddOperator(BuiltinOperator::READ_VARIABLE, {handle}, {old});
    // Assigned before the layer that reads the old value runs.
    model.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {handle, x}, {});
    const auto options = tflite::CreateConcatenationOptions(model.builder(), 1);
    model.AddOperator(BuiltinOperator::CONCATENATION, {old, x}, {y},
                      BuiltinOptions::ConcatenationOptions, options.Union());
  }
  Bytes WithInitialiser() {
    Once(1);
    Body();
    model.NextSubgraph({x}, {y});
    const int other = model.AddTensor("h", {}, TensorType::RESOURCE, 0, 0);
    const int value = model.AddTensor("v", {1, 2}, kInt8, 0.5f, 0, {8, 9});
    Handle(other);
    model.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {other, value}, {});
    return model.Finish({}, {});
  }
};

TEST_CASE("tflite variables: a run sees what the one before has assigned") {
  Delay delay;
  const ImportAndGraph import = Import(delay.WithInitialiser());
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_CONCAT, SLUICE_OP_STATE_APPEND});
  Runs runs = {import.graph, {}};
  CHECK(runs.Next({1, 2}) == Bytes{8, 9, 1, 2});
  CHECK(runs.Next({3, 4}) == Bytes{1, 2, 3, 4});
  CHECK(runs.Next({5, 6}) == Bytes{3, 4, 5, 6});
  size_t states = 0;
  for (const UnsupportedOperator& entry : import.folded) {
    states += entry.reason == kBecameState ? entry.count : 0;
  }
  CHECK(states == 4);
}

TEST_CASE("tflite variables: without an initialiser they start as zeros") {
  Delay delay;
  delay.Body();
  Runs runs = {Import(delay.model.Finish({delay.x}, {delay.y})).graph, {}};
  CHECK(runs.Next({1, 2}) == Bytes{0, 0, 1, 2});
  CHECK(runs.Next({3, 4}) == Bytes{1, 2, 3, 4});
}

TEST_CASE("tflite variables: what is read behind an assignment is what was assigned") {
  Delay delay;
  delay.Handle(delay.handle);
  delay.model.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {delay.handle, delay.x},
                          {});
  delay.model.AddOperator(BuiltinOperator::READ_VARIABLE, {delay.handle}, {delay.old});
  const auto options = tflite::CreateConcatenationOptions(delay.model.builder(), 1);
  delay.model.AddOperator(BuiltinOperator::CONCATENATION, {delay.old, delay.x},
                          {delay.y}, BuiltinOptions::ConcatenationOptions,
                          options.Union());
  const ImportAndGraph import = Import(delay.model.Finish({delay.x}, {delay.y}));
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_CONCAT});
  CHECK(OutputFor(import, {1, 2}) == Bytes{1, 2, 1, 2});
}

TEST_CASE("tflite variables: what cannot be a state is refused by name") {
  Delay absent;
  absent.Once(7);
  absent.Body();
  CHECK(MessageOf(absent.model.Finish({absent.x}, {absent.y}))
            .find("an operator calls subgraph 7, which does not exist") !=
        std::string::npos);
  Delay itself;
  itself.Once(0);
  itself.Body();
  CHECK(MessageOf(itself.model.Finish({itself.x}, {itself.y})) ==
        "resource variables: an initialiser that is not there");
  Delay unnamed;
  unnamed.model.AddOperator(BuiltinOperator::READ_VARIABLE, {unnamed.x}, {unnamed.old});
  const auto options = tflite::CreateConcatenationOptions(unnamed.model.builder(), 1);
  unnamed.model.AddOperator(BuiltinOperator::CONCATENATION, {unnamed.old, unnamed.x},
                            {unnamed.y}, BuiltinOptions::ConcatenationOptions,
                            options.Union());
  CHECK(MessageOf(unnamed.model.Finish({unnamed.x}, {unnamed.y})) ==
        "resource variables: a variable that no VAR_HANDLE of its subgraph names");
}

// As Delay, but the variable holds floats, which QUANTIZE reads and DEQUANTIZE writes; the
// output is what is assigned where `shown`.
struct FloatDelay {
  TinyModel model;
  void Handle(int tensor) {
    const auto options =
        tflite::CreateVarHandleOptionsDirect(model.builder(), "", "memory");
    model.AddOperator(BuiltinOperator::VAR_HANDLE, {}, {tensor},
                      BuiltinOptions::VarHandleOptions, options.Union());
  }
  Bytes Made(float first, float second, float scale_after) {
    constexpr auto kReal = TensorType::FLOAT32;
    const int handle = model.AddTensor("h", {}, TensorType::RESOURCE, 0, 0);
    const int old = model.AddTensor("old", {1, 2}, kReal, 0, 0);
    const int q = model.AddTensor("q", {1, 2}, kInt8, 0.5f, -3);
    const int x = model.AddTensor("x", {1, 2}, kInt8, 0.5f, -3);
    const int y = model.AddTensor("y", {1, 4}, kInt8, 0.5f, -3);
    const int z = model.AddTensor("z", {1, 2}, kInt8, scale_after, -3);
    const int next = model.AddTensor("next", {1, 2}, kReal, 0, 0);
    const auto once = tflite::CreateCallOnceOptions(model.builder(), 1);
    model.AddOperator(BuiltinOperator::CALL_ONCE, {}, {},
                      BuiltinOptions::CallOnceOptions, once.Union());
    Handle(handle);
    model.AddOperator(BuiltinOperator::READ_VARIABLE, {handle}, {old});
    model.AddOperator(BuiltinOperator::QUANTIZE, {old}, {q});
    const auto options = tflite::CreateConcatenationOptions(model.builder(), 1);
    model.AddOperator(BuiltinOperator::CONCATENATION, {q, x}, {y},
                      BuiltinOptions::ConcatenationOptions, options.Union());
    model.AddOperator(BuiltinOperator::RELU, {x}, {z});
    model.AddOperator(BuiltinOperator::DEQUANTIZE, {z}, {next});
    model.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {handle, next}, {});
    model.NextSubgraph({x}, {y, next});
    const int other = model.AddTensor("h", {}, TensorType::RESOURCE, 0, 0);
    const float floats[] = {first, second};
    Bytes bytes(8);
    std::memcpy(bytes.data(), floats, 8);
    const int value = model.AddTensor("v", {1, 2}, kReal, 0, 0, bytes);
    Handle(other);
    model.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {other, value}, {});
    return model.Finish({}, {});
  }
};

TEST_CASE(
    "tflite variables: floats between QUANTIZE and DEQUANTIZE are stored as these") {
  const ImportAndGraph import = Import(FloatDelay().Made(1.5f, -2, 0.5f));
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_CONCAT, SLUICE_OP_REQUANTIZE,
                                          SLUICE_OP_STATE_APPEND});
  Runs runs = {import.graph, {}};
  CHECK(runs.Next(Stored({7, -4})) == Stored({0, -7, 7, -4}));
  CHECK(runs.Next(Stored({1, 2})) == Stored({7, -3, 1, 2}));
}

TEST_CASE(
    "tflite variables: what is assigned may be the output that a DEQUANTIZE left") {
  Delay delay;
  const int z = delay.model.AddTensor("z", {1, 2}, kInt8, 0.5f, 0);
  const int out = delay.model.AddTensor("out", {1, 2}, TensorType::FLOAT32, 0, 0);
  delay.Handle(delay.handle);
  delay.model.AddOperator(BuiltinOperator::READ_VARIABLE, {delay.handle}, {delay.old});
  const auto options = tflite::CreateConcatenationOptions(delay.model.builder(), 1);
  delay.model.AddOperator(BuiltinOperator::CONCATENATION, {delay.old, delay.x},
                          {delay.y}, BuiltinOptions::ConcatenationOptions,
                          options.Union());
  delay.model.AddOperator(BuiltinOperator::RELU, {delay.x}, {z});
  delay.model.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {delay.handle, z}, {});
  delay.model.AddOperator(BuiltinOperator::DEQUANTIZE, {z}, {out});
  Runs runs = {Import(delay.model.Finish({delay.x}, {delay.y, out})).graph, {}};
  CHECK(runs.Next(Stored({7, -4})) == Stored({0, 0, 7, -4}));
  CHECK(runs.Next(Stored({1, 2})) == Stored({7, 0, 1, 2}));
}

// 1.6 is no multiple of 0.5; and what is written in other steps is read in these.
TEST_CASE("tflite variables: floats that are no stored numbers stay floats") {
  for (const auto& [first, scale] :
       {std::pair<float, float>{1.6f, 0.5f}, {1.5f, 0.7f}}) {
    Runs runs = {Import(FloatDelay().Made(first, -2, scale)).graph, {}};
    CHECK(runs.Next(Stored({7, -4})) == Stored({0, -7, 7, -4}));
    // 5.0 is 7 steps of 0.7, that is 4.9, and 10 steps of 0.5 in both cases.
    CHECK(runs.Next(Stored({1, 2})) == Stored({7, -3, 1, 2}));
  }
}

// y = [past, x]; present is y, or half of it in steps twice as large.
struct Cached {
  TinyModel model;
  Bytes Made(float scale, int zero, int elements) {
    const int past = model.AddTensor("past_1", {1, 2}, kInt8, 0.5f, zero);
    const int x = model.AddTensor("x", {1, 2}, kInt8, 0.5f, zero);
    const int y = model.AddTensor("y", {1, 2}, kInt8, 0.5f, zero);
    const int present = model.AddTensor("present_1", {1, elements}, kInt8, scale, 0);
    const auto add = tflite::CreateAddOptions(model.builder());
    model.AddOperator(BuiltinOperator::ADD, {past, x}, {y}, BuiltinOptions::AddOptions,
                      add.Union());
    model.AddOperator(BuiltinOperator::QUANTIZE, {x}, {present});
    return model.Finish({past, x}, {y, present});
  }
};

ImportAndGraph WithStates(const Bytes& model, const StateNames& names) {
  TfliteImportOptions options;
  options.name = "test";
  options.states = names;
  return ImportAndGraph(ImportTflite(model.data(), model.size(), options));
}

TEST_CASE("tflite variables: an input that holds what an output was becomes a state") {
  Cached cached;
  const Bytes model = cached.Made(0.5f, 0, 2);
  CHECK(Import(model).inputs == 2);
  const ImportAndGraph import = WithStates(model, {{}, true});
  CHECK(import.inputs == 1);
  CHECK(import.outputs == 1);
  CHECK(import.interface == std::vector<std::string>{"state past_1 <- present_1"});
  Runs runs = {import.graph, {}};
  CHECK(runs.Next({1, 2}) == Bytes{1, 2});
  CHECK(runs.Next({3, 4}) == Bytes{4, 6});
  CHECK(runs.Next({0, 0}) == Bytes{3, 4});
  CHECK(WithStates(model, {{{"past_1", "present_1"}}, false}).graph == import.graph);
}

TEST_CASE(
    "tflite variables: a state is requantised, and zeros are zeros in real numbers") {
  Cached cached;
  const ImportAndGraph import = WithStates(cached.Made(1.0f, 10, 2), {{}, true});
  Runs runs = {import.graph, {}};
  CHECK(runs.Next({12, 14}) == Bytes{12, 14});  // 10 + (2, 4), the state is (0, 0)
  // Steps of 1: 1 and 2, in steps of 1/2: 2 and 4.
  CHECK(runs.Next({10, 10}) == Bytes{12, 14});
}

TEST_CASE("tflite variables: a state whose output has other extents is refused") {
  Cached cached;
  try {
    WithStates(cached.Made(0.5f, 0, 1), {{}, true});
    FAIL("it was accepted");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::kUnsupported);
    CHECK(std::string(error.what()).find(kOtherExtents) != std::string::npos);
  }
}

}  // namespace
}  // namespace sluice::import
