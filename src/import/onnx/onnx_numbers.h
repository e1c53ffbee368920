// SPDX-License-Identifier: Apache-2.0
// Integers that compute what onnxruntime computes in floats between DequantizeLinear and
// QuantizeLinear, compared for all bytes that the operands can hold.
//
// Input    scales and zero points of 8-bit operands
// Output   attributes of ops.h, and for how many operands they give another byte
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

// 256 answers, by the bits of the input as uint8: f over real values. Where f is no number
// the answer is 0.
std::vector<uint8_t> OnnxTable(const Stored8& in, const Stored8& out,
                               const std::function<float(float)>& f);

// A factor with which scale() of ops.h rounds once: the shift is not negative.
Factor FactorRoundedOnce(double factor);

struct Chosen {
  std::vector<int32_t> attributes;
  int64_t unlike;  // operands for which the results differ
};

// Of REQUANTIZE.
Chosen ChooseRequantise(const Stored8& in, const Stored8& out);
enum class Arithmetic : uint8_t { kNone, kSum, kDifference, kProduct };
// Of ADD, SUB or MUL.
Chosen ChooseBinary(Arithmetic kind, const Stored8& a, const Stored8& b,
                    const Stored8& out);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_NUMBERS_H_
