// SPDX-License-Identifier: Apache-2.0
#include "model/tile_geometry.h"

#include "base/checked.h"

namespace sluice {

namespace {

int32_t OneIfZero(int32_t value) { return value == 0 ? 1 : value; }

// Range along H and W that a window op or PAD reads for `output`; sets the pads.
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

// Range along H and W of the inputs that scatter into `output`: input i reaches output
// o if 0 <= o + pad - i * stride < filter. If no input does: the last input before it.
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

// `output`'s range on axes the tensor has, a single element on axes it broadcasts
// along.
Box BroadcastBox(const Tensor& tensor, const Box& output) {
  Box box = output;
  for (int a = 0; a < kAxes; ++a) {
    if (tensor.extent[a] == 1) SetAxis(&box, a, 0, 1);
  }
  return box;
}

// The box of channels [k0, k1) of the parameters.
void ParameterBox(int32_t k0, int32_t k1, Box* box) {
  SetAxis(box, 0, 0, 1);
  SetAxis(box, 1, 0, 1);
  SetAxis(box, 2, k0, k1 - k0);
  SetAxis(box, 3, 0, 3);
}

void FullyConnectedBoxes(const Graph& graph, const Layer& layer, int32_t c_begin,
                         int32_t c_end, TileBoxes* t) {
  const Box& output = t->box[kRoleOutput];
  Box* filter = &t->box[kRoleWeight];
  t->box[kRoleInput0] = output;
  SetAxis(&t->box[kRoleInput0], 3, c_begin, c_end - c_begin);
  *filter = WholeBox(graph.tensors[layer.inputs[1]]);
  SetAxis(filter, 2, output.begin[3], output.extent[3]);
  SetAxis(filter, 3, c_begin, c_end - c_begin);
  ParameterBox(output.begin[3], output.begin[3] + output.extent[3],
               &t->box[kRoleParameters]);
  t->macs = output.elements() * (c_end - c_begin);
}

// Sets channels of ifmap and filter; returns how many channels each output sums over.
int64_t ConvChannels(const Graph& graph, const Layer& layer, int32_t c_begin,
                     int32_t c_end, TileBoxes* t) {
  const Tensor& in = graph.tensors[layer.inputs[0]];
  const Tensor& out = graph.tensors[layer.outputs[0]];
  const int32_t k0 = t->box[kRoleOutput].begin[3];
  const int32_t k1 = k0 + t->box[kRoleOutput].extent[3];
  Box* input = &t->box[kRoleInput0];
  Box* filter = &t->box[kRoleWeight];
  if (IsChannelwise(layer)) {
    const int32_t multiplier = out.extent[3] / in.extent[3];
    const int32_t c0 = k0 / multiplier;
    SetAxis(input, 3, c0, static_cast<int32_t>(CeilDivide(k1, multiplier)) - c0);
    SetAxis(filter, 3, k0, k1 - k0);
    return 1;
  }
  const int32_t groups = GroupsOf(layer);
  if (groups == 1) {
    SetAxis(input, 3, c_begin, c_end - c_begin);
  } else {
    const int32_t group_k = out.extent[3] / groups;
    const int32_t group_c = in.extent[3] / groups;
    const int32_t g0 = k0 / group_k;
    const int32_t g1 = static_cast<int32_t>(CeilDivide(k1, group_k));
    SetAxis(input, 3, g0 * group_c, (g1 - g0) * group_c);
  }
  const bool own = WeightLayoutOf(layer) == SLUICE_WEIGHT_LAYOUT_OWN;
  SetAxis(filter, own ? 0 : 3, k0, k1 - k0);
  SetAxis(filter, own ? 3 : 0, c_begin, c_end - c_begin);
  return c_end - c_begin;
}

void ConvBoxes(const Graph& graph, const Layer& layer, int32_t c_begin, int32_t c_end,
               TileBoxes* t) {
  const Tensor& weight = graph.tensors[layer.inputs[1]];
  const Box& output = t->box[kRoleOutput];
  t->box[kRoleInput0] = output;
  t->box[kRoleWeight] = WholeBox(weight);
  ParameterBox(output.begin[3], output.begin[3] + output.extent[3],
               &t->box[kRoleParameters]);
  const int64_t summed = ConvChannels(graph, layer, c_begin, c_end, t);
  if (TraitsOf(layer).form == Form::kTransposedConv) {
    ScatterBox(graph, layer, output, &t->box[kRoleInput0]);
  } else {
    WindowBox(graph, layer, output, &t->box[kRoleInput0], t->pad);
  }
  t->macs = output.elements() * weight.extent[1] * weight.extent[2] * summed;
}

// The error's rows [c_begin, c_end) lie in one image, or are whole images.
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
  const int32_t groups = GroupsOf(layer);
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

// The errors whose windows reach the box, and the ifmap under those windows.
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
  const uint32_t axes = ReducedAxes(layer);
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
}

void TransposeBoxes(const Layer& layer, TileBoxes* t) {
  const Box& output = t->box[kRoleOutput];
  for (int a = 0; a < kAxes; ++a) {
    SetAxis(&t->box[kRoleInput0], InputAxisOf(layer, a), output.begin[a],
            output.extent[a]);
  }
}

void PoolBoxes(const Graph& graph, const Layer& layer, TileBoxes* t) {
  const Box& output = t->box[kRoleOutput];
  t->box[kRoleInput0] = output;
  WindowBox(graph, layer, output, &t->box[kRoleInput0], t->pad);
  t->vector_ops = output.elements() * layer.attribute(SLUICE_POOL_WINDOW_H) *
                  layer.attribute(SLUICE_POOL_WINDOW_W);
}

// H and W get pads in the tile; N and C are clipped to the input.
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
}

