// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of one, two and three operands, and quantisation.
#include <algorithm>
#include <cmath>
#include <limits>

#include "host_onnx.h"
#include "sluice/ops.h"

namespace sluice_sim {
namespace {

using Shape = std::vector<int64_t>;

struct Parameters {
  float alpha, beta, gamma;
};

template <typename F>
HostFunction Unary(F f) {
  return [f](const HostOperands& in, const HostOperands& out) -> std::string {
    OnnxOptions options(in);
    const Parameters p = {options.Float(), options.Float(), options.Float()};
    const int64_t count = in.size() == 2 ? CountOf(in[0]) : -1;
    if (!options.Ended() || out.size() != 1 || !IsFloats(in, 0, count) ||
        !IsFloats(out, 0, count)) {
      return kOnnxOperands;
    }
    for (int64_t i = 0; i < count; ++i) {
      ResultOf<float>(out[0])[i] = f(ElementsOf<float>(in[0])[i], p);
    }
    return "";
  };
}

// For each element of an output, its index in an operand that broadcasts to it.
std::vector<int64_t> Places(const Shape& out, const Shape& operand) {
  std::vector<int64_t> places = {0};
  int64_t stride = Elements(operand);
  for (size_t axis = 0; axis < out.size(); ++axis) {
    stride /= operand[axis];
    std::vector<int64_t> next;
    next.reserve(places.size() * static_cast<size_t>(out[axis]));
    for (const int64_t place : places) {
      for (int64_t i = 0; i < out[axis]; ++i) {
        next.push_back(place + (operand[axis] == 1 ? 0 : i * stride));
      }
    }
    places = std::move(next);
  }
  return places;
}

bool Broadcasts(const Shape& operand, const Shape& out) {
  if (operand.size() != out.size()) return false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (operand[i] != 1 && operand[i] != out[i]) return false;
  }
  return true;
}

template <typename T, typename F>
HostFunction Binary(F f) {
  return [f](const HostOperands& in, const HostOperands& out) -> std::string {
    OnnxOptions options(in);
    const Shape shape = options.Shape(), a = options.Shape(), b = options.Shape();
    if (!options.Ended() || in.size() != 3 || out.size() != 1 ||
        !Broadcasts(a, shape) || !Broadcasts(b, shape) ||
        !IsFloats(in, 0, Elements(a)) || !IsFloats(in, 1, Elements(b)) ||
        !IsFloats(out, 0, Elements(shape))) {
      return kOnnxOperands;
    }
    const std::vector<int64_t> first = Places(shape, a), second = Places(shape, b);
    for (size_t i = 0; i < first.size(); ++i) {
      ResultOf<T>(out[0])[i] =
          f(ElementsOf<T>(in[0])[first[i]], ElementsOf<T>(in[1])[second[i]]);
    }
    return "";
  };
}

std::string CastToInt32(const HostOperands& in, const HostOperands& out) {
  if (in.size() != 2 || out.size() != 1 || !IsFloats(in, 0, CountOf(out[0])) ||
      out[0].dtype != SLUICE_DTYPE_INT32) {
    return kOnnxOperands;
  }
  for (int64_t i = 0; i < CountOf(out[0]); ++i) {
    const float x = ElementsOf<float>(in[0])[i];
    const bool has_one = x >= -2147483648.0f && x < 2147483648.0f;
    ResultOf<int32_t>(out[0])[i] = has_one ? static_cast<int32_t>(x) : INT32_MIN;
  }
  return "";
}

std::string Where(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const Shape shape = options.Shape(), c = options.Shape(), a = options.Shape(),
              b = options.Shape();
  if (!options.Ended() || in.size() != 4 || out.size() != 1 || !Broadcasts(c, shape) ||
      !Broadcasts(a, shape) || !Broadcasts(b, shape) ||
      in[0].dtype != SLUICE_DTYPE_UINT8 || CountOf(in[0]) != Elements(c) ||
      !IsFloats(in, 1, Elements(a)) || !IsFloats(in, 2, Elements(b)) ||
      !IsFloats(out, 0, Elements(shape))) {
    return kOnnxOperands;
  }
  const std::vector<int64_t> which = Places(shape, c), first = Places(shape, a),
                             second = Places(shape, b);
  for (size_t i = 0; i < first.size(); ++i) {
    ResultOf<float>(out[0])[i] = ElementsOf<uint8_t>(in[0])[which[i]] != 0
                                     ? ElementsOf<float>(in[1])[first[i]]
                                     : ElementsOf<float>(in[2])[second[i]];
  }
  return "";
}

struct Limits {
  float least, most;
};
Limits LimitsOf(int dtype) {
  if (dtype == SLUICE_DTYPE_UINT8) return {0, 255};
  if (dtype == SLUICE_DTYPE_INT16) return {-32768, 32767};
  return {-128, 127};
}

// To nearest, ties to even.
int32_t Quantised(float real, float scale, int32_t zero, const Limits& limits) {
  const float steps = real / scale, shift = static_cast<float>(zero);
  if (std::isnan(steps)) return static_cast<int32_t>(limits.least);
  const float bounded = std::clamp(steps, limits.least - shift, limits.most - shift);
  return static_cast<int32_t>(std::nearbyint(bounded)) + zero;
}

void StoreNumber(const HostOperand& out, int64_t i, int32_t number) {
  if (out.dtype == SLUICE_DTYPE_INT16) {
    ResultOf<int16_t>(out)[i] = static_cast<int16_t>(number);
  } else {
    ResultOf<uint8_t>(out)[i] = static_cast<uint8_t>(number);
  }
}

// Whether x, scales and zero points fit; channels and inner are the options.
bool IsQuantised(const HostOperands& in, const HostOperands& out, int64_t channels) {
  return in.size() == 4 && out.size() == 1 && CountOf(in[0]) == CountOf(out[0]) &&
         IsFloats(in, 1, channels) && IsFloats(in, 2, channels);
}

bool IsNarrow(int dtype) {
  return dtype == SLUICE_DTYPE_INT8 || dtype == SLUICE_DTYPE_UINT8 ||
         dtype == SLUICE_DTYPE_INT16;
}

std::string Quantise(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const int64_t channels = options.Int(1), inner = options.Int(1);
  if (!options.Ended() || !IsQuantised(in, out, channels) ||
      !IsFloats(in, 0, CountOf(in[0])) || !IsNarrow(out[0].dtype)) {
    return kOnnxOperands;
  }
  const Limits limits = LimitsOf(out[0].dtype);
  for (int64_t i = 0; i < CountOf(in[0]); ++i) {
    const int64_t c = i / inner % channels;
    const int32_t zero = ElementsOf<int32_t>(in[2])[c];
    if (zero < limits.least || zero > limits.most) return "a zero point out of range";
    StoreNumber(out[0], i,
                Quantised(ElementsOf<float>(in[0])[i], ElementsOf<float>(in[1])[c],
                          zero, limits));
  }
  return "";
}

std::string Dequantise(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const int64_t channels = options.Int(1), inner = options.Int(1);
  if (!options.Ended() || !IsQuantised(in, out, channels) ||
      !IsFloats(out, 0, CountOf(in[0])) || in[0].dtype == SLUICE_DTYPE_INT64) {
    return kOnnxOperands;
  }
  for (int64_t i = 0; i < CountOf(in[0]); ++i) {
    const int64_t c = i / inner % channels;
    const int dtype = in[0].dtype;
    const int64_t stored = dtype == SLUICE_DTYPE_INT8    ? ElementsOf<int8_t>(in[0])[i]
                           : dtype == SLUICE_DTYPE_UINT8 ? ElementsOf<uint8_t>(in[0])[i]
                           : dtype == SLUICE_DTYPE_INT16
                               ? ElementsOf<int16_t>(in[0])[i]
                               : ElementsOf<int32_t>(in[0])[i];
    ResultOf<float>(out[0])[i] =
        static_cast<float>(stored - ElementsOf<int32_t>(in[2])[c]) *
        ElementsOf<float>(in[1])[c];
  }
  return "";
}

std::string DynamicQuantise(const HostOperands& in, const HostOperands& out) {
  if (in.size() != 2 || out.size() != 3 || !IsFloats(in, 0, CountOf(in[0])) ||
      (out[0].dtype != SLUICE_DTYPE_UINT8 && out[0].dtype != SLUICE_DTYPE_INT8) ||
      CountOf(out[0]) != CountOf(in[0]) || !IsFloats(out, 1, 1) ||
      out[2].dtype != out[0].dtype || CountOf(out[2]) != 1) {
    return kOnnxOperands;
  }
  const int32_t less = out[0].dtype == SLUICE_DTYPE_INT8 ? 128 : 0;
  const float* x = ElementsOf<float>(in[0]);
  float least = 0, most = 0;
  for (int64_t i = 0; i < CountOf(in[0]); ++i) {
    least = std::min(least, x[i]);
    most = std::max(most, x[i]);
  }
  const float scale = most == least ? 1.0f : (most - least) / 255.0f;
  const float zero = std::nearbyint(std::clamp(-least / scale, 0.0f, 255.0f));
  const int32_t stored = std::isnan(zero) ? 0 : static_cast<int32_t>(zero);
  ResultOf<float>(out[1])[0] = scale;
  ResultOf<uint8_t>(out[2])[0] = static_cast<uint8_t>(stored - less);
  for (int64_t i = 0; i < CountOf(in[0]); ++i) {
    StoreNumber(out[0], i, Quantised(x[i], scale, stored, {0, 255}) - less);
  }
  return "";
}

// Floats to the nearest steps, ties to even.
std::string RoundToSteps(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const float scale = options.Float();
  const int64_t least = options.Int(INT32_MIN), most = options.Int(INT32_MIN);
  const int64_t count = in.size() == 2 ? CountOf(in[0]) : -1;
  if (!options.Ended() || out.size() != 1 || !IsFloats(in, 0, count) ||
      !IsFloats(out, 0, count) || !(scale > 0) || least > most) {
    return kOnnxOperands;
  }
  const Limits limits = {static_cast<float>(least), static_cast<float>(most)};
  for (int64_t i = 0; i < count; ++i) {
    ResultOf<float>(out[0])[i] =
        static_cast<float>(Quantised(ElementsOf<float>(in[0])[i], scale, 0, limits)) *
        scale;
  }
  return "";
}

// The operands' elements, one operand behind the other, in another order.
std::string Pick(const HostOperands& in, const HostOperands& out) {
  if (in.size() < 2 || out.size() != 1 || in.back().dtype != SLUICE_DTYPE_INT32 ||
      CountOf(in.back()) != CountOf(out[0]) + 1) {
    return kOnnxOperands;
  }
  const bool wide = out[0].dtype == SLUICE_DTYPE_INT32;
  if (!wide && out[0].dtype != SLUICE_DTYPE_INT8 &&
      out[0].dtype != SLUICE_DTYPE_UINT8) {
    return kOnnxOperands;
  }
  std::vector<const HostOperand*> from;
  std::vector<int64_t> place;
  for (size_t i = 0; i + 1 < in.size(); ++i) {
    if (in[i].dtype != out[0].dtype) return kOnnxOperands;
    for (int64_t j = 0; j < CountOf(in[i]); ++j) {
      from.push_back(&in[i]);
      place.push_back(j);
    }
  }
  const int32_t* picks = ElementsOf<int32_t>(in.back());
  const int32_t fill = picks[CountOf(out[0])];
  for (int64_t i = 0; i < CountOf(out[0]); ++i) {
    if (picks[i] >= static_cast<int64_t>(from.size())) return kOnnxOperands;
    const size_t at = static_cast<size_t>(std::max(picks[i], 0));
    if (wide) {
      ResultOf<int32_t>(out[0])[i] =
          picks[i] < 0 ? fill : ElementsOf<int32_t>(*from[at])[place[at]];
    } else {
      ResultOf<uint8_t>(out[0])[i] = picks[i] < 0
                                         ? static_cast<uint8_t>(fill)
                                         : ElementsOf<uint8_t>(*from[at])[place[at]];
    }
  }
  return "";
}

void AddCurves(OnnxRows* rows) {
  using P = const Parameters&;
  OnnxRows& r = *rows;
  r["onnx.Abs"] = Unary([](float x, P) { return std::fabs(x); });
  r["onnx.Neg"] = Unary([](float x, P) { return -x; });
  r["onnx.Ceil"] = Unary([](float x, P) { return std::ceil(x); });
  r["onnx.Floor"] = Unary([](float x, P) { return std::floor(x); });
  r["onnx.Trunc"] = Unary([](float x, P) { return std::trunc(x); });
  r["onnx.Round"] = Unary([](float x, P) { return std::nearbyint(x); });
  r["onnx.Exp"] = Unary([](float x, P) { return std::exp(x); });
  r["onnx.Log"] = Unary([](float x, P) { return std::log(x); });
  r["onnx.Sqrt"] = Unary([](float x, P) { return std::sqrt(x); });
  r["onnx.Reciprocal"] = Unary([](float x, P) { return 1 / x; });
  r["onnx.Erf"] = Unary([](float x, P) { return OnnxErf(x); });
  r["onnx.Sin"] = Unary([](float x, P) { return std::sin(x); });
  r["onnx.Cos"] = Unary([](float x, P) { return std::cos(x); });
  r["onnx.Tanh"] = Unary([](float x, P) { return OnnxTanh(x); });
  r["onnx.Sigmoid"] = Unary([](float x, P) { return OnnxLogistic(x); });
  r["onnx.Softsign"] = Unary([](float x, P) { return x / (1 + std::fabs(x)); });
  r["onnx.Softplus"] = Unary([](float x, P) {
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  });
  r["onnx.Mish"] =
      Unary([](float x, P) { return x * OnnxTanh(std::log1p(std::exp(x))); });
  r["onnx.Gelu"] =
      Unary([](float x, P) { return x * 0.5f * (1 + OnnxErf(x * 0.70710678f)); });
  r["onnx.Relu"] = Unary([](float x, P) { return std::max(x, 0.0f); });
  r["onnx.LeakyRelu"] = Unary([](float x, P p) { return x < 0 ? p.alpha * x : x; });
  r["onnx.Elu"] =
      Unary([](float x, P p) { return x < 0 ? p.alpha * std::expm1(x) : x; });
  r["onnx.Selu"] = Unary(
      [](float x, P p) { return p.gamma * (x < 0 ? p.alpha * std::expm1(x) : x); });
  r["onnx.HardSigmoid"] = Unary([](float x, P p) {
    return std::max(0.0f, std::min(1.0f, p.alpha * x + p.beta));
  });
  r["onnx.HardSwish"] = Unary(
      [](float x, P) { return x * std::max(0.0f, std::min(1.0f, x / 6 + 0.5f)); });
  r["onnx.Clip"] =
      Unary([](float x, P p) { return std::min(std::max(x, p.alpha), p.beta); });
}

void AddMoreCurves(OnnxRows* rows) {
  using P = const Parameters&;
  OnnxRows& r = *rows;
  r["onnx.Sign"] = Unary([](float x, P) {
    return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f;
  });
  r["onnx.Tan"] = Unary([](float x, P) { return std::tan(x); });
  r["onnx.Atan"] = Unary([](float x, P) { return std::atan(x); });
  r["onnx.Sinh"] = Unary([](float x, P) { return std::sinh(x); });
  r["onnx.Cosh"] = Unary([](float x, P) { return std::cosh(x); });
  r["onnx.Asinh"] = Unary([](float x, P) { return std::asinh(x); });
  r["onnx.Celu"] =
      Unary([](float x, P p) { return x < 0 ? p.alpha * std::expm1(x / p.alpha) : x; });
  r["onnx.ThresholdedRelu"] = Unary([](float x, P p) { return x > p.alpha ? x : 0; });
  r["onnx.Swish"] = Unary([](float x, P p) { return x * OnnxLogistic(p.alpha * x); });
  r["onnx.QuickGelu"] = r["onnx.Swish"];
  r["onnx.FastGelu"] = Unary([](float x, P) {
    return x * 0.5f * (1 + OnnxTanh(0.79788456f * (x + 0.044715f * x * x * x)));
  });
  r["onnx.Shrink"] = Unary([](float x, P p) {
    return x < -p.beta ? x + p.alpha : x > p.beta ? x - p.alpha : 0;
  });
}

}  // namespace

