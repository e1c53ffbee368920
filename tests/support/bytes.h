// SPDX-License-Identifier: Apache-2.0
#ifndef SLUICE_TESTS_SUPPORT_BYTES_H_
#define SLUICE_TESTS_SUPPORT_BYTES_H_

#include <cstdint>
#include <vector>

namespace sluice_test {

using Bytes = std::vector<uint8_t>;

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_BYTES_H_
