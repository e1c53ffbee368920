// SPDX-License-Identifier: Apache-2.0
// ONNX's own shape inference, kept from allocating what a hostile model asks for.
//
// Input    a parsed model
// Output   shapes in graph.value_info and graph.output, as ONNX's inference finds them
// Errors   Error(kBadInput): shapes contradict each other
// Cost     that of ONNX's inference, linear in the model. ConstantOfShape and Expand give
//          their output as many axes as their shape operand has elements: nodes whose
//          operand is longer than 64, or not a constant yet, are hidden from the
//          inference. Once the operand is pinned to a constant, they are seen again.
#ifndef SLUICE_IMPORT_ONNX_ONNX_INFERENCE_H_
#define SLUICE_IMPORT_ONNX_ONNX_INFERENCE_H_

#include <onnx/onnx_pb.h>

namespace sluice::import {

void InferOnnxShapes(onnx::ModelProto* model);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_INFERENCE_H_
