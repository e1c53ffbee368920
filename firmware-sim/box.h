// SPDX-License-Identifier: Apache-2.0
// A strided box of up to four axes somewhere in memory, and access to its elements.
//
// Input    data (nullptr = absent), dtype SLUICE_DTYPE_, extents in elements, strides
//          in bytes
// Output   element values; contiguous runs
// Errors   none; the maker of a box has checked its bounds
// Cost     constant per element or run
#ifndef SLUICE_FIRMWARE_SIM_BOX_H_
#define SLUICE_FIRMWARE_SIM_BOX_H_

#include <array>
#include <cstdint>
#include <cstring>

#include "cancel.h"
#include "sluice/ops.h"

namespace sluice_sim {

using Extent = std::array<int64_t, 4>;

inline int64_t DtypeBytes(int dtype) {
  static const int64_t sizes[SLUICE_DTYPE_COUNT] = {0, 1, 1, 2, 4, 8};
  return dtype > 0 && dtype < SLUICE_DTYPE_COUNT ? sizes[dtype] : 0;
}

// Calls f(n, h, w, c) for each element of a box; c changes fastest. *cancel is polled for
// each row of channels.
template <typename F>
void ForEachElement(const Extent& extent, const uint32_t* cancel, F&& f) {
  for (int64_t n = 0; n < extent[0]; ++n) {
    for (int64_t h = 0; h < extent[1]; ++h) {
      for (int64_t w = 0; w < extent[2]; ++w) {
        Poll(cancel);
        for (int64_t c = 0; c < extent[3]; ++c) f(n, h, w, c);
      }
    }
  }
}

inline int64_t Elements(const Extent& extent) {
  return extent[0] * extent[1] * extent[2] * extent[3];
}

inline Extent DenseStride(const Extent& extent, int dtype) {
  Extent stride;
  int64_t step = DtypeBytes(dtype);
  for (int a = 3; a >= 0; --a) {
    stride[a] = step;
    step *= extent[a];
  }
  return stride;
}

struct Box {
  uint8_t* data = nullptr;
  int dtype = 0;
  Extent extent{};
  Extent stride{};

  bool present() const { return data != nullptr; }
  int64_t elements() const { return Elements(extent); }
  uint8_t* at(int64_t n, int64_t h, int64_t w, int64_t c) const {
    return data + n * stride[0] + h * stride[1] + w * stride[2] + c * stride[3];
  }
};

// A dense box at `data`.
inline Box DenseBox(uint8_t* data, int dtype, const Extent& extent) {
  return Box{data, dtype, extent, DenseStride(extent, dtype)};
}

inline int64_t Read(int dtype, const uint8_t* p) {
  switch (dtype) {
    case SLUICE_DTYPE_INT8:
      return static_cast<int8_t>(*p);
    case SLUICE_DTYPE_UINT8:
      return *p;
    case SLUICE_DTYPE_INT16: {
      int16_t v;
      std::memcpy(&v, p, sizeof v);
      return v;
    }
    case SLUICE_DTYPE_INT32: {
      int32_t v;
      std::memcpy(&v, p, sizeof v);
      return v;
    }
    default: {
      int64_t v;
      std::memcpy(&v, p, sizeof v);
      return v;
    }
  }
}

// Writes the low bits that fit the dtype.
inline void Write(int dtype, uint8_t* p, int64_t value) {
  std::memcpy(p, &value, static_cast<size_t>(DtypeBytes(dtype)));  // little-endian
}

inline int64_t Read(const Box& box, int64_t n, int64_t h, int64_t w, int64_t c) {
  return Read(box.dtype, box.at(n, h, w, c));
}

// Calls f(pointer, bytes) for every contiguous run of the box, in row-major order.
template <typename F>
void ForEachRun(const Extent& extent, const Extent& stride, int64_t element_bytes,
                uint8_t* data, F&& f) {
  int axis = 4;  // axes [axis, 4) form one run
  int64_t run = element_bytes;
  while (axis > 0 && (extent[axis - 1] == 1 || stride[axis - 1] == run)) {
    run *= extent[--axis];
  }
  const int64_t n0 = axis > 0 ? extent[0] : 1, n1 = axis > 1 ? extent[1] : 1;
  const int64_t n2 = axis > 2 ? extent[2] : 1, n3 = axis > 3 ? extent[3] : 1;
  for (int64_t a = 0; a < n0; ++a) {
    for (int64_t b = 0; b < n1; ++b) {
      for (int64_t c = 0; c < n2; ++c) {
        for (int64_t d = 0; d < n3; ++d) {
          f(data + a * stride[0] + b * stride[1] + c * stride[2] + d * stride[3], run);
        }
      }
    }
  }
}

// Copies element by element between boxes of the same extents and dtype.
inline void CopyBox(const Box& from, const Box& to) {
  const int64_t bytes = DtypeBytes(from.dtype);
  const bool rows = (from.stride[3] == bytes || from.extent[3] == 1) &&
                    (to.stride[3] == bytes || to.extent[3] == 1);
  for (int64_t n = 0; n < from.extent[0]; ++n) {
    for (int64_t h = 0; h < from.extent[1]; ++h) {
      for (int64_t w = 0; w < from.extent[2]; ++w) {
        if (rows) {
          std::memcpy(to.at(n, h, w, 0), from.at(n, h, w, 0),
                      static_cast<size_t>(bytes * from.extent[3]));
          continue;
        }
        for (int64_t c = 0; c < from.extent[3]; ++c) {
          std::memcpy(to.at(n, h, w, c), from.at(n, h, w, c),
                      static_cast<size_t>(bytes));
        }
      }
    }
  }
}

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_BOX_H_