// Activations broadcast where their extents are 1; tables and parameters are whole.
void ElementwiseBoxes(const Graph& graph, const Layer& layer, TileBoxes* t) {
  const Box& output = t->box[kRoleOutput];
  const OpTraits& traits = TraitsOf(layer);
  for (size_t i = 0; i < kMaxRoles; ++i) {
    const TileRole role = traits.role[i];
    if (role == kNoRole || layer.input(i) == kNone) continue;
    const Tensor& tensor = graph.tensors[layer.inputs[i]];
    const bool activation = role == kRoleInput0 || role == kRoleInput1;
    t->box[role] = activation ? BroadcastBox(tensor, output) : WholeBox(tensor);
  }
}

// Boxes of the inputs, filters and parameters of the tile that computes t's output.
void SetInputBoxes(const Graph& graph, const Layer& layer, int32_t c_begin,
                   int32_t c_end, TileBoxes* t) {
  switch (TraitsOf(layer).form) {
    case Form::kConv:
    case Form::kDepthwiseConv:
    case Form::kTransposedConv:
      ConvBoxes(graph, layer, c_begin, c_end, t);
      break;
    case Form::kFullyConnected:
      FullyConnectedBoxes(graph, layer, c_begin, c_end, t);
      break;
    case Form::kMatmul:
      MatmulBoxes(layer, c_begin, c_end, t);
      break;
    case Form::kWeightGradient:
      WeightGradientBoxes(graph, layer, c_begin, c_end, t);
      break;
    case Form::kPool:
      PoolBoxes(graph, layer, t);
      break;
    case Form::kPoolGradient:
      PoolGradientBoxes(graph, layer, t);
      break;
    case Form::kBinary:
    case Form::kUnary:
    case Form::kReluGradient:
    case Form::kHardSwish:
    case Form::kPrelu:
    case Form::kLookup:
    case Form::kSoftmax:
    case Form::kLayerNorm:
    case Form::kRmsNorm:
      ElementwiseBoxes(graph, layer, t);
      break;
    case Form::kReduce:
    case Form::kArgmax:
      ReduceBoxes(graph, layer, t);
      break;
    case Form::kPad:
      PadBoxes(graph, layer, t);
      break;
    case Form::kTranspose:
      TransposeBoxes(layer, t);
      break;
    case Form::kResize:
      ResizeBoxes(graph, layer, t);
      break;
    case Form::kUnknown:  // no tile computes these
    case Form::kConcat:
    case Form::kSlice:
    case Form::kReshape:
    case Form::kGather:
    case Form::kAppend:
    case Form::kOpaque:
      break;
  }
}

}  // namespace

bool operator==(const Box& a, const Box& b) {
  for (int i = 0; i < kAxes; ++i) {
    if (a.begin[i] != b.begin[i] || a.extent[i] != b.extent[i]) return false;
  }
  return true;
}

bool Contains(const Box& outer, const Box& inner) {
  for (int a = 0; a < kAxes; ++a) {
    if (inner.begin[a] < outer.begin[a] ||
        inner.begin[a] + inner.extent[a] > outer.begin[a] + outer.extent[a]) {
      return false;
    }
  }
  return true;
}

Box WholeBox(const Tensor& tensor) {
  Box box = {};
  for (int a = 0; a < kAxes; ++a) box.extent[a] = tensor.extent[a];
  return box;
}

