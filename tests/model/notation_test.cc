// SPDX-License-Identifier: Apache-2.0
// Exact boxes: halos, borders, tensors with several readers, shared loads.
#include "model/notation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "model/dma_list.h"
#include "model/timeline.h"
#include "tests/model/small_parser.h"

namespace sluice {
namespace {

bool Contains(const CutBox& outer, const CutBox& inner) {
  for (int a = 0; a < 4; ++a) {
    if (inner.begin[a] < outer.begin[a] || inner.end[a] > outer.end[a]) return false;
  }
  return true;
}

// The elements of a map that boxes have covered, without channels.
struct Coverage {
  explicit Coverage(const int32_t* extent)
      : h(extent[1]), w(extent[2]), cell(static_cast<size_t>(extent[0] * h * w)) {}
  template <typename F>
  void Each(const CutBox& b, F f) {
    for (int n = b.begin[0]; n < b.end[0]; ++n) {
      for (int y = b.begin[1]; y < b.end[1]; ++y) {
        for (int x = b.begin[2]; x < b.end[2]; ++x) {
          f(cell[static_cast<size_t>((n * h + y) * w + x)]);
        }
      }
    }
  }
  void Cover(const CutBox& b) {
    Each(b, [](char& c) { c = 1; });
  }
  bool Has(const CutBox& b) {
    bool all = true;
    Each(b, [&](char& c) { all = all && c != 0; });
    return all;
  }
  int h, w;
  std::vector<char> cell;
};

// Walks the tiles and checks that every element a tile reads has been made.
void CheckReads(Small* s, const GroupNotation& g, const TileList& list) {
  std::vector<uint32_t> fine(5), fusion(5);
  uint32_t f = 0, d = 0;
  for (uint32_t i = 0; i < 5; ++i) {
    if (g.cut[i] != kCutNone) ++f;
    if (g.cut[i] == kCutDram) ++d;
    fine[g.order[i]] = f;
    fusion[g.order[i]] = d;
  }
  std::vector<Coverage> made;
  for (const FusionLayer& l : s->layers) made.emplace_back(l.extent);
  for (uint32_t p = 0; p < list.tiles; ++p) {
    const uint32_t layer = list.layer[p];
    const FusionLayer& l = s->layers[layer];
    for (uint32_t e = 0; e < l.inputs; ++e) {
      const uint32_t source = s->inputs[l.first_input + e].source;
      CutBox need;
      Small::Need(s, layer, e, list.box[p], &need);
      if (source < 5) REQUIRE(made[source].Has(need));
      if (source < 5 && fine[source] == fine[layer]) {
        bool same_tile = false;
        for (uint32_t q = 0; q < p; ++q) {
          same_tile |= list.layer[q] == source && list.tile[q] == list.tile[p] &&
                       list.ofmap_end[q] > static_cast<int32_t>(p) &&
                       Contains(list.box[q], need);
        }
        REQUIRE(same_tile);
      } else if (source < 5 && fusion[source] == fusion[layer]) {
        for (uint32_t q = 0; q < p; ++q) {
          if (list.layer[q] == source) {
            REQUIRE(list.ofmap_end[q] > static_cast<int32_t>(p));
          }
        }
      } else {
        bool loaded = false;
        for (uint32_t t = 0; t < list.transfers; ++t) {
          const DramTensor& x = list.transfer[t];
          loaded |= x.kind == kLoadInput && x.source == source &&
                    x.use <= static_cast<int32_t>(p) &&
                    x.end > static_cast<int32_t>(p) &&
                    Contains(list.transfer_box[t], need);
        }
        REQUIRE(loaded);
      }
    }
    made[layer].Cover(list.box[p]);
  }
  for (uint32_t i = 0; i < 5; ++i) {
    const int32_t* x = s->layers[i].extent;
    bool leaves = s->layers[i].output || s->layers[i].consumers == 0;
    for (uint32_t c = 0; c < s->layers[i].consumers; ++c) {
      leaves |= fine[s->consumers[s->layers[i].first_consumer + c]] != fine[i];
    }
    if (leaves) REQUIRE(made[i].Has(CutBox{{0, 0, 0, 0}, {x[0], x[1], x[2], x[3]}}));
  }
}

TEST_CASE("parser: with exact boxes every tile finds every element it reads") {
  SmallParser s;
  DmaLister lister;
  REQUIRE(InitDmaLister(&s.arena, 512, 1024, &lister) == Status::kOk);
  std::vector<uint32_t> order = {0, 1, 2, 3, 4};
  std::vector<uint8_t> cut(5);
  std::vector<int32_t> tiles(5);
  std::vector<uint32_t> dma_order(1024);
  std::vector<int32_t> start(1024), end(1024), scratch(1024);
  std::vector<int64_t> profile(1024);
  DmaNotation dma = {
      {dma_order.data(), 1024}, {start.data(), 1024}, {end.data(), 1024}};
  Rng rng(5);
  int parsed = 0;
  int shared = 0;
  for (int round = 0; round < 3000; ++round) {
    order[1] = 1 + rng.Below(2);
    order[2] = 3 - order[1];
    for (int i = 0; i < 5; ++i) {
      cut[i] = i == 0 ? uint8_t{kCutDram} : static_cast<uint8_t>(rng.Below(3));
      tiles[i] = 1 + static_cast<int32_t>(rng.Below(8));
    }
    const GroupNotation g = {{order.data(), 5}, {cut.data(), 5}, {tiles.data(), 5}};
    const ParseResult result = ParseNotation(&s.parser, g, &s.list);
    if (result != ParseResult::kOk) {
      REQUIRE(result == ParseResult::kCut);
      continue;
    }
    ++parsed;
    CheckReads(&s, g, s.list);
    for (uint32_t t = 0; t < s.list.transfers; ++t) {
      shared += s.list.transfer[t].kind == kLoadInput &&
                s.list.transfer[t].end > s.list.transfer[t].use + 1;
    }
    const int64_t latency =
        ListTransfers(&lister, s.list, s.problem.buffer_bytes, 0, &dma);
    REQUIRE(latency == Latency(s.list, dma, {scratch.data(), 1024}));
    REQUIRE(CheckDma(s.list, dma, {scratch.data(), 1024}) == DmaFault::kLegal);
    REQUIRE(ProfileBuffer(s.list, dma, {profile.data(), 1024}) <=
            s.problem.buffer_bytes);
  }
  CHECK(parsed > 1000);
  CHECK(shared > 100);
}

TEST_CASE("parser: a layer before its source is refused, and so is too fine a cut") {
  SmallParser s({64, 64});
  std::vector<uint32_t> order = {0, 1, 3, 2, 4};
  std::vector<uint8_t> cut = {kCutDram, kCutFine, kCutFine, kCutFine, kCutFine};
  std::vector<int32_t> tiles = {1, 1, 1, 1, 1};
  const GroupNotation g = {{order.data(), 5}, {cut.data(), 5}, {tiles.data(), 5}};
  CHECK(ParseNotation(&s.parser, g, &s.list) == ParseResult::kOrder);
  order = {0, 1, 2, 3, 4};
  CHECK(ParseNotation(&s.parser, g, &s.list) == ParseResult::kOk);
  CHECK(s.list.tiles == 5);
  tiles[2] = 97;  // a prime above every extent
  CHECK(ParseNotation(&s.parser, g, &s.list) == ParseResult::kTooMany);
  tiles[2] = 17;
  CHECK(ParseNotation(&s.parser, g, &s.list) == ParseResult::kCut);
  tiles[2] = 0;
  CHECK(ParseNotation(&s.parser, g, &s.list) == ParseResult::kCut);
}

}  // namespace
}  // namespace sluice
