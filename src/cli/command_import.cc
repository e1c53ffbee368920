// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/graph_writer.h"
#include "cli/import_onnx.h"
#include "cli/import_tflite.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/training.h"

namespace sluice::cli {
namespace {

Json Summary(const ImportResult& import) {
  Json opaque = Json::array();
  for (const UnsupportedOperator& entry : import.opaque) {
    opaque.push_back(
        {{"op", entry.name}, {"count", entry.count}, {"reason", entry.reason}});
  }
  Json shapes_only = Json::array();
  for (const UnsupportedOperator& entry : import.shapes_only) {
    shapes_only.push_back({{"op", entry.name}, {"count", entry.count}});
  }
  return {{"ok", true},
          {"numbers", import.shapes_only.empty() ? "exact" : "shapes only"},
          {"operators", import.operators},
          {"layers", import.layers},
          {"tensors", import.tensors},
          {"inputs", import.inputs},
          {"outputs", import.outputs},
          {"constant_bytes", import.constant_bytes},
          {"graph_bytes", import.graph.size()},
          {"opaque", opaque},
          {"shapes_only", shapes_only},
          {"interface", import.interface}};
}

void Print(const ImportCommand& command, const ImportResult& import) {
  Report report(command.model + " -> " + command.output);
  report.Line("operators", Grouped(import.operators));
  report.Line("layers", Grouped(import.layers));
  report.Line("tensors", Grouped(import.tensors),
              Grouped(import.inputs) + " in, " + Grouped(import.outputs) + " out");
  report.Line("constants", BytesText(import.constant_bytes));
  report.Line("graph file", BytesText(import.graph.size()));
  for (const UnsupportedOperator& entry : import.opaque) {
    report.Line("on the host", Grouped(entry.count) + " x " + entry.name,
                entry.reason.empty() ? "unknown operator" : entry.reason);
  }
  for (const std::string& line : import.interface) report.Line("", line);
  if (!import.shapes_only.empty()) {
    std::string list;
    for (const UnsupportedOperator& entry : import.shapes_only) {
      if (!list.empty()) list += ", ";
      list += std::to_string(entry.count) + " " + entry.name;
    }
    report.Line("numbers",
                "shapes only: floating-point operators became int8 layers "
                "with seeded weights");
    report.Line("", "plans and costs are the model's, computed values are not");
    report.Line("", list);
  }
  std::cout << report.Text();
}

ImportResult ImportFile(const ImportCommand& command) {
  const std::string extension = FileExtension(command.model);
  if (extension != ".tflite" && extension != ".onnx") {
    throw Failure(kUsage,
                  command.model + ": models are read from .tflite and .onnx files");
  }
  if (extension != ".onnx" && !command.dims.empty()) {
    throw Failure(kUsage, "--dim is for ONNX models; this one has fixed shapes");
  }
  const Bytes model = ReadFile(command.model);
  if (extension == ".onnx") {
    OnnxImportOptions options;
    options.name = FileStem(command.model);
    options.folder = command.model.substr(0, command.model.find_last_of('/') + 1);
    options.allow_opaque = command.allow_opaque;
    options.opaque_cycles = command.opaque_cycles;
    options.dims = command.dims;
    return ImportOnnx(model.data(), model.size(), options);
  }
  TfliteImportOptions options;
  options.name = FileStem(command.model);
  options.allow_opaque = command.allow_opaque;
  options.opaque_cycles = command.opaque_cycles;
  return ImportTflite(model.data(), model.size(), options);
}

// The counts are then those of the training step.
void Extend(ImportResult* import) {
  import->graph = MakeTrainingGraph(import->graph);
  const GraphWriter graph(import->graph);
  import->layers = graph.layers().size();
  import->tensors = graph.tensors().size();
  import->inputs = import->outputs = 0;
  for (const TensorRow& t : graph.tensors()) {
    import->inputs += t.kind == Kind::kInput;
    import->outputs += t.kind == Kind::kOutput;
  }
  import->constant_bytes = graph.constant_bytes();
}

}  // namespace

void Run(const ImportCommand& command) {
  ImportResult import = ImportFile(command);
  if (command.training) Extend(&import);
  // What the library would not read is not written.
  Session session(0);
  session.LoadGraph(import.graph);
  WriteFile(command.output, import.graph.data(), import.graph.size());
  if (command.json) {
    std::cout << Summary(import).dump(1) << "\n";
  } else {
    Print(command, import);
  }
}

}  // namespace sluice::cli
