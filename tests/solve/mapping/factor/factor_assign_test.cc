// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/factor/factor_assign.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "solve/mapping/factor/factor_reference.h"
#include "solve/mapping/gemm/arena_memory.h"

namespace sluice {
namespace {

using sluice_tests::ArenaMemory;
using sluice_tests::CosaOptimum;
using sluice_tests::SimbaMachine;

FactorSolution Solve(const FactorLayer& layer, const FactorMachine& machine,
                     const FactorWeights& weights) {
  ArenaMemory memory;
  Budget budget;
  Diagnostic diagnostic = {};
  FactorSolution solution;
  REQUIRE(SolveFactorAssign({layer, machine, weights}, &memory.arena, &budget,
                            &solution, &diagnostic) == Status::kOk);
  CHECK(solution.proved);
  FactorValue value;
  CHECK(EvaluateFactors(layer, machine, weights, solution.assignment, &value,
                        &diagnostic) == Status::kOk);
  CHECK(value.objective == solution.value.objective);
  return solution;
}

TEST_CASE("factor_assign equals the reference optimum on every layer listed") {
  const std::vector<CosaOptimum> optima = sluice_tests::CosaOptima();
  if (optima.empty()) {
    MESSAGE("skipped: no reference/cosa optima");
    return;
  }
  for (const CosaOptimum& o : optima) {
    CAPTURE(o.name);
    const FactorSolution solution = Solve(o.layer, SimbaMachine(), FactorWeights());
    CHECK(std::fabs(solution.value.objective - o.objective) < 6e-5);
  }
}

// All placements of all prime factors.
struct Enumeration {
  const FactorLayer& layer;
  const FactorMachine& machine;
  const FactorWeights& weights;
  std::vector<std::pair<int, int64_t>> factors;  // dim, prime
  double best = __builtin_huge_val();
  FactorAssignment assignment;

  void Run() {
    for (int d = 0; d < kFactorDims; ++d) {
      int64_t rest = layer.extent[d];
      for (int64_t p = 2; rest > 1; ++p) {
        for (; rest % p == 0; rest /= p) factors.push_back({d, p});
      }
    }
    for (int level = 0; level < kFactorLevels; ++level) {
      for (int d = 0; d < kFactorDims; ++d) {
        assignment.temporal[level][d] = assignment.spatial[level][d] = 1;
      }
    }
    Place(0);
  }

