// SPDX-License-Identifier: Apache-2.0
// Functions of OPAQUE layers of imported models: operators that no compute unit has,
// computed as by the TensorFlow Lite reference kernels.
//
// Input    the layer's name and whole operands; the last input of each function is int32
//          "options", in the order of its enum below
// Output   dense bytes of the layer's outputs
// Errors   a sentence: unknown function, or operands of wrong types or extents
// Cost     the operator's work
// Source   the arithmetic of the reference kernels, written from its description.
//          16-bit products are scaled by 64-bit arithmetic: (x * ((m + 2^15) >> 16) +
//          2^(14 - s)) >> (15 - s)
#ifndef SLUICE_FIRMWARE_SIM_HOST_FUNCTIONS_H_
#define SLUICE_FIRMWARE_SIM_HOST_FUNCTIONS_H_

#include <string>
#include <vector>

#include "sim.h"

namespace sluice_sim {

using HostOperands = std::vector<HostOperand>;

// nullptr: no host function has that name.
const HostFunction* FindHostFunction(const std::string& name);

// "conv_int16", "depthwise_conv_int16", "transposed_conv_int16", "fully_connected_int16":
// ifmap int16; weight int8 as ops.h has it; bias int64 [K]; scales int32 [K,2] (multiplier,
// shift). With 32 BIAS_BITS sums wrap at 32 bits and are scaled as scale() does; those of
// fully_connected_int16 are scaled in double and rounded once.
enum ConvOption {
  kStrideH,
  kStrideW,
  kDilationH,
  kDilationW,
  kPadTop,
  kPadLeft,
  kGroups,
  kWeightZero,
  kActMin,
  kActMax,
  kBiasBits,
  kConvOptions
};

// "split_int16": int16. Outputs: the high bytes, int8, and the low ones, uint8, or int8 and 128
// less.
// "scale_sums_int16": sums of the high and of the low bytes, int32 [..,K]; bias int64 [K]; scales
// int32 [K,2]: what a product of the above makes of them, int16; ONCE: rounded once.
enum SumOption { kSumMin, kSumMax, kSumBiasBits, kSumOnce, kSumOptions };

// "quantise_rows": floats; {rows, inner, whether with a zero point}. Outputs: int8 [rows,inner],
// each row by its range as TensorFlow Lite's kernels do it; scales, floats; zero points, int32.
// "scale_rows": int32 sums [N,P,Q,K] of such rows (images) and a weight without zero point; their
// scales and zero points [N]; sums of the weight [K,R,S]; scales of the weight [K], or one; bias,
// floats [K]; {the options of onnx.Conv, whether sums are scaled by the product of both scales
// instead of by one after the other, whether of a transposed convolution, least and largest
// result}: floats.

// "softmax_int16": ifmap 8-bit, ofmap int16, by the fixed point of SOFTMAX in ops.h.
enum SoftmaxOption { kMultiplier, kShift, kDiffMin, kSoftmaxOptions };

// "svdf_state": scaled sums of the features int32 [B,F]; state int16 [B,M,F]. Outputs: the next
// state; its high bytes, int8; its low ones, uint8.
enum SvdfStateOption { kSvdfFilters, kSvdfMemory, kSvdfStateOptions };

// "svdf_output": sums over time int32 [B,F], of high by high bytes, high of the state by low of
// the weights, low by high, low by low; bias int32 [F/RANK]: int8 [B,F/RANK].
enum SvdfOutputOption {
  kSvdfRank,
  kSvdfTimeMultiplier,
  kSvdfTimeShift,
  kSvdfOutputZero,
  kSvdfOutputOptions
};

// "detection": boxes, class scores and anchors, uint8; options, of which reals are the bits
// of floats. Outputs, int32 that are bits of floats: boxes [MOST,4] (top, left, bottom,
// right), classes, scores, how many. Where there are fewer boxes, zeros follow.
enum DetectionOption {
  kMaxDetections,
  kClasses,
  kScoreThreshold,
  kOverlapThreshold,
  kScaleY,
  kScaleX,
  kScaleH,
  kScaleW,
  kBoxScale,
  kBoxZero,
  kClassScale,
  kClassZero,
  kAnchorScale,
  kAnchorZero,
  kDetectionOptions
};

// "lstm_int8": ifmap int8 [..,I]; weights int8 of the input's gates [C,I] and of the
// state's [C,C], each for input, forget, cell and output gate; their biases int32 [C]; state
// int8 [B,C]; cell int16 [B,C] in steps of 2^CELL_SHIFT. Outputs: int8 [..,C]; next state;
// next cell. SCALES: of each gate multiplier and shift of its input's sum and its state's.
enum LstmOption {
  kLstmScales = 0,
  kLstmHiddenMultiplier = 16,
  kLstmHiddenShift,
  kLstmCellShift,
  kLstmCellClip,
  kLstmTimeMajor,
  kLstmInputZero,
  kLstmStateZero,
  kLstmCoupled,  // not 0: the input gate is 1 minus the forget gate
  kLstmOptions
};

// "lstm_step_int8": numbers of the gates [..,GATES*C] from all inputs and from the state, int32 in
// steps of 2^-12 (in the order of lstm_int8; a coupled input gate has none); cell int16 [B,C];
// peepholes int16 [3C] of the input, forget and output gate; weights int16 and biases int32 [4C]
// of the layer normalisation; each of these three may be one number instead: there are none.
// Outputs: hidden state int8 [B,C]; next cell. NORM: of each gate multiplier, shift and the
// variance that stands for less than 1.
enum LstmStepOption {
  kStepSteps,
  kStepBatch,
  kStepCells,
  kStepIndex,
  kStepTimeMajor,
  kStepCoupled,
  kStepCellShift,
  kStepCellClip,
  kStepHidden,  // multiplier, shift, zero point
  kStepPeephole = kStepHidden + 3,
  kStepNorm = kStepPeephole + 6,
  kStepOptions = kStepNorm + 12
};

std::string ConvInt16(const HostOperands& in, const HostOperands& out);
std::string DepthwiseConvInt16(const HostOperands& in, const HostOperands& out);
std::string TransposedConvInt16(const HostOperands& in, const HostOperands& out);
std::string FullyConnectedInt16(const HostOperands& in, const HostOperands& out);
std::string SplitInt16(const HostOperands& in, const HostOperands& out);
std::string ScaleSumsInt16(const HostOperands& in, const HostOperands& out);
std::string QuantiseRows(const HostOperands& in, const HostOperands& out);
std::string ScaleRows(const HostOperands& in, const HostOperands& out);
std::string SoftmaxInt16(const HostOperands& in, const HostOperands& out);
std::string SvdfState(const HostOperands& in, const HostOperands& out);
std::string SvdfOutput(const HostOperands& in, const HostOperands& out);
std::string LstmInt8(const HostOperands& in, const HostOperands& out);
std::string LstmStepInt8(const HostOperands& in, const HostOperands& out);
std::string Detection(const HostOperands& in, const HostOperands& out);

// Elements of an operand; the caller has checked the type.
template <typename T>
const T* ElementsOf(const HostOperand& operand) {
  return reinterpret_cast<const T*>(operand.bytes->data());
}
template <typename T>
T* ResultOf(const HostOperand& operand) {
  return reinterpret_cast<T*>(operand.bytes->data());
}
int64_t CountOf(const HostOperand& operand);
// HasTypes: whether the operands have these dtypes. HasOptions: whether the last
// operand holds `count` options.
bool HasTypes(const HostOperands& operands, const std::vector<int>& dtypes);
bool HasOptions(const HostOperands& in, int64_t count);

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_HOST_FUNCTIONS_H_
