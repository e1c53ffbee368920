// SPDX-License-Identifier: Apache-2.0
// A plan in the making of a small chain, for tests of the steps that decide its sections.
#ifndef SLUICE_TESTS_PLAN_FUSED_SECTIONED_CASE_H_
#define SLUICE_TESTS_PLAN_FUSED_SECTIONED_CASE_H_

#include <utility>
#include <vector>

#include "plan/fused/cut_sections.h"
#include "plan/fused/decide_section.h"
#include "tests/solve/fusion/lowered.h"

namespace sluice_test {

// A Chain whose layer `host` runs on the host, so that it fuses with no other.
inline GraphSpec ChainWithHost(size_t layers, uint32_t host) {
  GraphSpec g = Chain(layers);
  g.layers[host] = {SLUICE_OP_OPAQUE, {host}, {host + 1}, {100, 0, -1}};
  return g;
}

struct SectionedCase : Lowered {
  explicit SectionedCase(const GraphSpec& spec, int64_t bytes = 4096)
      : Lowered(spec), capacity(bytes) {
    options.struct_size = sizeof options;
    baseline.energy_pj = 1000;
    baseline.latency_cycles = 500;
  }
  // Cuts, and makes the runs of all sections.
  void Open() {
    REQUIRE(sluice::CutIntoSections(&plan) == sluice::Status::kOk);
    for (uint32_t i = 0; i < plan.count; ++i) {
      bool decided = false;
      REQUIRE(sluice::OpenSection(&plan, &plan.sections[i], &decided) ==
              sluice::Status::kOk);
    }
  }
  // First and last layer of each section.
  std::vector<std::pair<uint32_t, uint32_t>> Cuts() const {
    std::vector<std::pair<uint32_t, uint32_t>> cuts;
    for (const sluice::Section& s : plan.all()) cuts.push_back({s.first, s.last});
    return cuts;
  }
  int64_t capacity;
  sluice_schedule_options_t options = {};
  sluice_report_t baseline = {};
  sluice::TileCoster coster = {};
  sluice::Budget budget;
  sluice::FusedCall call{n.graph, n.hardware, lowering, capacity, options, baseline,
                         coster,  {},         0,        false,    {}};
  sluice::SectionedPlan plan{call, &budget, &n.arena};
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_PLAN_FUSED_SECTIONED_CASE_H_
