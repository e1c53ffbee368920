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

}  // namespace

bool SameBytes(const Dims& a, const Dims& b) { return Normalised(a) == Normalised(b); }

AxisOrder WithoutOnes(const AxisOrder& order, const std::vector<int64_t>& shape) {
  AxisOrder rest;
  for (const int axis : order) {
    if (shape[static_cast<size_t>(axis)] != 1) rest.push_back(axis);
  }
  return rest;
}

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

int32_t ProductOfAxes(const std::vector<int64_t>& shape, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i) product *= shape[i];
  return Narrow(product);
}

void AppendShape(const std::vector<int64_t>& shape, size_t rank,
                 std::vector<int32_t>* options) {
  Require(rank <= 8, "more than eight axes");
  Require(shape.size() <= rank, "ranks that disagree");
  options->push_back(static_cast<int32_t>(rank));
  options->insert(options->end(), rank - shape.size(), 1);
  for (const int64_t extent : shape) options->push_back(Narrow(extent));
}

std::vector<int32_t> MatrixOptions(std::vector<int64_t> out, std::vector<int64_t> a,
                                   std::vector<int64_t> b) {
  if (b.size() == 1) {
    b.push_back(1);
    out.push_back(1);
  }
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
    if (!out.empty()) out.insert(out.end() - 1, 1);
  }
  Require(a.size() >= 2 && b.size() >= 2 && out.size() >= 2 && a.size() <= out.size() &&
              b.size() <= out.size(),
          "extents that do not fit a product");
  const auto at = [&](const std::vector<int64_t>& shape,
                      size_t axis) {  // ones in front
    const size_t missing = out.size() - shape.size();
    return axis < missing ? 1 : shape[axis - missing];
  };
  const size_t m = out.size() - 2, n = out.size() - 1;
  Require(a.back() == b[b.size() - 2] && at(a, m) == out[m] && at(b, n) == out[n],
          "extents that do not fit a product");
  for (size_t i = 0; i < m; ++i) {
    Require(
        (at(a, i) == 1 || at(a, i) == out[i]) && (at(b, i) == 1 || at(b, i) == out[i]),
        "batch axes that do not broadcast");
  }
  std::vector<int32_t> options;
  for (const auto* shape : {&out, &a, &b}) AppendShape(*shape, out.size(), &options);
  return options;
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

