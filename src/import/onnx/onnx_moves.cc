// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/onnx_moves.h"

#include <algorithm>
#include <utility>

namespace sluice::import {
namespace {

using Numbers64 = std::vector<int64_t>;

// Elements between two that are neighbours along each axis.
Numbers64 StridesOf(const Numbers64& dims) {
  Numbers64 strides(dims.size(), 1);
  for (size_t a = dims.size(); a-- > 1;) strides[a - 1] = strides[a] * dims[a];
  return strides;
}

// The sum of one distance of each axis, for all choices in order.
bool SumsOf(const std::vector<OnnxPlaces>& axes, OnnxPlaces* places) {
  int64_t elements = 1;
  for (const OnnxPlaces& axis : axes) {
    elements *= static_cast<int64_t>(axis.size());
    if (elements > kMostMoved) return false;
  }
  places->assign(1, 0);
  for (const OnnxPlaces& axis : axes) {
    OnnxPlaces next;
    next.reserve(places->size() * axis.size());
    for (const int64_t place : *places) {
      for (const int64_t distance : axis) next.push_back(place + distance);
    }
    *places = std::move(next);
  }
  return true;
}

bool IsMoved(const Numbers64& dims) {
  int64_t elements = 1;
  for (const int64_t extent : dims) {
    if (extent < 0 || extent > kMostMoved) return false;
    elements = std::min(elements * extent, kMostMoved + 1);
  }
  return elements <= kMostMoved;
}

// All elements along an axis.
OnnxPlaces Whole(int64_t extent, int64_t stride) {
  OnnxPlaces distances;
  for (int64_t i = 0; i < extent; ++i) distances.push_back(i * stride);
  return distances;
}

// Integers of input i, or in older versions of an attribute. False: they are not known.
bool Given(const OnnxModel& model, const OnnxNode& node, size_t i,
           const char* attribute, Numbers64* numbers) {
  const OnnxValue* value = model.In(node, i);
  if (value == nullptr) {
    *numbers = node.Ints(attribute, *numbers);
    return true;
  }
  *numbers = value->integers;
  return value->has_integers;
}

// Distances of the elements from `begin` to `end`, which may lie beyond the axis.
OnnxPlaces Part(int64_t begin, int64_t end, int64_t step, int64_t extent,
                int64_t stride) {
  const bool up = step > 0;
  const auto at = [&](int64_t i) {
    const int64_t least = up ? 0 : -1, most = up ? extent : extent - 1;
    return std::clamp(i < 0 ? i + extent : i, least, std::max(least, most));
  };
  const int64_t first = up ? at(begin) : std::max<int64_t>(at(begin), 0),
                last = at(end);
  const int64_t by = std::clamp(step, -extent - 1, extent + 1);
  OnnxPlaces distances;
  for (int64_t i = first; extent > 0 && (up ? i < last : i > last); i += by) {
    distances.push_back(i * stride);
  }
  return distances;
}

bool SlicePlaces(const OnnxModel& model, const OnnxNode& node, const Numbers64& from,
                 OnnxPlaces* places) {
  Numbers64 begins, ends;
  if (!Given(model, node, 1, "starts", &begins) ||
      !Given(model, node, 2, "ends", &ends) || begins.empty()) {
    return false;
  }
  Numbers64 axes = Whole(static_cast<int64_t>(begins.size()), 1),
            steps(begins.size(), 1);
  if (!Given(model, node, 3, "axes", &axes) ||
      !Given(model, node, 4, "steps", &steps) || ends.size() != begins.size() ||
      axes.size() != begins.size() || steps.size() != begins.size()) {
    return false;
  }
  const int64_t rank = static_cast<int64_t>(from.size());
  const Numbers64 strides = StridesOf(from);
  std::vector<OnnxPlaces> parts;
  for (size_t a = 0; a < from.size(); ++a) parts.push_back(Whole(from[a], strides[a]));
  for (size_t i = 0; i < begins.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank || steps[i] == 0) return false;
    const size_t a = static_cast<size_t>(axis);
    parts[a] = Part(begins[i], ends[i], steps[i], from[a], strides[a]);
  }
  return SumsOf(parts, places);
}

bool TransposePlaces(const OnnxNode& node, const Numbers64& from, OnnxPlaces* places) {
  const Numbers64 strides = StridesOf(from);
  const std::vector<size_t> perm = AxesOfTranspose(node, from.size());
  if (perm.size() != from.size()) return false;
  std::vector<OnnxPlaces> parts;
  for (const size_t axis : perm) parts.push_back(Whole(from[axis], strides[axis]));
  return SumsOf(parts, places);
}

bool GatherPlaces(const OnnxModel& model, const OnnxNode& node, const Numbers64& from,
                  OnnxPlaces* places) {
  const OnnxValue* indices = model.In(node, 1);
  const int64_t rank = static_cast<int64_t>(from.size()), at = node.Int("axis", 0);
  const int64_t axis = at < 0 ? at + rank : at;
  if (indices == nullptr || !indices->has_integers || axis < 0 || axis >= rank) {
    return false;
  }
  const Numbers64 strides = StridesOf(from);
  std::vector<OnnxPlaces> parts;
  for (int64_t a = 0; a < rank; ++a) {
    const size_t n = static_cast<size_t>(a);
    if (a != axis) {
      parts.push_back(Whole(from[n], strides[n]));
      continue;
    }
    parts.emplace_back();
    for (const int64_t index : indices->integers) {
      const int64_t i = index < 0 ? index + from[n] : index;
      if (i < 0 || i >= from[n]) return false;
      parts.back().push_back(i * strides[n]);
    }
  }
  return SumsOf(parts, places);
}

}  // namespace

bool KeepsElements(const std::string& op) {
  return op == "Identity" || op == "Reshape" || op == "Squeeze" || op == "Unsqueeze" ||
         op == "Flatten" || op == "Dropout";
}

std::vector<size_t> AxesOfTranspose(const OnnxNode& node, size_t rank) {
  Numbers64 given = Whole(static_cast<int64_t>(rank), 1);
  std::reverse(given.begin(), given.end());
  given = node.Ints("perm", given);
  std::vector<bool> seen(rank, false);
  std::vector<size_t> perm;
  for (const int64_t axis : given) {
    const size_t a = static_cast<size_t>(axis);
    if (axis < 0 || a >= rank || seen[a]) return {};
    seen[a] = true;
    perm.push_back(a);
  }
  return perm;
}

bool MovedPlaces(const OnnxModel& model, const OnnxNode& node,
                 const std::vector<int64_t>& from, OnnxPlaces* places) {
  if (!IsMoved(from)) return false;
  if (node.op == "Slice") return SlicePlaces(model, node, from, places);
  if (node.op == "Transpose") return TransposePlaces(node, from, places);
  return node.op == "Gather" && GatherPlaces(model, node, from, places);
}

bool BroadcastPlaces(const std::vector<int64_t>& from, const std::vector<int64_t>& out,
                     OnnxPlaces* places) {
  if (from.size() > out.size() || !IsMoved(from) || !IsMoved(out)) return false;
  const size_t lead = out.size() - from.size();
  const Numbers64 strides = StridesOf(from);
  std::vector<OnnxPlaces> parts;
  for (size_t a = 0; a < out.size(); ++a) {
    const bool repeated = a < lead || from[a - lead] == 1;
    if (!repeated && from[a - lead] != out[a]) return false;
    parts.push_back(Whole(out[a], repeated ? 0 : strides[a - lead]));
  }
  return SumsOf(parts, places);
}

}  // namespace sluice::import
