// SPDX-License-Identifier: Apache-2.0
// Fused plans beside plain ones, and how often more scratchpad, bandwidth or time gives a
// worse plan.
//
// Input    the TFLite models beside the tree, three networks of the zoo.
// Output   rows: network, hardware, scratchpad, both plans' cycles, energy, DRAM bytes,
//          plan time (CPU), bound, gap; then, for more scratchpad, more bandwidth and
//          more time: pairs compared, worse ones, the largest ratio, and reasons.
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "presets/hardware_json.h"
#include "support/network_plan.h"
#include "support/shared_data.h"
#include "zoo/zoo.h"

namespace {

using Json = nlohmann::json;
using sluice_test::Bytes;
using sluice_test::NetworkPlan;

struct Network {
  std::string name;
  Bytes graph;
  bool compare;  // also planned with more scratchpad, bandwidth and time
};

std::vector<Network> Networks() {
  std::vector<Network> networks;
  for (const std::string& path : sluice_test::TfliteModels()) {
    networks.push_back(
        {sluice_test::FileStem(path), sluice_test::ImportedGraph(path), true});
  }
  for (const char* name : {"resnet50", "gpt2_small_prefill", "gpt2_xl_prefill"}) {
    networks.push_back({name, sluice::zoo::MakeZooGraph(name, {}), false});
  }
  return networks;
}

struct Point {
  bool ok = false;
  double product = 0;
  sluice_report_t report = {};
  double ms = 0;
};

Point Plan(NetworkPlan* n, uint32_t solver, uint64_t bytes, uint64_t deadline_ns = 0) {
  Point p;
  if (!n->ok || n->Schedule(solver, bytes, deadline_ns) != SLUICE_OK) return p;
  p.ok = true;
  p.product = n->Product();
  p.report = n->report;
  p.ms = n->plan_ms;
  return p;
}

Json RowOf(const Network& network, const char* hardware, uint64_t bytes,
           NetworkPlan* n) {
  const Point plain = Plan(n, SLUICE_SOLVER_BASELINE, bytes);
  const Point fused = Plan(n, SLUICE_SOLVER_DEFAULT, bytes);
  if (!fused.ok) return {};
  const bool verified = n->Verify() == SLUICE_OK;
  const auto run = n->Simulate(false);
  const auto dram = [](const sluice_report_t& r) {
    return r.dram_read_bytes + r.dram_write_bytes;
  };
  return {{"network", network.name},
          {"hardware", hardware},
          {"scratchpad_bytes", bytes},
          {"baseline_cycles", plain.report.latency_cycles},
          {"fused_cycles", fused.report.latency_cycles},
          {"baseline_energy_pj", plain.report.energy_pj},
          {"fused_energy_pj", fused.report.energy_pj},
          {"baseline_dram_bytes", dram(plain.report)},
          {"fused_dram_bytes", dram(fused.report)},
          {"edp_ratio", fused.product / plain.product},
          {"baseline_ms", plain.ms},
          {"fused_ms", fused.ms},
          {"groups", fused.report.groups},
          {"layers", fused.report.layers},
          {"bound_cycles", fused.report.bound_latency_cycles},
          {"gap", static_cast<double>(fused.report.latency_cycles) /
                      static_cast<double>(fused.report.bound_latency_cycles)},
          {"verified", verified},
          {"predicted", run.ok && run.cycles == fused.report.latency_cycles}};
}

// Pairs of plans of which the second had more scratchpad, bandwidth or time.
struct Comparison {
  int pairs = 0, worse = 0, by_one_percent = 0;
  double most = 1;
  std::map<std::string, int> why;

