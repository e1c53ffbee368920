/* SPDX-License-Identifier: Apache-2.0 */
/* Operators: their names, inputs, attributes and exact integer meaning.
 *
 * This page is the one contract that graph writers (importers), the scheduler, both
 * judges and firmware share. All arithmetic is integer; scales are turned into
 * (multiplier, shift) pairs by whoever writes the graph.
 *
 * Tensors are row-major, NHWC, at most four axes; a tensor of lower rank is read as
 * if ones stood in front: [M, C] is [1, 1, M, C]. Axes are numbered 0..3 = N H W C.
 *
 * scale(x, m, s): x * m / 2^31 * 2^s in TFLite's rounding: with l = max(s, 0) and
 *   r = max(-s, 0), y = high 32 bits of 2 * (x << l) * m, rounded to nearest (ties
 *   upwards, saturating), then y / 2^r rounded to nearest, ties away from zero.
 * scale_once(x, m, s), s <= 30: x * m / 2^31 * 2^s rounded to nearest a single time,
 *   ties away from zero.
 * clamp(x): min(max(x, act_min), act_max).
 *
 * Attributes are int32 and travel as one list per layer, in the order of the enums
 * below. A list may be shorter than the enum: the missing tail is zero. */
#ifndef SLUICE_OPS_H_
#define SLUICE_OPS_H_

#include <stdint.h>

/* X(constant, code, name). Codes are wire values: append only. */
#define SLUICE_OPS(X)                           \
  X(CONV, 1, "conv")                            \
  X(DEPTHWISE_CONV, 2, "depthwise_conv")        \
  X(TRANSPOSED_CONV, 3, "transposed_conv")      \
  X(FULLY_CONNECTED, 4, "fully_connected")      \
  X(BATCH_MATMUL, 5, "batch_matmul")            \
  X(MAX_POOL, 6, "max_pool")                    \
  X(AVERAGE_POOL, 7, "average_pool")            \
  X(ADD, 8, "add")                              \
  X(SUB, 9, "sub")                              \
  X(MUL, 10, "mul")                             \
  X(MINIMUM, 11, "minimum")                     \
  X(MAXIMUM, 12, "maximum")                     \
  X(REQUANTIZE, 13, "requantize")               \
  X(LOOKUP, 14, "lookup")                       \
  X(SOFTMAX, 15, "softmax")                     \
  X(LAYER_NORM, 16, "layer_norm")               \
  X(RMS_NORM, 17, "rms_norm")                   \
  X(REDUCE, 18, "reduce")                       \
  X(ARGMAX, 19, "argmax")                       \
  X(CONCAT, 20, "concat")                       \
  X(SLICE, 21, "slice")                         \
  X(PAD, 22, "pad")                             \
  X(RESHAPE, 23, "reshape")                     \
  X(TRANSPOSE, 24, "transpose")                 \
  X(GATHER, 25, "gather")                       \
  X(RESIZE_BILINEAR, 26, "resize_bilinear")     \
  X(RESIZE_NEAREST, 27, "resize_nearest")       \
  X(STATE_APPEND, 28, "state_append")           \
  X(OPAQUE, 29, "opaque")                       \
  X(WEIGHT_GRADIENT, 30, "weight_gradient")     \
  X(RELU_GRADIENT, 31, "relu_gradient")         \
  X(MAX_POOL_GRADIENT, 32, "max_pool_gradient") \
  X(HARD_SWISH, 33, "hard_swish")               \
  X(PRELU, 34, "prelu")

enum {
#define SLUICE_OP_ENUM(constant, code, name) SLUICE_OP_##constant = code,
  SLUICE_OPS(SLUICE_OP_ENUM)
#undef SLUICE_OP_ENUM
      SLUICE_OP_COUNT = 35 /* one past the last code */
};

/* X(constant, code, bytes, name) */
#define SLUICE_DTYPES(X)  \
  X(INT8, 1, 1, "int8")   \
  X(UINT8, 2, 1, "uint8") \
  X(INT16, 3, 2, "int16") \
  X(INT32, 4, 4, "int32") \
  X(INT64, 5, 8, "int64")

