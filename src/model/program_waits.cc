// SPDX-License-Identifier: Apache-2.0
// Waits of a program, derived from the scratchpad bytes that steps read and write.
#include "base/checked.h"
#include "model/address_buckets.h"
#include "model/program.h"

namespace sluice {

namespace {

// The first `count` steps of an engine.
struct Past {
  uint32_t engine;
  uint32_t count;
  uint32_t next;  // entry of the same set
};

// What a step must wait for: the number of steps of each engine but its own, whose earlier
// steps are done.
class Needed {
 public:
  Status Init(Arena* arena, uint32_t engines) {
    SLUICE_TRY(arena->Allocate(engines, &count_));
    SLUICE_TRY(arena->Allocate(engines, &engine_));
    return arena->Allocate(engines / 32 + size_t{1}, &bits_);
  }
  void Raise(uint32_t engine, uint32_t count) {
    if (count == 0 || engine == own_) return;
    bits_[engine / 32] |= 1u << engine % 32;
    count_[engine] = Max(count_[engine], count);
  }
  // Begins a step of an engine.
  void Begin(uint32_t engine) {
    for (size_t k = 0; k < size_; ++k) count_[engine_[k]] = 0;
    size_ = 0;
    own_ = engine;
  }
  // Engines with a count, ascending.
  Span<const uint32_t> List() {
    for (uint32_t word = 0; word < bits_.size(); ++word) {
      for (; bits_[word] != 0; bits_[word] &= bits_[word] - 1) {
        engine_[size_++] =
            32 * word + static_cast<uint32_t>(__builtin_ctz(bits_[word]));
      }
    }
    return Span<const uint32_t>(engine_.data(), size_);
  }
  uint32_t operator[](uint32_t engine) const { return count_[engine]; }

 private:
  Span<uint32_t> count_;
  Span<uint32_t> bits_;  // of engines that are raised and not listed yet
  Span<uint32_t> engine_;
  size_t size_ = 0;
  uint32_t own_ = kNone;
};

// Bytes [begin, end) of a memory.
struct ByteRange {
  int64_t begin;
  int64_t end;
};

// Bytes with the same history: the last writers and the readers since. For writes that
// join (BufferBox::joins), `before` holds the accesses that all of them must follow.
struct Segment {
  int64_t begin;
  int64_t end;
  uint32_t writers, readers, before;  // sets
  uint32_t next;                      // in address order
  bool joined;                        // the writers are writes that join
};

// Sets of (engine, last access), as linked lists in one table, the highest engine first:
// nodes mostly write to others in their order.
class PastSets {
 public:
  explicit PastSets(Arena* arena) : pasts_(arena) {}

  // Adds a set to the waits of a step.
  void Follow(uint32_t set, Needed* needed) const {
    for (; set != kNone; set = pasts_[set].next) {
      needed->Raise(pasts_[set].engine, pasts_[set].count);
    }
  }
  // *again: the set has an access of the engine already.
  Status Raise(uint32_t* set, const Past& past, bool* again) {
    uint32_t before = kNone, at = *set;
    while (at != kNone && pasts_[at].engine > past.engine) {
      before = at;
      at = pasts_[at].next;
    }
    *again = at != kNone && pasts_[at].engine == past.engine;
    if (*again) {
      pasts_[at].count = Max(pasts_[at].count, past.count);
      return Status::kOk;
    }
    uint32_t fresh = free_past_;
    if (fresh != kNone) {
      free_past_ = pasts_[fresh].next;
    } else {
      fresh = static_cast<uint32_t>(pasts_.size());
      SLUICE_TRY(pasts_.Push(past));
    }
    pasts_[fresh] = Past{past.engine, past.count, at};
    (before == kNone ? *set : pasts_[before].next) = fresh;
    return Status::kOk;
  }
  Status Raise(uint32_t* set, const Past& past) {
    bool again = false;
    return Raise(set, past, &again);
  }
  // True if a set has this access and no other.
  bool Only(uint32_t set, const Past& past) const {
    return set != kNone && pasts_[set].next == kNone &&
           pasts_[set].engine == past.engine && pasts_[set].count == past.count;
  }
  void Give(uint32_t* set) {
    while (*set != kNone) {
      const uint32_t next = pasts_[*set].next;
      pasts_[*set].next = free_past_;
      free_past_ = *set;
      *set = next;
    }
  }

