// SPDX-License-Identifier: Apache-2.0
// Computes at import the arithmetic on shapes that exporters leave in graphs.
#include <algorithm>
#include <cstring>
#include <optional>

#include "import/onnx/onnx_model.h"

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

// nullopt: no comparison.
std::optional<bool> Compares(const std::string& op, int64_t x, int64_t y) {
  if (op == "Equal") return x == y;
  if (op == "Greater") return x > y;
  if (op == "GreaterOrEqual") return x >= y;
  if (op == "Less") return x < y;
  if (op == "LessOrEqual") return x <= y;
  if (op == "And") return x != 0 && y != 0;
  if (op == "Or") return x != 0 || y != 0;
  return std::nullopt;
}

// Pairs of pads, as exporters turn them round: rows and columns change places.
bool Transpose(const OnnxNode& node, const OnnxValue* value, Integers* out) {
  const Integers& from = value->integers;
  const Integers perm = node.Ints("perm", {1, 0});
  if (!value->has_shape || value->dims.size() != 2 || perm != Integers{1, 0} ||
      ElementsOf(value->dims) != static_cast<int64_t>(from.size())) {
    return false;
  }
  const size_t rows = static_cast<size_t>(value->dims[0]),
               columns = static_cast<size_t>(value->dims[1]);
  for (size_t c = 0; c < columns; ++c) {
    for (size_t r = 0; r < rows; ++r) out->push_back(from[r * columns + c]);
  }
  return true;
}

class Folder {
 public:
  explicit Folder(OnnxModel* model) : m_(*model) {}

  void Run() {
    for (OnnxValue& value : m_.values) {
      if (value.has_data) FromData(&value);
    }
    for (const OnnxNode& node : m_.nodes) {
      OnnxValue& out = m_.values[static_cast<size_t>(node.outputs[0])];
      if (out.has_integers || out.has_data) continue;
      Integers result;
      if (!Compute(node, &result) || result.size() > kMost) continue;
      // Lists of which an operator broadcasts both.
      if (out.has_shape && ElementsOf(out.dims) != static_cast<int64_t>(result.size()))
        continue;
      if (out.type == kOnnxBool) {
        for (int64_t& number : result) number = number != 0 ? 1 : 0;
      }
      out.integers = std::move(result);
      out.has_integers = out.constant = true;
      StoreBytes(&out);
    }
  }

 private:
  const Integers* Known(const OnnxNode& node, size_t i) const {
    const OnnxValue* value = m_.In(node, i);
    return value != nullptr && value->has_integers ? &value->integers : nullptr;
  }

  bool Compute(const OnnxNode& node, Integers* out) const {
    if (node.op == "Shape") return Shape(node, out);
    const Integers* first = Known(node, 0);
    if (first == nullptr) return false;
    if (node.op == "Identity" || node.op == "Cast" || node.op == "Unsqueeze" ||
        node.op == "Squeeze" || node.op == "Reshape") {
      *out = *first;
      return true;
    }
    if (node.op == "Gather") return Gather(node, *first, out);
    if (node.op == "Slice") return Slice(node, *first, out);
    if (node.op == "Transpose") return Transpose(node, m_.In(node, 0), out);
    if (node.op == "ConstantOfShape") return Filled(node, *first, out);
    if (node.op == "Range") return Range(node, *first, out);
    if (node.op == "Where") return Where(node, *first, out);
    if (node.op == "Concat" && node.Int("axis", 0) == 0) {
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const Integers* part = Known(node, i);
        if (part == nullptr || out->size() > kMost) return false;
        out->insert(out->end(), part->begin(), part->end());
      }
      return true;
    }
    return Binary(node, *first, out);
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

  bool Gather(const OnnxNode& node, const Integers& from, Integers* out) const {
    const Integers* indices = Known(node, 1);
    const OnnxValue* value = m_.In(node, 0);
    const bool list = !value->has_shape || value->dims.size() < 2;
    if (indices == nullptr || node.Int("axis", 0) != 0 || !list) return false;
    const int64_t size = static_cast<int64_t>(from.size());
    for (int64_t i : *indices) {
      if (i < 0) i += size;
      if (i < 0 || i >= size) return false;
      out->push_back(from[static_cast<size_t>(i)]);
    }
    return true;
  }

