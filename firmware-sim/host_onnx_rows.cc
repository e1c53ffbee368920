// SPDX-License-Identifier: Apache-2.0
// Reductions, softmax and norms.
#include <algorithm>
#include <cmath>
#include <limits>

#include "host_onnx.h"
#include "sluice/ops.h"

namespace sluice_sim {
namespace {

using Shape = std::vector<int64_t>;

enum class Kind {
  kMean,
  kSum,
  kMax,
  kMin,
  kLength,
  kAbsolute,
  kProduct,
  kSquares,
  kLogSum,
  kLogSumExp
};

double Start(Kind kind) {
  return kind == Kind::kMax       ? -INFINITY
         : kind == Kind::kMin     ? INFINITY
         : kind == Kind::kProduct ? 1
                                  : 0;
}

double Joined(Kind kind, double so_far, double x) {
  switch (kind) {
    case Kind::kMax:
      return std::max(so_far, x);
    case Kind::kMin:
      return std::min(so_far, x);
    case Kind::kLength:
    case Kind::kSquares:
      return so_far + x * x;
    case Kind::kAbsolute:
      return so_far + std::fabs(x);
    case Kind::kProduct:
      return so_far * x;
    case Kind::kLogSumExp:
      return so_far + std::exp(x);
    case Kind::kMean:
    case Kind::kSum:
    case Kind::kLogSum:
      break;
  }
  return so_far + x;
}

HostFunction Reduce(Kind kind) {
  return [kind](const HostOperands& in, const HostOperands& out) -> std::string {
    OnnxOptions options(in);
    const Shape shape = options.Shape();
    const int64_t mask = options.Int(0, 255), all = Elements(shape);
    int64_t kept = 1;
    for (size_t i = 0; i < shape.size(); ++i) kept *= mask >> i & 1 ? 1 : shape[i];
    if (!options.Ended() || in.size() != 2 || out.size() != 1 ||
        !IsFloats(in, 0, all) || !IsFloats(out, 0, kept)) {
      return kOnnxOperands;
    }
    std::vector<double> results(static_cast<size_t>(kept), Start(kind));
    for (int64_t i = 0; i < all; ++i) {
      int64_t rest = i, place = 0, stride = 1;
      for (size_t axis = shape.size(); axis-- > 0;) {
        if ((mask >> axis & 1) == 0) {
          place += rest % shape[axis] * stride;
          stride *= shape[axis];
        }
        rest /= shape[axis];
      }
      double& result = results[static_cast<size_t>(place)];
      result = Joined(kind, result, ElementsOf<float>(in[0])[i]);
    }
    for (int64_t i = 0; i < kept; ++i) {
      double result = results[static_cast<size_t>(i)];
      if (kind == Kind::kMean) result /= static_cast<double>(all / kept);
      if (kind == Kind::kLength) result = std::sqrt(result);
      if (kind == Kind::kLogSum || kind == Kind::kLogSumExp) result = std::log(result);
      ResultOf<float>(out[0])[i] = static_cast<float>(result);
    }
    return "";
  };
}

HostFunction Softmax(bool logarithm) {
  return [logarithm](const HostOperands& in, const HostOperands& out) -> std::string {
    OnnxOptions options(in);
    const int64_t outer = options.Int(1), n = options.Int(1), inner = options.Int(1);
    const int64_t all = in.empty() ? -1 : CountOf(in[0]);
    if (!options.Ended() || in.size() != 2 || out.size() != 1 || outer > all ||
        n > all || inner > all || outer * n > all || outer * n * inner != all ||
        !IsFloats(in, 0, all) || !IsFloats(out, 0, all)) {
      return kOnnxOperands;
    }
    const float* x = ElementsOf<float>(in[0]);
    float* y = ResultOf<float>(out[0]);
    for (int64_t row = 0; row < outer * inner; ++row) {
      const int64_t first = row / inner * n * inner + row % inner;
      float most = x[first];
      for (int64_t i = 1; i < n; ++i) most = std::max(most, x[first + i * inner]);
      float sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += std::exp(x[first + i * inner] - most);
      for (int64_t i = 0; i < n; ++i) {
        const float d = x[first + i * inner] - most;
        y[first + i * inner] = logarithm ? d - std::log(sum) : std::exp(d) / sum;
      }
    }
    return "";
  };
}

// Table of exponentials by steps below the maximum, scaled up as far as a float sum of
// `n` of them does not overflow.
std::vector<float> Exponentials(float scale, int64_t n) {
  const double room =
      std::log(std::numeric_limits<float>::max() / static_cast<float>(n));
  const double lift = std::max(0.0, room - 5) / static_cast<double>(scale);
  std::vector<float> table(256);
  for (int i = 0; i < 256; ++i) {
    table[static_cast<size_t>(i)] =
        static_cast<float>(std::exp((i - 255 + lift) * static_cast<double>(scale)));
  }
  return table;
}

// Softmax of quantised values by the table; the quotient rounds ties to even.
std::string QLinearSoftmax(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const int64_t outer = options.Int(1), n = options.Int(1), inner = options.Int(1);
  const float scale = options.Float(), out_scale = options.Float();
  const int64_t zero = options.Int(-128, 255), all = in.empty() ? -1 : CountOf(in[0]);
  if (!options.Ended() || in.size() != 2 || out.size() != 1 || outer > all || n > all ||
      inner > all || outer * n > all || outer * n * inner != all ||
      in[0].dtype != out[0].dtype || CountOf(out[0]) != all || !(scale > 0) ||
      !(out_scale > 0) ||
      (in[0].dtype != SLUICE_DTYPE_INT8 && in[0].dtype != SLUICE_DTYPE_UINT8)) {
    return kOnnxOperands;
  }
  const std::vector<int64_t> x = Widened(in[0]);
  const std::vector<float> table = Exponentials(scale, n);
  const bool is_signed = in[0].dtype == SLUICE_DTYPE_INT8;
  const float factor = std::floor(1.0f / out_scale);
  for (int64_t row = 0; row < outer * inner; ++row) {
    const int64_t first = row / inner * n * inner + row % inner;
    const auto at = [&](int64_t i) { return static_cast<size_t>(first + i * inner); };
    int64_t most = x[at(0)];
    for (int64_t i = 1; i < n; ++i) most = std::max(most, x[at(i)]);
    const auto power = [&](int64_t i) {
      return table[static_cast<size_t>(255 + x[at(i)] - most)];
    };
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += power(i);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t value =
          static_cast<int64_t>(std::nearbyint(power(i) * factor / sum)) + zero;
      ResultOf<uint8_t>(out[0])[at(i)] =
          static_cast<uint8_t>(std::min<int64_t>(value, is_signed ? 127 : 255));
    }
  }
  return "";
}

HostFunction Normalise(bool centred) {
  return [centred](const HostOperands& in, const HostOperands& out) -> std::string {
    OnnxOptions options(in);
    const int64_t rows = options.Int(1), n = options.Int(1), period = options.Int();
    const double epsilon = static_cast<double>(options.Float());
    const int64_t scales = period == 0 ? n : period;
    if (!options.Ended() || in.size() != 4 || out.size() != 1 ||
        !IsFloats(in, 0, rows * n) || !IsFloats(in, 1, scales) ||
        !IsFloats(in, 2, scales) || !IsFloats(out, 0, rows * n)) {
      return kOnnxOperands;
    }
    for (int64_t row = 0; row < rows; ++row) {
      const float* x = ElementsOf<float>(in[0]) + row * n;
      double mean = 0, variance = 0;
      for (int64_t i = 0; i < n; ++i) mean += static_cast<double>(x[i]);
      mean = centred ? mean / static_cast<double>(n) : 0;
      for (int64_t i = 0; i < n; ++i) {
        variance +=
            (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean);
      }
      const double factor = 1 / std::sqrt(variance / static_cast<double>(n) + epsilon);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t s = period == 0 ? i : row % period;
        const double z = (static_cast<double>(x[i]) - mean) * factor;
        ResultOf<float>(out[0])[row * n + i] =
            static_cast<float>(z) * ElementsOf<float>(in[1])[s] +
            ElementsOf<float>(in[2])[s];
      }
    }
    return "";
  };
}

