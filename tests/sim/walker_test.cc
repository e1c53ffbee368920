// SPDX-License-Identifier: Apache-2.0
// The walker on images with one wrong field, and on random images.
#include "firmware-sim/walker.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>

#include "sim/judge_case.h"
#include "support/changed_image.h"

namespace sluice_test {
namespace {

sluice_walk_status_t Open(const Bytes& image) {
  sluice_walker_t walker;
  return sluice_walk_open(&walker, image.data(), image.size(), nullptr);
}

template <typename T>
sluice_walk_status_t OpenWith(const Bytes& right, size_t at, T value) {
  Bytes image = right;
  Put(&image, at, value);
  RehashAll(&image);
  return Open(image);
}

TEST_CASE("right images open") {
  CHECK(Open(ConvCase().stream.Image()) == SLUICE_WALK_OK);
  CHECK(Open(AccumulateCase().stream.Image()) == SLUICE_WALK_OK);
  CHECK(Open(AddCase().stream.Image()) == SLUICE_WALK_OK);
}

TEST_CASE("any flipped bit of a body or table breaks a hash") {
  const Bytes right = AddCase().stream.Image();
  for (size_t at = sizeof(sluice_stream_header_t); at < right.size(); ++at) {
    Bytes image = right;
    image[at] ^= 1u << (at % 8);
    CHECK(Open(image) != SLUICE_WALK_OK);
  }
}

TEST_CASE("a truncated image never opens") {
  const Bytes right = ConvCase().stream.Image();
  for (size_t size = 0; size < right.size(); ++size) {
    CHECK(Open(Bytes(right.begin(), right.begin() + static_cast<long>(size))) ==
          SLUICE_WALK_SIZE);
  }
}

TEST_CASE("each wrong header field is named") {
  const Bytes right = ConvCase().stream.Image();
#define HEADER(field) offsetof(sluice_stream_header_t, field)
  CHECK(OpenWith(right, HEADER(magic), 1u) == SLUICE_WALK_MAGIC);
  CHECK(OpenWith(right, HEADER(version), 1u) == SLUICE_WALK_VERSION);
  CHECK(OpenWith(right, HEADER(size_bytes), 16u) == SLUICE_WALK_SIZE);
  CHECK(OpenWith(right, HEADER(flags), 1u) == SLUICE_WALK_RESERVED);
  CHECK(OpenWith(right, HEADER(reserved0), 1u) == SLUICE_WALK_RESERVED);
  CHECK(OpenWith(right, HEADER(reserved) + 4, 1u) == SLUICE_WALK_RESERVED);
  CHECK(OpenWith(right, HEADER(node_cols), 0u) == SLUICE_WALK_NODES);
  CHECK(OpenWith(right, HEADER(node_rows), 0u) == SLUICE_WALK_NODES);
  CHECK(OpenWith(right, HEADER(node_cols), 0x10000u) == SLUICE_WALK_NODES);
  CHECK(OpenWith(right, HEADER(region_alignment), 3u) == SLUICE_WALK_ALIGNMENT);
  CHECK(OpenWith(right, HEADER(region_alignment), 0u) == SLUICE_WALK_ALIGNMENT);
  CHECK(OpenWith(right, HEADER(gbuf_bytes_lo), 8u) == SLUICE_WALK_CAPACITY);
  CHECK(OpenWith(right, HEADER(region_bytes) + 12, 0xffffffffu) ==
        SLUICE_WALK_CAPACITY);
  for (size_t field :
       {HEADER(block_offset), HEADER(instance_offset), HEADER(binding_offset),
        HEADER(kernel_offset), HEADER(attribute_offset)}) {
    const uint32_t size = static_cast<uint32_t>(right.size());
    for (uint32_t offset : {0u, 4u, size, size - 4u, 0xfffffffcu}) {
      Bytes image = right;
      Put(&image, field, offset);
      CHECK(Open(image) != SLUICE_WALK_OK);
    }
    Bytes image = right;
    Put(&image, field - 4, 0x10000000u);  // the number of entries
    CHECK(Open(image) == SLUICE_WALK_SECTION);
  }
#undef HEADER
}

TEST_CASE("each wrong directory field is refused") {
  const Bytes right = ConvCase().stream.Image();
  const size_t entry = HeaderOf(right).block_offset;
#define BLOCK(field) (entry + offsetof(sluice_block_t, field))
  CHECK(OpenWith(right, BLOCK(flags), 1u) == SLUICE_WALK_RESERVED);
  CHECK(OpenWith(right, BLOCK(reserved) + 4, 1u) == SLUICE_WALK_RESERVED);
  CHECK(OpenWith(right, BLOCK(body_offset), 4u) == SLUICE_WALK_BODY);
  CHECK(OpenWith(right, BLOCK(body_offset), 16u) == SLUICE_WALK_BODY);
  CHECK(OpenWith(right, BLOCK(body_bytes), 0xfffffff0u) == SLUICE_WALK_BODY);
  CHECK(OpenWith(right, BLOCK(body_bytes), 16u) == SLUICE_WALK_BODY);
  CHECK(OpenWith(right, BLOCK(slot_count), 3u) == SLUICE_WALK_OPERAND);
  CHECK(OpenWith(right, BLOCK(slot_count), 99u) == SLUICE_WALK_INSTANCE);
  CHECK(OpenWith(right, BLOCK(kernel_count), 0u) == SLUICE_WALK_TILE);
  CHECK(OpenWith(right, BLOCK(kernel_count), 2u) == SLUICE_WALK_INSTANCE);
  CHECK(OpenWith(right, BLOCK(operand_count), 1u) == SLUICE_WALK_TILE);
  CHECK(OpenWith(right, BLOCK(shape_count), 1u) == SLUICE_WALK_OPERAND);
  CHECK(OpenWith(right, BLOCK(tile_count), 1u) == SLUICE_WALK_DESCRIPTOR);
  CHECK(OpenWith(right, BLOCK(transfer_count), 1u) == SLUICE_WALK_DESCRIPTOR);
  CHECK(OpenWith(right, BLOCK(wait_count), 1u) == SLUICE_WALK_WAIT);
  CHECK(OpenWith(right, BLOCK(instruction_count), 13u) == SLUICE_WALK_LIST);
  for (size_t field : {BLOCK(list_offset), BLOCK(instruction_offset),
                       BLOCK(wait_offset), BLOCK(tile_offset), BLOCK(transfer_offset),
                       BLOCK(operand_offset), BLOCK(shape_offset)}) {
    for (uint32_t offset : {0u, 2u, 0xfffffff0u}) {
      CHECK(OpenWith(right, field, offset) == SLUICE_WALK_BODY);
    }
  }
#undef BLOCK
}

#define EXPECT(table, type, field, value, code)                          \
  CHECK(OpenWith(right, size_t{table} + offsetof(type, field), value) == \
        SLUICE_WALK_##code)

TEST_CASE("each wrong field of a transfer or an engine is named") {
  const Bytes right = ConvCase().stream.Image();
  const sluice_stream_header_t h = HeaderOf(right);
  const sluice_block_t b = BlockOf(right);
  EXPECT(b.transfer_offset, sluice_transfer_t, kernel, 1u, TRANSFER);
  EXPECT(b.transfer_offset, sluice_transfer_t, src_node, uint16_t{1}, TRANSFER);
  EXPECT(b.transfer_offset, sluice_transfer_t, dst_node, uint16_t{1}, TRANSFER);
  EXPECT(b.transfer_offset, sluice_transfer_t, role, uint8_t{0}, TRANSFER);
  EXPECT(b.transfer_offset, sluice_transfer_t, role, uint8_t{3}, TRANSFER);
  EXPECT(b.transfer_offset, sluice_transfer_t, role, uint8_t{SLUICE_ROLE_OUTPUT},
         TRANSFER);
  EXPECT(b.transfer_offset, sluice_transfer_t, role, uint8_t{32}, TRANSFER);
  EXPECT(b.transfer_offset, sluice_transfer_t, descriptors, uint16_t{0}, TRANSFER);
  EXPECT(b.transfer_offset, sluice_transfer_t, reserved0, uint8_t{1}, TRANSFER);
  // Only LOADs move encoded bytes. The last transfer is the STORE.
  const size_t store =
      b.transfer_offset + (b.transfer_count - 1) * sizeof(sluice_transfer_t);
  EXPECT(store, sluice_transfer_t, moved_bytes, 1u, TRANSFER);
  EXPECT(h.engine_offset, sluice_engine_t, does, uint16_t{0}, ENGINE);
  EXPECT(h.engine_offset, sluice_engine_t, does, uint16_t{33}, ENGINE);
  EXPECT(h.engine_offset, sluice_engine_t, does, uint16_t{SLUICE_DOES_LOAD}, OPCODE);
  EXPECT(h.engine_offset, sluice_engine_t, roles, uint8_t{32}, ENGINE);
  EXPECT(h.engine_offset, sluice_engine_t, roles, uint8_t{SLUICE_ROLE_OUTPUT},
         TRANSFER);
  EXPECT(h.engine_offset, sluice_engine_t, node, uint16_t{1}, ENGINE);
  EXPECT(h.engine_offset, sluice_engine_t, reserved, uint8_t{1}, ENGINE);
}

TEST_CASE("each wrong record field is named") {
  const Bytes right = ConvCase().stream.Image();
  const sluice_stream_header_t h = HeaderOf(right);
  const sluice_block_t b = BlockOf(right);
  EXPECT(h.instance_offset, sluice_instance_t, block, 1u, INSTANCE);
  EXPECT(h.instance_offset, sluice_instance_t, first_binding, 1u, INSTANCE);
  EXPECT(h.instance_offset, sluice_instance_t, first_kernel, 1u, INSTANCE);
  EXPECT(h.instance_offset, sluice_instance_t, first_step, 0u, STEP);
  EXPECT(h.binding_offset, sluice_binding_t, region, 6u, BINDING);
  EXPECT(h.binding_offset, sluice_binding_t, base_hi, 0xffffffffu, BINDING);
  EXPECT(h.binding_offset, sluice_binding_t, reserved, 1u, RESERVED);
  EXPECT(h.kernel_offset, sluice_kernel_t, op, uint16_t{0}, KERNEL);
  EXPECT(h.kernel_offset, sluice_kernel_t, op, uint16_t{SLUICE_OP_COUNT}, KERNEL);
  EXPECT(h.kernel_offset, sluice_kernel_t, attribute_count, uint16_t{15}, KERNEL);
  EXPECT(h.kernel_offset, sluice_kernel_t, first_attribute, 1u, KERNEL);
  EXPECT(h.kernel_offset, sluice_kernel_t, reserved, 1u, RESERVED);
  EXPECT(b.instruction_offset, sluice_instruction_t, opcode, uint8_t{0}, OPCODE);
  EXPECT(b.instruction_offset, sluice_instruction_t, opcode, uint8_t{4}, OPCODE);
  EXPECT(b.instruction_offset, sluice_instruction_t, opcode, uint8_t{9}, OPCODE);
  EXPECT(b.instruction_offset, sluice_instruction_t, flags, uint8_t{1}, FLAGS);
  EXPECT(b.instruction_offset, sluice_instruction_t, descriptor, 99u, DESCRIPTOR);
  EXPECT(b.instruction_offset, sluice_instruction_t, first_wait, 99u, WAIT);
  EXPECT(b.instruction_offset, sluice_instruction_t, wait_count, uint16_t{99}, WAIT);
  EXPECT(b.instruction_offset, sluice_instruction_t, reserved, 1u, RESERVED);
  const uint32_t tile_instruction = b.instruction_offset + 10 * 16;
  EXPECT(tile_instruction, sluice_instruction_t, flags, uint8_t{4}, FLAGS);
  EXPECT(tile_instruction, sluice_instruction_t, opcode, uint8_t{1}, FLAGS);
  EXPECT(tile_instruction, sluice_instruction_t, descriptor, 4u, DESCRIPTOR);
  EXPECT(b.wait_offset, sluice_wait_t, engine, uint16_t{4}, WAIT);
  EXPECT(b.wait_offset, sluice_wait_t, before, uint16_t{2}, WAIT);
  EXPECT(b.wait_offset, sluice_wait_t, count, 0u, WAIT);
  EXPECT(b.wait_offset, sluice_wait_t, count, 5u, WAIT);
  EXPECT(b.tile_offset, sluice_tile_t, kernel, 1u, TILE);
  EXPECT(b.tile_offset, sluice_tile_t, cycles, 0u, CYCLES);
  EXPECT(b.tile_offset, sluice_tile_t, input0, SLUICE_NONE, TILE);
  EXPECT(b.tile_offset, sluice_tile_t, weight, 999u, TILE);
  EXPECT(b.tile_offset, sluice_tile_t, c_begin, 9u, TILE);
  EXPECT(b.transfer_offset, sluice_transfer_t, src, 999u, TRANSFER);
  EXPECT(b.transfer_offset, sluice_transfer_t, dst, SLUICE_NONE, TRANSFER);
  EXPECT(b.transfer_offset, sluice_transfer_t, index, 999u, TRANSFER);
  EXPECT(b.transfer_offset, sluice_transfer_t, dst_node, uint16_t{1}, TRANSFER);
  EXPECT(b.transfer_offset, sluice_transfer_t, dst_cols, uint16_t{2}, TRANSFER);
  EXPECT(b.transfer_offset, sluice_transfer_t, dst_rows, uint16_t{0}, TRANSFER);
  EXPECT(b.operand_offset, sluice_operand_t, slot, uint16_t{4}, OPERAND);
  EXPECT(b.operand_offset, sluice_operand_t, dtype, uint8_t{0}, OPERAND);
  EXPECT(b.operand_offset, sluice_operand_t, dtype, uint8_t{6}, OPERAND);
  EXPECT(b.operand_offset, sluice_operand_t, reserved, uint8_t{1}, RESERVED);
  EXPECT(b.operand_offset, sluice_operand_t, shape, 999u, OPERAND);
  EXPECT(b.operand_offset, sluice_operand_t, offset_hi, 0x80000000u, OPERAND);
  EXPECT(b.shape_offset, sluice_shape_t, extent, 0u, SHAPE);
  EXPECT(b.shape_offset, sluice_shape_t, extent, 0xffffffffu, SHAPE);
  CHECK(OpenWith(right, b.list_offset, 1u) == SLUICE_WALK_LIST);
  CHECK(OpenWith(right, b.list_offset + 4, 11u) == SLUICE_WALK_LIST);
  CHECK(OpenWith(right, b.list_offset + 12, 15u) == SLUICE_WALK_LIST);
#undef EXPECT
}

TEST_CASE("images of chance with right hashes give an answer, never a crash") {
  uint64_t state = 7;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 33);
  };
  static const uint32_t odd[] = {0,   1,    2,          3,          16,
                                 255, 4095, 0x7fffffff, 0x80000000, ~0u};
  int opened = 0;
  for (const Case& c : {ConvCase(), AccumulateCase(), AddCase()}) {
    const Bytes right = c.stream.Image();
    for (int i = 0; i < 1500; ++i) {
      Bytes image = right;
      for (uint32_t n = next() % 3 + 1; n > 0; --n) {
        const size_t at = 16 + next() % (right.size() - 16) / 4 * 4;
        uint32_t word;
        std::memcpy(&word, image.data() + at, 4);
        word = next() % 2 ? odd[next() % 10] : word + next() % 5 - 2;
        Put(&image, at, word);
      }
      RehashAll(&image);
      opened += Open(image) == SLUICE_WALK_OK;
      const auto r = Judge(c, c.PlanOf(image));
      CHECK(r.ok == r.error_code.empty());
    }
  }
  CHECK(opened > 100);
}

TEST_CASE("plans, graphs and descriptors cut short are refused") {
  const Case c = AddCase();
  const Bytes graph = c.Graph(), hardware = c.Hardware(), plan = c.Plan();
  for (const Bytes* cut : {&graph, &hardware, &plan}) {
    for (size_t size = 0; size < cut->size(); size += 5) {
      sluice_sim::SimulateOptions o;
      o.graph = graph.data();
      o.graph_size = cut == &graph ? size : graph.size();
      o.hardware = hardware.data();
      o.hardware_size = cut == &hardware ? size : hardware.size();
      o.plan = plan.data();
      o.plan_size = cut == &plan ? size : plan.size();
      o.functional = true;
      CHECK_FALSE(sluice_sim::Simulate(o).ok);
    }
  }
}

TEST_CASE("the walker steps an engine's list over visits") {
  const Bytes image = AddCase().stream.Image();
  sluice_walker_t w;
  REQUIRE(sluice_walk_open(&w, image.data(), image.size(), nullptr) == SLUICE_WALK_OK);
  REQUIRE(w.engines == 3);
  sluice_walk_cursor_t at[4];
  sluice_walk_start(&w, at);
  sluice_instruction_t n;
  CHECK(sluice_walk_next(&w, at, kHostEngine, &n) == 0);
  CHECK(sluice_walk_next(&w, at, kDmaEngine, &n) == 1);
  CHECK(n.opcode == SLUICE_OPCODE_LOAD);
  const uint32_t compute = ComputeEngine(0);
  sluice_wait_t pending;
  CHECK(sluice_walk_waits_hold(&w, at, compute, &pending) == 0);
  CHECK(pending.count == 2);
  sluice_walk_complete(&w, at, kDmaEngine);
  CHECK(sluice_walk_waits_hold(&w, at, compute, nullptr) == 0);
  sluice_walk_complete(&w, at, kDmaEngine);
  CHECK(sluice_walk_waits_hold(&w, at, compute, nullptr) == 1);
  CHECK(sluice_walk_waits_hold(&w, at, kDmaEngine, nullptr) == 0);
  sluice_walk_complete(&w, at, compute);
  CHECK(at[compute].visit.instance == 1);
  CHECK(at[compute].visit.number == 1);
  CHECK(sluice_walk_waits_hold(&w, at, compute, &pending) == 0);
  CHECK(pending.before == 0);
  sluice_walk_complete(&w, at, kDmaEngine);  // it completes the first visit
  sluice_walk_complete(&w, at, kDmaEngine);
  sluice_walk_complete(&w, at, kDmaEngine);
  CHECK(sluice_walk_waits_hold(&w, at, compute, nullptr) == 1);
  sluice_walk_operand_t operand;
  sluice_walk_operand(&w, &at[compute].visit, 0, &operand);
  CHECK(operand.region == SLUICE_REGION_GBUF);
  CHECK(operand.offset == 64);
  CHECK(operand.bytes == 64);
  CHECK(operand.span == 64);
}

TEST_CASE("the walker visits an instance in loops, further on each time") {
  const Bytes image = LoopCase().stream.Image();
  sluice_walker_t w;
  REQUIRE(sluice_walk_open(&w, image.data(), image.size(), nullptr) == SLUICE_WALK_OK);
  CHECK(w.visits == 6);
  sluice_walk_visit_t visit = {};
  for (uint32_t v = 0; v < 6; ++v, sluice_walk_next_visit(&w, &visit)) {
    CHECK(visit.number == v);
    CHECK(visit.instance == 0);
    CHECK(visit.index[0] == v / 3);
    CHECK(visit.index[1] == v % 3);
    sluice_walk_operand_t from;
    sluice_walk_operand(&w, &visit, 2, &from);  // the load's source
    CHECK(from.region == SLUICE_REGION_INPUT);
    CHECK(from.offset == 32 * v);
    sluice_tile_t tile;
    sluice_walk_tile(&w, &visit, 0, &tile);
    CHECK(tile.origin[0] == v / 3);
    CHECK(tile.origin[1] == v % 3);
  }
  CHECK(visit.instance == 1);
  CHECK(visit.number == 6);
}

TEST_CASE("streams with loops execute, and wrong loops do not") {
  const auto r = Judge(LoopCase());
  CHECK(r.error == "");
  CHECK(r.ok);
  CHECK(r.instructions == 18);
  const auto code = [](auto change) {
    Case c = LoopCase();
    change(&c.stream);
    return Judge(c).error_code;
  };
  CHECK(code([](StreamBuilder* s) { s->loops[1].count = 2; }) == "output");
  CHECK(code([](StreamBuilder* s) { s->loops[0].count = 3; }) == "bounds");
  CHECK(code([](StreamBuilder* s) { s->steps[3] = 64; }) == "mismatch");
  CHECK(code([](StreamBuilder* s) { s->steps[19] = 2; }) == "tile");
  CHECK(code([](StreamBuilder* s) { s->loops[1].parent = 1; }) == "stream");
  CHECK(code([](StreamBuilder* s) { s->loops[1].last = 1; }) == "stream");
  CHECK(code([](StreamBuilder* s) { s->loops[1].count = 1; }) == "stream");
  CHECK(code([](StreamBuilder* s) { s->loops[0].count = 1u << 30; }) == "stream");
  CHECK(code([](StreamBuilder* s) { s->steps[0] = 0; }) == "stream");
  CHECK(code([](StreamBuilder* s) { s->steps[1] = 16; }) == "stream");
  CHECK(code([](StreamBuilder* s) { s->steps.pop_back(); }) == "stream");
  CHECK(code([](StreamBuilder* s) { s->loops.pop_back(); }) == "stream");
}

TEST_CASE("relocation moves every operand by its region's base and keeps the hash") {
  const Bytes right = AddCase().stream.Image();
  Bytes image = right;
  uint64_t base[SLUICE_REGION_COUNT];
  for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) base[r] = uint64_t{r + 1} << 36;
  sluice_walker_t before, after;
  REQUIRE(sluice_walk_open(&before, right.data(), right.size(), nullptr) == 0);
  REQUIRE(sluice_walk_relocate(image.data(), base) == SLUICE_WALK_OK);
  REQUIRE(sluice_walk_open(&after, image.data(), image.size(), nullptr) == 0);
  uint32_t operands = 0;
  sluice_walk_visit_t i = {};
  for (; i.number < before.visits; sluice_walk_next_visit(&before, &i)) {
    sluice_block_t b;
    sluice_walk_block(&before, i.instance, &b);
    for (uint32_t o = 0; o < b.operand_count; ++o, ++operands) {
      sluice_walk_operand_t x, y;
      sluice_walk_operand(&before, &i, o, &x);
      sluice_walk_operand(&after, &i, o, &y);
      CHECK(y.region == x.region);
      CHECK(y.offset == x.offset + base[x.region]);
    }
  }
  CHECK(operands > 4);
  CHECK(HeaderOf(image).hash_lo != HeaderOf(right).hash_lo);
}

TEST_CASE("a base that is not aligned, or too far, leaves the image as it was") {
  const Bytes right = AddCase().stream.Image();
  Bytes image = right;
  Put(&image, offsetof(sluice_stream_header_t, region_alignment), uint32_t{16});
  const Bytes aligned = image;
  uint64_t base[SLUICE_REGION_COUNT] = {};
  base[SLUICE_REGION_CONST] = 24;
  CHECK(sluice_walk_relocate(image.data(), base) == SLUICE_WALK_ALIGNMENT);
  CHECK(image == aligned);
  base[SLUICE_REGION_CONST] = (uint64_t{1} << 62) + 16;
  CHECK(sluice_walk_relocate(image.data(), base) == SLUICE_WALK_CAPACITY);
  CHECK(image == aligned);
}

}  // namespace
}  // namespace sluice_test
