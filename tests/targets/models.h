// SPDX-License-Identifier: Apache-2.0
// The models that both targets run: with the default and the baseline plan, three smaller
// budgets and six seeds. And the machines that others made, where a test is told of them.
//
// Environment SLUICE_TARGET_NETWORKS: networks of the zoo, beside the models of the shared
// data, of a transformer some blocks alone ("vit_b_16:2"); SLUICE_TARGET_SEEDS: 1 to 6 seeds
// for these, 6 where it is not set; SLUICE_TARGET_SAY: each plan with its commands, as
// tests/targets/list.py wants them
#ifndef SLUICE_TESTS_TARGETS_MODELS_H_
#define SLUICE_TESTS_TARGETS_MODELS_H_

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "firmware-sim/sim.h"
#include "support/network_plan.h"
#include "support/shared_data.h"
#include "zoo/zoo.h"

namespace target_test {

using sluice_test::Bytes;

constexpr uint64_t kSeeds = 6;

// A graph and its plans.
struct Case {
  std::string name;
  Bytes graph;
  std::vector<Bytes> plans;
};

inline Case PlansOf(const std::string& name, const Bytes& graph,
                    const std::string& preset, const std::vector<uint64_t>& budgets) {
  Case c = {name, graph, {}};
  sluice_test::NetworkPlan plan(graph, preset);
  REQUIRE(plan.ok);
  const auto add = [&](uint32_t solver, uint64_t budget) {
    const sluice_status_t status = plan.Schedule(solver, budget);
    INFO(name << " at " << budget << ": " << plan.diagnostic.message);
    REQUIRE(status == SLUICE_OK);
    c.plans.push_back(plan.PlanBytes());
  };
  add(SLUICE_SOLVER_DEFAULT, 0);
  add(SLUICE_SOLVER_BASELINE, 0);
  for (const uint64_t budget : budgets) add(SLUICE_SOLVER_DEFAULT, budget);
  return c;
}

inline Bytes OwnModel() {
  return sluice_test::ImportedGraph(SLUICE_TESTS "/models/residual_cnn_int8.tflite");
}

// A model of the shared data. No graph: it is not there.
inline Case SharedCase(const std::string& name, const std::string& preset,
                       const std::vector<uint64_t>& budgets) {
  for (const std::string& path : sluice_test::TfliteModels()) {
    if (sluice_test::FileStem(path) != name) continue;
    return PlansOf(name, sluice_test::ImportedGraph(path), preset, budgets);
  }
  MESSAGE("skipped: no " << name);
  return {};
}

// A network of the zoo, "name" or "name:blocks".
inline Bytes ZooGraph(const std::string& name) {
  const size_t colon = name.find(':');
  sluice::zoo::ZooOptions options;
  if (colon != std::string::npos) options.blocks = std::stoi(name.substr(colon + 1));
  return sluice::zoo::MakeZooGraph(name.substr(0, colon), options);
}

// Networks of the zoo that the environment names.
inline std::vector<std::string> NamedNetworks() {
  const char* names = std::getenv("SLUICE_TARGET_NETWORKS");
  if (names == nullptr)
    MESSAGE("skipped in part: SLUICE_TARGET_NETWORKS names no networks");
  std::istringstream list(names != nullptr ? names : "");
  std::vector<std::string> all;
  for (std::string name; list >> name;) all.push_back(name);
  return all;
}

inline uint64_t NamedSeeds() {
  const char* seeds = std::getenv("SLUICE_TARGET_SEEDS");
  return seeds != nullptr ? std::strtoull(seeds, nullptr, 10) : kSeeds;
}

// What a plan took, where somebody asks for it. Plans stand as PlansOf makes them.
inline void SayPlan(const Case& c, size_t plan, uint64_t commands, uint64_t seeds) {
  static const char* const names[] = {"default", "baseline", "a smaller budget",
                                      "a second", "a third"};
  if (std::getenv("SLUICE_TARGET_SAY") == nullptr) return;
  std::printf("plan of the list: %s, %s: %llu commands, %llu seeds\n", c.name.c_str(),
              names[plan], static_cast<unsigned long long>(commands),
              static_cast<unsigned long long>(seeds));
  std::fflush(stdout);
}

// The hash of the outputs of the untiled run.
inline uint64_t Expected(const Bytes& graph, uint64_t seed) {
  sluice_sim::SimulateOptions options;
  options.graph = graph.data();
  options.graph_size = graph.size();
  options.seed = seed;
  return sluice_sim::RunReference(options).output_fnv1a;
}

// A library of tests/targets/foreign/build.sh. Not open: the environment names none.
class Foreign {
 public:
  explicit Foreign(const char* variable) {
    const char* path = std::getenv(variable);
    if (path == nullptr || *path == '\0') {
      MESSAGE("skipped: " << std::string(variable)
                          << " names no build (tests/targets/foreign)");
      return;
    }
    library_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(library_ != nullptr, dlerror());
  }
  bool open() const { return library_ != nullptr; }
  template <typename F>
  F Function(const char* name) const {
    void* const symbol = dlsym(library_, name);
    REQUIRE_MESSAGE(symbol != nullptr, name);
    return reinterpret_cast<F>(symbol);
  }

 private:
  void* library_ = nullptr;  // open as long as the program runs
};

}  // namespace target_test

#endif  // SLUICE_TESTS_TARGETS_MODELS_H_
