// SPDX-License-Identifier: Apache-2.0
// UNIDIRECTIONAL_SEQUENCE_LSTM of int8 activations with a cell of 16 bits, whose output and
// cell are states. A unit multiplies all steps of the input by their weights at once, and each
// state by its own; the host computes the functions of the gates. Very long sequences are one
// OPAQUE layer for the host.
#include <algorithm>
#include <cmath>
#include <cstring>

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

// ---- the whole sequence as one function of the host

void OnHost(Lowering* to, const TfliteOperator& op) {
  const auto* o = op.wire->builtin_options_as_SequenceLSTMOptions();
  RequireAbsent(op, kPeephole, 3, "more than 1024 steps with peepholes");
  RequireAbsent(op, kProjection, 2, "more than 1024 steps with a projection");
  RequireAbsent(op, kNorm, 4, "more than 1024 steps with layer normalisation");
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

// ---- step by step, with the products on units

constexpr int32_t kMostSteps = 1024;

struct Sequence {
  int32_t steps, batch, inputs, cells, outputs;
  bool major, coupled, norms, peepholes;

  int32_t Gates() const { return coupled ? 3 : 4; }
};

// An intermediate tensor of the operator, which has no elements but a scale.
Affine Inside(const Lowering& to, const TfliteOperator& op, uint32_t i,
              const Affine& otherwise) {
  const auto* list = op.wire->intermediates();
  if (list == nullptr || i >= list->size()) return otherwise;
  const int32_t index = list->Get(i);
  if (index < 0 || static_cast<size_t>(index) >= to.model.tensors.size())
    return otherwise;
  const TfliteTensor& tensor = to.model.tensors[static_cast<size_t>(index)];
  return tensor.scales.empty() ? otherwise : AffineOf(tensor);
}

Sequence SequenceOf(const Lowering& to, const TfliteOperator& op, bool major) {
  Sequence s = {};
  const Extents in = ExtentsOf(InputOf(to, op, kInput));
  const Dims weight = DimsOf(InputOf(to, op, kInputWeight + 1)),
             recurrent = DimsOf(InputOf(to, op, kStateWeight + 1));
  Require(in[0] == 1, "an input of more than three axes");
  s.major = major;
  s.steps = major ? in[1] : in[2];
  s.batch = major ? in[2] : in[1];
  s.inputs = in[3];
  s.cells = weight[0];
  s.outputs = recurrent[1];
  s.coupled = IsCoupled(op);
  s.norms = HasInput(op, kNorm + 1);
  s.peepholes = HasInput(op, kPeephole + 1);
  return s;
}

bool HasCount(const Lowering& to, const TfliteOperator& op, size_t i, int64_t count) {
  int64_t elements = 1;
  for (const int32_t extent : InputOf(to, op, i).shape) elements *= extent;
  return elements == count;
}

bool HasBytes(const Lowering& to, const TfliteOperator& op, size_t i, size_t bytes,
              TensorType type) {
  return HasInput(op, i) && Is(InputOf(to, op, i), type) &&
         InputOf(to, op, i).data != nullptr && InputOf(to, op, i).data_bytes == bytes;
}

// Extents that the file gives, and which of the optional operands there are.
void CheckSequence(const Lowering& to, const TfliteOperator& op, const Sequence& s) {
  const bool partly =
      !s.peepholes && (HasInput(op, kPeephole) || HasInput(op, kPeephole + 2));
  Require(!partly, "a peephole of some gates alone");
  const size_t cells = static_cast<size_t>(s.cells),
               inputs = static_cast<size_t>(s.inputs),
               outputs = static_cast<size_t>(s.outputs);
  for (size_t g = s.coupled ? 1 : 0; g < 4; ++g) {
    const bool fits =
        HasBytes(to, op, kInputWeight + g, cells * inputs, TensorType::INT8) &&
        HasBytes(to, op, kStateWeight + g, cells * outputs, TensorType::INT8) &&
        HasBytes(to, op, kBias + g, cells * 4, TensorType::INT32);
    Require(fits, "weights or biases of other extents");
    Require(!s.norms || HasBytes(to, op, kNorm + g, cells * 2, TensorType::INT16),
            "weights of a layer normalisation that are not constant int16");
    Require(!s.peepholes || g == 2 ||
                HasBytes(to, op, kPeephole + (g == 3 ? 2 : g), cells * 2,
                         TensorType::INT16),
            "peepholes that are not constant int16");
  }
  const bool projects = HasInput(op, kProjection);
  Require(projects || s.outputs == s.cells, "an output of other extents than the cell");
  Require(!projects ||
              (HasBytes(to, op, kProjection, outputs * cells, TensorType::INT8) &&
               (!HasInput(op, kProjection + 1) ||
                HasBytes(to, op, kProjection + 1, outputs * 4, TensorType::INT32))),
          "a projection that is not constant int8 with a bias of int32");
  int64_t made = 1;
  for (const int32_t extent : OutputOf(to, op).shape) made *= extent;
  Require(HasCount(to, op, kState, int64_t{s.batch} * s.outputs) &&
              HasCount(to, op, kCell, int64_t{s.batch} * s.cells) &&
              made == int64_t{s.steps} * s.batch * s.outputs,
          "states of other extents");
}

// Gates of the input (kInputWeight) or of the state (kStateWeight), one behind the other: a
// layer that multiplies rows by them and leaves numbers in steps of 2^-12.
struct GateProduct {
  uint32_t weight, parameters;
  int32_t zero;
};

void AppendInts(const TfliteTensor& tensor, std::vector<int32_t>* list) {
  std::vector<int32_t> numbers(tensor.data_bytes / 4);
  std::memcpy(numbers.data(), tensor.data, tensor.data_bytes);
  list->insert(list->end(), numbers.begin(), numbers.end());
}

GateProduct GatesOf(Lowering* to, const TfliteOperator& op, const Sequence& s,
                    size_t first, const Affine& rows) {
  const int32_t inner = first == kInputWeight ? s.inputs : s.outputs;
  const size_t count = static_cast<size_t>(s.Gates()) * static_cast<size_t>(s.cells);
  to->graph.NeedRows(count);
  to->graph.NeedRoom(count * static_cast<uint64_t>(inner));
  std::vector<uint8_t> bytes;
  std::vector<int32_t> parameters;
  for (size_t g = s.coupled ? 1 : 0; g < 4; ++g) {
    const TfliteTensor& weight = InputOf(*to, op, first + g);
    bytes.insert(bytes.end(), weight.data, weight.data + weight.data_bytes);
    // Products of scales are in float, as the kernel computes them.
    const float inside =
        s.norms ? Inside(*to, op, static_cast<uint32_t>(g), {kGateScale, 0}).scale
                : kGateScale;
    const Factor factor = QuantiseFactor(
        static_cast<double>(rows.scale * AffineOf(weight).scale / inside));
    // The bias of a normalised gate comes behind the normalisation.
    std::vector<int32_t> bias;
    if (first == kInputWeight && !s.norms)
      AppendInts(InputOf(*to, op, kBias + g), &bias);
    bias.resize(static_cast<size_t>(s.cells), 0);
    for (const int32_t number : bias)
      parameters.insert(parameters.end(), {number, factor.multiplier, factor.shift});
  }
  const std::string name =
      InputOf(*to, op, first + 1).name + (first == kInputWeight ? "/gates" : "/state");
  const int32_t columns = static_cast<int32_t>(count);
  return {to->graph.AddConstant(name, SLUICE_DTYPE_INT8, {columns, inner}, bytes.data(),
                                bytes.size()),
          to->graph.AddConstant(name + "/parameters", SLUICE_DTYPE_INT32, {columns, 3},
                                parameters.data(), parameters.size() * 4),
          rows.zero};
}

uint32_t NewNumbers(Lowering* to, const std::string& name, uint8_t dtype,
                    const Dims& dims) {
  return to->graph.AddTensor(name, dtype, Kind::kIntermediate, dims, 0, 0);
}

std::vector<int32_t> ProductOptions(int32_t input_zero, int32_t output_zero,
                                    Range range) {
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_INPUT_ZERO] = input_zero;
  a[SLUICE_CONV_OUTPUT_ZERO] = output_zero;
  a[SLUICE_CONV_ACT_MIN] = range.min;
  a[SLUICE_CONV_ACT_MAX] = range.max;
  return a;
}

