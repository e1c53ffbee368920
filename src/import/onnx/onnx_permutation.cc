// SPDX-License-Identifier: Apache-2.0
// Permutes more than four axes by several TRANSPOSE layers.
#include <algorithm>
#include <numeric>

#include "import/onnx/onnx_lowering.h"

namespace sluice::import {
namespace {

// Moves the run of axes [begin, end) in front of axis `before`. The axes form at most
// four runs, so one TRANSPOSE does it.
struct BlockMove {
  size_t before, begin, end;
};

template <typename T>
void Apply(const BlockMove& move, std::vector<T>* list) {
  const auto at = [&](size_t i) {
    return list->begin() + static_cast<std::ptrdiff_t>(i);
  };
  std::rotate(at(move.before), at(move.begin), at(move.end));
}

int64_t ProductOf(const std::vector<int64_t>& extents, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i) product *= extents[i];
  return product;
}

}  // namespace

uint32_t OnnxLowering::PermutedTensor(const std::string& name, uint32_t tensor,
                                      std::vector<int64_t> extents,
                                      std::vector<int> perm, const Numbers& numbers) {
  const auto step = [&](const std::vector<int64_t>& runs,
                        const std::vector<int32_t>& order) {
    Dims in, out;
    std::vector<int32_t> four;
    const size_t lead = 4 - runs.size();
    for (size_t i = 0; i < lead; ++i) four.push_back(static_cast<int32_t>(i));
    for (const int64_t extent : runs) {
      Require(extent <= INT32_MAX, "an extent above 2^31 - 1");
      in.push_back(static_cast<int32_t>(extent));
    }
    for (const int32_t from : order) {
      four.push_back(static_cast<int32_t>(lead) + from);
      out.push_back(in[static_cast<size_t>(from)]);
    }
    if (Normalised(graph_->tensors()[tensor].dims) != Normalised(in)) {
      const uint32_t from = tensor;
      tensor = NewTensor(name + ".runs", in, numbers);
      AddLayer(name + ".runs", SLUICE_OP_RESHAPE, {from}, tensor);
    }
    const uint32_t moved = NewTensor(name, out, numbers);
    AddLayer(name, SLUICE_OP_TRANSPOSE, {tensor}, moved, four);
    tensor = moved;
  };
  if (extents.size() <= 4) {
    step(extents, std::vector<int32_t>(perm.begin(), perm.end()));
    return tensor;
  }
  // Moves one axis after the other to its place. Axes that already stand behind it in the
  // right order move with it.
  std::vector<int> lies(extents.size());
  std::iota(lies.begin(), lies.end(), 0);
  for (size_t i = 0; i < perm.size(); ++i) {
    const size_t at = static_cast<size_t>(std::find(lies.begin(), lies.end(), perm[i]) -
                                          lies.begin());
    if (at == i) continue;
    size_t end = at + 1;
    while (end < lies.size() && i + end - at < perm.size() &&
           lies[end] == perm[i + end - at]) {
      ++end;
    }
    const std::vector<int64_t> runs = {
        ProductOf(extents, 0, i), ProductOf(extents, i, at),
        ProductOf(extents, at, end), ProductOf(extents, end, extents.size())};
    step(runs, {0, 2, 1, 3});
    Apply(BlockMove{i, at, end}, &lies);
    Apply(BlockMove{i, at, end}, &extents);
  }
  return tensor;
}

}  // namespace sluice::import
