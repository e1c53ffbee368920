// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/constant_parts.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "import/error.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int32_t>;
using Values = std::vector<ComputedValue>;
using Type = tflite::TensorType;

[[noreturn]] void Bad(const ConstantCall& call, const char* what) {
  throw Error(Fault::kBadInput, "constant operator " + call.op.name + ": " + what);
}

// Makes an output whose element i is element at(i) of the input.
template <typename At>
ComputedValue Picked(const ConstantCall& call, const ConstantValue& in, Shape shape,
                     At at) {
  ComputedValue out = Empty(call, in.type, std::move(shape));
  const size_t step = TfliteTypeBytes(in.type), have = Elements(in.shape);
  const size_t n = Elements(out.shape);
  for (size_t i = 0; i < n; ++i) {
    const size_t from = at(i);
    if (from >= have) Bad(call, "it reads outside its input");
    std::memcpy(out.bytes.data() + i * step, in.data + from * step, step);
  }
  return out;
}

// The indices along all axes of element i of `shape`.
std::vector<int64_t> Position(size_t i, const Shape& shape) {
  std::vector<int64_t> at(shape.size());
  for (size_t a = shape.size(); a-- > 0;) {
    const size_t extent = static_cast<size_t>(shape[a]);
    at[a] = static_cast<int64_t>(i % extent);
    i /= extent;
  }
  return at;
}

size_t Flat(const std::vector<int64_t>& at, const Shape& shape) {
  size_t i = 0;
  for (size_t a = 0; a < shape.size(); ++a) {
    if (at[a] < 0 || at[a] >= shape[a]) return std::numeric_limits<size_t>::max();
    i = i * static_cast<size_t>(shape[a]) + static_cast<size_t>(at[a]);
  }
  return i;
}

// Concatenates the inputs along `axis`; their other extents agree.
ComputedValue Joined(const ConstantCall& call, const std::vector<ConstantValue>& parts,
                     size_t axis) {
  Shape shape = parts.at(0).shape;
  int64_t sum = 0;
  for (const ConstantValue& part : parts) {
    if (part.type != parts[0].type || part.data == nullptr) throw Unknown();
    if (part.shape.size() != shape.size()) Bad(call, "inputs of several ranks");
    for (size_t a = 0; a < shape.size(); ++a) {
      if (a != axis && part.shape[a] != shape[a]) Bad(call, "inputs that do not fit");
    }
    sum += part.shape[axis];
  }
  shape[axis] = Extents32({sum})[0];
  ComputedValue out = Empty(call, parts[0].type, shape);
  size_t inner = TfliteTypeBytes(out.type), outer = 1;
  for (size_t a = 0; a < axis; ++a) outer *= static_cast<size_t>(shape[a]);
  for (size_t a = axis + 1; a < shape.size(); ++a)
    inner *= static_cast<size_t>(shape[a]);
  uint8_t* to = out.bytes.data();
  for (size_t o = 0; o < outer; ++o) {
    for (const ConstantValue& part : parts) {
      const size_t bytes = inner * static_cast<size_t>(part.shape[axis]);
      if (bytes != 0) std::memcpy(to, part.data + o * bytes, bytes);
      to += bytes;
    }
  }
  return out;
}

// The part [begin, begin + extent) of one axis.
ComputedValue Part(const ConstantCall& call, const ConstantValue& in, size_t axis,
                   int64_t begin, int32_t extent) {
  Shape shape = in.shape;
  shape[axis] = extent;
  return Picked(call, in, shape, [&, shape](size_t i) {
    std::vector<int64_t> at = Position(i, shape);
    at[axis] += begin;
    return Flat(at, in.shape);
  });
}

void RequireOneQuantisation(const ConstantCall& call) {
  const auto same = [](const ConstantValue& a, const ConstantValue& b) {
    if ((a.scale == nullptr) != (b.scale == nullptr)) return false;
    return a.scale == nullptr || (*a.scale == *b.scale && a.zero_point == b.zero_point);
  };
  for (const ConstantValue& in : call.inputs) {
    if (!same(in, call.outputs[0])) throw Unknown();
  }
}

