// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/tflite_model.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "import/error.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

constexpr unsigned kMaxDepth = 16;         // the format nests six tables
constexpr unsigned kMaxTables = 1u << 22;  // that the verifier visits

[[noreturn]] void Bad(const std::string& what) {
  throw Error(Fault::kBadInput, "not a usable TensorFlow Lite model: " + what);
}

template <typename T>
std::vector<T> Copy(const flatbuffers::Vector<T>* from) {
  if (from == nullptr) return {};
  return std::vector<T>(from->begin(), from->end());
}

std::string TextOf(const flatbuffers::String* text) {
  return text == nullptr ? std::string() : text->str();
}

const tflite::Model* Open(const uint8_t* bytes, size_t size) {
  if (size < 12) Bad("the file has " + std::to_string(size) + " bytes");
  if (size > 0x7fffffff) Bad("the file is larger than 2 GiB");
  if (std::memcmp(bytes + 4, "TFL3", 4) != 0) {
    Bad("the identifier at byte 4 is not TFL3");
  }
  flatbuffers::Verifier verifier(bytes, size, kMaxDepth, kMaxTables);
  if (!tflite::VerifyModelBuffer(verifier)) {
    Bad("the file is truncated or damaged (flatbuffers verifier)");
  }
  return tflite::GetModel(bytes);
}

// The bytes of buffer `index`, inside the flatbuffer or behind it.
void FindData(const tflite::Model& model, uint32_t index, const uint8_t* bytes,
              size_t size, TfliteTensor* tensor) {
  const auto* buffers = model.buffers();
  if (buffers == nullptr || index >= buffers->size()) {
    Bad("tensor " + tensor->name + " names buffer " + std::to_string(index) +
        ", which does not exist");
  }
  const tflite::Buffer* buffer = buffers->Get(index);
  if (buffer->data() != nullptr && buffer->data()->size() > 0) {
    tensor->data = buffer->data()->data();
    tensor->data_bytes = buffer->data()->size();
  } else if (buffer->offset() > 1 && buffer->size() > 0) {
    if (buffer->offset() > size || buffer->size() > size - buffer->offset()) {
      Bad("the constant of tensor " + tensor->name +
          " lies behind the end of the file");
    }
    tensor->data = bytes + buffer->offset();
    tensor->data_bytes = buffer->size();
  }
}

void CheckConstant(const TfliteTensor& tensor) {
  const size_t element = TfliteTypeBytes(tensor.type);
  if (tensor.data == nullptr || element == 0) return;
  uint64_t bytes = element;
  for (int32_t extent : tensor.shape) {
    if (extent < 0) Bad("constant " + tensor.name + " has a negative extent");
    bytes *= static_cast<uint64_t>(extent);
    if (bytes > 0x7fffffff) Bad("constant " + tensor.name + " is larger than 2 GiB");
  }
  if (bytes != tensor.data_bytes) {
    Bad("constant " + tensor.name + " has " + std::to_string(tensor.data_bytes) +
        " bytes; its shape needs " + std::to_string(bytes));
  }
}

void ReadQuantisation(const tflite::Quantization* from, TfliteTensor* tensor) {
  if (from == nullptr || from->scale() == nullptr || from->scale()->size() == 0) return;
  tensor->scales = Copy(from->scale());
  // memcpy, since the generated verifier does not check the alignment of 8-byte
  // elements.
  if (const auto* zero_points = from->zero_point(); zero_points != nullptr) {
    tensor->zero_points.resize(zero_points->size());
    if (zero_points->size() != 0) {
      std::memcpy(tensor->zero_points.data(), zero_points->Data(),
                  zero_points->size() * sizeof(int64_t));
    }
  }
  tensor->quantised_axis = from->quantized_dimension();
  const size_t count = tensor->scales.size();
  if (tensor->zero_points.empty()) tensor->zero_points.assign(count, 0);
  if (tensor->zero_points.size() == 1) {
    tensor->zero_points.resize(count, tensor->zero_points[0]);
  }
  if (tensor->zero_points.size() != count) {
    Bad("tensor " + tensor->name + " has " + std::to_string(count) + " scales and " +
        std::to_string(tensor->zero_points.size()) + " zero points");
  }
  for (float scale : tensor->scales) {
    if (!std::isfinite(scale) || scale < 0) {
      Bad("tensor " + tensor->name + " has a scale that is not a finite number >= 0");
    }
  }
  for (int64_t zero : tensor->zero_points) {
    if (zero < std::numeric_limits<int32_t>::min() ||
        zero > std::numeric_limits<int32_t>::max()) {
      Bad("tensor " + tensor->name + " has a zero point beyond 32 bits");
    }
  }
}

