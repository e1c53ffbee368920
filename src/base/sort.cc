// SPDX-License-Identifier: Apache-2.0
#include "base/sort.h"

namespace sluice {

void SortIndices(uint32_t* items, uint32_t* end, LessIndex less, const void* context) {
  SortInPlace(items, end, [&](uint32_t a, uint32_t b) { return less(context, a, b); });
}

}  // namespace sluice
