// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/hardware_files.h"
#include "cli/plan_files.h"
#include "cli/plan_trace.h"
#include "cli/progress_line.h"
#include "cli/report.h"
#include "cli/tensor_files.h"
#include "firmware-sim/sim.h"
#include "sluice/lowering.h"

namespace sluice::cli {
namespace {

ExitCode ExitCodeOf(const std::string& error_code) {
  if (error_code == "graph" || error_code == "hardware" || error_code == "plan" ||
      error_code == "input") {
    return kBadInput;
  }
  return error_code == "memory" ? kIo : kRejected;
}

Json AsJson(const SimulateCommand& command, const sluice_sim::SimulateResult& result) {
  Json json = {{"ok", result.ok},
               {"cycles", command.interleaving != 0 ? 0 : result.cycles},
               {"predicted_cycles", result.predicted_cycles},
               {"dram_bytes", result.dram_read_bytes + result.dram_write_bytes}};
  // The values of the plan's report next to those that the run measured.
  json["claims"] = Json::array();
  for (const sluice_sim::Claim& claim : result.claims) {
    json["claims"].push_back({{"field", claim.field},
                              {"claimed", claim.claimed},
                              {"measured", claim.measured}});
  }
  if (command.contention) {
    json["contention"] = {{"cycles", result.contended_cycles},
                          {"waits", result.link_waits},
                          {"wait_cycles", result.link_wait_cycles},
                          {"busiest_link_cycles", result.busiest_link_cycles}};
  }
  if (command.functional) {
    json["functional"] = {{"compared_bytes", result.compared_bytes},
                          {"mismatches", result.mismatches},
                          {"output_fnv1a", Hex64(result.output_fnv1a)}};
  }
  return json;
}

void Print(const SimulateCommand& command, const sluice_sim::SimulateResult& result) {
  Report report(command.plan + " simulated");
  if (command.interleaving != 0) {
    report.Line("order", "seed " + std::to_string(command.interleaving),
                "what the waits allow, whatever it takes");
  } else {
    report.Line("cycles", Grouped(result.cycles),
                result.cycles == result.predicted_cycles
                    ? "as predicted"
                    : "predicted " + Grouped(result.predicted_cycles));
  }
  if (command.contention) {
    report.Line("with busy links", Grouped(result.contended_cycles) + " cycles",
                Grouped(result.link_waits) + " transfers wait " +
                    Grouped(result.link_wait_cycles) +
                    " cycles in all, the busiest link works " +
                    Grouped(result.busiest_link_cycles));
  }
  report.Line("DRAM", BytesText(result.dram_read_bytes) + " read",
              BytesText(result.dram_write_bytes) + " written");
  report.Line("instructions", Grouped(result.instructions));
  bool borne_out = true;
  for (const sluice_sim::Claim& claim : result.claims) {
    if (claim.claimed == claim.measured) continue;
    borne_out = false;
    report.Line("claim", std::string(claim.field) + " " + Grouped(claim.claimed),
                "measured " + Grouped(claim.measured));
  }
  if (borne_out) {
    report.Line("report", "borne out",
                "all " + std::to_string(result.claims.size()) +
                    " counts of it that a run "
                    "measures");
  }
  if (command.functional) {
    report.Line("outputs", Grouped(result.compared_bytes) + " bytes",
                Grouped(result.mismatches) + " differ from the untiled run");
    report.Line("output hash", Hex64(result.output_fnv1a),
                "inputs from seed " + std::to_string(command.seed));
  }
  if (!command.trace.empty()) report.Line("trace", command.trace);
  std::cout << report.Text();
}

[[noreturn]] void Fail(const SimulateCommand& command,
                       const sluice_sim::SimulateResult& result) {
  Json details = AsJson(command, result);
  Json error = {{"code", result.error_code}};
  std::string text = command.plan + ": the simulator says no: " + result.error;
  if (result.error_instruction != sluice_sim::kNowhere) {
    error["instruction"] = result.error_instruction;
    text += "\n  instruction " + std::to_string(result.error_instruction);
    if (result.error_instance != sluice_sim::kNowhere) {
      error["instance"] = result.error_instance;
      text += " of block instance " + std::to_string(result.error_instance);
    }
    if (result.error_engine != sluice_sim::kNowhere) {
      error["engine"] = result.engine_names.at(result.error_engine);
      text += " on engine " + result.engine_names.at(result.error_engine);
    }
  }
  error["detail"] = result.error;
  details["error"] = error;
  throw Failure(ExitCodeOf(result.error_code), text, details);
}

// Several runs: each starts with the states that the previous one left. Compared bytes
// and hashes cover all runs; the other results and the trace are those of the last run.
sluice_sim::SimulateResult SimulateRuns(const SimulateCommand& command,
                                        sluice_sim::SimulateOptions options) {
  const auto trace = options.trace, contended_trace = options.contended_trace;
  std::vector<uint8_t> state;
  options.state = &state;
  sluice_sim::SimulateResult result;
  uint64_t hash = SLUICE_OUTPUT_HASH_START, compared = 0;
  for (uint32_t run = 0; run < command.runs; ++run) {
    options.seed = command.seed + uint64_t{1000} * run;
    const bool last = run + 1 == command.runs;
    options.trace = last ? trace : nullptr;
    options.contended_trace = last ? contended_trace : nullptr;
    result = sluice_sim::Simulate(options);
    if (!result.ok) return result;
    for (const std::vector<uint8_t>& output : result.outputs) {
      hash = sluice_output_hash(hash, output.data(), output.size());
    }
    compared += result.compared_bytes;
  }
  if (command.runs > 1) {
    result.output_fnv1a = hash;
    result.compared_bytes = compared;
  }
  return result;
}

}  // namespace

void Run(const SimulateCommand& command) {
  const PlanFiles files = ReadPlanFiles(command.plan, command.graph, command.hardware);
  DemandMadeFor(files);
  const Bytes &plan = files.plan, &graph = files.graph, &hardware = files.hardware;
  std::vector<TracedRun> runs(command.contention ? 2 : 1);
  sluice_sim::SimulateOptions options;
  options.graph = graph.data();
  options.graph_size = graph.size();
  options.hardware = hardware.data();
  options.hardware_size = hardware.size();
  options.plan = plan.data();
  options.plan_size = plan.size();
  const std::string& beside = command.graph.empty() ? command.plan : command.graph;
  const std::string folder = std::filesystem::path(beside).parent_path().string();
  options.data_dir = folder.empty() ? "." : folder;
  options.functional = command.functional;
  options.contention = command.contention;
  options.interleaving = command.interleaving;
  options.seed = command.seed;
  options.parameters = command.parameters;
  if (!command.trace.empty()) {
    options.trace = [&](const sluice_sim::TraceEvent& e) {
      runs[0].events.push_back(e);
    };
    if (command.contention) {
      runs[0].name = "as predicted";
      runs[1].name = "with busy links";
      options.contended_trace = [&](const sluice_sim::TraceEvent& e) {
        runs[1].events.push_back(e);
      };
    }
  }
  const std::vector<Bytes> inputs = ReadInputs(command.inputs, graph);
  if (!command.inputs.empty()) options.inputs = &inputs;
  sluice_sim::SimulateResult result;
  {
    const Working working(command.plan + " simulated");
    result = SimulateRuns(command, options);
  }
  if (!command.trace.empty()) {
    const std::string trace = TraceOf(files, std::move(runs), result);
    WriteFile(command.trace, trace.data(), trace.size());
  }
  if (!result.ok) Fail(command, result);
  WriteOutputs(command.outputs, graph, result.outputs);
  if (command.json) {
    std::cout << JsonText(AsJson(command, result), 1) << "\n";
  } else {
    Print(command, result);
  }
}

}  // namespace sluice::cli
