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
#include <functional>
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
  // Bytes that `make` writes where they are wanted, from the `source`, which may be in the
  // model's file. They may be wanted several times.
  using Make = std::function<void(uint8_t* out)>;
  void Compute(size_t size, const uint8_t* source, size_t source_size, Make make);
  // The byte at `place` and those behind it of the same constant; nullptr where they are not
  // made yet.
  const uint8_t* At(uint64_t place) const;
  // A constant's bytes, also where they are not made yet; empty: there are none there.
  Bytes Whole(uint64_t place, size_t size) const;
  // Takes back constants from the end on. `size` is one that size() returned.
  void Truncate(uint64_t size);
  // `out`: size() bytes.
  void CopyTo(uint8_t* out) const;
  // The same; gives up each constant once it is copied, and calls `done`, unless empty, with
  // the bytes elsewhere that it was made of, of a large constant in pieces.
  using Done = std::function<void(const uint8_t* bytes, size_t size)>;
  void MoveTo(uint8_t* out, const Done& done = nullptr);

 private:
  struct Constant {
    uint64_t begin;
    Bytes own;             // empty: the bytes are elsewhere
    const uint8_t* bytes;  // the constant's, or where `make` takes them from
    size_t size;
    Make make;           // empty: `bytes` are the constant
    size_t source_size;  // 0: nobody else's bytes
    void Write(uint8_t* out) const;
    void Move(uint8_t* out, const Done& done) const;
  };
  std::vector<Constant> constants_;
  uint64_t size_ = 0;
};

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_CONSTANT_BYTES_H_
