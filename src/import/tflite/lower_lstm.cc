// SPDX-License-Identifier: Apache-2.0
// UNIDIRECTIONAL_SEQUENCE_LSTM of int8 activations with a cell of 16 bits: an OPAQUE
// layer for the host, whose output and cell are states.
#include <algorithm>
#include <cmath>

#include "import/error.h"
#include "import/tflite/tflite_lowering.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using tflite::TensorType;

// Inputs of the operator.
constexpr size_t kInput = 0, kInputWeight = 1, kStateWeight = 5, kPeephole = 9,
                 kBias = 12, kProjection = 16, kState = 18, kCell = 19, kNorm = 20;
// The inputs of the gates' activation functions have 12 fraction bits.
constexpr float kGateScale = 1.0f / 4096;

bool Is(const TfliteTensor& tensor, TensorType type) {
  return static_cast<TensorType>(tensor.type) == type;
}

void RequireAbsent(const TfliteOperator& op, size_t first, size_t count,
                   const char* what) {
  for (size_t i = first; i < first + count; ++i) Require(!HasInput(op, i), what);
}

// Whether the input gate is 1 minus the forget gate: it then has no operands.
bool IsCoupled(const TfliteOperator& op) { return !HasInput(op, kInputWeight); }

// Operand `i` of a gate; a coupled input gate names those of the forget gate, which are
// not read.
size_t OperandAt(const TfliteOperator& op, size_t i) {
  const bool of_input_gate = i == kInputWeight || i == kStateWeight || i == kBias;
  return of_input_gate && IsCoupled(op) ? i + 1 : i;
}

void CheckOperands(const Lowering& to, const TfliteOperator& op) {
  if (IsCoupled(op)) {
    RequireAbsent(op, kStateWeight, 1, "half an input gate");
    RequireAbsent(op, kBias, 1, "half an input gate");
  }
  RequireAbsent(op, kPeephole, 3, "peepholes");
  RequireAbsent(op, kProjection, 2, "a projection");
  RequireAbsent(op, kNorm, 4, "layer normalisation");
  Require(Is(InputOf(to, op, kInput), TensorType::INT8) &&
              Is(OutputOf(to, op), TensorType::INT8) &&
              Is(InputOf(to, op, kState), TensorType::INT8) &&
              Is(InputOf(to, op, kCell), TensorType::INT16),
          "operands that are not int8 with a cell of int16");
  for (size_t i = kInputWeight; i < kPeephole; ++i) {
    const TfliteTensor& weight = InputOf(to, op, OperandAt(op, i));
    Require(Is(weight, TensorType::INT8) && weight.data != nullptr &&
                weight.shape.size() == 2 && AffineOf(weight).zero == 0,
            "weights that are not constant int8");
  }
  for (size_t i = kBias; i < kProjection; ++i) {
    const size_t at = OperandAt(op, i);
    Require(HasInput(op, at) && Is(InputOf(to, op, at), TensorType::INT32),
            "no bias of int32");
  }
}

// The exponent of a scale that is a power of two.
int32_t PowerOf(float scale) {
  int exponent = 0;
  Require(
      std::frexp(scale, &exponent) == 0.5f && exponent - 1 >= -15 && exponent - 1 <= -9,
      "a cell whose scale is not a power of two from 2^-15 to 2^-9");
  return exponent - 1;
}

void Append(std::vector<int32_t>* options, double factor_real) {
  const Factor factor = QuantiseFactor(factor_real);
  options->insert(options->end(), {factor.multiplier, factor.shift});
}

}  // namespace

void LowerLstm(Lowering* to, const TfliteOperator& op) {
  const auto* o = op.wire->builtin_options_as_SequenceLSTMOptions();
  Require(o != nullptr && o->activation() == tflite::Activation::TANH,
          "missing options, or another activation than tanh");
  CheckOperands(*to, op);
  const Affine input = AffineOf(InputOf(*to, op, kInput)),
               state = AffineOf(InputOf(*to, op, kState));
  const float cell_scale = AffineOf(InputOf(*to, op, kCell)).scale;
  std::vector<int32_t> options;
  // Products of scales are in float, as the kernel computes them.
  for (size_t gate = 0; gate < 4; ++gate) {
    const float from_input =
        AffineOf(InputOf(*to, op, OperandAt(op, kInputWeight + gate))).scale;
    const float from_state =
        AffineOf(InputOf(*to, op, OperandAt(op, kStateWeight + gate))).scale;
    Append(&options, static_cast<double>(input.scale * from_input / kGateScale));
    Append(&options, static_cast<double>(state.scale * from_state / kGateScale));
  }
  const double unit = 1.0 / 32768;
  Append(&options, static_cast<double>(static_cast<float>(
                       unit / static_cast<double>(state.scale) * unit)));
  const double clip =
      std::clamp(static_cast<double>(o->cell_clip()) / static_cast<double>(cell_scale),
                 0.0, 32767.0);
  options.insert(options.end(), {PowerOf(cell_scale), static_cast<int32_t>(clip),
                                 o->time_major() ? 1 : 0, input.zero, state.zero,
                                 IsCoupled(op) ? 1 : 0});
  std::vector<uint32_t> inputs = {InputTensor(to, op, kInput)};
  uint64_t weights = 0;
  for (size_t i = kInputWeight; i < kPeephole; ++i) {
    inputs.push_back(InputTensor(to, op, OperandAt(op, i)));
    weights += InputOf(*to, op, OperandAt(op, i)).data_bytes;
  }
  for (size_t i = kBias; i < kProjection; ++i) {
    inputs.push_back(InputTensor(to, op, OperandAt(op, i)));
  }
  const TfliteTensor& h = InputOf(*to, op, kState);
  const TfliteTensor& c = InputOf(*to, op, kCell);
  const uint32_t states[] = {Variable(to, op, kState), Variable(to, op, kCell)};
  const uint32_t next[] = {Temporary(to, h, "/next", DimsOf(h)),
                           Temporary(to, c, "/next", DimsOf(c))};
  inputs.insert(inputs.end(), {states[0], states[1]});
  inputs.push_back(to->graph.AddConstant(
      OutputOf(*to, op).name + "/options", SLUICE_DTYPE_INT32,
      {static_cast<int32_t>(options.size())}, options.data(), options.size() * 4));
  const Extents in = ExtentsOf(InputOf(*to, op, kInput));
  const uint64_t steps = static_cast<uint64_t>(in[0]) * static_cast<uint64_t>(in[1]) *
                         static_cast<uint64_t>(in[2]);
  AddHost(to, op, "lstm_int8", inputs, {OutputTensor(to, op), next[0], next[1]},
          steps * weights);
  SetNext(to, states[0], next[0]);
  SetNext(to, states[1], next[1]);
}

}  // namespace sluice::import
