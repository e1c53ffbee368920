// SPDX-License-Identifier: Apache-2.0
// Graphs, descriptors and plans as flatbuffers, for tests.
//
// Input   specs filled field by field; nothing is checked
// Output  bytes of graph.fbs, hardware.fbs, plan.fbs
// Cost    linear in the spec. Users link sluice_wire.
#ifndef SLUICE_TESTS_SUPPORT_WIRE_BUILDER_H_
#define SLUICE_TESTS_SUPPORT_WIRE_BUILDER_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sluice/graph_generated.h"
#include "sluice/hardware_generated.h"
#include "sluice/ops.h"
#include "sluice/plan_generated.h"
#include "sluice/stream.h"
#include "support/bytes.h"

namespace sluice_test {

constexpr uint8_t kI8 = SLUICE_DTYPE_INT8, kI32 = SLUICE_DTYPE_INT32;

using Four = std::array<uint32_t, 4>;

inline uint64_t Fnv1a64(const uint8_t* data, size_t size,
                        uint64_t hash = 0xcbf29ce484222325u) {
  for (size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 0x100000001b3u;
  return hash;
}

// The hash of a stream or a body: FNV-1a over words instead of bytes.
inline uint64_t StreamHash(const uint8_t* data, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i + 4 <= size; i += 4) {
    const uint32_t word = data[i] | uint32_t{data[i + 1]} << 8 |
                          uint32_t{data[i + 2]} << 16 | uint32_t{data[i + 3]} << 24;
    hash = (hash ^ word) * 0x100000001b3u;
  }
  return hash;
}

// The hash by which a plan names its graph: all bytes but the values of inline
// constants.
inline uint64_t GraphHash(const std::vector<uint8_t>& graph) {
  const auto* data = sluice::wire::GetGraph(graph.data())->data();
  if (data == nullptr) return Fnv1a64(graph.data(), graph.size());
  const size_t begin = static_cast<size_t>(data->Data() - graph.data());
  const size_t end = begin + data->size();
  const uint64_t hash = Fnv1a64(graph.data(), begin);
  return Fnv1a64(graph.data() + end, graph.size() - end, hash);
}

inline uint32_t DtypeSize(uint8_t dtype) {
  static const uint32_t sizes[SLUICE_DTYPE_COUNT] = {0, 1, 1, 2, 4, 8};
  return dtype < SLUICE_DTYPE_COUNT ? sizes[dtype] : 0;
}

// Strides in bytes of a row-major tensor.
inline Four DenseStrides(const Four& extent, uint8_t dtype) {
  Four stride{};
  uint32_t step = DtypeSize(dtype);
  for (int a = 3; a >= 0; --a) {
    stride[a] = step;
    step *= extent[a];
  }
  return stride;
}

struct TensorSpec {
  std::vector<int32_t> dims;
  uint8_t dtype = SLUICE_DTYPE_INT8;
  uint8_t kind = 0;    // 0 intermediate, 1 input, 2 output, 3 constant, 4 state
  uint8_t source = 0;  // 1 inline, 2 external, 3 seeded
  uint64_t source_offset = 0;
  uint64_t encoded_bytes = 0;  // off chip; 0: as many as the tensor has
};
struct LayerSpec {
  uint16_t op = 0;
  std::vector<uint32_t> inputs, outputs;
  std::vector<int32_t> attributes;
};
struct ParameterSpec {
  int32_t min = 0, max = 0;
};
struct GraphSpec {
  std::vector<TensorSpec> tensors;
  std::vector<LayerSpec> layers;
  std::vector<ParameterSpec> parameters;
  Bytes data;

