// SPDX-License-Identifier: Apache-2.0
// Curves as onnxruntime's kernels compute them on processors that multiply and add in one
// rounding: by quotients of polynomials, in float32, so that every bit is the runtime's.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "host_onnx.h"

namespace sluice_sim {
namespace {

// The polynomial with these coefficients, from the highest power down.
float Polynomial(float x, std::initializer_list<float> coefficients) {
  float sum = 0;
  for (const float c : coefficients) sum = std::fma(sum, x, c);
  return sum;
}

// e^x for x <= 0.
float Exponential(float x) {
  constexpr float kWhole = 12582912.0f;  // 1.5 x 2^23: a sum with it has no fraction
  x = std::max(x, -88.3762626647949f);
  const float twos = std::fma(x, 1.44269504088896341f, kWhole) - kWhole;
  x = std::fma(twos, -6.93145752e-1f, x);  // the logarithm of 2 in two parts
  x = std::fma(twos, -1.42860677e-6f, x);
  const float rest = Polynomial(x, {1.38319808e-3f, 8.37550033e-3f, 4.16689515e-2f,
                                    1.66664466e-1f, 4.99999851e-1f, 1.0f, 1.0f});
  return std::ldexp(rest, static_cast<int>(twos));
}

}  // namespace

float OnnxLogistic(float x) {
  x = std::clamp(x, -18.0f, 18.0f);
  const float square = x * x;
  const float above =
      x * Polynomial(square, {4.37031012579801e-11f, 1.15627324459942e-07f,
                              6.08574864600143e-05f, 8.51377133304701e-03f,
                              2.48287947061529e-01f});
  const float below = Polynomial(
      square, {6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f,
               1.70198817374094e-03f, 1.16817656904453e-01f, 9.93151921023180e-01f});
  return std::clamp(above / below + 0.5f, 0.0f, 1.0f);
}

float OnnxTanh(float x) {
  x = std::clamp(x, -9.0f, 9.0f);
  const float square = x * x;
  const float above =
      x * Polynomial(square, {-2.76076847742355e-16f, 2.00018790482477e-13f,
                              -8.60467152213735e-11f, 5.12229709037114e-08f,
                              1.48572235717979e-05f, 6.37261928875436e-04f,
                              4.89352455891786e-03f});
  const float below =
      Polynomial(square, {1.19825839466702e-06f, 1.18534705686654e-04f,
                          2.26843463243900e-03f, 4.89352518554385e-03f});
  return above / below;
}

float OnnxErf(float x) {
  const float size = std::min(std::fabs(x), 3.925f);
  float result = 0;
  if (size > 0.921875f) {
    const float power = Polynomial(
        size, {1.72948930e-5f, -3.83208680e-4f, 3.88393435e-3f, -2.42545605e-2f,
               1.06777847e-1f, 6.34846687e-1f, 1.28717512e-1f});
    result = 1.0f - Exponential(-std::fma(power, size, size));
  } else {
    const float part =
        Polynomial(size * size, {-5.99104969e-4f, 4.99339588e-3f, -2.67667342e-2f,
                                 1.12818025e-1f, -3.76124859e-1f, 1.28379151e-1f});
    result = std::fma(part, size, size);
  }
  return std::copysign(result, x);
}

}  // namespace sluice_sim
