// SPDX-License-Identifier: Apache-2.0
// ONNX: operators that move data without computing, resizing, and OPAQUE layers.
#include <algorithm>
#include <cstring>
#include <tuple>

#include "import/error.h"
#include "import/onnx/onnx_lowering.h"

namespace sluice::import {
namespace {

// Axes [in_begin, in_end) of one shape and [out_begin, out_end) of another that hold the same
// elements in the same order.
struct Group {
  size_t in_begin, in_end, out_begin, out_end;
};

std::vector<Group> GroupsOf(const std::vector<int64_t>& in,
                            const std::vector<int64_t>& out) {
  std::vector<Group> groups;
  size_t i = 0, o = 0;
  while (i < in.size() || o < out.size()) {
    Group g = {i, i, o, o};
    int64_t a = 1, b = 1;
    do {
      if (a <= b && i < in.size()) {
        a *= in[i++];
      } else if (o < out.size()) {
        b *= out[o++];
      } else {
        a *= in[i++];
      }
    } while (a != b && (i < in.size() || o < out.size()));
    g.in_end = i;
    g.out_end = o;
    groups.push_back(g);
  }
  return groups;
}

// The order of the input's axes in which each group is contiguous, so that it can be
// split or merged without moving bytes. A scattered group is gathered at its last axis.
AxisOrder Gathered(const AxisOrder& order, const std::vector<int64_t>& shape,
                   const std::vector<Group>& groups) {
  AxisOrder result = order;
  for (const Group& g : groups) {
    AxisOrder wanted;
    for (size_t i = g.in_begin; i < g.in_end; ++i) {
      if (shape[i] != 1) wanted.push_back(static_cast<int>(i));
    }
    if (wanted.size() < 2) continue;
    AxisOrder lies;  // without ones
    for (const int axis : result) {
      if (shape[static_cast<size_t>(axis)] != 1) lies.push_back(axis);
    }
    if (std::search(lies.begin(), lies.end(), wanted.begin(), wanted.end()) !=
        lies.end()) {
      continue;
    }
    const auto in_group = [&](int axis) {
      return std::find(wanted.begin(), wanted.end(), axis) != wanted.end();
    };
    const auto last = std::find_if(result.rbegin(), result.rend(), in_group).base();
    AxisOrder next;
    for (auto it = result.begin(); it != result.end(); ++it) {
      if (!in_group(*it)) next.push_back(*it);
      if (it + 1 == last) next.insert(next.end(), wanted.begin(), wanted.end());
    }
    result = next;
  }
  return result;
}

// The order of the output's axes, given that each group is contiguous in `order`.
AxisOrder Renamed(const AxisOrder& order, const std::vector<int64_t>& in,
                  const std::vector<int64_t>& out, const std::vector<Group>& groups) {
  AxisOrder result;
  std::vector<bool> done(out.size(), false);
  for (const int axis : order) {
    if (in[static_cast<size_t>(axis)] == 1) continue;
    for (const Group& g : groups) {
      const size_t a = static_cast<size_t>(axis);
      if (a < g.in_begin || a >= g.in_end) continue;
      for (size_t o = g.out_begin; o < g.out_end; ++o) {
        if (!done[o]) result.push_back(static_cast<int>(o));
        done[o] = true;
      }
    }
  }
  for (size_t o = out.size(); o-- > 0;) {
    if (!done[o]) result.insert(result.begin(), static_cast<int>(o));
  }
  return result;
}

// One SLICE of the first input as output i; `begin` and `extent` are in ONNX's axis
// order.
void AddSlice(OnnxLowering* to, const OnnxNode& node, size_t i,
              const std::vector<int64_t>& begin, const std::vector<int64_t>& extent,
              const AxisOrder& out_order) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, input));
  const OnnxPlace place = PlaceOf(to, input);
  Require(shape.size() <= 4, "more than four axes");
  const size_t lead = 4 - shape.size();
  std::vector<int32_t> begins = {0, 0, 0, 0};
  for (size_t k = 0; k < place.order.size(); ++k) {
    const size_t axis = static_cast<size_t>(place.order[k]);
    if (begin[axis] < 0 || extent[axis] < 1 ||
        begin[axis] + extent[axis] > shape[axis]) {
      throw Error(Fault::kBadInput, "slice " + node.name + " leaves its input");
    }
    begins[lead + k] = static_cast<int32_t>(begin[axis]);
  }
  const uint32_t ifmap = TensorAs(to, input, place.order, DimsIn(shape, place.order));
  const uint32_t ofmap =
      NewOutput(to, node, i, out_order, DimsIn(extent, place.order), place.numbers);
  AddLayer(to, OutputOf(*to, node, i).name, SLUICE_OP_SLICE, {ifmap}, ofmap, begins);
}

}  // namespace

