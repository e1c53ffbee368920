// SPDX-License-Identifier: Apache-2.0
// SplitMix64: the only source of randomness. Same seed, same numbers, on every machine.
//
// Input    a seed
// Output   64-bit numbers
// Errors   none
// Cost     two multiplications per number
#ifndef SLUICE_BASE_RNG_H_
#define SLUICE_BASE_RNG_H_

#include <stdint.h>

namespace sluice {

class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Uniform in [0, n), n > 0; the bias of the multiply-shift is below 2^-32.
  uint32_t Below(uint32_t n) {
    return static_cast<uint32_t>(((Next() >> 32) * uint64_t{n}) >> 32);
  }

 private:
  uint64_t state_;
};

}  // namespace sluice

#endif  // SLUICE_BASE_RNG_H_
