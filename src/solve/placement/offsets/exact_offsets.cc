// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/offsets/exact_offsets.h"

#include "base/checked.h"
#include "base/sort.h"

namespace sluice {
namespace {

constexpr uint32_t kNoFrame = 0xffffffffu;
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

enum class Change : uint32_t { kLeast, kFloor, kTop, kPlaced };

struct UndoEntry {
  int64_t old;
  uint32_t index;
  Change change;
  uint32_t candidates;  // kFloor only
};

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

class Search {
 public:
  Search(const Sections& sections, int64_t capacity, Arena* arena,
         Span<int64_t> offsets)
      : s_(sections),
        capacity_(capacity),
        arena_(arena),
        offset_(offsets),
        undo_(arena),
        stretches_(arena),
        frames_(arena),
        choices_(arena),
        dirty_(arena) {}

  Status Init();
  Status Run(const ExactLimits& limits, Budget* budget);

 private:
  enum class Outcome : uint8_t { kSolved, kFailed, kLimit };

  Status RunOnce(int ranking, uint64_t max_nodes, Budget* budget, uint64_t* nodes,
                 Outcome* outcome);
  Status OpenFrame();
  bool Ready(uint32_t section) const;
  void PickSection(Frame* frame, int64_t* least_slack) const;
  Status NextChoice(Frame* frame, bool* opened);
  Status Place(uint32_t u, int64_t at, bool* ok);
  Status Waste(const Frame& frame, bool* ok);
  Status RaiseLeast(uint32_t u, int64_t to);
  Status RecountDirty(bool* ok);
  Status SplitInto(const Frame& frame, uint32_t self);
  void UndoTo(size_t mark);
  void Unplace(uint32_t u);
  void Await(uint32_t u);
  bool RestsOnSomething(uint32_t u, int64_t at) const;
  Signature Sign(uint32_t begin, uint32_t end) const;
  void RankBuffers();

  Status MarkDirty(const SectionedBuffer& b) {
    for (const SectionRange& r : s_.RangesOf(b)) {
      for (uint32_t s = r.begin; s < r.end; ++s) {
        if (stamp_[s] == epoch_) continue;
        stamp_[s] = epoch_;
        SLUICE_TRY(dirty_.Push(s));
      }
    }
    return Status::kOk;
  }

