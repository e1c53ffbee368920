// SPDX-License-Identifier: Apache-2.0
// Models and plans on a model of VTA, whoever made it: outputs are those of the untiled run,
// the machine did as much as the lowering has counted.
#ifndef SLUICE_TESTS_TARGETS_VTA_RUNS_H_
#define SLUICE_TESTS_TARGETS_VTA_RUNS_H_

#include <string>
#include <vector>

#include "targets/models.h"
#include "targets/vta/run_on_vta.h"

namespace vta_test {

using target_test::Case;
using target_test::Expected;

inline constexpr char kPreset[] = "vta-1x16x16";
inline const char* const kList[] = {"resnet8_cifar10_int8", "kws_ref_model_int8",
                                    "person_detect_int8", "ad01_int8",
                                    "mobilenet_v1_0.25_128_uint8"};
inline const std::vector<uint64_t> kBudgets = {24576, 20480, 16384};

inline Case NetworkCase(const std::string& name) {
  return target_test::PlansOf(name, target_test::ZooGraph(name), kPreset, kBudgets);
}

// With no `make`: the project's model; its modules run in another order for each seed.
inline void CheckCase(const Case& c, uint64_t seeds, const MakeModel& make = nullptr) {
  if (c.graph.empty()) return;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const uint64_t expected = Expected(c.graph, seed);
    for (const sluice_test::Bytes& plan : c.plans) {
      VtaRun on(c.graph.data(), c.graph.size(), plan.data(), plan.size());
      const Run run =
          make ? on.ExecuteOn(seed, seed, make) : on.Execute(seed, seed * 7);
      INFO(c.name << ", plan " << &plan - c.plans.data() << ", seed " << seed << ": "
                  << run.error);
      CHECK(run.code == 0);
      CHECK(run.counts_hold);
      CHECK(run.hash == expected);
      uint64_t commands = 0;
      for (const uint64_t of_opcode : run.counts.instructions) commands += of_opcode;
      if (seed == seeds) {
        target_test::SayPlan(c, static_cast<size_t>(&plan - c.plans.data()), commands,
                             seeds);
      }
    }
  }
}

// A plan that is stored: its commands and the outputs of six seeds stay what they were when
// both models were recorded.
inline void CheckGolden(const MakeModel& make) {
  const sluice_test::Bytes graph = target_test::OwnModel();
  const sluice_test::Bytes plan =
      sluice_test::ReadFile(SLUICE_TESTS "/models/residual_cnn_int8_vta.slp");
  const uint64_t commands[] = {17409406533855754249u, 14636821151484572509u,
                               15025773840595244503u, 1270106030252206020u,
                               9742526725498678160u,  16767283113095929543u};
  const uint64_t outputs[] = {17063446231621239524u, 16650014430210211545u,
                              2647092772763778067u,  17965646522919006937u,
                              3424488880865619364u,  3248721331652239270u};
  for (uint64_t seed = 1; seed <= target_test::kSeeds; ++seed) {
    const Run run = VtaRun(graph.data(), graph.size(), plan.data(), plan.size())
                        .ExecuteOn(seed, seed, make);
    INFO(run.error);
    CHECK(run.code == 0);
    CHECK(run.commands_fnv1a == commands[seed - 1]);
    CHECK(run.hash == outputs[seed - 1]);
  }
}

}  // namespace vta_test

#endif  // SLUICE_TESTS_TARGETS_VTA_RUNS_H_
