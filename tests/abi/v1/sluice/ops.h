/* SPDX-License-Identifier: Apache-2.0 */
/* Operators: their names, inputs, attributes and exact integer meaning. C99.
 *
 * Graph writers (importers), the scheduler, both judges and firmware share this contract.
 * All arithmetic is integer: whoever writes the graph turns each scale into a pair
 * (multiplier, shift).
 *
 * Tensors are row-major, NHWC, with at most four axes. A tensor of lower rank is read as
 * if ones stood in front of its extents: [M, C] is [1, 1, M, C]. Axes 0 1 2 3 are N H W C.
 * "8-bit" means int8 or uint8. A tensor of which no dtype is said may have any.
 *
 *   scale(x, m, s)       x * m * 2^s / 2^31, rounded twice, as TFLite does:
 *                          l = max(s, 0)
 *                          r = max(-s, 0)
 *                          y = (x << l) * m / 2^31, to nearest, ties upwards; x << l wraps
 *                              at 32 bits; y saturates where both factors are -2^31
 *                          result = y / 2^r, to nearest, ties away from zero
 *   scale_once(x, m, s)  x * m * 2^s / 2^31, s <= 30, rounded once: to nearest, ties away
 *                        from zero
 *   clamp(x)             min(max(x, ACT_MIN), ACT_MAX)
 *
 * Sums and products wrap at 32 bits where nothing else is said. Names in lower case
 * (input_zero) are attributes of the operator's enum (..._INPUT_ZERO). Zero points are in
 * steps of their tensor, ACT_MIN and ACT_MAX in steps of the output.
 *
 * Attributes are int32. A layer has one list of them, in the order of its operator's enum.
 * A list may be shorter than the enum: the missing tail is zero. */
#ifndef SLUICE_OPS_H_
#define SLUICE_OPS_H_

#include <stdint.h>

/* Every operator: X(constant, code, name). Codes are wire values: append only. */
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

enum { /* SLUICE_OP_CONV = 1, ...: the operator of a layer */
#define SLUICE_OP_ENUM(constant, code, name) SLUICE_OP_##constant = code,
  SLUICE_OPS(SLUICE_OP_ENUM)
#undef SLUICE_OP_ENUM
      SLUICE_OP_COUNT = 35 /* one past the last code */
};

/* Every element type: X(constant, code, bytes of an element, name). Append only. */
#define SLUICE_DTYPES(X)  \
  X(INT8, 1, 1, "int8")   \
  X(UINT8, 2, 1, "uint8") \
  X(INT16, 3, 2, "int16") \
  X(INT32, 4, 4, "int32") \
  X(INT64, 5, 8, "int64")

enum { /* SLUICE_DTYPE_INT8 = 1, ...: the element type of a tensor */
#define SLUICE_DTYPE_ENUM(constant, code, bytes, name) SLUICE_DTYPE_##constant = code,
  SLUICE_DTYPES(SLUICE_DTYPE_ENUM)
#undef SLUICE_DTYPE_ENUM
      SLUICE_DTYPE_COUNT = 6 /* one past the last code */
};

/* CONV, DEPTHWISE_CONV, TRANSPOSED_CONV, FULLY_CONNECTED.
 *
 * Inputs   ifmap [N,H,W,C], 8-bit
 *          weight, 8-bit, shape below
 *          parameters int32 [K,3]: (bias, multiplier, shift) of each output channel
 * Output   [N,P,Q,K]
 *
 *   acc[k] = sum of (ifmap - input_zero) * (weight - weight_zero); padding adds 0
 *   out[k] = clamp(scale(acc[k] + bias[k], multiplier[k], shift[k]) + output_zero)
 *   With ROUNDING = 1, scale_once stands in place of scale (TFLite's FULLY_CONNECTED).
 *
 *   CONV             weight [K,R,S,C/groups]. Channel k belongs to group k / (K/groups).
 *                    Sums over r, s and the channels of k's group:
 *                      out[n,p,q,k] reads ifmap[n, p*stride_h + r*dilation_h - pad_top,
 *                                                  q*stride_w + s*dilation_w - pad_left, c]
 *   DEPTHWISE_CONV   weight [1,R,S,K], K a multiple of C. Channel k reads input channel
 *                    k / (K/C) alone. groups is 0.
 *   TRANSPOSED_CONV  weight [K,R,S,C]. Input row i is added to output rows
 *                    i*stride_h - pad_top + r, r in [0, R); columns alike. No dilation, no
 *                    groups. H and W are what a CONV with this window, stride and pads
 *                    makes of P and Q. WEIGHT_LAYOUT names other shapes of the weight,
 *                    with which this is the gradient of a convolution's input.
 *   FULLY_CONNECTED  weight [K,C] (rank 2). Every axis of the ifmap but the last counts
 *                    rows; strides, dilations, pads and groups are 0.
 *
 * Strides and dilations are in elements; 0 means 1. Pads are in elements, each smaller than
 * the dilated window. groups 0 means 1. */
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
/* WEIGHT_LAYOUT of TRANSPOSED_CONV. */
enum {
  SLUICE_WEIGHT_LAYOUT_OWN = 0,      /* [K,R,S,C] */
  SLUICE_WEIGHT_LAYOUT_CONV = 1,     /* [C,R,S,K], as a CONV from K to C channels has it */
  SLUICE_WEIGHT_LAYOUT_DEPTHWISE = 2 /* [1,R,S,K], K = C: channel k reads channel k */
};

