// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_wire.h"

namespace sluice::import {
namespace {

// Numbers of fields in ONNX's messages.
enum : uint64_t {
  kModelGraph = 7,
  kGraphNode = 1,
  kGraphInitializer = 5,
  kNodeOperator = 4,
  kTensorType = 2,
  kTensorRaw = 9
};
enum : uint64_t { kVarint = 0, kEight = 1, kBytes = 2, kFour = 5 };  // protobuf's types
constexpr uint64_t kFloat = 1;

struct Span {
  const uint8_t* begin;
  const uint8_t* end;
  size_t size() const { return static_cast<size_t>(end - begin); }
};

struct Field {
  uint64_t number, type, value;  // value: of a varint
  Span whole, payload;
};

bool ReadVarint(Span* from, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && from->begin != from->end; shift += 7) {
    const uint8_t byte = *from->begin++;
    *value |= uint64_t{byte & 127u} << shift;
    if (byte < 128) return true;
  }
  return false;
}

// Takes the next field from the front. False: these are no fields.
bool Take(Span* from, Field* field) {
  field->whole.begin = from->begin;
  uint64_t tag = 0, length = 0;
  if (!ReadVarint(from, &tag)) return false;
  field->number = tag >> 3;
  field->type = tag & 7;
  field->value = 0;
  if (field->type == kVarint) {
    if (!ReadVarint(from, &field->value)) return false;
  } else if (field->type == kBytes) {
    if (!ReadVarint(from, &length)) return false;
  } else if (field->type == kEight || field->type == kFour) {
    length = field->type == kEight ? 8 : 4;
  } else {
    return false;
  }
  if (length > from->size()) return false;
  field->payload = {from->begin, from->begin + length};
  from->begin += length;
  field->whole.end = from->begin;
  return true;
}

void Append(const Span& span, std::string* out) {
  out->append(reinterpret_cast<const char*>(span.begin), span.size());
}

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 128; value >>= 7) out->push_back(static_cast<char>(value | 128));
  out->push_back(static_cast<char>(value));
}

void AppendMessage(uint64_t number, const std::string& message, std::string* out) {
  AppendVarint(number << 3 | kBytes, out);
  AppendVarint(message.size(), out);
  out->append(message);
}

bool ComputesFloats(Span node) {
  Field field;
  while (node.begin != node.end) {
    if (!Take(&node, &field)) return false;
    if (field.number != kNodeOperator || field.type != kBytes) continue;
    std::string op;
    Append(field.payload, &op);
    for (const char* part :
         {"Quantize", "Integer", "QLinear", "QGemm", "NBits", "QAttention"}) {
      if (op.find(part) != std::string::npos) return false;
    }
  }
  return true;
}

// Inference of shapes reads short lists of integers: they stay.
constexpr size_t kShort = 1024;

bool CopyTensor(const Field& given, std::string* out, SlimModel* slim) {
  Span tensor = given.payload;
  std::string kept;
  RawBytes raw = {nullptr, 0, false};
  Field field;
  while (tensor.begin != tensor.end) {
    if (!Take(&tensor, &field)) return false;
    if (field.number == kTensorType) raw.floats = field.value == kFloat;
    if (field.number == kTensorRaw && field.type == kBytes &&
        field.payload.size() > kShort) {
      raw.data = field.payload.begin;
      raw.size = field.payload.size();
    } else {
      Append(field.whole, &kept);
    }
  }
  if (raw.data != nullptr) {
    AppendMessage(kGraphInitializer, kept, out);
  } else {
    Append(given.whole, out);
  }
  slim->constants.push_back(raw);
  return true;
}

bool CopyGraph(Span graph, SlimModel* slim) {
  std::string kept;
  Field field;
  while (graph.begin != graph.end) {
    if (!Take(&graph, &field)) return false;
    const bool message = field.type == kBytes;
    if (message && field.number == kGraphNode) {
      slim->floats_alone = slim->floats_alone && ComputesFloats(field.payload);
    }
    if (message && field.number == kGraphInitializer) {
      if (!CopyTensor(field, &kept, slim)) return false;
    } else {
      Append(field.whole, &kept);
    }
  }
  AppendMessage(kModelGraph, kept, &slim->file);
  return true;
}

}  // namespace

bool ReadSlim(const uint8_t* bytes, size_t size, SlimModel* slim) {
  Span model = {bytes, bytes + size};
  *slim = {{}, {}, true};
  Field field;
  while (model.begin != model.end) {
    if (!Take(&model, &field)) return false;
    if (field.number == kModelGraph && field.type == kBytes) {
      if (!CopyGraph(field.payload, slim)) return false;
    } else {
      Append(field.whole, &slim->file);
    }
  }
  return true;
}

}  // namespace sluice::import
