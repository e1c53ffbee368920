// SPDX-License-Identifier: Apache-2.0
// Operators on floats that have no form on bytes, in a model whose floats become bytes: they
// stay floats. DEQUANTIZE goes in front of them and QUANTIZE behind; the host computes all
// three.
//
// Input    a checked model whose float tensors will be quantised
// Output   the model with these operators, whose float operands are tensors of their own at
//          the end of the list; the number of tensors before them
// Errors   none
// Cost     linear in operators
#ifndef SLUICE_IMPORT_TFLITE_FLOAT_ISLANDS_H_
#define SLUICE_IMPORT_TFLITE_FLOAT_ISLANDS_H_

#include <cstddef>

#include "import/tflite/tflite_model.h"

namespace sluice::import {

// Tensors from the returned number on stay floats.
size_t KeepFloatIslands(TfliteModel* model);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_FLOAT_ISLANDS_H_
