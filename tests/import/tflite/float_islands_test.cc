// SPDX-License-Identifier: Apache-2.0
// Operators without a form on bytes in a model of floats.
#include "import/tflite/float_islands.h"

#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
constexpr auto kReal = tflite::TensorType::FLOAT32;

// y = floor(relu(x) ^ exponent), all floats.
Bytes Power(TinyModel* model) {
  const float two = 2;
  Bytes exponent(4);
  std::memcpy(exponent.data(), &two, 4);
  const int x = model->AddTensor("x", {1, 3}, kReal, 0, 0);
  const int e = model->AddTensor("e", {}, kReal, 0, 0, exponent);
  const int r = model->AddTensor("r", {1, 3}, kReal, 0, 0);
  const int p = model->AddTensor("p", {1, 3}, kReal, 0, 0);
  const int y = model->AddTensor("y", {1, 3}, kReal, 0, 0);
  model->AddOperator(BuiltinOperator::RELU, {x}, {r});
  model->AddOperator(BuiltinOperator::POW, {r, e}, {p});
  model->AddOperator(BuiltinOperator::FLOOR, {p}, {y});
  return model->Finish({x}, {y});
}

TEST_CASE("tflite islands: what has no form on bytes computes floats among bytes") {
  TinyModel model;
  const ImportAndGraph import = Import(Power(&model));
  CHECK(import.shapes_only.size() == 3);
  std::vector<std::string> hosted;
  for (const UnsupportedOperator& entry : import.opaque) hosted.push_back(entry.name);
  CHECK(hosted == std::vector<std::string>{"DEQUANTIZE", "POW", "QUANTIZE", "FLOOR"});
  // In steps of 1/32: 1 squared is 1, 1.5 squared 2.25 of which the floor is 2.
  CHECK(OutputFor(import, Stored({32, 48, -5})) == Stored({32, 64, 0}));
}

TEST_CASE("tflite islands: constants stay theirs, and other models have none") {
  TinyModel model;
  const Bytes bytes = Power(&model);
  TfliteModel read = ReadTfliteModel(bytes.data(), bytes.size());
  CHECK(KeepFloatIslands(&read) == 5);
  CHECK(read.tensors.size() == 10);   // two operators' operands
  CHECK(read.operators.size() == 7);  // RELU and twice three
  CHECK(read.tensors[6].data == read.tensors[1].data);
  const Bytes plain = TinyConvolution();
  TfliteModel other = ReadTfliteModel(plain.data(), plain.size());
  const size_t tensors = other.tensors.size();
  CHECK(KeepFloatIslands(&other) == tensors);
  CHECK(other.tensors.size() == tensors);
}

}  // namespace
}  // namespace sluice::import
