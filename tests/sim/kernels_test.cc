// SPDX-License-Identifier: Apache-2.0
// Every operator against its formula, written plainly, and against values by hand.
#include "firmware-sim/kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace sluice_test {
namespace {

using sluice_sim::Box;
using sluice_sim::DenseBox;
using sluice_sim::Extent;
using sluice_sim::Tile;

struct Noise {
  uint64_t state;
  int64_t Below(int64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(n));
  }
};

// A tensor with memory of its own.
struct Array {
  std::vector<uint8_t> bytes;
  Box box;
  Array(int dtype, const Extent& extent)
      : bytes(static_cast<size_t>(sluice_sim::Elements(extent) *
                                  sluice_sim::DtypeBytes(dtype))),
        box(DenseBox(bytes.data(), dtype, extent)) {}
  Array(const Array&) = delete;
  void Fill(Noise* noise, int64_t low, int64_t high) {
    const int64_t step = sluice_sim::DtypeBytes(box.dtype);
    for (int64_t i = 0; i < box.elements(); ++i) {
      sluice_sim::Write(box.dtype, box.data + i * step,
                        low + noise->Below(high - low + 1));
    }
  }
  int64_t At(int64_t n, int64_t h, int64_t w, int64_t c) const {
    return sluice_sim::Read(box, n, h, w, c);
  }
};

template <typename F>
void CheckAll(const Array& got, F&& want) {
  const Extent& e = got.box.extent;
  int64_t wrong = 0;
  for (int64_t n = 0; n < e[0]; ++n) {
    for (int64_t h = 0; h < e[1]; ++h) {
      for (int64_t w = 0; w < e[2]; ++w) {
        for (int64_t c = 0; c < e[3]; ++c) {
          if (got.At(n, h, w, c) != want(n, h, w, c)) ++wrong;
        }
      }
    }
  }
  CHECK(wrong == 0);
}

void RunWhole(Tile* t) {
  t->layer.input = t->input0.extent;
  t->layer.second = t->input1.extent;
  t->layer.output = t->output.extent;
  const std::string error = sluice_sim::CheckTile(*t);
  INFO(error);
  REQUIRE(error.empty());
  sluice_sim::RunTile(*t);
}

// Scales and rounds as ops.h says, in 128-bit integers.
int64_t SlowScale(int64_t x, int64_t m, int s) {
  const __int128 product = static_cast<__int128>(x) * (s > 0 ? int64_t{1} << s : 1) * m;
  const __int128 unit = static_cast<__int128>(1) << 31;
  __int128 y = (product + unit / 2) / unit;  // floor(x + 1/2): ties upward
  if ((product + unit / 2) % unit < 0) --y;
  if (s >= 0) return static_cast<int64_t>(y);
  const __int128 half = static_cast<__int128>(1) << (-s - 1);
  const __int128 magnitude = ((y < 0 ? -y : y) + half) >> -s;
  return static_cast<int64_t>(y < 0 ? -magnitude : magnitude);
}

TEST_CASE("scale rounds as documented") {
  CHECK(sluice_sim::Scale(3, 1 << 30, 0) == 2);     // 1.5
  CHECK(sluice_sim::Scale(-3, 1 << 30, 0) == -1);   // -1.5: ties of the doubling go up
  CHECK(sluice_sim::Scale(6, 1 << 30, -1) == 2);    // 3 / 2
  CHECK(sluice_sim::Scale(-6, 1 << 30, -1) == -2);  // -3 / 2: its ties go away from 0
  CHECK(sluice_sim::Scale(100, 1 << 30, 2) == 200);
  CHECK(sluice_sim::Scale(INT32_MIN, INT32_MIN, 0) == INT32_MAX);
  Noise noise{3};
  for (int i = 0; i < 20000; ++i) {
    const int32_t x = static_cast<int32_t>(noise.Below(1 << 24)) - (1 << 23);
    const int32_t m = (1 << 30) + static_cast<int32_t>(noise.Below(1 << 30));
    const int s = static_cast<int>(noise.Below(20)) - 16;
    CHECK(sluice_sim::Scale(x, m, s) == SlowScale(x, m, s));
  }
}

struct ConvShape {
  int op, in_dtype, groups, stride, dilation, pad, size;
  int64_t height, width, channels, outputs;
};