void LowerOnnxSame(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  Alias(to, node.outputs[0], input, PlaceOf(to, input).order);
}

void LowerOnnxCast(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const OnnxValue &from = ValueOf(*to, input), &out = OutputOf(*to, node);
  const bool to_floats = out.type == kOnnxFloat && from.type != kOnnxFloat;
  const bool to_integers = out.type != kOnnxFloat && from.type == kOnnxFloat;
  Require(!to->computes_floats || !to_integers, "floats that become integers");
  const auto wide = [](int type) { return type == kOnnxInt32 || type == kOnnxInt64; };
  Require(!to->computes_floats || to_floats || out.type == from.type ||
              (wide(out.type) && wide(from.type)),
          "integers that become others");
  LowerOnnxSame(to, node);
  if (!to->computes_floats || !to_floats) return;
  OnnxPlace place = PlaceOf(to, node.outputs[0]);
  Require(place.numbers.dtype != SLUICE_DTYPE_INT32, "integers that become floats");
  place.numbers.known = true;
  place.numbers.affine = {1, 0};
  place.layer = -1;
  SetPlace(to, node.outputs[0], place);
}

// Expand: concatenates copies of the input along each broadcast axis.
void LowerOnnxExpand(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& in = ShapeOf(ValueOf(*to, input));
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  if (in == out) return LowerOnnxSame(to, node);
  Require(in.size() <= out.size(), "a tensor that loses axes");
  std::vector<int64_t> shape(out.size() - in.size(), 1);
  shape.insert(shape.end(), in.begin(), in.end());
  const Numbers numbers = PlaceOf(to, input).numbers;
  uint32_t tensor = PlainTensor(to, input);
  for (size_t axis = 0; axis < out.size(); ++axis) {
    if (shape[axis] == out[axis]) continue;
    Require(shape[axis] == 1 && out[axis] <= 64, "an axis that is repeated often");
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < axis; ++i) outer *= shape[i];
    for (size_t i = axis + 1; i < out.size(); ++i) inner *= shape[i];
    Require(outer * inner * out[axis] <= INT32_MAX, "an extent above 2^31 - 1");
    const std::string name = OutputOf(*to, node).name + "/axis" + std::to_string(axis);
    const Dims one = {static_cast<int32_t>(outer), 1, static_cast<int32_t>(inner)};
    const Dims many = {one[0], static_cast<int32_t>(out[axis]), one[2]};
    const uint32_t seen = NewTensor(to, name + "/one", one, numbers);
    AddLayer(to, name + "/one", SLUICE_OP_RESHAPE, {tensor}, seen);
    tensor = NewTensor(to, name, many, numbers);
    AddLayer(to, name, SLUICE_OP_CONCAT,
             std::vector<uint32_t>(static_cast<size_t>(out[axis]), seen), tensor, {2});
    shape[axis] = out[axis];
  }
  const AxisOrder order = Straight(out.size());
  const uint32_t ofmap = NewOutput(to, node, 0, order, DimsIn(out, order), numbers);
  AddLayer(to, node.name, SLUICE_OP_RESHAPE, {tensor}, ofmap);
}

