// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/partial_placement.h"

#include "base/checked.h"

namespace sluice {
namespace {

Status MarkDirty(PartialPlacement* p, const SectionedBuffer& b) {
  for (const SectionRange& r : p->sections.RangesOf(b)) {
    for (uint32_t s = r.begin; s < r.end; ++s) {
      if (p->stamp[s] == p->epoch) continue;
      p->stamp[s] = p->epoch;
      SLUICE_TRY(p->dirty.Push(s));
    }
  }
  return Status::kOk;
}

Status RaiseLeast(PartialPlacement* p, uint32_t u, int64_t to) {
  SLUICE_TRY(p->undo.Push(PlacedUndo{p->least[u], u, PlacedChange::kLeast, 0}));
  p->least[u] = to;
  return MarkDirty(p, p->sections.buffers[u]);
}

// Counts floors and candidates of the touched sections again; not *ok when one of them
// cannot hold its unplaced bytes.
Status RecountDirty(PartialPlacement* p, bool* ok) {
  for (uint32_t s : p->dirty) {
    int64_t floor = kNowhere;
    uint32_t count = 0;
    const Span<const uint32_t> members = p->sections.MembersOf(s);
    p->looks += static_cast<uint32_t>(members.size());
    for (uint32_t u : members) {
      const int64_t least = p->least[u];
      if (least > floor) continue;
      count = least < floor ? 1 : count + 1;
      floor = least;
    }
    if (floor == p->floor[s] && count == p->candidates[s]) continue;
    SLUICE_TRY(p->undo.Push(
        PlacedUndo{p->floor[s], s, PlacedChange::kFloor, p->candidates[s]}));
    p->floor[s] = floor;
    p->candidates[s] = count;
    if (floor < kNowhere &&
        floor + p->load[s] + p->sections.ClosedAbove(s, floor) > p->capacity) {
      *ok = false;
      break;
    }
  }
  p->dirty.Truncate(0);
  return Status::kOk;
}

// Counts a buffer that is to be placed where it lives.
void Await(PartialPlacement* p, uint32_t u) {
  const SectionedBuffer& b = p->sections.buffers[u];
  for (const SectionRange& r : p->sections.RangesOf(b)) {
    for (uint32_t s = r.begin; s < r.end; ++s) p->load[s] += b.bytes;
  }
  for (uint32_t s = b.begin_section + 1; s < b.end_section; ++s) ++p->crossing[s];
}

void Unplace(PartialPlacement* p, uint32_t u) {
  p->offset[u] = -1;
  Await(p, u);
}

}  // namespace

Status AllocatePartial(Arena* arena, PartialPlacement* p) {
  const uint32_t sections = p->sections.count;
  SLUICE_TRY(arena->Allocate(p->sections.buffers.size(), &p->least));
  SLUICE_TRY(arena->Allocate(sections, &p->floor));
  SLUICE_TRY(arena->Allocate(sections, &p->candidates));
  SLUICE_TRY(arena->Allocate(sections, &p->top));
  SLUICE_TRY(arena->Allocate(sections, &p->load));
  SLUICE_TRY(arena->Allocate(sections + 1, &p->crossing));
  return arena->Allocate(sections, &p->stamp);
}

Status StartPartial(PartialPlacement* p) {
  for (uint32_t u = 0; u < p->sections.buffers.size(); ++u) {
    const SectionedBuffer& b = p->sections.buffers[u];
    p->least[u] = p->sections.Lowest(b, 0);
    p->offset[u] = b.range_count == 0 ? p->least[u] : -1;  // no bytes: in no section
    if (p->least[u] + b.bytes > p->capacity) return Status::kInfeasible;
    Await(p, u);
  }
  ++p->epoch;
  for (uint32_t s = 0; s < p->sections.count; ++s) SLUICE_TRY(p->dirty.Push(s));
  bool ok = true;
  SLUICE_TRY(RecountDirty(p, &ok));
  return ok ? Status::kOk : Status::kInfeasible;
}

Status PlaceBuffer(PartialPlacement* p, uint32_t u, int64_t at, bool* ok) {
  const SectionedBuffer& b = p->sections.buffers[u];
  const int64_t top = at + b.bytes;
  ++p->epoch;
  SLUICE_TRY(RaiseLeast(p, u, kNowhere));
  for (const SectionRange& r : p->sections.RangesOf(b)) {
    for (uint32_t s = r.begin; s < r.end; ++s) {
      SLUICE_TRY(p->undo.Push(PlacedUndo{p->top[s], s, PlacedChange::kTop, 0}));
      p->top[s] = top;
      p->load[s] -= b.bytes;
    }
  }
  for (uint32_t s = b.begin_section + 1; s < b.end_section; ++s) --p->crossing[s];
  p->looks += b.near_count;
  p->offset[u] = at;
  SLUICE_TRY(p->undo.Push(PlacedUndo{0, u, PlacedChange::kPlaced, 0}));
  for (uint32_t v : p->sections.NearOf(b)) {
    if (p->least[v] >= top) continue;  // placed ones are at kNowhere
    const int64_t least = p->sections.Lowest(p->sections.buffers[v], top);
    if (least + p->sections.buffers[v].bytes > p->capacity) {
      *ok = false;
      p->dirty.Truncate(0);
      return Status::kOk;
    }
    SLUICE_TRY(RaiseLeast(p, v, least));
  }
  return RecountDirty(p, ok);
}

Status LeaveUncovered(PartialPlacement* p, uint32_t section, Vector<uint32_t>* spare,
                      bool* ok) {
  ++p->epoch;
  const int64_t floor = p->floor[section];
  const size_t first = spare->size();
  for (uint32_t u : p->sections.MembersOf(section)) {
    if (p->least[u] == floor) SLUICE_TRY(spare->Push(u));
  }
  const size_t count = spare->size() - first;
  for (size_t i = 0; i < count; ++i) {  // raised below: here all read the old offsets
    const uint32_t u = (*spare)[first + i];
    const SectionedBuffer& b = p->sections.buffers[u];
    int64_t support = kNowhere;
    p->looks += b.near_count;
    for (uint32_t v : p->sections.NearOf(b)) {
      if (p->offset[v] >= 0) continue;
      support = Min(support, p->least[v] + p->sections.buffers[v].bytes);
    }
    const int64_t least = p->sections.Lowest(b, support);
    if (least + b.bytes > p->capacity) {
      *ok = false;
      break;
    }
    // Two 32-bit halves keep the new offset beside its buffer.
    SLUICE_TRY(spare->Push(static_cast<uint32_t>(least >> 32)));
    SLUICE_TRY(spare->Push(static_cast<uint32_t>(least)));
  }
  for (size_t i = 0; i < count && *ok; ++i) {
    const uint32_t* half = &(*spare)[first + count + 2 * i];
    SLUICE_TRY(RaiseLeast(p, (*spare)[first + i],
                          static_cast<int64_t>(uint64_t{half[0]} << 32 | half[1])));
  }
  spare->Truncate(first);
  if (!*ok) {
    p->dirty.Truncate(0);
    return Status::kOk;
  }
  return RecountDirty(p, ok);
}

void UndoTo(PartialPlacement* p, size_t mark) {
  while (p->undo.size() > mark) {
    const PlacedUndo& entry = p->undo[p->undo.size() - 1];
    switch (entry.change) {
      case PlacedChange::kLeast:
        p->least[entry.index] = entry.old;
        break;
      case PlacedChange::kFloor:
        p->floor[entry.index] = entry.old;
        p->candidates[entry.index] = entry.candidates;
        break;
      case PlacedChange::kTop:
        p->top[entry.index] = entry.old;
        break;
      case PlacedChange::kPlaced:
        Unplace(p, entry.index);
        break;
    }
    p->undo.Pop();
  }
}

bool RestsOnSomething(const PartialPlacement& p, uint32_t u, int64_t at) {
  const SectionedBuffer& b = p.sections.buffers[u];
  int64_t top = 0;
  for (const SectionRange& r : p.sections.RangesOf(b)) {
    for (uint32_t s = r.begin; s < r.end; ++s) top = Max(top, p.top[s]);
  }
  return p.sections.Lowest(b, top) >= at;
}

}  // namespace sluice
