// SPDX-License-Identifier: Apache-2.0
#include "model/roots.h"

#include "base/checked.h"

namespace sluice {
namespace {

// The tensor's first element in the coordinates of its root; no reshape in between.
void BeginInRoot(const Lowering& lowering, uint32_t t, int32_t begin[kAxes]) {
  for (int a = 0; a < kAxes; ++a) begin[a] = 0;
  for (; lowering.views[t].parent != kNone; t = lowering.views[t].parent) {
    for (int a = 0; a < kAxes; ++a) begin[a] += lowering.views[t].begin[a];
  }
}

// Elements [first, last] of a tensor in row-major order as the smallest box.
Box BoxOfRange(const Tensor& tensor, int64_t first, int64_t last) {
  Box box = WholeBox(tensor);
  int64_t inner = tensor.bytes / tensor.element_bytes;
  for (int a = 0; a < kAxes; ++a) {
    inner /= tensor.extent[a];
    const int64_t begin = first / inner, end = last / inner;
    box.begin[a] = static_cast<int32_t>(begin);
    box.extent[a] = static_cast<int32_t>(end - begin + 1);
    if (begin != end) break;
    first -= begin * inner;
    last -= end * inner;
  }
  return box;
}

// The first and the last element of a box, row-major in the root.
void RangeOfBox(const Tensor& tensor, const Box& box, int64_t* first, int64_t* last) {
  *first = *last = 0;
  for (int a = 0; a < kAxes; ++a) {
    *first = *first * tensor.extent[a] + box.begin[a];
    *last = *last * tensor.extent[a] + box.begin[a] + box.extent[a] - 1;
  }
}

}  // namespace

uint32_t RootOf(const Lowering& lowering, uint32_t tensor) {
  while (lowering.views[tensor].parent != kNone) tensor = lowering.views[tensor].parent;
  return tensor;
}

bool SameAxes(const Lowering& lowering, uint32_t tensor) {
  for (; lowering.views[tensor].parent != kNone;
       tensor = lowering.views[tensor].parent) {
    if (lowering.views[tensor].reshape) return false;
  }
  return true;
}

int64_t OffsetInRoot(const Lowering& lowering, uint32_t tensor, const Box& box) {
  const TensorPlace& place = lowering.places[tensor];
  int64_t at = static_cast<int64_t>(place.offset -
                                    lowering.places[RootOf(lowering, tensor)].offset);
  for (int a = 0; a < kAxes; ++a) at += int64_t{box.begin[a]} * place.stride[a];
  return at;
}

Box BoxInRoot(const Graph& graph, const Lowering& lowering, uint32_t tensor,
              const Box& box) {
  if (SameAxes(lowering, tensor)) {
    int32_t begin[kAxes];
    BeginInRoot(lowering, tensor, begin);
    Box out = box;
    for (int a = 0; a < kAxes; ++a) out.begin[a] += begin[a];
    return out;
  }
  const Tensor& root = graph.tensors[RootOf(lowering, tensor)];
  Box last = box;
  for (int a = 0; a < kAxes; ++a) last.begin[a] += box.extent[a] - 1;
  return BoxOfRange(root, OffsetInRoot(lowering, tensor, box) / root.element_bytes,
                    OffsetInRoot(lowering, tensor, last) / root.element_bytes);
}

bool BoxInTensor(const Graph& graph, const Lowering& lowering, uint32_t tensor,
                 const Box& in_root, Box* box) {
  const Tensor& t = graph.tensors[tensor];
  if (SameAxes(lowering, tensor)) {
    int32_t begin[kAxes];
    BeginInRoot(lowering, tensor, begin);
    for (int a = 0; a < kAxes; ++a) {
      const int32_t from = Max(in_root.begin[a] - begin[a], 0);
      const int32_t to =
          Min(in_root.begin[a] + in_root.extent[a] - begin[a], t.extent[a]);
      if (from >= to) return false;
      box->begin[a] = from;
      box->extent[a] = to - from;
    }
    return true;
  }
  int64_t first = 0, last = 0;
  RangeOfBox(graph.tensors[RootOf(lowering, tensor)], in_root, &first, &last);
  const int64_t at = OffsetInRoot(lowering, tensor, Box{}) / t.element_bytes;
  const int64_t from = Max<int64_t>(first - at, 0);
  const int64_t to = Min<int64_t>(last - at, t.bytes / t.element_bytes - 1);
  if (from > to) return false;
  *box = BoxOfRange(t, from, to);
  return true;
}

void GrowBox(Box* box, const Box& other) {
  if (box->extent[0] == 0) {
    *box = other;
    return;
  }
  for (int a = 0; a < kAxes; ++a) {
    const int32_t end =
        Max(box->begin[a] + box->extent[a], other.begin[a] + other.extent[a]);
    box->begin[a] = Min(box->begin[a], other.begin[a]);
    box->extent[a] = end - box->begin[a];
  }
}

}  // namespace sluice
