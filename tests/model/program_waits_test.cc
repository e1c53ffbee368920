// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "model/program.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

struct Access {
  uint32_t begin, end;
  bool write;
};

BufferBox Buffer(uint32_t begin, uint32_t end) {
  const int32_t extent[kAxes] = {1, 1, 1, static_cast<int32_t>(end - begin)};
  return DenseBuffer(BufferRange{begin, end}, extent, SLUICE_DTYPE_INT8, 1);
}

std::vector<Access> AccessesOf(const Program& p, const Step& step) {
  std::vector<Access> list;
  if (step.kind == StepKind::kCompute) {
    const TileStep t = p.tile(step.item);
    for (int r = 0; r < kTileRoles; ++r) {
      if (t.present[r]) {
        list.push_back(
            {t.operand[r].range.begin, t.operand[r].range.end, r == kRoleOutput});
      }
    }
    return list;
  }
  const BufferRange range = p.transfer(step.item).buffer.range;
  list.push_back({range.begin, range.end, step.kind == StepKind::kLoad});
  return list;
}

bool Conflict(const Program& p, const Step& a, const Step& b) {
  for (const Access& x : AccessesOf(p, a)) {
    for (const Access& y : AccessesOf(p, b)) {
      if ((x.write || y.write) && x.begin < y.end && y.begin < x.end) return true;
    }
  }
  return false;
}

void RandomProgram(Rng* rng, Program* p) {
  const int steps = 2 + static_cast<int>(rng->Below(30));
  for (int i = 0; i < steps; ++i) {
    const auto range = [&] {
      const uint32_t begin = rng->Below(12);
      return Buffer(begin, begin + 1 + rng->Below(6));
    };
    if (rng->Below(2) == 0) {
      Transfer t = {};
      t.buffer = range();
      const StepKind kind = rng->Below(2) == 0 ? StepKind::kLoad : StepKind::kStore;
      REQUIRE(p->AddTransfer(kind, 0, t) == Status::kOk);
    } else {
      TileStep t = {};
      t.cycles = 1 + rng->Below(50);
      for (int r : {kRoleInput0, kRoleWeight, kRoleOutput}) {
        t.present[r] = true;
        t.operand[r] = range();
      }
      REQUIRE(p->AddTile(0, t) == Status::kOk);
    }
  }
}

// before[i][j]: step j is over when step i starts, by engine order and waits.
std::vector<std::vector<bool>> HappensBefore(const Program& p, const ProgramWaits& w,
                                             size_t dropped) {
  const size_t n = p.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));
  for (size_t i = 0; i < n; ++i) {
    const auto add = [&](size_t j) {
      before[i][j] = true;
      for (size_t k = 0; k < n; ++k) {
        if (before[j][k]) before[i][k] = true;
      }
    };
    for (size_t j = 0; j < i; ++j) {
      if (EngineOf(p.step(j)) == EngineOf(p.step(i))) add(j);
    }
    for (uint32_t x = w.begin[i]; x < w.begin[i + 1]; ++x) {
      if (x == dropped) continue;
      uint32_t count = 0;
      for (size_t j = 0; j < i; ++j) {
        if (EngineOf(p.step(j)) != w.waits[x].engine) continue;
        if (++count == w.waits[x].count) add(j);
      }
    }
  }
  return before;
}

bool AllOrdered(const Program& p, const ProgramWaits& w, size_t dropped) {
  const auto before = HappensBefore(p, w, dropped);
  for (size_t i = 0; i < p.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!before[i][j] && Conflict(p, p.step(j), p.step(i))) return false;
    }
  }
  return true;
}

TEST_CASE("program: derived waits order every conflict and none can be spared") {
  Rng rng(3);
  Memory memory(sluice_test::Nouns::Allocator(), 0);
  size_t waits_seen = 0;
  for (int round = 0; round < 1000; ++round) {
    Arena arena(&memory);
    Program p(&arena);
    RandomProgram(&rng, &p);
    ProgramWaits w(&arena);
    REQUIRE(DeriveWaits(p, &arena, &w) == Status::kOk);
    CHECK(AllOrdered(p, w, SIZE_MAX));
    waits_seen += w.waits.size();
    for (size_t x = 0; x < w.waits.size(); ++x) CHECK_FALSE(AllOrdered(p, w, x));
  }
  CHECK(waits_seen > 5000);
}

}  // namespace
}  // namespace sluice
