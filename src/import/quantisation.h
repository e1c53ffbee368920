// SPDX-License-Identifier: Apache-2.0
// Real scales to the integers that ops.h computes with, rounded as TensorFlow Lite
// does.
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

// Factors below 2^-32 become 0. One that is no finite number gets a shift that no layer
// takes.
Factor QuantiseFactor(double factor);

// For scale_once, in place of a product in double that is rounded away from zero: the
// multiplier is rounded up, so that what is a tie in real numbers never falls below
// one.
Factor QuantiseFactorUp(double factor);

// One or the other for each factor, with `stride` words from one multiplier to the next; the
// shift stands behind its multiplier.
void QuantiseFactors(const std::vector<double>& factors, bool up, int32_t* first,
                     size_t stride);

struct Range {
  int32_t min;
  int32_t max;
};

// Of an 8- or 16-bit dtype (SLUICE_DTYPE_).
Range DtypeRange(uint8_t dtype);

// Real bounds (either may be infinite) in stored values, within the dtype's range.
Range ClampRange(uint8_t dtype, const Affine& affine, float low, float high);

// 256 answers, by the bits of the input as uint8: f over real values, computed in
// float. Where f is no number the answer is 0.
std::vector<uint8_t> LookupTable(uint8_t in_dtype, const Affine& in, uint8_t out_dtype,
                                 const Affine& out,
                                 const std::function<float(float)>& f);

// Attributes of REQUANTIZE; of ADD and SUB; of MUL: operands and result in real numbers
// as their affines say, as TensorFlow Lite's kernels compute them.
std::vector<int32_t> RequantiseAttributes(const Affine& in, const Affine& out,
                                          const Range& range);
std::vector<int32_t> SumAttributes(const Affine& x0, const Affine& x1,
                                   const Affine& out, const Range& range);
// Of 16-bit operands.
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
