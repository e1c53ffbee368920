// SPDX-License-Identifier: Apache-2.0
// Computes at import the arithmetic on shapes that exporters leave in graphs.
#include <algorithm>
#include <cstring>

#include "import/onnx/onnx_model.h"
#include "import/onnx/onnx_moves.h"

namespace sluice::import {
namespace {

constexpr size_t kMost = 4096;  // elements; shapes are short

using Integers = std::vector<int64_t>;

template <typename T>
Integers Widened(const OnnxData& data) {
  std::vector<T> narrow(data.size() / sizeof(T));
  std::memcpy(narrow.data(), data.data(), narrow.size() * sizeof(T));
  return Integers(narrow.begin(), narrow.end());
}

void FromData(OnnxValue* value) {
  if (value->data.size() > kMost * 8) return;
  value->has_integers = true;
  switch (value->type) {
    case kOnnxInt64:
      value->integers = Widened<int64_t>(value->data);
      return;
    case kOnnxInt32:
      value->integers = Widened<int32_t>(value->data);
      return;
    case kOnnxBool:
      value->integers = Widened<uint8_t>(value->data);
      return;
    default:
      value->has_integers = false;
  }
}

// Bytes of a computed value that a layer may read: one for each element.
void StoreBytes(OnnxValue* value) {
  if (value->type != kOnnxInt8 && value->type != kOnnxUint8 && value->type != kOnnxBool)
    return;
  Bytes bytes;
  for (const int64_t x : value->integers) bytes.push_back(static_cast<uint8_t>(x));
  value->data = std::move(bytes);
  value->has_data = true;
}

// What is true of two numbers. False: another operator.
bool Compare(const std::string& op, int64_t x, int64_t y, int64_t* z) {
  bool holds = false;
  if (op == "Equal") {
    holds = x == y;
  } else if (op == "Less") {
    holds = x < y;
  } else if (op == "LessOrEqual") {
    holds = x <= y;
  } else if (op == "Greater") {
    holds = x > y;
  } else if (op == "GreaterOrEqual") {
    holds = x >= y;
  } else if (op == "And") {
    holds = x != 0 && y != 0;
  } else if (op == "Or") {
    holds = x != 0 || y != 0;
  } else {
    return false;
  }
  *z = holds ? 1 : 0;
  return true;
}

// False: another operator, or a result that is no number of 64 bits.
bool Calculate(const OnnxNode& node, int64_t x, int64_t y, int64_t* z) {
  if (node.op == "Add") return !__builtin_add_overflow(x, y, z);
  if (node.op == "Sub") return !__builtin_sub_overflow(x, y, z);
  if (node.op == "Mul") return !__builtin_mul_overflow(x, y, z);
  if (node.op == "Div" && y != 0 && y != -1) {
    *z = x / y;
  } else if (node.op == "Mod" && y != 0 && y != -1) {
    *z = x % y;  // with the sign of y, or for fmod that of x
    if (node.Int("fmod", 0) == 0 && *z != 0 && (*z < 0) != (y < 0)) *z += y;
  } else if (node.op == "Min" && node.inputs.size() == 2) {
    *z = std::min(x, y);
  } else if (node.op == "Max" && node.inputs.size() == 2) {
    *z = std::max(x, y);
  } else {
    return Compare(node.op, x, y, z);
  }
  return true;
}

class Folder {
 public:
  explicit Folder(OnnxModel* model) : m_(*model) {}

  void Fold(const OnnxNode& node) {
    OnnxValue& out = m_.values[static_cast<size_t>(node.outputs[0])];
    if (out.has_integers || out.has_data) return;
    Integers result;
    if (!Compute(node, out, &result) || result.size() > kMost) return;
    if (out.has_shape && ElementsOf(out.dims) != static_cast<int64_t>(result.size()))
      return;
    out.integers = std::move(result);
    out.has_integers = out.constant = true;
    out.guessed = !out.has_shape;
    StoreBytes(&out);
  }

