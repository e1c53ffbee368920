// SPDX-License-Identifier: Apache-2.0
#include "solve/space/search.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/joined_graph.h"

namespace sluice {
namespace {

SpacePlan Find(const sluice_test::SpaceCase& c, Arena* arena,
               uint64_t annealing = SpaceSearch::kByWork) {
  Budget budget;
  SpaceSearch search;
  search.goal = {1, 1};
  search.budget = &budget;
  search.annealing = annealing;
  SpacePlan plan;
  REQUIRE(SearchSpace(c.problem, search, arena, arena, &plan) == Status::kOk);
  return plan;
}

TEST_CASE("space search: with room, only inputs are loaded and only outputs stored") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph());
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  const SpacePlan plan = Find(c, &arena);
  REQUIRE(plan.layers.size() == 3);
  CHECK(plan.segments.begin()->first == 0);
  uint32_t next = 0;
  for (const SpaceSegment& s : plan.segments) {
    CHECK(s.first == next);
    next = s.last;
  }
  CHECK(next == 3);
  for (const SpaceImage& image : plan.images) {
    CHECK(image.load == (image.root == 0));
    CHECK((image.store != SpaceStore::kNever) == (image.root == 4));
    if (image.root == 3) CHECK(image.last == 2);
  }
}

TEST_CASE("space search: an output is stored in pieces while the rest is computed") {
  sluice_test::GraphSpec g = sluice_test::JoinedGraph();
  for (sluice_test::TensorSpec& t : g.tensors) t.dims[1] = t.dims[2] = 64;
  const sluice_test::SpaceCase c(g, 1 << 20);  // everything fits many times
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  const SpacePlan plan = Find(c, &arena);
  CHECK(plan.layers[2].loop != kNone);
}

// Twelve layers whose results are eight times as large as the scratchpad: a loop over rows
// runs through all of them, and no result between them is stored.
TEST_CASE("space search: a segment of many layers is found after the short ones") {
  constexpr uint32_t kLayers = 12;
  const sluice_test::SpaceCase c(sluice_test::RowGraph(kLayers, {1, 64, 8, 64}),
                                 1 << 12);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  const SpacePlan plan = Find(c, &arena);
  CHECK(plan.segments.size() == 1);
  for (const SpaceImage& image : plan.images) {
    CHECK(image.load == (image.root == 0));
    CHECK((image.store != SpaceStore::kNever) == (image.root == kLayers));
  }
}

// Matrix products whose weights are loaded for longer than they are used: those of two do
// not fit together, so the second ones' can only begin to be loaded in parts.
TEST_CASE("space search: layers that wait for large weights load them in parts") {
  sluice_test::GraphSpec g;
  constexpr uint32_t kLayers = 12;
  for (uint32_t t = 0; t <= kLayers; ++t) {
    const uint8_t kind = t == 0 ? 1 : t == kLayers ? 2 : 0;
    g.tensors.push_back({{1, 1, 1, 192}, SLUICE_DTYPE_INT8, kind});
  }
  for (uint32_t l = 0; l < kLayers; ++l) {
    const auto weights = static_cast<uint32_t>(g.tensors.size());
    g.tensors.push_back({{192, 1, 1, 192}, SLUICE_DTYPE_INT8, 3, 3});
    g.tensors.push_back({{192, 3}, SLUICE_DTYPE_INT32, 3, 3});
    g.layers.push_back(
        {SLUICE_OP_CONV, {l, weights, weights + 1}, {l + 1}, {1, 1, 1, 1}});
  }
  const sluice_test::SpaceCase c(g, 60 << 10);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  const SpacePlan plan = Find(c, &arena);
  int parts = 0;
  for (const SpaceSegment& s : plan.segments) {
    const bool middle = s.first >= 2 && s.last <= 6;  // far from the output
    parts += middle && s.choice.count > 0 && s.choice.cut[0] == 3;
  }
  CHECK(parts > 0);
}

// Everything fits, but nothing can be computed while all of a large input is loaded.
TEST_CASE("space search: the first layers begin before all of their input is there") {
  const sluice_test::SpaceCase c(sluice_test::RowGraph(12, {1, 64, 64, 16}), 1 << 20);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  const SpacePlan plan = Find(c, &arena);
  const SpaceSegment& first = *plan.segments.begin();
  CHECK((first.last > 1 && first.choice.Iterations() > 1));
}

