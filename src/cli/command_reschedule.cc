// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/graph_names.h"
#include "cli/hardware_files.h"
#include "cli/interruption.h"
#include "cli/plan_files.h"
#include "cli/progress_line.h"
#include "cli/report.h"
#include "cli/session.h"

namespace sluice::cli {
namespace {

std::string WhatChanged(uint32_t changed) {
  std::string text;
  const auto add = [&](uint32_t bit, const char* name) {
    if ((changed & bit) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(SLUICE_CHANGED_GRAPH, "graph");
  add(SLUICE_CHANGED_HARDWARE, "hardware");
  add(SLUICE_CHANGED_SCRATCHPAD, "scratchpad");
  return text.empty() ? "nothing" : text;
}

Json AsJson(const sluice_report_t& before, const sluice_report_t& r,
            const sluice_change_t& c, uint64_t solve_us) {
  return {{"latency_cycles", r.latency_cycles},
          {"energy_pj", r.energy_pj},
          {"latency_cycles_before", before.latency_cycles},
          {"energy_pj_before", before.energy_pj},
          {"changed_graph", (c.changed & SLUICE_CHANGED_GRAPH) != 0},
          {"changed_hardware", (c.changed & SLUICE_CHANGED_HARDWARE) != 0},
          {"changed_scratchpad", (c.changed & SLUICE_CHANGED_SCRATCHPAD) != 0},
          {"from_scratch", c.from_scratch != 0},
          {"layers_kept", c.layers_kept},
          {"layers_changed", c.layers_changed},
          {"layers_inserted", c.layers_inserted},
          {"layers_removed", c.layers_removed},
          {"blocks", c.blocks},
          {"blocks_changed", c.blocks_changed},
          {"stream_bytes", c.stream_bytes},
          {"patch_bytes", c.patch_bytes},
          {"instructions", r.instructions},
          {"interrupted", Interruption::came()},
          {"solve_us", solve_us}};
}

std::string AsText(const std::string& heading, const sluice_report_t& before,
                   const sluice_report_t& r, const sluice_change_t& c,
                   uint64_t solve_us) {
  Report report(heading);
  report.Line("changed", WhatChanged(c.changed),
              c.from_scratch != 0 ? "nothing of the earlier plan could be used" : "");
  report.Line("layers", Grouped(c.layers_kept) + " kept",
              Grouped(c.layers_changed) + " changed, " + Grouped(c.layers_inserted) +
                  " inserted, " + Grouped(c.layers_removed) + " removed");
  report.Line("blocks", Grouped(c.blocks - c.blocks_changed) + " kept",
              Grouped(c.blocks_changed) + " changed");
  report.Line("stream", BytesText(c.stream_bytes),
              BytesText(c.patch_bytes) + " differ from the plan before");
  report.Line("latency", Grouped(r.latency_cycles) + " cycles",
              "before " + Grouped(before.latency_cycles));
  report.Line("energy", EnergyText(r.energy_pj),
              "before " + EnergyText(before.energy_pj));
  report.Line("solved in", TimeText(static_cast<double>(solve_us) / 1e6));
  return report.Text();
}

}  // namespace

void Run(const RescheduleCommand& command) {
  const PlanFiles files = ReadPlanFiles(command.plan, command.graph, command.hardware);
  const Bytes &graph = files.graph, &hardware = files.hardware;
  Session session(0);
  session.LoadHardware(hardware);
  session.LoadGraph(graph);
  session.LoadPlan(files.plan);
  const sluice_report_t before = session.Report();

  sluice_schedule_options_t schedule = {};
  schedule.struct_size = sizeof schedule;
  schedule.scratchpad_bytes = command.budget_bytes;
  schedule.deadline_ns = command.deadline_ns;
  schedule.max_iterations = command.iterations;
  schedule.seed = command.seed;
  schedule.energy_exponent = command.objective == "latency" ? 0 : 1;
  schedule.delay_exponent = command.objective == "energy" ? 0 : 1;
  sluice_reschedule_options_t options = {};
  options.struct_size = sizeof options;
  options.minimise_changes = command.minimise_changes ? 1 : 0;
  options.schedule = &schedule;
  const auto start = std::chrono::steady_clock::now();
  sluice_change_t change;
  {
    const Interruption interruption;
    schedule.cancel = interruption.word();
    ProgressLine line(false);
    if (line.told()) {
      schedule.progress = ProgressLine::Tell;
      schedule.progress_user = &line;
    }
    change = session.Reschedule(options);
  }
  TellOfInterruption();
  const auto elapsed = std::chrono::steady_clock::now() - start;
  const uint64_t solve_us = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count());
  if (!command.output.empty()) {
    WritePlanFile(command.output, session.PlanBytes(), graph, hardware,
                  command.plan_only);
  }
  if (command.json) {
    std::cout << JsonText(AsJson(before, session.Report(), change, solve_us), 1)
              << "\n";
    return;
  }
  std::cout << AsText(
      GraphName(graph) + " on " + FactsOf(hardware).name + ", from an earlier plan",
      before, session.Report(), change, solve_us);
  if (!command.output.empty()) std::cout << "  written to " << command.output << "\n";
}

}  // namespace sluice::cli