 private:
  const Integers* Known(const OnnxNode& node, size_t i) const {
    const OnnxValue* value = m_.In(node, i);
    return value != nullptr && value->has_integers ? &value->integers : nullptr;
  }

  // The extents of input i, of whose elements there are `size`: a list, unless more is known.
  Integers DimsOf(const OnnxNode& node, size_t i, size_t size) const {
    const OnnxValue& value = *m_.In(node, i);
    const int64_t elements = static_cast<int64_t>(size);
    if (value.has_shape && ElementsOf(value.dims) == elements) return value.dims;
    return {elements};
  }

  bool Compute(const OnnxNode& node, const OnnxValue& value, Integers* out) const {
    if (node.op == "Shape") return Shape(node, out);
    if (node.op == "Where") return Where(node, value, out);
    const Integers* first = Known(node, 0);
    if (first == nullptr) return node.op == "Cast" && FromFloats(node, value, out);
    if (node.op == "Cast" || node.op == "Not") {
      for (const int64_t x : *first) {
        out->push_back(node.op == "Not" ? (x == 0 ? 1 : 0)
                                        : (value.type == kOnnxBool && x != 0 ? 1 : x));
      }
      return true;
    }
    if (KeepsElements(node.op)) {
      *out = *first;
      return node.op != "Reshape" || value.has_shape || IsList(node);
    }
    OnnxPlaces places;
    if (MovedPlaces(m_, node, DimsOf(node, 0, first->size()), &places)) {
      *out = PickedAt(places, *first);
      return true;
    }
    if (node.op == "ConstantOfShape") return Filled(node, *first, out);
    if (node.op == "Range") return Range(node, *first, out);
    if (node.op == "Expand")
      return value.has_shape && m_.In(node, 0)->has_shape &&
             Spread(node, 0, value, out);
    if (node.op == "Concat") return Joined(node, value, out);
    return Binary(node, value, out);
  }

  // Concat. Of lists the extents need not be known.
  bool Joined(const OnnxNode& node, const OnnxValue& value, Integers* out) const {
    const int64_t given = node.Int("axis", 0);
    const int64_t rank = value.has_shape ? static_cast<int64_t>(value.dims.size()) : 0;
    if (!value.has_shape && given != 0) return false;
    int64_t outer = 1;
    for (int64_t a = 0; a < (given < 0 ? given + rank : given) && a < rank; ++a)
      outer *= value.dims[static_cast<size_t>(a)];
    for (int64_t row = 0; row < outer; ++row) {
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const Integers* part = Known(node, i);
        if (part == nullptr || out->size() > kMost) return false;
        const int64_t width = static_cast<int64_t>(part->size()) / outer;
        const auto first = part->begin() + row * width;
        out->insert(out->end(), first, first + width);
      }
    }
    return true;
  }

  // A Reshape to one axis: a list whose extents need not be known.
  bool IsList(const OnnxNode& node) const {
    const OnnxValue* to = m_.In(node, 1);
    return to != nullptr && to->has_integers && to->integers.size() <= 1;
  }

  // Whole numbers that arithmetic on floats has made: extents times a factor.
  bool FromFloats(const OnnxNode& node, const OnnxValue& value, Integers* out) const {
    const OnnxValue* from = m_.In(node, 0);
    if (from == nullptr || !from->has_data || from->type != kOnnxFloat ||
        from->data.size() > kMost * 4 ||
        (value.type != kOnnxInt64 && value.type != kOnnxInt32)) {
      return false;
    }
    for (size_t i = 0; i + 4 <= from->data.size(); i += 4) {
      float x = 0;
      std::memcpy(&x, from->data.data() + i, 4);
      if (!(x > -2147483648.0f && x < 2147483648.0f)) return false;
      out->push_back(static_cast<int64_t>(x));
    }
    return true;
  }

