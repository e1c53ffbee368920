// SPDX-License-Identifier: Apache-2.0
// Groups of tensors that operators connect.
//
// Input    the number of tensors; operators, and which of their operands belong to the results
// Output   for each tensor a number that all tensors of its group share
// Errors   none
// Cost     nearly linear in tensors and operands
#ifndef SLUICE_IMPORT_TFLITE_TENSOR_GROUPS_H_
#define SLUICE_IMPORT_TFLITE_TENSOR_GROUPS_H_

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "import/tflite/tflite_model.h"

namespace sluice::import {

class TensorGroups {
 public:
  explicit TensorGroups(size_t tensors) : parent_(tensors) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }

  size_t Find(size_t tensor) {
    while (parent_[tensor] != tensor) {
      tensor = parent_[tensor] = parent_[parent_[tensor]];
    }
    return tensor;
  }

  void Join(size_t a, size_t b) { parent_[Find(a)] = Find(b); }

  // Joins the results and operands `first` to `end` - 1, as far as they are there.
  void Join(const TfliteOperator& op, size_t first, size_t end) {
    if (op.inputs.size() <= first || op.outputs.empty()) return;
    const size_t root = Find(static_cast<size_t>(op.outputs[0]));
    for (size_t i = first; i < std::min(end, op.inputs.size()); ++i) {
      if (op.inputs[i] >= 0) parent_[Find(static_cast<size_t>(op.inputs[i]))] = root;
    }
    for (const int32_t output : op.outputs) {
      parent_[Find(static_cast<size_t>(output))] = root;
    }
  }

 private:
  std::vector<size_t> parent_;
};

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_TENSOR_GROUPS_H_
