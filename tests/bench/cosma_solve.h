// SPDX-License-Identifier: Apache-2.0
// Solves of the benches of COSMA's networks: plans within a time, what the judge says of
// them, and a bound by the tests' own code.
//
// Input   a net, a capacity; perhaps an order; CPU time.
// Output  bytes that the judge has counted again, bounds, CPU and elapsed seconds.
#ifndef SLUICE_TESTS_BENCH_COSMA_SOLVE_H_
#define SLUICE_TESTS_BENCH_COSMA_SOLVE_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "tests/solve/placement/spill/spill_judge.h"

namespace sluice_bench {

// Limits of a solve, in CPU time, so that other work on the machine does not matter; steps
// that no budget stops come on top. The timer may tick every 4 ms only, so solves that end
// by themselves also have their wall time noted, which is at least the CPU time.
constexpr int64_t kSolveUs = 85000;
// States of the checked bound, for each part of a network.
constexpr size_t kCheckedStates = 1 << 19;

struct Solved {
  sluice::Status status = sluice::Status::kInternal;
  int64_t bytes = -1, bound = 0;
  bool proved = false, legal = false;
  double cpu_s = 0, wall_s = 0;
  std::vector<uint32_t> order;
};

// order: null where it is free. deadline_ns: elapsed time; 0: none.
Solved Solve(const sluice_test::Net& net, int64_t capacity,
             const std::vector<uint32_t>* order, uint64_t deadline_ns,
             int64_t limit_us = kSolveUs);

// What no plan moves less than, by the tests' own code.
int64_t Checked(const sluice_test::Net& net, int64_t capacity, const Solved& plan,
                size_t states = kCheckedStates);

struct Repeated {
  int64_t bytes = -1, cost = -1;
  size_t runs = 0;  // more than once
  bool legal = false;
  double cpu_s = 0;
};

// Whose energies and cycles price a layer that runs again.
constexpr char kRepeatsOn[] = "simba";

// What running each operator of NetOf again costs, in bytes.
std::vector<int64_t> RepeatCosts(const std::vector<uint8_t>& graph);

// As Solve, where operators may run again. paper: an input that leaves is written, as the
// published model has it; else it is in DRAM anyway.
Repeated SolveWithRepeats(const sluice_test::Net& net,
                          const std::vector<int64_t>& again, int64_t capacity,
                          bool paper);

}  // namespace sluice_bench

#endif  // SLUICE_TESTS_BENCH_COSMA_SOLVE_H_