  void GiveAll(Segment* segment) {
    Give(&segment->writers);
    Give(&segment->readers);
    Give(&segment->before);
  }

  // Adds a set to another set.
  Status Copy(uint32_t set, uint32_t* out) {
    for (; set != kNone; set = pasts_[set].next) {
      const Past past = pasts_[set];
      SLUICE_TRY(Raise(out, past));
    }
    return Status::kOk;
  }

 private:
  Vector<Past> pasts_;
  uint32_t free_past_ = kNone;
};

// The accesses that a write must follow: each reader waits for all writers.
uint32_t* LastOf(Segment* segment) {
  return segment->readers != kNone ? &segment->readers : &segment->writers;
}

// A write of just the bytes of a segment, as most writes are.
Status WriteAgain(Segment* segment, const Past& step, PastSets* pasts, Needed* needed) {
  pasts->Follow(*LastOf(segment), needed);
  pasts->GiveAll(segment);
  segment->joined = false;
  return pasts->Raise(&segment->writers, step);
}

// True if two segments of DRAM are side by side and this step alone has read them since
// they were written. They may become one: later writes must follow this step alone, and
// later loads of its engine know of all that this one waited for. A load of another engine
// may wait for more stores than it needs.
bool ReadAlone(const Segment& first, const Segment& second, const PastSets& pasts,
               const Past& step) {
  return first.end == second.begin && pasts.Only(first.readers, step) &&
         pasts.Only(second.readers, step);
}

// The count-th step of an engine reads or writes a range of a memory.
struct RangeAccess {
  uint32_t memory;  // a node's scratchpad; behind these, the regions of DRAM
  ByteRange range;
  bool write, joins;
  uint32_t engine, count;
};

// Every memory as a list of disjoint segments in address order. A write makes one
// segment of all it covers, so a scratchpad's list stays about as long as there are
// buffers side by side. A region of DRAM has as many segments as tiles were stored. Both
// are divided into buckets of addresses, each of which is searched from where it was last
// touched; only scratchpads of many nodes are one bucket each.
class Ranges {
 public:
  explicit Ranges(Arena* arena) : segments_(arena), pasts_(arena) {}
  // pad_bytes: of a scratchpad; dram_bytes: of the largest region.
  Status Init(Arena* arena, uint32_t nodes, int64_t pad_bytes, int64_t dram_bytes) {
    constexpr uint32_t kAll = SLUICE_REGION_COUNT;
    nodes_ = nodes;
    pad_ = AddressBuckets(nodes == 1 ? 16 : 1, pad_bytes);
    dram_ = AddressBuckets(512, dram_bytes);
    SLUICE_TRY(arena->Allocate(nodes + kAll, &heads_));
    SLUICE_TRY(arena->Allocate(nodes * pad_.count + kAll * dram_.count, &hints_));
    for (uint32_t& head : heads_) head = kNone;
    for (uint32_t& hint : hints_) hint = kNone;
    return Status::kOk;
  }

  // Adds what the access must wait for to *needed, and records the access.
  Status Access(const RangeAccess& access, Needed* needed) {
    const ByteRange range = access.range;
    memory_ = access.memory;
    head_ = &heads_[memory_];
    me_ = Past{access.engine, access.count, kNone};
    uint32_t before = InFrontOf(range.begin);
    uint32_t s = before == kNone ? *head_ : segments_[before].next;
    while (s != kNone && segments_[s].end <= range.begin) {
      before = s;
      s = segments_[s].next;
    }
    if (s != kNone && segments_[s].begin < range.begin) {
      SLUICE_TRY(Split(s, range.begin));
      before = s;
      s = segments_[s].next;
    }
    if (before != kNone) *HintAt(segments_[before].begin) = before;
    return access.write && !access.joins
               ? Write(range, before, s, needed)
               : Touch(range, before, s, access.write, needed);
  }

