// SPDX-License-Identifier: Apache-2.0
#include "import/float_parts.h"

#include <algorithm>
#include <cmath>

#include "import/lowering_rules.h"

namespace sluice::import {
namespace {

// Writes the parts of the floats from `begin` on; returns their scale.
float SplitSlice(const std::vector<float>& reals, size_t begin, size_t count,
                 FloatParts* to) {
  float most = 0;
  for (size_t i = begin; i < begin + count; ++i) {
    Require(std::isfinite(reals[i]), "a weight that is not finite");
    most = std::max(most, std::abs(reals[i]));
  }
  int exponent = 0;
  std::frexp(most, &exponent);
  for (size_t i = begin; i < begin + count; ++i) {
    int32_t steps = static_cast<int32_t>(
        std::lrint(std::ldexp(static_cast<double>(reals[i]), 22 - exponent)));
    for (size_t p = kFloatParts; p-- > 0;) {
      const int32_t digit = ((steps + 128) & 255) - 128;
      to->parts[p][i] = static_cast<int8_t>(digit);
      steps = (steps - digit) / 256;
    }
  }
  return most == 0 ? 0 : std::ldexp(1.0f, exponent - 6);
}

}  // namespace

float PartWeight(int part) { return std::ldexp(1.0f, -8 * part); }

FloatParts SplitFloats(const std::vector<float>& reals, size_t inner) {
  FloatParts split;
  for (std::vector<int8_t>& part : split.parts) part.resize(reals.size());
  for (size_t begin = 0; begin < reals.size(); begin += inner)
    split.scales.push_back(SplitSlice(reals, begin, inner, &split));
  return split;
}

}  // namespace sluice::import
