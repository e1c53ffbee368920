// SPDX-License-Identifier: Apache-2.0
// Nests as directives, directives as nests.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>

#include "base/rng.h"
#include "model/access.h"
#include "solve/mapping/kapla/kapla.h"
#include "tests/model/directive_text.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/networks.h"
#include "tests/solve/mapping/random_nest.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

const TensorNames kNames = {T("layer"), {T("x"), T("w"), T("y")}};

TEST_CASE("directives: moves of outputs and taps move the window of the input") {
  // Windows of 3 x 3 at a stride of 2 rows.
  MappingProblem problem = ConvProblem({1, 4, 5, 6, 6, 3, 3, 2, 1});
  Directive move = {};
  AddMove(problem, &move, kDimK, 3);
  REQUIRE(move.terms == 1);
  CHECK(move.term[0].dim == kDimK);
  CHECK(move.term[0].value == 3);
  AddMove(problem, &move, kDimP, 2);
  REQUIRE(move.terms == 3);
  CHECK(move.term[1].dim == kDimP);
  CHECK(move.term[2].dim == kDimH);
  CHECK(move.term[2].value == 4);
  problem.dilation[1] = 3;
  move = Directive{};
  AddMove(problem, &move, kDimS, 2);
  CHECK(move.term[1].dim == kDimW);
  CHECK(move.term[1].value == 6);
}

TEST_CASE(
    "directives: a tensor has the dims that move it, windows as rows and columns") {
  const MappingProblem problem = ConvProblem({1, 4, 5, 6, 6, 3, 3, 2, 1});
  const int64_t tile[kDims] = {1, 2, 5, 2, 1, 3, 3, 1};
  const Directive input = TensorDirective(problem, kInput, T("x"), tile);
  REQUIRE(input.terms == 3);  // N and G have extent 1
  CHECK(input.term[0].dim == kDimC);
  CHECK(input.term[0].value == 5);
  CHECK(input.term[1].dim == kDimH);
  CHECK(input.term[1].value == 5);  // (2 - 1) * 2 + 3
  CHECK(input.term[2].dim == kDimW);
  CHECK(input.term[2].value == 3);
  const Directive weight = TensorDirective(problem, kWeight, T("w"), tile);
  REQUIRE(weight.terms == 4);
  CHECK(weight.term[0].dim == kDimK);
  CHECK(weight.term[0].value == 2);
  CHECK(weight.term[3].dim == kDimS);
}

// A GEMM of 4 rows x 6 columns with sums over 5; buffer tiles of 2 x 3 with whole sums.
constexpr char kGemm[] =
    "layer:\n"
    " L0:\n"
    "  tensor{x}(C=5, H=2, W=1)\n"
    "  tensor{w}(K=3, C=5)\n"
    "  tensor{y}(K=3, P=2)\n"
    "  update(K+=3)\n"
    "  update(P+=2, H+=2)\n";

struct Built {
  explicit Built(const std::string& text) {
    machine.AddLevel(0, 1, 1);
    machine.AddLevel(0, 1, 1);
    machine.Finish();
    const MappingProblem problem = GemmProblem(1, 4, 6, 5, 1);
    DirectiveProgram program;
    REQUIRE(ParseDirectives(T(text.c_str()), &scratch.arena, &program,
                            &scratch.diagnostic) == Status::kOk);
    status = NestOfDirectives(problem, machine.hardware, program.layers[0], kNames,
                              &nest, &scratch.diagnostic);
    message = scratch.diagnostic.message;
  }
  Scratch scratch;
  Machine machine;
  LoopNest nest;
  Status status;
  std::string message;
};

TEST_CASE("directives: the nest of a product, written by hand") {
  const Built b(kGemm);
  INFO(b.message);
  REQUIRE(b.status == Status::kOk);
  CHECK(b.nest.levels == 2);
  CHECK(b.nest.temporal[0][kDimK] == 3);
  CHECK(b.nest.temporal[0][kDimC] == 5);
  CHECK(b.nest.temporal[0][kDimP] == 2);
  CHECK(b.nest.temporal[1][kDimK] == 2);
  CHECK(b.nest.temporal[1][kDimC] == 1);
  CHECK(b.nest.temporal[1][kDimP] == 2);
  CHECK(b.nest.order[1][0] == kDimK);  // innermost first
  CHECK(b.nest.order[1][1] == kDimP);
  CHECK(b.nest.hold[0] == 7);
  // A tensor that a level does not name bypasses it.
  std::string bypass = kGemm;
  bypass.erase(bypass.find("  tensor{w}"), strlen("  tensor{w}(K=3, C=5)\n"));
  CHECK(Built(bypass).nest.hold[0] == 5);
}

