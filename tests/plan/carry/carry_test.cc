// SPDX-License-Identifier: Apache-2.0
#include "plan/carry/carry.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/read_graph.h"

namespace {

using sluice::kNone;
using sluice::Status;
template <typename T>
using Vec = std::vector<T>;

template <typename T>
sluice::Span<const T> View(const Vec<T>& v) {
  return {v.data(), v.size()};
}

// The plan of a chain of four layers, and an edited chain made by hand. The plan has two
// sections of two layers: the first section is one group, the second has two groups in one
// layer-fusion group.
struct Edited {
  Vec<sluice::PlanSection> section{{0, 1, 0, 0}, {2, 1, 0, 0}};
  Vec<uint32_t> order{0, 1, 2, 3};
  Vec<uint8_t> cut{2, 0, 2, 1};
  Vec<int32_t> tiling{4, 0, 3, 2};
  Vec<uint32_t> before_of{0, 1, 2, 3}, after_of{0, 1, 2, 3};
  Vec<uint8_t> same{1, 1, 1, 1};
  Vec<Vec<uint32_t>> reads{{}, {0}, {1}, {2}};  // layers that each layer reads

  sluice::Memory memory{sluice_test::Nouns::Allocator(), 0};
  sluice::Arena arena{&memory};
  sluice::Diagnostic diagnostic = {};
  sluice::CarriedSchedule carried;

  Status Run() {
    const size_t n = reads.size();
    Vec<sluice::Tensor> tensors(n);  // tensor l is what layer l writes
    Vec<sluice::Layer> layers(n);
    for (uint32_t l = 0; l < n; ++l) {
      tensors[l].producer = l;
      layers[l].inputs = View(reads[l]);
    }
    sluice::Graph graph = {};
    graph.tensors = View(tensors);
    graph.layers = View(layers);
    sluice::PlanNotation notation = {};
    notation.section = View(section);
    notation.order = View(order);
    notation.cut = View(cut);
    notation.tiling = View(tiling);
    sluice::Alignment alignment;
    alignment.before_of = {before_of.data(), before_of.size()};
    alignment.after_of = {after_of.data(), after_of.size()};
    alignment.same = {same.data(), same.size()};
    return Carry(notation, alignment, graph, &arena, &carried, &diagnostic);
  }
  // get(layer) for every carried layer.
  template <typename Get>
  Vec<int64_t> Of(const Get& get) const {
    Vec<int64_t> all;
    for (const sluice::CarriedLayer& l : carried.layer) all.push_back(get(l));
    return all;
  }
  template <typename T>
  static Vec<int64_t> All(sluice::Span<const T> span) {
    return Vec<int64_t>(span.begin(), span.end());
  }
};

}  // namespace

TEST_CASE("an inserted layer joins the groups of its producer, a changed one its own") {
  Edited e;
  e.reads = {{}, {0}, {1}, {2}, {3}};  // layer 2 is new, layer 4 has another shape
  e.before_of = {0, 1, kNone, 2, 3};
  e.after_of = {0, 1, 3, 4};
  e.same = {1, 1, 0, 1, 0};
  REQUIRE(e.Run() == Status::kOk);
  using Layer = sluice::CarriedLayer;
  const uint32_t none = kNone;
  CHECK(e.Of([](const Layer& l) { return l.before; }) ==
        Vec<int64_t>{0, 1, none, 2, 3});
  CHECK(e.Of([](const Layer& l) { return l.section; }) == Vec<int64_t>{0, 0, 0, 1, 1});
  CHECK(e.Of([](const Layer& l) { return l.rank; }) == Vec<int64_t>{0, 1, 1, 2, 3});
  CHECK(e.Of([](const Layer& l) { return l.group; }) == Vec<int64_t>{1, 1, 1, 2, 3});
  CHECK(e.Of([](const Layer& l) { return l.fusion; }) == Vec<int64_t>{1, 1, 1, 2, 2});
  CHECK(e.Of([](const Layer& l) { return l.tiles; }) == Vec<int64_t>{4, 4, 4, 3, 2});
  CHECK(e.Of([](const Layer& l) { return l.touched; }) == Vec<int64_t>{0, 0, 1, 0, 1});
  CHECK(e.carried.touched == 2);
  CHECK(Edited::All(e.carried.order) == Vec<int64_t>{0, 1, 2, 3, 4});
  CHECK(Edited::All(e.carried.whole) == Vec<int64_t>{0, 1});
  CHECK(Edited::All(e.carried.first) == Vec<int64_t>{0, 2, 4});
}

TEST_CASE("a removed layer opens its section, and a producer is computed first") {
  Edited e;  // the plan computes 3 before 2; the edit removes layer 1
  e.order = {0, 1, 3, 2};
  e.reads = {{}, {0}, {1}};
  e.before_of = {0, 2, 3};
  e.after_of = {0, kNone, 1, 2};
  e.same = {1, 1, 1};
  REQUIRE(e.Run() == Status::kOk);
  using Layer = sluice::CarriedLayer;
  // After the edit the old layer 3 reads the old layer 2, so it cannot come before position
  // 3.
  CHECK(e.Of([](const Layer& l) { return l.rank; }) == Vec<int64_t>{0, 3, 3});
  CHECK(e.Of([](const Layer& l) { return l.group; }) == Vec<int64_t>{1, 3, 2});
  CHECK(Edited::All(e.carried.whole) == Vec<int64_t>{0, 1});
  CHECK(e.carried.touched == 0);
  e.reads[2] = {};  // reads no other layer, so it may keep its old place
  REQUIRE(e.Run() == Status::kOk);
  CHECK(Edited::All(e.carried.order) == Vec<int64_t>{0, 2, 1});
}

TEST_CASE("a notation of another graph is refused, tiling numbers are limited") {
  struct Case {
    const char* message;
    std::function<void(Edited*)> spoil;
  };
  const char* sections = "the plan's sections do not ascend with its layers";
  const char* order = "the plan's order or cuts are not those of its layers";
  const char* none = "the plan carries no notation of its schedule";
  const Case cases[] = {
      {sections, [](Edited* e) { e->section[1].layer = 0; }},
      {sections, [](Edited* e) { e->section[1].layer = 4; }},
      {order, [](Edited* e) { e->order[2] = 1; }},
      {order, [](Edited* e) { e->order[2] = 4; }},
      {order, [](Edited* e) { e->cut[1] = 3; }},
      {"the plan's order does not keep its sections",
       [](Edited* e) {
         e->order = {0, 2, 1, 3};
       }},
      {none, [](Edited* e) { e->order.clear(); }},
      {none, [](Edited* e) { e->section.clear(); }},
      {none, [](Edited* e) { e->section[0].layer = 4; }},
  };
  for (const Case& c : cases) {
    Edited e;
    c.spoil(&e);
    CAPTURE(c.message);
    CHECK(e.Run() == Status::kBadInput);
    CHECK(std::string(e.diagnostic.message) == c.message);
  }
  Edited e;
  e.tiling = {-5, 0, 1 << 20, 2};
  REQUIRE(e.Run() == Status::kOk);
  CHECK(e.carried.layer[1].tiles == 1);
  CHECK(e.carried.layer[2].tiles == 1 << 16);
}
