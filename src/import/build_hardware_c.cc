// SPDX-License-Identifier: Apache-2.0
// The C functions of build.h that collect a machine.
#include <memory>
#include <vector>

#include "import/border.h"
#include "import/builder.h"
#include "import/graph_check.h"
#include "sluice/build.h"
#include "sluice/hardware_generated.h"

namespace sluice::import {
namespace {

// The caller's struct with an owned copy of its name.
template <typename Given>
struct Named {
  Given given;
  std::string name;
};

template <typename Given>
Named<Given> Copied(const Given* from, const char* what) {
  MustBeThere(from, what);
  const Given given = Complete(from, what);
  return {given, TextOf(given.name)};
}

}  // namespace
}  // namespace sluice::import

struct sluice_hardware_builder {
  sluice::import::Named<sluice_machine_t> machine;
  std::vector<sluice::import::Named<sluice_level_t>> levels;
  std::vector<sluice::import::Named<sluice_fanout_t>> fanouts;
  std::vector<sluice::import::Named<sluice_queue_t>> queues;
  std::vector<sluice::import::Named<sluice_memory_t>> memories;
  std::vector<sluice_op_support_t> ops;
  sluice_core_array_t cores;
  bool has_cores;
  sluice_array_t array;
  bool has_array;
  sluice_host_t host;
  bool has_host;
  sluice::import::FirstFault fault;
};

