// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/cut_sections.h"

#include <doctest/doctest.h>

#include "tests/plan/fused/sectioned_case.h"

namespace sluice {
namespace {

using sluice_test::SectionedCase;
using Cuts = std::vector<std::pair<uint32_t, uint32_t>>;

TEST_CASE("cut sections: a layer that may not fuse is a section of its own") {
  SectionedCase c(sluice_test::ChainWithHost(6, 3));
  REQUIRE(CutIntoSections(&c.plan) == Status::kOk);
  CHECK(c.Cuts() == Cuts{{0, 3}, {3, 4}, {4, 6}});
  for (uint32_t l = 0; l < 6; ++l) CHECK(c.plan.order[l] == l);
}

TEST_CASE("cut sections: sections of an earlier schedule stay apart") {
  SectionedCase c(sluice_test::Chain(6));
  std::vector<CarriedLayer> layers(6);
  for (uint32_t l = 0; l < 6; ++l) layers[l].section = l < 2 ? 0 : l < 5 ? 1 : 2;
  CarriedSchedule carried;
  carried.layer = {layers.data(), layers.size()};
  c.call.carried = &carried;
  REQUIRE(CutIntoSections(&c.plan) == Status::kOk);
  CHECK(c.Cuts() == Cuts{{0, 2}, {2, 5}, {5, 6}});
}

TEST_CASE("cut sections: halves take the place of a section, later ones move up") {
  SectionedCase c(sluice_test::ChainWithHost(6, 3));
  REQUIRE(CutIntoSections(&c.plan) == Status::kOk);
  c.plan.sections[2].repeats = true;
  SplitSection(&c.plan, 0);
  CHECK(c.Cuts() == Cuts{{0, 1}, {1, 3}, {3, 4}, {4, 6}});
  CHECK(!c.plan.sections[1].repeats);
  CHECK(c.plan.sections[3].repeats);
}

// Blocks of `period` layers; the first one of each is a pool of one element.
sluice_test::GraphSpec Repeating(size_t layers, size_t period) {
  sluice_test::GraphSpec g = sluice_test::Chain(layers);
  for (size_t l = 0; l < layers; l += period) {
    g.layers[l].op = SLUICE_OP_MAX_POOL;
    g.layers[l].attributes = {1, 1, 1, 1, 0, 0, 0, 0, -128, 127};
  }
  return g;
}

TEST_CASE("cut sections: a long section is cut where it repeats itself") {
  SectionedCase c(Repeating(360, 40));
  REQUIRE(CutIntoSections(&c.plan) == Status::kOk);
  REQUIRE(c.plan.count == 1);
  REQUIRE(CutRepetitions(&c.plan) == Status::kOk);
  REQUIRE(c.plan.count >= 9);
  int repeats = 0;
  uint32_t at = 0;
  for (const Section& s : c.plan.all()) {
    CHECK(s.first == at);
    at = s.last;
    if (!s.repeats) continue;
    ++repeats;
    CHECK(LayersOf(s) == 40);
  }
  CHECK(at == 360);
  CHECK(repeats >= 8);
}

TEST_CASE("cut sections: sections of up to 300 layers stay whole") {
  SectionedCase c(Repeating(300, 30));
  REQUIRE(CutIntoSections(&c.plan) == Status::kOk);
  REQUIRE(CutRepetitions(&c.plan) == Status::kOk);
  CHECK(c.Cuts() == Cuts{{0, 300}});
}

}  // namespace
}  // namespace sluice