void CheckConvolution(const ConvShape& s) {
  Noise noise{static_cast<uint64_t>(s.op * 131 + s.stride * 17 + s.size)};
  const int64_t reach = (s.size - 1) * s.dilation + 1;
  const int64_t p = (s.height + 2 * s.pad - reach) / s.stride + 1;
  const int64_t q = (s.width + 2 * s.pad - reach) / s.stride + 1;
  const bool depthwise = s.op == SLUICE_OP_DEPTHWISE_CONV;
  Array in(s.in_dtype, {2, s.height, s.width, s.channels});
  Array weight(SLUICE_DTYPE_INT8,
               depthwise ? Extent{1, s.size, s.size, s.outputs}
                         : Extent{s.outputs, s.size, s.size, s.channels / s.groups});
  Array parameters(SLUICE_DTYPE_INT32, {1, 1, s.outputs, 3});
  Array out(SLUICE_DTYPE_INT8, {2, p, q, s.outputs});
  in.Fill(&noise, s.in_dtype == SLUICE_DTYPE_UINT8 ? 0 : -128,
          s.in_dtype == SLUICE_DTYPE_UINT8 ? 255 : 127);
  weight.Fill(&noise, -128, 127);
  for (int64_t k = 0; k < s.outputs; ++k) {
    const int64_t values[3] = {noise.Below(4001) - 2000,
                               (1 << 30) + noise.Below(1 << 30), -7 - noise.Below(3)};
    for (int i = 0; i < 3; ++i) {
      sluice_sim::Write(SLUICE_DTYPE_INT32, parameters.box.at(0, 0, k, i), values[i]);
    }
  }
  const int64_t zero = s.in_dtype == SLUICE_DTYPE_UINT8 ? 128 : -7;
  Tile t;
  t.op = s.op;
  const int32_t pad = s.pad;
  t.attributes = {
      s.stride, s.stride, s.dilation, s.dilation, pad,
      pad,      pad,      pad,        s.groups,   static_cast<int32_t>(zero),
      2,        11,       -120,       126};
  t.input0 = in.box;
  t.weight = weight.box;
  t.parameters = parameters.box;
  t.output = out.box;
  if (!depthwise) t.c_end = s.channels / s.groups;
  // The box ends with the last row that a window reaches.
  t.pad[0] = t.pad[1] = pad;
  const int64_t need[2] = {(p - 1) * s.stride + reach, (q - 1) * s.stride + reach};
  t.layer.input = in.box.extent;
  for (int i = 0; i < 2; ++i) {
    t.input0.extent[1 + i] = std::min(t.input0.extent[1 + i], need[i] - pad);
    t.pad[2 + i] = need[i] - pad - t.input0.extent[1 + i];
  }
  t.layer.output = out.box.extent;
  REQUIRE(sluice_sim::CheckTile(t) == "");
  sluice_sim::RunTile(t);
  CheckAll(out, [&](int64_t n, int64_t i, int64_t j, int64_t k) {
    int64_t sum = parameters.At(0, 0, k, 0);
    const int64_t per = depthwise ? 1 : s.channels / s.groups;
    const int64_t first =
        depthwise ? k / (s.outputs / s.channels) : k / (s.outputs / s.groups) * per;
    for (int64_t r = 0; r < s.size; ++r) {
      for (int64_t u = 0; u < s.size; ++u) {
        const int64_t h = i * s.stride + r * s.dilation - s.pad;
        const int64_t w = j * s.stride + u * s.dilation - s.pad;
        if (h < 0 || w < 0 || h >= s.height || w >= s.width) continue;
        for (int64_t c = 0; c < per; ++c) {
          const int64_t filter =
              depthwise ? weight.At(0, r, u, k) : weight.At(k, r, u, c);
          sum += (in.At(n, h, w, first + c) - zero) * (filter - 2);
        }
      }
    }
    const int64_t y = SlowScale(sum, parameters.At(0, 0, k, 1),
                                static_cast<int>(parameters.At(0, 0, k, 2)));
    return std::clamp<int64_t>(y + 11, -120, 126);
  });
}

