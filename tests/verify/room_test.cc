// SPDX-License-Identifier: Apache-2.0
// The judge's own bound by room, for one convolution.
#include "verify/room.h"

#include <doctest/doctest.h>

#include <vector>

#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

// Nothing is made before the only layer's first tile, so all bytes of the layer pass the
// port behind it, but those that fit.
TEST_CASE("room: what does not fit passes the port behind the first tile") {
  OwnJudge own(ConvCase());
  const sluice::judge::Judge& judge = own.judge;
  sluice::judge::LeastCosts least = {};
  REQUIRE(FindLeastCosts(judge, {}, &least) == sluice::Status::kOk);
  sluice::judge::LeastOfLayer all;
  for (const auto& layer : least.layers) Add(layer, &all);
  const double bytes = all.constants + all.loaded + all.stored;
  std::vector<uint8_t> uses(judge.graph.tensors.size(), sluice::judge::kLoaded);
  for (const double fits : {1.0, bytes / 2, bytes}) {
    CAPTURE(fits);
    double cycles = 0;
    REQUIRE(LeastByRoom(judge, {least.layers, {uses.data(), uses.size()}, 7, fits},
                        &cycles) == sluice::Status::kOk);
    const double port =
        sluice::judge::CyclesAt(judge.hardware.dram().bandwidth, bytes - fits);
    CHECK(cycles == (fits < bytes ? 7 + port : 0));
    // Where zero cycles are enough, no layer is looked at.
    cycles = 0;
    REQUIRE(LeastByRoom(judge, {least.layers, {uses.data(), uses.size()}, 7, fits, 0},
                        &cycles) == sluice::Status::kOk);
    CHECK(cycles == 0);
  }
}

}  // namespace
}  // namespace sluice_test
