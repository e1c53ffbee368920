// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/tflite_lowering.h"

#include <algorithm>
#include <limits>

#include "import/error.h"
#include "tflite_generated.h"

namespace sluice::import {

uint8_t DtypeOf(const TfliteTensor& tensor) {
  switch (static_cast<tflite::TensorType>(tensor.type)) {
    case tflite::TensorType::INT8:
      return SLUICE_DTYPE_INT8;
    case tflite::TensorType::UINT8:
    case tflite::TensorType::BOOL:
      return SLUICE_DTYPE_UINT8;
    default:
      break;
  }
  switch (TfliteTypeBytes(tensor.type)) {
    case 2:
      return SLUICE_DTYPE_INT16;
    case 4:
      return SLUICE_DTYPE_INT32;
    case 8:
      return SLUICE_DTYPE_INT64;
    default:
      throw Unsupported("tensors of type " + TfliteTypeName(tensor.type));
  }
}

uint8_t EightBit(const TfliteTensor& tensor) {
  const auto type = static_cast<tflite::TensorType>(tensor.type);
  if (type != tflite::TensorType::INT8 && type != tflite::TensorType::UINT8) {
    throw Unsupported(TfliteTypeName(tensor.type) + " operands");
  }
  return DtypeOf(tensor);
}

uint8_t SmallInteger(const TfliteTensor& tensor) {
  return IsSixteenBit(tensor) ? DtypeOf(tensor) : EightBit(tensor);
}

Affine AffineOf(const TfliteTensor& tensor) {
  Require(!tensor.scales.empty(), "an operand without quantisation");
  Require(tensor.scales.size() == 1, "per-axis quantisation of an activation");
  Require(tensor.scales[0] > 0, "a scale of zero");
  return {tensor.scales[0], static_cast<int32_t>(tensor.zero_points[0])};
}

bool SameAffine(const TfliteTensor& a, const TfliteTensor& b) {
  const Affine x = AffineOf(a), y = AffineOf(b);
  return x.scale == y.scale && x.zero == y.zero;
}

Dims DimsOf(const TfliteTensor& tensor) {
  for (int32_t extent : tensor.shape) {
    if (extent < 1) {
      throw Error(Fault::kBadInput, "tensor " + tensor.name + " has extent " +
                                        std::to_string(extent) +
                                        "; convert the model with fixed shapes");
    }
  }
  Dims dims = tensor.shape;
  while (dims.size() > 4) {
    const int64_t folded = int64_t{dims[0]} * dims[1];
    Require(folded <= std::numeric_limits<int32_t>::max(), "an extent above 2^31 - 1");
    dims.erase(dims.begin());
    dims[0] = static_cast<int32_t>(folded);
  }
  return dims;
}

Extents ExtentsOf(const TfliteTensor& tensor) { return Normalised(DimsOf(tensor)); }

int AxisOf(const TfliteTensor& tensor, int64_t axis) {
  const int64_t rank = static_cast<int64_t>(tensor.shape.size());
  if (axis < -rank || axis >= rank) {
    throw Error(Fault::kBadInput, "axis " + std::to_string(axis) + " of tensor " +
                                      tensor.name + " of rank " + std::to_string(rank));
  }
  for (int64_t i = 0; i < rank - 4; ++i) {
    Require(tensor.shape[static_cast<size_t>(i)] == 1, "more than four axes");
  }
  const int64_t normalised = (axis < 0 ? axis + rank : axis) + 4 - rank;
  Require(normalised >= 0, "more than four axes");
  return static_cast<int>(normalised);
}

Dims AxesOf(const TfliteTensor& tensor) {
  if (tensor.shape.size() <= 4) {
    const Extents four = ExtentsOf(tensor);
    return Dims(four.begin(), four.end());
  }
  DimsOf(tensor);  // every extent is at least 1
  return tensor.shape;
}

AxisView ViewOf(const Dims& dims, size_t axis) {
  if (dims.size() <= 4) return {dims, axis};
  int64_t before = 1, behind = 1;
  for (size_t a = 0; a < dims.size(); ++a) {
    if (a != axis) (a < axis ? before : behind) *= dims[a];
    Require(before <= INT32_MAX && behind <= INT32_MAX, "an extent above 2^31 - 1");
  }
  return {{1, static_cast<int32_t>(before), dims[axis], static_cast<int32_t>(behind)},
          2};
}

size_t AxisAt(const TfliteTensor& tensor, int64_t axis) {
  const int64_t rank = static_cast<int64_t>(tensor.shape.size());
  if (rank <= 4) return static_cast<size_t>(AxisOf(tensor, axis));
  Require(axis >= -rank && axis < rank, "an axis that an operand lacks");
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

AxisView ViewAlong(const TfliteTensor& tensor, int64_t axis) {
  return ViewOf(AxesOf(tensor), AxisAt(tensor, axis));
}

std::vector<int64_t> Integers(const TfliteTensor& tensor) {
  Require(tensor.data != nullptr, "shapes or axes that are computed at run time");
  const auto type = static_cast<tflite::TensorType>(tensor.type);
  std::vector<int64_t> values;
  if (type == tflite::TensorType::INT32) {
    std::vector<int32_t> narrow(tensor.data_bytes / 4);
    std::copy_n(tensor.data, narrow.size() * 4,
                reinterpret_cast<uint8_t*>(narrow.data()));
    values.assign(narrow.begin(), narrow.end());
  } else if (type == tflite::TensorType::INT64) {
    values.resize(tensor.data_bytes / 8);
    std::copy_n(tensor.data, values.size() * 8,
                reinterpret_cast<uint8_t*>(values.data()));
  } else {
    throw Unsupported("shapes or axes of type " + TfliteTypeName(tensor.type));
  }
  return values;
}

Range Clamped(const TfliteTensor& out, int activation) {
  const float infinity = std::numeric_limits<float>::infinity();
  const uint8_t dtype = DtypeOf(out);
  const Affine affine = AffineOf(out);
  switch (static_cast<tflite::Activation>(activation)) {
    case tflite::Activation::NONE:
      return DtypeRange(dtype);
    case tflite::Activation::RELU:
      return ClampRange(dtype, affine, 0, infinity);
    case tflite::Activation::RELU_N1_TO_1:
      return ClampRange(dtype, affine, -1, 1);
    case tflite::Activation::RELU6:
      return ClampRange(dtype, affine, 0, 6);
    default:
      throw Unsupported("a fused tanh or sign activation");
  }
}

Pads PadsOf(bool same, int32_t in, int32_t out, int32_t window, int32_t stride,
            int32_t dilation) {
  Require(stride >= 1 && dilation >= 1, "a stride or dilation below 1");
  const int64_t reach = int64_t{window - 1} * dilation + 1;
  int64_t pad = 0;
  if (same) {
    const int64_t steps = (int64_t{in} + stride - 1) / stride;
    pad = std::max<int64_t>((steps - 1) * stride + reach - in, 0);
  }
  if (in + pad < reach || (in + pad - reach) / stride + 1 != out) {
    throw Error(Fault::kBadInput, "an output extent is " + std::to_string(out) +
                                      ", which does not follow from input " +
                                      std::to_string(in) + ", window " +
                                      std::to_string(window) + " and stride " +
                                      std::to_string(stride));
  }
  return {static_cast<int32_t>(pad / 2), static_cast<int32_t>(pad - pad / 2)};
}

Lowering::Lowering(const TfliteModel& the_model, GraphWriter* the_graph)
    : model(the_model),
      graph(*the_graph),
      tensor_of(model.tensors.size(), kNoTensor),
      read_by(model.tensors.size(), 0),
      is_output(model.tensors.size(), false),
      state(model.tensors.size(), nullptr) {
  for (const TfliteState& of : model.states) {
    state[static_cast<size_t>(of.tensor)] = &of;
    if (of.next >= 0) ++read_by[static_cast<size_t>(of.next)];
  }
  for (const TfliteOperator& op : model.operators) {
    for (int32_t input : op.inputs) {
      if (input >= 0) ++read_by[static_cast<size_t>(input)];
    }
  }
  for (int32_t output : model.outputs) is_output[static_cast<size_t>(output)] = true;
  // Inputs and outputs first: their order among the tensors is the order of the model.
  for (const auto& [list, kind] : {std::pair(&model.inputs, Kind::kInput),
                                   std::pair(&model.outputs, Kind::kOutput)}) {
    for (int32_t index : *list) {
      const TfliteTensor& tensor = model.tensors[static_cast<size_t>(index)];
      if (tensor.data != nullptr ||
          tensor_of[static_cast<size_t>(index)] != kNoTensor) {
        throw Error(Fault::kBadInput,
                    "output " + tensor.name + " is an input or a constant");
      }
      const bool quantised = tensor.scales.size() == 1;
      try {
        tensor_of[static_cast<size_t>(index)] =
            graph.AddTensor(tensor.name, DtypeOf(tensor), kind, DimsOf(tensor),
                            quantised ? static_cast<int32_t>(tensor.zero_points[0]) : 0,
                            quantised ? tensor.scales[0] : 0);
      } catch (const Unsupported& reason) {
        throw Error(Fault::kUnsupported,
                    "tensor " + tensor.name + ": " + reason.what());
      }
    }
  }
}

namespace {

uint32_t StateOf(Lowering* self, const TfliteTensor& tensor,
                 const std::vector<uint8_t>& first) {
  const Dims dims = DimsOf(tensor);
  uint64_t bytes = TfliteTypeBytes(tensor.type);
  for (const int32_t extent : dims) bytes *= static_cast<uint64_t>(extent);
  if (!first.empty() && first.size() != bytes) {
    throw Error(Fault::kBadInput, "variable " + tensor.name + " holds " +
                                      std::to_string(bytes) + " bytes and is given " +
                                      std::to_string(first.size()) + " at first");
  }
  const uint32_t state =
      self->graph.AddState(tensor.name, DtypeOf(tensor), dims, first);
  if (tensor.scales.size() == 1) {
    self->graph.SetAffine(state, static_cast<int32_t>(tensor.zero_points[0]),
                          tensor.scales[0]);
  }
  return state;
}

uint32_t TensorOf(Lowering* self, int32_t index) {
  const size_t at = static_cast<size_t>(index);
  if (self->tensor_of[at] != kNoTensor) return self->tensor_of[at];
  const TfliteTensor& tensor = self->model.tensors[at];
  if (self->state[at] != nullptr) {
    return self->tensor_of[at] = StateOf(self, tensor, self->state[at]->first);
  }
  Require(!tensor.is_variable, "variable tensors");
  const uint8_t dtype = DtypeOf(tensor);
  const Dims dims = DimsOf(tensor);
  if (tensor.data != nullptr && !tensor.file.empty()) {
    self->tensor_of[at] = self->graph.AddExternal(tensor.name, dtype, dims, tensor.file,
                                                  tensor.file_offset);
  } else if (tensor.data != nullptr) {
    self->tensor_of[at] = self->graph.ReferToConstant(tensor.name, dtype, dims,
                                                      tensor.data, tensor.data_bytes);
  } else {
    const bool quantised = tensor.scales.size() == 1;
    self->tensor_of[at] = self->graph.AddTensor(
        tensor.name, dtype, Kind::kIntermediate, dims,
        quantised ? static_cast<int32_t>(tensor.zero_points[0]) : 0,
        quantised ? tensor.scales[0] : 0);
  }
  return self->tensor_of[at];
}

void WriteState(Lowering* self, uint32_t state, uint32_t next, uint32_t* parameter) {
  // The parameter is the write position; its range is [0, 0], since the whole state is
  // written.
  if (*parameter == kNoTensor)
    *parameter = self->graph.AddParameter("whole_state", 0, 0);
  const std::string name = self->graph.name(self->graph.tensors()[state].name);
  const auto& rows = self->graph.tensors();
  if (rows[state].dtype != rows[next].dtype ||
      Normalised(rows[state].dims) != Normalised(rows[next].dims)) {
    throw Error(Fault::kBadInput,
                "variable " + name + " is given another type or other extents");
  }
  self->graph.AddLayer(name + "/assign", SLUICE_OP_STATE_APPEND, {state, next}, {state},
                       {0, static_cast<int32_t>(*parameter)});
}

uint64_t CountElements(const Lowering& self, const std::vector<uint32_t>& tensors) {
  uint64_t sum = 0;
  for (uint32_t tensor : tensors) {
    uint64_t elements = 1;
    for (int32_t extent : self.graph.tensors()[tensor].dims) {
      elements *= static_cast<uint64_t>(extent);
    }
    sum += elements;
  }
  return sum;
}

}  // namespace

void WriteStates(Lowering* self) {
  uint32_t parameter = kNoTensor;
  for (const TfliteState& state : self->model.states) {
    if (state.next < 0) continue;
    const uint32_t to = TensorOf(self, state.tensor), from = TensorOf(self, state.next);
    WriteState(self, to, from, &parameter);
  }
  for (const auto& [state, next] : self->next)
    WriteState(self, state, next, &parameter);
}

uint32_t Variable(Lowering* self, const TfliteOperator& op, size_t i) {
  const TfliteTensor& tensor = InputOf(*self, op, i);
  Require(tensor.is_variable, "a state that is not a variable tensor");
  uint32_t& of = self->tensor_of[static_cast<size_t>(op.inputs[i])];
  Require(of == kNoTensor, "a variable tensor of two operators");
  uint64_t elements = 1;
  for (const int32_t extent : DimsOf(tensor)) elements *= static_cast<uint64_t>(extent);
  const size_t step = TfliteTypeBytes(tensor.type);
  self->graph.NeedRoom(elements * step);
  const uint64_t zero = static_cast<uint64_t>(
      tensor.zero_points.empty() ? int64_t{0} : tensor.zero_points[0]);
  std::vector<uint8_t> first;
  for (uint64_t e = 0; e < elements; ++e) {
    for (size_t b = 0; b < step; ++b) {
      first.push_back(static_cast<uint8_t>(zero >> (8 * b)));
    }
  }
  return of = StateOf(self, tensor, first);
}

void AddHost(Lowering* self, const TfliteOperator& op, const char* function,
             std::vector<uint32_t> inputs, std::vector<uint32_t> outputs,
             uint64_t work) {
  uint64_t cycles = self->opaque_cycles;
  if (cycles == 0) {
    cycles = work + CountElements(*self, inputs) + CountElements(*self, outputs);
  }
  cycles = std::min(cycles, uint64_t{1} << 50);
  const int32_t name = static_cast<int32_t>(self->graph.AddName(function));
  self->graph.AddLayer(
      OutputOf(*self, op).name, SLUICE_OP_OPAQUE, std::move(inputs), std::move(outputs),
      {static_cast<int32_t>(static_cast<uint32_t>(cycles)),
       static_cast<int32_t>(static_cast<uint32_t>(cycles >> 32)), name});
}

bool HasInput(const TfliteOperator& op, size_t i) {
  return i < op.inputs.size() && op.inputs[i] >= 0;
}

const TfliteTensor& InputOf(const Lowering& self, const TfliteOperator& op, size_t i) {
  if (!HasInput(op, i)) {
    throw Error(Fault::kBadInput, op.name + " lacks input " + std::to_string(i));
  }
  return self.model.tensors[static_cast<size_t>(op.inputs[i])];
}

const TfliteTensor& OutputOf(const Lowering& self, const TfliteOperator& op, size_t i) {
  if (i >= op.outputs.size()) {
    throw Error(Fault::kBadInput, op.name + " lacks output " + std::to_string(i));
  }
  return self.model.tensors[static_cast<size_t>(op.outputs[i])];
}

uint32_t InputTensor(Lowering* self, const TfliteOperator& op, size_t i) {
  InputOf(*self, op, i);
  return TensorOf(self, op.inputs[i]);
}

uint32_t OutputTensor(Lowering* self, const TfliteOperator& op, size_t i) {
  OutputOf(*self, op, i);
  return TensorOf(self, op.outputs[i]);
}

uint32_t Temporary(Lowering* self, const TfliteTensor& like, const char* suffix,
                   Dims dims) {
  const bool quantised = like.scales.size() == 1;
  return self->graph.AddTensor(
      like.name + suffix, DtypeOf(like), Kind::kIntermediate, std::move(dims),
      quantised ? static_cast<int32_t>(like.zero_points[0]) : 0,
      quantised ? like.scales[0] : 0);
}

uint32_t Reshaped(Lowering* self, uint32_t tensor, const TfliteTensor& like,
                  const Dims& dims) {
  if (Normalised(self->graph.tensors()[tensor].dims) == Normalised(dims)) return tensor;
  const uint32_t reshaped = Temporary(self, like, "/reshaped", dims);
  self->graph.AddLayer(like.name + "/reshape", SLUICE_OP_RESHAPE, {tensor}, {reshaped});
  return reshaped;
}

uint32_t OpenOutput(Lowering* self, const TfliteOperator& op, const Dims& dims) {
  const uint32_t output = OutputTensor(self, op);
  if (Normalised(self->graph.tensors()[output].dims) == Normalised(dims)) return output;
  const size_t index = static_cast<size_t>(op.outputs[0]);
  if (self->is_output[index] && self->read_by[index] == 0) {
    self->graph.SetDims(output, dims);  // the same bytes with other extents
    return output;
  }
  return Temporary(self, OutputOf(*self, op), "/kept", dims);
}

void CloseOutput(Lowering* self, const TfliteOperator& op, uint32_t written) {
  const uint32_t output = OutputTensor(self, op);
  if (written == output) return;
  self->graph.AddLayer(OutputOf(*self, op).name + "/reshape", SLUICE_OP_RESHAPE,
                       {written}, {output});
}

void AddLayer(Lowering* self, const TfliteOperator& op, uint16_t code,
              std::vector<uint32_t> inputs, uint32_t output,
              std::vector<int32_t> attributes) {
  self->graph.AddLayer(OutputOf(*self, op).name, code, std::move(inputs), {output},
                       std::move(attributes));
}

void Rewind(Lowering* self, const LoweringMark& mark) {
  self->graph.Rewind(mark.graph);
  self->tensor_of = mark.tensors;
  self->next.resize(mark.next);
  self->rounded = mark.rounded;
}

void LowerOpaque(Lowering* to, const TfliteOperator& op) {
  std::vector<uint32_t> inputs, outputs;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (HasInput(op, i)) inputs.push_back(InputTensor(to, op, i));
  }
  for (size_t i = 0; i < op.outputs.size(); ++i)
    outputs.push_back(OutputTensor(to, op, i));
  if (outputs.empty()) throw Unsupported("an operator without output");
  if (inputs.empty()) throw Unsupported("an operator without input");
  AddHost(to, op, op.name.c_str(), inputs, outputs, 0);
}

}  // namespace sluice::import
