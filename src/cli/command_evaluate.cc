// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/hardware_files.h"
#include "cli/notation_json.h"
#include "cli/plan_costs.h"
#include "cli/report.h"
#include "cli/segment_notation.h"
#include "cli/session.h"

namespace sluice::cli {
namespace {

// An evaluation with its arrays.
struct Evaluated {
  sluice_evaluation_t e = {};
  std::vector<int64_t> tile_begin, transfer_begin, buffer_bytes, tile_cycles,
      transfer_bytes;
  std::vector<uint32_t> tile_layer, tile_number;
  std::vector<sluice_dram_tensor_t> dram;
};

// Calls the library twice: the first call returns the lengths of the arrays.
Evaluated Evaluate(Session* session, const sluice_notation_t& notation,
                   uint64_t scratchpad_bytes) {
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.scratchpad_bytes = scratchpad_bytes;
  Evaluated out;
  out.e = EvaluateNotation(*session, notation, options, {});
  const size_t tiles = out.e.tiles, transfers = out.e.transfers;
  out.tile_begin.resize(tiles);
  out.tile_cycles.resize(tiles);
  out.tile_layer.resize(tiles);
  out.tile_number.resize(tiles);
  out.buffer_bytes.resize(tiles + 1);
  out.transfer_begin.resize(transfers);
  out.transfer_bytes.resize(transfers);
  out.dram.resize(transfers);
  out.e.tile_begin = out.tile_begin.data();
  out.e.tile_cycles = out.tile_cycles.data();
  out.e.tile_layer = out.tile_layer.data();
  out.e.tile_number = out.tile_number.data();
  out.e.buffer_bytes = out.buffer_bytes.data();
  out.e.transfer_begin = out.transfer_begin.data();
  out.e.transfer_bytes = out.transfer_bytes.data();
  out.e.dram = out.dram.data();
  out.e = EvaluateNotation(*session, notation, options, out.e);
  return out;
}

Json AsJson(const Evaluated& v, const Notation& resolved, const Bytes& graph) {
  const sluice_evaluation_t& e = v.e;
  const double cycles = static_cast<double>(e.latency_cycles);
  Json tiles = Json::array(), transfers = Json::array();
  const std::vector<Json> names = LayerNames(graph);
  const Json named = NotationToJson(resolved, graph)["dram"];
  for (size_t p = 0; p < v.tile_begin.size(); ++p) {
    tiles.push_back({{"layer", names[v.tile_layer[p]]},
                     {"tile", v.tile_number[p]},
                     {"begin_cycle", v.tile_begin[p]},
                     {"cycles", v.tile_cycles[p]},
                     {"buffer_bytes", v.buffer_bytes[p + 1]}});
  }
  for (size_t i = 0; i < v.dram.size(); ++i) {
    Json entry = named[i];
    entry["bytes"] = v.transfer_bytes[i];
    entry["begin_cycle"] = v.transfer_begin[i];
    transfers.push_back(entry);
  }
  return {{"ok", true},
          {"latency_cycles", e.latency_cycles},
          {"energy_pj", e.energy_pj},
          {"edp", e.energy_pj * cycles},
          {"energy_dram_pj", e.dram_pj},
          {"energy_scratchpad_pj", e.scratchpad_pj},
          {"energy_compute_pj", e.compute_pj},
          {"energy_leakage_pj", e.leakage_pj},
          {"dram_read_bytes", e.load_bytes},
          {"dram_write_bytes", e.store_bytes},
          {"compute_cycles", e.compute_cycles},
          {"dram_cycles", e.dram_cycles},
          {"bound_cycles", e.bound_cycles},
          {"peak_buffer_bytes", e.peak_buffer_bytes},
          {"average_buffer_bytes", e.average_buffer_bytes},
          {"groups", e.groups},
          {"fine_groups", e.fine_groups},
          {"tiles", tiles},
          {"transfers", transfers}};
}

std::string Share(double part, double whole, const char* name) {
  return Fixed(whole > 0 ? 100 * part / whole : 0, 0) + "% " + name;
}

std::string AsText(const Evaluated& v, const std::string& heading,
                   const HardwareFacts& facts) {
  const sluice_evaluation_t& e = v.e;
  const auto grouped = [](int64_t n) { return Grouped(static_cast<uint64_t>(n)); };
  Report report(heading);
  report.Line("latency",
              grouped(e.latency_cycles) + " cycles = " +
                  TimeText(static_cast<double>(e.latency_cycles) /
                           static_cast<double>(facts.clock_hz)),
              "no DRAM schedule of these tiles is below " + grouped(e.bound_cycles));
  report.Line("", grouped(e.compute_cycles) + " compute",
              grouped(e.dram_cycles) + " DRAM");
  report.Line("energy", EnergyText(e.energy_pj),
              Share(e.dram_pj, e.energy_pj, "DRAM, ") +
                  Share(e.scratchpad_pj, e.energy_pj, "scratchpad, ") +
                  Share(e.compute_pj, e.energy_pj, "compute, ") +
                  Share(e.leakage_pj, e.energy_pj, "leakage"));
  report.Line("DRAM read", BytesText(static_cast<uint64_t>(e.load_bytes)));
  report.Line("DRAM write", BytesText(static_cast<uint64_t>(e.store_bytes)));
  report.Line("scratchpad", BytesText(static_cast<uint64_t>(e.peak_buffer_bytes)),
              "peak; " + BytesText(static_cast<uint64_t>(e.average_buffer_bytes)) +
                  " on average");
  report.Line("schedule",
              Grouped(e.groups) + " groups, " + Grouped(e.fine_groups) + " fine",
              Grouped(e.tiles) + " tiles, " + Grouped(e.transfers) + " transfers");
  return report.Text();
}

// Makes the plan that the segments describe; nothing is searched.
void EvaluateSegments(const EvaluateCommand& command, Session* session,
                      const SegmentNotation& notation, const Bytes& graph) {
  sluice_schedule_options_t schedule = {};
  schedule.struct_size = sizeof schedule;
  schedule.scratchpad_bytes = command.budget_bytes;
  schedule.solver = SLUICE_SOLVER_BASELINE;
  session->Schedule(schedule);  // knows the hashes of the layers
  session->LoadPlan(PlanOfSegments(notation, session->PlanBytes()));
  schedule.solver = SLUICE_SOLVER_DEFAULT;
  sluice_reschedule_options_t options = {};
  options.struct_size = sizeof options;
  options.schedule = &schedule;
  session->Reschedule(options);
  const sluice_report_t r = session->Report();
  if (!command.output.empty()) {
    const std::string json =
        SegmentsToText(SegmentsOfPlan(session->PlanBytes()), graph);
    WriteFile(command.output, json.data(), json.size());
  }
  if (command.json) {
    std::cout << JsonText(
                     Json{{"ok", true},
                          {"latency_cycles", r.latency_cycles},
                          {"energy_pj", r.energy_pj},
                          {"edp", r.energy_pj * static_cast<double>(r.latency_cycles)},
                          {"dram_read_bytes", r.dram_read_bytes},
                          {"dram_write_bytes", r.dram_write_bytes},
                          {"spill_bytes", r.spill_bytes},
                          {"peak_buffer_bytes", r.peak_buffer_bytes},
                          {"segments", r.groups},
                          {"tiles", r.tiles},
                          {"instructions", r.instructions}},
                     1)
              << "\n";
    return;
  }
  Report report(command.schedule);
  report.Line("latency", Grouped(r.latency_cycles) + " cycles");
  report.Line("energy", EnergyText(r.energy_pj));
  report.Line("DRAM read", BytesText(r.dram_read_bytes));
  report.Line("DRAM write", BytesText(r.dram_write_bytes),
              BytesText(r.spill_bytes) + " of it intermediate tensors");
  report.Line("scratchpad", BytesText(r.peak_buffer_bytes), "peak");
  report.Line("plan", Grouped(r.groups) + " segments, " + Grouped(r.tiles) +
                          " tiles, " + Grouped(r.instructions) + " instructions");
  std::cout << report.Text();
  if (!command.output.empty()) std::cout << "  written to " << command.output << "\n";
}

}  // namespace

std::string EvaluateHelp() { return kNotationHelp + std::string("\n") + kSegmentHelp; }

void Run(const EvaluateCommand& command) {
  const Bytes graph = ReadGraph(command.graph, "evaluate");
  const Bytes hardware = LoadHardware(command.hardware);
  Session session(0);
  session.LoadHardware(hardware);
  session.LoadGraph(graph, command.graph);
  const Bytes bytes = ReadFile(command.schedule);
  const std::string text(bytes.begin(), bytes.end());
  if (HasSegments(text)) {
    EvaluateSegments(command, &session, SegmentsFromJson(text, graph), graph);
    return;
  }
  Notation notation = NotationFromJson(text, graph);
  const Evaluated v = Evaluate(&session, notation.AsStruct(), command.budget_bytes);
  notation.dram = v.dram;
  if (!command.output.empty()) {
    const std::string json = JsonText(NotationToJson(notation, graph), 1) + "\n";
    WriteFile(command.output, json.data(), json.size());
  }
  if (command.json) {
    std::cout << JsonText(AsJson(v, notation, graph), 1) << "\n";
    return;
  }
  const HardwareFacts facts = FactsOf(hardware);
  std::cout << AsText(v, command.schedule + " on " + facts.name, facts);
  if (!command.output.empty()) std::cout << "  written to " << command.output << "\n";
}

}  // namespace sluice::cli
