// SPDX-License-Identifier: Apache-2.0
// More hand-made cases for the static judge: views, gather, host, in place, nodes, append;
// and how a test changes one field of a case.
#ifndef SLUICE_TESTS_VERIFY_CASES_H_
#define SLUICE_TESTS_VERIFY_CASES_H_

#include "support/stream_builder.h"

namespace sluice_test {

constexpr uint32_t kDma = kDmaEngine;
constexpr uint32_t kHost = kHostEngine;
constexpr uint32_t kCompute = ComputeEngine(0);

inline ListedInstruction& At(Case* c, uint32_t engine, size_t number,
                             size_t block = 0) {
  return c->stream.blocks[block].lists[engine][number - 1];  // 1-based, as in waits
}
inline sluice_tile_t& Tile(Case* c, size_t i) { return c->stream.blocks[0].tiles[i]; }
inline sluice_transfer_t& Transfer(Case* c, size_t i) {
  return c->stream.blocks[0].transfers[i];
}
inline sluice_operand_t& Operand(Case* c, uint32_t i) {
  return c->stream.blocks[0].operands[i];
}
inline sluice_shape_t& Shape(Case* c, uint32_t operand) {
  return c->stream.blocks[0].shapes[Operand(c, operand).shape];
}
// Takes an engine's instruction out of its list.
inline void Drop(Case* c, uint32_t engine, size_t number) {
  auto& list = c->stream.blocks[0].lists[engine];
  list.erase(list.begin() + static_cast<long>(number) - 1);
}

// One block with one instance, whose slots 0 to 5 are bound to the starts of regions 0
// to 5.
inline BlockBuilder& OneBlock(Case* c, uint64_t gbuf, uint64_t constants,
                              uint64_t input, uint64_t output, uint64_t workspace) {
  StreamBuilder& s = c->stream;
  s.gbuf_bytes = c->hardware.scratchpad_bytes;
  s.region_bytes[SLUICE_REGION_GBUF] = gbuf;
  s.region_bytes[SLUICE_REGION_CONST] = constants;
  s.region_bytes[SLUICE_REGION_INPUT] = input;
  s.region_bytes[SLUICE_REGION_OUTPUT] = output;
  s.region_bytes[SLUICE_REGION_WORKSPACE] = workspace;
  for (uint32_t region = 0; region < 6; ++region) s.AddBinding(region, 0);
  s.blocks.emplace_back();
  s.AddInstance(0, 0, 0);
  s.blocks[0].slot_count = 6;
  s.blocks[0].kernel_count = 1;
  return s.blocks[0];
}

// maximum(a, b) and maximum(b, c) of [1,4,4,8], stored straight into the concat of both
// along C, [1,4,4,16], an output; the concat itself does nothing. Then a slice of that
// ([1,2,4,4] at row 1, channel 6, so from both halves), reshaped to [1,1,1,32], is
// loaded, requantised and stored.
// DMA list: 1 a, 2 b, 3 c, 4 first half, 5 second half, 6 slice, 7 result.
// Compute: 1 maximum, 2 maximum, 3 requantize.
inline Case ConcatCase() {
  Case c;
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  const Four half = {1, 4, 4, 8}, full = {1, 4, 4, 16};
  for (int i = 0; i < 3; ++i) c.graph.tensors.push_back({{1, 4, 4, 8}, i8, 1, 0, 0});
  c.graph.tensors.push_back({{1, 4, 4, 8}, i8, 0, 0, 0});   // 3
  c.graph.tensors.push_back({{1, 4, 4, 8}, i8, 0, 0, 0});   // 4
  c.graph.tensors.push_back({{1, 4, 4, 16}, i8, 2, 0, 0});  // 5
  c.graph.tensors.push_back({{1, 2, 4, 4}, i8, 0, 0, 0});   // 6
  c.graph.tensors.push_back({{1, 32}, i8, 0, 0, 0});        // 7
  c.graph.tensors.push_back({{1, 32}, i8, 2, 0, 0});        // 8
  c.graph.layers.push_back({SLUICE_OP_MAXIMUM, {0, 1}, {3}, {}});
  c.graph.layers.push_back({SLUICE_OP_MAXIMUM, {1, 2}, {4}, {}});
  c.graph.layers.push_back({SLUICE_OP_CONCAT, {3, 4}, {5}, {3}});
  c.graph.layers.push_back({SLUICE_OP_SLICE, {5}, {6}, {0, 1, 0, 6}});
  c.graph.layers.push_back({SLUICE_OP_RESHAPE, {6}, {7}, {}});
  const std::vector<int32_t> requantize = {1, 1 << 30, 1, 2, -128, 127};
  c.graph.layers.push_back({SLUICE_OP_REQUANTIZE, {7}, {8}, requantize});
  const Four wide = DenseStrides(full, i8);
  for (uint64_t i = 0; i < 3; ++i) {
    c.places.push_back(PlaceAt(SLUICE_REGION_INPUT, 128 * i, half, i8));
  }
  c.places.push_back({SLUICE_REGION_OUTPUT, 0, wide});
  c.places.push_back({SLUICE_REGION_OUTPUT, 8, wide});
  c.places.push_back({SLUICE_REGION_OUTPUT, 0, wide});
  c.places.push_back({SLUICE_REGION_OUTPUT, 64 + 6, wide});
  c.places.push_back({});
  c.places.push_back(PlaceAt(SLUICE_REGION_OUTPUT, 256, {1, 1, 1, 32}, i8));
  BlockBuilder& b = OneBlock(&c, 704, 0, 384, 288, 0);
  b.kernel_count = 3;
  c.stream.AddKernel(SLUICE_OP_MAXIMUM, 0, {});
  c.stream.AddKernel(SLUICE_OP_MAXIMUM, 1, {});
  c.stream.AddKernel(SLUICE_OP_REQUANTIZE, 5, requantize);
  uint32_t in[3], out[2];
  for (uint32_t i = 0; i < 3; ++i) {
    in[i] = b.Dense(0, i8, half, 128 * i);
    b.Load(b.Dense(2, i8, half, 128 * i), in[i]);
  }
  const uint32_t dma = kDmaEngine, compute = ComputeEngine(0);
  for (uint32_t i = 0; i < 2; ++i) {
    out[i] = b.Dense(0, i8, half, 384 + 128 * i);
    sluice_tile_t tile = EmptyTile(i, 16);
    tile.input0 = in[i];
    tile.input1 = in[i + 1];
    tile.output = out[i];
    b.Compute(tile, {After(dma, i + 2)});
    b.Store(out[i], b.Strided(3, i8, half, wide, 8 * i), {After(compute, i + 1)});
  }
  const Four slice = {1, 2, 4, 4};
  b.Load(b.Strided(3, i8, slice, wide, 64 + 6), b.Dense(0, i8, slice, 640));
  sluice_tile_t tile = EmptyTile(2, 2);
  tile.input0 = b.Dense(0, i8, {1, 1, 1, 32}, 640);
  tile.output = b.Dense(0, i8, {1, 1, 1, 32}, 672);
  b.Compute(tile, {After(dma, 6)});
  b.Store(tile.output, b.Dense(3, i8, {1, 1, 1, 32}, 256), {After(compute, 3)});
  c.report = {0, 3 * 128 + 32, 2 * 128 + 32};
  return c;
}

// gather of rows of a table [10,8] by three indices, then an opaque layer on the whole.
// DMA: 1 indices, 2 rows, 3 store of the rows (workspace). Host: 1.
inline Case GatherHostCase() {
  Case c;
  const uint8_t i8 = SLUICE_DTYPE_INT8, i32 = SLUICE_DTYPE_INT32;
  c.graph.tensors.push_back({{10, 8}, i8, 3, 3, 5});
  c.graph.tensors.push_back({{3}, i32, 1, 0, 0});
  c.graph.tensors.push_back({{3, 8}, i8, 0, 0, 0});
  c.graph.tensors.push_back({{3, 8}, i8, 2, 0, 0});
  c.graph.layers.push_back({SLUICE_OP_GATHER, {0, 1}, {2}, {}});
  c.graph.layers.push_back({SLUICE_OP_OPAQUE, {2}, {3}, {100, 0, 0}});
  const Four rows = {1, 1, 3, 8};
  c.places = {PlaceAt(SLUICE_REGION_CONST, 0, {1, 1, 10, 8}, i8),
              PlaceAt(SLUICE_REGION_INPUT, 0, {1, 1, 1, 3}, i32),
              PlaceAt(SLUICE_REGION_WORKSPACE, 0, rows, i8),
              PlaceAt(SLUICE_REGION_OUTPUT, 0, rows, i8)};
  BlockBuilder& b = OneBlock(&c, 40, 80, 12, 24, 24);
  c.stream.AddKernel(SLUICE_OP_OPAQUE, 1, {100, 0, 0});
  c.stream.AddKernel(SLUICE_OP_GATHER, 0, {});
  b.kernel_count = 2;
  const uint32_t index = b.Dense(0, i32, {1, 1, 1, 3}, 0);
  const uint32_t gathered = b.Dense(0, i8, rows, 16);
  b.Load(b.Dense(2, i32, {1, 1, 1, 3}, 0), index);
  b.Load(b.Dense(1, i8, {1, 1, 10, 8}, 0), gathered, {}, 0, 1, 1, index);
  b.transfers.back().kernel = 1;
  b.Store(gathered, b.Dense(5, i8, rows, 0));
  sluice_host_call_t call{};
  call.first_operand = b.Dense(5, i8, rows, 0);
  b.Dense(3, i8, rows, 0);
  call.inputs = call.outputs = 1;
  call.cycles_lo = 100;
  b.host_calls.push_back(call);
  b.Append(kHostEngine, SLUICE_OPCODE_HOST, 0, 0, {After(kDmaEngine, 3)});
  c.report = {0, 12 + 24, 24};
  return c;
}

// Two nodes side by side: b is loaded into both, a into node 0 and forwarded to node 1,
// node 1 adds in place over its a and the result is stored.
inline Case NodesCase() {
  Case c;
  c.hardware.node_cols = 2;
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  const Four box = {1, 2, 4, 8};
  for (int t = 0; t < 3; ++t) {
    c.graph.tensors.push_back(
        {{1, 2, 4, 8}, i8, static_cast<uint8_t>(t == 2 ? 2 : 1), 0, 0});
    c.places.push_back(PlaceAt(t == 2 ? SLUICE_REGION_OUTPUT : SLUICE_REGION_INPUT,
                               t == 1 ? 64 : 0, box, i8));
  }
  c.graph.layers.push_back({SLUICE_OP_MINIMUM, {0, 1}, {2}, {}});
  BlockBuilder& b = OneBlock(&c, 128, 0, 128, 64, 0);
  c.stream.node_cols = 2;
  c.stream.AddKernel(SLUICE_OP_MINIMUM, 0, {});
  const uint32_t x = b.Dense(0, i8, box, 0), y = b.Dense(0, i8, box, 64);
  b.Load(b.Dense(2, i8, box, 0), x);
  b.Load(b.Dense(2, i8, box, 64), y, {}, 0, 2, 1);
  b.Forward(x, x, 0, 1, {After(kDmaEngine, 1)});
  sluice_tile_t tile = EmptyTile(0, 8);
  tile.input0 = x;
  tile.input1 = y;
  tile.output = x;
  b.Compute(tile, {After(kDmaEngine, 2), After(SendEngine(0), 1)},
            SLUICE_FLAG_FIRST | SLUICE_FLAG_LAST, 1);
  b.Store(x, b.Dense(3, i8, box, 0), {After(ComputeEngine(1), 1)}, 1);
  c.report = {0, 128, 64};
  return c;
}

// Two rows of [1,1,2,4] appended to a state of [1,1,8,4] at a position of 1 to 6, row by
// row through a patched slot; slot 4 is the state as it stands. The rows are requantised,
// too, for an output.
// DMA list: 1 both rows into the scratchpad, 2 and 3 a row each into the state, 4 output.
inline Case AppendCase() {
  Case c;
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  const Four row = {1, 1, 1, 4}, rows = {1, 1, 2, 4}, state = {1, 1, 8, 4};
  const std::vector<int32_t> requantize = {1, 1 << 30, 1, 2, -128, 127};
  c.graph.tensors.push_back({{1, 1, 8, 4}, i8, 4, 0, 0});
  c.graph.tensors.push_back({{1, 1, 2, 4}, i8, 1, 0, 0});
  c.graph.tensors.push_back({{1, 1, 2, 4}, i8, 2, 0, 0});
  c.graph.layers.push_back({SLUICE_OP_STATE_APPEND, {0, 1}, {0}, {2, 0}});
  c.graph.layers.push_back({SLUICE_OP_REQUANTIZE, {1}, {2}, requantize});
  c.graph.parameters.push_back({1, 6});
  c.places = {PlaceAt(SLUICE_REGION_STATE, 0, state, i8),
              PlaceAt(SLUICE_REGION_INPUT, 0, rows, i8),
              PlaceAt(SLUICE_REGION_OUTPUT, 0, rows, i8)};
  BlockBuilder& b = OneBlock(&c, 16, 0, 8, 8, 0);
  c.stream.region_bytes[SLUICE_REGION_STATE] = 32;
  c.stream.AddKernel(SLUICE_OP_REQUANTIZE, 1, requantize);
  b.slot_count = 7;
  const uint32_t patched = c.stream.AddBinding(SLUICE_REGION_STATE, 0);
  c.stream.patches.push_back({patched, 0, 4, 0});  // a position is four bytes
  sluice_tile_t tile = EmptyTile(0, 1);
  tile.input0 = b.Dense(0, i8, rows, 0);
  tile.output = b.Dense(0, i8, rows, 8);
  b.Load(b.Dense(2, i8, rows, 0), tile.input0);
  for (uint32_t r = 0; r < 2; ++r) {
    b.Store(b.Dense(0, i8, row, 4 * r), b.Dense(6, i8, row, 4 * r));
  }
  b.Compute(tile, {After(kDma, 1)});
  b.Store(tile.output, b.Dense(3, i8, rows, 0), {After(kCompute, 1)});
  c.report = {0, 8, 16};
  return c;
}

// A requantisation in two instances: the first loads, the second computes and stores.
// Between them no other stream may touch the loaded bytes, which begin at `at` and lie
// `apart` bytes from each other; the result lies at `result`.
inline Case InTwoInstances(uint32_t at = 0, uint32_t apart = 1, uint32_t result = 64) {
  Case c;
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  const Four box = {1, 2, 4, 8};
  const std::vector<int32_t> attributes = {1, 1 << 30, 1, 2, -128, 127};
  c.graph.tensors.push_back({{1, 2, 4, 8}, i8, 1, 0, 0});
  c.graph.tensors.push_back({{1, 2, 4, 8}, i8, 2, 0, 0});
  c.graph.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, attributes});
  c.places = {PlaceAt(SLUICE_REGION_INPUT, 0, box, i8),
              PlaceAt(SLUICE_REGION_OUTPUT, 0, box, i8)};
  OneBlock(&c, result + 64, 0, 64, 64, 0);
  const Four strides = {64 * apart, 32 * apart, 8 * apart, apart};
  c.stream.AddKernel(SLUICE_OP_REQUANTIZE, 0, attributes);
  c.stream.blocks.emplace_back();
  c.stream.AddInstance(1, 0, 0);
  BlockBuilder& load = c.stream.blocks[0];
  load.Load(load.Dense(2, i8, box, 0), load.Strided(0, i8, box, strides, at));
  BlockBuilder& work = c.stream.blocks[1];
  work.slot_count = 6;
  work.kernel_count = 1;
  sluice_tile_t tile = EmptyTile(0, 4);
  tile.input0 = work.Strided(0, i8, box, strides, at);
  tile.output = work.Dense(0, i8, box, result);
  work.Compute(tile, {AfterAllBut(0, kDma)});
  work.Store(tile.output, work.Dense(3, i8, box, 0), {After(kCompute, 1)});
  c.report = {0, 64, 64};
  return c;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_VERIFY_CASES_H_
