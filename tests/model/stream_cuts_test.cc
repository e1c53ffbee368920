// SPDX-License-Identifier: Apache-2.0
// Hand-made streams, cut between their instances.
#include "model/stream_cuts.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/read_graph.h"
#include "support/stream_builder.h"

namespace sluice {
namespace {

using sluice_test::After;
using sluice_test::AfterAllBut;
using sluice_test::BlockBuilder;
using sluice_test::Bytes;
using sluice_test::ComputeEngine;
using sluice_test::EmptyTile;
using sluice_test::kDmaEngine;
using sluice_test::StreamBuilder;

using sluice_test::kI8;

// Slot 0 is the scratchpad, 1 the input, 2 the output. A transfer takes 10 cycles plus
// one for every 4 bytes.
struct Stream : StreamBuilder {
  Stream() {
    AddBinding(SLUICE_REGION_GBUF, 0);
    AddBinding(SLUICE_REGION_INPUT, 0);
    AddBinding(SLUICE_REGION_OUTPUT, 0);
  }
  BlockBuilder* AddBlock() {
    blocks.emplace_back();
    blocks.back().slot_count = 3;
    AddInstance(static_cast<uint32_t>(blocks.size() - 1), 0, 0);
    return &blocks.back();
  }
};

// Instance 0 loads 8 bytes to address 0. Instance 1 computes 4 bytes at 16 from them
// and stores these.
Bytes TwoInstances() {
  Stream s;
  BlockBuilder* b = s.AddBlock();
  b->Load(b->Dense(1, kI8, {1, 1, 1, 8}, 0), b->Dense(0, kI8, {1, 1, 1, 8}, 0));
  b = s.AddBlock();
  sluice_tile_t tile = EmptyTile(0, 5);
  tile.input0 = b->Dense(0, kI8, {1, 1, 1, 8}, 0);
  tile.output = b->Dense(0, kI8, {1, 1, 1, 4}, 16);
  b->Compute(tile, {AfterAllBut(0, kDmaEngine)});
  b->Store(tile.output, b->Dense(2, kI8, {1, 1, 1, 4}, 0),
           {After(ComputeEngine(0), 1)});
  return s.Image();
}

struct Cuts {
  explicit Cuts(const Bytes& bytes)
      : n([] {
          sluice_test::GraphSpec g;
          g.tensors.push_back({{1, 1, 1, 4}, kI8, 1});
          g.tensors.push_back({{1, 1, 1, 4}, kI8, 2});
          g.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, {}});
          return g;
        }()),
        words((bytes.size() + 7) / 8) {
    memcpy(words.data(), bytes.data(), bytes.size());
    REQUIRE(FindVisits({reinterpret_cast<const uint8_t*>(words.data()), bytes.size()},
                       &n.arena, &visits) == Status::kOk);
  }
  std::vector<int64_t> Drained(uint32_t first, int64_t limit = INT64_MAX) {
    std::vector<int64_t> end(visits.count(), -1);
    REQUIRE(DrainedCycles(n.hardware, visits, first, limit, &n.arena,
                          {end.data(), end.size()}) == Status::kOk);
    return end;
  }
  std::vector<DeadBytes> Dead(int64_t capacity) {
    std::vector<DeadBytes> dead(visits.count() + 1);
    REQUIRE(FindDead(visits, capacity, &n.arena, {dead.data(), dead.size()}) ==
            Status::kOk);
    return dead;
  }
  sluice_test::Nouns n;
  std::vector<uint64_t> words;
  StreamVisits visits;
};

void CheckDead(const DeadBytes& dead, int64_t begin, int64_t end, int64_t live) {
  CHECK(dead.begin == begin);
  CHECK(dead.end == end);
  CHECK(dead.live == live);
}

TEST_CASE("stream cuts: instances in a row, and from any of them on an idle machine") {
  Cuts c(TwoInstances());
  CHECK(c.Drained(0) == std::vector<int64_t>{12, 12 + 5 + 11});
  CHECK(c.Drained(1) == std::vector<int64_t>{-1, 5 + 11});
  // Instances behind the first one beyond the limit are not timed.
  CHECK(c.Drained(0, 12) == std::vector<int64_t>{12, 28});
  CHECK(c.Drained(0, 11) == std::vector<int64_t>{12, INT64_MAX});
  int64_t longest = 0;
  REQUIRE(LongestVisit(c.n.hardware, c.visits, &c.n.arena, &longest) == Status::kOk);
  CHECK(longest == 16);
}