/* WEIGHT_GRADIENT: the gradient of a convolution's weight.
 *
 * Inputs   x, the convolution's ifmap [N,H,W,C]; e, the error of its output [N,P,Q,K];
 *          both 8-bit activations
 * Output   [K,R,S,C/groups], 8-bit; channel k belongs to group g = k / (K/groups)
 *
 *   acc[k,r,s,c] = sum over n, p, q of
 *       (x[n, p*stride_h + r*dilation_h - pad_top,
 *             q*stride_w + s*dilation_w - pad_left, g*(C/groups) + c] - input_zero)
 *       * (e[n,p,q,k] - error_zero); padding adds 0
 *   out = clamp(scale(acc, multiplier, shift) + output_zero)
 *
 * For a DEPTHWISE_CONV, groups = C. For a FULLY_CONNECTED, x is [M,1,1,C], e [M,1,1,K].
 * A tile may sum over a part of the N*P rows of e ("C" in stream.h), counted n*P + p: over
 * rows of one image, or over whole images.
 * Attributes: the first 14 of CONV, with error_zero in the place of WEIGHT_ZERO, then
 * these. */
enum {
  SLUICE_WEIGHT_GRADIENT_ERROR_ZERO = SLUICE_CONV_WEIGHT_ZERO,
  SLUICE_WEIGHT_GRADIENT_MULTIPLIER = SLUICE_CONV_ACT_MAX + 1,
  SLUICE_WEIGHT_GRADIENT_SHIFT,
  SLUICE_WEIGHT_GRADIENT_ATTRIBUTES
};

/* BATCH_MATMUL.
 *
 * Inputs   a [B,G,M,C]; b [B,G,C,K], with TRANSPOSE_B = 1 [B,G,K,C]; both 8-bit activations
 * Output   [B,G,M,K]
 *
 *   acc = sum over c of (a - a_zero) * (b - b_zero)
 *   out = clamp(scale(acc, multiplier, shift) + output_zero) */
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

/* MAX_POOL, AVERAGE_POOL.
 *
 * Inputs   ifmap [N,H,W,C]
 * Output   [N,P,Q,C], dtype and quantisation of the ifmap
 *
 *   out = clamp(the largest element of the window)                    MAX_POOL
 *   out = clamp(sum of the elements / their number), to nearest,      AVERAGE_POOL
 *         ties away from zero
 *
 * Padding is no element. Windows, strides (0 means 1) and pads are in elements; each pad is
 * smaller than the window. */
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

/* MAX_POOL_GRADIENT.
 *
 * Inputs   e, the error of a MAX_POOL's output [N,P,Q,C]; x, its ifmap [N,H,W,C]; 8-bit
 * Output   [N,H,W,C], dtype of e
 *
 * Each window passes its error to its largest element of x: to the first of several, row by
 * row and in a row by column.
 *   out = clamp(sum over the windows won of (e - error_zero) + error_zero)
 * Attributes: those of MAX_POOL, then ERROR_ZERO. */

