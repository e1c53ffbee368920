// SPDX-License-Identifier: Apache-2.0
// A model of floats alone becomes an int8 one of the same shapes with seeded weights: plans
// and their costs are the model's, what it computes is not.
//
// Input    a checked model
// Output   the model, its float tensors int8 (biases int32, zeros); its operators on floats
//          by name. Nothing where any tensor is quantised
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

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_FLOAT_SHAPES_H_
