// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_plot.h"

#include <algorithm>
#include <map>

#include "cli/failure.h"
#include "cli/graph_names.h"
#include "cli/report.h"
#include "cli/session.h"
#include "sluice/stream.h"

namespace sluice::cli {
namespace {

using sluice_sim::TraceEvent;

BufferHistory HistoryOf(const PlanFiles& files, const std::vector<TraceEvent>& events) {
  Session session(0);
  session.LoadPlan(files.plan);
  const void* stream = nullptr;
  size_t size = 0;
  if (sluice_plan_stream(session.plan(), &stream, &size) != SLUICE_OK) {
    throw Failure(kBadInput, "the plan has no stream");
  }
  return FollowBuffers(stream, size, events);
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

// Rows of a plot: DRAM with a lane for each direction, one row per queue, then every
// other engine that was used.
std::vector<PlotRow> RowsOf(const ExecutedPlan& run) {
  const BufferHistory& history = run.history;
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

std::string Subtitle(const ExecutedPlan& run, uint64_t tiles) {
  return Grouped(run.result.cycles) + " cycles, " + Grouped(tiles) + " tiles, " +
         Grouped(run.result.instructions) + " instructions, " +
         BytesText(run.result.dram_read_bytes) + " read from DRAM, " +
         BytesText(run.result.dram_write_bytes) + " written";
}

}  // namespace

ExecutedPlan ExecutePlan(const PlanFiles& files, std::vector<TraceEvent>* contended) {
  ExecutedPlan run;
  sluice_sim::SimulateOptions options;
  options.graph = files.graph.data();
  options.graph_size = files.graph.size();
  options.hardware = files.hardware.data();
  options.hardware_size = files.hardware.size();
  options.plan = files.plan.data();
  options.plan_size = files.plan.size();
  options.trace = [&](const TraceEvent& e) { run.events.push_back(e); };
  options.contention = contended != nullptr;
  options.contended_trace = [&](const TraceEvent& e) { contended->push_back(e); };
  run.result = sluice_sim::Simulate(options);
  if (!run.result.ok) {
    const std::string& code = run.result.error_code;
    const bool input = code == "graph" || code == "hardware" || code == "plan";
    throw Failure(input              ? kBadInput
                  : code == "memory" ? kIo
                                     : kRejected,
                  (files.plan_file.empty() ? "" : files.plan_file + ": ") +
                      "the simulator says no: " + run.result.error,
                  {{"error", {{"code", code}, {"detail", run.result.error}}}});
  }
  std::sort(run.events.begin(), run.events.end(),
            [](const TraceEvent& a, const TraceEvent& b) {
              return a.start != b.start ? a.start < b.start : a.engine < b.engine;
            });
  run.history = HistoryOf(files, run.events);
  return run;
}

Plot PlotOf(const PlanFiles& files, const ExecutedPlan& run) {
  Plot plot;
  plot.rows = RowsOf(run);
  plot.cycles = run.result.cycles;
  uint32_t layers = 0;
  uint64_t tiles = 0;
  for (const TraceEvent& e : run.events) {
    if (e.layer != sluice_sim::kNowhere) layers = std::max(layers, e.layer + 1);
    tiles += e.opcode == SLUICE_OPCODE_COMPUTE ? 1 : 0;
  }
  for (uint32_t i = 0; i < layers; ++i)
    plot.layer_names.push_back(LayerName(files.graph, i));
  for (size_t node = 0; node < run.history.nodes.size(); ++node) {
    PlotBuffer buffer;
    buffer.name =
        run.history.nodes.size() == 1 ? "BUFFER" : "BUFFER " + std::to_string(node);
    buffer.capacity = run.history.capacity;
    buffer.pieces = run.history.nodes[node];
    if (!buffer.pieces.empty()) plot.buffers.push_back(buffer);
  }
  const std::string name = GraphName(files.graph);
  plot.title = (name.empty() ? files.graph_name : name) + " on " + files.hardware_name;
  plot.subtitle = Subtitle(run, tiles);
  return plot;
}

}  // namespace sluice::cli
