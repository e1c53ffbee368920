// SPDX-License-Identifier: Apache-2.0
// Imports hand-made models and reads the graphs that come of them.
#ifndef SLUICE_TESTS_IMPORT_ONNX_IMPORTED_H_
#define SLUICE_TESTS_IMPORT_ONNX_IMPORTED_H_

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "firmware-sim/sim.h"
#include "import/error.h"
#include "import/onnx/import_onnx.h"
#include "sluice/graph_generated.h"
#include "sluice/ops.h"
#include "support/bytes.h"
#include "tests/import/import_and_graph.h"

namespace sluice_test {

using sluice::import::Error;
using sluice::import::Fault;
using sluice::import::OnnxImportOptions;
using sluice_test::ImportAndGraph;
namespace wire = sluice::wire;

inline ImportAndGraph Import(const Bytes& bytes, OnnxImportOptions options = {}) {
  options.name = "test";
  return ImportAndGraph(
      sluice::import::ImportOnnx(bytes.data(), bytes.size(), options));
}

// The message of an import that fails; "" when it succeeds.
inline std::string Complaint(const Bytes& bytes,
                             const OnnxImportOptions& options = {}) {
  try {
    Import(bytes, options);
  } catch (const Error& failure) {
    CHECK(failure.fault() != Fault::kTooLarge);
    return failure.what();
  }
  return "";
}

inline bool Says(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

inline int Count(const ImportAndGraph& import, uint16_t op) {
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  int count = 0;
  for (const uint16_t layer : *graph.layer_op()) count += layer == op ? 1 : 0;
  return count;
}

// Attributes of the first layer of an operator; empty where there is none.
inline std::vector<int32_t> AttributesOf(const ImportAndGraph& import, uint16_t op) {
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  for (uint32_t l = 0; l < graph.layer_op()->size(); ++l) {
    if (graph.layer_op()->Get(l) != op) continue;
    std::vector<int32_t> attributes;
    for (uint32_t i = graph.layer_attribute_begin()->Get(l);
         i < graph.layer_attribute_begin()->Get(l + 1); ++i) {
      attributes.push_back(graph.layer_attributes()->Get(i));
    }
    return attributes;
  }
  return {};
}

// Extents of an input or the output of the first layer of an operator.
inline std::vector<int32_t> DimsOfTensor(const ImportAndGraph& import,
                                         uint32_t tensor) {
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  std::vector<int32_t> dims;
  for (uint32_t i = graph.tensor_dim_begin()->Get(tensor);
       i < graph.tensor_dim_begin()->Get(tensor + 1); ++i) {
    dims.push_back(graph.tensor_dims()->Get(i));
  }
  return dims;
}
inline uint32_t InputOf(const ImportAndGraph& import, uint16_t op, uint32_t i) {
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  uint32_t l = 0;
  while (graph.layer_op()->Get(l) != op) ++l;
  return graph.layer_inputs()->Get(graph.layer_input_begin()->Get(l) + i);
}
// Bytes of an inline constant.
inline const uint8_t* DataOf(const ImportAndGraph& import, uint32_t tensor) {
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  return graph.data()->data() + graph.tensor_source_offset()->Get(tensor);
}

// Bytes of the one output of an untiled run.
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

}  // namespace sluice_test

#endif  // SLUICE_TESTS_IMPORT_ONNX_IMPORTED_H_
