// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN with ONNX's default functions.
#include <algorithm>
#include <cmath>

#include "cancel.h"
#include "host_onnx.h"
#include "sluice/ops.h"

namespace sluice_sim {
namespace {

struct Sizes {
  int64_t t, b, i, h, directions;
  bool backwards, linear;
};

Sizes SizesOf(OnnxOptions* o) {
  Sizes s = {o->Int(1, 1 << 20),
             o->Int(1, 1 << 20),
             o->Int(1, 1 << 20),
             o->Int(1, 1 << 20),
             o->Int(1, 2),
             o->Int(0, 1) != 0,
             false};
  s.linear = o->Int(0, 1) != 0;
  return s;
}

bool Fits(const Sizes& s, int64_t gates, const HostOperands& in, size_t states,
          const HostOperands& out) {
  const int64_t g = gates * s.h, d = s.directions;
  if (in.size() != 5 + states || out.size() != 1 + states) return false;
  if (!IsFloats(in, 0, s.t * s.b * s.i) || !IsFloats(in, 1, d * g * s.i) ||
      !IsFloats(in, 2, d * g * s.h) || !IsFloats(in, 3, d * 2 * g) ||
      !IsFloats(out, 0, s.t * d * s.b * s.h)) {
    return false;
  }
  for (size_t i = 0; i < states; ++i) {
    if (!IsFloats(in, 4 + i, d * s.b * s.h) || !IsFloats(out, 1 + i, d * s.b * s.h)) {
      return false;
    }
  }
  return true;
}

// The weights of one direction.
struct Cell {
  const float *w, *r, *bias;
  int64_t i, h, gates;

  double FromInput(const float* x, int64_t row) const {
    double sum = static_cast<double>(bias[row]);
    for (int64_t k = 0; k < i; ++k) {
      sum += static_cast<double>(x[k]) * static_cast<double>(w[row * i + k]);
    }
    return sum;
  }
  double FromState(const std::vector<float>& state, int64_t row) const {
    double sum = static_cast<double>(bias[gates * h + row]);
    for (int64_t k = 0; k < h; ++k) {
      sum += static_cast<double>(state[static_cast<size_t>(k)]) *
             static_cast<double>(r[row * h + k]);
    }
    return sum;
  }
};

float Logistic(double x) { return 1 / (1 + std::exp(-static_cast<float>(x))); }

// Gates: input, output, forget, cell.
void StepLstm(const Cell& cell, const float* x, bool, std::vector<float>* state,
              std::vector<float>* memory) {
  const std::vector<float> before = *state;
  for (int64_t k = 0; k < cell.h; ++k) {
    const auto gate = [&](int64_t g) {
      return cell.FromInput(x, g * cell.h + k) + cell.FromState(before, g * cell.h + k);
    };
    float& c = (*memory)[static_cast<size_t>(k)];
    c = Logistic(gate(2)) * c +
        Logistic(gate(0)) * std::tanh(static_cast<float>(gate(3)));
    (*state)[static_cast<size_t>(k)] = Logistic(gate(1)) * std::tanh(c);
  }
}

// Gates: update, reset, hidden.
void StepGru(const Cell& cell, const float* x, bool linear, std::vector<float>* state,
             std::vector<float>*) {
  const std::vector<float> before = *state;
  std::vector<float> reset(before.size()), shrunk(before.size());
  for (int64_t k = 0; k < cell.h; ++k) {
    const size_t at = static_cast<size_t>(k);
    reset[at] =
        Logistic(cell.FromInput(x, cell.h + k) + cell.FromState(before, cell.h + k));
    shrunk[at] = reset[at] * before[at];
  }
  for (int64_t k = 0; k < cell.h; ++k) {
    const size_t at = static_cast<size_t>(k);
    const float update = Logistic(cell.FromInput(x, k) + cell.FromState(before, k));
    const int64_t row = 2 * cell.h + k;
    const double from_state =
        linear ? static_cast<double>(reset[at]) * cell.FromState(before, row)
               : cell.FromState(shrunk, row);
    const float hidden =
        std::tanh(static_cast<float>(cell.FromInput(x, row) + from_state));
    (*state)[at] = (1 - update) * hidden + update * before[at];
  }
}

void StepRnn(const Cell& cell, const float* x, bool, std::vector<float>* state,
             std::vector<float>*) {
  const std::vector<float> before = *state;
  for (int64_t k = 0; k < cell.h; ++k) {
    (*state)[static_cast<size_t>(k)] =
        std::tanh(static_cast<float>(cell.FromInput(x, k) + cell.FromState(before, k)));
  }
}

using Step = void (*)(const Cell&, const float*, bool, std::vector<float>*,
                      std::vector<float>*);

HostFunction Recurrent(int64_t gates, size_t states, Step step) {
  return [=](const HostOperands& in, const HostOperands& out) -> std::string {
    OnnxOptions options(in);
    const Sizes s = SizesOf(&options);
    if (!options.Ended() || !Fits(s, gates, in, states, out)) return kOnnxOperands;
    for (int64_t d = 0; d < s.directions; ++d) {
      const bool backwards = d == 1 || s.backwards;
      const int64_t g = gates * s.h;
      const Cell cell = {ElementsOf<float>(in[1]) + d * g * s.i,
                         ElementsOf<float>(in[2]) + d * g * s.h,
                         ElementsOf<float>(in[3]) + d * 2 * g,
                         s.i,
                         s.h,
                         gates};
      for (int64_t b = 0; b < s.b; ++b) {
        const int64_t first = (d * s.b + b) * s.h;
        const float* h = ElementsOf<float>(in[4]) + first;
        const float* c = states == 2 ? ElementsOf<float>(in[5]) + first : h;
        std::vector<float> state(h, h + s.h), memory(c, c + s.h);
        for (int64_t n = 0; n < s.t; ++n) {
          Poll(in[0].cancel);
          const int64_t t = backwards ? s.t - 1 - n : n;
          step(cell, ElementsOf<float>(in[0]) + (t * s.b + b) * s.i, s.linear, &state,
               &memory);
          std::copy(state.begin(), state.end(),
                    ResultOf<float>(out[0]) + ((t * s.directions + d) * s.b + b) * s.h);
        }
        std::copy(state.begin(), state.end(), ResultOf<float>(out[1]) + first);
        if (states == 2) {
          std::copy(memory.begin(), memory.end(), ResultOf<float>(out[2]) + first);
        }
      }
    }
    return "";
  };
}

// ---- one step, whose products a unit has computed

enum Function { kSigmoid, kTanh, kRelu, kHardSigmoid, kSoftsign, kFunctions };

float Apply(int64_t function, float x) {
  switch (function) {
    case kSigmoid:
      return Logistic(static_cast<double>(x));
    case kTanh:
      return std::tanh(x);
    case kRelu:
      return x > 0 ? x : 0;
    case kHardSigmoid:
      return std::min(std::max(0.2f * x + 0.5f, 0.0f), 1.0f);
    default:
      return x / (1 + std::abs(x));
  }
}

// The gates' numbers: what comes from the input, of all steps, and from the state.
struct OneStep {
  int64_t t, b, h, at, gates;
  std::vector<int64_t> functions;
  float clip;
  const float *x, *state;

