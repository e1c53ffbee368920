// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/hardware_files.h"
#include "cli/interruption.h"
#include "cli/map_layers.h"
#include "cli/mappings.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/timeloop.h"

namespace sluice::cli {
namespace {

constexpr const char* kAxes[3] = {"M", "N", "K"};
constexpr const char* kData[3] = {"B", "A", "P"};  // the operand that lacks this axis

sluice_gemm_options_t OptionsOf(const MapCommand& command) {
  sluice_gemm_options_t options = {};
  options.struct_size = sizeof options;
  options.solver = command.solver == "cosa" ? SLUICE_GEMM_COSA : SLUICE_GEMM_EXACT;
  options.objective = command.objective == "energy" ? SLUICE_GEMM_ENERGY
                      : command.objective == "edp"  ? SLUICE_GEMM_EDP
                                                    : SLUICE_GEMM_LATENCY;
  options.at_most = command.pe == "atmost" ? 1 : 0;
  options.from_level = command.from;
  options.cancel = Interruption::word();
  options.paper_form = command.form == "paper" ? 1 : 0;
  return options;
}

// The loop order, outermost first; the library returns innermost first.
Json OrderJson(const uint8_t order[4]) {
  return {kAxes[order[2]], kAxes[order[1]], kAxes[order[0]]};
}

Json AxesJson(const int64_t value[3]) {
  return {{"M", value[0]}, {"N", value[1]}, {"K", value[2]}};
}

Json BypassJson(uint8_t holds) {
  Json data = Json::array();
  for (const int d : {1, 0, 2}) {  // A B P
    if ((holds >> d & 1) == 0) data.push_back(kData[d]);
  }
  return data;
}

double GapOf(const sluice_gemm_mapping_t& m) {
  const double size = m.objective < 0 ? -m.objective : m.objective;
  return m.proved != 0 || size == 0 ? 0 : (m.objective - m.bound) / size;
}

Json AsJson(const sluice_gemm_mapping_t& m, const std::string names[3],
            double solve_us) {
  Json json = {
      {"energy_pj_per_mac", m.energy_pj_per_mac},
      {"cycles", m.cycles},
      {"compute_cycles", m.compute_cycles},
      {"memory_cycles",
       {{names[0], m.memory_cycles[0]},
        {names[1], m.memory_cycles[1]},
        {names[2], m.memory_cycles[2]}}},
      {"tiling",
       {{names[1], AxesJson(m.middle_tile)}, {names[2], AxesJson(m.inner_tile)}}},
      {"permutation",
       {{names[0], OrderJson(m.outer_order)}, {names[1], OrderJson(m.middle_order)}}},
      {"spatial", AxesJson(m.spatial)},
      {"bypass",
       {{names[1], BypassJson(m.middle_holds)},
        {names[2], BypassJson(m.inner_holds)}}}};
  if (m.certificate == SLUICE_CERTIFICATE_NONE) {
    json["certificate_ok"] = nullptr;
  } else {
    json["certificate_ok"] = m.certificate == SLUICE_CERTIFICATE_ACCEPTED;
  }
  json["gap"] = GapOf(m);
  json["solve_us"] = solve_us;
  json["proved"] = m.proved != 0;
  json["objective"] = m.objective;
  json["energy_pj"] = m.energy_pj;
  json["edp_pj_cycles"] = m.energy_pj * static_cast<double>(m.cycles);
  json["macs"] = m.macs;
  json["pe_used"] = m.pe_used;
  json["nodes"] = m.nodes;
  json["interrupted"] = Interruption::came();
  return json;
}

std::string AxesText(const int64_t value[3]) {
  std::string text;
  for (int d = 0; d < 3; ++d) {
    text += std::string(d == 0 ? "" : "  ") + kAxes[d] + " " + std::to_string(value[d]);
  }
  return text;
}

std::string LoopsText(const uint8_t order[4]) {
  return std::string("loops ") + kAxes[order[2]] + " " + kAxes[order[1]] + " " +
         kAxes[order[0]] + ", outermost first";
}

std::string BypassText(uint8_t holds) {
  std::string text;
  for (const auto& datum : BypassJson(holds)) text += " " + datum.get<std::string>();
  return text.empty() ? "holds A B P" : "bypassed by" + text;
}

void Print(const MapCommand& command, const std::array<int64_t, 3>& extent,
           const sluice_gemm_mapping_t& m, const std::string names[3],
           double solve_us) {
  Report report("P(" + std::to_string(extent[0]) + " x " + std::to_string(extent[1]) +
                ") += A B over " + std::to_string(extent[2]) + " on " +
                FileStem(command.hardware));
  report.Line("energy", EnergyText(m.energy_pj),
              Fixed(m.energy_pj_per_mac, 6) + " pJ per MAC");
  report.Line("cycles", Grouped(static_cast<uint64_t>(m.cycles)),
              Grouped(static_cast<uint64_t>(m.pe_used)) + " PEs");
  for (int i = 0; i < 3; ++i) {
    if (m.memory_cycles[i] == 0) continue;
    report.Line("", Grouped(static_cast<uint64_t>(m.memory_cycles[i])),
                names[i] + " bandwidth");
  }
  report.Line(names[0], AxesText(extent.data()), LoopsText(m.outer_order));
  report.Line(names[1], AxesText(m.middle_tile),
              LoopsText(m.middle_order) + ", " + BypassText(m.middle_holds));
  report.Line("PEs", AxesText(m.spatial));
  report.Line(names[2], AxesText(m.inner_tile), BypassText(m.inner_holds));
  report.Line("proof",
              m.certificate == SLUICE_CERTIFICATE_ACCEPTED   ? "certificate accepted"
              : m.certificate == SLUICE_CERTIFICATE_REJECTED ? "certificate REJECTED"
              : m.proved != 0
                  ? "optimum of the formulation"
                  : "stopped early, gap " + Fixed(100 * GapOf(m), 2) + " %");
  report.Line("solved in", TimeText(solve_us * 1e-6));
  std::cout << report.Text();
}

// True for an extent that is not a multiple of eight: the best tiles that divide it may
// cost far more than the best tiles with a remainder.
bool IsAwkward(const std::array<int64_t, 3>& extent) {
  bool any = false;
  for (const int64_t e : extent) any = any || (e > 8 && e % 8 != 0);
  return any;
}

// Compares by the requested objective; latency compares cycles first. A nest counts
// partial sums at the machine's width, which is larger, so its energy is not
// understated.
bool NestIsBetter(const MapCommand& command, const sluice_layer_mapping_t& nest,
                  const sluice_gemm_mapping_t& gemm) {
  const auto product = [](double pj, int64_t cycles) {
    return pj * static_cast<double>(cycles);
  };
  if (command.objective == "energy") return nest.energy_pj < gemm.energy_pj;
  if (command.objective == "edp") {
    return product(nest.energy_pj, nest.cycles) < product(gemm.energy_pj, gemm.cycles);
  }
  return nest.cycles < gemm.cycles ||
         (nest.cycles == gemm.cycles && nest.energy_pj < gemm.energy_pj);
}

// Whether a layer's loop nest can answer the command, too.
bool TakesNests(const MapCommand& command) {
  const bool best = command.solver.empty() || command.solver == "best";
  return best && command.pe != "exact" && command.form == "reuse" && command.from == 0;
}

}  // namespace

void RunMapGemm(const MapCommand& command, const std::array<int64_t, 3>& extent) {
  const sluice_gemm_t gemm = {extent[0], extent[1], extent[2]};
  const Bytes hardware = LoadHardware(command.hardware);
  Session session(0);
  session.LoadHardware(hardware);
  sluice_gemm_options_t options = OptionsOf(command);
  const auto start = std::chrono::steady_clock::now();
  sluice_gemm_mapping_t mapping;
  try {
    mapping = MapGemm(session, gemm, options);
  } catch (const Failure& failure) {
    // sluice_map_gemm refuses machines with more than three memories or wire costs, and
    // finds no split that uses all PEs of some; a layer's loop nest can.
    const bool refused = failure.code() == kBadInput || failure.code() == kInfeasible;
    if (!refused || !TakesNests(command)) throw;
    return RunMapProduct(command, extent);
  }
  if (TakesNests(command) && command.timeloop.empty() && IsAwkward(extent) &&
      NestIsBetter(command, MapProduct(command, extent), mapping)) {
    return RunMapProduct(command, extent);
  }
  const double solve_us = std::chrono::duration<double, std::micro>(
                              std::chrono::steady_clock::now() - start)
                              .count();
  options.certify = 1;
  const bool exact = options.solver == SLUICE_GEMM_EXACT;
  if (exact && !Interruption::came()) mapping = MapGemm(session, gemm, options);
  const GemmMemories memories = MemoriesOf(hardware, mapping);
  if (!command.timeloop.empty()) {
    WriteTimeloop(command.timeloop, extent, memories, mapping);
  }
  const std::string names[3] = {memories.outer.name, memories.middle.name,
                                memories.inner.name};
  if (mapping.certificate == SLUICE_CERTIFICATE_REJECTED) {
    throw Failure(kRejected, "the proof of the optimum was rejected",
                  AsJson(mapping, names, solve_us));
  }
  if (command.json) {
    std::cout << JsonText(AsJson(mapping, names, solve_us), 1) << "\n";
  } else {
    Print(command, extent, mapping, names, solve_us);
  }
  TellOfInterruption();
}

void Run(const MapCommand& command) {
  const Interruption interruption;
  if (command.what.size() == 1) return RunMapLayers(command);
  std::array<int64_t, 3> size = {};
  for (size_t i = 0; i < 3; ++i) {
    char* end = nullptr;
    errno = 0;
    if (command.what.size() == 3)
      size[i] = std::strtoll(command.what[i].c_str(), &end, 10);
    if (end == nullptr || *end != '\0' || end == command.what[i].c_str() ||
        errno != 0) {
      throw Failure(kUsage, "map takes a graph, or three whole numbers M N K");
    }
  }
  if (!command.layer.empty() || !command.tile.empty()) {
    throw Failure(kUsage, "--layer and --tile are for graphs");
  }
  if (!command.import.empty()) return RunMapProduct(command, size);
  const bool of_gemms = command.solver.empty() || command.solver == "best" ||
                        command.solver == "exact" || command.solver == "cosa";
  if (!of_gemms) return RunMapProduct(command, size);
  RunMapGemm(command, size);
}

}  // namespace sluice::cli
