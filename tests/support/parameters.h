// SPDX-License-Identifier: Apache-2.0
// Values for a graph's parameters, by seed.
#ifndef SLUICE_TESTS_SUPPORT_PARAMETERS_H_
#define SLUICE_TESTS_SUPPORT_PARAMETERS_H_

#include <cstdint>
#include <vector>

#include "sluice/graph_generated.h"

namespace sluice_test {

// One value in the range of each parameter.
inline std::vector<int32_t> ParametersOf(const std::vector<uint8_t>& graph,
                                         uint64_t seed) {
  const auto* least = sluice::wire::GetGraph(graph.data())->parameter_min();
  const auto* most = sluice::wire::GetGraph(graph.data())->parameter_max();
  std::vector<int32_t> values;
  for (uint32_t i = 0; i < least->size(); ++i) {
    const uint64_t range = static_cast<uint64_t>(most->Get(i) - least->Get(i)) + 1;
    values.push_back(least->Get(i) + static_cast<int32_t>((seed >> i) % range));
  }
  return values;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_PARAMETERS_H_
