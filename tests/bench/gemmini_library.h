// SPDX-License-Identifier: Apache-2.0
// What Gemmini's own library moves and computes for a layer, by the published rule of its
// tiled_conv_auto and tiled_matmul_auto: how they choose tiles, in which order they visit
// them, and what they load again.
//
// Input    extents of one layer; int8, batch 1
// Output   bytes of mvins and mvouts without biases; bytes of biases (of an mvin with stride
//          0 one row is read); passes of 16 array cycles
// Errors   none
// Cost     linear in the tiles
// Source   gemmini.h of ucb-bar/gemmini-rocc-tests (BSD-style licence): the rule as it does
//          it for a 16 x 16 array, 16,384 rows, 1,024 rows of sums, first-layer rows on
#ifndef SLUICE_TESTS_BENCH_GEMMINI_LIBRARY_H_
#define SLUICE_TESTS_BENCH_GEMMINI_LIBRARY_H_

#include <cstdint>

namespace gemmini_library {

struct Cost {
  int64_t bytes = 0, biases = 0, passes = 0;
};

// [i x k] times [k x j].
Cost MatmulCost(int64_t i, int64_t j, int64_t k);

struct Convolution {
  int64_t in_rows = 1, in_columns = 1, in_channels = 1;
  int64_t out_rows = 1, out_columns = 1, out_channels = 1;
  int64_t kernel = 1, stride = 1, padding = 0;
};
Cost ConvolutionCost(const Convolution& layer);
// Of as many channels as the layer has: each by itself, as one input and one output channel.
Cost DepthwiseCost(const Convolution& layer);

}  // namespace gemmini_library

#endif  // SLUICE_TESTS_BENCH_GEMMINI_LIBRARY_H_
