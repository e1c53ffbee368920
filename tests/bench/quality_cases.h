// SPDX-License-Identifier: Apache-2.0
// Small graphs of which it is known what no plan can be below: cascades of two or three
// layers, and a machine on which only traffic costs.
//
// Input    the name of a case
// Output   graph.fbs bytes; hardware.fbs bytes
// Errors   empty bytes: no case has that name
#ifndef SLUICE_TESTS_BENCH_QUALITY_CASES_H_
#define SLUICE_TESTS_BENCH_QUALITY_CASES_H_

#include <string>

#include "import/bytes.h"

namespace sluice_bench {

// qk_av: a product with a transposed matrix, then one with another, 12 heads of 64, 512
//        tokens.
// ffn: 512 tokens from 768 to 3072 to 768 channels.
// inverted_residual: 30 x 30 x 24, by 1x1 to 192, 3x3 of each channel without padding, by
//        1x1 to 24.
// down_projection: 512 tokens from 3072 to 768 channels.
// concat, add: a convolution, two of its output side by side, joined so, and one more.
sluice::import::Bytes MakeCase(const std::string& name);

// soma-edge with 1 pJ for a bit that moves between DRAM and scratchpad and nothing else.
sluice::import::Bytes OnlyTraffic();

}  // namespace sluice_bench

#endif  // SLUICE_TESTS_BENCH_QUALITY_CASES_H_