namespace {

// The elements of `data`, of `element` bytes each, in the order of permuted axes.
void Permute(const OnnxData& data, const std::vector<int64_t>& shape, size_t element,
             const AxisOrder& order, uint8_t* out) {
  const size_t rank = shape.size();
  std::vector<int64_t> stride(rank, 1), step(rank), extent(rank), index(rank, 0);
  for (size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * shape[i];
  for (size_t i = 0; i < rank; ++i) {
    step[i] = stride[static_cast<size_t>(order[i])];
    extent[i] = shape[static_cast<size_t>(order[i])];
  }
  int64_t at = 0;
  for (int64_t n = ElementsOf(shape); n > 0; --n) {
    std::memcpy(out, data.data() + at * static_cast<int64_t>(element), element);
    out += element;
    for (size_t i = rank; i-- > 0;) {
      at += step[i];
      if (++index[i] < extent[i]) break;
      at -= step[i] * extent[i];
      index[i] = 0;
    }
  }
}

}  // namespace

Bytes Permuted(const OnnxValue& value, const AxisOrder& order) {
  Bytes out(value.data.size());
  Permute(value.data, ShapeOf(value), OnnxTypeBytes(value.type), order, out.data());
  return out;
}

uint32_t AddPermuted(OnnxLowering* self, const std::string& name, uint8_t dtype,
                     const Dims& dims, const OnnxValue& value, const AxisOrder& order) {
  const auto [stored, stored_bytes] = value.data.Stored();
  if (order == Straight(order.size()) && value.data.Outlives()) {
    return self->graph.ReferToConstant(name, dtype, dims, stored, stored_bytes);
  }
  const OtherBytes source = {stored, stored_bytes};
  const auto make = [data = value.data, shape = ShapeOf(value),
                     element = OnnxTypeBytes(value.type), order](uint8_t* out) {
    Permute(data, shape, element, order, out);
  };
  return self->graph.ComputeConstant(name, dtype, dims, source, make);
}

OnnxLowering::OnnxLowering(const OnnxModel& the_model, GraphWriter* the_graph,
                           ImportResult* the_result)
    : model(the_model),
      graph(*the_graph),
      result(*the_result),
      places(the_model.values.size()),
      computes_floats(ComputesFloats(the_model)) {}

void Rewind(OnnxLowering* self, const OnnxMark& mark) {
  self->graph.Rewind(mark.graph);
  self->places = mark.places;
  self->result.shapes_only = mark.shapes_only;
  self->result.rounded = mark.rounded;
  for (auto it = self->moved.begin(); it != self->moved.end();) {
    it = it->second >= mark.graph.tensors ? self->moved.erase(it) : std::next(it);
  }
  for (auto it = self->floats.begin(); it != self->floats.end();) {
    it = it->second >= mark.graph.tensors ? self->floats.erase(it) : std::next(it);
  }
}

bool HasInput(const OnnxNode& node, size_t i) {
  return i < node.inputs.size() && node.inputs[i] >= 0;
}
int InputIndex(const OnnxNode& node, size_t i) {
  if (!HasInput(node, i)) {
    throw Error(Fault::kBadInput, "node " + node.name + " (" + node.op +
                                      ") lacks input " + std::to_string(i));
  }
  return node.inputs[i];
}
const OnnxValue& InputOf(const OnnxLowering& self, const OnnxNode& node, size_t i) {
  return ValueOf(self, InputIndex(node, i));
}
const OnnxValue& OutputOf(const OnnxLowering& self, const OnnxNode& node, size_t i) {
  if (i >= node.outputs.size() || node.outputs[i] < 0) {
    throw Error(Fault::kBadInput, "node " + node.name + " (" + node.op +
                                      ") lacks output " + std::to_string(i));
  }
  return ValueOf(self, node.outputs[i]);
}
std::vector<int64_t> IntegersOf(const OnnxLowering& self, const OnnxNode& node,
                                size_t i) {
  const OnnxValue& value = InputOf(self, node, i);
  Require(value.has_integers, "shapes or axes that are computed at run time");
  return value.integers;
}

bool ReadOnce(const OnnxLowering& self, int value) {
  return ValueOf(self, value).readers.size() == 1 && !ValueOf(self, value).is_output;
}

// ---- where values lie

namespace {

void MakeConstant(OnnxLowering* self, int index, const AxisOrder& order,
                  const Dims& dims, OnnxPlace* place) {
  const OnnxValue& value = ValueOf(*self, index);
  const OnnxConstant constant = ConstantOf(*self, index);
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
    place->tensor =
        AddPermuted(self, stored.name, place->numbers.dtype, dims, stored, order);
    return;
  }
  Require(!self->computes_floats,
          "a constant that is computed in a type no layer reads");
  place->numbers.rms = 74;
  place->tensor = SeededTensor(self, value.name, dims);
}

}  // namespace

const OnnxPlace& PlaceOf(OnnxLowering* self, int index) {
  OnnxPlace& place = self->places[static_cast<size_t>(index)];
  if (place.tensor != kNoTensor) return place;
  const OnnxValue& value = ValueOf(*self, index);
  if (!value.constant) {
    throw Unsupported("tensor " + value.name + ", which was left out");
  }
  const std::vector<int64_t>& shape = ShapeOf(value);
  const AxisOrder order = Straight(shape.size());
  MakeConstant(self, index, order, DimsIn(shape, order), &place);
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

// Axes that stay adjacent move as one run, so that fewer axes are permuted.
uint32_t Transposed(OnnxLowering* self, int index, const AxisOrder& order,
                    const Dims& dims) {
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*self, index));
  const OnnxPlace& place = PlaceOf(self, index);
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
  const uint32_t moved =
      PermutedTensor(self, ValueOf(*self, index).name + "/transposed", place.tensor,
                     extents, perm, place.numbers);
  // Without a RESHAPE when `dims` only differ in ones.
  if (SameBytes(self->graph.tensors()[moved].dims, dims))
    self->graph.SetDims(moved, dims);
  return moved;
}

}  // namespace

void SetPlace(OnnxLowering* self, int index, OnnxPlace place) {
  RequireSameElements(ValueOf(*self, index), place.order,
                      self->graph.tensors()[place.tensor].dims);
  self->places[static_cast<size_t>(index)] = std::move(place);
}

