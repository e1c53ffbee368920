// SPDX-License-Identifier: Apache-2.0
#include "model/program.h"

#include "base/checked.h"

namespace sluice {

namespace {

// Counts of completed steps per engine.
struct Clock {
  uint32_t count[kEngines] = {};

  void Join(const Clock& other) {
    for (int e = 0; e < kEngines; ++e) count[e] = Max(count[e], other.count[e]);
  }
};

// Scratchpad bytes with one history: the last writers and, since then, readers.
struct Segment {
  uint32_t begin;
  uint32_t end;
  Clock writers;
  Clock readers;
  uint32_t next;  // in address order
};

// The scratchpad as a list of disjoint segments in address order. A write makes one
// segment of all it covers, so the list stays about as long as there are live buffers.
class Ranges {
 public:
  explicit Ranges(Arena* arena) : segments_(arena) {}

  // Joins what an access of `range` must wait for into *needed and records the access
  // as the count-th step of `engine`.
  Status Access(BufferRange range, bool write, int engine, uint32_t count,
                Clock* needed) {
    uint32_t before = kNone;  // last segment in front of the range
    uint32_t s = head_;
    while (s != kNone && segments_[s].end <= range.begin) {
      before = s;
      s = segments_[s].next;
    }
    if (s != kNone && segments_[s].begin < range.begin) {
      SLUICE_TRY(Split(s, range.begin));
      before = s;
      s = segments_[s].next;
    }
    return write ? Write(range, before, s, engine, count, needed)
                 : Read(range, before, s, engine, count, needed);
  }

 private:
  // Everything in the range becomes one segment whose only history is this write: it
  // waits for all earlier accesses, so it stands for them.
  Status Write(BufferRange range, uint32_t before, uint32_t s, int engine,
               uint32_t count, Clock* needed) {
    while (s != kNone && segments_[s].begin < range.end) {
      if (segments_[s].end > range.end) SLUICE_TRY(Split(s, range.end));
      needed->Join(segments_[s].writers);
      needed->Join(segments_[s].readers);
      const uint32_t next = segments_[s].next;
      Unlink(before, s);
      s = next;
    }
    uint32_t whole = kNone;
    SLUICE_TRY(Insert(before, range.begin, range.end, &whole));
    segments_[whole].writers.count[engine] = count;
    return Status::kOk;
  }

  Status Read(BufferRange range, uint32_t before, uint32_t s, int engine,
              uint32_t count, Clock* needed) {
    for (uint32_t at = range.begin; at < range.end; at = segments_[before].end) {
      if (s == kNone || segments_[s].begin > at) {
        // Never written: keep the reader, so that a later write waits for it.
        const uint32_t end =
            s == kNone ? range.end : Min(segments_[s].begin, range.end);
        SLUICE_TRY(Insert(before, at, end, &s));
      } else if (segments_[s].end > range.end) {
        SLUICE_TRY(Split(s, range.end));
      }
      needed->Join(segments_[s].writers);
      segments_[s].readers.count[engine] = count;
      before = s;
      s = segments_[s].next;
    }
    return Status::kOk;
  }

  Status Insert(uint32_t before, uint32_t begin, uint32_t end, uint32_t* out) {
    const uint32_t next = before == kNone ? head_ : segments_[before].next;
    if (free_ != kNone) {
      *out = free_;
      free_ = segments_[free_].next;
      segments_[*out] = Segment{begin, end, {}, {}, next};
    } else {
      *out = static_cast<uint32_t>(segments_.size());
      SLUICE_TRY(segments_.Push(Segment{begin, end, {}, {}, next}));
    }
    if (before == kNone) {
      head_ = *out;
    } else {
      segments_[before].next = *out;
    }
    return Status::kOk;
  }
  void Unlink(uint32_t before, uint32_t s) {
    if (before == kNone) {
      head_ = segments_[s].next;
    } else {
      segments_[before].next = segments_[s].next;
    }
    segments_[s].next = free_;
    free_ = s;
  }
  // Cuts segment s at `at`; both parts keep its history.
  Status Split(uint32_t s, uint32_t at) {
    uint32_t rest = kNone;
    SLUICE_TRY(Insert(s, at, segments_[s].end, &rest));
    segments_[rest].writers = segments_[s].writers;
    segments_[rest].readers = segments_[s].readers;
    segments_[s].end = at;
    return Status::kOk;
  }

