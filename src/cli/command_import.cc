// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/import_tflite.h"
#include "cli/report.h"
#include "cli/session.h"

namespace sluice::cli {
namespace {

Json Summary(const TfliteImport& import) {
  Json opaque = Json::array();
  for (const UnsupportedOperator& entry : import.opaque) {
    opaque.push_back(
        {{"op", entry.name}, {"count", entry.count}, {"reason", entry.reason}});
  }
  return {{"ok", true},
          {"operators", import.operators},
          {"layers", import.layers},
          {"tensors", import.tensors},
          {"inputs", import.inputs},
          {"outputs", import.outputs},
          {"constant_bytes", import.constant_bytes},
          {"graph_bytes", import.graph.size()},
          {"opaque", opaque}};
}

void Print(const ImportCommand& command, const TfliteImport& import) {
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
  std::cout << report.Text();
}

}  // namespace

void Run(const ImportCommand& command) {
  const std::string extension = FileExtension(command.model);
  if (extension != ".tflite") {
    throw Failure(kUsage, command.model + ": models are read from .tflite files");
  }
  const Bytes model = ReadFile(command.model);
  TfliteImportOptions options;
  options.name = FileStem(command.model);
  options.allow_opaque = command.allow_opaque;
  options.opaque_cycles = command.opaque_cycles;
  const TfliteImport import = ImportTflite(model.data(), model.size(), options);
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
