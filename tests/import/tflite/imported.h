// SPDX-License-Identifier: Apache-2.0
// Imports hand-made models and reads the graphs that come of them.
#ifndef SLUICE_TESTS_IMPORT_TFLITE_IMPORTED_H_
#define SLUICE_TESTS_IMPORT_TFLITE_IMPORTED_H_

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "firmware-sim/sim.h"
#include "import/error.h"
#include "import/tflite/import_tflite.h"
#include "sluice/graph_generated.h"
#include "sluice/ops.h"
#include "support/files.h"
#include "support/shared_data.h"
#include "tests/import/import_and_graph.h"
#include "tests/import/tiny_model.h"

namespace sluice::import {

using sluice_test::ImportAndGraph;
using sluice_test::ReadFile;
using sluice_test::SharedPath;

inline bool Absent(const std::string& path) {
  if (std::filesystem::exists(path)) return false;
  MESSAGE("skipped: " << path << " is not there");
  return true;
}

inline ImportAndGraph Import(const Bytes& bytes, bool allow_opaque = false) {
  TfliteImportOptions options;
  options.name = "test";
  options.allow_opaque = allow_opaque;
  return ImportAndGraph(ImportTflite(bytes.data(), bytes.size(), options));
}

constexpr int kDone = -1;
constexpr int kBadInput = static_cast<int>(Fault::kBadInput);
constexpr int kUnsupported = static_cast<int>(Fault::kUnsupported);

// The fault of an import, or kDone. A graph that is made must be a valid flatbuffer.
inline int Outcome(const Bytes& bytes) {
  try {
    const ImportAndGraph import = Import(bytes);
    flatbuffers::Verifier verifier(import.graph.data(), import.graph.size());
    CHECK(wire::VerifyGraphBuffer(verifier));
    return kDone;
  } catch (const Error& failure) {
    return static_cast<int>(failure.fault());
  }
}

inline std::string MessageOf(const Bytes& bytes) {
  try {
    Import(bytes);
  } catch (const Error& failure) {
    return failure.what();
  }
  return {};
}

// The attributes of layer `l`.
inline std::vector<int32_t> AttributesOf(const ImportAndGraph& import, uint32_t l = 0) {
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  std::vector<int32_t> attributes;
  for (uint32_t i = graph.layer_attribute_begin()->Get(l);
       i < graph.layer_attribute_begin()->Get(l + 1); ++i) {
    attributes.push_back(graph.layer_attributes()->Get(i));
  }
  return attributes;
}
inline std::vector<int> OpsOf(const ImportAndGraph& import) {
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  return std::vector<int>(graph.layer_op()->begin(), graph.layer_op()->end());
}

// Bytes of the one output of an untiled run on one input.
inline Bytes OutputFor(const ImportAndGraph& import, const Bytes& input) {
  const std::vector<Bytes> inputs = {input};
  sluice_sim::SimulateOptions options;
  options.graph = import.graph.data();
  options.graph_size = import.graph.size();
  options.inputs = &inputs;
  const sluice_sim::SimulateResult result = sluice_sim::RunReference(options);
  INFO(result.error);
  REQUIRE(result.ok);
  return result.outputs.at(0);
}

inline Bytes Stored(const std::vector<int>& values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<uint8_t>(value));
  return bytes;
}
// A constant of int32.
inline int Int32s(TinyModel* model, const char* name,
                  const std::vector<int32_t>& values) {
  std::vector<uint8_t> bytes(4 * values.size());
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return model->AddTensor(name, {static_cast<int32_t>(values.size())},
                          tflite::TensorType::INT32, 0, 0, bytes);
}

}  // namespace sluice::import

#endif  // SLUICE_TESTS_IMPORT_TFLITE_IMPORTED_H_
