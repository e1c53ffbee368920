// SPDX-License-Identifier: Apache-2.0
// Small graphs for which a lower bound of the traffic is known: cascades of two or three
// layers, and a machine on which only DRAM traffic costs.
//
// Input    the name of a case
// Output   graph.fbs bytes; hardware.fbs bytes
// Errors   empty bytes: no case has that name
#ifndef SLUICE_TESTS_BENCH_QUALITY_CASES_H_
#define SLUICE_TESTS_BENCH_QUALITY_CASES_H_

#include <string>

#include "import/bytes.h"

namespace sluice_bench {

// qk_av: queries times transposed keys, the result times values; 12 heads of 64, 512 tokens.
// ffn: 512 tokens from 768 to 3072 to 768 channels.
// inverted_residual: 30 x 30 x 24, a 1x1 convolution to 192 channels, a depthwise 3x3 without
//        padding, a 1x1 convolution to 24.
// down_projection: 512 tokens from 3072 to 768 channels.
// concat, add: a convolution, two parallel convolutions of its result, which are concatenated
//        or added, and one more convolution.
sluice::import::Bytes MakeCase(const std::string& name);

// soma-edge with 1 pJ for a bit that moves between DRAM and scratchpad and nothing else.
sluice::import::Bytes OnlyTraffic();

}  // namespace sluice_bench

#endif  // SLUICE_TESTS_BENCH_QUALITY_CASES_H_
