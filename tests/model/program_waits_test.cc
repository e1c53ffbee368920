// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "model/program.h"
#include "support/read_graph.h"
#include "tests/support/whole_steps.h"

namespace sluice {
namespace {

struct Access {
  uint32_t begin, end;
  bool write;
  bool dram = false;
};

BufferBox Buffer(uint32_t begin, uint32_t end) {
  const int32_t extent[kAxes] = {1, 1, 1, static_cast<int32_t>(end - begin)};
  return DenseBuffer(BufferRange{begin, end}, extent, SLUICE_DTYPE_INT8, 1);
}

std::vector<Access> AccessesOf(const Program& p, const Step& step) {
  std::vector<Access> list;
  if (step.kind == StepKind::kCompute) {
    const TileStep t = TileOf(p, step.item);
    for (int r = 0; r < kTileRoles; ++r) {
      if (t.present[r]) {
        list.push_back(
            {t.operand[r].range.begin, t.operand[r].range.end, r == kRoleOutput});
      }
    }
    return list;
  }
  const Transfer t = TransferOf(p, step.item);
  const BufferRange range = t.buffer.range;
  const bool load = step.kind == StepKind::kLoad;
  list.push_back({range.begin, range.end, load});
  if (t.dram.tensor == 1) {
    const uint32_t begin = static_cast<uint32_t>(t.dram.offset);
    list.push_back(
        {begin, begin + static_cast<uint32_t>(t.dram.extent[3]), !load, true});
  }
  return list;
}

bool Conflict(const Program& p, const Step& a, const Step& b) {
  for (const Access& x : AccessesOf(p, a)) {
    for (const Access& y : AccessesOf(p, b)) {
      if (x.dram != y.dram || !(x.write || y.write)) continue;
      if (x.begin < y.end && y.begin < x.end) return true;
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
      t.role = kind == StepKind::kStore ? SLUICE_ROLE_OUTPUT
               : rng->Below(2) == 0     ? SLUICE_ROLE_INPUT
                                        : SLUICE_ROLE_WEIGHT;
      t.dram.tensor = rng->Below(2);  // 0 is read only, 1 is written
      if (kind == StepKind::kStore) t.dram.tensor = 1;
      t.dram.offset = rng->Below(12);
      for (int a = 0; a < kAxes; ++a) t.dram.extent[a] = t.buffer.extent[a];
      t.dram.stride[3] = 1;
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

// before[i][j]: by engine order and waits, step j has ended when step i starts.
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
      if (EngineOf(p, p.step(j)) == EngineOf(p, p.step(i))) add(j);
    }
    for (uint32_t x = w.begin[i]; x < w.begin[i + 1]; ++x) {
      if (x == dropped) continue;
      uint32_t count = 0;
      for (size_t j = 0; j < i; ++j) {
        if (EngineOf(p, p.step(j)) != w.waits[x].engine) continue;
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

// Random programs on a tensor that is only read and one that is written.
void CheckWaits(const std::vector<sluice_test::QueueSpec>& queues, int rounds,
                size_t* waits_seen) {
  sluice_test::GraphSpec spec;
  spec.tensors.push_back({{1, 1, 1, 32}, SLUICE_DTYPE_INT8, 1});
  spec.tensors.push_back({{1, 1, 1, 32}, SLUICE_DTYPE_INT8, 2});
  spec.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, {}});
  sluice_test::HardwareSpec machine;
  machine.queues = queues;
  sluice_test::Nouns n(spec, machine);
  TensorPlace places[2] = {};
  places[0].region = SLUICE_REGION_INPUT;
  places[1].region = SLUICE_REGION_OUTPUT;
  Rng rng(3);
  for (int round = 0; round < rounds; ++round) {
    Arena arena(&n.memory);
    Program p(&arena, n.hardware);
    RandomProgram(&rng, &p);
    ProgramWaits w(&arena);
    REQUIRE(DeriveWaits({n.graph, n.hardware, p}, Span<const TensorPlace>(places, 2),
                        &arena, &w) == Status::kOk);
    CHECK(AllOrdered(p, w, SIZE_MAX));
    *waits_seen += w.waits.size();
    for (size_t x = 0; x < w.waits.size(); ++x) CHECK_FALSE(AllOrdered(p, w, x));
  }
}

TEST_CASE("program: derived waits order every conflict and none can be spared") {
  size_t waits_seen = 0;
  CheckWaits({}, 1000, &waits_seen);
  CHECK(waits_seen > 5000);
}

TEST_CASE("program: what several queues share in DRAM is ordered by waits") {
  size_t one = 0, two = 0, three = 0, alike = 0;
  CheckWaits({}, 300, &one);
  CheckWaits(sluice_test::LoadAndStore(), 300, &two);
  CheckWaits(sluice_test::ParametersByCompute(), 300, &three);
  CheckWaits({sluice_test::QueueSpec(), sluice_test::QueueSpec()}, 300, &alike);
  MESSAGE(one << " waits with one queue, " << two << " with load and store, " << three
              << " with parameters on the compute engine, " << alike
              << " with two that do the same");
  CHECK(two > one);
}

}  // namespace
}  // namespace sluice
