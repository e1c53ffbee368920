// SPDX-License-Identifier: Apache-2.0
// A training step of one layer whose inputs are all trained and whose output has an
// error: what a rule finds when it is called for the layer.
#ifndef SLUICE_TESTS_IMPORT_TRAINING_HALF_STEP_H_
#define SLUICE_TESTS_IMPORT_TRAINING_HALF_STEP_H_

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "import/training/training_step.h"

namespace sluice::import {

struct HalfStep {
  HalfStep() : step(GraphWriter("half").Finish()) {}

  uint32_t Tensor(const std::string& name, const Dims& dims) {
    return step.graph.AddTensor(name, SLUICE_DTYPE_INT8, Kind::kIntermediate, dims);
  }
  uint32_t Weight(const std::string& name, const Dims& dims) {
    return step.graph.AddSeeded(name, SLUICE_DTYPE_INT8, dims, 1);
  }
  // Adds the layer and an error for its output.
  LayerRow Layer(uint16_t op, const std::vector<uint32_t>& inputs, uint32_t output,
                 const std::vector<int32_t>& attributes) {
    step.graph.AddLayer("layer", op, inputs, {output}, attributes);
    const size_t tensors = step.graph.tensors().size();
    step.trained.assign(tensors, true);
    step.errors.resize(tensors);
    for (size_t t = 0; t < tensors; ++t) {
      if (step.graph.tensors()[t].kind == Kind::kConstant) step.trained[t] = false;
    }
    error = Tensor("error", step.graph.tensors()[output].dims);
    PassError(&step, output, error);
    first = step.graph.layers().size();
    return step.graph.layers().back();
  }
  // The operators of the layers that a rule has added behind it.
  std::vector<uint16_t> Added() const {
    std::vector<uint16_t> ops;
    for (size_t l = first; l < step.graph.layers().size(); ++l) {
      ops.push_back(step.graph.layers()[l].op);
    }
    return ops;
  }
  const LayerRow& AddedLayer(size_t i) const { return step.graph.layers()[first + i]; }
  // The tensor's error, which must consist of one share.
  uint32_t ShareOf(uint32_t tensor) const {
    REQUIRE(step.errors[tensor].size() == 1);
    return step.errors[tensor][0];
  }

  TrainingStep step;
  uint32_t error = kNoTensor;
  size_t first = 0;
};

using Ops = std::vector<uint16_t>;
using Numbers32 = std::vector<int32_t>;
using TensorList = std::vector<uint32_t>;

}  // namespace sluice::import

#endif  // SLUICE_TESTS_IMPORT_TRAINING_HALF_STEP_H_
