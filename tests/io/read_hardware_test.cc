// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>

#include "support/library.h"
#include "support/random_machine.h"
#include "support/read_graph.h"

namespace sluice_test {
namespace {

TEST_CASE("each kind of bad machine gets its own sentence") {
  struct BadMachine {
    const char* name;
    std::function<void(MachineSpec*)> spoil;
    sluice_status_t status;
    const char* message;
  };
  const std::vector<BadMachine> cases = {
      {"zero bandwidth", [](MachineSpec* m) { m->base.dram_numerator = 0; },
       SLUICE_BAD_INPUT,
       "the DRAM level has bandwidth zero; it must be at least 1 byte per some cycles"},
      {"bandwidth over zero", [](MachineSpec* m) { m->base.dram_denominator = 0; },
       SLUICE_BAD_INPUT,
       "a level's bandwidth must be a rational of values up to 2^40 with a denominator "
       "of at least 1"},
      {"no scratchpad", [](MachineSpec* m) { m->base.scratchpad_bytes = 0; },
       SLUICE_BAD_INPUT, "the scratchpad has no capacity"},
      {"a huge scratchpad",
       [](MachineSpec* m) { m->base.scratchpad_bytes = uint64_t{1} << 33; },
       SLUICE_UNSUPPORTED, "scratchpads above 4 GiB are not supported"},
      {"odd alignment", [](MachineSpec* m) { m->base.alignment_bytes = 12; },
       SLUICE_BAD_INPUT, "level 0: alignment must be a power of two up to 4096"},
      {"no MACs", [](MachineSpec* m) { m->base.macs_per_cycle = 0; }, SLUICE_BAD_INPUT,
       "macs_per_cycle and vector_ops_per_cycle must be 1 to 2^40"},
      {"absurd latency",
       [](MachineSpec* m) { m->base.dma_latency_cycles = uint64_t{1} << 40; },
       SLUICE_BAD_INPUT, "latencies must be at most 2^30 cycles"},
      {"energy that is no number", [](MachineSpec* m) { m->dram_pj = -1; },
       SLUICE_BAD_INPUT, "level 1: energies must be finite and not negative"},
      {"an array of no pixels",
       [](MachineSpec* m) {
         m->array.k = 1;
         m->array.p = 0;
       },
       SLUICE_BAD_INPUT, "array: k, c and p must be 1 to 2^20, not 0"},
      {"an unknown demand",
       [](MachineSpec* m) {
         m->array.k = 1;
         m->array.demands = 8;
       },
       SLUICE_BAD_INPUT, "array: demands must be bits 1 k, 2 c and 4 p"},
      {"an endless pass",
       [](MachineSpec* m) {
         m->array.k = 1;
         m->array.drain_cycles = (1u << 20) + 1;
       },
       SLUICE_BAD_INPUT, "array: fill_cycles and drain_cycles must be at most 2^20"},
      {"a peak above the array",
       [](MachineSpec* m) {
         m->array = ArraySpec();
         m->array.k = 8;
         m->array.c = 4;
         m->base.macs_per_cycle = 33;
       },
       SLUICE_BAD_INPUT,
       "macs_per_cycle is 33, but a pass of the array has k * c * p = 32 places"},
      {"a granule of three", [](MachineSpec* m) { m->dram_granule_bytes = 3; },
       SLUICE_BAD_INPUT, "dram_granule_bytes must be a power of two up to 4096"},
  };
  for (const BadMachine& c : cases) {
    MachineSpec spec = OneQueueMachine(1);
    c.spoil(&spec);
    Library library;
    const HardwarePtr hardware = library.Hardware(MachineBytes(spec));
    const std::string message = library.diagnostic.message;
    INFO(std::string(c.name) << ": " << message);
    CHECK(library.status == c.status);
    CHECK(message == c.message);
    CHECK(hardware == nullptr);
  }
}

TEST_CASE("each kind of bad queue gets its own sentence") {
  struct BadQueues {
    std::function<void(std::vector<QueueSpec>*)> spoil;
    const char* message;
  };
  using Queues = std::vector<QueueSpec>;
  const char* exclude =
      "there are 9 queues; 1 to 8 are allowed, or no list for the one of "
      "dma_latency_cycles";
  const std::vector<BadQueues> cases = {
      {[](Queues* q) { q->resize(9); }, exclude},
      {[](Queues* q) { (*q)[0].operations = 0; },
       "queue 0: operations must be bits 1 load, 2 store, 4 forward and 8 compute"},
      {[](Queues* q) { (*q)[1].operations = 18; },
       "queue 1: operations must be bits 1 load, 2 store, 4 forward and 8 compute"},
      {[](Queues* q) { (*q)[1].roles = 32; },
       "queue 1: roles must be bits 1, 2, 4, 8 and 16"},
      {[](Queues* q) { (*q)[0].operations = 9; },
       "queue 0: a queue that forwards or computes needs per_node"},
      {[](Queues* q) { (*q)[0].latency_cycles = uint64_t{1} << 31; },
       "queue 0: latency_cycles and descriptor_cycles must be at most 2^30"},
      {[](Queues* q) { (*q)[0].burst_bytes = 24; },
       "queue 0: burst_bytes must be a power of two up to 4096"},
      {[](Queues* q) { (*q)[0].max_axes = 5; }, "queue 0: max_axes must be at most 4"},
      {[](Queues* q) { (*q)[0].roles = 30; }, "no queue loads inputs"},
      {[](Queues* q) { (*q)[0].roles = 29; }, "no queue loads weights"},
      {[](Queues* q) { (*q)[0].roles = 15; }, "no queue loads parameters"},
      {[](Queues* q) { q->pop_back(); }, "no queue stores outputs"},
      {[](Queues* q) {
         for (QueueSpec& queue : *q) {
           queue.operations |= SLUICE_DOES_COMPUTE;
           queue.per_node = true;
         }
       },
       "2 queues compute; a node has one such engine"},
  };
  for (const BadQueues& c : cases) {
    MachineSpec spec = MakeRandomMachine(1);
    spec.base.queues = LoadAndStore();
    c.spoil(&spec.base.queues);
    Library library;
    const HardwarePtr hardware = library.Hardware(MachineBytes(spec));
    CHECK(library.status == SLUICE_BAD_INPUT);
    CHECK(std::string(library.diagnostic.message) == c.message);
    CHECK(hardware == nullptr);
  }
}

// Buffer, scratchpad and DRAM, a fanout and an array of cores.
struct CoreMachine {
  uint32_t rows = 1, columns = 2, vector = 4, lane = 8;
  uint32_t levels[3] = {0, 0, 0};  // the level of input, weight, output
  uint32_t may_hold = 7, must_hold = 0;
  uint64_t buffer_bytes = 64, macs = 64;
  uint32_t fanout_level = 0, fanout_extent = 64, fanout_dims = 3;
  uint32_t accumulator_bytes = 4, scratchpad_level = 1;
  uint32_t node_cols = 1, link = 0;

