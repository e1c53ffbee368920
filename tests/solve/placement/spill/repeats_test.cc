// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/repeats.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/solve/placement/spill/brute_repeats.h"
#include "tests/solve/placement/spill/brute_spills.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;
using sluice_test::View;

namespace {

struct Repeated {
  Ground ground;
  Budget budget;
  RepeatedPlan out;
  Status status;

  Repeated(const Net& net, const std::vector<int64_t>& again,
           const JointOptions& options) {
    status = PlanRepeats(net.Graph(), View(again), options,
                         {&budget, &ground.arena, &ground.diagnostic}, &out);
  }
  Net Extended() const {
    Net net;
    net.tensors.assign(out.graph.tensors.begin(), out.graph.tensors.end());
    net.operators.assign(out.graph.operators.begin(), out.graph.operators.end());
    net.operands.assign(out.graph.operands.begin(), out.graph.operands.end());
    return net;
  }
};

// "" or what is wrong: every given operator runs, a repetition reads and writes what the
// given operator does, and the plan is one of the graph with the repetitions.
std::string Judge(const Net& net, const std::vector<int64_t>& again,
                  const JointOptions& options, const Repeated& r) {
  const RepeatedPlan& p = r.out;
  std::vector<int> runs(net.operators.size(), 0);
  int64_t repeats = 0;
  for (uint32_t o = 0; o < p.graph.operators.size(); ++o) {
    const uint32_t given = p.operator_of[o];
    if (runs[given]++ != 0) {
      if (again[given] < 0) return "an operator that may run once only";
      repeats += again[given];
    }
    const Operator& x = p.graph.operators[o];
    const Operator& y = net.operators[given];
    if (x.input_count != y.input_count || x.output_count != y.output_count) {
      return "operands";
    }
    for (uint32_t k = 0; k < x.input_count; ++k) {
      if (p.tensor_of[p.graph.operands[x.first_input + k]] !=
          net.operands[y.first_input + k]) {
        return "another input";
      }
    }
    for (uint32_t k = 0; k < x.output_count; ++k) {
      if (p.tensor_of[p.graph.operands[x.first_output + k]] !=
          net.operands[y.first_output + k]) {
        return "another output";
      }
    }
  }
  if (*std::min_element(runs.begin(), runs.end()) < 1) return "an operator is missing";
  if (repeats != p.repeat_bytes) return "the price of repetitions";
  for (uint32_t a = 0; a < p.graph.tensors.size(); ++a) {
    if (p.graph.tensors[a].bytes != net.tensors[p.tensor_of[a]].bytes) return "bytes";
  }
  int64_t recount = 0;
  const std::string why =
      sluice_test::JudgePlan(r.Extended(), p.plan, options.capacity,
                             options.charge == SpillCharge::kPaper, &recount);
  return !why.empty() || recount == p.plan.bytes() ? why : "bytes of the plan";
}

}  // namespace

TEST_CASE("repeats: tiny graphs beside every way through them") {
  Rng rng(25);
  int cheaper = 0, could = 0, optimal = 0, proved = 0;
  for (int i = 0; i < 600; ++i) {
    const Net net =
        i % 2 == 0 ? sluice_test::RandomNet(&rng, 6) : sluice_test::ChainNet(&rng, 7);
    if (net.tensors.size() > 10) continue;
    const bool single =
        std::all_of(net.operators.begin(), net.operators.end(),
                    [](const Operator& op) { return op.output_count == 1; });
    std::vector<int64_t> again;
    for (size_t o = 0; o < net.operators.size(); ++o)
      again.push_back(int64_t{rng.Below(5)} - 1);
    CAPTURE(i);
    JointOptions options;
    options.capacity = LargestOperator(net.Graph()) + rng.Below(2);
    const Repeated with(net, again, options), without(net, {}, options);
    REQUIRE(with.status == without.status);
    if (with.status != Status::kOk) continue;
    REQUIRE(Judge(net, again, options, with) == "");
    const int64_t best = sluice_test::CheapestWithRepeats(net, again, options.capacity);
    REQUIRE(with.out.cost() >= best);
    REQUIRE(with.out.cost() <= without.out.cost());
    REQUIRE(with.out.plan.lower_bound <= best);
    could += single && best < without.out.cost();
    cheaper += single && with.out.cost() < without.out.cost();
    optimal += with.out.cost() == best;
    proved += with.out.plan.proved;
  }
  MESSAGE("repetitions make ", cheaper, " of ", could, " graphs cheaper; ", optimal,
          " optimal, ", proved, " proved");
  CHECK(cheaper > 0);
}