TEST_CASE("convolution is its formula: stride, dilation, padding, groups, dtypes") {
  const int conv = SLUICE_OP_CONV, i8 = SLUICE_DTYPE_INT8;
  CheckConvolution({conv, i8, 1, 1, 1, 1, 3, 7, 6, 5, 4});
  CheckConvolution({conv, i8, 1, 2, 1, 0, 3, 8, 8, 8, 3});
  CheckConvolution({conv, i8, 1, 1, 2, 2, 3, 9, 7, 3, 5});
  CheckConvolution({conv, i8, 2, 1, 1, 1, 3, 5, 5, 6, 4});
  CheckConvolution({conv, SLUICE_DTYPE_UINT8, 1, 2, 1, 1, 3, 7, 7, 4, 4});
  CheckConvolution({conv, SLUICE_DTYPE_UINT8, 1, 1, 1, 0, 1, 3, 3, 33, 7});
}

TEST_CASE("convolution: zero points beyond 16 bits count in full") {
  Array in(SLUICE_DTYPE_INT8, {1, 1, 1, 1}), weight(SLUICE_DTYPE_INT8, {1, 1, 1, 1});
  Array parameters(SLUICE_DTYPE_INT32, {1, 1, 1, 3}),
      out(SLUICE_DTYPE_INT8, {1, 1, 1, 1});
  in.bytes = {5};
  weight.bytes = {1};
  const int32_t row[3] = {0, 1 << 30, 1};  // a scale of one
  std::memcpy(parameters.bytes.data(), row, sizeof row);
  for (const int32_t zero : {-100000, 100000}) {
    Tile t;
    t.op = SLUICE_OP_CONV;
    t.attributes = {1, 1, 1, 1, 0, 0, 0, 0, 1, zero, 0, 0, -128, 127};
    t.input0 = in.box;
    t.weight = weight.box;
    t.parameters = parameters.box;
    t.output = out.box;
    t.c_end = 1;
    RunWhole(&t);
    CHECK(out.At(0, 0, 0, 0) == (zero < 0 ? 127 : -128));
  }
}

TEST_CASE("depthwise convolution is its formula, with a channel multiplier too") {
  const int op = SLUICE_OP_DEPTHWISE_CONV, i8 = SLUICE_DTYPE_INT8;
  CheckConvolution({op, i8, 0 + 1, 1, 1, 1, 3, 6, 5, 7, 7});
  CheckConvolution({op, i8, 0 + 1, 2, 1, 1, 3, 9, 9, 3, 6});
  CheckConvolution({op, SLUICE_DTYPE_UINT8, 1, 1, 2, 2, 3, 8, 8, 4, 4});
}

TEST_CASE("transposed convolution scatters as documented") {
  Noise noise{5};
  const int64_t stride = 2, pad = 1, size = 3;
  Array in(SLUICE_DTYPE_INT8, {1, 4, 3, 5});
  Array weight(SLUICE_DTYPE_INT8, {2, size, size, 5});
  Array parameters(SLUICE_DTYPE_INT32, {1, 1, 2, 3});
  Array out(SLUICE_DTYPE_INT8, {1, 7, 5, 2});
  in.Fill(&noise, -128, 127);
  weight.Fill(&noise, -127, 127);
  for (int64_t k = 0; k < 2; ++k) {
    sluice_sim::Write(SLUICE_DTYPE_INT32, parameters.box.at(0, 0, k, 1), 1 << 30);
    sluice_sim::Write(SLUICE_DTYPE_INT32, parameters.box.at(0, 0, k, 2), -8);
  }
  std::vector<int64_t> sums(7 * 5 * 2);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      for (int64_t r = 0; r < size; ++r) {
        for (int64_t s = 0; s < size; ++s) {
          const int64_t p = i * stride - pad + r, q = j * stride - pad + s;
          if (p < 0 || q < 0 || p >= 7 || q >= 5) continue;
          for (int64_t k = 0; k < 2; ++k) {
            for (int64_t c = 0; c < 5; ++c) {
              sums[static_cast<size_t>((p * 5 + q) * 2 + k)] +=
                  (in.At(0, i, j, c) - 4) * weight.At(k, r, s, c);
            }
          }
        }
      }
    }
  }
  Tile t;
  t.op = SLUICE_OP_TRANSPOSED_CONV;
  t.attributes = {2, 2, 1, 1, 1, 1, 1, 1, 1, 4, 0, 0, -128, 127};
  t.input0 = in.box;
  t.weight = weight.box;
  t.parameters = parameters.box;
  t.output = out.box;
  t.c_end = 5;
  RunWhole(&t);
  const auto want = [&](int64_t, int64_t p, int64_t q, int64_t k) {
    const int64_t sum = sums[static_cast<size_t>((p * 5 + q) * 2 + k)];
    return std::clamp<int64_t>(SlowScale(sum, 1 << 30, -8), -128, 127);
  };
  CheckAll(out, want);
  // Only rows 3 to 5, from the input rows that scatter into them.
  const auto rows = sluice_sim::TransposedRows(3, 3, stride, pad, size, 4);
  CHECK(rows.first == 1);
  CHECK(rows.last == 3);
  Array part(SLUICE_DTYPE_INT8, {1, 3, 5, 2});
  t.origin[1] = 3;
  t.output = part.box;
  t.input0.data = in.box.at(0, rows.first, 0, 0);
  t.input0.extent[1] = 3;
  REQUIRE(sluice_sim::CheckTile(t) == "");
  sluice_sim::RunTile(t);
  CheckAll(part, [&](int64_t n, int64_t p, int64_t q, int64_t k) {
    return want(n, p + 3, q, k);
  });
}

