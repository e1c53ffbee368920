// SPDX-License-Identifier: Apache-2.0
// Operators without a unit. tests/models/tflite_operators.py compares each of them with
// the runtime.
#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
using tflite::TensorType;

// One operator on two int8 operands with the scales 0.5 and 0.25.
Bytes Binary(BuiltinOperator op, TensorType out) {
  TinyModel model;
  const int a = model.AddTensor("a", {2, 2}, TensorType::INT8, 0.5f, 1);
  const int b =
      model.AddTensor("b", {2}, TensorType::INT8, 0.25f, 0, Stored({4, 256 - 8}));
  const bool real = out == TensorType::INT8;
  const int y = model.AddTensor("y", {2, 2}, out, real ? 1.0f : 0, 0);
  model.AddOperator(op, {a, b}, {y});
  return model.Finish({a}, {y});
}

TEST_CASE("tflite kernels: quantised operands are compared as the numbers they mean") {
  // a: 1, -2, 0.5, -2.5; b: 1, -2 in each row.
  const Bytes a = Stored({3, 256 - 3, 2, 256 - 4});
  const auto of = [&](BuiltinOperator op) {
    return OutputFor(Import(Binary(op, TensorType::BOOL)), a);
  };
  CHECK(of(BuiltinOperator::EQUAL) == Stored({1, 1, 0, 0}));
  CHECK(of(BuiltinOperator::LESS) == Stored({0, 0, 1, 1}));
  CHECK(of(BuiltinOperator::GREATER_EQUAL) == Stored({1, 1, 0, 0}));
  const ImportAndGraph import =
      Import(Binary(BuiltinOperator::EQUAL, TensorType::BOOL));
  REQUIRE(import.opaque.size() == 1);
  CHECK(import.opaque[0].name == "EQUAL");
  CHECK(import.opaque[0].reason == kByHostFunction);
}

TEST_CASE("tflite kernels: differences are squared in the output's steps") {
  const ImportAndGraph import =
      Import(Binary(BuiltinOperator::SQUARED_DIFFERENCE, TensorType::INT8));
  // 0, 0, 3, 8 apart: squares 0, 0, 9, 64.
  CHECK(OutputFor(import, Stored({3, 256 - 3, 256 - 3, 13})) == Stored({0, 0, 9, 64}));
}

TEST_CASE("tflite kernels: numbers of options reach the function") {
  TinyModel model;
  const int x = model.AddTensor("x", {4}, TensorType::INT32, 0, 0);
  const int axis = Int32s(&model, "axis", {0});
  const int y = model.AddTensor("y", {4}, TensorType::INT32, 0, 0);
  const auto options = tflite::CreateCumsumOptions(model.builder(), true, true);
  model.AddOperator(BuiltinOperator::CUMSUM, {x, axis}, {y},
                    BuiltinOptions::CumsumOptions, options.Union());
  const ImportAndGraph import = Import(model.Finish({x}, {y}));
  std::vector<int32_t> in = {1, 2, 3, 4}, want = {9, 7, 4, 0};
  Bytes given(16), wanted(16);
  std::memcpy(given.data(), in.data(), 16);
  std::memcpy(wanted.data(), want.data(), 16);
  CHECK(OutputFor(import, given) == wanted);
}

TEST_CASE("tflite kernels: types and options that no function has are refused") {
  TinyModel sines;
  const int x = sines.AddTensor("x", {4}, TensorType::INT8, 0.5f, 0);
  const int y = sines.AddTensor("y", {4}, TensorType::INT8, 0.5f, 0);
  sines.AddOperator(BuiltinOperator::SIN, {x}, {y});
  CHECK(MessageOf(sines.Finish({x}, {y}))
            .find("1 x SIN (operands of a type that the host does not compute)") !=
        std::string::npos);
  TinyModel sum;
  const int a = sum.AddTensor("a", {4}, TensorType::INT32, 0, 0);
  const int b = sum.AddTensor("b", {4}, TensorType::INT32, 0, 0);
  const auto options =
      tflite::CreateAddOptions(sum.builder(), tflite::Activation::TANH, false);
  sum.AddOperator(BuiltinOperator::ADD, {a, a}, {b}, BuiltinOptions::AddOptions,
                  options.Union());
  CHECK(Outcome(sum.Finish({a}, {b})) == kUnsupported);
}

}  // namespace
}  // namespace sluice::import
