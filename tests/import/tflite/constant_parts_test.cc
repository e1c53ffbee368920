// SPDX-License-Identifier: Apache-2.0
// Constants that are cut, joined and moved.
#include "import/tflite/constant_parts.h"

#include "tests/import/tflite/folded.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
using Numbers = std::vector<int32_t>;

std::optional<Numbers> Sliced(const Numbers& begin, const Numbers& end,
                              const Numbers& step, int begin_mask, int end_mask,
                              const std::vector<int32_t>& shape) {
  FoldedModel m;
  const int result = m.Result(shape);
  const int shrink_mask = shape.empty() ? 1 : 0;
  const auto options = tflite::CreateStridedSliceOptions(m.model.builder(), begin_mask,
                                                         end_mask, 0, 0, shrink_mask);
  m.model.AddOperator(
      BuiltinOperator::STRIDED_SLICE,
      {m.Ints({10, 11, 12, 13, 14}), m.Ints(begin), m.Ints(end), m.Ints(step)},
      {result}, BuiltinOptions::StridedSliceOptions, options.Union());
  m.Fold(result);
  return m.IntsOf(result);
}

TEST_CASE("tflite parts: strided slices count from either end, with any step") {
  CHECK(Sliced({1}, {4}, {1}, 0, 0, {3}) == Numbers{11, 12, 13});
  CHECK(Sliced({-2}, {99}, {1}, 0, 0, {2}) == Numbers{13, 14});
  CHECK(Sliced({0}, {0}, {2}, 0, 1, {3}) == Numbers{10, 12, 14});
  CHECK(Sliced({0}, {0}, {-1}, 1, 1, {5}) == Numbers{14, 13, 12, 11, 10});
  CHECK(Sliced({3}, {-5}, {-2}, 0, 0, {2}) == Numbers{13, 11});
  CHECK(Sliced({3}, {2}, {1}, 0, 0, {0}) == Numbers{});
}

TEST_CASE("tflite parts: an axis that is lost may begin at either end") {
  CHECK(Sliced({3}, {4}, {1}, 0, 0, {}) == Numbers{13});
  CHECK(Sliced({3}, {4}, {1}, 1, 0, {}) == Numbers{10});
  CHECK(Sliced({3}, {4}, {-1}, 1, 0, {}) == Numbers{14});
}

TEST_CASE(
    "tflite parts: slices, tiles, transposes and broadcasts place their elements") {
  FoldedModel m;
  const int table = m.Result({2, 3}), slice = m.Result({2, 2}), tile = m.Result({2, 6}),
            turned = m.Result({3, 2}), wide = m.Result({2, 2, 3});
  m.model.AddOperator(BuiltinOperator::RESHAPE,
                      {m.Ints({1, 2, 3, 4, 5, 6}), m.Ints({2, 3})}, {table});
  m.model.AddOperator(BuiltinOperator::SLICE, {table, m.Ints({0, 1}), m.Ints({2, -1})},
                      {slice});
  m.model.AddOperator(BuiltinOperator::TILE, {table, m.Ints({1, 2})}, {tile});
  m.model.AddOperator(BuiltinOperator::TRANSPOSE, {table, m.Ints({1, 0})}, {turned});
  m.model.AddOperator(BuiltinOperator::BROADCAST_TO, {table, m.Ints({2, 2, 3})},
                      {wide});
  m.Fold(wide);
  CHECK(m.IntsOf(slice) == Numbers{2, 3, 5, 6});
  CHECK(m.IntsOf(tile) == Numbers{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  CHECK(m.IntsOf(turned) == Numbers{1, 4, 2, 5, 3, 6});
  CHECK(m.IntsOf(wide) == Numbers{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
}

TEST_CASE(
    "tflite parts: a reshape whose shape is not declared has that of its operand") {
  const auto shape_of = [](const Numbers& operand) {
    FoldedModel m;
    const int result = m.Result({});
    m.model.AddOperator(BuiltinOperator::RESHAPE,
                        {m.Ints({1, 2, 3, 4, 5, 6}), m.Ints(operand)}, {result});
    m.Fold(result);
    return m.read.tensors.at(static_cast<size_t>(result)).shape;
  };
  CHECK(shape_of({2, 3}) == Numbers{2, 3});
  CHECK(shape_of({3, -1}) == Numbers{3, 2});
  CHECK(shape_of({-1}) == Numbers{6});
  for (const Numbers& wrong :
       {Numbers{4, -1}, Numbers{7}, Numbers{0, 6}, Numbers{-1, -1}}) {
    CHECK(shape_of(wrong) == Numbers{});
  }
}

TEST_CASE("tflite parts: concatenated, packed, split, unpacked and gathered") {
  FoldedModel m;
  auto& builder = m.model.builder();
  const int joined = m.Result({4}), packed = m.Result({2, 2}), taken = m.Result({2, 3});
  const auto concat = tflite::CreateConcatenationOptions(builder, -1);
  const int a = m.Ints({1, 2}), b = m.Ints({3, 4});
  m.model.AddOperator(BuiltinOperator::CONCATENATION, {a, b}, {joined},
                      BuiltinOptions::ConcatenationOptions, concat.Union());
  const auto pack = tflite::CreatePackOptions(builder, 2, 1);
  m.model.AddOperator(BuiltinOperator::PACK, {a, b}, {packed},
                      BuiltinOptions::PackOptions, pack.Union());
  const auto gather = tflite::CreateGatherOptions(builder, 1);
  m.model.AddOperator(BuiltinOperator::GATHER, {packed, m.Ints({1, 0, 1})}, {taken},
                      BuiltinOptions::GatherOptions, gather.Union());
  const int first = m.Result({2}), second = m.Result({2});
  const auto unpack = tflite::CreateUnpackOptions(builder, 2, 0);
  m.model.AddOperator(BuiltinOperator::UNPACK, {packed}, {first, second},
                      BuiltinOptions::UnpackOptions, unpack.Union());
  const int low = m.Result({2}), high = m.Result({2});
  const auto split = tflite::CreateSplitOptions(builder, 2);
  m.model.AddOperator(BuiltinOperator::SPLIT, {m.Scalar(0), joined}, {low, high},
                      BuiltinOptions::SplitOptions, split.Union());
  m.Fold(taken);
  CHECK(m.IntsOf(joined) == Numbers{1, 2, 3, 4});
  CHECK(m.IntsOf(packed) == Numbers{1, 3, 2, 4});
  CHECK(m.IntsOf(taken) == Numbers{3, 1, 3, 4, 2, 4});
  CHECK(m.IntsOf(first) == Numbers{1, 3});
  CHECK(m.IntsOf(second) == Numbers{2, 4});
  CHECK(m.IntsOf(low) == Numbers{1, 2});
  CHECK(m.IntsOf(high) == Numbers{3, 4});
}

TEST_CASE("tflite parts: an index outside of a constant is bad input") {
  FoldedModel m;
  const int result = m.Result({1});
  const auto gather = tflite::CreateGatherOptions(m.model.builder(), 0);
  m.model.AddOperator(BuiltinOperator::GATHER, {m.Ints({1, 2}), m.Ints({2})}, {result},
                      BuiltinOptions::GatherOptions, gather.Union());
  CHECK_THROWS_AS(m.Fold(result), Error);
  CHECK(MessageOf(m.file) == "constant operator GATHER: it reads outside its input");
}

}  // namespace
}  // namespace sluice::import
