// SPDX-License-Identifier: Apache-2.0
// Operands that contradict an operator are refused at import, not by the host.
// tests/import/tflite/structure_test.cc changes models at random.
#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::TensorType;

struct Operand {
  std::vector<int32_t> shape;
  TensorType type = TensorType::INT32;
  std::vector<int32_t> numbers = {};  // of a constant
};

int Outcome(BuiltinOperator op, const std::vector<Operand>& operands) {
  TinyModel model;
  std::vector<int32_t> inputs, given;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand& o = operands[i];
    std::vector<uint8_t> bytes(4 * o.numbers.size());
    if (!bytes.empty()) std::memcpy(bytes.data(), o.numbers.data(), bytes.size());
    const int t =
        model.AddTensor("t" + std::to_string(i), o.shape, o.type, 0, 0, bytes);
    inputs.push_back(t);
    if (bytes.empty()) given.push_back(t);
  }
  const int32_t out = inputs.back();
  inputs.pop_back();
  given.pop_back();
  model.AddOperator(op, inputs, {out});
  return sluice::import::Outcome(model.Finish(given, {out}));
}

TEST_CASE("tflite kernel shapes: operands broadcast to exactly the output") {
  const auto op = BuiltinOperator::FLOOR_MOD;
  CHECK(Outcome(op, {{{2, 1}}, {{3}}, {{2, 3}}}) == kDone);
  CHECK(Outcome(op, {{{2, 1}}, {{3}}, {{2, 1}}}) == kUnsupported);
  CHECK(Outcome(op, {{{2, 2}}, {{3}}, {{2, 3}}}) == kUnsupported);
  CHECK(Outcome(op, {{{3}}, {{3}, TensorType::INT16}, {{3}}}) == kUnsupported);
}

TEST_CASE("tflite kernel shapes: comparisons give bools, selections take them") {
  const Operand three = {{3}}, flags = {{3}, TensorType::BOOL};
  CHECK(Outcome(BuiltinOperator::LESS, {three, three, flags}) == kDone);
  CHECK(Outcome(BuiltinOperator::LESS, {three, three, three}) == kUnsupported);
  CHECK(Outcome(BuiltinOperator::SELECT_V2, {flags, three, three, three}) == kDone);
  CHECK(Outcome(BuiltinOperator::SELECT_V2, {three, three, three, three}) ==
        kUnsupported);
}

TEST_CASE("tflite kernel shapes: reductions keep what their axes leave") {
  const Operand axis = {{1}, TensorType::INT32, {1}},
                far = {{1}, TensorType::INT32, {2}};
  CHECK(Outcome(BuiltinOperator::REDUCE_MIN, {{{2, 3}}, axis, {{2}}}) == kDone);
  CHECK(Outcome(BuiltinOperator::REDUCE_MIN, {{{2, 3}}, axis, {{3}}}) == kUnsupported);
  CHECK(Outcome(BuiltinOperator::REDUCE_MIN, {{{2, 3}}, far, {{2}}}) == kUnsupported);
}

TEST_CASE("tflite kernel shapes: indices lie within their table") {
  const Operand in = {{1, 2}, TensorType::INT32, {1, 2}},
                out = {{1, 2}, TensorType::INT32, {1, 3}};
  CHECK(Outcome(BuiltinOperator::GATHER_ND, {{{2, 3}}, in, {{1}}}) == kDone);
  CHECK(Outcome(BuiltinOperator::GATHER_ND, {{{2, 3}}, out, {{1}}}) == kUnsupported);
  CHECK(Outcome(BuiltinOperator::GATHER_ND, {{{2, 3}}, in, {{2}}}) == kUnsupported);
}

TEST_CASE("tflite kernel shapes: diagonals, pads and the largest") {
  CHECK(Outcome(BuiltinOperator::MATRIX_DIAG, {{{2, 3}}, {{2, 3, 3}}}) == kDone);
  CHECK(Outcome(BuiltinOperator::MATRIX_DIAG, {{{2, 3}}, {{2, 3, 2}}}) == kUnsupported);
  const Operand pads = {{1, 2}, TensorType::INT32, {1, 2}};
  CHECK(Outcome(BuiltinOperator::PAD, {{{4}}, pads, {{7}}}) == kDone);
  CHECK(Outcome(BuiltinOperator::PAD, {{{4}}, pads, {{6}}}) == kUnsupported);
  const Operand k = {{1}, TensorType::INT32, {5}};
  CHECK(Outcome(BuiltinOperator::TOPK_V2, {{{4}}, k, {{5}}}) == kUnsupported);
}

}  // namespace
}  // namespace sluice::import