struct SlicedAxis {
  int64_t begin, step;
  int32_t extent;
  bool lost;
};

SlicedAxis AxisOfSlice(const ConstantCall& call, size_t i, int32_t whole) {
  const auto& o = *call.op.wire->builtin_options_as_StridedSliceOptions();
  const auto masked = [i](int32_t mask) { return (mask >> i & 1) != 0; };
  const int64_t step = Integers(Input(call, 3)).at(i), extent = whole;
  if (step == 0) Bad(call, "a stride of 0");
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  const auto inside = [&](int64_t v) {
    return std::clamp(v < 0 ? v + extent : v, low, high);
  };
  int64_t begin = Integers(Input(call, 1)).at(i), end = Integers(Input(call, 2)).at(i);
  if (masked(o.shrink_axis_mask())) {
    if (masked(o.begin_mask())) begin = step > 0 ? 0 : -1;
    begin += begin < 0 ? extent : 0;
    if (begin < 0 || begin >= extent) Bad(call, "an index outside its axis");
    return {begin, 1, 1, true};
  }
  begin = masked(o.begin_mask()) ? (step > 0 ? low : high) : inside(begin);
  end = masked(o.end_mask()) ? (step > 0 ? high : low) : inside(end);
  const int64_t span = step > 0 ? end - begin : begin - end;
  const int64_t stride = step > 0 ? step : -step;
  const int64_t count = span <= 0 ? 0 : (span + stride - 1) / stride;
  return {begin, step, static_cast<int32_t>(count), false};
}

}  // namespace

bool IsReal(int type) { return static_cast<Type>(type) == Type::FLOAT32; }
bool IsBool(int type) { return static_cast<Type>(type) == Type::BOOL; }

bool IsPlainInteger(const ConstantValue& value) {
  const Type type = static_cast<Type>(value.type);
  return value.scale == nullptr &&
         (type == Type::INT8 || type == Type::INT16 || type == Type::INT32 ||
          type == Type::INT64 || type == Type::UINT8 || type == Type::BOOL);
}

const ConstantValue& Input(const ConstantCall& call, size_t i) {
  if (i >= call.inputs.size() || call.inputs[i].data == nullptr) throw Unknown();
  return call.inputs[i];
}

size_t Elements(const Shape& shape) {
  size_t n = 1;
  for (const int32_t extent : shape) n *= static_cast<size_t>(extent);
  return n;
}

int64_t Integer(const ConstantValue& value, size_t i) {
  const uint8_t* at = value.data + i * TfliteTypeBytes(value.type);
  const auto read = [at](auto element) {
    std::memcpy(&element, at, sizeof element);
    return static_cast<int64_t>(element);
  };
  switch (static_cast<Type>(value.type)) {
    case Type::INT8:
      return read(int8_t{});
    case Type::UINT8:
    case Type::BOOL:
      return read(uint8_t{});
    case Type::INT16:
      return read(int16_t{});
    case Type::INT32:
      return read(int32_t{});
    case Type::INT64:
      return read(int64_t{});
    default:
      throw Unknown();
  }
}

double Real(const ConstantValue& value, size_t i) {
  if (!IsReal(value.type)) throw Unknown();
  float element;
  std::memcpy(&element, value.data + 4 * i, 4);
  return static_cast<double>(element);
}

std::vector<int64_t> Integers(const ConstantValue& value) {
  std::vector<int64_t> values(Elements(value.shape));
  for (size_t i = 0; i < values.size(); ++i) values[i] = Integer(value, i);
  return values;
}

Shape Extents32(const std::vector<int64_t>& values) {
  Shape shape;
  for (const int64_t value : values) {
    if (value < 0 || value > std::numeric_limits<int32_t>::max()) throw Unknown();
    shape.push_back(static_cast<int32_t>(value));
  }
  return shape;
}