  const Sections& s_;
  const int64_t capacity_;
  Arena* const arena_;
  Span<int64_t> offset_;       // per buffer, -1 = unplaced
  Span<int64_t> least_;        // per buffer: least offset; kNowhere when placed
  Span<int64_t> floor_;        // per section: least least_ of unplaced members
  Span<uint32_t> candidates_;  // per section: members with least_ == floor_
  Span<int64_t> top_;          // per section: top of what was placed
  Span<int64_t> load_;         // per section: bytes not placed yet
  Span<uint32_t> crossing_;    // unplaced buffers on both sides of the border below s
  Span<uint32_t> stamp_;       // per section
  Span<uint32_t> by_section_;  // buffers by begin_section
  Span<uint32_t> first_in_;    // per section: into by_section_
  Span<uint32_t> rank_[kRankings];
  Span<Signature> failed_;
  int table_shift_ = 63;
  uint32_t epoch_ = 0;
  const uint32_t* ranking_ = nullptr;
  Vector<UndoEntry> undo_;
  Vector<Stretch> stretches_;
  Vector<Frame> frames_;
  Vector<uint32_t> choices_;
  Vector<uint32_t> dirty_;
  uint32_t agenda_ = kNoFrame;
};

void Search::RankBuffers() {
  const auto before = [this](int ranking, uint32_t a, uint32_t b) {
    const SectionedBuffer& x = s_.buffers[a];
    const SectionedBuffer& y = s_.buffers[b];
    const int64_t wx = x.end_section - x.begin_section;
    const int64_t wy = y.end_section - y.begin_section;
    if (ranking == 0 && wx != wy) return wx < wy;
    if (ranking == 1 && x.bytes != y.bytes) return x.bytes > y.bytes;
    if (wx != wy) return wx > wy;
    if (x.bytes != y.bytes) return x.bytes > y.bytes;
    return a < b;
  };
  for (int ranking = 0; ranking < kRankings; ++ranking) {
    Span<uint32_t> order = by_section_;  // borrowed; refilled below
    for (uint32_t u = 0; u < order.size(); ++u) order[u] = u;
    Sort(order.begin(), order.end(),
         [&](uint32_t a, uint32_t b) { return before(ranking, a, b); });
    for (uint32_t i = 0; i < order.size(); ++i) rank_[ranking][order[i]] = i;
  }
}

Status Search::Init() {
  const size_t n = s_.buffers.size();
  SLUICE_TRY(arena_->Allocate(n, &least_));
  SLUICE_TRY(arena_->Allocate(n, &by_section_));
  SLUICE_TRY(arena_->Allocate(s_.count, &floor_));
  SLUICE_TRY(arena_->Allocate(s_.count, &candidates_));
  SLUICE_TRY(arena_->Allocate(s_.count, &top_));
  SLUICE_TRY(arena_->Allocate(s_.count, &load_));
  SLUICE_TRY(arena_->Allocate(s_.count + 1, &crossing_));
  SLUICE_TRY(arena_->Allocate(s_.count, &stamp_));
  SLUICE_TRY(arena_->Allocate(s_.count + 2, &first_in_));
  const int bits = TableBits(n, arena_->memory()->free_bytes());
  SLUICE_TRY(arena_->Allocate(size_t{1} << bits, &failed_));
  table_shift_ = 64 - bits;
  for (Span<uint32_t>& rank : rank_) SLUICE_TRY(arena_->Allocate(n, &rank));
  RankBuffers();
  if (arena_->memory()->Stop()) return Status::kStopped;
  for (uint32_t u = 0; u < n; ++u) by_section_[u] = u;
  Sort(by_section_.begin(), by_section_.end(), [this](uint32_t a, uint32_t b) {
    const uint32_t x = s_.buffers[a].begin_section, y = s_.buffers[b].begin_section;
    return x != y ? x < y : a < b;
  });
  for (uint32_t u = 0; u < n; ++u) ++first_in_[s_.buffers[u].begin_section + 1];
  for (uint32_t s = 0; s <= s_.count; ++s) first_in_[s + 1] += first_in_[s];
  for (uint32_t u = 0; u < n; ++u) {
    const SectionedBuffer& b = s_.buffers[u];
    least_[u] = s_.Lowest(b, 0);
    offset_[u] = b.range_count == 0 ? least_[u] : -1;  // no bytes: in no section
    if (least_[u] + b.bytes > capacity_) return Status::kInfeasible;
    Await(u);
  }
  ++epoch_;
  for (uint32_t s = 0; s < s_.count; ++s) SLUICE_TRY(dirty_.Push(s));
  bool ok = true;
  SLUICE_TRY(RecountDirty(&ok));
  return ok ? Status::kOk : Status::kInfeasible;
}

Status Search::RaiseLeast(uint32_t u, int64_t to) {
  SLUICE_TRY(undo_.Push(UndoEntry{least_[u], u, Change::kLeast, 0}));
  least_[u] = to;
  return MarkDirty(s_.buffers[u]);
}

// Brings floor_ and candidates_ of the touched sections up to date; not *ok when one of
// them cannot hold its unplaced bytes.
Status Search::RecountDirty(bool* ok) {
  for (uint32_t s : dirty_) {
    int64_t floor = kNowhere;
    uint32_t count = 0;
    for (uint32_t u : s_.MembersOf(s)) {
      const int64_t least = least_[u];
      if (least > floor) continue;
      count = least < floor ? 1 : count + 1;
      floor = least;
    }
    if (floor == floor_[s] && count == candidates_[s]) continue;
    SLUICE_TRY(undo_.Push(UndoEntry{floor_[s], s, Change::kFloor, candidates_[s]}));
    floor_[s] = floor;
    candidates_[s] = count;
    if (floor < kNowhere && floor + load_[s] + s_.ClosedAbove(s, floor) > capacity_) {
      *ok = false;
      break;
    }
  }
  dirty_.Truncate(0);
  return Status::kOk;
}

Status Search::Place(uint32_t u, int64_t at, bool* ok) {
  const SectionedBuffer& b = s_.buffers[u];
  const int64_t top = at + b.bytes;
  ++epoch_;
  SLUICE_TRY(RaiseLeast(u, kNowhere));
  for (const SectionRange& r : s_.RangesOf(b)) {
    for (uint32_t s = r.begin; s < r.end; ++s) {
      SLUICE_TRY(undo_.Push(UndoEntry{top_[s], s, Change::kTop, 0}));
      top_[s] = top;
      load_[s] -= b.bytes;
    }
  }
  for (uint32_t s = b.begin_section + 1; s < b.end_section; ++s) --crossing_[s];
  offset_[u] = at;
  SLUICE_TRY(undo_.Push(UndoEntry{0, u, Change::kPlaced, 0}));
  for (uint32_t v : s_.NearOf(b)) {
    if (least_[v] >= top) continue;  // placed ones are at kNowhere
    const int64_t least = s_.Lowest(s_.buffers[v], top);
    if (least + s_.buffers[v].bytes > capacity_) {
      *ok = false;
      dirty_.Truncate(0);
      return Status::kOk;
    }
    SLUICE_TRY(RaiseLeast(v, least));
  }
  return RecountDirty(ok);
}

// Leaves the byte `floor` of the section uncovered. Each buffer that could cover it
// must then lie on top of another buffer, whose own least offset holds too.
Status Search::Waste(const Frame& frame, bool* ok) {
  ++epoch_;
  const size_t first = choices_.size();
  for (uint32_t u : s_.MembersOf(frame.section)) {
    if (least_[u] == frame.floor) SLUICE_TRY(choices_.Push(u));
  }
  const size_t count = choices_.size() - first;
  for (size_t i = 0; i < count; ++i) {  // raised below: here all read the old offsets
    const uint32_t u = choices_[first + i];
    const SectionedBuffer& b = s_.buffers[u];
    int64_t support = kNowhere;
    for (uint32_t v : s_.NearOf(b)) {
      if (offset_[v] >= 0) continue;
      support = Min(support, least_[v] + s_.buffers[v].bytes);
    }
    const int64_t least = s_.Lowest(b, support);
    if (least + b.bytes > capacity_) {
      *ok = false;
      break;
    }
    // Two 32-bit halves keep the new offset beside its buffer.
    SLUICE_TRY(choices_.Push(static_cast<uint32_t>(least >> 32)));
    SLUICE_TRY(choices_.Push(static_cast<uint32_t>(least)));
  }
  for (size_t i = 0; i < count && *ok; ++i) {
    const uint32_t* half = &choices_[first + count + 2 * i];
    SLUICE_TRY(RaiseLeast(choices_[first + i],
                          static_cast<int64_t>(uint64_t{half[0]} << 32 | half[1])));
  }
  choices_.Truncate(first);
  if (!*ok) {
    dirty_.Truncate(0);
    return Status::kOk;
  }
  return RecountDirty(ok);
}

void Search::Unplace(uint32_t u) {
  offset_[u] = -1;
  Await(u);
}

// Counts a buffer that is to be placed where it lives.
void Search::Await(uint32_t u) {
  const SectionedBuffer& b = s_.buffers[u];
  for (const SectionRange& r : s_.RangesOf(b)) {
    for (uint32_t s = r.begin; s < r.end; ++s) load_[s] += b.bytes;
  }
  for (uint32_t s = b.begin_section + 1; s < b.end_section; ++s) ++crossing_[s];
}

void Search::UndoTo(size_t mark) {
  while (undo_.size() > mark) {
    const UndoEntry& entry = undo_[undo_.size() - 1];
    switch (entry.change) {
      case Change::kLeast:
        least_[entry.index] = entry.old;
        break;
      case Change::kFloor:
        floor_[entry.index] = entry.old;
        candidates_[entry.index] = entry.candidates;
        break;
      case Change::kTop:
        top_[entry.index] = entry.old;
        break;
      case Change::kPlaced:
        Unplace(entry.index);
        break;
    }
    undo_.Pop();
  }
}

// In a canonical placement no buffer can be moved down. A buffer above wasted bytes
// would repeat a placement of an earlier branch.
bool Search::RestsOnSomething(uint32_t u, int64_t at) const {
  const SectionedBuffer& b = s_.buffers[u];
  int64_t top = 0;
  for (const SectionRange& r : s_.RangesOf(b)) {
    for (uint32_t s = r.begin; s < r.end; ++s) top = Max(top, top_[s]);
  }
  return s_.Lowest(b, top) >= at;
}

Signature Search::Sign(uint32_t begin, uint32_t end) const {
  Signature signature{begin, end};
  for (uint32_t i = first_in_[begin]; i < first_in_[end]; ++i) {
    const uint32_t u = by_section_[i];
    if (offset_[u] >= 0) continue;
    const uint64_t key = static_cast<uint64_t>(least_[u]) * 0x9e3779b97f4a7c15u + u;
    const uint64_t mixed = Mix(key);
    signature.a += mixed;
    signature.b += (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u;
  }
  return signature;
}

// True when every buffer that could cover the floor of this section can be placed now:
// none also lies in a section with a lower floor. Always true in a valley without
// buffers that have gaps.
bool Search::Ready(uint32_t section) const {
  if (!s_.gapped) return true;
  for (uint32_t u : s_.MembersOf(section)) {
    if (least_[u] != floor_[section]) continue;
    for (const SectionRange& r : s_.RangesOf(s_.buffers[u])) {
      for (uint32_t s = r.begin; s < r.end; ++s) {
        if (floor_[s] < floor_[section]) return false;
      }
    }
  }
  return true;
}

// The section to branch on: of all valleys (runs of equal floor between higher ones)
// the section with the fewest choices, then the least slack, then the lowest floor.
void Search::PickSection(Frame* frame, int64_t* least_slack) const {
  uint32_t fewest = 0xffffffffu;
  frame->floor = kNowhere;
  for (uint32_t begin = frame->begin; begin < frame->end;) {
    uint32_t end = begin + 1;
    const int64_t floor = floor_[begin];
    while (end < frame->end && floor_[end] == floor) ++end;
    const bool valley = floor < kNowhere &&
                        (begin == frame->begin || floor_[begin - 1] > floor) &&
                        (end == frame->end || floor_[end] > floor);
    for (uint32_t s = begin; valley && s < end; ++s) {
      const int64_t slack = capacity_ - floor - load_[s] - s_.ClosedAbove(s, floor);
      const uint32_t ways = candidates_[s] + (slack > 0 ? 1 : 0);
      if (ways > fewest) continue;
      if (ways == fewest && slack > *least_slack) continue;
      if (ways == fewest && slack == *least_slack && floor >= frame->floor) continue;
      if (!Ready(s)) continue;
      fewest = ways;
      *least_slack = slack;
      frame->section = s;
      frame->floor = floor;
    }
    begin = end;
  }
}

// Takes the next stretch off the agenda.
Status Search::OpenFrame() {
  const Stretch stretch = stretches_[agenda_];
  agenda_ = stretch.next;
  Frame frame{};
  frame.begin = stretch.begin;
  frame.end = stretch.end;
  frame.parent = stretch.parent;
  frame.agenda = agenda_;
  frame.agenda_mark = static_cast<uint32_t>(stretches_.size());
  frame.undo_mark = undo_.size();
  int64_t least_slack = 0;
  PickSection(&frame, &least_slack);
  frame.may_waste = least_slack > 0;
  frame.first_choice = frame.choice = static_cast<uint32_t>(choices_.size());
  frame.signature = Sign(frame.begin, frame.end);
  const Signature& known = failed_[frame.signature.a >> table_shift_];
  if (known.a == frame.signature.a && known.b == frame.signature.b) {
    frame.may_waste = false;
  } else {
    for (uint32_t u : s_.MembersOf(frame.section)) {
      if (least_[u] == frame.floor && RestsOnSomething(u, frame.floor)) {
        SLUICE_TRY(choices_.Push(u));
      }
    }
  }
  frame.last_choice = static_cast<uint32_t>(choices_.size());
  Sort(choices_.begin() + frame.first_choice, choices_.end(),
       [this](uint32_t a, uint32_t b) { return ranking_[a] < ranking_[b]; });
  return frames_.Push(frame);
}

// Cuts the frame's stretch where no unplaced buffer crosses. The pieces are solved from
// left to right, because solving the tightest first is no better.
Status Search::SplitInto(const Frame& frame, uint32_t self) {
  uint32_t end = frame.end;
  for (uint32_t s = frame.end; s-- > frame.begin;) {
    if (s != frame.begin && crossing_[s] != 0) continue;
    bool empty = true;
    for (uint32_t i = s; i < end && empty; ++i) empty = load_[i] == 0;
    if (!empty) {
      SLUICE_TRY(stretches_.Push(Stretch{s, end, self, agenda_}));
      agenda_ = static_cast<uint32_t>(stretches_.size() - 1);
    }
    end = s;
  }
  return Status::kOk;
}

// Applies the frame's next choice; not *opened when none is left.
Status Search::NextChoice(Frame* frame, bool* opened) {
  *opened = false;
  while (!*opened) {
    bool ok = true;
    if (frame->choice < frame->last_choice) {
      const uint32_t u = choices_[frame->choice++];
      SLUICE_TRY(Place(u, frame->floor, &ok));
    } else if (frame->may_waste && !frame->wasted) {
      frame->wasted = true;
      SLUICE_TRY(Waste(*frame, &ok));
    } else {
      return Status::kOk;
    }
    if (ok) {
      *opened = true;
    } else {
      UndoTo(frame->undo_mark);
    }
  }
  return Status::kOk;
}

Status Search::RunOnce(int ranking, uint64_t max_nodes, Budget* budget, uint64_t* nodes,
                       Outcome* outcome) {
  ranking_ = rank_[ranking].data();
  UndoTo(0);
  frames_.Truncate(0);
  stretches_.Truncate(0);
  choices_.Truncate(0);
  agenda_ = kNoFrame;
  Frame root{};
  root.end = s_.count;
  SLUICE_TRY(SplitInto(root, kNoFrame));
  while (agenda_ != kNoFrame) {
    if (max_nodes-- == 0 || budget->Tick()) {
      *outcome = Outcome::kLimit;
      return Status::kOk;
    }
    ++*nodes;
    SLUICE_TRY(OpenFrame());
    for (;;) {
      const uint32_t self = static_cast<uint32_t>(frames_.size() - 1);
      Frame& frame = frames_[self];
      bool opened = false;
      SLUICE_TRY(NextChoice(&frame, &opened));
      if (opened) {
        SLUICE_TRY(SplitInto(frame, self));
        break;
      }
      failed_[frame.signature.a >> table_shift_] = frame.signature;
      if (frame.parent == kNoFrame) {
        *outcome = Outcome::kFailed;
        return Status::kOk;
      }
      // The other stretches of the parent's choice cannot help: drop them all.
      frames_.Truncate(frame.parent + 1);
      const Frame& parent = frames_[frames_.size() - 1];
      UndoTo(parent.undo_mark);
      choices_.Truncate(parent.last_choice);
      stretches_.Truncate(parent.agenda_mark);
      agenda_ = parent.agenda;
    }
  }
  *outcome = Outcome::kSolved;
  return Status::kOk;
}

// Rankings take turns; each turn doubles what the next round may spend.
Status Search::Run(const ExactLimits& limits, Budget* budget) {
  uint64_t spent = 0;
  uint64_t allowance = 4 * s_.buffers.size() + 64;
  undo_.Truncate(0);
  Outcome outcome = Outcome::kLimit;
  while (outcome == Outcome::kLimit) {
    for (int ranking = 0; ranking < kRankings && outcome == Outcome::kLimit;
         ++ranking) {
      uint64_t left = allowance;
      if (limits.max_nodes != 0) left = Min(left, limits.max_nodes - spent);
      const uint64_t before = spent;
      SLUICE_TRY(RunOnce(ranking, left, budget, &spent, &outcome));
      if (limits.nodes != nullptr) *limits.nodes += spent - before;
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
  SLUICE_TRY(search.Init());
  return search.Run(limits, budget);
}

}  // namespace sluice
