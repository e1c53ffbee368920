// SPDX-License-Identifier: Apache-2.0
// Floats as sums of signed bytes, so that units multiply them.
#include <algorithm>
#include <cstring>

#include "import/error.h"
#include "import/float_parts.h"
#include "import/onnx/onnx_sums.h"

namespace sluice::import {
namespace {

Numbers PartNumbers() {
  Numbers numbers;
  numbers.dtype = SLUICE_DTYPE_INT8;
  return numbers;
}

uint32_t NewScales(OnnxLowering* to, const std::string& name, const FloatRows& s) {
  Numbers numbers;
  numbers.floats = true;
  numbers.dtype = SLUICE_DTYPE_INT32;
  return NewTensor(to, name + "/scales", {s.batch, s.rows}, numbers);
}

// first: of each tensor, its first part.
void AddSplit(OnnxLowering* to, const FloatView& view, const FloatRows& rows,
              const std::vector<int32_t>& first, Terms* terms) {
  const std::string name = view.name + "/split";
  std::vector<int32_t> options = {rows.batch, rows.rows, rows.inner};
  options.insert(options.end(), first.begin(), first.end());
  AppendShape(view.shape, view.order.size(), &options);
  options.insert(options.end(), view.order.begin(), view.order.end());
  std::vector<uint32_t> outputs;
  for (const Part& part : terms->parts) outputs.push_back(part.tensor);
  terms->split = NewScales(to, name, rows);
  outputs.push_back(terms->split);
  AddHost(to, name, "SplitFloats", {{view.tensor}, options, outputs}, 0);
}

}  // namespace

bool IsFloatConstant(const OnnxLowering& to, int value) {
  const OnnxValue& v = ValueOf(to, value);
  return v.constant && v.has_data && v.type == kOnnxFloat &&
         ConstantOf(to, value).stored == nullptr;
}

bool IsSplit(OnnxLowering* to, int value) {
  const OnnxValue& v = ValueOf(*to, value);
  if (v.constant || v.type != kOnnxFloat) return false;
  if (v.producer >= 0) {
    const OnnxNode& node = to->model.nodes[static_cast<size_t>(v.producer)];
    if (node.op == "DequantizeLinear" && IsWide(*to, node)) return false;
  }
  return PlaceOf(to, value).numbers.floats;
}

FloatView ViewOf(OnnxLowering* to, int value, const AxisOrder& order) {
  const OnnxValue& v = ValueOf(*to, value);
  return {FloatsOf(to, value), v.name, ShapeOf(v), order};
}

Terms SplitFirst(OnnxLowering* to, const FloatView& view, const FloatRows& rows,
                 Dims dims, size_t stacked, bool fewer) {
  Terms terms;
  terms.floats = true;
  terms.scales = {1};
  const int32_t extent = dims[stacked];
  const std::string name = view.name + "/parts";
  for (int parts = kFloatParts; parts > (fewer ? 0 : kFloatParts - 1); --parts) {
    dims[stacked] = extent * parts;
    terms.parts.push_back(
        {NewTensor(to, name + std::to_string(parts), dims, PartNumbers()), 0, 1,
         parts});
  }
  AddSplit(to, view, rows, std::vector<int32_t>(terms.parts.size(), 0), &terms);
  return terms;
}

Terms SplitSecond(OnnxLowering* to, const FloatView& view, const FloatRows& rows,
                  const Dims& dims) {
  Terms terms;
  terms.floats = true;
  terms.scales = {1};
  const std::string name = view.name + "/part";
  for (int p = 0; p < kFloatParts; ++p) {
    terms.parts.push_back({NewTensor(to, name + std::to_string(p), dims, PartNumbers()),
                           0, PartWeight(p), 1});
  }
  AddSplit(to, view, rows, {0, 1, 2}, &terms);
  return terms;
}

Terms SplitReals(OnnxLowering* to, const std::string& name,
                 const std::vector<float>& reals, const FloatRows& rows,
                 const Dims& dims) {
  const size_t inner = static_cast<size_t>(rows.inner), count = reals.size();
  Require(
      count == static_cast<size_t>(rows.batch) * static_cast<size_t>(rows.rows) * inner,
      "extents that do not fit a product");
  FloatParts split = SplitFloats(reals, inner);
  Terms terms;
  terms.floats = true;
  terms.scales = std::move(split.scales);
  for (int p = 0; p < kFloatParts; ++p) {
    const auto& part = split.parts[static_cast<size_t>(p)];
    terms.parts.push_back(
        {to->graph.AddConstant(name + "/part" + std::to_string(p), SLUICE_DTYPE_INT8,
                               dims, part.data(), part.size()),
         0, PartWeight(p), 1});
  }
  return terms;
}

Terms SplitConstant(OnnxLowering* to, int value, const AxisOrder& order,
                    const FloatRows& rows, const Dims& dims) {
  const OnnxValue& constant = ValueOf(*to, value);
  const Bytes bytes = Permuted(constant, order);
  to->graph.NeedRoom(bytes.size());
  std::vector<float> reals(bytes.size() / 4);
  if (!reals.empty()) std::memcpy(reals.data(), bytes.data(), bytes.size());
  return SplitReals(to, constant.name, reals, rows, dims);
}

void RequireManyProducts(uint64_t products, uint64_t numbers) {
  Require(products > numbers,
          "a product of so few numbers that the host is done sooner");
}

}  // namespace sluice::import
