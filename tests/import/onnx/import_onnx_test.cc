// SPDX-License-Identifier: Apache-2.0
// ONNX in: the same integers as ONNX's reference, the shapes of real networks, damaged bytes,
// sizes that a file does not hold.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/files.h"
#include "support/shared_data.h"
#include "tests/import/onnx/hostile.h"
#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"
#include "tests/solve/placement/judge.h"
#include "tests/zoo/planned.h"

namespace sluice_test {
namespace {

TEST_CASE("onnx: quantised models compute what ONNX's reference computes") {
  std::ifstream in(std::string(SLUICE_GOLDENS_FOLDER) + "/onnx.json");
  const nlohmann::json models = nlohmann::json::parse(in)["models"];
  REQUIRE(models.size() == 2);
  for (const auto& [name, runs] : models.items()) {
    CAPTURE(name);
    const ImportAndGraph import = Import(sluice_test::ReadFile(
        std::string(SLUICE_GOLDENS_FOLDER) + "/" + name + ".onnx"));
    CHECK(import.shapes_only.empty());
    CHECK(import.opaque.empty());
    Planned p(import.graph, "mcu-256k");
    CHECK(p.RefusedBy(p.plan) == "");
    REQUIRE(runs.size() == 3);
    for (const auto& run : runs) {
      sluice_sim::SimulateOptions options = p.Options();
      options.seed = run["seed"];
      const sluice_sim::SimulateResult result = p.Run(options);
      const std::string want = run["output_fnv1a"];
      CHECK(result.output_fnv1a == std::stoull(want, nullptr, 16));
    }
  }
}

struct Light {
  const char* name;
  int convolutions, pools, concats, adds, matrices;
  bool runs;  // run it: it is fast enough, and no layer needs a host function
};

TEST_CASE("onnx: the light models are imported whole, scheduled and verified") {
  const Light lights[] = {{"densenet121", 183, 5, 58, 0, 0, false},
                          {"inception_v1", 57, 14, 9, 0, 1, false},
                          {"resnet50", 53, 2, 0, 16, 1, false},
                          {"shufflenet", 49, 5, 3, 13, 1, true},
                          {"squeezenet", 26, 4, 8, 0, 0, true}};
  for (const Light& light : lights) {
    const std::string path =
        SharedPath("models/onnx/light_" + std::string(light.name) + ".onnx");
    if (!std::filesystem::exists(path)) {
      MESSAGE("skipped: " << path << " is not there");
      continue;
    }
    CAPTURE(light.name);
    OnnxImportOptions options;
    options.allow_opaque = true;
    const ImportAndGraph import = Import(sluice_test::ReadFile(path), options);
    CHECK(Count(import, SLUICE_OP_CONV) + Count(import, SLUICE_OP_DEPTHWISE_CONV) ==
          light.convolutions);
    CHECK(Count(import, SLUICE_OP_MAX_POOL) + Count(import, SLUICE_OP_AVERAGE_POOL) +
              Count(import, SLUICE_OP_REDUCE) ==
          light.pools);
    CHECK(Count(import, SLUICE_OP_CONCAT) == light.concats);
    CHECK(Count(import, SLUICE_OP_ADD) == light.adds);
    CHECK(Count(import, SLUICE_OP_FULLY_CONNECTED) == light.matrices);
    CHECK(!import.shapes_only.empty());
    Planned p(import.graph, "soma-edge");
    CHECK(p.RefusedBy(p.plan) == "");
    if (light.runs) CHECK(p.Run(p.Options()).outputs.at(0).size() == 1000);
  }
}

TEST_CASE("onnx: operators without meaning here are listed by name, or the host's") {
  TinyOnnx model;
  model.Input("x", {4, 8});
  model.Node("EyeLike", {"x"}, {"a"});
  model.Node("EyeLike", {"a"}, {"b"});
  model.Node("Frobnicate", {"b"}, {"c"})->set_domain("acme");
  model.Node("Relu", {"b"}, {"y"});
  model.Output("y");
  std::string text = Complaint(model.Finish());
  CHECK(Says(text, "2 x EyeLike (unknown)"));
  CHECK(!Says(text, "Frobnicate"));  // no output needs it
  OnnxImportOptions options;
  options.allow_opaque = true;
  options.opaque_cycles = 77;
  const ImportAndGraph import = Import(model.Finish(), options);
  CHECK(Count(import, SLUICE_OP_OPAQUE) == 2);
  REQUIRE(import.opaque.size() == 1);
  CHECK(import.opaque[0].count == 2);
  // A layer without a shape cannot even be left to the host.
  model.Output("c");
  text = Complaint(model.Finish(), options);
  CHECK(Says(text, "shape of tensor c"));
}

TEST_CASE("onnx: every truncation and many corruptions are refused or sound") {
  OnnxImportOptions options;
  options.allow_opaque = true;
  int refused = 0;
  const auto feed = [&](const Bytes& bytes) {
    try {
      const ImportAndGraph import = Import(bytes, options);
      flatbuffers::Verifier verifier(import.graph.data(), import.graph.size());
      CHECK(wire::VerifyGraphBuffer(verifier));
    } catch (const Error&) {
      ++refused;
    }
  };
  sluice::Rng rng(3);
  for (const char* name : {"qlinear.onnx", "qdq_cnn.onnx"}) {
    CAPTURE(std::string(name));
    const Bytes whole =
        sluice_test::ReadFile(std::string(SLUICE_GOLDENS_FOLDER) + "/" + name);
    refused = 0;
    for (size_t size = 0; size < whole.size(); ++size) {
      feed(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    }
    CHECK(refused == static_cast<int>(whole.size()));
    for (int i = 0; i < 1500; ++i) {
      Bytes bytes = whole;
      const uint32_t at = rng.Below(static_cast<uint32_t>(bytes.size()));
      bytes[at] = static_cast<uint8_t>(rng.Below(256));
      feed(bytes);
    }
    // Zeroes four bytes at a time: a scale of zero, a constant of another type.
    for (size_t at = 0; at + 4 <= whole.size(); at += 4) {
      Bytes bytes = whole;
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 4, uint8_t{0});
      feed(bytes);
    }
  }
}

TEST_CASE(
    "onnx: sizes that the file does not hold are refused before memory is taken") {
  const auto wide_weight = [](TinyOnnx* m) {
    m->Integers("shape", {kHuge, 4});
    m->Node("ConstantOfShape", {"shape"}, {"w"});
    m->Input("x", {1, 4});
    TinyOnnx::Int(m->Node("Gemm", {"x", "w"}, {"y"}), "transB", 1);
  };
  const auto wide_norm = [](TinyOnnx* m) {
    m->Input("x", {1, kHuge, 1, 1});
    m->Floats("s", {1});
    m->Node("BatchNormalization", {"x", "s", "s", "s", "s"}, {"y"});
  };
  CheckEach({{"a weight whose shape is computed", wide_weight, SLUICE_OUT_OF_MEMORY},
             {"factors of many channels", wide_norm, SLUICE_OUT_OF_MEMORY}});
}

TEST_CASE("onnx: where shapes end, unknown operators behind are listed too") {
  TinyOnnx model;
  model.Input("x", {1, 4});
  model.Node("Foo", {"x"}, {"a"});
  model.Node("Relu", {"a"}, {"b"});
  model.Node("Bar", {"b"}, {"c"});
  model.Node("Bar", {"c"}, {"d"});
  model.Output("d");
  const std::string said = Complaint(model.Finish());
  CHECK(Says(said, "1 x Foo"));
  CHECK(Says(said, "2 x Bar"));
}

TEST_CASE("onnx: weights of any size may be absent where floats give shapes alone") {
  TinyOnnx model;
  model.Input("x", {1, 4});
  onnx::TensorProto* w = model.Floats("w", {4, 3});
  w->clear_float_data();
  w->set_data_location(onnx::TensorProto::EXTERNAL);
  auto* where = w->add_external_data();
  where->set_key("location");
  where->set_value("absent.bin");
  model.Node("MatMul", {"x", "w"}, {"y"});
  model.Output("y");
  const ImportAndGraph import = Import(model.Finish());
  CHECK(import.shapes_only.size() == 1);
  CHECK(Count(import, SLUICE_OP_FULLY_CONNECTED) == 1);
}

TEST_CASE("onnx: a transposed convolution whose extents are given is refused") {
  TinyOnnx model;
  model.Input("x", {1, 2, 4, 4});
  model.Floats("w", {2, 3, 3, 3});
  onnx::NodeProto* node = model.Node("ConvTranspose", {"x", "w"}, {"y"});
  TinyOnnx::Ints(node, "output_shape", {6, 6});
  model.Output("y");
  CHECK(Says(Complaint(model.Finish()), "pads that the runtime computes"));
}

}  // namespace
}  // namespace sluice_test