/* ADD, SUB, MUL, MINIMUM, MAXIMUM, RELU_GRADIENT: two inputs, in0 and in1.
 *
 * An axis of extent 1 broadcasts, and in0 and in1 have one dtype (neither holds for
 * RELU_GRADIENT). The output may have another dtype; of a raw value it holds the low bits.
 *   ADD, SUB          x0 = scale((in0 - zero0) << left_shift, multiplier0, shift0)
 *                     x1 = scale((in1 - zero1) << left_shift, multiplier1, shift1)
 *                     out = clamp(scale(x0 + x1, out_multiplier, out_shift) + output_zero)
 *                     SUB: x0 - x1
 *   MUL               out = clamp(scale((in0 - zero0) * (in1 - zero1),
 *                                       out_multiplier, out_shift) + output_zero)
 *   MINIMUM, MAXIMUM  out = the smaller or larger raw value; no attribute is used
 *   RELU_GRADIENT     in0 is the error, in1 the output of the ReLU:
 *                     out = clamp(scale(in0 - zero0, out_multiplier, out_shift)
 *                                 + output_zero)   where in1 > zero1
 *                     out = output_zero             elsewhere */
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

/* REQUANTIZE: one input; the output has its extents and may have another dtype.
 *   out = clamp(scale(in - input_zero, multiplier, shift) + output_zero) */
enum {
  SLUICE_REQUANTIZE_INPUT_ZERO = 0,
  SLUICE_REQUANTIZE_MULTIPLIER,
  SLUICE_REQUANTIZE_SHIFT,
  SLUICE_REQUANTIZE_OUTPUT_ZERO,
  SLUICE_REQUANTIZE_ACT_MIN,
  SLUICE_REQUANTIZE_ACT_MAX,
  SLUICE_REQUANTIZE_ATTRIBUTES
};

/* HARD_SWISH: x * min(max(x + 3, 0), 6) / 6, in 16-bit integers.
 *
 * Inputs   ifmap, 8-bit
 * Output   extents and dtype of the ifmap
 *
 * With sat(v): the 16-bit number nearest to v, and high(a, b) = sat(a * b / 2^15), to
 * nearest, ties upwards:
 *   h    = (in - input_zero) * 2^7
 *   r    = sat(h * 2^(gate_shift - 1))    where gate_shift > 0, else h
 *   r    = high(r, gate_multiplier)
 *   r    = sat(r * 2)                     where gate_shift > 0
 *   r    = r / 2^-gate_shift              where gate_shift < 0; to nearest, ties away from
 *                                         zero
 *   gate = (r + 2^15) / 2, rounded down: 0 to 2^15 - 1
 *   y    = gate * high(h, multiplier) / 2^15, rounded towards zero
 *   v    = y / 2^-shift, to nearest, ties away from zero, + output_zero, wrapped at 16 bits
 *   out  = v, at least the smallest and at most the largest value of the dtype
 * Both zeros lie in the dtype's range, both multipliers in 0 to 2^15 - 1, shift in -15 to 0,
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

/* PRELU.
 *
 * Inputs   ifmap, 8-bit; slopes, 8-bit, in which axes of extent 1 broadcast
 * Output   extents of the ifmap, 8-bit
 *
 * With x = in - input_zero:
 *   out = clamp(scale(x, multiplier, shift) + output_zero)            where x >= 0
 *   out = clamp(scale(x * (slope - slope_zero), slope_multiplier, slope_shift)
 *               + output_zero)                                        elsewhere */
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

/* LOOKUP: inputs ifmap (8-bit) and table (256 elements of 8 bits); the output is 8-bit. No
 * attribute.
 *   out = table[bits of in, read as uint8] */

/* SOFTMAX over axis 3.
 *
 * Inputs   ifmap, 8-bit; optional mask, uint8, in which axes of extent 1 broadcast: where it
 *          is 0, the element counts as minus infinity
 * Output   extents and dtype of the ifmap; scale 1/256; zero point = smallest of the dtype
 *
 * Per row, over the elements that are not masked and whose d >= diff_min (TFLite's fixed
 * point softmax; Qa.b has a integer and b fraction bits):
 *   d     = in - largest element of the row that is not masked
 *   e(d)  = exp(scale(d, multiplier, shift)), from Q5.26 to Q0.31
 *   sum   = sum of e(d) / 2^12 in Q12.19, each to nearest, ties away from zero
 *   1/sum = f / 2^b, f in Q0.31, by three Newton-Raphson steps
 *   p     = f * e(d) / 2^31, to nearest, ties upwards
 *   out   = smallest + p / 2^(b + 23), to nearest, ties away from zero; at most
 *           smallest + 255
 * All other elements give the smallest value of the dtype. */
enum {
  SLUICE_SOFTMAX_MULTIPLIER = 0,
  SLUICE_SOFTMAX_SHIFT,
  SLUICE_SOFTMAX_DIFF_MIN,
  SLUICE_SOFTMAX_ATTRIBUTES
};