enum {
#define SLUICE_DTYPE_ENUM(constant, code, bytes, name) SLUICE_DTYPE_##constant = code,
  SLUICE_DTYPES(SLUICE_DTYPE_ENUM)
#undef SLUICE_DTYPE_ENUM
      SLUICE_DTYPE_COUNT = 6
};

/* Attributes of CONV, DEPTHWISE_CONV, TRANSPOSED_CONV and FULLY_CONNECTED.
 *
 * Inputs: ifmap [N,H,W,C]; weight; parameters int32 [K,3] = (bias, multiplier, shift)
 * of each output channel. Output [N,P,Q,K].
 *   CONV             weight [K,R,S,C/groups]; channel k belongs to group k/(K/groups)
 *   DEPTHWISE_CONV   weight [1,R,S,K]; channel k reads input channel k/(K/C); groups 0
 *   TRANSPOSED_CONV  weight [K,R,S,C]; scatters: out[i*stride - pad + r]; no dilation,
 *                    no groups; H and W are what a conv with the same window, stride
 *                    and pads would take in to give the ifmap's. WEIGHT_LAYOUT says
 *                    that the weight is a CONV's own, [C,R,S,K] with k the innermost
 *                    (1), or a DEPTHWISE_CONV's, [1,R,S,K], channel k reading channel k
 *                    of the ifmap (2): it is then the gradient of that layer's input
 *   FULLY_CONNECTED  weight [K,C] (rank 2); every axis but the last is a row
 *   acc = sum (ifmap - input_zero) * (weight - weight_zero), padding contributes 0
 *   out = clamp(scale(acc + bias, multiplier, shift) + output_zero)
 *   with ROUNDING = 1 scale_once instead of scale (TFLite's FULLY_CONNECTED)
 * stride and dilation of 0 mean 1; groups of 0 means 1. */
enum {
  SLUICE_CONV_STRIDE_H = 0,
  SLUICE_CONV_STRIDE_W,
  SLUICE_CONV_DILATION_H,
  SLUICE_CONV_DILATION_W,
  SLUICE_CONV_PAD_TOP,
  SLUICE_CONV_PAD_LEFT,
  SLUICE_CONV_PAD_BOTTOM,
  SLUICE_CONV_PAD_RIGHT,
  SLUICE_CONV_GROUPS,
  SLUICE_CONV_INPUT_ZERO,
  SLUICE_CONV_WEIGHT_ZERO,
  SLUICE_CONV_OUTPUT_ZERO,
  SLUICE_CONV_ACT_MIN,
  SLUICE_CONV_ACT_MAX,
  SLUICE_CONV_ROUNDING,
  SLUICE_CONV_ATTRIBUTES,
  SLUICE_CONV_WEIGHT_LAYOUT = SLUICE_CONV_ATTRIBUTES, /* TRANSPOSED_CONV only */
  SLUICE_TRANSPOSED_CONV_ATTRIBUTES
};
enum {
  SLUICE_WEIGHT_LAYOUT_OWN = 0,
  SLUICE_WEIGHT_LAYOUT_CONV = 1,
  SLUICE_WEIGHT_LAYOUT_DEPTHWISE = 2
};

/* WEIGHT_GRADIENT: how a convolution's weight wants to change. Inputs, both
 * activations: the convolution's ifmap x [N,H,W,C]; the error e [N,P,Q,K] of its
 * output. Output [K,R,S,C/groups], 8-bit; channel k belongs to group k/(K/groups).
 *   acc = sum over n, p, q of (x[n, p*stride + r*dilation - pad_top, ..., channel c of
 *         k's group] - input_zero) * (e[n,p,q,k] - error_zero), padding contributes 0
 *   out = clamp(scale(acc, multiplier, shift) + output_zero)
 * Of a DEPTHWISE_CONV: groups = C. Of FULLY_CONNECTED: x [M,1,1,C], e [M,1,1,K].
 * What tiles sum over in parts ("C" in stream.h) are the N*P rows of e, counted
 * n*P + p: of one image, or of whole images.
 * Attributes: the first 14 of CONV, error_zero at WEIGHT_ZERO's place, then these. */