  void Add(const Point& less, const Point& more) {
    if (!less.ok || !more.ok) return;
    ++pairs;
    const double ratio = more.product / less.product;
    if (ratio <= 1) return;
    ++worse;
    by_one_percent += ratio > 1.01 ? 1 : 0;
    most = std::max(most, ratio);
    const sluice_report_t &a = less.report, &b = more.report;
    const bool bytes =
        a.dram_read_bytes + a.dram_write_bytes < b.dram_read_bytes + b.dram_write_bytes;
    ++why[bytes                ? "more DRAM bytes: another fusion scheme"
          : a.tiles != b.tiles ? "other tiles: halo, rounding losses of the array"
          : a.energy_pj < b.energy_pj ? "more scratchpad accesses"
                                      : "same scheme, later transfers"];
  }
  Json Report(const char* what) const {
    return {{"more", what},   {"pairs", pairs},
            {"worse", worse}, {"worse_by_1_percent", by_one_percent},
            {"most", most},   {"why", why}};
  }
};

Bytes WithBandwidth(const std::string& preset, int factor) {
  Json hardware =
      Json::parse(sluice::presets::HardwareAsJson(sluice::presets::LoadPreset(preset)));
  Json* rate = &hardware["levels"].back()["bytes_per_cycle_numerator"];
  *rate = rate->get<int64_t>() * factor;
  std::string error;
  return sluice::presets::HardwareFromJson(hardware.dump(), &error);
}

void CompareSizes(const Network& network, Comparison* buffer) {
  NetworkPlan n(network.graph, "mcu-256k");
  Point last;
  for (uint64_t bytes = 16 << 10; bytes <= 256 << 10; bytes += bytes / 4) {
    const Point next = Plan(&n, SLUICE_SOLVER_DEFAULT, bytes);
    buffer->Add(last, next);
    last = next;
  }
}

void CompareSpeeds(const Network& network, Comparison* bandwidth, Comparison* time) {
  Point last;
  for (int factor = 1; factor <= 16; factor *= 2) {
    NetworkPlan n(network.graph, WithBandwidth("mcu-256k", factor));
    const Point next = Plan(&n, SLUICE_SOLVER_DEFAULT, 0);
    bandwidth->Add(last, next);
    last = next;
  }
  NetworkPlan n(network.graph, "mcu-256k");
  last = Point();
  for (uint64_t ms = 10; ms <= 160; ms *= 2) {
    const Point next = Plan(&n, SLUICE_SOLVER_DEFAULT, 0, ms * 1000000);
    time->Add(last, next);
    last = next;
  }
}

void Print(const Json& row) {
  std::printf(
      "%-26.26s %-10s %12llu %12llu  x%.3f EDP  %7.1f ms  %u/%u groups  gap "
      "%.2f %s\n",
      row["network"].get<std::string>().c_str(),
      row["hardware"].get<std::string>().c_str(),
      row["baseline_cycles"].get<unsigned long long>(),
      row["fused_cycles"].get<unsigned long long>(), row["edp_ratio"].get<double>(),
      row["fused_ms"].get<double>(), row["groups"].get<unsigned>(),
      row["layers"].get<unsigned>(), row["gap"].get<double>(),
      row["verified"].get<bool>() && row["predicted"].get<bool>() ? "ok" : "WRONG");
}

}  // namespace

int RunFusedBench(bool json) {
  Json rows = Json::array();
  Comparison buffer, bandwidth, time;
  bool right = true;
  for (const Network& network : Networks()) {
    const bool huge = network.name == "gpt2_xl_prefill";
    for (const char* hardware : {"soma-edge", "soma-cloud", "mcu-256k"}) {
      if (huge && std::string(hardware) == "mcu-256k") continue;
      NetworkPlan n(network.graph, hardware);
      const Json row = RowOf(network, hardware, 0, &n);
      if (row.is_null()) continue;
      right = right && row["verified"].get<bool>() && row["predicted"].get<bool>();
      if (!json) Print(row);
      rows.push_back(row);
    }
    if (!network.compare) continue;
    CompareSizes(network, &buffer);
    CompareSpeeds(network, &bandwidth, &time);
  }
  const Json more = {buffer.Report("scratchpad"), bandwidth.Report("bandwidth"),
                     time.Report("time")};
  if (json) {
    std::printf("%s\n", Json{{"rows", rows}, {"more", more}}.dump(2).c_str());
  } else {
    for (const Json& m : more) {
      std::printf(
          "more %-10s %3d pairs, %2d worse, %2d by over 1 %%, at most x%.3f  %s\n",
          m["more"].get<std::string>().c_str(), m["pairs"].get<int>(),
          m["worse"].get<int>(), m["worse_by_1_percent"].get<int>(),
          m["most"].get<double>(), m["why"].dump().c_str());
    }
  }
  return right ? 0 : 1;
}
