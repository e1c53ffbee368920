// SPDX-License-Identifier: Apache-2.0
// Operators of TensorFlow Lite that cut tensors into blocks: which layers they become.
// The goldens of single operators check the elements.
#include <algorithm>

#include "tests/import/tflite/imported.h"
#include "tests/import/tiny_models.h"

namespace sluice::import {
namespace {

using Op = tflite::BuiltinOperator;

std::vector<uint16_t> Layers(const Bytes& model) {
  const ImportAndGraph import = Import(model);
  const auto* ops = wire::GetGraph(import.graph.data())->layer_op();
  return {ops->begin(), ops->end()};
}

// All layers but one transposition are reshapes, that is, views.
TEST_CASE("tflite rearrange: blocks become depth by one exchange of axes") {
  for (const Bytes& model :
       {DepthModel(Op::DEPTH_TO_SPACE, {1, 2, 3, 8}, {1, 4, 6, 2}, 2),
        DepthModel(Op::SPACE_TO_DEPTH, {1, 4, 6, 2}, {1, 2, 3, 8}, 2)}) {
    const std::vector<uint16_t> layers = Layers(model);
    CHECK(std::count(layers.begin(), layers.end(), SLUICE_OP_TRANSPOSE) == 1);
    CHECK(std::count(layers.begin(), layers.end(), SLUICE_OP_RESHAPE) + 1 ==
          static_cast<int64_t>(layers.size()));
  }
}

TEST_CASE("tflite rearrange: batches are padded or cut where blocks do not fit") {
  const auto count = [](const std::vector<uint16_t>& layers, uint16_t code) {
    return std::count(layers.begin(), layers.end(), code);
  };
  const auto plain = Layers(BatchModel(Op::SPACE_TO_BATCH_ND, {1, 4, 6, 3},
                                       {4, 2, 3, 3}, {2, 2}, {0, 0, 0, 0}));
  CHECK(count(plain, SLUICE_OP_PAD) == 0);
  CHECK(count(plain, SLUICE_OP_TRANSPOSE) == 2);
  const auto padded = Layers(BatchModel(Op::SPACE_TO_BATCH_ND, {1, 3, 5, 3},
                                        {4, 2, 3, 3}, {2, 2}, {1, 0, 0, 1}));
  CHECK(count(padded, SLUICE_OP_PAD) == 1);
  const auto cut = Layers(BatchModel(Op::BATCH_TO_SPACE_ND, {4, 2, 3, 3}, {1, 3, 5, 3},
                                     {2, 2}, {1, 0, 0, 1}));
  CHECK(count(cut, SLUICE_OP_SLICE) == 1);
}

TEST_CASE("tflite rearrange: blocks that do not fit their extents are refused") {
  CHECK(Outcome(DepthModel(Op::DEPTH_TO_SPACE, {1, 2, 3, 8}, {1, 4, 6, 3}, 2)) ==
        kBadInput);
  CHECK(Outcome(DepthModel(Op::DEPTH_TO_SPACE, {1, 4, 3, 8}, {1, 2, 6, 2}, 2)) ==
        kBadInput);
  CHECK(Outcome(BatchModel(Op::SPACE_TO_BATCH_ND, {1, 4, 6, 3}, {4, 2, 2, 3}, {2, 2},
                           {0, 0, 0, 0})) == kBadInput);
  CHECK(Outcome(BatchModel(Op::BATCH_TO_SPACE_ND, {4, 2, 3, 3}, {1, 4, 6, 3}, {2, 0},
                           {0, 0, 0, 0})) == kUnsupported);
  CHECK(Outcome(BatchModel(Op::BATCH_TO_SPACE_ND, {4, 2, 3, 3}, {1, 4, 6, 3}, {2},
                           {0, 0})) == kUnsupported);
}

TEST_CASE("tflite rearrange: what is unpacked loses its axis by a reshape if needed") {
  CHECK(Layers(UnpackModel({2, 3}, 0)) ==
        std::vector<uint16_t>{SLUICE_OP_SLICE, SLUICE_OP_SLICE});
  CHECK(Layers(UnpackModel({3, 2}, 1)) ==
        std::vector<uint16_t>{SLUICE_OP_SLICE, SLUICE_OP_RESHAPE, SLUICE_OP_SLICE,
                              SLUICE_OP_RESHAPE});
}

}  // namespace
}  // namespace sluice::import
