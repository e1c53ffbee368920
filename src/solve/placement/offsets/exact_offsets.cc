// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/exact_offsets.h"

#include "base/checked.h"
#include "base/sort.h"
#include "solve/placement/offsets/partial_placement.h"

namespace sluice {
namespace {

constexpr uint32_t kNoFrame = 0xffffffffu;
constexpr uint32_t kLooksPerPoll = 1 << 14;  // buffers looked at between two polls
constexpr int kRankings = 3;  // orders of buffers, tried one after the other

struct Signature {
  uint64_t a, b;
};

// log2 of the failed states remembered: small problems are frequent, so their table is
// small and quick to clear. Where memory is short, the table takes at most half of it.
int TableBits(size_t buffers, uint64_t free_bytes) {
  int bits = buffers <= 32 ? 10 : buffers <= 64 ? 13 : 17;
  while (bits > 10 && free_bytes / 2 < sizeof(Signature) << bits) --bits;
  return bits;
}

uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// States of stretches that cannot be filled.
struct Failures {
  Span<uint32_t> by_section;  // buffers by begin_section
  Span<uint32_t> first_in;    // per section: into by_section
  Span<Signature> failed;
  int shift = 63;
};

void InitFailures(const Sections& sections, Failures* failures) {
  const Span<uint32_t> by_section = failures->by_section, first_in = failures->first_in;
  const uint32_t n = static_cast<uint32_t>(by_section.size());
  for (uint32_t u = 0; u < n; ++u) by_section[u] = u;
  Sort(by_section.begin(), by_section.end(), [&sections](uint32_t a, uint32_t b) {
    const uint32_t x = sections.buffers[a].begin_section;
    const uint32_t y = sections.buffers[b].begin_section;
    return x != y ? x < y : a < b;
  });
  for (uint32_t u = 0; u < n; ++u) ++first_in[sections.buffers[u].begin_section + 1];
  for (uint32_t s = 0; s <= sections.count; ++s) first_in[s + 1] += first_in[s];
}

Signature Sign(const Failures& failures, const PartialPlacement& p, uint32_t begin,
               uint32_t end) {
  Signature signature{begin, end};
  for (uint32_t i = failures.first_in[begin]; i < failures.first_in[end]; ++i) {
    const uint32_t u = failures.by_section[i];
    if (p.offset[u] >= 0) continue;
    const uint64_t key = static_cast<uint64_t>(p.least[u]) * 0x9e3779b97f4a7c15u + u;
    const uint64_t mixed = Mix(key);
    signature.a += mixed;
    signature.b += (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u;
  }
  return signature;
}

bool HasFailed(const Failures& failures, const Signature& signature) {
  const Signature& known = failures.failed[signature.a >> failures.shift];
  return known.a == signature.a && known.b == signature.b;
}

void Remember(Failures* failures, const Signature& signature) {
  failures->failed[signature.a >> failures->shift] = signature;
}

// A stretch of sections still to be filled, independent of all others. The list is
// persistent: frames keep a pointer to the node that was current when they began.
struct Stretch {
  uint32_t begin, end;
  uint32_t parent;  // frame whose choice made it
  uint32_t next;    // node below, or kNoFrame
};

struct Frame {
  uint32_t begin, end, parent;
  uint32_t section;
  int64_t floor;
  uint32_t first_choice, choice, last_choice;  // into choices; == last: waste
  bool may_waste, wasted;
  size_t undo_mark;
  uint32_t agenda, agenda_mark;
  Signature signature;
};

enum class Outcome : uint8_t { kSolved, kFailed, kLimit };

struct Search {
  Search(const Sections& sections, int64_t capacity, Arena* arena,
         Span<int64_t> offsets)
      : placed(sections, capacity, arena, offsets),
        stretches(arena),
        frames(arena),
        choices(arena) {}
  PartialPlacement placed;
  Failures failures;
  Span<uint32_t> rank[kRankings];
  const uint32_t* ranking = nullptr;  // one of these
  Vector<Stretch> stretches;
  Vector<Frame> frames;
  Vector<uint32_t> choices;
  uint32_t agenda = kNoFrame;
};

// spare: as long as there are buffers.
void RankBuffers(const Sections& sections, Span<uint32_t> spare,
                 Span<uint32_t>* ranks) {
  const auto before = [&sections](int ranking, uint32_t a, uint32_t b) {
    const SectionedBuffer& x = sections.buffers[a];
    const SectionedBuffer& y = sections.buffers[b];
    const int64_t wx = x.end_section - x.begin_section;
    const int64_t wy = y.end_section - y.begin_section;
    if (ranking == 0 && wx != wy) return wx < wy;
    if (ranking == 1 && x.bytes != y.bytes) return x.bytes > y.bytes;
    if (wx != wy) return wx > wy;
    if (x.bytes != y.bytes) return x.bytes > y.bytes;
    return a < b;
  };
  for (int ranking = 0; ranking < kRankings; ++ranking) {
    Span<uint32_t> order = spare;
    for (uint32_t u = 0; u < order.size(); ++u) order[u] = u;
    Sort(order.begin(), order.end(),
         [&](uint32_t a, uint32_t b) { return before(ranking, a, b); });
    for (uint32_t i = 0; i < order.size(); ++i) ranks[ranking][order[i]] = i;
  }
}

Status InitSearch(Search* search, Arena* arena) {
  const Sections& sections = search->placed.sections;
  const size_t n = sections.buffers.size();
  Failures* failures = &search->failures;
  SLUICE_TRY(AllocatePartial(arena, &search->placed));
  SLUICE_TRY(arena->Allocate(n, &failures->by_section));
  SLUICE_TRY(arena->Allocate(sections.count + 2, &failures->first_in));
  const int bits = TableBits(n, arena->memory()->free_bytes());
  SLUICE_TRY(arena->Allocate(size_t{1} << bits, &failures->failed));
  failures->shift = 64 - bits;
  for (Span<uint32_t>& rank : search->rank) SLUICE_TRY(arena->Allocate(n, &rank));
  RankBuffers(sections, failures->by_section, search->rank);
  if (arena->memory()->Stop()) return Status::kStopped;
  InitFailures(sections, failures);
  return StartPartial(&search->placed);
}

// True when every buffer that could cover the floor of this section can be placed now:
// none also lies in a section with a lower floor. Always true in a valley without
// buffers that have gaps.
bool Ready(const PartialPlacement& p, uint32_t section) {
  if (!p.sections.gapped) return true;
  for (uint32_t u : p.sections.MembersOf(section)) {
    if (p.least[u] != p.floor[section]) continue;
    for (const SectionRange& r : p.sections.RangesOf(p.sections.buffers[u])) {
      for (uint32_t s = r.begin; s < r.end; ++s) {
        if (p.floor[s] < p.floor[section]) return false;
      }
    }
  }
  return true;
}

// The section to branch on: of all valleys (runs of equal floor between higher ones)
// the section with the fewest choices, then the least slack, then the lowest floor.
void PickSection(const PartialPlacement& p, Frame* frame, int64_t* least_slack) {
  uint32_t fewest = 0xffffffffu;
  frame->floor = kNowhere;
  for (uint32_t begin = frame->begin; begin < frame->end;) {
    uint32_t end = begin + 1;
    const int64_t floor = p.floor[begin];
    while (end < frame->end && p.floor[end] == floor) ++end;
    const bool valley = floor < kNowhere &&
                        (begin == frame->begin || p.floor[begin - 1] > floor) &&
                        (end == frame->end || p.floor[end] > floor);
    for (uint32_t s = begin; valley && s < end; ++s) {
      const int64_t slack =
          p.capacity - floor - p.load[s] - p.sections.ClosedAbove(s, floor);
      const uint32_t ways = p.candidates[s] + (slack > 0 ? 1 : 0);
      if (ways > fewest) continue;
      if (ways == fewest && slack > *least_slack) continue;
      if (ways == fewest && slack == *least_slack && floor >= frame->floor) continue;
      if (!Ready(p, s)) continue;
      fewest = ways;
      *least_slack = slack;
      frame->section = s;
      frame->floor = floor;
    }
    begin = end;
  }
}

// Takes the next stretch off the agenda.
Status OpenFrame(Search* search) {
  const Stretch stretch = search->stretches[search->agenda];
  search->agenda = stretch.next;
  Frame frame{};
  frame.begin = stretch.begin;
  frame.end = stretch.end;
  frame.parent = stretch.parent;
  frame.agenda = search->agenda;
  frame.agenda_mark = static_cast<uint32_t>(search->stretches.size());
  frame.undo_mark = search->placed.undo.size();
  int64_t least_slack = 0;
  PickSection(search->placed, &frame, &least_slack);
  search->placed.looks += frame.end - frame.begin;
  frame.may_waste = least_slack > 0;
  frame.first_choice = frame.choice = static_cast<uint32_t>(search->choices.size());
  frame.signature = Sign(search->failures, search->placed, frame.begin, frame.end);
  if (HasFailed(search->failures, frame.signature)) {
    frame.may_waste = false;
  } else {
    for (uint32_t u : search->placed.sections.MembersOf(frame.section)) {
      if (search->placed.least[u] == frame.floor &&
          RestsOnSomething(search->placed, u, frame.floor)) {
        SLUICE_TRY(search->choices.Push(u));
      }
    }
  }
  frame.last_choice = static_cast<uint32_t>(search->choices.size());
  Sort(search->choices.begin() + frame.first_choice, search->choices.end(),
       [search](uint32_t a, uint32_t b) {
         return search->ranking[a] < search->ranking[b];
       });
  return search->frames.Push(frame);
}

// Cuts the frame's stretch where no unplaced buffer crosses. The pieces are solved from
// left to right, because solving the tightest first is no better.
Status SplitInto(Search* search, const Frame& frame, uint32_t self) {
  uint32_t end = frame.end;
  for (uint32_t s = frame.end; s-- > frame.begin;) {
    if (s != frame.begin && search->placed.crossing[s] != 0) continue;
    bool empty = true;
    for (uint32_t i = s; i < end && empty; ++i) empty = search->placed.load[i] == 0;
    if (!empty) {
      SLUICE_TRY(search->stretches.Push(Stretch{s, end, self, search->agenda}));
      search->agenda = static_cast<uint32_t>(search->stretches.size() - 1);
    }
    end = s;
  }
  return Status::kOk;
}

// Applies the frame's next choice; not *opened when none is left.
Status NextChoice(Search* search, Frame* frame, Budget* budget, bool* opened) {
  *opened = false;
  while (!*opened) {
    if (search->placed.looks >= kLooksPerPoll) {
      search->placed.looks = 0;
      if (budget->Exhausted()) return Status::kStopped;
    }
    bool ok = true;
    if (frame->choice < frame->last_choice) {
      const uint32_t u = search->choices[frame->choice++];
      SLUICE_TRY(PlaceBuffer(&search->placed, u, frame->floor, &ok));
    } else if (frame->may_waste && !frame->wasted) {
      frame->wasted = true;
      SLUICE_TRY(
          LeaveUncovered(&search->placed, frame->section, &search->choices, &ok));
    } else {
      return Status::kOk;
    }
    if (ok) {
      *opened = true;
    } else {
      UndoTo(&search->placed, frame->undo_mark);
    }
  }
  return Status::kOk;
}

Status RunOnce(Search* search, uint64_t max_nodes, Budget* budget, uint64_t* nodes,
               Outcome* outcome) {
  UndoTo(&search->placed, 0);
  search->frames.Truncate(0);
  search->stretches.Truncate(0);
  search->choices.Truncate(0);
  search->agenda = kNoFrame;
  Frame root{};
  root.end = search->placed.sections.count;
  SLUICE_TRY(SplitInto(search, root, kNoFrame));
  while (search->agenda != kNoFrame) {
    if (max_nodes-- == 0 || budget->Tick()) {
      *outcome = Outcome::kLimit;
      return Status::kOk;
    }
    ++*nodes;
    SLUICE_TRY(OpenFrame(search));
    for (;;) {
      const uint32_t self = static_cast<uint32_t>(search->frames.size() - 1);
      Frame& frame = search->frames[self];
      bool opened = false;
      SLUICE_TRY(NextChoice(search, &frame, budget, &opened));
      if (opened) {
        SLUICE_TRY(SplitInto(search, frame, self));
        break;
      }
      Remember(&search->failures, frame.signature);
      if (frame.parent == kNoFrame) {
        *outcome = Outcome::kFailed;
        return Status::kOk;
      }
      // The other stretches of the parent's choice cannot help: drop them all.
      search->frames.Truncate(frame.parent + 1);
      const Frame& parent = search->frames[search->frames.size() - 1];
      UndoTo(&search->placed, parent.undo_mark);
      search->choices.Truncate(parent.last_choice);
      search->stretches.Truncate(parent.agenda_mark);
      search->agenda = parent.agenda;
    }
  }
  *outcome = Outcome::kSolved;
  return Status::kOk;
}

// Rankings take turns; each turn doubles what the next round may spend.
Status RunSearch(Search* search, const ExactLimits& limits, Budget* budget) {
  uint64_t spent = 0;
  uint64_t allowance = 4 * search->placed.sections.buffers.size() + 64;
  search->placed.undo.Truncate(0);
  Outcome outcome = Outcome::kLimit;
  while (outcome == Outcome::kLimit) {
    for (int ranking = 0; ranking < kRankings && outcome == Outcome::kLimit;
         ++ranking) {
      uint64_t left = allowance;
      if (limits.max_nodes != 0) left = Min(left, limits.max_nodes - spent);
      const uint64_t before = spent;
      search->ranking = search->rank[ranking].data();
      const Status status = RunOnce(search, left, budget, &spent, &outcome);
      if (limits.nodes != nullptr) *limits.nodes += spent - before;
      SLUICE_TRY(status);
      if (outcome != Outcome::kLimit) break;
      if (budget->Exhausted()) return Status::kStopped;
      if (limits.max_nodes != 0 && spent >= limits.max_nodes) return Status::kStopped;
    }
    allowance *= 2;
  }
  return outcome == Outcome::kSolved ? Status::kOk : Status::kInfeasible;
}

}  // namespace

Status ExactOffsets(const Sections& sections, int64_t capacity,
                    const ExactLimits& limits, Budget* budget, Arena* arena,
                    Span<int64_t> offsets) {
  if (sections.buffers.size() == 0) return Status::kOk;
  ArenaScope scope(arena);
  Search search(sections, capacity, arena, offsets);
  SLUICE_TRY(InitSearch(&search, arena));
  return RunSearch(&search, limits, budget);
}

}  // namespace sluice