uint32_t TensorAs(OnnxLowering* self, int index, const AxisOrder& order,
                  const Dims& dims) {
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*self, index));
  RequireSameElements(ValueOf(*self, index), order, dims);
  const auto key = std::make_pair(index, std::make_pair(order, dims));
  const auto known = self->moved.find(key);
  if (known != self->moved.end()) return known->second;
  uint32_t tensor = kNoTensor;
  if (ValueOf(*self, index).constant &&
      self->places[static_cast<size_t>(index)].tensor == kNoTensor) {
    OnnxPlace place;
    MakeConstant(self, index, order, dims, &place);
    self->places[static_cast<size_t>(index)] = place;
    tensor = place.tensor;
  } else {
    const OnnxPlace& place = PlaceOf(self, index);
    const bool as_is = WithoutOnes(place.order, shape) == WithoutOnes(order, shape);
    tensor = as_is ? place.tensor : Transposed(self, index, order, dims);
    if (!SameBytes(self->graph.tensors()[tensor].dims, dims)) {
      const uint32_t from = tensor;
      const std::string name = ValueOf(*self, index).name + "/reshaped";
      tensor = NewTensor(self, name, dims, PlaceOf(self, index).numbers);
      AddLayer(self, name, SLUICE_OP_RESHAPE, {from}, tensor);
    }
  }
  self->moved[key] = tensor;
  return tensor;
}

uint32_t PlainTensor(OnnxLowering* self, int index) {
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*self, index));
  const AxisOrder order = Straight(shape.size());
  return TensorAs(self, index, order, DimsIn(shape, order));
}

void Alias(OnnxLowering* self, int index, int of, AxisOrder order) {
  OnnxPlace place = PlaceOf(self, of);
  place.order = std::move(order);
  if (!ReadOnce(*self, of)) place.layer = -1;
  SetPlace(self, index, place);
}

// ---- making tensors and layers

uint32_t NewTensor(OnnxLowering* self, const std::string& name, const Dims& dims,
                   const Numbers& numbers) {
  return self->graph.AddTensor(name, numbers.dtype, Kind::kIntermediate, dims,
                               numbers.known ? numbers.affine.zero : 0,
                               numbers.known ? numbers.affine.scale : 0);
}

uint32_t NewOutput(OnnxLowering* self, const OnnxNode& node, size_t i,
                   const AxisOrder& order, const Dims& dims, const Numbers& numbers) {
  OnnxPlace place;
  place.tensor = NewTensor(self, OutputOf(*self, node, i).name, dims, numbers);
  place.order = order;
  place.numbers = numbers;
  SetPlace(self, node.outputs[i], place);
  return place.tensor;
}

int AddLayer(OnnxLowering* self, const std::string& name, uint16_t op,
             std::vector<uint32_t> inputs, uint32_t output,
             std::vector<int32_t> attributes) {
  self->graph.AddLayer(name, op, std::move(inputs), {output}, std::move(attributes));
  return static_cast<int>(self->graph.layers().size()) - 1;
}

uint32_t SeededTensor(OnnxLowering* self, const std::string& name, const Dims& dims) {
  return self->graph.AddSeeded(name, SLUICE_DTYPE_INT8, dims, SeedOf(name));
}

uint32_t Requantised(OnnxLowering* self, const std::string& name, uint32_t tensor,
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
  const Dims dims = self->graph.tensors()[tensor].dims;
  Chosen chosen = ChooseRequantise(in, stored);
  if (chosen.unlike != 0) {
    const auto same = [](float x) { return x; };
    return Curved(self, name, tensor, OnnxTable(in, stored, same), to);
  }
  const uint32_t out = NewTensor(self, name, dims, to);
  AddLayer(self, name, SLUICE_OP_REQUANTIZE, {tensor}, out,
           std::move(chosen.attributes));
  return out;
}

uint32_t Curved(OnnxLowering* self, const std::string& name, uint32_t tensor,
                const std::vector<uint8_t>& table, const Numbers& to) {
  const Dims dims = self->graph.tensors()[tensor].dims;
  const uint32_t constant = self->graph.AddConstant(name + "/table", to.dtype, {256},
                                                    table.data(), table.size());
  const uint32_t out = NewTensor(self, name, dims, to);
  AddLayer(self, name, SLUICE_OP_LOOKUP, {tensor, constant}, out);
  return out;
}

}  // namespace sluice::import
