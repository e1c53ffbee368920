// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_lowering.h"
#include "import/permutation.h"

namespace sluice::import {

uint32_t PermutedTensor(OnnxLowering* self, const std::string& name, uint32_t tensor,
                        const std::vector<int64_t>& extents,
                        const std::vector<int>& perm, const Numbers& numbers) {
  for (const PermutationStep& step : PermutationSteps(extents, perm)) {
    if (Normalised(self->graph.tensors()[tensor].dims) != Normalised(step.runs)) {
      const uint32_t from = tensor;
      tensor = NewTensor(self, name + ".runs", step.runs, numbers);
      AddLayer(self, name + ".runs", SLUICE_OP_RESHAPE, {from}, tensor);
    }
    const uint32_t moved = NewTensor(self, name, step.Result(), numbers);
    AddLayer(self, name, SLUICE_OP_TRANSPOSE, {tensor}, moved, step.Attributes());
    tensor = moved;
  }
  return tensor;
}

}  // namespace sluice::import
