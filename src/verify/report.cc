// SPDX-License-Identifier: Apache-2.0
#include "verify/report.h"

#include "base/checked.h"
#include "verify/certificate.h"

namespace sluice {
namespace judge {
namespace {

int64_t Later(int64_t at, int64_t cycles) {
  int64_t end;
  return CheckedAdd(at, cycles, &end) ? end : INT64_MAX;
}

// Replays the stream's timing. An instruction starts once the one before it on its
// engine and those that it waits for have ended.
class Timing {
 public:
  Timing(const Judge& judge, const Order& order)
      : stream_(judge.stream),
        time_(stream_.time),
        order_(order),
        arena_(judge.arena) {}

  Status Init() {
    SLUICE_TRY(arena_->Allocate(order_.columns, &column_));
    for (Column& column : column_) column.arrival = -1;
    return Status::kOk;
  }

  Status Run(uint64_t* latency) {
    int64_t port_free = 0;
    for (uint32_t looks = 1;; ++looks) {
      if (looks % 256 == 0 && arena_->memory()->Stop()) return Status::kStopped;
      uint32_t next = kNone;
      moved_ = false;
      for (uint32_t c = 0; c < order_.columns; ++c) {
        if (column_[column_[c].behind].ended >= column_[c].needed) GoOn(c);
        const int64_t arrival = column_[c].arrival;
        if (arrival >= 0 && (next == kNone || arrival < column_[next].arrival))
          next = c;
      }
      if (moved_) continue;
      if (next == kNone) break;
      // The transfer that arrived first gets the port. Transfers that have not arrived
      // yet start after one that has.
      Column* column = &column_[next];
      StepTime* time = TimeOf(StepOf(next, column->ended + 1));
      port_free = Later(Max(column->arrival, port_free), time->hold);
      column->arrival = -1;
      End(column, time, port_free);
    }
    int64_t last = 0;
    for (const StepTime& time : time_) last = Max(last, time.before);
    *latency = static_cast<uint64_t>(last);
    return Status::kOk;
  }

 private:
  struct Column {
    uint32_t ended;  // instructions of this engine whose end is known
    uint32_t wait;   // how many waits of the next instruction are known to have ended
    int64_t start;   // the latest of these ends
    uint32_t behind,
        needed;       // the column whose instructions it waits for, and how many
    int64_t arrival;  // when the next one asks for the port; -1: it does not yet
  };

  const Step& StepOf(uint32_t column, uint32_t position) const {
    return order_.steps[order_.PlaceOf(column, position)];
  }
  StepTime* TimeOf(const Step& step) { return &time_[order_.NumberOf(step)]; }

  // True once all that the column's next instruction waits for has ended.
  bool MayStart(const Step& step, Column* column) {
    const Span<const sluice_wait_t> waits = WaitsOf(stream_, step.visit, step.index);
    for (; column->wait < waits.size(); ++column->wait) {
      const Target target = TargetOf(order_, step.visit, waits[column->wait]);
      column->behind = target.column;
      column->needed = target.position;
      if (column_[target.column].ended < target.position) return false;
      if (target.position == 0) continue;
      const Step& other = StepOf(target.column, target.position);
      column->start = Max(column->start, TimeOf(other)->before);
    }
    return true;
  }

  void End(Column* column, StepTime* time, int64_t end) {
    time->before = column->start = end;
    column->wait = 0;
    ++column->ended;
  }

  // Ends the column's instructions until one waits for another column or for the port.
  void GoOn(uint32_t c) {
    Column* column = &column_[c];
    while (column->arrival < 0 &&
           column->ended < order_.first[c + 1] - order_.first[c]) {
      const Step& step = StepOf(c, column->ended + 1);
      if (!MayStart(step, column)) return;
      StepTime* time = TimeOf(step);
      const int64_t end = Later(column->start, time->before);
      if (time->hold >= 0) {
        column->arrival = end;
        return;
      }
      End(column, time, end);
      moved_ = true;
    }
  }