  bool Shape(const OnnxNode& node, Integers* out) const {
    const OnnxValue* value = m_.In(node, 0);
    if (value == nullptr || !value->has_shape) return false;
    const int64_t rank = static_cast<int64_t>(value->dims.size());
    const auto at = [&](int64_t i) {
      return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank);
    };
    const int64_t begin = at(node.Int("start", 0)), end = at(node.Int("end", rank));
    if (end > begin)
      out->assign(value->dims.begin() + begin, value->dims.begin() + end);
    return true;
  }

  // The integer that the node repeats; without one it repeats a float.
  bool Filled(const OnnxNode& node, const Integers& shape, Integers* out) const {
    int64_t elements = 1;
    for (const int64_t extent : shape) {
      if (extent < 0 || extent > static_cast<int64_t>(kMost)) return false;
      elements = std::min<int64_t>(elements * extent, kMost + 1);
    }
    const std::string bytes = node.Text("value", "");
    const int64_t type = node.Int("value", kOnnxFloat);
    int64_t fill = 0;
    if (bytes.empty() || !(type == kOnnxInt64 ? bytes.size() == 8
                                              : type == kOnnxBool && bytes.size() == 1))
      return false;
    std::memcpy(&fill, bytes.data(), bytes.size());  // little-endian
    out->assign(static_cast<size_t>(elements), fill);
    return true;
  }

  bool Range(const OnnxNode& node, const Integers& start, Integers* out) const {
    const Integers *limit = Known(node, 1), *delta = Known(node, 2);
    if (limit == nullptr || delta == nullptr || start.size() != 1 ||
        limit->size() != 1 || delta->size() != 1 || (*delta)[0] == 0) {
      return false;
    }
    const bool up = (*delta)[0] > 0;
    for (int64_t at = start[0]; up ? at < (*limit)[0] : at > (*limit)[0];) {
      if (out->size() > kMost) return false;
      out->push_back(at);
      if (__builtin_add_overflow(at, (*delta)[0], &at)) break;
    }
    return true;
  }

  // Input i as often as the result has elements. Where extents are not known, lists of one
  // length, or single numbers.
  bool Spread(const OnnxNode& node, size_t i, const OnnxValue& value,
              Integers* out) const {
    const Integers* from = Known(node, i);
    if (from == nullptr || from->empty()) return false;
    if (value.has_shape && m_.In(node, i)->has_shape) {
      OnnxPlaces places;
      if (ElementsOf(value.dims) > static_cast<int64_t>(kMost) ||
          !BroadcastPlaces(DimsOf(node, i, from->size()), value.dims, &places)) {
        return false;
      }
      *out = PickedAt(places, *from);
      return true;
    }
    size_t most = 1;
    for (size_t n = 0; n < node.inputs.size(); ++n) {
      const Integers* other = Known(node, n);
      if (other != nullptr) most = std::max(most, other->size());
    }
    if (from->size() != most && from->size() != 1) return false;
    *out = from->size() == 1 ? Integers(most, (*from)[0]) : *from;
    return true;
  }

  bool Where(const OnnxNode& node, const OnnxValue& value, Integers* out) const {
    Integers which, a, b;
    if (!Spread(node, 0, value, &which) || !Spread(node, 1, value, &a) ||
        !Spread(node, 2, value, &b)) {
      return false;
    }
    for (size_t i = 0; i < which.size(); ++i)
      out->push_back(which[i] != 0 ? a[i] : b[i]);
    return true;
  }

  bool Binary(const OnnxNode& node, const OnnxValue& value, Integers* out) const {
    Integers a, b;
    if (!Spread(node, 0, value, &a) || !Spread(node, 1, value, &b)) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      int64_t z = 0;
      if (!Calculate(node, a[i], b[i], &z)) return false;
      out->push_back(z);
    }
    return true;
  }

  OnnxModel& m_;
};

}  // namespace

void TakeIntegers(OnnxModel* model) {
  for (OnnxValue& value : model->values) {
    if (value.has_data) FromData(&value);
  }
}

void FoldIntegers(const OnnxNode& node, OnnxModel* model) { Folder(model).Fold(node); }

}  // namespace sluice::import
