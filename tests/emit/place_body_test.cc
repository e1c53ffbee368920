// SPDX-License-Identifier: Apache-2.0
// Where the tables of a hand-made body lie, and when two bodies are stored as one.
#include <doctest/doctest.h>

#include <cstring>

#include "base/hash.h"
#include "emit/emitter.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

struct Placing {
  Memory memory{sluice_test::Nouns::Allocator(), 0};
  Arena arena{&memory};
  Arena out{&memory};
  StreamParts parts{&out};

  // One instruction, an operand of each sort, a shape.
  struct Filled {
    explicit Filled(Arena* arena) : body(arena) {
      body.list = Span<uint32_t>(list, 5);
      body.instructions = Span<sluice_instruction_t>(&instruction, 1);
      instruction.opcode = SLUICE_OPCODE_LOAD;
      uint32_t index = 0;
      sluice_shape_t shape = {};
      shape.extent[3] = 4;
      sluice_operand_t operand = {};
      operand.offset_lo = 9;
      REQUIRE(body.shapes.Intern(shape, &index) == Status::kOk);
      REQUIRE(body.operands.Intern(operand, &index) == Status::kOk);
      operand.offset_lo = 10;
      REQUIRE(body.host_operands.Push(operand) == Status::kOk);
    }
    uint32_t list[5] = {0, 1, 1, 1, 1};
    sluice_instruction_t instruction = {};
    Body body;
  };
  uint32_t Place(const Body& body) {
    uint32_t block = 99;
    REQUIRE(PlaceBody(body, &parts, &block) == Status::kOk);
    return block;
  }
};

TEST_CASE("place body: tables one behind the other, the whole on 16 bytes") {
  Placing p;
  Placing::Filled filled(&p.arena);
  REQUIRE(filled.body.kernels.Push(KernelUse{}) == Status::kOk);
  CHECK(p.Place(filled.body) == 0);
  REQUIRE(p.parts.entries.size() == 1);
  const sluice_block_t& entry = p.parts.entries[0];
  CHECK(entry.list_offset == 0);
  CHECK(entry.instruction_offset == 20);  // a list of 5 words
  CHECK(entry.instruction_count == 1);
  CHECK(entry.wait_count == 0);
  CHECK(entry.wait_offset == 36);
  CHECK(entry.transfer_offset == 36);
  CHECK(entry.operand_offset == 36);
  CHECK(entry.operand_count == 2);
  CHECK(entry.shape_offset == 68);
  CHECK(entry.shape_count == 1);
  CHECK(entry.body_bytes == 112);
  CHECK(entry.slot_count == 1);
  CHECK(entry.kernel_count == 1);
  const uint8_t* bytes = p.parts.bodies[0];
  sluice_operand_t operands[2];
  memcpy(operands, bytes + 36, sizeof operands);
  CHECK(operands[0].offset_lo == 9);
  CHECK(operands[1].offset_lo == 10);
  const uint64_t hash = Fnv1aWords(bytes, 112);
  CHECK(entry.hash_lo == static_cast<uint32_t>(hash));
  CHECK(entry.hash_hi == static_cast<uint32_t>(hash >> 32));
}

TEST_CASE("place body: what is the same is there once, bytes and counts both told") {
  Placing p;
  Placing::Filled same(&p.arena), again(&p.arena), other(&p.arena), slots(&p.arena),
      kernels(&p.arena);
  other.list[4] = other.list[3] = other.list[2] = 0;
  REQUIRE(slots.body.slots.Push(Slot{}) == Status::kOk);
  REQUIRE(kernels.body.kernels.Push(KernelUse{}) == Status::kOk);
  CHECK(p.Place(same.body) == 0);
  const Arena::Mark before = p.out.mark();
  CHECK(p.Place(again.body) == 0);
  // The bytes of the second copy were given back.
  CHECK(p.out.mark().chunk == before.chunk);
  CHECK(p.out.mark().used == before.used);
  CHECK(p.Place(other.body) == 1);
  CHECK(p.Place(slots.body) == 2);  // the same bytes, but another number of bindings
  CHECK(p.Place(kernels.body) == 3);
  CHECK(p.Place(other.body) == 1);
  CHECK(p.parts.entries.size() == 4);
  CHECK(p.parts.bodies.size() == 4);
}

TEST_CASE("place body: a body of all bytes of an image is too large for memory alone") {
  // Bodies are counted before they are written, so the words need not be there.
  Placing p;
  Memory small(sluice_test::Nouns::Allocator(), 1 << 20);
  Arena arena(&small);
  StreamParts parts(&arena);
  Body body(&p.arena);
  uint32_t word = 0, block = 0;
  body.list = Span<uint32_t>(&word, kMaxImage / 4);
  CHECK(PlaceBody(body, &parts, &block) == Status::kOutOfMemory);
  body.list = Span<uint32_t>(&word, kMaxImage / 4 + 1);
  CHECK(PlaceBody(body, &parts, &block) == Status::kUnsupported);
}

}  // namespace
}  // namespace sluice
