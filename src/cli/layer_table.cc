// SPDX-License-Identifier: Apache-2.0
#include "cli/layer_table.h"

#include <algorithm>

#include "cli/graph_names.h"
#include "cli/report.h"
#include "cli/segment_notation.h"

namespace sluice::cli {
namespace {

constexpr double kMostly = 0.9;  // of the time: what works so long limits the plan
constexpr double kNear = 1.02;   // of the bound: nothing is said on what causes the gap

const char* LimitText(uint32_t limit) {
  switch (limit) {
    case SLUICE_LIMIT_TILES:
      return "tiles";
    case SLUICE_LIMIT_DRAM:
      return "DRAM";
    case SLUICE_LIMIT_HOST:
      return "host";
    default:
      return "nothing";
  }
}

// Cycles of the resource that takes longest: the tiles of all nodes run beside each other.
double Longest(const LayerTable& table, const sluice_layer_cost_t& row) {
  return std::max({static_cast<double>(row.cycles) / table.nodes,
                   static_cast<double>(row.port_cycles),
                   static_cast<double>(row.host_cycles)});
}

uint64_t DramBytes(const sluice_layer_cost_t& row) {
  return row.dram_read_bytes + row.dram_write_bytes;
}

// A lower bound on the layer's cycles: the least time of the resource (tiles, DRAM or
// host) that takes longest. The least bytes pass the port as fast as those of the plan, which
// may lie in several memories. A HOST call has a fixed time.
double LeastCycles(const LayerTable& table, const sluice_layer_cost_t& row) {
  const double moved = static_cast<double>(DramBytes(row));
  const double dram = moved == 0
                          ? 0
                          : static_cast<double>(row.port_cycles) *
                                static_cast<double>(row.bound_dram_bytes) / moved;
  return std::max({static_cast<double>(row.bound_cycles) / table.nodes, dram,
                   static_cast<double>(row.host_cycles)});
}

double Utilisation(const LayerTable& table, const sluice_layer_cost_t& row) {
  if (row.cycles == 0) return 0;
  const double least = static_cast<double>(row.macs) /
                           static_cast<double>(table.hardware.macs_per_cycle) +
                       static_cast<double>(row.vector_ops) /
                           static_cast<double>(table.hardware.vector_ops_per_cycle);
  return least / static_cast<double>(row.cycles);
}

Json SegmentOf(const LayerTable& table, uint32_t layer) {
  if (layer >= table.segments.size()) return nullptr;
  return table.segments[layer] == kNoSegment ? Json(nullptr)
                                             : Json(table.segments[layer]);
}

bool Works(const sluice_layer_cost_t& row) { return row.limit != SLUICE_LIMIT_NOTHING; }

// Column by column, in the order of the table.
std::vector<std::pair<const char*, Json>> Fields(const LayerTable& table,
                                                 const sluice_layer_cost_t& row) {
  const std::string tile =
      row.tiles == 0
          ? ""
          : std::to_string(row.extent[0]) + "x" + std::to_string(row.extent[1]) + "x" +
                std::to_string(row.extent[2]) + "x" + std::to_string(row.extent[3]);
  const double least = LeastCycles(table, row);
  Json gap = nullptr;
  if (least > 0) gap = Longest(table, row) / least;
  return {{"layer", row.layer},
          {"name", LayerName(table.graph, row.layer)},
          {"segment", SegmentOf(table, row.layer)},
          {"block", row.block},
          {"tiles", row.tiles},
          {"tile", tile},
          {"cycles", row.cycles},
          {"utilisation", Utilisation(table, row)},
          {"port_cycles", row.port_cycles},
          {"host_cycles", row.host_cycles},
          {"dram_read_bytes", row.dram_read_bytes},
          {"dram_write_bytes", row.dram_write_bytes},
          {"spill_bytes", row.spill_bytes},
          {"energy_pj", row.energy_pj},
          {"limit", LimitText(row.limit)},
          {"bound_cycles", row.bound_cycles},
          {"bound_dram_bytes", row.bound_dram_bytes},
          {"bound_energy_pj", row.bound_energy_pj},
          {"gap", gap}};
}

// Quotes a field for CSV: names may hold commas and quotes.
std::string CsvText(const Json& value) {
  if (value.is_null()) return {};
  if (!value.is_string()) return JsonText(value);
  std::string text = "\"";
  for (const char c : value.get<std::string>()) {
    text += c;
    if (c == '"') text += c;
  }
  return text + "\"";
}

struct Sums {
  double cycles = 0, least_cycles = 0, bytes = 0, least_bytes = 0, host = 0;
  double port = 0;  // cycles
  const sluice_layer_cost_t* worst = nullptr;
  double worst_cycles = 0;  // of tiles and DRAM above the bound
  const sluice_layer_cost_t* dearest = nullptr;
  double dearest_pj = 0;  // above the bound
};

Sums SumUp(const LayerTable& table) {
  Sums sums;
  for (const sluice_layer_cost_t& row : table.rows) {
    sums.cycles += static_cast<double>(row.cycles);
    sums.least_cycles += static_cast<double>(row.bound_cycles);
    sums.bytes += static_cast<double>(DramBytes(row));
    sums.port += static_cast<double>(row.port_cycles);
    sums.least_bytes += static_cast<double>(row.bound_dram_bytes);
    sums.host += static_cast<double>(row.host_cycles);
    const double beyond = Longest(table, row) - LeastCycles(table, row);
    if (beyond > sums.worst_cycles) {
      sums.worst = &row;
      sums.worst_cycles = beyond;
    }
    if (row.energy_pj - row.bound_energy_pj > sums.dearest_pj) {
      sums.dearest = &row;
      sums.dearest_pj = row.energy_pj - row.bound_energy_pj;
    }
  }
  return sums;
}

bool IsNear(double value, double bound) { return bound <= 0 || value <= kNear * bound; }

bool LatencyIsNear(const sluice_report_t& r) {
  return IsNear(static_cast<double>(r.latency_cycles),
                static_cast<double>(r.bound_latency_cycles));
}

std::string Percent(double part) { return Fixed(100 * part, 0) + "%"; }

std::string LatencySentence(const LayerTable& table) {
  const double cycles = static_cast<double>(table.report.latency_cycles);
  if (table.report.bound_latency_cycles == 0 || cycles <= 0) return {};
  if (LatencyIsNear(table.report)) return "no plan is more than 2% faster";
  if (table.rows.empty()) return {};
  const Sums sums = SumUp(table);
  const double nodes = static_cast<double>(table.nodes);
  const double tiles = sums.cycles / nodes / cycles;
  const double port = sums.port / cycles;
  std::string text = "tiles work " + Percent(tiles) + " of the time";
  if (sums.least_cycles > 0) {
    text += " (x" + Fixed(sums.cycles / sums.least_cycles, 2) + " their least)";
  }
  text += ", DRAM moves " + Percent(port);
  if (sums.least_bytes > 0) {
    text += " (x" + Fixed(sums.bytes / sums.least_bytes, 2) + " the least bytes)";
  }
  if (sums.host > 0) text += ", the host works " + Percent(sums.host / cycles);
  if (std::max({tiles, port, sums.host / cycles}) < kMostly) {
    text += ", else they wait for each other and for latencies";
  }
  if (sums.worst != nullptr && sums.worst_cycles > 0.02 * cycles) {
    text += "; furthest above its own bound: " +
            Shortened(LayerName(table.graph, sums.worst->layer)) + ", " +
            Grouped(static_cast<uint64_t>(sums.worst_cycles)) + " cycles of " +
            LimitText(sums.worst->limit);
  }
  return text;
}

// The part of DRAM in the energy, and the layer that takes most beyond its own bound.
std::string EnergySentence(const LayerTable& table) {
  const sluice_report_t& r = table.report;
  if (r.bound_energy_pj <= 0 || r.energy_pj <= 0) return {};
  if (IsNear(r.energy_pj, r.bound_energy_pj)) return "no plan takes 2% less energy";
  if (table.rows.empty()) return {};
  const Sums sums = SumUp(table);
  std::string text =
      "DRAM takes " + Percent(r.energy_dram_pj / r.energy_pj) + " of the energy";
  if (sums.least_bytes > 0) {
    text += " (x" + Fixed(sums.bytes / sums.least_bytes, 2) + " the least bytes)";
  }
  if (sums.dearest != nullptr && sums.dearest_pj > 0.02 * r.energy_pj) {
    text += ", most above its own bound: " +
            Shortened(LayerName(table.graph, sums.dearest->layer)) + ", " +
            EnergyText(sums.dearest_pj);
  }
  return text;
}

}  // namespace

Json LayersAsJson(const LayerTable& table) {
  Json rows = Json::array();
  for (const sluice_layer_cost_t& row : table.rows) {
    if (!Works(row)) continue;
    Json object = Json::object();
    for (const auto& [name, value] : Fields(table, row)) object[name] = value;
    rows.push_back(object);
  }
  return rows;
}

std::string LayersAsCsv(const LayerTable& table) {
  std::string text;
  for (const sluice_layer_cost_t& row : table.rows) {
    if (!Works(row)) continue;
    const auto fields = Fields(table, row);
    if (text.empty()) {
      for (const auto& [name, value] : fields) text += std::string(name) + ",";
      text.back() = '\n';
    }
    for (const auto& [name, value] : fields) text += CsvText(value) + ",";
    text.back() = '\n';
  }
  return text;
}

bool GapNeedsRows(const LayerTable& table) {
  const sluice_report_t& r = table.report;
  return (table.of_latency && !LatencyIsNear(r)) ||
         (table.of_energy && !IsNear(r.energy_pj, r.bound_energy_pj));
}

std::string GapSentence(const LayerTable& table) {
  const std::string latency = table.of_latency ? LatencySentence(table) : "";
  const std::string energy = table.of_energy ? EnergySentence(table) : "";
  return latency + (latency.empty() || energy.empty() ? "" : "; ") + energy;
}

}  // namespace sluice::cli
