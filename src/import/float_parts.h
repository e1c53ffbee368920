// SPDX-License-Identifier: Apache-2.0
// Floats as sums of signed bytes, so that units multiply them. A slice is its scale times
// h + m / 2^8 + l / 2^16, each within int8: 23 bits of its largest number.
//
// Input    floats, slices of which share a scale
// Output   the bytes, laid out as the floats are, and a scale for each slice
// Errors   Unsupported: a float that is not finite
// Cost     linear
#ifndef SLUICE_IMPORT_FLOAT_PARTS_H_
#define SLUICE_IMPORT_FLOAT_PARTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::import {

constexpr int kFloatParts = 3;

struct FloatParts {
  std::array<std::vector<int8_t>, kFloatParts> parts;
  std::vector<float> scales;
};

// Slices of `inner` floats, one behind the other.
FloatParts SplitFloats(const std::vector<float>& reals, size_t inner);
// What a part counts, times the scale.
float PartWeight(int part);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_FLOAT_PARTS_H_
