// SPDX-License-Identifier: Apache-2.0
// Windows over three axes.
#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

constexpr int kDeep = 4, kRows = 3, kColumns = 3, kChannels = 2;

int At(int c, int d, int h, int w) {
  return ((c * kDeep + d) * kRows + h) * kColumns + w;
}

Bytes Numbers() {
  Bytes x;
  for (int i = 0; i < kChannels * kDeep * kRows * kColumns; ++i)
    x.push_back(static_cast<uint8_t>(i * 5 % 61));
  return x;
}

TEST_CASE(
    "onnx volumes: a convolution over three axes is one over frames as channels") {
  TinyOnnx model;
  model.Input("x", {1, kChannels, kDeep, kRows, kColumns});
  model.Quantised("x", "xq", 1, 0);
  std::vector<int8_t> weight;
  for (int i = 0; i < kChannels * 3 * 2 * 2; ++i)
    weight.push_back(static_cast<int8_t>(i % 5 - 2));
  model.Stored("w", {1, kChannels, 3, 2, 2}, weight, 1, 0);
  onnx::NodeProto* node = model.Node("Conv", {"xq", "w"}, {"y"});
  TinyOnnx::Ints(node, "kernel_shape", {3, 2, 2});
  TinyOnnx::Ints(node, "pads", {1, 0, 0, 1, 0, 0});
  TinyOnnx::Ints(node, "strides", {2, 1, 1});
  model.Output("y");
  Reals want;
  const Bytes x = Numbers();
  for (int p = 0; p < 2; ++p) {
    for (int h = 0; h < 2; ++h) {
      for (int w = 0; w < 2; ++w) {
        float sum = 0;
        for (int i = 0; i < kChannels * 12; ++i) {
          const int d = 2 * p - 1 + i / 4 % 3;
          if (d < 0 || d >= kDeep) continue;
          sum += static_cast<float>(weight[static_cast<size_t>(i)]) *
                 static_cast<float>(
                     x[static_cast<size_t>(At(i / 12, d, h + i / 2 % 2, w + i % 2))]);
        }
        want.push_back(sum);
      }
    }
  }
  CHECK(RealsFor(model, x) == want);
  CHECK(Count(Import(model.Finish()), SLUICE_OP_CONV) == 1);
}

TEST_CASE("onnx volumes: the largest of a volume is that of its pictures' largest") {
  TinyOnnx model;
  model.Input("x", {1, kChannels, kDeep, kRows, kColumns});
  model.Quantised("x", "xq", 1, 0);
  onnx::NodeProto* node = model.Node("MaxPool", {"xq"}, {"t"});
  TinyOnnx::Ints(node, "kernel_shape", {2, 3, 2});
  TinyOnnx::Ints(node, "strides", {2, 1, 1});
  model.Quantised("t", "y", 1, 0);
  model.Output("y");
  Bytes want;
  const Bytes x = Numbers();
  // The graph's output lies with its channels behind.
  for (int p = 0; p < 2; ++p) {
    for (int w = 0; w < 2; ++w) {
      for (int c = 0; c < kChannels; ++c) {
        uint8_t most = 0;
        for (int i = 0; i < 12; ++i) {
          const int at = At(c, 2 * p + i / 6, i / 2 % 3, w + i % 2);
          most = std::max(most, x[static_cast<size_t>(at)]);
        }
        want.push_back(most);
      }
    }
  }
  CHECK(OutputFor(Import(model.Finish()), x) == want);
}

TEST_CASE("onnx volumes: a frame becomes as many as a transposed window is deep") {
  TinyOnnx model;
  model.Input("x", {1, 1, 2, 1, 2});
  model.Quantised("x", "xq", 1, 0);
  model.Stored("w", {1, 2, 2, 1, 1}, {1, 2, 3, 4}, 1, 0);
  model.Reals("b", {2}, {100, 200});
  onnx::NodeProto* node = model.Node("ConvTranspose", {"xq", "w", "b"}, {"y"});
  TinyOnnx::Ints(node, "kernel_shape", {2, 1, 1});
  TinyOnnx::Ints(node, "strides", {2, 1, 1});
  model.Output("y");
  // Frames 5 6 and 7 8, each times 1 and 2 in the first channel, 3 and 4 in the second; the
  // graph's output lies with its channels behind.
  CHECK(RealsFor(model, {5, 6, 7, 8}) == Reals{105, 215, 106, 218, 110, 220, 112, 224,
                                               107, 221, 108, 224, 114, 228, 116, 232});
  CHECK(Count(Import(model.Finish()), SLUICE_OP_TRANSPOSED_CONV) == 1);
}

TEST_CASE("onnx volumes: a weight that is computed is named") {
  TinyOnnx model;
  model.Input("x", {1, kChannels, kDeep, kRows, kColumns});
  model.Input("w", {1, kChannels, 1, 1, 1});
  model.Quantised("x", "xq", 1, 0);
  TinyOnnx::Ints(model.Node("Conv", {"xq", "w"}, {"y"}), "kernel_shape", {1, 1, 1});
  model.Output("y");
  CHECK(Says(Complaint(model.Finish()), "other than one or two spatial axes"));
}

}  // namespace
}  // namespace sluice_test
