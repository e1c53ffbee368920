// SPDX-License-Identifier: Apache-2.0
// SoMa's Fig. 6 for whole networks in the library's exact cost model: Cocco's rules, SoMa's
// algorithm and ours, each planned through the C interface and verified.
//
// Input    the zoo and the two presets of the paper. Environment:
//          SLUICE_BENCH_SECONDS (0.9) for ours per row (construction is never cut),
//          SLUICE_BENCH_PUBLISHED_SECONDS (4) for each published solver,
//          SLUICE_BENCH_BATCHES (1,4,16,64), SLUICE_BENCH_NETWORKS (all), by comma
// Output   a table and its notes, or rows for the JSON object
// Errors   false when a judge refuses a plan, or its cycles differ from the prediction
#ifndef SLUICE_TESTS_BENCH_SOMA_NETWORKS_H_
#define SLUICE_TESTS_BENCH_SOMA_NETWORKS_H_

#include <nlohmann/json.hpp>

namespace sluice {

// rows: appended to; nullptr prints.
bool RunSomaNetworks(nlohmann::json* rows);

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCH_SOMA_NETWORKS_H_