TfliteTensor ReadTensor(const tflite::Model& model, const tflite::Tensor& from,
                        size_t index, const uint8_t* bytes, size_t size) {
  TfliteTensor tensor = {};
  tensor.name = TextOf(from.name());
  if (tensor.name.empty()) tensor.name = "tensor_" + std::to_string(index);
  tensor.type = static_cast<int>(from.type());
  tensor.shape = Copy(from.shape());
  tensor.is_variable = from.is_variable();
  FindData(model, from.buffer(), bytes, size, &tensor);
  if (tensor.data != nullptr) tensor.sparsity = from.sparsity();
  if (tensor.sparsity == nullptr) CheckConstant(tensor);
  ReadQuantisation(from.quantization(), &tensor);
  return tensor;
}

TfliteOperator ReadOperator(const tflite::Model& model, const tflite::Operator& from,
                            size_t index) {
  const auto* codes = model.operator_codes();
  if (codes == nullptr || from.opcode_index() >= codes->size()) {
    Bad("operator " + std::to_string(index) + " has an operator code out of range");
  }
  const tflite::OperatorCode& code = *codes->Get(from.opcode_index());
  TfliteOperator op;
  // Both fields are written by newer converters; the larger one is right.
  op.code = std::max(static_cast<int>(code.builtin_code()),
                     static_cast<int>(code.deprecated_builtin_code()));
  const char* name =
      tflite::EnumNameBuiltinOperator(static_cast<tflite::BuiltinOperator>(op.code));
  op.name = *name != '\0' ? name : "operator code " + std::to_string(op.code);
  if (op.code == static_cast<int>(tflite::BuiltinOperator::CUSTOM)) {
    op.name += ":" + TextOf(code.custom_code());
  }
  op.inputs = Copy(from.inputs());
  op.outputs = Copy(from.outputs());
  op.wire = &from;
  return op;
}

void CheckIndices(const std::vector<int32_t>& list, size_t tensors, int32_t least,
                  const std::string& where) {
  for (int32_t index : list) {
    if (index < least || index >= static_cast<int64_t>(tensors)) {
      Bad(where + " names tensor " + std::to_string(index) + ", which does not exist");
    }
  }
}

// Every tensor is written once, before it is read; inputs and constants never.
void CheckOrder(const TfliteModel& model) {
  std::vector<bool> known(model.tensors.size());
  for (size_t i = 0; i < known.size(); ++i) known[i] = model.tensors[i].data != nullptr;
  for (int32_t input : model.inputs) {
    if (known[static_cast<size_t>(input)]) {
      Bad("input " + model.tensors[static_cast<size_t>(input)].name +
          " is a constant or listed twice");
    }
    known[static_cast<size_t>(input)] = true;
  }
  for (size_t i = 0; i < model.operators.size(); ++i) {
    const TfliteOperator& op = model.operators[i];
    const std::string where = "operator " + std::to_string(i) + " (" + op.name + ") ";
    for (int32_t input : op.inputs) {
      if (input < 0 || known[static_cast<size_t>(input)]) continue;
      if (model.tensors[static_cast<size_t>(input)].is_variable) continue;
      Bad(where + "reads " + model.tensors[static_cast<size_t>(input)].name +
          " before anything writes it");
    }
    for (int32_t output : op.outputs) {
      if (known[static_cast<size_t>(output)]) {
        Bad(where + "writes " + model.tensors[static_cast<size_t>(output)].name +
            ", which has its value already");
      }
      known[static_cast<size_t>(output)] = true;
    }
  }
  std::vector<bool> listed(model.tensors.size());
  for (int32_t output : model.outputs) {
    const size_t at = static_cast<size_t>(output);
    if (!known[at]) Bad("output " + model.tensors[at].name + " is never written");
    if (listed[at]) Bad("output " + model.tensors[at].name + " is listed twice");
    listed[at] = true;
  }
}

}  // namespace

