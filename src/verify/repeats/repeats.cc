// SPDX-License-Identifier: Apache-2.0
#include "verify/repeats/repeats.h"

#include <string.h>

#include <initializer_list>

#include "base/checked.h"
#include "verify/op_rules.h"

namespace sluice {
namespace judge {
namespace {

constexpr size_t kFollowed = 3;      // windows
constexpr size_t kLeastWindows = 5;  // else too little is taken over
constexpr size_t kMostSteps = 512;   // of a window
constexpr size_t kPolled = 64;       // steps

const Step& StepAt(const Repeats& r, size_t place) { return r.f->order->steps[place]; }

const sluice_instruction_t& InstructionOf(const StreamView& s, const Step& step) {
  return BlockOf(s, step.visit).instructions[step.index];
}

// Whether b is a, an iteration of the loop at this depth later.
bool IsNext(const StreamView& s, const Step& a, const Step& b, uint32_t depth) {
  const Visit& x = s.visits[a.visit];
  const Visit& y = s.visits[b.visit];
  bool next = a.index == b.index && a.engine == b.engine && x.instance == y.instance;
  for (uint32_t d = 0; next && d < SLUICE_MAX_LOOPS; ++d) {
    next = y.index[d] == x.index[d] + (d == depth ? 1 : 0);
  }
  return next;
}

// Counts the steps from a place on that are followed by themselves, `window` steps later
// and an iteration later.
Status FindRun(const Repeats& r, size_t at, uint32_t depth, size_t window,
               size_t* steps) {
  const StreamView& s = r.f->judge->stream;
  const Span<Step> all = r.f->order->steps;
  size_t n = 0;
  for (; at + n + window < all.size(); ++n) {
    if (n % kPolled == 0 && r.f->judge->arena->memory()->Stop())
      return Status::kStopped;
    if (!IsNext(s, all[at + n], all[at + n + window], depth)) break;
  }
  *steps = n;
  return Status::kOk;
}

// Begins a run at a place if there is one: that which leaves out most.
Status Search(Repeats* r, size_t at) {
  const StreamView& s = r->f->judge->stream;
  if (at >= r->f->order->steps.size()) return Status::kOk;
  const Step& step = StepAt(*r, at);
  const Nest nest = NestOf(s, InstanceOf(s, step.visit));
  size_t most = 0;
  for (uint32_t d = 0; d < nest.depth; ++d) {
    const uint64_t window = r->loops[nest.loop[d]];
    const uint32_t left = s.loops[nest.loop[d]].count - s.visits[step.visit].index[d];
    if (at < r->not_before[d] || window > kMostSteps || left < kLeastWindows) continue;
    size_t steps = 0;
    SLUICE_TRY(FindRun(*r, at, d, static_cast<size_t>(window), &steps));
    const size_t windows = steps / static_cast<size_t>(window) + 1;
    if (windows < kLeastWindows) {
      r->not_before[d] = at + steps + 1;
    } else if ((windows - kFollowed) * window > most) {
      most = (windows - kFollowed) * static_cast<size_t>(window);
      r->begin = at;
      r->window = static_cast<size_t>(window);
      r->windows = windows;
    }
  }
  r->notes.Truncate(0);
  return Status::kOk;
}

// Notes what the step before a place left.
Status NoteStep(Repeats* r, size_t at) {
  Follower* f = r->f;
  const Step& step = StepAt(*r, at - 1);
  const BlockView& block = BlockOf(f->judge->stream, step.visit);
  const sluice_instruction_t& i = block.instructions[step.index];
  if (i.opcode == SLUICE_OPCODE_STORE) {
    const bool one = f->parts.size() == 1;
    SLUICE_TRY(r->notes.Push({one ? f->parts[0] : Part{}, 0, 0, one}));
  } else if (i.opcode == SLUICE_OPCODE_COMPUTE &&
             block.tiles[i.descriptor].accumulator != SLUICE_NONE) {
    SLUICE_TRY(r->notes.Push({{}, f->sum.begin[0], f->sum.end[0], f->plain_sum}));
  }
  if (at == r->begin + 2 * r->window) r->before = *f->counts;
  return Status::kOk;
}

// The place of step x of a window.
size_t PlaceIn(const Repeats& r, size_t window, size_t x) {
  return r.begin + window * r.window + x;
}

// Finds an operand of step x of a window.
Status LocateIn(Repeats* r, size_t window, size_t x, uint32_t operand, Access* access) {
  r->f->judge->step = StepAt(*r, PlaceIn(*r, window, x));
  return Locate(r->f, operand, access);
}

Status AddSweep(Repeats* r, const Access& first, const Access& last, bool store) {
  const int64_t none[kAxes] = {};
  const Box box = first.BoxWith(0, none);
  return r->sweeps.Push({MemoryOf(r->f->contents, first.region, 0), store,
                         Min(box.base, last.base),
                         Max(box.base, last.base) + box.end() - box.base});
}

// A LOAD must read one piece in the first window and in the last: then it does so in all
// between, from places on a line.
Status CheckLoad(Repeats* r, size_t x, const sluice_transfer_t& t, bool* holds) {
  const int64_t none[kAxes] = {};
  const size_t turns = r->windows - 1;
  Access access[2];
  Part part[2];
  const Piece* piece[2];
  for (size_t i = 0; i < 2; ++i) {
    SLUICE_TRY(LocateIn(r, i * turns, x, t.src, &access[i]));
    const uint32_t memory = MemoryOf(r->f->contents, access[i].region, 0);
    SLUICE_TRY(FindPiece(&r->f->contents, memory, access[i].BoxWith(0, none), &part[i],
                         &piece[i]));
  }
  *holds = t.index == SLUICE_NONE && piece[0] != nullptr && piece[0] == piece[1] &&
           !IsPartial(r->f->contents, piece[0]->root);
  if (!*holds) return Status::kOk;
  for (int a = 0; a < kAxes; ++a) {
    const int64_t distance = part[1].origin[a] - part[0].origin[a];
    r->moved[x].by[a] = distance / static_cast<int64_t>(turns);
    *holds = *holds && r->moved[x].by[a] * static_cast<int64_t>(turns) == distance;
  }
  return AddSweep(r, access[0], access[1], false);
}

// A STORE must have stored one part in the second window and in the third.
Status CheckStore(Repeats* r, size_t x, const sluice_transfer_t& t, size_t notes,
                  bool* holds) {
  Access first, last;
  SLUICE_TRY(LocateIn(r, 0, x, t.dst, &first));
  SLUICE_TRY(LocateIn(r, r->windows - 1, x, t.dst, &last));
  const Repeats::Note& one = r->notes[notes + r->moved[x].note];
  const Repeats::Note& two = r->notes[2 * notes + r->moved[x].note];
  *holds = one.plain && two.plain && one.part.root == two.part.root &&
           !IsPartial(r->f->contents, one.part.root);
  for (int a = 0; a < kAxes; ++a) {
    *holds = *holds && one.part.extent[a] == two.part.extent[a] &&
             one.part.twin_stride[a] == two.part.twin_stride[a];
    r->moved[x].by[a] = two.part.origin[a] - one.part.origin[a];
  }
  return AddSweep(r, first, last, true);
}

// Whether what a tile needs, axis by axis, begins and ends at convex or concave functions of
// the window. They are linear where three windows lie on a line.
bool IsBent(const SeenTile& one, const SeenTile& two) {
  const OpRule& rule = RuleOf(*one.layer);
  if ((rule.has & (kVaries | kNoParts)) != 0) return false;
  return rule.windows != Windows::kFilters || one.origin[3] == two.origin[3] ||
         ((rule.has & kChannelwise) == 0 &&
          one.layer->attribute(SLUICE_CONV_GROUPS) <= 1);
}

// Whether the needs of a tile in window j, and its work, go on from those in windows 1
// and 2.
bool GoesOn(const TileNeeds& one, const TileNeeds& two, const TileNeeds& now,
            int64_t j) {
  bool on = one.work == two.work && two.work == now.work;
  for (uint32_t i = 0; i < now.count; ++i) {
    const int64_t* const a = one.need[i].origin;
    const int64_t* const b = two.need[i].origin;
    for (int x = 0; x < kAxes; ++x) {
      on = on && one.need[i].extent[x] == two.need[i].extent[x] &&
           two.need[i].extent[x] == now.need[i].extent[x] &&
           now.need[i].origin[x] - b[x] == (j - 2) * (b[x] - a[x]);
    }
  }
  return on;
}

Status CheckTiles(Repeats* r, size_t x, const sluice_instruction_t& i, size_t notes,
                  bool* holds) {
  Follower* f = r->f;
  SeenTile seen[3];
  for (size_t j = 1; j <= 2; ++j) {
    f->judge->step = StepAt(*r, PlaceIn(*r, j, x));
    SLUICE_TRY(SeeTile(f, i, &seen[j]));
  }
  *holds = true;
  for (uint32_t n = 0; n < seen[1].needs.count; ++n) {
    const uint32_t root = f->views.BehindReshapes(seen[1].needs.need[n].tensor);
    *holds = *holds && f->views.IsRoot(root, seen[1].layer_index);
  }
  for (int a = 0; a < kAxes; ++a) {
    r->moved[x].by[a] = seen[2].origin[a] - seen[1].origin[a];
  }
  for (size_t j = 0; j < kFollowed && seen[1].tile.accumulator != SLUICE_NONE; ++j) {
    *holds = *holds && r->notes[j * notes + r->moved[x].note].plain;
  }
  const size_t last = r->windows - 1;
  size_t j = IsBent(seen[1], seen[2]) ? last : kFollowed;
  for (; *holds && j <= last; ++j) {
    if (f->judge->arena->memory()->Stop()) return Status::kStopped;
    f->judge->step = StepAt(*r, PlaceIn(*r, j, x));
    SLUICE_TRY(SeeTile(f, i, &seen[0]));
    *holds =
        GoesOn(seen[1].needs, seen[2].needs, seen[0].needs, static_cast<int64_t>(j));
  }
  return Status::kOk;
}

// Whether what holds in the followed windows holds in all of the run.
Status CheckRun(Repeats* r, bool* holds) {
  const StreamView& s = r->f->judge->stream;
  r->sweeps.Truncate(0);
  r->moved.Truncate(0);
  SLUICE_TRY(r->moved.Extend(r->window));
  const size_t notes = r->notes.size() / kFollowed;
  uint32_t note = 0;
  *holds = true;
  for (size_t x = 0; x < r->window && *holds; ++x) {
    if (r->f->judge->arena->memory()->Stop()) return Status::kStopped;
    const Step& step = StepAt(*r, PlaceIn(*r, 0, x));
    const BlockView& block = BlockOf(s, step.visit);
    const sluice_instruction_t& i = block.instructions[step.index];
    r->moved[x].note = note;
    if (i.opcode == SLUICE_OPCODE_LOAD) {
      SLUICE_TRY(CheckLoad(r, x, block.transfers[i.descriptor], holds));
    } else if (i.opcode == SLUICE_OPCODE_STORE) {
      SLUICE_TRY(CheckStore(r, x, block.transfers[i.descriptor], notes, holds));
      ++note;
    } else if (i.opcode == SLUICE_OPCODE_COMPUTE) {
      SLUICE_TRY(CheckTiles(r, x, i, notes, holds));
      if (block.tiles[i.descriptor].accumulator != SLUICE_NONE) ++note;
    } else {
      *holds = false;
    }
  }
  for (const Repeats::Sweep& a : r->sweeps) {
    for (const Repeats::Sweep& b : r->sweeps) {
      const bool meet = a.store && !b.store && a.memory == b.memory &&
                        a.begin < b.end && b.begin < a.end;
      if (meet) *holds = false;
    }
  }
  return Status::kOk;
}

// Stores again what a STORE stored in the third window, j - 2 windows later.
Status StoreAgain(Repeats* r, size_t x, size_t j, const sluice_transfer_t& t) {
  Follower* f = r->f;
  const size_t notes = r->notes.size() / kFollowed;
  Access dst;
  SLUICE_TRY(Locate(f, t.dst, &dst));
  Part part = r->notes[2 * notes + r->moved[x].note].part;
  const int64_t none[kAxes] = {};
  for (int a = 0; a < kAxes; ++a) {
    part.origin[a] += static_cast<int64_t>(j - 2) * r->moved[x].by[a];
  }
  part.twin = dst.base;
  const uint32_t memory = MemoryOf(f->contents, dst.region, 0);
  SLUICE_TRY(Overwrite(&f->contents, memory, dst.BoxWith(0, none), false));
  return PutPart(&f->contents, memory, part);
}

// Takes over the windows behind those that were followed, but for the scratchpad.
Status PassWindows(Repeats* r) {
  Follower* f = r->f;
  const StreamView& s = f->judge->stream;
  const Order& order = *f->order;
  for (size_t j = kFollowed; j < r->windows; ++j) {
    for (size_t x = 0; x < r->window; ++x) {
      const size_t place = PlaceIn(*r, j, x);
      if (place % kPolled == 0 && f->judge->arena->memory()->Stop()) {
        return Status::kStopped;
      }
      const Step& step = StepAt(*r, place);
      const Step& third = StepAt(*r, PlaceIn(*r, 2, x));
      const uint32_t* clock;
      SLUICE_TRY(f->clocks.Next(&clock));
      EnterStep(&f->contents, step, clock);
      s.time[order.NumberOf(step)] = s.time[order.NumberOf(third)];
      const sluice_instruction_t& i = InstructionOf(s, step);
      if (i.opcode != SLUICE_OPCODE_STORE) continue;
      const BlockView& block = BlockOf(s, step.visit);
      SLUICE_TRY(StoreAgain(r, x, j, block.transfers[i.descriptor]));
    }
  }
  return Status::kOk;
}

// Moves a piece of the third window to the last one. write: it has content.
Status MovePiece(Repeats* r, Piece* piece, bool write) {
  const Order& order = *r->f->order;
  if (piece->engine == kNone || piece->position == 0) return Status::kOk;
  const size_t place = order.PlaceOf(piece->engine, piece->position);
  const size_t third = PlaceIn(*r, 2, 0);
  if (place < third || place >= third + r->window) return Status::kOk;
  const int64_t turns = static_cast<int64_t>(r->windows - kFollowed);
  piece->position = StepAt(*r, PlaceIn(*r, r->windows - 1, place - third)).position;
  if (!write) return Status::kOk;
  const Repeats::Moved& moved = r->moved[place - third];
  for (int a = 0; a < kAxes; ++a) piece->origin[a] += turns * moved.by[a];
  Contents* c = &r->f->contents;
  if (piece->root == kNone || !IsPartial(*c, piece->root)) return Status::kOk;
  const size_t notes = r->notes.size() / kFollowed;
  const Repeats::Note& one = r->notes[notes + moved.note];
  const Repeats::Note& two = r->notes[2 * notes + moved.note];
  PartialSum sum = PartialOf(*c, piece->root);
  sum.begin[0] += static_cast<int32_t>(turns * (two.begin - one.begin));
  sum.end[0] += static_cast<int32_t>(turns * (two.end - one.end));
  return RootOf(c, sum, &piece->root);
}

Status MoveScratchpad(Repeats* r) {
  Contents* c = &r->f->contents;
  c->known_count = 0;
  for (const bool write : {false, true}) {
    c->found.Truncate(0);
    const MemoryMap& map = write ? *c->writes[0] : *c->reads[0];
    SLUICE_TRY(map.Collect(c->judge, 0, INT64_MAX, &c->found));
    for (Piece* piece : c->found) SLUICE_TRY(MovePiece(r, piece, write));
  }
  return Status::kOk;
}

// Counts what the windows that are taken over take: each as much as the third.
void CountAgain(const Repeats& r) {
  VerifiedCounts* now = r.f->counts;
  const size_t turns = r.windows - kFollowed;
  constexpr size_t kWords = sizeof(SummedCounts) / sizeof(uint64_t);
  uint64_t sum[kWords], before[kWords];
  memcpy(sum, now, sizeof sum);
  memcpy(before, &r.before, sizeof before);
  for (size_t i = 0; i < kWords; ++i) sum[i] += turns * (sum[i] - before[i]);
  memcpy(static_cast<void*>(now), sum, sizeof sum);
  const uint32_t times = static_cast<uint32_t>(turns);
  now->tiles += times * (now->tiles - r.before.tiles);
  now->instructions += times * static_cast<uint32_t>(r.window);
}

}  // namespace

Status InitRepeats(Repeats* r) {
  const Judge& judge = *r->f->judge;
  const StreamView& s = judge.stream;
  if (judge.unrolls || judge.counts_only || !r->f->counts->by_layer.empty() ||
      s.nodes != 1 || s.dram_engines > 1 || r->f->encoded.size() != 0) {
    return Status::kOk;
  }
  SLUICE_TRY(judge.arena->Allocate(s.loops.size(), &r->loops));
  for (const sluice_instance_t& instance : s.instances) {
    if (instance.first_step == SLUICE_NONE) continue;
    uint64_t steps = s.blocks[instance.block].instructions.size();
    uint32_t l = static_cast<uint32_t>(s.steps[instance.first_step]);
    for (; l != SLUICE_NONE; l = s.loops[l].parent) {
      r->loops[l] += steps;
      steps *= s.loops[l].count;
    }
  }
  return Status::kOk;
}

Status PassRepeats(Repeats* r, size_t* at) {
  if (r->loops.empty()) return Status::kOk;
  if (r->window == 0) return Search(r, *at);
  SLUICE_TRY(NoteStep(r, *at));
  if (*at != PlaceIn(*r, kFollowed, 0)) return Status::kOk;
  const size_t end = PlaceIn(*r, r->windows, 0);
  bool holds = false;
  Status status = CheckRun(r, &holds);
  if (status == Status::kRejected) {  // as it will be when it is followed
    ClearDiagnostic(r->f->judge->diagnostic);
    status = Status::kOk;
    holds = false;
  }
  SLUICE_TRY(status);
  if (holds) {
    r->f->judge->joined = true;
    SLUICE_TRY(PassWindows(r));
    SLUICE_TRY(MoveScratchpad(r));
    CountAgain(*r);
    *at = end;
  } else {
    for (size_t& place : r->not_before) place = Max(place, end);
  }
  r->window = 0;
  return holds ? Search(r, *at) : Status::kOk;
}

}  // namespace judge
}  // namespace sluice
