// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/models.h"
#include "cli/report.h"
#include "sluice/ops.h"

namespace sluice::cli {
namespace {

const char* NumbersText(uint32_t numbers) {
  return numbers == SLUICE_NUMBERS_EXACT       ? "exact"
         : numbers == SLUICE_NUMBERS_ROUNDED   ? "rounded"
         : numbers == SLUICE_NUMBERS_QUANTISED ? "quantised"
                                               : "shapes only";
}

const char* TypeName(uint32_t dtype) {
  switch (dtype) {
#define SLUICE_TYPE_NAME(constant, code, bytes, name) \
  case code:                                          \
    return name;
    SLUICE_DTYPES(SLUICE_TYPE_NAME)
#undef SLUICE_TYPE_NAME
    default:
      return "unknown";
  }
}

using PortOf = sluice_status_t (*)(const void*, size_t, uint32_t, sluice_graph_port_t*);

// Name, type, extents in memory order and quantisation of each input or output.
Json Ports(const MadeGraph& graph, PortOf of) {
  Json ports = Json::array();
  sluice_graph_port_t port = {};
  port.struct_size = sizeof port;
  while (of(graph.data(), graph.size(), static_cast<uint32_t>(ports.size()), &port) ==
         SLUICE_OK) {
    Json extents = Json::array();
    for (uint32_t a = 0; a < port.rank; ++a) extents.push_back(port.extent[a]);
    ports.push_back({{"name", port.name},
                     {"type", TypeName(port.dtype)},
                     {"extents", extents},
                     {"scale", port.scale},
                     {"zero_point", port.zero_point}});
    port.struct_size = sizeof port;
  }
  return ports;
}

Json Summary(const Imported& import) {
  const sluice_import_summary_t& s = import.summary;
  return {{"ok", true},
          {"numbers", NumbersText(s.numbers)},
          {"operators", s.operators},
          {"layers", s.layers},
          {"tensors", s.tensors},
          {"inputs", s.inputs},
          {"outputs", s.outputs},
          {"constant_bytes", s.constant_bytes},
          {"graph_bytes", s.graph_bytes},
          {"opaque", Listed(import.lists[SLUICE_IMPORT_OPAQUE])},
          {"shapes_only", Listed(import.lists[SLUICE_IMPORT_SHAPES_ONLY])},
          {"rounded", Listed(import.lists[SLUICE_IMPORT_ROUNDED])},
          {"folded", Listed(import.lists[SLUICE_IMPORT_FOLDED])},
          {"skipped", Listed(import.lists[SLUICE_IMPORT_SKIPPED])},
          {"interface", import.interface},
          {"input_ports", Ports(import.graph, sluice_graph_input)},
          {"output_ports", Ports(import.graph, sluice_graph_output)}};
}

void Print(const ImportCommand& command, const Imported& import) {
  const sluice_import_summary_t& s = import.summary;
  Report report(command.model + " -> " + command.output);
  report.Line("operators", Grouped(s.operators));
  report.Line("layers", Grouped(s.layers));
  report.Line("tensors", Grouped(s.tensors),
              Grouped(s.inputs) + " in, " + Grouped(s.outputs) + " out");
  report.Line("constants", BytesText(s.constant_bytes));
  report.Line("graph file", BytesText(s.graph_bytes));
  for (const ImportEntry& entry : import.lists[SLUICE_IMPORT_OPAQUE]) {
    report.Line("on the host", Grouped(entry.count) + " x " + entry.name,
                entry.reason.empty() ? "unknown operator" : entry.reason);
  }
  ListByReason("without a layer", import.lists[SLUICE_IMPORT_FOLDED], &report);
  ListByReason("fewer pixels", import.lists[SLUICE_IMPORT_SKIPPED], &report);
  for (const std::string& line : import.interface) report.Line("", line);
  if (s.numbers == SLUICE_NUMBERS_SHAPES_ONLY) {
    report.Line("numbers",
                "shapes only: floating-point operators became int8 layers "
                "with seeded weights");
    report.Line("", "plans and costs are the model's, computed values are not");
    report.Line("", "--ranges quantises the model's own weights instead");
    ListByReason("", import.lists[SLUICE_IMPORT_SHAPES_ONLY], &report);
  }
  if (s.numbers == SLUICE_NUMBERS_QUANTISED) {
    report.Line("numbers", "floats became int8 numbers by the given ranges");
  }
  ListByReason("rounded", import.lists[SLUICE_IMPORT_ROUNDED], &report);
  std::cout << report.Text();
}

Imported ImportFile(const ImportCommand& command) {
  const std::string extension = FileExtension(command.model);
  if (extension != ".tflite" && extension != ".onnx") {
    throw Failure(kUsage,
                  command.model + ": models are read from .tflite and .onnx files");
  }
  const bool onnx = extension == ".onnx";
  if (!onnx && !command.dims.empty()) {
    throw Failure(kUsage, "--dim is for ONNX models; this one has fixed shapes");
  }
  if (onnx && command.in_place) {
    throw Failure(kUsage, "--in-place is for TensorFlow Lite models");
  }
  ImportRequest request = {};
  request.model = command.model;
  request.format = onnx ? SLUICE_MODEL_ONNX : SLUICE_MODEL_TFLITE;
  request.allow_opaque = command.allow_opaque;
  request.opaque_cycles = command.opaque_cycles;
  request.training = command.training;
  request.keep_unread = command.keep_unread;
  request.dims = command.dims;
  request.states = command.states;
  request.find_states = command.find_states;
  request.ranges = command.ranges;
  request.in_place = command.in_place;
  request.hardware = command.hardware;
  return ImportModel(request);
}

}  // namespace

void Run(const ImportCommand& command) {
  const Imported import = ImportFile(command);
  WriteFile(command.output, import.graph.data(), import.graph.size());
  if (command.json) {
    std::cout << JsonText(Summary(import), 1) << "\n";
  } else {
    Print(command, import);
  }
}

}  // namespace sluice::cli
