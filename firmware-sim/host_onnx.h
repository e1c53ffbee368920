// SPDX-License-Identifier: Apache-2.0
// Operators of ONNX on floats, for OPAQUE layers named "onnx.OPERATOR": those between a
// DequantizeLinear and the next QuantizeLinear of a quantised model that no compute
// unit has.
//
// Input    floats are int32 tensors that hold their bits, in ONNX's order of axes. The last
//          input is int32 "options": integers, and the bits of float attributes. A shape is
//          its rank (at most 8) and its extents
// Output   dense bytes of the layer's outputs
// Errors   a sentence: operands of other types or extents
// Cost     the operator's work
// Source   ONNX's operator definitions. Sums are computed in double and rounded once
//
//   onnx.QuantizeLinear, onnx.DequantizeLinear    x; scales; zero points int32; {channels,
//       inner}: element i has scale i / inner % channels
//   onnx.DynamicQuantizeLinear    x; {}. Outputs: uint8; scale; zero point uint8; or both as int8,
//       128 less
//   onnx.CastToInt32    x; {}: without its fraction; the least int32 for what has none
//   onnx.RoundToSteps    x; {scale, least, most}: the nearest number of steps, ties to even
//   onnx.Pick    one or several operands of one type; {for each element of the output its
//       place in the operands, one behind the other, or -1; what stands for -1}
//   onnx.Abs ... onnx.Tanh    x; {alpha, beta, gamma}; of onnx.Shrink: {bias, lambd, 0}
//   onnx.Add, Sub, Mul, Div, Mod, Pow, Min, Max, PRelu    a; b; {shape of the output, then of a
//       and of b with ones in front}. onnx.Where: condition uint8, a, b; one more shape
//   onnx.ReduceMean, Sum, Max, Min, L1, L2, Prod, SumSquare, LogSum, LogSumExp    x;
//       {shape, mask of axes}
//   onnx.Softmax, onnx.LogSoftmax    x; {outer, row, inner}
//   onnx.LayerNormalization    x; scale; bias; {rows, row, period, epsilon}: with period 0
//       element i of a row has scale i, else row r has scale r % period
//   onnx.RMSNormalization    x; scale; bias; the same options
//   onnx.BatchNormalization    x; scale; bias; mean; variance; {outer, channels, inner,
//       epsilon}
//   onnx.LRN    x; {outer, channels, inner, size, alpha, beta, bias}
//   onnx.MatMul, onnx.MatMulInteger    a; b; [zero points of a and b, int32]; {shape of the
//       output, of a and of b; ranks are equal}
//   onnx.Conv, onnx.ConvInteger    x; weight; bias or zero points of x and weight, int32;
//       see ConvOptionsOfOnnx
//   onnx.SplitSteps    x; {scale, zero point, whether stored with sign, shape, order of axes}.
//       Outputs: high byte, low byte of the 16-bit numbers, axes in that order; bytes without
//       sign are uint8, or int8 and 128 less
//   onnx.SplitFloats    x; {batch, rows, inner, the first part of each output but the last,
//       shape, order of axes}. The inner floats of a row, axes in that order, are a scale times
//       the sum of three int8 numbers, times 1, 2^-8 and 2^-16. Outputs: some of the three parts,
//       [batch, parts, rows, inner], once or more; scales [batch, rows]
//   onnx.ScaleSums    int32 sums [batch, parts, rows, columns], one or several; scales of rows;
//       scales of columns; a bias for each column, or one; {batch, rows, columns, whether columns
//       come before rows, whether batches are added up, kind of the rows' scales and of the
//       columns' (bit 0: for each batch, bit 1: for each row or column), factor, weight of each
//       operand}: floats; the sums of part p count 2^-8p
//   onnx.LessZeroPoint    int32 sums [N,P,Q,K], one or several; zero point; sums of the weight
//       [K,R,S]; the options of onnx.Conv: less the zero point times what lies inside, [N,K,P,Q]
//   onnx.LessZeroPoints    int32 sums [batch,m,n]; a [batch,m,k]; b [batch,k,n]; zero points
//       of both; {batch, m, k, n}: less what the zero points add
//   onnx.AveragePool, onnx.MaxPool    x; {planes, of rows and of columns: in, out, window,
//       stride, dilation, pad in front; whether padding counts}
//   onnx.MaxPoolIndices    x; the options of onnx.MaxPool: int32, -1 for padding alone
//   onnx.MaxUnpool    x; int32 places in the output, which is 0 elsewhere; {0}
//   onnx.RoiAlign    x [N,C,H,W]; corners [R,4]; int32 pictures [R]; {N, C, H, W, R, P, Q, samples
//       along an axis or 0, scale, half pixel, maxima}: [R,C,P,Q]
//   onnx.Resize    x; {planes, rows in and out, columns in and out, 0 nearest, 1 linear or 2
//       cubic, positions, nearest, scales of rows and columns, of cubic its coefficient and
//       whether pixels outside are left out}; positions and nearest in the order of ONNX's list
//   onnx.GridSample    x [N,C,H,W]; grid [N,P,Q,2]; {N, C, H, W, P, Q, linear, border (else
//       zeros), align corners}
//   onnx.ConvTranspose    x; weight; bias; {N, C, K, groups, rows and columns as pools}
//   onnx.QLinearSoftmax    x int8 or uint8; {outer, row, inner, scale of x, scale and zero
//       point of the output}, by onnxruntime's table of exponentials
//   onnx.LSTM, onnx.GRU, onnx.RNN    x [T,B,I]; w; r; b; initial state; (LSTM) initial cell;
//       {T, B, I, H, directions, first direction backwards, linear before reset}
//   onnx.LSTMStep    numbers of the gates from the input [T,B,4H] and from the state [B,4H];
//       cell [B,H]; peepholes [3H], or one number for none; {T, B, H, step, functions f, g, h (0
//       sigmoid, 1 tanh, 2 relu, 3 hard sigmoid, 4 softsign), clip or 0}. Outputs: state; cell
//   onnx.GRUStep    numbers of the gates [T,B,3H] and [B,3H]; state; {T, B, H, step, f, g,
//       clip}
//   onnx.GRUReset    numbers [T,B,3H] and [B,2H]; state; the same. Outputs: update gate; reset
//       state
//   onnx.GRUOutput    numbers [T,B,3H] and [B,H]; update gate; state; the same
//   onnx.RNNStep    numbers [T,B,H] and [B,H]; state; {T, B, H, step, f, clip}
//   onnx.WithinLength    the state behind a step and in front of it, both [B,H]; lengths of the
//       sequences [B], int32; {B, H, step}. Outputs: the state, which a sequence that has ended
//       keeps; of a state that is an output also what it shows, zeros where it has ended
#ifndef SLUICE_FIRMWARE_SIM_HOST_ONNX_H_
#define SLUICE_FIRMWARE_SIM_HOST_ONNX_H_

