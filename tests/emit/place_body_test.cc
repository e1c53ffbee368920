// SPDX-License-Identifier: Apache-2.0
// Where the tables of a hand-made body lie, and which bodies are one.
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
  Graph graph = {};
  Hardware hardware = {};
  Lowering lowering = {};
  Program program{&arena, hardware};
  ProgramWaits waits{&arena};
  Diagnostic diagnostic = {};
  Emitter e = {graph,
               lowering,
               program,
               waits,
               &diagnostic,
               1,
               3,
               {},
               {},
               InternTable<Export>(&arena),
               Sequence<ExportLink>(&arena),
               {}};
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
  uint32_t Place(const Body& body, const ExportList& exports = {}) {
    uint32_t block = 99;
    REQUIRE(PlaceBody(e, exports, body, &parts, &block) == Status::kOk);
    return block;
  }
};

TEST_CASE("place body: tables one behind the other, the whole on 16 bytes") {
  Placing p;
  uint32_t index = 0;
  // Three exports, of which the first and the last are this block's.
  for (const Export& x : {Export{0, 2, 7}, Export{1, 0, 1}, Export{0, 0, 3}}) {
    REQUIRE(p.e.all_exports.Intern(x, &index) == Status::kOk);
  }
  for (const ExportLink& link :
       {ExportLink{0, 2}, ExportLink{0, kNone}, ExportLink{1, kNone}}) {
    REQUIRE(p.e.export_links.Push(link) == Status::kOk);
  }
  Placing::Filled filled(&p.arena);
  REQUIRE(filled.body.kernel_layers.Push(0) == Status::kOk);
  CHECK(p.Place(filled.body, ExportList{0, 2, 2}) == 0);
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
  CHECK(entry.export_offset == 100);
  CHECK(entry.export_count == 2);
  CHECK(entry.body_bytes == 128);
  CHECK(entry.slot_count == 1);
  CHECK(entry.kernel_count == 1);
  const uint8_t* bytes = p.parts.bodies[0];
  sluice_operand_t operands[2];
  memcpy(operands, bytes + 36, sizeof operands);
  CHECK(operands[0].offset_lo == 9);
  CHECK(operands[1].offset_lo == 10);
  sluice_export_t exports[2];
  memcpy(exports, bytes + 100, sizeof exports);
  CHECK(exports[0].engine == 2);
  CHECK(exports[0].count == 7);
  CHECK(exports[1].engine == 0);
  CHECK(exports[1].count == 3);
  const uint64_t hash = Fnv1aWords(bytes, 128);
  CHECK(entry.hash_lo == static_cast<uint32_t>(hash));
  CHECK(entry.hash_hi == static_cast<uint32_t>(hash >> 32));
}

TEST_CASE("place body: what is the same is there once, bytes and counts both told") {
  Placing p;
  Placing::Filled same(&p.arena), again(&p.arena), other(&p.arena), slots(&p.arena),
      kernels(&p.arena);
  other.list[4] = other.list[3] = other.list[2] = 0;
  REQUIRE(slots.body.slots.Push(Slot{0, 0, 0, 0}) == Status::kOk);
  REQUIRE(kernels.body.kernel_layers.Push(3) == Status::kOk);
  CHECK(p.Place(same.body) == 0);
  const Arena::Mark before = p.out.mark();
  CHECK(p.Place(again.body) == 0);
  // Its bytes were given back.
  CHECK(p.out.mark().chunk == before.chunk);
  CHECK(p.out.mark().used == before.used);
  CHECK(p.Place(other.body) == 1);
  CHECK(p.Place(slots.body) == 2);  // the same bytes, but another number of bindings
  CHECK(p.Place(kernels.body) == 3);
  CHECK(p.Place(other.body) == 1);
  CHECK(p.parts.entries.size() == 4);
  CHECK(p.parts.bodies.size() == 4);
}

}  // namespace
}  // namespace sluice