TEST_CASE("batch matmul is its formula, with b transposed or not") {
  for (int transposed : {0, 1}) {
    Noise noise{9};
    Array a(SLUICE_DTYPE_INT8, {2, 3, 4, 6}), out(SLUICE_DTYPE_INT8, {2, 3, 4, 5});
    Array b(SLUICE_DTYPE_INT8, transposed ? Extent{2, 3, 5, 6} : Extent{2, 3, 6, 5});
    a.Fill(&noise, -128, 127);
    b.Fill(&noise, -128, 127);
    Tile t;
    t.op = SLUICE_OP_BATCH_MATMUL;
    t.attributes = {transposed, 3, -2, 5, 1 << 30, -7, -128, 127};
    t.input0 = a.box;
    t.input1 = b.box;
    t.output = out.box;
    t.c_end = 6;
    RunWhole(&t);
    CheckAll(out, [&](int64_t n, int64_t g, int64_t m, int64_t k) {
      int64_t sum = 0;
      for (int64_t c = 0; c < 6; ++c) {
        sum += (a.At(n, g, m, c) - 3) *
               ((transposed ? b.At(n, g, k, c) : b.At(n, g, c, k)) + 2);
      }
      return std::clamp<int64_t>(SlowScale(sum, 1 << 30, -7) + 5, -128, 127);
    });
  }
}

TEST_CASE("pools leave padding out and round the mean away from zero") {
  Array in(SLUICE_DTYPE_INT8, {1, 2, 2, 1}), out(SLUICE_DTYPE_INT8, {1, 2, 2, 1});
  const int values[4] = {-1, -2, 4, -128};
  for (int i = 0; i < 4; ++i)
    in.bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(values[i]);
  Tile t;
  t.op = SLUICE_OP_AVERAGE_POOL;
  t.attributes = {2, 2, 1, 1, 0, 0, 1, 1, -128, 127};
  t.pad[2] = t.pad[3] = 1;
  t.input0 = in.box;
  t.output = out.box;
  RunWhole(&t);
  CHECK(out.At(0, 0, 0, 0) == -32);  // -127 / 4
  CHECK(out.At(0, 0, 1, 0) == -65);  // -130 / 2
  CHECK(out.At(0, 1, 0, 0) == -62);  // -124 / 2
  CHECK(out.At(0, 1, 1, 0) == -128);
  in.bytes[1] = static_cast<uint8_t>(-127);
  in.bytes[3] = 0;
  sluice_sim::RunTile(t);
  CHECK(out.At(0, 0, 1, 0) == -64);  // -63.5
  t.op = SLUICE_OP_MAX_POOL;
  sluice_sim::RunTile(t);
  CHECK(out.At(0, 0, 0, 0) == 4);
  CHECK(out.At(0, 0, 1, 0) == 0);
}