TEST_CASE("stream cuts: a host that uses the port holds it for its operands") {
  Stream s;
  BlockBuilder* b = s.AddBlock();
  sluice_host_call_t call = {};
  call.first_operand = b->Dense(1, kI8, {1, 2, 3, 4}, 0);
  b->Dense(2, SLUICE_DTYPE_INT32, {1, 1, 2, 4}, 0);
  call.inputs = call.outputs = 1;
  call.cycles_lo = 100;
  b->host_calls.push_back(call);
  b->Append(kDmaEngine + 1, SLUICE_OPCODE_HOST, 0, 0, {});
  Cuts c(s.Image());
  CHECK(c.Drained(0) == std::vector<int64_t>{100});
  c.n.hardware.host.uses_port = true;
  CHECK(c.Drained(0) == std::vector<int64_t>{100 + (24 + 32) / 4});
}

TEST_CASE("stream cuts: engines of one instance work at once where waits allow it") {
  const sluice_test::Case conv = sluice_test::ConvCase();
  Cuts c(conv.stream.Image());
  CHECK(c.Drained(0) == std::vector<int64_t>{536});
}

TEST_CASE("stream cuts: bytes that were loaded are live until their last reader") {
  Cuts c(TwoInstances());
  const std::vector<DeadBytes> dead = c.Dead(64);
  CheckDead(dead[0], 0, 64, 0);
  CheckDead(dead[1], 8, 64, 8);
  CheckDead(dead[2], 0, 64, 0);
}

TEST_CASE("stream cuts: of a strided operand its elements alone, each run by itself") {
  Stream s;
  s.AddBlock();  // an instance without work
  BlockBuilder* b = s.AddBlock();
  // Rows of 4 bytes, 8 apart.
  b->Store(b->Strided(0, kI8, {1, 1, 2, 4}, {0, 0, 8, 1}, 0),
           b->Dense(2, kI8, {1, 1, 2, 4}, 0));
  Cuts c(s.Image());
  CheckDead(c.Dead(20)[1], 12, 20, 8);
  CheckDead(c.Dead(200)[1], 12, 200, 8);
  CheckDead(c.Dead(13)[1], 4, 8, 8);
}

TEST_CASE("stream cuts: an operand whose elements lie apart along all four axes") {
  Stream s;
  s.AddBlock();  // an instance without work
  BlockBuilder* b = s.AddBlock();
  // Inner offsets 0, 2, 5, 7; the same 11 further on; all of these 23 further on.
  b->Store(b->Strided(0, kI8, {2, 2, 2, 2}, {23, 11, 5, 2}, 0),
           b->Dense(2, kI8, {2, 2, 2, 2}, 0));
  Cuts c(s.Image());
  CheckDead(c.Dead(200)[1], 42, 200, 16);
  CheckDead(c.Dead(42)[1], 19, 23, 16);
  CheckDead(c.Dead(64)[2], 0, 64, 0);
}

TEST_CASE("stream cuts: sums are live from their first tile to their last") {
  Stream s;
  sluice_tile_t tile = EmptyTile(0, 1);
  for (const int flags : {int{SLUICE_FLAG_FIRST}, 0, int{SLUICE_FLAG_LAST}}) {
    BlockBuilder* b = s.AddBlock();
    tile.accumulator = b->Dense(0, SLUICE_DTYPE_INT32, {1, 1, 1, 4}, 32);
    tile.output = b->Dense(0, kI8, {1, 1, 1, 4}, 0);
    b->Compute(tile, {}, static_cast<uint8_t>(flags));
  }
  BlockBuilder* b = s.AddBlock();
  b->Store(b->Dense(0, kI8, {1, 1, 1, 4}, 0), b->Dense(2, kI8, {1, 1, 1, 4}, 0));
  Cuts c(s.Image());
  const std::vector<DeadBytes> dead = c.Dead(64);
  CheckDead(dead[0], 0, 64, 0);
  CheckDead(dead[1], 0, 32, 16);
  CheckDead(dead[2], 0, 32, 16);
  CheckDead(dead[3], 4, 64, 4);
}

TEST_CASE("stream cuts: meshes are refused") {
  Cuts c(TwoInstances());
  c.n.hardware.node_cols = 2;
  int64_t end[2];
  CHECK(DrainedCycles(c.n.hardware, c.visits, 0, INT64_MAX, &c.n.arena, {end, 2}) ==
        Status::kUnsupported);
}

}  // namespace
}  // namespace sluice
