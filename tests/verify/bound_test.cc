// SPDX-License-Identifier: Apache-2.0
// The judge's own bounds, compared with values worked out by hand.
#include "verify/bound.h"

#include <doctest/doctest.h>

#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

sluice::judge::LeastCosts LeastOf(const OwnJudge& own,
                                  const sluice::VerifiedCounts& counts = {}) {
  sluice::judge::LeastCosts least = {};
  REQUIRE(FindLeastCosts(own.judge, counts, &least) == sluice::Status::kOk);
  return least;
}

TEST_CASE(
    "bound: a convolution takes its work, its bytes, and its first and last move") {
  OwnJudge own{ConvCase()};
  const sluice::Hardware& h = own.judged.hardware;
  const double work = 256.0 * 3 * 3 * 8;  // 8x4 pixels of 8 channels
  const double read = 256 + 576 + 96, written = 256;
  const double bytes = read + written;
  const double rate = static_cast<double>(h.dram().bandwidth.numerator) /
                      static_cast<double>(h.dram().bandwidth.denominator);
  const double wait = static_cast<double>(h.dma_latency_cycles);
  const double compute = work / static_cast<double>(h.macs_per_cycle) + 2 * (wait + 1);
  const double port = bytes / rate + 4 * wait;  // three loads, a store
  const sluice::judge::LeastCosts least = LeastOf(own);
  const double cycles = compute > port ? compute : port;
  CHECK(static_cast<double>(least.cycles) >= cycles);
  CHECK(static_cast<double>(least.cycles) < cycles + 1);
  const double pad = h.scratchpad().read_pj_per_bit + h.scratchpad().write_pj_per_bit;
  CHECK(least.energy_pj >= work * h.mac_pj);
  CHECK(least.energy_pj <=
        work * h.mac_pj +
            8 * bytes * (pad + h.dram().read_pj_per_bit + h.dram().write_pj_per_bit) +
            1e-6);
}

TEST_CASE("bound: the host's calls take what the stream's do") {
  OwnJudge own{GatherHostCase()};
  sluice::VerifiedCounts counts = {};
  counts.host_cycles = 1000000;
  CHECK(LeastOf(own, counts).cycles == 1000000);
  counts.host_hold = 50;
  CHECK(LeastOf(own, counts).cycles == 1000050);
}

}  // namespace
}  // namespace sluice_test