// The options outer, channels and inner, which must match the operand's elements.
struct Channels {
  int64_t outer, count, inner;
};
Channels ChannelsOf(OnnxOptions* options) {
  Channels c = {options->Int(1), 0, 0};
  c.count = options->Int(1);
  c.inner = options->Int(1);
  return c;
}
bool Fit(const Channels& c, const HostOperands& in, const HostOperands& out) {
  if (in.empty() || out.size() != 1) return false;
  const int64_t all = CountOf(in[0]);
  return c.outer <= all && c.count <= all && c.outer * c.count <= all &&
         c.inner <= all && c.outer * c.count * c.inner == all && IsFloats(in, 0, all) &&
         IsFloats(out, 0, all);
}

std::string BatchNormalise(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const Channels c = ChannelsOf(&options);
  const float epsilon = options.Float();
  bool fits = options.Ended() && in.size() == 6 && Fit(c, in, out);
  for (size_t i = 1; fits && i < 5; ++i) fits = IsFloats(in, i, c.count);
  if (!fits) return kOnnxOperands;
  for (int64_t i = 0; i < CountOf(in[0]); ++i) {
    const int64_t k = i / c.inner % c.count;
    const float factor =
        ElementsOf<float>(in[1])[k] / std::sqrt(ElementsOf<float>(in[4])[k] + epsilon);
    ResultOf<float>(out[0])[i] =
        (ElementsOf<float>(in[0])[i] - ElementsOf<float>(in[3])[k]) * factor +
        ElementsOf<float>(in[2])[k];
  }
  return "";
}

