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
  // Numbers of which a byte holds several, the first in its lowest bits; 4 bits may be signed.
  struct Numbers {
    size_t count, in_a_byte;
    bool is_signed;
  };

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
  // A byte for each number, which are made when they are first read.
  static OnnxData Packed(const OnnxData& packed, const Numbers& numbers) {
    OnnxData data;
    data.size_ = numbers.count;
    data.packed_ = std::make_shared<Pack>(Pack{packed, numbers, {}});
    return data;
  }

  void assign(const uint8_t* first, const uint8_t* last) {
    *this = OnnxData(Bytes(first, last));
  }
  const uint8_t* data() const { return packed_ ? packed_->Whole() : data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const uint8_t& operator[](size_t i) const { return data()[i]; }
  const uint8_t* begin() const { return data(); }
  const uint8_t* end() const { return data() + size_; }
  // Whether they outlive the model that was read.
  bool Outlives() const { return own_ == nullptr && packed_ == nullptr; }
  // The bytes that are stored.
  std::pair<const uint8_t*, size_t> Stored() const {
    if (packed_) return packed_->from->Stored();
    return {data_, size_};
  }

 private:
  struct Pack {
    Pack(const OnnxData& packed, const Numbers& the_numbers, Bytes none)
        : from(std::make_unique<OnnxData>(packed)),
          numbers(the_numbers),
          bytes(std::move(none)) {}
    const uint8_t* Whole() {
      if (bytes.empty()) Unpack();
      return bytes.data();
    }
    void Unpack() {
      const size_t bits = 8 / numbers.in_a_byte, mask = (size_t{1} << bits) - 1;
      const uint8_t* packed = from->data();
      bytes.resize(numbers.count);
      for (size_t i = 0; i < numbers.count; ++i) {
        const size_t number =
            packed[i / numbers.in_a_byte] >> (i % numbers.in_a_byte * bits) & mask;
        const bool below = numbers.is_signed && number > mask / 2;
        bytes[i] = static_cast<uint8_t>(below ? number - mask - 1 : number);
      }
    }
    std::unique_ptr<OnnxData> from;
    Numbers numbers;
    Bytes bytes;
  };

  std::shared_ptr<const Bytes> own_;
  std::shared_ptr<Pack> packed_;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_DATA_H_
