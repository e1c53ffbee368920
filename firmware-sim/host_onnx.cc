// SPDX-License-Identifier: Apache-2.0
#include "host_onnx.h"

#include <cstring>

#include "sluice/ops.h"

namespace sluice_sim {

const HostFunction* FindOnnxFunction(const std::string& name) {
  static const OnnxRows rows = [] {
    OnnxRows all;
    AddOnnxElementwise(&all);
    AddOnnxRows(&all);
    AddOnnxProducts(&all);
    AddOnnxSums(&all);
    AddOnnxRecurrent(&all);
    AddOnnxImages(&all);
    AddOnnxRegions(&all);
    return all;
  }();
  const auto found = rows.find(name);
  return found == rows.end() ? nullptr : &found->second;
}

OnnxOptions::OnnxOptions(const HostOperands& in) {
  bad_ = in.empty() || in.back().dtype != SLUICE_DTYPE_INT32;
  if (bad_) return;
  numbers_ = ElementsOf<int32_t>(in.back());
  count_ = CountOf(in.back());
}

int32_t OnnxOptions::Next() {
  if (bad_ || at_ == count_) {
    bad_ = true;
    return 0;
  }
  return numbers_[at_++];
}

int64_t OnnxOptions::Int(int64_t least, int64_t most) {
  const int64_t number = Next();
  if (number >= least && number <= most) return number;
  bad_ = true;
  return least;
}

float OnnxOptions::Float() {
  const int32_t bits = Next();
  float number = 0;
  std::memcpy(&number, &bits, 4);
  return number;
}

std::vector<int64_t> OnnxOptions::Shape() {
  std::vector<int64_t> shape(static_cast<size_t>(Int(0, 8)));
  int64_t elements = 1;
  for (int64_t& extent : shape) {
    extent = Int(1);
    elements *= extent;
    if (elements > INT32_MAX) bad_ = true;
    if (bad_) return {};
  }
  return shape;
}

bool IsFloats(const HostOperands& operands, size_t i, int64_t count) {
  return i < operands.size() && operands[i].dtype == SLUICE_DTYPE_INT32 &&
         CountOf(operands[i]) == count;
}

int64_t Elements(const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  return elements;
}

std::vector<int64_t> Widened(const HostOperand& operand) {
  std::vector<int64_t> wide(static_cast<size_t>(CountOf(operand)));
  for (size_t i = 0; i < wide.size(); ++i) {
    wide[i] = operand.dtype == SLUICE_DTYPE_INT8    ? ElementsOf<int8_t>(operand)[i]
              : operand.dtype == SLUICE_DTYPE_UINT8 ? ElementsOf<uint8_t>(operand)[i]
              : operand.dtype == SLUICE_DTYPE_INT32 ? ElementsOf<int32_t>(operand)[i]
                                                    : 0;
  }
  return wide;
}

}  // namespace sluice_sim