std::string Lrn(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const Channels c = ChannelsOf(&options);
  const int64_t size = options.Int(1, 1 << 20);
  const float alpha = options.Float(), beta = options.Float(), bias = options.Float();
  if (!options.Ended() || in.size() != 2 || !Fit(c, in, out)) return kOnnxOperands;
  const float* x = ElementsOf<float>(in[0]);
  for (int64_t i = 0; i < CountOf(in[0]); ++i) {
    const int64_t k = i / c.inner % c.count;
    const int64_t first = std::max<int64_t>(0, k - (size - 1) / 2),
                  last = std::min(c.count - 1, k + size / 2);
    double squares = 0;
    for (int64_t j = first; j <= last; ++j) {
      const double other = static_cast<double>(x[i + (j - k) * c.inner]);
      squares += other * other;
    }
    const float scale =
        bias + alpha / static_cast<float>(size) * static_cast<float>(squares);
    ResultOf<float>(out[0])[i] = x[i] * std::pow(scale, -beta);
  }
  return "";
}

}  // namespace

void AddOnnxRows(OnnxRows* rows) {
  OnnxRows& r = *rows;
  r["onnx.ReduceMean"] = Reduce(Kind::kMean);
  r["onnx.ReduceSum"] = Reduce(Kind::kSum);
  r["onnx.ReduceMax"] = Reduce(Kind::kMax);
  r["onnx.ReduceMin"] = Reduce(Kind::kMin);
  r["onnx.ReduceL2"] = Reduce(Kind::kLength);
  r["onnx.ReduceL1"] = Reduce(Kind::kAbsolute);
  r["onnx.ReduceProd"] = Reduce(Kind::kProduct);
  r["onnx.ReduceSumSquare"] = Reduce(Kind::kSquares);
  r["onnx.ReduceLogSum"] = Reduce(Kind::kLogSum);
  r["onnx.ReduceLogSumExp"] = Reduce(Kind::kLogSumExp);
  r["onnx.Softmax"] = Softmax(false);
  r["onnx.QLinearSoftmax"] = QLinearSoftmax;
  r["onnx.LogSoftmax"] = Softmax(true);
  r["onnx.LayerNormalization"] = Normalise(true);
  r["onnx.RMSNormalization"] = Normalise(false);
  r["onnx.BatchNormalization"] = BatchNormalise;
  r["onnx.LRN"] = Lrn;
}

}  // namespace sluice_sim
