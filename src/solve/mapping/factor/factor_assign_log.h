// SPDX-License-Identifier: Apache-2.0
// Logarithms to base 2 with the same bits on every machine.
//
// Input    integers above 0
// Output   Log2: the logarithm; Log2Above: a bound from above, for capacities
// Errors   none
// Cost     Log2: 52 multiplications, for small numbers a table look-up; Log2Above: a
//          table look-up
#ifndef SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_ASSIGN_LOG_H_
#define SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_ASSIGN_LOG_H_

#include <stdint.h>

namespace sluice {

// The digits behind the point of the logarithm of x >= 1, whose highest bit is bit
// `exponent`: by repeated squaring of the mantissa, error below 2^-50.
constexpr double Log2Digits(int64_t x, int exponent) {
  uint64_t mantissa = static_cast<uint64_t>(x) << (62 - exponent);  // [1, 2) * 2^62
  uint64_t digits = 0;
  for (int i = 0; i < 52; ++i) {
    const unsigned __int128 square =
        static_cast<unsigned __int128>(mantissa) * mantissa;
    mantissa = static_cast<uint64_t>(square >> 62);
    digits <<= 1;
    if (mantissa >> 63 != 0) {
      digits |= 1;
      mantissa >>= 1;
    }
  }
  return static_cast<double>(digits) / static_cast<double>(uint64_t{1} << 52);
}

struct Log2Table {
  static constexpr int kBits = 8;
  double value[(1 << kBits) + 1] = {};  // log2(1 + i / 256)
  constexpr Log2Table() {
    for (int i = 0; i < 1 << kBits; ++i) {
      value[i] = Log2Digits((int64_t{1} << kBits) + i, kBits);
    }
    value[1 << kBits] = 1;
  }
};
inline constexpr Log2Table kLog2Table;

inline double Log2(int64_t x) {
  const int exponent = 63 - __builtin_clzll(static_cast<uint64_t>(x));
  const int up = Log2Table::kBits - exponent;
  return exponent + (up >= 0 ? kLog2Table.value[(x << up) - (1 << Log2Table::kBits)]
                             : Log2Digits(x, exponent));
}

// At least log2(x), exact for powers of two and numbers below 512; x >= 1.
inline double Log2Above(uint32_t x) {
  const int exponent = 31 - __builtin_clz(x);
  const uint64_t scaled = (uint64_t{x} << Log2Table::kBits) - 1;
  const uint64_t up = (scaled >> exponent) + 1;  // ceil(x * 256 / 2^exponent)
  return static_cast<double>(exponent) +
         kLog2Table.value[up - (1u << Log2Table::kBits)];
}

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_FACTOR_FACTOR_ASSIGN_LOG_H_
