// SPDX-License-Identifier: Apache-2.0
// Hand-made streams, graphs, descriptors and plans for the tests of both judges.
//
// Input   records added one by one; nothing is shared, checked or reordered
// Output  StreamBuilder::Image() lays out header, directory, tables, bodies and hashes;
//         Graph-, Hardware- and PlanBytes() give flatbuffers
// Cost    linear in the records
// A Case is a whole scenario (graph, hardware, places, stream); tests break its stream
// in one place and ask a judge. Users link sluice_wire.
#ifndef SLUICE_TESTS_SUPPORT_STREAM_BUILDER_H_
#define SLUICE_TESTS_SUPPORT_STREAM_BUILDER_H_
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "sluice/ops.h"
#include "sluice/stream.h"
#include "support/engines.h"
#include "support/wire_builder.h"

namespace sluice_test {

// A wait inside a visit, for the first `count` of its instructions on `engine`.
inline sluice_wait_t After(uint32_t engine, uint32_t count) {
  return sluice_wait_t{static_cast<uint16_t>(engine), 0, count};
}
// A wait on earlier visits, for all of the engine's instructions in them but `left`.
inline sluice_wait_t AfterAllBut(uint32_t left, uint32_t engine) {
  return sluice_wait_t{static_cast<uint16_t>(engine), 1, left};
}

using Waits = std::vector<sluice_wait_t>;

struct ListedInstruction {
  sluice_instruction_t record{};  // first_wait and wait_count are set by Image()
  Waits waits;
};

struct BlockBuilder {
  std::vector<std::vector<ListedInstruction>> lists;  // per engine
  std::vector<sluice_tile_t> tiles;
  std::vector<sluice_transfer_t> transfers;
  std::vector<sluice_host_call_t> host_calls;
  std::vector<sluice_operand_t> operands;
  std::vector<sluice_shape_t> shapes;
  uint32_t slot_count = 0;
  uint32_t kernel_count = 0;