TileOperands OperandsOf(const Layer& layer) {
  TileOperands o;
  for (uint32_t& tensor : o.tensor) tensor = kNone;
  o.tensor[kRoleOutput] = layer.outputs[0];
  const OpTraits& traits = TraitsOf(layer);
  for (size_t i = 0; i < kMaxRoles; ++i) {
    if (traits.role[i] != kNoRole) o.tensor[traits.role[i]] = layer.input(i);
  }
  return o;
}

int32_t AccumulatedChannels(const Graph& graph, const Layer& layer) {
  switch (TraitsOf(layer).sum) {
    case SumRule::kNoSum:
      return 0;
    case SumRule::kWeightChannels:
      if (IsChannelwise(layer)) return 0;
      return graph.tensors[layer.inputs[1]]
          .extent[WeightLayoutOf(layer) == SLUICE_WEIGHT_LAYOUT_OWN ? 3 : 0];
    case SumRule::kInputChannels:
      return graph.tensors[layer.inputs[0]].extent[3];
    case SumRule::kErrorRows: {
      const Tensor& error = graph.tensors[layer.inputs[1]];
      return error.extent[0] * error.extent[1];
    }
  }
  return 0;
}

CutRule CutsOf(const Graph& graph, const Layer& layer) {
  CutRule rule = {{true, true, true, true}, {1, 1, 1, 1}, 1};
  const Tensor& out = graph.tensors[layer.outputs[0]];
  const int32_t groups = GroupsOf(layer);
  switch (TraitsOf(layer).cuts) {
    case CutLimit::kAnywhere:
      break;
    case CutLimit::kChannelGroups:
      if (IsChannelwise(layer)) {
        rule.unit[3] = out.extent[3] / graph.tensors[layer.inputs[0]].extent[3];
      } else if (groups > 1) {
        rule.unit[3] = out.extent[3] / groups;
      }
      break;
    case CutLimit::kWholeRows:
      rule.cuttable[3] = false;
      break;
    case CutLimit::kUnpaddedAxes:  // so that no tile lies in padding alone
      for (int a = 0; a < kAxes; ++a) {
        rule.cuttable[a] = graph.tensors[layer.inputs[0]].extent[a] == out.extent[a];
      }
      break;
    case CutLimit::kWholeTaps:
      rule.cuttable[1] = rule.cuttable[2] = false;  // a tap may lie in padding alone
      rule.sum_unit = graph.tensors[layer.inputs[1]].extent[1];
      if (groups > 1) {
        rule.cuttable[3] = false;
        rule.unit[0] = out.extent[0] / groups;
      }
      break;
  }
  return rule;
}

Window WindowOf(const Graph& graph, const Layer& layer, int axis) {
  const size_t i = static_cast<size_t>(axis - 1);  // H is 1, W is 2
  const WindowRule rule = TraitsOf(layer).window;
  switch (rule) {
    case WindowRule::kNoWindow:
      break;
    case WindowRule::kFilter:
    case WindowRule::kTaps: {
      const uint32_t filter =
          rule == WindowRule::kTaps ? layer.outputs[0] : layer.inputs[1];
      return Window{graph.tensors[filter].extent[axis],
                    OneIfZero(layer.attribute(SLUICE_CONV_STRIDE_H + i)),
                    OneIfZero(layer.attribute(SLUICE_CONV_DILATION_H + i)),
                    layer.attribute(SLUICE_CONV_PAD_TOP + i)};
    }
    case WindowRule::kPool:
      return Window{layer.attribute(SLUICE_POOL_WINDOW_H + i),
                    OneIfZero(layer.attribute(SLUICE_POOL_STRIDE_H + i)), 1,
                    layer.attribute(SLUICE_POOL_PAD_TOP + i)};
    case WindowRule::kPads:
      return Window{1, 1, 1, layer.attribute(SLUICE_PAD_BEFORE_N + 1 + i)};
  }
  return Window{1, 1, 1, 0};
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

void SetBoxes(const Graph& graph, const Layer& layer, const Box& output,
              int32_t c_begin, int32_t c_end, TileBoxes* t) {
  const OpTraits& traits = TraitsOf(layer);
  *t = {};
  t->box[kRoleOutput] = output;
  t->filters = output.extent[traits.form == Form::kWeightGradient ? 0 : 3];
  t->vector_ops = output.elements() * traits.ops_per_output;
  SetInputBoxes(graph, layer, c_begin, c_end, t);
}

}  // namespace sluice