// A hundred layers on eight images, of which the scratchpad holds a few at a time: more
// layers than the segments that are tried from every border have.
TEST_CASE("space search: images pass all of a long network one after the other") {
  constexpr uint32_t kLayers = 100;
  const sluice_test::SpaceCase c(sluice_test::RowGraph(kLayers, {8, 8, 8, 16}),
                                 1 << 12);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  const SpacePlan plan = Find(c, &arena);
  CHECK(plan.segments.size() == 1);
  for (const SpaceImage& image : plan.images) {
    CHECK((image.store != SpaceStore::kNever) == (image.root == kLayers));
  }
}

// A matrix product whose result is cut into heads and transposed, as in front of an
// attention. Rows stay for all heads: to load them for each head would take longest.
// Random changes find still cheaper pieces, of few rows and all heads.
TEST_CASE("space search: rows stay while the heads of a transposed result are made") {
  sluice_test::GraphSpec g;
  g.tensors = {{{1, 1, 1024, 64}, SLUICE_DTYPE_INT8, 1},
               {{64, 1, 1, 64}, SLUICE_DTYPE_INT8, 3, 3},
               {{64, 3}, SLUICE_DTYPE_INT32, 3, 3},
               {{1, 1, 1024, 64}, SLUICE_DTYPE_INT8, 0},
               {{1, 1024, 8, 8}, SLUICE_DTYPE_INT8, 0},
               {{1, 8, 1024, 8}, SLUICE_DTYPE_INT8, 2}};
  g.layers.push_back({SLUICE_OP_CONV, {0, 1, 2}, {3}, {1, 1, 1, 1}});
  g.layers.push_back({SLUICE_OP_RESHAPE, {3}, {4}, {}});
  g.layers.push_back({SLUICE_OP_TRANSPOSE, {4}, {5}, {0, 2, 1, 3}});
  const sluice_test::SpaceCase c(g, 12 << 10);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  const SpacePlan plan = Find(c, &arena, 0);
  REQUIRE(plan.segments.size() == 1);
  const LoopChoice& loops = plan.segments.begin()->choice;
  REQUIRE(loops.count == 2);
  CHECK(loops.cut[0] == 2);
  CHECK(loops.cut[1] == 1);
}

// Two large matrix products in a row, as in a transformer: the result of the first and the
// weights of both are far larger than the scratchpad; the input and the output fit.
TEST_CASE("space search: a hidden layer is made and added up part by part") {
  sluice_test::GraphSpec g = sluice_test::PointwiseGraph();
  g.tensors[0].dims = g.tensors[4].dims = {1, 16, 1, 16};
  g.tensors[3].dims = {1, 16, 1, 4096};
  g.tensors[1].dims = {4096, 1, 1, 16};
  g.tensors[2].dims = {4096, 3};
  g.tensors.push_back({{16, 1, 1, 4096}, SLUICE_DTYPE_INT8, 3, 3});
  g.tensors.push_back({{16, 3}, SLUICE_DTYPE_INT32, 3, 3});
  g.layers[1] = g.layers[0];
  g.layers[1].inputs = {3, 5, 6};
  g.layers[1].outputs = {4};
  const sluice_test::SpaceCase c(g, 1 << 14);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  const SpacePlan plan = Find(c, &arena);
  REQUIRE(plan.segments.size() == 1);
  CHECK(plan.layers[1].summed);
  for (const SpaceImage& image : plan.images) {
    if (image.root == 3) CHECK((!image.load && image.store == SpaceStore::kNever));
  }
}