enum {
  SLUICE_WEIGHT_GRADIENT_ERROR_ZERO = SLUICE_CONV_WEIGHT_ZERO,
  SLUICE_WEIGHT_GRADIENT_MULTIPLIER = SLUICE_CONV_ACT_MAX + 1,
  SLUICE_WEIGHT_GRADIENT_SHIFT,
  SLUICE_WEIGHT_GRADIENT_ATTRIBUTES
};

/* BATCH_MATMUL: a [B,G,M,C], b [B,G,C,K] or, with TRANSPOSE_B, [B,G,K,C]; both are
 * activations. out [B,G,M,K] = clamp(scale(sum (a-a_zero)(b-b_zero)) + output_zero). */
enum {
  SLUICE_MATMUL_TRANSPOSE_B = 0,
  SLUICE_MATMUL_A_ZERO,
  SLUICE_MATMUL_B_ZERO,
  SLUICE_MATMUL_OUTPUT_ZERO,
  SLUICE_MATMUL_MULTIPLIER,
  SLUICE_MATMUL_SHIFT,
  SLUICE_MATMUL_ACT_MIN,
  SLUICE_MATMUL_ACT_MAX,
  SLUICE_MATMUL_ATTRIBUTES
};

/* MAX_POOL, AVERAGE_POOL: one input [N,H,W,C], output [N,P,Q,C], same quantisation.
 * The average divides by the number of elements that are not padding, rounded to
 * nearest, ties away from zero. */
enum {
  SLUICE_POOL_WINDOW_H = 0,
  SLUICE_POOL_WINDOW_W,
  SLUICE_POOL_STRIDE_H,
  SLUICE_POOL_STRIDE_W,
  SLUICE_POOL_PAD_TOP,
  SLUICE_POOL_PAD_LEFT,
  SLUICE_POOL_PAD_BOTTOM,
  SLUICE_POOL_PAD_RIGHT,
  SLUICE_POOL_ACT_MIN,
  SLUICE_POOL_ACT_MAX,
  SLUICE_POOL_ATTRIBUTES,
  SLUICE_POOL_ERROR_ZERO = SLUICE_POOL_ATTRIBUTES, /* MAX_POOL_GRADIENT only */
  SLUICE_MAX_POOL_GRADIENT_ATTRIBUTES
};

/* MAX_POOL_GRADIENT: inputs: the error e [N,P,Q,C] of a MAX_POOL's output; its ifmap x
 * [N,H,W,C]. Output [N,H,W,C], dtype of e. Each window passes its error to its largest
 * element; of several, to the first in order of rows, then columns:
 *   out = clamp(sum of (e - error_zero) over the windows won + error_zero) */

/* ADD, SUB, MUL, MINIMUM, MAXIMUM: two inputs; an axis of extent 1 broadcasts.
 *   ADD, SUB  xi = scale((ini - zeroi) << left_shift, multiplieri, shifti)
 *             out = clamp(scale(x0 +- x1, out_multiplier, out_shift) + output_zero)
 *   MUL       out = clamp(scale((in0-zero0)*(in1-zero1), out_multiplier, out_shift)
 *                         + output_zero)
 *   MINIMUM, MAXIMUM  of the raw values, no attribute used
 * RELU_GRADIENT: two inputs, no broadcast; the error and what the ReLU gave.
 *   out = in1 > zero1 ? clamp(scale(in0 - zero0, out_multiplier, out_shift)
 *                             + output_zero) : output_zero */
enum {
  SLUICE_BINARY_LEFT_SHIFT = 0,
  SLUICE_BINARY_ZERO0,
  SLUICE_BINARY_MULTIPLIER0,
  SLUICE_BINARY_SHIFT0,
  SLUICE_BINARY_ZERO1,
  SLUICE_BINARY_MULTIPLIER1,
  SLUICE_BINARY_SHIFT1,
  SLUICE_BINARY_OUTPUT_ZERO,
  SLUICE_BINARY_OUT_MULTIPLIER,
  SLUICE_BINARY_OUT_SHIFT,
  SLUICE_BINARY_ACT_MIN,
  SLUICE_BINARY_ACT_MAX,
  SLUICE_BINARY_ATTRIBUTES
};