namespace sluice::import {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// A field that is 0 takes its default.
template <typename T>
T Or(T given, T otherwise) {
  return given == 0 ? otherwise : given;
}

Offset<wire::Level> Write(const Named<sluice_level_t>& from, FlatBufferBuilder* flat) {
  const auto name = flat->CreateString(from.name);
  const sluice_level_t& l = from.given;
  wire::LevelBuilder to(*flat);
  to.add_name(name);
  to.add_capacity_bytes(l.capacity_bytes);
  to.add_instances(Or(l.instances, 1u));
  to.add_read_pj_per_bit(l.read_pj_per_bit);
  to.add_write_pj_per_bit(l.write_pj_per_bit);
  to.add_bytes_per_cycle_numerator(l.bytes_per_cycle_numerator);
  to.add_bytes_per_cycle_denominator(Or(l.bytes_per_cycle_denominator, uint64_t{1}));
  to.add_alignment_bytes(Or(l.alignment_bytes, 1u));
  to.add_may_hold(Or(l.may_hold, 7u));
  to.add_must_hold(l.must_hold);
  to.add_sliding(l.sliding != 0);
  to.add_share_input(l.share_input);
  to.add_share_weight(l.share_weight);
  to.add_share_output(l.share_output);
  return to.Finish();
}

Offset<wire::Fanout> Write(const Named<sluice_fanout_t>& from,
                           FlatBufferBuilder* flat) {
  const auto name = flat->CreateString(from.name);
  const sluice_fanout_t& f = from.given;
  wire::FanoutBuilder to(*flat);
  to.add_level(f.level);
  to.add_extent(Or(f.extent, 1u));
  to.add_may_unroll(Or(f.may_unroll, 127u));
  to.add_multicast(f.no_multicast == 0);
  to.add_reduction(f.no_reduction == 0);
  to.add_forwarding(f.forwarding != 0);
  to.add_name(name);
  to.add_transfer_pj_per_bit(f.transfer_pj_per_bit);
  to.add_forward_pj_per_bit(f.forward_pj_per_bit);
  return to.Finish();
}

Offset<wire::Queue> Write(const Named<sluice_queue_t>& from, FlatBufferBuilder* flat) {
  const auto name = flat->CreateString(from.name);
  const sluice_queue_t& q = from.given;
  wire::QueueBuilder to(*flat);
  to.add_name(name);
  to.add_operations(Or(q.operations, 3u));
  to.add_roles(Or(q.roles, 31u));
  to.add_per_node(q.per_node != 0);
  to.add_latency_cycles(q.latency_cycles);
  to.add_burst_bytes(Or(q.burst_bytes, 1u));
  to.add_max_row_bytes(q.max_row_bytes);
  to.add_max_rows(q.max_rows);
  to.add_max_axes(q.max_axes);
  to.add_descriptor_cycles(q.descriptor_cycles);
  return to.Finish();
}

Offset<wire::Memory> Write(const Named<sluice_memory_t>& from,
                           FlatBufferBuilder* flat) {
  const auto name = flat->CreateString(from.name);
  const sluice_memory_t& m = from.given;
  wire::MemoryBuilder to(*flat);
  to.add_name(name);
  to.add_regions(m.regions);
  to.add_read_only(m.read_only != 0);
  to.add_capacity_bytes(m.capacity_bytes);
  to.add_latency_cycles(m.latency_cycles);
  to.add_bytes_per_cycle_numerator(m.bytes_per_cycle_numerator);
  to.add_bytes_per_cycle_denominator(Or(m.bytes_per_cycle_denominator, uint64_t{1}));
  to.add_read_pj_per_bit(m.read_pj_per_bit);
  to.add_write_pj_per_bit(m.write_pj_per_bit);
  return to.Finish();
}

Offset<wire::CoreArray> Write(const sluice_core_array_t& c, FlatBufferBuilder* flat) {
  wire::CoreArrayBuilder to(*flat);
  to.add_rows(Or(c.rows, 1u));
  to.add_columns(Or(c.columns, 1u));
  to.add_vector(Or(c.vector, 1u));
  to.add_lane(Or(c.lane, 1u));
  to.add_input_level(c.input_level);
  to.add_weight_level(c.weight_level);
  to.add_output_level(c.output_level);
  to.add_slice_read_pj_per_bit(c.slice_read_pj_per_bit);
  to.add_slice_write_pj_per_bit(c.slice_write_pj_per_bit);
  return to.Finish();
}

Offset<wire::Array> Write(const sluice_array_t& a, FlatBufferBuilder* flat) {
  wire::ArrayBuilder to(*flat);
  to.add_k(Or(a.k, 1u));
  to.add_c(Or(a.c, 1u));
  to.add_p(Or(a.p, 1u));
  to.add_crosses_rows(a.cuts_rows == 0);
  to.add_packs_filter(a.packs_filter != 0);
  to.add_demands(a.demands);
  to.add_fill_cycles(a.fill_cycles);
  to.add_drain_cycles(a.drain_cycles);
  return to.Finish();
}

Offset<wire::OpSupport> Write(const sluice_op_support_t& row, FlatBufferBuilder* flat) {
  wire::OpSupportBuilder to(*flat);
  to.add_op(row.op);
  to.add_dtypes(Or(row.dtypes, 62u));
  to.add_requantise(Or(row.requantise, 7u));
  to.add_arithmetic(Or(row.arithmetic, 1u));
  to.add_zero_points(7u ^ row.symmetric);
  to.add_max_kernel_h(row.max_kernel_h);
  to.add_max_kernel_w(row.max_kernel_w);
  to.add_max_stride(row.max_stride);
  to.add_max_dilation(row.max_dilation);
  return to.Finish();
}

Offset<wire::Host> Write(const sluice_host_t& host, FlatBufferBuilder* flat) {
  wire::HostBuilder to(*flat);
  to.add_call_cycles(host.call_cycles);
  to.add_bytes_per_cycle_numerator(host.bytes_per_cycle_numerator);
  to.add_bytes_per_cycle_denominator(Or(host.bytes_per_cycle_denominator, uint64_t{1}));
  to.add_ops_per_cycle_numerator(host.ops_per_cycle_numerator);
  to.add_ops_per_cycle_denominator(Or(host.ops_per_cycle_denominator, uint64_t{1}));
  to.add_pj_per_cycle(host.pj_per_cycle);
  to.add_uses_port(host.uses_port != 0);
  return to.Finish();
}

void AddRates(const sluice_machine_t& m, wire::HardwareBuilder* to) {
  to->add_clock_hz(Or(m.clock_hz, uint64_t{1000000000}));
  to->add_scratchpad_level(m.scratchpad_level);
  to->add_macs_per_cycle(m.macs_per_cycle);
  to->add_mac_pj(m.mac_pj);
  to->add_vector_ops_per_cycle(m.vector_ops_per_cycle);
  to->add_vector_op_pj(m.vector_op_pj);
  to->add_leakage_pj_per_cycle(m.leakage_pj_per_cycle);
  to->add_accumulator_bytes(Or(m.accumulator_bytes, 4u));
}

void AddTransfers(const sluice_machine_t& m, wire::HardwareBuilder* to) {
  to->add_dma_latency_cycles(m.dma_latency_cycles);
  to->add_dram_granule_bytes(Or(m.dram_granule_bytes, 1u));
  to->add_node_cols(Or(m.node_cols, 1u));
  to->add_node_rows(Or(m.node_rows, 1u));
  to->add_hop_pj_per_bit(m.hop_pj_per_bit);
  to->add_hop_latency_cycles(Or(m.hop_latency_cycles, uint64_t{1}));
  to->add_link_bytes_per_cycle_numerator(m.link_bytes_per_cycle_numerator);
  to->add_link_bytes_per_cycle_denominator(
      Or(m.link_bytes_per_cycle_denominator, uint64_t{1}));
}

Bytes Written(const sluice_hardware_builder& from) {
  FlatBufferBuilder flat;
  const auto name = flat.CreateString(from.machine.name);
  std::vector<Offset<wire::Level>> levels;
  for (const auto& level : from.levels) levels.push_back(Write(level, &flat));
  std::vector<Offset<wire::Fanout>> fanouts;
  for (const auto& fanout : from.fanouts) fanouts.push_back(Write(fanout, &flat));
  std::vector<Offset<wire::Queue>> queues;
  for (const auto& queue : from.queues) queues.push_back(Write(queue, &flat));
  std::vector<Offset<wire::Memory>> memories;
  for (const auto& memory : from.memories) memories.push_back(Write(memory, &flat));
  Offset<wire::CoreArray> cores;
  if (from.has_cores) cores = Write(from.cores, &flat);
  Offset<wire::Array> array;
  if (from.has_array) array = Write(from.array, &flat);
  std::vector<Offset<wire::OpSupport>> ops;
  for (const sluice_op_support_t& row : from.ops) ops.push_back(Write(row, &flat));
  Offset<wire::Host> host;
  if (from.has_host) host = Write(from.host, &flat);
  const auto level_list = flat.CreateVector(levels);
  const auto fanout_list = flat.CreateVector(fanouts);
  Offset<flatbuffers::Vector<Offset<wire::Queue>>> queue_list;
  if (!queues.empty()) queue_list = flat.CreateVector(queues);
  Offset<flatbuffers::Vector<Offset<wire::Memory>>> memory_list;
  if (!memories.empty()) memory_list = flat.CreateVector(memories);
  Offset<flatbuffers::Vector<Offset<wire::OpSupport>>> op_list;
  if (!ops.empty()) op_list = flat.CreateVector(ops);
  wire::HardwareBuilder to(flat);
  to.add_name(name);
  to.add_levels(level_list);
  to.add_fanouts(fanout_list);
  if (from.has_array) to.add_array(array);
  if (from.has_cores) to.add_core_array(cores);
  if (!queues.empty()) to.add_queues(queue_list);
  if (!ops.empty()) to.add_ops(op_list);
  if (!memories.empty()) to.add_memories(memory_list);
  if (from.has_host) to.add_host(host);
  AddRates(from.machine.given, &to);
  AddTransfers(from.machine.given, &to);
  wire::FinishHardwareBuffer(flat, to.Finish());
  return Bytes(flat.GetBufferPointer(), flat.GetBufferPointer() + flat.GetSize());
}

}  // namespace
}  // namespace sluice::import

