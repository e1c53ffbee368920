// SPDX-License-Identifier: Apache-2.0
// Two layers of a small network beside each other on a mesh.
#include "plan/mesh/node_together.h"

#include <doctest/doctest.h>

#include "plan/mesh/node_layers.h"
#include "tests/support/whole_steps.h"

namespace sluice {
namespace {

using sluice_test::Chain;
using sluice_test::OnNodes;

constexpr NodeRegion kLeft = {{0, 0}, {1, 2}}, kRight = {{1, 0}, {1, 2}};

// A group of both layers; each is on its region.
struct Together : sluice_test::NodeLayers {
  Together(const NodeRegion& a, const NodeRegion& b, int64_t capacity,
           int32_t slices = 2)
      : NodeLayers(Chain(2, 4, 4, 4).Conv(4, 1).Conv(4, 1).Done()),
        call{n.graph, n.hardware, lowering, capacity, none,    WholeMesh(n.hardware),
             false,   coster,     &budget,  &places,  &scratch},
        schedule(call, &scratch, &program) {
    at[0] = OnNodes(0, a, WholeOnEach());
    at[1] = OnNodes(1, b, WholeOnEach());
    segment.top_batch = slices;
    segment.layers = {at, 2};
    REQUIRE(StartGroups(&schedule, {}) == Status::kOk);
    MarkGroup(&schedule, group);
  }
  Status Write(bool write = true) { return WriteTogether(&schedule, group, write); }
  int Count(StepKind kind) const {
    int count = 0;
    for (size_t i = 0; i < program.size(); ++i) count += program.step(i).kind == kind;
    return count;
  }
  Step FirstForward() const {
    size_t i = 0;
    while (program.step(i).kind != StepKind::kForward) ++i;
    return program.step(i);
  }
  // The bytes of the buffers that a layer loads into or computes in, what lands aside.
  BufferRange BytesOf(uint32_t layer) const {
    BufferRange all = {UINT32_MAX, 0};
    const auto add = [&](const BufferBox& box) {
      all.begin = std::min(all.begin, box.range.begin);
      all.end = std::max(all.end, box.range.end);
    };
    for (size_t i = 0; i < program.size(); ++i) {
      const Step s = program.step(i);
      if (s.layer != layer) continue;
      if (s.kind == StepKind::kLoad) add(TransferOf(program, s.item).buffer);
      if (s.kind == StepKind::kCompute) {
        add(TileOf(program, s.item).operand[kRoleOutput]);
      }
    }
    return all;
  }
  SegmentSchedule none = {};
  Arena places{&n.memory}, scratch{&n.memory};
  NodeCall call;
  NodeSchedule schedule;
  LayerOnNodes at[2];
  Segment segment = {};
  NodeGroup group = {0, 2, &segment};
};

TEST_CASE(
    "node together: a tensor between layers goes from node to node, not to DRAM") {
  Together t(kLeft, kRight, 4096);
  REQUIRE(t.Write(false) == Status::kOk);
  CHECK(t.program.size() == 0);  // only whether they fit
  REQUIRE(t.Write() == Status::kOk);
  CHECK(t.Count(StepKind::kCompute) == 4);
  CHECK(t.Count(StepKind::kForward) == 2);
  CHECK(t.Count(StepKind::kStore) == 2);  // of the second layer
  for (size_t i = 0; i < t.program.size(); ++i) {
    const Step s = t.program.step(i);
    if (s.kind == StepKind::kStore) CHECK(s.layer == 1);
  }
  const Step forward = t.FirstForward();
  const TransferForm& form = t.program.transfer_form(forward.item);
  CHECK(forward.node == 0);
  CHECK(form.to == 1);
  // 64 bytes of a slice land at the upper end, in one of two buffers.
  CHECK(t.program.box(form.other).offset >= 4096 - 2 * 64);
  CHECK(t.program.box(form.other).range.end <= 4096);
}

TEST_CASE(
    "node together: with room for one slice that lands there is one buffer for it") {
  // The second layer needs 16 bytes of weights, 48 of parameters and 64 for its output
  // besides.
  Together two(kLeft, kRight, 64 + 16 + 48 + 64 + 2 * 64);
  REQUIRE(two.Write() == Status::kOk);
  Together one(kLeft, kRight, 64 + 16 + 48 + 64 + 64);
  REQUIRE(one.Write() == Status::kOk);
  // The producer makes slice 1 only after the consumer has computed slice 0.
  const std::string steps = one.Steps();
  CHECK(steps.find("C1") < steps.rfind("C0"));
  Together none(kLeft, kRight, 100);
  CHECK(none.Write(false) == Status::kInfeasible);
}

TEST_CASE("node together: layers that share a node and work at once share its bytes") {
  Together t({{0, 0}, {2, 1}}, {{0, 0}, {1, 1}}, 512);
  REQUIRE(t.Write() == Status::kOk);
  const BufferRange first = t.BytesOf(0), second = t.BytesOf(1);
  CHECK(first.begin == 0);
  CHECK(first.end <= 512 / 2);  // half of the room, which two layers share
  CHECK(second.begin >= first.end);
  CHECK(second.end <= 512 - 2 * 64);  // what lands lies above
}

TEST_CASE("node together: by turns the same bytes serve all layers") {
  Together t(kLeft, kLeft, 4096);
  REQUIRE(t.Write() == Status::kOk);
  CHECK(t.BytesOf(0).begin == 0);
  CHECK(t.BytesOf(1).begin == 0);
  CHECK(t.BytesOf(1).end <= 4096 - 64);  // what lands lies above
}

TEST_CASE("node together: layers on one region take turns, slice after slice") {
  Together t(kLeft, kLeft, 4096);
  REQUIRE(t.Write() == Status::kOk);
  std::string layers;
  for (size_t i = 0; i < t.program.size(); ++i) {
    const Step s = t.program.step(i);
    if (s.kind == StepKind::kCompute) layers += std::to_string(s.layer);
  }
  CHECK(layers == "0101");
  CHECK(t.program.block_count() == 1);
}

TEST_CASE(
    "node together: a batch that slices do not divide, or another order, is refused") {
  CHECK(Together(kLeft, kRight, 4096, 3).Write(false) == Status::kInfeasible);
  Together turned(kLeft, kRight, 4096);
  std::swap(turned.at[0], turned.at[1]);
  CHECK(turned.Write(false) == Status::kInfeasible);
}

TEST_CASE("node together: without the layer that makes its operand none can go on") {
  Together t(kLeft, kRight, 4096);
  NodeLayer* producer = t.Make(0, kLeft);
  NodeLayer* consumer = t.Make(1, kRight);
  REQUIRE(Connect(consumer, kRoleInput0, producer));
  producer->per_slice = producer->end_time = 1;  // of which nothing is written
  for (int32_t& trips : producer->trips) trips = 1;
  std::copy(producer->share, producer->share + kAxes, producer->tiling.chunk);
  producer->tiling.c_chunk = 4;
  consumer->per_slice = consumer->end_time = 1;
  for (int32_t& trips : consumer->trips) trips = 1;
  std::copy(consumer->share, consumer->share + kAxes, consumer->tiling.chunk);
  consumer->tiling.c_chunk = 4;
  CHECK(Interleave(&t.schedule, {&consumer, 1}) == Status::kInternal);
}

}  // namespace
}  // namespace sluice