void AddOnnxElementwise(OnnxRows* rows) {
  AddCurves(rows);
  AddMoreCurves(rows);
  OnnxRows& r = *rows;
  r["onnx.Add"] = Binary<float>([](float x, float y) { return x + y; });
  r["onnx.Sub"] = Binary<float>([](float x, float y) { return x - y; });
  r["onnx.Mul"] = Binary<float>([](float x, float y) { return x * y; });
  r["onnx.Div"] = Binary<float>([](float x, float y) { return x / y; });
  r["onnx.Pow"] = Binary<float>([](float x, float y) { return std::pow(x, y); });
  r["onnx.Min"] = Binary<float>([](float x, float y) { return std::min(x, y); });
  r["onnx.Max"] = Binary<float>([](float x, float y) { return std::max(x, y); });
  r["onnx.PRelu"] = Binary<float>([](float x, float y) { return x < 0 ? x * y : x; });
  r["onnx.Mod"] = Binary<float>([](float x, float y) { return std::fmod(x, y); });
  r["onnx.CastToInt32"] = CastToInt32;
  r["onnx.Where"] = Where;
  r["onnx.Pick"] = Pick;
  r["onnx.RoundToSteps"] = RoundToSteps;
  r["onnx.QuantizeLinear"] = Quantise;
  r["onnx.DequantizeLinear"] = Dequantise;
  r["onnx.DynamicQuantizeLinear"] = DynamicQuantise;
}

}  // namespace sluice_sim