uint32_t Multiplied(Lowering* to, const TfliteOperator& op, const GateProduct& product,
                    uint32_t rows, const Dims& dims) {
  const uint32_t out =
      NewNumbers(to, OutputOf(*to, op).name + "/numbers", SLUICE_DTYPE_INT32, dims);
  AddLayer(to, op, SLUICE_OP_FULLY_CONNECTED,
           {rows, product.weight, product.parameters}, out,
           ProductOptions(product.zero, 0, {INT32_MIN, INT32_MAX}));
  return out;
}

// What each step reads beside its numbers.
struct Step {
  uint32_t from_x;
  GateProduct of_state;
  uint32_t peepholes, norms, biases;
  uint32_t projection = kNoTensor, projection_parameters = kNoTensor;
  std::vector<int32_t> projection_options,
      options;  // of the step; its number is missing
};

struct Range16 {
  size_t first, count;  // inputs of the operator
};

// Three or four operands of int16 one behind the other; one number where there are none.
uint32_t Shorts(Lowering* to, const TfliteOperator& op, const char* name,
                const Range16& range, const Sequence& s, bool there) {
  std::vector<uint8_t> bytes(2, 0);
  if (there) bytes.clear();
  for (size_t i = 0; there && i < range.count; ++i) {
    const size_t from = bytes.size();
    bytes.resize(from + static_cast<size_t>(s.cells) * 2, 0);
    if (!HasInput(op, range.first + i)) continue;  // of a coupled input gate
    std::memcpy(bytes.data() + from, InputOf(*to, op, range.first + i).data,
                static_cast<size_t>(s.cells) * 2);
  }
  return to->graph.AddConstant(OutputOf(*to, op).name + name, SLUICE_DTYPE_INT16,
                               {static_cast<int32_t>(bytes.size() / 2)}, bytes.data(),
                               bytes.size());
}

