// SPDX-License-Identifier: Apache-2.0
// Operators of TensorFlow Lite that move data.
#include <cmath>

#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

Bytes Counted(size_t n) {
  Bytes bytes(n);
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<uint8_t>(i);
  return bytes;
}

TEST_CASE(
    "tflite shapes: concat inputs of another scale are rounded once, in float32") {
  TinyModel model;
  const auto uint8 = tflite::TensorType::UINT8;
  const int x = model.AddTensor("x", {1, 1, 1, 256}, uint8, 0.0314568244f, 138);
  const int y = model.AddTensor("y", {1, 1, 1, 4}, uint8, 0.0790278763f, 191);
  const int z = model.AddTensor("z", {1, 1, 1, 260}, uint8, 0.0790278763f, 191);
  const auto options = tflite::CreateConcatenationOptions(model.builder(), -1);
  model.AddOperator(tflite::BuiltinOperator::CONCATENATION, {x, y}, {z},
                    tflite::BuiltinOptions::ConcatenationOptions, options.Union());
  const ImportAndGraph import = Import(model.Finish({x, y}, {z}));
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_LOOKUP, SLUICE_OP_CONCAT});
  Bytes all = Counted(256), four = {7, 0, 255, 9};
  const std::vector<Bytes> inputs = {all, four};
  sluice_sim::SimulateOptions run;
  run.graph = import.graph.data();
  run.graph_size = import.graph.size();
  run.inputs = &inputs;
  const sluice_sim::SimulateResult result = sluice_sim::RunReference(run);
  REQUIRE(result.ok);
  const Bytes out = result.outputs.at(0);
  const auto exact = [](int stored) {
    const double steps = 0.0314568244f / double{0.0790278763f} * (stored - 138);
    return static_cast<int>(std::round(steps)) + 191;
  };
  for (int i = 0; i < 256; ++i) CHECK(out[static_cast<size_t>(i)] == exact(i));
  CHECK(Bytes(out.end() - 4, out.end()) == four);
}

Bytes Resize(tflite::TensorType type, int32_t from, int32_t to) {
  TinyModel model;
  const int x = model.AddTensor("x", {1, from, from, 4}, type, 0.5f, 0);
  const int s = model.AddTensor("s", {2}, tflite::TensorType::INT32, 0, 0,
                                std::vector<uint8_t>(8, 1));
  const int y = model.AddTensor("y", {1, to, to, 4}, type, 0.5f, 0);
  const auto options = tflite::CreateResizeBilinearOptions(model.builder(), true);
  model.AddOperator(tflite::BuiltinOperator::RESIZE_BILINEAR, {x, s}, {y},
                    tflite::BuiltinOptions::ResizeBilinearOptions, options.Union());
  return model.Finish({x}, {y});
}

TEST_CASE(
    "tflite shapes: uint8 interpolation is the host's where float32 would round "
    "otherwise") {
  CHECK(Outcome(Resize(tflite::TensorType::UINT8, 33, 513)) == kDone);
  CHECK(Outcome(Resize(tflite::TensorType::INT8, 7, 20)) == kDone);
  CHECK(OpsOf(Import(Resize(tflite::TensorType::UINT8, 33, 513))) !=
        std::vector<int>{SLUICE_OP_OPAQUE});
  CHECK(OpsOf(Import(Resize(tflite::TensorType::UINT8, 7, 20))) ==
        std::vector<int>{SLUICE_OP_OPAQUE});
}

constexpr auto kInt8 = tflite::TensorType::INT8;
using tflite::BuiltinOperator;
using tflite::BuiltinOptions;

