// SPDX-License-Identifier: Apache-2.0
// The judge's own bounds, compared with values worked out by hand.
#include "verify/bound.h"

#include <doctest/doctest.h>

#include <vector>

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

// In a scratchpad of 64 bytes the convolution's other bytes pass the port behind its first
// tile.
TEST_CASE("bound: room counts where a certificate needs it, and whole where refused") {
  OwnJudge own{ConvCase()};
  sluice::Hardware& h = own.judged.hardware;
  std::vector<sluice::MemoryLevel> levels(h.levels.begin(), h.levels.end());
  levels[h.scratchpad_level].capacity_bytes = 64;
  h.levels = {levels.data(), levels.size()};
  const auto asked = [&](double enough, uint64_t room_cycles) {
    own.judged.plan.certificate.room_cycles = room_cycles;
    sluice::judge::LeastCosts least = {};
    least.enough = enough;
    REQUIRE(FindLeastCosts(own.judge, {}, &least) == sluice::Status::kOk);
    return least;
  };
  const sluice::judge::LeastCosts all = LeastOf(own);
  const double cycles = static_cast<double>(all.cycles), beyond = all.beyond;
  REQUIRE(beyond > 0);
  REQUIRE(beyond < cycles);
  // Other times reach the bound.
  CHECK(asked(cycles, 0).cycles == all.cycles);
  CHECK(asked(cycles, 0).beyond < beyond);
  // Nothing reaches it, so that all is in the message.
  CHECK(asked(cycles + 1, 0).beyond == beyond);
  // The certificate says that room alone does.
  CHECK(asked(beyond, 1).beyond == beyond);
  CHECK(asked(cycles, 1).beyond == beyond);
  CHECK(asked(cycles, 1).cycles == all.cycles);
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
