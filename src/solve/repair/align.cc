// SPDX-License-Identifier: Apache-2.0
#include "solve/repair/align.h"

#include "base/checked.h"

namespace sluice {
namespace {

// How many layers ahead two sides are searched for where they agree again: first near,
// which is cheap, then farther.
constexpr uint32_t kNear = 64;
constexpr uint32_t kFarthest = 2048;
constexpr uint32_t kAgree = 2;  // layers that must be alike for sides to agree again

// Layers [first, first + n) of one side, compared whole or by kind.
struct Side {
  const PlanLayerHash* hash;
  uint32_t n;
};

class Aligner {
 public:
  Aligner(Side before, Side after, bool kinds)
      : before_(before), after_(after), kinds_(kinds) {}

  bool Alike(uint32_t i, uint32_t j) const {
    return kinds_ ? before_.hash[i].kind == after_.hash[j].kind
                  : before_.hash[i] == after_.hash[j];
  }

  // The nearest (i, j) from here on from which both sides agree; false: none up to
  // `far` ahead.
  bool Resync(uint32_t far, uint32_t* i, uint32_t* j) const {
    const uint32_t rows = Min(before_.n - *i, far);
    const uint32_t columns = Min(after_.n - *j, far);
    for (uint32_t sum = 0; sum + 1 < rows + columns; ++sum) {
      for (uint32_t d = sum < columns ? 0 : sum - columns + 1; d <= sum && d < rows;
           ++d) {
        if (!Agree(*i + d, *j + (sum - d))) continue;
        *i += d;
        *j += sum - d;
        return true;
      }
    }
    return false;
  }

 private:
  bool Agree(uint32_t i, uint32_t j) const {
    for (uint32_t k = 0; k < kAgree && i + k < before_.n && j + k < after_.n; ++k) {
      if (!Alike(i + k, j + k)) return false;
    }
    return true;
  }

  Side before_, after_;
  bool kinds_;
};

// Layers [first, end) of a graph.
struct Stretch {
  const PlanLayerHash* hash;  // of the whole
  uint32_t first, end;
};

// Pairs two stretches by their hashes; what lies between pairs is paired by kind.
void Pair(const Stretch& before, const Stretch& after, bool kinds, Alignment* out) {
  uint32_t i = before.first;
  uint32_t j = after.first;
  const uint32_t i_end = before.end;
  const uint32_t j_end = after.end;
  const Aligner aligner(Side{before.hash, i_end}, Side{after.hash, j_end}, kinds);
  while (i < i_end && j < j_end) {
    if (aligner.Alike(i, j)) {
      out->before_of[j] = i;
      out->after_of[i] = j;
      out->same[j] = before.hash[i] == after.hash[j];
      ++i, ++j;
      continue;
    }
    uint32_t next_i = i;
    uint32_t next_j = j;
    if (!aligner.Resync(kNear, &next_i, &next_j)) {
      next_i = i;
      next_j = j;
      if (!aligner.Resync(kFarthest, &next_i, &next_j)) {
        next_i = i_end;
        next_j = j_end;
      }
    }
    if (!kinds) Pair({before.hash, i, next_i}, {after.hash, j, next_j}, true, out);
    i = next_i;
    j = next_j;
  }
}

}  // namespace

Status Align(Span<const PlanLayerHash> before, Span<const PlanLayerHash> after,
             Arena* arena, Alignment* out) {
  *out = Alignment{};
  SLUICE_TRY(arena->Allocate(after.size(), &out->before_of));
  SLUICE_TRY(arena->Allocate(before.size(), &out->after_of));
  SLUICE_TRY(arena->Allocate(after.size(), &out->same));
  for (uint32_t& l : out->before_of) l = kNone;
  for (uint32_t& l : out->after_of) l = kNone;
  uint32_t n = static_cast<uint32_t>(before.size());
  uint32_t m = static_cast<uint32_t>(after.size());
  // The layers after the last edit are equal on both sides, however long the edited
  // part is.
  uint32_t tail = 0;
  while (tail < n && tail < m && before[n - 1 - tail] == after[m - 1 - tail]) ++tail;
  uint32_t head = 0;
  while (head < n && head < m && before[head] == after[head]) ++head;
  head = Min(head, Min(n, m));
  tail = Min(tail, Min(n, m) - head);
  const PlanLayerHash* b = before.data();
  const PlanLayerHash* a = after.data();
  Pair({b, 0, head}, {a, 0, head}, false, out);
  Pair({b, head, n - tail}, {a, head, m - tail}, false, out);
  Pair({b, n - tail, n}, {a, m - tail, m}, false, out);
  for (uint32_t j = 0; j < m; ++j) {
    if (out->before_of[j] == kNone) {
      ++out->inserted;
    } else {
      ++(out->same[j] != 0 ? out->kept : out->changed);
    }
  }
  out->removed = n - out->kept - out->changed;
  return Status::kOk;
}

}  // namespace sluice