// DepthToSpace and SpaceToDepth: six axes permuted.
void LowerOnnxDepth(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& in = ShapeOf(ValueOf(*to, input));
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  const int64_t b = node.Int("blocksize", 1);
  const bool grows = node.op == "DepthToSpace";
  Require(in.size() == 4 && out.size() == 4 && b >= 1, "other than two spatial axes");
  Require((grows ? in[1] : out[1]) % (b * b) == 0 && in[0] == out[0],
          "channels that do not divide by the block");
  const auto& [small, large] = grows ? std::tie(in, out) : std::tie(out, in);
  Require(b <= 65536 && large[2] == small[2] * b && large[3] == small[3] * b &&
              small[1] == large[1] * b * b,
          "extents that do not fit the block");
  const Numbers numbers = PlaceOf(to, input).numbers;
  // Channels last, the layout of a convolution's input and output.
  const AxisOrder order = ChannelsLast(4);
  const uint32_t ifmap = TensorAs(to, input, order, DimsIn(in, order));
  const int64_t h = std::min(in[2], out[2]), w = std::min(in[3], out[3]),
                c = std::min(in[1], out[1]);
  std::vector<int64_t> extents = {in[0], h, w, b, b, c};
  std::vector<int> perm = {0, 1, 3, 2, 4, 5};
  if (grows && node.Text("mode", "DCR") == "CRD") {
    extents = {in[0], h, w, c, b, b};
    perm = {0, 1, 4, 2, 5, 3};
  } else if (!grows) {
    extents = {in[0], h, b, w, b, c};
  }
  const uint32_t moved = PermutedTensor(to, OutputOf(*to, node).name + "/blocks", ifmap,
                                        extents, perm, numbers);
  const uint32_t ofmap = NewOutput(to, node, 0, order, DimsIn(out, order), numbers);
  AddLayer(to, node.name, SLUICE_OP_RESHAPE, {moved}, ofmap);
}

void LowerOnnxReshape(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& in = ShapeOf(ValueOf(*to, input));
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  if (ElementsOf(in) != ElementsOf(out)) {
    throw Error(Fault::kBadInput,
                "reshape " + node.name + " changes the number of elements");
  }
  const std::vector<Group> groups = GroupsOf(in, out);
  const OnnxPlace place = PlaceOf(to, input);
  const AxisOrder order = Gathered(place.order, in, groups);
  OnnxPlace result = place;
  if (order != place.order) {
    result.tensor = TensorAs(to, input, order, DimsIn(in, order));
  }
  result.layer = -1;
  result.order = Renamed(order, in, out, groups);
  SetPlace(to, node.outputs[0], result);
}

void LowerOnnxTranspose(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const size_t rank = ShapeOf(ValueOf(*to, input)).size();
  std::vector<int64_t> reversed;
  for (size_t i = rank; i-- > 0;) reversed.push_back(static_cast<int64_t>(i));
  const std::vector<int64_t> perm = node.Ints("perm", reversed);
  AxisOrder inverse(rank, -1);
  Require(perm.size() == rank, "a permutation of another length");
  for (size_t i = 0; i < rank; ++i) {
    const int from = AxisOf(ValueOf(*to, input), perm[i]);
    Require(inverse[static_cast<size_t>(from)] < 0, "no permutation");
    inverse[static_cast<size_t>(from)] = static_cast<int>(i);
  }
  AxisOrder order;
  for (const int axis : PlaceOf(to, input).order) {
    order.push_back(inverse[static_cast<size_t>(axis)]);
  }
  Alias(to, node.outputs[0], input, order);
}

namespace {

struct Part {
  int value;
  Numbers numbers;
};

// The inputs of a Concat, quantised as the operator (QLinearConcat) or their places
// say.
std::vector<Part> PartsOf(OnnxLowering* to, const OnnxNode& node) {
  std::vector<Part> parts;
  if (node.op == "Concat") {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int input = InputIndex(node, i);
      Numbers numbers;
      if (!ValueOf(*to, input).constant) {
        numbers = PlaceOf(to, input).numbers;
      } else {
        numbers.known = ConstantOf(*to, input).stored != nullptr;
      }
      parts.push_back({input, numbers});
    }
    return parts;
  }
  for (size_t i = 2; i + 2 < node.inputs.size(); i += 3) {
    parts.push_back({InputIndex(node, i), QLinearInput(to, node, i)});
  }
  Require(!parts.empty(), "no operands");
  return parts;
}

// Requires that all parts agree in the other axes and together fill the output's axis.
void RequireParts(const OnnxLowering& to, const std::vector<Part>& parts,
                  const std::vector<int64_t>& out, int axis) {
  int64_t length = 0;
  bool agree = true;
  for (const Part& part : parts) {
    std::vector<int64_t> shape = ShapeOf(ValueOf(to, part.value));
    agree &= shape.size() == out.size();
    if (!agree) break;
    int64_t& extent = shape[static_cast<size_t>(axis)];
    length += extent;
    extent = out[static_cast<size_t>(axis)];
    agree &= shape == out;
  }
  if (agree && length == out[static_cast<size_t>(axis)]) return;
  throw Error(Fault::kBadInput,
              "shapes contradict each other: parts of a concatenation");
}

