// SPDX-License-Identifier: Apache-2.0
#include "model/program_order.h"

#include "base/checked.h"
#include "model/address_buckets.h"

namespace sluice {
namespace {

// How many steps of each kind must come before: tiles, loads, stores.
enum Kind { kTile, kLoadStep, kStoreStep, kKinds };
struct Before {
  uint32_t count[kKinds];

  void Raise(const Before& other) {
    for (int k = 0; k < kKinds; ++k) count[k] = Max(count[k], other.count[k]);
  }
};

// Bytes of the scratchpad with the number of the last step of each kind that touched
// them, and of the last tile that wrote them.
struct Stretch {
  uint32_t begin, end;
  Before touched;
  uint32_t tile_wrote;
  uint32_t next;
};

// They lie in a list, which is searched from where its bucket of addresses was touched
// last.
class Stretches {
 public:
  Stretches(const ProgramRun& run, Arena* arena)
      : all_(arena), buckets_(kBuckets, run.hardware.scratchpad().capacity_bytes) {
    for (uint32_t& hint : hint_) hint = kNone;
  }

  // A step of `kind`, the number-th of it, reads or writes the range.
  Status Touch(BufferRange range, Kind kind, uint32_t number, bool write,
               Before* before) {
    uint32_t previous = InFrontOf(range.begin);
    uint32_t s = previous == kNone ? head_ : all_[previous].next;
    uint32_t first = kNone;  // of a write
    for (uint32_t at = range.begin; at < range.end;) {
      while (s != kNone && all_[s].end <= at) {
        previous = s;
        s = all_[s].next;
      }
      if (s == kNone || all_[s].begin > at) {
        const uint32_t end = s == kNone ? range.end : Min(all_[s].begin, range.end);
        SLUICE_TRY(Insert(Stretch{at, end, {}, 0, s}, previous, &s));
      }
      if (all_[s].begin < at) SLUICE_TRY(Split(s, at));
      if (all_[s].begin < at) {
        previous = s;
        s = all_[s].next;
      }
      if (all_[s].end > range.end) SLUICE_TRY(Split(s, range.end));
      Stretch* found = &all_[s];
      before->Raise(Conflicts(*found, kind, write));
      found->touched.count[kind] = number + 1;
      if (kind == kTile && write) found->tile_wrote = number + 1;
      at = found->end;
      if (previous != kNone) *HintAt(all_[previous].begin) = previous;
      if (write) s = first = Join(first, s);
    }
    return Status::kOk;
  }

 private:
  static constexpr uint32_t kBuckets = 64;
  uint32_t* HintAt(uint32_t address) { return &hint_[buckets_.Of(address)]; }
  // A stretch that ends at or in front of an address; kNone: look from the head.
  uint32_t InFrontOf(uint32_t address) {
    for (uint32_t b = buckets_.Of(address) + 1; b-- > 0;) {
      if (hint_[b] != kNone && all_[hint_[b]].end <= address) return hint_[b];
    }
    return kNone;
  }

  static Before Conflicts(const Stretch& s, Kind kind, bool write) {
    Before before = s.touched;
    if (kind == kTile && !write) before.count[kStoreStep] = 0;
    if (kind == kStoreStep) before.count[kTile] = s.tile_wrote;
    before.count[kind] = 0;  // each kind keeps its order
    return before;
  }
  // A write depends on all earlier accesses, so its bytes have one common history after
  // it.
  uint32_t Join(uint32_t first, uint32_t s) {
    if (first == kNone) return s;
    all_[first].end = all_[s].end;
    all_[first].touched.Raise(all_[s].touched);
    all_[first].tile_wrote = Max(all_[first].tile_wrote, all_[s].tile_wrote);
    all_[first].next = all_[s].next;
    uint32_t* hint = HintAt(all_[s].begin);
    if (*hint == s) *hint = kNone;
    all_[s].next = free_;
    free_ = s;
    return first;
  }
  Status Insert(const Stretch& fresh, uint32_t previous, uint32_t* out) {
    if (free_ != kNone) {
      *out = free_;
      free_ = all_[free_].next;
      all_[*out] = fresh;
    } else {
      *out = static_cast<uint32_t>(all_.size());
      SLUICE_TRY(all_.Push(fresh));
    }
    (previous == kNone ? head_ : all_[previous].next) = *out;
    return Status::kOk;
  }
  Status Split(uint32_t s, uint32_t at) {
    Stretch rest = all_[s];
    rest.begin = at;
    uint32_t unused;
    all_[s].end = at;
    return Insert(rest, s, &unused);
  }

