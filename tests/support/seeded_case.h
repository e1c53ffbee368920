// SPDX-License-Identifier: Apache-2.0
// Graph and machine of a seed, for tests that ask something of every plan there is.
//
// Input    a seed
// Output   a random graph, in every eighth case also with operators of unknown work; half
//          of the machines are presets, the others random ones, with limits or without
#ifndef SLUICE_TESTS_SUPPORT_SEEDED_CASE_H_
#define SLUICE_TESTS_SUPPORT_SEEDED_CASE_H_

#include <doctest/doctest.h>

#include <vector>

#include "presets/presets.h"
#include "support/library.h"
#include "support/random_graph.h"

namespace sluice_test {

struct SeededCase {
  explicit SeededCase(uint64_t seed) {
    const char* presets[] = {"soma-edge",    "mcu-256k",       "gemmini-16x16",
                             "gemmini-like", "ethos-u55-like", "vta-1x16x16",
                             "eyeriss-like", "kapla-4x4",      "tpuv1-like"};
    constexpr uint64_t kPresets = sizeof presets / sizeof *presets;
    RandomGraphLimits limits;
    limits.opaque = seed % 8 == 0;
    const uint64_t turn = seed % (2 * kPresets);
    spec = MakeRandomGraph(seed, limits);
    machine = turn < kPresets ? sluice::presets::LoadPreset(presets[turn])
              : turn % 2 == 0 ? MachineBytes(MakeRandomMachine(seed))
                              : MachineBytes(LimitedMachine(seed));
    graph = library.Graph(GraphBytes(spec));
    hardware = library.Hardware(machine);
    REQUIRE(graph != nullptr);
    REQUIRE(hardware != nullptr);
  }

  GraphSpec spec;
  std::vector<uint8_t> machine;
  Library library;
  GraphPtr graph;
  HardwarePtr hardware;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_SEEDED_CASE_H_
