// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_sums.h"

#include <algorithm>
#include <cmath>

#include "import/error.h"

namespace sluice::import {
namespace {

bool IsEightBit(int type) { return type == kOnnxInt8 || type == kOnnxUint8; }

// The floats of a 16-bit value as a high and a low byte, in another layout.
Terms SplitWide(OnnxLowering* to, int value, const OnnxNode& node,
                const AxisOrder& order, const Dims& dims) {
  const WideNumbers wide = WideNumbersOf(*to, node);
  const uint32_t floats = FloatsOf(to, value);
  const std::string name = ValueOf(*to, value).name + "/part";
  Terms terms;
  std::vector<uint32_t> parts;
  const int32_t high = wide.zero >> 8, low = wide.zero - high * 256;
  for (size_t i = 0; i < 2; ++i) {
    // A byte without sign is stored 128 less.
    const int32_t less = i == 0 && wide.is_signed ? 0 : 128;
    parts.push_back(NewTensor(to, name + std::to_string(i), dims, Numbers()));
    terms.parts.push_back(
        {parts.back(), (i == 0 ? high : low) - less, i == 0 ? 256.0f : 1.0f});
  }
  std::vector<int32_t> options = {FloatBits(wide.scale), wide.zero,
                                  wide.is_signed ? 1 : 0};
  AppendShape(ShapeOf(ValueOf(*to, value)), order.size(), &options);
  options.insert(options.end(), order.begin(), order.end());
  AddHost(to, name, "SplitSteps", {{floats}, options, parts}, 0);
  terms.scales = {wide.scale};
  return terms;
}

// A weight less its zero point for each slice of an axis, as one or two tensors of int8.
std::vector<Bytes> Centred(const OnnxConstant& constant) {
  const OnnxValue& stored = *constant.stored;
  const std::vector<int64_t>& shape = ShapeOf(stored);
  const size_t axis = static_cast<size_t>(constant.axis);
  size_t inner = 1;
  for (size_t a = axis + 1; a < shape.size(); ++a)
    inner *= static_cast<size_t>(shape[a]);
  std::vector<int> numbers;
  bool whole = true;
  for (size_t i = 0; i < stored.data.size(); ++i) {
    const uint8_t byte = stored.data[i];
    const int64_t zero = constant.zeros[i / inner % constant.zeros.size()];
    const int number = (stored.type == kOnnxInt8 ? static_cast<int8_t>(byte) : byte) -
                       static_cast<int>(zero);
    Require(number >= -255 && number <= 255, "zero points out of range");
    whole &= number >= -128 && number <= 127;
    numbers.push_back(number);
  }
  std::vector<Bytes> parts(whole ? 1 : 2);
  for (const int number : numbers) {
    const int first = std::clamp(number, -128, 127);
    parts[0].push_back(static_cast<uint8_t>(first));
    // Between -127 and 128: stored one lower, with the zero point -1.
    if (!whole) parts[1].push_back(static_cast<uint8_t>(number - first - 1));
  }
  return parts;
}

}  // namespace

Numbers SumNumbers() {
  Numbers numbers;
  numbers.dtype = SLUICE_DTYPE_INT32;
  return numbers;
}

void RequireFewTerms(int64_t terms) {
  Require(terms <= 32768, "sums of more than 32768 products");
}

Terms TermsOf(OnnxLowering* to, int value, const AxisOrder& order, const Dims& dims) {
  const int producer = ValueOf(*to, value).producer;
  if (producer >= 0 && !ValueOf(*to, value).constant) {
    const OnnxNode& node = to->model.nodes[static_cast<size_t>(producer)];
    if (node.op == "DequantizeLinear" && IsWide(*to, node)) {
      return SplitWide(to, value, node, order, dims);
    }
  }
  const uint32_t tensor = TensorAs(to, value, order, dims);
  const Numbers numbers = PlaceOf(to, value).numbers;
  Require(
      numbers.known && !numbers.floats &&
          (numbers.dtype == SLUICE_DTYPE_INT8 || numbers.dtype == SLUICE_DTYPE_UINT8),
      "an operand that is not quantised");
  Terms terms;
  terms.parts.push_back({tensor, numbers.affine.zero, 1});
  terms.scales = {numbers.affine.scale};
  return terms;
}

Terms TermsOf(OnnxLowering* to, const std::string& name, const OnnxConstant& constant,
              const AxisOrder& order, const Dims& dims) {
  Require(constant.stored != nullptr && IsEightBit(constant.stored->type) &&
              constant.stored->data.size() ==
                  static_cast<size_t>(ElementsOf(ShapeOf(*constant.stored))),
          "a weight that is no quantised constant");
  Terms terms;
  terms.scales = constant.scales;
  const std::vector<int64_t>& zeros = constant.zeros;
  if (std::all_of(zeros.begin(), zeros.end(),
                  [&](int64_t zero) { return zero == zeros[0]; })) {
    const Bytes bytes = Permuted(*constant.stored, order);
    const bool has_sign = constant.stored->type == kOnnxInt8;
    const uint32_t tensor =
        to->graph.AddConstant(name, has_sign ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8,
                              dims, bytes.data(), bytes.size());
    const int32_t zero = zeros.empty() ? 0 : static_cast<int32_t>(zeros[0]);
    terms.parts.push_back({tensor, zero, 1});
    return terms;
  }
  OnnxValue part;
  part.type = kOnnxInt8;
  part.has_shape = true;
  part.dims = constant.stored->dims;
  for (Bytes& bytes : Centred(constant)) {
    const int32_t zero = terms.parts.empty() ? 0 : -1;
    part.data = std::move(bytes);
    const Bytes permuted = Permuted(part, order);
    const std::string full = name + "/part" + std::to_string(terms.parts.size());
    terms.parts.push_back({to->graph.AddConstant(full, SLUICE_DTYPE_INT8, dims,
                                                 permuted.data(), permuted.size()),
                           zero, 1});
  }
  return terms;
}

std::vector<Part> SumsOf(OnnxLowering* to, const OnnxNode& node, const Factors& factors,
                         const Dims& dims, size_t stacked, const MakeSums& make) {
  const auto& [a, b] = factors;
  RequireBytes(*to, a);
  RequireBytes(*to, b);
  std::vector<Part> sums;
  for (size_t i = 0; i < a.parts.size(); ++i) {
    for (size_t j = 0; j < b.parts.size(); ++j) {
      // Of floats by floats: a part of the second operand has parts of its own in the first.
      if (a.floats && b.floats && i != j) continue;
      const Part &first = a.parts[i], &second = b.parts[j];
      Dims extents = dims;
      extents[stacked] *= first.stack;
      const std::string name = node.name + "/sums" + std::to_string(sums.size());
      const uint32_t tensor = NewTensor(to, name, extents, SumNumbers());
      make(first, second, tensor);
      sums.push_back({tensor, 0, first.weight * second.weight, first.stack});
    }
  }
  return sums;
}

void RequireBytes(const OnnxLowering& to, const Terms& terms) {
  for (const Part& part : terms.parts) {
    const uint8_t dtype = to.graph.tensors()[part.tensor].dtype;
    Require(dtype == SLUICE_DTYPE_INT8 || dtype == SLUICE_DTYPE_UINT8,
            "operands that are not 8 bit");
  }
}

uint32_t WholeSums(OnnxLowering* to, const std::string& name, int32_t channels) {
  to->graph.NeedRows(static_cast<size_t>(channels));
  std::vector<int32_t> rows;
  for (int32_t k = 0; k < channels; ++k) rows.insert(rows.end(), {0, 1 << 30, 1});
  return to->graph.AddConstant(name + "/parameters", SLUICE_DTYPE_INT32, {channels, 3},
                               rows.data(), rows.size() * 4);
}

void ScaleSums(OnnxLowering* to, const OnnxNode& node, const std::vector<Part>& sums,
               const Factors& factors, const Scaling& scaling, uint32_t floats) {
  const auto& [a, b] = factors;
  enum ScaleKind { kOne = 0, kByBatch = 1, kByEach = 2 };
  const std::string& name = OutputOf(*to, node).name;
  const bool rows = a.split != kNoTensor;
  const size_t scales = b.scales.size();
  const int32_t columns = b.split != kNoTensor ? kByBatch + kByEach
                          : scales == 1        ? kOne
                          : scales == static_cast<size_t>(scaling.columns)
                              ? kByEach
                              : kByBatch + kByEach;
  const bool images = scaling.columns_first;  // a scale for each, not for its pixels
  const double factor = static_cast<double>(scaling.factor) *
                        (rows ? 1 : static_cast<double>(a.scales[0]));
  std::vector<int32_t> options = {scaling.batch,
                                  scaling.rows,
                                  scaling.columns,
                                  scaling.columns_first ? 1 : 0,
                                  scaling.added ? 1 : 0,
                                  !rows    ? kOne
                                  : images ? kByBatch
                                           : kByBatch + kByEach,
                                  columns,
                                  FloatBits(static_cast<float>(factor))};
  std::vector<uint32_t> inputs;
  for (const Part& part : sums) {
    inputs.push_back(part.tensor);
    options.push_back(FloatBits(part.weight));
  }
  inputs.push_back(rows ? a.split : FloatConstant(to, name + "/one", {1}, {1.0f}));
  inputs.push_back(b.split != kNoTensor
                       ? b.split
                       : FloatConstant(to, name + "/scales",
                                       {static_cast<int32_t>(scales)}, b.scales));
  inputs.push_back(scaling.bias != kNoTensor
                       ? scaling.bias
                       : FloatConstant(to, name + "/bias", {1}, {0.0f}));
  CountRounded(to, node, kFloatSums);
  AddHost(to, node.name, "ScaleSums", {inputs, options, {floats}}, 0);
}

}  // namespace sluice::import
