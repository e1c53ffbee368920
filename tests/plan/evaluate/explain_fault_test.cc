// SPDX-License-Identifier: Apache-2.0
// Messages about schedules that are not legal.
#include "plan/evaluate/explain_fault.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/read_graph.h"

namespace sluice {
namespace {

sluice_evaluation_t Fault(uint32_t fault, uint32_t index) {
  sluice_evaluation_t out = {};
  out.fault = fault;
  out.fault_index = index;
  return out;
}

// A notation of layers 5 and 6 of a graph, in this order; the problem numbers them 0 and 1.
struct Explained {
  Explained() {
    notation.layers = 2;
    notation.order = order;
    problem.run.layer = {order, 2};
  }
  // Explains the fault and returns the message; layer and rule are in `diagnostic`.
  std::string Say(const sluice_evaluation_t& out) {
    diagnostic = {};
    CHECK(ExplainFault(problem, resolved, out) == Status::kRejected);
    return diagnostic.message;
  }
  static sluice_test::GraphSpec Spec() {
    sluice_test::GraphSpec spec;
    spec.tensors = {{{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 1},
                    {{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 2}};
    spec.layers = {{SLUICE_OP_RESHAPE, {0}, {1}, {}}};
    return spec;
  }
  sluice_test::Nouns n{Spec()};
  uint32_t order[3] = {5, 6, 99};  // the notation has two layers; 99 lies behind
  sluice_notation_t notation = {};
  Diagnostic diagnostic = {};
  NotationProblem problem{n.graph, n.hardware, notation, 4096, &n.arena, &diagnostic};
  ResolvedSchedule resolved = {};
};

TEST_CASE("explain fault: without DRAM tensors by the position in the order") {
  Explained e;
  CHECK(e.Say(Fault(SLUICE_SCHEDULE_ORDER, 1)) ==
        "a layer stands before one that it reads, at position 1");
  CHECK(std::string(e.diagnostic.rule) == "order");
  CHECK(e.diagnostic.layer == 6);
  CHECK(e.Say(Fault(SLUICE_SCHEDULE_TILES, 0)) ==
        "the group cannot be cut into that many tiles, at position 0");
  CHECK(std::string(e.diagnostic.rule) == "tiles");
  CHECK(e.diagnostic.layer == 5);
  // A position behind the end names no layer.
  CHECK(e.Say(Fault(SLUICE_SCHEDULE_TILES, 2)) ==
        "the group cannot be cut into that many tiles, at position 2");
  CHECK(e.diagnostic.layer == SLUICE_NO_INDEX);
  CHECK(e.Say(Fault(SLUICE_SCHEDULE_MAPPING, 9)) ==
        "a tile cannot be computed on this machine, at position 2");
  CHECK(std::string(e.diagnostic.rule) == "mapping");
  CHECK(e.diagnostic.layer == SLUICE_NO_INDEX);
}

TEST_CASE("explain fault: too much scratchpad by the first tile and the bytes") {
  Explained e;
  uint32_t layer[] = {0, 1, 1};
  int32_t tile[] = {0, 0, 1};
  e.resolved.list.layer = {layer, 3};
  e.resolved.list.tile = {tile, 3};
  sluice_evaluation_t out = Fault(SLUICE_SCHEDULE_BUFFER, 2);
  out.peak_buffer_bytes = 5000;
  CHECK(e.Say(out) ==
        "the schedule needs more of the scratchpad than there is, first during tile 1 "
        "of the layer");
  CHECK(std::string(e.diagnostic.rule) == "buffer");
  CHECK(e.diagnostic.layer == 6);
  CHECK(e.diagnostic.required_bytes == 5000);
  CHECK(e.diagnostic.available_bytes == 4096);
}

TEST_CASE("explain fault: of a DRAM tensor its layer, its tile and its place") {
  Explained e;
  uint32_t places[] = {0, 1, 2};
  e.resolved.dma.order = {places, 3};
  e.resolved.list.transfers = 3;
  sluice_dram_tensor_t tensors[2] = {};
  tensors[0].layer = 5;
  tensors[1].layer = 6;
  tensors[1].tile = 4;
  e.notation.dram = tensors;
  e.notation.transfers = 2;
  CHECK(e.Say(Fault(SLUICE_SCHEDULE_SOURCE, 1)) ==
        "a load stands before the store that it reads, tile 4 of the layer, place 1 in "
        "the DRAM order");
  CHECK(std::string(e.diagnostic.rule) == "source");
  CHECK(e.diagnostic.layer == 6);
  CHECK(
      e.Say(Fault(SLUICE_SCHEDULE_DURATION, 0)) ==
      "the living duration starts or ends outside what its tiles allow, tile 0 of the "
      "layer, place 0 in the DRAM order");
  CHECK(std::string(e.diagnostic.rule) == "duration");
  CHECK(e.diagnostic.layer == 5);
  // A DRAM tensor that the caller left out.
  CHECK(e.Say(Fault(SLUICE_SCHEDULE_ORDER, 2)) ==
        "the DRAM order does not name every DRAM tensor of the groups once, tile after "
        "tile: it has 2 of 3");
  CHECK(e.diagnostic.layer == SLUICE_NO_INDEX);
}

TEST_CASE("explain fault: of a timed schedule by the place alone") {
  Diagnostic diagnostic = {};
  CHECK(ExplainTimedFault(Fault(SLUICE_SCHEDULE_BLOCKED, 7), &diagnostic) ==
        Status::kRejected);
  CHECK(std::string(diagnostic.rule) == "blocked");
  CHECK(std::string(diagnostic.message) ==
        "a DRAM transfer waits for a tile that waits for it, at 7");
}

}  // namespace
}  // namespace sluice
