// SPDX-License-Identifier: Apache-2.0
#include "verify/verify.h"

#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

TEST_CASE("verify: a double-buffered convolution is accepted and recounted") {
  const Case c = ConvCase();
  const Verdict v = Judge(c);
  INFO(v.rule << ": " << v.message);
  REQUIRE(v.status == sluice::Status::kOk);
  CHECK(v.counts.dram_read_bytes == static_cast<int64_t>(c.report.dram_read_bytes));
  CHECK(v.counts.dram_write_bytes == static_cast<int64_t>(c.report.dram_write_bytes));
  CHECK(v.counts.peak_buffer_bytes == 1056);
}

TEST_CASE("verify: valid streams of other kinds are accepted") {
  SUBCASE("sum in two pieces of C") { CheckAccepted(AccumulateCase()); }
  SUBCASE("two instances with waits across blocks") { CheckAccepted(AddCase()); }
  SUBCASE("concat, slice and reshape as views") { CheckAccepted(ConcatCase()); }
  SUBCASE("gather and host call") { CheckAccepted(GatherHostCase()); }
  SUBCASE("two nodes, multicast, forward, in place") { CheckAccepted(NodesCase()); }
}

TEST_CASE("verify: every single dropped wait that matters is caught") {
  // In each case every wait is needed, except those that another wait implies.
  const Case cases[] = {ConvCase(), AccumulateCase(), ConcatCase(), GatherHostCase(),
                        NodesCase()};
  for (const Case& whole : cases) {
    for (size_t e = 0; e < whole.stream.blocks[0].lists.size(); ++e) {
      for (size_t i = 0; i < whole.stream.blocks[0].lists[e].size(); ++i) {
        const Waits& waits = whole.stream.blocks[0].lists[e][i].waits;
        for (size_t w = 0; w < waits.size(); ++w) {
          Case c = whole;
          Waits& fewer = c.stream.blocks[0].lists[e][i].waits;
          fewer.erase(fewer.begin() + static_cast<long>(w));
          CAPTURE(e);
          CAPTURE(i);
          CheckRejected(c, "order");
        }
      }
    }
  }
}

TEST_CASE("verify: a wait that is weakened by one is caught") {
  Case c = ConvCase();
  At(&c, kCompute, 3).waits[0].count = 5;  // before input 2 has arrived
  CheckRejected(c, "order");
  c = ConvCase();
  At(&c, kDma, 5).waits[0].count = 1;
  CheckAccepted(c);                    // the wait was for one tile already
  At(&c, kDma, 7).waits[0].count = 1;  // output 1 is stored before tile 1 ran
  CheckRejected(c, "order");
}

TEST_CASE("verify: a buffer used again too early is caught") {
  Case c = ConvCase();
  // The load of input 2 overwrites input 0 and does not wait for tile 0.
  std::swap(At(&c, kDma, 5), At(&c, kDma, 6));
  for (ListedInstruction& i : c.stream.blocks[0].lists[kDma]) {
    if (!i.waits.empty() && i.waits[0].count == 1) i.waits.clear();
  }
  CheckRejected(c, "order");
  c = ConvCase();  // tile 2 writes over output 0 while its store may still run
  At(&c, kCompute, 3).waits[0].count = 3;
  CheckRejected(c, "order");
}

TEST_CASE("verify: shifted and swapped buffers are caught") {
  Case c = ConvCase();
  Operand(&c, Tile(&c, 1).input0).offset_lo += 8;
  CheckRejected(c, "content");
  c = ConvCase();
  Operand(&c, Tile(&c, 0).weight).offset_lo += 1;
  CheckRejected(c, "content");
  c = ConvCase();
  std::swap(Tile(&c, 0).input0, Tile(&c, 3).input0);  // both of 3 rows
  CheckRejected(c, "order");
  c = ConvCase();
  Operand(&c, Transfer(&c, 2).dst).offset_lo += 32;
  CheckRejected(c, "content");
  c = ConvCase();
  Operand(&c, Tile(&c, 1).parameters).offset_lo += 2;
  CheckRejected(c, "alignment");
}

TEST_CASE("verify: a report that the stream does not bear out is caught") {
  Case c = ConvCase();
  c.report.dram_read_bytes -= 1;
  CheckRejected(c, "traffic");
  c = ConvCase();
  c.report.dram_write_bytes += 64;
  CheckRejected(c, "traffic");
  Judged judged(ConvCase());
  judged.plan.report.peak_buffer_bytes -= 32;
  CHECK(judged.OfImage(ConvCase().stream.Image()).rule == "report");
}

TEST_CASE("verify: a plan of another graph or other hardware is refused") {
  Judged judged(ConvCase());
  const Bytes image = ConvCase().stream.Image();
  judged.plan.graph_hash ^= 1;
  CHECK(judged.OfImage(image).rule == "structure");
  judged.plan.graph_hash ^= 1;
  judged.plan.hardware_hash ^= 1;
  CHECK(judged.OfImage(image).rule == "structure");
}

TEST_CASE("verify: running out of memory is an answer") {
  Judged judged(ConcatCase());
  const Bytes image = ConcatCase().stream.Image();
  bool refused = false, accepted = false;
  for (uint64_t bytes = 64; bytes < 1 << 20 && !accepted; bytes += 1024) {
    const sluice::Status status = judged.OfImage(image, bytes).status;
    refused = refused || status == sluice::Status::kOutOfMemory;
    accepted = status == sluice::Status::kOk;
    CHECK((accepted || status == sluice::Status::kOutOfMemory));
  }
  CHECK(refused);
  CHECK(accepted);
}

}  // namespace
}  // namespace sluice_test
