// SPDX-License-Identifier: Apache-2.0
// Weights that are stored as integers beside activations that are floats: of models that were
// quantised in their weights alone, or whose activations each run quantises.
//
// Input    a model as read, constants whole and unpacked; `room`, the bytes that constants
//          may have which the file does not contain
// Output   a DEQUANTIZE of a constant is gone: products read the stored numbers themselves,
//          which are marked as standing for floats, and other readers a constant of floats.
//          has_stored_weights says whether products of floats have such weights
// Errors   none
// Cost     linear in operators and in the constants that become floats
#ifndef SLUICE_IMPORT_TFLITE_FLOAT_WEIGHTS_H_
#define SLUICE_IMPORT_TFLITE_FLOAT_WEIGHTS_H_

#include <vector>

#include "import/import_result.h"
#include "import/tflite/tflite_model.h"

namespace sluice::import {

void TakeFloatWeights(TfliteModel* model, uint64_t* room,
                      std::vector<UnsupportedOperator>* folded);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_FLOAT_WEIGHTS_H_
