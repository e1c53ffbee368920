// SPDX-License-Identifier: Apache-2.0
// Two layers side by side on a mesh, written as text and read back.
#include "model/segment_directive.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "tests/model/directive_text.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

const Text kNames[] = {T("b"), T("a")};

// Layer a computes 8 channels in groups of 2, for slices of 2 of 4 images, on a column
// of two nodes. Layer b takes each group as it comes, on six nodes beside.
constexpr char kText[] =
    "a:\n"
    " NODE:\n"
    "  tensor{a.in}(N=2, C=3, H=5, W=5)\n"
    "  tensor{a.w}(K=1, C=3)\n"
    "  tensor{a.out}(N=2, K=1, P=5, Q=5)\n"
    "  stack@1(K+=1, 2)\n"
    " STEP:\n"
    "  tensor{a.in}(N=2, C=3, H=5, W=5)\n"
    "  tensor{a.w}(K=2, C=3)\n"
    "  tensor{a}(N=2, K=2, P=5, Q=5)\n"
    "  update(K+=2)\n"
    "  update(N+=2)\n"
    " spatial.0.0/0.0-1x2:\n"
    "  tensor{a.in}(N=4, C=3, H=5, W=5)\n"
    "  tensor{a.w}(K=8, C=3)\n"
    "  tensor{a.out}(N=4, K=8, P=5, Q=5)\n"
    "b:\n"
    " NODE:\n"
    "  tensor{b.in}(N=2, C=2, H=2, W=5)\n"
    "  tensor{b.w}(K=6, C=2)\n"
    "  tensor{b.out}(N=2, K=6, P=2, Q=5)\n"
    "  stack@0(P+=2, H+=2, 3)\n"
    " STEP:\n"
    "  tensor{a}(N=2, C=2, H=5, W=5)\n"
    "  tensor{b.w}(K=6, C=2)\n"
    "  tensor{b}(N=2, K=6, P=5, Q=5)\n"
    "  update(C+=2)\n"
    "  update(N+=2)\n"
    " spatial.0.1/1.0-3x2:\n"
    "  tensor{b.in}(N=4, C=8, H=5, W=5)\n"
    "  tensor{b.w}(K=6, C=8)\n"
    "  tensor{b.out}(N=4, K=6, P=5, Q=5)\n";

TEST_CASE("segment directives: a schedule is the text that its header describes") {
  LayerOnNodes layers[2] = {};
  layers[0].layer = 1;
  layers[0].producer = kNone;
  layers[0].problem = ConvProblem({4, 8, 3, 5, 5, 1, 1, 1, 1});
  layers[0].region = {{0, 0}, {1, 2}};
  layers[0].terms.top_ofm = 4;
  layers[0].split = WholeOnEach();
  layers[0].split.factor[kRows][kDimK] = 2;
  layers[1].layer = 0;
  layers[1].stage = 1;
  layers[1].producer = 0;
  layers[1].problem = ConvProblem({4, 6, 8, 5, 5, 1, 1, 1, 1});
  layers[1].region = {{1, 0}, {3, 2}};
  layers[1].terms.top_ifm = 4;
  layers[1].split = WholeOnEach();
  layers[1].split.factor[kColumns][kDimP] = 3;
  layers[0].terms.top_batch = layers[1].terms.top_batch = 2;
  Segment segment = {};
  segment.kind = SegmentKind::kSpatial;
  segment.layers = {layers, 2};
  uint32_t order[2] = {1, 0};
  SegmentSchedule schedule = {};
  schedule.order = {order, 2};
  schedule.segments = {&segment, 1};
  Scratch scratch;
  DirectiveProgram program;
  REQUIRE(DirectivesOfSegments(schedule, {kNames, 2}, &scratch.arena, &program) ==
          Status::kOk);
  CHECK(Print(program) == kText);
}

// The schedule read from a text, or the error.
struct Read {
  explicit Read(const std::string& text) {
    DirectiveProgram program;
    REQUIRE(ParseDirectives(T(text.c_str()), &scratch.arena, &program,
                            &scratch.diagnostic) == Status::kOk);
    status = SegmentsOfDirectives(program, {kNames, 2}, &scratch.arena, &schedule,
                                  &scratch.diagnostic);
    message = scratch.diagnostic.message;
  }
  Scratch scratch;
  SegmentSchedule schedule;
  Status status;
  std::string message;
};

