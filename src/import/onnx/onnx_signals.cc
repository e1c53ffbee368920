// SPDX-License-Identifier: Apache-2.0
// Fourier transforms and what belongs to them, taken apart: a transform of known length is a
// product by a constant matrix of cosines and sines, a short-time one a product of each frame.
#include <algorithm>
#include <cmath>

#include "import/onnx/onnx_rewriter.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;

constexpr double kPi = 3.14159265358979323846;
constexpr int64_t kMostLength = 1 << 14;    // of a transform
constexpr int64_t kMostElements = 1 << 24;  // of its matrix

// One integer that is known at import, or `otherwise` where the input is absent.
bool Whole(const Rewriter& r, int input, int64_t otherwise, int64_t* number) {
  *number = otherwise;
  if (!r.Has(input)) return true;
  Shape numbers;
  if (!r.Integers(r.In(input), &numbers) || numbers.size() != 1) return false;
  *number = numbers[0];
  return true;
}

struct Transform {
  int64_t length;  // elements that it reads, at most as many as there are
  int64_t given;   // elements that there are
  int64_t parts;   // 2: complex numbers
  int64_t bins;
  bool inverse;
};

// [parts * given, 2 * bins]: what each element adds to each real and imaginary part, times
// `window`, which may be empty.
std::string Matrix(Rewriter* r, const Transform& t, const std::vector<float>& window) {
  const size_t rows = static_cast<size_t>(t.given), bins = static_cast<size_t>(t.bins);
  std::vector<float> matrix(static_cast<size_t>(t.parts) * rows * 2 * bins, 0.0f);
  const double sign = t.inverse ? 1 : -1,
               scale = t.inverse ? 1 / static_cast<double>(t.length) : 1;
  for (size_t n = 0; n < std::min(rows, static_cast<size_t>(t.length)); ++n) {
    const double weight =
        scale * (window.empty() ? 1.0 : static_cast<double>(window[n]));
    for (size_t k = 0; k < bins; ++k) {
      const int64_t turn = static_cast<int64_t>(n * k) % t.length;
      const double angle =
          2 * kPi * static_cast<double>(turn) / static_cast<double>(t.length);
      const double real = weight * std::cos(angle),
                   imaginary = weight * sign * std::sin(angle);
      matrix[n * 2 * bins + k] = static_cast<float>(real);
      matrix[n * 2 * bins + bins + k] = static_cast<float>(imaginary);
      if (t.parts == 1) continue;
      matrix[(rows + n) * 2 * bins + k] = static_cast<float>(-imaginary);
      matrix[(rows + n) * 2 * bins + bins + k] = static_cast<float>(real);
    }
  }
  return r->Real(matrix, {t.parts * t.given, 2 * t.bins});
}

bool IsSmall(const Transform& t) {
  return t.length >= 1 && t.length <= kMostLength && t.given <= kMostLength &&
         t.bins >= 1 && t.parts * t.given * 2 * t.bins <= kMostElements;
}

// A constant's floats, or those that an operator makes of constants.
bool WindowOf(Rewriter* r, const std::string& name, int64_t length,
              std::vector<float>* window) {
  const onnx::TensorProto* tensor = r->Constant(name);
  return tensor != nullptr && r->Floats(name, window, static_cast<size_t>(length)) &&
         static_cast<int64_t>(window->size()) == length;
}

bool Cosines(Rewriter* r, double first, double second, double third) {
  int64_t size = 0;
  if (!Whole(*r, 0, 0, &size) || size < 1 || size > kMostLength ||
      r->Int("output_datatype", 1) != onnx::TensorProto::FLOAT) {
    return false;
  }
  const int64_t turn =
      r->Int("periodic", 1) != 0 ? size : std::max<int64_t>(size - 1, 1);
  std::vector<float> window;
  for (int64_t i = 0; i < size; ++i) {
    const double angle = 2 * kPi * static_cast<double>(i) / static_cast<double>(turn);
    window.push_back(static_cast<float>(first - second * std::cos(angle) +
                                        third * std::cos(2 * angle)));
  }
  r->Finish(0, r->Op("Identity", {r->Real(window, {size})}));
  return true;
}

}  // namespace

bool RewriteFourier(Rewriter* r) {
  const Shape x = r->Shape(r->In(0));
  const int64_t rank = static_cast<int64_t>(x.size());
  int64_t axis = 0, length = 0;
  if (rank < 2 || x.back() > 2 || r->version < 17) return false;
  if (!Whole(*r, 2, r->version >= 20 ? -2 : r->Int("axis", 1), &axis)) return false;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank - 1) return false;
  const size_t at = static_cast<size_t>(axis), last = x.size() - 1;
  if (!Whole(*r, 1, x[at], &length)) return false;
  const bool half = r->Int("onesided", 0) != 0;
  const Transform t = {length, x[at], x.back(), half ? length / 2 + 1 : length,
                       r->Int("inverse", 0) != 0};
  if (!IsSmall(t) || (half && t.inverse)) return false;
  Shape rest, perm, back;
  for (int64_t a = 0; a + 1 < rank; ++a) {
    if (a != axis) perm.push_back(a);
    if (a != axis) rest.push_back(x[static_cast<size_t>(a)]);
  }
  const int64_t outer = static_cast<int64_t>(rest.size());
  for (int64_t a = 0, next = 0; a + 1 < rank; ++a)
    back.push_back(a == axis ? outer + 1 : next++);
  back.push_back(outer);
  perm.insert(perm.end(), {static_cast<int64_t>(last), axis});
  Shape rows = rest, made = rest;
  rows.push_back(t.parts * t.given);
  made.insert(made.end(), {2, t.bins});
  const std::string flat = r->Reshape(r->Transposed(r->In(0), perm), rows);
  const std::string y = r->Op("MatMul", {flat, Matrix(r, t, {})});
  r->Finish(0, r->Transposed(r->Reshape(y, made), back));
  return true;
}

