// SPDX-License-Identifier: Apache-2.0
// Streams on the model of Gemmini give the bytes of the untiled run; lowerings that are
// broken on purpose do not.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>

#include "firmware-sim/sim.h"
#include "import/tflite/import_tflite.h"
#include "presets/presets.h"
#include "support/files.h"
#include "support/library.h"
#include "support/shared_data.h"
#include "targets/gemmini/board.h"
#include "zoo/zoo.h"

namespace gemmini_model {
namespace {

struct Case {
  Bytes graph;
  std::vector<Bytes> plans;
};

// A graph's plans: default and baseline, then of smaller budgets.
Case PlansOf(const Bytes& graph_bytes, const std::vector<uint64_t>& budgets) {
  Case c;
  c.graph = graph_bytes;
  const Bytes machine = sluice::presets::LoadPreset("gemmini-16x16");
  sluice_test::Library library;
  const auto graph = library.Graph(c.graph);
  const auto hardware = library.Hardware(machine);
  const auto add = [&](uint64_t budget, uint32_t solver) {
    const auto plan = library.Schedule(graph, hardware, budget, solver);
    REQUIRE_MESSAGE(plan != nullptr, library.diagnostic.message);
    c.plans.push_back(sluice_test::BytesOf(plan));
  };
  add(0, SLUICE_SOLVER_DEFAULT);
  add(0, SLUICE_SOLVER_BASELINE);
  for (const uint64_t budget : budgets) add(budget, SLUICE_SOLVER_DEFAULT);
  return c;
}

// The same of a model file. No graph: the file is not there.
Case CaseOf(const std::string& path, const std::vector<uint64_t>& budgets) {
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: " << path << " is not there");
    return {};
  }
  const Bytes file = sluice_test::ReadFile(path);
  sluice::import::TfliteImportOptions options;
  options.name = "model";
  return PlansOf(sluice::import::ImportTflite(file.data(), file.size(), options).graph,
                 budgets);
}

std::string Shared(const std::string& model) {
  return sluice_test::SharedPath("models/tflite/" + model + ".tflite");
}

uint64_t Expected(const Bytes& graph, uint64_t seed) {
  sluice_sim::SimulateOptions options;
  options.graph = graph.data();
  options.graph_size = graph.size();
  options.seed = seed;
  return sluice_sim::RunReference(options).output_fnv1a;
}

void CheckCase(const Case& c, uint64_t seeds) {
  if (c.graph.empty()) return;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const uint64_t expected = Expected(c.graph, seed);
    for (const Bytes& plan : c.plans) {
      const Late late = seed % 2 ? Late::kStores : Late::kLoads;
      const BoardResult result = RunBoard(c.graph, plan, seed, late);
      REQUIRE_MESSAGE(result.error.empty(), result.error);
      CHECK(result.output_fnv1a == expected);
      CHECK(result.counts.array_macs > 0);
      CHECK(result.counts.host_macs == 0);
    }
  }
}

Case OwnModel() { return CaseOf(SLUICE_TESTS "/models/residual_cnn_int8.tflite", {}); }

}  // namespace

TEST_CASE("targets: our own model on Gemmini, six seeds") { CheckCase(OwnModel(), 6); }

// A plan that is stored: its commands and the outputs of six seeds stay what they were.
TEST_CASE("targets: goldens of our own model on Gemmini") {
  const Case c = OwnModel();
  REQUIRE(!c.graph.empty());
  const Bytes plan =
      sluice_test::ReadFile(SLUICE_TESTS "/models/residual_cnn_int8_gemmini.slp");
  const uint64_t outputs[] = {17063446231621239524u, 16650014430210211545u,
                              2647092772763778067u,  17965646522919006937u,
                              3424488880865619364u,  3248721331652239270u};
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const BoardResult result = RunBoard(c.graph, plan, seed, Late::kNothing);
    CHECK_MESSAGE(result.error.empty(), result.error);
    CHECK(result.commands_fnv1a == 1215709355336211967u);
    CHECK(result.output_fnv1a == outputs[seed - 1]);
  }
}

