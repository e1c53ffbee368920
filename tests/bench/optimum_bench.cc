// SPDX-License-Identifier: Apache-2.0
// How often the default plan of a small random graph is the best of all enumerated
// plans (support/enumerated_plans.h), and how much more it costs otherwise.
//
// Input    SLUICE_OPTIMUM_CASES: graphs (200 if not set); SLUICE_OPTIMUM_SEED: the first;
//          SLUICE_OPTIMUM_ITERATIONS: of the default plan (none if not set).
// Output   a row for each graph that is more than 1 % above the least; then how many
//          graphs are at most 0, 0.1, 1, 5 % above it, and the largest difference. EDP.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "support/enumerated_plans.h"

namespace {

using Json = nlohmann::json;
using sluice_test::EnumeratedPlans;

uint64_t Setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

int RunOptimumBench(bool json) {
  const uint64_t cases = Setting("SLUICE_OPTIMUM_CASES", 200);
  uint64_t seed = Setting("SLUICE_OPTIMUM_SEED", 1);
  const double limits[] = {1 + 1e-9, 1.001, 1.01, 1.05};
  uint64_t within[4] = {}, compared = 0, made = 0, tried = 0;
  double worst = 0;
  Json rows = Json::array();
  for (; compared < cases; ++seed) {
    EnumeratedPlans c(seed, 3);
    if (!c.Schedule(Setting("SLUICE_OPTIMUM_ITERATIONS", 0))) continue;
    c.Enumerate();
    if (c.least == 0) continue;
    ++compared;
    made += c.made;
    tried += c.tried;
    const double ratio = c.cost / c.least;
    worst = std::max(worst, ratio);
    for (int i = 0; i < 4; ++i) within[i] += ratio <= limits[i] ? 1 : 0;
    if (ratio <= 1.01) continue;
    rows.push_back(
        {{"seed", seed}, {"layers", c.layers}, {"ratio", ratio}, {"least", c.best}});
    if (!json) {
      std::printf("seed %llu: %u layers, default / least %.4f, least:%s\n",
                  static_cast<unsigned long long>(seed), c.layers, ratio,
                  c.best.c_str());
      std::fflush(stdout);
    }
  }
  const Json sum = {{"graphs", compared},
                    {"plans_tried", tried},
                    {"plans_made", made},
                    {"not_above", within[0]},
                    {"within_0.1_percent", within[1]},
                    {"within_1_percent", within[2]},
                    {"within_5_percent", within[3]},
                    {"worst", worst},
                    {"above_1_percent", rows}};
  std::printf("%s\n", json ? sum.dump(2).c_str() : "");
  if (!json) {
    std::printf(
        "%llu graphs, %llu plans made of %llu tried: not above the least %llu, within "
        "0.1 %% %llu, 1 %% %llu, 5 %% %llu; worst %.4f\n",
        static_cast<unsigned long long>(compared),
        static_cast<unsigned long long>(made), static_cast<unsigned long long>(tried),
        static_cast<unsigned long long>(within[0]),
        static_cast<unsigned long long>(within[1]),
        static_cast<unsigned long long>(within[2]),
        static_cast<unsigned long long>(within[3]), worst);
  }
  return 0;
}