TEST_CASE("directives: text that is no nest of the problem is refused by its level") {
  const std::pair<std::pair<const char*, const char*>, std::string> cases[] = {
      {{" L0:", " GBUF:"}, "level GBUF: unexpected here"},
      {{" L0:", " L0:\n L1:"}, "the layer has 2 levels instead of 1"},
      {{"{y}", "{z}"}, "level L0: a tensor of another layer"},
      {{"{w}(K=3", "{w}(K=2"},
       "level L0: a tensor's size differs from what its moves cover"},
      {{"{w}(K=3, C=5", "{w}(K=3, C=5, shr=2"},
       "a tensor shared by 2 buffers has no nest on one node"},
      {{"P+=2, H+=2", "P+=2, K+=2"}, "level L0: a stack or update moves two dims"},
      {{"P+=2, H+=2", "H+=2"}, "level L0: a stack or update moves no dim"},
      {{"P+=2, H+=2", "P+=2, H+=1"},
       "level L0: input rows do not move along with the output"},
      {{"P+=2, H+=2", "P+=9, H+=9"}, "level L0: a step beyond the tensor"},
      {{"P+=2, H+=2", "K+=3"}, "level L0: a dim moves after its update"},
      {{"update(K+=3)", "stack(K+=3, 2)"}, "level L0: no fanout for a stack"}};
  for (const auto& c : cases) {
    std::string text = kGemm;
    const size_t at = text.find(c.first.first);
    REQUIRE(at != std::string::npos);
    text.replace(at, strlen(c.first.first), c.first.second);
    const Built b(text);
    CAPTURE(text);
    CHECK(b.status != Status::kOk);
    CHECK(b.message == c.second);
  }
}

// nest -> directives -> text -> directives -> nest, with equal access counts.
void RoundTrip(const MappingProblem& problem, const Hardware& hardware,
               const LoopNest& nest) {
  Scratch scratch;
  DirectiveLayer layer;
  REQUIRE(DirectivesOfNest(problem, hardware, nest, kNames, &scratch.arena, &layer) ==
          Status::kOk);
  DirectiveProgram program = {Span<const DirectiveLayer>(&layer, 1)};
  const std::string text = Print(program);
  INFO(text);
  DirectiveProgram parsed;
  const Status read =
      ParseDirectives(T(text.c_str()), &scratch.arena, &parsed, &scratch.diagnostic);
  INFO(scratch.diagnostic.message);
  REQUIRE(read == Status::kOk);
  CHECK(Print(parsed) == text);
  LoopNest back;
  const Status built = NestOfDirectives(problem, hardware, parsed.layers[0], kNames,
                                        &back, &scratch.diagnostic);
  INFO(scratch.diagnostic.message);
  REQUIRE(built == Status::kOk);
  for (uint32_t l = 0; l < nest.levels; ++l) {
    CHECK(back.hold[l] == nest.hold[l]);
    for (uint32_t d = 0; d < kDims; ++d) {
      CHECK(back.temporal[l][d] == nest.temporal[l][d]);
      for (uint32_t a = 0; a < kMaxAxes; ++a) {
        CHECK(back.spatial[l][a][d] == nest.spatial[l][a][d]);
      }
    }
  }
  AccessCounts before, after;
  REQUIRE(CountAccesses(problem, hardware, nest, {ReuseForm::kReuse, 0}, &before,
                        &scratch.diagnostic) == Status::kOk);
  REQUIRE(CountAccesses(problem, hardware, back, {ReuseForm::kReuse, 0}, &after,
                        &scratch.diagnostic) == Status::kOk);
  CHECK(memcmp(&before, &after, sizeof before) == 0);
}

TEST_CASE("directives: random nests come back from their text with equal counts") {
  Rng rng(15);
  for (int i = 0; i < 2000; ++i) {
    const MappingProblem problem = RandomProblem(&rng);
    Machine machine;
    RandomMachine(&rng, &machine);
    machine.Finish();
    LoopNest nest;
    RandomNest(&rng, problem, machine.hardware, &nest);
    RoundTrip(problem, machine.hardware, nest);
  }
}

TEST_CASE("directives: mapped layers come back from their text") {
  Machine edge;
  MakeKaplaEdge(&edge);
  const char* names[] = {"REGF", "GBUF", "DRAM"};
  for (int l = 0; l < 3; ++l) edge.levels[l].name = T(names[l]);
  const std::vector<NetworkLayer> layers = ReadNetwork("mobilenet", 1);
  if (layers.empty()) {
    MESSAGE("skipped: no mobilenet.json");
    return;
  }
  for (const NetworkLayer& layer : layers) {
    Scratch scratch;
    Budget budget;
    MappedNest mapped;
    REQUIRE(MapKapla({layer.problem, edge.hardware, KaplaOptions{}}, &budget,
                     &scratch.arena, &mapped, &scratch.diagnostic) == Status::kOk);
    RoundTrip(layer.problem, edge.hardware, mapped.nest);
  }
}

}  // namespace
}  // namespace sluice
