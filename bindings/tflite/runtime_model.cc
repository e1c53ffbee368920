// SPDX-License-Identifier: Apache-2.0
#include "runtime_model.h"

#include <algorithm>
#include <cmath>

#include "import/error.h"
#include "import/tflite/fold_constants.h"
#include "output_shapes.h"
#include "runtime_options.h"
#include "tflite_generated.h"

namespace sluice::delegate {
namespace {

// The runtime numbers types from 1, and two types have other positions than in files.
int TypeOf(TfLiteType type) {
  switch (type) {
    case kTfLiteFloat32:
      return static_cast<int>(tflite::TensorType::FLOAT32);
    case kTfLiteFloat16:
      return static_cast<int>(tflite::TensorType::FLOAT16);
    case kTfLiteFloat64:
      return static_cast<int>(tflite::TensorType::FLOAT64);
    default:
      return type < kTfLiteFloat16 ? static_cast<int>(type)
                                   : static_cast<int>(type) - 1;
  }
}

void ReadQuantisation(const TfLiteTensor& from, import::TfliteTensor* to) {
  if (from.quantization.type != kTfLiteAffineQuantization ||
      from.quantization.params == nullptr) {
    return;
  }
  const auto& affine =
      *static_cast<const TfLiteAffineQuantization*>(from.quantization.params);
  if (affine.scale == nullptr || affine.scale->size <= 0) return;
  to->scales.assign(affine.scale->data, affine.scale->data + affine.scale->size);
  if (affine.zero_point != nullptr) {
    to->zero_points.assign(affine.zero_point->data,
                           affine.zero_point->data + affine.zero_point->size);
  }
  to->quantised_axis = affine.quantized_dimension;
  if (to->zero_points.empty()) to->zero_points.push_back(0);
  if (to->zero_points.size() == 1) {
    to->zero_points.resize(to->scales.size(), to->zero_points[0]);
  }
  if (to->zero_points.size() != to->scales.size()) {
    throw NodeRefused{"scales and zero points of different number"};
  }
  for (const float scale : to->scales) {
    if (!std::isfinite(scale) || scale < 0) {
      throw NodeRefused{"a scale that is no number above 0"};
    }
  }
}

uint64_t DenseBytes(const import::TfliteTensor& tensor) {
  uint64_t bytes = import::TfliteTypeBytes(tensor.type);
  for (const int32_t extent : tensor.shape) {
    if (extent < 0) return 0;
    bytes *= static_cast<uint64_t>(extent);
    if (bytes > 0x7fffffff) return 0;
  }
  return bytes;
}

// Whether a constant's bytes are as many as its shape needs, as the importer expects.
bool IsWhole(const import::TfliteTensor& tensor) {
  return import::TfliteTypeBytes(tensor.type) == 0 ||
         DenseBytes(tensor) == tensor.data_bytes;
}

constexpr char kFile[] = "runtime tensor ";

}  // namespace

RuntimeNode ReadNode(TfLiteContext* context, int index) {
  TfLiteNode* node = nullptr;
  TfLiteRegistration* registration = nullptr;
  if (context->GetNodeAndRegistration(context, index, &node, &registration) !=
      kTfLiteOk) {
    throw NodeRefused{"the runtime does not know it"};
  }
  const auto list = [](const TfLiteIntArray* from) {
    return std::vector<int>(from->data, from->data + from->size);
  };
  return {registration->builtin_code, list(node->inputs), list(node->outputs),
          node->builtin_data, false};
}

const TfLiteTensor& TensorAt(const TfLiteContext* context, int index) {
  return context->GetTensor != nullptr ? *context->GetTensor(context, index)
                                       : context->tensors[index];
}

bool IsSmallInteger(TfLiteType type) {
  return type == kTfLiteInt8 || type == kTfLiteUInt8 || type == kTfLiteInt16;
}

bool IsConstant(const TfLiteTensor& tensor) {
  return tensor.data.raw != nullptr && tensor.allocation_type == kTfLiteMmapRo;
}

std::string FileOf(int tensor) { return kFile + std::to_string(tensor); }

int TensorOfFile(const char* file, uint32_t size) {
  const std::string name(file, size);
  const size_t prefix = sizeof kFile - 1;
  if (name.compare(0, prefix, kFile) != 0) return -1;
  int64_t index = 0;
  for (size_t i = prefix; i < name.size(); ++i) {
    if (name[i] < '0' || name[i] > '9' || index > 0x7fffff) return -1;
    index = index * 10 + (name[i] - '0');
  }
  return name.size() > prefix ? static_cast<int>(index) : -1;
}

int32_t RuntimeModel::TensorOf(int index) {
  if (index < 0) return -1;  // an optional input that is absent
  const auto found = tensor_of_.find(index);
  if (found != tensor_of_.end()) return found->second;
  const TfLiteTensor& from = TensorAt(context_, index);
  if (from.sparsity != nullptr) throw NodeRefused{"a sparse tensor"};
  // The runtime's kernels may write a variable, and a reset of the interpreter does.
  if (from.is_variable) throw NodeRefused{"a variable"};
  if (from.dims == nullptr) throw NodeRefused{"a tensor without a shape"};
  import::TfliteTensor to = {};
  to.name = from.name != nullptr && from.name[0] != '\0'
                ? from.name
                : "tensor_" + std::to_string(index);
  to.type = TypeOf(from.type);
  to.shape.assign(from.dims->data, from.dims->data + from.dims->size);
  if (IsConstant(from)) {
    to.data = from.data.uint8;
    to.data_bytes = from.bytes;
    to.file = FileOf(index);
    if (!IsWhole(to)) throw NodeRefused{"a constant of another size than its shape"};
    constants_.push_back(index);
  }
  ReadQuantisation(from, &to);
  const int32_t at = static_cast<int32_t>(model_.tensors.size());
  if (model_.tensors.capacity() == model_.tensors.size()) {
    model_.tensors.reserve(2 * model_.tensors.size() + 64);
  }
  model_.tensors.push_back(std::move(to));
  tensor_of_[index] = at;
  return at;
}

void RuntimeModel::Add(const RuntimeNode& node) {
  import::TfliteOperator op;
  op.code = node.code;
  op.name =
      tflite::EnumNameBuiltinOperator(static_cast<tflite::BuiltinOperator>(op.code));
  if (op.code == static_cast<int>(tflite::BuiltinOperator::CUSTOM) ||
      op.code == static_cast<int>(tflite::BuiltinOperator::DELEGATE)) {
    throw NodeRefused{"an operator of its own"};
  }
  for (const int input : node.inputs) op.inputs.push_back(TensorOf(input));
  for (const int output : node.outputs) {
    if (output < 0) throw NodeRefused{"an output that is absent"};
    op.outputs.push_back(TensorOf(output));
  }
  flatbuffers::FlatBufferBuilder builder(256);
  if (!WriteOptions(op.code, node.options, &builder)) {
    throw NodeRefused{"missing options"};
  }
  options_.push_back(builder.Release());
  op.wire = flatbuffers::GetRoot<tflite::Operator>(options_.back().data());
  TakeTold(node, op);
  if (!GiveShapes(node, op)) model_.operators.push_back(std::move(op));
}

// Makes a constant of a shape that the program gives.
void RuntimeModel::TakeTold(const RuntimeNode& node, const import::TfliteOperator& op) {
  const auto operand = static_cast<size_t>(ShapeOperand(op.code));
  if (operand >= op.inputs.size() || op.inputs[operand] < 0 || op.outputs.empty()) {
    return;
  }
  import::TfliteTensor& tensor =
      model_.tensors[static_cast<size_t>(op.inputs[operand])];
  if (tensor.data != nullptr ||
      tensor.type != static_cast<int>(tflite::TensorType::INT32)) {
    return;
  }
  const auto& declared = model_.tensors[static_cast<size_t>(op.outputs[0])].shape;
  const auto told = told_.insert({node.inputs[operand], declared}).first;
  const size_t bytes = told->second.size() * sizeof(int32_t);
  const auto* first = reinterpret_cast<const uint8_t*>(told->second.data());
  model_.made.emplace_back(first, first + bytes);
  tensor.shape = {static_cast<int32_t>(told->second.size())};
  tensor.data = model_.made.back().data();
  tensor.data_bytes = bytes;
}

// Gives the operator's outputs their shapes. true: it has folded.
bool RuntimeModel::GiveShapes(const RuntimeNode& node,
                              const import::TfliteOperator& op) {
  const bool has_row = HasOutputShapes(op.code);
  try {
    if (has_row || !node.folds) {
      std::vector<std::vector<int32_t>> shapes = OutputShapes(model_, op);
      for (size_t i = 0; i < shapes.size(); ++i) {
        model_.tensors[static_cast<size_t>(op.outputs[i])].shape = std::move(shapes[i]);
      }
    } else {
      // What only computes shapes: folding sets them.
      for (const int32_t output : op.outputs) {
        model_.tensors[static_cast<size_t>(output)].shape.clear();
      }
    }
  } catch (const import::Error& error) {
    throw NodeRefused{op.name + ": " + error.what()};
  }
  if (!node.folds) return false;
  const bool folded = import::FoldOperator(&model_, op, &room_);
  if (!folded && !has_row) throw NodeRefused{op.name + ": its value is not known"};
  return folded;
}

bool RuntimeModel::IsFolded(int index) const {
  const auto found = tensor_of_.find(index);
  if (found == tensor_of_.end()) return false;
  const import::TfliteTensor& tensor =
      model_.tensors[static_cast<size_t>(found->second)];
  return tensor.data != nullptr && tensor.file.empty();  // the runtime's have a name
}

const std::vector<int>& RuntimeModel::ShapeOf(int index) const {
  return model_.tensors[static_cast<size_t>(tensor_of_.at(index))].shape;
}

size_t RuntimeModel::BytesOf(int index) const {
  return static_cast<size_t>(
      DenseBytes(model_.tensors[static_cast<size_t>(tensor_of_.at(index))]));
}

void RuntimeModel::SetBorder(const std::vector<int>& inputs,
                             const std::vector<int>& outputs) {
  std::vector<bool> read(model_.tensors.size());
  for (const import::TfliteOperator& op : model_.operators) {
    for (const int32_t input : op.inputs) {
      if (input >= 0) read[static_cast<size_t>(input)] = true;
    }
  }
  for (const int input : inputs) {
    const auto found = tensor_of_.find(input);
    if (found == tensor_of_.end() || !read[static_cast<size_t>(found->second)] ||
        model_.tensors[static_cast<size_t>(found->second)].data != nullptr) {
      continue;
    }
    inputs_.push_back(input);
    model_.inputs.push_back(found->second);
  }
  for (const int output : outputs) {
    if (output < 0) continue;
    outputs_.push_back(output);
    model_.outputs.push_back(TensorOf(output));
  }
}

void RuntimeModel::SetOwnBorder() {
  std::vector<int> inputs, outputs;
  std::unordered_map<int32_t, int> runtime;
  for (const auto& [of, at] : tensor_of_) runtime[at] = of;
  std::vector<bool> listed(model_.tensors.size());
  const auto list = [&](const std::vector<int32_t>& from, std::vector<int>* to) {
    for (const int32_t t : from) {
      if (t < 0 || listed[static_cast<size_t>(t)]) continue;
      listed[static_cast<size_t>(t)] = true;
      to->push_back(runtime[t]);
    }
  };
  for (const import::TfliteOperator& op : model_.operators) {
    list(op.inputs, &inputs);
    list(op.outputs, &outputs);
  }
  SetBorder(inputs, outputs);
}

}  // namespace sluice::delegate
