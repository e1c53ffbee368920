// SPDX-License-Identifier: Apache-2.0
// Operators of TensorFlow Lite whose outputs are elements of their inputs: which layers
// they become. The goldens of single operators check the elements.
#include <algorithm>

#include "tests/import/tflite/imported.h"
#include "tests/import/tiny_models.h"

namespace sluice::import {
namespace {

using Op = tflite::BuiltinOperator;
constexpr auto kInt8 = tflite::TensorType::INT8;

int64_t Count(const Bytes& model, uint16_t code) {
  const ImportAndGraph import = Import(model);
  const auto* ops = wire::GetGraph(import.graph.data())->layer_op();
  return std::count(ops->begin(), ops->end(), code);
}

TEST_CASE("tflite picks: an axis is slices, one for each run of elements") {
  const Bytes few =
      ListModel(Op::MIRROR_PAD, kInt8, {1, 5, 3}, {1, 8, 3}, {0, 0, 1, 2, 0, 0});
  CHECK(Count(few, SLUICE_OP_CONCAT) == 1);
  CHECK(Count(few, SLUICE_OP_SLICE) == 3);  // the middle is the input itself
  const Bytes whole = ListModel(Op::TILE, kInt8, {1, 3}, {1, 384}, {1, 128});
  CHECK(Count(whole, SLUICE_OP_CONCAT) == 1);
  CHECK(Count(whole, SLUICE_OP_SLICE) == 0);
  const Bytes many = ListModel(Op::TILE, kInt8, {1, 3}, {1, 387}, {1, 129});
  CHECK(Outcome(many) == kUnsupported);
}

// Images that are doubled by repeating rows and columns of one element.
TEST_CASE("tflite picks: of more than four axes, those around the one are joined") {
  const ImportAndGraph import = Import(ListModel(
      Op::TILE, kInt8, {1, 2, 1, 2, 1, 3}, {1, 2, 2, 2, 2, 3}, {1, 1, 2, 1, 2, 1}));
  const Bytes out = OutputFor(import, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Bytes above = {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6},
              below = {7, 8, 9, 7, 8, 9, 10, 11, 12, 10, 11, 12};
  Bytes want;
  for (const Bytes& row : {above, above, below, below}) {
    want.insert(want.end(), row.begin(), row.end());
  }
  CHECK(out == want);
  const ImportAndGraph back = Import(
      ListModel(Op::REVERSE_V2, kInt8, {2, 1, 2, 1, 2}, {2, 1, 2, 1, 2}, {0, -1}));
  CHECK(OutputFor(back, {1, 2, 3, 4, 5, 6, 7, 8}) == Bytes{6, 5, 8, 7, 2, 1, 4, 3});
}

TEST_CASE("tflite picks: what changes nothing is a view") {
  const Bytes same = ListModel(Op::TILE, kInt8, {2, 3}, {2, 3}, {1, 1});
  CHECK(Count(same, SLUICE_OP_RESHAPE) == 1);
  CHECK(Count(same, SLUICE_OP_CONCAT) == 0);
}

TEST_CASE(
    "tflite picks: rows are gathered from tables, by constant indices they are cut") {
  CHECK(Count(GatherModel({9, 6}, {4, 6}, 0, {4}, {}), SLUICE_OP_GATHER) == 1);
  CHECK(Count(GatherModel({9, 6}, {2, 6}, 0, {2}, {8, 1}), SLUICE_OP_GATHER) == 1);
  CHECK(Count(GatherModel({9, 3, 2}, {2, 3, 2}, 0, {2}, {8, 1}), SLUICE_OP_CONCAT) ==
        1);
  CHECK(Count(GatherModel({9, 3, 2}, {4, 3, 2}, 0, {4}, {}), SLUICE_OP_OPAQUE) == 1);
  CHECK(Count(GatherModel({2, 7, 5}, {2, 4, 5}, 1, {4}, {}), SLUICE_OP_OPAQUE) == 1);
}

Bytes NearestModel(int32_t from, int32_t to, bool align_corners) {
  TinyModel model;
  const int x = model.AddTensor("x", {1, from, 4, 2}, kInt8, 0.5f, 0);
  const int size = Int32s(&model, "s", {to, 8});
  const int y = model.AddTensor("y", {1, to, 8, 2}, kInt8, 0.5f, 0);
  const auto options =
      tflite::CreateResizeNearestNeighborOptions(model.builder(), align_corners);
  model.AddOperator(Op::RESIZE_NEAREST_NEIGHBOR, {x, size}, {y},
                    tflite::BuiltinOptions::ResizeNearestNeighborOptions,
                    options.Union());
  return model.Finish({x}, {y});
}

// 1024 * 4 / 12 rounds to 341, and 3 * 341 is below one element.
TEST_CASE(
    "tflite picks: nearest elements are a layer where it selects what the reference "
    "kernel does") {
  CHECK(Count(NearestModel(4, 8, false), SLUICE_OP_RESIZE_NEAREST) == 1);
  CHECK(Count(NearestModel(5, 9, true), SLUICE_OP_RESIZE_NEAREST) == 1);
  const Bytes thirds = NearestModel(4, 12, false);
  CHECK(Count(thirds, SLUICE_OP_RESIZE_NEAREST) == 0);
  // Rows 0, 0, 0 to 1, 1, 1 to 2 and so on, and columns in the same way.
  CHECK(Count(thirds, SLUICE_OP_SLICE) == 9 + 5);
  CHECK(Count(NearestModel(64, 192, false), SLUICE_OP_OPAQUE) == 1);
}

TEST_CASE("tflite picks: operands that leave the input are refused") {
  CHECK(Outcome(ListModel(Op::TILE, kInt8, {2, 3}, {2, 7}, {1, 2})) == kBadInput);
  CHECK(Outcome(ListModel(Op::TILE, kInt8, {2, 3}, {2, 3}, {0, 1})) == kUnsupported);
  CHECK(Outcome(ListModel(Op::TILE, kInt8, {2, 3}, {2, 3}, {1})) == kUnsupported);
  CHECK(Outcome(ListModel(Op::TILE, kInt8, {2, 3}, {2, 3}, {1, 2000000})) ==
        kUnsupported);
  CHECK(Outcome(ListModel(Op::MIRROR_PAD, kInt8, {2, 3}, {2, 6}, {0, 0, 3, 0}, 0)) ==
        kBadInput);
  CHECK(Outcome(ListModel(Op::MIRROR_PAD, kInt8, {2, 3}, {2, 6}, {0, 0, 3, 0}, 1)) ==
        kDone);
  CHECK(Outcome(ListModel(Op::MIRROR_PAD, kInt8, {2, 3}, {2, 6}, {0, 0, -1, 4}, 1)) ==
        kBadInput);
  CHECK(Outcome(ListModel(Op::MIRROR_PAD, kInt8, {2, 3}, {2, 6}, {0, 0, 3, 0}, 2)) ==
        kUnsupported);
  CHECK(Outcome(ListModel(Op::REVERSE_V2, kInt8, {2, 3}, {2, 3}, {2})) == kBadInput);
  CHECK(Outcome(ListModel(Op::BROADCAST_TO, kInt8, {2, 3}, {4, 3}, {4, 3})) ==
        kUnsupported);
  CHECK(Outcome(GatherModel({2, 3}, {2, 2}, 1, {2}, {0, 3})) == kBadInput);
  CHECK(Outcome(GatherModel({2, 3}, {2, 3}, 0, {2}, {0, 2})) == kBadInput);
  CHECK(Outcome(GatherModel({2, 3}, {2, 2}, 1, {2}, {0, -1})) == kBadInput);
  CHECK(Outcome(GatherModel({2, 3}, {2, 3}, 1, {2}, {0, 1})) == kBadInput);
}

TEST_CASE(
    "tflite picks: strides of 0, empty slices and places behind the end are refused") {
  const auto outcome = [](int32_t begin, int32_t end, int32_t stride, int32_t count,
                          int shrink) {
    return Outcome(StridesModel({8, 2}, {count, 2}, {begin, 0}, {end, 2}, {stride, 1},
                                0, 0, shrink));
  };
  CHECK(outcome(0, 8, 2, 4, 0) == kDone);
  CHECK(outcome(7, 0, -2, 4, 0) == kDone);
  CHECK(outcome(-100, 100, 3, 3, 0) == kDone);
  CHECK(outcome(0, 8, 2, 5, 0) == kBadInput);
  CHECK(outcome(0, 8, 0, 4, 0) == kUnsupported);
  CHECK(outcome(5, 2, 2, 1, 0) == kBadInput);
  CHECK(outcome(9, 10, 2, 1, 1) == kBadInput);
}

}  // namespace
}  // namespace sluice::import
