// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cosma_solve.h"

#include <sys/time.h>

#include <csignal>

#include "io/read.h"
#include "plan/operators/repeat_cost.h"
#include "presets/presets.h"
#include "solve/placement/spill/repeats.h"
#include "solve/placement/spill/replacement.h"
#include "tests/solve/placement/spill/bound_judge.h"

using namespace sluice;

namespace sluice_bench {
namespace {

using sluice_test::Net;

// Cancels a budget when the process has used the given CPU time.
class CpuLimit {
 public:
  explicit CpuLimit(int64_t us) {
    expired_ = 0;
    std::signal(SIGVTALRM,
                [](int) { __atomic_store_n(&expired_, 1u, __ATOMIC_RELAXED); });
    Set(us);
  }
  ~CpuLimit() { Set(0); }
  const uint32_t* cancel() const { return &expired_; }

 private:
  static void Set(int64_t us) {
    itimerval value = {};
    value.it_value.tv_sec = us / 1000000;
    value.it_value.tv_usec = us % 1000000;
    setitimer(ITIMER_VIRTUAL, &value, nullptr);
  }
  static uint32_t expired_;
};
uint32_t CpuLimit::expired_ = 0;

// The time that the process has used, as a clock: a deadline on it can be divided.
struct CpuClock {
  static uint64_t Now(void*) {
    return static_cast<uint64_t>(sluice_test::CpuSeconds() * 1e9) + 1;
  }
  Clock time() const { return {Now, nullptr}; }
};

}  // namespace

Solved Solve(const Net& net, int64_t capacity, const std::vector<uint32_t>* order,
             uint64_t deadline_ns, int64_t limit_us) {
  Solved result;
  sluice_test::Ground ground;
  CpuLimit limit(limit_us);
  Budget budget({}, deadline_ns, 0, limit.cancel());
  JointOptions options;
  options.capacity = capacity;
  options.charge = SpillCharge::kPaper;
  if (order != nullptr) options.fixed_order = sluice_test::View(*order);
  SpillPlan plan;
  const double start = sluice_test::CpuSeconds();
  const uint64_t start_ns = Clock().Now();
  result.status = order == nullptr
                      ? PlanJoint(net.Graph(), options, &budget, &ground.arena, &plan,
                                  &ground.diagnostic)
                      : PlanReplacement(net.Graph(), options, &budget, &ground.arena,
                                        &plan, &ground.diagnostic);
  result.cpu_s = sluice_test::CpuSeconds() - start;
  result.wall_s = static_cast<double>(Clock().Since(start_ns)) * 1e-9;
  if (result.status != Status::kOk) return result;
  int64_t recount = -1;
  const std::string verdict =
      sluice_test::JudgePlan(net, plan, capacity, true, &recount);
  result.bytes = plan.bytes();
  result.bound = plan.lower_bound;
  result.proved = plan.proved;
  result.legal = verdict.empty() && recount == plan.bytes();
  result.order.assign(plan.order.begin(), plan.order.end());
  return result;
}

int64_t Checked(const Net& net, int64_t capacity, const Solved& plan, size_t states) {
  if (plan.bytes <= 0) return 0;
  return sluice_test::JudgeBound(net, capacity, plan.order, states);
}

std::vector<int64_t> RepeatCosts(const std::vector<uint8_t>& bytes) {
  sluice_test::Ground ground;
  Graph graph = {};
  Hardware hardware = {};
  const std::vector<uint8_t> preset = presets::LoadPreset(kRepeatsOn);
  std::vector<int64_t> costs;
  if (ReadGraph(bytes.data(), bytes.size(), &ground.arena, &graph,
                &ground.diagnostic) != Status::kOk ||
      ReadHardware(preset.data(), preset.size(), &ground.arena, &hardware,
                   &ground.diagnostic) != Status::kOk) {
    return costs;
  }
  const TileCoster coster;
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    const Layer& layer = graph.layers[l];
    if (layer.op == SLUICE_OP_RESHAPE || layer.op == SLUICE_OP_SLICE) continue;
    const bool computes = KindOf(layer.op) == LayerKind::kCompute;
    costs.push_back(computes ? RepeatCost({coster, hardware, graph, layer, l}) : -1);
  }
  return costs;
}

Repeated SolveWithRepeats(const Net& net, const std::vector<int64_t>& again,
                          int64_t capacity, bool paper) {
  Repeated result;
  sluice_test::Ground ground;
  const CpuClock clock;
  Budget budget(clock.time(), kSolveUs * 1000, 0, nullptr);
  JointOptions options;
  options.capacity = capacity;
  options.charge = paper ? SpillCharge::kPaper : SpillCharge::kHost;
  RepeatedPlan found;
  const double start = sluice_test::CpuSeconds();
  const Status status =
      PlanRepeats(net.Graph(), sluice_test::View(again), options,
                  {&budget, &ground.arena, &ground.diagnostic}, &found);
  result.cpu_s = sluice_test::CpuSeconds() - start;
  if (status != Status::kOk) return result;
  Net extended;
  extended.tensors.assign(found.graph.tensors.begin(), found.graph.tensors.end());
  extended.operators.assign(found.graph.operators.begin(), found.graph.operators.end());
  extended.operands.assign(found.graph.operands.begin(), found.graph.operands.end());
  int64_t recount = -1;
  const std::string verdict =
      sluice_test::JudgePlan(extended, found.plan, capacity, paper, &recount);
  result.bytes = found.plan.bytes();
  result.cost = found.cost();
  result.runs = extended.operators.size() - net.operators.size();
  result.legal = verdict.empty() && recount == result.bytes;
  return result;
}

}  // namespace sluice_bench
