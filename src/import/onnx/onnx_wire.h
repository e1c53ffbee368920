// SPDX-License-Identifier: Apache-2.0
// ONNX files before protobuf reads them.
#ifndef SLUICE_IMPORT_ONNX_ONNX_WIRE_H_
#define SLUICE_IMPORT_ONNX_ONNX_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice::import {

// The number of floats from which on a constant counts as a weight.
constexpr int64_t kWeightFloats = 1 << 14;

// A model of floats alone is imported for its shapes, so its weights need not be copied.
// Copies the file without the bytes of float constants that are weights. False: a node
// quantises or computes with integers, or these bytes are no model; `out` means nothing then.
bool WithoutWeights(const uint8_t* bytes, size_t size, std::string* out);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_WIRE_H_