 private:
  uint32_t* HintAt(int64_t address) {
    if (memory_ < nodes_) return &hints_[memory_ * pad_.count + pad_.Of(address)];
    return &hints_[nodes_ * pad_.count + (memory_ - nodes_) * dram_.count +
                   dram_.Of(address)];
  }

  // A segment that ends at or in front of an address; kNone: look from the head.
  uint32_t InFrontOf(int64_t address) {
    const uint32_t* hint = HintAt(address);
    const uint32_t* lowest = HintAt(0);
    for (; hint >= lowest; --hint) {
      if (*hint != kNone && segments_[*hint].end <= address) return *hint;
    }
    return kNone;
  }

  // Everything in the range becomes one segment whose only history is this write. The
  // write waits for all earlier accesses, so whoever waits for the write waits for
  // them.
  Status Write(ByteRange range, uint32_t before, uint32_t s, Needed* needed) {
    if (s != kNone && segments_[s].begin == range.begin &&
        segments_[s].end == range.end) {
      return WriteAgain(&segments_[s], me_, &pasts_, needed);
    }
    while (s != kNone && segments_[s].begin < range.end) {
      if (segments_[s].end > range.end) SLUICE_TRY(Split(s, range.end));
      pasts_.Follow(*LastOf(&segments_[s]), needed);
      s = Unlink(before, s);
    }
    uint32_t whole = kNone;
    SLUICE_TRY(Insert(before, range.begin, range.end, &whole));
    return pasts_.Raise(&segments_[whole].writers, me_);
  }

  // True if no segment of the range has a write that joins yet, and there is more than one
  // segment.
  bool Starts(ByteRange range, uint32_t s) const {
    uint32_t n = 0;
    for (; s != kNone && segments_[s].begin < range.end; s = segments_[s].next, ++n) {
      const Segment& segment = segments_[s];
      if (segment.end > range.end) return false;
      if (segment.readers == kNone && segment.joined) return false;
    }
    return n > 1;
  }

  // A read, or a write that joins others.
  Status Touch(ByteRange range, uint32_t before, uint32_t s, bool write,
               Needed* needed) {
    if (write && Starts(range, s)) {
      // Merge the segments, so that lists do not grow with the range's former layout.
      uint32_t all = kNone;
      while (s != kNone && segments_[s].begin < range.end) {
        SLUICE_TRY(pasts_.Copy(*LastOf(&segments_[s]), &all));
        s = Unlink(before, s);
      }
      uint32_t whole = kNone;
      SLUICE_TRY(Insert(before, range.begin, range.end, &whole));
      segments_[whole].before = all;
      segments_[whole].joined = true;
      pasts_.Follow(all, needed);
      return pasts_.Raise(&segments_[whole].writers, me_);
    }
    for (int64_t at = range.begin; at < range.end; at = segments_[before].end) {
      if (s == kNone || segments_[s].begin > at) {
        // Never written: keep the reader, so that a later write waits for it.
        const int64_t end = s == kNone ? range.end : Min(segments_[s].begin, range.end);
        SLUICE_TRY(Insert(before, at, end, &s));
      } else if (segments_[s].end > range.end) {
        SLUICE_TRY(Split(s, range.end));
      }
      Segment* segment = &segments_[s];
      if (!write) {
        pasts_.Follow(segment->writers, needed);
        SLUICE_TRY(pasts_.Raise(&segment->readers, me_));
      } else {
        bool again = false;
        SLUICE_TRY(Join(segment, &again));
        if (!again) pasts_.Follow(segments_[s].before, needed);
      }
      if (!write && memory_ >= nodes_ && before != kNone &&
          ReadAlone(segments_[before], segments_[s], pasts_, me_)) {
        SLUICE_TRY(pasts_.Copy(segments_[s].writers, &segments_[before].writers));
        segments_[before].end = segments_[s].end;
        Unlink(before, s);
      } else {
        before = s;
      }
      s = segments_[before].next;
    }
    return Status::kOk;
  }

