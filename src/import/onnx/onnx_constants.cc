// SPDX-License-Identifier: Apache-2.0
// Computes at import the floats that exporters leave as operators on constants.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "import/onnx/onnx_model.h"

namespace sluice::import {
namespace {

using Floats = std::vector<float>;

constexpr int64_t kMostFolded = int64_t{1} << 22;  // elements

Floats FloatsIn(const OnnxValue& value) {
  Floats floats(value.data.size() / 4);
  std::memcpy(floats.data(), value.data.data(), floats.size() * 4);
  return floats;
}

bool IsFloats(const OnnxValue& value) {
  return value.has_data && value.type == kOnnxFloat;
}

bool KeepsBytes(const std::string& op) {
  return op == "Identity" || op == "Reshape" || op == "Squeeze" || op == "Unsqueeze" ||
         op == "Flatten" || op == "Dropout";
}

// Integers of an input of Slice; `otherwise` where it is left out. False: they are not known.
bool Known(const OnnxValue* value, const std::vector<int64_t>& otherwise,
           std::vector<int64_t>* out) {
  *out = value == nullptr ? otherwise : value->integers;
  return (value == nullptr || value->has_integers) && out->size() == otherwise.size();
}

// A stored constant's integers. False: of another type than those that are dequantised.
bool IntegersIn(const OnnxValue& value, std::vector<int32_t>* integers) {
  if (!value.has_data) return false;
  if (value.type == kOnnxInt32) {
    integers->resize(value.data.size() / 4);
    std::memcpy(integers->data(), value.data.data(), integers->size() * 4);
    return true;
  }
  if (value.type != kOnnxInt8 && value.type != kOnnxUint8) return false;
  for (const uint8_t byte : value.data)
    integers->push_back(value.type == kOnnxInt8 ? static_cast<int8_t>(byte) : byte);
  return true;
}

// A constant's floats, stored or dequantised by one scale or one for each slice of an axis.
// False: it has none.
bool RealsOf(const OnnxModel& model, const OnnxValue& value, Floats* reals) {
  if (IsFloats(value)) *reals = FloatsIn(value);
  if (IsFloats(value) || value.producer < 0) return IsFloats(value);
  const OnnxNode& node = model.nodes[static_cast<size_t>(value.producer)];
  const OnnxValue *stored = model.In(node, 0), *scale = model.In(node, 1),
                  *zero = model.In(node, 2);
  std::vector<int32_t> integers, zeros;
  if (node.op != "DequantizeLinear" || node.Int("block_size", 0) != 0 ||
      stored == nullptr || scale == nullptr || !IsFloats(*scale) ||
      ElementsOf(stored->dims) > kMostFolded || !IntegersIn(*stored, &integers) ||
      (zero != nullptr && !IntegersIn(*zero, &zeros))) {
    return false;
  }
  const Floats scales = FloatsIn(*scale);
  const int64_t rank = static_cast<int64_t>(stored->dims.size()),
                at = node.Int("axis", 1), axis = at < 0 ? at + rank : at;
  size_t inner = 1;
  if (scales.size() != 1) {
    if (axis < 0 || axis >= rank ||
        stored->dims[static_cast<size_t>(axis)] != static_cast<int64_t>(scales.size()))
      return false;
    for (int64_t a = axis + 1; a < rank; ++a)
      inner *= static_cast<size_t>(stored->dims[static_cast<size_t>(a)]);
  }
  if (zero != nullptr && zeros.size() != scales.size()) return false;
  for (size_t i = 0; i < integers.size(); ++i) {
    const size_t s = i / inner % scales.size();
    const int32_t shift = zero == nullptr ? 0 : zeros[s];
    reals->push_back(static_cast<float>(integers[i] - shift) * scales[s]);
  }
  return true;
}

// Slices of one axis, by known numbers.
bool GatherOf(const OnnxModel& model, const OnnxNode& node, const OnnxValue& from,
              const Floats& floats, Floats* result) {
  const OnnxValue* indices = model.In(node, 1);
  const int64_t rank = static_cast<int64_t>(from.dims.size()), at = node.Int("axis", 0),
                axis = at < 0 ? at + rank : at;
  if (indices == nullptr || !indices->has_integers || axis < 0 || axis >= rank)
    return false;
  const int64_t extent = from.dims[static_cast<size_t>(axis)];
  int64_t inner = 1;
  for (int64_t a = axis + 1; a < rank; ++a) inner *= from.dims[static_cast<size_t>(a)];
  const int64_t outer =
      extent * inner == 0 ? 0 : static_cast<int64_t>(floats.size()) / (extent * inner);
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t index : indices->integers) {
      const int64_t i = index < 0 ? index + extent : index;
      if (i < 0 || i >= extent) return false;
      const auto first = floats.begin() + (o * extent + i) * inner;
      result->insert(result->end(), first, first + inner);
    }
  }
  return true;
}

