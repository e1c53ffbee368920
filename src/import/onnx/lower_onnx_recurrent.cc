// SPDX-License-Identifier: Apache-2.0
// ONNX: LSTM, GRU and RNN of known length. A unit multiplies all steps of the input by their
// weights at once, and each state by its own; the host computes the functions of the gates.
#include <algorithm>
#include <cstring>

#include "import/error.h"
#include "import/onnx/onnx_sums.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;
using Options = std::vector<int32_t>;

constexpr int32_t kMostSteps = 1024;  // of all directions

struct Sequence {
  int32_t t, b, i, h, directions, gates;
  bool dynamic;  // states and inputs are quantised at run time
  bool linear;   // of a GRU: the product of the state comes before the reset
  bool backwards;
  std::vector<int32_t> functions;  // of all directions, in the order of kFunctions
  float clip;                      // 0: none

  int32_t State() const { return b * h; }
};

const char* const kFunctions[] = {"Sigmoid", "Tanh", "Relu", "HardSigmoid", "Softsign"};

std::vector<int32_t> FunctionsOf(const OnnxNode& node, size_t each, size_t directions) {
  static const int32_t kDefaults[] = {0, 1, 1};
  std::vector<int32_t> functions;
  const std::vector<std::string> given = node.Texts("activations");
  Require(given.empty() || given.size() == each * directions,
          "functions for another number of gates");
  for (size_t i = 0; i < each * directions; ++i) {
    if (given.empty()) {
      functions.push_back(each == 1 ? 1 : kDefaults[i % each]);
      continue;
    }
    const auto* at = std::find(std::begin(kFunctions), std::end(kFunctions), given[i]);
    Require(at != std::end(kFunctions), "a function of a gate that the host lacks");
    functions.push_back(static_cast<int32_t>(at - std::begin(kFunctions)));
  }
  return functions;
}

void RequirePlain(const OnnxNode& node) {
  Require(node.Int("layout", 0) == 0, "batches in front of steps");
  Require(!node.Has("activation_alpha") && !node.Has("activation_beta") &&
              node.Int("input_forget", 0) == 0,
          "functions of gates with factors of their own, or coupled gates");
}

// Lengths of the batches' sequences, int32 [B]; kNoTensor: all have every step.
uint32_t LengthsOf(OnnxLowering* to, const OnnxNode& node, const Sequence& s) {
  if (!HasInput(node, 4)) return kNoTensor;
  const OnnxValue& lengths = InputOf(*to, node, 4);
  Require(ElementsOf(ShapeOf(lengths)) == s.b,
          "lengths of another number of sequences");
  if (!lengths.has_integers) {
    Require(lengths.type == kOnnxInt32, "lengths that are not int32");
    return PlainTensor(to, InputIndex(node, 4));
  }
  std::vector<int32_t> each;
  bool whole = true;
  for (const int64_t length : lengths.integers) {
    Require(length >= 0 && length <= s.t, "a length beyond the steps");
    whole = whole && length == s.t;
    each.push_back(static_cast<int32_t>(length));
  }
  return whole ? kNoTensor : IntegerConstant(to, node.name + "/lengths", each);
}

Sequence SequenceOf(OnnxLowering* to, const OnnxNode& node) {
  const Shape &x = ShapeOf(InputOf(*to, node, 0)), &r = ShapeOf(InputOf(*to, node, 2));
  Require(x.size() == 3, "batches in front of steps");
  Require(r.size() == 3, "weights that do not have three axes");
  RequirePlain(node);
  const std::string direction = node.Text("direction", "forward");
  Sequence s = {};
  s.dynamic = node.op == "com.microsoft.DynamicQuantizeLSTM";
  s.t = ProductOfAxes(x, 0, 1);
  s.b = ProductOfAxes(x, 1, 2);
  s.i = ProductOfAxes(x, 2, 3);
  s.h = ProductOfAxes(r, s.dynamic ? 1 : 2, s.dynamic ? 2 : 3);
  s.directions = direction == "bidirectional" ? 2 : 1;
  s.backwards = direction == "reverse";
  s.gates = node.op == "GRU" ? 3 : node.op == "RNN" ? 1 : 4;
  s.linear = node.Int("linear_before_reset", 0) != 0;
  const size_t each = s.gates == 4 ? 3 : s.gates == 3 ? 2 : 1;
  s.functions = FunctionsOf(node, each, static_cast<size_t>(s.directions));
  s.clip = node.Float("clip", 0);
  return s;
}

