// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_page.h"

#include <algorithm>

#include "cli/failure.h"
#include "cli/graph_names.h"
#include "cli/hardware_files.h"
#include "cli/layer_table.h"
#include "cli/machine_facts.h"
#include "cli/plan_costs.h"
#include "cli/segment_notation.h"
#include "cli/session.h"
#include "sluice/stream.h"

namespace sluice::cli {

extern const char* const kPlanPage;  // src/cli/page/plan.html

namespace {

constexpr double kBars = 20000;  // about, per lane

const char* RegionText(uint32_t region) {
  constexpr const char* kNames[SLUICE_REGION_COUNT] = {
      "scratchpad", "constants", "inputs", "outputs", "states", "intermediates"};
  return region < SLUICE_REGION_COUNT ? kNames[region] : "";
}

struct Place {
  uint32_t tensor, region;
  uint64_t low;
};

// Tensors that have a place in DRAM, by region and address.
std::vector<Place> PlacesOf(const sluice_plan_t* plan) {
  std::vector<Place> places;
  sluice_tensor_place_t place = {};
  place.struct_size = sizeof place;
  for (uint32_t t = 0; sluice_plan_tensor(plan, t, &place) == SLUICE_OK; ++t) {
    if (place.region < SLUICE_REGION_COUNT) {
      places.push_back({t, place.region, place.offset});
    }
    place.struct_size = sizeof place;
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    if (a.region != b.region) return a.region < b.region;
    return a.low != b.low ? a.low < b.low : a.tensor < b.tensor;
  });
  return places;
}

Json TensorAt(const std::vector<Place>& places, uint32_t region, uint64_t at) {
  const auto behind = std::upper_bound(
      places.begin(), places.end(), at, [region](uint64_t address, const Place& p) {
        return p.region != region ? p.region > region : p.low > address;
      });
  if (behind == places.begin() || std::prev(behind)->region != region) return nullptr;
  return std::prev(behind)->tensor;
}

Json LayerIndex(uint32_t layer) {
  return layer == kPlotNoLayer ? Json(nullptr) : Json(layer);
}

Json RowsAsJson(const Plot& plot) {
  const double scale = kBars / static_cast<double>(std::max<uint64_t>(plot.cycles, 1));
  Json rows = Json::array();
  for (const PlotRow& row : plot.rows) {
    for (const PlotLane& lane : row.lanes) {
      Json bars = Json::array();
      for (const PlotBar& b : DrawableBars(lane.bars, 0, plot.cycles, scale)) {
        bars.push_back({b.start, b.end, LayerIndex(b.layer), b.pale ? 1 : 0, b.busy,
                        b.count, b.bytes});
      }
      const std::string space = lane.name.empty() ? "" : " ";
      rows.push_back({{"name", row.name + space + lane.name}, {"bars", bars}});
    }
  }
  return rows;
}

Json BuffersAsJson(const Plot& plot, const std::vector<Place>& places) {
  const double scale = kBars / static_cast<double>(std::max<uint64_t>(plot.cycles, 1));
  Json buffers = Json::array();
  for (const PlotBuffer& buffer : plot.buffers) {
    Json pieces = Json::array();
    for (const PlotPiece& p : DrawablePieces(buffer.pieces, 0, plot.cycles, scale)) {
      const Json tensor =
          p.loaded ? TensorAt(places, p.source_region, p.source) : Json(nullptr);
      const int kind = p.pale ? 2 : p.loaded ? 1 : 0;
      pieces.push_back(
          {p.start, p.end, p.low, p.high, LayerIndex(p.layer), kind, tensor});
    }
    buffers.push_back(
        {{"name", buffer.name}, {"capacity", buffer.capacity}, {"pieces", pieces}});
  }
  return buffers;
}

Json TrafficAsJson(const ExecutedPlan& run) {
  uint64_t bytes[2][SLUICE_REGION_COUNT] = {};
  for (size_t i = 0; i < run.events.size(); ++i) {
    const sluice_sim::TraceEvent& e = run.events[i];
    const uint32_t region = run.history.moves[i].region;
    if (region >= SLUICE_REGION_COUNT) continue;
    if (e.opcode == SLUICE_OPCODE_LOAD) bytes[0][region] += e.bytes;
    if (e.opcode == SLUICE_OPCODE_STORE) bytes[1][region] += e.bytes;
  }
  Json traffic = Json::array();
  for (const int stores : {0, 1}) {
    for (uint32_t region = 1; region < SLUICE_REGION_COUNT; ++region) {
      if (bytes[stores][region] == 0) continue;
      traffic.push_back({{"direction", stores == 1 ? "store" : "load"},
                         {"of", RegionText(region)},
                         {"bytes", bytes[stores][region]}});
    }
  }
  return traffic;
}

Json SummaryAsJson(const sluice_report_t& r) {
  return {{"latency_cycles", r.latency_cycles},
          {"bound_latency_cycles", r.bound_latency_cycles},
          {"energy_pj", r.energy_pj},
          {"bound_energy_pj", r.bound_energy_pj},
          {"energy_dram_pj", r.energy_dram_pj},
          {"energy_scratchpad_pj", r.energy_scratchpad_pj},
          {"energy_compute_pj", r.energy_compute_pj},
          {"energy_leakage_pj", r.energy_leakage_pj},
          {"energy_noc_pj", r.energy_noc_pj},
          {"energy_host_pj", r.energy_host_pj},
          {"dram_read_bytes", r.dram_read_bytes},
          {"dram_write_bytes", r.dram_write_bytes},
          {"spill_bytes", r.spill_bytes},
          {"peak_buffer_bytes", r.peak_buffer_bytes},
          {"layers", r.layers},
          {"tiles", r.tiles},
          {"instructions", r.instructions},
          {"macs", r.macs}};
}

Json MapAsJson(const std::vector<Place>& places) {
  Json map = Json::array();
  for (const Place& p : places) {
    map.push_back(
        {{"tensor", p.tensor}, {"region", RegionText(p.region)}, {"offset", p.low}});
  }
  return map;
}

Json TensorNames(const Bytes& graph, const std::vector<Place>& places) {
  Json names = Json::object();
  for (const Place& p : places) {
    names[std::to_string(p.tensor)] = TensorName(graph, p.tensor);
  }
  return names;
}

// A page shows what a plan does; of a plan that is wrong it would show something else.
// The table of layers is made by judging the plan.
std::vector<sluice_layer_cost_t> LayersForPage(const PlanFiles& files,
                                               const Session& session) {
  try {
    return LayersOf(session);
  } catch (const Failure& failure) {
    if (failure.code() != kRejected) throw;
    throw Failure(kRejected,
                  (files.plan_file.empty() ? "" : files.plan_file + ": ") +
                      "the plan is wrong, and no page is made of it; `sluice schedule` "
                      "makes another plan: " +
                      failure.what(),
                  failure.details());
  }
}

Json PlanAsJson(const PlanFiles& files) {
  Session session(0);
  session.LoadGraph(files.graph);
  session.LoadHardware(files.hardware);
  session.LoadPlan(files.plan);
  const std::vector<sluice_layer_cost_t> layers = LayersForPage(files, session);
  const ExecutedPlan run = ExecutePlan(files);
  const Plot plot = PlotOf(files, run);
  const sluice_report_t report = session.Report();
  const HardwareFacts hardware = FactsOf(files.hardware);
  const LayerTable table = {
      files.graph, hardware,
      report,      MachineOf(session).nodes,
      true,        true,
      layers,      SegmentOfLayers(session.PlanBytes(), layers.size())};
  const std::vector<Place> places = PlacesOf(session.plan());
  return {{"title", plot.title},
          {"clock_hz", hardware.clock_hz},
          {"scratchpad_bytes", hardware.scratchpad_bytes},
          {"report", SummaryAsJson(report)},
          {"gap", GapSentence(table)},
          {"names", plot.layer_names},
          {"rows", RowsAsJson(plot)},
          {"buffers", BuffersAsJson(plot, places)},
          {"traffic", TrafficAsJson(run)},
          {"layers", LayersAsJson(table)},
          {"map", MapAsJson(places)},
          {"tensors", TensorNames(files.graph, places)}};
}

// JSON escaped for HTML: no name in it can end the enclosing element.
std::string Embedded(const Json& json) {
  std::string out;
  for (const char c : JsonText(json)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string PlanPage(const std::vector<PlanFiles>& plans) {
  Json data = Json::array();
  for (const PlanFiles& files : plans) data.push_back(PlanAsJson(files));
  const std::string page = kPlanPage, mark = "@DATA@";
  const size_t at = page.find(mark);
  return page.substr(0, at) + Embedded(data) + page.substr(at + mark.size());
}

}  // namespace sluice::cli
