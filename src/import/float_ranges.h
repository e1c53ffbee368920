// SPDX-License-Identifier: Apache-2.0
// Floats -> int8 numbers, where ranges are given for the tensors of a model of floats.
//
// Input    intervals of real numbers; weights
// Output   scales and zero points as onnxruntime's static quantisation chooses them:
//          activations use all 256 numbers and hold 0 exactly, weights are symmetric
// Errors   Refusal(kBadInput): tensors without a range, all of them listed;
//          Error(kBadArgument): ranges of tensors that the model does not have
// Cost     linear in the weights
#ifndef SLUICE_IMPORT_FLOAT_RANGES_H_
#define SLUICE_IMPORT_FLOAT_RANGES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "import/import_result.h"
#include "import/quantisation.h"

namespace sluice::import {

struct Interval {  // of real numbers; empty where min > max
  float min = 1;
  float max = -1;
};
using FloatRanges = std::map<std::string, Interval>;  // by the tensor's name

// The smallest interval that holds both.
Interval Joined(const Interval& a, const Interval& b);
// The interval of these numbers; 0 to 0 for none.
Interval IntervalOf(const std::vector<float>& numbers);

// int8: 0 is a number of it, and every number of the interval lies between its bounds.
Affine Int8Affine(const Interval& interval);
// The scale of symmetric int8 numbers, -127 to 127.
float Int8Scale(const Interval& interval);
int8_t Int8Of(float real, const Affine& affine);
int32_t Int32Of(float real, float scale);

// Floats as a file stores them, each finite; bytes behind the last whole float are left out.
std::vector<float> FloatsIn(const uint8_t* data, size_t bytes);

// Numbers of a weight, of which the elements of slice s of `axis` have scales[s], or all have
// scales[0] if there is one.
struct Slices {
  uint64_t inner = 1;   // elements behind the axis
  uint64_t extent = 1;  // of the axis
  uint64_t Of(uint64_t element) const { return element / inner % extent; }
};
template <typename List>
Slices SlicesOf(const List& shape, size_t axis) {
  Slices slices;
  for (size_t a = 0; a < shape.size(); ++a) {
    if (a > axis) slices.inner *= static_cast<uint64_t>(shape[a]);
    if (a == axis) slices.extent = static_cast<uint64_t>(shape[a]);
  }
  return slices;
}
struct Int8Weights {
  std::vector<float> scales;  // one for each slice
  std::vector<uint8_t> bytes;
};
Int8Weights QuantisedWeights(const std::vector<float>& floats, const Slices& slices);
// The numbers of a bias whose element s has the scale in_scale * scales[s].
std::vector<uint8_t> QuantisedBias(const std::vector<float>& floats,
                                   const std::vector<float>& scales);

// Throws the list of tensors that need a range.
[[noreturn]] void FailUnranged(const std::vector<UnsupportedOperator>& tensors);
// Throws for a range whose tensor is not among the names.
void MustBeKnown(const FloatRanges& ranges, const std::vector<std::string>& names);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_FLOAT_RANGES_H_
