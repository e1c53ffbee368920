// SPDX-License-Identifier: Apache-2.0
#include "verify/nest/nest_tiles.h"

#include <string.h>

#include "base/checked.h"

namespace sluice::nest_claims {
namespace {

struct Lister {
  const Case& one;
  int level;
  Vector<Units>* list;
  Units units;
  size_t tried;
};

bool AreAlike(const Units& a, const Units& b) {
  return memcmp(a.of, b.of, sizeof a.of) == 0 &&
         memcmp(a.farthest, b.farthest, sizeof a.farthest) == 0 &&
         a.multicast == b.multicast && a.reduction == b.reduction &&
         a.forwarding == b.forwarding;
}

Status Take(Lister* lister) {
  if (++lister->tried > kMostUnits) return Status::kUnsupported;
  SumUp(lister->one.hardware, lister->level, &lister->units);
  for (const Units& other : *lister->list) {
    if (AreAlike(other, lister->units)) return Status::kOk;
  }
  return lister->list->Push(lister->units);
}

// Deals units of an axis to dims from `dim` on; `free` of them are left.
Status Deal(Lister* lister, uint32_t axis, uint32_t dim, int64_t free) {
  const Fanout* fanout = axis < kAxesMost
                             ? FanoutBelow(lister->one.hardware, lister->level, axis)
                             : nullptr;
  if (fanout == nullptr) return Take(lister);
  if (dim == kDimCount) {
    const Fanout* next = axis + 1 < kAxesMost ? FanoutBelow(lister->one.hardware,
                                                            lister->level, axis + 1)
                                              : nullptr;
    return Deal(lister, axis + 1, 0, next == nullptr ? 1 : next->extent);
  }
  int64_t taken = 1;
  for (uint32_t a = 0; a < axis; ++a) taken *= lister->units.axis[a][dim];
  const int64_t left = CeilDivide(lister->one.claim.extent[dim], taken);
  const int64_t most = MayTake(*fanout, dim) ? Min(free, left) : 1;
  for (int64_t factor = 1; factor <= most; ++factor) {
    if (lister->one.divides && left % factor != 0) continue;
    lister->units.axis[axis][dim] = static_cast<int32_t>(factor);
    SLUICE_TRY(Deal(lister, axis, dim + 1, free / factor));
  }
  lister->units.axis[axis][dim] = 1;
  return Status::kOk;
}

}  // namespace

Status ListUnits(const Case& one, int level, Arena* arena, Span<const Units>* list,
                 bool* too_many) {
  Vector<Units> all(arena);
  Lister lister = {one, level, &all, {}, 0};
  for (auto& axis : lister.units.axis) {
    for (int32_t& factor : axis) factor = 1;
  }
  const Fanout* first = FanoutBelow(one.hardware, level, 0);
  const Status status = Deal(&lister, 0, 0, first == nullptr ? 1 : first->extent);
  *too_many = *too_many || status == Status::kUnsupported;
  *list = all.span();
  return status == Status::kUnsupported ? Status::kOk : status;
}

Status ListLengths(int64_t extent, bool divide, Arena* arena, Lengths* lengths) {
  Vector<int64_t> list(arena);
  if (divide) {
    for (int64_t n = 1; n <= extent / n; ++n) {
      if (extent % n == 0) SLUICE_TRY(list.Push(n));
    }
    for (size_t i = list.size(); i-- > 0;) {
      const int64_t other = extent / list[i];
      if (other != list[i]) SLUICE_TRY(list.Push(other));
    }
  } else {
    // A loop's last step has work, so that no tile is as long as two extents.
    for (int64_t n = 1; n < 2 * extent; ++n) SLUICE_TRY(list.Push(n));
  }
  *lengths = list.span();
  return Status::kOk;
}

}  // namespace sluice::nest_claims
