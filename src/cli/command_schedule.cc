// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <iostream>

#include "cli/commands.h"
#include "cli/explain.h"
#include "cli/failure.h"
#include "cli/graph_names.h"
#include "cli/hardware_files.h"
#include "cli/host_products.h"
#include "cli/interruption.h"
#include "cli/layer_table.h"
#include "cli/machine_facts.h"
#include "cli/plan_costs.h"
#include "cli/plan_files.h"
#include "cli/progress_line.h"
#include "cli/prove.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/solvers.h"
#include "cli/targets.h"

namespace sluice::cli {
namespace {

struct Exponents {
  uint32_t energy, delay;
};

Exponents ExponentsOf(const std::string& objective) {
  if (objective == "latency") return {0, 1};
  if (objective == "energy") return {1, 0};
  if (objective == "ed2p") return {1, 2};
  if (objective == "ed3p") return {1, 3};
  if (objective == "ed4p") return {1, 4};
  return {1, 1};
}

const char* StopText(uint32_t reason) {
  switch (reason) {
    case SLUICE_STOP_COMPLETE:
      return "complete";
    case SLUICE_STOP_DEADLINE:
      return "deadline";
    case SLUICE_STOP_ITERATIONS:
      return "iterations";
    case SLUICE_STOP_CANCELLED:
      return "cancelled";
    case SLUICE_STOP_PROVED:
      return "proved";
    default:
      return "unknown";
  }
}

double Cost(const Exponents& exponents, double energy, double delay) {
  double cost = exponents.energy != 0 ? energy : 1;
  for (uint32_t i = 0; i < exponents.delay; ++i) cost *= delay;
  return cost;
}

struct Measured {
  sluice_report_t report;
  double cost, bound_cost;
  uint64_t solve_us, peak_memory_bytes;
  bool segmented;  // the plan was made of segments
};

// Names by SLUICE_PHASE_.
constexpr const char* kPhases[SLUICE_PHASE_COUNT] = {"read",  "lower", "schedule",
                                                     "place", "emit",  "verify"};

Json PhasesAsJson(const sluice_report_t& report) {
  Json phases = Json::object();
  for (int p = 0; p < SLUICE_PHASE_COUNT; ++p) {
    phases[kPhases[p]] = report.phase_peak_bytes[p];
  }
  return phases;
}

// "read 1.00 KiB, lower ...": the phases that ran.
std::string PhasesText(const sluice_report_t& report) {
  std::string text;
  for (int p = 0; p < SLUICE_PHASE_COUNT; ++p) {
    if (report.phase_peak_bytes[p] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(kPhases[p]) + " " +
            BytesText(report.phase_peak_bytes[p]);
  }
  return text;
}

// Shares of HOST calls in the plan's layers, MACs and bytes.
Json HostShares(const sluice_report_t& r) {
  const auto of = [](uint64_t part, uint64_t rest) {
    const uint64_t whole = part + rest;
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  return {{"layers", of(r.host_layers, r.layers - r.host_layers)},
          {"macs", of(r.host_macs, r.macs)},
          {"bytes", of(r.host_bytes, r.dram_read_bytes + r.dram_write_bytes)}};
}

std::string HostText(const sluice_report_t& r) {
  const Json shares = HostShares(r);
  const auto percent = [&](const char* what) {
    return Fixed(100 * shares[what].get<double>(), 1) + "% of ";
  };
  return percent("layers") + "layers, " + percent("macs") + "MACs, " +
         percent("bytes") + "DRAM bytes";
}

Json AsJson(const Measured& m) {
  const sluice_report_t& r = m.report;
  Json gap = nullptr;
  if (m.bound_cost > 0) gap = m.cost / m.bound_cost;
  return {{"latency_cycles", r.latency_cycles},
          {"energy_pj", r.energy_pj},
          {"edp", r.energy_pj * static_cast<double>(r.latency_cycles)},
          {"dram_read_bytes", r.dram_read_bytes},
          {"dram_write_bytes", r.dram_write_bytes},
          {"peak_buffer_bytes", r.peak_buffer_bytes},
          {"lower_bound",
           {{"latency_cycles", r.bound_latency_cycles},
            {"energy_pj", r.bound_energy_pj},
            {"cost", m.bound_cost}}},
          {"gap", gap},
          {"stop_reason", StopText(r.stop_reason)},
          {"iterations", r.iterations},
          {"solve_us", m.solve_us},
          {"peak_memory_bytes", m.peak_memory_bytes},
          {"layers", r.layers},
          {"groups", r.groups},
          {"tiles", r.tiles},
          {"instructions", r.instructions},
          {"spill_bytes", r.spill_bytes},
          {"energy_noc_pj", r.energy_noc_pj},
          {"host",
           {{"layers", r.host_layers},
            {"macs", r.host_macs},
            {"bytes", r.host_bytes},
            {"energy_pj", r.energy_host_pj},
            {"share", HostShares(r)}}},
          {"phase_peak_bytes", PhasesAsJson(r)}};
}

std::string Share(double part, double whole, const char* name) {
  return Fixed(whole > 0 ? 100 * part / whole : 0, 0) + "% " + name;
}

std::string Bound(double value, double bound, const std::string& text) {
  if (bound <= 0) return {};
  return "lower bound " + text + " (x" + Fixed(value / bound, 2) + ")";
}

std::string AsText(const Measured& m, const std::string& heading,
                   const LayerTable& layers, uint64_t budget) {
  const HardwareFacts& hardware = layers.hardware;
  const sluice_report_t& r = m.report;
  const double seconds =
      static_cast<double>(r.latency_cycles) / static_cast<double>(hardware.clock_hz);
  Report report(heading);
  report.Line("latency", Grouped(r.latency_cycles) + " cycles = " + TimeText(seconds),
              Bound(static_cast<double>(r.latency_cycles),
                    static_cast<double>(r.bound_latency_cycles),
                    Grouped(r.bound_latency_cycles)));
  report.Line("energy", EnergyText(r.energy_pj),
              Bound(r.energy_pj, r.bound_energy_pj, EnergyText(r.bound_energy_pj)));
  report.Line(
      "",
      Share(r.energy_dram_pj, r.energy_pj, "DRAM, ") +
          Share(r.energy_scratchpad_pj, r.energy_pj, "scratchpad, ") +
          Share(r.energy_compute_pj, r.energy_pj, "compute, ") +
          (r.energy_noc_pj == 0 ? "" : Share(r.energy_noc_pj, r.energy_pj, "links, ")) +
          (r.energy_host_pj == 0 ? ""
                                 : Share(r.energy_host_pj, r.energy_pj, "host, ")) +
          Share(r.energy_leakage_pj, r.energy_pj, "leakage"));
  report.Line("DRAM read", BytesText(r.dram_read_bytes));
  report.Line("DRAM write", BytesText(r.dram_write_bytes));
  if (r.spill_bytes != 0) {
    report.Line("", BytesText(r.spill_bytes) + " of it intermediate tensors");
  }
  report.Line("scratchpad", BytesText(r.peak_buffer_bytes),
              "peak, of " + BytesText(budget));
  report.Line("work", Grouped(r.macs) + " MACs, " + Grouped(r.vector_ops) + " vector",
              "MAC array busy " +
                  Fixed(r.latency_cycles == 0
                            ? 0
                            : 100.0 * static_cast<double>(r.macs) /
                                  static_cast<double>(hardware.macs_per_cycle) /
                                  layers.nodes / static_cast<double>(r.latency_cycles),
                        1) +
                  "%");
  if (r.host_layers != 0) {
    report.Line("host",
                Grouped(r.host_layers) + " layers, " + Grouped(r.host_macs) +
                    " MACs, " + BytesText(r.host_bytes),
                HostText(r));
  }
  report.Line("plan", Grouped(r.instructions) + " instructions",
              Grouped(r.layers) + " layers, " + Grouped(r.groups) +
                  (m.segmented ? " segments, " : " groups, ") + Grouped(r.tiles) +
                  " tiles");
  report.Line("solved in", TimeText(static_cast<double>(m.solve_us) / 1e6),
              Grouped(r.iterations) + " iterations, stop: " + StopText(r.stop_reason));
  report.Line("memory", BytesText(m.peak_memory_bytes), "peak; " + PhasesText(r));
  return report.Text();
}

struct Made {
  const Bytes& graph;
  const Session& session;
  const Measured& measured;
  LayerTable layers;  // without rows where the plan's memory cap left no room for them
  std::vector<ExplainedSegment> explained;
  Proof proof;
};

// For the table the judge counts again what the plan takes; so this
// is done only where somebody reads it.
void AddLayers(const ScheduleCommand& command, Made* made) {
  const bool asked = !command.layers.empty() || command.explain;
  if (!asked && !GapNeedsRows(made->layers)) return;
  try {
    made->layers.rows = LayersOf(made->session);
  } catch (const Failure&) {
    if (asked) throw;
  }
}

void Print(const ScheduleCommand& command, const Made& made) {
  const Bytes& graph = made.graph;
  const Session& session = made.session;
  const Measured& m = made.measured;
  const LayerTable& layers = made.layers;
  const HardwareFacts& facts = layers.hardware;
  if (!command.layers.empty()) {
    const std::string csv = LayersAsCsv(layers);
    WriteFile(command.layers, csv.data(), csv.size());
  }
  if (command.json) {
    Json report = AsJson(m);
    report["warnings"] = MachineDoubts(session);
    report["interrupted"] = Interruption::came();
    report["gap_in_words"] = GapSentence(layers);
    if (command.prove != 0) report["proof"] = ProofAsJson(made.proof);
    if (!command.layers.empty()) report["by_layer"] = LayersAsJson(layers);
    if (command.explain) {
      report["by_segment"] = ExplainedAsJson(made.explained, graph);
    }
    std::cout << JsonText(report, 1) << "\n";
    return;
  }
  const uint64_t budget =
      command.budget_bytes != 0 ? command.budget_bytes : facts.scratchpad_bytes;
  std::cout << AsText(m, GraphName(graph) + " on " + facts.name, layers, budget);
  const std::string gap = GapSentence(layers);
  if (!gap.empty()) std::cout << "  gap: " << gap << "\n";
  if (command.prove != 0) std::cout << "  proof: " << ProofText(made.proof) << "\n";
  for (const std::string& doubt : MachineDoubts(session)) {
    std::cout << "  warning: " << doubt << "\n";
  }
  if (command.explain) std::cout << ExplainedAsText(made.explained, graph);
  if (!command.output.empty()) std::cout << "  written to " << command.output << "\n";
}

sluice_schedule_options_t OptionsOf(const ScheduleCommand& command,
                                    const Exponents& exponents) {
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  if (!FindSolver(command.solver, &options.solver)) {
    throw Failure(kUsage, "no solver is called " + command.solver);
  }
  options.scratchpad_bytes = command.budget_bytes;
  options.deadline_ns = command.deadline_ns;
  options.max_iterations = command.iterations;
  options.seed = command.seed;
  options.max_block_cycles = command.max_block_cycles;
  options.granularity = command.granularity == "operator" ? SLUICE_GRANULARITY_OPERATOR
                        : command.granularity == "recompute"
                            ? SLUICE_GRANULARITY_RECOMPUTE
                            : SLUICE_GRANULARITY_TILE;
  options.energy_exponent = exponents.energy;
  options.delay_exponent = exponents.delay;
  return options;
}

Session SessionWith(uint64_t memory_bytes, const ScheduleCommand& command,
                    const Bytes& graph, const Bytes& hardware) {
  Session session(memory_bytes);
  session.LoadHardware(hardware);
  session.LoadGraph(graph, command.graph);
  return session;
}

// A session that has read the graph and the machine within the command's --memory.
Session CappedSession(const ScheduleCommand& command, const Bytes& graph,
                      const Bytes& hardware) {
  try {
    return SessionWith(command.memory_bytes, command, graph, hardware);
  } catch (const Failure& failure) {
    if (command.memory_bytes == 0 || failure.code() != kIo) throw;
    const uint64_t needed =
        SessionWith(0, command, graph, hardware).peak_memory_bytes();
    Json details = failure.details();
    details["required_bytes"] = needed;
    details["available_bytes"] = command.memory_bytes;
    throw Failure(kIo,
                  "--memory " + BytesText(command.memory_bytes) +
                      " is too small to read the graph; that takes " +
                      BytesText(needed) + ", and a plan takes more",
                  details);
  }
}

Measured MeasuredOf(const Session& session, const Exponents& exponents) {
  Measured m = {};
  m.report = session.Report();
  m.peak_memory_bytes = session.peak_memory_bytes();
  m.cost =
      Cost(exponents, m.report.energy_pj, static_cast<double>(m.report.latency_cycles));
  m.bound_cost = Cost(exponents, m.report.bound_energy_pj,
                      static_cast<double>(m.report.bound_latency_cycles));
  return m;
}

// Looks for a cheaper plan among all of the plan space, and takes the cheapest.
Proof ProvePlan(const ScheduleCommand& command, const Bytes& graph,
                const Bytes& hardware, const sluice_schedule_options_t& options,
                Session* session) {
  if (command.prove == 0 || MachineOf(*session).nodes != 1) return {};
  const Interruption interruption;
  const Working working("making all plans of the plan space");
  const Proof proof =
      Prove({graph, hardware, session->PlanBytes(), options, command.prove});
  if (!proof.cheaper.empty()) session->LoadPlan(proof.cheaper);
  return proof;
}

// Tiles cost what the named target takes for them.
void AddCosts(const ScheduleCommand& command, const Session& session,
              sluice_schedule_options_t* options) {
  if (command.costs.empty()) return;
  options->tile_cost = TargetNamed(command.costs).tile_cost;
  options->tile_cost_user = const_cast<sluice_graph_t*>(session.graph());
}

}  // namespace

void Run(const ScheduleCommand& command) {
  const Bytes graph = ReadGraph(command.graph, "schedule");
  const Bytes hardware = LoadHardware(command.hardware);
  Session session = CappedSession(command, graph, hardware);

  const Exponents exponents = ExponentsOf(command.objective);
  sluice_schedule_options_t options = OptionsOf(command, exponents);
  AddCosts(command, session, &options);
  if (!command.resume.empty()) {
    session.LoadPlan(ReadFile(command.resume));
    options.resume = session.plan();
  }
  const auto start = std::chrono::steady_clock::now();
  {
    const Interruption interruption;
    options.cancel = interruption.word();
    ProgressLine line(command.progress);
    if (line.told()) {
      options.progress = ProgressLine::Tell;
      options.progress_user = &line;
    }
    session.Schedule(options);
  }
  const auto elapsed = std::chrono::steady_clock::now() - start;
  const Proof proof = ProvePlan(command, graph, hardware, options, &session);
  Measured m = MeasuredOf(session, exponents);
  m.report.host_macs += HostProducts(graph);
  m.solve_us = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count());
  if (!command.output.empty()) {
    WritePlanFile(command.output, session.PlanBytes(), graph, hardware,
                  command.plan_only);
  }
  if (!command.notation.empty()) {
    const std::string json = SegmentsToText(SegmentsOfPlan(session.PlanBytes()), graph);
    WriteFile(command.notation, json.data(), json.size());
  }
  const HardwareFacts facts = FactsOf(hardware);
  const std::vector<uint32_t> segments =
      SegmentOfLayers(session.PlanBytes(), PlainLayerNames(graph).size());
  m.segmented = !segments.empty();
  const LayerTable layers = {graph,
                             facts,
                             m.report,
                             MachineOf(session).nodes,
                             exponents.energy != 0,
                             exponents.delay != 0,
                             {},
                             segments};
  Made made = {graph, session, m, layers, {}, proof};
  AddLayers(command, &made);
  if (command.explain && m.segmented) {
    const Interruption interruption;
    const Working working("making other plans to compare");
    made.explained =
        Explain({graph, hardware, session.PlanBytes(), options, made.layers.rows});
  }
  Print(command, made);
  TellOfInterruption();
}

}  // namespace sluice::cli