// Refuses extents, as the file gives them, that contradict the operator.
void CheckExtents(OnnxLowering* to, const OnnxNode& node, const Sequence& s) {
  const int64_t state = int64_t{s.directions} * s.State(),
                rows = int64_t{s.directions} * s.gates * s.h;
  const auto fits = [&](size_t i, int64_t count) {
    return !HasInput(node, i) || ElementsOf(ShapeOf(InputOf(*to, node, i))) == count;
  };
  bool good = fits(1, rows * s.i) && fits(2, rows * s.h) && fits(3, rows * 2) &&
              fits(5, state) && fits(6, state) &&
              fits(7, int64_t{s.directions} * 3 * s.h);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] < 0) continue;
    const int64_t count = i == 0 ? int64_t{s.t} * state : state;
    good = good && ElementsOf(ShapeOf(OutputOf(*to, node, i))) == count;
  }
  if (good) return;
  throw Error(Fault::kBadInput, "shapes contradict each other: operands of " +
                                    node.name + " (" + node.op + ")");
}

Numbers FloatNumbers() {
  Numbers numbers;
  numbers.floats = true;
  numbers.dtype = SLUICE_DTYPE_INT32;
  return numbers;
}

// ---- rows of floats by a constant matrix

struct Matrix {
  Terms terms;
  int32_t columns, inner;
  uint32_t parameters, scales, bias;
  std::vector<int32_t> sums;  // of each column, where the rows have a zero point
};

uint32_t Unscaled(OnnxLowering* to, const Part& row, const Part& column,
                  const Matrix& m, uint32_t out, const std::string& name) {
  Options whole(SLUICE_CONV_ATTRIBUTES);
  whole[SLUICE_CONV_WEIGHT_ZERO] = column.zero;
  whole[SLUICE_CONV_ACT_MIN] = INT32_MIN;
  whole[SLUICE_CONV_ACT_MAX] = INT32_MAX;
  whole[SLUICE_CONV_ROUNDING] = 1;
  AddLayer(to, name, SLUICE_OP_FULLY_CONNECTED,
           {row.tensor, column.tensor, m.parameters}, out, whole);
  return out;
}

// What is multiplied, [rows, inner], and how the result is called.
struct Rows {
  uint32_t tensor;
  int32_t rows;
  std::string name;
};

// kind: 0 where all rows have one scale, 3 where each has its own.
uint32_t Scaled(OnnxLowering* to, const Rows& x, const Matrix& m,
                const std::vector<Part>& sums, std::pair<uint32_t, int32_t> scales) {
  std::vector<uint32_t> inputs;
  Options options = {1, x.rows, m.columns, 0, 0, scales.second, 2, FloatBits(1)};
  for (const Part& part : sums) {
    inputs.push_back(part.tensor);
    options.push_back(FloatBits(part.weight));
  }
  inputs.insert(inputs.end(), {scales.first, m.scales, m.bias});
  const uint32_t out = NewTensor(to, x.name, {x.rows, m.columns}, FloatNumbers());
  AddHost(to, x.name, "ScaleSums", {inputs, options, {out}}, 0);
  return out;
}

uint32_t TimesFloats(OnnxLowering* to, const OnnxNode& node, const Rows& x,
                     const Matrix& m) {
  const FloatView view = {x.tensor, x.name, {x.rows, m.inner}, {0, 1}};
  const Terms a =
      SplitFirst(to, view, {1, x.rows, m.inner}, {x.rows, m.inner}, 0, true);
  const std::vector<Part> sums =
      SumsOf(to, node, {a, m.terms}, {x.rows, m.columns}, 0,
             [&](const Part& row, const Part& column, uint32_t out) {
               Unscaled(to, row, column, m, out, x.name);
             });
  return Scaled(to, x, m, sums, {a.split, 3});
}

