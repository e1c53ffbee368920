// SPDX-License-Identifier: Apache-2.0
// Memory of scheduling, and how much worse plans are with less.
//
// Input    all networks of the zoo on soma-edge (GPT-2 XL: soma-cloud), by default and
//          with 200 iterations. Environment: SLUICE_BENCH_ONLY a part of the names.
// Output   per network: the bound of sluice_schedule_memory_bound; bytes that the allocator
//          gave, by phase. Then the cap is halved until a call refuses it: number of plans,
//          EDP of the last plan over that without a cap, the bytes that the refusal named
//          and whether they were enough.
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "support/network_plan.h"
#include "zoo/zoo.h"

namespace {

using Json = nlohmann::json;
using sluice_test::Bytes;
using sluice_test::NetworkPlan;

// Bytes that one call takes beyond those that were live before it.
struct Use {
  uint64_t bound = 0, used = 0, peak = 0;
  bool ok = false;
};

Use Measure(NetworkPlan* n, uint64_t iterations) {
  Use use;
  n->max_iterations = iterations;
  use.bound = n->MemoryBound();
  const uint64_t live = n->memory().live;
  n->ForgetPeak();
  use.ok = n->Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK;
  use.peak = n->memory().peak;
  use.used = use.peak - live;
  return use;
}

struct Halved {
  int plans = 0, invalid = 0;
  uint64_t smallest = 0, refused = 0, required = 0;
  double edp = 0;
  bool enough = false;
};

Halved Halve(const Bytes& graph, const char* hardware, uint64_t cap, double edp) {
  Halved h;
  for (; cap > 1024; cap /= 2) {
    NetworkPlan n(graph, hardware, cap);
    const sluice_status_t status =
        n.ok ? n.Schedule(SLUICE_SOLVER_DEFAULT, 0) : SLUICE_OUT_OF_MEMORY;
    if (status != SLUICE_OK) {
      h.refused = cap;
      h.required = n.diagnostic.required_bytes;
      break;
    }
    ++h.plans;
    h.smallest = cap;
    h.edp = n.Product() / edp;
    NetworkPlan judge(graph, hardware);
    if (judge.Adopt(n.PlanBytes()) != SLUICE_OK || judge.Verify() != SLUICE_OK) {
      ++h.invalid;
    }
  }
  for (int asked = 0; asked < 2 && !h.enough && h.required != 0; ++asked) {
    NetworkPlan n(graph, hardware, h.required);
    h.enough = n.ok && n.Schedule(SLUICE_SOLVER_DEFAULT, 0) == SLUICE_OK;
    if (!h.enough) h.required = n.diagnostic.required_bytes;
  }
  return h;
}

}  // namespace

int RunMemoryBench(bool json) {
  const char* only = std::getenv("SLUICE_BENCH_ONLY");
  Json rows = Json::array();
  int wrong = 0;
  for (const sluice::zoo::ZooEntry& network : sluice::zoo::ZooEntries()) {
    const std::string name = network.name;
    if (only != nullptr && name.find(only) == std::string::npos) continue;
    const char* hardware = name.find("gpt2_xl") == 0 ? "soma-cloud" : "soma-edge";
    const Bytes graph = sluice::zoo::MakeZooGraph(name, {});
    NetworkPlan n(graph, hardware);
    if (!n.ok) continue;
    const Use first = Measure(&n, 0);
    const double edp = n.Product();
    const Json phases = Json(std::vector<uint64_t>(
        n.report.phase_peak_bytes, n.report.phase_peak_bytes + SLUICE_PHASE_COUNT));
    const Use second = Measure(&n, 200);
    const Halved h = Halve(graph, hardware, first.peak, edp);
    const bool right = first.ok && second.ok && first.used <= first.bound &&
                       second.used <= second.bound && h.invalid == 0 && h.enough;
    wrong += right ? 0 : 1;
    rows.push_back({{"network", name},
                    {"peak_bytes", first.peak},
                    {"used_bytes", first.used},
                    {"bound_bytes", first.bound},
                    {"annealing_used_bytes", second.used},
                    {"annealing_bound_bytes", second.bound},
                    {"phase_peak_bytes", phases},
                    {"halved_plans", h.plans},
                    {"halved_smallest_cap", h.smallest},
                    {"halved_invalid", h.invalid},
                    {"halved_edp_ratio", h.edp},
                    {"refused_cap", h.refused},
                    {"required_bytes", h.required},
                    {"required_is_enough", h.enough}});
    if (!json) {
      std::printf(
          "%-20s peak %8.1f KiB, used %8.1f of %8.1f, annealing %8.1f of %8.1f; %d "
          "plans down to %7.1f (EDP x%.2f), below %7.1f asked for: %s\n",
          name.c_str(), static_cast<double>(first.peak) / 1024,
          static_cast<double>(first.used) / 1024,
          static_cast<double>(first.bound) / 1024,
          static_cast<double>(second.used) / 1024,
          static_cast<double>(second.bound) / 1024, h.plans,
          static_cast<double>(h.smallest) / 1024, h.edp,
          static_cast<double>(h.required) / 1024, right ? "ok" : "WRONG");
      std::fflush(stdout);
    }
  }
  if (json) std::printf("%s\n", Json{{"rows", rows}, {"wrong", wrong}}.dump(2).c_str());
  return wrong == 0 ? 0 : 1;
}
