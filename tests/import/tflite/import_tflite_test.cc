// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/rng.h"
#include "import/tflite/tflite_model.h"
#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

void CheckFlips(const Bytes& whole, int flips, uint64_t seed) {
  Rng rng(seed);
  for (int i = 0; i < flips; ++i) {
    Bytes damaged = whole;
    const uint32_t at = rng.Below(static_cast<uint32_t>(whole.size()));
    damaged[at] = static_cast<uint8_t>(damaged[at] ^ (1 + rng.Below(255)));
    const int outcome = Outcome(damaged);
    const bool refused = outcome == kBadInput || outcome == kUnsupported;
    REQUIRE_MESSAGE((outcome == kDone || refused), "byte " << at);
  }
}

TEST_CASE("import: damaged bytes are an error or another model, never a crash") {
  CheckFlips(TinyConvolution(), 4000, 1);
  for (const char* name : {"kws_ref_model_int8", "micro_speech_int8"}) {
    const std::string path =
        SharedPath(std::string("models/tflite/") + name + ".tflite");
    if (!Absent(path)) CheckFlips(ReadFile(path), 1000, 2);
  }
}

Bytes UnknownOperators() {
  TinyModel model;
  const auto int8 = tflite::TensorType::INT8;
  const auto real = tflite::TensorType::FLOAT32;
  const int x = model.AddTensor("x", {1, 8}, int8, 0.5f, 0);
  const int a = model.AddTensor("a", {1, 8}, int8, 0.5f, 0);
  const int b = model.AddTensor("b", {1, 8}, int8, 0.5f, 0);
  const int c = model.AddTensor("c", {1, 8}, real, 0, 0);
  const int d = model.AddTensor("d", {1, 8}, real, 0, 0);
  using tflite::BuiltinOperator;
  const auto none = tflite::BuiltinOptions::NONE;
  model.AddOperator(BuiltinOperator::CUSTOM, {x}, {a}, none, 0, "Wobble");
  model.AddOperator(BuiltinOperator::CUSTOM, {a}, {b}, none, 0, "Wobble");
  model.AddOperator(BuiltinOperator::DEQUANTIZE, {b}, {c});
  model.AddOperator(BuiltinOperator::RELU, {c}, {d});
  return model.Finish({x}, {d});
}

TEST_CASE("import: every unknown operator is listed with its count") {
  const std::string message = MessageOf(UnknownOperators());
  CHECK(message.find("2 x CUSTOM:Wobble (an operator of your own: ") !=
        std::string::npos);
  CHECK(message.find("DEQUANTIZE") == std::string::npos);  // the host computes it
  CHECK(message.find("RELU") == std::string::npos);
}

TEST_CASE("import: operators that no output needs are left out, and said") {
  TinyModel model;
  const auto int8 = tflite::TensorType::INT8;
  const int x = model.AddTensor("x", {1, 8}, int8, 0.5f, 0);
  const int y = model.AddTensor("y", {1, 8}, int8, 0.5f, 0);
  const int z = model.AddTensor("z", {1, 8}, int8, 0.5f, 0);
  model.AddOperator(tflite::BuiltinOperator::CUSTOM, {x}, {y},
                    tflite::BuiltinOptions::NONE, 0, "Wobble");
  model.AddOperator(tflite::BuiltinOperator::RELU, {x}, {z});
  const ImportAndGraph import = Import(model.Finish({x}, {z}));
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_REQUANTIZE});
  REQUIRE(import.folded.size() == 1);
  CHECK(import.folded[0].name == "CUSTOM:Wobble");
  CHECK(import.folded[0].reason == kNotNeeded);
}

TEST_CASE("import: unknown operators may be left to the host") {
  const ImportAndGraph import = Import(UnknownOperators(), true);
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  REQUIRE(graph.layer_op()->size() == 4);
  for (uint16_t op : *graph.layer_op()) CHECK(op == SLUICE_OP_OPAQUE);
  CHECK(graph.layer_attributes()->Get(SLUICE_OPAQUE_CYCLES_LO) == 16);
  const int32_t name = graph.layer_attributes()->Get(SLUICE_OPAQUE_NAME);
  CHECK(graph.names()->Get(static_cast<uint32_t>(name))->str() == "CUSTOM:Wobble");
  CHECK(import.opaque.size() == 3);
}

TEST_CASE("import: constants that somebody has in memory are named, and not held") {
  const Bytes bytes = TinyConvolution();
  TfliteModel model = ReadTfliteModel(bytes.data(), bytes.size());
  const ImportAndGraph held(LowerTflite(model, {}));
  for (size_t i = 0; i < model.tensors.size(); ++i) {
    if (model.tensors[i].data == nullptr) continue;
    model.tensors[i].file = "tensor " + std::to_string(i);
  }
  const ImportAndGraph named(LowerTflite(model, {}));
  CHECK(named.layers == held.layers);
  CHECK(named.operators == model.operators.size());
  CHECK(named.constant_bytes < held.constant_bytes);
  const auto& graph = *wire::GetGraph(named.graph.data());
  uint32_t external = 0;
  for (uint32_t t = 0; t < named.tensors; ++t) {
    if (graph.tensor_source()->Get(t) != 2) continue;
    ++external;
    const std::string file =
        graph.names()->Get(graph.tensor_source_file()->Get(t))->str();
    CHECK(file.compare(0, 7, "tensor ") == 0);
    CHECK(graph.tensor_source_offset()->Get(t) == 0);
  }
  CHECK(external == 1);  // the weight; the bias is part of the parameters
}

TEST_CASE("import: large constants may stay in the model's file") {
  TinyModel tiny;
  const int x = tiny.AddTensor("x", {1, 64}, tflite::TensorType::INT8, 0.5f, 0);
  Bytes weights(64 * 64);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<uint8_t>(i * 7);
  const int w =
      tiny.AddTensor("w", {64, 64}, tflite::TensorType::INT8, 0.01f, 0, weights);
  const int y = tiny.AddTensor("y", {1, 64}, tflite::TensorType::INT8, 2, 0);
  const auto full = tflite::CreateFullyConnectedOptions(tiny.builder());
  tiny.AddOperator(tflite::BuiltinOperator::FULLY_CONNECTED, {x, w}, {y},
                   tflite::BuiltinOptions::FullyConnectedOptions, full.Union());
  const Bytes model = tiny.Finish({x}, {y});
  TfliteImportOptions options;
  options.name = "test";
  options.model_file = "model.tflite";
  const ImportAndGraph in_place(ImportTflite(model.data(), model.size(), options));
  CHECK(in_place.constant_bytes < 2048);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "sluice_in_place";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "model.tflite", std::ios::binary)
      .write(reinterpret_cast<const char*>(model.data()),
             static_cast<std::streamsize>(model.size()));
  const std::vector<Bytes> inputs = {Bytes(64, 3)};
  sluice_sim::SimulateOptions run;
  run.graph = in_place.graph.data();
  run.graph_size = in_place.graph.size();
  run.inputs = &inputs;
  run.data_dir = folder.string();
  const auto result = sluice_sim::RunReference(run);
  std::filesystem::remove_all(folder);
  REQUIRE_MESSAGE(result.ok, result.error);
  CHECK(result.outputs.at(0) == OutputFor(Import(model), inputs[0]));
}

}  // namespace
}  // namespace sluice::import
