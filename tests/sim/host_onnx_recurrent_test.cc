// SPDX-License-Identifier: Apache-2.0
// Steps of recurrent layers whose products a unit has computed, beside ONNX's equations written
// out gate by gate. Whole sequences are in host_onnx_test.cc and host_answers.txt.
#include <cmath>

#include "firmware-sim/host_onnx.h"
#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

using Floats = std::vector<float>;
using Rows = std::vector<Floats>;

enum Function { kSigmoid, kTanh, kRelu, kHardSigmoid, kSoftsign };

double Bent(int function, double x) {
  if (function == kSigmoid) return 1 / (1 + std::exp(-x));
  if (function == kTanh) return std::tanh(x);
  if (function == kRelu) return x < 0 ? 0 : x;
  if (function == kSoftsign) return x / (x < 0 ? 1 - x : 1 + x);
  const double straight = 0.2 * x + 0.5;
  return straight < 0 ? 0 : straight > 1 ? 1 : straight;
}

// Numbers around 0 that do not repeat within an operand.
Rows Some(size_t rows, size_t columns, int first) {
  Rows some(rows, Floats(columns));
  int next = first;
  for (Floats& row : some) {
    for (float& number : row) {
      number = static_cast<float>(next % 211 - 105) * 0.0211f;
      next += 83;
    }
  }
  return some;
}

