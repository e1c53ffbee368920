// SPDX-License-Identifier: Apache-2.0
// Runs of graph layers as fusion problems, compared with problems made by hand.
#include "solve/fusion/problem.h"

#include <doctest/doctest.h>

#include "tests/solve/fusion/lowered.h"

namespace sluice {
namespace {

using sluice_test::Lowered;

FusionRun RunOf(Lowered* l, const std::vector<uint32_t>& layers) {
  FusionRun run;
  REQUIRE(MakeFusionRun({l->n.graph, l->n.hardware, l->lowering, 1 << 16},
                        {layers.data(), layers.size()}, &l->n.arena,
                        &run) == Status::kOk);
  return run;
}

TEST_CASE("fusion problem: a chain's edges, what comes from outside, and its output") {
  Lowered l(sluice_test::Chain(3));
  const FusionRun run = RunOf(&l, {0, 1});
  REQUIRE(run.problem.layers.size() == 2);
  REQUIRE(run.problem.inputs.size() == 2);
  CHECK(run.problem.inputs[0].source == 2);  // the first tensor from outside
  CHECK(run.problem.inputs[1].source == 0);
  REQUIRE(run.problem.externals.size() == 1);
  CHECK(run.problem.externals[0].extent[1] == 8);
  CHECK(run.edge_tensor[0] == 0);
  CHECK(run.edge_tensor[1] == 1);
  CHECK(run.role[0] == kRoleInput0);
  // Layer 2, which is outside of the run, reads the result of layer 1.
  CHECK(!run.problem.layers[0].output);
  CHECK(run.problem.layers[1].output);
  CHECK(run.in_dram[0] == 0);
  CHECK(run.problem.buffer_bytes == 1 << 16);
  CHECK(&run.executed(1) == &l.lowering.executed[1]);
}

// The append's rows are stored by tiles of the layer that makes them; a load of the state in
// the same run would not wait for them. Found by the soak.
TEST_CASE("fusion problem: a run that appends to a state has no layer that reads it") {
  sluice_test::GraphSpec g;
  g.tensors = {{{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 1},
               {{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 0},
               {{1, 1, 8, 4}, SLUICE_DTYPE_INT8, 4},
               {{1, 1, 8, 4}, SLUICE_DTYPE_INT8, 2}};
  g.parameters = {{0, 7}};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  g.layers = {{SLUICE_OP_REQUANTIZE, {0}, {1}, same},
              {SLUICE_OP_STATE_APPEND, {2, 1}, {2}, {2, 0}},
              {SLUICE_OP_REQUANTIZE, {2}, {3}, same}};
  Lowered l(g);
  const std::vector<uint32_t> run = {0, 1};
  CHECK(MayAppend(l.n.graph, l.lowering, {run.data(), 1}, 1));
  CHECK(!ReadsAlias(l.n.graph, l.lowering, {run.data(), 1}, 2));
  CHECK(ReadsAlias(l.n.graph, l.lowering, {run.data(), 2}, 2));
}

// Neighbouring tiles under a window need the same rows, so the run makes these twice. Found by
// the soak.
TEST_CASE("fusion problem: what is appended is not made twice for windows behind it") {
  for (const int32_t window : {1, 3}) {
    CAPTURE(window);
    sluice_test::GraphSpec g;
    g.tensors = {{{1, 8, 1, 4}, SLUICE_DTYPE_INT8, 1},
                 {{1, 8, 1, 4}, SLUICE_DTYPE_INT8, 0},
                 {{1, 16, 1, 4}, SLUICE_DTYPE_INT8, 4},
                 {{1, 9 - window, 1, 4}, SLUICE_DTYPE_INT8, 2}};
    g.parameters = {{0, 8}};
    g.layers = {
        {SLUICE_OP_REQUANTIZE, {0}, {1}, {0, 1 << 30, 1, 0, -128, 127}},
        {SLUICE_OP_STATE_APPEND, {2, 1}, {2}, {1, 0}},
        {SLUICE_OP_MAX_POOL, {1}, {3}, {window, 1, 1, 1, 0, 0, 0, 0, -128, 127}}};
    Lowered l(g);
    const Graph& graph = l.n.graph;
    CHECK(SharesElements(graph, graph.layers[2]) == (window > 1));
    // The window joins a run that appends, and the append one with the window.
    const std::vector<uint32_t> run = {0, 1}, pooled = {0, 2};
    CHECK(ReadsAlias(graph, l.lowering, {run.data(), 2}, 2) == (window > 1));
    CHECK(MayAppend(graph, l.lowering, {pooled.data(), 2}, 1) == (window == 1));
  }
}

TEST_CASE(
    "fusion problem: a tile needs the same box of its input, and costs its work") {
  Lowered l(sluice_test::Chain(2));
  FusionRun run = RunOf(&l, {0, 1});
  const TileModel model = ModelOf(&run);
  const CutBox box = {{0, 2, 0, 0}, {1, 5, 8, 4}};
  CutBox need = {};
  model.need(model.user, 1, 0, box, &need);
  for (int a = 0; a < 4; ++a) {
    CHECK(need.begin[a] == box.begin[a]);
    CHECK(need.end[a] == box.end[a]);
  }
  const Box cut = ToBox(box);
  CHECK(cut.begin[1] == 2);
  CHECK(cut.extent[1] == 3);
  const TileWork work = WorkOf(run, 1, cut);
  CHECK(work.vector_ops == 3 * 8 * 4);
  CHECK(work.macs == 0);
  CHECK(work.read_bytes == 3 * 8 * 4);
  CHECK(work.written_bytes == 3 * 8 * 4);
  TileCost cost = {};
  const int32_t extent[4] = {1, 3, 8, 4};
  REQUIRE(model.cost(model.user, 1, extent, &cost));
  CHECK(cost.cycles == work.declared.cycles);
  CHECK(cost.energy_pj > 0);
}

TEST_CASE(
    "fusion problem: a reshape is looked through to the tensor that was written") {
  sluice_test::GraphSpec g = sluice_test::Chain(2);
  g.tensors.push_back({{1, 1, 64, 4}, SLUICE_DTYPE_INT8, 0});
  g.layers[1].inputs = {3};
  g.layers.insert(g.layers.begin() + 1, {SLUICE_OP_RESHAPE, {1}, {3}, {}});
  g.tensors[2].dims = {1, 1, 64, 4};
  Lowered l(g);
  CHECK(WrittenTensor(l.n.graph, l.lowering, 3) == 1);
  CHECK(WrittenTensor(l.n.graph, l.lowering, 1) == 1);
  CHECK(MayFuse(l.n.graph, l.n.hardware, l.lowering, 0, 1 << 16));
  CHECK(!MayFuse(l.n.graph, l.n.hardware, l.lowering, 1, 1 << 16));  // a view
  const FusionRun run = RunOf(&l, {0, 2});
  CHECK(run.edge_tensor[1] == 3);
  CHECK(run.edge_source[1] == 1);
  // The reshape turns 8 rows of 8 columns into 64 columns: all 64 need all 8 rows.
  const Box whole = {{0, 0, 0, 0}, {1, 1, 64, 4}};
  const Box source = SourceBox(run, 1, whole);
  CHECK(source.extent[1] == 8);
  CHECK(source.extent[2] == 8);
}

}  // namespace
}  // namespace sluice
