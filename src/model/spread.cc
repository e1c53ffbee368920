// SPDX-License-Identifier: Apache-2.0
#include "model/spread.h"

#include "base/checked.h"

namespace sluice {
namespace {

constexpr Spread kNothing = {{0, 0, 0, 0}};

int64_t Floor(int64_t a, int64_t b) { return a >= 0 ? a / b : -CeilDivide(-a, b); }

// Output positions along an axis whose windows read one of `run` positions in a row.
int32_t RunOfWindows(const Window& w, int32_t run, int32_t in, int32_t out) {
  // Dilated windows pass over positions: of them only the tap in the middle counts.
  const bool apart = w.dilation > 1;
  if (apart && w.stride > 1) return 0;
  const int64_t first_tap = apart ? int64_t{w.filter / 2} * w.dilation : 0;
  const int64_t last_tap = apart ? first_tap : w.filter - 1;
  const auto from = [&](int32_t p) {
    const int64_t at = int64_t{p} + w.pad_before;
    const int64_t first = -Floor(last_tap - at, w.stride);
    const int64_t last = Floor(at + run - 1 - first_tap, w.stride);
    return Min<int64_t>(last, out - 1) - Max<int64_t>(first, 0) + 1;
  };
  // How many such windows there are depends on where the run begins: near a border, or
  // by the stride.
  const int32_t near = w.filter + w.stride, places = in - run + 1;
  int64_t least = out;
  for (int32_t p = 0; p < Min(near, places); ++p) {
    least = Min(least, Min(from(p), from(places - 1 - p)));
  }
  return static_cast<int32_t>(Max<int64_t>(least, 0));
}

// Taps of the filter that lie on the input for some of `run` output positions, `step`
// apart, wherever the run begins.
int32_t TapsOfRun(const Window& w, int32_t run, int32_t step, int32_t in, int32_t out) {
  const int64_t length = int64_t{w.filter - 1} * w.dilation;
  const int64_t before = w.pad_before;
  const int64_t behind = int64_t{out - 1} * w.stride - before + length - (in - 1);
  // Else a tap may be off the input at one end of the run and at its other end.
  if (in <= length || before + behind > length) return 0;
  const int64_t moved = int64_t{run - 1} * step * w.stride;
  const int64_t off = Max(before, behind) - moved;
  const int64_t lost = off <= 0 ? 0 : CeilDivide(off, w.dilation);
  return static_cast<int32_t>(Max<int64_t>(w.filter - lost, 0));
}

// A whole axis spreads to whole axes. Of an axis that is not whole, consecutive elements
// stay consecutive if the output keeps them on one axis.
Spread ThroughReshape(const Tensor& in, const Tensor& out, const Spread& spread) {
  AxisGroup groups[2 * kAxes];
  const uint32_t count = GroupsOfReshape(in.extent, out.extent, groups);
  Spread through = kOneElementSpreads;
  for (uint32_t g = 0; g < count; ++g) {
    const AxisGroup& group = groups[g];
    int64_t run = 1;
    bool whole = true;  // all axes so far, from the innermost
    for (int a = group.in_end; a-- > group.in_begin;) {
      if (whole) run *= spread.count[a];
      whole = whole && spread.count[a] == in.extent[a];
    }
    for (int a = group.out_begin; a < group.out_end; ++a) {
      if (whole) {
        through.count[a] = out.extent[a];
      } else if (group.out_end - group.out_begin == 1) {
        through.count[a] = static_cast<int32_t>(run);
      }
    }
  }
  return through;
}

Spread ThroughMatmul(const Layer& layer, size_t input, const Tensor& out,
                     const Spread& in) {
  Spread through = in;
  if (input == 0) {
    through.count[3] = out.extent[3];
  } else {
    const int columns = layer.attribute(SLUICE_MATMUL_TRANSPOSE_B) != 0 ? 2 : 3;
    through.count[3] = in.count[columns];
    through.count[2] = out.extent[2];
  }
  return through;
}

Spread ThroughWindows(const Graph& graph, const Layer& layer, const Tensor& in,
                      const Tensor& out, const Spread& spread) {
  Spread through = spread;
  for (int a = 1; a <= 2; ++a) {
    through.count[a] = RunOfWindows(WindowOf(graph, layer, a), spread.count[a],
                                    in.extent[a], out.extent[a]);
    if (through.count[a] <= 0) return kNothing;
  }
  if (TraitsOf(layer).sum == SumRule::kWeightChannels && !IsChannelwise(layer)) {
    const bool all = GroupsOf(layer) == 1 || spread.count[3] == in.extent[3];
    through.count[3] = all ? out.extent[3] : 1;
  }
  return through;
}

// Element by element; what broadcasts along an axis reaches all of it.
Spread ThroughElements(const Tensor& in, const Tensor& out, const Spread& spread) {
  Spread through = spread;
  for (int a = 0; a < kAxes; ++a) {
    if (in.extent[a] != out.extent[a]) through.count[a] = out.extent[a];
  }
  return through;
}

// Cuts a part of the input out.
Spread ThroughSlice(const Tensor& in, const Tensor& out, const Spread& spread) {
  Spread through = spread;
  for (int a = 0; a < kAxes; ++a) {
    through.count[a] -= in.extent[a] - out.extent[a];
    if (through.count[a] <= 0) return kNothing;
  }
  return through;
}

// A resize may skip rows and columns, so only a whole image is sure to reach the output.
Spread ThroughResize(const Tensor& in, const Tensor& out, const Spread& spread) {
  Spread through = spread;
  for (int a = 1; a <= 2; ++a) {
    if (spread.count[a] != in.extent[a]) return kNothing;
    through.count[a] = out.extent[a];
  }
  return through;
}

}  // namespace

Spread SpreadThrough(const Graph& graph, const Layer& layer, size_t input,
                     const Spread& in) {
  const Tensor& from = graph.tensors[layer.inputs[input]];
  const Tensor& out = graph.tensors[layer.outputs[0]];
  Spread through = in;
  switch (TraitsOf(layer).form) {
    case Form::kConv:
    case Form::kDepthwiseConv:
    case Form::kPool:
      return input == 0 ? ThroughWindows(graph, layer, from, out, in) : kNothing;
    case Form::kMatmul:
      return ThroughMatmul(layer, input, out, in);
    case Form::kReshape:
      return ThroughReshape(from, out, in);
    case Form::kFullyConnected:
    case Form::kSoftmax:
    case Form::kLayerNorm:
    case Form::kRmsNorm:
      if (input != 0) return kNothing;
      through.count[3] = out.extent[3];
      return through;
    case Form::kBinary:
    case Form::kUnary:
    case Form::kReluGradient:
    case Form::kHardSwish:
    case Form::kPrelu:
    case Form::kLookup:
      if (input != 0 && TraitsOf(layer).same_channels) return kNothing;
      return ThroughElements(from, out, in);
    case Form::kReduce:
    case Form::kArgmax:
      for (int a = 0; a < kAxes; ++a) {
        if (out.extent[a] == 1) through.count[a] = 1;
      }
      return through;
    case Form::kTranspose:
      for (int a = 0; a < kAxes; ++a)
        through.count[a] = in.count[InputAxisOf(layer, a)];
      return through;
    case Form::kSlice:
      return ThroughSlice(from, out, in);
    case Form::kConcat:
    case Form::kPad:
      return through;
    case Form::kAppend:
      return input == 1 ? through : kNothing;
    case Form::kResize:
      return ThroughResize(from, out, in);
    case Form::kUnknown:
    case Form::kTransposedConv:
    case Form::kWeightGradient:
    case Form::kPoolGradient:
    case Form::kGather:
    case Form::kOpaque:
      break;
  }
  return kNothing;
}

int64_t WeightsBehind(const Graph& graph, const Layer& layer, const Spread& in,
                      const Spread& out, const Parts& made) {
  const OpTraits& traits = TraitsOf(layer);
  const bool windows = traits.window == WindowRule::kFilter && !traits.scatters;
  if (!windows && traits.form != Form::kFullyConnected) return 0;
  const Tensor& from = graph.tensors[layer.inputs[0]];
  const Tensor& to = graph.tensors[layer.outputs[0]];
  const Tensor& weights = graph.tensors[layer.inputs[1]];
  if (made.count != 1 || out.count[3] != to.extent[3]) return 0;
  const Lattice& needed = made.lattice[0];
  if (needed.axis[0].count != to.extent[0] || needed.axis[3].count != to.extent[3]) {
    return 0;
  }
  // Tiles sum whole runs of input channels at all taps; those that hold none of the
  // channels in question may run before.
  const int64_t elements = weights.bytes / weights.element_bytes;
  int64_t taps = 1, all_taps = 1;
  for (int a = 1; a <= 2; ++a) {
    const Progression& line = needed.axis[a];
    const bool even = line.first < line.step && line.last() + line.step >= to.extent[a];
    const int32_t run = even ? out.count[a] / line.step : 0;
    if (run == 0) return 0;
    if (!windows) continue;
    const Window w = WindowOf(graph, layer, a);
    taps *= TapsOfRun(w, run, line.step, from.extent[a], to.extent[a]);
    all_taps *= w.filter;
  }
  if (IsChannelwise(layer)) return elements / all_taps * taps;
  return elements / all_taps * taps / from.extent[3] * in.count[3];
}

}  // namespace sluice