bool RewriteShortFourier(Rewriter* r) {
  const Shape x = r->Shape(r->In(0));
  int64_t step = 0, length = 0;
  if (x.size() < 2 || (x.size() == 3 && x[2] != 1) || x.size() > 3 ||
      !Whole(*r, 1, 0, &step) || step < 1) {
    return false;
  }
  const Shape shape = r->Has(2) ? r->Shape(r->In(2)) : Shape{};
  if (!Whole(*r, 3, shape.size() == 1 ? shape[0] : 0, &length) || length < 1 ||
      length > x[1]) {
    return false;
  }
  const int64_t frames = (x[1] - length) / step + 1;
  const bool half = r->Int("onesided", 1) != 0;
  const Transform t = {length, length, 1, half ? length / 2 + 1 : length, false};
  if (!IsSmall(t) || frames * length > kMostElements) return false;
  std::vector<float> window;
  const bool folded = !r->Has(2) || WindowOf(r, r->In(2), length, &window);
  Shape places;
  for (int64_t f = 0; f < frames; ++f) {
    for (int64_t i = 0; i < length; ++i) places.push_back(f * step + i);
  }
  std::string rows =
      r->Op("Gather", {r->Reshape(r->In(0), {x[0], x[1]}), r->Whole(places)},
            {{"axis", {1}}});
  rows = r->Reshape(rows, {x[0], frames, length});
  if (!folded) rows = r->Op("Mul", {rows, r->In(2)});
  const std::string y = r->Op("MatMul", {rows, Matrix(r, t, window)});
  r->Finish(0, r->Transposed(r->Reshape(y, {x[0], frames, 2, t.bins}), {0, 1, 3, 2}));
  return true;
}

bool RewriteHann(Rewriter* r) { return Cosines(r, 0.5, 0.5, 0); }
bool RewriteHamming(Rewriter* r) { return Cosines(r, 25.0 / 46, 21.0 / 46, 0); }
bool RewriteBlackman(Rewriter* r) { return Cosines(r, 0.42, 0.5, 0.08); }

// Triangles that are equally wide on the mel scale, in whole bins of the transform.
bool RewriteMel(Rewriter* r) {
  int64_t count = 0, length = 0, rate = 0;
  std::vector<float> lower, upper;
  if (!Whole(*r, 0, 0, &count) || !Whole(*r, 1, 0, &length) ||
      !Whole(*r, 2, 0, &rate) || !r->Floats(r->In(3), &lower) ||
      !r->Floats(r->In(4), &upper) || lower.size() != 1 || upper.size() != 1 ||
      count < 1 || count > kMostLength || length < 1 || length > kMostLength ||
      rate < 1 || r->Int("output_datatype", 1) != onnx::TensorProto::FLOAT) {
    return false;
  }
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(static_cast<double>(lower[0])),
               high = mel(static_cast<double>(upper[0]));
  const double step = (high - low) / static_cast<double>(count + 2);
  const int64_t rows = length / 2 + 1;
  Shape edges;
  for (int64_t i = 0; i < count + 2; ++i) {
    const double hertz =
        700 * (std::pow(10, (low + step * static_cast<double>(i)) / 2595) - 1);
    edges.push_back(static_cast<int64_t>(std::floor(
        static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
    if (edges.back() < 0 || edges.back() >= rows) return false;
  }
  std::vector<float> matrix(static_cast<size_t>(rows * count), 0.0f);
  for (int64_t i = 0; i < count; ++i) {
    const size_t at = static_cast<size_t>(i);
    const int64_t left = edges[at], middle = edges[at + 1], right = edges[at + 2];
    const auto set = [&](int64_t row, double weight) {
      matrix[static_cast<size_t>(row * count + i)] = static_cast<float>(weight);
    };
    if (left == middle) set(middle, 1);
    for (int64_t j = left; left != middle && j <= middle; ++j)
      set(j, static_cast<double>(j - left) / static_cast<double>(middle - left));
    for (int64_t j = middle; right > middle && j < right; ++j)
      set(j, static_cast<double>(right - j) / static_cast<double>(right - middle));
  }
  r->Finish(0, r->Op("Identity", {r->Real(matrix, {rows, count})}));
  return true;
}

}  // namespace sluice::import