// The rows are quantised at run time, all by one scale and zero point: to uint8, less 128.
uint32_t TimesBytes(OnnxLowering* to, const Rows& x, const Matrix& m) {
  Numbers stored;
  stored.dtype = SLUICE_DTYPE_INT8;
  const std::string name = x.name + "/quantised";
  const uint32_t bytes = NewTensor(to, name, {x.rows, m.inner}, stored),
                 scale = NewTensor(to, name + ".scale", {1}, FloatNumbers()),
                 zero = NewTensor(to, name + ".zero", {1}, stored);
  AddHost(to, name, "DynamicQuantizeLinear", {{x.tensor}, {0}, {bytes, scale, zero}},
          0);
  const Dims dims = {x.rows, m.columns};
  std::vector<uint32_t> sums;
  for (const Part& part : m.terms.parts) {
    sums.push_back(Unscaled(to, {bytes, 0, 1, 1}, part, m,
                            NewTensor(to, x.name + "/sums", dims, SumNumbers()),
                            x.name));
  }
  const uint32_t less = NewTensor(to, x.name + "/less", dims, SumNumbers());
  sums.insert(sums.end(), {zero, IntegerConstant(to, x.name + "/inside", m.sums)});
  AddHost(to, x.name, "LessZeroPoint",
          {sums, {x.rows, 1, 1, 1, m.columns, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0}, {less}},
          0);
  return Scaled(to, x, m, {{less, 0, 1, 1}}, {scale, 0});
}

uint32_t Times(OnnxLowering* to, const OnnxNode& node, const Rows& x, const Matrix& m) {
  return m.sums.empty() ? TimesFloats(to, node, x, m) : TimesBytes(to, x, m);
}

// Some rows of the weights, and biases, of a direction.
struct Share {
  size_t input;  // of the node: 1 of x, 2 of the state
  int32_t direction, first_gate, gates;
};

std::vector<float> PartOf(const std::vector<float>& all, int64_t begin, int64_t count) {
  return {all.begin() + begin, all.begin() + begin + count};
}

uint32_t BiasOf(OnnxLowering* to, const OnnxNode& node, const Sequence& s,
                const Share& share, const std::string& name) {
  std::vector<float> bias(static_cast<size_t>(share.gates * s.h), 0.0f);
  if (HasInput(node, 3)) {
    const int64_t row = share.direction * 2 + (share.input == 2 ? 1 : 0);
    bias = PartOf(RealsOf(*to, node.inputs[3]),
                  (row * s.gates + share.first_gate) * s.h, share.gates * s.h);
  }
  const int32_t count = static_cast<int32_t>(bias.size());
  return FloatConstant(to, name + "/bias", {count}, bias);
}

// DynamicQuantizeLSTM: weights [directions, inner, gates * H] as bytes, [columns, inner].
Terms StoredBytes(OnnxLowering* to, const OnnxNode& node, const Sequence& s,
                  const Share& share, Matrix* m) {
  const OnnxValue& stored = InputOf(*to, node, share.input);
  const size_t at = share.input == 1 ? 8 : 10;
  Require(stored.has_data && (stored.type == kOnnxInt8 || stored.type == kOnnxUint8),
          "weights that are no constants of 8 bits");
  const std::vector<float> scales = RealsOf(*to, InputIndex(node, at));
  const std::vector<int64_t> zeros = StoredIntegers(InputOf(*to, node, at + 1));
  const size_t each = scales.size() / static_cast<size_t>(s.directions);
  Require(each == 1 || each == static_cast<size_t>(m->columns),
          "scales of another extent");
  Require(std::all_of(zeros.begin(), zeros.end(),
                      [&](int64_t zero) { return zero == zeros[0]; }),
          "per-axis zero points other than 0");
  const int32_t zero = static_cast<int32_t>(zeros[0]);
  Bytes bytes;
  m->sums.assign(static_cast<size_t>(m->columns), 0);
  const size_t first = static_cast<size_t>(share.direction) *
                       static_cast<size_t>(m->columns) * static_cast<size_t>(m->inner);
  for (int32_t c = 0; c < m->columns; ++c) {
    for (int32_t k = 0; k < m->inner; ++k) {
      const uint8_t byte =
          stored.data[first + static_cast<size_t>(k) * static_cast<size_t>(m->columns) +
                      static_cast<size_t>(c)];
      bytes.push_back(byte);
      m->sums[static_cast<size_t>(c)] +=
          (stored.type == kOnnxInt8 ? static_cast<int8_t>(byte) : byte) - zero;
    }
  }
  const size_t scale = static_cast<size_t>(share.direction) * each;
  Terms terms;
  for (int32_t c = 0; c < m->columns; ++c)
    terms.scales.push_back(scales[scale + (each == 1 ? 0 : static_cast<size_t>(c))]);
  terms.parts.push_back(
      {to->graph.AddConstant(
           stored.name + "/columns",
           stored.type == kOnnxInt8 ? SLUICE_DTYPE_INT8 : SLUICE_DTYPE_UINT8,
           {m->columns, m->inner}, bytes.data(), bytes.size()),
       zero, 1, 1});
  return terms;
}