  uint32_t AddShape(const Four& extent, const Four& stride) {
    sluice_shape_t shape{};
    std::copy(extent.begin(), extent.end(), shape.extent);
    std::copy(stride.begin(), stride.end(), shape.stride);
    shapes.push_back(shape);
    return static_cast<uint32_t>(shapes.size() - 1);
  }
  // A strided box at `offset` of a slot; returns the operand's index.
  uint32_t Strided(uint16_t slot, uint8_t dtype, const Four& extent, const Four& stride,
                   uint64_t offset) {
    sluice_operand_t operand{};
    operand.slot = slot;
    operand.dtype = dtype;
    operand.shape = AddShape(extent, stride);
    operand.offset_lo = static_cast<uint32_t>(offset);
    operand.offset_hi = static_cast<uint32_t>(offset >> 32);
    operands.push_back(operand);
    return static_cast<uint32_t>(operands.size() - 1);
  }
  uint32_t Dense(uint16_t slot, uint8_t dtype, const Four& extent, uint64_t offset) {
    return Strided(slot, dtype, extent, DenseStrides(extent, dtype), offset);
  }
  // Appends to an engine's list; returns the instruction's 1-based place in the list.
  uint32_t Append(uint32_t engine, uint8_t opcode, uint8_t flags, uint32_t descriptor,
                  Waits waits) {
    if (lists.size() <= engine) lists.resize(engine + 1);
    ListedInstruction entry;
    entry.record.opcode = opcode;
    entry.record.flags = flags;
    entry.record.descriptor = descriptor;
    entry.waits = std::move(waits);
    lists[engine].push_back(entry);
    return static_cast<uint32_t>(lists[engine].size());
  }
  uint32_t AddTransfer(uint32_t src, uint32_t dst) {
    sluice_transfer_t transfer{};
    transfer.src = src;
    transfer.dst = dst;
    transfer.index = SLUICE_NONE;
    transfer.dst_cols = transfer.dst_rows = 1;
    transfer.role = SLUICE_ROLE_OUTPUT;
    transfer.descriptors = 1;
    transfers.push_back(transfer);
    return static_cast<uint32_t>(transfers.size() - 1);
  }
  uint32_t Load(uint32_t src, uint32_t dst, Waits waits = {}, uint16_t dst_node = 0,
                uint16_t cols = 1, uint16_t rows = 1, uint32_t index = SLUICE_NONE) {
    const uint32_t t = AddTransfer(src, dst);
    transfers[t].dst_node = dst_node;
    transfers[t].dst_cols = cols;
    transfers[t].dst_rows = rows;
    transfers[t].index = index;
    transfers[t].role = SLUICE_ROLE_INPUT;
    return Append(kDmaEngine, SLUICE_OPCODE_LOAD, 0, t, std::move(waits));
  }
  uint32_t Store(uint32_t src, uint32_t dst, Waits waits = {}, uint16_t src_node = 0) {
    const uint32_t t = AddTransfer(src, dst);
    transfers[t].src_node = src_node;
    return Append(kDmaEngine, SLUICE_OPCODE_STORE, 0, t, std::move(waits));
  }
  uint32_t Forward(uint32_t src, uint32_t dst, uint16_t src_node, uint16_t dst_node,
                   Waits waits = {}, uint16_t cols = 1, uint16_t rows = 1) {
    const uint32_t t = AddTransfer(src, dst);
    transfers[t].src_node = src_node;
    transfers[t].dst_node = dst_node;
    transfers[t].dst_cols = cols;
    transfers[t].dst_rows = rows;
    transfers[t].descriptors = 0;
    return Append(SendEngine(src_node), SLUICE_OPCODE_FORWARD, 0, t, std::move(waits));
  }
  uint32_t Compute(const sluice_tile_t& tile, Waits waits = {},
                   uint8_t flags = SLUICE_FLAG_FIRST | SLUICE_FLAG_LAST,
                   uint16_t node = 0) {
    tiles.push_back(tile);
    return Append(ComputeEngine(node), SLUICE_OPCODE_COMPUTE, flags,
                  static_cast<uint32_t>(tiles.size() - 1), std::move(waits));
  }
};

// A tile with no operand set.
inline sluice_tile_t EmptyTile(uint32_t kernel, uint32_t cycles) {
  sluice_tile_t tile{};
  tile.kernel = kernel;
  tile.cycles = cycles;
  tile.input0 = tile.input1 = tile.weight = SLUICE_NONE;
  tile.parameters = tile.accumulator = tile.output = SLUICE_NONE;
  return tile;
}

struct StreamBuilder {
  uint32_t node_cols = 1, node_rows = 1;
  uint32_t region_alignment = 16;
  uint64_t gbuf_bytes = 0;
  uint64_t region_bytes[SLUICE_REGION_COUNT] = {};
  std::vector<BlockBuilder> blocks;
  std::vector<sluice_instance_t> instances;
  std::vector<sluice_loop_t> loops;
  std::vector<int32_t> steps;
  std::vector<sluice_binding_t> bindings;
  std::vector<sluice_kernel_t> kernels;
  std::vector<int32_t> attributes;
  std::vector<sluice_patch_t> patches;

  // Empty: the engines of the simplest machine.
  std::vector<sluice_engine_t> engine_table;

  std::vector<sluice_engine_t> Engines() const {
    return engine_table.empty() ? SimplestEngines(node_cols * node_rows) : engine_table;
  }
  uint32_t engines() const { return static_cast<uint32_t>(Engines().size()); }
  uint32_t AddKernel(uint16_t op, uint32_t layer, const std::vector<int32_t>& values) {
    sluice_kernel_t kernel{};
    kernel.op = op;
    kernel.attribute_count = static_cast<uint16_t>(values.size());
    kernel.first_attribute = static_cast<uint32_t>(attributes.size());
    kernel.layer = layer;
    attributes.insert(attributes.end(), values.begin(), values.end());
    kernels.push_back(kernel);
    return static_cast<uint32_t>(kernels.size() - 1);
  }
  uint32_t AddBinding(uint32_t region, uint64_t base) {
    bindings.push_back(
        {region, static_cast<uint32_t>(base), static_cast<uint32_t>(base >> 32), 0});
    return static_cast<uint32_t>(bindings.size() - 1);
  }
  void AddInstance(uint32_t block, uint32_t first_binding, uint32_t first_kernel) {
    instances.push_back({block, first_binding, first_kernel, SLUICE_NONE});
  }

