// SPDX-License-Identifier: Apache-2.0
// Checks that a tile is well formed: extents, dtypes, windows, channel ranges, flags.
#include <algorithm>

#include "kernels.h"

namespace sluice_sim {
namespace {

std::string Text(const Extent& e) {
  std::string s = "[";
  for (int a = 0; a < 4; ++a) s += (a ? "," : "") + std::to_string(e[a]);
  return s + "]";
}

std::string Expect(const char* what, const Extent& got, const Extent& want) {
  if (got == want) return "";
  return std::string("extents: ") + what + " is " + Text(got) + ", not " + Text(want);
}

std::string ExpectDtype(const char* what, const Box& box, int dtype) {
  if (box.dtype == dtype) return "";
  return std::string("dtype: ") + what + " has dtype " + std::to_string(box.dtype) +
         ", not " + std::to_string(dtype);
}

bool IsEightBit(const Box& box) { return DtypeBytes(box.dtype) == 1; }

std::string ExpectEightBits(const Box& a, const Box& b) {
  return IsEightBit(a) && IsEightBit(b) ? "" : "dtype: operands must be 8 bit";
}

#define TRY(expression)                     \
  do {                                      \
    std::string try_text = (expression);    \
    if (!try_text.empty()) return try_text; \
  } while (0)

// Checks a range of windows, the first one at `at`, against the layer.
std::string CheckWindowAt(const Tile& t, const Extent& at, const Extent& windows) {
  const Window g = WindowOf(t);
  static const char* const axis_name[2] = {"rows", "columns"};
  for (int i = 0; i < 2; ++i) {
    if (g.stride[i] < 1 || g.dilation[i] < 1 || g.size[i] < 1 || g.pad_before[i] < 0) {
      return "attributes: stride, dilation, window or padding below its minimum";
    }
    const int64_t out = windows[1 + i], in = t.input0.extent[1 + i];
    const int64_t need = (out - 1) * g.stride[i] + (g.size[i] - 1) * g.dilation[i] + 1;
    const int64_t begin = at[1 + i] * g.stride[i] - g.pad_before[i];
    const int64_t before = std::max<int64_t>(0, -begin);
    const int64_t end = begin + t.pad[i] + in;
    if (need != t.pad[i] + in + t.pad[2 + i]) {
      return std::string("window: ") + axis_name[i] + ": needs " +
             std::to_string(need) + ", has " + std::to_string(t.pad[i]) +
             " padding + " + std::to_string(in) + " + " + std::to_string(t.pad[2 + i]) +
             " padding";
    }
    const bool inside = t.pad[i] >= before && end <= t.layer.input[1 + i];
    const bool tight =
        t.pad[i] == before && (t.pad[2 + i] == 0 || end == t.layer.input[1 + i]);
    if (!inside || (!tight && !t.layer.padded)) {
      return std::string("window: padding of ") + axis_name[i] +
             " where the layer's input has data, or the reverse";
    }
  }
  return "";
}

std::string CheckWindow(const Tile& t) {
  return CheckWindowAt(t, t.origin, t.target().extent);
}

std::string CheckParameters(const Tile& t) {
  if (!t.last) return "";
  if (!t.parameters.present()) return "operands: parameters are missing";
  TRY(ExpectDtype("parameters", t.parameters, SLUICE_DTYPE_INT32));
  return Expect("parameters", t.parameters.extent, {1, 1, t.output.extent[3], 3});
}

// Checks the tile's range of the `total` channels that one output channel sums over.
std::string CheckChannels(const Tile& t, int64_t total) {
  if (t.c_begin >= t.c_end || t.c_end > total) {
    return "channels: [" + std::to_string(t.c_begin) + ", " + std::to_string(t.c_end) +
           ") of " + std::to_string(total);
  }
  if (t.first && t.last && (t.c_begin != 0 || t.c_end != total)) {
    return "channels: FIRST and LAST in one tile must sum over all of them";
  }
  return "";
}

// Checks that input 0 is exactly the rows and columns that scatter into the box.
std::string CheckScattered(const Tile& t, int64_t channels) {
  const Window g = WindowOf(t);
  Extent want = {t.target().extent[0], 0, 0, channels};
  for (int i = 0; i < 2; ++i) {
    if (g.stride[i] < 1 || g.pad_before[i] < 0) {
      return "attributes: stride or padding";
    }
    const Rows rows =
        TransposedRows(t.origin[1 + i], t.target().extent[1 + i], g.stride[i],
                       g.pad_before[i], g.size[i], t.layer.input[1 + i]);
    want[1 + i] = rows.last - rows.first + 1;
  }
  return Expect("input0", t.input0.extent, want);
}

}  // namespace

std::string CheckWeightGradient(const Tile& t) {
  if (!t.input1.present()) return "operands: input1 is missing";
  TRY(ExpectEightBits(t.input0, t.input1));
  if (t.last && !IsEightBit(t.output)) return "dtype: a weight gradient gives 8 bits";
  const Extent& out = t.target().extent;
  const int64_t rows = t.layer.second[1];
  TRY(CheckChannels(t, t.layer.second[0] * rows));
  const int64_t image = t.c_begin / rows;
  Extent at = {image, 0, 0, 0};
  Extent error = {1, t.c_end - t.c_begin, t.layer.second[2], out[0]};
  if (t.c_end <= (image + 1) * rows) {
    at[1] = t.c_begin - image * rows;
  } else {
    if (t.c_begin % rows != 0 || t.c_end % rows != 0) {
      return "channels: rows of several images must be whole images";
    }
    error[0] = error[1] / rows;
    error[1] = rows;
  }
  TRY(Expect("input1", t.input1.extent, error));
  if (out[1] != t.layer.output[1] || out[2] != t.layer.output[2]) {
    return "box: a weight gradient's taps must be whole";
  }
  const int64_t groups = t.groups();
  if (t.layer.output[0] % groups != 0) return "attributes: groups";
  const int64_t each = t.layer.output[0] / groups;
  const int64_t used = (t.origin[0] + out[0] - 1) / each - t.origin[0] / each + 1;
  if (used > 1 && out[3] != t.layer.output[3]) return "box: a part of several groups";
  TRY(Expect("input0", t.input0.extent,
             {error[0], t.input0.extent[1], t.input0.extent[2], used * out[3]}));
  return CheckWindowAt(t, at, error);
}

std::string CheckMaxPoolGradient(const Tile& t) {
  if (!t.input1.present()) return "operands: input1 is missing";
  TRY(ExpectEightBits(t.input0, t.input1));
  TRY(ExpectDtype("output", t.output, t.input0.dtype));
  TRY(CheckScattered(t, t.output.extent[3]));
  Extent want = t.output.extent;
  for (int i = 1; i < 3; ++i) {
    const Rows rows = PoolGradientRows(t, i);
    want[i] = rows.last - rows.first + 1;
  }
  return Expect("input1", t.input1.extent, want);
}

std::string CheckConvolution(const Tile& t) {
  if (!t.weight.present()) return "operands: weight is missing";
  TRY(ExpectEightBits(t.input0, t.weight));
  const Extent& out = t.target().extent;
  const Extent& in = t.input0.extent;
  const Extent& w = t.weight.extent;
  const bool scatters = OpOf(t.op).slide == Slide::kScatter;
  TRY(CheckParameters(t));
  const int64_t layer_k = t.layer.output[3], layer_c = t.layer.input[3];
  const int64_t groups = t.groups();
  if (t.layout() < SLUICE_WEIGHT_LAYOUT_OWN ||
      t.layout() > SLUICE_WEIGHT_LAYOUT_DEPTHWISE) {
    return "attributes: weight layout";
  }
  if (t.is_depthwise()) {
    if (layer_k % layer_c != 0) return "attributes: output channels per input channel";
    const int64_t multiple = layer_k / layer_c;
    const int64_t first = t.origin[3] / multiple;
    const int64_t last = (t.origin[3] + out[3] - 1) / multiple;
    TRY(Expect("weight", w, {1, w[1], w[2], out[3]}));
    if (scatters) return CheckScattered(t, last - first + 1);
    TRY(Expect("input0", in, {out[0], in[1], in[2], last - first + 1}));
    return CheckWindow(t);
  }
  if (layer_k % groups != 0 || layer_c % groups != 0) return "attributes: groups";
  TRY(CheckChannels(t, layer_c / groups));
  const int64_t channels = t.c_end - t.c_begin;
  if (OpOf(t.op).matrix) {
    TRY(Expect("weight", w, {out[3], 1, 1, channels}));
    return Expect("input0", in, {out[0], out[1], out[2], channels});
  }
  if (t.layout() == SLUICE_WEIGHT_LAYOUT_CONV) {
    TRY(Expect("weight", w, {channels, w[1], w[2], out[3]}));
  } else {
    TRY(Expect("weight", w, {out[3], w[1], w[2], channels}));
  }
  if (scatters) return CheckScattered(t, channels);
  const int64_t per_group = layer_k / groups;
  const int64_t used =
      (t.origin[3] + out[3] - 1) / per_group - t.origin[3] / per_group + 1;
  TRY(Expect("input0", in, {out[0], in[1], in[2], used * channels}));
  return CheckWindow(t);
}

std::string CheckMatmul(const Tile& t) {
  const Extent& out = t.target().extent;
  if (!t.input1.present()) return "operands: input1 is missing";
  TRY(ExpectEightBits(t.input0, t.input1));
  TRY(CheckChannels(t, t.layer.input[3]));
  const int64_t c = t.c_end - t.c_begin;
  TRY(Expect("input0", t.input0.extent, {out[0], out[1], out[2], c}));
  if (t.A(SLUICE_MATMUL_TRANSPOSE_B)) {
    return Expect("input1", t.input1.extent, {out[0], out[1], out[3], c});
  }
  return Expect("input1", t.input1.extent, {out[0], out[1], c, out[3]});
}

namespace {

// Checks that an operand has the box's extent, or 1 where the whole tensor has 1.
std::string CheckBroadcast(const char* what, const Box& box, const Extent& tensor,
                           const Extent& out) {
  Extent want = out;
  for (int a = 0; a < 4; ++a) {
    if (tensor[a] == 1) want[a] = 1;
  }
  return Expect(what, box.extent, want);
}

}  // namespace

std::string CheckReluGradient(const Tile& t) {
  if (!t.input1.present()) return "operands: input1 is missing";
  TRY(CheckBroadcast("input0", t.input0, t.layer.input, t.output.extent));
  return CheckBroadcast("input1", t.input1, t.layer.second, t.output.extent);
}

std::string CheckBinary(const Tile& t) {
  TRY(CheckReluGradient(t));
  return ExpectDtype("input1", t.input1, t.input0.dtype);
}

std::string CheckSameBox(const Tile& t) {
  return Expect("input0", t.input0.extent, t.output.extent);
}

std::string CheckHardSwish(const Tile& t) {
  if (!IsEightBit(t.input0) || t.output.dtype != t.input0.dtype) {
    return "dtype: hard_swish takes and gives 8 bits";
  }
  const int32_t low = t.input0.dtype == SLUICE_DTYPE_INT8 ? -128 : 0;
  const auto inside = [&](size_t i, int32_t least, int32_t most) {
    return t.A(i) >= least && t.A(i) <= most;
  };
  if (!inside(SLUICE_HARD_SWISH_INPUT_ZERO, low, low + 255) ||
      !inside(SLUICE_HARD_SWISH_OUTPUT_ZERO, low, low + 255) ||
      !inside(SLUICE_HARD_SWISH_MULTIPLIER, 0, INT16_MAX) ||
      !inside(SLUICE_HARD_SWISH_SHIFT, -15, 0) ||
      !inside(SLUICE_HARD_SWISH_GATE_MULTIPLIER, 0, INT16_MAX) ||
      !inside(SLUICE_HARD_SWISH_GATE_SHIFT, -15, 15)) {
    return "attributes: hard_swish's steps would leave 16 bits";
  }
  return CheckSameBox(t);
}

std::string CheckPrelu(const Tile& t) {
  if (!t.input1.present()) return "operands: input1 is missing";
  if (!IsEightBit(t.input0) || !IsEightBit(t.input1) || !IsEightBit(t.output)) {
    return "dtype: prelu takes and gives 8 bits";
  }
  TRY(CheckBroadcast("input1", t.input1, t.layer.second, t.output.extent));
  return CheckSameBox(t);
}

std::string CheckLookup(const Tile& t) {
  if (!IsEightBit(t.input0) || !IsEightBit(t.output)) {
    return "dtype: lookup takes and gives 8 bits";
  }
  if (!t.weight.present()) return "operands: the table is missing";
  if (!IsEightBit(t.weight)) return "dtype: the table holds 8 bits";
  TRY(Expect("table", t.weight.extent, {1, 1, 1, 256}));
  return CheckSameBox(t);
}

std::string CheckSoftmax(const Tile& t) {
  if (!IsEightBit(t.input0) || t.output.dtype != t.input0.dtype) {
    return "dtype: softmax takes and gives 8 bits";
  }
  if (t.input1.present()) {
    TRY(ExpectDtype("mask", t.input1, SLUICE_DTYPE_UINT8));
    TRY(CheckBroadcast("mask", t.input1, t.layer.second, t.output.extent));
  }
  Extent rows = t.output.extent;
  rows[3] = t.layer.input[3];
  TRY(Expect("output", t.output.extent, rows));
  return CheckSameBox(t);
}

std::string CheckArgmax(const Tile& t) {
  if (t.output.extent[3] != 1) return "extents: argmax gives one element per row";
  if (t.output.dtype != SLUICE_DTYPE_INT32 && t.output.dtype != SLUICE_DTYPE_INT64) {
    return "dtype: argmax gives int32 or int64";
  }
  Extent want = t.output.extent;
  want[3] = t.layer.input[3];
  return Expect("input0", t.input0.extent, want);
}

std::string CheckReduce(const Tile& t) {
  Extent want = t.output.extent;
  for (int a = 0; a < 4; ++a) {
    if ((t.A(SLUICE_REDUCE_AXES) >> a & 1) == 0) continue;
    if (want[a] != 1) return "extents: a reduced axis has one element";
    want[a] = t.layer.input[a];
  }
  return Expect("input0", t.input0.extent, want);
}

std::string CheckNorm(const Tile& t) {
  const int64_t channels = t.layer.input[3];
  if (!IsEightBit(t.input0) || !IsEightBit(t.output)) {
    return "dtype: a norm takes and gives 8 bits";
  }
  if (channels > 32768) return "extents: a norm of more than 32768 channels";
  if (t.A(SLUICE_NORM_EPSILON) < 0) return "attributes: a negative epsilon";
  if (t.output.extent[3] != channels) return "extents: a norm needs whole rows";
  TRY(CheckParameters(t));
  return CheckSameBox(t);
}

std::string CheckRmsNorm(const Tile& t) {
  const int64_t low = t.input0.dtype == SLUICE_DTYPE_INT8 ? -128 : 0;
  const int64_t zero = t.A(SLUICE_NORM_INPUT_ZERO);
  if (IsEightBit(t.input0) && (zero < low || zero > low + 255)) {
    return "attributes: input_zero outside the dtype";
  }
  return CheckNorm(t);
}

std::string CheckTranspose(const Tile& t) {
  TRY(ExpectDtype("output", t.output, t.input0.dtype));
  Extent want{};
  for (int a = 0; a < 4; ++a) {
    const int32_t from = t.A(SLUICE_TRANSPOSE_PERM0 + a);
    if (from < 0 || from > 3 || want[from] != 0) return "attributes: permutation";
    want[from] = t.output.extent[a];
  }
  return Expect("input0", t.input0.extent, want);
}

std::string CheckPool(const Tile& t) {
  TRY(ExpectDtype("output", t.output, t.input0.dtype));
  const Extent& out = t.output.extent;
  const Extent& in = t.input0.extent;
  TRY(Expect("input0", in, {out[0], in[1], in[2], out[3]}));
  return CheckWindow(t);
}

std::string CheckPad(const Tile& t) {
  TRY(ExpectDtype("output", t.output, t.input0.dtype));
  Extent want = t.input0.extent;
  for (int a = 0; a < 4; a += 3) {
    if (t.A(static_cast<size_t>(SLUICE_PAD_BEFORE_N + a)) < 0) {
      return "attributes: pads below zero";
    }
    const Rows rows = PaddedRows(t, a);
    want[a] = rows.last - rows.first + 1;
  }
  TRY(Expect("input0", t.input0.extent, want));
  return CheckWindow(t);
}

std::string CheckResize(const Tile& t) {
  TRY(ExpectDtype("output", t.output, t.input0.dtype));
  Extent want = t.output.extent;
  for (int i = 1; i < 3; ++i) {
    const Rows rows = ResizeRows(t, i, t.origin[i], t.output.extent[i]);
    want[i] = rows.last - rows.first + 1;
  }
  return Expect("input0", t.input0.extent, want);
}

namespace {

std::string CheckFlags(const Tile& t) {
  if (!t.last && !t.accumulator.present()) return "flags: no accumulator";
  if (t.last && !t.output.present()) return "flags: LAST without an output";
  if (t.first && t.last && t.accumulator.present()) {
    return "flags: FIRST and LAST with an accumulator";
  }
  if (!t.first && !t.accumulator.present()) return "flags: no accumulator";
  if (!t.sums_over_c()) {
    if (!t.first || !t.last) return "flags: this op is always FIRST and LAST";
    if (t.c_begin != 0 || t.c_end != 0) return "channels: this op sums over none";
  }
  if (t.accumulator.present()) {
    TRY(ExpectDtype("accumulator", t.accumulator, SLUICE_DTYPE_INT32));
    if (t.last) TRY(Expect("accumulator", t.accumulator.extent, t.output.extent));
  }
  return "";
}

}  // namespace

std::string CheckFrame(const Tile& t) {
  if (!t.input0.present()) return "operands: input0 is missing";
  TRY(CheckFlags(t));
  const Extent& out = t.target().extent;
  for (int a = 0; a < 4; ++a) {
    if (t.input0.extent[a] < 1) return "extents: input0 is empty";
    if (t.origin[a] + out[a] > t.layer.output[a]) {
      return "box: outside the layer's output on axis " + std::to_string(a);
    }
    if (!MayPad(OpOf(t.op).slide) && t.pad[a] != 0) {
      return "window: this op has no padding";
    }
  }
  return "";
}

}  // namespace sluice_sim
