// SPDX-License-Identifier: Apache-2.0
// Reductions, and operators that look at whole rows.
#include <algorithm>
#include <limits>
#include <numeric>

#include "fixed_point.h"
#include "host_tflite.h"

namespace sluice_sim {
namespace {

bool IsQuantised(const LiteTensor& t) {
  return t.scale != 0 && (t.Is(kLiteInt8) || t.Is(kLiteUint8) || t.Is(kLiteInt16));
}

// ---- reductions: input 1 holds the axes

struct Reduced {
  std::vector<int64_t> to;  // of every element of the input, the output's element
  int64_t count = 1;        // of elements of one output element
};

bool ReadReduced(const LiteCall& call, Reduced* r) {
  if (call.in.size() != 2 || !call.in[1].there()) return false;
  const LiteTensor& x = call.in[0];
  LiteShape kept = x.shape;
  for (const int64_t axis : LiteInts(call.in[1])) {
    const int64_t a = LiteAxis(axis, x.rank());
    if (a < 0) return false;
    kept[static_cast<size_t>(a)] = 1;
  }
  if (LiteCount(kept) != call.out[0].count) return false;
  r->count = x.count / call.out[0].count;
  r->to = LiteBroadcast(kept, x.shape);
  return true;
}

template <typename F>
std::string FoldFloats(const LiteCall& call, float start, F f) {
  Reduced r;
  if (!ReadReduced(call, &r) || !call.out[0].IsFloat()) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  std::vector<float> sums(static_cast<size_t>(y.count), start);
  for (int64_t i = 0; i < x.count; ++i) {
    float& sum = sums[static_cast<size_t>(r.to[static_cast<size_t>(i)])];
    sum = f(sum, x.Float(i));
  }
  for (int64_t i = 0; i < y.count; ++i) y.SetFloat(i, sums[static_cast<size_t>(i)]);
  return "";
}

template <typename F>
bool FoldInts(const LiteCall& call, int64_t start, F f, std::vector<int64_t>* sums,
              int64_t* count) {
  Reduced r;
  if (!ReadReduced(call, &r) || call.in[0].IsFloat()) return false;
  const LiteTensor& x = call.in[0];
  sums->assign(static_cast<size_t>(call.out[0].count), start);
  for (int64_t i = 0; i < x.count; ++i) {
    int64_t& sum = (*sums)[static_cast<size_t>(r.to[static_cast<size_t>(i)])];
    sum = f(sum, x.Int(i));
  }
  *count = r.count;
  return true;
}

template <typename F>
std::string FoldPlain(const LiteCall& call, int64_t start, F f) {
  std::vector<int64_t> sums;
  int64_t count = 0;
  if (!FoldInts(call, start, f, &sums, &count)) return kLiteOperands;
  for (size_t i = 0; i < sums.size(); ++i) {
    call.out[0].SetInt(static_cast<int64_t>(i), sums[i]);
  }
  return "";
}

int64_t Plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t Times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

std::string ReduceMax(const LiteCall& call) {
  if (call.in[0].IsFloat()) {
    return FoldFloats(call, std::numeric_limits<float>::lowest(),
                      [](float a, float b) { return a > b ? a : b; });
  }
  return FoldPlain(call, LiteLeast(call.in[0].type),
                   [](int64_t a, int64_t b) { return std::max(a, b); });
}
std::string ReduceMin(const LiteCall& call) {
  if (call.in[0].IsFloat()) {
    return FoldFloats(call, std::numeric_limits<float>::max(),
                      [](float a, float b) { return a < b ? a : b; });
  }
  return FoldPlain(call, LiteMost(call.in[0].type),
                   [](int64_t a, int64_t b) { return std::min(a, b); });
}
std::string ReduceAny(const LiteCall& call) {
  return FoldPlain(call, 0, [](int64_t a, int64_t b) { return a | int64_t{b != 0}; });
}
std::string ReduceAll(const LiteCall& call) {
  return FoldPlain(call, 1, [](int64_t a, int64_t b) { return a & int64_t{b != 0}; });
}

// Each factor is scaled, so that the product stays within 32 bits.
std::string QuantisedProduct(const LiteCall& call) {
  const LiteTensor &x = call.in[0], &y = call.out[0];
  Reduced r;
  if (!ReadReduced(call, &r)) return kLiteOperands;
  const LiteFactor factor = LiteFactorOf(
      static_cast<double>(x.scale) /
      std::pow(static_cast<double>(y.scale), 1.0 / static_cast<double>(r.count)));
  std::vector<int32_t> products(static_cast<size_t>(y.count));
  std::vector<bool> begun(products.size());
  for (int64_t i = 0; i < x.count; ++i) {
    const size_t to = static_cast<size_t>(r.to[static_cast<size_t>(i)]);
    const int64_t value = x.Int(i) - x.zero;
    products[to] = static_cast<int32_t>(
        begun[to] ? LiteScaleWide(products[to] * value, factor) : value);
    begun[to] = true;
  }
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t value = LiteScaleWide(products[static_cast<size_t>(i)], factor);
    y.SetInt(i, LiteClamp(y.type, value + y.zero));
  }
  return "";
}

std::string ReduceProd(const LiteCall& call) {
  if (call.in[0].IsFloat()) {
    return FoldFloats(call, 1, [](float a, float b) { return a * b; });
  }
  if (IsQuantised(call.in[0])) return QuantisedProduct(call);
  return FoldPlain(call, 1, Times);
}

// Quantised sums are rescaled in floats.
std::string RescaledSum(const LiteCall& call) {
  std::vector<int64_t> sums;
  int64_t count = 0;
  if (!FoldInts(call, 0, Plus, &sums, &count)) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const float scale = x.scale / y.scale;
  const float bias = static_cast<float>(-x.zero) * scale * static_cast<float>(count);
  for (size_t i = 0; i < sums.size(); ++i) {
    const float real = static_cast<float>(sums[i]) * scale + bias;
    y.SetInt(static_cast<int64_t>(i),
             LiteClamp(y.type, LiteWhole(std::round(real)) + y.zero));
  }
  return "";
}

std::string Sum(const LiteCall& call) {
  if (call.in[0].IsFloat()) {
    return FoldFloats(call, 0, [](float a, float b) { return a + b; });
  }
  if (IsQuantised(call.in[0])) return RescaledSum(call);
  return FoldPlain(call, 0, Plus);
}

int BitsOf(int64_t count) {  // of the largest power of two that is not above
  int bits = 0;
  while ((count >> (bits + 1)) != 0) ++bits;
  return bits;
}

std::string QuantisedMean(const LiteCall& call) {
  std::vector<int64_t> sums;
  int64_t count = 0;
  if (!FoldInts(call, 0, Plus, &sums, &count)) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  LiteFactor factor =
      LiteFactorOf(static_cast<double>(x.scale) / static_cast<double>(y.scale));
  const int shift = std::min({BitsOf(count), 32, 31 + factor.shift});
  factor.multiplier =
      static_cast<int32_t>((int64_t{factor.multiplier} << shift) / count);
  factor.shift -= shift;
  for (size_t i = 0; i < sums.size(); ++i) {
    const int32_t sum = static_cast<int32_t>(sums[i] - count * x.zero);
    y.SetInt(static_cast<int64_t>(i),
             LiteClamp(y.type, int64_t{LiteScale(sum, factor)} + y.zero));
  }
  return "";
}

std::string Mean(const LiteCall& call) {
  const LiteTensor &x = call.in[0], &y = call.out[0];
  if (IsQuantised(x)) return QuantisedMean(call);
  const std::string wrong = Sum(call);
  if (!wrong.empty()) return wrong;
  const int64_t count = x.count / y.count;
  if (!x.IsFloat()) {  // the sums have the width of an int64
    std::vector<int64_t> sums;
    int64_t each = 0;
    FoldInts(call, 0, Plus, &sums, &each);
    for (size_t i = 0; i < sums.size(); ++i) {
      y.SetInt(static_cast<int64_t>(i), sums[i] / count);
    }
    return "";
  }
  for (int64_t i = 0; i < y.count; ++i) {
    y.SetFloat(i, y.Float(i) / static_cast<float>(count));
  }
  return "";
}

// ---- rows: the last axis

int64_t RowOf(const LiteTensor& x) { return x.rank() == 0 ? 1 : x.shape.back(); }

bool SameElements(const LiteCall& call) {
  return !call.in.empty() && call.in[0].there() &&
         call.in[0].count == call.out[0].count && call.in[0].type == call.out[0].type;
}

void LogSoftmaxOfFloats(const LiteTensor& x, const LiteTensor& y) {
  const int64_t n = RowOf(x);
  for (int64_t row = 0; row < x.count; row += n) {
    float most = std::numeric_limits<float>::lowest(), sum = 0;
    for (int64_t i = row; i < row + n; ++i) most = std::max(most, x.Float(i));
    for (int64_t i = row; i < row + n; ++i) sum += std::exp(x.Float(i) - most);
    const float log = std::log(sum);
    for (int64_t i = row; i < row + n; ++i) y.SetFloat(i, x.Float(i) - most - log);
  }
}

// Exponentials of differences in floats by a table, as the kernel for 8 bits sums them.
std::string LogSoftmax(const LiteCall& call) {
  if (!SameElements(call)) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  if (x.IsFloat()) {
    LogSoftmaxOfFloats(x, y);
    return "";
  }
  if (LiteTypeBytes(x.type) != 1 || x.scale == 0) return kLiteOperands;
  const int64_t n = RowOf(x), top = LiteMost(x.type);
  for (int64_t row = 0; row < x.count; row += n) {
    int64_t most = LiteLeast(x.type);
    for (int64_t i = row; i < row + n; ++i) most = std::max(most, x.Int(i));
    float sum = 0;
    for (int64_t i = row; i < row + n; ++i) {
      sum += std::exp(-x.scale * static_cast<float>(most - x.Int(i)));
    }
    const float log = std::log(sum);
    const float ratio = x.scale / y.scale;
    for (int64_t i = row; i < row + n; ++i) {
      const float real = ratio * static_cast<float>(x.Int(i) - most) - log / y.scale;
      const int64_t steps = LiteWhole(std::rint(real));
      y.SetInt(i, LiteClamp(y.type, steps + top));
    }
  }
  return "";
}

void NormaliseFloats(const LiteTensor& x, const LiteTensor& y) {
  constexpr float kLeast = 1e-6f;
  const int64_t n = RowOf(x);
  for (int64_t row = 0; row < x.count; row += n) {
    float sum = 0;
    for (int64_t i = row; i < row + n; ++i) sum += x.Float(i) * x.Float(i);
    const float length = std::max(std::sqrt(sum), kLeast);
    for (int64_t i = row; i < row + n; ++i) y.SetFloat(i, x.Float(i) / length);
  }
}

std::string L2Normalization(const LiteCall& call) {
  if (!SameElements(call)) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  if (x.IsFloat()) {
    NormaliseFloats(x, y);
    return "";
  }
  if (LiteTypeBytes(x.type) != 1 || x.scale == 0) return kLiteOperands;
  const int64_t n = RowOf(x);
  for (int64_t row = 0; row < x.count; row += n) {
    int64_t sum = 0;
    for (int64_t i = row; i < row + n; ++i) {
      sum += (x.Int(i) - x.zero) * (x.Int(i) - x.zero);
    }
    const LiteFactor root = LiteInverseRoot(Wrap32(sum), -1);
    for (int64_t i = row; i < row + n; ++i) {
      const int32_t value = static_cast<int32_t>(x.Int(i) - x.zero);
      if (x.Is(kLiteInt8)) {
        y.SetInt(
            i, LiteClamp(y.type, LiteScale(value, {root.multiplier, root.shift + 7})));
      } else {
        y.SetInt(i, LiteClamp(y.type, 128 + int64_t{LiteScale(128 * value, root)}));
      }
    }
  }
  return "";
}

// Numbers: radius, bias, alpha, beta.
std::string LocalResponse(const LiteCall& call) {
  if (!SameElements(call) || !call.in[0].IsFloat()) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const int64_t n = RowOf(x), radius = call.Number(0);
  for (int64_t row = 0; row < x.count; row += n) {
    for (int64_t c = 0; c < n; ++c) {
      float sum = 0;
      for (int64_t k = std::max<int64_t>(0, c - radius); k < std::min(n, c + radius);
           ++k) {
        sum += x.Float(row + k) * x.Float(row + k);
      }
      const float factor = std::pow(call.Real(1) + call.Real(2) * sum, -call.Real(3));
      y.SetFloat(row + c, x.Float(row + c) * factor);
    }
  }
  return "";
}

// Numbers: exclusive, reverse. Input 1: the axis.
std::string Cumsum(const LiteCall& call) {
  if (!SameElements(call) || call.in.size() != 2 || call.in[1].count != 1) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const int64_t axis = LiteAxis(call.in[1].Int(0), x.rank());
  if (axis < 0) return kLiteOperands;
  int64_t inner = 1;
  for (size_t a = static_cast<size_t>(axis) + 1; a < x.rank(); ++a) inner *= x.shape[a];
  const int64_t n = x.shape[static_cast<size_t>(axis)];
  for (int64_t start = 0; start < x.count; ++start) {
    if (start / inner % n != 0) continue;
    float real = 0;
    int64_t whole = 0;
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = start + (call.Number(1) != 0 ? n - 1 - k : k) * inner;
      const float before = real;
      const int64_t begun = whole;
      if (x.IsFloat()) real += x.Float(i);
      if (!x.IsFloat()) whole = Plus(whole, x.Int(i));
      if (y.IsFloat()) y.SetFloat(i, call.Number(0) != 0 ? before : real);
      if (!y.IsFloat()) y.SetInt(i, call.Number(0) != 0 ? begun : whole);
    }
  }
  return "";
}

