// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of the graph.
#include <cstdio>

#include "import/error.h"
#include "import/onnx/onnx_lowering.h"

namespace sluice::import {

void Describe(OnnxLowering* self, const char* what, int index) {
  const OnnxPlace& place = self->places[static_cast<size_t>(index)];
  const TensorRow& row = self->graph.tensors()[place.tensor];
  std::string line = std::string(what) + " " + ValueOf(*self, index).name + ": ";
  static const char* const kNames[] = {"?", "int8", "uint8", "int16", "int32", "int64"};
  line += kNames[row.dtype];
  for (size_t i = 0; i < row.dims.size(); ++i) {
    line += (i == 0 ? " [" : ", ") + std::to_string(row.dims[i]);
  }
  line += "]";
  const std::vector<int64_t>& shape = ShapeOf(ValueOf(*self, index));
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
  self->result.interface.push_back(line);
}

namespace {

// How an input, or a state, is stored.
OnnxPlace PlaceOfInput(const OnnxLowering& self, int index) {
  const OnnxValue& value = ValueOf(self, index);
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
    const Numbers target = TargetOf(self, index);
    if (target.known) place.numbers = target;
    place.numbers.floats = !target.known && self.computes_floats;
    dtype = target.known           ? target.dtype
            : place.numbers.floats ? uint8_t{SLUICE_DTYPE_INT32}
                                   : dtype;
  }
  place.numbers.dtype = dtype;
  // An input that a convolution reads is laid out channels last.
  for (const int reader : value.readers) {
    const std::string& op = self.model.nodes[static_cast<size_t>(reader)].op;
    const bool image = op == "Conv" || op == "QLinearConv" || op == "QuantizeLinear" ||
                       op == "DequantizeLinear" || op == "MaxPool" ||
                       op == "AveragePool";
    if (shape.size() == 4 && image && !place.numbers.floats) {
      place.order = ChannelsLast(4);
    }
  }
  return place;
}

uint32_t StateTensor(OnnxLowering* self, int index, const OnnxPlace& place) {
  const Dims dims = DimsIn(ShapeOf(ValueOf(*self, index)), place.order);
  Bytes first;
  if (place.numbers.known && place.numbers.affine.zero != 0) {
    uint64_t elements = 1;
    for (const int32_t extent : dims) elements *= static_cast<uint64_t>(extent);
    self->graph.NeedRoom(elements);
    first.assign(elements, static_cast<uint8_t>(place.numbers.affine.zero));
  }
  return self->graph.AddState(ValueOf(*self, index).name, place.numbers.dtype, dims,
                              first);
}

}  // namespace

void PlaceInputs(OnnxLowering* self) {
  for (const int index : self->model.inputs) {
    OnnxPlace place = PlaceOfInput(*self, index);
    const bool known = place.numbers.known;
    place.tensor = self->graph.AddTensor(
        ValueOf(*self, index).name, place.numbers.dtype, Kind::kInput,
        DimsIn(ShapeOf(ValueOf(*self, index)), place.order),
        known ? place.numbers.affine.zero : 0, known ? place.numbers.affine.scale : 0);
    SetPlace(self, index, place);
    Describe(self, "input", index);
  }
  for (const auto& [index, next] : self->model.states) {
    OnnxPlace place = PlaceOfInput(*self, index);
    place.tensor = StateTensor(self, index, place);
    const Affine affine = place.numbers.affine;
    if (place.numbers.known)
      self->graph.SetAffine(place.tensor, affine.zero, affine.scale);
    SetPlace(self, index, place);
  }
}

void WriteOnnxStates(OnnxLowering* self) {
  uint32_t parameter = kNoTensor;
  for (const auto& [index, next] : self->model.states) {
    const OnnxPlace state = PlaceOf(self, index);
    const std::string& name = ValueOf(*self, index).name;
    const Numbers from = PlaceOf(self, next).numbers;
    Require(from.floats == state.numbers.floats && from.wide_scale == 0,
            "a state that is quantised as an input or as an output alone");
    const Dims dims = DimsIn(ShapeOf(ValueOf(*self, next)), state.order);
    uint32_t tensor = TensorAs(self, next, state.order, dims);
    if (from.known && state.numbers.known) {
      tensor = Requantised(self, name + "/next", tensor, from, state.numbers);
    }
    Require(self->graph.tensors()[tensor].dtype == state.numbers.dtype, kOtherExtents);
    if (tensor == state.tensor) continue;
    // The parameter is the place of the first row: always 0, since all rows are written.
    if (parameter == kNoTensor)
      parameter = self->graph.AddParameter("whole_state", 0, 0);
    self->graph.AddLayer(name + "/assign", SLUICE_OP_STATE_APPEND,
                         {state.tensor, tensor}, {state.tensor},
                         {0, static_cast<int32_t>(parameter)});
    self->result.interface.push_back("state " + name + " <- " +
                                     ValueOf(*self, next).name);
  }
}

// Each output becomes a tensor of its own that a layer writes.
void PlaceOutputs(OnnxLowering* self) {
  std::vector<uint32_t> outputs;
  for (const int index : self->model.outputs) {
    if (ValueOf(*self, index).constant) {
      throw Error(Fault::kBadInput,
                  "output " + ValueOf(*self, index).name + " is a constant");
    }
    OnnxPlace place = PlaceOf(self, index);
    Require(place.numbers.wide_scale == 0, "16-bit numbers at the border of the graph");
    const std::vector<int64_t>& shape = ShapeOf(ValueOf(*self, index));
    const Dims dims = DimsIn(shape, place.order);
    const TensorRow& row = self->graph.tensors()[place.tensor];
    if (row.kind != Kind::kIntermediate || !SameBytes(row.dims, dims)) {
      const bool same = SameBytes(row.dims, dims) && row.dtype != SLUICE_DTYPE_INT32;
      const uint32_t from = place.tensor;
      place.tensor = NewTensor(self, ValueOf(*self, index).name, dims, place.numbers);
      const Range range = DtypeRange(place.numbers.dtype);
      AddLayer(self, ValueOf(*self, index).name,
               same ? SLUICE_OP_REQUANTIZE : SLUICE_OP_RESHAPE, {from}, place.tensor,
               same ? std::vector<int32_t>{0, 1 << 30, 1, 0, range.min, range.max}
                    : std::vector<int32_t>{});
      SetPlace(self, index, place);
    }
    if (place.numbers.known) {
      self->graph.SetAffine(place.tensor, place.numbers.affine.zero,
                            place.numbers.affine.scale);
    }
    self->graph.SetKind(place.tensor, Kind::kOutput);
    self->graph.SetName(place.tensor, ValueOf(*self, index).name);
    outputs.push_back(place.tensor);
    Describe(self, "output", index);
  }
  self->graph.OrderOutputs(outputs);
}

}  // namespace sluice::import
