// SPDX-License-Identifier: Apache-2.0
#include "model/roots.h"

#include "base/checked.h"

namespace sluice {
namespace {

// Elements [first, last] of all, in row-major order, as the smallest box.
Box BoxOfRange(const Box& all, int64_t first, int64_t last) {
  Box box = all;
  int64_t inner = all.elements();
  for (int a = 0; a < kAxes; ++a) {
    inner /= all.extent[a];
    const int64_t begin = first / inner, end = last / inner;
    box.begin[a] = static_cast<int32_t>(begin);
    box.extent[a] = static_cast<int32_t>(end - begin + 1);
    if (begin != end) break;
    first -= begin * inner;
    last -= end * inner;
  }
  return box;
}

// The first and the last element of a box, row-major in all of the root.
void RangeOfBox(const Box& all, const Box& box, int64_t* first, int64_t* last) {
  *first = *last = 0;
  for (int a = 0; a < kAxes; ++a) {
    *first = *first * all.extent[a] + box.begin[a];
    *last = *last * all.extent[a] + box.begin[a] + box.extent[a] - 1;
  }
}

// Elements of a view in row-major order, by how far they lie in the root behind its first: the
// first one `from` elements behind it or further, and the last one that is no further than
// `to`. Between the rows of a view others may lie: a reshaped part of a CONCAT has them.
void RangeInView(const Tensor& t, const TensorPlace& place, int64_t from, int64_t to,
                 int64_t* first, int64_t* last) {
  *first = *last = 0;
  bool begun = from <= 0, over = false;  // all that follows is in, at its first or last
  for (int a = 0; a < kAxes; ++a) {
    const int64_t apart = place.stride[a] / t.element_bytes;
    const int64_t most = t.extent[a] - 1;
    const int64_t low = begun || most == 0 ? 0 : from / apart;
    const int64_t high = over || most == 0 ? most : Min(to / apart, most);
    over = over || (most > 0 && to / apart > most);
    *first = *first * t.extent[a] + Min(low, most + 1);
    *last = *last * t.extent[a] + high;
    begun = begun || low > most;
    from -= low * apart;
    to -= high * apart;
  }
  if (!begun && from > 0) ++*first;
}

// Extents of the root in which the view's axes are axes of the root. False if there
// are none.
bool ShapeByView(const Graph& graph, const Lowering& lowering, uint32_t tensor,
                 uint32_t root, RootShape* shape) {
  const Tensor& t = graph.tensors[tensor];
  int64_t outer =
      graph.tensors[root].bytes;  // from one step of an outer axis to the next
  int last = kAxes - 1;
  while (last > 0 && t.extent[last] == 1) --last;
  for (int a = 0; a < kAxes; ++a) {
    shape->extent[a] = shape->row[a] = 1;
    if (t.extent[a] == 1) continue;
    const int64_t apart =
        a == last ? t.element_bytes : lowering.places[tensor].stride[a];
    if (apart > outer || outer % apart != 0) return false;
    shape->extent[a] = static_cast<int32_t>(outer / apart);
    outer = apart;
  }
  return lowering.places[tensor].stride[last] == t.element_bytes;
}

void TakeShape(const Tensor& tensor, RootShape* shape) {
  for (int a = 0; a < kAxes; ++a) {
    shape->extent[a] = tensor.extent[a];
    shape->row[a] = 1;
  }
}

// Records in the root's shape how many elements a row of the view has.
void NoteRows(const RootAxes& axes, const Tensor& tensor, RootShape* shape) {
  for (int a = 0; a < kAxes; ++a) {
    if (tensor.extent[a] == 1) continue;
    int32_t* row = &shape->row[axes.axis[a]];
    *row = Max(*row, axes.step[a]);
  }
}

}  // namespace

uint32_t RootOf(const Lowering& lowering, uint32_t tensor) {
  while (lowering.views[tensor].parent != kNone) tensor = lowering.views[tensor].parent;
  return tensor;
}

Status MakeRootMap(const Graph& graph, const Lowering& lowering, Arena* arena,
                   RootMap* map) {
  map->graph = &graph;
  map->lowering = &lowering;
  const Span<const Tensor> tensors = graph.tensors;
  SLUICE_TRY(arena->Allocate(tensors.size(), &map->shape));
  Span<uint8_t> taken;
  SLUICE_TRY(arena->Allocate(tensors.size(), &taken));
  for (uint32_t t = 0; t < tensors.size(); ++t) TakeShape(tensors[t], &map->shape[t]);
  for (uint32_t t = 0; t < tensors.size(); ++t) {
    const uint32_t root = RootOf(lowering, t);
    if (taken[root] != 0 || FindRootAxes(*map, t).nested) continue;
    RootShape shape;
    if (!ShapeByView(graph, lowering, t, root, &shape)) continue;
    map->shape[root] = shape;
    taken[root] = 1;
  }
  // A shape is dropped where another tensor of the root does not nest in it.
  for (uint32_t t = 0; t < tensors.size(); ++t) {
    const uint32_t root = RootOf(lowering, t);
    if (taken[root] == 0 || FindRootAxes(*map, t).nested) continue;
    TakeShape(tensors[root], &map->shape[root]);
    taken[root] = 0;
  }
  for (uint32_t t = 0; t < tensors.size(); ++t) {
    const RootAxes axes = FindRootAxes(*map, t);
    if (axes.nested) NoteRows(axes, tensors[t], &map->shape[axes.root]);
  }
  return Status::kOk;
}

RootAxes FindRootAxes(const RootMap& map, uint32_t tensor) {
  const Lowering& lowering = *map.lowering;
  const Tensor& t = map.graph->tensors[tensor];
  const uint32_t whole = RootOf(lowering, tensor);
  const RootShape& root = map.shape[whole];
  const uint32_t bytes = t.element_bytes;
  int64_t unit[kAxes];  // elements between neighbours of the root
  int64_t room[kAxes];  // elements of the axis behind the tensor's first
  int64_t step = 1, at = OffsetInRoot(lowering, tensor, Box{}) / bytes;
  RootAxes out = {};
  out.root = whole;
  for (int r = kAxes - 1; r >= 0; --r) {
    unit[r] = step;
    step *= root.extent[r];
    out.begin[r] = static_cast<int32_t>(at / unit[r] % root.extent[r]);
    room[r] = root.extent[r] - out.begin[r] - 1;
  }
  for (int a = 0; a < kAxes; ++a) {
    out.axis[a] = static_cast<uint8_t>(a);
    out.step[a] = 1;
    if (t.extent[a] == 1) continue;
    const int64_t apart = lowering.places[tensor].stride[a] / bytes;
    int r = kAxes - 1;
    while (r > 0 && (root.extent[r] == 1 || apart >= unit[r] * root.extent[r])) --r;
    if (apart % unit[r] != 0) return out;
    out.axis[a] = static_cast<uint8_t>(r);
    out.step[a] = static_cast<int32_t>(apart / unit[r]);
    room[r] -= int64_t{out.step[a]} * (t.extent[a] - 1);
    if (room[r] < 0) return out;
  }
  out.nested = true;
  return out;
}

Box BoxInRoot(const RootAxes& axes, const Box& box) {
  Box out = {};
  for (int r = 0; r < kAxes; ++r) {
    out.begin[r] = axes.begin[r];
    out.extent[r] = 1;
  }
  for (int a = 0; a < kAxes; ++a) {
    out.begin[axes.axis[a]] += axes.step[a] * box.begin[a];
    out.extent[axes.axis[a]] += axes.step[a] * (box.extent[a] - 1);
  }
  return out;
}

bool BoxInTensor(const RootAxes& axes, const Tensor& tensor, const Box& in_root,
                 Box* box) {
  int32_t from[kAxes], to[kAxes], most[kAxes] = {};
  for (int a = 0; a < kAxes; ++a) {
    most[axes.axis[a]] += axes.step[a] * (tensor.extent[a] - 1);
  }
  for (int r = 0; r < kAxes; ++r) {
    from[r] = Max(in_root.begin[r] - axes.begin[r], 0);
    to[r] = Min(in_root.begin[r] + in_root.extent[r] - 1 - axes.begin[r], most[r]);
    if (from[r] > to[r]) return false;
  }
  // Of axes that share one of the root's, the one with the largest steps first.
  bool done[kAxes] = {};
  for (int n = 0; n < kAxes; ++n) {
    int a = -1;
    for (int k = 0; k < kAxes; ++k) {
      if (!done[k] && (a < 0 || axes.step[k] > axes.step[a])) a = k;
    }
    done[a] = true;
    const int r = axes.axis[a];
    const int32_t last = tensor.extent[a] - 1;
    const int32_t first = Min(from[r] / axes.step[a], last);
    const int32_t end = Min(to[r] / axes.step[a], last);
    box->begin[a] = first;
    box->extent[a] = end - first + 1;
    from[r] = first == end ? from[r] - first * axes.step[a] : 0;
    to[r] = first == end ? to[r] - end * axes.step[a] : most[r];
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

int32_t StepOfRows(const RootMap& map, const RootAxes& axes, int axis, int32_t step) {
  if (!axes.nested || axes.step[axis] != 1) return step;
  const int32_t row = map.shape[axes.root].row[axes.axis[axis]];
  if (step >= row) return (step + row - 1) / row * row;
  int32_t parts = row / step;
  while (row % parts != 0) --parts;
  return row / parts;
}

int64_t OffsetOfBox(const RootMap& map, uint32_t root, const Box& box) {
  int64_t first = 0, last = 0;
  RangeOfBox(map.WholeOf(root), box, &first, &last);
  return first * map.graph->tensors[root].element_bytes;
}

void DenseStridesOf(const Box& box, uint32_t element_bytes, uint32_t stride[kAxes]) {
  uint32_t step = element_bytes;
  for (int a = kAxes - 1; a >= 0; --a) {
    stride[a] = step;
    step *= static_cast<uint32_t>(box.extent[a]);
  }
}

bool IsContiguous(const RootMap& map, uint32_t root, const Box& box) {
  bool one = true;  // all outer extents are 1
  for (int a = 0; a < kAxes; ++a) {
    if (!one && box.extent[a] != map.shape[root].extent[a]) return false;
    one = one && box.extent[a] == 1;
  }
  return true;
}

Box BoxInRoot(const RootMap& map, uint32_t tensor, const Box& box) {
  const RootAxes axes = FindRootAxes(map, tensor);
  if (axes.nested) return BoxInRoot(axes, box);
  const Lowering& lowering = *map.lowering;
  const uint32_t root = RootOf(lowering, tensor);
  const uint32_t bytes = map.graph->tensors[root].element_bytes;
  Box last = box;
  for (int a = 0; a < kAxes; ++a) last.begin[a] += box.extent[a] - 1;
  return BoxOfRange(map.WholeOf(root), OffsetInRoot(lowering, tensor, box) / bytes,
                    OffsetInRoot(lowering, tensor, last) / bytes);
}

bool BoxInTensor(const RootMap& map, uint32_t tensor, const Box& in_root, Box* box) {
  const Tensor& t = map.graph->tensors[tensor];
  const RootAxes axes = FindRootAxes(map, tensor);
  if (axes.nested) return BoxInTensor(axes, t, in_root, box);
  const Lowering& lowering = *map.lowering;
  int64_t first = 0, last = 0;
  RangeOfBox(map.WholeOf(RootOf(lowering, tensor)), in_root, &first, &last);
  const int64_t at = OffsetInRoot(lowering, tensor, Box{}) / t.element_bytes;
  if (last < at) return false;
  RangeInView(t, lowering.places[tensor], first - at, last - at, &first, &last);
  if (first > last) return false;
  *box = BoxOfRange(WholeBox(t), first, last);
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