int64_t AxisIn(const Shape& shape, int64_t axis) {
  const int64_t rank = static_cast<int64_t>(shape.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) throw Unknown();
  return axis;
}

ComputedValue Empty(const ConstantCall& call, int type, Shape shape) {
  uint64_t bytes = TfliteTypeBytes(type);
  if (bytes == 0) throw Unknown();
  for (const int32_t extent : shape) {
    if (extent < 0) throw Unknown();
    bytes *= static_cast<uint64_t>(extent);
    if (bytes > call.most_bytes) throw Unknown();
  }
  return {type, std::move(shape), std::vector<uint8_t>(static_cast<size_t>(bytes))};
}

void Put(ComputedValue* out, size_t i, int64_t value) {
  const size_t step = TfliteTypeBytes(out->type);
  if (IsReal(out->type)) throw Unknown();
  uint8_t* at = out->bytes.data() + i * step;
  // Little-endian on every machine.
  for (size_t b = 0; b < step; ++b) {
    at[b] = static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * b));
  }
}

void PutReal(ComputedValue* out, size_t i, double value) {
  if (!IsReal(out->type)) throw Unknown();
  const float element = static_cast<float>(value);
  std::memcpy(out->bytes.data() + 4 * i, &element, 4);
}

Shape Broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape shape = longer;
  const size_t skip = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int32_t& extent = shape[skip + i];
    if (extent != shorter[i] && extent != 1 && shorter[i] != 1) throw Unknown();
    if (extent == 1) extent = shorter[i];
  }
  return shape;
}

size_t BroadcastIndex(size_t i, const Shape& shape, const Shape& from) {
  const std::vector<int64_t> at = Position(i, shape);
  const size_t skip = shape.size() - from.size();
  size_t index = 0;
  for (size_t a = 0; a < from.size(); ++a) {
    const size_t extent = static_cast<size_t>(from[a]);
    index = index * extent + (extent == 1 ? 0 : static_cast<size_t>(at[skip + a]));
  }
  return index;
}

namespace {

// The declared shape of the output; without one, the shape in operand 1, where -1
// stands for the extent that follows from the number of elements.
Shape ShapeOfReshape(const ConstantCall& call, const ConstantValue& in) {
  const Shape& declared = call.outputs[0].shape;
  if (!declared.empty() || call.inputs.size() < 2 || call.inputs[1].type < 0 ||
      call.inputs[1].shape.size() != 1) {
    return declared;
  }
  std::vector<int64_t> told = Integers(call.inputs[1]);
  const auto open = std::find(told.begin(), told.end(), -1);
  const size_t all = Elements(in.shape);
  size_t others = 1;
  for (auto i = told.begin(); i != told.end(); ++i) {
    if (i == open) continue;
    if (*i <= 0 || static_cast<uint64_t>(*i) > all) return declared;
    others *= static_cast<size_t>(*i);
    if (others > all) return declared;
  }
  if (told.empty() || others == 0 || all % others != 0) return declared;
  if (open != told.end()) *open = static_cast<int64_t>(all / others);
  return Extents32(told);
}

}  // namespace

Values ReshapeParts(const ConstantCall& call) {
  const ConstantValue& in = Input(call, 0);
  const Shape shape = ShapeOfReshape(call, in);
  for (const int32_t extent : shape) {
    if (extent < 0) throw Unknown();
  }
  if (Elements(shape) != Elements(in.shape)) throw Unknown();
  return {Picked(call, in, shape, [](size_t i) { return i; })};
}