// Extents of a tensor of which others are parts along the axis; of more than four axes those
// before and behind it are one each.
Dims DimsAround(const std::vector<int64_t>& shape, int axis, const AxisOrder& order) {
  if (shape.size() <= 4) return DimsIn(shape, order);
  const size_t at = static_cast<size_t>(axis);
  return {ProductOfAxes(shape, 0, at), ProductOfAxes(shape, at, at + 1),
          ProductOfAxes(shape, at + 1, shape.size())};
}

}  // namespace

void LowerOnnxConcat(OnnxLowering* to, const OnnxNode& node) {
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  const int axis = AxisOf(OutputOf(*to, node), node.Int("axis", 0));
  const bool many = out.size() > 4;  // axes around the concatenated one are joined
  const std::vector<Part> parts = PartsOf(to, node);
  RequireParts(*to, parts, out, axis);
  AxisOrder order = Straight(out.size());
  bool known = true;
  for (size_t i = parts.size(); i-- > 0;) {
    known &= parts[i].numbers.known;
    if (!many && !ValueOf(*to, parts[i].value).constant)
      order = PlaceOf(to, parts[i].value).order;
  }
  const bool plain = node.op == "Concat";
  const Numbers target =
      plain ? TargetOf(*to, node.outputs[0]) : ScaleAndZero(*to, node, 0, 1);
  const bool exact = known && target.known;
  const bool floats = !exact && to->computes_floats;
  Require(!many || !floats, "more than four axes");
  if (!exact && !floats) CountShapesOnly(to, node);
  Numbers numbers = exact ? target : Numbers();
  if (floats) {
    numbers.floats = true;
    numbers.dtype = SLUICE_DTYPE_INT32;
  }
  std::vector<uint32_t> tensors;
  for (const Part& part : parts) {
    if (floats) {
      tensors.push_back(FloatsOf(to, part.value, order));
      continue;
    }
    const Dims dims = DimsAround(ShapeOf(ValueOf(*to, part.value)), axis, order);
    const uint32_t tensor = TensorAs(to, part.value, order, dims);
    const Numbers from = plain ? PlaceOf(to, part.value).numbers : part.numbers;
    // All parts need one dtype, also where only shapes count.
    const bool same = exact ? false : from.dtype == numbers.dtype;
    const std::string name =
        OutputOf(*to, node).name + "/part" + std::to_string(tensors.size());
    tensors.push_back(same ? tensor : Requantised(to, name, tensor, from, numbers));
  }
  const int place = static_cast<int>(std::find(order.begin(), order.end(), axis) -
                                     order.begin() + 4 - static_cast<int>(out.size()));
  const uint32_t ofmap =
      NewOutput(to, node, 0, order, DimsAround(out, axis, order), numbers);
  AddLayer(to, node.name, SLUICE_OP_CONCAT, tensors, ofmap, {many ? 2 : place});
}

void LowerOnnxSplit(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, input));
  const int axis = AxisOf(ValueOf(*to, input), node.Int("axis", 0));
  const bool many = shape.size() > 4;  // axes around the split one are joined
  const AxisOrder straight = Straight(shape.size());
  std::vector<int64_t> begin(shape.size(), 0);
  int64_t& at = begin[static_cast<size_t>(axis)];
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const std::vector<int64_t>& extent = ShapeOf(OutputOf(*to, node, i));
    if (many) {
      const uint32_t ifmap =
          TensorAs(to, input, straight, DimsAround(shape, axis, straight));
      const uint32_t ofmap =
          NewOutput(to, node, i, straight, DimsAround(extent, axis, straight),
                    PlaceOf(to, input).numbers);
      AddLayer(to, OutputOf(*to, node, i).name, SLUICE_OP_SLICE, {ifmap}, ofmap,
               {0, 0, static_cast<int32_t>(at), 0});
    } else {
      AddSlice(to, node, i, begin, extent, PlaceOf(to, input).order);
    }
    at += extent[static_cast<size_t>(axis)];
  }
}