TEST_CASE("targets: resnet8 on Gemmini") {
  CheckCase(CaseOf(Shared("resnet8_cifar10_int8"), {98304, 65536, 32768}), 6);
}

TEST_CASE("targets: keyword spotting on Gemmini") {
  CheckCase(CaseOf(Shared("kws_ref_model_int8"), {65536, 32768, 24576}), 6);
}

TEST_CASE("targets: person detection on Gemmini") {
  CheckCase(CaseOf(Shared("person_detect_int8"), {131072, 98304, 65536}), 6);
}

TEST_CASE("targets: anomaly detection on Gemmini") {
  CheckCase(CaseOf(Shared("ad01_int8"), {65536, 32768, 16384}), 6);
}

TEST_CASE("targets: a block of a transformer on Gemmini") {
  sluice::zoo::ZooOptions options;
  options.blocks = 1;
  const Case c = PlansOf(sluice::zoo::MakeZooGraph("vit_b_16", options), {});
  const BoardResult result = RunBoard(c.graph, c.plans[0], 1, Late::kStores);
  REQUIRE_MESSAGE(result.error.empty(), result.error);
  CHECK(result.output_fnv1a == Expected(c.graph, 1));
  CHECK(result.counts.host_macs == 0);
}

// The plans with sums that the machine scales: which bytes of the outputs differ.
void CheckScaling(const Case& c) {
  const BoardResult exact = RunBoard(c.graph, c.plans[0], 1, Late::kStores);
  const BoardResult own =
      RunBoard(c.graph, c.plans[0], 1, Late::kLoads, {}, Scaling::kMachine);
  REQUIRE_MESSAGE(own.error.empty(), own.error);
  REQUIRE(own.outputs.size() == exact.outputs.size());
  size_t differ = 0;
  int most = 0;
  for (size_t i = 0; i < own.outputs.size(); ++i) {
    const int apart = std::abs(static_cast<int8_t>(own.outputs[i]) -
                               static_cast<int8_t>(exact.outputs[i]));
    differ += apart != 0;
    most = std::max(most, apart);
  }
  const BoardResult rows =
      RunBoard(c.graph, c.plans[0], 1, Late::kLoads, {}, Scaling::kOnChip);
  REQUIRE_MESSAGE(rows.error.empty(), rows.error);
  CHECK(rows.outputs == own.outputs);
  CHECK(rows.counts.kept_bytes > 0);
  CHECK(rows.counts.scaled_bytes + rows.counts.kept_bytes == own.counts.scaled_bytes);
  MESSAGE("scaled by the machine: " << own.counts.scaled_bytes << " bytes; " << differ
                                    << " of " << own.outputs.size()
                                    << " output bytes differ, by at most " << most);
  CHECK(own.counts.scaled_bytes > 0);
  CHECK(own.counts.sum_bytes < exact.counts.sum_bytes);
  CHECK(most <= 2);
}

TEST_CASE("targets: a block of a transformer, scaled by Gemmini") {
  sluice::zoo::ZooOptions options;
  options.blocks = 1;
  CheckScaling(PlansOf(sluice::zoo::MakeZooGraph("vit_b_16", options), {}));
}

