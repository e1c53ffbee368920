// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear around the operators of a model of floats, whose tensors
// have given ranges.
#include <algorithm>
#include <cstring>

#include "import/error.h"
#include "import/onnx/onnx_model.h"

namespace sluice::import {
namespace {

bool IsOneOf(const std::string& op, const std::vector<const char*>& ops) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

// Results that have the quantisation of input 0.
bool OnlyMoves(const std::string& op) {
  return IsOneOf(
      op, {"Reshape",      "Flatten", "Squeeze",  "Unsqueeze",     "Transpose",
           "Identity",     "Dropout", "Slice",    "Split",         "DepthToSpace",
           "SpaceToDepth", "MaxPool", "Expand",   "Gather",        "Tile",
           "Pad",          "Resize",  "Upsample", "GlobalMaxPool", "ReduceMax",
           "ReduceMin"});
}

// Constants of these operators are quantised as activations are.
bool TakesNumbers(const std::string& op) {
  return IsOneOf(op, {"Add", "Sub", "Mul", "Div", "Concat", "PRelu", "Min", "Max",
                      "Sum", "Gather", "MatMul", "Where"});
}

bool KnownInterval(const std::string& op, Interval* interval) {
  const bool share = IsOneOf(op, {"Softmax", "Sigmoid", "HardSigmoid"});
  const bool odd = IsOneOf(op, {"Tanh", "Erf", "Sin", "Cos"});
  if (share || odd) *interval = {share ? 0.0f : -1.0f, 1};
  return share || odd;
}

// The axis of a weight whose slices have scales of their own; -1: one scale; -2: no weight.
int AxisOfWeight(const OnnxNode& node, size_t input, size_t rank) {
  if (input != 1) return -2;
  if (node.op == "Conv") return 0;
  if (node.op == "ConvTranspose") return node.Int("group", 1) == 1 ? 1 : -1;
  if (node.op == "Gemm") return node.Int("transB", 0) != 0 ? 0 : 1;
  return node.op == "MatMul" && rank == 2 ? 1 : -2;
}

bool HasBias(const OnnxNode& node) {
  return IsOneOf(node.op, {"Conv", "ConvTranspose", "Gemm"});
}

// What is known while nodes are put around those of the model.
struct Quantising {
  OnnxModel* model;
  std::vector<OnnxNode> nodes;       // in their new order
  std::vector<const Affine*> scale;  // by value; nullptr: not quantised
  std::vector<Affine> affines;
  std::vector<int> stands;  // by value: what its readers read in its place
};

OnnxValue& ValueAt(Quantising* self, int value) {
  return self->model->values[static_cast<size_t>(value)];
}

int NewValue(Quantising* self, const std::string& name, int type,
             std::vector<int64_t> dims) {
  OnnxValue value;
  value.name = name;
  value.type = type;
  value.has_shape = true;
  value.dims = std::move(dims);
  self->model->values.push_back(std::move(value));
  return static_cast<int>(self->model->values.size() - 1);
}

int NewConstant(Quantising* self, const std::string& name, int type,
                std::vector<int64_t> dims, Bytes data) {
  const int value = NewValue(self, name, type, std::move(dims));
  ValueAt(self, value).constant = ValueAt(self, value).has_data = true;
  ValueAt(self, value).data = std::move(data);
  return value;
}

int NewScales(Quantising* self, const std::string& name,
              const std::vector<float>& scales) {
  Bytes bytes(scales.size() * 4);
  std::memcpy(bytes.data(), scales.data(), bytes.size());
  std::vector<int64_t> dims;
  if (scales.size() > 1) dims.push_back(static_cast<int64_t>(scales.size()));
  return NewConstant(self, name + "/scale", kOnnxFloat, dims, bytes);
}

int AddNode(Quantising* self, const char* op, std::vector<int> inputs, int output,
            int axis) {
  OnnxNode node;
  node.name = ValueAt(self, output).name;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  if (axis >= 0) node.attributes["axis"].i = axis;
  self->nodes.push_back(std::move(node));
  return output;
}

// The value behind QuantizeLinear and DequantizeLinear.
void PutAround(Quantising* self, int value) {
  const Affine affine = *self->scale[static_cast<size_t>(value)];
  const std::string name = ValueAt(self, value).name;
  const std::vector<int64_t> dims = ValueAt(self, value).dims;
  const int scale = NewScales(self, name, {affine.scale});
  const int zero = NewConstant(self, name + "/zero", kOnnxInt8, {},
                               {static_cast<uint8_t>(affine.zero)});
  const int stored = NewValue(self, name + "/stored", kOnnxInt8, dims);
  const int real = NewValue(self, name + "/real", kOnnxFloat, dims);
  AddNode(self, "QuantizeLinear", {value, scale, zero}, stored, -1);
  AddNode(self, "DequantizeLinear", {stored, scale, zero}, real, -1);
  self->stands[static_cast<size_t>(value)] = real;
}

// A constant as int8 or, of a bias, int32 numbers behind DequantizeLinear.
int QuantisedConstant(Quantising* self, int value, int axis,
                      const std::vector<float>* bias_scales) {
  const OnnxValue of = ValueAt(self, value);
  const std::vector<float> floats = FloatsIn(of.data.data(), of.data.size());
  const bool bias = bias_scales != nullptr;
  Int8Weights made;
  if (bias) {
    made.scales = *bias_scales;
    if (made.scales.size() > 1 && made.scales.size() != floats.size()) {
      throw Error(Fault::kBadInput, "bias " + of.name + " does not fit the weight");
    }
    made.bytes = QuantisedBias(floats, made.scales);
  } else {
    made = QuantisedWeights(
        floats, axis < 0 ? Slices() : SlicesOf(of.dims, static_cast<size_t>(axis)));
  }
  const int type = bias ? kOnnxInt32 : kOnnxInt8;
  const std::string name = of.name + (bias ? "/bias" : "/weight");
  const int stored = NewConstant(self, name, type, of.dims, std::move(made.bytes));
  const int scale = NewScales(self, name, made.scales);
  Bytes zeros(made.scales.size() * (bias ? 4 : 1), 0);
  const int zero =
      NewConstant(self, name + "/zero", type, ValueAt(self, scale).dims, zeros);
  const int real = NewValue(self, name + "/real", kOnnxFloat, of.dims);
  ValueAt(self, real).constant = true;
  return AddNode(self, "DequantizeLinear", {stored, scale, zero}, real,
                 made.scales.size() > 1 ? std::max(axis, 0) : -1);
}

bool IsRealConstant(Quantising* self, int value) {
  if (value < 0) return false;
  const OnnxValue& of = ValueAt(self, value);
  return of.has_data && of.type == kOnnxFloat && of.has_shape;
}

// The scales of the weight that DequantizeLinear `value` makes.
std::vector<float> ScalesBehind(Quantising* self, int value) {
  for (const OnnxNode& node : self->nodes) {
    if (node.outputs[0] != value || node.op != "DequantizeLinear") continue;
    const OnnxValue& scale = ValueAt(self, node.inputs[1]);
    return FloatsIn(scale.data.data(), scale.data.size());
  }
  return {};
}

void QuantiseOperands(Quantising* self, OnnxNode* node) {
  const int first = node->inputs.empty() ? -1 : node->inputs[0];
  const Affine* in = first < 0 ? nullptr : self->scale[static_cast<size_t>(first)];
  std::vector<float> weights;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    const int value = node->inputs[i];
    if (value < 0) continue;
    if (!IsRealConstant(self, value)) {
      const int other = self->stands[static_cast<size_t>(value)];
      if (other >= 0) node->inputs[i] = other;
      continue;
    }
    const int axis = AxisOfWeight(*node, i, ValueAt(self, value).dims.size());
    if (axis > -2) {
      node->inputs[i] = QuantisedConstant(self, value, axis, nullptr);
      weights = ScalesBehind(self, node->inputs[i]);
    } else if (i == 2 && HasBias(*node) && in != nullptr && !weights.empty()) {
      for (float& scale : weights) scale *= in->scale;
      node->inputs[i] = QuantisedConstant(self, value, 0, &weights);
    } else if (TakesNumbers(node->op)) {
      node->inputs[i] = QuantisedConstant(self, value, -1, nullptr);
    }
  }
}

// Whether the only reader takes the value without its own quantisation: the function of a
// layer in front.
bool IsAbsorbed(const OnnxModel& model, const OnnxValue& value) {
  if (value.readers.size() != 1 || value.is_output) return false;
  const std::string& op = model.nodes[static_cast<size_t>(value.readers[0])].op;
  return op == "Relu" || op == "Clip";
}

// Decides which values are quantised, and how.
void ChooseScales(const FloatRanges& ranges, Quantising* self) {
  const OnnxModel& model = *self->model;
  std::vector<UnsupportedOperator> missing;
  self->scale.assign(model.values.size(), nullptr);
  self->affines.reserve(model.values.size());
  const auto choose = [&](int index, const OnnxNode* from) {
    const OnnxValue& value = model.values[static_cast<size_t>(index)];
    if (value.constant || value.type != kOnnxFloat) return;
    const Affine*& scale = self->scale[static_cast<size_t>(index)];
    if (from != nullptr && OnlyMoves(from->op) && !from->inputs.empty() &&
        from->inputs[0] >= 0) {
      scale = self->scale[static_cast<size_t>(from->inputs[0])];
      if (scale != nullptr) return;
    }
    if (from != nullptr && IsAbsorbed(model, value)) return;
    const auto given = ranges.find(value.name);
    Interval interval;
    if (given != ranges.end()) {
      interval = given->second;
    } else if (from == nullptr || !KnownInterval(from->op, &interval)) {
      missing.push_back({value.name, "no range is given", 1});
      return;
    }
    self->affines.push_back(Int8Affine(interval));
    scale = &self->affines.back();
  };
  for (const int input : model.inputs) choose(input, nullptr);
  for (const OnnxNode& node : model.nodes) {
    for (const int output : node.outputs) {
      if (output >= 0) choose(output, &node);
    }
  }
  if (!missing.empty()) FailUnranged(missing);
}

void MustBeFloats(const OnnxModel& model, const FloatRanges& ranges) {
  std::vector<std::string> names;
  for (const OnnxValue& value : model.values) {
    if (value.type == kOnnxFloat) names.push_back(value.name);
  }
  for (const OnnxNode& node : model.nodes) {
    if (node.op.find("Quant") == std::string::npos &&
        node.op.find("QLinear") == std::string::npos &&
        node.op.find("Integer") == std::string::npos) {
      continue;
    }
    throw Error(Fault::kBadArgument,
                "the model is quantised: it needs no ranges (" + node.op + ")");
  }
  MustBeKnown(ranges, names);
}

// An output keeps its name: what a node writes gets another.
void KeepOutputs(Quantising* self) {
  for (int& output : self->model->outputs) {
    const int real = self->stands[static_cast<size_t>(output)];
    if (real < 0) continue;
    std::swap(ValueAt(self, real).name, ValueAt(self, output).name);
    ValueAt(self, real).is_output = true;
    ValueAt(self, output).is_output = false;
    output = real;
  }
}

void Renumber(OnnxModel* model) {
  for (OnnxValue& value : model->values) {
    value.readers.clear();
    value.producer = -1;
  }
  for (size_t n = 0; n < model->nodes.size(); ++n) {
    const int number = static_cast<int>(n);
    for (const int input : model->nodes[n].inputs) {
      if (input < 0) continue;
      auto& readers = model->values[static_cast<size_t>(input)].readers;
      if (readers.empty() || readers.back() != number) readers.push_back(number);
    }
    for (const int output : model->nodes[n].outputs) {
      if (output >= 0) model->values[static_cast<size_t>(output)].producer = number;
    }
  }
}

}  // namespace

void QuantiseOnnxFloats(const FloatRanges& ranges, OnnxModel* model) {
  MustBeFloats(*model, ranges);
  Quantising self = {model, {}, {}, {}, std::vector<int>(model->values.size(), -1)};
  ChooseScales(ranges, &self);
  for (const int input : model->inputs) {
    if (self.scale[static_cast<size_t>(input)] != nullptr) PutAround(&self, input);
  }
  for (OnnxNode node : model->nodes) {
    QuantiseOperands(&self, &node);
    self.nodes.push_back(node);
    for (const int output : node.outputs) {
      if (output >= 0 && self.scale[static_cast<size_t>(output)] != nullptr) {
        PutAround(&self, output);
      }
    }
  }
  model->nodes = std::move(self.nodes);
  KeepOutputs(&self);
  Renumber(model);
}

}  // namespace sluice::import