  // Appends inline bytes and returns the tensor that holds them.
  template <typename T>
  TensorSpec Inline(std::vector<int32_t> dims, uint8_t dtype, const std::vector<T>& v) {
    TensorSpec tensor{std::move(dims), dtype, 3, 1, data.size()};
    const uint8_t* first = reinterpret_cast<const uint8_t*>(v.data());
    data.insert(data.end(), first, first + v.size() * sizeof(T));
    return tensor;
  }
};

inline Bytes Finished(const ::flatbuffers::FlatBufferBuilder& builder) {
  return Bytes(builder.GetBufferPointer(),
               builder.GetBufferPointer() + builder.GetSize());
}

// A graph as the wire format has it: an array for each field of tensors and layers.
struct GraphColumns {
  std::vector<uint32_t> t_name, dim_begin{0}, file, l_name, in_begin{0}, ins,
      out_begin{0}, outs, attr_begin{0};
  std::vector<uint8_t> dtype, kind, source;
  std::vector<int32_t> dims, attrs, p_min, p_max;
  std::vector<uint64_t> source_offset, encoded;
  std::vector<uint16_t> op;

  void Add(const TensorSpec& t) {
    t_name.push_back(SLUICE_NONE);
    file.push_back(SLUICE_NONE);
    dtype.push_back(t.dtype);
    kind.push_back(t.kind);
    source.push_back(t.source);
    source_offset.push_back(t.source_offset);
    encoded.push_back(t.encoded_bytes);
    dims.insert(dims.end(), t.dims.begin(), t.dims.end());
    dim_begin.push_back(static_cast<uint32_t>(dims.size()));
  }
  void Add(const LayerSpec& l) {
    l_name.push_back(SLUICE_NONE);
    op.push_back(l.op);
    ins.insert(ins.end(), l.inputs.begin(), l.inputs.end());
    in_begin.push_back(static_cast<uint32_t>(ins.size()));
    outs.insert(outs.end(), l.outputs.begin(), l.outputs.end());
    out_begin.push_back(static_cast<uint32_t>(outs.size()));
    attrs.insert(attrs.end(), l.attributes.begin(), l.attributes.end());
    attr_begin.push_back(static_cast<uint32_t>(attrs.size()));
  }
  void Add(const ParameterSpec& p) {
    p_min.push_back(p.min);
    p_max.push_back(p.max);
  }
};

inline Bytes GraphBytes(const GraphSpec& spec) {
  ::flatbuffers::FlatBufferBuilder b;
  GraphColumns c;
  for (const TensorSpec& t : spec.tensors) c.Add(t);
  for (const LayerSpec& l : spec.layers) c.Add(l);
  for (const ParameterSpec& p : spec.parameters) c.Add(p);
  const std::vector<uint32_t> p_name(c.p_min.size(), SLUICE_NONE);
  const auto name = b.CreateString("hand-made");
  const auto names =
      b.CreateVector(std::vector<::flatbuffers::Offset<::flatbuffers::String>>{});
  const auto v_t_name = b.CreateVector(c.t_name);
  const auto v_dtype = b.CreateVector(c.dtype);
  const auto v_kind = b.CreateVector(c.kind);
  const auto v_dim_begin = b.CreateVector(c.dim_begin);
  const auto v_dims = b.CreateVector(c.dims);
  const auto v_source = b.CreateVector(c.source);
  const auto v_source_offset = b.CreateVector(c.source_offset);
  const bool any = std::any_of(c.encoded.begin(), c.encoded.end(),
                               [](uint64_t bytes) { return bytes != 0; });
  ::flatbuffers::Offset<::flatbuffers::Vector<uint64_t>> v_encoded;
  if (any) v_encoded = b.CreateVector(c.encoded);
  const auto v_file = b.CreateVector(c.file);
  const auto v_data = b.CreateVector(spec.data);
  const auto v_l_name = b.CreateVector(c.l_name);
  const auto v_op = b.CreateVector(c.op);
  const auto v_in_begin = b.CreateVector(c.in_begin);
  const auto v_ins = b.CreateVector(c.ins);
  const auto v_out_begin = b.CreateVector(c.out_begin);
  const auto v_outs = b.CreateVector(c.outs);
  const auto v_attr_begin = b.CreateVector(c.attr_begin);
  const auto v_attrs = b.CreateVector(c.attrs);
  const auto v_p_name = b.CreateVector(p_name);
  const auto v_p_min = b.CreateVector(c.p_min);
  const auto v_p_max = b.CreateVector(c.p_max);
  sluice::wire::GraphBuilder g(b);
  g.add_name(name);
  g.add_names(names);
  g.add_tensor_name(v_t_name);
  g.add_tensor_dtype(v_dtype);
  g.add_tensor_kind(v_kind);
  g.add_tensor_dim_begin(v_dim_begin);
  g.add_tensor_dims(v_dims);
  g.add_tensor_source(v_source);
  g.add_tensor_source_offset(v_source_offset);
  g.add_tensor_source_file(v_file);
  g.add_data(v_data);
  g.add_layer_name(v_l_name);
  g.add_layer_op(v_op);
  g.add_layer_input_begin(v_in_begin);
  g.add_layer_inputs(v_ins);
  g.add_layer_output_begin(v_out_begin);
  g.add_layer_outputs(v_outs);
  g.add_layer_attribute_begin(v_attr_begin);
  g.add_layer_attributes(v_attrs);
  g.add_parameter_name(v_p_name);
  g.add_parameter_min(v_p_min);
  g.add_parameter_max(v_p_max);
  g.add_tensor_encoded_bytes(v_encoded);
  b.Finish(g.Finish(), sluice::wire::GraphIdentifier());
  return Finished(b);
}

struct QueueSpec {
  uint32_t operations = 3, roles = 31;
  bool per_node = false;
  uint64_t latency_cycles = 10;
  uint32_t burst_bytes = 1, max_row_bytes = 0, max_rows = 0, max_axes = 0;
  uint32_t descriptor_cycles = 0;
};

struct OpSpec {
  uint32_t op = 0, arithmetic = 1, dtypes = 62, requantise = 7, zero_points = 7;
  uint32_t max_kernel_h = 0, max_kernel_w = 0, max_stride = 0, max_dilation = 0;
};

struct HostSpec {
  uint64_t call_cycles = 0;
  uint64_t bytes_numerator = 0, bytes_denominator = 1;  // per cycle
  uint64_t ops_numerator = 0, ops_denominator = 1;
  double pj_per_cycle = 0;
  bool uses_port = false;
};

// A memory off chip beside the last level.
struct MemorySpec {
  uint32_t regions = 1u << SLUICE_REGION_CONST;
  bool read_only = false;
  uint64_t capacity_bytes = 0, latency_cycles = 0;
  uint64_t numerator = 1, denominator = 1;  // bytes per cycle
  double read_pj = 1, write_pj = 1;         // per bit
};

struct HardwareSpec {
  uint64_t scratchpad_bytes = 4096;
  uint32_t alignment_bytes = 16;
  uint64_t dram_numerator = 4, dram_denominator = 1;  // bytes per cycle
  uint64_t dma_latency_cycles = 10;
  uint64_t macs_per_cycle = 64, vector_ops_per_cycle = 16;
  uint32_t node_cols = 1, node_rows = 1;
  uint64_t hop_latency_cycles = 3;
  uint64_t link_numerator = 8, link_denominator = 1;
  std::vector<QueueSpec> queues;  // empty: one queue does everything
  std::vector<OpSpec> ops;        // empty: every operator
  std::optional<HostSpec> host;
  std::vector<MemorySpec> memories;  // empty: everything lies in the last level
};

// One queue loads, another stores.
inline std::vector<QueueSpec> LoadAndStore() {
  QueueSpec load, store;
  load.operations = SLUICE_DOES_LOAD;
  store.operations = SLUICE_DOES_STORE;
  return {load, store};
}

// Three queues as on VTA: the engine that computes also loads parameters.
inline std::vector<QueueSpec> ParametersByCompute() {
  std::vector<QueueSpec> queues = LoadAndStore();
  queues[0].roles = SLUICE_ROLES & ~SLUICE_ROLE_PARAMETERS;
  QueueSpec compute;
  compute.operations = SLUICE_DOES_LOAD | SLUICE_DOES_COMPUTE;
  compute.roles = SLUICE_ROLE_PARAMETERS;
  compute.per_node = true;
  queues.push_back(compute);
  return queues;
}

inline ::flatbuffers::Offset<
    ::flatbuffers::Vector<::flatbuffers::Offset<sluice::wire::Queue>>>
QueueList(const std::vector<QueueSpec>& queues, ::flatbuffers::FlatBufferBuilder* b) {
  std::vector<::flatbuffers::Offset<sluice::wire::Queue>> list;
  for (const QueueSpec& q : queues) {
    sluice::wire::QueueBuilder to(*b);
    to.add_operations(q.operations);
    to.add_roles(q.roles);
    to.add_per_node(q.per_node);
    to.add_latency_cycles(q.latency_cycles);
    to.add_burst_bytes(q.burst_bytes);
    to.add_max_row_bytes(q.max_row_bytes);
    to.add_max_rows(q.max_rows);
    to.add_max_axes(q.max_axes);
    to.add_descriptor_cycles(q.descriptor_cycles);
    list.push_back(to.Finish());
  }
  return b->CreateVector(list);
}

inline ::flatbuffers::Offset<
    ::flatbuffers::Vector<::flatbuffers::Offset<sluice::wire::OpSupport>>>
OpList(const std::vector<OpSpec>& ops, ::flatbuffers::FlatBufferBuilder* b) {
  std::vector<::flatbuffers::Offset<sluice::wire::OpSupport>> list;
  for (const OpSpec& o : ops) {
    list.push_back(sluice::wire::CreateOpSupport(
        *b, o.op, o.arithmetic, o.dtypes, o.requantise, o.zero_points, o.max_kernel_h,
        o.max_kernel_w, o.max_stride, o.max_dilation));
  }
  return b->CreateVector(list);
}

inline ::flatbuffers::Offset<sluice::wire::Host> HostTable(
    const HostSpec& h, ::flatbuffers::FlatBufferBuilder* b) {
  return sluice::wire::CreateHost(*b, h.call_cycles, h.bytes_numerator,
                                  h.bytes_denominator, h.ops_numerator,
                                  h.ops_denominator, h.pj_per_cycle, h.uses_port);
}

inline ::flatbuffers::Offset<
    ::flatbuffers::Vector<::flatbuffers::Offset<sluice::wire::Memory>>>
MemoryList(const std::vector<MemorySpec>& memories,
           ::flatbuffers::FlatBufferBuilder* b) {
  std::vector<::flatbuffers::Offset<sluice::wire::Memory>> list;
  for (const MemorySpec& m : memories) {
    const auto name = b->CreateString("memory " + std::to_string(list.size()));
    list.push_back(sluice::wire::CreateMemory(
        *b, name, m.regions, m.read_only, m.capacity_bytes, m.latency_cycles,
        m.numerator, m.denominator, m.read_pj, m.write_pj));
  }
  return b->CreateVector(list);
}

inline Bytes HardwareBytes(const HardwareSpec& spec) {
  ::flatbuffers::FlatBufferBuilder b;
  const auto gbuf_name = b.CreateString("gbuf");
  sluice::wire::LevelBuilder gbuf(b);
  gbuf.add_name(gbuf_name);
  gbuf.add_capacity_bytes(spec.scratchpad_bytes);
  gbuf.add_alignment_bytes(spec.alignment_bytes);
  gbuf.add_read_pj_per_bit(0.1);
  gbuf.add_write_pj_per_bit(0.1);
  const auto level0 = gbuf.Finish();
  const auto dram_name = b.CreateString("dram");
  sluice::wire::LevelBuilder dram(b);
  dram.add_name(dram_name);
  dram.add_alignment_bytes(spec.alignment_bytes);
  dram.add_read_pj_per_bit(10);
  dram.add_write_pj_per_bit(10);
  dram.add_bytes_per_cycle_numerator(spec.dram_numerator);
  dram.add_bytes_per_cycle_denominator(spec.dram_denominator);
  const auto level1 = dram.Finish();
  const auto levels = b.CreateVector(
      std::vector<::flatbuffers::Offset<sluice::wire::Level>>{level0, level1});
  const auto name = b.CreateString("hand-made");
  const auto queues = QueueList(spec.queues, &b);
  const auto ops = OpList(spec.ops, &b);
  const auto host = HostTable(spec.host.value_or(HostSpec()), &b);
  const auto memories = MemoryList(spec.memories, &b);
  sluice::wire::HardwareBuilder h(b);
  if (!spec.memories.empty()) h.add_memories(memories);
  if (!spec.ops.empty()) h.add_ops(ops);
  if (spec.host) h.add_host(host);
  h.add_name(name);
  h.add_levels(levels);
  h.add_scratchpad_level(0);
  h.add_macs_per_cycle(spec.macs_per_cycle);
  h.add_mac_pj(0.2);
  h.add_vector_ops_per_cycle(spec.vector_ops_per_cycle);
  h.add_vector_op_pj(0.1);
  if (spec.queues.empty()) {
    h.add_dma_latency_cycles(spec.dma_latency_cycles);
  } else {
    h.add_queues(queues);
  }
  h.add_node_cols(spec.node_cols);
  h.add_node_rows(spec.node_rows);
  h.add_hop_latency_cycles(spec.hop_latency_cycles);
  h.add_link_bytes_per_cycle_numerator(spec.link_numerator);
  h.add_link_bytes_per_cycle_denominator(spec.link_denominator);
  b.Finish(h.Finish(), sluice::wire::HardwareIdentifier());
  return Finished(b);
}

struct Place {
  uint8_t region = 255;  // no place in DRAM
  uint64_t offset = 0;
  Four stride{};
};

struct ReportSpec {
  uint64_t latency_cycles = 0, dram_read_bytes = 0, dram_write_bytes = 0;
};

inline Bytes BytesOfPlan(const Bytes& stream, const std::vector<Place>& places,
                         const Bytes& graph, const Bytes& hardware,
                         const ReportSpec& numbers,
                         const std::vector<uint32_t>& debug_layer = {}) {
  ::flatbuffers::FlatBufferBuilder b;
  std::vector<sluice::wire::Words> words(stream.size() / 16);
  std::memcpy(static_cast<void*>(words.data()), stream.data(), words.size() * 16);
  std::vector<uint8_t> region;
  std::vector<uint64_t> offset;
  std::vector<uint32_t> stride;
  for (const Place& p : places) {
    region.push_back(p.region);
    offset.push_back(p.offset);
    stride.insert(stride.end(), p.stride.begin(), p.stride.end());
  }
  const auto v_words = b.CreateVectorOfStructs(words);
  const auto v_region = b.CreateVector(region);
  const auto v_offset = b.CreateVector(offset);
  const auto v_stride = b.CreateVector(stride);
  const auto v_debug = b.CreateVector(debug_layer);
  sluice::wire::ReportBuilder r(b);
  r.add_latency_cycles(numbers.latency_cycles);
  r.add_dram_read_bytes(numbers.dram_read_bytes);
  r.add_dram_write_bytes(numbers.dram_write_bytes);
  const auto report = r.Finish();
  sluice::wire::PlanBuilder p(b);
  p.add_graph_hash(GraphHash(graph));
  p.add_hardware_hash(Fnv1a64(hardware.data(), hardware.size()));
  p.add_stream(v_words);
  p.add_tensor_region(v_region);
  p.add_tensor_offset(v_offset);
  p.add_tensor_strides(v_stride);
  p.add_report(report);
  if (!debug_layer.empty()) p.add_debug_layer(v_debug);
  b.Finish(p.Finish(), sluice::wire::PlanIdentifier());
  return Finished(b);
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_WIRE_BUILDER_H_
