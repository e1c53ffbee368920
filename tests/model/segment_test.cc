// SPDX-License-Identifier: Apache-2.0
#include "model/segment.h"

#include <doctest/doctest.h>

namespace sluice {
namespace {

TEST_CASE("segment: costs add field by field, their energy is the sum of the parts") {
  const SegmentCost one = {1, 2, 4, 8, 16, 32, 64, 1000, 5, 6, 7};
  SegmentCost sum = {128, 256, 512, 1024, 2048, 4096, 8192, -1, 10, 20, 30};
  AddCost(one, &sum);
  CHECK(sum.operations_pj == 129);
  CHECK(sum.registers_pj == 258);
  CHECK(sum.transfer_pj == 516);
  CHECK(sum.scratchpad_pj == 1032);
  CHECK(sum.dram_pj == 2064);
  CHECK(sum.noc_pj == 4128);
  CHECK(sum.leakage_pj == 8256);
  CHECK(sum.energy_pj == 129 * 127);  // 1000 and -1 are left out
  CHECK(sum.cycles == 15);
  CHECK(sum.dram_read_bytes == 26);
  CHECK(sum.dram_write_bytes == 37);
}

}  // namespace
}  // namespace sluice