void LowerOnnxSlice(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, input));
  const bool listed = HasInput(node, 1);  // inputs since opset 10
  const std::vector<int64_t> starts =
      listed ? IntegersOf(*to, node, 1) : node.Ints("starts", {});
  std::vector<int64_t> axes = node.Ints("axes", {});
  if (HasInput(node, 3)) axes = IntegersOf(*to, node, 3);
  if (axes.empty()) {
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (HasInput(node, 4)) {
    for (const int64_t step : IntegersOf(*to, node, 4)) {
      Require(step == 1, "steps other than 1");
    }
  }
  Require(axes.size() == starts.size(), "begins and axes of different lengths");
  std::vector<int64_t> begin(shape.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = static_cast<size_t>(AxisOf(ValueOf(*to, input), axes[i]));
    const int64_t from = starts[i] < 0 ? starts[i] + shape[axis] : starts[i];
    begin[axis] = std::clamp<int64_t>(from, 0, shape[axis]);
  }
  AddSlice(to, node, 0, begin, ShapeOf(OutputOf(*to, node)), PlaceOf(to, input).order);
}

void LowerOnnxGather(OnnxLowering* to, const OnnxNode& node) {
  const int table = InputIndex(node, 0), index = InputIndex(node, 1);
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, table));
  const int axis = AxisOf(ValueOf(*to, table), node.Int("axis", 0));
  if (ValueOf(*to, index).constant) {  // one slice of an activation
    const std::vector<int64_t> at = IntegersOf(*to, node, 1);
    Require(at.size() == 1, "several constant indices");
    std::vector<int64_t> begin(shape.size(), 0), extent = shape;
    begin[static_cast<size_t>(axis)] =
        at[0] < 0 ? at[0] + shape[static_cast<size_t>(axis)] : at[0];
    extent[static_cast<size_t>(axis)] = 1;
    AxisOrder order;
    const bool keeps = ShapeOf(OutputOf(*to, node)).size() == shape.size();
    for (const int other : PlaceOf(to, table).order) {
      if (keeps) {
        order.push_back(other);
      } else if (other != axis) {
        order.push_back(other > axis ? other - 1 : other);
      }
    }
    return AddSlice(to, node, 0, begin, extent, order);
  }
  Require(axis == 0 && shape.size() == 2, "a table that does not have two axes");
  Require(PlaceOf(to, index).numbers.dtype == SLUICE_DTYPE_INT32,
          "indices that are computed");
  const bool quantised = ValueOf(*to, table).constant
                             ? ConstantOf(*to, table).stored != nullptr ||
                                   OnnxTypeBytes(ValueOf(*to, table).type) == 1
                             : PlaceOf(to, table).numbers.known;
  Numbers numbers;
  numbers.floats = to->computes_floats && !quantised;
  if (numbers.floats) numbers.dtype = SLUICE_DTYPE_INT32;
  const uint32_t rows = numbers.floats ? FloatsOf(to, table) : PlainTensor(to, table);
  if (!numbers.floats) numbers = PlaceOf(to, table).numbers;
  const bool integers = ValueOf(*to, table).type != kOnnxFloat;
  if (!numbers.known && !numbers.floats && !integers) CountShapesOnly(to, node);
  const uint32_t indices = PlainTensor(to, index);
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  const AxisOrder order = Straight(out.size());
  const uint32_t ofmap = NewOutput(to, node, 0, order, DimsIn(out, order), numbers);
  AddLayer(to, node.name, SLUICE_OP_GATHER, {rows, indices}, ofmap);
}

namespace {

// The index of an attribute's value in ONNX's list of values.
int32_t PlaceIn(const std::vector<const char*>& list, const std::string& text) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (text == list[i]) return static_cast<int32_t>(i);
  }
  throw Unsupported("\"" + text + "\"");
}

struct Resizing {
  bool nearest, old, cubic;
  std::string positions, rounding;
};

Resizing ResizingOf(const OnnxLowering& to, const OnnxNode& node) {
  const std::string mode = node.Text("mode", "nearest");
  Require(mode == "nearest" || mode == "linear" || mode == "cubic",
          "cubic interpolation");
  Require(node.Int("antialias", 0) == 0, "smoothing");
  Resizing r = {};
  r.nearest = mode == "nearest";
  r.cubic = mode == "cubic";
  r.old = node.op == "Upsample" || to.model.opset < 11;
  r.positions =
      node.Text("coordinate_transformation_mode", r.old ? "asymmetric" : "half_pixel");
  r.rounding = node.Text("nearest_mode", r.old ? "floor" : "round_prefer_floor");
  return r;
}

