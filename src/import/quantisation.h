// SPDX-License-Identifier: Apache-2.0
// Converts real scales to the integer multipliers and shifts of ops.h, rounded as
// TensorFlow Lite does.
//
// Input    scales as float32 (as stored), products in double
// Output   multiplier in [2^30, 2^31) or 0, shift: factor = multiplier / 2^31 * 2^shift
// Cost     constant
#ifndef SLUICE_IMPORT_QUANTISATION_H_
#define SLUICE_IMPORT_QUANTISATION_H_

#include <cstdint>
#include <functional>
#include <vector>

namespace sluice::import {

struct Affine {  // real = scale * (stored - zero)
  float scale;
  int32_t zero;
};

struct Factor {
  int32_t multiplier;
  int32_t shift;
};

// Factors below 2^-32 become 0. A factor that is not finite gets an invalid shift, so
// that the graph's reader refuses the layer.
Factor QuantiseFactor(double factor);

// For scale_once, which replaces a product in double that rounds ties away from zero.
// The multiplier is rounded up, so that a product that is a tie in real numbers never
// falls below the tie.
Factor QuantiseFactorUp(double factor);

// QuantiseFactorUp (`up`) or QuantiseFactor for each factor. Multipliers are `stride`
// words apart; each shift is the word behind its multiplier.
void QuantiseFactors(const std::vector<double>& factors, bool up, int32_t* first,
                     size_t stride);

struct Range {
  int32_t min;
  int32_t max;
};

// The range of an 8- or 16-bit dtype (SLUICE_DTYPE_).
Range DtypeRange(uint8_t dtype);

// Real bounds (either may be infinite) in stored values, within the dtype's range.
Range ClampRange(uint8_t dtype, const Affine& affine, float low, float high);

// Table of 256 results, indexed by the input's bits as uint8: f over real values,
// computed in float; 0 where f is not a number.
std::vector<uint8_t> LookupTable(uint8_t in_dtype, const Affine& in, uint8_t out_dtype,
                                 const Affine& out,
                                 const std::function<float(float)>& f);

// Attributes of REQUANTIZE; of ADD and SUB; of MUL: operands and result in real numbers
// as their affines say, as TensorFlow Lite's kernels compute them.
std::vector<int32_t> RequantiseAttributes(const Affine& in, const Affine& out,
                                          const Range& range);
std::vector<int32_t> SumAttributes(const Affine& x0, const Affine& x1,
                                   const Affine& out, const Range& range);
// Attributes of ADD and SUB with 16-bit operands.
std::vector<int32_t> WideSumAttributes(const Affine& x0, const Affine& x1,
                                       const Affine& out, const Range& range);
std::vector<int32_t> ProductAttributes(const Affine& x0, const Affine& x1,
                                       const Affine& out, const Range& range);

// Attributes of HARD_SWISH; empty where a factor leaves the ranges of ops.h.
std::vector<int32_t> HardSwishAttributes(const Affine& in, const Affine& out);
// Attributes of PRELU.
std::vector<int32_t> PreluAttributes(const Affine& in, const Affine& slope,
                                     const Affine& out, const Range& range);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_QUANTISATION_H_
