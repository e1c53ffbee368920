// SPDX-License-Identifier: Apache-2.0
// Constant folding: computes an operator whose inputs are all constants.
//
// Input    values of any type with elements of fixed size; the operator
// Output   one value for each of the operator's outputs
// Errors   Unknown: not computed here; Error(kBadInput): the operator contradicts its
//          inputs
// Cost     linear in the elements
#ifndef SLUICE_IMPORT_TFLITE_CONSTANT_VALUES_H_
#define SLUICE_IMPORT_TFLITE_CONSTANT_VALUES_H_

#include <cstdint>
#include <vector>

#include "import/tflite/tflite_model.h"

namespace sluice::import {

// Dense elements of a tflite::TensorType. `data` is nullptr where only type and shape are
// known, which is enough for SHAPE.
struct ConstantValue {
  int type = 0;
  std::vector<int32_t> shape;
  const uint8_t* data = nullptr;
  size_t bytes = 0;
  // Per-tensor scale; nullptr where the tensor has none.
  const float* scale = nullptr;
  int64_t zero_point = 0;
};

struct ComputedValue {
  int type = 0;
  std::vector<int32_t> shape;
  std::vector<uint8_t> bytes;
};

// Thrown when the operator cannot be folded; the folding pass catches it and keeps the
// operator.
struct Unknown {};

struct ConstantCall {
  const TfliteOperator& op;
  std::vector<ConstantValue> inputs;   // absent inputs have type -1
  std::vector<ConstantValue> outputs;  // as the model declares them
  uint64_t most_bytes;                 // of all outputs
};

// Whether the operator needs only the shape of input 0, not its data.
bool NeedsShapeAlone(const TfliteOperator& op);
std::vector<ComputedValue> Compute(const ConstantCall& call);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_CONSTANT_VALUES_H_
