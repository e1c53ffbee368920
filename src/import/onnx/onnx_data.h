// SPDX-License-Identifier: Apache-2.0
// The bytes of a constant: in the model's file, or made at import. Copies share them.
#ifndef SLUICE_IMPORT_ONNX_ONNX_DATA_H_
#define SLUICE_IMPORT_ONNX_ONNX_DATA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "import/bytes.h"

namespace sluice::import {

class OnnxData {
 public:
  OnnxData() = default;
  // By intent also where Bytes are assigned.
  OnnxData(Bytes bytes)  // NOLINT(google-explicit-constructor)
      : own_(std::make_shared<const Bytes>(std::move(bytes))),
        data_(own_->data()),
        size_(own_->size()) {}
  // Bytes that outlive the import.
  static OnnxData In(const uint8_t* file, size_t size) {
    OnnxData data;
    data.data_ = file;
    data.size_ = size;
    return data;
  }

  void assign(const uint8_t* first, const uint8_t* last) {
    *this = OnnxData(Bytes(first, last));
  }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const uint8_t& operator[](size_t i) const { return data_[i]; }
  const uint8_t* begin() const { return data_; }
  const uint8_t* end() const { return data_ + size_; }

 private:
  std::shared_ptr<const Bytes> own_;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_DATA_H_
