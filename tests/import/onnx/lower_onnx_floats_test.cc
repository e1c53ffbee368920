// SPDX-License-Identifier: Apache-2.0
// Networks quantised and executed by onnxruntime: the outputs must be the same.
// tests/models/onnx_models.py made the models and the outputs.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "firmware-sim/reference.h"
#include "support/files.h"
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"
#include "tests/zoo/planned.h"

namespace sluice_test {
namespace {

using Json = nlohmann::json;

const std::string& Folder() {
  static const std::string folder = std::string(SLUICE_GOLDENS_FOLDER) + "/networks/";
  return folder;
}

bool IsFloats(const std::string& line) {
  return line.find("bits of floats") != std::string::npos;
}

// Seeded inputs; an input of floats gets int8 numbers / 32.
std::vector<Bytes> InputsOf(const ImportAndGraph& import, uint64_t seed) {
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  std::vector<Bytes> inputs;
  for (uint32_t t = 0; t < graph.tensor_kind()->size(); ++t) {
    if (graph.tensor_kind()->Get(t) != 1) continue;
    size_t elements = 1;
    for (const int32_t extent : DimsOfTensor(import, t)) {
      elements *= static_cast<size_t>(extent);
    }
    const bool floats = IsFloats(import.interface[inputs.size()]);
    Bytes bytes = sluice_sim::SeededBytes(seed * 256 + inputs.size(),
                                          static_cast<int64_t>(elements));
    if (floats) {
      std::vector<float> reals;
      for (const uint8_t byte : bytes)
        reals.push_back(static_cast<int8_t>(byte) / 32.0f);
      bytes.resize(reals.size() * 4);
      std::memcpy(bytes.data(), reals.data(), bytes.size());
    }
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

void CompareFloats(const Bytes& got, const Json& want) {
  REQUIRE(got.size() >= want.size() * 4);
  for (size_t i = 0; i < want.size(); ++i) {
    float real = 0;
    std::memcpy(&real, got.data() + 4 * i, 4);
    CHECK(std::fabs(real - want[i].get<float>()) < 1e-4f);
  }
}

uint64_t HashOf(const Bytes& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

void CompareRun(const ImportAndGraph& import, const std::vector<Bytes>& outputs,
                const Json& run) {
  REQUIRE(outputs.size() == run["outputs"].size());
  const size_t first = import.interface.size() - outputs.size();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Json& want = run["outputs"][i];
    if (IsFloats(import.interface[first + i])) {
      CompareFloats(outputs[i], want);
    } else {
      CHECK(HashOf(outputs[i]) == std::stoull(want.get<std::string>(), nullptr, 16));
    }
  }
}

TEST_CASE("onnx networks: untiled and planned, they compute onnxruntime's bytes") {
  std::ifstream in(Folder() + "onnx_networks.json");
  const Json models = Json::parse(in)["models"];
  REQUIRE(models.size() == 15);
  for (const auto& [name, runs] : models.items()) {
    CAPTURE(name);
    const ImportAndGraph import = Import(ReadFile(Folder() + name + ".onnx"));
    CHECK(import.shapes_only.empty());
    for (const Json& run : runs) {
      const std::vector<Bytes> inputs = InputsOf(import, run["seed"]);
      sluice_sim::SimulateOptions options;
      options.graph = import.graph.data();
      options.graph_size = import.graph.size();
      options.inputs = &inputs;
      const auto result = sluice_sim::RunReference(options);
      REQUIRE_MESSAGE(result.ok, result.error);
      CompareRun(import, result.outputs, run);
    }
    const std::vector<Bytes> inputs = InputsOf(import, runs[0]["seed"]);
    Planned p(import.graph, "mcu-256k");
    CHECK(p.RefusedBy(p.plan) == "");
    sluice_sim::SimulateOptions options = p.Options();
    options.inputs = &inputs;
    CompareRun(import, p.Run(options).outputs, runs[0]);
  }
}

TEST_CASE("onnx floats: what no function computes is named") {
  TinyOnnx model;
  model.Input("x", {1, 4, 4});
  model.Quantised("x", "xq", 0.25f, 1);
  model.Node("Det", {"xq"}, {"y"});
  model.Output("y");
  CHECK(Says(Complaint(model.Finish()), "1 x Det (unknown)"));
}

// As older versions of onnxruntime's quantiser write a bias: as int32, by the scales.
TEST_CASE("onnx floats: a bias that is quantised at run time is added to int32 sums") {
  TinyOnnx model;
  model.Input("a", {1, 2}, onnx::TensorProto::INT8);
  model.Input("s", {}, onnx::TensorProto::FLOAT);
  model.Int8s("b", {2, 1}, {10, -20});
  model.Reals("c", {1}, {7.75f});
  model.Node("MatMulInteger", {"a", "b"}, {"m"});
  model.Node("Div", {"c", "s"}, {"steps"});
  TinyOnnx::Int(model.Node("Cast", {"steps"}, {"whole"}), "to",
                onnx::TensorProto::INT32);
  model.Node("Add", {"m", "whole"}, {"y"});
  model.Output("y", {}, onnx::TensorProto::INT32);
  const ImportAndGraph import = Import(model.Finish());
  // (5, 7) x (10, -20) = -90, and 7.75 / 0.5 = 15.5 without its fraction
  const std::vector<Bytes> inputs = {{5, 7}, {0, 0, 0, 63}};
  sluice_sim::SimulateOptions run;
  run.graph = import.graph.data();
  run.graph_size = import.graph.size();
  run.inputs = &inputs;
  const auto result = sluice_sim::RunReference(run);
  INFO(result.error);
  REQUIRE(result.ok);
  CHECK(result.outputs.at(0) == Bytes{181, 255, 255, 255});  // -75
}

TEST_CASE(
    "onnx floats: a vector is a row in front of a product and a column behind it") {
  const auto of = [](std::vector<int64_t> a, std::vector<int64_t> b,
                     const std::vector<int8_t>& weight, const Bytes& input) {
    TinyOnnx model;
    model.Input("a", a, onnx::TensorProto::INT8);
    model.Int8s("b", b, weight);
    model.Node("MatMulInteger", {"a", "b"}, {"y"});
    model.Output("y", {}, onnx::TensorProto::INT32);
    return OutputFor(Import(model.Finish()), input);
  };
  const Bytes row = {23, 0, 0, 0, 34, 0, 0, 0};  // (1, 2) x ((3, 4), (10, 15))
  CHECK(of({2}, {2, 2}, {3, 4, 10, 15}, {1, 2}) == row);
  CHECK(of({2, 2}, {2}, {1, 2}, {3, 10, 4, 15}) == row);
  CHECK(of({2}, {2}, {3, 10}, {1, 2}) == Bytes{23, 0, 0, 0});
}

}  // namespace
}  // namespace sluice_test
