// SPDX-License-Identifier: Apache-2.0
// A number that the environment may set, such as how many random cases a test tries.
#ifndef SLUICE_TESTS_SUPPORT_SETTING_H_
#define SLUICE_TESTS_SUPPORT_SETTING_H_

#include <stdint.h>

#include <cstdlib>

namespace sluice_test {

inline uint64_t Setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_SETTING_H_
