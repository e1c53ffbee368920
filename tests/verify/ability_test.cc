// SPDX-License-Identifier: Apache-2.0
// The static judge: engines do only what the machine can do, and the host only what it
// cannot.
#include "verify/ability.h"

#include "judged_case.h"
#include "support/host_case.h"

namespace sluice_test {
namespace {

TEST_CASE("ability: a tile or a gather that the machine cannot do is refused") {
  Case c = ConvCase();
  c.hardware.ops = {{SLUICE_OP_CONV}};
  CheckAccepted(c);
  c.hardware.ops[0].arithmetic = 2;
  CheckRejected(c, "ability");
  c.hardware.ops = {{SLUICE_OP_DEPTHWISE_CONV}};
  CheckRejected(c, "ability");
  c.hardware.host = HostSpec{};
  CheckRejected(c, "ability");
}

TEST_CASE("ability: a host call that the machine needs is accepted") {
  CheckAccepted(HostAddCase());
}

TEST_CASE("ability: a host call of what the machine does is refused") {
  Case c = HostAddCase();
  c.hardware.ops.push_back({SLUICE_OP_MINIMUM});
  CheckRejected(c, "ability");
  c = HostAddCase();
  c.hardware.ops.clear();
  CheckRejected(c, "ability");
  c = HostAddCase();
  c.hardware.host.reset();
  CheckRejected(c, "ability");
}

TEST_CASE("ability: a host call says why, and takes what it takes") {
  Case c = HostAddCase();
  HostCall(&c).why = SLUICE_WHY_DTYPE;
  CheckRejected(c, "ability");
  c = HostAddCase();
  c.hardware.ops.push_back({SLUICE_OP_MINIMUM});
  c.hardware.ops.back().dtypes = 4;
  CheckRejected(c, "ability");
  HostCall(&c).why = SLUICE_WHY_DTYPE;
  CheckAccepted(c);
  HostCall(&c).why = SLUICE_WHY_COUNT;
  CheckRejected(c, "structure");
  c = HostAddCase();
  HostCall(&c).reserved = 1;
  CheckRejected(c, "structure");
  c = HostAddCase();
  --HostCall(&c).cycles_lo;
  CheckRejected(c, "cycles");
  c = HostAddCase();
  ++HostCall(&c).cycles_lo;
  CheckAccepted(c);
  c = HostAddCase();
  --HostCall(&c).inputs;
  CheckRejected(c, "tile");
}

}  // namespace
}  // namespace sluice_test