  Vector<Segment> segments_;
  uint32_t head_ = kNone;
  uint32_t free_ = kNone;
};

// What step i needs, from the scratchpad ranges it touches.
Status NeedsOf(const Program& program, const Step& step, int engine, uint32_t count,
               Ranges* ranges, Clock* needed) {
  const auto access = [&](uint32_t box, bool write) {
    return box == kNoBox
               ? Status::kOk
               : ranges->Access(program.box(box).range, write, engine, count, needed);
  };
  if (step.kind == StepKind::kLoad || step.kind == StepKind::kStore) {
    const TransferForm& form = program.transfer_form(step.item);
    SLUICE_TRY(access(form.index, false));
    return access(form.buffer, step.kind == StepKind::kLoad);
  }
  if (step.kind == StepKind::kHost) return Status::kOk;
  const TileForm& form = program.tile_form(step.item);
  for (int r = 0; r < kTileRoles; ++r) {
    if (r != kRoleOutput) SLUICE_TRY(access(form.operand[r], false));
  }
  SLUICE_TRY(access(form.accumulator, true));
  return access(form.operand[kRoleOutput], true);
}

int64_t StepCycles(const Graph& graph, const Hardware& hardware, const Program& program,
                   const Step& step) {
  switch (step.kind) {
    case StepKind::kCompute:
      return program.tile_form(step.item).cycles;
    case StepKind::kHost: {
      const Layer& layer = graph.layers[step.item];
      return static_cast<int64_t>(
          static_cast<uint32_t>(layer.attribute(SLUICE_OPAQUE_CYCLES_LO)) |
          uint64_t{static_cast<uint32_t>(layer.attribute(SLUICE_OPAQUE_CYCLES_HI))}
              << 32);
    }
    default: {
      const Rational bandwidth = hardware.dram().bandwidth;
      return hardware.dma_latency_cycles +
             TransferCycles(
                 BoxBytes(program.box(program.transfer_form(step.item).buffer)),
                 bandwidth.numerator, bandwidth.denominator);
    }
  }
}

}  // namespace

ProgramEngine EngineOf(StepKind kind) {
  switch (kind) {
    case StepKind::kCompute:
      return kEngineCompute;
    case StepKind::kHost:
      return kEngineHost;
    default:
      return kEngineDma;
  }
}

BufferBox DenseBuffer(BufferRange range, const int32_t extent[kAxes], uint8_t dtype,
                      uint32_t element_bytes) {
  BufferBox box = {};
  box.range = range;
  box.offset = range.begin;
  box.dtype = dtype;
  uint32_t stride = element_bytes;
  for (int a = kAxes - 1; a >= 0; --a) {
    box.extent[a] = extent[a];
    box.stride[a] = stride;
    stride *= static_cast<uint32_t>(extent[a]);
  }
  return box;
}

DramBox TensorBox(uint32_t tensor, const TensorPlace& place, const Box& box) {
  DramBox dram = {};
  dram.tensor = tensor;
  for (int a = 0; a < kAxes; ++a) {
    dram.offset += int64_t{box.begin[a]} * place.stride[a];
    dram.extent[a] = box.extent[a];
    dram.stride[a] = place.stride[a];
  }
  return dram;
}

int64_t BoxBytes(const BufferBox& box) {
  int64_t bytes = DtypeBytes(box.dtype);
  for (int32_t extent : box.extent) bytes *= extent;
  return bytes;
}

Status Program::Push(StepKind kind, uint32_t layer, size_t item) {
  if (item >> kItemBits != 0 || size() >> kItemBits != 0) return Status::kUnsupported;
  return steps_.Push(PackedStep{
      layer, static_cast<uint32_t>(item) | static_cast<uint32_t>(kind) << kItemBits});
}

Status Program::AddTransfer(StepKind kind, uint32_t layer, const Transfer& t) {
  TransferForm form = {t.dram.tensor, t.dram.moves, t.dram.parameter,
                       t.dram.step,   {},           {},
                       kNoBox,        kNoBox};
  for (int a = 0; a < kAxes; ++a) {
    form.extent[a] = t.dram.extent[a];
    form.stride[a] = t.dram.stride[a];
  }
  SLUICE_TRY(boxes_.Intern(t.buffer, &form.buffer));
  if (t.indexed) SLUICE_TRY(boxes_.Intern(t.index, &form.index));
  const uint64_t offset = static_cast<uint64_t>(t.dram.offset);
  PackedTransfer packed = {0, static_cast<uint32_t>(offset),
                           static_cast<uint32_t>(offset >> 32)};
  SLUICE_TRY(transfer_forms_.Intern(form, &packed.form));
  SLUICE_TRY(Push(kind, layer, transfers_.size()));
  return transfers_.Push(packed);
}

Status Program::AddTile(uint32_t layer, const TileStep& t) {
  TileForm form = {{},
                   kNoBox,
                   t.first,
                   t.last,
                   {},
                   t.cycles,
                   t.macs,
                   t.vector_ops,
                   TileForm::ToBits(t.energy_pj),
                   TileForm::ToBits(t.scratchpad_pj)};
  for (int r = 0; r < kTileRoles; ++r) {
    form.operand[r] = kNoBox;
    if (t.present[r]) SLUICE_TRY(boxes_.Intern(t.operand[r], &form.operand[r]));
  }
  if (t.has_accumulator) SLUICE_TRY(boxes_.Intern(t.accumulator, &form.accumulator));
  for (int i = 0; i < 4; ++i) form.pad[i] = t.pad[i];
  PackedTile packed = {0, {{}, t.c_begin, t.c_end}};
  for (int a = 0; a < kAxes; ++a) packed.place.origin[a] = t.origin[a];
  SLUICE_TRY(tile_forms_.Intern(form, &packed.form));
  SLUICE_TRY(Push(StepKind::kCompute, layer, tiles_.size()));
  return tiles_.Push(packed);
}

Transfer Program::transfer(uint32_t item) const {
  const TransferForm& form = transfer_form(item);
  Transfer t = {};
  t.dram.tensor = form.tensor;
  t.dram.offset = dram_offset(item);
  t.dram.moves = form.moves != 0;
  t.dram.parameter = form.parameter;
  t.dram.step = form.step;
  for (int a = 0; a < kAxes; ++a) {
    t.dram.extent[a] = form.extent[a];
    t.dram.stride[a] = form.stride[a];
  }
  t.buffer = boxes_[form.buffer];
  t.indexed = form.index != kNoBox;
  if (t.indexed) t.index = boxes_[form.index];
  return t;
}

TileStep Program::tile(uint32_t item) const {
  const PackedTile& packed = tiles_[item];
  const TileForm& form = tile_forms_[packed.form];
  TileStep t = {};
  for (int r = 0; r < kTileRoles; ++r) {
    t.present[r] = form.operand[r] != kNoBox;
    if (t.present[r]) t.operand[r] = boxes_[form.operand[r]];
  }
  t.has_accumulator = form.accumulator != kNoBox;
  if (t.has_accumulator) t.accumulator = boxes_[form.accumulator];
  t.first = form.first != 0;
  t.last = form.last != 0;
  for (int a = 0; a < kAxes; ++a) t.origin[a] = packed.place.origin[a];
  t.c_begin = packed.place.c_begin;
  t.c_end = packed.place.c_end;
  for (int i = 0; i < 4; ++i) t.pad[i] = form.pad[i];
  t.cycles = form.cycles;
  t.macs = form.macs;
  t.vector_ops = form.vector_ops;
  t.energy_pj = form.energy_pj();
  t.scratchpad_pj = form.scratchpad_pj();
  return t;
}

Status DeriveWaits(const Program& program, Arena* scratch, ProgramWaits* out) {
  const size_t n = program.size();
  Arena memory(scratch->memory());
  // known[e][c - 1]: what has completed for sure once the c-th step of engine e has.
  Sequence<Clock> known[kEngines] = {Sequence<Clock>(&memory), Sequence<Clock>(&memory),
                                     Sequence<Clock>(&memory)};
  Ranges ranges(&memory);
  Clock done;              // steps issued so far per engine
  Clock latest[kEngines];  // knowledge at the end of each engine's list so far
  for (size_t i = 0; i < n; ++i) {
    const Step step = program.step(i);
    const int engine = EngineOf(step.kind);
    const uint32_t count = ++done.count[engine];
    Clock needed;
    SLUICE_TRY(NeedsOf(program, step, engine, count, &ranges, &needed));
    // DRAM: the one DMA channel keeps its own order; the host reads what was stored
    // before it and the DMA reads what the host wrote.
    if (step.kind == StepKind::kHost) {
      needed.count[kEngineDma] = done.count[kEngineDma];
    } else if (engine == kEngineDma) {
      needed.count[kEngineHost] = done.count[kEngineHost];
    }
    Clock clock = latest[engine];
    SLUICE_TRY(out->begin.Push(static_cast<uint32_t>(out->waits.size())));
    // What another wait already implies is not waited for. The engine whose step
    // knows most is asked first; with three engines one look back is enough.
    for (int pass = 0; pass < 2; ++pass) {
      for (int e = 0; e < kEngines; ++e) {
        if (e == engine || needed.count[e] <= clock.count[e]) continue;
        bool implied = false;
        for (int other = 0; other < kEngines && pass == 0; ++other) {
          if (other == e || other == engine) continue;
          if (needed.count[other] <= clock.count[other]) continue;
          const Clock& its = known[other][needed.count[other] - 1];
          implied = implied || its.count[e] >= needed.count[e];
        }
        if (implied) continue;
        SLUICE_TRY(
            out->waits.Push(ProgramWait{static_cast<uint32_t>(e), needed.count[e]}));
        clock.Join(known[e][needed.count[e] - 1]);
      }
    }
    clock.count[engine] = count;
    SLUICE_TRY(known[engine].Push(clock));
    latest[engine] = clock;
  }
  return out->begin.Push(static_cast<uint32_t>(out->waits.size()));
}

Status PredictCycles(const Graph& graph, const Hardware& hardware,
                     const Program& program, const ProgramWaits& waits, Arena* scratch,
                     int64_t* cycles) {
  Arena memory(scratch->memory());
  const size_t n = program.size();
  Sequence<int64_t> finish[kEngines] = {Sequence<int64_t>(&memory),
                                        Sequence<int64_t>(&memory),
                                        Sequence<int64_t>(&memory)};
  *cycles = 0;
  for (size_t i = 0; i < n; ++i) {
    const Step step = program.step(i);
    Sequence<int64_t>& own = finish[EngineOf(step.kind)];
    int64_t start = own.size() == 0 ? 0 : own[own.size() - 1];
    for (uint32_t w = waits.begin[i]; w < waits.begin[i + 1]; ++w) {
      const ProgramWait& wait = waits.waits[w];
      start = Max(start, finish[wait.engine][wait.count - 1]);
    }
    int64_t end = 0;
    if (!CheckedAdd(start, StepCycles(graph, hardware, program, step), &end)) {
      end = INT64_MAX;
    }
    SLUICE_TRY(own.Push(end));
    *cycles = Max(*cycles, end);
  }
  return Status::kOk;
}

}  // namespace sluice