/* LAYER_NORM, RMS_NORM over axis 3, whose extent C is at most 32768.
 *
 * Inputs   ifmap [N,H,W,C], 8-bit
 *          parameters int32 [C,3]: (bias, multiplier, shift) of each channel, the bias in
 *          1/256 of an output step
 * Output   [N,H,W,C], 8-bit
 *
 * Each row by itself, in 64-bit integers, for channels i:
 *   d[i] = C * in[i] - sum of in               LAYER_NORM
 *   d[i] = C * (in[i] - input_zero)            RMS_NORM
 *   v    = floor(sum of d[i]^2 / C) + epsilon  the variance, in squares of 1/C input step
 *   s    = max(1, floor(sqrt(v * 2^16)))
 *   r    = floor(2^47 / s)
 *   z[i] = d[i] * r / 2^19, to nearest, ties away from zero: the normalised value with 20
 *          fraction bits
 *   y[i] = scale(z[i], multiplier[i], shift[i]) + bias[i], in 1/256 of an output step;
 *          wraps at 32 bits
 *   out  = clamp(y[i] / 2^8 + output_zero), the quotient to nearest, ties away from zero
 *
 * input_zero (of RMS_NORM alone) lies in the dtype's range, epsilon is not negative.
 * So |d[i]| < 2^24, v * 2^16 < 2^63, |d[i] * r| < 2^48 and |z[i]| < 2^29. */
enum {
  SLUICE_NORM_INPUT_ZERO = 0,
  SLUICE_NORM_EPSILON,
  SLUICE_NORM_OUTPUT_ZERO,
  SLUICE_NORM_ACT_MIN,
  SLUICE_NORM_ACT_MAX,
  SLUICE_NORM_ATTRIBUTES
};

/* REDUCE: one input; the axes in the bit mask AXES (bit i = axis i) keep extent 1. Each
 * output element has n input elements:
 *   KIND_SUM  out = clamp(scale(sum of in - n * input_zero, multiplier, shift)
 *                         + output_zero); a mean has 1/n inside its multiplier
 *   KIND_MAX  out = the largest raw value */
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
enum { /* KIND of REDUCE */
  SLUICE_REDUCE_KIND_SUM = 0,
  SLUICE_REDUCE_KIND_MAX = 1
};

/* ARGMAX: one input; the output is int32 or int64 and has extent 1 on axis 3. No attribute.
 *   out = index along axis 3 of the largest element; of several, the lowest */

/* CONCAT: any number of inputs, one behind the other along AXIS; inputs and output have one
 * dtype and one quantisation. */
enum { SLUICE_CONCAT_AXIS = 0, SLUICE_CONCAT_ATTRIBUTES };

/* SLICE: out[i] = in[begin + i] on each axis; the output's extents say how many, its dtype is
 * the input's. A split is several SLICEs. */
enum {
  SLUICE_SLICE_BEGIN_N = 0,
  SLUICE_SLICE_BEGIN_H,
  SLUICE_SLICE_BEGIN_W,
  SLUICE_SLICE_BEGIN_C,
  SLUICE_SLICE_ATTRIBUTES
};

/* PAD: BEFORE elements of VALUE (raw) in front of the input on each axis; as many behind it
 * as the output's extents leave. At most 65535 on each side. The output has the input's
 * dtype. */
enum {
  SLUICE_PAD_BEFORE_N = 0,
  SLUICE_PAD_BEFORE_H,
  SLUICE_PAD_BEFORE_W,
  SLUICE_PAD_BEFORE_C,
  SLUICE_PAD_VALUE,
  SLUICE_PAD_ATTRIBUTES
};

/* RESHAPE: the same bytes with other extents and the same dtype. No attribute. */

/* TRANSPOSE: output axis i is input axis PERMi, of the four axes N H W C. One dtype. */
enum {
  SLUICE_TRANSPOSE_PERM0 = 0,
  SLUICE_TRANSPOSE_PERM1,
  SLUICE_TRANSPOSE_PERM2,
  SLUICE_TRANSPOSE_PERM3,
  SLUICE_TRANSPOSE_ATTRIBUTES
};

/* GATHER: inputs table [V,C] and indices, int32, each in [0, V); output [..., C], dtype of
 * the table. Row i of the output is row indices[i] of the table. No attribute. */

