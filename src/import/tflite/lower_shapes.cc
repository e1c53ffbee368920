// SPDX-License-Identifier: Apache-2.0
// Operators that move data without computing, and resizing.
#include <algorithm>
#include <cmath>

#include "import/error.h"
#include "import/permutation.h"
#include "import/tflite/tflite_lowering.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;

bool Is(const TfliteOperator& op, BuiltinOperator code) {
  return op.code == static_cast<int>(code);
}

void RequireSameType(const TfliteTensor& input, const TfliteTensor& out) {
  Require(input.type == out.type, "an output of another type than the input");
}

// One SLICE of input `from`, beginning at `begin`, as output `i`.
void AddSlice(Lowering* to, const TfliteOperator& op, size_t from, size_t i,
              const Extents& begin) {
  const Extents in = ExtentsOf(InputOf(*to, op, from)),
                out = ExtentsOf(OutputOf(*to, op, i));
  for (size_t a = 0; a < 4; ++a) {
    if (begin[a] < 0 || int64_t{begin[a]} + out[a] > in[a]) {
      throw Error(Fault::kBadInput,
                  "slice " + OutputOf(*to, op, i).name + " leaves its input");
    }
  }
  const uint32_t ifmap = InputTensor(to, op, from);
  to->graph.AddLayer(OutputOf(*to, op, i).name, SLUICE_OP_SLICE, {ifmap},
                     {OutputTensor(to, op, i)},
                     {begin[0], begin[1], begin[2], begin[3]});
}

// What the kernel of CONCATENATION makes of each byte of an input whose scale or zero point is
// another one: it rounds once, in float32. int8 has no such kernel.
std::vector<uint8_t> RescaledBytes(const Affine& in, const Affine& out) {
  const float scale = in.scale * (1.0f / out.scale);
  const float bias = static_cast<float>(-in.zero) * scale;
  std::vector<uint8_t> table(256);
  for (size_t x = 0; x < table.size(); ++x) {
    const float steps = std::round(static_cast<float>(x) * scale + bias);
    const float stored = std::clamp(steps + static_cast<float>(out.zero), 0.0f, 255.0f);
    table[x] = static_cast<uint8_t>(stored);
  }
  return table;
}

// A concat input in the quantisation of the output.
uint32_t Requantised(Lowering* to, const TfliteOperator& op, size_t i,
                     uint32_t tensor) {
  const TfliteTensor& input = InputOf(*to, op, i);
  const TfliteTensor& out = OutputOf(*to, op);
  if (input.scales.empty() && out.scales.empty()) return tensor;
  if (SameAffine(input, out)) return tensor;
  const Affine in = AffineOf(input), o = AffineOf(out);
  const uint8_t dtype = EightBit(out);
  const Range range = DtypeRange(dtype);
  const uint32_t requantised = Temporary(to, out, ("/part" + std::to_string(i)).c_str(),
                                         to->graph.tensors()[tensor].dims);
  const std::string name = input.name + "/requantize";
  if (dtype == SLUICE_DTYPE_UINT8) {
    const std::vector<uint8_t> table = RescaledBytes(in, o);
    const uint32_t constant = to->graph.AddConstant(name + "/table", dtype, {256},
                                                    table.data(), table.size());
    to->graph.AddLayer(name, SLUICE_OP_LOOKUP, {tensor, constant}, {requantised}, {});
    return requantised;
  }
  const Factor factor =
      QuantiseFactor(static_cast<double>(in.scale) / static_cast<double>(o.scale));
  to->graph.AddLayer(
      name, SLUICE_OP_REQUANTIZE, {tensor}, {requantised},
      {in.zero, factor.multiplier, factor.shift, o.zero, range.min, range.max});
  return requantised;
}

