// SPDX-License-Identifier: Apache-2.0
// Orders of networks without a shape, at M_R: random networks and cells. The plan of a tenth
// of a second beside the best known, which is that of some seconds, and beside a bound that
// the tests compute with code of their own. CPU time of one thread.
// SLUICE_BENCH_ORDERS_SEED: other networks.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/rng.h"
#include "tests/bench/cosma_goals.h"
#include "tests/bench/cosma_solve.h"

int RunOrdersBench(bool json);

namespace sluice_bench {
namespace {

using Json = nlohmann::ordered_json;
using sluice::Rng;
using sluice_test::Net;

// CPU time for the best known plan.
constexpr int64_t kBestUs = 10000000;
constexpr uint64_t kBestNs = 60000000000;

Json UnshapedRows() {
  std::vector<std::pair<std::string, Net>> nets;
  const char* seed = std::getenv("SLUICE_BENCH_ORDERS_SEED");
  Rng rng(seed == nullptr ? 25 : std::strtoull(seed, nullptr, 10));
  for (const uint32_t count : {200u, 300u, 400u, 500u, 600u}) {
    for (int i = 0; i < 2; ++i) {
      nets.emplace_back("random " + std::to_string(count),
                        sluice_test::WindowNet(&rng, count, 6, 100));
    }
  }
  nets.emplace_back("cells x8", sluice_test::CellNet(8, 1000));
  Json rows = Json::array();
  for (const auto& [name, net] : nets) {
    const int64_t capacity = LargestOperator(net.Graph());
    const Solved quick = Solve(net, capacity, nullptr, 0);
    const Solved longer = Solve(net, capacity, nullptr, kBestNs, kBestUs);
    const int64_t best = std::min(quick.bytes, longer.bytes);
    rows.push_back(
        {{"network", name},
         {"bytes", quick.bytes},
         {"best_bytes", best},
         {"ratio", static_cast<double>(quick.bytes) / static_cast<double>(best)},
         {"bound", std::max(quick.bound, longer.bound)},
         {"check", Checked(net, capacity, best == quick.bytes ? quick : longer)},
         {"legal", quick.legal && longer.legal},
         {"cpu_s", quick.cpu_s}});
  }
  return rows;
}

void PrintUnshaped(const Json& rows) {
  std::printf("%-12s %9s %9s %6s %9s %9s %6s %9s\n", "at M_R", "ours", "best", "ratio",
              "proof", "check", "legal", "CPU ms");
  for (const Json& r : rows) {
    std::printf("%-12s %9d %9d %6.2f %9d %9d %6s %9.2f\n",
                r["network"].get<std::string>().c_str(), r["bytes"].get<int>(),
                r["best_bytes"].get<int>(), r["ratio"].get<double>(),
                r["bound"].get<int>(), r["check"].get<int>(),
                r["legal"].get<bool>() ? "yes" : "NO", 1e3 * r["cpu_s"].get<double>());
  }
}

// Networks like those above, of other seeds and of another reach. Their best known is
// sought only where the check does not show that the result is near enough.
constexpr uint64_t kOtherSeeds[] = {101, 102, 103, 104};
constexpr double kNearEnough = 1.2;
constexpr int64_t kOtherUs = 2000000;

Json OtherRows() {
  Json rows = Json::array();
  for (const uint32_t reach : {6u, 12u}) {
    int count = 0, near = 0;
    double worst = 1;
    bool legal = true;
    for (const uint64_t seed : kOtherSeeds) {
      Rng rng(seed);
      for (uint32_t k = 0; k < 10; ++k) {
        const Net net = sluice_test::WindowNet(&rng, 200 + 100 * (k / 2), reach, 100);
        const int64_t capacity = LargestOperator(net.Graph());
        const Solved quick = Solve(net, capacity, nullptr, 0);
        int64_t best = std::max<int64_t>(1, Checked(net, capacity, quick));
        if (static_cast<double>(quick.bytes) >
            kNearEnough * static_cast<double>(best)) {
          const Solved longer = Solve(net, capacity, nullptr, kBestNs, kOtherUs);
          legal = legal && longer.legal;
          best = std::max(best, std::min(quick.bytes, longer.bytes));
        }
        const double ratio =
            std::max(1.0, static_cast<double>(quick.bytes) / static_cast<double>(best));
        ++count;
        near += ratio <= kNearEnough;
        worst = std::max(worst, ratio);
        legal = legal && quick.legal;
      }
    }
    rows.push_back({{"reach", reach},
                    {"networks", count},
                    {"near", near},
                    {"worst", worst},
                    {"legal", legal}});
  }
  return rows;
}

void PrintOther(const Json& rows) {
  for (const Json& r : rows) {
    std::printf(
        "random networks of seeds 101 to 104, reach %d: %d of %d within 1.2 times the "
        "best known or the check, the worst %.2f%s\n",
        r["reach"].get<int>(), r["near"].get<int>(), r["networks"].get<int>(),
        r["worst"].get<double>(), r["legal"].get<bool>() ? "" : ", NOT LEGAL");
  }
}

}  // namespace
}  // namespace sluice_bench

int RunOrdersBench(bool json) {
  using sluice_bench::Json;
  const Json rows = sluice_bench::UnshapedRows();
  const Json other = sluice_bench::OtherRows();
  sluice_bench::Goals goals;
  goals.AddUnshaped(rows);
  if (json) {
    const Json all = {{"networks", rows}, {"other", other}, {"goals", goals.rows()}};
    std::printf("%s\n", all.dump(1).c_str());
    return 0;
  }
  sluice_bench::PrintUnshaped(rows);
  sluice_bench::PrintOther(other);
  goals.Print();
  return 0;
}