  Vector<Stretch> all_;
  uint32_t head_ = kNone;
  uint32_t hint_[kBuckets];  // in front of what was touched last
  AddressBuckets buckets_;
  uint32_t free_ = kNone;
};

// The box of a transfer in DRAM.
struct DramBoxAt {
  int64_t offset;  // bytes, of its first element from its root's first
  const TransferForm* form;
};

// The box in steps of its strides. False where it does not lie within them.
bool Unfold(const DramBoxAt& box, int64_t begin[kAxes]) {
  int64_t rest = box.offset;
  for (int a = 0; a < kAxes; ++a) {
    const int64_t stride = box.form->stride[a];
    if (stride == 0) return false;
    begin[a] = rest / stride;
    rest -= begin[a] * stride;
    const bool within =
        a == 0 || (begin[a] + box.form->extent[a]) * stride <= box.form->stride[a - 1];
    if (!within) return false;
  }
  return rest == 0;
}

int64_t LastByte(const DramBoxAt& box) {
  int64_t last = box.offset;
  for (int a = 0; a < kAxes; ++a) {
    last += int64_t{box.form->extent[a] - 1} * box.form->stride[a];
  }
  return last;
}

// Whether two boxes of one root may share bytes.
bool MayOverlap(const DramBoxAt& a, const DramBoxAt& b) {
  if (a.form->moves != 0 || b.form->moves != 0) return true;
  if (LastByte(a) < b.offset || LastByte(b) < a.offset) return false;
  int64_t from_a[kAxes], from_b[kAxes];
  for (int k = 0; k < kAxes; ++k) {
    if (a.form->stride[k] != b.form->stride[k]) return true;
  }
  if (!Unfold(a, from_a) || !Unfold(b, from_b)) return true;
  for (int k = 0; k < kAxes; ++k) {
    if (from_a[k] + a.form->extent[k] <= from_b[k]) return false;
    if (from_b[k] + b.form->extent[k] <= from_a[k]) return false;
  }
  return true;
}

// The last transfers of a kind that touched a root, and how many there were before
// them.
class DramTouches {
 public:
  // The number behind that of the last one that may share bytes with the box; 0: none.
  uint32_t Find(const DramBoxAt& box) const {
    for (uint32_t i = 0; i < Min(count_, kMost); ++i) {
      const Touch& t = touch_[(count_ - 1 - i) % kMost];
      if (MayOverlap(t.box, box)) return t.number + 1;
    }
    return older_;
  }
  void Add(const DramBoxAt& box, uint32_t number) {
    Touch* t = &touch_[count_++ % kMost];
    if (count_ > kMost) older_ = t->number + 1;
    *t = {box, number};
  }

 private:
  static constexpr uint32_t kMost = 8;  // the last ones; older ones count as one
  struct Touch {
    DramBoxAt box;
    uint32_t number;
  };
  Touch touch_[kMost];
  uint32_t count_ = 0;
  uint32_t older_ = 0;
};

// A block begins where the first tile of a block before now stands.
Status FindBlocks(const Program& program, Span<const uint32_t> order,
                  Vector<uint32_t>* blocks) {
  SLUICE_TRY(blocks->Push(0));
  size_t block = 0;
  for (uint32_t i = 0; i < order.size(); ++i) {
    if (program.step(order[i]).kind != StepKind::kCompute) continue;
    const size_t was = block;
    while (block + 1 < program.block_count() &&
           program.block_begin(block + 1) <= order[i]) {
      ++block;
    }
    if (block != was && i != 0) SLUICE_TRY(blocks->Push(i));
  }
  return Status::kOk;
}

Kind KindOfStep(const Step& step) {
  if (step.kind == StepKind::kCompute) return kTile;
  return step.kind == StepKind::kStore ? kStoreStep : kLoadStep;
}

// Polls the limits of the call at each 32nd step.
bool Stops(const Arena& arena, uint32_t step) {
  return step % 32 == 31 && arena.memory()->Stop();
}

class Orderer {
 public:
  Orderer(const ProgramRun& run, const DramOfTensors& of, Arena* arena)
      : run_(run), program_(run.program), of_(of), arena_(arena), pad_(run, arena) {}

