// SPDX-License-Identifier: Apache-2.0
// Integer attributes that reproduce what onnxruntime computes in floats between
// DequantizeLinear and QuantizeLinear, checked for all values of the 8-bit operands.
//
// Input    scales and zero points of 8-bit operands
// Output   attributes of ops.h, and the number of operand values for which the results
//          differ
// Errors   none
// Cost     256 or 65,536 evaluations
// Source   QuantizeLinear divides by the scale and rounds to nearest, ties to even
#ifndef SLUICE_IMPORT_ONNX_ONNX_NUMBERS_H_
#define SLUICE_IMPORT_ONNX_ONNX_NUMBERS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "import/quantisation.h"

namespace sluice::import {

// An 8-bit tensor's numbers.
struct Stored8 {
  uint8_t dtype;
  Affine affine;
};

// What QuantizeLinear stores.
int32_t OnnxStored(float real, const Affine& out, const Range& range);

// Table of 256 results, indexed by the input's bits as uint8: f over real values; 0
// where f is not a number.
std::vector<uint8_t> OnnxTable(const Stored8& in, const Stored8& out,
                               const std::function<float(float)>& f);

// A factor with a shift >= 0, with which scale() of ops.h rounds only once.
Factor FactorRoundedOnce(double factor);

struct Chosen {
  std::vector<int32_t> attributes;
  int64_t unlike;  // operands for which the results differ
};

// Attributes of REQUANTIZE.
Chosen ChooseRequantise(const Stored8& in, const Stored8& out);
enum class Arithmetic : uint8_t { kNone, kSum, kDifference, kProduct };
// Attributes of ADD, SUB or MUL.
Chosen ChooseBinary(Arithmetic kind, const Stored8& a, const Stored8& b,
                    const Stored8& out);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_NUMBERS_H_
