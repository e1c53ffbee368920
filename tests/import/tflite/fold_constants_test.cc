// SPDX-License-Identifier: Apache-2.0
// Which operators are computed at import, and what is reported of them.
#include "import/tflite/fold_constants.h"

#include "tests/import/tflite/folded.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
using tflite::TensorType;

// The shape [SHAPE(x)[0], 2, 4], which converters compute for an open batch.
struct ShapeChain : FoldedModel {
  int shape = Result({2}), batch = Result({}), whole = Result({3});
  ShapeChain() {
    const int zero = Ints({0}), one = Ints({1}), two = Scalar(2), four = Scalar(4);
    model.AddOperator(BuiltinOperator::SHAPE, {x}, {shape});
    const auto slice =
        tflite::CreateStridedSliceOptions(model.builder(), 0, 0, 0, 0, 1);
    model.AddOperator(BuiltinOperator::STRIDED_SLICE, {shape, zero, one, one}, {batch},
                      BuiltinOptions::StridedSliceOptions, slice.Union());
    const auto pack = tflite::CreatePackOptions(model.builder(), 3, 0);
    model.AddOperator(BuiltinOperator::PACK, {batch, two, four}, {whole},
                      BuiltinOptions::PackOptions, pack.Union());
  }
};

TEST_CASE("tflite folding: a reshape has the extents of its shape, not declared ones") {
  for (const int32_t open : {2, -1}) {
    TinyModel model;
    const int x = model.AddTensor("x", {1, 2, 4}, TensorType::INT8, 0.5f, 0);
    const int whole = Int32s(&model, "c", {1, open, 4});
    const int y = model.AddTensor("y", {1, 1, 1}, TensorType::INT8, 0.5f, 0);
    const int shape = model.AddTensor("s", {3}, TensorType::INT32, 0, 0);
    const int z = model.AddTensor("z", {1, 2, 4}, TensorType::INT8, 0.5f, 0);
    model.AddOperator(BuiltinOperator::RESHAPE, {x, whole}, {y});
    model.AddOperator(BuiltinOperator::SHAPE, {y}, {shape});
    model.AddOperator(BuiltinOperator::RESHAPE, {y, shape}, {z});
    const ImportAndGraph import = Import(model.Finish({x}, {z}));
    CHECK(OutputFor(import, {1, 2, 3, 4, 5, 6, 7, 8}) == Bytes{1, 2, 3, 4, 5, 6, 7, 8});
  }
}

TEST_CASE(
    "tflite folding: a chain of shapes is computed, and only that is taken away") {
  ShapeChain chain;
  chain.Fold(chain.whole);
  CHECK(chain.IntsOf(chain.shape) == std::vector<int32_t>{1, 8});
  CHECK(chain.IntsOf(chain.whole) == std::vector<int32_t>{1, 2, 4});
  REQUIRE(chain.read.operators.size() == 1);
  CHECK(chain.read.operators[0].name == "RESHAPE");
  REQUIRE(chain.folded.size() == 3);
  for (const UnsupportedOperator& entry : chain.folded) {
    CHECK(entry.count == 1);
    CHECK(entry.reason == kComputedAtImport);
  }
  const ImportAndGraph import = Import(chain.file);
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_RESHAPE});
  CHECK(import.operators == 4);
}

TEST_CASE("tflite folding: what depends on an input stays, and so does the output") {
  TinyModel model;
  const int x = model.AddTensor("x", {2}, TensorType::INT8, 0.5f, 0);
  const int c = model.AddTensor("c", {2}, TensorType::INT8, 0.5f, 0, {3, 4});
  const int y = model.AddTensor("y", {2, 2}, TensorType::INT8, 0.5f, 0);
  const int z = model.AddTensor("z", {2, 2}, TensorType::INT8, 0.5f, 0);
  for (const auto& [a, b, out] : {std::tuple(x, c, y), std::tuple(c, c, z)}) {
    const auto options = tflite::CreatePackOptions(model.builder(), 2, 0);
    model.AddOperator(BuiltinOperator::PACK, {a, b}, {out}, BuiltinOptions::PackOptions,
                      options.Union());
  }
  const Bytes file = model.Finish({x}, {y, z});
  TfliteModel read = ReadTfliteModel(file.data(), file.size());
  std::vector<UnsupportedOperator> folded;
  FoldConstants(&read, kFoldLimit, &folded);
  CHECK(read.operators.size() == 2);
  CHECK(folded.empty());
}

TEST_CASE("tflite folding: nothing is made beyond the limit") {
  for (const uint64_t limit : {uint64_t{3999}, uint64_t{4000}}) {
    FoldedModel m;
    const int tiled = m.Result({1000});
    m.model.AddOperator(BuiltinOperator::TILE, {m.Ints({7}), m.Ints({1000})}, {tiled});
    m.Fold(tiled, limit);
    CHECK(m.IntsOf(tiled).has_value() == (limit == 4000));
    CHECK(m.folded.size() == (limit == 4000 ? 1 : 0));
  }
}

TEST_CASE("tflite folding: declared extents and types must be what is computed") {
  FoldedModel wrong;
  const int filled = wrong.Result({4});
  wrong.model.AddOperator(BuiltinOperator::FILL, {wrong.Ints({3}), wrong.Scalar(1)},
                          {filled});
  CHECK_THROWS_AS(wrong.Fold(filled), Error);
  CHECK(MessageOf(wrong.file) ==
        "constant r has other extents than its operator gives");
  FoldedModel other;
  const int real = other.Result({3}, TensorType::INT64);
  other.model.AddOperator(BuiltinOperator::FILL, {other.Ints({3}), other.Scalar(1)},
                          {real});
  CHECK_THROWS_AS(other.Fold(real), Error);
}

}  // namespace
}  // namespace sluice::import
