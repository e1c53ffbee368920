// SPDX-License-Identifier: Apache-2.0
// Memory of scheduling, and how much worse plans are with less.
//
// Input    all networks of the zoo on soma-edge (GPT-2 XL: soma-cloud), by default and
//          with 200 iterations; random graphs on random machines; the TFLite models of
//          the shared data on mcu-256k and soma-edge. Environment: SLUICE_BENCH_ONLY a
//          part of the names, SLUICE_BENCH_CASES how many random graphs (5000).
// Output   per network: the bound of sluice_schedule_memory_bound; bytes that the allocator
//          gave, by phase. Then the cap is halved until a call refuses it: number of plans,
//          EDP of the last plan over that without a cap, the bytes that the refusal named
//          and whether they were enough. Of random graphs and models: calls that took
//          more than the bound, calls whose plan was another one in a context capped at
//          the bound, the bound over what was taken.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/network_plan.h"
#include "support/random_graph.h"
#include "support/random_machine.h"
#include "support/shared_data.h"
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

// One graph on one machine: its bound, what the call took, and whether a context that is
// capped at the bound gives the same plan.
struct Trial {
  uint64_t bound = 0, used = 0;
  bool planned = false, same = true;
};

Trial Try(const Bytes& graph, const Bytes& hardware, uint32_t solver) {
  Trial t;
  NetworkPlan n(graph, hardware);
  if (!n.ok) return t;
  const uint64_t live = n.memory().live;
  t.bound = n.MemoryBound(solver);
  n.ForgetPeak();
  t.planned = n.Schedule(solver, 0) == SLUICE_OK;
  t.used = n.memory().peak - live;
  if (!t.planned) return t;
  const Bytes plan = n.PlanBytes();
  NetworkPlan capped(graph, hardware, live + t.bound);
  t.same = capped.ok && capped.Schedule(solver, 0) == SLUICE_OK &&
           capped.PlanBytes() == plan;
  return t;
}

struct Tried {
  std::vector<double> ratios;
  int over = 0, other = 0;

  void Add(const std::string& name, const Trial& t) {
    if (!t.planned) return;
    const bool wrong = t.used > t.bound || !t.same;
    over += t.used > t.bound ? 1 : 0;
    other += t.same ? 0 : 1;
    ratios.push_back(static_cast<double>(t.bound) / static_cast<double>(t.used));
    if (!wrong) return;
    std::fprintf(stderr, "%s: used %llu of %llu, capped: %s\n", name.c_str(),
                 static_cast<unsigned long long>(t.used),
                 static_cast<unsigned long long>(t.bound), t.same ? "same" : "other");
  }
  Json ToJson() {
    std::sort(ratios.begin(), ratios.end());
    return {{"plans", ratios.size()},
            {"over", over},
            {"other_plan_when_capped", other},
            {"median_ratio", ratios.empty() ? 0 : ratios[ratios.size() / 2]},
            {"most_ratio", ratios.empty() ? 0 : ratios.back()}};
  }
};

// Random graphs on random machines; every second one without a search.
Tried TryRandom(uint64_t cases) {
  Tried tried;
  for (uint64_t seed = 1; seed <= cases; ++seed) {
    sluice_test::RandomGraphLimits limits;
    limits.opaque = seed % 8 == 0;
    const Bytes graph = GraphBytes(sluice_test::MakeRandomGraph(seed, limits));
    const Bytes hardware = MachineBytes(sluice_test::MakeRandomMachine(seed));
    tried.Add("seed " + std::to_string(seed),
              Try(graph, hardware,
                  seed % 2 == 0 ? SLUICE_SOLVER_DEFAULT : SLUICE_SOLVER_BASELINE));
  }
  return tried;
}

Tried TryModels(const std::string& only) {
  Tried tried;
  for (const std::string& path : sluice_test::TfliteModels()) {
    const Bytes graph = sluice_test::ImportedGraph(path);
    for (const char* preset : {"mcu-256k", "soma-edge"}) {
      const std::string name = sluice_test::FileStem(path) + " on " + preset;
      if (graph.empty() || name.find(only) == std::string::npos) continue;
      tried.Add(name,
                Try(graph, sluice::presets::LoadPreset(preset), SLUICE_SOLVER_DEFAULT));
    }
  }
  return tried;
}

}  // namespace

int RunMemoryBench(bool json) {
  const char* only = std::getenv("SLUICE_BENCH_ONLY");
  Json rows = Json::array();
  int wrong = 0;
  const char* cases = std::getenv("SLUICE_BENCH_CASES");
  Tried random = TryRandom(cases == nullptr ? 5000 : std::strtoull(cases, nullptr, 10));
  Tried models = TryModels(only == nullptr ? "" : only);
  wrong += random.over + random.other + models.over + models.other;
  if (!json) {
    std::printf("random: %s\nmodels: %s\n", random.ToJson().dump().c_str(),
                models.ToJson().dump().c_str());
    std::fflush(stdout);
  }
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
  const Json all = {{"random", random.ToJson()},
                    {"models", models.ToJson()},
                    {"rows", rows},
                    {"wrong", wrong}};
  if (json) std::printf("%s\n", all.dump(2).c_str());
  return wrong == 0 ? 0 : 1;
}