uint32_t NormBiases(Lowering* to, const TfliteOperator& op, const Sequence& s) {
  std::vector<int32_t> biases;
  for (size_t g = 0; s.norms && g < 4; ++g) {
    if (HasInput(op, kBias + g)) AppendInts(InputOf(*to, op, kBias + g), &biases);
    biases.resize((g + 1) * static_cast<size_t>(s.cells), 0);
  }
  if (!s.norms) biases = {0};
  return to->graph.AddConstant(OutputOf(*to, op).name + "/norm", SLUICE_DTYPE_INT32,
                               {static_cast<int32_t>(biases.size())}, biases.data(),
                               biases.size() * 4);
}

void AppendGates(const Lowering& to, const TfliteOperator& op, const Sequence& s,
                 int32_t cell_power, std::vector<int32_t>* options) {
  for (size_t p = 0; p < 3; ++p) {
    if (!s.peepholes || !HasInput(op, kPeephole + p)) {
      options->insert(options->end(), {0, 0});
      continue;
    }
    const uint32_t gate = p == 2 ? 3 : static_cast<uint32_t>(p);
    const float inside =
        s.norms ? Inside(to, op, gate, {kGateScale, 0}).scale : kGateScale;
    Append(options,
           static_cast<double>(static_cast<float>(
               std::ldexp(1.0, cell_power) *
               static_cast<double>(AffineOf(InputOf(to, op, kPeephole + p)).scale) /
               static_cast<double>(inside))));
  }
  for (size_t g = 0; g < 4; ++g) {
    if (!s.norms || !HasInput(op, kNorm + g)) {
      options->insert(options->end(), {0, 0, 1});
      continue;
    }
    const float scale = AffineOf(InputOf(to, op, kNorm + g)).scale;
    Append(options, static_cast<double>(scale));
    options->push_back(std::max(1, static_cast<int32_t>(10000 * scale)));
  }
}

