// SPDX-License-Identifier: Apache-2.0
// Loops found in hand-made programs; unrolled they must be the program again.
#include "emit/find_loops.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

constexpr int32_t kFour[kAxes] = {1, 1, 1, 4};

sluice_test::GraphSpec OneLayer() {
  sluice_test::GraphSpec g;
  g.tensors.push_back({{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, {}});
  return g;
}

// One block of loads and tiles; step i waits as waits[i] says.
struct Steps {
  explicit Steps(const sluice_test::HardwareSpec& hardware = {})
      : n(OneLayer(), hardware) {
    REQUIRE(program.BeginBlock() == Status::kOk);
  }

  void Load(int64_t offset, uint32_t buffer = 0, std::vector<ProgramWait> of = {}) {
    Transfer t = {};
    t.role = SLUICE_ROLE_INPUT;
    t.dram.offset = offset;
    for (int a = 0; a < kAxes; ++a) t.dram.extent[a] = kFour[a];
    t.buffer = DenseBuffer({buffer, buffer + 4}, kFour, SLUICE_DTYPE_INT8, 1);
    REQUIRE(program.AddTransfer(StepKind::kLoad, 0, t) == Status::kOk);
    Waits(of);
  }
  void Tile(const std::vector<int32_t>& origin, std::vector<ProgramWait> of = {},
            int32_t c_begin = 0, int32_t c_end = 0) {
    TileStep t = {};
    t.c_begin = c_begin;
    t.c_end = c_end;
    t.present[kRoleInput0] = true;
    t.operand[kRoleInput0] = DenseBuffer({0, 4}, kFour, SLUICE_DTYPE_INT8, 1);
    t.cycles = 1;
    for (size_t a = 0; a < origin.size(); ++a) t.origin[a] = origin[a];
    REQUIRE(program.AddTile(0, t) == Status::kOk);
    Waits(of);
  }
  void Waits(const std::vector<ProgramWait>& of) {
    const uint32_t first = static_cast<uint32_t>(waits.waits.size());
    REQUIRE(waits.begin.Push(first) == Status::kOk);
    for (const ProgramWait& w : of) {
      REQUIRE(back.Push(before[w.engine] - w.count) == Status::kOk);
      REQUIRE(waits.waits.Push(w) == Status::kOk);
    }
    ++before[EngineOf(program,
                      program.step(static_cast<uint32_t>(program.size()) - 1))];
  }
  void Find() {
    const uint32_t end = static_cast<uint32_t>(waits.waits.size());
    REQUIRE(waits.begin.Push(end) == Status::kOk);
    REQUIRE(FindLoops({program, waits, back}, 0, &n.arena, &found) == Status::kOk);
    CheckSame();
  }

  // Walks all visits of the pieces: they must be the program's steps in order, each at
  // the distance from the first visit that the first iterations tell.
  void CheckSame() {
    next = 0;
    size_t piece = 0, loop = 0;
    Walk(found.pieces.size(), kNone, {}, &piece, &loop);
    CHECK(next == program.size());
    CHECK(loop == found.loops.size());
  }

  sluice_test::Nouns n;
  Program program{&n.arena, n.hardware};
  ProgramWaits waits{&n.arena};
  Sequence<uint32_t> back{&n.arena};
  Pieces found{&n.arena};
  uint32_t before[3] = {};
  uint32_t next = 0;

 private:
  struct Around {
    uint32_t period, index;
  };
  void Walk(size_t end, uint32_t parent, std::vector<Around> around, size_t* piece,
            size_t* loop) {
    while (*piece < end) {
      if (*loop < found.loops.size() && found.loops[*loop].first == *piece) {
        const uint32_t l = static_cast<uint32_t>((*loop)++);
        const PieceLoop& of = found.loops[l];
        REQUIRE(of.count >= 2);
        REQUIRE(of.parent == parent);
        const size_t inside = *loop;
        for (uint32_t i = 0; i < of.count; ++i) {
          std::vector<Around> inner = around;
          inner.push_back({of.period, i});
          *piece = of.first;
          *loop = inside;
          Walk(size_t{of.last} + 1, l, inner, piece, loop);
        }
        continue;
      }
      const Piece& p = found.pieces[(*piece)++];
      CHECK(p.loop == parent);
      for (uint32_t i = p.begin; i < p.end; ++i) CheckStep(i, around);
    }
  }
  void CheckStep(uint32_t first, const std::vector<Around>& around) {
    uint32_t at = first;
    StepMove want = {};
    for (const Around& a : around) {
      at += a.period * a.index;
      const StepMove one = MoveBetween(program, first, first + a.period);
      want.bytes += one.bytes * a.index;
      for (int i = 0; i <= kAxes; ++i) {
        want.place[i] += one.place[i] * static_cast<int32_t>(a.index);
      }
    }
    REQUIRE(at == next++);
    CHECK(MoveBetween(program, first, at) == want);
    CHECK(program.step(at).kind == program.step(first).kind);
    const uint32_t x = waits.begin[first], y = waits.begin[at];
    REQUIRE(waits.begin[first + 1] - x == waits.begin[at + 1] - y);
    for (uint32_t w = 0; w < waits.begin[first + 1] - x; ++w) {
      CHECK(waits.waits[x + w].engine == waits.waits[y + w].engine);
      CHECK(back[x + w] == back[y + w]);
    }
  }
};

TEST_CASE("find loops: what waits differently stands before the loop") {
  Steps s;
  for (uint32_t i = 0; i < 20; ++i) {
    s.Load(100 + 4 * i, 0,
           i == 0 ? std::vector<ProgramWait>{} : std::vector<ProgramWait>{{2, i}});
    s.Tile({0, 0, 0, static_cast<int32_t>(4 * i)}, {{0, i + 1}});
  }
  s.Find();
  REQUIRE(s.found.pieces.size() >= 2);
  REQUIRE(s.found.loops.size() == 1);
  CHECK(s.found.loops[0].count >= 19);
  CHECK(s.found.loops[0].period == 2);
}

TEST_CASE("find loops: rows of rows of tiles, three deep and not deeper") {
  Steps s;
  for (int32_t a = 0; a < 3; ++a) {
    for (int32_t b = 0; b < 3; ++b) {
      for (int32_t c = 0; c < 4; ++c) {
        for (int32_t d = 0; d < 20; ++d) {
          s.Load(1000000 * a + 10000 * b + 100 * c + 4 * d);
        }
        s.Tile({a, b, c, 0});
      }
      s.Tile({a, b, 0, 1});
    }
    s.Load(a * a);
  }
  s.Find();
  uint32_t deepest = 0;
  for (size_t l = 0; l < s.found.loops.size(); ++l) {
    uint32_t depth = 1;
    for (uint32_t p = s.found.loops[l].parent; p != kNone;
         p = s.found.loops[p].parent) {
      ++depth;
    }
    deepest = std::max(deepest, depth);
  }
  CHECK(deepest == 3);
  CHECK(s.found.pieces.size() < 30);  // of 738 steps
}

TEST_CASE("find loops: distances that grow, and a few steps, are no loop") {
  Steps s;
  for (int32_t i = 0; i < 60; ++i) s.Load(int64_t{i} * i);
  s.Find();
  CHECK(s.found.loops.size() == 0);
  CHECK(s.found.pieces.size() == 1);
  Steps few;
  for (int32_t i = 0; i < 16; ++i) few.Load(4 * i);
  few.Find();
  CHECK(few.found.loops.size() == 0);
  Steps enough;
  for (int32_t i = 0; i < 17; ++i) enough.Load(4 * i);
  enough.Find();
  REQUIRE(enough.found.loops.size() == 1);
  CHECK(enough.found.loops[0].count == 17);
}

TEST_CASE("find loops: tiles that walk along input channels, all of one length") {
  Steps s;
  for (int32_t i = 0; i < 20; ++i) s.Tile({}, {}, 4 * i, 4 * i + 4);
  s.Find();
  REQUIRE(s.found.loops.size() == 1);
  CHECK(s.found.loops[0].count == 20);
  Steps longer;
  for (int32_t i = 0; i < 20; ++i) longer.Tile({}, {}, 4 * i, 5 * i + 4);
  longer.Find();
  CHECK(longer.found.loops.size() == 0);
}

TEST_CASE("find loops: the longest period is 128 steps for each node") {
  for (const uint32_t nodes : {1u, 2u}) {
    for (const uint32_t more : {0u, 1u}) {
      CAPTURE(nodes);
      CAPTURE(more);
      sluice_test::HardwareSpec hardware;
      hardware.node_cols = nodes;
      Steps s(hardware);
      const uint32_t period = 128 * nodes + more;
      for (uint32_t i = 0; i < 3 * period; ++i) s.Load(0, 4 * (i % period));
      s.Find();
      CHECK(s.found.loops.size() == 1 - more);
    }
  }
}

TEST_CASE("find loops: of 2000 random nests each is the program again") {
  size_t loops = 0, nested = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Steps s;
    // Up to three nested loops of random counts, with a step out of order here and
    // there.
    const uint32_t outer = 1 + rng.Below(4), inner = 1 + rng.Below(6),
                   most = 1 + rng.Below(12);
    const uint32_t buffers = 1 + rng.Below(3);
    uint32_t visit = 0;
    for (uint32_t a = 0; a < outer; ++a) {
      if (rng.Below(3) == 0) s.Load(7 * a, 64);
      for (uint32_t b = 0; b < inner; ++b) {
        for (uint32_t c = 0; c < most; ++c, ++visit) {
          const int64_t odd = rng.Below(200) == 0 ? 1 : 0;
          s.Load(5000 * a + 300 * b + 4 * c + odd, 4 * (visit % buffers),
                 s.before[2] != 0 && rng.Below(100) != 0
                     ? std::vector<ProgramWait>{{2, s.before[2]}}
                     : std::vector<ProgramWait>{});
          s.Tile({static_cast<int32_t>(a), static_cast<int32_t>(b),
                  static_cast<int32_t>(c), 0},
                 {{0, s.before[0]}});
        }
        if (seed % 2 == 0) s.Tile({0, 0, 0, 9});
      }
    }
    s.Find();
    loops += s.found.loops.size();
    for (size_t l = 0; l < s.found.loops.size(); ++l) {
      nested += s.found.loops[l].parent != kNone ? 1 : 0;
    }
  }
  CHECK(loops > 1000);
  CHECK(nested > 100);
}

}  // namespace
}  // namespace sluice
