// SPDX-License-Identifier: Apache-2.0
// The neck and head of a one-stage detector with boxes as distributions: three sizes of feature
// maps joined by resizes and concatenations, two branches of convolutions for each, and the
// arithmetic that makes boxes of them: reshapes, slices, a softmax over 16 bins, a table.
//
// Input    images of so many pixels along each side (a multiple of 32), and how many
// Output   a graph of 38 layers
// Source   own; the kind of layers that the heads of YOLO version 8 have
#ifndef SLUICE_TESTS_BENCH_YOLO_HEAD_H_
#define SLUICE_TESTS_BENCH_YOLO_HEAD_H_

#include <utility>
#include <vector>

#include "sluice/ops.h"
#include "support/wire_builder.h"

namespace sluice_test {

class YoloHead {
 public:
  YoloHead(int32_t pixels, int32_t batch) : batch_(batch) {
    const int32_t side = pixels / 8;
    const uint32_t fine = Tensor({batch, side, side, 64}, 1);
    const uint32_t middle = Tensor({batch, side / 2, side / 2, 128}, 1);
    const uint32_t coarse = Tensor({batch, side / 4, side / 4, 256}, 1);
    const uint32_t half = Convolution(Joined(coarse, middle), 128, 1);
    const uint32_t whole = Convolution(Joined(half, fine), 64, 3);
    std::vector<uint32_t> rows;
    for (const uint32_t map : {whole, half, coarse}) rows.push_back(Branches(map));
    Boxes(Concat(rows, 2));
  }
  const GraphSpec& spec() const { return spec_; }

 private:
  using Dims = std::vector<int32_t>;
  static constexpr int32_t kBins = 16, kBox = 4 * kBins, kClasses = 80;

  uint32_t Tensor(Dims dims, uint8_t kind = 0, uint8_t dtype = SLUICE_DTYPE_INT8) {
    TensorSpec tensor{std::move(dims), dtype, kind};
    if (kind == 3) tensor.source = 3;
    spec_.tensors.push_back(tensor);
    return static_cast<uint32_t>(spec_.tensors.size() - 1);
  }
  const Dims& DimsOf(uint32_t t) const { return spec_.tensors[t].dims; }
  uint32_t Layer(uint16_t op, std::vector<uint32_t> inputs, Dims dims,
                 std::vector<int32_t> attributes) {
    const uint32_t out = Tensor(std::move(dims));
    spec_.layers.push_back({op, std::move(inputs), {out}, std::move(attributes)});
    return out;
  }

  uint32_t Convolution(uint32_t in, int32_t channels, int32_t filter) {
    Dims dims = DimsOf(in);
    const uint32_t weights = Tensor({channels, filter, filter, dims[3]}, 3);
    const uint32_t parameters = Tensor({channels, 3}, 3, SLUICE_DTYPE_INT32);
    dims[3] = channels;
    const int32_t pad = filter / 2;
    return Layer(SLUICE_OP_CONV, {in, weights, parameters}, dims,
                 {1, 1, 1, 1, pad, pad, pad, pad});
  }
  uint32_t Concat(const std::vector<uint32_t>& parts, int32_t axis) {
    Dims dims = DimsOf(parts[0]);
    const size_t a = static_cast<size_t>(axis);
    for (size_t i = 1; i < parts.size(); ++i) dims[a] += DimsOf(parts[i])[a];
    return Layer(SLUICE_OP_CONCAT, parts, dims, {axis});
  }
  // A map resized to the extents of another one, and joined with it.
  uint32_t Joined(uint32_t small, uint32_t large) {
    Dims dims = DimsOf(large);
    dims[3] = DimsOf(small)[3];
    return Concat({Layer(SLUICE_OP_RESIZE_NEAREST, {small}, dims, {0, 0}), large}, 3);
  }
  uint32_t Reshape(uint32_t in, Dims dims) {
    return Layer(SLUICE_OP_RESHAPE, {in}, std::move(dims), {});
  }
  uint32_t Channels(uint32_t in, int32_t begin, int32_t count) {
    Dims dims = DimsOf(in);
    dims[3] = count;
    return Layer(SLUICE_OP_SLICE, {in}, dims, {0, 0, 0, begin});
  }
  // Bins and classes of each pixel, one row for each.
  uint32_t Branches(uint32_t map) {
    const uint32_t box = Convolution(Convolution(map, 64, 3), kBox, 1);
    const uint32_t classes = Convolution(Convolution(map, 80, 3), kClasses, 1);
    const Dims dims = DimsOf(map);
    return Reshape(Concat({box, classes}, 3),
                   {batch_, 1, dims[1] * dims[2], kBox + kClasses});
  }
  void Boxes(uint32_t all) {
    const int32_t rows = DimsOf(all)[2];
    const uint32_t bins = Reshape(Channels(all, 0, kBox), {batch_, rows, 4, kBins});
    const uint32_t likely = Layer(SLUICE_OP_SOFTMAX, {bins}, DimsOf(bins), {});
    const uint32_t sides = Reshape(Convolution(likely, 1, 1), {batch_, 1, rows, 4});
    const uint32_t first = Channels(sides, 0, 2), second = Channels(sides, 2, 2);
    const uint32_t centre = Layer(SLUICE_OP_ADD, {first, second}, DimsOf(first), {});
    const uint32_t size = Layer(SLUICE_OP_SUB, {second, first}, DimsOf(first), {});
    const uint32_t classes = Channels(all, kBox, kClasses);
    const uint32_t table = Tensor({256}, 3);
    const uint32_t scores =
        Layer(SLUICE_OP_LOOKUP, {classes, table}, DimsOf(classes), {});
    const uint32_t found = Concat({centre, size, scores}, 3);
    const uint32_t out = Layer(SLUICE_OP_TRANSPOSE, {found},
                               {batch_, 1, 4 + kClasses, rows}, {0, 1, 3, 2});
    spec_.tensors[out].kind = 2;
  }

  GraphSpec spec_;
  int32_t batch_;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_BENCH_YOLO_HEAD_H_