void SetProjection(Lowering* to, const TfliteOperator& op, const Sequence& s,
                   const Affine& hidden, float clip, Step* step) {
  const TfliteTensor& weight = InputOf(*to, op, kProjection);
  const Affine state = AffineOf(InputOf(*to, op, kState));
  const Factor factor = QuantiseFactor(
      static_cast<double>(AffineOf(weight).scale * hidden.scale / state.scale));
  std::vector<int32_t> bias, rows;
  if (HasInput(op, kProjection + 1))
    AppendInts(InputOf(*to, op, kProjection + 1), &bias);
  bias.resize(static_cast<size_t>(s.outputs), 0);
  for (const int32_t number : bias)
    rows.insert(rows.end(), {number, factor.multiplier, factor.shift});
  step->projection = InputTensor(to, op, kProjection);
  step->projection_parameters =
      to->graph.AddConstant(weight.name + "/parameters", SLUICE_DTYPE_INT32,
                            {s.outputs, 3}, rows.data(), rows.size() * 4);
  const int32_t most =
      static_cast<int32_t>(std::clamp(clip / state.scale, -128.0f, 127.0f));
  const Range range = most > 0 ? Range{-most, most} : Range{-128, 127};
  step->projection_options = ProductOptions(hidden.zero, state.zero, range);
}

Step StepOf(Lowering* to, const TfliteOperator& op, const Sequence& s,
            const tflite::SequenceLSTMOptions& o) {
  const Affine input = AffineOf(InputOf(*to, op, kInput)),
               state = AffineOf(InputOf(*to, op, kState)),
               cell = AffineOf(InputOf(*to, op, kCell));
  const Affine hidden = Inside(*to, op, 4, state);
  const int32_t power = PowerOf(cell.scale);
  Step step = {};
  const Extents in = ExtentsOf(InputOf(*to, op, kInput));
  step.from_x =
      Multiplied(to, op, GatesOf(to, op, s, kInputWeight, input),
                 InputTensor(to, op, kInput), {in[1], in[2], s.Gates() * s.cells});
  step.of_state = GatesOf(to, op, s, kStateWeight, state);
  step.peepholes = Shorts(to, op, "/peepholes", {kPeephole, 3}, s, s.peepholes);
  step.norms = Shorts(to, op, "/weights", {kNorm, 4}, s, s.norms);
  step.biases = NormBiases(to, op, s);
  const double clip =
      std::clamp(static_cast<double>(o.cell_clip()) / static_cast<double>(cell.scale),
                 0.0, 32767.0);
  step.options = {s.steps, s.batch,           s.cells, 0,
                  s.major, s.coupled ? 1 : 0, power,   static_cast<int32_t>(clip)};
  const double unit = 1.0 / 32768;
  Append(&step.options, static_cast<double>(static_cast<float>(
                            unit / static_cast<double>(hidden.scale) * unit)));
  step.options.push_back(hidden.zero);
  AppendGates(*to, op, s, power, &step.options);
  step.projection = kNoTensor;
  if (HasInput(op, kProjection)) SetProjection(to, op, s, hidden, o.proj_clip(), &step);
  return step;
}

struct LstmState {
  uint32_t h, c;
};

