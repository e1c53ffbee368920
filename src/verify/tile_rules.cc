// SPDX-License-Identifier: Apache-2.0
#include "verify/tile_rules.h"

#include "base/checked.h"
#include "verify/op_rules.h"

namespace sluice {
namespace judge {
namespace {

int64_t Product(int64_t a, int64_t b) {  // saturating, both >= 0
  int64_t out;
  return CheckedMultiply(a, b, &out) ? out : INT64_MAX;
}

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

struct Query {
  const Graph& graph;
  const Layer& layer;
  const sluice_tile_t& tile;
  const int64_t* origin;
  const int64_t* extent;
  TileNeeds* out;

  const Tensor* Input(size_t i) const {
    const uint32_t t = layer.input(i);
    return t == kNone ? nullptr : &graph.tensors[t];
  }
  int64_t Outputs() const {
    return Product(Product(extent[0], extent[1]), Product(extent[2], extent[3]));
  }
  void Wrong(const char* what) const {
    if (out->wrong == nullptr) out->wrong = what;
  }
};

// Adds an operand for input i of the layer; the caller fills in its box.
Need* AddNeed(const Query& q, size_t input, uint32_t operand, const char* role) {
  Need* need = &q.out->need[q.out->count];
  *need =
      Need{operand, q.layer.input(input), {}, {1, 1, 1, 1}, false, false, false, role};
  if (need->tensor == kNone) {
    q.Wrong("the layer lacks an input");
    return need;
  }
  ++q.out->count;
  return need;
}

void SetAxis(Need* need, int axis, int64_t begin, int64_t end) {
  need->origin[axis] = begin;
  need->extent[axis] = end - begin;
}

// The same box; extent 1 where the input broadcasts.
void SameBox(const Query& q, const Tensor& in, Need* need, int from, int to) {
  for (int a = from; a < to; ++a) {
    if (in.extent[a] == 1) {
      SetAxis(need, a, 0, 1);
    } else {
      SetAxis(need, a, q.origin[a], q.origin[a] + q.extent[a]);
    }
  }
}

struct Window {
  int64_t filter, stride, dilation, before;
};

// Windows [at, at + count) along an axis.
struct Windows {
  int64_t at, count;
};

// Input rows (axis 1) or columns (axis 2) under the windows, and the pads beyond them.
void WindowAxis(const Query& q, const Tensor& in, const Window& w,
                const Windows& windows, int axis, Need* need) {
  const int64_t first = windows.at * w.stride - w.before;
  const int64_t end =
      first + (windows.count - 1) * w.stride + (w.filter - 1) * w.dilation + 1;
  const int64_t low = Max<int64_t>(first, 0);
  const int64_t high = Min<int64_t>(end, in.extent[axis]);
  if (low >= high) return q.Wrong("the tile lies in padding alone");
  SetAxis(need, axis, low, high);
  q.out->pad[axis - 1] = low - first;
  q.out->pad[axis + 1] = end - high;
}

void WindowAxis(const Query& q, const Tensor& in, const Window& w, int axis,
                Need* need) {
  WindowAxis(q, in, w, {q.origin[axis], q.extent[axis]}, axis, need);
}

int64_t OneIfZero(int64_t v) { return v == 0 ? 1 : v; }

Window ConvWindow(const Layer& layer, int axis, int64_t filter) {
  const size_t a = static_cast<size_t>(axis - 1);
  return {filter, OneIfZero(layer.attribute(SLUICE_CONV_STRIDE_H + a)),
          OneIfZero(layer.attribute(SLUICE_CONV_DILATION_H + a)),
          layer.attribute(SLUICE_CONV_PAD_TOP + a)};
}

Window PoolWindow(const Layer& layer, int axis) {
  const size_t a = static_cast<size_t>(axis - 1);
  return {OneIfZero(layer.attribute(SLUICE_POOL_WINDOW_H + a)),
          OneIfZero(layer.attribute(SLUICE_POOL_STRIDE_H + a)), 1,
          layer.attribute(SLUICE_POOL_PAD_TOP + a)};
}

bool Sane(const Window& w) {
  return w.filter >= 1 && w.stride >= 1 && w.dilation >= 1 && w.before >= 0;
}

// Input rows that scatter into the box, for a transposed convolution.
void ScatterAxis(const Query& q, const Tensor& in, const Window& w, int axis,
                 Need* need) {
  const int64_t reach = (w.filter - 1) * w.dilation;
  const int64_t first = q.origin[axis] + w.before;
  int64_t low = Max<int64_t>(0, -FloorDivide(reach - first, w.stride));
  const int64_t high = Min<int64_t>(
      in.extent[axis], FloorDivide(first + q.extent[axis] - 1, w.stride) + 1);
  // No filter reaches the box: the tile reads one row that contributes nothing.
  if (low >= high) low = high - 1;
  SetAxis(need, axis, low, high);
}

void Parameters(const Query& q, size_t input) {
  Need* need = AddNeed(q, input, q.tile.parameters, "parameters");
  SetAxis(need, 2, q.origin[3], q.origin[3] + q.extent[3]);
  SetAxis(need, 3, 0, 3);
  need->on_last = true;
  q.out->used |= kUsesParameters;
}

void Convolution(const Query& q) {
  const bool scatter = DeedOf(q.layer) == Deed::kScatter;
  const int32_t layout = scatter ? q.layer.attribute(SLUICE_CONV_WEIGHT_LAYOUT) : 0;
  const bool depthwise =
      Has(q.layer, kChannelwise) || layout == SLUICE_WEIGHT_LAYOUT_DEPTHWISE;
  const Tensor* in = q.Input(0);
  const Tensor* weight = q.Input(1);
  if (in == nullptr || weight == nullptr) return q.Wrong("the layer lacks an input");
  const Tensor& out = q.graph.tensors[q.layer.outputs[0]];
  q.out->used |= kUsesWeight;
  q.out->macs = true;
  Need* need = AddNeed(q, 0, q.tile.input0, "input0");
  SetAxis(need, 0, q.origin[0], q.origin[0] + q.extent[0]);
  for (int axis = 1; axis <= 2; ++axis) {
    const Window w = ConvWindow(q.layer, axis, weight->extent[axis]);
    if (!Sane(w)) return q.Wrong("the layer's window makes no sense");
    if (scatter) {
      ScatterAxis(q, *in, w, axis, need);
    } else {
      WindowAxis(q, *in, w, axis, need);
    }
  }
  const int64_t k_begin = q.origin[3], k_end = q.origin[3] + q.extent[3];
  Need* filter = AddNeed(q, 1, q.tile.weight, "weight");
  SetAxis(filter, 1, 0, weight->extent[1]);
  SetAxis(filter, 2, 0, weight->extent[2]);
  const int64_t filter_size = Product(weight->extent[1], weight->extent[2]);
  int64_t channels = 1;
  if (depthwise) {
    const int64_t multiplier = out.extent[3] / in->extent[3];
    if (multiplier < 1) return q.Wrong("fewer output than input channels");
    SetAxis(need, 3, k_begin / multiplier, (k_end - 1) / multiplier + 1);
    SetAxis(filter, 3, k_begin, k_end);
  } else {
    const int64_t groups =
        scatter ? 1 : OneIfZero(q.layer.attribute(SLUICE_CONV_GROUPS));
    if (groups < 1 || groups > out.extent[3] || groups > in->extent[3]) {
      return q.Wrong("the layer's groups make no sense");
    }
    const int64_t group_k = out.extent[3] / groups, group_c = in->extent[3] / groups;
    const int64_t first = k_begin / group_k, last = (k_end - 1) / group_k;
    const int64_t c_begin = q.tile.c_begin, c_end = q.tile.c_end;
    q.out->sum_channels = group_c;  // set also for a query without a range
    if (first != last && (c_begin != 0 || c_end != group_c)) {
      return q.Wrong("a piece of C over several groups");
    }
    SetAxis(need, 3, first * group_c + c_begin, last * group_c + c_end);
    const int k_axis = layout == SLUICE_WEIGHT_LAYOUT_CONV ? 3 : 0;
    SetAxis(filter, k_axis, k_begin, k_end);
    SetAxis(filter, 3 - k_axis, c_begin, c_end);
    channels = c_end - c_begin;
  }
  q.out->work = Product(Product(q.Outputs(), filter_size), channels);
  Parameters(q, 2);
}

void FullyConnected(const Query& q) {
  const Tensor* in = q.Input(0);
  if (in == nullptr) return q.Wrong("the layer lacks an input");
  q.out->used |= kUsesWeight;
  q.out->macs = true;
  q.out->sum_channels = in->extent[3];
  Need* need = AddNeed(q, 0, q.tile.input0, "input0");
  for (int a = 0; a < 3; ++a) SetAxis(need, a, q.origin[a], q.origin[a] + q.extent[a]);
  SetAxis(need, 3, q.tile.c_begin, q.tile.c_end);
  Need* weight = AddNeed(q, 1, q.tile.weight, "weight");
  SetAxis(weight, 2, q.origin[3], q.origin[3] + q.extent[3]);
  SetAxis(weight, 3, q.tile.c_begin, q.tile.c_end);
  weight->rows_first = true;
  q.out->work = Product(q.Outputs(), int64_t{q.tile.c_end} - q.tile.c_begin);
  Parameters(q, 2);
}

void BatchMatmul(const Query& q) {
  const Tensor* a = q.Input(0);
  const Tensor* b = q.Input(1);
  if (a == nullptr || b == nullptr) return q.Wrong("the layer lacks an input");
  q.out->used |= kUsesInput1;
  q.out->macs = true;
  q.out->sum_channels = a->extent[3];
  Need* left = AddNeed(q, 0, q.tile.input0, "input0");
  SameBox(q, *a, left, 0, 2);
  SetAxis(left, 2, q.origin[2], q.origin[2] + q.extent[2]);
  SetAxis(left, 3, q.tile.c_begin, q.tile.c_end);
  Need* right = AddNeed(q, 1, q.tile.input1, "input1");
  SameBox(q, *b, right, 0, 2);
  const bool transposed = q.layer.attribute(SLUICE_MATMUL_TRANSPOSE_B) != 0;
  SetAxis(right, transposed ? 3 : 2, q.tile.c_begin, q.tile.c_end);
  SetAxis(right, transposed ? 2 : 3, q.origin[3], q.origin[3] + q.extent[3]);
  q.out->work = Product(q.Outputs(), int64_t{q.tile.c_end} - q.tile.c_begin);
}

// Boxes of a sum over rows of the error: rows of one image, or whole images.
void WeightGradient(const Query& q) {
  const Tensor* in = q.Input(0);
  const Tensor* error = q.Input(1);
  if (in == nullptr || error == nullptr) return q.Wrong("the layer lacks an input");
  const Tensor& out = q.graph.tensors[q.layer.outputs[0]];
  q.out->used |= kUsesInput1;
  q.out->macs = true;
  q.out->gradient = true;
  const int64_t rows = error->extent[1];
  const int64_t begin = q.tile.c_begin, end = q.tile.c_end;
  q.out->sum_channels = Product(error->extent[0], rows);
  const bool one_image = end <= (begin / rows + 1) * rows;
  if (!one_image && (begin % rows != 0 || end % rows != 0)) {
    return q.Wrong("rows of several images must be whole images");
  }
  const int64_t groups = OneIfZero(q.layer.attribute(SLUICE_CONV_GROUPS));
  if (groups < 1 || groups > error->extent[3] || groups > in->extent[3]) {
    return q.Wrong("the layer's groups make no sense");
  }
  const int64_t group_k = error->extent[3] / groups, group_c = in->extent[3] / groups;
  const int64_t first = q.origin[0] / group_k;
  const int64_t last = (q.origin[0] + q.extent[0] - 1) / group_k;
  if (first != last && (q.origin[3] != 0 || q.extent[3] != group_c)) {
    return q.Wrong("a piece of C over several groups");
  }
  Need* x = AddNeed(q, 0, q.tile.input0, "input0");
  Need* e = AddNeed(q, 1, q.tile.input1, "input1");
  Need* const both[] = {x, e};
  for (Need* need : both) {
    SetAxis(need, 0, begin / rows, (end - 1) / rows + 1);
  }
  const int64_t row = one_image ? begin % rows : 0;
  const int64_t row_end = one_image ? row + end - begin : rows;
  SetAxis(e, 1, row, row_end);
  SetAxis(e, 2, 0, error->extent[2]);
  SetAxis(e, 3, q.origin[0], q.origin[0] + q.extent[0]);
  SetAxis(x, 3, first * group_c + q.origin[3],
          last * group_c + q.origin[3] + q.extent[3]);
  for (int axis = 1; axis <= 2; ++axis) {
    const Window w = ConvWindow(q.layer, axis, out.extent[axis]);
    if (!Sane(w)) return q.Wrong("the layer's window makes no sense");
    if (q.origin[axis] != 0 || q.extent[axis] != out.extent[axis]) {
      return q.Wrong("a weight gradient's taps must be whole");
    }
    WindowAxis(q, *in, w, {e->origin[axis], e->extent[axis]}, axis, x);
  }
  q.out->work = Product(Product(q.Outputs(), end - begin), error->extent[2]);
}

void PoolGradient(const Query& q) {
  const Tensor* error = q.Input(0);
  const Tensor* in = q.Input(1);
  if (error == nullptr || in == nullptr) return q.Wrong("the layer lacks an input");
  q.out->used |= kUsesInput1;
  Need* e = AddNeed(q, 0, q.tile.input0, "input0");
  Need* x = AddNeed(q, 1, q.tile.input1, "input1");
  Need* const both[] = {e, x};
  for (Need* need : both) {
    SetAxis(need, 0, q.origin[0], q.origin[0] + q.extent[0]);
    SetAxis(need, 3, q.origin[3], q.origin[3] + q.extent[3]);
  }
  q.out->work = 1;
  for (int axis = 1; axis <= 2; ++axis) {
    const Window w = PoolWindow(q.layer, axis);
    if (!Sane(w)) return q.Wrong("the layer's window makes no sense");
    ScatterAxis(q, *error, w, axis, e);
    const int64_t begin = e->origin[axis] * w.stride - w.before;
    const int64_t end =
        (e->origin[axis] + e->extent[axis] - 1) * w.stride - w.before + w.filter;
    SetAxis(x, axis, Max<int64_t>(begin, 0), Min<int64_t>(end, in->extent[axis]));
    q.out->work = Product(q.out->work, w.filter);
  }
  for (int64_t extent : e->extent) q.out->work = Product(q.out->work, extent);
}

void Pool(const Query& q) {
  const Tensor* in = q.Input(0);
  if (in == nullptr) return q.Wrong("the layer lacks an input");
  Need* need = AddNeed(q, 0, q.tile.input0, "input0");
  SetAxis(need, 0, q.origin[0], q.origin[0] + q.extent[0]);
  SetAxis(need, 3, q.origin[3], q.origin[3] + q.extent[3]);
  q.out->work = q.Outputs();
  for (int axis = 1; axis <= 2; ++axis) {
    const Window w = PoolWindow(q.layer, axis);
    if (!Sane(w)) return q.Wrong("the layer's window makes no sense");
    WindowAxis(q, *in, w, axis, need);
    q.out->work = Product(q.out->work, w.filter);
  }
}

void Pad(const Query& q) {
  const Tensor* in = q.Input(0);
  if (in == nullptr) return q.Wrong("the layer lacks an input");
  q.out->work = q.Outputs();
  Need* need = AddNeed(q, 0, q.tile.input0, "input0");
  for (int a = 0; a < kAxes; ++a) {
    const int64_t before = q.layer.attribute(static_cast<size_t>(a));
    if (before < 0) return q.Wrong("the layer pads by less than nothing");
    if (a == 1 || a == 2) {
      WindowAxis(q, *in, {1, 1, 1, before}, a, need);
    } else {
      const int64_t begin = Max<int64_t>(0, q.origin[a] - before);
      const int64_t end =
          Min<int64_t>(in->extent[a], q.origin[a] - before + q.extent[a]);
      if (begin >= end) return q.Wrong("the tile lies in padding alone");
      SetAxis(need, a, begin, end);
    }
  }
}

void Elements(const Query& q, size_t inputs) {
  const uint32_t operand[] = {q.tile.input0, q.tile.input1};
  const char* role[] = {"input0", "input1"};
  for (size_t i = 0; i < inputs; ++i) {
    const Tensor* in = q.Input(i);
    if (in == nullptr) return q.Wrong("the layer lacks an input");
    SameBox(q, *in, AddNeed(q, i, operand[i], role[i]), 0, kAxes);
  }
  if (inputs == 2) q.out->used |= kUsesInput1;
  q.out->elementwise = true;
  q.out->work = Product(q.Outputs(), static_cast<int64_t>(inputs));
}

void Lookup(const Query& q) {
  Elements(q, 1);
  q.out->used |= kUsesWeight;
  Need* table = AddNeed(q, 1, q.tile.weight, "weight");
  table->throughout = true;
  SetAxis(table, 3, 0, 256);
}

// Input 0 is the box with the axes of `mask` whole.
void WholeAxes(const Query& q, uint32_t mask) {
  const Tensor* in = q.Input(0);
  if (in == nullptr) return q.Wrong("the layer lacks an input");
  Need* need = AddNeed(q, 0, q.tile.input0, "input0");
  int64_t elements = 1;
  for (int a = 0; a < kAxes; ++a) {
    if (mask >> a & 1) {
      SetAxis(need, a, 0, in->extent[a]);
    } else {
      SetAxis(need, a, q.origin[a], q.origin[a] + q.extent[a]);
    }
    elements = Product(elements, need->extent[a]);
  }
  q.out->work = elements;
}

void Softmax(const Query& q) {
  const Tensor* in = q.Input(0);
  if (in == nullptr) return q.Wrong("the layer lacks an input");
  if (q.origin[3] != 0 || q.extent[3] != in->extent[3]) {
    return q.Wrong("softmax needs whole rows");
  }
  WholeAxes(q, 8);
  q.out->work = q.Outputs();
  const Tensor* mask = q.Input(1);
  if (mask == nullptr) return;
  q.out->used |= kUsesInput1;
  SameBox(q, *mask, AddNeed(q, 1, q.tile.input1, "input1"), 0, kAxes);
}

// Each row is normalised over all its channels, with the parameters of all channels.
void Norm(const Query& q) {
  const Tensor* in = q.Input(0);
  if (in == nullptr) return q.Wrong("the layer lacks an input");
  if (q.origin[3] != 0 || q.extent[3] != in->extent[3]) {
    return q.Wrong("a norm needs whole rows");
  }
  WholeAxes(q, 8);
  Parameters(q, 1);
}

void Transpose(const Query& q) {
  Need* need = AddNeed(q, 0, q.tile.input0, "input0");
  uint32_t seen = 0;
  for (int a = 0; a < kAxes; ++a) {
    const int32_t from = q.layer.attribute(static_cast<size_t>(a));
    if (from < 0 || from >= kAxes || (seen >> from & 1) != 0) {
      return q.Wrong("the layer's permutation is none");
    }
    seen |= 1u << from;
    SetAxis(need, from, q.origin[a], q.origin[a] + q.extent[a]);
  }
  q.out->work = q.Outputs();
}

// First and last input index that a tile reads for output i of a resize. (Nearest
// neighbour reads one of the two that the bilinear kernel reads.)
void ResizeReach(const Layer& layer, int64_t in, int64_t out, int64_t i, int64_t* first,
                 int64_t* last) {
  const bool half = layer.attribute(SLUICE_RESIZE_HALF_PIXEL_CENTERS) != 0;
  const int64_t step = ResizeStep(layer, in, out);
  const int64_t position = step * i + (half ? step / 2 - 512 : 0);
  *first = Min(Max<int64_t>(0, position >> 10), in - 1);
  *last = Min(*first + 1, in - 1);
}

void Resize(const Query& q) {
  const Tensor* in = q.Input(0);
  if (in == nullptr) return q.Wrong("the layer lacks an input");
  const Tensor& out = q.graph.tensors[q.layer.outputs[0]];
  Need* need = AddNeed(q, 0, q.tile.input0, "input0");
  SetAxis(need, 0, q.origin[0], q.origin[0] + q.extent[0]);
  SetAxis(need, 3, q.origin[3], q.origin[3] + q.extent[3]);
  for (int a = 1; a <= 2; ++a) {
    int64_t first, last, ignored;
    ResizeReach(q.layer, in->extent[a], out.extent[a], q.origin[a], &first, &ignored);
    ResizeReach(q.layer, in->extent[a], out.extent[a], q.origin[a] + q.extent[a] - 1,
                &ignored, &last);
    SetAxis(need, a, first, last + 1);
  }
  q.out->work = Product(q.Outputs(), 4);
}

void CheckRanges(const Query& q) {
  for (uint32_t i = 0; i < q.out->count; ++i) {
    const Need& need = q.out->need[i];
    const Tensor& tensor = q.graph.tensors[need.tensor];
    for (int a = 0; a < kAxes; ++a) {
      if (need.origin[a] < 0 || need.extent[a] < 1 ||
          need.origin[a] + need.extent[a] > tensor.extent[a]) {
        q.Wrong("the box needs elements outside an input");
      }
    }
  }
}

void Derive(const Query& q) {
  switch (DeedOf(q.layer)) {
    case Deed::kConvolution:
    case Deed::kScatter:
      Convolution(q);
      break;
    case Deed::kFullyConnected:
      FullyConnected(q);
      break;
    case Deed::kMatmul:
      BatchMatmul(q);
      break;
    case Deed::kWeightGradient:
      WeightGradient(q);
      break;
    case Deed::kPool:
      Pool(q);
      break;
    case Deed::kPoolGradient:
      PoolGradient(q);
      break;
    case Deed::kElements:
      Elements(q, RuleOf(q.layer).elements);
      break;
    case Deed::kTable:
      Lookup(q);
      break;
    case Deed::kSoftmax:
      Softmax(q);
      break;
    case Deed::kNorm:
      Norm(q);
      break;
    case Deed::kReduce:
      WholeAxes(q, static_cast<uint32_t>(q.layer.attribute(SLUICE_REDUCE_AXES)) & 15);
      break;
    case Deed::kArgmax:
      WholeAxes(q, 8);
      break;
    case Deed::kPad:
      Pad(q);
      break;
    case Deed::kTranspose:
      Transpose(q);
      break;
    case Deed::kResize:
      Resize(q);
      break;
    case Deed::kUnknown:
    case Deed::kConcat:
    case Deed::kSlice:
    case Deed::kReshape:
    case Deed::kGather:
    case Deed::kAppend:
    case Deed::kHost:
      q.Wrong("no tile computes this op");
      break;
  }
}

}  // namespace

int64_t ResizeStep(const Layer& layer, int64_t in, int64_t out) {
  const bool corners = layer.attribute(SLUICE_RESIZE_ALIGN_CORNERS) != 0 && out > 1;
  return corners ? (((in - 1) << 10) + (out - 1) / 2) / (out - 1)
                 : ((in << 10) + out / 2) / out;
}

void NeedsOfTile(const Graph& graph, const Layer& layer, const sluice_tile_t& tile,
                 const int64_t* origin, const int64_t* extent, TileNeeds* needs) {
  *needs = TileNeeds{};
  const Query q = {graph, layer, tile, origin, extent, needs};
  Derive(q);
  CheckRanges(q);
}

}  // namespace judge
}  // namespace sluice
