// SPDX-License-Identifier: Apache-2.0
// The bytes of a box, one by one.
#ifndef SLUICE_TESTS_VERIFY_BOX_BYTES_H_
#define SLUICE_TESTS_VERIFY_BOX_BYTES_H_

#include <set>

#include "verify/boxes.h"

namespace sluice_test {

inline std::set<int64_t> BytesOf(const sluice::judge::Box& box) {
  std::set<int64_t> starts = {box.base}, bytes;
  for (uint32_t d = 0; d < box.dims; ++d) {
    std::set<int64_t> next;
    for (const int64_t at : starts) {
      for (int64_t i = 0; i < box.dim[d].count; ++i) {
        next.insert(at + i * box.dim[d].stride);
      }
    }
    starts = next;
  }
  for (const int64_t at : starts) {
    for (int64_t i = 0; i < box.width; ++i) bytes.insert(at + i);
  }
  return bytes;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_VERIFY_BOX_BYTES_H_
