// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN with ONNX's default functions.
#include <cmath>

#include "cancel.h"
#include "host_onnx.h"

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

}  // namespace

void AddOnnxRecurrent(OnnxRows* rows) {
  (*rows)["onnx.LSTM"] = Recurrent(4, 2, StepLstm);
  (*rows)["onnx.GRU"] = Recurrent(3, 1, StepGru);
  (*rows)["onnx.RNN"] = Recurrent(1, 1, StepRnn);
}

}  // namespace sluice_sim
