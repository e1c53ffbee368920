// SPDX-License-Identifier: Apache-2.0
// Computes at import the floats that exporters leave as operators on constants.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "import/onnx/onnx_dequantised.h"
#include "import/onnx/onnx_lowering.h"
#include "import/onnx/onnx_model.h"
#include "import/onnx/onnx_moves.h"

namespace sluice::import {
namespace {

using Floats = std::vector<float>;

constexpr int64_t kMostExact = int64_t{1} << 24;  // of the integers that floats are

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

// All floats of a constant.
bool Whole(const OnnxModel& model, const OnnxValue& value, Floats* reals) {
  return value.has_shape && RealConstant(model, value, reals) &&
         static_cast<int64_t>(reals->size()) == ElementsOf(value.dims);
}

// The floats of a constant, or its integers and truths, where floats are as exact.
bool NumbersOf(const OnnxModel& model, const OnnxValue& value, Floats* numbers) {
  if (Whole(model, value, numbers)) return true;
  if (!value.has_shape || IsFloats(value) || !(value.has_integers || value.has_data)) {
    return false;
  }
  numbers->clear();
  const std::vector<int64_t> integers =
      value.has_integers ? value.integers : StoredIntegers(value);
  for (const int64_t x : integers) {
    if (x < -kMostExact || x > kMostExact) return false;
    numbers->push_back(static_cast<float>(x));
  }
  return static_cast<int64_t>(numbers->size()) == ElementsOf(value.dims);
}

// Input i as often as the result has elements.
bool Spread(const OnnxModel& model, const OnnxNode& node, size_t i,
            const OnnxValue& out, Floats* result) {
  const OnnxValue* from = model.In(node, i);
  Floats numbers;
  OnnxPlaces places;
  if (from == nullptr || !NumbersOf(model, *from, &numbers) ||
      !BroadcastPlaces(from->dims, out.dims, &places)) {
    return false;
  }
  *result = PickedAt(places, numbers);
  return true;
}

// Operators on two tensors, which broadcast.
bool Binary(const OnnxModel& model, const OnnxNode& node, const OnnxValue& out,
            Floats* result) {
  float (*function)(float, float) = nullptr;
  if (node.op == "Add") function = [](float x, float y) { return x + y; };
  if (node.op == "Sub") function = [](float x, float y) { return x - y; };
  if (node.op == "Mul") function = [](float x, float y) { return x * y; };
  if (node.op == "Div") function = [](float x, float y) { return x / y; };
  if (node.op == "Pow") function = [](float x, float y) { return std::pow(x, y); };
  Floats a, b;
  if (function == nullptr || !Spread(model, node, 0, out, &a) ||
      !Spread(model, node, 1, out, &b))
    return false;
  for (size_t i = 0; i < a.size(); ++i) result->push_back(function(a[i], b[i]));
  return true;
}

bool Select(const OnnxModel& model, const OnnxNode& node, const OnnxValue& out,
            Floats* result) {
  Floats which, a, b;
  if (node.op != "Where" || out.type != kOnnxFloat ||
      !Spread(model, node, 0, out, &which) || !Spread(model, node, 1, out, &a) ||
      !Spread(model, node, 2, out, &b)) {
    return false;
  }
  for (size_t i = 0; i < which.size(); ++i)
    result->push_back(which[i] != 0 ? a[i] : b[i]);
  return true;
}

// Comparisons, and what joins them: masks. False: another operator, and `out` stays.
bool Judge(const OnnxModel& model, const OnnxNode& node, OnnxValue* out) {
  bool (*holds)(float, float) = nullptr;
  if (node.op == "Equal") holds = [](float x, float y) { return x == y; };
  if (node.op == "Less") holds = [](float x, float y) { return x < y; };
  if (node.op == "LessOrEqual") holds = [](float x, float y) { return x <= y; };
  if (node.op == "Greater") holds = [](float x, float y) { return x > y; };
  if (node.op == "GreaterOrEqual") holds = [](float x, float y) { return x >= y; };
  if (node.op == "And") holds = [](float x, float y) { return x != 0 && y != 0; };
  if (node.op == "Or") holds = [](float x, float y) { return x != 0 || y != 0; };
  if (node.op == "Not") holds = [](float x, float) { return x == 0; };
  Floats a, b;
  if (holds == nullptr || !Spread(model, node, 0, *out, &a) ||
      !Spread(model, node, node.op == "Not" ? 0 : 1, *out, &b)) {
    return false;
  }
  Bytes truths;
  for (size_t i = 0; i < a.size(); ++i) truths.push_back(holds(a[i], b[i]) ? 1 : 0);
  out->type = kOnnxBool;
  out->data = std::move(truths);
  return out->has_data = out->constant = true;
}

// A stored constant, of which each output is a part.
void FoldSplit(const OnnxNode& node, OnnxModel* model) {
  const OnnxValue* from = model->In(node, 0);
  if (from == nullptr || !from->has_data || !from->has_shape ||
      ElementsOf(from->dims) > kMostMoved) {
    return;
  }
  const int64_t rank = static_cast<int64_t>(from->dims.size());
  const int64_t given = node.Int("axis", 0), at = given < 0 ? given + rank : given;
  if (at < 0 || at >= rank) return;
  const size_t axis = static_cast<size_t>(at);
  size_t outer = 1, inner = OnnxTypeBytes(from->type);
  for (size_t a = 0; a < from->dims.size(); ++a) {
    if (a != axis) (a < axis ? outer : inner) *= static_cast<size_t>(from->dims[a]);
  }
  const size_t row = static_cast<size_t>(from->dims[axis]) * inner;
  if (inner == 0 || from->data.size() != outer * row) return;
  size_t begin = 0;
  for (const int output : node.outputs) {
    if (output < 0) return;
    OnnxValue& out = model->values[static_cast<size_t>(output)];
    if (!out.has_shape || out.dims.size() != from->dims.size()) return;
    const size_t width = static_cast<size_t>(out.dims[axis]) * inner;
    const size_t bytes =
        static_cast<size_t>(ElementsOf(out.dims)) * OnnxTypeBytes(from->type);
    if (width > row - begin || bytes != outer * width) return;
    Bytes part;
    for (size_t o = 0; o < outer; ++o) {
      const uint8_t* first = from->data.data() + o * row + begin;
      part.insert(part.end(), first, first + width);
    }
    begin += width;
    out.type = from->type;
    out.data = std::move(part);
    out.has_data = out.constant = true;
  }
}

class FloatFolder {
 public:
  explicit FloatFolder(OnnxModel* model) : m_(*model) {}

