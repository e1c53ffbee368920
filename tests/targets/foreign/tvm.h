// SPDX-License-Identifier: Apache-2.0
// As much of TVM's runtime as the functional simulator of VTA needs to compile. build.sh puts
// it where the simulator looks for TVM's headers.
#ifndef SLUICE_TESTS_TARGETS_FOREIGN_TVM_H_
#define SLUICE_TESTS_TARGETS_FOREIGN_TVM_H_

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>

namespace tvm {
namespace runtime {
struct TVMRetValue {
  TVMRetValue& operator=(const std::string&) { return *this; }
};
struct TVMArgs {
  int64_t operator[](int) const { return 0; }
};
}  // namespace runtime
}  // namespace tvm

namespace foreign {
struct Nowhere {
  template <typename T>
  Nowhere& operator<<(const T&) {
    return *this;
  }
};
struct Registered {
  template <typename F>
  Registered& set_body(F) {
    return *this;
  }
};
[[noreturn]] inline void Fatal() { throw std::runtime_error("the simulator refuses"); }
struct Refusal {
  template <typename T>
  Refusal& operator<<(const T&) {
    Fatal();
  }
};
inline void Check(bool holds) {
  if (!holds) Fatal();
}
}  // namespace foreign

#define FOREIGN_JOIN2(a, b) a##b
#define FOREIGN_JOIN(a, b) FOREIGN_JOIN2(a, b)
#define TVM_REGISTER_GLOBAL(name)                                     \
  static foreign::Registered FOREIGN_JOIN(registered_, __COUNTER__) = \
      foreign::Registered()
#define CHECK_LT(a, b) foreign::Check(static_cast<int64_t>(a) < static_cast<int64_t>(b))
#define CHECK_LE(a, b) \
  foreign::Check(static_cast<int64_t>(a) <= static_cast<int64_t>(b))
#define CHECK_EQ(a, b) \
  foreign::Check(static_cast<int64_t>(a) == static_cast<int64_t>(b))
#define LOG(level) foreign::Refusal()

#endif  // SLUICE_TESTS_TARGETS_FOREIGN_TVM_H_
