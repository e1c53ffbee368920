// SPDX-License-Identifier: Apache-2.0
#include "base/checked.h"

namespace sluice {

int64_t TransferCycles(int64_t bytes, int64_t numerator, int64_t denominator) {
  // A division of 128 bits takes many times as long as one of 64 bits.
  int64_t product = 0;
  if (bytes >= 0 && CheckedMultiply(bytes, denominator, &product)) {
    return product / numerator + (product % numerator != 0);
  }
  const unsigned __int128 wide = static_cast<unsigned __int128>(bytes) *
                                 static_cast<unsigned __int128>(denominator);
  const unsigned __int128 cycles =
      (wide + static_cast<unsigned __int128>(numerator) - 1) /
      static_cast<unsigned __int128>(numerator);
  return cycles > static_cast<unsigned __int128>(INT64_MAX)
             ? INT64_MAX
             : static_cast<int64_t>(cycles);
}

}  // namespace sluice