  Status Run(Span<uint32_t>* order, Vector<uint32_t>* blocks) {
    SLUICE_TRY(Count());
    SLUICE_TRY(FindDues());
    SLUICE_TRY(arena_->Allocate(program_.size(), order));
    order_ = *order;
    for (size_t begin = 0; begin < program_.size();) {
      size_t end = begin;
      while (end < program_.size() && program_.step(end).kind != StepKind::kHost) ++end;
      SLUICE_TRY(Schedule(static_cast<uint32_t>(begin), static_cast<uint32_t>(end)));
      if (end < program_.size()) order_[filled_++] = static_cast<uint32_t>(end++);
      begin = end;
    }
    return FindBlocks(program_, order_, blocks);
  }

 private:
  struct DramUse {
    DramTouches loads, stores;
  };

  // Numbers the steps of each kind and finds what must come before each.
  Status Count() {
    SLUICE_TRY(arena_->Allocate(program_.size(), &before_));
    SLUICE_TRY(arena_->Allocate(of_.root.size(), &dram_of_));
    uint32_t count[kKinds] = {}, stored = 0;
    for (uint32_t i = 0; i < program_.size(); ++i) {
      if (Stops(*arena_, i)) return Status::kStopped;
      const Step step = program_.step(i);
      if (step.kind == StepKind::kHost) continue;
      ++count[KindOfStep(step)];
      if (step.kind != StepKind::kStore) continue;
      uint32_t* of = &dram_of_[of_.root[program_.transfer_form(step.item).tensor]];
      if (*of == 0) *of = ++stored;
    }
    SLUICE_TRY(arena_->Allocate(stored, &dram_));
    for (int k = 0; k < kKinds; ++k) {
      SLUICE_TRY(arena_->Allocate(count[k], &step_[k]));
      SLUICE_TRY(arena_->Allocate(count[k], &end_[k]));
      SLUICE_TRY(arena_->Allocate(count[k], &due_[k]));
      count[k] = 0;
    }
    for (uint32_t i = 0; i < program_.size(); ++i) {
      if (Stops(*arena_, i)) return Status::kStopped;
      const Step step = program_.step(i);
      if (step.kind == StepKind::kHost) continue;
      const Kind kind = KindOfStep(step);
      const uint32_t number = count[kind]++;
      step_[kind][number] = i;
      SLUICE_TRY(kind == kTile ? CountTile(step, number, &before_[i])
                               : CountTransfer(step, kind, number, &before_[i]));
    }
    return Status::kOk;
  }

  Status Touch(uint32_t box, Kind kind, uint32_t number, bool write, Before* before) {
    if (box == kNoBox) return Status::kOk;
    return pad_.Touch(program_.box(box).range, kind, number, write, before);
  }

  Status CountTile(const Step& step, uint32_t number, Before* before) {
    const TileForm& form = program_.tile_form(step.item);
    for (int r = 0; r < kTileRoles; ++r) {
      SLUICE_TRY(Touch(form.operand[r], kTile, number, r == kRoleOutput, before));
    }
    return Touch(form.accumulator, kTile, number, true, before);
  }

  Status CountTransfer(const Step& step, Kind kind, uint32_t number, Before* before) {
    const TransferForm& form = program_.transfer_form(step.item);
    const uint32_t root = of_.root[form.tensor];
    const int64_t in_root =
        static_cast<int64_t>(of_.places[form.tensor].offset - of_.places[root].offset);
    const DramBoxAt box = {in_root + program_.dram_offset(step.item), &form};
    DramUse* dram = dram_of_[root] == 0 ? nullptr : &dram_[dram_of_[root] - 1];
    if (kind == kLoadStep) {
      if (dram != nullptr) {
        before->count[kStoreStep] = dram->stores.Find(box);
        dram->loads.Add(box, number);
      }
      // The index of a gather came by a load, which keeps its place among the loads.
      SLUICE_TRY(Touch(form.other, kLoadStep, number, false, before));
      return Touch(form.buffer, kLoadStep, number, true, before);
    }
    before->count[kLoadStep] = dram->loads.Find(box);
    dram->stores.Add(box, number);
    return Touch(form.buffer, kStoreStep, number, false, before);
  }

