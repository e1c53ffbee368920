// SPDX-License-Identifier: Apache-2.0
// Bounds-checked access to the tables of a stream's image (stream.h).
//
// Errors   Failure(kBadInput) where a table does not hold what it indexes
#ifndef SLUICE_CLI_STREAM_TABLES_H_
#define SLUICE_CLI_STREAM_TABLES_H_

#include <cstdint>
#include <cstring>

#include "cli/failure.h"
#include "sluice/ops.h"
#include "sluice/stream.h"

namespace sluice::cli {

inline uint64_t Wide(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

inline uint64_t ElementBytes(uint8_t dtype) {
  switch (dtype) {
    case SLUICE_DTYPE_INT8:
    case SLUICE_DTYPE_UINT8:
      return 1;
    case SLUICE_DTYPE_INT16:
      return 2;
    case SLUICE_DTYPE_INT32:
      return 4;
    default:
      return 8;
  }
}

// Bytes of a region.
struct Range {
  uint32_t region = 0;
  uint64_t low = 0, high = 0;
};

// Reads structs of the image by index, never beyond its end.
class Stream {
 public:
  Stream(const void* bytes, size_t size)
      : bytes_(static_cast<const uint8_t*>(bytes)), size_(size) {
    header_ = At<sluice_stream_header_t>(0, 0);
  }

  const sluice_stream_header_t& header() const { return header_; }

  sluice_instance_t Instance(uint32_t i) const {
    return At<sluice_instance_t>(header_.instance_offset, i);
  }
  sluice_block_t Block(uint32_t i) const {
    return At<sluice_block_t>(header_.block_offset, i);
  }
  template <typename T>
  T At(uint64_t offset, uint64_t index) const {
    offset += index * sizeof(T);
    if (offset > size_ || size_ - offset < sizeof(T)) {
      throw Failure(kBadInput, "the plan's stream ends inside a table");
    }
    T value;
    std::memcpy(&value, bytes_ + offset, sizeof value);
    return value;
  }

  Range RangeOf(const sluice_instance_t& instance, const sluice_block_t& block,
                uint32_t operand_index) const {
    const auto operand = At<sluice_operand_t>(block.operand_offset, operand_index);
    const auto shape = At<sluice_shape_t>(block.shape_offset, operand.shape);
    const auto binding = At<sluice_binding_t>(
        header_.binding_offset, uint64_t{instance.first_binding} + operand.slot);
    Range range;
    range.region = binding.region;
    range.low = Wide(binding.base_lo, binding.base_hi) +
                Wide(operand.offset_lo, operand.offset_hi);
    range.high = range.low + ElementBytes(operand.dtype);
    for (int a = 0; a < 4; ++a) {
      range.high += uint64_t{shape.extent[a] - 1} * shape.stride[a];
    }
    return range;
  }

 private:
  const uint8_t* bytes_;
  uint64_t size_;
  sluice_stream_header_t header_;
};

}  // namespace sluice::cli

#endif  // SLUICE_CLI_STREAM_TABLES_H_