bool IsAbove(const LiteTensor& x, int64_t a, int64_t b) {
  return x.IsFloat() ? x.Float(a) > x.Float(b) : x.Int(a) > x.Int(b);
}

// Input 1: the axis. Number 0: 1 for the least.
std::string Arg(const LiteCall& call) {
  if (call.in.size() != 2 || call.in[1].count != 1) return kLiteOperands;
  const LiteTensor &x = call.in[0], &y = call.out[0];
  const int64_t axis = LiteAxis(call.in[1].Int(0), x.rank());
  if (axis < 0 || y.IsFloat()) return kLiteOperands;
  const int64_t n = x.shape[static_cast<size_t>(axis)];
  int64_t inner = 1;
  for (size_t a = static_cast<size_t>(axis) + 1; a < x.rank(); ++a) inner *= x.shape[a];
  if (y.count * n != x.count) return kLiteOperands;
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t start = i / inner * inner * n + i % inner;
    int64_t best = 0;
    for (int64_t k = 1; k < n; ++k) {
      const int64_t here = start + k * inner, there = start + best * inner;
      if (call.Number(0) != 0 ? IsAbove(x, there, here) : IsAbove(x, here, there)) {
        best = k;
      }
    }
    y.SetInt(i, best);
  }
  return "";
}