  // due_: for loads and stores, the first tile that must come after them; for a store
  // also the due tile of the first load behind it.
  Status FindDues() {
    for (int k = kLoadStep; k < kKinds; ++k) {
      for (uint32_t& due : due_[k]) due = UINT32_MAX;
    }
    for (uint32_t t = 0; t < step_[kTile].size(); ++t) {
      if (Stops(*arena_, t)) return Status::kStopped;
      const Before& before = before_[step_[kTile][t]];
      for (int k = kLoadStep; k < kKinds; ++k) Need(k, before.count[k], t);
    }
    Spread(kLoadStep);
    for (uint32_t l = 0; l < step_[kLoadStep].size(); ++l) {
      if (Stops(*arena_, l)) return Status::kStopped;
      Need(kStoreStep, before_[step_[kLoadStep][l]].count[kStoreStep],
           due_[kLoadStep][l]);
    }
    Spread(kStoreStep);
    return Status::kOk;
  }
  void Need(int kind, uint32_t count, uint32_t tile) {
    if (count != 0) due_[kind][count - 1] = Min(due_[kind][count - 1], tile);
  }
  // A transfer is due no later than the next one of its kind.
  void Spread(int kind) {
    Span<uint32_t> due = due_[kind];
    for (size_t i = due.size(); i-- > 1;) due[i - 1] = Min(due[i - 1], due[i]);
  }

  int64_t CyclesOf(uint32_t step) const {
    return CyclesOfStep(run_, program_.step(step));
  }

  // Steps [begin, end), between two host calls.
  Status Schedule(uint32_t begin, uint32_t end) {
    uint32_t steps = 0;
    while (steps < end - begin) {
      for (; CanRun(kTile, end); ++steps) {
        if (Stops(*arena_, steps)) return Status::kStopped;
        Take(kTile);
      }
      const Kind kind = NextTransfer(end);
      if (kind == kTile) return steps == end - begin ? Status::kOk : Status::kInternal;
      if (Stops(*arena_, steps++)) return Status::kStopped;
      Take(kind);
    }
    return Status::kOk;
  }

  // The next step of the kind comes before `end` and all that it needs is taken.
  bool CanRun(Kind kind, uint32_t end) const {
    if (next_[kind] == step_[kind].size() || step_[kind][next_[kind]] >= end) {
      return false;
    }
    const Before& before = before_[step_[kind][next_[kind]]];
    for (int k = 0; k < kKinds; ++k) {
      if (before.count[k] > next_[k]) return false;
    }
    return true;
  }

  // The cycle at which everything that the next step of the kind needs has ended.
  int64_t ReadyAt(Kind kind) const {
    const Before& before = before_[step_[kind][next_[kind]]];
    int64_t at = 0;
    for (int k = 0; k < kKinds; ++k) {
      if (before.count[k] != 0) at = Max(at, end_[k][before.count[k] - 1]);
    }
    return at;
  }

  Kind NextTransfer(uint32_t end) const {
    const bool load = CanRun(kLoadStep, end), store = CanRun(kStoreStep, end);
    if (!load || !store) return load ? kLoadStep : store ? kStoreStep : kTile;
    const int64_t load_at = Max(ReadyAt(kLoadStep), queue_free_);
    const int64_t store_at = Max(ReadyAt(kStoreStep), queue_free_);
    if (load_at != store_at) return load_at < store_at ? kLoadStep : kStoreStep;
    return due_[kStoreStep][next_[kStoreStep]] < due_[kLoadStep][next_[kLoadStep]]
               ? kStoreStep
               : kLoadStep;
  }

  void Take(Kind kind) {
    const uint32_t step = step_[kind][next_[kind]];
    int64_t* free = kind == kTile ? &compute_free_ : &queue_free_;
    *free = Max(*free, ReadyAt(kind)) + CyclesOf(step);
    end_[kind][next_[kind]++] = *free;
    order_[filled_++] = step;
  }

  const ProgramRun& run_;
  const Program& program_;
  const DramOfTensors of_;
  Arena* arena_;
  Stretches pad_;
  Span<Before> before_;          // by step
  Span<uint32_t> step_[kKinds];  // by number
  Span<int64_t> end_[kKinds];    // by number, of those taken
  Span<uint32_t> due_[kKinds];   // by number: a tile's
  Span<uint32_t> dram_of_;       // by root: index into dram_ + 1; 0: it is not stored
  Span<DramUse> dram_;
  Span<uint32_t> order_;
  uint32_t next_[kKinds] = {};
  uint32_t filled_ = 0;
  int64_t compute_free_ = 0, queue_free_ = 0;
};

}  // namespace

Status OrderTransfers(const Graph& graph, const Hardware& hardware,
                      const DramOfTensors& of, Arena* scratch, Program* program) {
  Arena memory(scratch->memory());
  Vector<uint32_t> blocks(&memory);
  Span<uint32_t> order;
  const ProgramRun run = {graph, hardware, *program};
  Orderer orderer(run, of, &memory);
  SLUICE_TRY(orderer.Run(&order, &blocks));
  return program->Reorder(order, blocks.span(), &memory);
}

}  // namespace sluice
