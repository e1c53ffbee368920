// SPDX-License-Identifier: Apache-2.0
// ONNX: functions of one number.
#include <algorithm>
#include <cmath>
#include <limits>

#include "import/error.h"
#include "import/onnx/onnx_lowering.h"

namespace sluice::import {
namespace {

using Function = std::function<float(float)>;

float Logistic(float x) { return 1 / (1 + std::exp(-x)); }

float ErrorGelu(float x) { return x * 0.5f * (1 + std::erf(x * 0.70710678f)); }

float TanhGelu(float x) {
  return x * 0.5f * (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
}

// Functions without attributes.
Function Plain(const std::string& op) {
  if (op == "Sigmoid") return Logistic;
  if (op == "Tanh") return [](float x) { return std::tanh(x); };
  if (op == "HardSwish") {
    return [](float x) { return x * std::clamp(x / 6 + 0.5f, 0.0f, 1.0f); };
  }
  if (op == "Softplus") return [](float x) { return std::log1p(std::exp(x)); };
  if (op == "Softsign") return [](float x) { return x / (1 + std::fabs(x)); };
  if (op == "Mish") {
    return [](float x) { return x * std::tanh(std::log1p(std::exp(x))); };
  }
  if (op == "FastGelu") return TanhGelu;
  if (op == "Erf") return [](float x) { return std::erf(x); };
  if (op == "Exp") return [](float x) { return std::exp(x); };
  if (op == "Log") return [](float x) { return std::log(x); };
  if (op == "Sqrt") return [](float x) { return std::sqrt(x); };
  if (op == "Reciprocal") return [](float x) { return 1 / x; };
  if (op == "Neg") return [](float x) { return -x; };
  if (op == "Abs") return [](float x) { return std::fabs(x); };
  if (op == "Floor") return [](float x) { return std::floor(x); };
  if (op == "Ceil") return [](float x) { return std::ceil(x); };
  if (op == "Round") return [](float x) { return std::nearbyint(x); };
  if (op == "Sign") return [](float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f; };
  if (op == "Sin") return [](float x) { return std::sin(x); };
  if (op == "Cos") return [](float x) { return std::cos(x); };
  if (op == "Tan") return [](float x) { return std::tan(x); };
  if (op == "Atan") return [](float x) { return std::atan(x); };
  if (op == "Sinh") return [](float x) { return std::sinh(x); };
  if (op == "Cosh") return [](float x) { return std::cosh(x); };
  if (op == "Asinh") return [](float x) { return std::asinh(x); };
  return nullptr;
}

}  // namespace

OnnxCurveNumbers CurveNumbersOf(const OnnxNode& node, const std::string& op) {
  const float alpha = op == "LeakyRelu"     ? 0.01f
                      : op == "HardSigmoid" ? 0.2f
                      : op == "Selu"        ? 1.67326319f
                      : op == "QuickGelu"   ? 1.702f
                                            : 1.0f;
  if (op == "Shrink") return {node.Float("bias", 0), node.Float("lambd", 0.5f), 0};
  return {node.Float("alpha", alpha), node.Float("beta", 0.5f),
          node.Float("gamma", 1.05070102f)};
}

Function OnnxCurve(const OnnxNode& node) {
  const size_t quantised = node.op.find("QLinear"), dot = node.op.rfind('.');
  const std::string op = quantised != std::string::npos ? node.op.substr(quantised + 7)
                         : dot != std::string::npos     ? node.op.substr(dot + 1)
                                                        : node.op;
  const auto [alpha, beta, gamma] = CurveNumbersOf(node, op);
  const float a = alpha, b = beta, g = gamma;
  if (op == "Gelu") {
    return node.Text("approximate", "none") == "none" ? ErrorGelu : TanhGelu;
  }
  if (op == "LeakyRelu") return [=](float x) { return x < 0 ? a * x : x; };
  if (op == "HardSigmoid") {
    return [=](float x) { return std::clamp(a * x + b, 0.0f, 1.0f); };
  }
  if (op == "Elu") return [=](float x) { return x < 0 ? a * std::expm1(x) : x; };
  if (op == "Celu") return [=](float x) { return x < 0 ? a * std::expm1(x / a) : x; };
  if (op == "Selu") {
    return [=](float x) { return g * (x < 0 ? a * std::expm1(x) : x); };
  }
  if (op == "ThresholdedRelu") return [=](float x) { return x > a ? x : 0; };
  if (op == "QuickGelu" || op == "Swish") {
    return [=](float x) { return x * Logistic(a * x); };
  }
  if (op == "Shrink") {
    return [=](float x) { return x < -b ? x + a : x > b ? x - a : 0; };
  }
  return Plain(op);
}

}  // namespace sluice::import