TEST_CASE("binary operators broadcast and rescale as documented") {
  Noise noise{13};
  Array a(SLUICE_DTYPE_INT8, {1, 3, 1, 4}), b(SLUICE_DTYPE_INT8, {1, 1, 5, 4});
  Array out(SLUICE_DTYPE_INT8, {1, 3, 5, 4});
  a.Fill(&noise, -128, 127);
  b.Fill(&noise, -128, 127);
  const int32_t m0 = 1500000001, m1 = 1300000001, mo = 1700000003;
  for (int op : {SLUICE_OP_ADD, SLUICE_OP_SUB, SLUICE_OP_MUL, SLUICE_OP_MINIMUM,
                 SLUICE_OP_MAXIMUM}) {
    const int out_shift = op == SLUICE_OP_MUL ? -7 : -19;
    Tile t;
    t.op = op;
    t.attributes = {20, 5, m0, -1, -9, m1, -2, 4, mo, out_shift, -100, 110};
    t.input0 = a.box;
    t.input1 = b.box;
    t.output = out.box;
    RunWhole(&t);
    CheckAll(out, [&](int64_t, int64_t h, int64_t w, int64_t c) {
      const int64_t x = a.At(0, h, 0, c), y = b.At(0, 0, w, c);
      if (op == SLUICE_OP_MINIMUM) return std::min(x, y);
      if (op == SLUICE_OP_MAXIMUM) return std::max(x, y);
      int64_t raw = (x - 5) * (y + 9);
      if (op != SLUICE_OP_MUL) {
        const int64_t u = SlowScale((x - 5) * (1 << 20), m0, -1);
        const int64_t v = SlowScale((y + 9) * (1 << 20), m1, -2);
        raw = op == SLUICE_OP_ADD ? u + v : u - v;
      }
      return std::clamp<int64_t>(SlowScale(raw, mo, out_shift) + 4, -100, 110);
    });
  }
}

TEST_CASE("requantize changes dtype, lookup maps the bits of a byte") {
  Array in(SLUICE_DTYPE_UINT8, {1, 1, 1, 256}), out(SLUICE_DTYPE_INT8, {1, 1, 1, 256});
  for (int i = 0; i < 256; ++i)
    in.bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(i);
  Tile t;
  t.op = SLUICE_OP_REQUANTIZE;
  t.attributes = {128, 1 << 30, 1, 0, -128, 127};
  t.input0 = in.box;
  t.output = out.box;
  RunWhole(&t);
  CheckAll(out, [](int64_t, int64_t, int64_t, int64_t c) { return c - 128; });
  Array table(SLUICE_DTYPE_INT8, {1, 1, 1, 256});
  for (int i = 0; i < 256; ++i) {
    table.bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(3 * i + 1);
  }
  Tile l;
  l.op = SLUICE_OP_LOOKUP;
  l.input0 = in.box;
  l.weight = table.box;
  l.output = out.box;
  RunWhole(&l);
  CheckAll(out, [](int64_t, int64_t, int64_t, int64_t c) {
    return int64_t{static_cast<int8_t>(3 * c + 1)};
  });
}

TEST_CASE("fixed-point exponential and reciprocal are near the real functions") {
  CHECK(sluice_sim::ExpOfNegative(0) == INT32_MAX);
  for (int i = 1; i < 30000; ++i) {
    const int32_t a = -i * 70001;
    const double want = std::exp(a / 67108864.0) * 2147483648.0;
    CHECK(std::abs(sluice_sim::ExpOfNegative(a) - want) < 600);
  }
  for (int32_t x = 1 << 19; x < (1 << 30); x += (1 << 22) + 12345) {
    int bits = 0;
    const double y = sluice_sim::Reciprocal(x, 12, &bits);
    const double want = 1.0 / (x / 524288.0);  // Q12.19
    CHECK(std::abs(y / 2147483648.0 / std::pow(2.0, bits) - want) < 1e-7 * want);
  }
}

TEST_CASE("softmax is within one step of the real one, and masks") {
  Noise noise{21};
  Array in(SLUICE_DTYPE_INT8, {1, 1, 20, 10}), out(SLUICE_DTYPE_INT8, {1, 1, 20, 10});
  Array mask(SLUICE_DTYPE_UINT8, {1, 1, 1, 10});
  in.Fill(&noise, -128, 127);
  mask.Fill(&noise, 1, 1);
  // Input scale 1/16, beta 1: d * 2^26 / 16 = d * 2^22 = scale(d, 2^30, 23).
  Tile t;
  t.op = SLUICE_OP_SOFTMAX;
  t.attributes = {1 << 30, 23, -496};
  t.input0 = in.box;
  t.output = out.box;
  for (int masked : {0, 1}) {
    if (masked) {
      t.input1 = mask.box;
      mask.bytes[3] = mask.bytes[7] = 0;
    }
    RunWhole(&t);
    for (int64_t w = 0; w < 20; ++w) {
      double sum = 0;
      const auto used = [&](int64_t c) { return !masked || (c != 3 && c != 7); };
      for (int64_t c = 0; c < 10; ++c) {
        if (used(c)) sum += std::exp(static_cast<double>(in.At(0, 0, w, c)) / 16);
      }
      for (int64_t c = 0; c < 10; ++c) {
        const double p =
            used(c) ? std::exp(static_cast<double>(in.At(0, 0, w, c)) / 16) / sum : 0;
        const double want = std::min(127.0, p * 256 - 128);
        CHECK(std::abs(static_cast<double>(out.At(0, 0, w, c)) - want) <= 1.0);
      }
    }
  }
  // Four equal inputs give exactly a quarter each; one far larger input saturates.
  Array four(SLUICE_DTYPE_INT8, {1, 1, 1, 4}), result(SLUICE_DTYPE_INT8, {1, 1, 1, 4});
  Tile q;
  q.op = SLUICE_OP_SOFTMAX;
  q.attributes = t.attributes;
  q.input0 = four.box;
  q.output = result.box;
  RunWhole(&q);
  for (int c = 0; c < 4; ++c) CHECK(result.At(0, 0, 0, c) == -64);
  four.bytes = {127, 0x80, 0x80, 0x80};
  sluice_sim::RunTile(q);
  CHECK(result.At(0, 0, 0, 0) == 127);
  CHECK(result.At(0, 0, 0, 1) == -128);
}

