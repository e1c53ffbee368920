// SPDX-License-Identifier: Apache-2.0
// A library that takes over nothing follows every instruction, and says of loops what the
// whole one says (tests/verify/repeats).
#include "verify/repeats/repeats.h"

#include <doctest/doctest.h>

#include "verify/chain_case.h"

namespace sluice_test {
namespace {

TEST_CASE("repeats: a library without them says the same of three loops") {
  const Verdict apart = JudgeChain(100, 3200, 32), right = JudgeChain(100, 320, 32);
  CheckChain(apart);
  CHECK(apart.counts.followed == 900);
  CheckChain(right);
  CHECK(right.counts.followed == 900);
  CheckLostRow(JudgeChain(100, 320, 64));
}

}  // namespace
}  // namespace sluice_test
