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
  if (step.kind == StepKind::kLoad || step.kind == StepKind::kStore) {
    const Transfer& t = program.transfers[step.item];
    if (t.indexed) {
      SLUICE_TRY(ranges->Access(t.index.range, false, engine, count, needed));
    }
    return ranges->Access(t.buffer.range, step.kind == StepKind::kLoad, engine, count,
                          needed);
  }
  if (step.kind == StepKind::kHost) return Status::kOk;
  const TileStep& tile = program.tiles[step.item];
  for (int r = 0; r < kTileRoles; ++r) {
    if (!tile.present[r] || r == kRoleOutput) continue;
    SLUICE_TRY(ranges->Access(tile.operand[r].range, false, engine, count, needed));
  }
  if (tile.has_accumulator) {
    SLUICE_TRY(ranges->Access(tile.accumulator.range, true, engine, count, needed));
  }
  if (tile.present[kRoleOutput]) {
    SLUICE_TRY(
        ranges->Access(tile.operand[kRoleOutput].range, true, engine, count, needed));
  }
  return Status::kOk;
}

int64_t StepCycles(const Graph& graph, const Hardware& hardware, const Program& program,
                   const Step& step) {
  switch (step.kind) {
    case StepKind::kCompute:
      return program.tiles[step.item].cycles;
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
             TransferCycles(TransferBytes(program.transfers[step.item]),
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

int64_t TransferBytes(const Transfer& transfer) {
  int64_t bytes = DtypeBytes(transfer.buffer.dtype);
  for (int32_t extent : transfer.buffer.extent) bytes *= extent;
  return bytes;
}

Status DeriveWaits(const Program& program, Arena* arena, ProgramWaits* out) {
  const size_t n = program.steps.size();
  SLUICE_TRY(arena->Allocate(n + 1, &out->begin));
  Vector<ProgramWait> waits(arena);
  SLUICE_TRY(waits.Reserve(2 * n));
  {
    // Known[i]: what has completed for sure once step i has completed.
    Span<Clock> known;
    Span<uint32_t> position;  // step of (engine, count)
    SLUICE_TRY(arena->Allocate(n, &known));
    SLUICE_TRY(arena->Allocate(kEngines * (n + 1), &position));
    Ranges ranges(arena);
    Clock done;              // steps issued so far per engine
    Clock latest[kEngines];  // knowledge at the end of each engine's list so far
    for (size_t i = 0; i < n; ++i) {
      const Step& step = program.steps[i];
      const int engine = EngineOf(step.kind);
      const uint32_t count = ++done.count[engine];
      position[static_cast<size_t>(engine) * (n + 1) + count] =
          static_cast<uint32_t>(i);
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
      out->begin[i] = static_cast<uint32_t>(waits.size());
      // What another wait already implies is not waited for. The engine whose step
      // knows most is asked first; with three engines one look back is enough.
      for (int pass = 0; pass < 2; ++pass) {
        for (int e = 0; e < kEngines; ++e) {
          if (e == engine || needed.count[e] <= clock.count[e]) continue;
          const uint32_t at =
              position[static_cast<size_t>(e) * (n + 1) + needed.count[e]];
          bool implied = false;
          for (int other = 0; other < kEngines && pass == 0; ++other) {
            if (other == e || other == engine) continue;
            if (needed.count[other] <= clock.count[other]) continue;
            const uint32_t its =
                position[static_cast<size_t>(other) * (n + 1) + needed.count[other]];
            implied = implied || known[its].count[e] >= needed.count[e];
          }
          if (implied) continue;
          SLUICE_TRY(
              waits.Push(ProgramWait{static_cast<uint32_t>(e), needed.count[e]}));
          clock.Join(known[at]);
        }
      }
      clock.count[engine] = count;
      known[i] = clock;
      latest[engine] = clock;
    }
  }
  out->begin[n] = static_cast<uint32_t>(waits.size());
  out->waits = waits.span();
  return Status::kOk;
}

Status PredictCycles(const Graph& graph, const Hardware& hardware,
                     const Program& program, const ProgramWaits& waits, Arena* scratch,
                     int64_t* cycles) {
  ArenaScope scope(scratch);
  const size_t n = program.steps.size();
  Span<int64_t> finish;  // of (engine, count)
  SLUICE_TRY(scratch->Allocate(kEngines * (n + 1), &finish));
  uint32_t done[kEngines] = {};
  *cycles = 0;
  for (size_t i = 0; i < n; ++i) {
    const Step& step = program.steps[i];
    const size_t engine = EngineOf(step.kind);
    int64_t start = finish[engine * (n + 1) + done[engine]];
    for (uint32_t w = waits.begin[i]; w < waits.begin[i + 1]; ++w) {
      const ProgramWait& wait = waits.waits[w];
      start = Max(start, finish[wait.engine * (n + 1) + wait.count]);
    }
    int64_t end = 0;
    if (!CheckedAdd(start, StepCycles(graph, hardware, program, step), &end)) {
      end = INT64_MAX;
    }
    finish[engine * (n + 1) + ++done[engine]] = end;
    *cycles = Max(*cycles, end);
  }
  return Status::kOk;
}

}  // namespace sluice
