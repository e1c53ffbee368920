// SPDX-License-Identifier: Apache-2.0
// ONNX files before protobuf reads them.
#ifndef SLUICE_IMPORT_ONNX_ONNX_WIRE_H_
#define SLUICE_IMPORT_ONNX_ONNX_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::import {

// The number of floats from which on a constant counts as a weight.
constexpr int64_t kWeightFloats = 1 << 14;

// Where the bytes of a graph's constant lie in the file; nullptr: they are few, or not there
// as raw bytes.
struct RawBytes {
  const uint8_t* data;
  size_t size;
  bool floats;
};

// A file without the raw bytes of its larger constants.
struct SlimModel {
  std::string file;
  std::vector<RawBytes> constants;  // one for each initializer, in the file's order
  // No node quantises or computes with integers: such a model is imported for its shapes.
  bool floats_alone;
};

// False: these bytes are no model; `slim` means nothing then.
bool ReadSlim(const uint8_t* bytes, size_t size, SlimModel* slim);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_WIRE_H_