  // The relocatable image with all hashes.
  Bytes Image() const;
};

template <typename T>
uint32_t AppendTable(Bytes* image, const std::vector<T>& table) {
  const uint32_t offset = static_cast<uint32_t>(image->size());
  const uint8_t* first = reinterpret_cast<const uint8_t*>(table.data());
  image->insert(image->end(), first, first + table.size() * sizeof(T));
  return offset;
}

inline void PadTo16(Bytes* image) { image->resize((image->size() + 15) / 16 * 16); }

inline sluice_block_t AppendBody(const BlockBuilder& from, uint32_t engines,
                                 Bytes* image) {
  sluice_block_t block{};
  std::vector<sluice_instruction_t> instructions;
  std::vector<sluice_wait_t> waits;
  std::vector<uint32_t> list;
  for (uint32_t e = 0; e < engines; ++e) {
    list.push_back(static_cast<uint32_t>(instructions.size()));
    if (e >= from.lists.size()) continue;
    for (const ListedInstruction& entry : from.lists[e]) {
      instructions.push_back(entry.record);
      instructions.back().first_wait = static_cast<uint32_t>(waits.size());
      instructions.back().wait_count = static_cast<uint16_t>(entry.waits.size());
      waits.insert(waits.end(), entry.waits.begin(), entry.waits.end());
    }
  }
  list.push_back(static_cast<uint32_t>(instructions.size()));

  PadTo16(image);
  block.body_offset = static_cast<uint32_t>(image->size());
  block.slot_count = from.slot_count;
  block.kernel_count = from.kernel_count;
  block.list_offset = AppendTable(image, list);
  auto put = [&](const auto& table, uint32_t* count, uint32_t* offset) {
    *count = static_cast<uint32_t>(table.size());
    *offset = AppendTable(image, table);
  };
  put(instructions, &block.instruction_count, &block.instruction_offset);
  put(waits, &block.wait_count, &block.wait_offset);
  put(from.tiles, &block.tile_count, &block.tile_offset);
  put(from.transfers, &block.transfer_count, &block.transfer_offset);
  put(from.host_calls, &block.host_call_count, &block.host_call_offset);
  put(from.operands, &block.operand_count, &block.operand_offset);
  put(from.shapes, &block.shape_count, &block.shape_offset);
  PadTo16(image);
  block.body_bytes = static_cast<uint32_t>(image->size()) - block.body_offset;
  const uint64_t hash = StreamHash(image->data() + block.body_offset, block.body_bytes);
  block.hash_lo = static_cast<uint32_t>(hash);
  block.hash_hi = static_cast<uint32_t>(hash >> 32);
  return block;
}

// Corrects size and hash of an image whose bytes were changed by hand.
inline void Rehash(Bytes* image) {
  sluice_stream_header_t header;
  std::memcpy(&header, image->data(), sizeof header);
  const uint64_t hash =
      StreamHash(image->data() + sizeof header, image->size() - sizeof header);
  header.size_bytes = static_cast<uint32_t>(image->size());
  header.hash_lo = static_cast<uint32_t>(hash);
  header.hash_hi = static_cast<uint32_t>(hash >> 32);
  std::memcpy(image->data(), &header, sizeof header);
}

inline Bytes StreamBuilder::Image() const {
  sluice_stream_header_t header{};
  header.magic = SLUICE_STREAM_MAGIC;
  header.version = SLUICE_STREAM_VERSION;
  header.node_cols = node_cols;
  header.node_rows = node_rows;
  header.region_alignment = region_alignment;
  header.gbuf_bytes_lo = static_cast<uint32_t>(gbuf_bytes);
  header.gbuf_bytes_hi = static_cast<uint32_t>(gbuf_bytes >> 32);
  for (int r = 0; r < SLUICE_REGION_COUNT; ++r) {
    header.region_bytes[r][0] = static_cast<uint32_t>(region_bytes[r]);
    header.region_bytes[r][1] = static_cast<uint32_t>(region_bytes[r] >> 32);
  }
  Bytes image(sizeof header);
  std::vector<sluice_block_t> directory(blocks.size());
  auto put = [&](const auto& table, uint32_t* count, uint32_t* offset) {
    *count = static_cast<uint32_t>(table.size());
    *offset = AppendTable(&image, table);
  };
  put(Engines(), &header.engine_count, &header.engine_offset);
  put(directory, &header.block_count, &header.block_offset);
  put(instances, &header.instance_count, &header.instance_offset);
  put(loops, &header.loop_count, &header.loop_offset);
  put(steps, &header.step_count, &header.step_offset);
  put(bindings, &header.binding_count, &header.binding_offset);
  put(kernels, &header.kernel_count, &header.kernel_offset);
  put(attributes, &header.attribute_count, &header.attribute_offset);
  put(patches, &header.patch_count, &header.patch_offset);
  for (size_t b = 0; b < blocks.size(); ++b) {
    directory[b] = AppendBody(blocks[b], engines(), &image);
  }
  PadTo16(&image);
  if (!directory.empty()) {
    std::memcpy(image.data() + header.block_offset, directory.data(),
                directory.size() * sizeof(sluice_block_t));
  }
  std::memcpy(image.data(), &header, sizeof header);
  Rehash(&image);
  return image;
}

// ---- Scenarios
// -----------------------------------------------------------------------

struct Case {
  GraphSpec graph;
  HardwareSpec hardware;
  std::vector<Place> places;
  StreamBuilder stream;
  ReportSpec report;                       // of the valid plan; the scenario fills it
  std::vector<uint32_t> debug_layer = {};  // by instruction; empty: none

