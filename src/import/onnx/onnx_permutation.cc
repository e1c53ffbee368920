// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_lowering.h"
#include "import/permutation.h"

namespace sluice::import {

uint32_t OnnxLowering::PermutedTensor(const std::string& name, uint32_t tensor,
                                      const std::vector<int64_t>& extents,
                                      const std::vector<int>& perm,
                                      const Numbers& numbers) {
  for (const PermutationStep& step : PermutationSteps(extents, perm)) {
    if (Normalised(graph_->tensors()[tensor].dims) != Normalised(step.runs)) {
      const uint32_t from = tensor;
      tensor = NewTensor(name + ".runs", step.runs, numbers);
      AddLayer(name + ".runs", SLUICE_OP_RESHAPE, {from}, tensor);
    }
    const uint32_t moved = NewTensor(name, step.Result(), numbers);
    AddLayer(name, SLUICE_OP_TRANSPOSE, {tensor}, moved, step.Attributes());
    tensor = moved;
  }
  return tensor;
}

}  // namespace sluice::import