LstmState Next(Lowering* to, const TfliteOperator& op, const Sequence& s,
               const Step& step, const LstmState& before, int32_t t) {
  const std::string name = OutputOf(*to, op).name + "/step" + std::to_string(t);
  const uint32_t numbers =
      Multiplied(to, op, step.of_state, before.h, {s.batch, s.Gates() * s.cells});
  LstmState after = {
      NewNumbers(to, name + "/hidden", SLUICE_DTYPE_INT8, {s.batch, s.cells}),
      NewNumbers(to, name + "/cell", SLUICE_DTYPE_INT16, {s.batch, s.cells})};
  std::vector<int32_t> options = step.options;
  options[3] = t;
  const uint32_t told = to->graph.AddConstant(name + "/options", SLUICE_DTYPE_INT32,
                                              {static_cast<int32_t>(options.size())},
                                              options.data(), options.size() * 4);
  AddHost(
      to, op, "lstm_step_int8",
      {step.from_x, numbers, before.c, step.peepholes, step.norms, step.biases, told},
      {after.h, after.c}, 0);
  if (step.projection == kNoTensor) return after;
  const uint32_t projected =
      NewNumbers(to, name + "/projected", SLUICE_DTYPE_INT8, {s.batch, s.outputs});
  AddLayer(to, op, SLUICE_OP_FULLY_CONNECTED,
           {after.h, step.projection, step.projection_parameters}, projected,
           step.projection_options);
  after.h = projected;
  return after;
}

// The states of all steps, [batch, outputs] each, as the operator's output.
void JoinSteps(Lowering* to, const TfliteOperator& op, const Sequence& s,
               const std::vector<uint32_t>& states) {
  const bool exchanged = !s.major && s.batch > 1 && s.steps > 1;
  const Dims rows = {s.steps * s.batch, s.outputs};
  const uint32_t joined = exchanged ? NewNumbers(to, OutputOf(*to, op).name + "/steps",
                                                 SLUICE_DTYPE_INT8, rows)
                                    : OpenOutput(to, op, rows);
  const bool one = states.size() == 1;
  AddLayer(to, op, one ? SLUICE_OP_RESHAPE : SLUICE_OP_CONCAT, states, joined,
           one ? std::vector<int32_t>() : std::vector<int32_t>{2});
  if (!exchanged) return CloseOutput(to, op, joined);
  const uint32_t steps =
      Reshaped(to, joined, OutputOf(*to, op), {1, s.steps, s.batch, s.outputs});
  const uint32_t out = OpenOutput(to, op, {1, s.batch, s.steps, s.outputs});
  AddLayer(to, op, SLUICE_OP_TRANSPOSE, {steps}, out, {0, 2, 1, 3});
  CloseOutput(to, op, out);
}

}  // namespace

void LowerLstm(Lowering* to, const TfliteOperator& op) {
  const auto* o = op.wire->builtin_options_as_SequenceLSTMOptions();
  Require(o != nullptr && o->activation() == tflite::Activation::TANH,
          "missing options, or another activation than tanh");
  CheckOperands(*to, op);
  const Sequence s = SequenceOf(*to, op, o->time_major());
  CheckSequence(*to, op, s);
  if (s.steps > kMostSteps) return OnHost(to, op);
  const LstmState first = {Variable(to, op, kState), Variable(to, op, kCell)};
  const Step step = StepOf(to, op, s, *o);
  LstmState state = first;
  std::vector<uint32_t> outputs;
  for (int32_t t = 0; t < s.steps; ++t) {
    state = Next(to, op, s, step, state, t);
    outputs.push_back(state.h);
  }
  JoinSteps(to, op, s, outputs);
  const TfliteTensor &h = InputOf(*to, op, kState), &c = InputOf(*to, op, kCell);
  SetNext(to, first.h, Reshaped(to, state.h, h, DimsOf(h)));
  SetNext(to, first.c, Reshaped(to, state.c, c, DimsOf(c)));
}

}  // namespace sluice::import