  Bytes Graph() const { return GraphBytes(graph); }
  Bytes Hardware() const { return HardwareBytes(hardware); }
  Bytes Plan() const { return PlanOf(stream.Image()); }
  Bytes PlanOf(const Bytes& image) const {
    return BytesOfPlan(image, places, Graph(), Hardware(), report, debug_layer);
  }
};

inline Place PlaceAt(uint8_t region, uint64_t offset, const Four& extent,
                     uint8_t dtype) {
  return Place{region, offset, DenseStrides(extent, dtype)};
}

// (bias, multiplier, shift) of each of `channels` output channels, all different.
inline std::vector<int32_t> ChannelParameters(int channels) {
  std::vector<int32_t> values;
  for (int k = 0; k < channels; ++k) {
    values.push_back(37 * k - 100);
    values.push_back((1 << 30) + 1000003 * k);
    values.push_back(-8);
  }
  return values;
}

// One 3x3 convolution [1,8,4,8] -> [1,8,4,8], padding 1, four tiles of two rows, input
// and output double buffered; weights stay. GBUF: weight 0, parameters 576, input
// buffers 672 and 800, output buffers 928 and 992, end 1056.
//
// Slots: 0 gbuf, 1 const, 2 input, 3 output. DMA list (1-based): 1 weight, 2
// parameters, 3 in0, 4 in1, 5 out0, 6 in2, 7 out1, 8 in3, 9 out2, 10 out3; compute
// list: tiles 0..3.
inline Case ConvCase() {
  Case c;
  const int32_t zero_in = 3, zero_out = -5;
  const std::vector<int32_t> attributes = {1, 1, 1,       1, 1,        1,    1,
                                           1, 1, zero_in, 0, zero_out, -128, 127};
  const uint8_t i8 = SLUICE_DTYPE_INT8, i32 = SLUICE_DTYPE_INT32;
  c.graph.tensors.push_back({{1, 8, 4, 8}, i8, 1, 0, 0});
  c.graph.tensors.push_back({{8, 3, 3, 8}, i8, 3, 3, 11});
  c.graph.tensors.push_back(c.graph.Inline({8, 3}, i32, ChannelParameters(8)));
  c.graph.tensors.push_back({{1, 8, 4, 8}, i8, 2, 0, 0});
  c.graph.layers.push_back({SLUICE_OP_CONV, {0, 1, 2}, {3}, attributes});
  c.places = {PlaceAt(SLUICE_REGION_INPUT, 0, {1, 8, 4, 8}, i8),
              PlaceAt(SLUICE_REGION_CONST, 0, {8, 3, 3, 8}, i8),
              PlaceAt(SLUICE_REGION_CONST, 576, {1, 1, 8, 3}, i32),
              PlaceAt(SLUICE_REGION_OUTPUT, 0, {1, 8, 4, 8}, i8)};
  StreamBuilder& s = c.stream;
  s.gbuf_bytes = c.hardware.scratchpad_bytes;
  s.region_bytes[SLUICE_REGION_GBUF] = 1056;
  s.region_bytes[SLUICE_REGION_CONST] = 672;
  s.region_bytes[SLUICE_REGION_INPUT] = 256;
  s.region_bytes[SLUICE_REGION_OUTPUT] = 256;
  s.AddKernel(SLUICE_OP_CONV, 0, attributes);
  for (uint32_t region = 0; region < 4; ++region) s.AddBinding(region, 0);
  s.blocks.emplace_back();
  s.AddInstance(0, 0, 0);
  BlockBuilder& b = s.blocks[0];
  b.slot_count = 4;
  b.kernel_count = 1;
  const uint32_t compute = ComputeEngine(0);
  const uint32_t weight = b.Dense(0, i8, {8, 3, 3, 8}, 0);
  const uint32_t parameters = b.Dense(0, i32, {1, 1, 8, 3}, 576);
  b.Load(b.Dense(1, i8, {8, 3, 3, 8}, 0), weight);
  b.Load(b.Dense(1, i32, {1, 1, 8, 3}, 576), parameters);
  auto rows = [](uint32_t t) { return t == 0 || t == 3 ? 3u : 4u; };
  auto input = [&](uint32_t t) {
    return b.Dense(0, i8, {1, rows(t), 4, 8}, 672 + 128 * (t % 2));
  };
  auto output = [&](uint32_t t) {
    return b.Dense(0, i8, {1, 2, 4, 8}, 928 + 64 * (t % 2));
  };
  auto load = [&](uint32_t t) {
    const uint32_t first = t == 0 ? 0 : 2 * t - 1;
    b.Load(b.Dense(2, i8, {1, rows(t), 4, 8}, 32 * first), input(t));
  };
  auto store = [&](uint32_t t) {
    b.Store(output(t), b.Dense(3, i8, {1, 2, 4, 8}, 64 * t), {After(compute, t + 1)});
  };
  load(0), load(1), store(0), load(2), store(1), load(3), store(2), store(3);
  const uint32_t needs[4] = {3, 4, 6, 8};
  for (uint32_t t = 0; t < 4; ++t) {
    sluice_tile_t tile = EmptyTile(0, 72);
    tile.input0 = input(t);
    tile.weight = weight;
    tile.parameters = parameters;
    tile.output = output(t);
    tile.origin[1] = 2 * t;
    tile.c_end = 8;
    tile.pad[0] = t == 0;
    tile.pad[2] = t == 3;
    tile.pad[1] = tile.pad[3] = 1;
    b.Compute(tile, {After(kDmaEngine, needs[t])});
  }
  // DMA: 1 0-154, 2 -188, 3 -222, 4 -264; tile 0 222-294, tile 1 294-366; 5 294-320,
  // 6 -362, 7 366-392, 8 392-426; tile 2 366-438, tile 3 438-510; 9 438-464, 10
  // 510-536.
  c.report = {536, 576 + 96 + 96 + 128 + 128 + 96, 256};
  return c;
}

// One 1x1 convolution [1,2,2,16] -> [1,2,2,8] whose sum over C is cut in two: the first
// tile clears the accumulator, the last one writes. GBUF: parameters 0, input buffers
// 96 and 128, weight buffers 160 and 224, accumulator 288, output 416, end 448.
//
// Slots as in ConvCase. DMA list: 1 parameters, 2 in0, 3 weight0, 4 in1, 5 weight1, 6
// out.
inline Case AccumulateCase() {
  Case c;
  const std::vector<int32_t> attributes = {1, 1, 1,  1, 0, 0,    0,
                                           0, 1, -2, 0, 7, -100, 100};
  const uint8_t i8 = SLUICE_DTYPE_INT8, i32 = SLUICE_DTYPE_INT32;
  c.graph.tensors.push_back({{1, 2, 2, 16}, i8, 1, 0, 0});
  c.graph.tensors.push_back({{8, 1, 1, 16}, i8, 3, 3, 12});
  c.graph.tensors.push_back(c.graph.Inline({8, 3}, i32, ChannelParameters(8)));
  c.graph.tensors.push_back({{1, 2, 2, 8}, i8, 2, 0, 0});
  c.graph.layers.push_back({SLUICE_OP_CONV, {0, 1, 2}, {3}, attributes});
  c.places = {PlaceAt(SLUICE_REGION_INPUT, 0, {1, 2, 2, 16}, i8),
              PlaceAt(SLUICE_REGION_CONST, 0, {8, 1, 1, 16}, i8),
              PlaceAt(SLUICE_REGION_CONST, 128, {1, 1, 8, 3}, i32),
              PlaceAt(SLUICE_REGION_OUTPUT, 0, {1, 2, 2, 8}, i8)};
  StreamBuilder& s = c.stream;
  s.gbuf_bytes = c.hardware.scratchpad_bytes;
  s.region_bytes[SLUICE_REGION_GBUF] = 448;
  s.region_bytes[SLUICE_REGION_CONST] = 224;
  s.region_bytes[SLUICE_REGION_INPUT] = 64;
  s.region_bytes[SLUICE_REGION_OUTPUT] = 32;
  s.AddKernel(SLUICE_OP_CONV, 0, attributes);
  for (uint32_t region = 0; region < 4; ++region) s.AddBinding(region, 0);
  s.blocks.emplace_back();
  s.AddInstance(0, 0, 0);
  BlockBuilder& b = s.blocks[0];
  b.slot_count = 4;
  b.kernel_count = 1;
  const uint32_t compute = ComputeEngine(0);
  const uint32_t parameters = b.Dense(0, i32, {1, 1, 8, 3}, 0);
  const uint32_t accumulator = b.Dense(0, i32, {1, 2, 2, 8}, 288);
  const uint32_t output = b.Dense(0, i8, {1, 2, 2, 8}, 416);
  b.Load(b.Dense(1, i32, {1, 1, 8, 3}, 128), parameters);
  for (uint32_t t = 0; t < 2; ++t) {
    const uint32_t input = b.Dense(0, i8, {1, 2, 2, 8}, 96 + 32 * t);
    const uint32_t weight = b.Dense(0, i8, {8, 1, 1, 8}, 160 + 64 * t);
    b.Load(b.Strided(2, i8, {1, 2, 2, 8}, {64, 32, 16, 1}, 8 * t), input);
    b.Load(b.Strided(1, i8, {8, 1, 1, 8}, {16, 16, 16, 1}, 8 * t), weight);
    sluice_tile_t tile = EmptyTile(0, 4);
    tile.input0 = input;
    tile.weight = weight;
    tile.parameters = t == 1 ? parameters : SLUICE_NONE;
    tile.accumulator = accumulator;
    tile.output = t == 1 ? output : SLUICE_NONE;
    tile.c_begin = 8 * t;
    tile.c_end = 8 * t + 8;
    b.Compute(tile, {After(kDmaEngine, 3 + 2 * t)},
              t == 0 ? SLUICE_FLAG_FIRST : SLUICE_FLAG_LAST);
  }
  b.Store(output, b.Dense(3, i8, {1, 2, 2, 8}, 0), {After(compute, 2)});
  // DMA: 1 0-34, 2 -52, 3 -78, 4 -96, 5 -122; tile 1 122-126; 6 126-144.
  c.report = {144, 96 + 2 * 32 + 2 * 64, 32};
  return c;
}

// A requantisation of [2,3,4,8], row by row: one instance in two loops, over images and
// over rows. GBUF: a row of input at 0, one of output at 32.
//
// Slots: 0 gbuf, 1 input, 2 output. DMA list: load, store; compute list: the tile.
inline Case LoopCase() {
  Case c;
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  const Four whole = {2, 3, 4, 8}, row = {1, 1, 4, 8};
  const std::vector<int32_t> attributes = {1, 1 << 30, 1, 2, -128, 127};
  c.graph.tensors.push_back({{2, 3, 4, 8}, i8, 1, 0, 0});
  c.graph.tensors.push_back({{2, 3, 4, 8}, i8, 2, 0, 0});
  c.graph.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, attributes});
  c.places = {PlaceAt(SLUICE_REGION_INPUT, 0, whole, i8),
              PlaceAt(SLUICE_REGION_OUTPUT, 0, whole, i8)};
  StreamBuilder& s = c.stream;
  s.gbuf_bytes = c.hardware.scratchpad_bytes;
  s.region_bytes[SLUICE_REGION_GBUF] = 64;
  s.region_bytes[SLUICE_REGION_INPUT] = 192;
  s.region_bytes[SLUICE_REGION_OUTPUT] = 192;
  s.AddKernel(SLUICE_OP_REQUANTIZE, 0, attributes);
  s.AddBinding(SLUICE_REGION_GBUF, 0);
  s.AddBinding(SLUICE_REGION_INPUT, 0);
  s.AddBinding(SLUICE_REGION_OUTPUT, 0);
  s.blocks.emplace_back();
  s.AddInstance(0, 0, 0);
  s.instances[0].first_step = 0;
  s.loops = {{0, 0, 2, SLUICE_NONE}, {0, 0, 3, 0}};
  s.steps = {1,                                   // the inner loop
             0, 0, 96, 0, 96, 0, 1, 0, 0, 0, 0,   // an image
             0, 0, 32, 0, 32, 0, 0, 1, 0, 0, 0};  // a row
  BlockBuilder& b = s.blocks[0];
  b.slot_count = 3;
  b.kernel_count = 1;
  sluice_tile_t tile = EmptyTile(0, 4);
  tile.input0 = b.Dense(0, i8, row, 0);
  tile.output = b.Dense(0, i8, row, 32);
  // This load follows the last store on the same queue, which waited for the tile
  // before.
  b.Load(b.Dense(1, i8, row, 0), tile.input0);
  b.Compute(tile, {After(kDmaEngine, 1)});
  b.Store(tile.output, b.Dense(2, i8, row, 0), {After(ComputeEngine(0), 1)});
  c.report = {0, 192, 192};
  return c;
}

