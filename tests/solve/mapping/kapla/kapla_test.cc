// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/kapla/kapla.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/solve/mapping/machines.h"
#include "tests/solve/mapping/networks.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

Status Map(const std::vector<MappingProblem>& problems, const Hardware& hardware,
           const KaplaOptions& options, Scratch* scratch, MappingTable* table) {
  Budget budget;
  return MapLayers(
      {Span<const MappingProblem>(problems.data(), problems.size()), hardware, options},
      &budget, &scratch->arena, table, &scratch->diagnostic);
}

TEST_CASE("kapla: equal layers share one entry, every nest is legal") {
  Machine edge;
  MakeKaplaEdge(&edge);
  const std::vector<NetworkLayer> layers = ReadNetwork("resnet50", 1);
  if (layers.empty()) {
    MESSAGE("skipped: no resnet50.json");
    return;
  }
  std::vector<MappingProblem> problems;
  for (const NetworkLayer& layer : layers) problems.push_back(layer.problem);
  for (bool greedy : {false, true}) {
    Scratch scratch;
    KaplaOptions options;
    options.greedy = greedy;
    MappingTable table;
    REQUIRE(Map(problems, edge.hardware, options, &scratch, &table) == Status::kOk);
    CHECK(table.nests.size() == 27);
    REQUIRE(table.entry.size() == problems.size());
    for (size_t i = 0; i < problems.size(); ++i) {
      INFO(layers[i].name);
      const MappedNest& mapped = table.nests[table.entry[i]];
      CHECK(SameProblem(table.problems[table.entry[i]], problems[i]));
      LayerCost cost;
      REQUIRE(EvaluateNest(problems[i], edge.hardware, mapped.nest, CostOptions{},
                           &cost, &scratch.diagnostic) == Status::kOk);
      CHECK(cost.energy_pj == mapped.cost.energy_pj);
    }
  }
}

TEST_CASE("kapla: within 1 % per network and 5 % per layer of the whole space") {
  Machine edge;
  MakeKaplaEdge(&edge);
  for (const char* name : {"alex_net", "mobilenet", "vgg_net", "googlenet", "resnet50",
                           "mlp_l", "lstm_gnmt"}) {
    const std::vector<NetworkLayer> layers = ReadNetwork(name, 1);
    if (layers.empty()) {
      MESSAGE("skipped: no " << std::string(name) << ".json");
      continue;
    }
    std::vector<MappingProblem> problems;
    for (const NetworkLayer& layer : layers) problems.push_back(layer.problem);
    Scratch scratch;
    KaplaOptions options;
    MappingTable chosen, greedy, whole;
    REQUIRE(Map(problems, edge.hardware, options, &scratch, &chosen) == Status::kOk);
    options.greedy = true;
    REQUIRE(Map(problems, edge.hardware, options, &scratch, &greedy) == Status::kOk);
    options.greedy = false;
    options.constraints.wide = true;
    REQUIRE(Map(problems, edge.hardware, options, &scratch, &whole) == Status::kOk);
    double chosen_pj = 0, whole_pj = 0, greedy_pj = 0;
    for (size_t i = 0; i < problems.size(); ++i) {
      const double mine = chosen.nests[chosen.entry[i]].cost.energy_pj;
      const double best = whole.nests[whole.entry[i]].cost.energy_pj;
      const double published = greedy.nests[greedy.entry[i]].cost.energy_pj;
      INFO(std::string(name) << " " << layers[i].name);
      CHECK(whole.nests[whole.entry[i]].proved);
      CHECK(mine <= 1.05 * best);
      CHECK(best <=
            published * (1 + 1e-9) + 541.1);  // the whole space contains the greedy's
      chosen_pj += mine;
      whole_pj += best;
      greedy_pj += published;
    }
    CHECK(chosen_pj <= 1.01 * whole_pj);
    MESSAGE(std::string(name) << ": " << chosen_pj / whole_pj << " of the best, greedy "
                              << greedy_pj / whole_pj);
  }
}

TEST_CASE("kapla: resident operands cost no DRAM") {
  Machine edge;
  MakeKaplaEdge(&edge);
  Scratch scratch;
  Budget budget;
  const MappingProblem problem = ConvProblem({1, 64, 64, 28, 28, 3, 3, 1, 2});
  double previous = 1e300;
  for (uint32_t resident : {0u, 1u, 5u}) {
    KaplaOptions options;
    options.constraints.resident = resident;
    MappedNest mapped;
    REQUIRE(MapKapla({problem, edge.hardware, options}, &budget, &scratch.arena,
                     &mapped, &scratch.diagnostic) == Status::kOk);
    AccessCounts counts;
    REQUIRE(CountAccesses(problem, edge.hardware, mapped.nest,
                          {ReuseForm::kReuse, resident}, &counts,
                          &scratch.diagnostic) == Status::kOk);
    for (uint32_t v = 0; v < kOperands; ++v) {
      const bool stays = (resident >> v & 1) != 0;
      CHECK((counts.reads[2][v] + counts.writes[2][v] == 0) == stays);
    }
    CHECK(mapped.cost.energy_pj < previous);
    previous = mapped.cost.energy_pj;
  }
}

TEST_CASE("kapla: a budget of nothing stops, with the layer named") {
  Machine edge;
  MakeKaplaEdge(&edge);
  Scratch scratch;
  const uint32_t cancel = 1;
  Budget budget({}, 0, 0, &cancel);
  const MappingProblem problem = ConvProblem({1, 64, 64, 28, 28, 3, 3, 1, 2});
  MappingTable table;
  CHECK(MapLayers(
            {Span<const MappingProblem>(&problem, 1), edge.hardware, KaplaOptions{}},
            &budget, &scratch.arena, &table, &scratch.diagnostic) == Status::kStopped);
  CHECK(scratch.diagnostic.layer == 0);
}

}  // namespace
}  // namespace sluice
