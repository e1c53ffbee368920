// SPDX-License-Identifier: Apache-2.0
#include "model/program_order.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/rng.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

using sluice_test::GraphSpec;

GraphSpec Empty() {
  GraphSpec g;
  g.tensors.push_back({{1, 1, 1, 64}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{1, 1, 1, 64}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_RESHAPE, {0}, {1}, {}});
  return g;
}

BufferBox Buffer(uint32_t begin, uint32_t bytes) {
  const int32_t extent[kAxes] = {1, 1, 1, static_cast<int32_t>(bytes)};
  return DenseBuffer(BufferRange{begin, begin + bytes}, extent, SLUICE_DTYPE_INT8, 1);
}

void AddTransfer(Program* p, StepKind kind, uint32_t tensor, uint32_t at,
                 uint32_t bytes) {
  Transfer t = {};
  t.dram.tensor = tensor;
  for (int32_t& e : t.dram.extent) e = 1;
  t.dram.extent[3] = static_cast<int32_t>(bytes);
  t.dram.stride[3] = 1;
  t.buffer = Buffer(at, bytes);
  t.role = SLUICE_ROLE_INPUT;
  REQUIRE(p->AddTransfer(kind, 0, t) == Status::kOk);
}

void AddTile(Program* p, uint32_t in, uint32_t out, uint32_t bytes, int64_t cycles) {
  TileStep t = {};
  t.present[kRoleInput0] = t.present[kRoleOutput] = true;
  t.operand[kRoleInput0] = Buffer(in, bytes);
  t.operand[kRoleOutput] = Buffer(out, bytes);
  t.first = t.last = true;
  t.cycles = cycles;
  REQUIRE(p->AddTile(0, t) == Status::kOk);
}

TEST_CASE("order: a load goes in front of a tile that does not need its bytes") {
  sluice_test::Nouns n(Empty());
  Program p(&n.arena, n.hardware);
  REQUIRE(p.BeginBlock() == Status::kOk);
  AddTransfer(&p, StepKind::kLoad, 0, 0, 16);
  AddTile(&p, 0, 16, 16, 1000);
  AddTransfer(&p, StepKind::kLoad, 0, 32, 16);
  AddTile(&p, 32, 48, 16, 1000);
  AddTransfer(&p, StepKind::kStore, 1, 16, 16);
  const uint32_t roots[] = {0, 1};
  REQUIRE(OrderTransfers(n.graph, n.hardware, Span<const uint32_t>(roots, 2), &n.arena,
                         &p) == Status::kOk);
  CHECK(p.step(0).kind == StepKind::kLoad);
  CHECK(p.step(1).kind == StepKind::kCompute);
  CHECK(p.step(2).kind == StepKind::kLoad);
  CHECK(p.step(3).kind == StepKind::kCompute);
  CHECK(p.step(4).kind == StepKind::kStore);
  ProgramWaits waits(&n.arena);
  const TensorPlace places[2] = {};
  REQUIRE(DeriveWaits({n.graph, n.hardware, p}, Span<const TensorPlace>(places, 2),
                      &n.arena, &waits) == Status::kOk);
  CHECK(waits.begin[2] == waits.begin[3]);  // the second load waits for nothing
}

struct Touch {
  BufferRange range;
  bool write;
};

std::vector<Touch> TouchesOf(const Program& p, const Step& step) {
  if (step.kind == StepKind::kCompute) {
    const TileStep t = p.tile(step.item);
    return {{t.operand[kRoleInput0].range, false},
            {t.operand[kRoleOutput].range, true}};
  }
  return {{p.transfer(step.item).buffer.range, step.kind == StepKind::kLoad}};
}

// Steps whose order decides what is read.
bool Conflict(const Program& p, const Step& a, const Step& b) {
  for (const Touch& x : TouchesOf(p, a)) {
    for (const Touch& y : TouchesOf(p, b)) {
      if ((x.write || y.write) && x.range.begin < y.range.end &&
          y.range.begin < x.range.end) {
        return true;
      }
    }
  }
  const bool dram = a.kind != StepKind::kCompute && b.kind != StepKind::kCompute;
  return dram && (a.kind == StepKind::kStore || b.kind == StepKind::kStore) &&
         p.transfer(a.item).dram.tensor == p.transfer(b.item).dram.tensor;
}

TEST_CASE("order: random programs keep the order of all steps that touch the same") {
  int moved = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    sluice_test::Nouns n(Empty());
    Program p(&n.arena, n.hardware);
    REQUIRE(p.BeginBlock() == Status::kOk);
    const uint32_t steps = 2 + static_cast<uint32_t>(rng.Below(40));
    const auto at = [&] { return static_cast<uint32_t>(rng.Below(12)) * 8; };
    for (uint32_t i = 0; i < steps; ++i) {
      const uint32_t bytes = 8 * (1 + static_cast<uint32_t>(rng.Below(3)));
      const uint32_t tensor = static_cast<uint32_t>(rng.Below(2));
      switch (rng.Below(3)) {
        case 0:
          AddTransfer(&p, StepKind::kLoad, tensor, at(), bytes);
          break;
        case 1:
          AddTransfer(&p, StepKind::kStore, tensor, at(), bytes);
          break;
        default:
          AddTile(&p, at(), at(), bytes, 1 + static_cast<int64_t>(rng.Below(50)));
          break;
      }
    }
    std::vector<Step> before;
    for (uint32_t i = 0; i < steps; ++i) before.push_back(p.step(i));
    const uint32_t roots[] = {0, 1};
    REQUIRE(OrderTransfers(n.graph, n.hardware, Span<const uint32_t>(roots, 2),
                           &n.arena, &p) == Status::kOk);
    REQUIRE(p.size() == steps);
    std::vector<uint32_t> now(steps);
    for (uint32_t i = 0; i < steps; ++i) {
      for (uint32_t k = 0; k < steps; ++k) {
        if (before[k].kind == p.step(i).kind && before[k].item == p.step(i).item) {
          now[k] = i;
        }
      }
    }
    for (uint32_t a = 0; a < steps; ++a) {
      moved += now[a] != a ? 1 : 0;
      for (uint32_t b = a + 1; b < steps; ++b) {
        if (Conflict(p, before[a], before[b])) CHECK(now[a] < now[b]);
      }
    }
  }
  CHECK(moved > 1000);
}

}  // namespace
}  // namespace sluice