/* RESIZE_BILINEAR, RESIZE_NEAREST: one input [N,H,W,C], output [N,P,Q,C], one dtype. H and
 * W are resized, each by itself. With in and out the extents of the axis, all divisions
 * rounding down, for output element i:
 *   step     = (in * 1024 + out/2) / out
 *   step     = ((in - 1) * 1024 + (out - 1)/2) / (out - 1)   with ALIGN_CORNERS, out > 1
 *   position = step * i                                      in 1/1024 of an element
 *   position = step * i + step/2 - 512                       with HALF_PIXEL_CENTERS
 *
 *   RESIZE_NEAREST   takes element min(max(0, position / 1024), in - 1), with ALIGN_CORNERS
 *                    or HALF_PIXEL_CENTERS of position + 512
 *   RESIZE_BILINEAR  lower = min(max(0, position / 1024), in - 1)
 *                    upper = min(lower + 1, in - 1)
 *                    f     = max(0, position) - 1024 * lower
 *                    weighs lower with 1024 - f and upper with f; the sum of the four
 *                    products of rows and columns is divided by 2^20, to nearest, ties away
 *                    from zero (TFLite's integer kernel)
 *
 * The input of a tile, in both: rows (columns) from lower of its first output to upper of
 * its last. */
enum {
  SLUICE_RESIZE_ALIGN_CORNERS = 0,
  SLUICE_RESIZE_HALF_PIXEL_CENTERS,
  SLUICE_RESIZE_ATTRIBUTES
};

/* STATE_APPEND: writes rows into a state tensor, at a position that each run chooses.
 *
 * Inputs   the state; rows, of the state's dtype and extents, shorter or equal along AXIS
 * Output   the same state tensor
 *
 * PARAMETER is an index of the graph's parameters. Its value is the position along AXIS of
 * the first row; its whole range must keep the rows inside the state. Layers behind this
 * one that read the state, or views of it, see the new rows; layers in front of it see the
 * old ones. A graph appends to a state at most once and writes it in no other way. */
enum { SLUICE_APPEND_AXIS = 0, SLUICE_APPEND_PARAMETER, SLUICE_APPEND_ATTRIBUTES };

/* OPAQUE: the host computes this layer, on whole tensors in DRAM; any number of inputs and
 * outputs. CYCLES, 1 to 2^50, is its declared time (low word, high word). NAME is an index
 * of the graph's names. */
enum {
  SLUICE_OPAQUE_CYCLES_LO = 0,
  SLUICE_OPAQUE_CYCLES_HI,
  SLUICE_OPAQUE_NAME,
  SLUICE_OPAQUE_ATTRIBUTES
};

/* Seeded bytes: constants with source "seeded", and the inputs of simulated runs. They are
 * the SplitMix64 sequence of the seed, eight bytes per number, little-endian. Arithmetic is
 * modulo 2^64:
 *   state  = state + 0x9e3779b97f4a7c15, from state = seed
 *   z      = state
 *   z      = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
 *   z      = (z ^ (z >> 27)) * 0x94d049bb133111eb
 *   number = z ^ (z >> 31)
 * In a run with seed s, the i-th input tensor (from 0) has seed s * 256 + i. An int32 input
 * that is GATHER's indices holds (number >> 32) % V instead, one number per index, V being
 * the rows of the table. */

/* Work of one output box; a tile takes at least work / peak cycles.
 *   MACs        CONV, DEPTHWISE_CONV, TRANSPOSED_CONV, FULLY_CONNECTED, BATCH_MATMUL:
 *                 outputs * R * S * input channels that each output sums over
 *               WEIGHT_GRADIENT: outputs * rows of e summed over * Q
 *   vector ops  MAX_POOL, AVERAGE_POOL: outputs * elements of a window
 *               ADD, SUB, MUL, MINIMUM, MAXIMUM, PRELU, RELU_GRADIENT: outputs * 2
 *               REQUANTIZE, HARD_SWISH, LOOKUP, SOFTMAX, LAYER_NORM, RMS_NORM, PAD,
 *                 TRANSPOSE: outputs
 *               RESIZE_BILINEAR, RESIZE_NEAREST: outputs * 4
 *               REDUCE, ARGMAX: elements of the input's box
 *               MAX_POOL_GRADIENT: elements of the error's box * elements of a window
 * CONCAT, SLICE, RESHAPE, GATHER and STATE_APPEND do no work: the DMA moves them, or
 * nothing does. OPAQUE declares its cycles. */

#endif /* SLUICE_OPS_H_ */
