// SPDX-License-Identifier: Apache-2.0
#include "model/access.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/rng.h"
#include "tests/model/walk.h"
#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/random_nest.h"

namespace sluice {
namespace {

// A random problem, machine and nest, small enough to walk step by step.
struct Case {
  MappingProblem problem;
  Machine machine;
  LoopNest nest;
  uint32_t resident;
};

std::string Show(const Case& c) {
  std::string text = "extents";
  for (int64_t e : c.problem.extent) text += " " + std::to_string(e);
  for (uint32_t l = 0; l < c.nest.levels; ++l) {
    text += "\nlevel " + std::to_string(l) + " hold " + std::to_string(c.nest.hold[l]) +
            " sliding " + std::to_string(c.machine.levels[l].sliding) + " order";
    for (int i = 0; i < kDims; ++i) {
      const int d = c.nest.order[l][i];
      text += std::string(" ") + "NKCPQRSG"[d] + std::to_string(c.nest.temporal[l][d]);
    }
    for (uint32_t a = 0; a < kMaxAxes; ++a) {
      const Fanout* fanout = FanoutAt(c.machine.hardware, l, a);
      if (fanout == nullptr) break;
      text += " | mrf " + std::to_string(fanout->multicast) +
              std::to_string(fanout->reduction) + std::to_string(fanout->forwarding);
      for (int d = 0; d < kDims; ++d) {
        if (c.nest.spatial[l][a][d] > 1) {
          text += std::string(" ") + "NKCPQRSG"[d] +
                  std::to_string(c.nest.spatial[l][a][d]);
        }
      }
    }
  }
  return text;
}

std::string Difference(const AccessCounts& a, const AccessCounts& b, uint32_t levels) {
  std::string text;
  const auto compare = [&](const std::string& what, int64_t x, int64_t y) {
    if (x != y) {
      text +=
          what + ": model " + std::to_string(x) + ", walk " + std::to_string(y) + "\n";
    }
  };
  for (uint32_t l = 0; l < levels; ++l) {
    const std::string at = "level " + std::to_string(l);
    for (uint32_t v = 0; v < kOperands; ++v) {
      const std::string of = at + " operand " + std::to_string(v);
      compare(of + " reads", a.reads[l][v], b.reads[l][v]);
      compare(of + " writes", a.writes[l][v], b.writes[l][v]);
      compare(of + " transfers", a.transfers[l][v], b.transfers[l][v]);
      compare(of + " forwards", a.forwards[l][v], b.forwards[l][v]);
    }
    compare(at + " instances", a.instances[l], b.instances[l]);
  }
  compare("final writes", a.final_writes, b.final_writes);
  compare("operations", a.operations, b.operations);
  compare("cycles", a.cycles, b.cycles);
  return text;
}

TEST_CASE("access: counts equal those of a walk, step by step, on 12000 random nests") {
  Rng rng(20230615);
  int walked = 0, ragged = 0, sliding = 0, spatial = 0;
  while (walked < 12000) {
    Case c;
    c.problem = RandomProblem(&rng);
    RandomMachine(&rng, &c.machine);
    c.machine.Finish();
    RandomNest(&rng, c.problem, c.machine.hardware, &c.nest);
    c.resident = rng.Below(8) == 0 ? rng.Below(8) : 0;
    c.resident &= c.nest.hold[c.nest.levels - 2];
    int64_t steps = 1, units = 1, nominal = 1;
    for (uint32_t l = 0; l < c.nest.levels; ++l) {
      for (uint32_t d = 0; d < kDims; ++d) {
        steps *= c.nest.temporal[l][d];
        units *= SpatialFactor(c.nest, l, d);
      }
      sliding += c.machine.levels[l].sliding;
    }
    nominal = steps * units;
    if (nominal > 1500) continue;
    Diagnostic diagnostic;
    ClearDiagnostic(&diagnostic);
    const Status valid =
        CheckNest(c.problem, c.machine.hardware, c.nest, c.resident, &diagnostic);
    INFO(diagnostic.message);
    REQUIRE(valid == Status::kOk);
    AccessCounts counts;
    REQUIRE(CountAccesses(c.problem, c.machine.hardware, c.nest,
                          {ReuseForm::kReuse, c.resident}, &counts,
                          &diagnostic) == Status::kOk);
    NestWalk walk(c.problem, c.machine.hardware, c.nest);
    const AccessCounts walked_counts = walk.Run(c.resident);
    const std::string difference = Difference(counts, walked_counts, c.nest.levels);
    if (!difference.empty() || walk.late_opening) {
      INFO(Show(c));
      INFO(difference);
      REQUIRE_FALSE(walk.late_opening);
      REQUIRE(difference.empty());
    }
    ++walked;
    spatial += units > 1;
    ragged += nominal != counts.operations;
  }
  MESSAGE("walked " << walked << " nests, " << ragged << " with smaller last tiles, "
                    << spatial << " with spatial factors");
  CHECK(ragged > 2000);
  CHECK(spatial > 6000);
  CHECK(sliding > 2000);
}

}  // namespace
}  // namespace sluice