// A part of each axis, forwards.
bool SliceOf(const OnnxModel& model, const OnnxNode& node, const OnnxValue& from,
             const Floats& floats, Floats* result) {
  const OnnxValue* first = model.In(node, 1);
  if (first == nullptr || !first->has_integers || model.In(node, 2) == nullptr)
    return false;
  const size_t count = first->integers.size(), rank = from.dims.size();
  std::vector<int64_t> all;
  for (size_t i = 0; i < count; ++i) all.push_back(static_cast<int64_t>(i));
  std::vector<int64_t> ends, axes, steps;
  if (!Known(model.In(node, 2), all, &ends) || !Known(model.In(node, 3), all, &axes) ||
      !Known(model.In(node, 4), std::vector<int64_t>(count, 1), &steps)) {
    return false;
  }
  std::vector<int64_t> begin(rank, 0), end = from.dims, step(rank, 1);
  for (size_t i = 0; i < count; ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + static_cast<int64_t>(rank) : axes[i];
    if (axis < 0 || axis >= static_cast<int64_t>(rank) || steps[i] < 1) return false;
    const size_t a = static_cast<size_t>(axis);
    const auto at = [&](int64_t n) {
      return std::clamp<int64_t>(n < 0 ? n + from.dims[a] : n, 0, from.dims[a]);
    };
    begin[a] = at(first->integers[i]);
    end[a] = at(ends[i]);
    step[a] = steps[i];
  }
  std::vector<int64_t> places = {0};
  for (size_t a = 0; a < rank; ++a) {
    std::vector<int64_t> next;
    for (const int64_t place : places) {
      for (int64_t i = begin[a]; i < end[a]; i += step[a])
        next.push_back(place * from.dims[a] + i);
    }
    places = std::move(next);
  }
  for (const int64_t place : places)
    result->push_back(floats[static_cast<size_t>(place)]);
  return true;
}

bool IsInfinite(const OnnxValue* scale) {
  return scale != nullptr && IsFloats(*scale) && scale->data.size() == 4 &&
         std::isinf(FloatsIn(*scale)[0]);
}
// Quantisers make such constants of masks that hold -infinity: 0 becomes no number.
bool Unbounded(const OnnxValue& from, const OnnxValue& scale, const OnnxValue* zero,
               Floats* result) {
  if (!from.has_data || (from.type != kOnnxInt8 && from.type != kOnnxUint8) ||
      (zero != nullptr && (zero->type != from.type || zero->data.size() != 1))) {
    return false;
  }
  const auto integer = [&](uint8_t byte) {
    return from.type == kOnnxInt8 ? static_cast<int>(static_cast<int8_t>(byte)) : byte;
  };
  const int shift = zero == nullptr ? 0 : integer(zero->data[0]);
  for (const uint8_t byte : from.data) {
    result->push_back(static_cast<float>(integer(byte) - shift) * FloatsIn(scale)[0]);
  }
  return true;
}

class FloatFolder {
 public:
  explicit FloatFolder(OnnxModel* model) : m_(*model) {}

  void Run() {
    for (const OnnxNode& node : m_.nodes) {
      OnnxValue& out = m_.values[static_cast<size_t>(node.outputs[0])];
      if (out.has_data || !out.has_shape) continue;
      if (out.has_integers && out.type != kOnnxFloat) continue;  // shapes
      const int64_t elements = ElementsOf(out.dims);
      if (elements > kMostFolded || Quantise(node, &out)) continue;
      Floats result;
      if (!Compute(node, out, &result)) continue;
      if (static_cast<int64_t>(result.size()) != elements) continue;
      out.type = kOnnxFloat;
      const auto* bytes = reinterpret_cast<const uint8_t*>(result.data());
      out.data.assign(bytes, bytes + result.size() * 4);
      out.has_data = out.constant = true;
    }
  }

