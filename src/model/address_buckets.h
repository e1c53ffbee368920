// SPDX-License-Identifier: Apache-2.0
// A memory divided into buckets of addresses, so that lists of its ranges are searched from
// near an address.
#ifndef SLUICE_MODEL_ADDRESS_BUCKETS_H_
#define SLUICE_MODEL_ADDRESS_BUCKETS_H_

#include "base/checked.h"

namespace sluice {

struct AddressBuckets {
  uint32_t count = 1, shift = 0;

  AddressBuckets(uint32_t buckets, int64_t bytes) : count(buckets) {
    while (bytes >> shift >= count) ++shift;
  }
  // Addresses beyond the bytes belong to the last bucket.
  uint32_t Of(int64_t address) const {
    return static_cast<uint32_t>(Min<int64_t>(address >> shift, count - 1));
  }
};

}  // namespace sluice

#endif  // SLUICE_MODEL_ADDRESS_BUCKETS_H_