// The resize factor of an axis: as the node gives it, else output extent / input
// extent.
float ScaleOf(const OnnxLowering& to, const OnnxNode& node, size_t axis) {
  const std::vector<int64_t>& in = ShapeOf(InputOf(to, node, 0));
  const std::vector<int64_t>& out = ShapeOf(OutputOf(to, node));
  const size_t at = node.op == "Upsample" || to.model.opset < 11 ? 1 : 2;
  if (HasInput(node, at)) {
    const OnnxValue& scales = InputOf(to, node, at);
    float scale = 0;
    if (scales.has_data && scales.type == kOnnxFloat &&
        scales.data.size() == 4 * in.size()) {
      std::memcpy(&scale, scales.data.data() + 4 * axis, 4);
    }
    if (scale > 0) return scale;
  }
  return static_cast<float>(out[axis]) / static_cast<float>(in[axis]);
}

// Resizes as onnxruntime does: in floats; for stored integers the fraction is cut off.
void ResizeOnHost(OnnxLowering* to, const OnnxNode& node, const Resizing& r) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& in = ShapeOf(ValueOf(*to, input));
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  const bool integers = ValueOf(*to, input).type != kOnnxFloat;
  const Numbers numbers = PlaceOf(to, input).numbers;
  Require(!integers || !numbers.floats,
          "floats that the model declares to be integers");
  if (integers) {  // the stored values are the numbers
    OnnxPlace raw = PlaceOf(to, input);
    raw.numbers.known = true;
    raw.numbers.affine = {1, 0};
    SetPlace(to, input, raw);
  }
  const uint32_t floats = FloatsOf(to, input);
  if (integers) {
    OnnxPlace place = PlaceOf(to, input);
    place.numbers = numbers;
    SetPlace(to, input, place);
  }
  const uint32_t ofmap = NewFloats(to, node);
  std::vector<int32_t> options = {
      static_cast<int32_t>(in[0] * in[1]),
      static_cast<int32_t>(in[2]),
      static_cast<int32_t>(out[2]),
      static_cast<int32_t>(in[3]),
      static_cast<int32_t>(out[3]),
      r.cubic     ? 2
      : r.nearest ? 0
                  : 1,
      PlaceIn({"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"},
              r.positions),
      PlaceIn({"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}, r.rounding),
      FloatBits(ScaleOf(*to, node, 2)),
      FloatBits(ScaleOf(*to, node, 3))};
  if (r.cubic) {
    options.push_back(FloatBits(node.Float("cubic_coeff_a", -0.75f)));
    options.push_back(node.Int("exclude_outside", 0) != 0 ? 1 : 0);
  }
  AddHost(to, node.name, "Resize", {{floats}, options, {ofmap}},
          4 * static_cast<uint64_t>(ElementsOf(out)));
  if (!integers) return CountRounded(to, node, kHostFloats);
  const AxisOrder order = Straight(4);
  const Dims dims = DimsIn(out, order);
  Numbers real = PlaceOf(to, node.outputs[0]).numbers;
  const std::string name = OutputOf(*to, node).name + "/whole";
  const uint32_t whole = NewTensor(to, name, dims, real);
  AddHost(to, name, "Trunc", {{ofmap}, {0, 0, 0}, {whole}}, 0);
  const uint32_t stored = NewOutput(to, node, 0, order, dims, numbers);
  AddHost(to, name + ".stored", "QuantizeLinear",
          {{whole, FloatConstant(to, name + ".scale", {1}, {1.0f}),
            IntegerConstant(to, name + ".zero", {0})},
           {1, 1},
           {stored}},
          0);
}

}  // namespace

