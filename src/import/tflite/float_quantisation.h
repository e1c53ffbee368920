// SPDX-License-Identifier: Apache-2.0
// A model that computes in floats alone becomes an int8 one with its own weights, by given
// ranges of its tensors, as TensorFlow Lite's specification of 8 bits asks: weights of
// convolutions are symmetric for each channel, biases int32.
//
// Input    a checked model; ranges by names of tensors. Operators that need one quantisation
//          for operands and result (RESHAPE, CONCATENATION, pools) take the range that holds
//          all of theirs; softmax, logistic and tanh have theirs
// Output   the model with its float tensors as int8 (biases as int32)
// Errors   those of float_ranges.h; Error(kBadArgument): the model has quantised activations
// Cost     linear in tensors and constants
#ifndef SLUICE_IMPORT_TFLITE_FLOAT_QUANTISATION_H_
#define SLUICE_IMPORT_TFLITE_FLOAT_QUANTISATION_H_

#include "import/float_ranges.h"
#include "import/tflite/tflite_model.h"

namespace sluice::import {

void QuantiseFloats(const FloatRanges& ranges, uint64_t most_bytes, TfliteModel* model);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_FLOAT_QUANTISATION_H_
