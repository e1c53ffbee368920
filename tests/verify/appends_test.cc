// SPDX-License-Identifier: Apache-2.0
// STATE_APPEND: every row is stored once, through the slot that moves with the
// position.
#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

TEST_CASE("appends: rows that are stored one by one are accepted and counted") {
  const Verdict v = Judge(AppendCase());
  INFO(v.rule << ": " << v.message);
  REQUIRE(v.status == sluice::Status::kOk);
  CHECK(v.counts.dram_read_bytes == 8);
  CHECK(v.counts.dram_write_bytes == 16);
  CHECK(v.counts.peak_buffer_bytes == 16);
}

TEST_CASE("appends: a row twice, a row missing, a row of the wrong bytes") {
  Case c = AppendCase();
  Transfer(&c, 2) = Transfer(&c, 1);
  CheckRejected(c, "append", "instance 0, instruction 2: appends rows twice");
  c = AppendCase();
  Drop(&c, kDma, 3);
  c.report.dram_write_bytes = 12;
  CheckRejected(c, "output", "tensor 0 is not complete at its place at the end");
  c = AppendCase();
  Transfer(&c, 2).src = Transfer(&c, 1).src;  // the first row in place of the second
  CheckRejected(c, "content");
}

TEST_CASE("appends: rows elsewhere than at the position are refused") {
  Case c = AppendCase();
  c.stream.bindings[6].base_lo = 8;  // two positions too far for any value
  CheckRejected(c, "append",
                "instance 0, instruction 1: stores outside this layer's rows");
  c = AppendCase();
  c.stream.patches[0].step_lo = 8;
  CheckRejected(
      c, "patch",
      "instance 0, instruction 1: the patch moves differently from this state's rows");
}

TEST_CASE("appends: a state that nothing appends to stays as it is") {
  Case c = AppendCase();
  c.graph.tensors.push_back({{1, 1, 1, 4}, SLUICE_DTYPE_INT8, 4, 0, 0});
  c.places.push_back(PlaceAt(SLUICE_REGION_STATE, 32, {1, 1, 1, 4}, SLUICE_DTYPE_INT8));
  c.stream.region_bytes[SLUICE_REGION_STATE] = 36;
  CheckAccepted(c);
  Operand(&c, Transfer(&c, 2).dst).offset_lo = 32;
  CheckRejected(
      c, "append",
      "instance 0, instruction 2: stores outside the states that have an append");
}

TEST_CASE(
    "appends: a slot that moves is for stores, and the state only for such slots") {
  Case c = AppendCase();
  Operand(&c, Transfer(&c, 0).src).slot = 6;
  CheckRejected(c, "patch",
                "instance 0, instruction 0: a patched slot may only be stored to");
  c = AppendCase();
  Operand(&c, Transfer(&c, 1).dst).slot = 4;
  CheckRejected(c, "patch",
                "instance 0, instruction 1: stores to the state without a patch");
}

}  // namespace
}  // namespace sluice_test
