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
  int32_t stack = 1;  // so many parts lie in the tensor, each 2^-8 of the one before
};
// Of a real operand: times `scales`, of which there are one or one for each channel.
struct Terms {
  std::vector<Part> parts;
  std::vector<float> scales;
  uint32_t split = kNoTensor;  // floats: their scales, of each batch and row
  bool floats = false;         // parts are those of floats (onnx_parts.cc)
};

// A quantised value in this layout. Unsupported: it is not quantised to 8 or 16 bits.
Terms TermsOf(OnnxLowering* to, int value, const AxisOrder& order, const Dims& dims);
// A quantised constant in this layout.
Terms TermsOf(OnnxLowering* to, const std::string& name, const OnnxConstant& constant,
              const AxisOrder& order, const Dims& dims);

// ---- floats as three signed bytes, each 2^-8 of the one before (onnx_parts.cc)

// Rows of floats, each of which has a scale.
struct FloatRows {
  int32_t batch, rows, inner;
};
bool IsFloatConstant(const OnnxLowering& to, int value);
// Whether a value is computed floats, which are no 16-bit numbers.
bool IsSplit(OnnxLowering* to, int value);
// A tensor of floats, whose axes are read in another order.
struct FloatView {
  uint32_t tensor;
  std::string name;
  std::vector<int64_t> shape;
  AxisOrder order;
};
FloatView ViewOf(OnnxLowering* to, int value, const AxisOrder& order);
// The first operand: its parts lie one behind the other along the axis `stacked` of dims.
// `fewer`: also two of them, and one, for the second and third part of the second operand.
Terms SplitFirst(OnnxLowering* to, const FloatView& view, const FloatRows& rows,
                 Dims dims, size_t stacked, bool fewer);
// The second operand: its parts are three tensors.
Terms SplitSecond(OnnxLowering* to, const FloatView& view, const FloatRows& rows,
                  const Dims& dims);
Terms SplitConstant(OnnxLowering* to, int value, const AxisOrder& order,
                    const FloatRows& rows, const Dims& dims);
Terms SplitReals(OnnxLowering* to, const std::string& name,
                 const std::vector<float>& reals, const FloatRows& rows,
                 const Dims& dims);

// Throws Unsupported where a product of floats multiplies no oftener than it reads and writes
// numbers: the host, which would split them, is done with it sooner.
void RequireManyProducts(uint64_t products, uint64_t numbers);

// For each pair of parts a tensor of sums, which `make` writes; parts that lie one behind the
// other do so along the axis `stacked` of its extents, `dims`.
struct Factors {
  const Terms &first, &second;
};
using MakeSums = std::function<void(const Part& a, const Part& b, uint32_t sums)>;
std::vector<Part> SumsOf(OnnxLowering* to, const OnnxNode& node, const Factors& factors,
                         const Dims& dims, size_t stacked, const MakeSums& make);
// The file may say that other tensors have 8 bits.
void RequireBytes(const OnnxLowering& to, const Terms& terms);
void RequireFewTerms(int64_t terms);
// What a product does to sums that are stored as they are, for each channel.
uint32_t WholeSums(OnnxLowering* to, const std::string& name, int32_t channels);
Numbers SumNumbers();

// Sums with the axes batch, rows, columns -> floats, where columns_first with the axes batch,
// columns, rows; where `added` batches are added up.
struct Scaling {
  int32_t batch, rows, columns;
  bool columns_first = false, added = false;
  float factor = 1;
  uint32_t bias = kNoTensor;  // floats
};
void ScaleSums(OnnxLowering* to, const OnnxNode& node, const std::vector<Part>& sums,
               const Factors& factors, const Scaling& scaling, uint32_t floats);

// Conv, MatMul and Gemm of a quantised value and a quantised constant; MatMulInteger and
// ConvInteger. Unsupported: others.
void LowerOnnxSums(OnnxLowering* to, const OnnxNode& node);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_SUMS_H_
