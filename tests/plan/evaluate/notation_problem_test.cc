// SPDX-License-Identifier: Apache-2.0
// Numbers of a graph and numbers of the problem of some of its layers.
#include "plan/evaluate/notation_problem.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/joined_graph.h"
#include "tests/plan/fused/sectioned_case.h"

namespace sluice {
namespace {

// A notation of layers in one group, without DRAM tensors at first.
struct Named {
  Named(const sluice_test::GraphSpec& spec, std::vector<uint32_t> layers)
      : n(spec), order(std::move(layers)), cuts(order.size()), tiles(order.size(), 1) {
    notation.struct_size = sizeof notation;
    notation.layers = static_cast<uint32_t>(order.size());
    notation.order = order.data();
    notation.cuts = cuts.data();
    notation.tiles = tiles.data();
  }
  Status Make() { return MakeNotationProblem(&problem); }
  sluice_test::Nouns n;
  std::vector<uint32_t> order;
  std::vector<uint8_t> cuts;
  std::vector<int32_t> tiles;
  std::vector<sluice_dram_tensor_t> dram;
  sluice_notation_t notation = {};
  NotationProblem problem{n.graph, n.hardware, notation, 4096, &n.arena, &n.diagnostic};
};

TEST_CASE("notation problem: layers are numbered as the graph has them, and back") {
  Named p(sluice_test::Chain(6), {4, 3});
  // The input of layer 3 from outside; what layer 4 reads, which layer 3 makes; a store.
  p.dram = {{SLUICE_DRAM_INPUT, 3, 0, 3, -1, 1},
            {SLUICE_DRAM_INPUT, 4, 0, 4, 0, 1},
            {SLUICE_DRAM_STORE, 4, 0, 0, 0, 1}};
  p.notation.dram = p.dram.data();
  p.notation.transfers = 3;
  REQUIRE(p.Make() == Status::kOk);
  CHECK(p.problem.run.layer.size() == 2);
  CHECK(p.problem.fusion_of[3] == 0);
  CHECK(p.problem.fusion_of[4] == 1);
  CHECK(p.problem.fusion_of[2] == kNone);
  CHECK(p.problem.own.order[0] == 1);
  CHECK(p.problem.own.order[1] == 0);
  CHECK(p.problem.own.dram[0].layer == 0);
  CHECK(p.problem.own.dram[1].layer == 1);
  CHECK(p.problem.own.dram[1].source == 0);  // layer 3
  CHECK(p.problem.own.dram[2].layer == 1);
  uint32_t tile_layer[] = {0, 1};
  std::vector<sluice_dram_tensor_t> back(p.problem.own.dram, p.problem.own.dram + 3);
  sluice_evaluation_t out = {};
  out.tiles = 2;
  out.tile_layer = tile_layer;
  out.transfers = 3;
  out.dram = back.data();
  TranslateBack(p.problem, &out);
  CHECK(tile_layer[0] == 3);
  CHECK(tile_layer[1] == 4);
  CHECK(back[0].layer == 3);
  CHECK(back[0].source == 3);
  CHECK(back[1].layer == 4);
  CHECK(back[1].source == 4);
}

TEST_CASE(
    "notation problem: missing arrays and numbers that name nothing are refused") {
  Named empty(sluice_test::Chain(4), {});
  CHECK(empty.Make() == Status::kBadArgument);
  Named missing(sluice_test::Chain(4), {0});
  missing.notation.transfers = 1;
  CHECK(missing.Make() == Status::kBadArgument);
  Named twice(sluice_test::Chain(4), {0, 1, 0});
  CHECK(twice.Make() == Status::kBadArgument);
  CHECK(twice.n.diagnostic.layer == 0);
  CHECK(std::string(twice.n.diagnostic.message).find("position 2") !=
        std::string::npos);
  Named beyond(sluice_test::Chain(4), {4});
  CHECK(beyond.Make() == Status::kBadArgument);
  CHECK(beyond.n.diagnostic.layer == SLUICE_NO_INDEX);
  Named other(sluice_test::Chain(4), {0});
  other.dram = {{SLUICE_DRAM_STORE, 1, 0, 0, 0, 1}};  // layer 1 is not in the order
  other.notation.dram = other.dram.data();
  other.notation.transfers = 1;
  CHECK(other.Make() == Status::kBadArgument);
  CHECK(other.n.diagnostic.layer == 1);
  other.dram[0] = {SLUICE_DRAM_STORE + 1, 0, 0, 0, 0, 1};
  CHECK(other.Make() == Status::kBadArgument);
}

TEST_CASE("notation problem: views and layers that do not compute are unsupported") {
  Named view(sluice_test::JoinedGraph(), {0, 1, 2});
  CHECK(view.Make() == Status::kUnsupported);
  CHECK(view.n.diagnostic.layer == 2);
  CHECK(std::string(view.n.diagnostic.message).find("it is a view") !=
        std::string::npos);
  Named host(sluice_test::ChainWithHost(3, 1), {0, 1});
  CHECK(host.Make() == Status::kUnsupported);
  CHECK(host.n.diagnostic.layer == 1);
}

}  // namespace
}  // namespace sluice