TEST_CASE(
    "tflite shapes: a strided slice counts from either end, and may lose an axis") {
  TinyModel model;
  const int x = model.AddTensor("x", {1, 3, 4}, kInt8, 0.5f, 0);
  const int begin = Int32s(&model, "b", {0, -1, 1}),
            end = Int32s(&model, "e", {1, 3, -1});
  const int stride = Int32s(&model, "s", {1, 1, 1});
  const int y = model.AddTensor("y", {1, 2}, kInt8, 0.5f, 0);
  const auto options = tflite::CreateStridedSliceOptions(model.builder(), 0, 0, 0, 0,
                                                         2);  // shrinks axis 1
  model.AddOperator(BuiltinOperator::STRIDED_SLICE, {x, begin, end, stride}, {y},
                    BuiltinOptions::StridedSliceOptions, options.Union());
  const ImportAndGraph import = Import(model.Finish({x}, {y}));
  CHECK(OpsOf(import) == std::vector<int>{SLUICE_OP_SLICE});
  CHECK(AttributesOf(import) == std::vector<int32_t>{0, 0, 2, 1});
  CHECK(OutputFor(import, Counted(12)) == Bytes{9, 10});
}

Bytes Sliced(const std::vector<int32_t>& size, const std::vector<int32_t>& out) {
  TinyModel model;
  const int x = model.AddTensor("x", {3, 4}, kInt8, 0.5f, 0);
  const int begin = Int32s(&model, "b", {1, 0}), sizes = Int32s(&model, "s", size);
  const int y = model.AddTensor("y", out, kInt8, 0.5f, 0);
  model.AddOperator(BuiltinOperator::SLICE, {x, begin, sizes}, {y});
  return model.Finish({x}, {y});
}

TEST_CASE("tflite shapes: a slice has the extents that its operand gives") {
  const ImportAndGraph import = Import(Sliced({-1, 2}, {2, 2}));
  CHECK(OutputFor(import, Counted(12)) == Bytes{4, 5, 8, 9});
  CHECK(Outcome(Sliced({1, 2}, {1, 2})) == kDone);
  CHECK(Outcome(Sliced({1, 2}, {2, 2})) == kBadInput);
  CHECK(Outcome(Sliced({-1, 2}, {1, 2})) == kBadInput);
  CHECK(Outcome(Sliced({2}, {2, 4})) == kUnsupported);
}

Bytes Split(const std::vector<int32_t>& sizes, int32_t first, int32_t second,
            int32_t columns) {
  TinyModel model;
  const int x = model.AddTensor("x", {5, 4}, kInt8, 0.5f, 0);
  const int axis = Int32s(&model, "a", {0});
  const int y = model.AddTensor("y", {first, columns}, kInt8, 0.5f, 0);
  const int z = model.AddTensor("z", {second, columns}, kInt8, 0.5f, 0);
  if (sizes.empty()) {
    const auto options = tflite::CreateSplitOptions(model.builder(), 2);
    model.AddOperator(BuiltinOperator::SPLIT, {axis, x}, {y, z},
                      BuiltinOptions::SplitOptions, options.Union());
  } else {
    const int s = Int32s(&model, "s", sizes);
    const auto options = tflite::CreateSplitVOptions(model.builder(), 2);
    model.AddOperator(BuiltinOperator::SPLIT_V, {x, s, axis}, {y, z},
                      BuiltinOptions::SplitVOptions, options.Union());
  }
  return model.Finish({x}, {y, z});
}

TEST_CASE("tflite shapes: parts have the extents that their operator gives") {
  CHECK(Outcome(Split({1, 4}, 1, 4, 4)) == kDone);
  CHECK(Outcome(Split({1, -1}, 1, 4, 4)) == kDone);
  CHECK(Outcome(Split({1, -1}, 1, 3, 4)) == kBadInput);
  CHECK(Outcome(Split({1, 3}, 1, 4, 4)) == kBadInput);
  CHECK(Outcome(Split({1, 4}, 1, 4, 3)) == kBadInput);
  CHECK(Outcome(Split({1, -7}, 1, 4, 4)) == kUnsupported);
  CHECK(Outcome(Split({5}, 1, 4, 4)) == kUnsupported);
  CHECK(Outcome(Split({}, 3, 2, 4)) == kBadInput);
}