  bool Slice(const OnnxNode& node, const Integers& from, Integers* out) const {
    const Integers *begin = Known(node, 1), *end = Known(node, 2);
    const Integers *axis = Known(node, 3), *step = Known(node, 4);
    if (begin == nullptr || end == nullptr || begin->size() != 1 || end->size() != 1) {
      return false;
    }
    if (axis != nullptr && *axis != Integers{0}) return false;
    const int64_t by = step == nullptr ? 1 : step->size() == 1 ? (*step)[0] : 0;
    const OnnxValue* value = m_.In(node, 0);
    int64_t row = 1;  // elements of the first axis
    if (value->has_shape && value->dims.size() > 1)
      row = ElementsOf(value->dims) / std::max<int64_t>(value->dims[0], 1);
    if (row < 1 || (by != 1 && by != -1)) return false;
    const int64_t size = static_cast<int64_t>(from.size()) / row;
    const auto at = [&](int64_t i) {
      return std::clamp<int64_t>(i < 0 ? i + size : i, by < 0 ? -1 : 0,
                                 by < 0 ? size - 1 : size);
    };
    const int64_t last = at((*end)[0]);
    for (int64_t i = at((*begin)[0]); by > 0 ? i < last : i > last; i += by) {
      const auto first = from.begin() + i * row;
      out->insert(out->end(), first, first + row);
    }
    return true;
  }

  // The integer that the node repeats; without one it repeats a float.
  bool Filled(const OnnxNode& node, const Integers& shape, Integers* out) const {
    int64_t elements = 1;
    for (const int64_t extent : shape) {
      if (extent < 0 || extent > static_cast<int64_t>(kMost)) return false;
      elements = std::min<int64_t>(elements * extent, kMost + 1);
    }
    const Integers fill = node.Ints("value", {});
    if (fill.size() != 1) return false;
    out->assign(static_cast<size_t>(elements), fill[0]);
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

  bool Where(const OnnxNode& node, const Integers& which, Integers* out) const {
    const Integers *a = Known(node, 1), *b = Known(node, 2);
    if (a == nullptr || b == nullptr) return false;
    const size_t most = std::max({which.size(), a->size(), b->size()});
    for (const Integers* list : {&which, a, b}) {
      if (list->size() != most && list->size() != 1) return false;
    }
    const auto at = [](const Integers& list, size_t i) {
      return list[list.size() == 1 ? 0 : i];
    };
    for (size_t i = 0; i < most; ++i) {
      out->push_back(at(which, i) != 0 ? at(*a, i) : at(*b, i));
    }
    return true;
  }

  bool Binary(const OnnxNode& node, const Integers& a, Integers* out) const {
    const Integers* b = Known(node, 1);
    if (b == nullptr || a.empty() || b->empty()) return false;
    if (a.size() != b->size() && a.size() != 1 && b->size() != 1) return false;
    for (size_t i = 0; i < std::max(a.size(), b->size()); ++i) {
      const int64_t x = a[a.size() == 1 ? 0 : i], y = (*b)[b->size() == 1 ? 0 : i];
      int64_t z = 0;
      bool overflow = false;
      if (node.op == "Add") {
        overflow = __builtin_add_overflow(x, y, &z);
      } else if (node.op == "Sub") {
        overflow = __builtin_sub_overflow(x, y, &z);
      } else if (node.op == "Mul") {
        overflow = __builtin_mul_overflow(x, y, &z);
      } else if (node.op == "Div" && y != 0 && y != -1) {
        z = x / y;
      } else if (node.op == "Mod" && y != 0 && y != -1) {
        z = x % y;  // with the sign of y, or for fmod that of x
        if (node.Int("fmod", 0) == 0 && z != 0 && (z < 0) != (y < 0)) z += y;
      } else if (Compares(node.op, x, y)) {
        z = *Compares(node.op, x, y) ? 1 : 0;
      } else if (node.op == "Min" && node.inputs.size() == 2) {
        z = std::min(x, y);
      } else if (node.op == "Max" && node.inputs.size() == 2) {
        z = std::max(x, y);
      } else {
        return false;
      }
      if (overflow) return false;
      out->push_back(z);
    }
    return true;
  }

  OnnxModel& m_;
};

}  // namespace

void FoldIntegers(OnnxModel* model) { Folder(model).Run(); }

}  // namespace sluice::import
