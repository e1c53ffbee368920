// SPDX-License-Identifier: Apache-2.0
// Floats that go in and come out as their bits.
#ifndef SLUICE_TESTS_IMPORT_ONNX_REALS_H_
#define SLUICE_TESTS_IMPORT_ONNX_REALS_H_

#include <cstring>
#include <string>
#include <vector>

#include "tests/import/onnx/imported.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {

using Reals = std::vector<float>;

inline Bytes BitsOfReals(const Reals& reals) {
  Bytes bytes(reals.size() * 4);
  std::memcpy(bytes.data(), reals.data(), bytes.size());
  return bytes;
}
inline Reals RealsOf(const Bytes& bytes) {
  Reals reals(bytes.size() / 4);
  std::memcpy(reals.data(), bytes.data(), bytes.size());
  return reals;
}
// What the model makes of the bytes of its input.
inline Reals RealsFor(const TinyOnnx& model, const Bytes& input) {
  const ImportAndGraph import = Import(model.Finish());
  CHECK(import.shapes_only.empty());
  return RealsOf(OutputFor(import, input));
}
inline onnx::AttributeProto* Text(onnx::NodeProto* node, const std::string& name,
                                  const std::string& text) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(text);
  return attribute;
}
// A node of onnxruntime's.
inline onnx::NodeProto* Contrib(TinyOnnx* model, const std::string& op,
                                const std::vector<std::string>& inputs,
                                const std::string& output) {
  onnx::NodeProto* node = model->Node(op, inputs, {output});
  node->set_domain("com.microsoft");
  return node;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_IMPORT_ONNX_REALS_H_