TEST_CASE("tflite shapes: a transposition, and a pack of two rows") {
  TinyModel model;
  const int x = model.AddTensor("x", {2, 3}, kInt8, 0.5f, 0);
  const int perm = Int32s(&model, "p", {1, 0});
  const int y = model.AddTensor("y", {3, 2}, kInt8, 0.5f, 0);
  model.AddOperator(BuiltinOperator::TRANSPOSE, {x, perm}, {y});
  const ImportAndGraph import = Import(model.Finish({x}, {y}));
  CHECK(AttributesOf(import) == std::vector<int32_t>{0, 1, 3, 2});
  CHECK(OutputFor(import, Counted(6)) == Bytes{0, 3, 1, 4, 2, 5});
  TinyModel pack;
  const int a = pack.AddTensor("a", {3}, kInt8, 0.5f, 0);
  const int b = pack.AddTensor("b", {3}, kInt8, 0.5f, 0, {7, 8, 9});
  const int c = pack.AddTensor("c", {3, 2}, kInt8, 0.5f, 0);
  const auto options = tflite::CreatePackOptions(pack.builder(), 2, 1);
  pack.AddOperator(BuiltinOperator::PACK, {a, b}, {c}, BuiltinOptions::PackOptions,
                   options.Union());
  CHECK(OutputFor(Import(pack.Finish({a}, {c})), Counted(3)) ==
        Bytes{0, 7, 1, 8, 2, 9});
}

TEST_CASE("tflite shapes: a gather takes rows of its table by index") {
  TinyModel model;
  const int table = model.AddTensor("t", {3, 2}, kInt8, 0.5f, 0, {1, 2, 3, 4, 5, 6});
  const int index = model.AddTensor("i", {2}, tflite::TensorType::INT32, 0, 0);
  const int y = model.AddTensor("y", {2, 2}, kInt8, 0.5f, 0);
  const auto options = tflite::CreateGatherOptions(model.builder());
  model.AddOperator(BuiltinOperator::GATHER, {table, index}, {y},
                    BuiltinOptions::GatherOptions, options.Union());
  CHECK(OutputFor(Import(model.Finish({index}, {y})), {2, 0, 0, 0, 0, 0, 0, 0}) ==
        Bytes{5, 6, 1, 2});
}

TEST_CASE("tflite shapes: extents that contradict each other are bad input, by name") {
  TinyModel slice;
  const int x = slice.AddTensor("x", {1, 4}, kInt8, 0.5f, 0);
  const int begin = Int32s(&slice, "b", {0, 3}), size = Int32s(&slice, "s", {1, 2});
  const int y = slice.AddTensor("y", {1, 2}, kInt8, 0.5f, 0);
  slice.AddOperator(BuiltinOperator::SLICE, {x, begin, size}, {y});
  CHECK(MessageOf(slice.Finish({x}, {y})) == "slice y leaves its input");
  TinyModel reshape;
  const int a = reshape.AddTensor("a", {1, 4}, kInt8, 0.5f, 0);
  const int b = reshape.AddTensor("b", {1, 5}, kInt8, 0.5f, 0);
  reshape.AddOperator(BuiltinOperator::RESHAPE, {a}, {b});
  CHECK(MessageOf(reshape.Finish({a}, {b})) ==
        "reshape b changes the number of elements");
  TinyModel pad;
  const int c = pad.AddTensor("c", {1, 4}, kInt8, 0.5f, 0);
  const int pads = pad.AddTensor("p", {2, 2}, tflite::TensorType::INT32, 0, 0,
                                 std::vector<uint8_t>(16, 0));
  const int d = pad.AddTensor("d", {1, 5}, kInt8, 0.5f, 0);
  pad.AddOperator(BuiltinOperator::PAD, {c, pads}, {d});
  CHECK(MessageOf(pad.Finish({c}, {d})) == "the pads of d do not fit its extents");
}

}  // namespace
}  // namespace sluice::import
