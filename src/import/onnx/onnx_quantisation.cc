// SPDX-License-Identifier: Apache-2.0
// Scales and zero points: as inputs of a node, of constants, and behind a value.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "import/error.h"
#include "import/onnx/onnx_lowering.h"

namespace sluice::import {
namespace {

std::vector<float> Floats(const OnnxValue& value) {
  if (!value.has_data || value.type != kOnnxFloat) {
    throw Unsupported("scale " + value.name + ", which is no float32 constant");
  }
  std::vector<float> floats(value.data.size() / 4);
  std::memcpy(floats.data(), value.data.data(), floats.size() * 4);
  return floats;
}

// A scale of 0 is allowed: that of a channel that holds nothing but zeros.
std::vector<float> ScalesOf(const OnnxValue& value) {
  std::vector<float> scales = Floats(value);
  if (scales.empty())
    throw Error(Fault::kBadInput, "scale " + value.name + " is empty");
  for (const float scale : scales) {
    if (scale >= 0 && std::isfinite(scale)) continue;
    throw Error(Fault::kBadInput,
                "scale " + value.name + " holds " + std::to_string(scale) +
                    ", and a scale is a finite number that is not below 0");
  }
  return scales;
}

// Requires one scale for each slice of the quantised axis.
void RequireOneForEach(const OnnxConstant& constant) {
  const std::vector<int64_t> shape = ShapeOf(*constant.stored);
  const size_t axis = static_cast<size_t>(constant.axis);
  const int64_t slices = axis < shape.size() ? shape[axis] : 1;
  if (static_cast<int64_t>(constant.scales.size()) == slices) return;
  throw Error(Fault::kBadInput, constant.stored->name + " has " +
                                    std::to_string(constant.scales.size()) +
                                    " scales for the " + std::to_string(slices) +
                                    " slices of axis " + std::to_string(axis));
}

}  // namespace

// Without a zero point an attribute or the input tells the type.
int StoredType(const OnnxLowering& self, const OnnxNode& node) {
  if (HasInput(node, 2)) return InputOf(self, node, 2).type;
  if (node.op == "DequantizeLinear" && InputOf(self, node, 0).type != 0)
    return InputOf(self, node, 0).type;
  return static_cast<int>(node.Int("output_dtype", kOnnxUint8));
}

std::vector<int64_t> StoredIntegers(const OnnxValue& value) {
  if (!value.has_data) {
    throw Unsupported("zero point " + value.name + ", which is no stored constant");
  }
  std::vector<int64_t> zeros;
  for (size_t i = 0; i < value.data.size(); ++i) {
    if (value.type == kOnnxInt8) {
      zeros.push_back(static_cast<int8_t>(value.data[i]));
    } else if (value.type == kOnnxUint8 || value.type == kOnnxBool) {
      zeros.push_back(value.data[i]);
    } else if (value.type == kOnnxInt64 && i % 8 == 0) {
      int64_t number = 0;
      std::memcpy(&number, &value.data[i], 8);
      zeros.push_back(number);
    } else if (value.type == kOnnxInt32 && i % 4 == 0) {
      int32_t zero = 0;
      std::memcpy(&zero, &value.data[i], 4);
      zeros.push_back(zero);
    } else if (value.type == kOnnxInt16 && i % 2 == 0) {
      int16_t zero = 0;
      std::memcpy(&zero, &value.data[i], 2);
      zeros.push_back(zero);
    } else if (value.type == kOnnxUint16 && i % 2 == 0) {
      uint16_t zero = 0;
      std::memcpy(&zero, &value.data[i], 2);
      zeros.push_back(zero);
    }
  }
  return zeros;
}

bool HasInfiniteScale(const OnnxLowering& self, const OnnxNode& node) {
  const OnnxValue& scale = InputOf(self, node, 1);
  return scale.has_data && scale.type == kOnnxFloat && scale.data.size() == 4 &&
         Floats(scale)[0] > std::numeric_limits<float>::max();
}

Numbers ScaleAndZero(const OnnxLowering& self, const OnnxNode& node, size_t scale,
                     size_t zero) {
  Numbers numbers;
  const std::vector<float> scales = Floats(InputOf(self, node, scale));
  Require(scales.size() == 1, "per-axis quantisation of an activation");
  Require(!(scales[0] > std::numeric_limits<float>::max()), "an infinite scale");
  if (!(scales[0] > 0) || !std::isfinite(scales[0])) {
    throw Error(Fault::kBadInput, "node " + node.name + " (" + node.op +
                                      ") has a scale that is not above 0 and finite");
  }
  numbers.affine.scale = scales[0];
  numbers.dtype = SLUICE_DTYPE_UINT8;
  if (HasInput(node, zero)) {
    const OnnxValue& value = InputOf(self, node, zero);
    if (value.type != kOnnxInt8 && value.type != kOnnxUint8) {
      throw Unsupported("quantisation to " + OnnxTypeName(value.type));
    }
    numbers.dtype = value.type == kOnnxInt8 ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8;
    const std::vector<int64_t> zeros = StoredIntegers(value);
    Require(zeros.size() == 1, "per-axis quantisation of an activation");
    numbers.affine.zero = static_cast<int32_t>(zeros[0]);
  } else {
    const int type = StoredType(self, node);
    if (type != kOnnxInt8 && type != kOnnxUint8) {
      throw Unsupported("quantisation to " + OnnxTypeName(type));
    }
    numbers.dtype = type == kOnnxInt8 ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8;
  }
  numbers.known = true;
  return numbers;
}

bool IsWide(const OnnxLowering& self, const OnnxNode& node) {
  const int type = StoredType(self, node);
  return type == kOnnxInt16 || type == kOnnxUint16;
}

Numbers QLinearInput(OnnxLowering* self, const OnnxNode& node, size_t at) {
  const Numbers numbers = ScaleAndZero(*self, node, at + 1, at + 2);
  const int index = InputIndex(node, at);
  const OnnxValue& value = ValueOf(*self, index);
  const bool stored = value.constant && value.has_data;
  const bool same =
      stored
          ? value.type == (numbers.dtype == SLUICE_DTYPE_INT8 ? kOnnxInt8 : kOnnxUint8)
          : PlaceOf(self, index).numbers.dtype == numbers.dtype;
  Require(same, "an input of another type than its zero point");
  return numbers;
}

OnnxEnds EndsOf(OnnxLowering* self, const OnnxNode& node) {
  if (node.op.find("QLinear") == std::string::npos) {
    return {PlaceOf(self, InputIndex(node, 0)).numbers,
            TargetOf(*self, node.outputs[0])};
  }
  Require(node.Int("channels_last", 0) == 0, "channels that are the last axis");
  return {QLinearInput(self, node, 0), ScaleAndZero(*self, node, 3, 4)};
}

namespace {

// Not known for a node that cannot be expressed: its lowering reports the reason later.
Numbers QuantisedTo(const OnnxLowering& self, const OnnxNode& node) {
  try {
    return ScaleAndZero(self, node, 1, 2);
  } catch (const Unsupported&) {
    return Numbers();
  }
}

// Whether the node only moves elements, so that quantising its input is equivalent.
bool OnlyMoves(const OnnxNode& node) {
  static const char* const kOps[] = {
      "Reshape", "Flatten", "Squeeze",      "Unsqueeze",    "Transpose", "Identity",
      "Dropout", "Slice",   "DepthToSpace", "SpaceToDepth", "MaxPool",   "Expand"};
  return std::any_of(std::begin(kOps), std::end(kOps),
                     [&](const char* op) { return node.op == op; });
}

}  // namespace

Numbers TargetOf(const OnnxLowering& self, int index, int depth) {
  Numbers target;
  bool first = true;
  const OnnxValue& value = ValueOf(self, index);
  if (value.is_output || depth == 0) return target;
  for (const int reader : value.readers) {
    const OnnxNode& node = self.model.nodes[static_cast<size_t>(reader)];
    Numbers next;
    if (node.op == "QuantizeLinear") {
      next = QuantisedTo(self, node);
    } else if ((node.op == "Relu" || node.op == "Clip") && value.readers.size() == 1) {
      next = TargetOf(self, node.outputs[0], depth - 1);
    } else if (OnlyMoves(node) && node.inputs[0] == index) {
      next = TargetOf(self, node.outputs[0], depth - 1);
    }
    const bool same = next.known && next.dtype == target.dtype &&
                      next.affine.scale == target.affine.scale &&
                      next.affine.zero == target.affine.zero;
    if (!next.known || (!first && !same)) return Numbers();
    target = next;
    first = false;
  }
  return target;
}

OnnxConstant ConstantOf(const OnnxLowering& self, int index) {
  OnnxConstant constant;
  const OnnxValue& value = ValueOf(self, index);
  if (value.producer < 0) return constant;
  const OnnxNode& node = self.model.nodes[static_cast<size_t>(value.producer)];
  if (node.op != "DequantizeLinear" || !InputOf(self, node, 0).has_data)
    return constant;
  // Scales of blocks: computed at import, or else the node is refused.
  if (node.Int("block_size", 0) != 0) return constant;
  if (HasInfiniteScale(self, node)) return constant;
  constant.stored = &InputOf(self, node, 0);
  constant.scales = ScalesOf(InputOf(self, node, 1));
  if (HasInput(node, 2)) constant.zeros = StoredIntegers(InputOf(self, node, 2));
  constant.zeros.resize(constant.scales.size(), 0);
  if (constant.scales.size() > 1) {
    constant.axis = AxisOf(*constant.stored, node.Int("axis", 1));
    RequireOneForEach(constant);
  }
  return constant;
}

OnnxConstant QuantisedBy(const OnnxLowering& self, const OnnxNode& node, size_t at,
                         size_t scale, size_t zero) {
  OnnxConstant constant;
  if (!InputOf(self, node, at).has_data ||
      OnnxTypeBytes(InputOf(self, node, at).type) != 1)
    return constant;
  constant.stored = &InputOf(self, node, at);
  constant.scales = ScalesOf(InputOf(self, node, scale));
  if (HasInput(node, zero)) constant.zeros = StoredIntegers(InputOf(self, node, zero));
  constant.zeros.resize(constant.scales.size(), 0);
  const bool columns = node.op == "QLinearMatMul" ||
                       (node.op == "com.microsoft.QGemm" && node.Int("transB", 0) == 0);
  if (columns) constant.axis = 1;
  if (constant.scales.size() > 1) RequireOneForEach(constant);
  return constant;
}

}  // namespace sluice::import
