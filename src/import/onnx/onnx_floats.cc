// SPDX-License-Identifier: Apache-2.0
// Floats of host functions, stored as their bits in int32 tensors.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "import/error.h"
#include "import/onnx/onnx_lowering.h"

namespace sluice::import {
namespace {

int32_t StoredAt(const OnnxValue& value, size_t i) {
  int32_t wide = 0;
  uint16_t narrow = 0;
  switch (value.type) {
    case kOnnxInt8:
      return static_cast<int8_t>(value.data[i]);
    case kOnnxUint8:
      return value.data[i];
    case kOnnxInt16:
      std::memcpy(&narrow, value.data.data() + 2 * i, 2);
      return static_cast<int16_t>(narrow);
    case kOnnxUint16:
      std::memcpy(&narrow, value.data.data() + 2 * i, 2);
      return narrow;
    case kOnnxInt32:
      std::memcpy(&wide, value.data.data() + 4 * i, 4);
      return wide;
    default:
      throw Unsupported("constants of type " + OnnxTypeName(value.type));
  }
}

// The index of the scale of element i: scales belong to slices along an axis.
size_t SliceOf(const OnnxConstant& constant, size_t i) {
  if (constant.scales.size() == 1) return 0;
  const std::vector<int64_t>& shape = ShapeOf(*constant.stored);
  size_t inner = 1;
  for (size_t a = static_cast<size_t>(constant.axis) + 1; a < shape.size(); ++a) {
    inner *= static_cast<size_t>(shape[a]);
  }
  return i / inner % constant.scales.size();
}

}  // namespace

std::vector<float> RealsOf(const OnnxLowering& to, int index) {
  const OnnxValue& value = ValueOf(to, index);
  const OnnxConstant constant = ConstantOf(to, index);
  std::vector<float> reals(static_cast<size_t>(ElementsOf(ShapeOf(value))));
  if (constant.stored != nullptr) {
    for (size_t i = 0; i < reals.size(); ++i) {
      const size_t s = SliceOf(constant, i);
      reals[i] = static_cast<float>(StoredAt(*constant.stored, i) -
                                    static_cast<int32_t>(constant.zeros[s])) *
                 constant.scales[s];
    }
    return reals;
  }
  const bool stored = value.has_data && value.type == kOnnxFloat;
  if (!stored && !to.computes_floats) return reals;  // only shapes count
  Require(stored, "a constant that is computed from others");
  std::memcpy(reals.data(), value.data.data(), reals.size() * 4);
  return reals;
}

WideNumbers WideNumbersOf(const OnnxLowering& to, const OnnxNode& node) {
  WideNumbers wide = {0, 0, true};
  const OnnxValue& scales = InputOf(to, node, 1);
  Require(scales.has_data && scales.type == kOnnxFloat && scales.data.size() == 4,
          "per-axis quantisation of an activation");
  std::memcpy(&wide.scale, scales.data.data(), 4);
  if (!(wide.scale > 0) || !std::isfinite(wide.scale)) {
    throw Error(Fault::kBadInput, "node " + node.name + " (" + node.op +
                                      ") has a scale that is not above 0 and finite");
  }
  wide.is_signed = StoredType(to, node) == kOnnxInt16;
  if (!HasInput(node, 2)) return wide;
  const OnnxValue& stored = InputOf(to, node, 2);
  Require(stored.has_data && stored.data.size() == 2,
          "a zero point that is no stored constant");
  wide.zero = StoredAt(stored, 0);
  return wide;
}

// Floats hold what the 16-bit numbers stand for: each is the number of steps times the
// scale, which is what the model's DequantizeLinear computes from the stored number.
void LowerOnnxWideQuantise(OnnxLowering* to, const OnnxNode& node) {
  const auto [scale, zero, is_signed] = WideNumbersOf(*to, node);
  const uint32_t in = FloatsOf(to, InputIndex(node, 0));
  const uint32_t out = NewFloats(to, node);
  AddHost(to, OutputOf(*to, node).name, "RoundToSteps",
          {{in},
           {FloatBits(scale), (is_signed ? -32768 : 0) - zero,
            (is_signed ? 32767 : 65535) - zero},
           {out}},
          0);
  OnnxPlace place = PlaceOf(to, node.outputs[0]);
  place.numbers.wide_scale = scale;
  place.numbers.wide_zero = zero;
  SetPlace(to, node.outputs[0], place);
}

void LowerOnnxWideDequantise(OnnxLowering* to, const OnnxNode& node) {
  const WideNumbers wide = WideNumbersOf(*to, node);
  OnnxPlace place = PlaceOf(to, InputIndex(node, 0));
  Require(
      place.numbers.wide_scale == wide.scale && place.numbers.wide_zero == wide.zero,
      "16-bit numbers that are dequantised by another scale or zero point");
  place.numbers.wide_scale = 0;
  place.numbers.wide_zero = 0;
  SetPlace(to, node.outputs[0], place);
}

int32_t FloatBits(float number) {
  int32_t bits = 0;
  std::memcpy(&bits, &number, 4);
  return bits;
}

uint32_t FloatConstant(OnnxLowering* self, const std::string& name, const Dims& dims,
                       const std::vector<float>& floats) {
  return self->graph.AddConstant(name, SLUICE_DTYPE_INT32, dims, floats.data(),
                                 floats.size() * 4);
}

uint32_t IntegerConstant(OnnxLowering* self, const std::string& name,
                         const std::vector<int32_t>& ints) {
  return self->graph.AddConstant(name, SLUICE_DTYPE_INT32,
                                 {static_cast<int32_t>(ints.size())}, ints.data(),
                                 ints.size() * 4);
}

uint32_t FloatsOf(OnnxLowering* self, int index, const AxisOrder& order) {
  const auto key = std::make_pair(index, order);
  const auto known = self->floats.find(key);
  if (known != self->floats.end()) return known->second;
  const OnnxValue& value = ValueOf(*self, index);
  const Dims dims = DimsIn(ShapeOf(value), order);
  const std::string name = value.name + "/floats";
  uint32_t floats = kNoTensor;
  if (value.constant) {
    self->graph.NeedRoom(static_cast<uint64_t>(ElementsOf(ShapeOf(value))) * 4);
    const std::vector<float> reals = RealsOf(*self, index);
    OnnxValue straight;
    straight.type = kOnnxFloat;
    straight.has_shape = true;
    straight.dims = value.dims;
    const auto* bytes = reinterpret_cast<const uint8_t*>(reals.data());
    straight.data.assign(bytes, bytes + reals.size() * 4);
    const Bytes permuted = Permuted(straight, order);
    floats = self->graph.AddConstant(name, SLUICE_DTYPE_INT32, dims, permuted.data(),
                                     permuted.size());
  } else {
    const Numbers numbers = PlaceOf(self, index).numbers;
    floats = TensorAs(self, index, order, dims);
    if (!numbers.floats) {
      Require(numbers.known || !self->computes_floats,
              "an operand whose numbers are not known");
      const uint32_t stored = floats;
      Numbers real;
      real.floats = true;
      real.dtype = SLUICE_DTYPE_INT32;
      floats = NewTensor(self, name, dims, real);
      AddHost(
          self, name, "DequantizeLinear",
          {{stored, FloatConstant(self, name + ".scale", {1}, {numbers.affine.scale}),
            IntegerConstant(self, name + ".zero", {numbers.affine.zero})},
           {1, 1},
           {floats}},
          0);
    }
  }
  self->floats[key] = floats;
  return floats;
}

uint32_t FloatsOf(OnnxLowering* self, int index) {
  return FloatsOf(self, index, Straight(ShapeOf(ValueOf(*self, index)).size()));
}

uint32_t NewFloats(OnnxLowering* self, const OnnxNode& node, size_t i) {
  Numbers numbers;
  numbers.floats = true;
  numbers.dtype = SLUICE_DTYPE_INT32;
  const std::vector<int64_t>& shape = ShapeOf(OutputOf(*self, node, i));
  const AxisOrder order = Straight(shape.size());
  return NewOutput(self, node, i, order, DimsIn(shape, order), numbers);
}

void StorePlaceholders(OnnxLowering* self, const OnnxNode& node) {
  CountShapesOnly(self, node);
  for (const int output : node.outputs) {
    if (output < 0) continue;
    OnnxPlace place = self->places[static_cast<size_t>(output)];
    if (place.tensor == kNoTensor || !place.numbers.floats) continue;
    const Numbers stored;
    const std::string name = ValueOf(*self, output).name + "/stored";
    const uint32_t floats = place.tensor;
    place.tensor =
        NewTensor(self, name, Dims(self->graph.tensors()[floats].dims), stored);
    place.numbers = stored;
    AddHost(self, name, "QuantizeLinear",
            {{floats, FloatConstant(self, name + ".scale", {1}, {stored.affine.scale}),
              IntegerConstant(self, name + ".zero", {stored.affine.zero})},
             {1, 1},
             {place.tensor}},
            0);
    SetPlace(self, output, place);
  }
}

void AddHost(OnnxLowering* self, const std::string& name, const std::string& function,
             OnnxOperands operands, uint64_t work) {
  uint64_t cycles = self->opaque_cycles;
  if (cycles == 0) {
    cycles = std::max<uint64_t>(work, 1);
    for (const std::vector<uint32_t>* list : {&operands.inputs, &operands.outputs}) {
      for (const uint32_t tensor : *list) {
        uint64_t elements = 1;
        for (const int32_t extent : self->graph.tensors()[tensor].dims) {
          elements *= static_cast<uint64_t>(extent);
        }
        cycles += elements;
      }
    }
  }
  cycles = std::min(cycles, uint64_t{1} << 50);
  operands.inputs.push_back(IntegerConstant(self, name + "/options", operands.options));
  const int32_t text = static_cast<int32_t>(self->graph.AddName(
      function.find('.') == std::string::npos ? "onnx." + function : function));
  self->graph.AddLayer(
      name, SLUICE_OP_OPAQUE, std::move(operands.inputs), std::move(operands.outputs),
      {static_cast<int32_t>(static_cast<uint32_t>(cycles)),
       static_cast<int32_t>(static_cast<uint32_t>(cycles >> 32)), text});
}

}  // namespace sluice::import