  // Adds a joining write to a segment. The first one moves earlier accesses to
  // `before`. *again: an earlier write of the engine has already followed those.
  Status Join(Segment* segment, bool* again) {
    if (segment->readers != kNone || !segment->joined) {
      segment->joined = true;
      pasts_.Give(&segment->before);
      uint32_t* last = LastOf(segment);
      segment->before = *last;
      *last = kNone;
      pasts_.Give(&segment->writers);
      pasts_.Give(&segment->readers);
    }
    return pasts_.Raise(&segment->writers, me_, again);
  }

  Status Insert(uint32_t before, int64_t begin, int64_t end, uint32_t* out) {
    const uint32_t next = before == kNone ? *head_ : segments_[before].next;
    const Segment fresh = {begin, end, kNone, kNone, kNone, next, false};
    if (free_ != kNone) {
      *out = free_;
      free_ = segments_[free_].next;
      segments_[*out] = fresh;
    } else {
      *out = static_cast<uint32_t>(segments_.size());
      SLUICE_TRY(segments_.Push(fresh));
    }
    (before == kNone ? *head_ : segments_[before].next) = *out;
    return Status::kOk;
  }
  uint32_t Unlink(uint32_t before, uint32_t s) {
    const uint32_t next = segments_[s].next;
    (before == kNone ? *head_ : segments_[before].next) = next;
    uint32_t* hint = HintAt(segments_[s].begin);
    const bool same = before != kNone && HintAt(segments_[before].begin) == hint;
    if (*hint == s) *hint = same ? before : kNone;
    pasts_.GiveAll(&segments_[s]);
    segments_[s].next = free_;
    free_ = s;
    return next;
  }
  // Cuts segment s at `at`; both parts keep its history.
  Status Split(uint32_t s, int64_t at) {
    uint32_t rest = kNone;
    SLUICE_TRY(Insert(s, at, segments_[s].end, &rest));
    SLUICE_TRY(pasts_.Copy(segments_[s].writers, &segments_[rest].writers));
    SLUICE_TRY(pasts_.Copy(segments_[s].readers, &segments_[rest].readers));
    SLUICE_TRY(pasts_.Copy(segments_[s].before, &segments_[rest].before));
    segments_[rest].joined = segments_[s].joined;
    segments_[s].end = at;
    return Status::kOk;
  }