// The largest first; of equal ones the earlier first.
std::string TopK(const LiteCall& call) {
  if (call.in.size() != 2 || call.out.size() != 2 || call.in[0].rank() == 0) {
    return kLiteOperands;
  }
  const LiteTensor &x = call.in[0], &y = call.out[0], &index = call.out[1];
  const int64_t n = RowOf(x), k = RowOf(y);
  if (k > n || y.count != x.count / n * k || index.count != y.count ||
      y.type != x.type) {
    return kLiteOperands;
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  const size_t size = static_cast<size_t>(LiteTypeBytes(x.type));
  for (int64_t row = 0; row < x.count / n; ++row) {
    std::iota(order.begin(), order.end(), row * n);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return IsAbove(x, a, b); });
    for (int64_t i = 0; i < k; ++i) {
      const int64_t from = order[static_cast<size_t>(i)], to = row * k + i;
      std::memcpy(y.bytes + static_cast<size_t>(to) * size,
                  x.bytes + static_cast<size_t>(from) * size, size);
      index.SetInt(to, from - row * n);
    }
  }
  return "";
}

}  // namespace

void AddLiteRows(LiteRows* rows) {
  const LiteRows here = {{"REDUCE_MAX", ReduceMax},
                         {"REDUCE_MIN", ReduceMin},
                         {"REDUCE_ANY", ReduceAny},
                         {"REDUCE_ALL", ReduceAll},
                         {"REDUCE_PROD", ReduceProd},
                         {"SUM", Sum},
                         {"MEAN", Mean},
                         {"LOG_SOFTMAX", LogSoftmax},
                         {"L2_NORMALIZATION", L2Normalization},
                         {"LOCAL_RESPONSE_NORMALIZATION", LocalResponse},
                         {"CUMSUM", Cumsum},
                         {"ARG_MAX", Arg},
                         {"ARG_MIN", Arg},
                         {"TOPK_V2", TopK}};
  rows->insert(here.begin(), here.end());
}

}  // namespace sluice_sim