void LowerOnnxResize(OnnxLowering* to, const OnnxNode& node) {
  const int input = InputIndex(node, 0);
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*to, input));
  const std::vector<int64_t>& out = ShapeOf(OutputOf(*to, node));
  Require(
      shape.size() == 4 && out.size() == 4 && shape[0] == out[0] && shape[1] == out[1],
      "other than two spatial axes");
  const Resizing r = ResizingOf(*to, node);
  const bool align = r.positions == "align_corners";
  const bool half = r.positions == "half_pixel" || r.positions == "pytorch_half_pixel";
  Require(align || half || r.positions == "asymmetric", "positions from a region");
  const Numbers numbers = PlaceOf(to, input).numbers;
  // RESIZE_NEAREST picks the model's elements when both round positions down.
  const bool exact = r.nearest && !align && !half && r.rounding == "floor" &&
                     shape[2] != 0 && out[2] % shape[2] == 0 && out[3] % shape[3] == 0;
  if (!exact && to->computes_floats) {
    Require(numbers.known || numbers.floats || ValueOf(*to, input).type != kOnnxFloat,
            "an operand whose numbers are not known");
    return ResizeOnHost(to, node, r);
  }
  if (!exact || !numbers.known) {
    if (!to->computes_floats && ValueOf(*to, input).type == kOnnxFloat) {
      CountShapesOnly(to, node);
    }
  }
  const AxisOrder order = ChannelsLast(4);
  const uint32_t ifmap = TensorAs(to, input, order, DimsIn(shape, order));
  const uint32_t ofmap = NewOutput(to, node, 0, order, DimsIn(out, order), numbers);
  AddLayer(to, node.name,
           r.nearest ? SLUICE_OP_RESIZE_NEAREST : SLUICE_OP_RESIZE_BILINEAR, {ifmap},
           ofmap, {align ? 1 : 0, half ? 1 : 0});
}

void LowerOnnxOpaque(OnnxLowering* to, const OnnxNode& node, uint64_t cycles) {
  Require(node.op != "If" && node.op != "Loop" && node.op != "Scan", "a subgraph");
  std::vector<uint32_t> inputs, outputs;
  uint64_t elements = 0;
  for (const int input : node.inputs) {  // the host has its own constants
    if (input < 0 || ValueOf(*to, input).constant) continue;
    inputs.push_back(PlainTensor(to, input));
    elements += static_cast<uint64_t>(ElementsOf(ShapeOf(ValueOf(*to, input))));
  }
  Require(!inputs.empty(), "an operator without input");
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] < 0) continue;
    const OnnxValue& value = OutputOf(*to, node, i);
    const AxisOrder order = Straight(ShapeOf(value).size());
    Numbers numbers;
    if (value.type == kOnnxInt64 || value.type == kOnnxInt32) {
      numbers.dtype = SLUICE_DTYPE_INT32;
    }
    outputs.push_back(
        NewOutput(to, node, i, order, DimsIn(value.dims, order), numbers));
    elements += static_cast<uint64_t>(ElementsOf(value.dims));
  }
  if (cycles == 0) cycles = std::clamp<uint64_t>(elements, 1, uint64_t{1} << 50);
  const int32_t name = static_cast<int32_t>(to->graph.AddName(node.op));
  to->graph.AddLayer(node.name, SLUICE_OP_OPAQUE, inputs, outputs,
                     {static_cast<int32_t>(static_cast<uint32_t>(cycles)),
                      static_cast<int32_t>(static_cast<uint32_t>(cycles >> 32)), name});
}

// Pixels between those of the operand, at places that another one gives.
void LowerOnnxGridSample(OnnxLowering* to, const OnnxNode& node) {
  const std::vector<int64_t>&x = ShapeOf(InputOf(*to, node, 0)),
        &grid = ShapeOf(InputOf(*to, node, 1)), &out = ShapeOf(OutputOf(*to, node));
  Require(x.size() == 4 && grid.size() == 4, "other than two spatial axes");
  Require(grid[0] == x[0] && grid[3] == 2 &&
              out == std::vector<int64_t>{x[0], x[1], grid[1], grid[2]},
          "a grid of other extents");
  const std::string mode = node.Text("mode", "linear"),
                    outside = node.Text("padding_mode", "zeros");
  Require(mode == "linear" || mode == "bilinear" || mode == "nearest",
          "cubic interpolation");
  Require(outside == "zeros" || outside == "border", "reflected pixels");
  std::vector<int32_t> options;
  for (const int64_t extent : {x[0], x[1], x[2], x[3], grid[1], grid[2]}) {
    Require(extent <= 1 << 20, "an extent out of range");
    options.push_back(static_cast<int32_t>(extent));
  }
  for (const bool is :
       {mode != "nearest", outside == "border", node.Int("align_corners", 0) != 0}) {
    options.push_back(is ? 1 : 0);
  }
  const uint32_t floats = FloatsOf(to, node.inputs[0]),
                 places = FloatsOf(to, node.inputs[1]);
  CountRounded(to, node, kHostFloats);
  AddHost(to, node.name, node.op, {{floats, places}, options, {NewFloats(to, node)}},
          4 * static_cast<uint64_t>(ElementsOf(out)));
}

}  // namespace sluice::import