  void Fold(int n) {
    const OnnxNode& node = m_.nodes[static_cast<size_t>(n)];
    if (node.op == "Split") return FoldSplit(node, &m_);
    OnnxValue& out = m_.values[static_cast<size_t>(node.outputs[0])];
    if (out.has_data || !out.has_shape) return;
    if (out.has_integers && out.type != kOnnxFloat) return;  // shapes
    const int64_t elements = ElementsOf(out.dims);
    if (MoveStored(&m_, n) || MoveDequantised(&m_, n) || elements > kMostMoved ||
        Quantise(node, &out) || Judge(m_, node, &out))
      return;
    Floats result;
    if (!Compute(node, out, &result)) return;
    if (static_cast<int64_t>(result.size()) != elements) return;
    out.type = kOnnxFloat;
    const auto* bytes = reinterpret_cast<const uint8_t*>(result.data());
    out.data.assign(bytes, bytes + result.size() * 4);
    out.has_data = out.constant = true;
  }

 private:
  // A constant that is quantised as a whole to 8 or 16 bits: x / scale, ties to even. False: it
  // is none, and `out` stays.
  bool Quantise(const OnnxNode& node, OnnxValue* out) const {
    const OnnxValue *x = m_.In(node, 0), *scale = m_.In(node, 1),
                    *zero = m_.In(node, 2);
    Floats reals;
    if (node.op != "QuantizeLinear" || x == nullptr || scale == nullptr ||
        !IsFloats(*scale) || scale->data.size() != 4 || x->dims != out->dims ||
        !Whole(m_, *x, &reals)) {
      return false;
    }
    const int64_t asked = node.Int("output_dtype", kOnnxUint8);
    const int type = zero == nullptr ? static_cast<int>(asked) : zero->type;
    const bool with_sign = type == kOnnxInt8 || type == kOnnxInt16;
    if (!with_sign && type != kOnnxUint8 && type != kOnnxUint16) return false;
    const size_t width = OnnxTypeBytes(type);
    if (zero != nullptr && (!zero->has_data || zero->data.size() != width))
      return false;
    const float shift =
        zero == nullptr ? 0 : static_cast<float>(StoredIntegers(*zero)[0]);
    const float levels = width == 1 ? 256 : 65536, least = with_sign ? -levels / 2 : 0;
    const float step = FloatsIn(*scale)[0];
    Bytes bytes;
    for (const float real : reals) {
      const float steps = std::nearbyint(real / step) + shift;
      if (!std::isfinite(steps)) return false;
      const float stored = std::clamp(steps, least, least + levels - 1);
      const uint32_t bits = static_cast<uint32_t>(static_cast<int32_t>(stored));
      for (size_t b = 0; b < width; ++b) bytes.push_back((bits >> (8 * b)) & 255);
    }
    out->type = type;
    out->data = std::move(bytes);
    return out->has_data = out->constant = true;
  }