/* REQUANTIZE: out = clamp(scale(in - input_zero, multiplier, shift) + output_zero);
 * the dtype may change. */
enum {
  SLUICE_REQUANTIZE_INPUT_ZERO = 0,
  SLUICE_REQUANTIZE_MULTIPLIER,
  SLUICE_REQUANTIZE_SHIFT,
  SLUICE_REQUANTIZE_OUTPUT_ZERO,
  SLUICE_REQUANTIZE_ACT_MIN,
  SLUICE_REQUANTIZE_ACT_MAX,
  SLUICE_REQUANTIZE_ATTRIBUTES
};

/* HARD_SWISH, x * min(max(x + 3, 0), 6) / 6 in 16-bit integers: one input, 8-bit; the
 * output has its dtype. With x = in - input_zero, "sat" the nearest 16-bit number and
 * high(a, b) = sat(a * b / 2^15 rounded to nearest, ties upwards):
 *   h = x * 2^7
 *   r = h
 *   r = sat(r * 2^(gate_shift - 1))    if gate_shift > 0
 *   r = high(r, gate_multiplier)
 *   r = sat(r * 2)                     if gate_shift > 0
 *   r = r / 2^-gate_shift rounded to nearest, ties away from zero, if gate_shift < 0
 *   g = (r + 2^15) / 2 rounded down: the gate, 0 to 2^15 - 1
 *   y = g * high(h, multiplier) / 2^15 rounded towards zero
 *   out = y / 2^-shift rounded to nearest, ties away from zero, + output_zero, wrapped
 *         at 16 bits, then clamped to the dtype
 * Both zeros lie in the dtype's range, multipliers in 0 to 2^15 - 1, shift in -15 to 0,
 * gate_shift in -15 to 15. */
enum {
  SLUICE_HARD_SWISH_INPUT_ZERO = 0,
  SLUICE_HARD_SWISH_OUTPUT_ZERO,
  SLUICE_HARD_SWISH_MULTIPLIER,
  SLUICE_HARD_SWISH_SHIFT,
  SLUICE_HARD_SWISH_GATE_MULTIPLIER,
  SLUICE_HARD_SWISH_GATE_SHIFT,
  SLUICE_HARD_SWISH_ATTRIBUTES
};

/* PRELU: inputs ifmap, slopes; both 8-bit, as is the output, which has the ifmap's
 * extents. An axis of the slopes of extent 1 broadcasts. With x = in - input_zero:
 *   x >= 0  out = clamp(scale(x, multiplier, shift) + output_zero)
 *   x < 0   out = clamp(scale(x * (slope - slope_zero), slope_multiplier, slope_shift)
 *                       + output_zero) */
enum {
  SLUICE_PRELU_INPUT_ZERO = 0,
  SLUICE_PRELU_SLOPE_ZERO,
  SLUICE_PRELU_OUTPUT_ZERO,
  SLUICE_PRELU_MULTIPLIER,
  SLUICE_PRELU_SHIFT,
  SLUICE_PRELU_SLOPE_MULTIPLIER,
  SLUICE_PRELU_SLOPE_SHIFT,
  SLUICE_PRELU_ACT_MIN,
  SLUICE_PRELU_ACT_MAX,
  SLUICE_PRELU_ATTRIBUTES
};

/* LOOKUP: inputs ifmap (8-bit), table of 256 bytes. out = table[bits of in as uint8].
 */

/* SOFTMAX over axis 3; 8-bit in and out, output scale 1/256, output zero = smallest
 * value of the dtype. Optional second input: mask, uint8, broadcasting, 0 = the element
 * counts as minus infinity and yields the smallest value. With d = in - max(row):
 *   d < diff_min: 0, else exp of scale(d, multiplier, shift) in Q5.26, TFLite's fixed
 *   point softmax (12 integer bits of accumulation). */
