// SPDX-License-Identifier: Apache-2.0
#include "base/first_fit.h"

#include "base/checked.h"

namespace sluice {

int64_t FirstFit(int64_t bytes, int64_t alignment, Span<TakenRange> taken) {
  return FirstFit(bytes, taken, INT64_MAX,
                  [&](int64_t from) { return RoundUpTo(from, alignment); });
}

}  // namespace sluice
