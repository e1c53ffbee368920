// SPDX-License-Identifier: Apache-2.0
#include "verify/boxes.h"

#include "base/checked.h"

namespace sluice {
namespace judge {
namespace {

int64_t FloorDivide(int64_t a, int64_t b) {  // b > 0
  return a / b - (a % b < 0);
}

// One unknown of  sum stride * d + u = target,  low <= d <= high.
struct Unknown {
  int64_t stride;
  int64_t low, high;
  // Sum range of all unknowns after this one, u included.
  int64_t reach_low, reach_high;
};

constexpr uint32_t kMaxUnknowns = 2 * kBoxDims;  // steps along the dims of two boxes

struct Equation {
  uint32_t count = 0;
  Unknown unknown[kMaxUnknowns];  // descending strides
};

void AddUnknown(Equation* equation, int64_t stride, int64_t low, int64_t high) {
  uint32_t i = 0;
  for (; i < equation->count && equation->unknown[i].stride > stride; ++i) {
  }
  if (i < equation->count && equation->unknown[i].stride == stride) {
    equation->unknown[i].low += low;
    equation->unknown[i].high += high;
    return;
  }
  for (uint32_t j = equation->count; j > i; --j) {
    equation->unknown[j] = equation->unknown[j - 1];
  }
  equation->unknown[i] = {stride, low, high, 0, 0};
  ++equation->count;
}

// At most kMaxUnknowns deep. After the last unknown, u can take every value within
// reach, so every remaining sum has a solution.
Status Solve(Judge* judge, const Equation& equation, uint32_t level, int64_t target,
             bool* found) {
  SLUICE_TRY(Spend(judge, 1));
  const Unknown& x = equation.unknown[level];
  const int64_t low = Max(x.low, -FloorDivide(x.reach_high - target, x.stride));
  const int64_t high = Min(x.high, FloorDivide(target - x.reach_low, x.stride));
  *found = level + 1 == equation.count && low <= high;
  for (int64_t d = low; level + 1 < equation.count && d <= high && !*found; ++d) {
    SLUICE_TRY(Solve(judge, equation, level + 1, target - d * x.stride, found));
  }
  return Status::kOk;
}

}  // namespace

// True when the box is contiguous bytes, its dims in descending strides.
static bool IsRun(const Box& box) {
  int64_t reach = box.width;
  for (uint32_t d = box.dims; d-- > 0;) {
    if (box.dim[d].stride != reach) return false;
    reach *= box.dim[d].count;
  }
  return true;
}

Status Overlap(Judge* judge, const Box& a, const Box& b, bool* overlap) {
  *overlap = false;
  const int64_t a_end = a.end(), b_end = b.end();
  if (a.base >= b_end || b.base >= a_end) return Status::kOk;
  // A run that contains the other box's first or last byte overlaps it.
  const bool a_run = IsRun(a), b_run = IsRun(b);
  if ((a_run && b_run) || (b_run && (a.base >= b.base || a_end <= b_end)) ||
      (a_run && (b.base >= a.base || b_end <= a_end))) {
    *overlap = true;
    return Status::kOk;
  }
  // a.base + sum i * s + r = b.base + sum j * t + q; r and q: byte within the element.
  Equation equation;
  for (uint32_t d = 0; d < a.dims; ++d) {
    if (a.dim[d].stride == 0) continue;
    AddUnknown(&equation, a.dim[d].stride, 1 - a.dim[d].count, 0);
  }
  for (uint32_t d = 0; d < b.dims; ++d) {
    if (b.dim[d].stride == 0) continue;
    AddUnknown(&equation, b.dim[d].stride, 0, b.dim[d].count - 1);
  }
  int64_t u_low = 1 - a.width, u_high = b.width - 1;
  // A stride no larger than the range of u leaves no gaps: merge the unknown into u.
  while (equation.count != 0) {
    const Unknown& x = equation.unknown[equation.count - 1];
    if (x.stride > u_high - u_low + 1) break;
    u_low += x.stride * x.low;
    u_high += x.stride * x.high;
    --equation.count;
  }
  int64_t low = u_low, high = u_high;
  for (uint32_t i = equation.count; i-- > 0;) {
    Unknown& x = equation.unknown[i];
    x.reach_low = low;
    x.reach_high = high;
    low += x.stride * x.low;
    high += x.stride * x.high;
  }
  const int64_t target = a.base - b.base;
  *overlap = low <= target && target <= high;
  return equation.count == 0 || !*overlap ? Status::kOk
                                          : Solve(judge, equation, 0, target, overlap);
}

Rows RowsOf(const Box& box) {
  Rows rows = {box.width, 1, 0};
  for (uint32_t d = box.dims; d-- > 0;) {
    const Dim& dim = box.dim[d];
    if (rows.count == 1 && dim.stride == rows.length) {
      rows.length *= dim.count;
    } else if (rows.count == 1 && dim.stride > rows.length) {
      rows.count = dim.count;
      rows.stride = dim.stride;
    } else if (rows.count > 1 && dim.stride == rows.count * rows.stride) {
      rows.count *= dim.count;
    } else {
      return Rows{0, 0, 0};
    }
  }
  return rows;
}

namespace {

// True if a run of `length` bytes shares a byte with rows that start `distance` after
// it.
bool RunMeetsRows(int64_t length, int64_t distance, const Rows& rows) {
  if (rows.count == 1) return distance < length && -distance < rows.length;
  // Row j shares a byte if -rows.length < distance + j * stride < length.
  const int64_t first =
      Max<int64_t>(0, FloorDivide(-rows.length - distance, rows.stride) + 1);
  const int64_t last =
      Min(rows.count - 1, FloorDivide(length - 1 - distance, rows.stride));
  return first <= last;
}

// True if rows of equal stride share a byte; b's first row is `distance` after a's.
bool RowsMeet(const Rows& a, const Rows& b, int64_t distance) {
  const int64_t turns = FloorDivide(distance, a.stride);
  const int64_t rest = distance - turns * a.stride;
  // Row i of a and row i + k of b are rest + (turns + k) * stride apart, so they can
  // overlap only if turns + k is 0 or -1.
  const auto in_range = [&](int64_t k) { return k > -a.count && k < b.count; };
  return (rest < a.length && in_range(-turns)) ||
         (a.stride - rest < b.length && in_range(-1 - turns));
}

}  // namespace

Status Overlap(Judge* judge, const Box& a, const Rows& a_rows, const Box& b,
               const Rows& b_rows, bool* overlap) {
  if (a_rows.count == 0 || b_rows.count == 0) return Overlap(judge, a, b, overlap);
  if (a_rows.count == 1) {
    *overlap = RunMeetsRows(a_rows.length, b.base - a.base, b_rows);
  } else if (b_rows.count == 1) {
    *overlap = RunMeetsRows(b_rows.length, a.base - b.base, a_rows);
  } else if (a_rows.stride == b_rows.stride) {
    *overlap = RowsMeet(a_rows, b_rows, b.base - a.base);
  } else {
    return Overlap(judge, a, b, overlap);
  }
  return Status::kOk;
}

Box BoxOf(const Frame& frame) {
  Box box = Box::At(frame.base, 0, frame.width);
  for (uint32_t d = 0; d < frame.dims; ++d) box.Add(frame.count[d], frame.stride[d], 0);
  return box;
}

bool MakeFrame(int64_t base, int64_t width, const int64_t* extent,
               const int64_t* stride, Frame* frame) {
  frame->base = base;
  frame->width = width;
  frame->dims = 0;
  for (int a = 0; a < kAxes; ++a) {
    if (extent[a] <= 1) continue;
    uint32_t i = frame->dims++;
    for (; i > 0 && frame->stride[i - 1] < stride[a]; --i) {
      frame->count[i] = frame->count[i - 1];
      frame->stride[i] = frame->stride[i - 1];
      frame->axis[i] = frame->axis[i - 1];
    }
    frame->count[i] = extent[a];
    frame->stride[i] = stride[a];
    frame->axis[i] = static_cast<uint8_t>(a);
  }
  int64_t reach = width;  // bytes spanned by all later dims
  for (uint32_t i = frame->dims; i-- > 0;) {
    if (frame->stride[i] < reach) return false;
    reach = (frame->count[i] - 1) * frame->stride[i] + reach;
  }
  frame->end = base + reach;
  return true;
}

bool SameBytes(const Box& a, const Box& b) {
  bool same = a.base == b.base && a.width == b.width && a.dims == b.dims;
  for (uint32_t d = 0; same && d < a.dims; ++d) {
    same = a.dim[d].count == b.dim[d].count && a.dim[d].stride == b.dim[d].stride;
  }
  return same;
}

bool Contains(const Frame& outer, const Frame& inner) {
  if (inner.base < outer.base || inner.end > outer.end) return false;
  int64_t bytes = outer.width;
  for (uint32_t i = 0; i < outer.dims; ++i) bytes *= outer.count[i];
  if (bytes == outer.end - outer.base) return true;  // contiguous
  if (inner.width != outer.width) return false;
  int64_t rest = inner.base - outer.base;
  uint32_t d = 0;
  for (uint32_t j = 0; j < outer.dims; ++j) {
    const int64_t at = rest / outer.stride[j];
    rest -= at * outer.stride[j];
    int64_t count = 1;
    if (d < inner.dims && inner.stride[d] == outer.stride[j]) count = inner.count[d++];
    if (at + count > outer.count[j]) return false;
  }
  return rest == 0 && d == inner.dims;
}

}  // namespace judge
}  // namespace sluice