// The reference kernel interpolates uint8 in float32; that equals the integers of ops.h
// only when positions are multiples of 1/128, so that nothing is rounded on the way.
bool HasExactSteps(int64_t in, int64_t out, bool align_corners, bool half_pixel) {
  const bool between_corners = align_corners && out > 1;
  const int64_t span_in = between_corners ? in - 1 : in;
  const int64_t span_out = between_corners ? out - 1 : out;
  if ((span_in << 10) % span_out != 0) return false;
  return ((span_in << 10) / span_out) % (half_pixel ? 16 : 8) == 0;
}

int32_t StartOf(int64_t begin, int64_t extent, bool masked) {
  if (masked) return 0;
  if (begin < 0) begin += extent;
  return static_cast<int32_t>(std::clamp<int64_t>(begin, 0, extent));
}

// Bounds of a slice with a stride of any sign: negative positions count from the end of
// the axis, and the range is clipped to the axis.
StridedAxis AxisOfSlice(const tflite::StridedSliceOptions& o, int64_t extent, size_t i,
                        int64_t begin, int64_t end, int64_t stride) {
  // Positions far outside of any axis may be clamped, so that sums of them do not
  // overflow.
  constexpr int64_t kFar = int64_t{1} << 40;
  Require(stride != 0, "a stride of 0");
  begin = std::clamp(begin, -kFar, kFar);
  end = std::clamp(end, -kFar, kFar);
  stride = std::clamp(stride, -kFar, kFar);
  const int64_t first = stride > 0 ? 0 : -1;
  const int64_t past = stride > 0 ? extent : extent - 1;
  const auto place = [&](int64_t at) {
    return std::clamp(at < 0 ? at + extent : at, first, past);
  };
  const bool whole_begin = (o.begin_mask() >> i & 1) != 0;
  const int64_t from = whole_begin ? (stride > 0 ? first : past) : place(begin);
  if ((o.shrink_axis_mask() >> i & 1) != 0) return {from, from + 1, 1};
  if ((o.end_mask() >> i & 1) != 0) return {from, stride > 0 ? past : first, stride};
  return {from, o.offset() ? place(from + end) : place(end), stride};
}

void LowerStridedSlice(Lowering* to, const TfliteOperator& op) {
  const auto* options = op.wire->builtin_options_as_StridedSliceOptions();
  Require(options != nullptr, "missing options");
  Require(options->ellipsis_mask() == 0 && options->new_axis_mask() == 0,
          "ellipsis or new axes");
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  RequireSameType(input, out);
  const std::vector<int64_t> begins = Integers(InputOf(*to, op, 1));
  const std::vector<int64_t> ends = Integers(InputOf(*to, op, 2));
  const std::vector<int64_t> strides = Integers(InputOf(*to, op, 3));
  Require(begins.size() == ends.size() && begins.size() == strides.size() &&
              begins.size() <= input.shape.size(),
          "begin, end and strides of different lengths");
  const bool many = input.shape.size() > 4;
  if (many ||
      std::any_of(strides.begin(), strides.end(), [](int64_t s) { return s != 1; })) {
    std::vector<StridedAxis> axes;
    for (size_t i = 0; i < begins.size(); ++i) {
      axes.push_back(AxisOfSlice(*options, AxesOf(input)[AxisAt(input, int64_t(i))], i,
                                 begins[i], ends[i], strides[i]));
    }
    return LowerStrides(to, op, axes);
  }
  const Extents in = ExtentsOf(input);
  Extents begin = {0, 0, 0, 0};
  Dims dims(in.begin(), in.end());
  for (size_t i = 0; i < begins.size(); ++i) {
    const size_t a = static_cast<size_t>(AxisOf(input, static_cast<int64_t>(i)));
    const int64_t extent = in[a];
    begin[a] = StartOf(begins[i], extent, (options->begin_mask() >> i & 1) != 0);
    int64_t end = options->offset() ? begin[a] + ends[i] : ends[i];
    if ((options->end_mask() >> i & 1) != 0) end = extent;
    if (end < 0) end += extent;
    if ((options->shrink_axis_mask() >> i & 1) != 0) end = begin[a] + 1;
    end = std::min(end, extent);
    if (end <= begin[a])
      throw Error(Fault::kBadInput, "slice " + out.name + " is empty");
    dims[a] = static_cast<int32_t>(end - begin[a]);
  }
  const uint32_t ifmap = InputTensor(to, op, 0);
  const uint32_t ofmap = OpenOutput(to, op, dims);
  AddLayer(to, op, SLUICE_OP_SLICE, {ifmap}, ofmap,
           {begin[0], begin[1], begin[2], begin[3]});
  CloseOutput(to, op, ofmap);
}

}  // namespace