Values StridedSliceParts(const ConstantCall& call) {
  const auto* o = call.op.wire->builtin_options_as_StridedSliceOptions();
  const ConstantValue& in = Input(call, 0);
  if (o == nullptr || o->ellipsis_mask() != 0 || o->new_axis_mask() != 0 ||
      o->offset()) {
    throw Unknown();
  }
  const size_t given = Elements(Input(call, 1).shape);
  if (given > in.shape.size() || given != Elements(Input(call, 2).shape) ||
      given != Elements(Input(call, 3).shape)) {
    Bad(call, "begin, end and strides of different lengths");
  }
  std::vector<SlicedAxis> axes;
  Shape whole, shape;
  for (size_t a = 0; a < in.shape.size(); ++a) {
    axes.push_back(a < given ? AxisOfSlice(call, a, in.shape[a])
                             : SlicedAxis{0, 1, in.shape[a], false});
    whole.push_back(axes[a].extent);
    if (!axes[a].lost) shape.push_back(axes[a].extent);
  }
  return {Picked(call, in, shape, [&](size_t i) {
    std::vector<int64_t> at = Position(i, whole);
    for (size_t a = 0; a < at.size(); ++a) at[a] = axes[a].begin + at[a] * axes[a].step;
    return Flat(at, in.shape);
  })};
}

Values SliceParts(const ConstantCall& call) {
  const ConstantValue& in = Input(call, 0);
  const std::vector<int64_t> begin = Integers(Input(call, 1));
  std::vector<int64_t> size = Integers(Input(call, 2));
  if (begin.size() != in.shape.size() || size.size() != in.shape.size())
    throw Unknown();
  for (size_t a = 0; a < size.size(); ++a) {
    if (size[a] < 0) size[a] = in.shape[a] - begin[a];
  }
  const Shape shape = Extents32(size);
  return {Picked(call, in, shape, [&](size_t i) {
    std::vector<int64_t> at = Position(i, shape);
    for (size_t a = 0; a < at.size(); ++a) at[a] += begin[a];
    return Flat(at, in.shape);
  })};
}

Values PackParts(const ConstantCall& call) {
  const auto* o = call.op.wire->builtin_options_as_PackOptions();
  if (o == nullptr) throw Unknown();
  RequireOneQuantisation(call);
  std::vector<ConstantValue> parts = call.inputs;
  const Shape ones(Input(call, 0).shape.size() + 1, 1);
  const size_t axis = static_cast<size_t>(AxisIn(ones, o->axis()));
  for (ConstantValue& part : parts) {
    if (part.shape.size() + 1 != ones.size()) Bad(call, "inputs of several ranks");
    part.shape.insert(part.shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  }
  return {Joined(call, parts, axis)};
}

Values UnpackParts(const ConstantCall& call) {
  const auto* o = call.op.wire->builtin_options_as_UnpackOptions();
  if (o == nullptr) throw Unknown();
  const ConstantValue& in = Input(call, 0);
  const size_t axis = static_cast<size_t>(AxisIn(in.shape, o->axis()));
  if (static_cast<size_t>(in.shape[axis]) != call.outputs.size()) throw Unknown();
  Values values;
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    values.push_back(Part(call, in, axis, static_cast<int64_t>(i), 1));
    values.back().shape.erase(values.back().shape.begin() +
                              static_cast<std::ptrdiff_t>(axis));
  }
  return values;
}

Values ConcatParts(const ConstantCall& call) {
  const auto* o = call.op.wire->builtin_options_as_ConcatenationOptions();
  if (o == nullptr || o->activation() != tflite::Activation::NONE) throw Unknown();
  RequireOneQuantisation(call);
  const size_t axis = static_cast<size_t>(AxisIn(Input(call, 0).shape, o->axis()));
  return {Joined(call, call.inputs, axis)};
}

Values SplitParts(const ConstantCall& call) {
  const ConstantValue& in = Input(call, 1);
  const std::vector<int64_t> axes = Integers(Input(call, 0));
  if (axes.size() != 1) throw Unknown();
  const size_t axis = static_cast<size_t>(AxisIn(in.shape, axes[0]));
  const int32_t count = static_cast<int32_t>(call.outputs.size());
  if (count == 0 || in.shape[axis] % count != 0) throw Unknown();
  const int32_t extent = in.shape[axis] / count;
  Values values;
  for (int32_t i = 0; i < count; ++i) {
    values.push_back(Part(call, in, axis, int64_t{i} * extent, extent));
  }
  return values;
}

