// SPDX-License-Identifier: Apache-2.0
// Transfers: how long they take, what they say of encoded bytes, boxes that repeat bytes,
// and many of them at the same place.
#include <doctest/doctest.h>

#include "sim/judge_case.h"
#include "verify/cases.h"

namespace sluice_test {
namespace {

TEST_CASE("machine transfers: a FORWARD takes a hop and its bytes over a link") {
  const Case c = NodesCase();
  const Bytes graph = c.Graph(), hardware = c.Hardware(), plan = c.Plan();
  sluice_sim::SimulateOptions options = SimulationOf(graph, hardware, plan);
  int forwards = 0;
  options.trace = [&](const sluice_sim::TraceEvent& e) {
    if (e.opcode != SLUICE_OPCODE_FORWARD) return;
    ++forwards;
    CHECK(e.end == e.start + 3 + 64 / 8);
  };
  CHECK(sluice_sim::Simulate(options).ok);
  CHECK(forwards == 1);
}

TEST_CASE("machine transfers: a load of an encoded tensor says what it moves") {
  const auto error = [](uint64_t encoded, uint32_t moved) {
    Case c = ConvCase();
    c.graph.tensors[1].encoded_bytes = encoded;
    Transfer(&c, 0).moved_bytes = moved;
    return Judge(c).error;
  };
  CHECK(error(288, 288) == "");
  CHECK(error(288, 287) == "moves 288 encoded bytes, says 287");
  CHECK(error(288, 0) == "moves 288 encoded bytes, says 0");
  CHECK(error(0, 288) == "moves 0 encoded bytes, says 288");
}

TEST_CASE("machine transfers: what is read may repeat bytes, what is written may not") {
  Case c = ConvCase();
  BlockBuilder& b = c.stream.blocks[0];
  const Four box = {1, 1, 133, 8};  // more bytes than the region has
  const uint32_t repeated = b.Strided(1, kI8, box, {0, 0, 0, 1}, 0);
  Transfer(&c, 0).src = repeated;
  Transfer(&c, 0).dst = b.Strided(0, kI8, box, {0, 0, 0, 1}, 0);
  CHECK(Judge(c).error == "destination in gbuf of node 0: the box writes a byte twice");
  Transfer(&c, 0).dst = b.Dense(0, kI8, box, 0);
  CHECK(Judge(c).error == "destination in gbuf of node 0: bytes [0, 1064) of 1056");
}

// More accesses than are kept at once, while the tile has not begun.
TEST_CASE("machine transfers: a tile behind many loads to the same place") {
  Case c = ConvCase();
  BlockBuilder& b = c.stream.blocks[0];
  auto& list = b.lists[kDma];
  const ListedInstruction first = list.front();
  list.insert(list.begin(), 200, first);
  for (ListedInstruction& n : b.lists[kCompute]) {
    for (auto& wait : n.waits) wait.count += 200;
  }
  const auto r = Judge(c);
  INFO(r.error);
  CHECK(r.ok);
  CHECK(r.instructions == 214);
}

}  // namespace
}  // namespace sluice_test