enum {
  SLUICE_SOFTMAX_MULTIPLIER = 0,
  SLUICE_SOFTMAX_SHIFT,
  SLUICE_SOFTMAX_DIFF_MIN,
  SLUICE_SOFTMAX_ATTRIBUTES
};

/* LAYER_NORM, RMS_NORM over axis 3, whose extent C is at most 32768; 8-bit in, 8-bit
 * out. Inputs: ifmap [N,H,W,C]; parameters int32 [C,3] = (bias, multiplier, shift) of
 * each channel, the bias in 1/256 of an output step. Each row by itself, in 64-bit
 * integers: LAYER_NORM  d_i = C * in_i - sum of in;  RMS_NORM  d_i = C * (in_i -
 * input_zero) v = floor(sum of d_i^2 / C) + EPSILON    the variance in (C input
 * steps)^2 s = max(1, floor(sqrt(v * 2^16)));  r = floor(2^47 / s) z_i = d_i * r / 2^19
 * rounded to nearest, ties away from zero: the normalised value with 20 fraction bits,
 * |z_i| < 2^29 y_i = scale(z_i, multiplier_i, shift_i) + bias_i, in 1/256 of an output
 * step out_i = clamp(y_i / 2^8 rounded to nearest, ties away from zero, + output_zero)
 * y_i wraps at 32 bits. input_zero (RMS_NORM only) lies in the dtype's range and
 * EPSILON is not negative: d_i, v * 2^16 and d_i * r then stay below 2^24, 2^63 and
 * 2^48. */
enum {
  SLUICE_NORM_INPUT_ZERO = 0,
  SLUICE_NORM_EPSILON,
  SLUICE_NORM_OUTPUT_ZERO,
  SLUICE_NORM_ACT_MIN,
  SLUICE_NORM_ACT_MAX,
  SLUICE_NORM_ATTRIBUTES
};

/* REDUCE over the axes in the bit mask AXES (bit i = axis i); they stay as extent 1.
 * n elements each: KIND_MEAN and KIND_SUM: out = clamp(scale(sum - n * input_zero,
 * multiplier, shift) + output_zero), the 1/n of a mean is inside the multiplier;
 * KIND_MAX: the largest raw value. */
enum {
  SLUICE_REDUCE_AXES = 0,
  SLUICE_REDUCE_KIND,
  SLUICE_REDUCE_INPUT_ZERO,
  SLUICE_REDUCE_OUTPUT_ZERO,
  SLUICE_REDUCE_MULTIPLIER,
  SLUICE_REDUCE_SHIFT,
  SLUICE_REDUCE_ACT_MIN,
  SLUICE_REDUCE_ACT_MAX,
  SLUICE_REDUCE_ATTRIBUTES
};
enum { SLUICE_REDUCE_KIND_SUM = 0, SLUICE_REDUCE_KIND_MAX = 1 };

/* ARGMAX over axis 3, lowest index wins; output int32 or int64, extent 1 on axis 3. */

/* CONCAT of any number of inputs along one axis; all of one dtype and quantisation. */
enum { SLUICE_CONCAT_AXIS = 0, SLUICE_CONCAT_ATTRIBUTES };

/* SLICE: out[i] = in[begin + i], extents are the output's. SPLIT is several SLICEs. */
enum {
  SLUICE_SLICE_BEGIN_N = 0,
  SLUICE_SLICE_BEGIN_H,
  SLUICE_SLICE_BEGIN_W,
  SLUICE_SLICE_BEGIN_C,
  SLUICE_SLICE_ATTRIBUTES
};

/* PAD with VALUE: BEFORE elements in front of each axis; the rest behind follows from
 * the output's extents. */
enum {
  SLUICE_PAD_BEFORE_N = 0,
  SLUICE_PAD_BEFORE_H,
  SLUICE_PAD_BEFORE_W,
  SLUICE_PAD_BEFORE_C,
  SLUICE_PAD_VALUE,
  SLUICE_PAD_ATTRIBUTES
};

