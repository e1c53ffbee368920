// SPDX-License-Identifier: Apache-2.0
// The judge's table of operators, compared with a second reading of ops.h.
#include "verify/op_rules.h"

#include <doctest/doctest.h>

#include <set>

namespace sluice_test {
namespace {

using sluice::judge::Deed;
using sluice::judge::DeedOf;
using sluice::judge::IsView;
using sluice::judge::RuleOf;

sluice::Layer Of(int op) {
  sluice::Layer layer = {};
  layer.op = static_cast<uint16_t>(op);
  return layer;
}

std::set<int> Codes(bool (*holds)(const sluice::Layer&)) {
  std::set<int> codes;
  for (int op = 0; op <= SLUICE_OP_COUNT; ++op) {
    if (holds(Of(op))) codes.insert(op);
  }
  return codes;
}

TEST_CASE("op rules: every code of ops.h has its own row, others are unknown") {
  for (int op = 1; op < SLUICE_OP_COUNT; ++op) {
    CAPTURE(op);
    CHECK(RuleOf(Of(op)).op == op);
    CHECK(DeedOf(Of(op)) != Deed::kUnknown);
  }
  for (const int op : {0, int{SLUICE_OP_COUNT}, 0xffff}) {
    CHECK(DeedOf(Of(op)) == Deed::kUnknown);
  }
}

TEST_CASE("op rules: views, and what the DMA and the host do") {
  CHECK(Codes(IsView) ==
        std::set<int>{SLUICE_OP_CONCAT, SLUICE_OP_SLICE, SLUICE_OP_RESHAPE});
  CHECK(DeedOf(Of(SLUICE_OP_GATHER)) == Deed::kGather);
  CHECK(DeedOf(Of(SLUICE_OP_STATE_APPEND)) == Deed::kAppend);
  CHECK(DeedOf(Of(SLUICE_OP_OPAQUE)) == Deed::kHost);
}

TEST_CASE("op rules: only convolutions take the PAD in front, one of them by channel") {
  CHECK(Codes([](const sluice::Layer& l) { return RuleOf(l).takes_pads; }) ==
        std::set<int>{SLUICE_OP_CONV, SLUICE_OP_DEPTHWISE_CONV});
  CHECK(Codes([](const sluice::Layer& l) { return RuleOf(l).channelwise; }) ==
        std::set<int>{SLUICE_OP_DEPTHWISE_CONV});
}

TEST_CASE("op rules: elements are read from one input or from two") {
  CHECK(Codes([](const sluice::Layer& l) { return RuleOf(l).elements == 1; }) ==
        std::set<int>{SLUICE_OP_REQUANTIZE, SLUICE_OP_HARD_SWISH});
  CHECK(Codes([](const sluice::Layer& l) { return RuleOf(l).elements == 2; }) ==
        std::set<int>{SLUICE_OP_ADD, SLUICE_OP_SUB, SLUICE_OP_MUL, SLUICE_OP_MINIMUM,
                      SLUICE_OP_MAXIMUM, SLUICE_OP_RELU_GRADIENT, SLUICE_OP_PRELU});
  CHECK(Codes([](const sluice::Layer& l) {
          return (RuleOf(l).elements != 0) != (DeedOf(l) == Deed::kElements);
        }).empty());
}

}  // namespace
}  // namespace sluice_test