namespace {

void Joined(Lowering* to, const TfliteOperator& op, const std::vector<uint32_t>& parts,
            const AxisView& whole) {
  const uint32_t made = OpenOutput(to, op, whole.dims);
  AddLayer(to, op, SLUICE_OP_CONCAT, parts, made, {static_cast<int32_t>(whole.axis)});
  CloseOutput(to, op, made);
}

}  // namespace

void LowerConcat(Lowering* to, const TfliteOperator& op) {
  const auto* options = op.wire->builtin_options_as_ConcatenationOptions();
  Require(options != nullptr, "missing options");
  Require(options->activation() == tflite::Activation::NONE, "a fused activation");
  const TfliteTensor& out = OutputOf(*to, op);
  const AxisView whole = ViewAlong(out, options->axis());
  std::vector<uint32_t> inputs;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const TfliteTensor& input = InputOf(*to, op, i);
    RequireSameType(input, out);
    const AxisView part = ViewAlong(input, options->axis());
    Require(part.axis == whole.axis, "inputs of several ranks");
    inputs.push_back(
        Requantised(to, op, i, Reshaped(to, InputTensor(to, op, i), input, part.dims)));
  }
  Joined(to, op, inputs, whole);
}

void LowerPack(Lowering* to, const TfliteOperator& op) {
  const auto* options = op.wire->builtin_options_as_PackOptions();
  Require(options != nullptr, "missing options");
  const TfliteTensor& out = OutputOf(*to, op);
  const AxisView whole = ViewAlong(out, options->axis());
  Dims part = whole.dims;
  part[whole.axis] = 1;
  std::vector<uint32_t> inputs;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    RequireSameType(InputOf(*to, op, i), out);
    const uint32_t plain =
        Reshaped(to, InputTensor(to, op, i), InputOf(*to, op, i), part);
    inputs.push_back(Requantised(to, op, i, plain));
  }
  Joined(to, op, inputs, whole);
}

// Requires that output `i` of a SLICE or SPLIT has this extent on an axis of its input.
void RequireExtent(Lowering* to, const TfliteOperator& op, size_t i, size_t axis,
                   int64_t extent) {
  const TfliteTensor& out = OutputOf(*to, op, i);
  if (ExtentsOf(out)[axis] != extent) {
    throw Error(Fault::kBadInput,
                "the extents of " + out.name + " are not what its operands say");
  }
}

// The parts' extents along the axis, which has `whole`; -1 is what is left over.
std::vector<int64_t> PartsOf(Lowering* to, const TfliteOperator& op, int64_t whole) {
  const size_t count = op.outputs.size();
  if (Is(op, BuiltinOperator::SPLIT)) {
    return std::vector<int64_t>(count, count == 0 ? 0 : whole / int64_t(count));
  }
  std::vector<int64_t> parts = Integers(InputOf(*to, op, 1));
  Require(parts.size() == count, "sizes and outputs of different number");
  int64_t left = whole;
  for (const int64_t part : parts) {
    Require(part >= -1 && part <= INT32_MAX, "a negative size");
    left -= std::max<int64_t>(part, 0);
  }
  std::replace(parts.begin(), parts.end(), int64_t{-1}, left);
  return parts;
}