  Bytes Descriptor() const {
    ::flatbuffers::FlatBufferBuilder b;
    std::vector<::flatbuffers::Offset<sluice::wire::Level>> made;
    for (uint32_t l = 0; l < 3; ++l) {
      sluice::wire::LevelBuilder level(b);
      level.add_capacity_bytes(l == 0 ? buffer_bytes : l == 1 ? 4096 : 0);
      level.add_bytes_per_cycle_numerator(l == 2 ? 3 : 0);
      level.add_bytes_per_cycle_denominator(2);
      if (l == 0) {
        level.add_may_hold(may_hold);
        level.add_must_hold(must_hold);
        level.add_share_weight(25);
        level.add_sliding(true);
      }
      made.push_back(level.Finish());
    }
    const auto v_levels = b.CreateVector(made);
    sluice::wire::FanoutBuilder fanout(b);
    fanout.add_level(fanout_level);
    fanout.add_extent(fanout_extent);
    fanout.add_may_unroll(fanout_dims);
    fanout.add_multicast(false);
    fanout.add_forward_pj_per_bit(0.5);
    const auto v_fanouts = b.CreateVector(
        std::vector<::flatbuffers::Offset<sluice::wire::Fanout>>{fanout.Finish()});
    sluice::wire::CoreArrayBuilder cores(b);
    cores.add_rows(rows);
    cores.add_columns(columns);
    cores.add_vector(vector);
    cores.add_lane(lane);
    cores.add_input_level(levels[0]);
    cores.add_weight_level(levels[1]);
    cores.add_output_level(levels[2]);
    cores.add_slice_read_pj_per_bit(0.25);
    const auto array = cores.Finish();
    sluice::wire::HardwareBuilder h(b);
    h.add_levels(v_levels);
    h.add_fanouts(v_fanouts);
    h.add_core_array(array);
    h.add_scratchpad_level(scratchpad_level);
    h.add_macs_per_cycle(macs);
    h.add_vector_ops_per_cycle(5);
    h.add_accumulator_bytes(accumulator_bytes);
    h.add_node_cols(node_cols);
    h.add_link_bytes_per_cycle_numerator(link);
    b.Finish(h.Finish(), sluice::wire::HardwareIdentifier());
    return Finished(b);
  }
};

// Reads a descriptor into an arena that lives as long as the result; keeps the message.
struct Reading {
  sluice::Memory memory{Nouns::Allocator(), 0};
  sluice::Arena arena{&memory};
  sluice::Hardware hardware = {};
  sluice::Diagnostic diagnostic = {};
  sluice::Status Read(const Bytes& bytes) {
    return sluice::ReadHardware(bytes.data(), bytes.size(), &arena, &hardware,
                                &diagnostic);
  }
};

TEST_CASE("each kind of bad memory gets its own sentence") {
  struct BadMemory {
    std::function<void(std::vector<MemorySpec>*)> spoil;
    const char* message;
  };
  using Memories = std::vector<MemorySpec>;
  const std::vector<BadMemory> cases = {
      {[](Memories* m) { m->resize(6); },
       "there are 6 memories; 1 to 5 are allowed, or no list for the last level alone"},
      {[](Memories* m) { (*m)[1].regions = 0; },
       "memory 1: regions must be bits 2, 4, 8, 16 and 32"},
      {[](Memories* m) { (*m)[1].regions = 3; },
       "memory 1: regions must be bits 2, 4, 8, 16 and 32"},
      {[](Memories* m) { (*m)[1].regions = 64; },
       "memory 1: regions must be bits 2, 4, 8, 16 and 32"},
      {[](Memories* m) { (*m)[1].regions = 6; },
       "memory 1: regions has one of another memory"},
      {[](Memories* m) { (*m)[1].read_only = true; },
       "memory 1: read_only memories hold constants alone: regions must be 2"},
      {[](Memories* m) { (*m)[0].capacity_bytes = uint64_t{1} << 41; },
       "memory 0: capacity_bytes above 2^40"},
      {[](Memories* m) { (*m)[0].latency_cycles = uint64_t{1} << 31; },
       "memory 0: latency_cycles above 2^30"},
      {[](Memories* m) { (*m)[0].read_pj = -1; },
       "memory 0: energies must be finite and not negative"},
      {[](Memories* m) { (*m)[0].numerator = 0; }, "memory 0: bandwidth zero"},
      {[](Memories* m) { (*m)[0].denominator = 0; },
       "a memory's bandwidth must be a rational of values up to 2^40 with a "
       "denominator of "
       "at least 1"},
  };
  for (const BadMemory& c : cases) {
    HardwareSpec spec;
    spec.memories.resize(2);
    spec.memories[0].read_only = true;
    spec.memories[1].regions = 4;
    Library library;
    CHECK(library.Hardware(HardwareBytes(spec)) != nullptr);
    c.spoil(&spec.memories);
    CHECK(library.Hardware(HardwareBytes(spec)) == nullptr);
    CHECK(library.status == SLUICE_BAD_INPUT);
    CHECK(std::string(library.diagnostic.message) == c.message);
  }
  HardwareSpec spec;
  spec.memories.resize(1);
  spec.host.emplace().uses_port = true;
  Library library;
  CHECK(library.Hardware(HardwareBytes(spec)) == nullptr);
  CHECK(std::string(library.diagnostic.message) ==
        "memories with a host that uses_port are not supported in this version");
}

TEST_CASE("read hardware: what was written is what is read") {
  Reading r;
  const Bytes bytes = CoreMachine().Descriptor();
  REQUIRE(r.Read(bytes) == sluice::Status::kOk);
  const sluice::Hardware& h = r.hardware;
  REQUIRE(h.levels.size() == 3);
  CHECK(h.levels[0].capacity_bytes == 64);
  CHECK(h.levels[0].share_percent[1] == 25);
  CHECK(h.levels[0].sliding);
  CHECK_FALSE(h.levels[1].sliding);
  CHECK(h.scratchpad().capacity_bytes == 4096);
  CHECK(h.dram().bandwidth.numerator == 3);
  CHECK(h.dram().bandwidth.denominator == 2);
  REQUIRE(h.fanouts.size() == 1);
  CHECK(h.fanouts[0].extent == 64);
  CHECK(h.fanouts[0].may_unroll == 3);
  CHECK_FALSE(h.fanouts[0].multicast);
  CHECK(h.fanouts[0].reduction);
  CHECK(h.fanouts[0].forward_pj_per_bit == 0.5);
  CHECK(h.macs_per_cycle == 64);
  CHECK(h.vector_ops_per_cycle == 5);
  CHECK(h.cores.columns == 2);
  CHECK(h.cores.lane == 8);
  CHECK(h.cores.slice_read_pj_per_bit == 0.25);
  CHECK(h.clock_hz == 1000000000);
  CHECK(h.node_rows == 1);
  CHECK(h.hash == Fnv1a64(bytes.data(), bytes.size()));
  // A descriptor without cores gives no cores.
  REQUIRE(r.Read(HardwareBytes(HardwareSpec())) == sluice::Status::kOk);
  CHECK(r.hardware.cores.rows == 0);
  CHECK(std::string(r.hardware.name.data, r.hardware.name.size) == "hand-made");
}

TEST_CASE("read hardware: levels, fanouts, cores and nodes out of range are named") {
  const std::vector<std::pair<std::function<void(CoreMachine*)>, const char*>> cases = {
      {[](CoreMachine* m) { m->scratchpad_level = 2; },
       "scratchpad_level must name a level below DRAM"},
      {[](CoreMachine* m) { m->may_hold = 8; },
       "level 0: must_hold must be part of may_hold, bits 1, 2 and 4"},
      {[](CoreMachine* m) {
         m->may_hold = 5;
         m->must_hold = 2;
       },
       "level 0: must_hold must be part of may_hold, bits 1, 2 and 4"},
      {[](CoreMachine* m) { m->fanout_level = 3; },
       "fanout 0 has a level, an extent or a set of dims out of range"},
      {[](CoreMachine* m) { m->fanout_extent = 0; },
       "fanout 0 has a level, an extent or a set of dims out of range"},
      {[](CoreMachine* m) { m->fanout_dims = 128; },
       "fanout 0 has a level, an extent or a set of dims out of range"},
      {[](CoreMachine* m) { m->macs = 63; },
       "core_array has 64 MACs, macs_per_cycle says 63"},
      {[](CoreMachine* m) { m->lane = 0; },
       "core_array: rows, columns, vector and lane must be 1 to 1024, not 0"},
      {[](CoreMachine* m) { m->levels[1] = 1; },
       "core_array: level 1 is not a buffer below the scratchpad for its operand"},
      {[](CoreMachine* m) { m->may_hold = 3; },
       "core_array: level 0 is not a buffer below the scratchpad for its operand"},
      {[](CoreMachine* m) { m->buffer_bytes = 7; },
       "core_array: level 0 of 7 bytes must have at least one byte per unit and less "
       "than 2 GiB"},
      {[](CoreMachine* m) { m->accumulator_bytes = 2; },
       "accumulator_bytes must be 4 in this version"},
      {[](CoreMachine* m) { m->node_cols = 1025; },
       "node_cols x node_rows must be 1 to 1024"},
      {[](CoreMachine* m) { m->node_cols = 4; },
       "4 nodes need links of more than 0 bytes per cycle"},
  };
  for (const auto& c : cases) {
    CoreMachine machine;
    c.first(&machine);
    Reading r;
    CHECK(r.Read(machine.Descriptor()) != sluice::Status::kOk);
    CHECK(std::string(r.diagnostic.message) == c.second);
    CHECK(std::string(r.diagnostic.stage) == "hardware");
  }
  CoreMachine mesh;
  mesh.node_cols = 4;
  mesh.link = 1;
  CHECK(Reading().Read(mesh.Descriptor()) == sluice::Status::kOk);
}

}  // namespace
}  // namespace sluice_test
