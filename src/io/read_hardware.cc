// SPDX-License-Identifier: Apache-2.0
#include "base/checked.h"
#include "base/hash.h"
#include "io/read.h"
#include "io/read_ops.h"
#include "io/wire.h"
#include "model/machine_units.h"
#include "sluice/hardware_generated.h"

namespace sluice {

namespace {

constexpr char kStage[] = "hardware";
constexpr uint32_t kMaxLevels = 16;
constexpr uint32_t kMaxFanouts = 16;
constexpr uint32_t kMaxMemories = 5;
// Limit of capacities, peaks, bandwidths.
constexpr uint64_t kMaxCount = uint64_t{1} << 40;
constexpr uint32_t kMaxNodes = 32 * 32;        // of a mesh
constexpr uint32_t kMaxLatency = 1u << 30;     // cycles, of a transfer
constexpr uint32_t kMaxPassCycles = 1u << 20;  // of the MAC array

Fail Bad(Diagnostic* diagnostic) { return Fail(diagnostic, Status::kBadInput, kStage); }

// Energies must be finite, not negative, below 1e12.
bool IsEnergy(double pj) { return pj >= 0 && pj < 1e12; }

Status ReadLevel(const wire::Level* in, uint32_t index, Arena* arena, MemoryLevel* out,
                 Diagnostic* diagnostic) {
  SLUICE_TRY(CopyText(in->name(), arena, &out->name));
  const auto bad = [&](const char* what) -> Status {
    return Bad(diagnostic).Say("level #: ", index).Text(what);
  };
  if (in->capacity_bytes() > kMaxCount) return bad("capacity above 2^40 bytes");
  if (in->instances() == 0) return bad("instances must be at least 1");
  if (!IsPowerOfTwo(in->alignment_bytes()) || in->alignment_bytes() > 4096) {
    return bad("alignment must be a power of two up to 4096");
  }
  if (!IsEnergy(in->read_pj_per_bit()) || !IsEnergy(in->write_pj_per_bit())) {
    return bad("energies must be finite and not negative");
  }
  if (in->may_hold() > 7 || in->must_hold() > 7 ||
      (in->must_hold() & ~in->may_hold()) != 0) {
    return bad("must_hold must be part of may_hold, bits 1, 2 and 4");
  }
  if (in->share_input() > 100 || in->share_weight() > 100 || in->share_output() > 100) {
    return bad("shares are percentages");
  }
  out->capacity_bytes = static_cast<int64_t>(in->capacity_bytes());
  out->instances = in->instances();
  out->read_pj_per_bit = in->read_pj_per_bit();
  out->write_pj_per_bit = in->write_pj_per_bit();
  out->alignment_bytes = in->alignment_bytes();
  out->may_hold = in->may_hold();
  out->must_hold = in->must_hold();
  out->sliding = in->sliding();
  out->share_percent[0] = in->share_input();
  out->share_percent[1] = in->share_weight();
  out->share_percent[2] = in->share_output();
  return ReadBandwidth(in->bytes_per_cycle_numerator(),
                       in->bytes_per_cycle_denominator(), "a level's bandwidth",
                       &out->bandwidth, diagnostic);
}

Status ReadLevels(const wire::Hardware* in, Arena* arena, Hardware* hardware,
                  Diagnostic* diagnostic) {
  const uint32_t n = in->levels() == nullptr ? 0 : in->levels()->size();
  if (n < 2 || n > kMaxLevels) {
    return Bad(diagnostic)
        .Say("there are # memory levels; 2 to 16 are needed, DRAM last", n);
  }
  Span<MemoryLevel> levels;
  SLUICE_TRY(arena->Allocate(n, &levels));
  for (uint32_t i = 0; i < n; ++i) {
    SLUICE_TRY(ReadLevel(in->levels()->Get(i), i, arena, &levels[i], diagnostic));
  }
  hardware->levels = levels;
  hardware->scratchpad_level = in->scratchpad_level();
  if (hardware->scratchpad_level >= n - 1) {
    return Bad(diagnostic).Text("scratchpad_level must name a level below DRAM");
  }
  const MemoryLevel& pad = levels[hardware->scratchpad_level];
  if (pad.capacity_bytes == 0) {
    return Bad(diagnostic).Text("the scratchpad has no capacity");
  }
  if (pad.capacity_bytes > INT64_C(0xffffffff)) {
    return Fail(diagnostic, Status::kUnsupported, kStage)
        .Text("scratchpads above 4 GiB are not supported");
  }
  if (levels[n - 1].bandwidth.numerator == 0) {
    return Bad(diagnostic)
        .Text(
            "the DRAM level has bandwidth zero; it must be at least 1 byte per some "
            "cycles");
  }
  return Status::kOk;
}

Status ReadFanouts(const wire::Hardware* in, Arena* arena, Hardware* hardware,
                   Diagnostic* diagnostic) {
  const uint32_t n = in->fanouts() == nullptr ? 0 : in->fanouts()->size();
  if (n > kMaxFanouts) return Bad(diagnostic).Text("more than 16 fanouts");
  Span<Fanout> fanouts;
  SLUICE_TRY(arena->Allocate(n, &fanouts));
  for (uint32_t i = 0; i < n; ++i) {
    const wire::Fanout* f = in->fanouts()->Get(i);
    fanouts[i] = Fanout{f->level(),
                        f->extent(),
                        f->may_unroll(),
                        f->multicast(),
                        f->reduction(),
                        f->forwarding(),
                        f->transfer_pj_per_bit(),
                        f->forward_pj_per_bit()};
    if (!IsEnergy(f->transfer_pj_per_bit()) || !IsEnergy(f->forward_pj_per_bit())) {
      return Bad(diagnostic).Text("fanout energies must be finite and not negative");
    }
    if (f->level() >= hardware->levels.size() || f->extent() == 0 ||
        f->extent() > (1u << 20) || f->may_unroll() > 127) {
      return Bad(diagnostic)
          .Say("fanout # has a level, an extent or a set of dims out of range", i);
    }
  }
  hardware->fanouts = fanouts;
  return Status::kOk;
}

Status ReadCompute(const wire::Hardware* in, Hardware* hardware,
                   Diagnostic* diagnostic) {
  if (in->clock_hz() == 0 || in->clock_hz() > kMaxCount) {
    return Bad(diagnostic).Text("clock_hz must be 1 to 2^40");
  }
  if (in->macs_per_cycle() == 0 || in->macs_per_cycle() > kMaxCount ||
      in->vector_ops_per_cycle() == 0 || in->vector_ops_per_cycle() > kMaxCount) {
    return Bad(diagnostic)
        .Text("macs_per_cycle and vector_ops_per_cycle must be 1 to 2^40");
  }
  if (!IsEnergy(in->mac_pj()) || !IsEnergy(in->vector_op_pj()) ||
      !IsEnergy(in->leakage_pj_per_cycle()) || !IsEnergy(in->hop_pj_per_bit())) {
    return Bad(diagnostic).Text("energies must be finite and not negative");
  }
  if (in->accumulator_bytes() != 4) {
    return Fail(diagnostic, Status::kUnsupported, kStage)
        .Text("accumulator_bytes must be 4 in this version");
  }
  hardware->clock_hz = static_cast<int64_t>(in->clock_hz());
  hardware->macs_per_cycle = static_cast<int64_t>(in->macs_per_cycle());
  hardware->mac_pj = in->mac_pj();
  hardware->vector_ops_per_cycle = static_cast<int64_t>(in->vector_ops_per_cycle());
  hardware->vector_op_pj = in->vector_op_pj();
  hardware->leakage_pj_per_cycle = in->leakage_pj_per_cycle();
  hardware->accumulator_bytes = in->accumulator_bytes();
  return Status::kOk;
}

Status ReadArray(const wire::Hardware* in, Hardware* hardware, Diagnostic* diagnostic) {
  hardware->array = MacArray{};
  const wire::Array* array = in->array();
  if (array == nullptr) return Status::kOk;
  for (const uint32_t granule : {array->k(), array->c(), array->p()}) {
    if (granule == 0 || granule > (1u << 20)) {
      return Bad(diagnostic).Say("array: k, c and p must be 1 to 2^20, not #", granule);
    }
  }
  if (array->demands() > 7) {
    return Bad(diagnostic).Text("array: demands must be bits 1 k, 2 c and 4 p");
  }
  if (array->fill_cycles() > kMaxPassCycles || array->drain_cycles() > kMaxPassCycles) {
    return Bad(diagnostic)
        .Text("array: fill_cycles and drain_cycles must be at most 2^20");
  }
  hardware->array = MacArray{array->k(),
                             array->c(),
                             array->p(),
                             array->crosses_rows(),
                             array->packs_filter(),
                             array->demands(),
                             array->fill_cycles(),
                             array->drain_cycles()};
  return Status::kOk;
}

Status ReadCores(const wire::Hardware* in, Hardware* hardware, Diagnostic* diagnostic) {
  hardware->cores = CoreGrid{};
  const wire::CoreArray* cores = in->core_array();
  if (cores == nullptr) return Status::kOk;
  const uint64_t sizes[4] = {cores->rows(), cores->columns(), cores->vector(),
                             cores->lane()};
  uint64_t macs = 1;
  for (const uint64_t size : sizes) {
    if (size == 0 || size > (1u << 10)) {
      return Bad(diagnostic)
          .Say("core_array: rows, columns, vector and lane must be 1 to 1024, not #",
               size);
    }
    macs *= size;
  }
  if (macs != in->macs_per_cycle()) {
    return Bad(diagnostic)
        .Say("core_array has # MACs, macs_per_cycle says #", macs,
             in->macs_per_cycle());
  }
  const uint32_t level[3] = {cores->input_level(), cores->weight_level(),
                             cores->output_level()};
  const uint64_t units[3] = {cores->vector(), cores->vector(), cores->lane()};
  for (uint32_t v = 0; v < 3; ++v) {
    if (level[v] >= hardware->scratchpad_level ||
        (hardware->levels[level[v]].may_hold >> v & 1) == 0) {
      return Bad(diagnostic)
          .Say(
              "core_array: level # is not a buffer below the scratchpad for its "
              "operand",
              level[v]);
    }
    const int64_t capacity = hardware->levels[level[v]].capacity_bytes;
    if (capacity < static_cast<int64_t>(units[v]) || capacity > INT32_MAX) {
      return Bad(diagnostic)
          .Say(
              "core_array: level # of # bytes must have at least one byte per unit and "
              "less than 2 GiB",
              level[v], capacity);
    }
  }
  if (!IsEnergy(cores->slice_read_pj_per_bit()) ||
      !IsEnergy(cores->slice_write_pj_per_bit())) {
    return Bad(diagnostic).Text("energies must be finite and not negative");
  }
  hardware->cores = CoreGrid{cores->rows(),
                             cores->columns(),
                             cores->vector(),
                             cores->lane(),
                             level[0],
                             level[1],
                             level[2],
                             cores->slice_read_pj_per_bit(),
                             cores->slice_write_pj_per_bit()};
  return Status::kOk;
}

// Refuses peaks above what the units can do. A peak below that is accepted;
// plan/machine_doubts.h reports it.
Status RefuseContradictions(const Hardware& hardware, Diagnostic* diagnostic) {
  const int64_t fed = UnitsFed(hardware, hardware.scratchpad_level + 1, 0);
  if (!hardware.fanouts.empty() && hardware.macs_per_cycle > fed) {
    return Bad(diagnostic)
        .Say(
            "macs_per_cycle is #, but the fanouts at and below the scratchpad feed # "
            "units",
            hardware.macs_per_cycle, fed);
  }
  const int64_t places = PlacesOf(hardware.array);
  if (places != 0 && hardware.macs_per_cycle > places) {
    return Bad(diagnostic)
        .Say("macs_per_cycle is #, but a pass of the array has k * c * p = # places",
             hardware.macs_per_cycle, places);
  }
  return Status::kOk;
}

Status ReadQueue(const wire::Queue* in, uint32_t index, Queue* out,
                 Diagnostic* diagnostic) {
  const auto bad = [&](const char* what) -> Status {
    return Bad(diagnostic).Say("queue #: ", index).Text(what);
  };
  constexpr uint32_t kKnown =
      SLUICE_DOES_LOAD | SLUICE_DOES_STORE | SLUICE_DOES_FORWARD | SLUICE_DOES_COMPUTE;
  if (in->operations() == 0 || (in->operations() & ~kKnown) != 0) {
    return bad("operations must be bits 1 load, 2 store, 4 forward and 8 compute");
  }
  if ((in->roles() & ~SLUICE_ROLES) != 0) {
    return bad("roles must be bits 1, 2, 4, 8 and 16");
  }
  if ((in->operations() & (SLUICE_DOES_FORWARD | SLUICE_DOES_COMPUTE)) != 0 &&
      !in->per_node()) {
    return bad("a queue that forwards or computes needs per_node");
  }
  if (in->latency_cycles() > kMaxLatency || in->descriptor_cycles() > kMaxLatency) {
    return bad("latency_cycles and descriptor_cycles must be at most 2^30");
  }
  if (!IsPowerOfTwo(in->burst_bytes()) || in->burst_bytes() > 4096) {
    return bad("burst_bytes must be a power of two up to 4096");
  }
  if (in->max_axes() > kAxes) {
    return bad("max_axes must be at most 4");
  }
  out->does = in->operations();
  out->roles = in->roles();
  out->per_node = in->per_node();
  out->latency_cycles = static_cast<int64_t>(in->latency_cycles());
  out->burst_bytes = in->burst_bytes();
  out->max_row_bytes = in->max_row_bytes();
  out->max_rows = in->max_rows();
  out->max_axes = in->max_axes();
  out->descriptor_cycles = in->descriptor_cycles();
  return Status::kOk;
}

// Checks that every kind of transfer in a plan has a queue: inputs, weights and
// parameters are loaded, outputs stored. Partial sums stay in the scratchpad.
Status CheckQueues(Span<const Queue> queues, Diagnostic* diagnostic) {
  struct Need {
    uint32_t does, role;
    const char* what;
  };
  constexpr Need kNeeds[] = {
      {SLUICE_DOES_LOAD, SLUICE_ROLE_INPUT, "loads inputs"},
      {SLUICE_DOES_LOAD, SLUICE_ROLE_WEIGHT, "loads weights"},
      {SLUICE_DOES_LOAD, SLUICE_ROLE_PARAMETERS, "loads parameters"},
      {SLUICE_DOES_STORE, SLUICE_ROLE_OUTPUT, "stores outputs"},
  };
  for (const Need& need : kNeeds) {
    bool found = false;
    for (const Queue& queue : queues) {
      found =
          found || ((queue.does & need.does) != 0 && (queue.roles & need.role) != 0);
    }
    if (!found) return Bad(diagnostic).Text("no queue ").Text(need.what);
  }
  for (const uint32_t does : {SLUICE_DOES_FORWARD, SLUICE_DOES_COMPUTE}) {
    uint32_t count = 0;
    for (const Queue& queue : queues) count += (queue.does & does) != 0 ? 1 : 0;
    if (count > 1) {
      return Bad(diagnostic)
          .Number(count)
          .Text(does == SLUICE_DOES_COMPUTE ? " queues compute" : " queues forward")
          .Text("; a node has one such engine");
    }
  }
  return Status::kOk;
}

Status ReadQueues(const wire::Hardware* in, Arena* arena, Hardware* hardware,
                  Diagnostic* diagnostic) {
  const uint32_t n = in->queues() == nullptr ? 0 : in->queues()->size();
  hardware->queues = Span<const Queue>();
  if (in->queues() == nullptr) return Status::kOk;
  if (n == 0 || n > kMaxQueues) {
    return Bad(diagnostic)
        .Say(
            "there are # queues; 1 to 8 are allowed, or no list for the one of "
            "dma_latency_cycles",
            n);
  }
  if (in->dma_latency_cycles() != 0) {
    return Bad(diagnostic)
        .Text("dma_latency_cycles and queues exclude each other: each queue has its ")
        .Text("latency_cycles");
  }
  Span<Queue> queues;
  SLUICE_TRY(arena->Allocate(n, &queues));
  for (uint32_t i = 0; i < n; ++i) {
    SLUICE_TRY(ReadQueue(in->queues()->Get(i), i, &queues[i], diagnostic));
  }
  SLUICE_TRY(CheckQueues(queues, diagnostic));
  hardware->queues = queues;
  hardware->dma_latency_cycles = queues[0].latency_cycles;
  for (const Queue& queue : queues) {
    if ((queue.does & (SLUICE_DOES_LOAD | SLUICE_DOES_STORE)) == 0) continue;
    hardware->dma_latency_cycles =
        Min(hardware->dma_latency_cycles, queue.latency_cycles);
  }
  return Status::kOk;
}

Status ReadTransport(const wire::Hardware* in, Hardware* hardware,
                     Diagnostic* diagnostic) {
  if (in->dma_latency_cycles() > kMaxLatency ||
      in->hop_latency_cycles() > kMaxLatency) {
    return Bad(diagnostic).Text("latencies must be at most 2^30 cycles");
  }
  if (!IsPowerOfTwo(in->dram_granule_bytes()) || in->dram_granule_bytes() > 4096) {
    return Bad(diagnostic).Text("dram_granule_bytes must be a power of two up to 4096");
  }
  const uint64_t nodes = uint64_t{in->node_cols()} * in->node_rows();
  if (nodes == 0 || nodes > kMaxNodes) {
    return Bad(diagnostic).Text("node_cols x node_rows must be 1 to 1024");
  }
  if (nodes > 1 && in->link_bytes_per_cycle_numerator() == 0) {
    return Bad(diagnostic)
        .Say("# nodes need links of more than 0 bytes per cycle", nodes);
  }
  hardware->dma_latency_cycles = static_cast<int64_t>(in->dma_latency_cycles());
  hardware->dram_granule_bytes = in->dram_granule_bytes();
  hardware->node_cols = in->node_cols();
  hardware->node_rows = in->node_rows();
  hardware->hop_pj_per_bit = in->hop_pj_per_bit();
  hardware->hop_latency_cycles = static_cast<int64_t>(in->hop_latency_cycles());
  return ReadBandwidth(in->link_bytes_per_cycle_numerator(),
                       in->link_bytes_per_cycle_denominator(), "the link bandwidth",
                       &hardware->link_bandwidth, diagnostic);
}

// `taken`: the regions of memories so far.
Status ReadMemory(const wire::Memory* in, uint32_t index, Arena* arena, uint32_t* taken,
                  OffChip* out, Diagnostic* diagnostic) {
  const auto bad = [&](const char* what) -> Status {
    return Bad(diagnostic).Say("memory #: ", index).Text(what);
  };
  constexpr uint32_t kRegions =
      ((1u << SLUICE_REGION_COUNT) - 1) & ~(1u << SLUICE_REGION_GBUF);
  if (in->regions() == 0 || (in->regions() & ~kRegions) != 0) {
    return bad("regions must be bits 2, 4, 8, 16 and 32");
  }
  if ((in->regions() & *taken) != 0) return bad("regions has one of another memory");
  if (in->read_only() && in->regions() != 1u << SLUICE_REGION_CONST) {
    return bad("read_only memories hold constants alone: regions must be 2");
  }
  if (in->capacity_bytes() > kMaxCount) return bad("capacity_bytes above 2^40");
  if (in->latency_cycles() > kMaxLatency) return bad("latency_cycles above 2^30");
  if (!IsEnergy(in->read_pj_per_bit()) || !IsEnergy(in->write_pj_per_bit())) {
    return bad("energies must be finite and not negative");
  }
  if (in->bytes_per_cycle_numerator() == 0) return bad("bandwidth zero");
  *taken |= in->regions();
  *out = OffChip{};
  SLUICE_TRY(CopyText(in->name(), arena, &out->level.name));
  out->regions = in->regions();
  out->read_only = in->read_only();
  out->latency_cycles = static_cast<int64_t>(in->latency_cycles());
  out->level.capacity_bytes = static_cast<int64_t>(in->capacity_bytes());
  out->level.read_pj_per_bit = in->read_pj_per_bit();
  out->level.write_pj_per_bit = in->write_pj_per_bit();
  return ReadBandwidth(in->bytes_per_cycle_numerator(),
                       in->bytes_per_cycle_denominator(), "a memory's bandwidth",
                       &out->level.bandwidth, diagnostic);
}

Status ReadMemories(const wire::Hardware* in, Arena* arena, Hardware* hardware,
                    Diagnostic* diagnostic) {
  hardware->memories = Span<const OffChip>();
  if (in->memories() == nullptr) return Status::kOk;
  const uint32_t n = in->memories()->size();
  if (n == 0 || n > kMaxMemories) {
    return Bad(diagnostic)
        .Say(
            "there are # memories; 1 to 5 are allowed, or no list for the last level "
            "alone",
            n);
  }
  if (hardware->host.uses_port) {
    return Fail(diagnostic, Status::kUnsupported, kStage)
        .Text("memories with a host that uses_port are not supported in this version");
  }
  Span<OffChip> memories;
  SLUICE_TRY(arena->Allocate(n, &memories));
  uint32_t taken = 0;
  for (uint32_t i = 0; i < n; ++i) {
    SLUICE_TRY(
        ReadMemory(in->memories()->Get(i), i, arena, &taken, &memories[i], diagnostic));
  }
  hardware->memories = memories;
  return Status::kOk;
}

}  // namespace

Status ReadBandwidth(uint64_t numerator, uint64_t denominator, const char* what,
                     Rational* out, Diagnostic* diagnostic) {
  if (denominator == 0 || denominator > kMaxCount || numerator > kMaxCount) {
    return Bad(diagnostic)
        .Text(what)
        .Text(
            " must be a rational of values up to 2^40 with a denominator of at least "
            "1");
  }
  *out = Rational{static_cast<int64_t>(numerator), static_cast<int64_t>(denominator)};
  return Status::kOk;
}

Status ReadHardware(const void* bytes, size_t size, Arena* arena, Hardware* hardware,
                    Diagnostic* diagnostic) {
  const uint8_t* data = nullptr;
  SLUICE_TRY(OpenWire({bytes, size, wire::HardwareIdentifier(), kStage, kHardwareForm},
                      arena, &data, diagnostic));
  const wire::Hardware* in = wire::GetHardware(data);
  SLUICE_TRY(CopyText(in->name(), arena, &hardware->name));
  SLUICE_TRY(ReadLevels(in, arena, hardware, diagnostic));
  SLUICE_TRY(ReadFanouts(in, arena, hardware, diagnostic));
  SLUICE_TRY(ReadCompute(in, hardware, diagnostic));
  SLUICE_TRY(ReadArray(in, hardware, diagnostic));
  SLUICE_TRY(ReadCores(in, hardware, diagnostic));
  SLUICE_TRY(RefuseContradictions(*hardware, diagnostic));
  SLUICE_TRY(ReadTransport(in, hardware, diagnostic));
  SLUICE_TRY(ReadQueues(in, arena, hardware, diagnostic));
  SLUICE_TRY(ReadOps(in, arena, hardware, diagnostic));
  SLUICE_TRY(ReadMemories(in, arena, hardware, diagnostic));
  hardware->hash = Fnv1a(data, size);
  return Status::kOk;
}

}  // namespace sluice
