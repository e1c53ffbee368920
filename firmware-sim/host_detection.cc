// SPDX-License-Identifier: Apache-2.0
// Selects the best boxes from a detector's boxes, scores and anchors by fast
// non-maximum suppression, which considers only the best class of each box.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "host_functions.h"
#include "sluice/ops.h"

namespace sluice_sim {
namespace {

constexpr int kByte = SLUICE_DTYPE_UINT8, kInt = SLUICE_DTYPE_INT32;

struct Corners {
  float top, left, bottom, right;
};

struct Stored {  // real = scale * (stored - zero)
  const uint8_t* at;
  float scale;
  int32_t zero;
  float operator[](int64_t i) const { return static_cast<float>(at[i] - zero) * scale; }
};

float FloatOf(const int32_t* options, int i) {
  float value;
  std::memcpy(&value, options + i, 4);
  return value;
}

Stored StoredOf(const HostOperand& operand, const int32_t* options, int scale) {
  return {ElementsOf<uint8_t>(operand), FloatOf(options, scale), options[scale + 1]};
}

// One axis of a box: its middle and half of its length, as the kernel rounds them.
std::pair<float, float> Axis(const Stored& box, const Stored& anchor, int64_t i, int at,
                             const float scales[2]) {
  const double length = static_cast<double>(anchor[4 * i + at + 2]);
  const double middle =
      static_cast<double>(box[4 * i + at]) / static_cast<double>(scales[0]) * length +
      static_cast<double>(anchor[4 * i + at]);
  const double half = 0.5 *
                      std::exp(static_cast<double>(box[4 * i + at + 2]) /
                               static_cast<double>(scales[1])) *
                      length;
  return {static_cast<float>(middle), static_cast<float>(half)};
}

float Overlap(const Corners& a, const Corners& b) {
  const float area_a = (a.bottom - a.top) * (a.right - a.left);
  const float area_b = (b.bottom - b.top) * (b.right - b.left);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height =
      std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.0f);
  const float width =
      std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.0f);
  const float both = height * width;
  return both / (area_a + area_b - both);
}

// Selects boxes in the order of their scores. A box that overlaps a selected one too much is
// dropped.
std::vector<size_t> Select(const std::vector<Corners>& boxes,
                           const std::vector<float>& scores, const int32_t* options) {
  std::vector<size_t> order;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] >= FloatOf(options, kScoreThreshold)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  std::vector<size_t> selected;
  std::vector<bool> gone(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (gone[i]) continue;
    if (selected.size() >= static_cast<size_t>(options[kMaxDetections])) break;
    selected.push_back(order[i]);
    for (size_t j = i + 1; j < order.size(); ++j) {
      gone[j] = gone[j] || Overlap(boxes[order[i]], boxes[order[j]]) >
                               FloatOf(options, kOverlapThreshold);
    }
  }
  return selected;
}

}  // namespace

std::string Detection(const HostOperands& in, const HostOperands& out) {
  if (!HasTypes(in, {kByte, kByte, kByte, kInt}) ||
      !HasTypes(out, {kInt, kInt, kInt, kInt}) || !HasOptions(in, kDetectionOptions)) {
    return "operands of a detection";
  }
  const int32_t* o = ElementsOf<int32_t>(in[3]);
  const int64_t boxes = CountOf(in[0]) / 4, columns = in[1].extent[3],
                classes = o[kClasses], most = o[kMaxDetections];
  if (CountOf(in[0]) != 4 * boxes || CountOf(in[2]) != 4 * boxes ||
      CountOf(in[1]) != boxes * columns || classes < 1 || classes > columns ||
      columns - classes > 1 || most < 0 || CountOf(out[0]) != 4 * most ||
      CountOf(out[1]) != most || CountOf(out[2]) != most || CountOf(out[3]) != 1) {
    return "extents of a detection";
  }
  const Stored box = StoredOf(in[0], o, kBoxScale);
  const Stored score = StoredOf(in[1], o, kClassScale);
  const Stored anchor = StoredOf(in[2], o, kAnchorScale);
  const float down[2] = {FloatOf(o, kScaleY), FloatOf(o, kScaleH)};
  const float across[2] = {FloatOf(o, kScaleX), FloatOf(o, kScaleW)};
  std::vector<Corners> corners;
  std::vector<float> best_score;
  std::vector<int64_t> best_class;
  for (int64_t i = 0; i < boxes; ++i) {
    const auto [y, half_h] = Axis(box, anchor, i, 0, down);
    const auto [x, half_w] = Axis(box, anchor, i, 1, across);
    corners.push_back({y - half_h, x - half_w, y + half_h, x + half_w});
    // An extra first column of scores is the background.
    const uint8_t* row = score.at + i * columns + (columns - classes);
    best_class.push_back(std::max_element(row, row + classes) - row);
    best_score.push_back(score[row - score.at + best_class.back()]);
  }
  const std::vector<size_t> selected = Select(corners, best_score, o);
  for (size_t i = 0; i < selected.size(); ++i) {
    ResultOf<Corners>(out[0])[i] = corners[selected[i]];
    ResultOf<float>(out[1])[i] = static_cast<float>(best_class[selected[i]]);
    ResultOf<float>(out[2])[i] = best_score[selected[i]];
  }
  ResultOf<float>(out[3])[0] = static_cast<float>(selected.size());
  return "";
}

}  // namespace sluice_sim
