// SPDX-License-Identifier: Apache-2.0
// Operands of host functions, made from lists of numbers.
#ifndef SLUICE_TESTS_SIM_HOST_CASE_H_
#define SLUICE_TESTS_SIM_HOST_CASE_H_

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "firmware-sim/host_functions.h"
#include "sluice/ops.h"

namespace sluice_sim {

// Options hold the bits of floats.
inline int32_t Bits(float number) {
  int32_t bits = 0;
  std::memcpy(&bits, &number, 4);
  return bits;
}

class HostCase {
 public:
  template <typename T>
  HostOperand Given(int dtype, const std::array<int64_t, 4>& extent,
                    const std::vector<T>& numbers) {
    bytes_.emplace_back(numbers.size() * sizeof(T));
    if (!numbers.empty()) {
      std::memcpy(bytes_.back().data(), numbers.data(), bytes_.back().size());
    }
    in.push_back({dtype, extent, &bytes_.back()});
    return in.back();
  }
  void Bytes(const std::array<int64_t, 4>& extent, const std::vector<int8_t>& numbers) {
    Given(SLUICE_DTYPE_INT8, extent, numbers);
  }
  void Shorts(const std::array<int64_t, 4>& extent,
              const std::vector<int16_t>& numbers) {
    Given(SLUICE_DTYPE_INT16, extent, numbers);
  }
  void Ints(const std::array<int64_t, 4>& extent, const std::vector<int32_t>& numbers) {
    Given(SLUICE_DTYPE_INT32, extent, numbers);
  }
  // Of ONNX's functions, for which only the count matters.
  void Floats(const std::vector<float>& numbers) {
    Given(SLUICE_DTYPE_INT32, {1, 1, 1, static_cast<int64_t>(numbers.size())}, numbers);
  }
  void WantedFloats(int64_t count) {
    Wanted(SLUICE_DTYPE_INT32, {1, 1, 1, count}, static_cast<size_t>(count) * 4);
  }
  void Options(const std::vector<int32_t>& numbers) {
    Ints({1, 1, 1, static_cast<int64_t>(numbers.size())}, numbers);
  }
  void Wanted(int dtype, const std::array<int64_t, 4>& extent, size_t bytes) {
    bytes_.emplace_back(bytes);
    out.push_back({dtype, extent, &bytes_.back()});
  }
  std::string Run(const std::string& name) {
    const HostFunction* function = FindHostFunction(name);
    REQUIRE(function != nullptr);
    return (*function)(in, out);
  }
  template <typename T>
  std::vector<T> Result(size_t i = 0) const {
    const T* first = reinterpret_cast<const T*>(out[i].bytes->data());
    return std::vector<T>(first, first + out[i].bytes->size() / sizeof(T));
  }

  HostOperands in, out;

 private:
  std::list<std::vector<uint8_t>> bytes_;
};

// The multiplier of the factor 1, whose shift is 1.
constexpr int32_t kOne = 1 << 30;

}  // namespace sluice_sim

#endif  // SLUICE_TESTS_SIM_HOST_CASE_H_