size_t TfliteTypeBytes(int type) {
  switch (static_cast<tflite::TensorType>(type)) {
    case tflite::TensorType::INT8:
    case tflite::TensorType::UINT8:
    case tflite::TensorType::BOOL:
      return 1;
    case tflite::TensorType::INT16:
    case tflite::TensorType::UINT16:
    case tflite::TensorType::FLOAT16:
    case tflite::TensorType::BFLOAT16:
      return 2;
    case tflite::TensorType::INT32:
    case tflite::TensorType::UINT32:
    case tflite::TensorType::FLOAT32:
      return 4;
    case tflite::TensorType::INT64:
    case tflite::TensorType::UINT64:
    case tflite::TensorType::FLOAT64:
    case tflite::TensorType::COMPLEX64:
      return 8;
    default:
      return 0;
  }
}

std::string TfliteTypeName(int type) {
  const char* name = tflite::EnumNameTensorType(static_cast<tflite::TensorType>(type));
  if (*name == '\0') return "type " + std::to_string(type);
  std::string lower = name;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return lower;
}

TfliteModel ReadTfliteSubgraph(const uint8_t* bytes, size_t size, int64_t index) {
  const tflite::Model& file = *Open(bytes, size);
  if (file.version() != 3) {
    Bad("schema version " + std::to_string(file.version()) + " instead of 3");
  }
  if (file.subgraphs() == nullptr || file.subgraphs()->size() == 0) {
    Bad("it has no subgraph");
  }
  if (index < 0 || index >= static_cast<int64_t>(file.subgraphs()->size())) {
    Bad("an operator calls subgraph " + std::to_string(index) +
        ", which does not exist");
  }
  const tflite::SubGraph& graph = *file.subgraphs()->Get(static_cast<uint32_t>(index));
  TfliteModel model;
  if (graph.tensors() != nullptr) {
    for (uint32_t i = 0; i < graph.tensors()->size(); ++i) {
      model.tensors.push_back(
          ReadTensor(file, *graph.tensors()->Get(i), i, bytes, size));
      if (index != 0 && model.tensors.back().sparsity != nullptr) {
        Bad("constant " + model.tensors.back().name + " of subgraph " +
            std::to_string(index) + " is sparse");
      }
    }
  }
  if (graph.operators() != nullptr) {
    for (uint32_t i = 0; i < graph.operators()->size(); ++i) {
      model.operators.push_back(ReadOperator(file, *graph.operators()->Get(i), i));
    }
  }
  model.inputs = Copy(graph.inputs());
  model.outputs = Copy(graph.outputs());
  const size_t count = model.tensors.size();
  CheckIndices(model.inputs, count, 0, "the input list");
  CheckIndices(model.outputs, count, 0, "the output list");
  for (size_t i = 0; i < model.operators.size(); ++i) {
    const std::string where =
        "operator " + std::to_string(i) + " (" + model.operators[i].name + ")";
    CheckIndices(model.operators[i].inputs, count, -1, where);
    CheckIndices(model.operators[i].outputs, count, 0, where);
  }
  CheckOrder(model);
  return model;
}

TfliteModel ReadTfliteModel(const uint8_t* bytes, size_t size) {
  TfliteModel model = ReadTfliteSubgraph(bytes, size, 0);
  if (model.operators.empty()) Bad("it has no operators");
  if (model.outputs.empty()) Bad("it has no outputs");
  return model;
}

}  // namespace sluice::import