Matrix MatrixOf(OnnxLowering* to, const OnnxNode& node, const Sequence& s,
                const Share& share) {
  Matrix m = {};
  m.columns = share.gates * s.h;
  m.inner = share.input == 1 ? s.i : s.h;
  RequireFewTerms(m.inner);
  const std::string name = InputOf(*to, node, share.input).name + "/" +
                           std::to_string(share.direction * s.gates + share.first_gate);
  if (s.dynamic) {
    m.terms = StoredBytes(to, node, s, share, &m);
  } else {
    const int64_t row = share.direction * s.gates + share.first_gate;
    const std::vector<float> all = RealsOf(*to, InputIndex(node, share.input));
    m.terms = SplitReals(to, name,
                         PartOf(all, row * s.h * m.inner, int64_t{m.columns} * m.inner),
                         {1, m.columns, m.inner}, {m.columns, m.inner});
  }
  m.parameters = WholeSums(to, name, m.columns);
  m.scales = FloatConstant(to, name + "/scales", {m.columns}, m.terms.scales);
  m.bias = BiasOf(to, node, s, share, name);
  return m;
}

// ---- a step

// What all steps of a direction read.
struct Direction {
  uint32_t from_x;               // floats [T, B, gates * H]
  std::vector<Matrix> of_state;  // one, or of a GRU those of the gates and of the rest
  uint32_t peepholes = kNoTensor;
  Options functions;  // and the clip
};
struct State {
  uint32_t h, c;
};

class Steps {
 public:
  Steps(OnnxLowering* to, const OnnxNode& node, const Sequence& s, const Direction& d,
        uint32_t lengths)
      : to_(*to), node_(node), s_(s), d_(d), lengths_(lengths) {}

  // Next, but sequences that have ended keep their state; *shown is what the step shows.
  State Within(int32_t t, const State& before, uint32_t* shown) {
    State next = Next(t, before);
    *shown = next.h;
    if (lengths_ == kNoTensor) return next;
    const uint32_t h = New("/kept");
    *shown = New("/shown");
    options_ = {s_.b, s_.h, t};
    Add("WithinLength", {next.h, before.h, lengths_}, {h, *shown});
    if (s_.gates != 4) return {h, kNoTensor};
    const uint32_t c = New("/kept_cell");
    Add("WithinLength", {next.c, before.c, lengths_}, {c});
    return {h, c};
  }

 private:
  State Next(int32_t t, const State& before) {
    options_ = {s_.t, s_.b, s_.h, t};
    options_.insert(options_.end(), d_.functions.begin(), d_.functions.end());
    name_ = node_.name + "/step" + std::to_string(t);
    if (s_.gates == 4) return Lstm(before);
    return {s_.gates == 3 && !s_.linear ? ResetGru(before.h) : Plain(before.h),
            kNoTensor};
  }

  uint32_t FromState(uint32_t h, size_t matrix) {
    return Times(&to_, node_, {h, s_.b, name_ + "/gates"}, d_.of_state[matrix]);
  }
  uint32_t New(const char* part) {
    return NewTensor(&to_, name_ + part, {s_.b, s_.h}, FloatNumbers());
  }
  void Add(const char* function, const std::vector<uint32_t>& in,
           const std::vector<uint32_t>& out) {
    AddHost(&to_, name_, function, {in, options_, out}, 0);
  }

