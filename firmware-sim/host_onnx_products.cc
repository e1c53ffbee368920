// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions, of floats and of integers.
#include "cancel.h"
#include "host_onnx.h"
#include "sluice/ops.h"

namespace sluice_sim {
namespace {

using Shape = std::vector<int64_t>;

std::vector<double> Reals(const HostOperand& operand) {
  const float* first = ElementsOf<float>(operand);
  return std::vector<double>(first, first + CountOf(operand));
}

// Subtracts zero points from elements: a single one, or one per row of `inner`
// elements, repeated cyclically.
bool WithoutZero(const HostOperand& operand, const HostOperand& zero, int64_t inner,
                 std::vector<int64_t>* out) {
  const int64_t count = CountOf(zero);
  if (operand.dtype != SLUICE_DTYPE_INT8 && operand.dtype != SLUICE_DTYPE_UINT8) {
    return false;
  }
  *out = Widened(operand);
  const std::vector<int64_t> zeros = Widened(zero);
  for (size_t i = 0; i < out->size(); ++i) {
    (*out)[i] -= zeros[static_cast<size_t>(static_cast<int64_t>(i) / inner % count)];
  }
  return true;
}

struct Matrices {
  Shape out, a, b;
  int64_t M() const { return out[out.size() - 2]; }
  int64_t N() const { return out.back(); }
  int64_t K() const { return a.back(); }
};

bool AreMatrices(const Matrices& m) {
  const size_t rank = m.out.size();
  if (rank < 2 || m.a.size() != rank || m.b.size() != rank) return false;
  for (size_t i = 0; i + 2 < rank; ++i) {
    if ((m.a[i] != 1 && m.a[i] != m.out[i]) || (m.b[i] != 1 && m.b[i] != m.out[i])) {
      return false;
    }
  }
  return m.a[rank - 2] == m.M() && m.b[rank - 2] == m.K() && m.b.back() == m.N();
}

// The index of the operand's matrix for matrix n of the output (broadcast).
int64_t BatchOf(const Matrices& m, const Shape& operand, int64_t n) {
  int64_t place = 0, stride = 1;
  for (size_t i = m.out.size() - 2; i-- > 0;) {
    if (operand[i] != 1) place += n % m.out[i] * stride;
    stride *= operand[i];
    n /= m.out[i];
  }
  return place;
}

// Sums in T; out[i] = finish(sum).
template <typename Result, typename T>
void Multiply(const Matrices& m, const std::vector<T>& a, const std::vector<T>& b,
              const HostOperand& operand) {
  Result* const out = ResultOf<Result>(operand);
  const int64_t batches = Elements(m.out) / (m.M() * m.N());
  for (int64_t n = 0; n < batches; ++n) {
    const T* left = a.data() + BatchOf(m, m.a, n) * m.M() * m.K();
    const T* right = b.data() + BatchOf(m, m.b, n) * m.K() * m.N();
    for (int64_t i = 0; i < m.M(); ++i) {
      for (int64_t j = 0; j < m.N(); ++j) {
        Poll(operand.cancel);
        T sum = 0;
        for (int64_t k = 0; k < m.K(); ++k) {
          sum += left[i * m.K() + k] * right[k * m.N() + j];
        }
        out[(n * m.M() + i) * m.N() + j] = static_cast<Result>(sum);
      }
    }
  }
}

std::string MatMul(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  Matrices m;
  m.out = options.Shape();
  m.a = options.Shape();
  m.b = options.Shape();
  if (!options.Ended() || in.size() != 3 || out.size() != 1 || !AreMatrices(m) ||
      !IsFloats(in, 0, Elements(m.a)) || !IsFloats(in, 1, Elements(m.b)) ||
      !IsFloats(out, 0, Elements(m.out))) {
    return kOnnxOperands;
  }
  Multiply<float>(m, Reals(in[0]), Reals(in[1]), out[0]);
  return "";
}

std::string MatMulInteger(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  Matrices m;
  m.out = options.Shape();
  m.a = options.Shape();
  m.b = options.Shape();
  std::vector<int64_t> a, b;
  if (!options.Ended() || in.size() != 5 || out.size() != 1 || !AreMatrices(m) ||
      CountOf(in[0]) != Elements(m.a) || CountOf(in[1]) != Elements(m.b) ||
      !IsFloats(out, 0, Elements(m.out)) || CountOf(in[2]) != 1 ||
      (CountOf(in[3]) != 1 && CountOf(in[3]) != m.N()) ||
      !WithoutZero(in[0], in[2], 1, &a) || !WithoutZero(in[1], in[3], 1, &b)) {
    return kOnnxOperands;
  }
  Multiply<int32_t>(m, a, b, out[0]);
  return "";
}

using Window = OnnxWindow;

bool Fits(const Window& w, const HostOperands& in, const HostOperands& out) {
  const auto product = [](const Shape& shape) {
    int64_t elements = 1;
    for (const int64_t extent : shape) {
      if (elements > INT32_MAX) return int64_t{-1};
      elements *= extent;
    }
    return elements;
  };
  return w.c % w.groups == 0 && w.k % w.groups == 0 && out.size() == 1 &&
         CountOf(in[0]) == product({w.n, w.c, w.h, w.w}) &&
         CountOf(in[1]) == product({w.k, w.c / w.groups, w.r, w.s}) &&
         IsFloats(out, 0, product({w.n, w.k, w.p, w.q}));
}

struct Place {  // of an output
  int64_t n, k, p, q;
};

template <typename T>
T SumAt(const Window& w, const std::vector<T>& x, const std::vector<T>& f,
        const Place& o) {
  const auto [n, k, p, q] = o;
  const int64_t depth = w.c / w.groups, first = k / (w.k / w.groups) * depth;
  T sum = 0;
  for (int64_t c = 0; c < depth; ++c) {
    for (int64_t r = 0; r < w.r; ++r) {
      const int64_t y = p * w.stride_h + r * w.dilation_h - w.pad_top;
      if (y < 0 || y >= w.h) continue;
      for (int64_t s = 0; s < w.s; ++s) {
        const int64_t z = q * w.stride_w + s * w.dilation_w - w.pad_left;
        if (z < 0 || z >= w.w) continue;
        const int64_t at = ((n * w.c + first + c) * w.h + y) * w.w + z;
        sum += x[static_cast<size_t>(at)] *
               f[static_cast<size_t>(((k * depth + c) * w.r + r) * w.s + s)];
      }
    }
  }
  return sum;
}

template <typename T, typename F>
void Convolve(const Window& w, const std::vector<T>& x, const std::vector<T>& f,
              const uint32_t* cancel, const F& store) {
  int64_t i = 0;
  for (int64_t n = 0; n < w.n; ++n) {
    for (int64_t k = 0; k < w.k; ++k) {
      for (int64_t p = 0; p < w.p; ++p) {
        for (int64_t q = 0; q < w.q; ++q) {
          Poll(cancel);
          store(i++, k, SumAt(w, x, f, {n, k, p, q}));
        }
      }
    }
  }
}

std::string Conv(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const Window w = OnnxWindowOf(&options);
  if (!options.Ended() || in.size() != 4 || !Fits(w, in, out) ||
      !IsFloats(in, 0, CountOf(in[0])) || !IsFloats(in, 1, CountOf(in[1])) ||
      !IsFloats(in, 2, w.k)) {
    return kOnnxOperands;
  }
  const float* bias = ElementsOf<float>(in[2]);
  const auto store = [&](int64_t i, int64_t k, double sum) {
    ResultOf<float>(out[0])[i] = static_cast<float>(sum + static_cast<double>(bias[k]));
  };
  Convolve(w, Reals(in[0]), Reals(in[1]), in[0].cancel, store);
  return "";
}

std::string ConvInteger(const HostOperands& in, const HostOperands& out) {
  OnnxOptions options(in);
  const Window w = OnnxWindowOf(&options);
  std::vector<int64_t> x, f;
  if (!options.Ended() || in.size() != 5 || !Fits(w, in, out) || CountOf(in[2]) != 1 ||
      (CountOf(in[3]) != 1 && CountOf(in[3]) != w.k) ||
      !WithoutZero(in[0], in[2], 1, &x) ||
      !WithoutZero(in[1], in[3], w.c / w.groups * w.r * w.s, &f)) {
    return kOnnxOperands;
  }
  Convolve(w, x, f, in[0].cancel, [&](int64_t i, int64_t, int64_t sum) {
    ResultOf<int32_t>(out[0])[i] = static_cast<int32_t>(sum);
  });
  return "";
}

}  // namespace

OnnxWindow OnnxWindowOf(OnnxOptions* o) {
  OnnxWindow w = {};
  int64_t* const fields[] = {
      &w.n, &w.c, &w.h,      &w.w,        &w.k,        &w.p,          &w.q,
      &w.r, &w.s, &w.groups, &w.stride_h, &w.stride_w, &w.dilation_h, &w.dilation_w};
  for (int64_t* field : fields) *field = o->Int(1, 1 << 24);
  w.pad_top = o->Int(0, 1 << 24);
  w.pad_left = o->Int(0, 1 << 24);
  return w;
}

void AddOnnxProducts(OnnxRows* rows) {
  OnnxRows& r = *rows;
  r["onnx.MatMul"] = MatMul;
  r["onnx.MatMulInteger"] = MatMulInteger;
  r["onnx.Conv"] = Conv;
  r["onnx.ConvInteger"] = ConvInteger;
}

}  // namespace sluice_sim