void LowerSplit(Lowering* to, const TfliteOperator& op) {
  const bool plain = Is(op, BuiltinOperator::SPLIT);  // SPLIT: axis, value
  const size_t from = plain ? 1 : 0;                  // SPLIT_V: value, sizes, axis
  const std::vector<int64_t> axes = Integers(InputOf(*to, op, plain ? 0 : 2));
  Require(axes.size() == 1, "several axes");
  const TfliteTensor& input = InputOf(*to, op, from);
  const size_t axis = static_cast<size_t>(AxisOf(input, axes[0]));
  const Extents in = ExtentsOf(input);
  const std::vector<int64_t> parts = PartsOf(to, op, in[axis]);
  Extents begin = {0, 0, 0, 0};
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    RequireSameType(input, OutputOf(*to, op, i));
    for (size_t a = 0; a < 4; ++a) {
      RequireExtent(to, op, i, a, a == axis ? parts[i] : in[a]);
    }
    AddSlice(to, op, from, i, begin);
    begin[axis] += ExtentsOf(OutputOf(*to, op, i))[axis];
  }
}

void LowerSlice(Lowering* to, const TfliteOperator& op) {
  if (Is(op, BuiltinOperator::STRIDED_SLICE)) return LowerStridedSlice(to, op);
  const TfliteTensor& input = InputOf(*to, op, 0);
  RequireSameType(input, OutputOf(*to, op));
  const std::vector<int64_t> begins = Integers(InputOf(*to, op, 1));
  const std::vector<int64_t> sizes = Integers(InputOf(*to, op, 2));
  Require(begins.size() == input.shape.size() && sizes.size() == begins.size(),
          "begin or size of another length than the rank");
  if (begins.size() > 4) {
    std::vector<StridedAxis> axes;
    for (size_t i = 0; i < begins.size(); ++i) {
      const int64_t extent = AxesOf(input)[i];
      Require(begins[i] >= 0 && begins[i] < extent, "a negative begin");
      axes.push_back({begins[i], sizes[i] == -1 ? extent : begins[i] + sizes[i], 1});
    }
    return LowerStrides(to, op, axes);
  }
  const Extents in = ExtentsOf(input);
  Extents begin = {0, 0, 0, 0};
  for (size_t i = 0; i < begins.size(); ++i) {
    Require(begins[i] >= 0 && begins[i] <= INT32_MAX, "a negative begin");
    const size_t axis = static_cast<size_t>(AxisOf(input, static_cast<int64_t>(i)));
    begin[axis] = static_cast<int32_t>(begins[i]);
    RequireExtent(to, op, 0, axis, sizes[i] == -1 ? in[axis] - begins[i] : sizes[i]);
  }
  AddSlice(to, op, 0, 0, begin);
}

void LowerPad(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  const uint8_t dtype = SmallInteger(input);
  RequireSameType(input, out);
  Require(SameAffine(input, out), "an output quantised unlike the input");
  const std::vector<int64_t> pads = Integers(InputOf(*to, op, 1));
  Require(pads.size() == 2 * input.shape.size(),
          "pads of another length than the rank");
  const Extents in = ExtentsOf(input), o = ExtentsOf(out);
  std::vector<int32_t> attributes(SLUICE_PAD_ATTRIBUTES);
  for (size_t i = 0; i < input.shape.size(); ++i) {
    const size_t a = static_cast<size_t>(AxisOf(input, static_cast<int64_t>(i)));
    if (pads[2 * i] < 0 || pads[2 * i + 1] < 0 || pads[2 * i] > INT32_MAX ||
        in[a] + pads[2 * i] + pads[2 * i + 1] != o[a]) {
      throw Error(Fault::kBadInput,
                  "the pads of " + out.name + " do not fit its extents");
    }
    attributes[a] = static_cast<int32_t>(pads[2 * i]);
  }
  attributes[SLUICE_PAD_VALUE] = AffineOf(out).zero;
  if (Is(op, BuiltinOperator::PADV2) && HasInput(op, 2)) {
    const TfliteTensor& value = InputOf(*to, op, 2);
    Require(value.data != nullptr && value.data_bytes == 1 && value.type == input.type,
            "a pad value that is not one constant of the input's type");
    Require(SameAffine(value, input), "a pad value quantised unlike the input");
    attributes[SLUICE_PAD_VALUE] =
        dtype == SLUICE_DTYPE_INT8 ? static_cast<int8_t>(value.data[0]) : value.data[0];
  }
  const uint32_t ifmap = InputTensor(to, op, 0);
  AddLayer(to, op, SLUICE_OP_PAD, {ifmap}, OutputTensor(to, op), attributes);
}