TEST_CASE(
    "segment directives: the text says stages, regions, slices and who feeds whom") {
  const Read r(kText);
  INFO(r.message);
  REQUIRE(r.status == Status::kOk);
  CHECK(r.schedule.order[0] == 1);
  CHECK(r.schedule.order[1] == 0);
  REQUIRE(r.schedule.segments.size() == 1);
  const Segment& segment = r.schedule.segments[0];
  CHECK(segment.kind == SegmentKind::kSpatial);
  CHECK(segment.top_batch == 2);
  CHECK(segment.stages == 2);
  REQUIRE(segment.layers.size() == 2);
  const LayerOnNodes &a = segment.layers[0], &b = segment.layers[1];
  CHECK(a.producer == kNone);
  CHECK(a.consumers == 1);
  CHECK(a.region.extent[kRows] == 2);
  CHECK(a.terms.top_ifm == 1);
  CHECK(a.terms.top_ofm == 4);
  CHECK(a.terms.ifmap.kind == EndKind::kDram);
  CHECK(a.terms.ofmap.kind == EndKind::kNodes);
  CHECK(a.split.factor[kRows][kDimK] == 2);
  CHECK(NodesUsed(a.split) == 2);
  CHECK(b.stage == 1);
  CHECK(b.producer == 0);
  CHECK(b.consumers == 0);
  CHECK(b.region.begin[kColumns] == 1);
  CHECK(b.region.extent[kColumns] == 3);
  CHECK(b.terms.top_ifm == 4);
  CHECK(b.terms.top_ofm == 1);
  CHECK(b.terms.ifmap.kind == EndKind::kNodes);
  CHECK(b.terms.ifmap.region.extent[kRows] == 2);
  CHECK(b.split.factor[kColumns][kDimP] == 3);
  // Where both layers use one region, the words need not move.
  std::string here = kText;
  here.replace(here.find("spatial.0.1/1.0-3x2"), 19, "spatial.0.0/0.0-1x2");
  const Read same(here);
  REQUIRE(same.status == Status::kOk);
  CHECK(same.schedule.segments[0].stages == 1);
  CHECK(same.schedule.segments[0].layers[1].terms.ifmap.kind == EndKind::kHere);
}

TEST_CASE("segment directives: what is no schedule is refused by the layer's name") {
  const std::string place = "layer b: needs levels NODE, STEP and the layer's place";
  const std::string order = "layer b: segments are numbered in order, each of one kind";
  const std::pair<std::pair<const char*, const char*>, std::string> cases[] = {
      {{"\nb:", "\nc:"}, "layer c: no such layer"},
      {{" NODE:\n  tensor{b.in}", " CORE:\n  tensor{b.in}"}, place},
      {{"spatial.0.1/1.0-3x2", "spatial.0.1/1.0-3"}, place},
      {{"spatial.0.1/1.0-3x2", "special.0.1/1.0-3x2"}, place},
      {{"spatial.0.1/1.0-3x2", "spatial.0.1/1.0-3x9999999999"}, place},
      {{"spatial.0.1", "temporal.0.1"}, order},
      {{"spatial.0.1", "spatial.2.1"}, order},
      {{"tensor{a.out}(N=4", "tensor{a.out}(N=5"},
       "layer a: steps do not divide the whole"},
      {{"update(C+=2)", "update(C+=1)"},
       "layer b: an update does not match the sizes of STEP"},
      {{"  update(C+=2)\n", ""},
       "layer b: steps need an update each, and only along N, K, C, G"},
      {{"stack@1(K+=1, 2)", "stack(K+=1, 2)"},
       "layer a: a stack of nodes names @0 or @1 and one dim"},
      {{"stack@1(K+=1, 2)", "stack@1(K+=1, 2)\n  stack@1(K+=1, 2)"},
       "layer a: one dim is stacked twice along one axis"}};
  for (const auto& c : cases) {
    std::string text = kText;
    const size_t at = text.find(c.first.first);
    REQUIRE(at != std::string::npos);
    text.replace(at, strlen(c.first.first), c.first.second);
    const Read r(text);
    CAPTURE(text);
    CHECK(r.status != Status::kOk);
    CHECK(r.message == c.second);
  }
}

}  // namespace
}  // namespace sluice