TEST_CASE(
    "softmax leaves out what is farther from the largest than DIFF_MIN, not as far") {
  Array in(SLUICE_DTYPE_INT8, {1, 1, 1, 2}), out(SLUICE_DTYPE_INT8, {1, 1, 1, 2});
  Tile t;
  t.op = SLUICE_OP_SOFTMAX;
  t.input0 = in.box;
  t.output = out.box;
  in.bytes = {16, 0};
  t.attributes = {1 << 30, 23, -16};
  RunWhole(&t);
  // 1 and exp(-1), of a sum of both.
  CHECK(out.At(0, 0, 0, 0) == 59);
  CHECK(out.At(0, 0, 0, 1) == -59);
  t.attributes[SLUICE_SOFTMAX_DIFF_MIN] = -15;
  sluice_sim::RunTile(t);
  CHECK(out.At(0, 0, 0, 0) == 127);
  CHECK(out.At(0, 0, 0, 1) == -128);
}

TEST_CASE("reduce, argmax, transpose and pad are their formulas") {
  Noise noise{34};
  Array in(SLUICE_DTYPE_INT8, {2, 3, 4, 5});
  in.Fill(&noise, -128, 127);
  Array mean(SLUICE_DTYPE_INT8, {2, 1, 1, 5});
  Tile t;
  t.op = SLUICE_OP_REDUCE;
  t.attributes = {6, SLUICE_REDUCE_KIND_SUM, 2, 1, 1431655765, -3, -128, 127};
  t.input0 = in.box;
  t.output = mean.box;
  RunWhole(&t);
  CheckAll(mean, [&](int64_t n, int64_t, int64_t, int64_t c) {
    int64_t sum = 0;
    for (int64_t h = 0; h < 3; ++h) {
      for (int64_t w = 0; w < 4; ++w) sum += in.At(n, h, w, c) - 2;
    }
    return std::clamp<int64_t>(SlowScale(sum, 1431655765, -3) + 1, -128, 127);
  });
  t.attributes[SLUICE_REDUCE_KIND] = SLUICE_REDUCE_KIND_MAX;
  sluice_sim::RunTile(t);
  CheckAll(mean, [&](int64_t n, int64_t, int64_t, int64_t c) {
    int64_t largest = -128;
    for (int64_t h = 0; h < 3; ++h) {
      for (int64_t w = 0; w < 4; ++w) largest = std::max(largest, in.At(n, h, w, c));
    }
    return largest;
  });
  Array best(SLUICE_DTYPE_INT32, {2, 3, 4, 1});
  Tile a;
  a.op = SLUICE_OP_ARGMAX;
  a.input0 = in.box;
  a.output = best.box;
  RunWhole(&a);
  CheckAll(best, [&](int64_t n, int64_t h, int64_t w, int64_t) {
    int64_t at = 4;
    for (int64_t c = 4; c >= 0; --c) {
      if (in.At(n, h, w, c) >= in.At(n, h, w, at)) at = c;
    }
    return at;
  });
  Array turned(SLUICE_DTYPE_INT8, {5, 2, 4, 3});
  Tile p;
  p.op = SLUICE_OP_TRANSPOSE;
  p.attributes = {3, 0, 2, 1};
  p.input0 = in.box;
  p.output = turned.box;
  RunWhole(&p);
  CheckAll(turned, [&](int64_t i, int64_t j, int64_t k, int64_t l) {
    return in.At(j, l, k, i);
  });
  Array padded(SLUICE_DTYPE_INT8, {2, 6, 5, 5});
  Tile d;
  d.op = SLUICE_OP_PAD;
  d.attributes = {0, 2, 1, 0, -99};
  d.input0 = in.box;
  d.output = padded.box;
  d.pad[0] = 2, d.pad[1] = 1, d.pad[2] = 1;
  RunWhole(&d);
  CheckAll(padded, [&](int64_t n, int64_t h, int64_t w, int64_t c) {
    const bool inside = h >= 2 && h < 5 && w >= 1;
    return inside ? in.At(n, h - 2, w - 1, c) : int64_t{-99};
  });
}

