// SPDX-License-Identifier: Apache-2.0
// Rows of the planners' table of operators: their columns must not contradict each
// other.
#include "model/ops/traits.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

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
    // Compute layers, which tiles execute, have work; other layers have none.
    CHECK((t.work != Work::kNoWork) == (t.kind == LayerKind::kCompute));
    CHECK((t.role[0] == kRoleInput0) == (t.kind == LayerKind::kCompute));
    // The form counts MACs, ops_per_output counts other work.
    CHECK((t.work != Work::kMacs || t.ops_per_output == 0));
    // Operators with a loop nest per element sum nothing; sums in pieces are sums of
    // MACs.
    CHECK((t.nest != NestRule::kPerElement || t.sum == SumRule::kNoSum));
    CHECK((t.sum == SumRule::kNoSum || t.work == Work::kMacs));
    // A copy may always become a view. A PAD that may fold into its convolution is no
    // copy: it is computed where it does not fold.
    CHECK((t.kind == LayerKind::kCopy) ==
          (t.view != ViewRule::kNever && t.view != ViewRule::kFolds));
    // A role for each input.
    for (size_t i = 0; i < kMaxRoles; ++i) {
      if (t.kind != LayerKind::kCompute) continue;
      CHECK((t.role[i] != kNoRole) == (i < t.most_inputs));
    }
  }
}

TEST_CASE("traits: windows lie over the output of two operators alone") {
  for (uint16_t op = 1; op < SLUICE_OP_COUNT; ++op) {
    CAPTURE(op);
    CHECK(TraitsOf(op).scatters ==
          (op == SLUICE_OP_TRANSPOSED_CONV || op == SLUICE_OP_MAX_POOL_GRADIENT));
  }
}

TEST_CASE("traits: which loop nest an operator has") {
  const auto nest = [](int op) { return TraitsOf(static_cast<uint16_t>(op)).nest; };
  CHECK(nest(SLUICE_OP_CONV) == NestRule::kConv);
  CHECK(nest(SLUICE_OP_DEPTHWISE_CONV) == NestRule::kConv);
  CHECK(nest(SLUICE_OP_TRANSPOSED_CONV) == NestRule::kTransposed);
  CHECK(nest(SLUICE_OP_FULLY_CONNECTED) == NestRule::kRows);
  CHECK(nest(SLUICE_OP_BATCH_MATMUL) == NestRule::kMatmul);
  CHECK(nest(SLUICE_OP_WEIGHT_GRADIENT) == NestRule::kGradient);
  CHECK(nest(SLUICE_OP_MAX_POOL) == NestRule::kPool);
  CHECK(nest(SLUICE_OP_AVERAGE_POOL) == NestRule::kPool);
  CHECK(nest(SLUICE_OP_PRELU) == NestRule::kPerElement);
  CHECK(nest(SLUICE_OP_SOFTMAX) == NestRule::kNoNest);
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

// A layer that has only an operator and attributes.
struct Bare {
  Bare(uint16_t op, std::vector<int32_t> values) : attributes(std::move(values)) {
    layer.op = op;
    layer.attributes = {attributes.data(), attributes.size()};
  }
  std::vector<int32_t> attributes;
  Layer layer = {};
};

std::vector<int32_t> At(size_t index, int32_t value) {
  std::vector<int32_t> attributes(index + 1);
  attributes[index] = value;
  return attributes;
}

TEST_CASE("traits: groups, layouts and channelwise layers by their attributes") {
  const auto groups = [](uint16_t op, int32_t value) {
    return GroupsOf(Bare(op, At(SLUICE_CONV_GROUPS, value)).layer);
  };
  CHECK(groups(SLUICE_OP_CONV, 4) == 4);
  CHECK(groups(SLUICE_OP_CONV, 0) == 1);
  CHECK(groups(SLUICE_OP_WEIGHT_GRADIENT, 3) == 3);
  CHECK(groups(SLUICE_OP_DEPTHWISE_CONV, 4) == 1);
  CHECK(GroupsOf(Bare(SLUICE_OP_ADD, {}).layer) == 1);
  const Bare layout(SLUICE_OP_TRANSPOSED_CONV,
                    At(SLUICE_CONV_WEIGHT_LAYOUT, SLUICE_WEIGHT_LAYOUT_DEPTHWISE));
  CHECK(WeightLayoutOf(layout.layer) == SLUICE_WEIGHT_LAYOUT_DEPTHWISE);
  CHECK(IsChannelwise(layout.layer));
  CHECK_FALSE(IsChannelwise(Bare(SLUICE_OP_TRANSPOSED_CONV, {}).layer));
  CHECK(IsChannelwise(Bare(SLUICE_OP_DEPTHWISE_CONV, {}).layer));
  const Bare other(SLUICE_OP_CONV, layout.attributes);
  CHECK(WeightLayoutOf(other.layer) == SLUICE_WEIGHT_LAYOUT_OWN);
  CHECK_FALSE(IsChannelwise(other.layer));
}

TEST_CASE("traits: which cuts of the output cut the inputs") {
  const Bare transpose(SLUICE_OP_TRANSPOSE, {0, 2, 1, 3});
  CHECK(InputAxisOf(transpose.layer, 1) == 2);
  CHECK(FollowingAxes(transpose.layer, kRoleInput0) == 1);  // N alone stays in place
  const Bare matmul(SLUICE_OP_BATCH_MATMUL, {});
  CHECK(InputAxisOf(matmul.layer, 2) == 2);
  CHECK(FollowingAxes(matmul.layer, kRoleInput0) == 7);
  CHECK(FollowingAxes(matmul.layer, kRoleInput1) == 3);  // not by rows of the result
  const Bare reduce(SLUICE_OP_REDUCE, {6});
  CHECK(ReducedAxes(reduce.layer) == 6);
  CHECK(FollowingAxes(reduce.layer, kRoleInput0) == 1);
  const Bare argmax(SLUICE_OP_ARGMAX, {});
  CHECK(ReducedAxes(argmax.layer) == 8);
  CHECK(FollowingAxes(argmax.layer, kRoleInput0) == 7);
  const Bare gradient(SLUICE_OP_WEIGHT_GRADIENT, {});
  CHECK(ReducedAxes(gradient.layer) == 0);
  CHECK(FollowingAxes(gradient.layer, kRoleInput0) == 0);
}

TEST_CASE("traits: the sums of grouped convolutions stay whole") {
  CHECK(MaySplitSum(Bare(SLUICE_OP_CONV, {}).layer));
  CHECK_FALSE(MaySplitSum(Bare(SLUICE_OP_CONV, At(SLUICE_CONV_GROUPS, 2)).layer));
  CHECK(MaySplitSum(Bare(SLUICE_OP_WEIGHT_GRADIENT, At(SLUICE_CONV_GROUPS, 2)).layer));
  CHECK(MaySplitSum(Bare(SLUICE_OP_FULLY_CONNECTED, {}).layer));
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
    // CheckLayer refuses an unknown operator, too, in a graph changed after reading.
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
