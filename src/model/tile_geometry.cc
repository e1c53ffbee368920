// SPDX-License-Identifier: Apache-2.0
#include "model/tile_geometry.h"

#include "base/checked.h"

namespace sluice {

namespace {

int32_t OneIfZero(int32_t value) { return value == 0 ? 1 : value; }

int32_t LayoutOf(const Layer& layer) {
  return layer.op == SLUICE_OP_TRANSPOSED_CONV
             ? layer.attribute(SLUICE_CONV_WEIGHT_LAYOUT)
             : SLUICE_WEIGHT_LAYOUT_OWN;
}

// Each output channel reads one of the input.
bool IsChannelwise(const Layer& layer) {
  return layer.op == SLUICE_OP_DEPTHWISE_CONV ||
         LayoutOf(layer) == SLUICE_WEIGHT_LAYOUT_DEPTHWISE;
}

bool IsWindowOp(uint16_t op) {
  return op == SLUICE_OP_CONV || op == SLUICE_OP_DEPTHWISE_CONV ||
         op == SLUICE_OP_TRANSPOSED_CONV || op == SLUICE_OP_MAX_POOL ||
         op == SLUICE_OP_AVERAGE_POOL || op == SLUICE_OP_WEIGHT_GRADIENT ||
         op == SLUICE_OP_MAX_POOL_GRADIENT;
}

// Extents along H and W of what a window op or PAD reads for `output`; sets the pads.
void WindowBoxIn(const Graph& graph, const Layer& layer, const Tensor& in,
                 const Box& output, Box* input, uint16_t* pad) {
  for (int axis = 1; axis <= 2; ++axis) {
    const Window w = WindowOf(graph, layer, axis);
    const int64_t low = int64_t{output.begin[axis]} * w.stride - w.pad_before;
    const int64_t last = output.begin[axis] + int64_t{output.extent[axis]} - 1;
    const int64_t high =
        last * w.stride - w.pad_before + int64_t{w.filter - 1} * w.dilation + 1;
    const int64_t begin = Max<int64_t>(low, 0);
    const int64_t end = Min<int64_t>(high, in.extent[axis]);
    SLUICE_ASSERT(begin < end);  // pads are shorter than the window
    pad[axis - 1] = static_cast<uint16_t>(begin - low);
    pad[axis + 1] = static_cast<uint16_t>(high - end);
    input->begin[axis] = static_cast<int32_t>(begin);
    input->extent[axis] = static_cast<int32_t>(end - begin);
  }
}

void WindowBox(const Graph& graph, const Layer& layer, const Box& output, Box* input,
               uint16_t* pad) {
  WindowBoxIn(graph, layer, graph.tensors[layer.inputs[0]], output, input, pad);
}

// Extents along H and W of what scatters into `output`: input i reaches output o when
// 0 <= o + pad - i * stride < filter. Where nothing does, the last input in front of
// it.
void ScatterBox(const Graph& graph, const Layer& layer, const Box& output, Box* input) {
  const Tensor& in = graph.tensors[layer.inputs[0]];
  for (int axis = 1; axis <= 2; ++axis) {
    const Window w = WindowOf(graph, layer, axis);
    const int64_t low = int64_t{output.begin[axis]} + w.pad_before - w.filter + 1;
    const int64_t high =
        int64_t{output.begin[axis]} + output.extent[axis] - 1 + w.pad_before;
    const int64_t last = Min<int64_t>(high / w.stride, in.extent[axis] - 1);
    const int64_t first = low <= 0 ? 0 : Min(CeilDivide(low, w.stride), last);
    input->begin[axis] = static_cast<int32_t>(first);
    input->extent[axis] = static_cast<int32_t>(last - first + 1);
  }
}

void SetAxis(Box* box, int axis, int32_t begin, int32_t extent) {
  box->begin[axis] = begin;
  box->extent[axis] = extent;
}

// `output`'s range where the tensor is as wide, the single element where it broadcasts.
Box BroadcastBox(const Tensor& tensor, const Box& output) {
  Box box = output;
  for (int a = 0; a < kAxes; ++a) {
    if (tensor.extent[a] == 1) SetAxis(&box, a, 0, 1);
  }
  return box;
}

void ConvBoxes(const Graph& graph, const Layer& layer, int32_t c_begin, int32_t c_end,
               TileBoxes* t) {
  const Tensor& in = graph.tensors[layer.inputs[0]];
  const Tensor& weight = graph.tensors[layer.inputs[1]];
  const Tensor& out = graph.tensors[layer.outputs[0]];
  const Box& output = t->box[kRoleOutput];
  const int32_t k0 = output.begin[3];
  const int32_t k1 = k0 + output.extent[3];
  Box* input = &t->box[kRoleInput0];
  Box* filter = &t->box[kRoleWeight];
  *input = output;
  *filter = WholeBox(weight);
  SetAxis(&t->box[kRoleParameters], 0, 0, 1);
  SetAxis(&t->box[kRoleParameters], 1, 0, 1);
  SetAxis(&t->box[kRoleParameters], 2, k0, k1 - k0);
  SetAxis(&t->box[kRoleParameters], 3, 0, 3);
  int64_t summed = c_end - c_begin;
  if (layer.op == SLUICE_OP_FULLY_CONNECTED) {
    SetAxis(input, 3, c_begin, c_end - c_begin);
    SetAxis(filter, 2, k0, k1 - k0);
    SetAxis(filter, 3, c_begin, c_end - c_begin);
  } else if (IsChannelwise(layer)) {
    const int32_t multiplier = out.extent[3] / in.extent[3];
    const int32_t c0 = k0 / multiplier;
    SetAxis(input, 3, c0, static_cast<int32_t>(CeilDivide(k1, multiplier)) - c0);
    SetAxis(filter, 3, k0, k1 - k0);
    summed = 1;
  } else {
    const int32_t groups = OneIfZero(layer.attribute(SLUICE_CONV_GROUPS));
    const int32_t group_k = out.extent[3] / groups;
    const int32_t group_c = in.extent[3] / groups;
    const int32_t g0 = k0 / group_k;
    const int32_t g1 = static_cast<int32_t>(CeilDivide(k1, group_k));
    if (groups == 1) {
      SetAxis(input, 3, c_begin, c_end - c_begin);
    } else {
      SetAxis(input, 3, g0 * group_c, (g1 - g0) * group_c);
    }
    const bool own = LayoutOf(layer) == SLUICE_WEIGHT_LAYOUT_OWN;
    SetAxis(filter, own ? 0 : 3, k0, k1 - k0);
    SetAxis(filter, own ? 3 : 0, c_begin, c_end - c_begin);
  }
  int64_t taps = 1;
  if (layer.op != SLUICE_OP_FULLY_CONNECTED) {
    if (layer.op == SLUICE_OP_TRANSPOSED_CONV) {
      ScatterBox(graph, layer, output, input);
    } else {
      WindowBox(graph, layer, output, input, t->pad);
    }
    taps = int64_t{weight.extent[1]} * weight.extent[2];
  }
  t->macs = output.elements() * taps * summed;
}

// Rows of the error are those of one image, or of whole images.
void WeightGradientBoxes(const Graph& graph, const Layer& layer, int32_t c_begin,
                         int32_t c_end, TileBoxes* t) {
  const Tensor& in = graph.tensors[layer.inputs[0]];
  const Tensor& error = graph.tensors[layer.inputs[1]];
  const Box& output = t->box[kRoleOutput];
  const int32_t rows = error.extent[1];
  const int32_t image = c_begin / rows;
  const bool one = c_end <= (image + 1) * int64_t{rows};
  Box* e = &t->box[kRoleInput1];
  *e = WholeBox(error);
  SetAxis(e, 0, image, one ? 1 : (c_end - c_begin) / rows);
  if (one) SetAxis(e, 1, c_begin - image * rows, c_end - c_begin);
  SetAxis(e, 3, output.begin[0], output.extent[0]);
  Box* x = &t->box[kRoleInput0];
  *x = *e;
  WindowBox(graph, layer, *e, x, t->pad);
  const int32_t groups = OneIfZero(layer.attribute(SLUICE_CONV_GROUPS));
  if (groups == 1) {
    SetAxis(x, 3, output.begin[3], output.extent[3]);
  } else {
    const int32_t group_k = error.extent[3] / groups;
    const int32_t group_c = in.extent[3] / groups;
    const int32_t g0 = output.begin[0] / group_k;
    const int64_t g1 = CeilDivide(output.begin[0] + output.extent[0], group_k);
    SetAxis(x, 3, g0 * group_c, static_cast<int32_t>(g1 - g0) * group_c);
  }
  t->macs = output.elements() * (c_end - c_begin) * error.extent[2];
}

// The ifmap under the windows whose errors reach the box.
void PoolGradientBoxes(const Graph& graph, const Layer& layer, TileBoxes* t) {
  const Tensor& in = graph.tensors[layer.inputs[1]];
  Box* e = &t->box[kRoleInput0];
  *e = t->box[kRoleOutput];
  t->box[kRoleInput1] = *e;
  ScatterBox(graph, layer, *e, e);
  uint16_t pad[4];
  WindowBoxIn(graph, layer, in, *e, &t->box[kRoleInput1], pad);
  t->vector_ops = e->elements() * layer.attribute(SLUICE_POOL_WINDOW_H) *
                  layer.attribute(SLUICE_POOL_WINDOW_W);
}

void MatmulBoxes(const Layer& layer, int32_t c_begin, int32_t c_end, TileBoxes* t) {
  const Box& output = t->box[kRoleOutput];
  Box* a = &t->box[kRoleInput0];
  Box* b = &t->box[kRoleInput1];
  *a = output;
  *b = output;
  const bool transposed = layer.attribute(SLUICE_MATMUL_TRANSPOSE_B) != 0;
  SetAxis(a, 3, c_begin, c_end - c_begin);
  SetAxis(b, transposed ? 3 : 2, c_begin, c_end - c_begin);
  SetAxis(b, transposed ? 2 : 3, output.begin[3], output.extent[3]);
  t->macs = output.elements() * (c_end - c_begin);
}

void ReduceBoxes(const Graph& graph, const Layer& layer, TileBoxes* t) {
  const Tensor& in = graph.tensors[layer.inputs[0]];
  const int32_t axes =
      layer.op == SLUICE_OP_ARGMAX ? 8 : layer.attribute(SLUICE_REDUCE_AXES);
  t->box[kRoleInput0] = t->box[kRoleOutput];
  for (int a = 0; a < kAxes; ++a) {
    if ((axes >> a & 1) != 0) SetAxis(&t->box[kRoleInput0], a, 0, in.extent[a]);
  }
  t->vector_ops = t->box[kRoleInput0].elements();
}

void ResizeBoxes(const Graph& graph, const Layer& layer, TileBoxes* t) {
  const Tensor& in = graph.tensors[layer.inputs[0]];
  const Tensor& out = graph.tensors[layer.outputs[0]];
  const Box& output = t->box[kRoleOutput];
  Box* input = &t->box[kRoleInput0];
  *input = output;
  for (int a = 1; a <= 2; ++a) {
    int64_t first = 0;
    int64_t last = 0;
    int64_t unused = 0;
    const int64_t end = output.begin[a] + int64_t{output.extent[a]} - 1;
    ResizeNeeds(layer, in.extent[a], out.extent[a], output.begin[a], &first, &unused);
    ResizeNeeds(layer, in.extent[a], out.extent[a], end, &unused, &last);
    SetAxis(input, a, static_cast<int32_t>(first),
            static_cast<int32_t>(last - first + 1));
  }
  t->vector_ops = 4 * output.elements();
}

void TransposeBoxes(const Layer& layer, TileBoxes* t) {
  const Box& output = t->box[kRoleOutput];
  for (int a = 0; a < kAxes; ++a) {
    const int from = layer.attribute(static_cast<size_t>(a));
    SetAxis(&t->box[kRoleInput0], from, output.begin[a], output.extent[a]);
  }
  t->vector_ops = output.elements();
}

void PoolBoxes(const Graph& graph, const Layer& layer, TileBoxes* t) {
  const Box& output = t->box[kRoleOutput];
  t->box[kRoleInput0] = output;
  WindowBox(graph, layer, output, &t->box[kRoleInput0], t->pad);
  t->vector_ops = output.elements() * layer.attribute(SLUICE_POOL_WINDOW_H) *
                  layer.attribute(SLUICE_POOL_WINDOW_W);
}

// H and W have pads in the tile; N and C are clipped to what there is.
void PadBoxes(const Graph& graph, const Layer& layer, TileBoxes* t) {
  const Tensor& in = graph.tensors[layer.inputs[0]];
  const Box& output = t->box[kRoleOutput];
  t->box[kRoleInput0] = output;
  for (int a = 0; a < kAxes; a += 3) {
    const int64_t begin =
        int64_t{output.begin[a]} - layer.attribute(static_cast<size_t>(a));
    const int64_t end = Min<int64_t>(begin + output.extent[a], in.extent[a]);
    const int64_t low = Max<int64_t>(begin, 0);
    SLUICE_ASSERT(low < end);  // padded axes are not cut
    SetAxis(&t->box[kRoleInput0], a, static_cast<int32_t>(low),
            static_cast<int32_t>(end - low));
  }
  WindowBox(graph, layer, t->box[kRoleOutput], &t->box[kRoleInput0], t->pad);
  t->vector_ops = t->box[kRoleOutput].elements();
}

bool IsNorm(uint16_t op) {
  return op == SLUICE_OP_LAYER_NORM || op == SLUICE_OP_RMS_NORM;
}

void NormBoxes(const Graph& graph, const Layer& layer, TileBoxes* t) {
  t->box[kRoleInput0] = t->box[kRoleOutput];
  t->box[kRoleParameters] = WholeBox(graph.tensors[layer.inputs[1]]);
  t->vector_ops = t->box[kRoleOutput].elements();
}

void ElementwiseBoxes(const Graph& graph, const Layer& layer, TileBoxes* t) {
  const Box& output = t->box[kRoleOutput];
  t->box[kRoleInput0] = BroadcastBox(graph.tensors[layer.inputs[0]], output);
  t->vector_ops = output.elements();
  if (layer.op == SLUICE_OP_LOOKUP) {
    t->box[kRoleWeight] = WholeBox(graph.tensors[layer.inputs[1]]);
  } else if (layer.input(1) != kNone) {
    t->box[kRoleInput1] = BroadcastBox(graph.tensors[layer.inputs[1]], output);
    if (layer.op != SLUICE_OP_SOFTMAX) t->vector_ops *= 2;
  }
}

}  // namespace

bool operator==(const Box& a, const Box& b) {
  for (int i = 0; i < kAxes; ++i) {
    if (a.begin[i] != b.begin[i] || a.extent[i] != b.extent[i]) return false;
  }
  return true;
}

Box WholeBox(const Tensor& tensor) {
  Box box = {};
  for (int a = 0; a < kAxes; ++a) box.extent[a] = tensor.extent[a];
  return box;
}

LayerKind KindOf(uint16_t op) {
  switch (op) {
    case SLUICE_OP_CONCAT:
    case SLUICE_OP_SLICE:
    case SLUICE_OP_RESHAPE:
      return LayerKind::kCopy;
    case SLUICE_OP_GATHER:
      return LayerKind::kGather;
    case SLUICE_OP_STATE_APPEND:
      return LayerKind::kAppend;
    case SLUICE_OP_OPAQUE:
      return LayerKind::kHost;
    default:
      return LayerKind::kCompute;
  }
}

bool IsMacOp(uint16_t op) {
  return op == SLUICE_OP_CONV || op == SLUICE_OP_DEPTHWISE_CONV ||
         op == SLUICE_OP_TRANSPOSED_CONV || op == SLUICE_OP_FULLY_CONNECTED ||
         op == SLUICE_OP_BATCH_MATMUL || op == SLUICE_OP_WEIGHT_GRADIENT;
}

TileOperands OperandsOf(const Layer& layer) {
  TileOperands o;
  for (uint32_t& tensor : o.tensor) tensor = kNone;
  o.tensor[kRoleInput0] = layer.input(0);
  o.tensor[kRoleOutput] = layer.outputs[0];
  if (layer.op == SLUICE_OP_LOOKUP) {
    o.tensor[kRoleWeight] = layer.input(1);
  } else if (IsMacOp(layer.op) && layer.op != SLUICE_OP_BATCH_MATMUL &&
             layer.op != SLUICE_OP_WEIGHT_GRADIENT) {
    o.tensor[kRoleWeight] = layer.input(1);
    o.tensor[kRoleParameters] = layer.input(2);
  } else if (IsNorm(layer.op)) {
    o.tensor[kRoleParameters] = layer.input(1);
  } else {
    o.tensor[kRoleInput1] = layer.input(1);
  }
  return o;
}

int32_t AccumulatedChannels(const Graph& graph, const Layer& layer) {
  switch (layer.op) {
    case SLUICE_OP_WEIGHT_GRADIENT: {
      const Tensor& error = graph.tensors[layer.inputs[1]];
      return error.extent[0] * error.extent[1];
    }
    case SLUICE_OP_CONV:
    case SLUICE_OP_TRANSPOSED_CONV:
      if (IsChannelwise(layer)) return 0;
      return graph.tensors[layer.inputs[1]]
          .extent[LayoutOf(layer) == SLUICE_WEIGHT_LAYOUT_OWN ? 3 : 0];
    case SLUICE_OP_FULLY_CONNECTED:
    case SLUICE_OP_BATCH_MATMUL:
      return graph.tensors[layer.inputs[0]].extent[3];
    default:
      return 0;
  }
}

CutRule CutsOf(const Graph& graph, const Layer& layer) {
  CutRule rule = {{true, true, true, true}, {1, 1, 1, 1}, 1};
  const Tensor& out = graph.tensors[layer.outputs[0]];
  if (layer.op == SLUICE_OP_SOFTMAX || IsNorm(layer.op)) rule.cuttable[3] = false;
  if (layer.op == SLUICE_OP_PAD) {
    // Padded axes stay whole, so that no tile lies in padding alone.
    for (int a = 0; a < kAxes; ++a) {
      if (graph.tensors[layer.inputs[0]].extent[a] != out.extent[a]) {
        rule.cuttable[a] = false;
      }
    }
  }
  if (layer.op == SLUICE_OP_WEIGHT_GRADIENT) {
    const int32_t groups = OneIfZero(layer.attribute(SLUICE_CONV_GROUPS));
    rule.cuttable[1] = rule.cuttable[2] = false;  // a tap may see padding alone
    rule.sum_unit = graph.tensors[layer.inputs[1]].extent[1];
    if (groups > 1) {
      rule.cuttable[3] = false;
      rule.unit[0] = out.extent[0] / groups;
    }
  }
  if (layer.op == SLUICE_OP_DEPTHWISE_CONV) {
    rule.unit[3] = out.extent[3] / graph.tensors[layer.inputs[0]].extent[3];
  } else if (layer.op == SLUICE_OP_CONV) {
    const int32_t groups = OneIfZero(layer.attribute(SLUICE_CONV_GROUPS));
    if (groups > 1) rule.unit[3] = out.extent[3] / groups;
  }
  return rule;
}

Window WindowOf(const Graph& graph, const Layer& layer, int axis) {
  const size_t i = static_cast<size_t>(axis - 1);  // H is 1, W is 2
  if (layer.op == SLUICE_OP_PAD) {
    return Window{1, 1, 1, layer.attribute(SLUICE_PAD_BEFORE_N + 1 + i)};
  }
  if (!IsWindowOp(layer.op)) return Window{1, 1, 1, 0};
  if (IsMacOp(layer.op)) {
    const uint32_t filter =
        layer.op == SLUICE_OP_WEIGHT_GRADIENT ? layer.outputs[0] : layer.inputs[1];
    return Window{graph.tensors[filter].extent[axis],
                  OneIfZero(layer.attribute(SLUICE_CONV_STRIDE_H + i)),
                  OneIfZero(layer.attribute(SLUICE_CONV_DILATION_H + i)),
                  layer.attribute(SLUICE_CONV_PAD_TOP + i)};
  }
  return Window{layer.attribute(SLUICE_POOL_WINDOW_H + i),
                OneIfZero(layer.attribute(SLUICE_POOL_STRIDE_H + i)), 1,
                layer.attribute(SLUICE_POOL_PAD_TOP + i)};
}

void ResizeNeeds(const Layer& layer, int64_t in, int64_t out, int64_t i, int64_t* first,
                 int64_t* last) {
  const bool align = layer.attribute(SLUICE_RESIZE_ALIGN_CORNERS) != 0;
  const bool half = layer.attribute(SLUICE_RESIZE_HALF_PIXEL_CENTERS) != 0;
  const bool spread = align && out > 1;
  const int64_t span_in = spread ? in - 1 : in;
  const int64_t span_out = spread ? out - 1 : out;
  const int64_t step = ((span_in << 10) + span_out / 2) / span_out;
  const int64_t position = step * i + (half ? step / 2 - 512 : 0);
  *first = Min(Max<int64_t>(position >> 10, 0), in - 1);
  *last = Min(Max<int64_t>(position >> 10, 0) + 1, in - 1);
}

TileBoxes BoxesOf(const Graph& graph, const Layer& layer, const Box& output,
                  int32_t c_begin, int32_t c_end) {
  TileBoxes t = {};
  t.box[kRoleOutput] = output;
  t.filters = output.extent[layer.op == SLUICE_OP_WEIGHT_GRADIENT ? 0 : 3];
  switch (layer.op) {
    case SLUICE_OP_CONV:
    case SLUICE_OP_DEPTHWISE_CONV:
    case SLUICE_OP_TRANSPOSED_CONV:
    case SLUICE_OP_FULLY_CONNECTED:
      ConvBoxes(graph, layer, c_begin, c_end, &t);
      break;
    case SLUICE_OP_BATCH_MATMUL:
      MatmulBoxes(layer, c_begin, c_end, &t);
      break;
    case SLUICE_OP_WEIGHT_GRADIENT:
      WeightGradientBoxes(graph, layer, c_begin, c_end, &t);
      break;
    case SLUICE_OP_MAX_POOL_GRADIENT:
      PoolGradientBoxes(graph, layer, &t);
      break;
    case SLUICE_OP_MAX_POOL:
    case SLUICE_OP_AVERAGE_POOL:
      PoolBoxes(graph, layer, &t);
      break;
    case SLUICE_OP_PAD:
      PadBoxes(graph, layer, &t);
      break;
    case SLUICE_OP_REDUCE:
    case SLUICE_OP_ARGMAX:
      ReduceBoxes(graph, layer, &t);
      break;
    case SLUICE_OP_RESIZE_BILINEAR:
    case SLUICE_OP_RESIZE_NEAREST:
      ResizeBoxes(graph, layer, &t);
      break;
    case SLUICE_OP_TRANSPOSE:
      TransposeBoxes(layer, &t);
      break;
    case SLUICE_OP_LAYER_NORM:
    case SLUICE_OP_RMS_NORM:
      NormBoxes(graph, layer, &t);
      break;
    default:
      ElementwiseBoxes(graph, layer, &t);
      break;
  }
  return t;
}

}  // namespace sluice
