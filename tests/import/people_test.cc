// SPDX-License-Identifier: Apache-2.0
// Models as users have them (models/people of the shared data). Each goes end to end on
// three machines and must give the bytes of TensorFlow Lite's reference kernels, which
// tests/goldens/make_goldens.py wrote into people.json.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "firmware-sim/sim.h"
#include "import/tflite/import_tflite.h"
#include "presets/presets.h"
#include "sluice/graph_generated.h"
#include "sluice/lowering.h"
#include "support/files.h"
#include "support/library.h"
#include "support/shared_data.h"
#include "support/simulation.h"

namespace sluice::import {
namespace {

using Json = nlohmann::ordered_json;
using sluice_sim::SimulateOptions;
using sluice_sim::SimulateResult;

Json Goldens(const char* name) {
  std::ifstream in(SLUICE_TESTS "/goldens/" + std::string(name) + ".json");
  return Json::parse(in)["models"];
}

// The model's graph. If the file is not there: a message, and no bytes.
Bytes GraphOf(const std::string& model) {
  const std::string path =
      sluice_test::SharedPath("models/people/" + model + ".tflite");
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: " << path << " is not there");
    return {};
  }
  const Bytes bytes = sluice_test::ReadFile(path);
  TfliteImportOptions options;
  options.name = model;
  return WriteRows(ImportTflite(bytes.data(), bytes.size(), options).rows);
}

uint64_t HashOf(const Json& run) {
  return std::stoull(run["output_fnv1a"].get<std::string>(), nullptr, 16);
}

SimulateOptions Options(const Bytes& graph, const Bytes& machine, const Bytes& plan,
                        uint64_t seed) {
  SimulateOptions options = sluice_test::SimulationOf(graph, machine, plan);
  options.functional = true;
  options.seed = seed;
  return options;
}

void CheckPlan(const Bytes& graph_bytes, const char* chip, const Json& runs) {
  const Bytes machine = presets::LoadPreset(chip);
  sluice_test::Library library;
  const auto graph = library.Graph(graph_bytes);
  const auto hardware = library.Hardware(machine);
  const auto plan = library.Schedule(graph, hardware);
  REQUIRE_MESSAGE(plan != nullptr, library.diagnostic.message);
  REQUIRE(library.Verify(graph, hardware, plan) == SLUICE_OK);
  const Bytes bytes = sluice_test::BytesOf(plan);
  for (const Json& run : runs) {
    const SimulateResult result =
        sluice_sim::Simulate(Options(graph_bytes, machine, bytes, run["seed"]));
    REQUIRE_MESSAGE(result.ok, result.error);
    CHECK(result.cycles == result.predicted_cycles);
    CHECK(result.compared_bytes >= run["bytes"].get<uint64_t>());
    CHECK(result.output_fnv1a == HashOf(run));
  }
}

TEST_CASE("people: models equal the interpreter on three machines and three seeds") {
  const Json goldens = Goldens("people");
  for (const auto& [name, runs] : goldens.items()) {
    CAPTURE(name);
    REQUIRE(runs.size() == 3);
    const Bytes graph = GraphOf(name);
    if (graph.empty()) continue;
    for (const char* chip : {"soma-edge", "mcu-256k", "gemmini-16x16"}) {
      CAPTURE(chip);
      CheckPlan(graph, chip, runs);
    }
  }
}

TEST_CASE("people: a model of floats is planned for its shapes") {
  const Bytes bytes = GraphOf("pretrainedResnet");
  if (bytes.empty()) return;
  for (const char* chip : {"soma-edge", "mcu-256k", "gemmini-16x16"}) {
    CAPTURE(chip);
    const Bytes machine = presets::LoadPreset(chip);
    sluice_test::Library library;
    const auto graph = library.Graph(bytes);
    const auto hardware = library.Hardware(machine);
    const auto plan = library.Schedule(graph, hardware);
    REQUIRE_MESSAGE(plan != nullptr, library.diagnostic.message);
    CHECK(library.Verify(graph, hardware, plan) == SLUICE_OK);
    const Bytes made = sluice_test::BytesOf(plan);
    const SimulateResult result =
        sluice_sim::Simulate(Options(bytes, machine, made, 1));
    CHECK_MESSAGE(result.ok, result.error);
  }
}

// Final outputs alone may hide wrong tensors on the way.
TEST_CASE("people: tensors inside of recurrent models equal the interpreter's") {
  std::ifstream in(SLUICE_TESTS "/goldens/people_inside.json");
  const Json goldens = Json::parse(in)["tensors"];
  REQUIRE(goldens.size() == 2);
  for (const auto& [name, tensors] : goldens.items()) {
    CAPTURE(name);
    Bytes graph = GraphOf(name);
    if (graph.empty()) continue;
    const wire::Graph& g = *wire::GetGraph(graph.data());
    auto* kinds = const_cast<flatbuffers::Vector<uint8_t>*>(g.tensor_kind());
    for (uint32_t t = 0; t < kinds->size(); ++t) {
      if (kinds->Get(t) == 0) kinds->Mutate(t, 2);
    }
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      SimulateOptions options;
      options.graph = graph.data();
      options.graph_size = graph.size();
      options.seed = seed;
      const SimulateResult result = sluice_sim::RunReference(options);
      REQUIRE_MESSAGE(result.ok, result.error);
      size_t compared = 0;
      for (size_t i = 0; i < result.output_tensors.size(); ++i) {
        const uint32_t at = g.tensor_name()->Get(result.output_tensors[i]);
        const auto found = tensors.find(g.names()->Get(at)->str());
        if (found == tensors.end()) continue;
        std::istringstream hashes(found->get<std::string>());
        std::string want;
        for (uint64_t s = 0; s < seed; ++s) hashes >> want;
        CHECK_MESSAGE(result.output_hashes[i] == std::stoull(want, nullptr, 16),
                      found.key());
        ++compared;
      }
      CHECK(compared == tensors.size());
    }
  }
}

// The hash of the outputs of all runs, one behind the other; run r has the inputs of
// seed + 1000 r.
uint64_t RunInARow(SimulateOptions options, int runs) {
  std::vector<uint8_t> state;
  options.state = &state;
  uint64_t hash = SLUICE_OUTPUT_HASH_START;
  const uint64_t seed = options.seed;
  for (int run = 0; run < runs; ++run) {
    options.seed = seed + 1000 * static_cast<uint64_t>(run);
    const SimulateResult result = sluice_sim::Simulate(options);
    REQUIRE_MESSAGE(result.ok, result.error);
    for (const auto& output : result.outputs) {
      hash = sluice_output_hash(hash, output.data(), output.size());
    }
  }
  return hash;
}

TEST_CASE("people: models with a state equal the interpreter over ten runs") {
  const Json goldens = Goldens("people_10_runs");
  for (const auto& [name, runs] : goldens.items()) {
    CAPTURE(name);
    const Bytes graph = GraphOf(name);
    if (graph.empty()) continue;
    for (const char* chip : {"soma-edge", "mcu-256k", "gemmini-16x16"}) {
      CAPTURE(chip);
      const Bytes machine = presets::LoadPreset(chip);
      sluice_test::Library library;
      const auto plan =
          library.Schedule(library.Graph(graph), library.Hardware(machine));
      REQUIRE_MESSAGE(plan != nullptr, library.diagnostic.message);
      const Bytes bytes = sluice_test::BytesOf(plan);
      for (const Json& run : runs) {
        CHECK(RunInARow(Options(graph, machine, bytes, run["seed"]), 10) ==
              HashOf(run));
      }
    }
  }
}

}  // namespace
}  // namespace sluice::import
