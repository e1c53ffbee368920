// SPDX-License-Identifier: Apache-2.0
// Constants that are stored as integers and dequantised, where operators on them are computed at
// import.
//
// Input    a model whose shapes are inferred; a value or a node
// Output   the floats that the value stands for; or the node, which moved the floats, as the
//          DequantizeLinear of moved integers, which are a new value
// Errors   false: no such constant, and the model stays
// Cost     linear in the constant; where elements keep their order no byte is copied
#ifndef SLUICE_IMPORT_ONNX_ONNX_DEQUANTISED_H_
#define SLUICE_IMPORT_ONNX_ONNX_DEQUANTISED_H_

#include <vector>

#include "import/onnx/onnx_model.h"

namespace sluice::import {

inline bool IsFloats(const OnnxValue& value) {
  return value.has_data && value.type == kOnnxFloat;
}
std::vector<float> FloatsIn(const OnnxValue& value);
// Floats of a constant that is stored as such or dequantised by scales that are not of blocks.
bool RealConstant(const OnnxModel& model, const OnnxValue& value,
                  std::vector<float>* reals);
bool MoveDequantised(OnnxModel* model, int node);
// The output of a node that moves stored integers of 8 or 16 bits.
bool MoveStored(OnnxModel* model, int node);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_DEQUANTISED_H_
