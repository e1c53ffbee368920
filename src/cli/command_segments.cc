// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/graph_names.h"
#include "cli/hardware_files.h"
#include "cli/interruption.h"
#include "cli/mappings.h"
#include "cli/progress_line.h"
#include "cli/report.h"
#include "cli/session.h"

namespace sluice::cli {
namespace {

constexpr char kDims[] = "NKCPQRSG";
constexpr const char* kKinds[] = {"single", "spatial", "temporal"};

sluice_segment_options_t OptionsOf(const SegmentsCommand& command) {
  sluice_segment_options_t options = {};
  options.struct_size = sizeof options;
  options.solver = command.solver == "topk"     ? SLUICE_SEGMENTS_TOP_K
                   : command.solver == "layers" ? SLUICE_SEGMENTS_LAYERS
                                                : SLUICE_SEGMENTS_CHAIN;
  options.energy_exponent = command.objective == "latency" ? 0 : 1;
  options.delay_exponent = command.objective == "energy" ? 0 : 1;
  options.top_k = command.top_k;
  options.max_stages = command.stages;
  options.proof = command.proof;
  options.word_bytes = command.word_bytes;
  options.no_spatial = command.no_spatial;
  options.no_temporal = command.no_temporal;
  options.max_prices = command.prices;
  options.deadline_ns = command.deadline_ns;
  return options;
}

Json CostJson(const sluice_segment_cost_t& cost) {
  return {{"energy_pj", cost.energy_pj},
          {"latency_cycles", cost.cycles},
          {"edp", cost.energy_pj * static_cast<double>(cost.cycles)},
          {"dram_read_bytes", cost.dram_read_bytes},
          {"dram_write_bytes", cost.dram_write_bytes},
          {"energy",
           {{"operations_pj", cost.operations_pj},
            {"registers_pj", cost.registers_pj},
            {"transfer_pj", cost.transfer_pj},
            {"scratchpad_pj", cost.scratchpad_pj},
            {"dram_pj", cost.dram_pj},
            {"noc_pj", cost.noc_pj},
            {"leakage_pj", cost.leakage_pj}}}};
}

std::string SplitText(const sluice_segment_layer_t& layer) {
  std::string text;
  for (const auto& axis : layer.split) {
    if (&axis != &layer.split[0]) text += " | ";
    bool any = false;
    for (int d = 0; d < 8; ++d) {
      if (axis[d] == 1) continue;
      text += (any ? " " : "") + std::string(1, kDims[d]) + std::to_string(axis[d]);
      any = true;
    }
    if (!any) text += "1";
  }
  return text;
}

Json LayerJson(const Bytes& graph, const sluice_segment_layer_t& layer) {
  return {{"layer", LayerName(graph, layer.layer)},
          {"stage", layer.stage},
          {"nodes", {layer.column, layer.row, layer.columns, layer.rows}},
          {"takes", layer.producer == SLUICE_NO_INDEX ? Json() : Json(layer.producer)},
          {"fetches", layer.fetches != 0 || layer.producer == SLUICE_NO_INDEX},
          {"stores", layer.stores != 0},
          {"input_groups", layer.top_ifm},
          {"output_groups", layer.top_ofm},
          {"split", SplitText(layer)},
          {"energy_pj", layer.energy_pj},
          {"busy_cycles", layer.busy_cycles},
          {"scratchpad_bytes", layer.scratchpad_bytes}};
}

Json AsJson(const Bytes& graph, const ChosenSegments& all, double solve_us,
            uint64_t peak_bytes) {
  const sluice_segment_schedule_t& s = all.schedule;
  Json segments = Json::array();
  for (const sluice_segment_t& segment : all.segments) {
    Json layers = Json::array();
    for (uint32_t i = 0; i < segment.layer_count; ++i) {
      layers.push_back(LayerJson(graph, all.layers[segment.first_layer + i]));
    }
    Json json = CostJson(segment.cost);
    json["kind"] = kKinds[segment.kind];
    json["stages"] = segment.stages;
    json["slices"] = segment.top_batch;
    json["node_cycles"] = segment.node_cycles;
    json["dram_cycles"] = segment.dram_cycles;
    json["layers"] = layers;
    segments.push_back(json);
  }
  Json json = CostJson(s.cost);
  json["layer_by_layer"] = CostJson(s.layers_cost);
  json["objective"] = s.objective;
  json["layers_objective"] = s.layers_objective;
  json["lower_bound"] = s.bound;
  json["gap"] = s.objective > 0 ? 1 - s.bound / s.objective : 0;
  json["proved"] = s.proved != 0;
  json["stop_reason"] = s.stop_reason;
  json["interrupted"] = Interruption::came();
  json["counts"] = {{"layers", s.layer_count},  {"vertices", s.vertices},
                    {"segments", s.candidates}, {"spatial", s.spatial_candidates},
                    {"schemes", s.schemes},     {"valid", s.valid},
                    {"priced", s.priced},       {"prices", s.prices}};
  json["segments"] = segments;
  json["directives"] = all.text;
  json["solve_us"] = solve_us;
  json["peak_memory_bytes"] = peak_bytes;
  return json;
}

void PrintSegments(const Bytes& graph, const ChosenSegments& all) {
  for (const sluice_segment_t& segment : all.segments) {
    std::string heading = kKinds[segment.kind];
    if (segment.top_batch > 1) {
      heading += ", " + std::to_string(segment.top_batch) + " slices";
    }
    Report report(heading + ": " + EnergyText(segment.cost.energy_pj) + ", " +
                  Grouped(segment.cost.cycles) + " cycles");
    for (uint32_t i = 0; i < segment.layer_count; ++i) {
      const sluice_segment_layer_t& layer = all.layers[segment.first_layer + i];
      std::string remark = SplitText(layer);
      if (layer.producer != SLUICE_NO_INDEX) {
        remark += ", input on chip";
        if (layer.top_ifm > 1) {
          remark += " in " + std::to_string(layer.top_ifm) + " groups";
        }
      }
      if (layer.stores == 0) remark += ", output stays";
      report.Line(LayerName(graph, layer.layer),
                  std::to_string(layer.columns) + " x " + std::to_string(layer.rows) +
                      " at " + std::to_string(layer.column) + ", " +
                      std::to_string(layer.row),
                  remark);
    }
    std::cout << report.Text();
  }
}

void Print(const SegmentsCommand& command, const Bytes& graph,
           const ChosenSegments& all, double solve_us, uint64_t peak_bytes) {
  const sluice_segment_schedule_t& s = all.schedule;
  PrintSegments(graph, all);
  Report report(GraphName(graph) + " on " + FileStem(command.hardware));
  const double pj = s.cost.energy_pj;
  report.Line(
      "energy", EnergyText(pj),
      Fixed(100 * (pj / s.layers_cost.energy_pj - 1), 1) + " % against layer by layer");
  const std::pair<double, const char*> parts[] = {{s.cost.operations_pj, "operations"},
                                                  {s.cost.registers_pj, "registers"},
                                                  {s.cost.transfer_pj, "array wires"},
                                                  {s.cost.scratchpad_pj, "scratchpads"},
                                                  {s.cost.dram_pj, "DRAM"},
                                                  {s.cost.noc_pj, "links"},
                                                  {s.cost.leakage_pj, "leakage"}};
  for (const auto& [part, name] : parts) {
    report.Line("", EnergyText(part),
                std::string(name) + ", " + Fixed(100 * part / pj, 1) + " %");
  }
  report.Line("latency", Grouped(s.cost.cycles) + " cycles",
              Fixed(100 * (static_cast<double>(s.cost.cycles) /
                               static_cast<double>(s.layers_cost.cycles) -
                           1),
                    1) +
                  " %");
  report.Line("DRAM", BytesText(s.cost.dram_read_bytes + s.cost.dram_write_bytes));
  report.Line("bound", s.proved != 0
                           ? "nothing in the space is better"
                           : "within " + Fixed(100 * (1 - s.bound / s.objective), 1) +
                                 " % of the optimum");
  report.Line("schemes", Grouped(s.schemes),
              Grouped(s.valid) + " may fit, " + Grouped(s.priced) + " solved with " +
                  Grouped(s.prices) + " mappings");
  report.Line("solved in", TimeText(solve_us * 1e-6), BytesText(peak_bytes));
  std::cout << report.Text();
  if (command.directives) std::cout << all.text;
}

// Where no loop nest of the machine's nodes covers a layer, says so: the mapper names
// the loops alone.
[[noreturn]] void FailMapping(const SegmentsCommand& command, const Failure& failure) {
  if (failure.code() != kBadInput ||
      failure.details().value("stage", "") != "mapping") {
    throw Failure(failure);
  }
  throw Failure(kBadInput,
                "a node of " + command.hardware +
                    " has no loop nest for a layer, which segments need for each; "
                    "sluice schedule plans such machines: " +
                    failure.what(),
                failure.details());
}

}  // namespace

void Run(const SegmentsCommand& command) {
  const Bytes graph = ReadGraph(command.graph, "segments");
  Session session(0);
  session.LoadGraph(graph, command.graph);
  session.LoadHardware(LoadHardware(command.hardware));
  const auto start = std::chrono::steady_clock::now();
  ChosenSegments all;
  {
    const Interruption interruption;
    sluice_segment_options_t options = OptionsOf(command);
    options.cancel = interruption.word();
    const Working working("segments");
    try {
      all = ChooseSegments(session, options);
    } catch (const Failure& failure) {
      FailMapping(command, failure);
    }
  }
  const double solve_us = std::chrono::duration<double, std::micro>(
                              std::chrono::steady_clock::now() - start)
                              .count();
  if (command.json) {
    std::cout << JsonText(AsJson(graph, all, solve_us, session.peak_memory_bytes()), 1)
              << "\n";
  } else {
    Print(command, graph, all, solve_us, session.peak_memory_bytes());
  }
  TellOfInterruption();
}

}  // namespace sluice::cli
