// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_lowering.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "import/error.h"
#include "import/onnx/onnx_numbers.h"

namespace sluice::import {
namespace {

uint64_t SeedOf(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

int32_t Narrow(int64_t extent) {
  Require(extent <= std::numeric_limits<int32_t>::max(), "an extent above 2^31 - 1");
  return static_cast<int32_t>(extent);
}

// Multiplies leading axes together until four axes are left.
Dims Folded(std::vector<int64_t> extents) {
  while (extents.size() > 4) {
    extents[1] *= extents[0];
    extents.erase(extents.begin());
  }
  Dims dims;
  for (const int64_t extent : extents) dims.push_back(Narrow(extent));
  return dims;
}

bool SameBytes(const Dims& a, const Dims& b) { return Normalised(a) == Normalised(b); }

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

std::vector<int64_t> Zeros(const OnnxValue& value) {
  if (!value.has_data) {
    throw Unsupported("zero point " + value.name + ", which is no stored constant");
  }
  std::vector<int64_t> zeros;
  for (size_t i = 0; i < value.data.size(); ++i) {
    if (value.type == kOnnxInt8) {
      zeros.push_back(static_cast<int8_t>(value.data[i]));
    } else if (value.type == kOnnxUint8) {
      zeros.push_back(value.data[i]);
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

// `order` without the axes of extent 1.
AxisOrder WithoutOnes(const AxisOrder& order, const std::vector<int64_t>& shape) {
  AxisOrder rest;
  for (const int axis : order) {
    if (shape[static_cast<size_t>(axis)] != 1) rest.push_back(axis);
  }
  return rest;
}

}  // namespace

const std::vector<int64_t>& ShapeOf(const OnnxValue& value) {
  if (!value.has_shape) {
    throw Error(Fault::kBadInput,
                "the shape of tensor " + value.name +
                    " is not known and does not follow from its inputs");
  }
  for (const int64_t extent : value.dims) {
    if (extent < 1) {
      throw Error(Fault::kBadInput,
                  "tensor " + value.name + " has extent " + std::to_string(extent));
    }
  }
  return value.dims;
}

Dims DimsIn(const std::vector<int64_t>& shape, const AxisOrder& order) {
  std::vector<int64_t> extents;
  for (const int axis : order) {
    if (static_cast<size_t>(axis) >= shape.size()) {
      throw Error(Fault::kBadInput, "shapes contradict each other: ranks differ");
    }
    extents.push_back(shape[static_cast<size_t>(axis)]);
  }
  return Folded(std::move(extents));
}

AxisOrder Straight(size_t rank) {
  AxisOrder order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

AxisOrder ChannelsLast(size_t rank) {
  AxisOrder order = Straight(rank);
  if (rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

int AxisOf(const OnnxValue& value, int64_t axis) {
  const int64_t rank = static_cast<int64_t>(ShapeOf(value).size());
  if (axis < -rank || axis >= rank) {
    throw Error(Fault::kBadInput, "axis " + std::to_string(axis) + " of tensor " +
                                      value.name + " of rank " + std::to_string(rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Bytes Permuted(const OnnxValue& value, const AxisOrder& order) {
  const std::vector<int64_t>& shape = ShapeOf(value);
  const size_t element = OnnxTypeBytes(value.type), rank = shape.size();
  std::vector<int64_t> stride(rank, 1), index(rank, 0);
  for (size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * shape[i];
  Bytes out;
  out.reserve(value.data.size());
  for (int64_t n = 0; n < ElementsOf(shape); ++n) {
    int64_t at = 0;
    for (size_t i = 0; i < rank; ++i) {
      at += index[i] * stride[static_cast<size_t>(order[i])];
    }
    const auto* from = value.data.data() + at * static_cast<int64_t>(element);
    out.insert(out.end(), from, from + element);
    for (size_t i = rank; i-- > 0;) {
      if (++index[i] < shape[static_cast<size_t>(order[i])]) break;
      index[i] = 0;
    }
  }
  return out;
}

OnnxLowering::OnnxLowering(const OnnxModel& model, GraphWriter* graph,
                           ImportResult* result)
    : model_(model), graph_(graph), result_(result), places_(model.values.size()) {
  for (const OnnxNode& node : model.nodes) {
    computes_floats_ |= node.op == "QuantizeLinear" || node.op == "ConvInteger" ||
                        node.op == "MatMulInteger" ||
                        node.op.find("QLinear") != std::string::npos ||
                        node.op == "DynamicQuantizeLinear";
  }
}

void OnnxLowering::Rewind(const Mark& mark) {
  graph_->Rewind(mark.graph);
  places_ = mark.places;
  result_->shapes_only = mark.shapes_only;
  result_->rounded = mark.rounded;
  for (auto it = moved_.begin(); it != moved_.end();) {
    it = it->second >= mark.graph.tensors ? moved_.erase(it) : std::next(it);
  }
  for (auto it = floats_.begin(); it != floats_.end();) {
    it = it->second >= mark.graph.tensors ? floats_.erase(it) : std::next(it);
  }
}

bool OnnxLowering::HasInput(const OnnxNode& node, size_t i) const {
  return i < node.inputs.size() && node.inputs[i] >= 0;
}
int OnnxLowering::InputIndex(const OnnxNode& node, size_t i) const {
  if (!HasInput(node, i)) {
    throw Error(Fault::kBadInput, "node " + node.name + " (" + node.op +
                                      ") lacks input " + std::to_string(i));
  }
  return node.inputs[i];
}
const OnnxValue& OnnxLowering::In(const OnnxNode& node, size_t i) const {
  return Value(InputIndex(node, i));
}
const OnnxValue& OnnxLowering::Out(const OnnxNode& node, size_t i) const {
  if (i >= node.outputs.size() || node.outputs[i] < 0) {
    throw Error(Fault::kBadInput, "node " + node.name + " (" + node.op +
                                      ") lacks output " + std::to_string(i));
  }
  return Value(node.outputs[i]);
}
std::vector<int64_t> OnnxLowering::Integers(const OnnxNode& node, size_t i) const {
  const OnnxValue& value = In(node, i);
  Require(value.has_integers, "shapes or axes that are computed at run time");
  return value.integers;
}

bool OnnxLowering::ReadOnce(int value) const {
  return Value(value).readers.size() == 1 && !Value(value).is_output;
}

Numbers OnnxLowering::ScaleAndZero(const OnnxNode& node, size_t scale,
                                   size_t zero) const {
  Numbers numbers;
  const std::vector<float> scales = Floats(In(node, scale));
  Require(scales.size() == 1, "per-axis quantisation of an activation");
  if (!(scales[0] > 0) || !std::isfinite(scales[0])) {
    throw Error(Fault::kBadInput, "node " + node.name + " (" + node.op +
                                      ") has a scale that is not above 0 and finite");
  }
  numbers.affine.scale = scales[0];
  numbers.dtype = SLUICE_DTYPE_UINT8;
  if (HasInput(node, zero)) {
    const OnnxValue& value = In(node, zero);
    if (value.type != kOnnxInt8 && value.type != kOnnxUint8) {
      throw Unsupported("quantisation to " + OnnxTypeName(value.type));
    }
    numbers.dtype = value.type == kOnnxInt8 ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8;
    const std::vector<int64_t> zeros = Zeros(value);
    Require(zeros.size() == 1, "per-axis quantisation of an activation");
    numbers.affine.zero = static_cast<int32_t>(zeros[0]);
  } else {
    const int type = StoredType(node);
    if (type != kOnnxInt8 && type != kOnnxUint8) {
      throw Unsupported("quantisation to " + OnnxTypeName(type));
    }
    numbers.dtype = type == kOnnxInt8 ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8;
  }
  numbers.known = true;
  return numbers;
}

// Without a zero point an attribute or the input tells the type.
int OnnxLowering::StoredType(const OnnxNode& node) const {
  if (HasInput(node, 2)) return In(node, 2).type;
  if (node.op == "DequantizeLinear" && In(node, 0).type != 0) return In(node, 0).type;
  return static_cast<int>(node.Int("output_dtype", kOnnxUint8));
}

bool OnnxLowering::IsWide(const OnnxNode& node) const {
  const int type = StoredType(node);
  return type == kOnnxInt16 || type == kOnnxUint16;
}

Numbers OnnxLowering::QLinearInput(const OnnxNode& node, size_t at) {
  const Numbers numbers = ScaleAndZero(node, at + 1, at + 2);
  const int index = InputIndex(node, at);
  const OnnxValue& value = Value(index);
  const bool stored = value.constant && value.has_data;
  const bool same =
      stored
          ? value.type == (numbers.dtype == SLUICE_DTYPE_INT8 ? kOnnxInt8 : kOnnxUint8)
          : Place(index).numbers.dtype == numbers.dtype;
  Require(same, "an input of another type than its zero point");
  return numbers;
}

OnnxLowering::Ends OnnxLowering::EndsOf(const OnnxNode& node) {
  if (node.op.find("QLinear") == std::string::npos) {
    return {Place(InputIndex(node, 0)).numbers, TargetOf(node.outputs[0])};
  }
  Require(node.Int("channels_last", 0) == 0, "channels that are the last axis");
  return {QLinearInput(node, 0), ScaleAndZero(node, 3, 4)};
}

// Not known for a node that cannot be expressed: its lowering reports the reason later.
Numbers OnnxLowering::QuantisedTo(const OnnxNode& node) const {
  try {
    return ScaleAndZero(node, 1, 2);
  } catch (const Unsupported&) {
    return Numbers();
  }
}

namespace {

// Whether the node only moves elements, so that quantising its input is equivalent.
bool OnlyMoves(const OnnxNode& node) {
  static const char* const kOps[] = {
      "Reshape", "Flatten", "Squeeze",      "Unsqueeze",    "Transpose", "Identity",
      "Dropout", "Slice",   "DepthToSpace", "SpaceToDepth", "MaxPool",   "Expand"};
  return std::any_of(std::begin(kOps), std::end(kOps),
                     [&](const char* op) { return node.op == op; });
}

}  // namespace

Numbers OnnxLowering::TargetOf(int index, int depth) const {
  Numbers target;
  bool first = true;
  const OnnxValue& value = Value(index);
  if (value.is_output || depth == 0) return target;
  for (const int reader : value.readers) {
    const OnnxNode& node = model_.nodes[static_cast<size_t>(reader)];
    Numbers next;
    if (node.op == "QuantizeLinear") {
      next = QuantisedTo(node);
    } else if ((node.op == "Relu" || node.op == "Clip") && value.readers.size() == 1) {
      next = TargetOf(node.outputs[0], depth - 1);
    } else if (OnlyMoves(node) && node.inputs[0] == index) {
      next = TargetOf(node.outputs[0], depth - 1);
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

OnnxConstant OnnxLowering::ConstantOf(int index) const {
  OnnxConstant constant;
  const OnnxValue& value = Value(index);
  if (value.producer < 0) return constant;
  const OnnxNode& node = model_.nodes[static_cast<size_t>(value.producer)];
  if (node.op != "DequantizeLinear" || !In(node, 0).has_data) return constant;
  constant.stored = &In(node, 0);
  constant.scales = ScalesOf(In(node, 1));
  if (HasInput(node, 2)) constant.zeros = Zeros(In(node, 2));
  constant.zeros.resize(constant.scales.size(), 0);
  if (constant.scales.size() > 1) {
    constant.axis = import::AxisOf(*constant.stored, node.Int("axis", 1));
    RequireOneForEach(constant);
  }
  return constant;
}

OnnxConstant OnnxLowering::QuantisedBy(const OnnxNode& node, size_t at, size_t scale,
                                       size_t zero) const {
  OnnxConstant constant;
  if (!In(node, at).has_data || OnnxTypeBytes(In(node, at).type) != 1) return constant;
  constant.stored = &In(node, at);
  constant.scales = ScalesOf(In(node, scale));
  if (HasInput(node, zero)) constant.zeros = Zeros(In(node, zero));
  constant.zeros.resize(constant.scales.size(), 0);
  const bool columns = node.op == "QLinearMatMul" ||
                       (node.op == "com.microsoft.QGemm" && node.Int("transB", 0) == 0);
  if (columns) constant.axis = 1;
  if (constant.scales.size() > 1) RequireOneForEach(constant);
  return constant;
}

// ---- where values lie

void OnnxLowering::MakeConstant(int index, const AxisOrder& order, const Dims& dims,
                                OnnxPlace* place) {
  const OnnxValue& value = Value(index);
  const OnnxConstant constant = ConstantOf(index);
  const OnnxValue& stored = constant.stored != nullptr ? *constant.stored : value;
  place->order = order;
  if (stored.has_data && OnnxTypeBytes(stored.type) == 1 &&
      (constant.stored != nullptr || value.type != kOnnxFloat)) {
    Require(constant.scales.size() <= 1, "per-axis quantisation of an operand");
    const bool is_signed = stored.type == kOnnxInt8;
    place->numbers.dtype = is_signed ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8;
    if (constant.stored != nullptr) {
      place->numbers.known = true;
      place->numbers.affine = {constant.scales[0],
                               static_cast<int32_t>(constant.zeros[0])};
    }
    const Bytes bytes = Permuted(stored, order);
    place->tensor = graph_->AddConstant(stored.name, place->numbers.dtype, dims,
                                        bytes.data(), bytes.size());
    return;
  }
  Require(!ComputesFloats(), "a constant that is computed in a type no layer reads");
  place->numbers.rms = 74;
  place->tensor = Seeded(value.name, dims);
}

const OnnxPlace& OnnxLowering::Place(int index) {
  OnnxPlace& place = places_[static_cast<size_t>(index)];
  if (place.tensor != kNoTensor) return place;
  const OnnxValue& value = Value(index);
  if (!value.constant) {
    throw Unsupported("tensor " + value.name + ", which was left out");
  }
  const std::vector<int64_t>& shape = ShapeOf(value);
  const AxisOrder order = Straight(shape.size());
  MakeConstant(index, order, DimsIn(shape, order), &place);
  return place;
}

namespace {

int64_t ElementsIn(const Dims& dims) {
  int64_t elements = 1;
  for (const int32_t extent : dims) elements *= extent;
  return elements;
}

// Shapes declared in the file may contradict those that follow from the operators.
void RequireSameElements(const OnnxValue& value, const AxisOrder& order,
                         const Dims& dims) {
  const std::vector<int64_t>& shape = ShapeOf(value);
  if (order.size() == shape.size() && ElementsIn(dims) == ElementsOf(shape)) return;
  throw Error(Fault::kBadInput,
              "shapes contradict each other: tensor " + value.name + " has " +
                  std::to_string(ElementsOf(shape)) + " elements, and " +
                  std::to_string(ElementsIn(dims)) + " are read or written");
}

}  // namespace

void OnnxLowering::SetPlace(int index, OnnxPlace place) {
  RequireSameElements(Value(index), place.order, graph_->tensors()[place.tensor].dims);
  places_[static_cast<size_t>(index)] = std::move(place);
}

uint32_t OnnxLowering::As(int index, const AxisOrder& order, const Dims& dims) {
  const std::vector<int64_t>& shape = ShapeOf(Value(index));
  RequireSameElements(Value(index), order, dims);
  const auto key = std::make_pair(index, std::make_pair(order, dims));
  const auto known = moved_.find(key);
  if (known != moved_.end()) return known->second;
  uint32_t tensor = kNoTensor;
  if (Value(index).constant &&
      places_[static_cast<size_t>(index)].tensor == kNoTensor) {
    OnnxPlace place;
    MakeConstant(index, order, dims, &place);
    places_[static_cast<size_t>(index)] = place;
    tensor = place.tensor;
  } else {
    const OnnxPlace& place = Place(index);
    const bool as_is = WithoutOnes(place.order, shape) == WithoutOnes(order, shape);
    tensor = as_is ? place.tensor : Transposed(index, order, dims);
    if (!SameBytes(graph_->tensors()[tensor].dims, dims)) {
      const uint32_t from = tensor;
      const std::string name = Value(index).name + "/reshaped";
      tensor = NewTensor(name, dims, Place(index).numbers);
      AddLayer(name, SLUICE_OP_RESHAPE, {from}, tensor);
    }
  }
  moved_[key] = tensor;
  return tensor;
}

// Axes that stay adjacent move as one run, so that fewer axes are permuted.
uint32_t OnnxLowering::Transposed(int index, const AxisOrder& order, const Dims& dims) {
  const std::vector<int64_t>& shape = ShapeOf(Value(index));
  const OnnxPlace& place = Place(index);
  const AxisOrder from = WithoutOnes(place.order, shape),
                  to = WithoutOnes(order, shape);
  std::vector<int64_t> extents;
  std::vector<int> first;  // axis that each run begins with
  for (size_t i = 0; i < from.size(); ++i) {
    const auto at = std::find(to.begin(), to.end(), from[i]);
    const bool goes_on = i > 0 && at != to.begin() && *std::prev(at) == from[i - 1];
    const int64_t extent = shape[static_cast<size_t>(from[i])];
    if (goes_on) {
      extents.back() *= extent;
    } else {
      extents.push_back(extent);
      first.push_back(from[i]);
    }
  }
  std::vector<int> perm;
  Dims out;
  for (const int axis : to) {
    const auto run = std::find(first.begin(), first.end(), axis);
    if (run == first.end()) continue;
    perm.push_back(static_cast<int>(run - first.begin()));
  }
  const uint32_t moved = PermutedTensor(Value(index).name + "/transposed", place.tensor,
                                        extents, perm, place.numbers);
  // Without a RESHAPE when `dims` only differ in ones.
  if (SameBytes(graph_->tensors()[moved].dims, dims)) graph_->SetDims(moved, dims);
  return moved;
}

uint32_t OnnxLowering::Plain(int index) {
  const std::vector<int64_t>& shape = ShapeOf(Value(index));
  const AxisOrder order = Straight(shape.size());
  return As(index, order, DimsIn(shape, order));
}

void OnnxLowering::Alias(int index, int of, AxisOrder order) {
  OnnxPlace place = Place(of);
  place.order = std::move(order);
  if (!ReadOnce(of)) place.layer = -1;
  SetPlace(index, place);
}

// ---- making tensors and layers

uint32_t OnnxLowering::NewTensor(const std::string& name, const Dims& dims,
                                 const Numbers& numbers) {
  return graph_->AddTensor(name, numbers.dtype, Kind::kIntermediate, dims,
                           numbers.known ? numbers.affine.zero : 0,
                           numbers.known ? numbers.affine.scale : 0);
}

uint32_t OnnxLowering::NewOutput(const OnnxNode& node, size_t i, const AxisOrder& order,
                                 const Dims& dims, const Numbers& numbers) {
  OnnxPlace place;
  place.tensor = NewTensor(Out(node, i).name, dims, numbers);
  place.order = order;
  place.numbers = numbers;
  SetPlace(node.outputs[i], place);
  return place.tensor;
}

int OnnxLowering::AddLayer(const std::string& name, uint16_t op,
                           std::vector<uint32_t> inputs, uint32_t output,
                           std::vector<int32_t> attributes) {
  graph_->AddLayer(name, op, std::move(inputs), {output}, std::move(attributes));
  return static_cast<int>(graph_->layers().size()) - 1;
}

uint32_t OnnxLowering::Seeded(const std::string& name, const Dims& dims) {
  return graph_->AddSeeded(name, SLUICE_DTYPE_INT8, dims, SeedOf(name));
}

uint32_t OnnxLowering::Requantised(const std::string& name, uint32_t tensor,
                                   const Numbers& from, const Numbers& to) {
  if (from.dtype == to.dtype && from.affine.scale == to.affine.scale &&
      from.affine.zero == to.affine.zero) {
    return tensor;
  }
  for (const uint8_t dtype : {from.dtype, to.dtype}) {
    Require(dtype == SLUICE_DTYPE_INT8 || dtype == SLUICE_DTYPE_UINT8,
            "operands that are not 8 bit");
  }
  const Stored8 in = {from.dtype, from.affine}, stored = {to.dtype, to.affine};
  const Dims dims = graph_->tensors()[tensor].dims;
  Chosen chosen = ChooseRequantise(in, stored);
  if (chosen.unlike != 0) {
    const auto same = [](float x) { return x; };
    return Curved(name, tensor, OnnxTable(in, stored, same), to);
  }
  const uint32_t out = NewTensor(name, dims, to);
  AddLayer(name, SLUICE_OP_REQUANTIZE, {tensor}, out, std::move(chosen.attributes));
  return out;
}

uint32_t OnnxLowering::Curved(const std::string& name, uint32_t tensor,
                              const std::vector<uint8_t>& table, const Numbers& to) {
  const Dims dims = graph_->tensors()[tensor].dims;
  const uint32_t constant =
      graph_->AddConstant(name + "/table", to.dtype, {256}, table.data(), table.size());
  const uint32_t out = NewTensor(name, dims, to);
  AddLayer(name, SLUICE_OP_LOOKUP, {tensor, constant}, out);
  return out;
}

// ---- the graph's border

void OnnxLowering::Describe(const char* what, int index) {
  const OnnxPlace& place = places_[static_cast<size_t>(index)];
  const TensorRow& row = graph_->tensors()[place.tensor];
  std::string line = std::string(what) + " " + Value(index).name + ": ";
  static const char* const kNames[] = {"?", "int8", "uint8", "int16", "int32", "int64"};
  line += kNames[row.dtype];
  for (size_t i = 0; i < row.dims.size(); ++i) {
    line += (i == 0 ? " [" : ", ") + std::to_string(row.dims[i]);
  }
  line += "]";
  const std::vector<int64_t>& shape = ShapeOf(Value(index));
  if (WithoutOnes(place.order, shape) !=
      WithoutOnes(Straight(place.order.size()), shape)) {
    line += ", axes in the order";
    for (const int axis : place.order) line += " " + std::to_string(axis);
  }
  if (place.numbers.floats) line += ", bits of floats";
  if (place.numbers.known) {
    char text[64];
    std::snprintf(text, sizeof text, ", real = %.9g * (stored - %d)",
                  static_cast<double>(place.numbers.affine.scale),
                  place.numbers.affine.zero);
    line += text;
  }
  result_->interface.push_back(line);
}

void OnnxLowering::PlaceInputs() {
  for (const int index : model_.inputs) {
    const OnnxValue& value = Value(index);
    Require(value.type != kOnnxInt16 && value.type != kOnnxUint16,
            "16-bit numbers at the border of the graph");
    const std::vector<int64_t>& shape = ShapeOf(value);
    OnnxPlace place;
    place.order = Straight(shape.size());
    place.numbers.rms = 74;
    uint8_t dtype = SLUICE_DTYPE_INT8;
    if (value.type == kOnnxInt64 || value.type == kOnnxInt32) {
      dtype = SLUICE_DTYPE_INT32;
    } else if (value.type == kOnnxUint8 || value.type == kOnnxBool) {
      dtype = SLUICE_DTYPE_UINT8;
    } else if (value.type == kOnnxFloat) {
      const Numbers target = TargetOf(index);
      if (target.known) place.numbers = target;
      place.numbers.floats = !target.known && computes_floats_;
      dtype = target.known           ? target.dtype
              : place.numbers.floats ? uint8_t{SLUICE_DTYPE_INT32}
                                     : dtype;
    }
    place.numbers.dtype = dtype;
    // An input that a convolution reads is laid out channels last.
    for (const int reader : value.readers) {
      const std::string& op = model_.nodes[static_cast<size_t>(reader)].op;
      const bool image = op == "Conv" || op == "QLinearConv" ||
                         op == "QuantizeLinear" || op == "DequantizeLinear" ||
                         op == "MaxPool" || op == "AveragePool";
      if (shape.size() == 4 && image && !place.numbers.floats) {
        place.order = ChannelsLast(4);
      }
    }
    const Dims dims = DimsIn(shape, place.order);
    place.tensor =
        graph_->AddTensor(value.name, dtype, Kind::kInput, dims,
                          place.numbers.known ? place.numbers.affine.zero : 0,
                          place.numbers.known ? place.numbers.affine.scale : 0);
    SetPlace(index, place);
    Describe("input", index);
  }
}

// Each output becomes a tensor of its own that a layer writes.
void OnnxLowering::PlaceOutputs() {
  std::vector<uint32_t> outputs;
  for (const int index : model_.outputs) {
    if (Value(index).constant) {
      throw Error(Fault::kBadInput, "output " + Value(index).name + " is a constant");
    }
    OnnxPlace place = Place(index);
    Require(place.numbers.wide_scale == 0, "16-bit numbers at the border of the graph");
    const std::vector<int64_t>& shape = ShapeOf(Value(index));
    const Dims dims = DimsIn(shape, place.order);
    const TensorRow& row = graph_->tensors()[place.tensor];
    if (row.kind != Kind::kIntermediate || !SameBytes(row.dims, dims)) {
      const bool same = SameBytes(row.dims, dims) && row.dtype != SLUICE_DTYPE_INT32;
      const uint32_t from = place.tensor;
      place.tensor = NewTensor(Value(index).name, dims, place.numbers);
      const Range range = DtypeRange(place.numbers.dtype);
      AddLayer(Value(index).name, same ? SLUICE_OP_REQUANTIZE : SLUICE_OP_RESHAPE,
               {from}, place.tensor,
               same ? std::vector<int32_t>{0, 1 << 30, 1, 0, range.min, range.max}
                    : std::vector<int32_t>{});
      SetPlace(index, place);
    }
    graph_->SetKind(place.tensor, Kind::kOutput);
    graph_->SetName(place.tensor, Value(index).name);
    outputs.push_back(place.tensor);
    Describe("output", index);
  }
  graph_->OrderOutputs(outputs);
}

}  // namespace sluice::import