void LowerReshape(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  RequireSameType(input, out);
  const Extents in = ExtentsOf(input), o = ExtentsOf(out);
  if (int64_t{in[0]} * in[1] * in[2] * in[3] != int64_t{o[0]} * o[1] * o[2] * o[3]) {
    throw Error(Fault::kBadInput,
                "reshape " + out.name + " changes the number of elements");
  }
  const uint32_t ifmap = InputTensor(to, op, 0);
  AddLayer(to, op, SLUICE_OP_RESHAPE, {ifmap}, OutputTensor(to, op));
}

void LowerTranspose(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  RequireSameType(input, out);
  const std::vector<int64_t> axes = Integers(InputOf(*to, op, 1));
  const size_t rank = input.shape.size();
  Require(axes.size() == rank, "a permutation of another length");
  DimsOf(out);  // every extent is at least 1
  std::vector<int> perm;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + static_cast<int64_t>(rank) : axes[i];
    const bool fits = axis >= 0 && axis < static_cast<int64_t>(rank) &&
                      out.shape.size() == rank &&
                      out.shape[i] == input.shape[static_cast<size_t>(axis)] &&
                      std::find(perm.begin(), perm.end(), axis) == perm.end();
    if (!fits) {
      throw Error(Fault::kBadInput, "transpose " + out.name + " has wrong extents");
    }
    perm.push_back(static_cast<int>(axis));
  }
  uint32_t tensor = InputTensor(to, op, 0);
  const std::vector<PermutationStep> steps =
      PermutationSteps({input.shape.begin(), input.shape.end()}, perm);
  if (steps.empty())
    AddLayer(to, op, SLUICE_OP_RESHAPE, {tensor}, OutputTensor(to, op));
  for (size_t s = 0; s < steps.size(); ++s) {
    const bool last = s + 1 == steps.size();
    tensor = Reshaped(to, tensor, input, steps[s].runs);
    const Dims dims = steps[s].Result();
    const uint32_t made =
        last ? OpenOutput(to, op, dims) : Temporary(to, out, "/axes", dims);
    AddLayer(to, op, SLUICE_OP_TRANSPOSE, {tensor}, made, steps[s].Attributes());
    if (last) CloseOutput(to, op, made);
    tensor = made;
  }
}

void LowerResize(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  RequireSameType(input, out);
  Require(input.shape.size() == 4 && out.shape.size() == 4,
          "operands that do not have four axes");
  const auto* options = op.wire->builtin_options_as_ResizeBilinearOptions();
  const bool align = options != nullptr && options->align_corners();
  const bool half_pixel = options != nullptr && options->half_pixel_centers();
  if (EightBit(input) == SLUICE_DTYPE_UINT8) {
    const Extents in = ExtentsOf(input), o = ExtentsOf(out);
    Require(HasExactSteps(in[1], o[1], align, half_pixel) &&
                HasExactSteps(in[2], o[2], align, half_pixel),
            "uint8 interpolation at positions that are not multiples of 1/128");
  }
  const uint32_t ifmap = InputTensor(to, op, 0);
  AddLayer(to, op, SLUICE_OP_RESIZE_BILINEAR, {ifmap}, OutputTensor(to, op),
           {align ? 1 : 0, half_pixel ? 1 : 0});
}

}  // namespace sluice::import