// Three convolutions of 3 x 3 over 64 x 64 pixels of 16 channels; the scratchpad holds
// three rows of each. Pieces of whole rows would compute much of what lies between them
// again and again.
sluice_test::GraphSpec Windows() {
  sluice_test::GraphSpec g;
  g.tensors.push_back({{16, 3, 3, 16}, SLUICE_DTYPE_INT8, 3, 3});
  g.tensors.push_back({{16, 3}, SLUICE_DTYPE_INT32, 3, 3});
  for (uint32_t t = 2; t <= 5; ++t) {
    const uint8_t kind = t == 2 ? 1 : t == 5 ? 2 : 0;
    g.tensors.push_back({{1, 64, 64, 16}, SLUICE_DTYPE_INT8, kind});
    if (t == 2) continue;
    g.layers.push_back(
        {SLUICE_OP_CONV, {t - 1, 0, 1}, {t}, {1, 1, 1, 1, 1, 1, 1, 1, 1}});
  }
  return g;
}

TEST_CASE("space search: where rows are few, pieces are cut along columns too") {
  const sluice_test::SpaceCase c(Windows(), 3 * 3 * 64 * 16 + 4096);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  const SpacePlan plan = Find(c, &arena);
  bool square = false;
  for (const SpaceSegment& s : plan.segments) {
    const LoopChoice& loops = s.choice;
    square = square || (s.last - s.first > 1 && loops.count == 2 && loops.cut[0] == 1 &&
                        loops.cut[1] == 2 && loops.trips[0] < 64);
  }
  CHECK(square);
}

// A concat of inputs is a copy through DRAM. Another one lies between the two readers of
// the first, which therefore are in segments of their own.
TEST_CASE("space search: what a copy has made is loaded once for all its readers") {
  sluice_test::GraphSpec g;
  for (uint32_t t = 0; t < 6; ++t) {
    const uint8_t kind = t < 2 ? 1 : t == 2 ? 0 : 2;
    g.tensors.push_back({{1, 8, 8, t < 2 ? 4 : 8}, SLUICE_DTYPE_INT8, kind});
  }
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  g.layers.push_back({SLUICE_OP_CONCAT, {0, 1}, {2}, {3}});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {2}, {3}, same});
  g.layers.push_back({SLUICE_OP_CONCAT, {1, 0}, {4}, {3}});
  g.layers.push_back({SLUICE_OP_REQUANTIZE, {2}, {5}, same});
  const sluice_test::SpaceCase c(g);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  const SpacePlan plan = Find(c, &arena);
  int loads = 0;
  for (const SpaceImage& image : plan.images) loads += image.root == 2 && image.load;
  CHECK(loads == 1);
}

TEST_CASE("space search: no segment has more iterations than it may have") {
  const sluice_test::SpaceCase c(Windows(), 3 * 3 * 64 * 16 + 4096);
  Budget budget;
  for (const int64_t most : {int64_t{1000}, int64_t{24}}) {
    sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
    Arena arena(&memory);
    SpaceSearch search;
    search.goal = {1, 1};
    search.budget = &budget;
    search.most_iterations = most;
    SpacePlan plan;
    REQUIRE(SearchSpace(c.problem, search, &arena, &arena, &plan) == Status::kOk);
    for (const SpaceSegment& s : plan.segments) CHECK(s.choice.Iterations() <= most);
  }
}

// One layer per segment fits; all three without a loop do not.
TEST_CASE(
    "space search: where only known segments will do, none takes another's place") {
  const sluice_test::SpaceCase c(sluice_test::RowGraph(3, {1, 64, 8, 64}), 1 << 12);
  Budget budget;
  std::vector<KnownSegment> known(3);
  known[0].last = 3;
  for (const bool only : {false, true}) {
    sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
    Arena arena(&memory);
    SpaceSearch search;
    search.goal = {1, 1};
    search.budget = &budget;
    search.known = {known.data(), known.size()};
    search.only_known = only;
    SpacePlan plan;
    const Status status = SearchSpace(c.problem, search, &arena, &arena, &plan);
    CHECK(status == (only ? Status::kInfeasible : Status::kOk));
  }
}

TEST_CASE("space search: a scratchpad too small for any tile is infeasible") {
  const sluice_test::SpaceCase c(sluice_test::JoinedGraph(), 4);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  Budget budget;
  SpaceSearch search;
  search.goal = {1, 1};
  search.budget = &budget;
  SpacePlan plan;
  CHECK(SearchSpace(c.problem, search, &arena, &arena, &plan) == Status::kInfeasible);
}

}  // namespace
}  // namespace sluice
