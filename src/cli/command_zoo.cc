// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/files.h"
#include "cli/models.h"
#include "cli/report.h"
#include "cli/session.h"
#include "sluice/graph_generated.h"

namespace sluice::cli {
namespace {

void List(bool json) {
  Json list = Json::array();
  Report report("networks");
  for (uint32_t i = 0; i < sluice_zoo_count(); ++i) {
    list.push_back({{"name", sluice_zoo_name(i)}, {"text", sluice_zoo_text(i)}});
    report.Line(sluice_zoo_name(i), sluice_zoo_text(i));
  }
  if (json) {
    std::cout << JsonText(Json({{"networks", list}}), 1) << "\n";
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
  if (command.training && command.skip_unread) {
    throw Failure(
        kUsage,
        "--skip-unread: a training step reads all pixels; leave --training or "
        "--skip-unread out");
  }
  sluice_zoo_options_t options = {};
  options.struct_size = sizeof options;
  options.batch = command.batch;
  options.seq = command.seq;
  options.context = command.context;
  options.blocks = command.blocks;
  options.training = command.training ? 1 : 0;
  options.skip_unread = command.skip_unread ? 1 : 0;
  if (!IsZooName(command.name)) {
    throw Failure(kUsage,
                  "no network is called " + command.name + "; zoo --list names them");
  }
  const Imported made = ZooGraph(command.name, options);
  const Bytes graph = made.graph.Copy();
  const std::vector<ImportEntry>& skipped = made.lists[SLUICE_IMPORT_SKIPPED];
  // Lets the library check the graph, so that no unreadable file is written.
  Session session(0);
  session.LoadGraph(graph);
  WriteFile(command.output, graph.data(), graph.size());
  const wire::Graph& wire = *wire::GetGraph(graph.data());
  const uint64_t layers = wire.layer_op()->size(),
                 tensors = wire.tensor_dtype()->size();
  if (command.json) {
    std::cout << JsonText(Json({{"ok", true},
                                {"layers", layers},
                                {"tensors", tensors},
                                {"graph_bytes", graph.size()},
                                {"skipped", Listed(skipped)}}),
                          1)
              << "\n";
    return;
  }
  Report report(command.name + " -> " + command.output);
  report.Line("layers", Grouped(layers));
  report.Line("tensors", Grouped(tensors));
  report.Line("graph file", BytesText(graph.size()));
  if (command.skip_unread && skipped.empty()) {
    report.Line("fewer pixels", "none: layers read every pixel that another one makes");
  }
  ListByReason("fewer pixels", skipped, &report);
  std::cout << report.Text();
}

}  // namespace sluice::cli
