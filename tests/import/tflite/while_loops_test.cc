// SPDX-License-Identifier: Apache-2.0
// Loops that count to a constant become their bodies.
#include "import/tflite/while_loops.h"

#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
using tflite::TensorType;

Bytes Int32(int32_t value) {
  Bytes bytes(4);
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

// while (i < turns) { i += 1; x = x + x } with x of int8; the result is y. Where `open`, the
// first i is an input of the model.
Bytes Doubling(int32_t turns, bool open) {
  TinyModel model;
  const auto real = [&](const char* name) {
    return model.AddTensor(name, {1, 2}, TensorType::INT8, 0.5f, 0);
  };
  const auto whole = [&](const char* name, const Bytes& bytes) {
    return model.AddTensor(name, {}, TensorType::INT32, 0, 0, bytes);
  };
  const int first = whole("first", open ? Bytes() : Int32(0));
  const int x = real("x"), last = whole("last", {}), y = real("y");
  const auto loop = tflite::CreateWhileOptions(model.builder(), 1, 2);
  model.AddOperator(BuiltinOperator::WHILE, {first, x}, {last, y},
                    BuiltinOptions::WhileOptions, loop.Union());
  model.NextSubgraph(open ? std::vector<int>{first, x} : std::vector<int>{x}, {y});
  const int i = whole("i", {}), of_cond = real("x"), most = whole("most", Int32(turns));
  const int less = model.AddTensor("less", {}, TensorType::BOOL, 0, 0);
  model.AddOperator(BuiltinOperator::LESS, {i, most}, {less});
  model.NextSubgraph({i, of_cond}, {less});
  const int j = whole("j", {}), in = real("in"), one = whole("one", Int32(1));
  const int next = whole("next", {}), out = real("out");
  const auto add = tflite::CreateAddOptions(model.builder());
  model.AddOperator(BuiltinOperator::ADD, {j, one}, {next}, BuiltinOptions::AddOptions,
                    add.Union());
  const auto twice = tflite::CreateAddOptions(model.builder());
  model.AddOperator(BuiltinOperator::ADD, {in, in}, {out}, BuiltinOptions::AddOptions,
                    twice.Union());
  return model.Finish({j, in}, {next, out});
}

TEST_CASE(
    "tflite loops: a body stands as often as it turns, its counter leaves no layer") {
  const ImportAndGraph import = Import(Doubling(3, false));
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_ADD, SLUICE_OP_ADD, SLUICE_OP_ADD,
                                          SLUICE_OP_RESHAPE});
  CHECK(OutputFor(import, Stored({1, -3})) == Stored({8, -24}));
  CHECK(std::any_of(import.folded.begin(), import.folded.end(), [](const auto& entry) {
    return entry.name == "WHILE" && entry.reason == kUnrolled;
  }));
  CHECK(OutputFor(Import(Doubling(0, false)), Stored({1, -3})) == Stored({1, -3}));
}

// The body is a loop of the same body, for ever deeper.
TEST_CASE("tflite loops: one that is its own body is refused") {
  TinyModel model;
  const auto whole = [&](const char* name, const Bytes& bytes) {
    return model.AddTensor(name, {}, TensorType::INT32, 0, 0, bytes);
  };
  const int zero = whole("zero", Int32(0)), last = whole("last", {});
  const auto add_loop = [&](int from, int to) {
    const auto loop = tflite::CreateWhileOptions(model.builder(), 1, 2);
    model.AddOperator(BuiltinOperator::WHILE, {from}, {to},
                      BuiltinOptions::WhileOptions, loop.Union());
  };
  add_loop(zero, last);
  model.NextSubgraph({}, {last});
  const int i = whole("i", {}), most = whole("most", Int32(5));
  const int less = model.AddTensor("less", {}, TensorType::BOOL, 0, 0);
  model.AddOperator(BuiltinOperator::LESS, {i, most}, {less});
  model.NextSubgraph({i}, {less});
  const int in = whole("in", {}), out = whole("out", {});
  add_loop(in, out);
  CHECK(MessageOf(model.Finish({in}, {out})).find("WHILE") != std::string::npos);
}

TEST_CASE(
    "tflite loops: those that turn too often, or as inputs say, are refused by name") {
  for (const Bytes& model : {Doubling(3, true), Doubling(100000, false)}) {
    CHECK(
        MessageOf(model).find("1 x WHILE (a loop whose number of turns does not follow "
                              "from constants)") != std::string::npos);
  }
}

}  // namespace
}  // namespace sluice::import