Floats Flat(const Rows& rows) {
  Floats flat;
  for (const Floats& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return flat;
}

constexpr size_t kSteps = 4, kStep = 2, kBatch = 3, kState = 2;

// A call for step kStep of kSteps, of kBatch sequences and kState numbers. A row of `x` and of
// `from_state` has the numbers of one gate, gates of a sequence one behind the other.
struct StepCase {
  size_t gates, of_state;
  std::vector<int> functions;
  float clip;
  Rows x, from_state;
  std::vector<Rows> states;  // a row for each sequence
  Floats peepholes;
  HostCase call;

  StepCase(size_t all, size_t some, std::vector<int> curves, float bound, size_t others)
      : gates(all),
        of_state(some),
        functions(std::move(curves)),
        clip(bound),
        x(Some(kSteps * kBatch * all, kState, 5)),
        from_state(Some(kBatch * some, kState, 36)),
        states(others) {
    for (size_t i = 0; i < others; ++i)
      states[i] = Some(kBatch, kState, static_cast<int>(60 + 9 * i));
  }

  void Ask(const std::string& name, size_t results, bool peeps) {
    call.Floats(Flat(x));
    call.Floats(Flat(from_state));
    for (const Rows& state : states) call.Floats(Flat(state));
    if (name == "onnx.LSTMStep") call.Floats(peeps ? peepholes : Floats{0});
    std::vector<int32_t> options = {kSteps, kBatch, kState, kStep};
    options.insert(options.end(), functions.begin(), functions.end());
    options.push_back(Bits(clip));
    call.Options(options);
    for (size_t i = 0; i < results; ++i) call.WantedFloats(kBatch * kState);
    CHECK(call.Run(name) == "");
  }
  double X(size_t sequence, size_t gate, size_t i) const {
    return static_cast<double>(x[(kStep * kBatch + sequence) * gates + gate][i]);
  }
  double R(size_t sequence, size_t gate, size_t i) const {
    return static_cast<double>(from_state[sequence * of_state + gate][i]);
  }
  double S(size_t state, size_t sequence, size_t i) const {
    return static_cast<double>(states[state][sequence][i]);
  }
  // Peephole of the gates in, out, forget.
  double P(bool peeps, size_t gate, size_t i) const {
    return peeps ? static_cast<double>(peepholes[gate * kState + i]) : 0;
  }
  double F(size_t function, double v) const {
    const double most = static_cast<double>(clip);
    if (most > 0) v = v < -most ? -most : v > most ? most : v;
    return Bent(functions[function], v);
  }
  template <typename Want>
  void Check(size_t result, Want want) const {
    const Floats got = call.Result<float>(result);
    REQUIRE(got.size() == kBatch * kState);
    size_t at = 0;
    for (size_t b = 0; b < kBatch; ++b) {
      for (size_t i = 0; i < kState; ++i) {
        CHECK(std::abs(static_cast<double>(got[at++]) - want(b, i)) <= 1e-6);
      }
    }
  }
};

TEST_CASE("host onnx recurrent: functions of gates by hand") {
  const struct {
    int32_t function;
    Floats x, want;
  } rows[] = {{kSigmoid, {0, -100, 100}, {0.5f, 0, 1}},
              {kTanh, {0, -100, 100}, {0, -1, 1}},
              {kRelu, {-2, 3, -0.0f}, {0, 3, 0}},
              {kHardSigmoid, {1, -1.5f, 4}, {0.7f, 0.2f, 1}},
              {kHardSigmoid, {-4, -2.5f, 0}, {0, 0, 0.5f}},
              {kSoftsign, {1, -3, 0}, {0.5f, -0.75f, 0}}};
  for (const auto& row : rows) {
    CAPTURE(row.function);
    HostCase c;
    c.Floats(row.x);
    c.Floats({0, 0, -0.0f});
    c.Floats({9, 9, 9});
    c.Options({1, 1, 3, 0, row.function, Bits(0)});
    c.WantedFloats(3);
    CHECK(c.Run("onnx.RNNStep") == "");
    const Floats got = c.Result<float>();
    for (size_t i = 0; i < 3; ++i) CHECK(std::abs(got[i] - row.want[i]) <= 1e-6f);
    CHECK(!std::signbit(got[2]));
  }
}

TEST_CASE("host onnx recurrent: sums are clipped before a function, on both sides") {
  HostCase c;
  c.Floats({1, -1, 0.25f});
  c.Floats({1, -1, 0.125f});
  c.Floats({0, 0, 0});
  c.Options({1, 1, 3, 0, kTanh, Bits(0.5f)});
  c.WantedFloats(3);
  CHECK(c.Run("onnx.RNNStep") == "");
  const Floats got = c.Result<float>();
  CHECK(std::abs(got[0] - std::tanh(0.5f)) <= 1e-6f);
  CHECK(std::abs(got[1] + std::tanh(0.5f)) <= 1e-6f);
  CHECK(std::abs(got[2] - std::tanh(0.375f)) <= 1e-6f);
}

// Gates: in, out, forget, cell.
TEST_CASE("host onnx recurrent: a step of LSTM, with peepholes and without") {
  const std::vector<int> curves[] = {{kSigmoid, kTanh, kTanh},
                                     {kHardSigmoid, kSoftsign, kRelu}};
  for (const std::vector<int>& functions : curves) {
    for (const float clip : {0.0f, 0.75f}) {
      for (const bool peeps : {false, true}) {
        StepCase s(4, 4, functions, clip, 1);
        s.peepholes = {0.3f, -0.6f, 0.9f, 0.7f, -0.2f, 0.5f};
        s.Ask("onnx.LSTMStep", 2, peeps);
        const auto cell = [&](size_t b, size_t i) {
          const double c = s.S(0, b, i);
          const double in = s.F(0, s.X(b, 0, i) + s.R(b, 0, i) + s.P(peeps, 0, i) * c);
          const double keep =
              s.F(0, s.X(b, 2, i) + s.R(b, 2, i) + s.P(peeps, 2, i) * c);
          return keep * c + in * s.F(1, s.X(b, 3, i) + s.R(b, 3, i));
        };
        s.Check(1, cell);
        s.Check(0, [&](size_t b, size_t i) {
          const double c = cell(b, i);
          return s.F(0, s.X(b, 1, i) + s.R(b, 1, i) + s.P(peeps, 1, i) * c) *
                 Bent(functions[2], c);
        });
      }
    }
  }
}

// Gates: update, reset, hidden.
TEST_CASE("host onnx recurrent: a step of GRU, whole and in two") {
  for (const float clip : {0.0f, 0.75f}) {
    StepCase whole(3, 3, {kSigmoid, kTanh}, clip, 1);
    whole.Ask("onnx.GRUStep", 1, false);
    whole.Check(0, [&](size_t b, size_t i) {
      const double z = whole.F(0, whole.X(b, 0, i) + whole.R(b, 0, i));
      const double r = whole.F(0, whole.X(b, 1, i) + whole.R(b, 1, i));
      const double hidden = whole.F(1, whole.X(b, 2, i) + r * whole.R(b, 2, i));
      return (1 - z) * hidden + z * whole.S(0, b, i);
    });
    StepCase reset(3, 2, {kHardSigmoid, kTanh}, clip, 1);
    reset.Ask("onnx.GRUReset", 2, false);
    reset.Check(0, [&](size_t b, size_t i) {
      return reset.F(0, reset.X(b, 0, i) + reset.R(b, 0, i));
    });
    reset.Check(1, [&](size_t b, size_t i) {
      return reset.F(0, reset.X(b, 1, i) + reset.R(b, 1, i)) * reset.S(0, b, i);
    });
    StepCase output(3, 1, {kSigmoid, kSoftsign}, clip, 2);
    output.Ask("onnx.GRUOutput", 1, false);
    output.Check(0, [&](size_t b, size_t i) {
      const double z = output.S(0, b, i);
      const double hidden = output.F(1, output.X(b, 2, i) + output.R(b, 0, i));
      return (1 - z) * hidden + z * output.S(1, b, i);
    });
  }
}

TEST_CASE("host onnx recurrent: a step of RNN is a function of a sum") {
  StepCase s(1, 1, {kTanh}, 0, 1);
  s.Ask("onnx.RNNStep", 1, false);
  s.Check(0, [&](size_t b, size_t i) { return s.F(0, s.X(b, 0, i) + s.R(b, 0, i)); });
}

// Calls that differ in one operand's extent or type, by one operand, or in an option.
void RefusesOthers(const StepCase& s, const std::string& name) {
  CAPTURE(name);
  const auto refused = [&](auto change) {
    HostCase other = s.call;
    change(&other);
    CHECK(other.Run(name) == kOnnxOperands);
  };
  for (size_t i = 0; i < s.call.in.size(); ++i) {
    CAPTURE(i);
    refused([&](HostCase* c) { c->in.erase(c->in.begin() + static_cast<long>(i)); });
    refused([&](HostCase* c) { c->in.insert(c->in.begin(), c->in[i]); });
    refused([&](HostCase* c) { c->in[i].extent[3] += 1; });
    refused([&](HostCase* c) { c->in[i].extent[3] -= 1; });
    refused([&](HostCase* c) { c->in[i].dtype = SLUICE_DTYPE_INT16; });
  }
  for (size_t i = 0; i < s.call.out.size(); ++i) {
    CAPTURE(i);
    refused([&](HostCase* c) { c->out.push_back(c->out[i]); });
    refused([&](HostCase* c) { c->out[i].extent[3] += 1; });
    refused([&](HostCase* c) { c->out[i].extent[3] -= 1; });
  }
  refused([](HostCase* c) { c->out.pop_back(); });
  int32_t* options = ResultOf<int32_t>(s.call.in.back());
  for (size_t o = 0; o < 4 + s.functions.size(); ++o) {
    CAPTURE(o);
    const int32_t is = options[o];
    // No such step, or no such function.
    std::vector<int32_t> wrong = {-1, is + 1};
    if (o >= 3) wrong.back() = o == 3 ? static_cast<int32_t>(kSteps) : 5;
    for (const int32_t other : wrong) {
      options[o] = other;
      refused([](HostCase*) {});
    }
    options[o] = is;
  }
}

TEST_CASE("host onnx recurrent: operands of other extents are refused") {
  StepCase plain(4, 4, {kSigmoid, kTanh, kTanh}, 0, 1);
  plain.Ask("onnx.LSTMStep", 2, false);
  RefusesOthers(plain, "onnx.LSTMStep");
  StepCase peeps(4, 4, {kSigmoid, kTanh, kTanh}, 0, 1);
  peeps.peepholes = Floats(3 * kState, 0.5f);
  peeps.Ask("onnx.LSTMStep", 2, true);
  RefusesOthers(peeps, "onnx.LSTMStep");
  StepCase whole(3, 3, {kSigmoid, kTanh}, 0, 1);
  whole.Ask("onnx.GRUStep", 1, false);
  RefusesOthers(whole, "onnx.GRUStep");
  StepCase reset(3, 2, {kSigmoid, kTanh}, 0, 1);
  reset.Ask("onnx.GRUReset", 2, false);
  RefusesOthers(reset, "onnx.GRUReset");
  StepCase output(3, 1, {kSigmoid, kTanh}, 0, 2);
  output.Ask("onnx.GRUOutput", 1, false);
  RefusesOthers(output, "onnx.GRUOutput");
  StepCase rnn(1, 1, {kTanh}, 0, 1);
  rnn.Ask("onnx.RNNStep", 1, false);
  RefusesOthers(rnn, "onnx.RNNStep");
}

TEST_CASE("host onnx recurrent: a sequence that has ended keeps its state") {
  const auto call = [](int32_t step, int64_t lengths, int results) {
    HostCase c;
    c.Floats({1, 2, 3, 4});
    c.Floats({5, 6, 7, 8});
    c.Ints({1, 1, 1, lengths}, std::vector<int32_t>(static_cast<size_t>(lengths), 1));
    ResultOf<int32_t>(c.in[2])[0] = 3;
    c.Options({2, 2, step});
    for (int i = 0; i < results; ++i) c.WantedFloats(4);
    return c;
  };
  HostCase both = call(2, 2, 2), first = call(0, 2, 1);
  CHECK(both.Run("onnx.WithinLength") == "");
  CHECK(both.Result<float>(0) == Floats{1, 2, 7, 8});
  CHECK(both.Result<float>(1) == Floats{1, 2, 0, 0});
  CHECK(first.Run("onnx.WithinLength") == "");
  CHECK(first.Result<float>(0) == Floats{1, 2, 3, 4});
  CHECK(call(2, 3, 2).Run("onnx.WithinLength") == kOnnxOperands);
  CHECK(call(2, 2, 3).Run("onnx.WithinLength") == kOnnxOperands);
  CHECK(call(-1, 2, 2).Run("onnx.WithinLength") == kOnnxOperands);
}

TEST_CASE("host onnx recurrent: a whole sequence has one result of each kind") {
  for (const int32_t gates : {1, 3, 4}) {
    const std::string name = gates == 1   ? "onnx.RNN"
                             : gates == 3 ? "onnx.GRU"
                                          : "onnx.LSTM";
    const size_t states = gates == 4 ? 2 : 1, all = static_cast<size_t>(gates);
    CAPTURE(name);
    HostCase c;  // one step of one number
    c.Floats({0.5f});
    c.Floats(Floats(all, 0.25f));
    c.Floats(Floats(all, 0.25f));
    c.Floats(Floats(2 * all, 0));
    for (size_t i = 0; i < states; ++i) c.Floats({0});
    c.Options({1, 1, 1, 1, 1, 0, 0});
    for (size_t i = 0; i < 1 + states; ++i) c.WantedFloats(1);
    CHECK(c.Run(name) == "");
    HostCase more = c;
    more.out.push_back(more.out[1]);
    CHECK(more.Run(name) == kOnnxOperands);
    HostCase longer = c;
    longer.in.insert(longer.in.end() - 1, longer.in[4]);
    CHECK(longer.Run(name) == kOnnxOperands);
  }
}

}  // namespace
}  // namespace sluice_sim
