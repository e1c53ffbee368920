// SPDX-License-Identifier: Apache-2.0
// Sets of at most 64 * W small integers, as values.
//
// Input   integers below 64 * W.
// Output  unions, differences, tests.
// Errors  none.
// Cost    O(W).
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_BITS_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_BITS_H_

#include <stdint.h>

namespace sluice {

template <int W>
struct Bits {
  uint64_t w[W];

  bool Has(uint32_t i) const { return (w[i / 64] >> (i % 64) & 1) != 0; }
  void Add(uint32_t i) { w[i / 64] |= uint64_t{1} << (i % 64); }
  void Drop(uint32_t i) { w[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  bool Empty() const {
    uint64_t any = 0;
    for (int k = 0; k < W; ++k) any |= w[k];
    return any == 0;
  }
  bool Within(const Bits& other) const {
    uint64_t rest = 0;
    for (int k = 0; k < W; ++k) rest |= w[k] & ~other.w[k];
    return rest == 0;
  }
  friend bool operator==(const Bits& a, const Bits& b) {
    uint64_t difference = 0;
    for (int k = 0; k < W; ++k) difference |= a.w[k] ^ b.w[k];
    return difference == 0;
  }
  friend Bits operator|(Bits a, const Bits& b) {
    for (int k = 0; k < W; ++k) a.w[k] |= b.w[k];
    return a;
  }
  friend Bits operator&(Bits a, const Bits& b) {
    for (int k = 0; k < W; ++k) a.w[k] &= b.w[k];
    return a;
  }
  // a without b
  friend Bits operator-(Bits a, const Bits& b) {
    for (int k = 0; k < W; ++k) a.w[k] &= ~b.w[k];
    return a;
  }
  uint64_t Hash() const {
    uint64_t h = 0;
    for (int k = 0; k < W; ++k) {
      h = (h ^ w[k]) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    }
    return h * 0xbf58476d1ce4e5b9u;
  }
  // f(i) for every member, ascending.
  template <typename F>
  void ForEach(F f) const {
    for (int k = 0; k < W; ++k) {
      for (uint64_t rest = w[k]; rest != 0; rest &= rest - 1) {
        f(static_cast<uint32_t>(64 * k + __builtin_ctzll(rest)));
      }
    }
  }
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_BITS_H_