  void Place(size_t i) {
    if (i == factors.size()) {
      FactorValue value;
      Diagnostic diagnostic;
      const Status status =
          EvaluateFactors(layer, machine, weights, assignment, &value, &diagnostic);
      if (status == Status::kOk && value.objective < best) best = value.objective;
      return;
    }
    for (int level = 0; level < kFactorLevels; ++level) {
      int64_t* const cells[] = {&assignment.temporal[level][factors[i].first],
                                &assignment.spatial[level][factors[i].first]};
      for (int64_t* const cell : cells) {
        const bool spatial = cell == cells[1];
        if (spatial && (level == kFactorDram || machine.spatial[level] == 1)) continue;
        *cell *= factors[i].second;
        Place(i + 1);
        *cell /= factors[i].second;
      }
    }
  }
};

TEST_CASE("factor_assign equals the best of all placements on random small layers") {
  Rng rng(3);
  const int64_t primes[] = {2, 2, 2, 3, 5, 7};
  int global_temporal = 0;
  int inside = 0;
  for (int i = 0; i < 120; ++i) {
    FactorLayer layer = {{1, 1, 1, 1, 1, 1, 1}, 1 + rng.Below(2), 1};
    const int count = i % 12 == 0 ? 5 : 4;
    for (int k = 0; k < count; ++k) layer.extent[rng.Below(7)] *= primes[rng.Below(6)];
    FactorMachine machine = SimbaMachine();
    for (auto& level : machine.words) {
      for (int64_t& words : level) {
        if (words > 1) words = 1 + rng.Below(40);
        if (words == 0 && rng.Below(8) == 0) words = 1 + rng.Below(60);
      }
    }
    for (int64_t& instances : machine.spatial) {
      if (instances > 1) instances = 1 + rng.Below(8);
    }
    FactorWeights weights;
    if (i % 2 == 1) {
      weights.utilisation = 0.25 * rng.Below(9) - 1;
      weights.compute = 0.5 * rng.Below(6) - 0.5;
      weights.traffic = 0.5 * rng.Below(4);
    }
    Enumeration all{layer, machine, weights, {}, __builtin_huge_val(), {}};
    all.Run();
    const FactorSolution solution = Solve(layer, machine, weights);
    CAPTURE(i);
    CHECK(std::fabs(solution.value.objective - all.best) < 1e-8);
    for (int d = 0; d < kFactorDims; ++d) {
      const FactorAssignment& a = solution.assignment;
      global_temporal += a.temporal[kFactorGlobal][d] > 1 ? 1 : 0;
      inside += layer.extent[kFactorR] > 1 && a.temporal[0][kFactorP] > 1 ? 1 : 0;
    }
  }
  CHECK(global_temporal > 5);  // the permutation mattered
  CHECK(inside > 5);           // and so did halos
}

TEST_CASE("factor_assign names what is wrong with a layer, a machine or weights") {
  ArenaMemory memory;
  Budget budget;
  Diagnostic diagnostic = {};
  FactorSolution solution;
  const FactorLayer good = {{3, 3, 14, 14, 8, 8, 1}, 1, 1};
  const auto solve = [&](const FactorLayer& layer, const FactorMachine& machine,
                         const FactorWeights& weights) {
    return SolveFactorAssign({layer, machine, weights}, &memory.arena, &budget,
                             &solution, &diagnostic);
  };
  const auto says = [&diagnostic](const char* text) {
    return std::string(diagnostic.message).find(text) != std::string::npos;
  };
  FactorLayer layer = good;
  layer.extent[kFactorC] = 0;
  CHECK(solve(layer, SimbaMachine(), {}) == Status::kBadInput);
  CHECK(says("extent C is 0"));
  layer.extent[kFactorC] = (int64_t{1} << 31) + 1;
  CHECK(solve(layer, SimbaMachine(), {}) == Status::kBadInput);
  layer = good;
  layer.stride_p = 0;
  CHECK(solve(layer, SimbaMachine(), {}) == Status::kBadInput);
  CHECK(says("stride is 0"));
  FactorMachine machine = SimbaMachine();
  machine.spatial[4] = 0;
  CHECK(solve(good, machine, {}) == Status::kBadInput);
  CHECK(says("level 4 has 0"));
  machine = SimbaMachine();
  machine.words[2][0] = -5;
  CHECK(solve(good, machine, {}) == Status::kBadInput);
  CHECK(says("-5"));
  FactorWeights weights;
  weights.compute = std::nan("");
  CHECK(solve(good, SimbaMachine(), weights) == Status::kBadInput);

  // One word everywhere, one instance: all loops run in DRAM.
  machine = {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, {1, 1, 1, 1, 1}};
  CHECK(solve(good, machine, {}) == Status::kOk);
  CHECK(solution.assignment.temporal[kFactorDram][kFactorC] == 8);
  // Large primes and powers.
  layer = {{1, 1, 2147483647, 1, int64_t{1} << 31, 1, 1}, 1, 1};
  CHECK(solve(layer, SimbaMachine(), {}) == Status::kOk);
  CHECK(solution.proved);
  layer = {{1, 1, 1, 1, 1, 1, 1}, 1, 1};
  CHECK(solve(layer, SimbaMachine(), {}) == Status::kOk);
  CHECK(solution.value.objective == 0);
}

TEST_CASE("factor_assign obeys its budget and its memory, and repeats itself") {
  const FactorLayer layer = {{3, 3, 14, 14, 256, 256, 1}, 2, 2};
  Diagnostic diagnostic = {};
  FactorSolution solution;
  ArenaMemory memory;
  const uint32_t cancelled = 1;
  Budget cancel({}, 0, 0, &cancelled);
  CHECK(SolveFactorAssign({layer, SimbaMachine(), {}}, &memory.arena, &cancel,
                          &solution, &diagnostic) == Status::kStopped);
  for (uint64_t cap = 20000; cap < 4000000; cap *= 4) {
    ArenaMemory small(cap);
    Budget budget;
    const Status status = SolveFactorAssign({layer, SimbaMachine(), {}}, &small.arena,
                                            &budget, &solution, &diagnostic);
    CHECK((status == Status::kOk || status == Status::kOutOfMemory));
    CHECK(small.memory.peak_bytes() <= cap);
  }
  const FactorSolution first = Solve(layer, SimbaMachine(), {});
  const FactorSolution second = Solve(layer, SimbaMachine(), {});
  CHECK(first.labels == second.labels);
  CHECK(first.value.objective == second.value.objective);
}

TEST_CASE("factor_assign with few states: not proved, and bounded by what is optimal") {
  const FactorLayer layer = {{3, 3, 14, 14, 256, 256, 1}, 2, 2};
  const FactorSolution optimum = Solve(layer, SimbaMachine(), {});
  REQUIRE(optimum.labels > 4096);
  ArenaMemory memory;
  Budget budget;
  Diagnostic diagnostic = {};
  FactorSolution solution;
  REQUIRE(SolveFactorAssign({layer, SimbaMachine(), {}, 1}, &memory.arena, &budget,
                            &solution, &diagnostic) == Status::kOk);
  CHECK_FALSE(solution.proved);
  CHECK(solution.labels < optimum.labels);
  CHECK(solution.value.objective >= optimum.value.objective - 1e-9);
  CHECK(solution.lower_bound <= optimum.value.objective + 1e-9);
}

}  // namespace
}  // namespace sluice