  int64_t Elements() const { return b * h; }
  float Bound(float v) const { return clip > 0 ? std::clamp(v, -clip, clip) : v; }
  float FromX(int64_t gate, int64_t i) const {
    return x[((at * b + i / h) * gates + gate) * h + i % h];
  }
  // of: so many gates lie in `state`.
  float FromState(int64_t gate, int64_t i, int64_t of) const {
    return state[(i / h * of + gate) * h + i % h];
  }
  float Sum(int64_t gate, int64_t i) const {
    return FromX(gate, i) + FromState(gate, i, gates);
  }
  float Gate(size_t function, float v) const {
    return Apply(functions[function], Bound(v));
  }
};

// How many gates there are, of how many the state has numbers, how many functions there are,
// and states behind the gates' numbers.
struct StepForm {
  int64_t gates, of_state;
  size_t functions, states, results;
};

bool ReadStep(const HostOperands& in, const HostOperands& out, const StepForm& form,
              OneStep* s) {
  const auto [gates, of_state, functions, states, results] = form;
  OnnxOptions options(in);
  *s = {options.Int(1, 1 << 20),
        options.Int(1, 1 << 20),
        options.Int(1, 1 << 20),
        options.Int(0, 1 << 20),
        gates,
        {},
        0,
        nullptr,
        nullptr};
  for (size_t i = 0; i < functions; ++i)
    s->functions.push_back(options.Int(0, kFunctions - 1));
  s->clip = options.Float();
  if (!options.Ended() || s->at >= s->t || in.size() < 3 + states ||
      out.size() != results || !IsFloats(in, 0, s->t * s->b * gates * s->h) ||
      !IsFloats(in, 1, s->b * of_state * s->h)) {
    return false;
  }
  for (size_t i = 0; i < states; ++i) {
    if (!IsFloats(in, 2 + i, s->Elements())) return false;
  }
  for (size_t i = 0; i < results; ++i) {
    if (!IsFloats(out, i, s->Elements())) return false;
  }
  s->x = ElementsOf<float>(in[0]);
  s->state = ElementsOf<float>(in[1]);
  return true;
}

std::string LstmStep(const HostOperands& in, const HostOperands& out) {
  OneStep s;
  if (!ReadStep(in, out, {4, 4, 3, 1, 2}, &s) || in.size() != 5) return kOnnxOperands;
  const bool peeps = CountOf(in[3]) != 1;
  if (!IsFloats(in, 3, peeps ? 3 * s.h : 1)) return kOnnxOperands;
  const float* const peepholes = ElementsOf<float>(in[3]);
  const auto peep = [&](int64_t gate, int64_t i, float c) {
    return peeps ? peepholes[gate * s.h + i % s.h] * c : 0.0f;
  };
  for (int64_t i = 0; i < s.Elements(); ++i) {
    const float before = ElementsOf<float>(in[2])[i];
    const float take = s.Gate(0, s.Sum(0, i) + peep(0, i, before)),
                keep = s.Gate(0, s.Sum(2, i) + peep(2, i, before)),
                fresh = s.Gate(1, s.Sum(3, i));
    const float c = keep * before + take * fresh;
    const float show = s.Gate(0, s.Sum(1, i) + peep(1, i, c));
    ResultOf<float>(out[0])[i] = show * Apply(s.functions[2], c);
    ResultOf<float>(out[1])[i] = c;
  }
  return "";
}

std::string GruStep(const HostOperands& in, const HostOperands& out) {
  OneStep s;
  if (!ReadStep(in, out, {3, 3, 2, 1, 1}, &s) || in.size() != 4) return kOnnxOperands;
  for (int64_t i = 0; i < s.Elements(); ++i) {
    const float update = s.Gate(0, s.Sum(0, i)), reset = s.Gate(0, s.Sum(1, i));
    const float hidden = s.Gate(1, s.FromX(2, i) + reset * s.FromState(2, i, 3));
    ResultOf<float>(out[0])[i] =
        (1 - update) * hidden + update * ElementsOf<float>(in[2])[i];
  }
  return "";
}

std::string GruReset(const HostOperands& in, const HostOperands& out) {
  OneStep s;
  if (!ReadStep(in, out, {3, 2, 2, 1, 2}, &s) || in.size() != 4) return kOnnxOperands;
  for (int64_t i = 0; i < s.Elements(); ++i) {
    const float reset = s.Gate(0, s.FromX(1, i) + s.FromState(1, i, 2));
    ResultOf<float>(out[0])[i] = s.Gate(0, s.FromX(0, i) + s.FromState(0, i, 2));
    ResultOf<float>(out[1])[i] = reset * ElementsOf<float>(in[2])[i];
  }
  return "";
}

std::string GruOutput(const HostOperands& in, const HostOperands& out) {
  OneStep s;
  if (!ReadStep(in, out, {3, 1, 2, 2, 1}, &s) || in.size() != 5) return kOnnxOperands;
  for (int64_t i = 0; i < s.Elements(); ++i) {
    const float hidden = s.Gate(1, s.FromX(2, i) + s.FromState(0, i, 1)),
                update = ElementsOf<float>(in[2])[i];
    ResultOf<float>(out[0])[i] =
        (1 - update) * hidden + update * ElementsOf<float>(in[3])[i];
  }
  return "";
}

std::string RnnStep(const HostOperands& in, const HostOperands& out) {
  OneStep s;
  if (!ReadStep(in, out, {1, 1, 1, 1, 1}, &s) || in.size() != 4) return kOnnxOperands;
  for (int64_t i = 0; i < s.Elements(); ++i)
    ResultOf<float>(out[0])[i] = s.Gate(0, s.Sum(0, i));
  return "";
}

std::string WithinLength(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const int64_t b = options.Int(1, 1 << 20), h = options.Int(1, 1 << 20),
                step = options.Int(0, 1 << 20);
  if (!options.Ended() || in.size() != 4 || !IsFloats(in, 0, b * h) ||
      !IsFloats(in, 1, b * h) || in[2].dtype != SLUICE_DTYPE_INT32 ||
      CountOf(in[2]) != b || out.empty() || out.size() > 2) {
    return kOnnxOperands;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (!IsFloats(out, i, b * h)) return kOnnxOperands;
  }
  for (int64_t i = 0; i < b * h; ++i) {
    const bool within = step < ElementsOf<int32_t>(in[2])[i / h];
    const float after = ElementsOf<float>(in[0])[i];
    ResultOf<float>(out[0])[i] = within ? after : ElementsOf<float>(in[1])[i];
    if (out.size() > 1) ResultOf<float>(out[1])[i] = within ? after : 0.0f;
  }
  return "";
}

}  // namespace

void AddOnnxRecurrent(OnnxRows* rows) {
  (*rows)["onnx.LSTM"] = Recurrent(4, 2, StepLstm);
  (*rows)["onnx.GRU"] = Recurrent(3, 1, StepGru);
  (*rows)["onnx.RNN"] = Recurrent(1, 1, StepRnn);
  (*rows)["onnx.LSTMStep"] = LstmStep;
  (*rows)["onnx.GRUStep"] = GruStep;
  (*rows)["onnx.GRUReset"] = GruReset;
  (*rows)["onnx.GRUOutput"] = GruOutput;
  (*rows)["onnx.RNNStep"] = RnnStep;
  (*rows)["onnx.WithinLength"] = WithinLength;
}

}  // namespace sluice_sim
