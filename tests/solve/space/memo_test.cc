// SPDX-License-Identifier: Apache-2.0
#include "solve/space/memo.h"

#include <doctest/doctest.h>

#include <cstring>

#include "support/joined_graph.h"

namespace sluice {
namespace {

// input 0, then blocks of a convolution and a sum with what the block began with. Weights
// and parameters are shared by all blocks.
sluice_test::GraphSpec Blocks(uint32_t count) {
  sluice_test::GraphSpec g;
  g.tensors = {{{1, 8, 8, 8}, SLUICE_DTYPE_INT8, 1},
               {{8, 1, 1, 8}, SLUICE_DTYPE_INT8, 3, 3},
               {{8, 3}, SLUICE_DTYPE_INT32, 3, 3}};
  std::vector<int32_t> conv = {1, 1, 1, 1, 0, 0, 0, 0, 1};
  conv.resize(SLUICE_CONV_ATTRIBUTES);
  const std::vector<int32_t> sum(SLUICE_BINARY_ATTRIBUTES, 0);
  uint32_t before = 0;
  for (uint32_t b = 0; b < count; ++b) {
    const uint32_t t = 3 + 2 * b;
    const uint8_t kind = b + 1 == count ? 2 : 0;
    g.tensors.push_back({{1, 8, 8, 8}, SLUICE_DTYPE_INT8, 0});
    g.tensors.push_back({{1, 8, 8, 8}, SLUICE_DTYPE_INT8, kind});
    g.layers.push_back({SLUICE_OP_CONV, {before, 1, 2}, {t}, conv});
    g.layers.push_back({SLUICE_OP_ADD, {t, before}, {t + 1}, sum});
    before = t + 1;
  }
  return g;
}

bool SameCost(const SpaceCost& a, const SpaceCost& b) {
  return a.cycles == b.cycles && a.first_load() == b.first_load() &&
         a.ahead == b.ahead && a.first_wait == b.first_wait && a.load == b.load &&
         a.store == b.store && a.transfers == b.transfers && a.spill == b.spill &&
         a.first_cycles == b.first_cycles && a.last_cycles == b.last_cycles &&
         a.last_store == b.last_store && a.exposed == b.exposed && a.peak == b.peak &&
         a.squeezed == b.squeezed && a.energy_pj == b.energy_pj;
}

TEST_CASE("space memo: it takes a part of the memory that is free") {
  const sluice_test::SpaceCase c(Blocks(100), 2048);
  for (const uint64_t free :
       {uint64_t{1} << 18, uint64_t{1} << 20, uint64_t{1} << 24}) {
    CAPTURE(free);
    sluice::Memory memory(sluice_test::Nouns::Allocator(), free);
    Arena arena(&memory);
    SegmentMaker maker(c.problem);
    SegmentMemo memo(c.problem, &maker);
    REQUIRE(memo.Init(&arena) == Status::kOk);
    CHECK(memory.live_bytes() < free / 2);
  }
}

TEST_CASE("space memo: segments of equal blocks cost what making them costs") {
  const sluice_test::SpaceCase c(Blocks(12), 2048);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  SegmentMaker fresh(c.problem), maker(c.problem);
  SegmentMemo memo(c.problem, &maker);
  REQUIRE(fresh.Init(&arena) == Status::kOk);
  REQUIRE(maker.Init(&arena) == Status::kOk);
  REQUIRE(memo.Init(&arena) == Status::kOk);
  const uint32_t n = static_cast<uint32_t>(c.problem.layer.size());
  int fitting = 0, others = 0, held_on = 0;
  for (uint32_t first = 0; first < n; ++first) {
    const Layer& layer = c.problem.at(first);
    const Held held[] = {{c.problem.root_of[layer.inputs[0]], false}};
    for (uint32_t last = first + 1; last <= n && last <= first + 4; ++last) {
      for (const int32_t rows : {1, 2, 8}) {
        for (const size_t count : {size_t{0}, size_t{1}}) {
          CAPTURE(first);
          CAPTURE(last);
          CAPTURE(rows);
          CAPTURE(count);
          LoopChoice loops;
          loops.Add(rows == 2 ? 0 : 1, rows);
          if (rows == 1) loops.piece = 128;
          const Span<const Held> before(held, count);
          const bool fits = fresh.Make(before, first, last, loops);
          REQUIRE(memo.Make({before, first, last, loops}) == fits);
          if (!fits) {
            ++others;
            continue;
          }
          ++fitting;
          CHECK(SameCost(memo.cost(), fresh.cost()));
          REQUIRE(memo.held().size() == fresh.held().size());
          for (size_t i = 0; i < memo.held().size(); ++i) {
            ++held_on;
            CHECK(memo.held()[i].root == fresh.held()[i].root);
            CHECK(memo.held()[i].stored == fresh.held()[i].stored);
          }
        }
      }
    }
  }
  CHECK(fitting > 50);
  CHECK(others > 5);
  CHECK(held_on > 50);
  CHECK(memo.hits() > 100);
}

// Blocks are alike, but what they hold is not the same root.
TEST_CASE("space memo: the results at hand serve one plan, until they are forgotten") {
  const sluice_test::SpaceCase c(Blocks(12), 4096);
  sluice::Memory memory(sluice_test::Nouns::Allocator(), 0);
  Arena arena(&memory);
  SegmentMaker maker(c.problem);
  SegmentMemo memo(c.problem, &maker);
  REQUIRE(maker.Init(&arena) == Status::kOk);
  REQUIRE(memo.Init(&arena) == Status::kOk);
  const LoopChoice whole = {};
  for (const uint32_t first : {2u, 4u}) {
    CAPTURE(first);
    memo.Forget();
    const uint32_t root = c.problem.root_of[c.problem.at(first).inputs[0]];
    const uint32_t made = c.problem.root_of[c.problem.at(first + 1).outputs[0]];
    const Held held[] = {{root, false}};
    const SegmentKey key = {Span<const Held>(held, 1), first, first + 2, whole};
    REQUIRE(memo.Make(key));
    const uint64_t hits = memo.hits();
    for (int again = 0; again < 2; ++again) {
      bool found = false;
      for (const Held& h : memo.held()) found = found || h.root == made;
      CHECK(found);
      REQUIRE(memo.Make(key));
    }
    CHECK(memo.hits() == hits);  // it did not have to look
  }
}

}  // namespace
}  // namespace sluice