  State Lstm(const State& before) {
    const uint32_t gates = FromState(before.h, 0);
    const State next = {New("/h"), New("/c")};
    Add("LSTMStep", {d_.from_x, gates, before.c, d_.peepholes}, {next.h, next.c});
    return next;
  }
  uint32_t Plain(uint32_t h) {
    const uint32_t gates = FromState(h, 0), next = New("/h");
    Add(s_.gates == 3 ? "GRUStep" : "RNNStep", {d_.from_x, gates, h}, {next});
    return next;
  }
  uint32_t ResetGru(uint32_t h) {
    const uint32_t gates = FromState(h, 0), update = New("/update"),
                   reset = New("/reset");
    Add("GRUReset", {d_.from_x, gates, h}, {update, reset});
    const uint32_t hidden = FromState(reset, 1), next = New("/h");
    Add("GRUOutput", {d_.from_x, hidden, update, h}, {next});
    return next;
  }

  OnnxLowering& to_;
  const OnnxNode& node_;
  const Sequence& s_;
  const Direction& d_;
  const uint32_t lengths_;
  Options options_;
  std::string name_;
};

Direction DirectionOf(OnnxLowering* to, const OnnxNode& node, const Sequence& s,
                      int32_t direction) {
  Direction d = {};
  const Rows x = {FloatsOf(to, InputIndex(node, 0)), s.t * s.b,
                  node.name + "/inputs" + std::to_string(direction)};
  d.from_x = Times(to, node, x, MatrixOf(to, node, s, {1, direction, 0, s.gates}));
  const bool apart = s.gates == 3 && !s.linear;
  d.of_state.push_back(MatrixOf(to, node, s, {2, direction, 0, apart ? 2 : s.gates}));
  if (apart) d.of_state.push_back(MatrixOf(to, node, s, {2, direction, 2, 1}));
  if (s.gates == 4) {
    std::vector<float> peepholes(1, 0.0f);
    if (HasInput(node, 7)) {
      peepholes =
          PartOf(RealsOf(*to, node.inputs[7]), int64_t{direction} * 3 * s.h, 3 * s.h);
    }
    d.peepholes = FloatConstant(to, node.name + "/peepholes",
                                {static_cast<int32_t>(peepholes.size())}, peepholes);
  }
  const size_t each = s.functions.size() / static_cast<size_t>(s.directions);
  const auto first = s.functions.begin() + static_cast<int64_t>(each) * direction;
  d.functions.assign(first, first + static_cast<int64_t>(each));
  d.functions.push_back(FloatBits(s.clip));
  return d;
}

// What input i says of a direction's state, or zeros.
uint32_t FirstState(OnnxLowering* to, const OnnxNode& node, const Sequence& s, size_t i,
                    int32_t direction) {
  const std::string name = node.name + "/first" + std::to_string(i);
  if (!HasInput(node, i)) {
    return FloatConstant(to, name, {s.b, s.h},
                         std::vector<float>(static_cast<size_t>(s.State()), 0.0f));
  }
  const uint32_t all = FloatsOf(to, node.inputs[i]);
  const uint32_t part = NewTensor(to, name, {1, s.b, s.h}, FloatNumbers());
  AddLayer(to, name, SLUICE_OP_SLICE, {all}, part, {0, direction, 0, 0});
  return part;
}

// [pieces, B, H] of floats as output i.
void Joined(OnnxLowering* to, const OnnxNode& node, size_t i, const Sequence& s,
            const std::vector<uint32_t>& pieces) {
  if (i >= node.outputs.size() || node.outputs[i] < 0) return;
  OnnxPlace place;
  place.numbers = FloatNumbers();
  place.order = Straight(ShapeOf(OutputOf(*to, node, i)).size());
  place.tensor =
      NewTensor(to, OutputOf(*to, node, i).name,
                {static_cast<int32_t>(pieces.size()), s.b, s.h}, FloatNumbers());
  AddLayer(to, node.name, SLUICE_OP_CONCAT, pieces, place.tensor, {1});
  SetPlace(to, node.outputs[i], place);
}