/* RESHAPE: same bytes, other extents. No attribute. */

/* TRANSPOSE: output axis i is input axis PERMi (of the four normalised axes). */
enum {
  SLUICE_TRANSPOSE_PERM0 = 0,
  SLUICE_TRANSPOSE_PERM1,
  SLUICE_TRANSPOSE_PERM2,
  SLUICE_TRANSPOSE_PERM3,
  SLUICE_TRANSPOSE_ATTRIBUTES
};

/* GATHER: inputs table [V,C], indices int32; out [..., C] row i = table[index i]. */

/* RESIZE_BILINEAR, RESIZE_NEAREST of H and W. With in, out the extents of the axis:
 *   step = ((in << 10) + out/2) / out; with align_corners and out > 1:
 *          (((in-1) << 10) + (out-1)/2) / (out-1)
 *   position of output i in 1/1024: step * i, with half_pixel_centers: step*i + step/2
 *          - 512
 *   bilinear: lower = max(0, position >> 10), upper = min(lower + 1, in - 1), weights
 *          from max(0, position) - 1024 * lower; the sum of four products (each
 * fraction in 1/1024) is divided by 2^20, rounded to nearest, ties away from zero
 *          (TFLite's integer kernel)
 *   nearest: min(max(0, position >> 10), in - 1), of position + 512 when ALIGN_CORNERS
 *          or HALF_PIXEL_CENTERS
 * A tile's input holds the rows and columns [lower of its first output, upper of its
 * last], lower at most in - 1, for both. */
enum {
  SLUICE_RESIZE_ALIGN_CORNERS = 0,
  SLUICE_RESIZE_HALF_PIXEL_CENTERS,
  SLUICE_RESIZE_ATTRIBUTES
};

/* STATE_APPEND: inputs state and rows, which may be shorter along AXIS. Writes the rows
 * into the state, the first at the position along AXIS that is the value of parameter
 * PARAMETER; the output is the state tensor itself. Layers behind it that read the
 * state (or views of it) see the new rows, layers in front of it the old ones. A state
 * tensor is appended to at most once in a graph and written by no other layer. The
 * parameter's range must keep the rows inside the state. */
enum { SLUICE_APPEND_AXIS = 0, SLUICE_APPEND_PARAMETER, SLUICE_APPEND_ATTRIBUTES };

/* OPAQUE: executed by the host on whole tensors in DRAM; takes CYCLES (64 bits in two
 * halves). NAME indexes the graph's names. */
enum {
  SLUICE_OPAQUE_CYCLES_LO = 0,
  SLUICE_OPAQUE_CYCLES_HI,
  SLUICE_OPAQUE_NAME,
  SLUICE_OPAQUE_ATTRIBUTES
};

/* Seeded bytes (constants with source "seeded", inputs of simulated runs): the
 * SplitMix64 sequence of the seed, eight bytes per number, little-endian: state +=
 * 0x9e3779b97f4a7c15; z = state; z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9; z = (z ^ z >>
 * 27) * 0x94d049bb133111eb; number = z ^ z >> 31 Input i (counting input tensors) of a
 * run with seed s has seed s * 256 + i. An int32 input that feeds GATHER's indices
 * holds (number >> 32) % rows of the table instead. */

/* Work of one output box, which bounds a tile's cycles from below:
 *   MACs        conv family and matmul: outputs * R * S * input channels summed over;
 *               weight_gradient: outputs * rows summed over * Q
 *   vector ops  everything else that computes: outputs * elements each output reads
 *               (pool: window; binary, prelu: 2; softmax, hard_swish, norms, argmax, lookup, pad,
 *               transpose, requantize: 1; resize: 4; reduce: inputs of the box);
 *               max_pool_gradient: errors the box takes * window
 * CONCAT, SLICE, RESHAPE, GATHER and STATE_APPEND are moved by the DMA and do none. */

#endif /* SLUICE_OPS_H_ */
