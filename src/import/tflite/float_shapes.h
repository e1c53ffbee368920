// SPDX-License-Identifier: Apache-2.0
// A model that computes in floats alone becomes an int8 one of the same shapes with seeded
// weights: plans and their costs are the model's, computed values are not. Weights that are
// stored as int8 (dynamic range quantisation) stay as they are.
//
// Input    a checked model
// Output   the model with its float tensors as int8 (biases as int32 zeros), and the
//          names of its operators on floats. A model with a quantised activation stays
//          as it is
// Errors   none
// Cost     linear in tensors and constants
#ifndef SLUICE_IMPORT_TFLITE_FLOAT_SHAPES_H_
#define SLUICE_IMPORT_TFLITE_FLOAT_SHAPES_H_

#include <vector>

#include "import/import_result.h"
#include "import/tflite/tflite_model.h"

namespace sluice::import {

void KeepShapesOfFloats(TfliteModel* model,
                        std::vector<UnsupportedOperator>* shapes_only);

// Gives a constant these bytes, which the model keeps.
void SetBytes(TfliteModel* model, TfliteTensor* tensor, std::vector<uint8_t> bytes);
// SQUARE has no int8 kernel: it becomes a product.
void SquareByProduct(TfliteOperator* op);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_FLOAT_SHAPES_H_
