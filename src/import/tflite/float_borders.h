// SPDX-License-Identifier: Apache-2.0
// Float inputs and outputs of a quantised model become quantised ones: a converter puts
// QUANTIZE behind the inputs and DEQUANTIZE in front of the outputs unless it is told
// otherwise. That is no work for an accelerator but what a number means: scale and zero
// point of the input or output.
//
// Float tensors that are moved on the way (RESHAPE, TRANSPOSE, CONCATENATION, ...) go
// along: tensors that only such operators connect are one net, and a net all of whose
// QUANTIZE and DEQUANTIZE say the same type, scale and zero point has these itself.
//
// Input    a checked model
// Output   the model, whose QUANTIZE and DEQUANTIZE at such nets are gone or, where input
//          and output of the model would be one tensor, are RESHAPEs to the same extents;
//          what went, by name
// Errors   none: what cannot be taken away stays
// Cost     linear in tensors and operators
#ifndef SLUICE_IMPORT_TFLITE_FLOAT_BORDERS_H_
#define SLUICE_IMPORT_TFLITE_FLOAT_BORDERS_H_

#include <vector>

#include "import/import_result.h"
#include "import/tflite/tflite_model.h"

namespace sluice::import {

constexpr char kScaleOfBorder[] = "scale and zero point of an input or output";

void TakeFloatBorders(TfliteModel* model, std::vector<UnsupportedOperator>* folded);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_FLOAT_BORDERS_H_
