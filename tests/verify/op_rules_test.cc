// SPDX-License-Identifier: Apache-2.0
// The judge's table of operators, compared with a second reading of ops.h.
#include "verify/op_rules.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace sluice_test {
namespace {

using sluice::judge::Deed;
using sluice::judge::DeedOf;
using sluice::judge::Has;
using sluice::judge::kChannelwise;
using sluice::judge::kKeepsPlaces;
using sluice::judge::kPlainSecond;
using sluice::judge::kProduct;
using sluice::judge::kTakesPads;
using sluice::judge::RuleOf;
using sluice::judge::Windows;
using sluice::judge::Work;
using sluice::judge::WorkOf;

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

std::string NameOf(int op) {
  return sluice::OpName(static_cast<uint16_t>(op)) + (" (" + std::to_string(op) + ")");
}

// Which codes are in one of the two sets alone; "" if none is.
std::string Difference(const std::set<int>& found, const std::set<int>& listed) {
  std::string text;
  for (const int op : found) {
    if (listed.count(op) == 0) text += NameOf(op) + " is missing in the list; ";
  }
  for (const int op : listed) {
    if (found.count(op) == 0) text += NameOf(op) + " is listed, its row says no; ";
  }
  return text;
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

std::set<int> CodesOf(Work work) {
  std::set<int> codes;
  for (int op = 0; op <= SLUICE_OP_COUNT; ++op) {
    if (WorkOf(Of(op)) == work) codes.insert(op);
  }
  return codes;
}

TEST_CASE(
    "op rules: views, what the DMA and the host do, and that the rest makes tiles") {
  CHECK(Difference(
            CodesOf(Work::kView),
            std::set<int>{SLUICE_OP_CONCAT, SLUICE_OP_SLICE, SLUICE_OP_RESHAPE}) == "");
  CHECK(Difference(CodesOf(Work::kGather), std::set<int>{SLUICE_OP_GATHER}) == "");
  CHECK(Difference(CodesOf(Work::kAppend), std::set<int>{SLUICE_OP_STATE_APPEND}) ==
        "");
  CHECK(Difference(CodesOf(Work::kHost), std::set<int>{SLUICE_OP_OPAQUE}) == "");
  CHECK(Difference(CodesOf(Work::kUnknown), std::set<int>{0, SLUICE_OP_COUNT}) == "");
  CHECK(CodesOf(Work::kTiles).size() == SLUICE_OP_COUNT - 7);
}

std::set<int> CodesOf(Windows windows) {
  std::set<int> codes;
  for (int op = 0; op <= SLUICE_OP_COUNT; ++op) {
    if (RuleOf(Of(op)).windows == windows) codes.insert(op);
  }
  return codes;
}

TEST_CASE("op rules: windows of filters, of errors and of pools") {
  CHECK(Difference(CodesOf(Windows::kFilters),
                   std::set<int>{SLUICE_OP_CONV, SLUICE_OP_DEPTHWISE_CONV,
                                 SLUICE_OP_TRANSPOSED_CONV}) == "");
  CHECK(Difference(CodesOf(Windows::kErrors),
                   std::set<int>{SLUICE_OP_WEIGHT_GRADIENT}) == "");
  CHECK(Difference(CodesOf(Windows::kPool),
                   std::set<int>{SLUICE_OP_MAX_POOL, SLUICE_OP_AVERAGE_POOL,
                                 SLUICE_OP_MAX_POOL_GRADIENT}) == "");
}

TEST_CASE("op rules: products, layers that keep places, second inputs of one type") {
  CHECK(Difference(Codes([](const sluice::Layer& l) { return Has(l, kProduct); }),
                   std::set<int>{SLUICE_OP_CONV, SLUICE_OP_DEPTHWISE_CONV,
                                 SLUICE_OP_FULLY_CONNECTED, SLUICE_OP_BATCH_MATMUL}) ==
        "");
  CHECK(Difference(Codes([](const sluice::Layer& l) { return Has(l, kKeepsPlaces); }),
                   std::set<int>{
                       SLUICE_OP_ADD, SLUICE_OP_SUB, SLUICE_OP_MUL, SLUICE_OP_MINIMUM,
                       SLUICE_OP_MAXIMUM, SLUICE_OP_REQUANTIZE, SLUICE_OP_LOOKUP,
                       SLUICE_OP_SOFTMAX, SLUICE_OP_LAYER_NORM, SLUICE_OP_RMS_NORM,
                       SLUICE_OP_RESHAPE, SLUICE_OP_TRANSPOSE, SLUICE_OP_RELU_GRADIENT,
                       SLUICE_OP_HARD_SWISH, SLUICE_OP_PRELU}) == "");
  CHECK(Difference(
            Codes([](const sluice::Layer& l) { return Has(l, kPlainSecond); }),
            std::set<int>{SLUICE_OP_LOOKUP, SLUICE_OP_SOFTMAX, SLUICE_OP_LAYER_NORM,
                          SLUICE_OP_RMS_NORM, SLUICE_OP_GATHER}) == "");
}

TEST_CASE("op rules: only convolutions take the PAD in front, one of them by channel") {
  CHECK(Difference(Codes([](const sluice::Layer& l) { return Has(l, kTakesPads); }),
                   std::set<int>{SLUICE_OP_CONV, SLUICE_OP_DEPTHWISE_CONV}) == "");
  CHECK(Difference(Codes([](const sluice::Layer& l) { return Has(l, kChannelwise); }),
                   std::set<int>{SLUICE_OP_DEPTHWISE_CONV}) == "");
}

TEST_CASE("op rules: elements are read from one input or from two") {
  CHECK(
      Difference(Codes([](const sluice::Layer& l) { return RuleOf(l).elements == 1; }),
                 std::set<int>{SLUICE_OP_REQUANTIZE, SLUICE_OP_HARD_SWISH}) == "");
  CHECK(
      Difference(Codes([](const sluice::Layer& l) { return RuleOf(l).elements == 2; }),
                 std::set<int>{SLUICE_OP_ADD, SLUICE_OP_SUB, SLUICE_OP_MUL,
                               SLUICE_OP_MINIMUM, SLUICE_OP_MAXIMUM,
                               SLUICE_OP_RELU_GRADIENT, SLUICE_OP_PRELU}) == "");
  CHECK(Difference(Codes([](const sluice::Layer& l) {
                     return (RuleOf(l).elements != 0) != (DeedOf(l) == Deed::kElements);
                   }),
                   {}) == "");
}

}  // namespace
}  // namespace sluice_test