Values TileParts(const ConstantCall& call) {
  const ConstantValue& in = Input(call, 0);
  const std::vector<int64_t> times = Integers(Input(call, 1));
  if (times.size() != in.shape.size()) throw Unknown();
  std::vector<int64_t> extents;
  for (size_t a = 0; a < times.size(); ++a) {
    if (times[a] < 0 || times[a] > std::numeric_limits<int32_t>::max()) throw Unknown();
    extents.push_back(times[a] * in.shape[a]);
  }
  ComputedValue out = Empty(call, in.type, Extents32(extents));
  if (out.bytes.empty()) return {out};
  // From the inner axis outwards; blocks are repeated whole, since tiled anchors have many
  // elements.
  size_t block = TfliteTypeBytes(in.type);
  std::vector<uint8_t> tiled(in.data, in.data + Elements(in.shape) * block);
  for (size_t a = times.size(); a-- > 0;) {
    block *= static_cast<size_t>(in.shape[a]);
    const size_t count = static_cast<size_t>(times[a]);
    if (count == 1) continue;
    uint8_t* to = out.bytes.data();
    for (size_t at = 0; at < tiled.size(); at += block) {
      for (size_t t = 0; t < count; ++t, to += block) {
        std::memcpy(to, tiled.data() + at, block);
      }
    }
    tiled.assign(out.bytes.data(), to);
    block *= count;
  }
  out.bytes = std::move(tiled);
  return {out};
}

Values GatherParts(const ConstantCall& call) {
  const auto* o = call.op.wire->builtin_options_as_GatherOptions();
  const ConstantValue& in = Input(call, 0);
  const std::vector<int64_t> index = Integers(Input(call, 1));
  if (o != nullptr && o->batch_dims() != 0) throw Unknown();
  const size_t axis =
      static_cast<size_t>(AxisIn(in.shape, o == nullptr ? 0 : o->axis()));
  Shape whole = in.shape, shape = in.shape;
  whole[axis] = Extents32({static_cast<int64_t>(index.size())})[0];
  const auto at_axis = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const Shape& indices = Input(call, 1).shape;
  shape.insert(shape.erase(at_axis), indices.begin(), indices.end());
  return {Picked(call, in, shape, [&](size_t i) {
    std::vector<int64_t> at = Position(i, whole);
    at[axis] = index[static_cast<size_t>(at[axis])];
    return Flat(at, in.shape);
  })};
}

Values TransposeParts(const ConstantCall& call) {
  const ConstantValue& in = Input(call, 0);
  const std::vector<int64_t> perm = Integers(Input(call, 1));
  if (perm.size() != in.shape.size()) throw Unknown();
  Shape shape;
  for (const int64_t axis : perm) {
    shape.push_back(in.shape[static_cast<size_t>(AxisIn(in.shape, axis))]);
  }
  return {Picked(call, in, shape, [&](size_t i) {
    const std::vector<int64_t> at = Position(i, shape);
    std::vector<int64_t> from(at.size());
    for (size_t a = 0; a < at.size(); ++a) {
      from[static_cast<size_t>(AxisIn(in.shape, perm[a]))] = at[a];
    }
    return Flat(from, in.shape);
  })};
}

Values BroadcastParts(const ConstantCall& call) {
  const ConstantValue& in = Input(call, 0);
  const Shape shape = Extents32(Integers(Input(call, 1)));
  if (Broadcast(in.shape, shape) != shape) throw Unknown();
  return {Picked(call, in, shape,
                 [&](size_t i) { return BroadcastIndex(i, shape, in.shape); })};
}

}  // namespace sluice::import
