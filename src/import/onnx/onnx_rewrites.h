// SPDX-License-Identifier: Apache-2.0
// Operators that stand for several of ONNX's, taken apart before shapes are inferred:
// attention, rotary embedding, products of onnxruntime with their scales, blocks of 4-bit
// weights, and attributes of new versions that older libraries' inference does not know.
//
// Input    a parsed model whose inputs have shapes
// Output   the same model; a node that cannot be taken apart stays, and is refused later
// Errors   those of the inference (onnx_inference.h), which is asked where shapes are needed
// Cost     linear in the model; one inference more where there is such an operator
#ifndef SLUICE_IMPORT_ONNX_ONNX_REWRITES_H_
#define SLUICE_IMPORT_ONNX_ONNX_REWRITES_H_

#include <onnx/onnx_pb.h>

#include <string>

namespace sluice::import {

void RewriteOnnx(onnx::ModelProto* model);
// What an operator that is taken apart must not have; nullptr: another operator.
const char* WhyOnnxStays(const std::string& op);

// Before that: calls of the model's own functions become the functions' nodes.
void InlineOnnxFunctions(onnx::ModelProto* model);  // onnx_functions.cc
// Refuses scales of 16 bits, which round what onnxruntime computes with them.
void RequireWideScales(const onnx::GraphProto& graph);
// Takes out Identity, and dequantises what was quantised at run time.
void TidyOnnx(onnx::ModelProto* model);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_REWRITES_H_
