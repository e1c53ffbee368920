// SPDX-License-Identifier: Apache-2.0
// Float inputs and outputs of a quantised model become quantised ones: a converter puts
// QUANTIZE behind the inputs and DEQUANTIZE in front of the outputs unless it is told
// otherwise. These operators are removed, and the input or output itself has their
// scale and zero point.
//
// Operators that only move elements (RESHAPE, TRANSPOSE, CONCATENATION, ...) may lie
// between. Float tensors that only such operators connect form a net. If all QUANTIZE
// and DEQUANTIZE of a net have the same type, scale and zero point, its tensors take
// these and become quantised.
//
// A float state and the tensor whose value it takes belong to one net, so what a converter
// puts between a variable of floats and quantised layers goes as well, if the numbers that
// the state holds first have a stored form without a rest.
//
// Input    a checked model without operators on variables (variables.h); the most bytes of
//          a state that is not zeros
// Output   the model, whose QUANTIZE and DEQUANTIZE at such nets are gone or, where input
//          and output of the model would be one tensor, are RESHAPEs to the same extents;
//          the removed operators, by name
// Errors   none: an operator that cannot be removed stays
// Cost     linear in tensors and operators
#ifndef SLUICE_IMPORT_TFLITE_FLOAT_BORDERS_H_
#define SLUICE_IMPORT_TFLITE_FLOAT_BORDERS_H_

#include <vector>

#include "import/import_result.h"
#include "import/tflite/tflite_model.h"

namespace sluice::import {

constexpr char kScaleOfBorder[] = "scale and zero point of an input or output";

void TakeFloatBorders(uint64_t most_bytes, TfliteModel* model,
                      std::vector<UnsupportedOperator>* folded);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_FLOAT_BORDERS_H_
