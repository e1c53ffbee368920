// SPDX-License-Identifier: Apache-2.0
#include "model/program_order.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/rng.h"
#include "support/read_graph.h"
#include "tests/support/whole_steps.h"

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
                 uint32_t bytes, int64_t from = 0) {
  Transfer t = {};
  t.dram.tensor = tensor;
  t.dram.offset = from;
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
  const TensorPlace places[2] = {};
  REQUIRE(OrderTransfers(n.graph, n.hardware, {{roots, 2}, {places, 2}}, &n.arena,
                         &p) == Status::kOk);
  CHECK(p.step(0).kind == StepKind::kLoad);
  CHECK(p.step(1).kind == StepKind::kCompute);
  CHECK(p.step(2).kind == StepKind::kLoad);
  CHECK(p.step(3).kind == StepKind::kCompute);
  CHECK(p.step(4).kind == StepKind::kStore);
  ProgramWaits waits(&n.arena);
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
    const TileStep t = TileOf(p, step.item);
    return {{t.operand[kRoleInput0].range, false},
            {t.operand[kRoleOutput].range, true}};
  }
  return {{TransferOf(p, step.item).buffer.range, step.kind == StepKind::kLoad}};
}

// Whether the order of two steps changes what is read.
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
  if (!dram || (a.kind != StepKind::kStore && b.kind != StepKind::kStore)) return false;
  const DramBox x = TransferOf(p, a.item).dram, y = TransferOf(p, b.item).dram;
  return x.tensor == y.tensor && x.offset < y.offset + y.extent[3] &&
         y.offset < x.offset + x.extent[3];
}

// A transfer of two rows of `channels` bytes from (row, channel) on; a row has 16
// bytes.
void AddRows(Program* p, StepKind kind, uint32_t tensor, int row, int channel,
             int channels, uint32_t at) {
  Transfer t = {};
  t.dram.tensor = tensor;
  t.dram.offset = row * 16 + channel;
  const int32_t extent[kAxes] = {1, 1, 2, channels};
  const uint32_t stride[kAxes] = {64, 64, 16, 1};
  for (int a = 0; a < kAxes; ++a) t.dram.extent[a] = extent[a];
  for (int a = 0; a < kAxes; ++a) t.dram.stride[a] = stride[a];
  t.buffer = Buffer(at, static_cast<uint32_t>(2 * channels));
  t.role = SLUICE_ROLE_INPUT;
  REQUIRE(p->AddTransfer(kind, 0, t) == Status::kOk);
}

TEST_CASE("order: a load passes a store of other channels, and none of its own") {
  for (const int channel : {8, 4}) {
    CAPTURE(channel);
    sluice_test::Nouns n(Empty());
    Program p(&n.arena, n.hardware);
    REQUIRE(p.BeginBlock() == Status::kOk);
    // Tensor 1 is a view of tensor 0 from byte 8 on.
    AddRows(&p, StepKind::kLoad, 0, 0, 0, 8, 0);
    AddTile(&p, 0, 16, 16, 1000);
    AddRows(&p, StepKind::kStore, 1, 0, channel - 8, 8, 16);
    AddRows(&p, StepKind::kLoad, 0, 1, 0, 8, 32);
    AddTile(&p, 32, 48, 16, 1000);
    const uint32_t roots[] = {0, 0};
    TensorPlace places[2] = {};
    places[1].offset = 8;
    REQUIRE(OrderTransfers(n.graph, n.hardware, {{roots, 2}, {places, 2}}, &n.arena,
                           &p) == Status::kOk);
    // A store of channels 8 to 15 does not touch those of the load, one of 4 to 11
    // does.
    const StepKind second = channel == 8 ? StepKind::kLoad : StepKind::kStore;
    CHECK(p.step(2).kind == second);
  }
}

TEST_CASE("order: what was touched long ago is not forgotten") {
  sluice_test::Nouns n(Empty());
  Program p(&n.arena, n.hardware);
  REQUIRE(p.BeginBlock() == Status::kOk);
  AddTile(&p, 0, 16, 8, 1000);
  AddTransfer(&p, StepKind::kStore, 1, 16, 8);
  for (int i = 1; i <= 20; ++i) AddTransfer(&p, StepKind::kStore, 1, 0, 1, 8 + i);
  AddTransfer(&p, StepKind::kLoad, 1, 64, 8);
  const uint32_t roots[] = {0, 1};
  const TensorPlace places[2] = {};
  REQUIRE(OrderTransfers(n.graph, n.hardware, {{roots, 2}, {places, 2}}, &n.arena,
                         &p) == Status::kOk);
  uint32_t load = 0, store = 0;
  for (uint32_t i = 0; i < p.size(); ++i) {
    const Step step = p.step(i);
    if (step.kind == StepKind::kLoad) load = i;
    if (step.kind == StepKind::kStore && TransferOf(p, step.item).dram.offset == 0) {
      store = i;
    }
  }
  CHECK(store < load);
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
    const auto from = [&] { return static_cast<int64_t>(rng.Below(6)) * 8; };
    for (uint32_t i = 0; i < steps; ++i) {
      const uint32_t bytes = 8 * (1 + static_cast<uint32_t>(rng.Below(3)));
      const uint32_t tensor = static_cast<uint32_t>(rng.Below(2));
      switch (rng.Below(3)) {
        case 0:
          AddTransfer(&p, StepKind::kLoad, tensor, at(), bytes, from());
          break;
        case 1:
          AddTransfer(&p, StepKind::kStore, tensor, at(), bytes, from());
          break;
        default:
          AddTile(&p, at(), at(), bytes, 1 + static_cast<int64_t>(rng.Below(50)));
          break;
      }
    }
    std::vector<Step> before;
    for (uint32_t i = 0; i < steps; ++i) before.push_back(p.step(i));
    const uint32_t roots[] = {0, 1};
    const TensorPlace places[2] = {};
    REQUIRE(OrderTransfers(n.graph, n.hardware, {{roots, 2}, {places, 2}}, &n.arena,
                           &p) == Status::kOk);
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
