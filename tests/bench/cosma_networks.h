// SPDX-License-Identifier: Apache-2.0
// Networks of the zoo as COSMA sees them: one operator per layer, whole tensors.
//
// Input   graph.fbs bytes; whether parameters count
// Output  operators and tensors in graph order. Views (reshape, slice) are no
// operators:
//         their readers read what they look at. With parameters, the constants of each
//         operator are one tensor more, read by it alone.
// Source  COSMA V-A; parameters as the reference's resolution 9
#ifndef SLUICE_TESTS_BENCH_COSMA_NETWORKS_H_
#define SLUICE_TESTS_BENCH_COSMA_NETWORKS_H_

#include <cstdint>
#include <vector>

#include "tests/solve/placement/spill/spill_judge.h"

namespace sluice_bench {

sluice_test::Net NetOf(const std::vector<uint8_t>& graph, bool parameters);

}  // namespace sluice_bench

#endif  // SLUICE_TESTS_BENCH_COSMA_NETWORKS_H_
