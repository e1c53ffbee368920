// SPDX-License-Identifier: Apache-2.0
// Orders of networks without a shape, at M_R: random networks and cells. The plan of a tenth
// of a second beside the best known, which is that of some seconds, and beside a bound that
// the tests compute with code of their own. CPU time of one thread.
// SLUICE_BENCH_ORDERS_SEED: other networks. SLUICE_BENCH_ORDERS_SHAPES=401,402: networks of
// ten shapes (order_shapes.h) of these seeds, and nothing else.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/rng.h"
#include "solve/placement/spill/joint.h"
#include "tests/bench/cosma_goals.h"
#include "tests/bench/cosma_solve.h"
#include "tests/bench/order_shapes.h"

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
constexpr int64_t kRuleUs = 500000;  // for the plan of an order that a rule gives

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

void PrintShape(std::FILE* out, const Json& r) {
  std::fprintf(out, "%-16s %9d %9d %9d %6.2f %6s %9.2f\n",
               r["network"].get<std::string>().c_str(), r["operators"].get<int>(),
               r["bytes"].get<int>(), r["best_bytes"].get<int>(),
               r["ratio"].get<double>(), r["legal"].get<bool>() ? "yes" : "NO",
               1e3 * r["cpu_s"].get<double>());
}

// The best that is known of a network: the quick plan, a longer one, and those of three
// orders that a simple rule gives.
Json ShapeRow(const OrderShape& shape, uint32_t operators, Rng* rng) {
  const Net net = shape.make(rng, operators);
  const int64_t capacity = LargestOperator(net.Graph());
  const Solved quick = Solve(net, capacity, nullptr, 0);
  const Solved longer = Solve(net, capacity, nullptr, kBestNs, kOtherUs);
  int64_t best = std::min(quick.bytes, longer.bytes);
  std::vector<uint32_t> given(net.operators.size());
  for (uint32_t o = 0; o < given.size(); ++o) given[o] = o;
  sluice_test::Ground ground;
  sluice::Budget budget({}, kBestNs, 0, nullptr);
  sluice::FootprintPlan least;
  std::vector<std::vector<uint32_t>> orders = {given, DepthFirstOrder(net)};
  if (PlanFootprint(net.Graph(), &budget, &ground.arena, &least, &ground.diagnostic) ==
      sluice::Status::kOk) {
    orders.emplace_back(least.order.begin(), least.order.end());
  }
  for (const std::vector<uint32_t>& order : orders) {
    const Solved fixed = Solve(net, capacity, &order, 0, kRuleUs);
    if (fixed.legal) best = std::min(best, fixed.bytes);
  }
  const double ratio = static_cast<double>(quick.bytes) /
                       static_cast<double>(std::max<int64_t>(1, best));
  return {{"network", std::string(shape.name) + " " + std::to_string(operators)},
          {"operators", net.operators.size()},
          {"bytes", quick.bytes},
          {"best_bytes", best},
          {"ratio", std::max(1.0, ratio)},
          {"legal", quick.legal && longer.legal},
          {"cpu_s", quick.cpu_s}};
}

// seeds: numbers with commas between them.
Json ShapeRows(const char* seeds) {
  Json rows = Json::array();
  for (char* at = const_cast<char*>(seeds); *at != 0;) {
    Rng rng(std::strtoull(at, &at, 10));
    while (*at != 0 && (*at < '0' || *at > '9')) ++at;
    for (const OrderShape& shape : kOrderShapes) {
      for (const uint32_t operators : {200u, 300u, 400u, 500u, 600u}) {
        rows.push_back(ShapeRow(shape, operators, &rng));
        PrintShape(stderr, rows.back());  // so that who waits sees how far it is
      }
    }
  }
  return rows;
}

void PrintShapes(const Json& rows) {
  double worst = 1, logs = 0, slowest = 0;
  int near = 0, legal = 0;
  std::printf("%-16s %9s %9s %9s %6s %6s %9s\n", "at M_R", "operators", "ours", "best",
              "ratio", "legal", "CPU ms");
  for (const Json& r : rows) {
    const double ratio = r["ratio"].get<double>(), cpu_s = r["cpu_s"].get<double>();
    PrintShape(stdout, r);
    worst = std::max(worst, ratio);
    slowest = std::max(slowest, cpu_s);
    logs += std::log(ratio);
    near += ratio <= kNearEnough;
    legal += r["legal"].get<bool>();
  }
  std::printf(
      "%d of %zu within %.1f times the best known, the worst %.2f, geometric mean "
      "%.3f, "
      "%d legal, slowest %.0f ms of CPU\n",
      near, rows.size(), kNearEnough, worst,
      std::exp(logs / static_cast<double>(std::max<size_t>(1, rows.size()))), legal,
      1e3 * slowest);
}

}  // namespace
}  // namespace sluice_bench

int RunOrdersBench(bool json) {
  using sluice_bench::Json;
  if (const char* seeds = std::getenv("SLUICE_BENCH_ORDERS_SHAPES")) {
    const Json shapes = sluice_bench::ShapeRows(seeds);
    if (json) {
      std::printf("%s\n", shapes.dump(1).c_str());
    } else {
      sluice_bench::PrintShapes(shapes);
    }
    return 0;
  }
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
