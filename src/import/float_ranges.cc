// SPDX-License-Identifier: Apache-2.0
#include "import/float_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "import/error.h"

namespace sluice::import {

Interval Joined(const Interval& a, const Interval& b) {
  if (a.min > a.max) return b;
  if (b.min > b.max) return a;
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

Interval IntervalOf(const std::vector<float>& numbers) {
  if (numbers.empty()) return {0, 0};
  const auto [min, max] = std::minmax_element(numbers.begin(), numbers.end());
  return {*min, *max};
}

Affine Int8Affine(const Interval& interval) {
  const double min = std::min(interval.min, 0.0f), max = std::max(interval.max, 0.0f);
  const double scale = (max - min) / 255;
  if (scale < static_cast<double>(std::numeric_limits<float>::min())) return {1, 0};
  const double zero = std::nearbyint(-128 - min / scale);
  return {static_cast<float>(scale),
          static_cast<int32_t>(std::clamp(zero, -128.0, 127.0))};
}

float Int8Scale(const Interval& interval) {
  const float most = std::max(std::fabs(interval.min), std::fabs(interval.max));
  const float scale = static_cast<float>(static_cast<double>(most) / 127);
  return scale < std::numeric_limits<float>::min() ? 1 : scale;
}

int8_t Int8Of(float real, const Affine& affine) {
  const float steps =
      std::nearbyint(real / affine.scale) + static_cast<float>(affine.zero);
  return static_cast<int8_t>(std::clamp(steps, -128.0f, 127.0f));
}

int32_t Int32Of(float real, float scale) {
  if (!(scale > 0)) return 0;
  const double steps = std::nearbyint(static_cast<double>(real / scale));
  return static_cast<int32_t>(std::clamp(steps, -2147483647.0, 2147483647.0));
}

std::vector<float> FloatsIn(const uint8_t* data, size_t bytes) {
  std::vector<float> floats(bytes / 4);
  if (!floats.empty()) std::memcpy(floats.data(), data, floats.size() * 4);
  for (const float number : floats) {
    if (std::isfinite(number)) continue;
    throw Error(Fault::kBadInput,
                "a constant to be quantised holds a number that is not finite");
  }
  return floats;
}

Int8Weights QuantisedWeights(const std::vector<float>& floats, const Slices& slices) {
  std::vector<Interval> of(slices.extent, Interval{0, 0});
  for (size_t i = 0; i < floats.size(); ++i) {
    Interval& interval = of[slices.Of(i)];
    interval = Joined(interval, {floats[i], floats[i]});
  }
  Int8Weights weights;
  for (const Interval& interval : of) weights.scales.push_back(Int8Scale(interval));
  weights.bytes.resize(floats.size());
  for (size_t i = 0; i < floats.size(); ++i) {
    const Affine affine = {weights.scales[slices.Of(i)], 0};
    weights.bytes[i] = static_cast<uint8_t>(Int8Of(floats[i], affine));
  }
  return weights;
}

std::vector<uint8_t> QuantisedBias(const std::vector<float>& floats,
                                   const std::vector<float>& scales) {
  std::vector<uint8_t> bytes(floats.size() * 4);
  for (size_t i = 0; i < floats.size(); ++i) {
    const int32_t steps = Int32Of(floats[i], scales[scales.size() == 1 ? 0 : i]);
    std::memcpy(&bytes[4 * i], &steps, 4);
  }
  return bytes;
}

void FailUnranged(const std::vector<UnsupportedOperator>& tensors) {
  std::string message = "float tensors without a range; give each one:";
  for (const UnsupportedOperator& tensor : tensors) {
    message += "\n  " + tensor.name + " (" + tensor.reason + ")";
  }
  throw Refusal(SLUICE_IMPORT_UNRANGED, message, tensors);
}

void MustBeKnown(const FloatRanges& ranges, const std::vector<std::string>& names) {
  const std::set<std::string> known(names.begin(), names.end());
  for (const auto& [name, interval] : ranges) {
    if (known.count(name) != 0) continue;
    throw Error(Fault::kBadArgument, "the model has no float tensor called " + name);
  }
}

}  // namespace sluice::import
