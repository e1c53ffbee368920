// SPDX-License-Identifier: Apache-2.0
// The shapes of an operator's outputs from the shapes of its inputs, one function for each
// kind of operator, as TensorFlow Lite's kernels set them when they are prepared.
//
// Input    an operator of a model in which all tensors that it reads have their shapes;
//          operands that hold a shape, axes or extents are constants
// Output   a shape for each output
// Errors   import::Error: the inputs do not fit each other, or an operand's value is not
//          known
// Cost     linear in the axes
#ifndef SLUICE_BINDINGS_TFLITE_OUTPUT_SHAPES_H_
#define SLUICE_BINDINGS_TFLITE_OUTPUT_SHAPES_H_

#include <cstdint>
#include <vector>

#include "import/tflite/tflite_model.h"

namespace sluice::delegate {

// The operand that holds the shape of output 0 and may be a value of the program, known only
// when it runs; -1: none.
int ShapeOperand(int32_t code);
// Whether OutputShapes knows the operator.
bool HasOutputShapes(int32_t code);
std::vector<std::vector<int32_t>> OutputShapes(const import::TfliteModel& model,
                                               const import::TfliteOperator& op);

}  // namespace sluice::delegate

#endif  // SLUICE_BINDINGS_TFLITE_OUTPUT_SHAPES_H_