// ---- the whole sequence as one function of the host

uint32_t OperandOr0(OnnxLowering* to, const OnnxNode& node, size_t i, int32_t count) {
  if (HasInput(node, i)) return FloatsOf(to, node.inputs[i]);
  to->graph.NeedRoom(static_cast<uint64_t>(count) * 4);
  return FloatConstant(to, node.name + "/input" + std::to_string(i), {count},
                       std::vector<float>(static_cast<size_t>(count), 0.0f));
}

void OnHost(OnnxLowering* to, const OnnxNode& node, const Sequence& s) {
  Require(
      !s.dynamic && !node.Has("clip") && !node.Has("activations") && !HasInput(node, 7),
      "more than 1024 steps of another LSTM, GRU or RNN than the default");
  if (LengthsOf(to, node, s) != kNoTensor) {
    Require(!to->computes_floats,
            "more than 1024 steps of sequences of several lengths");
    CountShapesOnly(to, node);
  }
  const bool lstm = s.gates == 4;
  const int32_t state = s.directions * s.State();
  std::vector<uint32_t> inputs, outputs;
  for (size_t i = 0; i < 3; ++i) inputs.push_back(FloatsOf(to, InputIndex(node, i)));
  inputs.push_back(OperandOr0(to, node, 3, s.directions * 2 * s.gates * s.h));
  inputs.push_back(OperandOr0(to, node, 5, state));
  if (lstm) inputs.push_back(OperandOr0(to, node, 6, state));
  for (size_t i = 0; i < (lstm ? 3 : 2); ++i) {
    if (i < node.outputs.size() && node.outputs[i] >= 0) {
      outputs.push_back(NewFloats(to, node, i));
    } else {
      outputs.push_back(NewTensor(to, node.name + "/output" + std::to_string(i),
                                  {i == 0 ? s.t * state : state}, FloatNumbers()));
    }
  }
  CountRounded(to, node, kHostFloats);
  AddHost(to, node.name, node.op,
          {inputs,
           {s.t, s.b, s.i, s.h, s.directions, s.backwards ? 1 : 0, s.linear ? 1 : 0},
           outputs},
          static_cast<uint64_t>(s.t) * static_cast<uint64_t>(state) *
              static_cast<uint64_t>(s.gates) * static_cast<uint64_t>(s.i + s.h));
}

}  // namespace

void LowerOnnxRecurrent(OnnxLowering* to, const OnnxNode& node) {
  const Sequence s = SequenceOf(to, node);
  CheckExtents(to, node, s);
  if (!to->computes_floats || s.t > kMostSteps / s.directions)
    return OnHost(to, node, s);
  for (size_t i : {size_t{1}, size_t{2}, size_t{3}, size_t{7}}) {
    Require(!HasInput(node, i) || InputOf(*to, node, i).constant,
            "weights that are computed at run time");
  }
  const auto rounded = to->result.rounded;
  const uint32_t lengths = LengthsOf(to, node, s);
  const size_t steps = static_cast<size_t>(s.t),
               directions = static_cast<size_t>(s.directions);
  std::vector<uint32_t> states(steps * directions), last_h, last_c;
  for (int32_t direction = 0; direction < s.directions; ++direction) {
    const Direction d = DirectionOf(to, node, s, direction);
    State state = {FirstState(to, node, s, 5, direction), kNoTensor};
    if (s.gates == 4) state.c = FirstState(to, node, s, 6, direction);
    Steps next(to, node, s, d, lengths);
    for (int32_t n = 0; n < s.t; ++n) {
      const int32_t t = direction == 1 || s.backwards ? s.t - 1 - n : n;
      state = next.Within(t, state,
                          &states[static_cast<size_t>(t) * directions +
                                  static_cast<size_t>(direction)]);
    }
    last_h.push_back(state.h);
    last_c.push_back(state.c);
  }
  Joined(to, node, 0, s, states);
  Joined(to, node, 1, s, last_h);
  if (s.gates == 4) Joined(to, node, 2, s, last_c);
  to->result.rounded = rounded;
  CountRounded(to, node, kHostFloats);
}

}  // namespace sluice::import
