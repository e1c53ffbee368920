// SPDX-License-Identifier: Apache-2.0
// The simulator: engines do only what the machine can do, and the host only what it
// cannot; the host executes the reference kernels.
#include <doctest/doctest.h>

#include "judge_case.h"
#include "support/host_case.h"

namespace sluice_test {
namespace {

void CheckTrap(const Case& c, const std::string& code) {
  for (const bool functional : {false, true}) {
    const auto r = Judge(c, functional);
    CHECK_FALSE(r.ok);
    INFO(r.error);
    CHECK(r.error_code == code);
  }
}

TEST_CASE("ability: the simulator refuses a tile that the machine cannot do") {
  Case c = ConvCase();
  c.hardware.ops = {{SLUICE_OP_CONV}};
  CHECK(Judge(c).ok);
  c.hardware.ops[0].arithmetic = 2;
  CheckTrap(c, "tile");
  c.hardware.ops = {{SLUICE_OP_DEPTHWISE_CONV}};
  CheckTrap(c, "tile");
}

TEST_CASE("ability: the simulator executes a host call, in the cycles it declares") {
  const auto r = Judge(HostAddCase());
  INFO(r.error);
  CHECK(r.ok);
  CHECK(r.compared_bytes == 64);
  CHECK(r.mismatches == 0);
  CHECK(r.cycles == kHostAddCycles);
}

TEST_CASE("ability: the simulator refuses host calls that are not the host's") {
  Case c = HostAddCase();
  c.hardware.ops.push_back({SLUICE_OP_MINIMUM});
  CheckTrap(c, "host");
  c = HostAddCase();
  c.hardware.ops.clear();
  CheckTrap(c, "host");
  c = HostAddCase();
  c.hardware.host.reset();
  CheckTrap(c, "host");
  c = HostAddCase();
  HostCall(&c).why = SLUICE_WHY_DTYPE;
  CheckTrap(c, "host");
  c = HostAddCase();
  --HostCall(&c).cycles_lo;
  CheckTrap(c, "host");
  c = HostAddCase();
  --HostCall(&c).inputs;
  CheckTrap(c, "host");
  c = HostAddCase();
  HostCall(&c).why = SLUICE_WHY_COUNT;
  CheckTrap(c, "stream");
}

}  // namespace
}  // namespace sluice_test
