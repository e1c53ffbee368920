// SPDX-License-Identifier: Apache-2.0
// A mesh of few small nodes, and networks of a few layers for it.
#ifndef SLUICE_TESTS_SOLVE_SEGMENTS_SMALL_MESH_H_
#define SLUICE_TESTS_SOLVE_SEGMENTS_SMALL_MESH_H_

#include <random>
#include <string>
#include <vector>

#include "solve/segments/space.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/segments/networks.h"

namespace sluice {

// A node of 2 x 2 units with a scratchpad of `pad_bytes`.
inline void MakeSmallMesh(Machine* m, uint32_t cols, uint32_t rows, int64_t pad_bytes) {
  m->AddLevel(16, 0.006, 0.006);
  m->AddLevel(pad_bytes, 0.18, 0.18);
  m->levels.back().bandwidth = Rational{16, 1};
  m->AddLevel(0, 25, 25);
  m->levels.back().bandwidth = Rational{8, 1};
  m->AddFanout(1, 2, DimBit(kDimN) | DimBit(kDimP) | DimBit(kDimC));
  m->AddFanout(1, 2, DimBit(kDimK) | DimBit(kDimG));
  m->hardware.macs_per_cycle = 4;
  m->hardware.mac_pj = 1;
  m->hardware.vector_ops_per_cycle = 4;
  m->hardware.vector_op_pj = 1;
  m->hardware.hop_pj_per_bit = 0.6;
  m->hardware.accumulator_bytes = 2;
  m->hardware.node_cols = cols;
  m->hardware.node_rows = rows;
  m->Finish();
}

inline MappingProblem Dense(int64_t n, int64_t k, int64_t c) {
  return ConvProblem({n, k, c, 1, 1, 1, 1, 1, 2});
}

inline MappingProblem Channels(int64_t n, int64_t channels, int64_t p,
                               int64_t operands) {
  MappingProblem problem = ConvProblem({n, 1, operands, p, 1, 1, 1, 1, 2});
  problem.extent[kDimG] = channels;
  problem.operands = OperandBit(kInput) | OperandBit(kOutput);
  problem.vector = true;
  return problem;
}

// A network of 2-5 layers: a chain, with sums that reach back, pools, branches.
inline Network RandomNetwork(std::mt19937* random, int64_t batch) {
  const auto below = [&](uint32_t n) { return static_cast<int>((*random)() % n); };
  Network network;
  const int count = 2 + below(4);
  std::vector<int64_t> width;
  for (int i = 0; i < count; ++i) {
    const int from =
        i == 0 ? -1 : (below(4) == 0 ? below(static_cast<uint32_t>(i)) : i - 1);
    const int64_t c = from < 0 ? 6 : width[static_cast<size_t>(from)];
    const std::string name = "l" + std::to_string(i);
    if (i > 0 && below(4) == 0) {
      // A sum with another layer of the same width, if there is one.
      int other = -1;
      for (int j = 0; j < i; ++j) {
        if (j != from && width[static_cast<size_t>(j)] == c) other = j;
      }
      if (other < 0) {
        network.Add(name, Channels(batch, c, 1, 1), {from});
      } else {
        network.Add(name, Channels(batch, c, 1, 2), {from, other});
      }
      width.push_back(c);
      continue;
    }
    const int64_t k = below(2) == 0 ? 8 : 4 + 2 * below(4);
    network.Add(name, Dense(batch, k, c), {from});
    width.push_back(k);
  }
  return network;
}

// A network whose layers are in order, on a mesh; MakeEmpty gives a space without segments.
struct SmallCase {
  Machine machine;
  Network network;
  SegmentOptions options;
  Scratch scratch;
  Span<SegmentLayer> layers;

  SmallCase(uint32_t cols, uint32_t rows, int64_t pad_bytes) {
    MakeSmallMesh(&machine, cols, rows, pad_bytes);
  }
  Space MakeEmpty() {
    REQUIRE(OrderLayers(network.span(), &scratch.arena, &layers) == Status::kOk);
    return Space(layers, machine.hardware, options, &scratch.arena);
  }
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_SEGMENTS_SMALL_MESH_H_