 private:
  // A constant that is quantised as a whole to 8 bits: x / scale, ties to even. False: it is
  // none, and `out` stays.
  bool Quantise(const OnnxNode& node, OnnxValue* out) const {
    const OnnxValue *x = m_.In(node, 0), *scale = m_.In(node, 1),
                    *zero = m_.In(node, 2);
    if (node.op != "QuantizeLinear" || x == nullptr || scale == nullptr ||
        !IsFloats(*scale) || scale->data.size() != 4 || x->dims != out->dims) {
      return false;
    }
    Floats reals;
    if (!RealsOf(m_, *x, &reals)) return false;
    const int type = zero == nullptr ? kOnnxUint8 : zero->type;
    if (type != kOnnxUint8 && type != kOnnxInt8) return false;
    if (zero != nullptr && (!zero->has_data || zero->data.size() != 1)) return false;
    const bool with_sign = type == kOnnxInt8;
    const uint8_t byte = zero == nullptr ? 0 : zero->data[0];
    const float shift =
        with_sign ? static_cast<float>(static_cast<int8_t>(byte)) : byte;
    const float least = with_sign ? -128 : 0, step = FloatsIn(*scale)[0];
    Bytes bytes;
    for (const float real : reals) {
      const float steps = std::nearbyint(real / step) + shift;
      if (!std::isfinite(steps)) return false;
      const float stored = std::clamp(steps, least, least + 255);
      bytes.push_back(static_cast<uint8_t>(static_cast<int>(stored)));
    }
    out->type = type;
    out->data = std::move(bytes);
    return out->has_data = out->constant = true;
  }

  bool Compute(const OnnxNode& node, const OnnxValue& out, Floats* result) const {
    const OnnxValue* first = m_.In(node, 0);
    if (first == nullptr) return false;
    if (node.op == "Cast") return Cast(*first, out, result);
    if (node.op == "DequantizeLinear") return Dequantise(node, *first, result);
    if (node.op == "Slice" || node.op == "Gather") {
      Floats floats;
      if (!first->has_shape || !RealsOf(m_, *first, &floats)) return false;
      return node.op == "Slice" ? SliceOf(m_, node, *first, floats, result)
                                : GatherOf(m_, node, *first, floats, result);
    }
    if (!IsFloats(*first)) return false;
    if (KeepsBytes(node.op)) {
      *result = FloatsIn(*first);
      return true;
    }
    if (node.op == "Transpose") return Transpose(node, *first, result);
    return Unary(node.op, *first, result) || Binary(node, *first, result);
  }

  // 8-bit constants of which each block of an axis has a scale: their floats, as the runtime's.
  // False: there are no blocks; such constants stay integers.
  bool Dequantise(const OnnxNode& node, const OnnxValue& from, Floats* result) const {
    const int64_t block = node.Int("block_size", 0);
    const OnnxValue *scale = m_.In(node, 1), *zero = m_.In(node, 2);
    const int64_t rank = static_cast<int64_t>(from.dims.size());
    const int64_t at = node.Int("axis", 1), axis = at < 0 ? at + rank : at;
    if (IsInfinite(scale)) return Unbounded(from, *scale, zero, result);
    if (block < 1 || scale == nullptr || !IsFloats(*scale) || axis < 0 ||
        axis >= rank || !from.has_data ||
        (from.type != kOnnxInt8 && from.type != kOnnxUint8) ||
        (zero != nullptr && (!zero->has_data || zero->type != from.type))) {
      return false;
    }
    int64_t inner = 1;
    for (int64_t a = axis + 1; a < rank; ++a)
      inner *= from.dims[static_cast<size_t>(a)];
    const int64_t extent = from.dims[static_cast<size_t>(axis)];
    const int64_t blocks = extent / block + (extent % block != 0 ? 1 : 0);
    const Floats scales = FloatsIn(*scale);
    const auto integer = [&](const OnnxValue& value, size_t i) {
      const uint8_t byte = value.data[i];
      return from.type == kOnnxInt8 ? static_cast<int>(static_cast<int8_t>(byte))
                                    : byte;
    };
    for (size_t i = 0; i < from.data.size(); ++i) {
      const int64_t n = static_cast<int64_t>(i), row = n / inner % extent;
      const size_t s = static_cast<size_t>(
          (n / inner / extent * blocks + row / block) * inner + n % inner);
      if (s >= scales.size() || (zero != nullptr && s >= zero->data.size()))
        return false;
      const int shift = zero == nullptr ? 0 : integer(*zero, s);
      result->push_back(static_cast<float>(integer(from, i) - shift) * scales[s]);
    }
    return true;
  }

