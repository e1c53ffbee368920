// SPDX-License-Identifier: Apache-2.0
// Engines of the simplest machine, whose descriptor names no queues.
#ifndef SLUICE_TESTS_SUPPORT_ENGINES_H_
#define SLUICE_TESTS_SUPPORT_ENGINES_H_

#include <cstdint>
#include <vector>

#include "sluice/stream.h"

namespace sluice_test {

constexpr uint32_t kDmaEngine = 0;
constexpr uint32_t kHostEngine = 1;
constexpr uint32_t kFirstNodeEngine = 2;
// A machine with one node has no send engine; its node computes on engine 2, too.
constexpr uint32_t ComputeEngine(uint32_t node) { return 2 + 2 * node; }
constexpr uint32_t SendEngine(uint32_t node) { return 3 + 2 * node; }

inline std::vector<sluice_engine_t> SimplestEngines(uint32_t nodes) {
  std::vector<sluice_engine_t> engines = {
      {SLUICE_DOES_LOAD | SLUICE_DOES_STORE, SLUICE_ALL_NODES, 0, SLUICE_ROLES, 0},
      {SLUICE_DOES_HOST, SLUICE_ALL_NODES, SLUICE_NO_QUEUE, 0, 0}};
  for (uint32_t node = 0; node < nodes; ++node) {
    const uint16_t at = static_cast<uint16_t>(node);
    engines.push_back({SLUICE_DOES_COMPUTE, at, SLUICE_NO_QUEUE, 0, 0});
    if (nodes > 1) {
      engines.push_back({SLUICE_DOES_FORWARD, at, SLUICE_NO_QUEUE, 0, 0});
    }
  }
  return engines;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_ENGINES_H_
