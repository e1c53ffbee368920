// SPDX-License-Identifier: Apache-2.0
// Products of which a unit computes sums of 32 bits and the host the rest: the scales where the
// result stays float, zero points that are known at run time only. An operand that 8 bits do
// not hold (16-bit numbers, weights less a zero point for each channel) is the sum of two that
// they do.
#ifndef SLUICE_IMPORT_ONNX_ONNX_SUMS_H_
#define SLUICE_IMPORT_ONNX_ONNX_SUMS_H_

#include <functional>
#include <string>
#include <vector>

#include "import/onnx/onnx_lowering.h"

namespace sluice::import {

// The operand is the sum over its parts of weight * (stored - zero).
struct Part {
  uint32_t tensor = kNoTensor;
  int32_t zero = 0;
  float weight = 1;
};
// Of a real operand: times `scales`, of which there are one or one for each channel.
struct Terms {
  std::vector<Part> parts;
  std::vector<float> scales;
};

// A quantised value in this layout. Unsupported: it is not quantised to 8 or 16 bits.
Terms TermsOf(OnnxLowering* to, int value, const AxisOrder& order, const Dims& dims);
// A quantised constant in this layout.
Terms TermsOf(OnnxLowering* to, const std::string& name, const OnnxConstant& constant,
              const AxisOrder& order, const Dims& dims);

// For each pair of parts a tensor of sums with these extents, which `make` writes. Sums have
// this many terms.
using MakeSums = std::function<void(const Part& a, const Part& b, uint32_t sums)>;
std::vector<Part> SumsOf(OnnxLowering* to, const OnnxNode& node, const Terms& a,
                         const Terms& b, const Dims& dims, const MakeSums& make);
// The file may say that other tensors have 8 bits.
void RequireBytes(const OnnxLowering& to, const Terms& terms);
void RequireFewTerms(int64_t terms);
// What a product does to sums that are stored as they are, for each channel.
uint32_t WholeSums(OnnxLowering* to, const std::string& name, int32_t channels);
Numbers SumNumbers();

// Sums with the axes outer, inner, channels -> floats with the axes outer, channels, inner.
struct Scaling {
  int32_t outer, channels, inner;
  float scale;                // of the first operand
  std::vector<float> scales;  // of the second
  uint32_t bias;              // floats, or kNoTensor
};
void ScaleSums(OnnxLowering* to, const OnnxNode& node, const std::vector<Part>& sums,
               const Scaling& scaling, uint32_t floats);

// Conv, MatMul and Gemm of a quantised value and a quantised constant; MatMulInteger and
// ConvInteger. Unsupported: others.
void LowerOnnxSums(OnnxLowering* to, const OnnxNode& node);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_SUMS_H_