// One addition [1,4,4,8] + [1,4,4,8], two tiles of two rows, all buffers apart, and the
// block used as two instances with waits across: instance i does tile i by its
// bindings. GBUF: a 0 and 64, b 128 and 192, output 256 and 320, end 384.
//
// Slots: 0 a in GBUF, 1 b in GBUF, 2 out in GBUF, 3 a, 4 b, 5 out in DRAM. DMA list:
// 1 a, 2 b, 3 out. The tile of instance 1 waits for all transfers of instance 0, too.
inline Case AddCase() {
  Case c;
  const int32_t half = 1 << 30;
  const std::vector<int32_t> attributes = {20, 1, half, 0,   -1,   half,
                                           0,  2, half, -18, -128, 127};
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  const Four whole = {1, 4, 4, 8}, box = {1, 2, 4, 8};
  for (int t = 0; t < 3; ++t) {
    const uint8_t kind = t == 2 ? 2 : 1;
    c.graph.tensors.push_back({{1, 4, 4, 8}, i8, kind, 0, 0});
  }
  c.graph.layers.push_back({SLUICE_OP_ADD, {0, 1}, {2}, attributes});
  c.places = {PlaceAt(SLUICE_REGION_INPUT, 0, whole, i8),
              PlaceAt(SLUICE_REGION_INPUT, 128, whole, i8),
              PlaceAt(SLUICE_REGION_OUTPUT, 0, whole, i8)};
  StreamBuilder& s = c.stream;
  s.gbuf_bytes = c.hardware.scratchpad_bytes;
  s.region_bytes[SLUICE_REGION_GBUF] = 384;
  s.region_bytes[SLUICE_REGION_INPUT] = 256;
  s.region_bytes[SLUICE_REGION_OUTPUT] = 128;
  s.AddKernel(SLUICE_OP_ADD, 0, attributes);
  for (uint32_t i = 0; i < 2; ++i) {
    s.AddBinding(SLUICE_REGION_GBUF, 64 * i);
    s.AddBinding(SLUICE_REGION_GBUF, 128 + 64 * i);
    s.AddBinding(SLUICE_REGION_GBUF, 256 + 64 * i);
    s.AddBinding(SLUICE_REGION_INPUT, 64 * i);
    s.AddBinding(SLUICE_REGION_INPUT, 128 + 64 * i);
    s.AddBinding(SLUICE_REGION_OUTPUT, 64 * i);
  }
  // Origins belong to the body, so the tiles need two bodies, one for each instance.
  for (uint32_t i = 0; i < 2; ++i) {
    s.blocks.emplace_back();
    s.AddInstance(i, 6 * i, 0);
    BlockBuilder& b = s.blocks[i];
    b.slot_count = 6;
    b.kernel_count = 1;
    const uint32_t in0 = b.Dense(0, i8, box, 0), in1 = b.Dense(1, i8, box, 0);
    const uint32_t out = b.Dense(2, i8, box, 0);
    b.Load(b.Dense(3, i8, box, 0), in0);
    b.Load(b.Dense(4, i8, box, 0), in1);
    sluice_tile_t tile = EmptyTile(0, 8);
    tile.input0 = in0;
    tile.input1 = in1;
    tile.output = out;
    tile.origin[1] = 2 * i;
    Waits waits = {After(kDmaEngine, 2)};
    if (i == 1) waits.push_back(AfterAllBut(0, kDmaEngine));
    b.Compute(tile, waits);
    b.Store(out, b.Dense(5, i8, box, 0), {After(ComputeEngine(0), 1)});
  }
  // Instance 0: 0-26, 26-52, compute 52-60, store 60-86; instance 1: 86-112, 112-138,
  // compute 138-146, store 146-172.
  c.report = {172, 256, 128};
  return c;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_STREAM_BUILDER_H_
