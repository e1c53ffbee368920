// SPDX-License-Identifier: Apache-2.0
// Models whose constants are computed at import, and the values that result.
#ifndef SLUICE_TESTS_IMPORT_TFLITE_FOLDED_H_
#define SLUICE_TESTS_IMPORT_TFLITE_FOLDED_H_

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "import/tflite/fold_constants.h"
#include "tests/import/tflite/imported.h"

namespace sluice::import {

constexpr uint64_t kFoldLimit = 1 << 20;

// A model to which a test adds operators on constants. A layer reads their result, so
// that no result is an output of the model.
struct FoldedModel {
  TinyModel model;
  int x = model.AddTensor("x", {1, 8}, tflite::TensorType::INT8, 0.5f, 0);
  int y = model.AddTensor("y", {8}, tflite::TensorType::INT8, 0.5f, 0);
  TfliteModel read;
  std::vector<UnsupportedOperator> folded;
  Bytes file;

  int Ints(const std::vector<int32_t>& values) { return Int32s(&model, "c", values); }
  int Scalar(int32_t value) {
    std::vector<uint8_t> bytes(4);
    std::memcpy(bytes.data(), &value, 4);
    return model.AddTensor("s", {}, tflite::TensorType::INT32, 0, 0, bytes);
  }
  int Result(const std::vector<int32_t>& shape,
             tflite::TensorType type = tflite::TensorType::INT32) {
    return model.AddTensor("r", shape, type, 0, 0);
  }
  void Fold(int result, uint64_t most_bytes = kFoldLimit) {
    model.AddOperator(tflite::BuiltinOperator::RESHAPE, {x, result}, {y});
    file = model.Finish({x}, {y});
    read = ReadTfliteModel(file.data(), file.size());
    FoldConstants(&read, most_bytes, &folded);
  }
  // The elements of an int32 tensor that was folded to a constant; nothing if it was
  // not.
  std::optional<std::vector<int32_t>> IntsOf(int tensor) const {
    const TfliteTensor& t = read.tensors.at(static_cast<size_t>(tensor));
    if (t.data == nullptr) return std::nullopt;
    std::vector<int32_t> values(t.data_bytes / 4);
    if (!values.empty()) std::memcpy(values.data(), t.data, t.data_bytes);
    return values;
  }
};

}  // namespace sluice::import

#endif  // SLUICE_TESTS_IMPORT_TFLITE_FOLDED_H_