TEST_CASE("targets: what is wrong with sums scaled to rows, the model notices") {
  sluice::zoo::ZooOptions options;
  options.blocks = 1;
  const Case c = PlansOf(sluice::zoo::MakeZooGraph("vit_b_16", options), {});
  const auto run = [&](const Fault& fault) {
    return RunBoard(c.graph, c.plans[0], 1, Late::kLoads, fault, Scaling::kOnChip);
  };
  const Bytes right = run({}).outputs;
  const Fault faults[] = {{Fault::kDropCommand, 23, 0, 3}, {Fault::kFlipRs1, 23, 0, 1},
                          {Fault::kFlipRs1, 23, 9, 5},     {Fault::kFlipRs1, 23, 32, 7},
                          {Fault::kFlipRs1, 23, 34, 1},    {Fault::kFlipRs2, 23, 0, 3},
                          {Fault::kFlipRs2, 23, 30, 1},    {Fault::kFlipRs2, 23, 49, 1},
                          {Fault::kDropFence, 0, 0, 1}};
  for (const Fault& fault : faults) {
    CAPTURE(fault.kind);
    CAPTURE(fault.bit);
    const BoardResult result = run(fault);
    CHECK((!result.error.empty() || result.outputs != right));
  }
}

// By hand: SLUICE_TARGET_NETWORKS="resnet50 mobilenet_v1 vit_b_16"
TEST_CASE("targets: whole networks of the zoo on Gemmini") {
  const char* names = std::getenv("SLUICE_TARGET_NETWORKS");
  if (names == nullptr) {
    MESSAGE("skipped in part: SLUICE_TARGET_NETWORKS names no networks");
    return;
  }
  std::istringstream list(names);
  for (std::string name; list >> name;) {
    CAPTURE(name);
    const Case c = PlansOf(sluice::zoo::MakeZooGraph(name, {}), {});
    CheckCase(c, 1);
    CheckScaling(c);
  }
}

TEST_CASE("targets: what the lowering has wrong, the model of Gemmini notices") {
  const Case c = OwnModel();
  REQUIRE(!c.graph.empty());
  const uint64_t expected = Expected(c.graph, 3);
  // Fences and commands that are missing; then single bits of the fields that matter.
  std::vector<Fault> faults = {{Fault::kDropFence, 0, 0, 1}};
  for (const uint32_t funct : {0u, 1u, 2u, 3u, 4u, 6u}) {
    faults.push_back({Fault::kDropCommand, funct, 0, 1});
  }
  for (const uint32_t bit : {0u, 1u, 4u, 30u, 31u, 32u, 48u}) {
    faults.push_back({Fault::kFlipRs2, 6, bit, 1});  // where sums go, and how
  }
  for (const uint32_t bit : {0u, 4u, 33u, 49u}) {
    faults.push_back({Fault::kFlipRs1, 6, bit, 1});  // weights
    faults.push_back({Fault::kFlipRs1, 4, bit, 1});  // input
    faults.push_back({Fault::kFlipRs2, 2, bit, 1});  // rows of the scratchpad
    faults.push_back({Fault::kFlipRs1, 3, bit, 1});  // DRAM
  }
  faults.push_back({Fault::kFlipRs1, 0, 9, 1});
  faults.push_back({Fault::kFlipRs1, 0, 16, 1});
  faults.push_back({Fault::kFlipRs2, 0, 2, 1});
  // As many again that nobody chose: a bit of an address of some commands.
  std::mt19937 random(20);
  const Fault kinds[] = {
      {Fault::kFlipRs1, 1}, {Fault::kFlipRs1, 2}, {Fault::kFlipRs1, 3},
      {Fault::kFlipRs1, 4}, {Fault::kFlipRs1, 6}, {Fault::kFlipRs2, 1},
      {Fault::kFlipRs2, 2}, {Fault::kFlipRs2, 3}, {Fault::kFlipRs2, 6}};
  for (size_t chosen = faults.size(); chosen > 0; --chosen) {
    Fault fault = kinds[random() % 9];
    fault.bit = random() % 7;
    fault.every = 1 + random() % 5;
    faults.push_back(fault);
  }
  for (const Fault& fault : faults) {
    CAPTURE(fault.kind);
    CAPTURE(fault.funct);
    CAPTURE(fault.bit);
    const BoardResult result = RunBoard(c.graph, c.plans[0], 3, Late::kStores, fault);
    CHECK((!result.error.empty() || result.output_fnv1a != expected));
  }
}

}  // namespace gemmini_model