  Vector<Segment> segments_;
  PastSets pasts_;
  Span<uint32_t> heads_;  // per memory
  // Per memory (each node's, then each region's) and bucket: a segment that begins in that
  // bucket, before the bucket's last access, or kNone.
  Span<uint32_t> hints_;
  AddressBuckets pad_ = {1, 0}, dram_ = {1, 0};
  uint32_t nodes_ = 0, memory_ = 0;  // memory_: of this access
  uint32_t* head_ = nullptr;
  Past me_ = {};
  uint32_t free_ = kNone;
};

// Looks for what steps must wait for.
struct Search {
  const ProgramRun& run;
  Span<const TensorPlace> places;
  Ranges* ranges;
  Needed* needed;
};

// Bytes of DRAM that a transfer reaches: from the first to behind the last of its box.
// A box that moves with a parameter may lie anywhere in its tensor.
ByteRange DramRange(const Search& search, const TransferForm& form, int64_t offset) {
  const TensorPlace& place = search.places[form.tensor];
  const int64_t base = static_cast<int64_t>(place.offset);
  const Tensor& tensor = search.run.graph.tensors[form.tensor];
  int64_t last = 0;
  for (int a = 0; a < kAxes; ++a) {
    last += form.moves != 0 ? int64_t{tensor.extent[a] - 1} * place.stride[a]
                            : int64_t{form.extent[a] - 1} * form.stride[a];
  }
  const int64_t begin = form.moves != 0 ? base : base + offset;
  return {begin, begin + last + DtypeBytes(tensor.dtype)};
}

// Regions that a run writes: what is only read needs no order.
bool IsWritten(uint8_t region) {
  return region == SLUICE_REGION_OUTPUT || region == SLUICE_REGION_STATE ||
         region == SLUICE_REGION_WORKSPACE;
}

// What step i needs, from the bytes it touches.
Status NeedsOf(const Search& search, const Step& step, uint32_t engine,
               uint32_t count) {
  const Program& program = search.run.program;
  const auto access = [&](uint32_t node, uint32_t box, bool write) {
    if (box == kNoBox) return Status::kOk;
    const BufferBox& b = program.box(box);
    return search.ranges->Access(
        {node, {b.range.begin, b.range.end}, write, b.joins != 0, engine, count},
        search.needed);
  };
  if (step.kind == StepKind::kHost) return Status::kOk;
  if (step.kind != StepKind::kCompute) {
    const TransferForm& form = program.transfer_form(step.item);
    const bool forward = step.kind == StepKind::kForward;
    const bool load = step.kind == StepKind::kLoad;
    if (!forward && !program.engines().one_queue()) {
      const uint8_t region = search.places[form.tensor].region;
      if (IsWritten(region)) {
        SLUICE_TRY(search.ranges->Access(
            {program.nodes() + region,
             DramRange(search, form, program.dram_offset(step.item)), !load, false,
             engine, count},
            search.needed));
      }
    }
    if (!load) {
      SLUICE_TRY(access(step.node, form.buffer, false));
      if (!forward) return Status::kOk;
    } else {
      SLUICE_TRY(access(step.node, form.other, false));
    }
    const uint32_t first = forward ? form.to : step.node;
    for (uint32_t i = 0; i < form.cols * form.rows; ++i) {
      const uint32_t node = first + i / form.cols * program.cols() + i % form.cols;
      SLUICE_TRY(access(node, forward ? form.other : form.buffer, true));
    }
    return Status::kOk;
  }
  const TileForm& form = program.tile_form(step.item);
  for (int r = 0; r < kTileRoles; ++r) {
    if (r != kRoleOutput) SLUICE_TRY(access(step.node, form.operand[r], false));
  }
  SLUICE_TRY(access(step.node, form.accumulator, true));
  return access(step.node, form.operand[kRoleOutput], true);
}

// Up to so many counts the finished instructions that each step knows of are kept in
// full.
constexpr uint64_t kMaxKnown = uint64_t{1} << 22;
// Where they are not, a step that waits for more engines than this keeps all of its
// waits: finding those that others imply would take too long.
constexpr size_t kMaxAsked = 16;

// For each step: how many steps of each engine are certainly done when it is done.
class Knowledge {
 public:
  Status Init(const Program& program, const ProgramWaits* waits, Arena* arena) {
    engines_ = program.engines().count();
    waits_ = waits;
    SLUICE_TRY(CountEngines(program, arena, &begin_));
    const uint64_t all = uint64_t{engines_} * program.size();
    full_ = program.nodes() == 1 || all <= kMaxKnown;
    if (full_) return arena->Allocate(static_cast<size_t>(all), &known_);
    SLUICE_TRY(arena->Allocate(program.size(), &step_));
    return arena->Allocate(size_t{engines_} * engines_, &known_);
  }
  bool full() const { return full_; }
  // Starts a step. It knows all that the previous step of its engine knows.
  void Enter(uint32_t engine, uint32_t count, size_t step) {
    mine_ = Row(engine, count);
    if (full_ && count > 1) {
      memcpy(mine_, Row(engine, count - 1), engines_ * sizeof *mine_);
    }
    if (!full_) step_[begin_[engine] + count - 1] = static_cast<uint32_t>(step);
    mine_[engine] = count;
  }
  bool Knows(uint32_t engine, uint32_t count) const { return mine_[engine] >= count; }
  // True if completion of the count-th step of `by` implies `count` steps of `engine`.
  bool Implies(uint32_t by, uint32_t by_count, uint32_t engine, uint32_t count) const {
    if (full_) return Row(by, by_count)[engine] >= count;
    const uint32_t step = step_[begin_[by] + by_count - 1];
    for (uint32_t w = waits_->begin[step]; w < waits_->begin[step + 1]; ++w) {
      const ProgramWait& wait = waits_->waits[w];
      if (wait.engine == engine && wait.count >= count) return true;
    }
    return false;
  }
  void Learn(uint32_t from, uint32_t count) {
    if (full_) {
      const uint32_t* other = Row(from, count);
      for (uint32_t e = 0; e < engines_; ++e) mine_[e] = Max(mine_[e], other[e]);
      return;
    }
    mine_[from] = Max(mine_[from], count);
    const uint32_t step = step_[begin_[from] + count - 1];
    for (uint32_t w = waits_->begin[step]; w < waits_->begin[step + 1]; ++w) {
      const ProgramWait& wait = waits_->waits[w];
      mine_[wait.engine] = Max(mine_[wait.engine], wait.count);
    }
  }

