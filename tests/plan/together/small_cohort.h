// SPDX-License-Identifier: Apache-2.0
// Two small models on one small machine, as co-scheduling sees them.
#ifndef SLUICE_TESTS_PLAN_TOGETHER_SMALL_COHORT_H_
#define SLUICE_TESTS_PLAN_TOGETHER_SMALL_COHORT_H_

#include <vector>

#include "plan/together/cohort.h"
#include "support/read_graph.h"

namespace sluice_test {

// Layers one after the other, on `rows` times 32 bytes.
inline GraphSpec ChainOf(uint32_t layers, int32_t rows) {
  GraphSpec spec;
  for (uint32_t t = 0; t <= layers; ++t) {
    const uint8_t kind = t == 0 ? 1 : t == layers ? 2 : 0;
    spec.tensors.push_back({{1, rows, 4, 8}, SLUICE_DTYPE_INT8, kind});
  }
  for (uint32_t l = 0; l < layers; ++l) {
    spec.layers.push_back(
        {SLUICE_OP_REQUANTIZE, {l}, {l + 1}, {0, 1 << 30, 1, 0, -128, 127}});
  }
  return spec;
}

// Model 0 has tensors of 512 bytes, model 1 two layers on 128; the scratchpad has 4096.
struct SmallCohort {
  explicit SmallCohort(uint32_t layers = 2) : n(ChainOf(layers, 16)) {
    options.struct_size = sizeof options;
    options.max_iterations = 20;
    options.points = 3;
  }
  Nouns n, other{ChainOf(2, 4)};
  const sluice::Graph* graphs[2] = {&n.graph, &other.graph};
  std::vector<sluice_model_t> models{2};
  sluice_coschedule_options_t options = {};
  sluice::Arena arena{&n.memory}, scratch{&n.memory};
  sluice::CohortProblem problem{n.hardware,
                                {graphs, 2},
                                {models.data(), 2},
                                options,
                                &arena,
                                &scratch,
                                &n.diagnostic,
                                sluice::Budget(),
                                4096,
                                0,
                                {},
                                0,
                                0};
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_PLAN_TOGETHER_SMALL_COHORT_H_
