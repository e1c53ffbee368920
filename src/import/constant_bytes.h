// SPDX-License-Identifier: Apache-2.0
// The inline constants of a graph, one behind the other, without being in one place.
//
// Input    bytes to copy, or bytes of the model that outlive this
// Output   all of them in one run, zeros where alignment left gaps
// Errors   none
// Cost     memory for what is copied alone
#ifndef SLUICE_IMPORT_CONSTANT_BYTES_H_
#define SLUICE_IMPORT_CONSTANT_BYTES_H_

#include <cstddef>
#include <vector>

#include "import/bytes.h"

namespace sluice::import {

class ConstantBytes {
 public:
  uint64_t size() const { return size_; }
  // The next constant begins at a multiple of this.
  void Align(uint64_t alignment) {
    size_ = (size_ + alignment - 1) / alignment * alignment;
  }
  void Copy(const uint8_t* bytes, size_t size);
  // `bytes` must outlive this object.
  void Refer(const uint8_t* bytes, size_t size);
  // The byte at `place` and those behind it of the same constant.
  const uint8_t* At(uint64_t place) const;
  // Takes back constants from the end on. `size` is one that size() returned.
  void Truncate(uint64_t size);
  // `out`: size() bytes.
  void CopyTo(uint8_t* out) const;
  // The same; gives up each constant once it is copied.
  void MoveTo(uint8_t* out);

 private:
  struct Constant {
    uint64_t begin;
    Bytes own;  // empty: the bytes are elsewhere
    const uint8_t* bytes;
    size_t size;
  };
  std::vector<Constant> constants_;
  uint64_t size_ = 0;
};

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_CONSTANT_BYTES_H_