#include <map>
#include <string>
#include <vector>

#include "host_functions.h"

namespace sluice_sim {

// nullptr: no ONNX function has that name.
const HostFunction* FindOnnxFunction(const std::string& name);

using OnnxRows = std::map<std::string, HostFunction>;
void AddOnnxElementwise(OnnxRows* rows);
void AddOnnxRows(OnnxRows* rows);
void AddOnnxProducts(OnnxRows* rows);
void AddOnnxSums(OnnxRows* rows);
void AddOnnxRecurrent(OnnxRows* rows);
void AddOnnxImages(OnnxRows* rows);
void AddOnnxRegions(OnnxRows* rows);

// Options of onnx.Conv and onnx.ConvInteger; extents of ONNX's N C H W.
enum ConvOptionsOfOnnx {
  kOnnxN,
  kOnnxC,
  kOnnxH,
  kOnnxW,
  kOnnxK,
  kOnnxP,
  kOnnxQ,
  kOnnxR,
  kOnnxS,
  kOnnxGroups,
  kOnnxStrideH,
  kOnnxStrideW,
  kOnnxDilationH,
  kOnnxDilationW,
  kOnnxPadTop,
  kOnnxPadLeft,
  kOnnxConvOptions
};

class OnnxOptions;
// What they say; not checked against operands.
struct OnnxWindow {
  int64_t n, c, h, w, k, p, q, r, s, groups, stride_h, stride_w, dilation_h, dilation_w,
      pad_top, pad_left;
};
OnnxWindow OnnxWindowOf(OnnxOptions* options);
// Of sums for each place of the window [R,S]: those of the places that lie inside the input, for
// the result in row p and column q.
int64_t OnnxInside(const OnnxWindow& w, const int32_t* sums, int64_t p, int64_t q);

constexpr char kOnnxOperands[] = "operands of another number, type or extent";

// Reads options one by one; once there are none left or one is out of range, bad() holds.
class OnnxOptions {
 public:
  explicit OnnxOptions(const HostOperands& in);
  int64_t Int(int64_t least = 0, int64_t most = INT32_MAX);
  float Float();
  // Rank and extents, each at least 1.
  std::vector<int64_t> Shape();
  bool bad() const { return bad_; }
  bool Ended() const { return !bad_ && at_ == count_; }

 private:
  int32_t Next();

  const int32_t* numbers_ = nullptr;
  int64_t at_ = 0, count_ = 0;
  bool bad_ = false;
};

// 1 / (1 + e^-x), the hyperbolic tangent and the error function.
float OnnxLogistic(float x);
float OnnxTanh(float x);
float OnnxErf(float x);

// Whether operand i is int32 with `count` elements (floats are stored as their bits).
bool IsFloats(const HostOperands& operands, size_t i, int64_t count);
int64_t Elements(const std::vector<int64_t>& shape);
// 8-bit or int32 elements, widened.
std::vector<int64_t> Widened(const HostOperand& operand);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_HOST_ONNX_H_
