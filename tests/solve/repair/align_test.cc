// SPDX-License-Identifier: Apache-2.0
#include "solve/repair/align.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/read_graph.h"

namespace {

using sluice::Alignment;
using sluice::kNone;
using sluice::PlanLayerHash;
using Hashes = std::vector<PlanLayerHash>;

// A chain of n layers: three kinds in turn, each layer with a shape of its own.
Hashes Chain(uint32_t n) {
  Hashes h;
  for (uint32_t i = 0; i < n; ++i) h.push_back({i % 3, 1000 + i});
  return h;
}

struct Aligned {
  sluice::Memory memory{sluice_test::Nouns::Allocator(), 0};
  sluice::Arena arena{&memory};
  Alignment a;
  Aligned(const Hashes& before, const Hashes& after) {
    const auto span = [](const Hashes& h) {
      return sluice::Span<const PlanLayerHash>(h.data(), h.size());
    };
    REQUIRE(Align(span(before), span(after), &arena, &a) == sluice::Status::kOk);
    uint32_t last = 0;
    for (size_t j = 0; j < after.size(); ++j) {
      const uint32_t i = a.before_of[j];
      if (i == kNone) continue;
      CHECK(a.after_of[i] == j);
      CHECK(before[i].kind == after[j].kind);
      CHECK((a.same[j] != 0) == (before[i] == after[j]));
      CHECK((last == 0 || i >= last));
      last = i + 1;
    }
  }
};

}  // namespace

TEST_CASE("an unchanged graph is all kept") {
  const Aligned t(Chain(40), Chain(40));
  CHECK(t.a.kept == 40);
  CHECK(t.a.changed + t.a.inserted + t.a.removed == 0);
}

TEST_CASE("changed, inserted and removed layers are told apart, wherever they are") {
  for (uint32_t at = 0; at < 40; ++at) {
    CAPTURE(at);
    Hashes changed = Chain(40);
    changed[at].shape = 7;
    const Aligned c(Chain(40), changed);
    CHECK(c.a.kept == 39);
    CHECK(c.a.changed == 1);
    CHECK(c.a.before_of[at] == at);
    Hashes longer = Chain(40);
    longer.insert(longer.begin() + at, PlanLayerHash{9, 9});
    const Aligned i(Chain(40), longer);
    CHECK(i.a.kept == 40);
    CHECK(i.a.inserted == 1);
    CHECK(i.a.before_of[at] == kNone);
    const Aligned r(longer, Chain(40));
    CHECK(r.a.kept == 40);
    CHECK(r.a.removed == 1);
    CHECK(r.a.after_of[at] == kNone);
  }
}

TEST_CASE("several edits far apart do not disturb what lies between") {
  Hashes after = Chain(2000);
  after[10].shape = 1;
  after.erase(after.begin() + 300, after.begin() + 303);
  after.insert(after.begin() + 900, 200, PlanLayerHash{8, 5});
  after[1900].shape = 2;
  const Aligned t(Chain(2000), after);
  CHECK(t.a.kept == 2000 - 3 - 2);
  CHECK(t.a.changed == 2);
  CHECK(t.a.inserted == 200);
  CHECK(t.a.removed == 3);
}

TEST_CASE("another batch changes every shape and loses no layer") {
  Hashes after = Chain(3000);
  for (PlanLayerHash& h : after) h.shape += 100000;
  after.insert(after.begin() + 1500, PlanLayerHash{9, 9});
  const Aligned t(Chain(3000), after);
  CHECK(t.a.kept == 0);
  CHECK(t.a.changed == 3000);
  CHECK(t.a.inserted == 1);
}

TEST_CASE("graphs that have nothing in common are all removed and inserted") {
  const Aligned t(Hashes(50, PlanLayerHash{1, 1}), Hashes(60, PlanLayerHash{2, 2}));
  CHECK(t.a.removed == 50);
  CHECK(t.a.inserted == 60);
  const Aligned none(Hashes(), Hashes(3, PlanLayerHash{2, 2}));
  CHECK(none.a.inserted == 3);
}