using sluice::import::Complete;
using sluice::import::MustBeThere;

sluice_hardware_builder_t* sluice_hardware_builder_create(
    const sluice_machine_t* machine) {
  std::unique_ptr<sluice_hardware_builder> builder(new (std::nothrow)
                                                       sluice_hardware_builder());
  if (builder == nullptr) return nullptr;
  builder->fault.Watch([&] {
    builder->machine = sluice::import::Copied(machine, "machine");
    return 0u;
  });
  return builder.release();
}

void sluice_hardware_builder_destroy(sluice_hardware_builder_t* builder) {
  delete builder;
}

uint32_t sluice_hardware_builder_level(sluice_hardware_builder_t* builder,
                                       const sluice_level_t* level) {
  if (builder == nullptr) return SLUICE_NO_INDEX;
  return builder->fault.Watch([&] {
    builder->levels.push_back(sluice::import::Copied(level, "level"));
    return static_cast<uint32_t>(builder->levels.size() - 1);
  });
}

uint32_t sluice_hardware_builder_fanout(sluice_hardware_builder_t* builder,
                                        const sluice_fanout_t* fanout) {
  if (builder == nullptr) return SLUICE_NO_INDEX;
  return builder->fault.Watch([&] {
    builder->fanouts.push_back(sluice::import::Copied(fanout, "fanout"));
    return static_cast<uint32_t>(builder->fanouts.size() - 1);
  });
}

