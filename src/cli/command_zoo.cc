// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/files.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/training.h"
#include "cli/zoo/zoo.h"
#include "sluice/graph_generated.h"

namespace sluice::cli {
namespace {

void List(bool json) {
  Json list = Json::array();
  Report report("networks");
  for (const ZooEntry& entry : ZooEntries()) {
    list.push_back({{"name", entry.name}, {"text", entry.text}});
    report.Line(entry.name, entry.text);
  }
  if (json) {
    std::cout << Json({{"networks", list}}).dump(1) << "\n";
  } else {
    std::cout << report.Text();
  }
}

}  // namespace

void Run(const ZooCommand& command) {
  if (command.list) return List(command.json);
  if (command.name.empty() || command.output.empty()) {
    throw Failure(kUsage, "name a network and an output file (-o), or use --list");
  }
  ZooOptions options;
  options.batch = command.batch;
  options.seq = command.seq;
  options.context = command.context;
  options.blocks = command.blocks;
  Bytes graph = MakeZooGraph(command.name, options);
  if (command.training) graph = MakeTrainingGraph(graph);
  // What the library would not read is not written.
  Session session(0);
  session.LoadGraph(graph);
  WriteFile(command.output, graph.data(), graph.size());
  const wire::Graph& wire = *wire::GetGraph(graph.data());
  const uint64_t layers = wire.layer_op()->size(),
                 tensors = wire.tensor_dtype()->size();
  if (command.json) {
    std::cout << Json({{"ok", true},
                       {"layers", layers},
                       {"tensors", tensors},
                       {"graph_bytes", graph.size()}})
                     .dump(1)
              << "\n";
    return;
  }
  Report report(command.name + " -> " + command.output);
  report.Line("layers", Grouped(layers));
  report.Line("tensors", Grouped(tensors));
  report.Line("graph file", BytesText(graph.size()));
  std::cout << report.Text();
}

}  // namespace sluice::cli
