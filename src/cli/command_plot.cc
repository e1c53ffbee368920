// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <map>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/graph_names.h"
#include "cli/hardware_files.h"
#include "cli/plot_buffer.h"
#include "cli/report.h"
#include "cli/session.h"
#include "sluice/stream.h"

namespace sluice::cli {
namespace {

using sluice_sim::TraceEvent;

constexpr uint64_t kLeastWidth = 300, kMostWidth = 100000;

struct Executed {
  std::vector<TraceEvent> events;  // by start, then engine
  sluice_sim::SimulateResult result;
};

Executed Execute(const Bytes& plan, const Bytes& graph, const Bytes& hardware) {
  Executed run;
  sluice_sim::SimulateOptions options;
  options.graph = graph.data();
  options.graph_size = graph.size();
  options.hardware = hardware.data();
  options.hardware_size = hardware.size();
  options.plan = plan.data();
  options.plan_size = plan.size();
  options.trace = [&](const TraceEvent& e) { run.events.push_back(e); };
  run.result = sluice_sim::Simulate(options);
  if (!run.result.ok) {
    const std::string& code = run.result.error_code;
    const bool input = code == "graph" || code == "hardware" || code == "plan";
    throw Failure(input              ? kBadInput
                  : code == "memory" ? kIo
                                     : kRejected,
                  "the simulator says no: " + run.result.error,
                  {{"error", {{"code", code}, {"detail", run.result.error}}}});
  }
  std::sort(run.events.begin(), run.events.end(),
            [](const TraceEvent& a, const TraceEvent& b) {
              return a.start != b.start ? a.start < b.start : a.engine < b.engine;
            });
  return run;
}

PlotBar BarOf(const TraceEvent& e, const PlotMove& move) {
  PlotBar bar;
  bar.start = e.start;
  bar.end = e.end;
  bar.layer = e.layer;
  bar.pale = move.constants;
  bar.busy = e.end - e.start;
  bar.bytes = e.bytes;
  return bar;
}

bool MovesDram(const TraceEvent& e) {
  return e.opcode == SLUICE_OPCODE_LOAD || e.opcode == SLUICE_OPCODE_STORE;
}

std::string RowName(const TraceEvent& e, bool one_queue, const std::string& engine) {
  if (MovesDram(e)) return one_queue ? "DRAM" : "DRAM " + engine;
  if (e.opcode == SLUICE_OPCODE_HOST) return "HOST";
  return e.opcode == SLUICE_OPCODE_COMPUTE ? "COMPUTE" : "SEND";
}

// DRAM with a lane for each direction, a row for each queue, then every engine that did
// anything else.
std::vector<PlotRow> RowsOf(const Executed& run, const BufferHistory& history) {
  const bool many = history.nodes.size() > 1;
  std::map<std::pair<bool, uint32_t>, const TraceEvent*> kinds;  // others, engine
  for (const TraceEvent& e : run.events) kinds[{!MovesDram(e), e.engine}] = &e;
  const auto queues = std::count_if(kinds.begin(), kinds.end(),
                                    [](const auto& k) { return !k.first.first; });
  std::vector<PlotRow> rows;
  if (queues == 0) rows.push_back({"DRAM", {{"load", {}}, {"store", {}}}});
  std::map<std::pair<bool, uint32_t>, size_t> row_of;
  for (const auto& [key, event] : kinds) {
    row_of[key] = rows.size();
    const std::string name =
        RowName(*event, queues == 1, run.result.engine_names.at(key.second));
    if (!key.first) {
      rows.push_back({name, {{"load", {}}, {"store", {}}}});
      continue;
    }
    const bool numbered = many && event->node != sluice_sim::kNowhere;
    rows.push_back(
        {name, {{numbered ? "node " + std::to_string(event->node) : "", {}}}});
  }
  for (size_t i = 0; i < run.events.size(); ++i) {
    const TraceEvent& e = run.events[i];
    const size_t lane = e.opcode == SLUICE_OPCODE_STORE ? 1 : 0;
    PlotRow& row = rows[row_of[{!MovesDram(e), e.engine}]];
    row.lanes[lane].bars.push_back(BarOf(e, history.moves[i]));
  }
  return rows;
}

std::string Subtitle(const Executed& run, uint64_t tiles) {
  return Grouped(run.result.cycles) + " cycles, " + Grouped(tiles) + " tiles, " +
         Grouped(run.result.instructions) + " instructions, " +
         BytesText(run.result.dram_read_bytes) + " read from DRAM, " +
         BytesText(run.result.dram_write_bytes) + " written";
}

Plot PlotOf(const PlotCommand& command, const Bytes& plan, const Bytes& graph,
            const Executed& run) {
  Session session(0);
  session.LoadPlan(plan);
  const void* stream = nullptr;
  size_t size = 0;
  if (sluice_plan_stream(session.plan(), &stream, &size) != SLUICE_OK) {
    throw Failure(kBadInput, command.plan + " has no stream");
  }
  const BufferHistory history = FollowBuffers(stream, size, run.events);
  Plot plot;
  plot.rows = RowsOf(run, history);
  plot.cycles = run.result.cycles;
  uint32_t layers = 0;
  uint64_t tiles = 0;
  for (const TraceEvent& e : run.events) {
    if (e.layer != sluice_sim::kNowhere) layers = std::max(layers, e.layer + 1);
    tiles += e.opcode == SLUICE_OPCODE_COMPUTE ? 1 : 0;
  }
  for (uint32_t i = 0; i < layers; ++i) plot.layer_names.push_back(LayerName(graph, i));
  for (size_t node = 0; node < history.nodes.size(); ++node) {
    PlotBuffer buffer;
    buffer.name =
        history.nodes.size() == 1 ? "BUFFER" : "BUFFER " + std::to_string(node);
    buffer.capacity = history.capacity;
    buffer.pieces = history.nodes[node];
    if (!buffer.pieces.empty()) plot.buffers.push_back(buffer);
  }
  const std::string name = GraphName(graph);
  plot.title = (name.empty() ? FileStem(command.graph) : name) + " on " +
               FileStem(command.hardware);
  plot.subtitle = Subtitle(run, tiles);
  return plot;
}

}  // namespace

void Run(const PlotCommand& command) {
  const std::string extension = FileExtension(command.output);
  if (extension != ".svg" && extension != ".html") {
    throw Failure(kUsage, command.output + ": the output is .svg or .html");
  }
  const Bytes plan = ReadFile(command.plan);
  const Bytes graph = ReadFile(command.graph);
  const Executed run = Execute(plan, graph, LoadHardware(command.hardware));
  const Plot plot = PlotOf(command, plan, graph, run);
  PlotView view;
  view.from = command.from;
  view.to = command.to;
  view.width = command.width;
  const uint64_t end = view.to == 0 ? plot.cycles : view.to;
  if (view.width < kLeastWidth || view.width > kMostWidth || view.from >= end) {
    throw Failure(kUsage, "nothing to see between cycle " + Grouped(view.from) +
                              " and " + Grouped(end) + " in " + Grouped(view.width) +
                              " pixels");
  }
  const std::string text =
      extension == ".svg" ? PlotSvg(plot, view) : PlotHtml(plot, view);
  WriteFile(command.output, text.data(), text.size());
  if (command.json) {
    std::cout << Json({{"ok", true},
                       {"output", command.output},
                       {"cycles", plot.cycles},
                       {"bytes", text.size()}})
                     .dump(1)
              << "\n";
  } else {
    std::cout << command.output << ": " << plot.subtitle << "\n";
  }
}

}  // namespace sluice::cli
