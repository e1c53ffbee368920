// SPDX-License-Identifier: Apache-2.0
// Real models against TensorFlow Lite's reference kernels, whose answers
// tests/goldens/make_goldens.py wrote: final outputs and what is computed on the way.
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
#include "support/files.h"
#include "support/library.h"
#include "support/shared_data.h"
#include "tests/import/tiny_models.h"

namespace sluice::import {
namespace {

using Json = nlohmann::ordered_json;
using presets::LoadPreset;
using sluice_sim::SimulateOptions;
using sluice_sim::SimulateResult;
using sluice_test::ReadFile;

Json Goldens(const std::string& name = "tflite") {
  std::ifstream in(SLUICE_TESTS "/goldens/" + name + ".json");
  return Json::parse(in);
}

Bytes Imported(const std::string& model, const Bytes& bytes) {
  TfliteImportOptions options;
  options.name = model;
  return WriteRows(ImportTflite(bytes.data(), bytes.size(), options).rows);
}

// The model from the fuzzers' corpus, else made here: the corpus leaves out models that
// keep a fuzzer busy for long.
Bytes TinyModel(const std::string& name) {
  const std::string seed = SLUICE_TESTS "/fuzz/corpus/tflite/" + name + ".tflite";
  if (std::filesystem::exists(seed)) return ReadFile(seed);
  for (const auto& model : TinyModels()) {
    if (model.name == name) return model.bytes;
  }
  return {};
}

// The model's graph. If the file is not there: a message, and no bytes. One model comes
// with the project.
Bytes GraphOf(const std::string& model) {
  const std::string ours = SLUICE_TESTS "/models/" + model + ".tflite";
  if (std::filesystem::exists(ours)) return Imported(model, ReadFile(ours));
  const std::string path =
      sluice_test::SharedPath("models/tflite/" + model + ".tflite");
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: " << path << " is not there");
    return {};
  }
  return Imported(model, ReadFile(path));
}

// The same graph with every intermediate tensor as an output, so that it is stored
// whole and can be looked at.
Bytes Exposed(Bytes graph) {
  auto* kinds = const_cast<flatbuffers::Vector<uint8_t>*>(
      wire::GetGraph(graph.data())->tensor_kind());
  for (uint32_t t = 0; t < kinds->size(); ++t) {
    if (kinds->Get(t) == 0) kinds->Mutate(t, 2);
  }
  return graph;
}

SimulateOptions OptionsOf(const Bytes& graph, uint64_t seed) {
  SimulateOptions options;
  options.graph = graph.data();
  options.graph_size = graph.size();
  options.seed = seed;
  return options;
}

// Returns how many tensors the goldens hold; each of them must have the golden's hash.
int CompareTensors(const Bytes& graph, const Json& tensors, uint64_t seed,
                   const SimulateResult& result) {
  const wire::Graph& g = *wire::GetGraph(graph.data());
  int compared = 0;
  for (size_t i = 0; i < result.output_tensors.size(); ++i) {
    const uint32_t name = g.tensor_name()->Get(result.output_tensors[i]);
    if (name >= g.names()->size()) continue;
    const auto found = tensors.find(g.names()->Get(name)->str());
    if (found == tensors.end()) continue;
    std::istringstream hashes(found->get<std::string>());
    std::string want;
    for (uint64_t s = 0; s < seed; ++s) hashes >> want;
    ++compared;
    CHECK_MESSAGE(result.output_hashes[i] == std::stoull(want, nullptr, 16),
                  found.key() << ", seed " << seed);
  }
  return compared;
}

TEST_CASE("goldens: untiled runs of real models equal TensorFlow Lite byte for byte") {
  const Json goldens = Goldens();
  REQUIRE(goldens["models"].size() == 12);
  for (const auto& [name, runs] : goldens["models"].items()) {
    CAPTURE(name);
    REQUIRE(runs.size() == 3);
    const Bytes graph = GraphOf(name);
    if (graph.empty()) continue;
    const Bytes exposed = Exposed(graph);
    const Json& tensors = goldens["tensors"][name];
    for (const auto& run : runs) {
      const SimulateResult result =
          sluice_sim::RunReference(OptionsOf(graph, run["seed"]));
      REQUIRE_MESSAGE(result.ok, result.error);
      const std::string want = run["output_fnv1a"];
      CHECK(result.output_fnv1a == std::stoull(want, nullptr, 16));
      const SimulateResult inside =
          sluice_sim::RunReference(OptionsOf(exposed, run["seed"]));
      REQUIRE_MESSAGE(inside.ok, inside.error);
      const int compared = CompareTensors(exposed, tensors, run["seed"], inside);
      CHECK(compared == static_cast<int>(tensors.size()));
    }
  }
}

TEST_CASE("goldens: scheduled on either chip, every tensor on the way is equal too") {
  const Json goldens = Goldens();
  for (const auto& [name, tensors] : goldens["tensors"].items()) {
    const Bytes graph = GraphOf(name);
    if (graph.empty()) continue;
    const Bytes exposed = Exposed(graph);
    for (const char* chip : {"mcu-256k", "soma-edge"}) {
      INFO(name << " on " << chip);
      const Bytes machine = LoadPreset(chip);
      sluice_test::Library library;
      const auto plan =
          library.Schedule(library.Graph(exposed), library.Hardware(machine));
      REQUIRE_MESSAGE(plan != nullptr, library.diagnostic.message);
      const Bytes bytes = sluice_test::BytesOf(plan);
      const uint64_t seed = chip[0] == 'm' ? 1 : 2;
      SimulateOptions options = OptionsOf(exposed, seed);
      options.hardware = machine.data();
      options.hardware_size = machine.size();
      options.plan = bytes.data();
      options.plan_size = bytes.size();
      options.functional = true;
      const SimulateResult result = sluice_sim::Simulate(options);
      REQUIRE_MESSAGE(result.ok, result.error);
      CHECK(result.cycles == result.predicted_cycles);
      CHECK(CompareTensors(exposed, tensors, seed, result) ==
            static_cast<int>(tensors.size()));
    }
  }
}

// Schedules within `budget`, verifies and simulates. Returns the hash of the outputs; 0
// where no plan fits.
uint64_t RunWithin(sluice_test::Library* library, const Bytes& graph_bytes,
                   uint64_t budget, uint64_t seed, uint64_t* smallest) {
  const Bytes machine = LoadPreset("mcu-256k");
  const auto graph = library->Graph(graph_bytes);
  const auto hardware = library->Hardware(machine);
  sluice_schedule_options_t how = {};
  how.struct_size = sizeof how;
  how.scratchpad_bytes = budget;
  sluice_plan_t* made = nullptr;
  library->status = sluice_schedule(library->context.get(), graph.get(), hardware.get(),
                                    &how, &made, &library->diagnostic);
  *smallest = library->diagnostic.smallest_scratchpad_bytes;
  if (library->status != SLUICE_OK) return 0;
  const sluice_test::PlanPtr plan(made);
  REQUIRE(library->Verify(graph, hardware, plan) == SLUICE_OK);
  const Bytes bytes = sluice_test::BytesOf(plan);
  SimulateOptions options = OptionsOf(graph_bytes, seed);
  options.hardware = machine.data();
  options.hardware_size = machine.size();
  options.plan = bytes.data();
  options.plan_size = bytes.size();
  options.functional = true;
  const SimulateResult result = sluice_sim::Simulate(options);
  REQUIRE_MESSAGE(result.ok, result.error);
  CHECK(result.cycles == result.predicted_cycles);
  return result.output_fnv1a;
}

TEST_CASE("goldens: every model of one operator has answers to be compared with") {
  const Json models = Goldens("tiny")["models"];
  for (const auto& model : TinyModels()) {
    INFO(model.name << " is not in tests/goldens/tiny.json; make_goldens.py writes it");
    CHECK(models.contains(model.name));
  }
  CHECK(models.size() == TinyModels().size());
}

TEST_CASE("goldens: models of one operator each, at any budget") {
  const Json goldens = Goldens("tiny");
  REQUIRE(goldens["models"].size() == 57);
  for (const auto& [name, runs] : goldens["models"].items()) {
    CAPTURE(name);
    const Bytes graph = Imported(name, TinyModel(name));
    sluice_test::Library library;
    uint64_t smallest = 0;
    const uint64_t without = RunWithin(&library, graph, 1, 1, &smallest);
    CHECK(without == 0);
    REQUIRE(library.status == SLUICE_INFEASIBLE);
    const uint64_t least = smallest;
    for (const auto& run : runs) {
      const uint64_t seed = run["seed"];
      const std::string text = run["output_fnv1a"];
      const uint64_t want = std::stoull(text, nullptr, 16);
      for (uint64_t budget : {least, least + least / 3, 2 * least, uint64_t{1} << 18}) {
        CAPTURE(budget);
        CHECK(RunWithin(&library, graph, budget, seed, &smallest) == want);
      }
    }
  }
}

}  // namespace
}  // namespace sluice::import
