// SPDX-License-Identifier: Apache-2.0
// Which numbers of uint8 become int8, and that results stay what they are.
#include <doctest/doctest.h>

#include "import/onnx/onnx_model.h"

namespace sluice::import {
namespace {

OnnxValue Bytes8(const char* name, bool constant) {
  OnnxValue value;
  value.name = name;
  value.type = kOnnxUint8;
  value.has_shape = true;
  value.constant = value.has_data = constant;
  if (constant) value.data = OnnxData(Bytes{200});
  return value;
}

// 0: floats -> 1: stored by zero point 2 -> `op` -> 3 -> DequantizeLinear -> 4: floats.
OnnxModel Through(const char* op) {
  OnnxModel model;
  OnnxValue real = Bytes8("real", false);
  real.type = kOnnxFloat;
  model.values = {real, Bytes8("q", false), Bytes8("zero", true),
                  Bytes8("moved", false), real};
  const OnnxNode quantise = {"a", "QuantizeLinear", {0, -1, 2}, {1}, {}};
  const OnnxNode between = {"b", op, {1}, {3}, {}};
  const OnnxNode back = {"c", "DequantizeLinear", {3, -1}, {4}, {}};
  model.nodes = {quantise, between, back};
  model.inputs = {0};
  model.outputs = {4};
  return model;
}

TEST_CASE("onnx signed: stored numbers and their zero points are 128 less") {
  OnnxModel model = Through("Transpose");
  UseSignedNumbers(&model);
  CHECK(model.values[1].type == kOnnxInt8);
  CHECK(model.values[3].type == kOnnxInt8);
  const auto zero = [&](size_t node) {
    return model.values[static_cast<size_t>(model.nodes[node].inputs.at(2))];
  };
  CHECK(zero(0).type == kOnnxInt8);
  CHECK(zero(0).data[0] == 72);               // 200 - 128
  CHECK(zero(2).data[0] == 128);              // without a zero point it is 0: -128
  CHECK(model.values[2].type == kOnnxUint8);  // for others that have it
  CHECK(model.values[2].data[0] == 200);
}

TEST_CASE("onnx signed: what other operators read stays") {
  OnnxModel model = Through("BitwiseNot");
  UseSignedNumbers(&model);
  CHECK(model.values[1].type == kOnnxUint8);
  CHECK(model.nodes[0].inputs[2] == 2);
}

TEST_CASE(
    "onnx signed: numbers that are interpolated stay, those that are picked do not") {
  for (const char* mode : {"linear", "nearest"}) {
    OnnxModel model = Through("Resize");
    model.nodes[1].attributes["mode"].s = mode;
    UseSignedNumbers(&model);
    CHECK((model.values[1].type == kOnnxInt8) == (mode[0] == 'n'));
  }
}

TEST_CASE("onnx signed: so does what the border of the model sees") {
  for (const int at : {1, 3}) {
    OnnxModel model = Through("Reshape");
    model.outputs.push_back(at);
    UseSignedNumbers(&model);
    CHECK(model.values[1].type == kOnnxUint8);
    CHECK(model.values[3].type == kOnnxUint8);
  }
}

TEST_CASE("onnx signed: numbers joined with a constant of bytes stay") {
  OnnxModel model = Through("Concat");
  model.values.push_back(Bytes8("more", true));
  model.nodes[1].inputs.push_back(5);
  UseSignedNumbers(&model);
  CHECK(model.values[1].type == kOnnxUint8);
}

TEST_CASE("onnx signed: a zero point of the run changes with its numbers") {
  OnnxModel model = Through("Reshape");
  model.values.push_back(Bytes8("zero at run time", false));
  model.nodes[0] = {"a", "DynamicQuantizeLinear", {0}, {1, -1, 5}, {}};
  model.nodes[2].inputs.push_back(5);
  UseSignedNumbers(&model);
  CHECK(model.values[1].type == kOnnxInt8);
  CHECK(model.values[5].type == kOnnxInt8);
  CHECK(model.nodes[2].inputs[2] == 5);
}

}  // namespace
}  // namespace sluice::import
