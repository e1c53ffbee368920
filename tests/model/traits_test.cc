// SPDX-License-Identifier: Apache-2.0
// Rows of the planners' table of operators against what they must agree in.
#include "model/ops/traits.h"

#include <doctest/doctest.h>

#include "support/read_graph.h"

namespace sluice {
namespace {

TEST_CASE("traits: every operator of ops.h has a row that says what it is") {
  for (uint16_t op = 1; op < SLUICE_OP_COUNT; ++op) {
    CAPTURE(OpName(op));
    const OpTraits& t = TraitsOf(op);
    CHECK(t.op == op);
    CHECK(IsKnownOp(op));
    CHECK(t.kind != LayerKind::kUnknown);
    CHECK((t.most_inputs == 0 || t.least_inputs <= t.most_inputs));
    // Work is done by tiles, and by tiles alone.
    CHECK((t.work != Work::kNoWork) == (t.kind == LayerKind::kCompute));
    CHECK((t.role[0] == kRoleInput0) == (t.kind == LayerKind::kCompute));
    // MACs are counted by the form.
    CHECK((t.work != Work::kMacs || t.ops_per_output == 0));
    // What has a loop nest per element has no sum; what sums in pieces does MACs.
    CHECK((t.nest != NestRule::kPerElement || t.sum == SumRule::kNoSum));
    CHECK((t.sum == SumRule::kNoSum || t.work == Work::kMacs));
    // Copies are views or nothing; a folding PAD is computed where it does not fold.
    CHECK((t.kind == LayerKind::kCopy) ==
          (t.view != ViewRule::kNever && t.view != ViewRule::kFolds));
    // As many roles as inputs that a tile must have.
    for (size_t i = 0; i < kMaxRoles; ++i) {
      if (t.kind != LayerKind::kCompute) continue;
      CHECK((t.role[i] != kNoRole) == (i < t.most_inputs));
    }
  }
}

TEST_CASE("traits: unknown codes have no kind, no work and no name") {
  for (const int code : {0, int{SLUICE_OP_COUNT}, SLUICE_OP_COUNT + 1, 0xffff}) {
    const uint16_t op = static_cast<uint16_t>(code);
    CAPTURE(op);
    CHECK_FALSE(IsKnownOp(op));
    CHECK(KindOf(op) == LayerKind::kUnknown);
    CHECK(TraitsOf(op).work == Work::kNoWork);
    CHECK(TraitsOf(op).needs == NeedRule::kNothing);
    CHECK(TraitsOf(op).reach == Reach::kUnknown);
    CHECK(TraitsOf(op).nest == NestRule::kNoNest);
    CHECK(std::string(OpName(op)) == "unknown");
  }
}

TEST_CASE("traits: a reader refuses unknown codes and more attributes than there are") {
  for (const int code : {0, int{SLUICE_OP_COUNT}, 0xffff}) {
    CAPTURE(code);
    sluice_test::GraphSpec spec;
    spec.tensors = {{{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 1, 0, 0},
                    {{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 2, 0, 0}};
    spec.layers = {{static_cast<uint16_t>(code), {0}, {1}, {}}};
    sluice_test::Nouns memory{[] {
      sluice_test::GraphSpec good;
      good.tensors = {{{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 1, 0, 0},
                      {{128}, SLUICE_DTYPE_INT8, 2, 0, 0}};
      good.layers = {{SLUICE_OP_RESHAPE, {0}, {1}, {}}};
      return good;
    }()};
    const sluice_test::Bytes bytes = sluice_test::GraphBytes(spec);
    Graph graph = {};
    Diagnostic diagnostic = {};
    CHECK(ReadGraph(bytes.data(), bytes.size(), &memory.arena, &graph, &diagnostic) ==
          Status::kBadInput);
    CHECK(std::string(diagnostic.message) ==
          "layer 0 has unknown op " + std::to_string(code));
    // A graph that was not read: the rules of one layer refuse it too.
    auto* layer = const_cast<Layer*>(memory.graph.layers.data());
    layer->op = static_cast<uint16_t>(code);
    CHECK(CheckLayer(memory.graph, 0, &diagnostic) == Status::kUnsupported);
    layer->op = SLUICE_OP_RESHAPE;
    CHECK(CheckLayer(memory.graph, 0, &diagnostic) == Status::kOk);
    const int32_t one = 0;
    layer->attributes = Span<const int32_t>(&one, 1);
    CHECK(CheckLayer(memory.graph, 0, &diagnostic) == Status::kBadInput);
  }
}

}  // namespace
}  // namespace sluice
