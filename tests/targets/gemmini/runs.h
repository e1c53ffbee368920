// SPDX-License-Identifier: Apache-2.0
// Models and plans on a model of Gemmini, whoever made it: outputs are those of the untiled
// run, the array does all MACs of int8.
#ifndef SLUICE_TESTS_TARGETS_GEMMINI_RUNS_H_
#define SLUICE_TESTS_TARGETS_GEMMINI_RUNS_H_

#include <memory>
#include <string>
#include <vector>

#include "targets/gemmini/board.h"
#include "targets/models.h"

namespace gemmini_model {

using target_test::Case;

inline constexpr char kPreset[] = "gemmini-16x16";

struct Listed {
  const char* name;
  std::vector<uint64_t> budgets;
};
inline const Listed kList[] = {
    {"resnet8_cifar10_int8", {98304, 65536, 32768}},
    {"kws_ref_model_int8", {65536, 32768, 24576}},
    {"person_detect_int8", {131072, 98304, 65536}},
    {"ad01_int8", {65536, 32768, 16384}},
    {"mobilenet_v1_0.25_128_uint8", {131072, 98304, 65536}},
};

inline Case NetworkCase(const std::string& name) {
  return target_test::PlansOf(name, target_test::ZooGraph(name), kPreset,
                              {196608, 163840, 131072});
}

// With no `make`: the project's model; odd seeds keep stores back, even ones loads.
inline void CheckCase(const Case& c, uint64_t seeds,
                      const MakeMachine& make = nullptr) {
  if (c.graph.empty()) return;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const uint64_t expected = target_test::Expected(c.graph, seed);
    for (const Bytes& plan : c.plans) {
      INFO(c.name << ", plan " << &plan - c.plans.data() << ", seed " << seed);
      const BoardResult result =
          make ? RunBoardOn(c.graph, plan, seed, make)
               : RunBoard(c.graph, plan, seed, seed % 2 ? Late::kStores : Late::kLoads);
      REQUIRE_MESSAGE(result.error.empty(), result.error);
      CHECK(result.output_fnv1a == expected);
      // Gemmini multiplies int8 alone.
      const bool supported = c.name.find("uint8") == std::string::npos;
      CHECK((result.counts.array_macs > 0) == supported);
      CHECK((result.counts.host_macs == 0) == supported);
      uint64_t commands = result.counts.fences;
      for (const uint64_t of_funct : result.counts.commands) commands += of_funct;
      if (seed == seeds) {
        target_test::SayPlan(c, static_cast<size_t>(&plan - c.plans.data()), commands,
                             seeds);
      }
    }
  }
}

// A plan that is stored: its commands and the outputs of six seeds stay what they were when
// both models were recorded.
inline void CheckGolden(const MakeMachine& make) {
  const Bytes plan =
      sluice_test::ReadFile(SLUICE_TESTS "/models/residual_cnn_int8_gemmini.slp");
  const uint64_t outputs[] = {17063446231621239524u, 16650014430210211545u,
                              2647092772763778067u,  17965646522919006937u,
                              3424488880865619364u,  3248721331652239270u};
  for (uint64_t seed = 1; seed <= target_test::kSeeds; ++seed) {
    const BoardResult result = RunBoardOn(target_test::OwnModel(), plan, seed, make);
    CHECK_MESSAGE(result.error.empty(), result.error);
    CHECK(result.commands_fnv1a == 2896087605907017022u);
    CHECK(result.output_fnv1a == outputs[seed - 1]);
  }
}

}  // namespace gemmini_model

#endif  // SLUICE_TESTS_TARGETS_GEMMINI_RUNS_H_
