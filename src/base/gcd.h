// SPDX-License-Identifier: Apache-2.0
// Input    two numbers, not negative
// Output   their greatest common divisor; of a and 0 it is a
// Errors   none
// Cost     logarithmic divisions
#ifndef SLUICE_BASE_GCD_H_
#define SLUICE_BASE_GCD_H_

namespace sluice {

template <typename T>
constexpr T Gcd(T a, T b) {
  while (b != 0) {
    const T rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

}  // namespace sluice

#endif  // SLUICE_BASE_GCD_H_