  static bool Cast(const OnnxValue& from, const OnnxValue& out, Floats* result) {
    if (out.type != kOnnxFloat) return false;
    if (IsFloats(from)) {
      *result = FloatsIn(from);
      return true;
    }
    if (!from.has_integers) return false;
    for (const int64_t x : from.integers) result->push_back(static_cast<float>(x));
    return true;
  }

  static bool Transpose(const OnnxNode& node, const OnnxValue& from, Floats* result) {
    const size_t rank = from.dims.size();
    std::vector<int64_t> perm;
    for (size_t i = rank; i-- > 0;) perm.push_back(static_cast<int64_t>(i));
    perm = node.Ints("perm", perm);
    std::vector<bool> seen(rank, false);
    if (perm.size() != rank) return false;
    for (const int64_t axis : perm) {
      if (axis < 0 || axis >= static_cast<int64_t>(rank)) return false;
      if (seen[static_cast<size_t>(axis)]) return false;
      seen[static_cast<size_t>(axis)] = true;
    }
    const Floats in = FloatsIn(from);
    std::vector<size_t> stride(rank, 1), index(rank, 0);
    for (size_t i = rank; i-- > 1;) {
      stride[i - 1] = stride[i] * static_cast<size_t>(from.dims[i]);
    }
    for (size_t n = 0; n < in.size(); ++n) {
      size_t at = 0;
      for (size_t i = 0; i < rank; ++i) {
        at += index[i] * stride[static_cast<size_t>(perm[i])];
      }
      result->push_back(in[at]);
      for (size_t i = rank; i-- > 0;) {
        if (++index[i] < static_cast<size_t>(from.dims[static_cast<size_t>(perm[i])])) {
          break;
        }
        index[i] = 0;
      }
    }
    return true;
  }

  static bool Unary(const std::string& op, const OnnxValue& from, Floats* result) {
    float (*function)(float) = nullptr;
    if (op == "Sqrt") function = [](float x) { return std::sqrt(x); };
    if (op == "Reciprocal") function = [](float x) { return 1 / x; };
    if (op == "Neg") function = [](float x) { return -x; };
    if (function == nullptr) return false;
    for (const float x : FloatsIn(from)) result->push_back(function(x));
    return true;
  }

  // Operators on two tensors of equal shape, or on a scalar and a tensor.
  bool Binary(const OnnxNode& node, const OnnxValue& first, Floats* result) const {
    const OnnxValue* second = m_.In(node, 1);
    if (second == nullptr || !IsFloats(*second)) return false;
    const Floats a = FloatsIn(first), b = FloatsIn(*second);
    if (a.empty() || b.empty()) return false;
    if (a.size() != 1 && b.size() != 1 && first.dims != second->dims) return false;
    float (*function)(float, float) = nullptr;
    if (node.op == "Add") function = [](float x, float y) { return x + y; };
    if (node.op == "Sub") function = [](float x, float y) { return x - y; };
    if (node.op == "Mul") function = [](float x, float y) { return x * y; };
    if (node.op == "Div") function = [](float x, float y) { return x / y; };
    if (node.op == "Pow") function = [](float x, float y) { return std::pow(x, y); };
    if (function == nullptr) return false;
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      result->push_back(function(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]));
    }
    return true;
  }

  OnnxModel& m_;
};

}  // namespace

void FoldFloats(OnnxModel* model) { FloatFolder(model).Run(); }

}  // namespace sluice::import
