// SPDX-License-Identifier: Apache-2.0
// The roles of a scheme's layers: src/solve/segments/space.h.
#include <doctest/doctest.h>

#include "tests/solve/segments/small_mesh.h"

namespace sluice {
namespace {

// Three dense layers in a row and a sum of the first and the third, batch 4. The sum
// follows the third layer: vertices {0}, {1}, {2, 3}.
struct Row : SmallCase {
  LayerRole role[4];
  Row() : SmallCase(4, 1, 256) {
    network.Add("a", Dense(4, 8, 6), {-1});
    network.Add("b", Dense(4, 4, 8), {0});
    network.Add("c", Dense(4, 8, 4), {1});
    network.Add("d", Channels(4, 8, 1, 2), {0, 2});
  }
  // Assigns roles to layers [first, last) on regions of 1, 1 and 2 nodes.
  void Assign(SegmentKind kind, uint32_t first, uint32_t last, uint16_t groups) {
    Space space = MakeEmpty();
    SegmentCounts counts = {};
    Budget budget;
    REQUIRE(MakeSpace(&space, &budget, &scratch.arena, &counts) == Status::kOk);
    REQUIRE(space.vertices.size() == 3);
    SegmentScheme scheme = {};
    scheme.kind = kind;
    scheme.top_batch = kind == SegmentKind::kSingle ? 1 : 2;
    scheme.regions = static_cast<uint32_t>(space.regions.size());
    for (uint16_t& g : scheme.groups) g = 1;
    scheme.groups[0] = groups;
    const NodeRegion regions[] = {{{0, 0}, {1, 1}}, {{1, 0}, {1, 1}}, {{2, 0}, {2, 1}}};
    for (const NodeRegion& r : regions) {
      REQUIRE(space.regions.Push(r) == Status::kOk);
    }
    Run run = {};
    run.first = first;
    run.last = last;
    run.vertex = space.vertex_of[first];
    run.stages = kind == SegmentKind::kSingle ? 0 : space.vertex_of[last - 1] + 1;
    RolesOf(space, run, scheme, role);
  }
};

TEST_CASE("roles: a layer by itself reads and writes DRAM on all nodes") {
  Row row;
  row.Assign(SegmentKind::kSingle, 1, 2, 1);
  const LayerRole& role = row.role[0];
  CHECK(role.query.position == 1);
  CHECK(NodesOf(role.query.region) == 4);
  CHECK(role.producer == kNone);
  CHECK(role.stores);
  CHECK(role.query.terms.ifmap.kind == EndKind::kDram);
  CHECK(role.query.terms.ofmap.kind == EndKind::kDram);
}

TEST_CASE("roles: stages hand fmaps to their neighbours, in groups where asked to") {
  Row row;
  row.Assign(SegmentKind::kSpatial, 0, 3, 2);
  for (uint32_t s = 0; s < 3; ++s) {
    CHECK(row.role[s].stage == s);
    CHECK(row.role[s].query.region.begin[kColumns] == s);
    CHECK(row.role[s].query.terms.top_batch == 2);
    CHECK(row.role[s].producer == (s == 0 ? kNone : s - 1));
    CHECK(row.role[s].query.terms.ifmap.kind ==
          (s == 0 ? EndKind::kDram : EndKind::kNodes));
    CHECK(row.role[s].query.reserved_bytes == 0);
  }
  CHECK(row.role[1].query.terms.ifmap.region.begin[kColumns] == 0);
  CHECK(row.role[2].query.terms.ifmap.region.begin[kColumns] == 1);
  // Layer a sends its output in two groups, which b adds up one by one; b sends its output
  // whole.
  CHECK(row.role[0].query.terms.top_ofm == 2);
  CHECK(row.role[1].query.terms.top_ifm == 2);
  CHECK(row.role[1].query.terms.top_ofm == 1);
  CHECK(row.role[1].fine);
  CHECK_FALSE(row.role[2].fine);
  // The sum outside of the run reads a and c: both are stored, a also forwarded.
  CHECK(row.role[0].consumers == 1);
  CHECK(row.role[0].stores);
  CHECK_FALSE(row.role[1].stores);
  CHECK(row.role[2].stores);
}

TEST_CASE("roles: a mixed input comes from DRAM in part, and what waits is reserved") {
  Row row;
  row.Assign(SegmentKind::kTemporal, 1, 4, 1);
  // The sum reads 4 x 8 words of c here, and as many of a from DRAM.
  CHECK(row.role[2].producer == 2);
  CHECK(row.role[2].fetched == 32);
  CHECK(row.role[2].query.terms.ifmap.kind == EndKind::kHere);
  CHECK(row.role[1].query.terms.ofmap.kind == EndKind::kHere);
  CHECK_FALSE(row.role[1].stores);
  // b's output is read at once. Of a run that begins with a, a's output waits while b
  // and c run: 2 x 8 words of 2 bytes on 4 nodes.
  CHECK(row.role[1].query.reserved_bytes == 0);
  Row whole;
  whole.network.producers[3] = {0};  // the sum reads a only
  whole.network.shares[3] = {32};
  whole.network.layers[3].producers = {whole.network.producers[3].data(), 1};
  whole.network.layers[3].share = {whole.network.shares[3].data(), 1};
  Space space = whole.MakeEmpty();
  SegmentCounts counts = {};
  Budget budget;
  REQUIRE(MakeSpace(&space, &budget, &whole.scratch.arena, &counts) == Status::kOk);
  SegmentScheme scheme = {};
  scheme.kind = SegmentKind::kTemporal;
  scheme.top_batch = 2;
  Run run = {};
  run.last = 4;
  RolesOf(space, run, scheme, whole.role);
  CHECK(whole.role[0].query.reserved_bytes == 0);
  CHECK(whole.role[1].query.reserved_bytes == 8);
  CHECK(whole.role[2].query.reserved_bytes == 8);
  CHECK(whole.role[3].query.reserved_bytes == 0);
}

TEST_CASE("roles: bytes of one step of each operand") {
  const MappingProblem dense = Dense(4, 8, 6);
  LayerTerms terms;
  terms.top_batch = 2;
  CHECK(StepBytes(dense, terms, kInput) == 2 * 6 * 2);
  CHECK(StepBytes(dense, terms, kWeight) == 8 * 6 * 2);
  terms.top_ofm = 4;
  CHECK(StepBytes(dense, terms, kOutput) == 2 * 2 * 2);
  terms.top_ofm = 1;
  terms.top_ifm = 3;
  CHECK(StepBytes(dense, terms, kInput) == 2 * 2 * 2);
  CHECK(StepBytes(dense, terms, kOutput) == 2 * 8 * 2);
  // Channel by channel: inputs and outputs are cut alike.
  CHECK(StepBytes(Channels(4, 6, 1, 1), terms, kOutput) == 2 * 2 * 2);
}

}  // namespace
}  // namespace sluice
