// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cosma_evaluation.h"

#include <algorithm>
#include <cstdio>

#include "solve/placement/spill/joint.h"
#include "tests/bench/cosma_solve.h"
#include "zoo/zoo.h"

using namespace sluice;

namespace sluice_bench {
namespace {

using Json = Evaluation::Json;
using sluice_test::Leaves;
using sluice_test::Net;

// CPU time for the bound of plans that the solve has not proved optimal.
constexpr int64_t kProofUs = 3000000;
constexpr uint64_t kProofNs = 5000000000;
// Of designed networks: those of Transformer need more, and then are the plans' bytes.
constexpr size_t kDesignedStates = 1 << 22;

Json FixedJson(const Solved& s) {
  return {{"bytes", s.bytes},
          {"optimal", s.proved},
          {"legal", s.legal},
          {"cpu_s", s.cpu_s},
          {"wall_s", s.wall_s}};
}

std::vector<uint32_t> AsGiven(const Net& net) {
  std::vector<uint32_t> order(net.operators.size());
  for (uint32_t o = 0; o < order.size(); ++o) order[o] = o;
  return order;
}

// Bytes of the four schemes, by `bytes(order, leaves)`.
template <typename F>
Json Schemes(const Net& net, const std::vector<uint32_t>& by_peak, F bytes) {
  const std::vector<uint32_t> as_given = AsGiven(net);
  return {{"default_belady", bytes(as_given, Leaves::kBelady)},
          {"default_greedy", bytes(as_given, Leaves::kGreedy)},
          {"minpeak_belady", bytes(by_peak, Leaves::kBelady)},
          {"minpeak_greedy", bytes(by_peak, Leaves::kGreedy)}};
}

// One line for each row as it comes, so that who waits sees how far it is.
void Tell(const Json& row) {
  std::fprintf(stderr, "%s, %s at %s: %.1f s, of which the check %.1f s\n",
               row["network"].get<std::string>().c_str(),
               row["setting"].get<std::string>().c_str(),
               row["budget"].get<std::string>().c_str(), row["row_s"].get<double>(),
               row["check_s"].get<double>());
}

}  // namespace

void Evaluation::Add(const Subject& subject, bool parameters) {
  const std::vector<uint8_t> graph = zoo::MakeZooGraph(subject.zoo, zoo::ZooOptions());
  NetOptions options = options_;
  options.parameters = parameters;
  const Net net = NetOf(graph, options);
  sluice_test::Ground ground;
  Budget budget;  // the search ends by itself, so that budgets are the same each time
  FootprintPlan least;
  const double start = sluice_test::CpuSeconds();
  if (PlanFootprint(net.Graph(), &budget, &ground.arena, &least, &ground.diagnostic) !=
      Status::kOk) {
    return;
  }
  const double footprint_s = sluice_test::CpuSeconds() - start;
  const std::vector<uint32_t> by_peak(least.order.begin(), least.order.end());
  const int64_t required = LargestOperator(net.Graph()), peak = least.peak_bytes;
  struct {
    const char* name;
    int64_t bytes;
    const char* since;  // "both": the budget was the same before
  } budgets[] = {{"M_R", required, "both"},
                 {"M_H", (required + peak) / 2, "both"},
                 {"M_P", peak, "both"},
                 {"M_H*", 0, "earlier"},
                 {"M_P*", 0, "earlier"}};
  const int64_t earlier = subject.earlier_peaks[parameters ? 1 : 0];
  if (earlier != 0) {
    budgets[1].since = budgets[2].since = "now";
    budgets[3].bytes = (required + earlier) / 2;
    budgets[4].bytes = earlier;
  }
  for (const auto& [name, capacity, since] : budgets) {
    if (capacity == 0 || (tells_ != Tells::kFigures && *since == 'e')) continue;
    const double from = sluice_test::CpuSeconds();
    Json row = Row(subject, net, capacity, by_peak, parameters);
    row["budget_bytes"] = capacity;
    if (tells_ == Tells::kFigures)
      AddFigures(subject, graph, parameters, by_peak, &row);
    row["network"] = subject.title;
    row["searched"] = subject.searched;
    row["budget"] = name;
    row["budgets"] = since;
    row["setting"] = parameters ? "activations and parameters" : "activations";
    row["operators"] = net.operators.size();
    row["tensors"] = net.tensors.size();
    row["footprint_proved"] = least.proved;
    row["footprint_cpu_s"] = footprint_s;
    row["row_s"] = sluice_test::CpuSeconds() - from;
    Tell(row);
    rows_.push_back(row);
  }
}

Json Evaluation::Row(const Subject& subject, const Net& net, int64_t capacity,
                     const std::vector<uint32_t>& by_peak, bool parameters) const {
  Json row;
  const Solved ours = Solve(net, capacity, nullptr, 0);
  row["bytes"] = ours.bytes;
  row["optimal"] = ours.proved;
  row["bound"] = ours.bound;
  row["legal"] = ours.legal;
  row["proof"] = ours.bound;
  if (tells_ == Tells::kFigures && !ours.proved) {
    const Solved longer = Solve(net, capacity, nullptr, kProofNs, kProofUs);
    row["proof"] = std::max(ours.bound, longer.bound);
    row["longer_bytes"] = longer.bytes;
  }
  const double from = sluice_test::CpuSeconds();
  row["check"] =
      Checked(net, capacity, ours, subject.searched ? kCheckedStates : kDesignedStates);
  row["check_s"] = sluice_test::CpuSeconds() - from;
  row["cpu_s"] = ours.cpu_s;
  row["wall_s"] = ours.wall_s;
  row["schemes"] =
      Schemes(net, by_peak, [&](const std::vector<uint32_t>& order, Leaves leaves) {
        return sluice_test::SchemeBytes(net, order, capacity, leaves);
      });
  if (tells_ == Tells::kSchemes) {
    for (const auto& [name, fit] : kFits) {
      row[name] =
          Schemes(net, by_peak, [&, fit = fit](const auto& order, Leaves leaves) {
            return sluice_test::SchemeBytes(net, order, capacity, leaves, fit);
          });
    }
  } else if (subject.searched && !parameters) {
    const std::vector<uint32_t> as_given = AsGiven(net);
    row["fixed_default"] = FixedJson(Solve(net, capacity, &as_given, 0));
    row["fixed_minpeak"] = FixedJson(Solve(net, capacity, &by_peak, 0));
  }
  return row;
}

void Evaluation::AddFigures(const Subject& subject, const std::vector<uint8_t>& graph,
                            bool parameters, const std::vector<uint32_t>& by_peak,
                            Json* row) const {
  NetOptions options = options_;
  options.parameters = parameters;
  const Net net = NetOf(graph, options);
  options.in_place = true;
  const int64_t capacity = (*row)["budget_bytes"].get<int64_t>();
  const Solved reusing = Solve(NetOf(graph, options), capacity, nullptr, 0);
  (*row)["in_place_bytes"] = reusing.bytes;
  (*row)["in_place_bound"] = reusing.bound;
  (*row)["in_place_legal"] = reusing.legal;
  if (!subject.searched) return;
  const Repeated again = SolveWithRepeats(net, RepeatCosts(graph), capacity, true);
  (*row)["again_bytes"] = again.bytes;
  (*row)["again_cost"] = again.cost;
  (*row)["again_runs"] = again.runs;
  (*row)["again_legal"] = again.legal;
  (*row)["again_cpu_s"] = again.cpu_s;
  const Repeated host = SolveWithRepeats(net, RepeatCosts(graph), capacity, false);
  (*row)["again_host_bytes"] = host.bytes;
  (*row)["again_host_legal"] = host.legal;
  (*row)["schemes_host"] =
      Schemes(net, by_peak, [&](const std::vector<uint32_t>& order, Leaves leaves) {
        return sluice_test::SchemeBytes(net, order, capacity, leaves, false);
      });
}

}  // namespace sluice_bench