uint32_t sluice_hardware_builder_queue(sluice_hardware_builder_t* builder,
                                       const sluice_queue_t* queue) {
  if (builder == nullptr) return SLUICE_NO_INDEX;
  return builder->fault.Watch([&] {
    builder->queues.push_back(sluice::import::Copied(queue, "queue"));
    return static_cast<uint32_t>(builder->queues.size() - 1);
  });
}

uint32_t sluice_hardware_builder_memory(sluice_hardware_builder_t* builder,
                                        const sluice_memory_t* memory) {
  if (builder == nullptr) return SLUICE_NO_INDEX;
  return builder->fault.Watch([&] {
    builder->memories.push_back(sluice::import::Copied(memory, "memory"));
    return static_cast<uint32_t>(builder->memories.size() - 1);
  });
}

void sluice_hardware_builder_cores(sluice_hardware_builder_t* builder,
                                   const sluice_core_array_t* cores) {
  if (builder == nullptr) return;
  builder->fault.Watch([&] {
    MustBeThere(cores, "cores");
    builder->cores = Complete(cores, "cores");
    builder->has_cores = true;
    return 0u;
  });
}

void sluice_hardware_builder_array(sluice_hardware_builder_t* builder,
                                   const sluice_array_t* array) {
  if (builder == nullptr) return;
  builder->fault.Watch([&] {
    MustBeThere(array, "array");
    builder->array = Complete(array, "array");
    builder->has_array = true;
    return 0u;
  });
}

uint32_t sluice_hardware_builder_op(sluice_hardware_builder_t* builder,
                                    const sluice_op_support_t* op) {
  if (builder == nullptr) return SLUICE_NO_INDEX;
  return builder->fault.Watch([&] {
    MustBeThere(op, "op");
    builder->ops.push_back(Complete(op, "op"));
    return static_cast<uint32_t>(builder->ops.size() - 1);
  });
}

void sluice_hardware_builder_host(sluice_hardware_builder_t* builder,
                                  const sluice_host_t* host) {
  if (builder == nullptr) return;
  builder->fault.Watch([&] {
    MustBeThere(host, "host");
    builder->host = Complete(host, "host");
    builder->has_host = true;
    return 0u;
  });
}

sluice_status_t sluice_hardware_builder_finish(const sluice_hardware_builder_t* builder,
                                               const sluice_allocator_t* allocator,
                                               sluice_bytes_t* out_hardware,
                                               sluice_diagnostic_t* diagnostic) {
  using namespace sluice::import;
  if (out_hardware != nullptr) *out_hardware = {nullptr, 0};
  sluice_status_t refused = SLUICE_OK;
  const sluice_status_t status = Guarded(diagnostic, "build", [&] {
    MustBeThere(builder, "builder");
    MustBeThere(out_hardware, "out_hardware");
    builder->fault.Rethrow();
    const Bytes hardware = Written(*builder);
    refused = TryHardware(hardware, diagnostic);
    if (refused == SLUICE_OK) HandOver(hardware, allocator, out_hardware);
  });
  return status == SLUICE_OK ? refused : status;
}