  const StreamView& stream_;
  const Span<StepTime> time_;
  const Order& order_;
  Arena* arena_;
  Span<Column> column_;
  bool moved_ = false;
};

struct Count {
  const char* field;
  uint64_t said, counted;
};

struct Energy {
  const char* field;
  double said, counted;
};

// Both tolerate doubles that were added up in another order, and are false for NaN.
bool AtMost(double a, double b) { return a <= b + 1e-9 * (a < 0 ? -a : a); }
bool Same(double a, double b) { return AtMost(a, b) && AtMost(b, a); }

Fail Wrong(const Judge& judge, const char* rule, const char* field) {
  return Reject(judge, rule).Text("the report's ").Text(field);
}

// Bounds prove a plan to be the best where it costs as little: in cycles, energy or both.
bool MayBeProved(const sluice_report_t& r) {
  return r.latency_cycles <= r.bound_latency_cycles ||
         r.energy_pj <= r.bound_energy_pj * (1 + 2e-9);
}

Status CheckCounts(const Judge& judge, const VerifiedCounts& c) {
  const sluice_report_t& r = judge.plan.report;
  const auto word = [](int64_t count) { return static_cast<uint64_t>(count); };
  const Count counts[] = {
      {"dram_read_bytes", r.dram_read_bytes, word(c.dram_read_bytes)},
      {"dram_write_bytes", r.dram_write_bytes, word(c.dram_write_bytes)},
      {"peak_buffer_bytes", r.peak_buffer_bytes, word(c.peak_buffer_bytes)},
      {"latency_cycles", r.latency_cycles, c.latency_cycles},
      {"macs", r.macs, c.macs},
      {"vector_ops", r.vector_ops, c.vector_ops},
      {"tiles", r.tiles, c.tiles},
      {"instructions", r.instructions, c.instructions},
      {"layers", r.layers, c.layers},
      {"host_layers", r.host_layers, c.host_layers},
      {"host_macs", r.host_macs, c.host_macs},
      {"host_bytes", r.host_bytes, c.host_read_bytes + c.host_write_bytes},
      {"spill_bytes", r.spill_bytes, word(c.spill_bytes)},
  };
  for (const Count& count : counts) {
    if (count.said == count.counted) continue;
    return Wrong(judge, &count - counts < 2 ? "traffic" : "report", count.field)
        .Say(" is #, the stream's #", count.said, count.counted);
  }
  if (r.stop_reason > SLUICE_STOP_PROVED ||
      (r.stop_reason == SLUICE_STOP_PROVED && !MayBeProved(r))) {
    return Wrong(judge, "report", "stop_reason");
  }
  if (r.groups > r.layers) return Wrong(judge, "report", "groups");
  return Status::kOk;
}

// pJ of bytes read and written.
double Moved(const MemoryLevel& level, uint64_t read, uint64_t written) {
  return static_cast<double>(read) * 8 * level.read_pj_per_bit +
         static_cast<double>(written) * 8 * level.write_pj_per_bit;
}

// pJ of what passes the port, by the memory that each region lies in. The last level's
// bytes are added up first.
double MovedOffChip(const Hardware& h, const uint64_t bytes[][2]) {
  double pj = 0;
  uint64_t read = 0, written = 0;
  for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
    if (const OffChip* memory = h.MemoryOf(r)) {
      pj += Moved(memory->level, bytes[r][0], bytes[r][1]);
      continue;
    }
    read += bytes[r][0];
    written += bytes[r][1];
  }
  return pj + Moved(h.dram(), read, written);
}

Status CheckEnergy(const Judge& judge, const VerifiedCounts& c) {
  const sluice_report_t& r = judge.plan.report;
  const Hardware& h = judge.hardware;
  const double pad = Moved(h.scratchpad(), c.pad_read_bytes, c.pad_write_bytes);
  const double tiles = Moved(h.scratchpad(), c.tile_read_bytes, c.tile_write_bytes);
  const double compute = static_cast<double>(c.macs) * h.mac_pj +
                         static_cast<double>(c.vector_ops) * h.vector_op_pj;
  double host = static_cast<double>(c.host_cycles) * h.host.pj_per_cycle;
  if (h.host.uses_port) host += Moved(h.dram(), c.host_read_bytes, c.host_write_bytes);
  const bool derived =
      Same(r.energy_scratchpad_pj, pad + tiles) && Same(r.energy_compute_pj, compute);
  const Energy energies[] = {
      {"energy_dram_pj", r.energy_dram_pj, MovedOffChip(h, c.moved_bytes)},
      {"energy_leakage_pj", r.energy_leakage_pj,
       static_cast<double>(r.latency_cycles) * h.leakage_pj_per_cycle},
      {"energy_noc_pj", r.energy_noc_pj, c.link_bytes * 8 * h.hop_pj_per_bit},
      {"energy_host_pj", r.energy_host_pj, host},
      // The energy of tiles counts as whoever priced them stated it; only the part of
      // transfers and partial sums is demanded.
      {"energy_scratchpad_pj", r.energy_scratchpad_pj,
       derived ? r.energy_scratchpad_pj : Max(pad, r.energy_scratchpad_pj)},
      {"energy_compute_pj", r.energy_compute_pj, Max(0.0, r.energy_compute_pj)},
      {"energy_pj", r.energy_pj,
       r.energy_dram_pj + r.energy_scratchpad_pj + r.energy_compute_pj +
           r.energy_leakage_pj + r.energy_noc_pj + r.energy_host_pj},
  };
  for (const Energy& energy : energies) {
    if (Same(energy.said, energy.counted)) continue;
    return Wrong(judge, "report", energy.field).Text(" is not what the stream takes");
  }
  return Status::kOk;
}

// A bound may exceed neither the judge's own nor what this plan costs.
Status CheckBounds(const Judge& judge, const VerifiedCounts& counts) {
  const sluice_report_t& r = judge.plan.report;
  LeastCosts least;
  // Where the bound is refused by the plan's own cycles, the message has all of the judge's.
  // Those of a plan fit int64, which takes fewer instructions than uint64 to convert.
  if (r.bound_latency_cycles <= r.latency_cycles) {
    least.enough = static_cast<double>(static_cast<int64_t>(r.bound_latency_cycles));
  }
  SLUICE_TRY(FindLeastCosts(judge, counts, &least));
  // What the caller says of its own tiles is believed, and must add up in the certificate.
  const sluice_certificate_t& c = judge.plan.certificate;
  const bool told = c.layers != nullptr;
  if (told && c.caller_cycles != 0) least.cycles = Max(least.cycles, c.compute_cycles);
  if (r.bound_latency_cycles > Min(least.cycles, r.latency_cycles)) {
    return Wrong(judge, "report", "bound_latency_cycles")
        .Say(" is #, the judge's own #", r.bound_latency_cycles, least.cycles);
  }
  const double leakage =
      static_cast<double>(static_cast<int64_t>(r.bound_latency_cycles)) *
      judge.hardware.leakage_pj_per_cycle;
  const double energy =
      least.energy_pj + leakage + r.energy_host_pj + (told ? c.caller_pj : 0);
  if (AtMost(0, r.bound_energy_pj) && AtMost(r.bound_energy_pj, energy) &&
      AtMost(r.bound_energy_pj, r.energy_pj)) {
    return CheckCertificate(judge, least);
  }
  return Wrong(judge, "report", "bound_energy_pj").Text(" is not what bytes allow");
}

}  // namespace

Status FindLatency(Judge* judge, const Order& order, VerifiedCounts* counts) {
  ArenaScope scope(judge->arena);
  Timing timing(*judge, order);
  SLUICE_TRY(timing.Init());
  return timing.Run(&counts->latency_cycles);
}

Status CheckReport(const Judge& judge, const VerifiedCounts& counts) {
  SLUICE_TRY(CheckCounts(judge, counts));
  SLUICE_TRY(CheckEnergy(judge, counts));
  return CheckBounds(judge, counts);
}

}  // namespace judge
}  // namespace sluice
