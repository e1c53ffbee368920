// SPDX-License-Identifier: Apache-2.0
// The tables of hand-made blocks, record by record.
#include <doctest/doctest.h>

#include <vector>

#include "emit/emitter.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

constexpr int32_t kFour[kAxes] = {1, 1, 1, 4};

BufferBox Buffer(uint32_t begin) {
  return DenseBuffer(BufferRange{begin, begin + 4}, kFour, SLUICE_DTYPE_INT8, 1);
}

Transfer Move(uint32_t tensor, int64_t offset, uint32_t buffer) {
  Transfer t = {};
  t.role = SLUICE_ROLE_INPUT;
  t.dram.tensor = tensor;
  t.dram.offset = offset;
  for (int a = 0; a < kAxes; ++a) {
    t.dram.extent[a] = kFour[a];
    t.dram.stride[a] = a == 3 ? 1 : 64;
  }
  t.buffer = Buffer(buffer);
  return t;
}

sluice_test::GraphSpec OneLayer(uint16_t op, const std::vector<int32_t>& attributes) {
  sluice_test::GraphSpec g;
  g.tensors.push_back({{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({op, {0}, {1}, attributes});
  return g;
}

// A program of one layer, and an emitter made ready as EmitStream does it.
struct Blocks {
  explicit Blocks(uint16_t op = SLUICE_OP_REQUANTIZE,
                  const std::vector<int32_t>& attributes = {},
                  const sluice_test::HardwareSpec& hardware = {})
      : n(OneLayer(op, attributes), hardware), places(2) {
    lowering.places = Span<TensorPlace>(places.data(), places.size());
    for (TensorPlace& place : places) place.stride[3] = 1;
  }
  // step_waits[i]: the waits of step i.
  void Ready(const std::vector<std::vector<ProgramWait>>& step_waits) {
    for (const auto& of_step : step_waits) {
      REQUIRE(waits.begin.Push(static_cast<uint32_t>(waits.waits.size())) ==
              Status::kOk);
      for (const ProgramWait& w : of_step) REQUIRE(waits.waits.Push(w) == Status::kOk);
    }
    REQUIRE(waits.begin.Push(static_cast<uint32_t>(waits.waits.size())) == Status::kOk);
    uint32_t before[3] = {};
    for (uint32_t i = 0; i < program.size(); ++i) {
      for (const ProgramWait& w : step_waits[i]) {
        REQUIRE(e.back.Push(before[w.engine] - w.count) == Status::kOk);
      }
      ++before[EngineOf(program, program.step(i))];
    }
    for (size_t b = 0; b < program.block_count() && e.pieces.pieces.size() == 0; ++b) {
      all.push_back({program.block_begin(b), program.block_begin(b + 1), kNone});
    }
    for (const Piece& p : all) REQUIRE(e.pieces.pieces.Push(p) == Status::kOk);
    known.assign(program.box_count(), KnownOperand{kNone, 0});
    e.known = Span<KnownOperand>(known.data(), known.size());
  }
  Status Fill(size_t block, Body* body) { return FillBody(&e, block, &n.arena, body); }

  sluice_test::Nouns n;
  std::vector<TensorPlace> places;
  Lowering lowering = {};
  Program program{&n.arena, n.hardware};
  ProgramWaits waits{&n.arena};
  std::vector<Piece> all;
  std::vector<KnownOperand> known;
  Emitter e = {n.graph,
               lowering,
               program,
               waits,
               &n.diagnostic,
               3,
               Sequence<uint32_t>(&n.arena),
               Pieces(&n.arena),
               {}};
};

void CheckList(const Body& body, const std::vector<uint32_t>& want) {
  CHECK(std::vector<uint32_t>(body.list.begin(), body.list.end()) == want);
}

TEST_CASE("fill body: a load, its tile, and a store in the block behind it") {
  Blocks b;
  TileStep tile = {};
  tile.present[kRoleInput0] = tile.present[kRoleOutput] = true;
  tile.operand[kRoleInput0] = Buffer(0);
  tile.operand[kRoleOutput] = Buffer(8);
  tile.first = true;
  tile.origin[2] = 3;
  tile.pad[1] = 2;
  tile.cycles = 10;
  REQUIRE(b.program.BeginBlock() == Status::kOk);
  REQUIRE(b.program.AddTransfer(StepKind::kLoad, 0, Move(0, 16, 0)) == Status::kOk);
  REQUIRE(b.program.AddTile(0, tile) == Status::kOk);
  REQUIRE(b.program.BeginBlock() == Status::kOk);
  REQUIRE(b.program.AddTransfer(StepKind::kStore, 0, Move(1, 0, 8)) == Status::kOk);
  b.Ready({{}, {{0, 1}}, {{2, 1}}});

  Body body(&b.n.arena);
  REQUIRE(b.Fill(0, &body) == Status::kOk);
  CheckList(body, {0, 1, 1, 2});  // DMA, host, compute
  CHECK(body.instructions[0].opcode == SLUICE_OPCODE_LOAD);
  CHECK(body.instructions[0].wait_count == 0);
  CHECK(body.instructions[1].opcode == SLUICE_OPCODE_COMPUTE);
  CHECK(body.instructions[1].flags == SLUICE_FLAG_FIRST);
  CHECK(body.instructions[1].wait_count == 1);
  CHECK(body.waits[0].engine == 0);
  CHECK(body.waits[0].before == 0);
  CHECK(body.waits[0].count == 1);
  REQUIRE(body.slots.size() == 1);
  CHECK(body.slots[0].tensor == 0);
  REQUIRE(body.operands.size() == 3);  // in DRAM, at 0, at 8
  CHECK(body.operands[0].slot == 1);
  CHECK(body.operands[0].offset_lo == 16);
  CHECK(body.operands[1].slot == 0);
  CHECK(body.operands[2].offset_lo == 8);
  // An axis of one element has stride 0 in a shape, so all three operands have one shape.
  REQUIRE(body.shapes.size() == 1);
  CHECK(body.shapes[0].extent[3] == 4);
  CHECK(body.shapes[0].stride[2] == 0);
  CHECK(body.shapes[0].stride[3] == 1);
  CHECK(body.transfers[0].src == 0);
  CHECK(body.transfers[0].dst == 1);
  CHECK(body.transfers[0].index == SLUICE_NONE);
  CHECK(body.transfers[0].dst_cols == 1);
  CHECK(body.tiles[0].cycles == 10);
  CHECK(body.tiles[0].input0 == 1);
  CHECK(body.tiles[0].weight == SLUICE_NONE);
  CHECK(body.tiles[0].accumulator == SLUICE_NONE);
  CHECK(body.tiles[0].output == 2);
  CHECK(body.tiles[0].origin[2] == 3);
  CHECK(body.tiles[0].pad[1] == 2);
  REQUIRE(body.kernels.size() == 1);
  CHECK(body.kernels[0].layer == 0);

  Body second(&b.n.arena);
  REQUIRE(b.Fill(1, &second) == Status::kOk);
  CheckList(second, {0, 1, 1, 1});
  CHECK(second.instructions[0].opcode == SLUICE_OPCODE_STORE);
  CHECK(second.waits[0].engine == 2);  // for all tiles of the block before
  CHECK(second.waits[0].before == 1);
  CHECK(second.waits[0].count == 0);
  CHECK(second.transfers[0].src == 1);
  CHECK(second.transfers[0].dst == 0);
  CHECK(second.slots[0].tensor == 1);
  CHECK(second.kernels.size() == 1);  // the layer of the store
}

TEST_CASE("fill body: a slot per tensor and way of moving, an operand per place") {
  Blocks b;
  REQUIRE(b.program.BeginBlock() == Status::kOk);
  Transfer moves = Move(0, 0, 0);
  moves.dram.moves = true;
  moves.dram.step = 4;
  for (const Transfer& t : {Move(0, 0, 0), Move(0, 4, 8), moves, Move(0, 0, 0)}) {
    REQUIRE(b.program.AddTransfer(StepKind::kLoad, 0, t) == Status::kOk);
  }
  b.Ready({{}, {}, {}, {}});
  Body body(&b.n.arena);
  REQUIRE(b.Fill(0, &body) == Status::kOk);
  REQUIRE(body.slots.size() == 2);
  CHECK(body.slots[1].moves == 1);
  CHECK(body.slots[1].step == 4);
  // In DRAM: at 0, at 4, moving; in the scratchpad: at 0 and at 8.
  CHECK(body.operands.size() == 5);
  CHECK(body.operands[body.transfers[2].src].slot == 2);
  CHECK(body.transfers[3].src == body.transfers[0].src);
  CHECK(body.transfers[3].dst == body.transfers[2].dst);
}

TEST_CASE("fill body: a transfer takes 65535 descriptors and not one more") {
  // A descriptor per row, and rows apart from each other in DRAM.
  sluice_test::HardwareSpec hardware;
  hardware.queues = {sluice_test::QueueSpec{}};
  hardware.queues[0].max_rows = 1;
  for (const bool fits : {true, false}) {
    CAPTURE(fits);
    Blocks b(SLUICE_OP_REQUANTIZE, {}, hardware);
    REQUIRE(b.program.BeginBlock() == Status::kOk);
    Transfer t = Move(0, 0, 0);
    const int32_t extent[kAxes] = {1, fits ? 255 : 256, fits ? 257 : 256, 4};
    t.buffer = DenseBuffer(BufferRange{0, 4 * 65536}, extent, SLUICE_DTYPE_INT8, 1);
    for (int a = 0; a < kAxes; ++a) t.dram.extent[a] = extent[a];
    t.dram.stride[1] = 64 * 256;
    REQUIRE(b.program.AddTransfer(StepKind::kLoad, 0, t) == Status::kOk);
    b.Ready({{}});
    Body body(&b.n.arena);
    if (fits) {
      REQUIRE(b.Fill(0, &body) == Status::kOk);
      CHECK(body.transfers[0].descriptors == 65535);
    } else {
      CHECK(b.Fill(0, &body) == Status::kUnsupported);
      CHECK(std::string(b.n.diagnostic.message) ==
            "a transfer takes 65536 descriptors of queue 0; 65535 are the most");
    }
  }
}

TEST_CASE("fill body: a host call's operands are whole tensors behind the others") {
  Blocks b(SLUICE_OP_OPAQUE, {5, 1, 0});
  REQUIRE(b.program.BeginBlock() == Status::kOk);
  REQUIRE(b.program.AddTransfer(StepKind::kLoad, 0, Move(0, 0, 0)) == Status::kOk);
  REQUIRE(b.program.AddHost(0) == Status::kOk);
  b.Ready({{}, {}});
  Body body(&b.n.arena);
  REQUIRE(b.Fill(0, &body) == Status::kOk);
  CheckList(body, {0, 1, 2, 2});
  CHECK(body.instructions[1].opcode == SLUICE_OPCODE_HOST);
  const sluice_host_call_t& call = body.host_calls[0];
  CHECK(call.first_operand == 2);
  CHECK(call.inputs == 1);
  CHECK(call.outputs == 1);
  CHECK(call.cycles_lo == 5);
  CHECK(call.cycles_hi == 1);
  REQUIRE(body.host_operands.size() == 2);
  CHECK(body.host_operands[0].slot == 1);  // the slot of the load
  CHECK(body.host_operands[1].slot == 2);
}

TEST_CASE("fill body: in a loop, slots and kernels tell how far each iteration goes") {
  Blocks b;
  REQUIRE(b.program.BeginBlock() == Status::kOk);
  TileStep tile = {};
  tile.present[kRoleInput0] = tile.present[kRoleOutput] = true;
  tile.operand[kRoleInput0] = Buffer(0);
  tile.operand[kRoleOutput] = Buffer(8);
  tile.cycles = 1;
  // Two rows of three tiles: each load reads 4 bytes behind the one before, each row 64
  // bytes behind the row before.
  std::vector<std::vector<ProgramWait>> waits;
  for (int32_t row = 0; row < 2; ++row) {
    for (int32_t i = 0; i < 3; ++i) {
      REQUIRE(b.program.AddTransfer(StepKind::kLoad, 0, Move(0, 64 * row + 4 * i, 0)) ==
              Status::kOk);
      tile.origin[1] = row;
      tile.origin[3] = 2 * i;
      REQUIRE(b.program.AddTile(0, tile) == Status::kOk);
      const uint32_t done = static_cast<uint32_t>(3 * row + i);
      waits.push_back(done == 0 ? std::vector<ProgramWait>{}
                                : std::vector<ProgramWait>{{2, done}});
      waits.push_back({{0, done + 1}});
    }
  }
  b.all = {{0, 2, 1}};
  REQUIRE(b.e.pieces.loops.Push(PieceLoop{0, 0, 2, kNone, 6}) == Status::kOk);
  REQUIRE(b.e.pieces.loops.Push(PieceLoop{0, 0, 3, 0, 2}) == Status::kOk);
  REQUIRE(b.e.pieces.pieces.Push(b.all[0]) == Status::kOk);
  b.all.clear();
  b.Ready(waits);
  Body body(&b.n.arena);
  REQUIRE(b.Fill(0, &body) == Status::kOk);
  REQUIRE(body.slots.size() == 1);
  CHECK(body.slots[0].by[0] == 64);
  CHECK(body.slots[0].by[1] == 4);
  REQUIRE(body.kernels.size() == 1);  // the load adds none to the tile's
  CHECK(body.kernels[0].by[0][1] == 1);
  CHECK(body.kernels[0].by[0][3] == 0);
  CHECK(body.kernels[0].by[1][1] == 0);
  CHECK(body.kernels[0].by[1][3] == 2);
}

}  // namespace
}  // namespace sluice