TEST_CASE("resize keeps a plane, doubles by nearest, and tiles like the whole") {
  Array in(SLUICE_DTYPE_INT8, {1, 4, 4, 2}), out(SLUICE_DTYPE_INT8, {1, 8, 8, 2});
  Noise noise{55};
  in.Fill(&noise, -128, 127);
  for (int op : {SLUICE_OP_RESIZE_NEAREST, SLUICE_OP_RESIZE_BILINEAR}) {
    for (int half : {0, 1}) {
      Tile t;
      t.op = op;
      t.attributes = {0, half};
      t.input0 = in.box;
      t.output = out.box;
      RunWhole(&t);
      if (op == SLUICE_OP_RESIZE_NEAREST) {
        CheckAll(out, [&](int64_t, int64_t h, int64_t w, int64_t c) {
          return in.At(0, h / 2, w / 2, c);
        });
      } else {
        CHECK(out.At(0, 0, 0, 0) == in.At(0, 0, 0, 0));
        const int64_t a = in.At(0, 1, 1, 0), b = in.At(0, 1, 2, 0);
        const int64_t c = in.At(0, 2, 1, 0), d = in.At(0, 2, 2, 0);
        // Row and column 3 lie half way between 1 and 2, or at 3/4 of that way back.
        const int64_t sum = half ? 9 * a + 3 * b + 3 * c + d : 4 * (a + b + c + d);
        const double want = static_cast<double>(sum) / 16;
        CHECK(std::abs(static_cast<double>(out.At(0, 3, 3, 0)) - want) <= 0.5);
      }
      for (int64_t row = 0; row < 8; row += 2) {
        const auto rows = sluice_sim::ResizeRows(t, 1, row, 2);
        Array part(SLUICE_DTYPE_INT8, {1, 2, 8, 2});
        Tile piece = t;
        piece.origin[1] = row;
        piece.output = part.box;
        piece.input0.data = in.box.at(0, rows.first, 0, 0);
        piece.input0.extent[1] = rows.last - rows.first + 1;
        REQUIRE(sluice_sim::CheckTile(piece) == "");
        sluice_sim::RunTile(piece);
        CheckAll(part, [&](int64_t n, int64_t h, int64_t w, int64_t c) {
          return out.At(n, row + h, w, c);
        });
      }
    }
  }
}

TEST_CASE("resize with aligned corners steps by the nearest 1/1024 of a row") {
  Tile t;
  t.attributes = {1, 0};
  for (int64_t in = 1; in <= 40; ++in) {
    for (int64_t out = 2; out <= 40; ++out) {
      t.layer.input[1] = in;
      t.layer.output[1] = out;
      const int64_t step = ResizePosition(t, 1, 1);
      CHECK(2 * std::abs(step * (out - 1) - ((in - 1) << 10)) <= out - 1);
    }
  }
}

TEST_CASE("resize by nearest never reads behind the last row") {
  Array in(SLUICE_DTYPE_INT8, {1, 2, 1, 1}), out(SLUICE_DTYPE_INT8, {1, 1500, 1, 1});
  in.bytes = {3, 9};
  Tile t;
  t.op = SLUICE_OP_RESIZE_NEAREST;
  t.attributes = {0, 0};
  t.input0 = in.box;
  t.input0.extent[1] = 1;  // steps of 1/1024 reach beyond a row after 1024
  t.output = out.box;
  RunWhole(&t);
  CheckAll(out, [](int64_t, int64_t, int64_t, int64_t) { return 3; });
}

}  // namespace
}  // namespace sluice_test
