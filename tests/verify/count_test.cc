// SPDX-License-Identifier: Apache-2.0
// What the judge counts for single instructions; report_test.cc tests the whole report.
#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

TEST_CASE("count: a convolution's work, tiles, layers and scratchpad bytes") {
  const Case c = ConvCase();
  const sluice::VerifiedCounts v = Judge(c).counts;
  CHECK(v.tiles == 4);
  CHECK(v.instructions == 14);
  CHECK(v.layers == 1);
  CHECK(v.host_layers == 0);
  CHECK(v.vector_ops == 0);
  CHECK(v.link_bytes == 0);
  // Each loaded byte is written to the scratchpad once, each stored one read once.
  CHECK(v.pad_write_bytes == c.report.dram_read_bytes);
  CHECK(v.pad_read_bytes == c.report.dram_write_bytes);
  CHECK(v.tile_write_bytes == c.report.dram_write_bytes);
}

TEST_CASE("count: partial sums are written by the first tile and read by the last") {
  const sluice::VerifiedCounts v = Judge(AccumulateCase()).counts;
  const sluice::VerifiedCounts whole = Judge(AddCase()).counts;
  const uint64_t sums = 2 * 2 * 8 * 4;
  CHECK(v.tiles == 2);
  CHECK(v.macs == 4 * 8 * 16);
  CHECK(v.pad_read_bytes == 32 + sums);
  CHECK(v.tile_write_bytes == 32 + sums);
  CHECK(whole.macs == 0);
  CHECK(whole.vector_ops == 2 * 4 * 4 * 8);
}

TEST_CASE("count: a HOST call's cycles and bytes, its layer once") {
  const sluice::VerifiedCounts v = Judge(GatherHostCase()).counts;
  CHECK(v.host_layers == 1);
  CHECK(v.host_cycles > 0);
  CHECK(v.host_read_bytes > 0);
  CHECK(v.host_write_bytes > 0);
  CHECK(v.host_macs == 0);
  CHECK(v.layers == 2);
}

TEST_CASE("count: bytes cross the links of a mesh, and each node's copy is written") {
  const sluice::VerifiedCounts v = Judge(NodesCase()).counts;
  CHECK(v.link_bytes > 0);
  // One input on two nodes, one on one node and, sent on, on the other.
  CHECK(v.pad_write_bytes == 2 * 64 + 64 + 64);
}

TEST_CASE("count: a layer that the host runs twice counts once") {
  Case c = GatherHostCase();
  c.stream.blocks[0].Append(kHostEngine, SLUICE_OPCODE_HOST, 0, 0, {});
  const sluice::VerifiedCounts v = Judge(c).counts;
  CHECK(v.host_layers == 1);
  CHECK(v.layers == 2);
  CHECK(v.host_cycles == 200);
}

}  // namespace
}  // namespace sluice_test