 private:
  uint32_t* Row(uint32_t engine, uint32_t count) const {
    const size_t row = full_ ? begin_[engine] + count - 1 : engine;
    return known_.data() + row * engines_;
  }
  uint32_t engines_ = 0;
  bool full_ = false;
  const ProgramWaits* waits_ = nullptr;
  Span<uint32_t> begin_;
  // Counts per engine, for every step (full) or each engine's last step.
  Span<uint32_t> known_;
  Span<uint32_t> step_;  // index of each step in the program; only if not full
  uint32_t* mine_ = nullptr;
};

}  // namespace

Status DeriveWaits(const ProgramRun& run, Span<const TensorPlace> places,
                   Arena* scratch, ProgramWaits* out) {
  const Program& program = run.program;
  const Engines& engines = program.engines();
  Arena memory(scratch->memory());
  Knowledge known;
  SLUICE_TRY(known.Init(program, out, &memory));
  Ranges ranges(&memory);
  int64_t dram_bytes = 0;
  for (size_t t = 0; t < places.size(); ++t) {
    const int64_t end = static_cast<int64_t>(places[t].offset);
    dram_bytes = Max(dram_bytes, end + run.graph.tensors[t].bytes);
  }
  SLUICE_TRY(ranges.Init(&memory, program.nodes(),
                         run.hardware.scratchpad().capacity_bytes, dram_bytes));
  Needed needed;
  SLUICE_TRY(needed.Init(&memory, engines.count()));
  const Search search = {run, places, &ranges, &needed};
  Span<uint32_t> done;  // steps issued so far per engine
  SLUICE_TRY(memory.Allocate(engines.count(), &done));
  for (size_t i = 0; i < program.size(); ++i) {
    if (i % 128 == 127 && scratch->memory()->Stop()) return Status::kStopped;
    const Step step = program.step(i);
    const uint32_t engine = EngineOf(program, step);
    const uint32_t count = ++done[engine];
    needed.Begin(engine);
    SLUICE_TRY(NeedsOf(search, step, engine, count));
    // DRAM: one queue keeps its own order; the host reads what was stored before it and
    // queues read what the host wrote.
    if (step.kind == StepKind::kHost) {
      for (uint32_t e = 0; e < engines.host(); ++e) {
        needed.Raise(e, done[e]);
      }
    } else if (step.kind == StepKind::kLoad || step.kind == StepKind::kStore) {
      needed.Raise(engines.host(), done[engines.host()]);
    }
    SLUICE_TRY(out->begin.Push(static_cast<uint32_t>(out->waits.size())));
    known.Enter(engine, count, i);
    // Leave out waits that another wait implies. Ask the engine whose step knows most
    // first; with three engines one look back is enough.
    const Span<const uint32_t> list = needed.List();
    const bool ask = list.size() > 1 && (known.full() || list.size() <= kMaxAsked);
    for (int pass = ask ? 0 : 1; pass < 2; ++pass) {
      for (const uint32_t e : list) {
        if (known.Knows(e, needed[e])) continue;
        bool implied = false;
        for (const uint32_t other : list) {
          if (implied || pass != 0) break;
          if (other == e || known.Knows(other, needed[other])) continue;
          implied = known.Implies(other, needed[other], e, needed[e]);
        }
        if (implied) continue;
        SLUICE_TRY(out->waits.Push(ProgramWait{e, needed[e]}));
        known.Learn(e, needed[e]);
      }
    }
  }
  return out->begin.Push(static_cast<uint32_t>(out->waits.size()));
}

}  // namespace sluice