  bool Compute(const OnnxNode& node, const OnnxValue& out, Floats* result) const {
    const OnnxValue* first = m_.In(node, 0);
    if (first == nullptr) return false;
    if (node.op == "ConstantOfShape") return Filled(node, *first, out, result);
    if (node.op == "DequantizeLinear") return Dequantise(node, *first, result);
    if (node.op == "Cast" && !IsFloats(*first))
      return out.type == kOnnxFloat && NumbersOf(m_, *first, result);
    if (node.op == "Cast" && out.type != kOnnxFloat) return false;
    if (Select(m_, node, out, result)) return true;
    Floats reals;
    if (!Whole(m_, *first, &reals)) return false;
    if (KeepsElements(node.op) || node.op == "Cast") {
      *result = std::move(reals);
      return true;
    }
    OnnxPlaces places;
    if (MovedPlaces(m_, node, first->dims, &places) ||
        (node.op == "Expand" && BroadcastPlaces(first->dims, out.dims, &places))) {
      *result = PickedAt(places, reals);
      return true;
    }
    return Unary(node, reals, result) || Binary(m_, node, out, result);
  }

  // The float that the node repeats; 0 where it names none.
  static bool Filled(const OnnxNode& node, const OnnxValue& shape, const OnnxValue& out,
                     Floats* result) {
    const std::string bytes = node.Text("value", std::string(4, '\0'));
    if (node.Int("value", kOnnxFloat) != kOnnxFloat || bytes.size() != 4 ||
        !shape.has_integers || out.type != kOnnxFloat) {
      return false;
    }
    float fill = 0;
    std::memcpy(&fill, bytes.data(), 4);
    result->assign(static_cast<size_t>(ElementsOf(out.dims)), fill);
    return true;
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

  static bool Unary(const OnnxNode& node, const Floats& from, Floats* result) {
    if (node.inputs.size() != 1) return false;
    const std::function<float(float)> function = OnnxCurve(node);
    if (function == nullptr) return false;
    for (const float x : from) result->push_back(function(x));
    return true;
  }

  OnnxModel& m_;
};

// Whether a constant that could not be computed is still some other one's elements.
bool OnlyMoves(const OnnxNode& node) {
  return KeepsElements(node.op) || node.op == "Transpose" || node.op == "Cast" ||
         node.op == "DequantizeLinear" || node.op == "QuantizeLinear";
}

}  // namespace

bool ComputesFloats(const OnnxModel& model) {
  return std::any_of(model.nodes.begin(), model.nodes.end(), [](const OnnxNode& node) {
    return node.op == "QuantizeLinear" || node.op == "ConvInteger" ||
           node.op == "MatMulInteger" || node.op == "DequantizeLinear" ||
           node.op == "com.microsoft.QGemm" ||
           node.op == "com.microsoft.DynamicQuantizeLSTM" ||
           node.op.find("QLinear") != std::string::npos ||
           node.op == "DynamicQuantizeLinear";
  });
}

// What constants alone make is a constant. Where the numbers of a run count, what could not be
// computed here is computed by the run.
void SpreadConstants(OnnxModel* model) {
  const bool computes = ComputesFloats(*model);
  for (const OnnxNode& node : model->nodes) {
    bool constant = !computes || OnlyMoves(node);
    for (const int output : node.outputs) {
      if (output < 0) continue;
      const OnnxValue& value = model->values[static_cast<size_t>(output)];
      constant |= value.has_data || value.has_integers;
    }
    for (const int input : node.inputs) {
      if (input >= 0) constant &= model->values[static_cast<size_t>(input)].constant;
    }
    if (node.inputs.empty() && node.op != "Constant") constant = false;  // random
    for (const int output : node.outputs) {
      if (output >= 0 && constant) {
        model->values[static_cast<size_t>(output)].constant = true;
      }
    }
  }
}

void FoldConstants(OnnxModel* model) {
  TakeIntegers(model);
  FloatFolder floats(model);
  for (size_t n = 0; n < model->nodes.size(); ++n) {
    FoldIntegers(model->nodes[n], model);
    floats.Fold(static_cast<int>(n));
  }
}

}  // namespace sluice::import
