// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "model/segment_directive.h"
#include "solve/segments/segments.h"
#include "tests/solve/segments/brute_force.h"
#include "tests/solve/segments/small_mesh.h"

namespace sluice {
namespace {

struct Chosen {
  ChosenSegments segments;
  ChosenSegments quick;  // by estimates
  double brute;
  uint64_t schemes;
};

// Solves the network by the search and by brute force, with the same prices of layers from
// src/solve/mapping.
void SolveBoth(const Network& network, const Machine& machine, bool energy, bool every,
               Scratch* scratch, Chosen* chosen) {
  Span<SegmentLayer> layers;
  REQUIRE(OrderLayers(network.span(), &scratch->arena, &layers) == Status::kOk);
  Budget budget;
  NodeParallelOptions nodes;
  nodes.every = every;
  NodePricer pricer(layers, machine.hardware, nodes, &budget, &scratch->memory);
  BruteForce brute;
  brute.layers.assign(layers.begin(), layers.end());
  brute.hardware = machine.hardware;
  brute.pricer = pricer.pricer();
  brute.energy = energy;
  chosen->brute = brute.Best();
  chosen->schemes = brute.schemes;
  // The search gets the prices that the brute force has computed.
  LayerPricer known = {
      &brute, [](void* user, const LayerQuery& query, LayerPrice* price,
                 Diagnostic* diagnostic) {
        BruteForce* all = static_cast<BruteForce*>(user);
        if (all->Price(query, price)) return Status::kOk;
        return static_cast<Status>(Fail(diagnostic, Status::kInfeasible, "test"));
      }};
  SegmentOptions options;
  options.proof = true;
  options.energy_exponent = energy ? 1 : 0;
  options.delay_exponent = energy ? 0 : 1;
  REQUIRE(ChooseSegments({layers, machine.hardware, options, known}, &budget,
                         &scratch->arena, &chosen->segments,
                         &scratch->diagnostic) == Status::kOk);
  options.proof = false;
  REQUIRE(ChooseSegments({layers, machine.hardware, options, known}, &budget,
                         &scratch->arena, &chosen->quick,
                         &scratch->diagnostic) == Status::kOk);
}

// Prints the schedule as directives, parses them and compares.
void CheckText(const SegmentSchedule& schedule, size_t layers, Scratch* scratch) {
  std::vector<std::string> owned;
  std::vector<Text> names;
  for (size_t i = 0; i < layers; ++i) owned.push_back("net/l" + std::to_string(i));
  for (const std::string& name : owned) {
    names.push_back(Text{name.data(), static_cast<uint32_t>(name.size())});
  }
  const Span<const Text> all(names.data(), names.size());
  DirectiveProgram program;
  REQUIRE(DirectivesOfSegments(schedule, all, &scratch->arena, &program) ==
          Status::kOk);
  size_t size = 0;
  CHECK(PrintDirectives(program, nullptr, 0, &size) == Status::kBufferTooSmall);
  std::string text(size, ' ');
  REQUIRE(PrintDirectives(program, text.data(), size, &size) == Status::kOk);
  CAPTURE(text);
  DirectiveProgram parsed;
  REQUIRE(ParseDirectives(Text{text.data(), static_cast<uint32_t>(size)},
                          &scratch->arena, &parsed,
                          &scratch->diagnostic) == Status::kOk);
  SegmentSchedule back;
  const Status status =
      SegmentsOfDirectives(parsed, all, &scratch->arena, &back, &scratch->diagnostic);
  CAPTURE(scratch->diagnostic.message);
  REQUIRE(status == Status::kOk);
  REQUIRE(back.segments.size() == schedule.segments.size());
  for (size_t s = 0; s < back.segments.size(); ++s) {
    const Segment& a = schedule.segments[s];
    const Segment& b = back.segments[s];
    CHECK(a.kind == b.kind);
    CHECK(a.begin == b.begin);
    CHECK(a.top_batch == b.top_batch);
    CHECK(a.stages == b.stages);
    REQUIRE(a.layers.size() == b.layers.size());
    for (size_t i = 0; i < a.layers.size(); ++i) {
      const LayerOnNodes& x = a.layers[i];
      const LayerOnNodes& y = b.layers[i];
      CHECK(x.layer == y.layer);
      CHECK(x.stage == y.stage);
      CHECK(x.producer == y.producer);
      CHECK(x.consumers == y.consumers);
      CHECK(memcmp(&x.region, &y.region, sizeof x.region) == 0);
      CHECK(x.terms.top_ifm == y.terms.top_ifm);
      CHECK(x.terms.top_ofm == y.terms.top_ofm);
      CHECK(x.terms.ifmap.kind == y.terms.ifmap.kind);
      CHECK(x.terms.ofmap.kind == y.terms.ofmap.kind);
      CHECK(memcmp(x.split.factor, y.split.factor, sizeof x.split.factor) == 0);
      CHECK(NodesUsed(x.split) == NodesUsed(y.split));
    }
  }
}

// A stage of a spatial segment in a simulation step by step.
struct PipelineStage {
  double slice = 0;   // cycles
  int64_t steps = 1;  // per slice
  int from = -1;
  bool fine = false;
  std::vector<size_t> takers;
  std::vector<double> finish, sent;  // of each step; -1 = not known yet
};

std::vector<PipelineStage> StagesOf(const Segment& segment) {
  std::vector<PipelineStage> stages(segment.stages);
  const int64_t batch = segment.top_batch;
  for (const LayerOnNodes& layer : segment.layers) {
    PipelineStage& stage = stages[layer.stage];
    stage.slice +=
        static_cast<double>(layer.cost.busy_cycles) / static_cast<double>(batch);
    stage.steps =
        std::max<int64_t>({stage.steps, layer.terms.top_ifm, layer.terms.top_ofm});
    if (layer.producer == kNone) continue;
    const LayerOnNodes& producer = segment.layers[layer.producer];
    if (producer.stage == layer.stage) continue;
    stage.from = static_cast<int>(producer.stage);
    stage.fine = producer.terms.top_ofm > 1;
    stages[producer.stage].takers.push_back(layer.stage);
  }
  for (PipelineStage& stage : stages) {
    stage.finish.assign(static_cast<size_t>(batch * stage.steps), -1);
    stage.sent = stage.finish;
  }
  return stages;
}

// When step k of the stage can begin; -1 = not known yet.
double StartOf(const std::vector<PipelineStage>& stages, const PipelineStage& stage,
               int64_t k) {
  const size_t at = static_cast<size_t>(k);
  double start = 0;
  if (k > 0) {
    start = stage.takers.empty() ? stage.finish[at - 1] : stage.sent[at - 1];
    if (start < 0) return -1;
  }
  if (stage.from < 0) return start;
  const PipelineStage& maker = stages[static_cast<size_t>(stage.from)];
  const int64_t slice = k / stage.steps;
  const int64_t need = stage.fine ? k : (slice + 1) * maker.steps - 1;
  const double sent = maker.sent[static_cast<size_t>(need)];
  return sent < 0 ? -1 : std::max(start, sent);
}

// When all takers have room for step k of the stage; -1 = not known yet.
double SentOf(const std::vector<PipelineStage>& stages, const PipelineStage& stage,
              int64_t k) {
  double sent = stage.finish[static_cast<size_t>(k)];
  for (size_t t : stage.takers) {
    const PipelineStage& taker = stages[t];
    // The buffer of a coarse taker holds one slice, so only the first step of a slice waits
    // until the slice before is used up.
    const int64_t before = taker.fine ? k - 1 : (k / stage.steps) * stage.steps - 1;
    if (before < 0) continue;
    // When the taker has used up what step `before` sent.
    const int64_t slice = before / stage.steps;
    const int64_t step = taker.fine ? before : (slice + 1) * taker.steps - 1;
    const double free = taker.finish[static_cast<size_t>(step)];
    if (free < 0) return -1;
    sent = std::max(sent, free);
  }
  return sent;
}

// The rules of model/segment.h, step by step, for a spatial segment. Its last cycle.
double Pipeline(const Segment& segment) {
  std::vector<PipelineStage> stages = StagesOf(segment);
  bool moved = true;
  while (moved) {
    moved = false;
    for (PipelineStage& stage : stages) {
      for (int64_t k = 0; k < static_cast<int64_t>(stage.finish.size()); ++k) {
        const size_t at = static_cast<size_t>(k);
        if (stage.finish[at] < 0) {
          const double start = StartOf(stages, stage, k);
          if (start < 0) break;
          stage.finish[at] = start + stage.slice / static_cast<double>(stage.steps);
          moved = true;
        }
        if (stage.sent[at] < 0) {
          stage.sent[at] = SentOf(stages, stage, k);
          if (stage.sent[at] < 0) break;
          moved = true;
        }
      }
    }
  }
  double end = 0;
  for (const PipelineStage& stage : stages) {
    REQUIRE(stage.finish.back() >= 0);
    end = std::max(end, stage.finish.back());
  }
  return end;
}

TEST_CASE("small meshes, short networks: the best of all schedules, with proof") {
  std::mt19937 random(11);
  const uint32_t meshes[][2] = {{2, 1}, {1, 2}, {2, 2}, {4, 1}, {3, 1}, {1, 1}, {3, 2}};
  double worst = 1;
  int segments = 0, gains = 0, spatial = 0, fine = 0;
  for (int round = 0; round < 60; ++round) {
    Machine machine;
    const uint32_t* mesh = meshes[round % 7];
    MakeSmallMesh(&machine, mesh[0], mesh[1], round % 3 == 0 ? 96 : 256);
    if (round % 2 == 1) machine.hardware.leakage_pj_per_cycle = 20;
    const Network network = RandomNetwork(&random, round % 2 == 0 ? 8 : 1);
    Scratch scratch;
    Chosen chosen;
    CAPTURE(round);
    SolveBoth(network, machine, round % 5 != 4, round % 4 == 0, &scratch, &chosen);
    const ChosenSegments& best = chosen.segments;
    CHECK(best.proved);
    CHECK(best.schedule.objective == doctest::Approx(chosen.brute).epsilon(1e-12));
    CHECK(best.schedule.objective <= best.layers_objective);
    CHECK(best.schedule.bound <= best.schedule.objective);
    CHECK(chosen.quick.schedule.objective >= best.schedule.objective * (1 - 1e-12));
    worst = std::max(worst, chosen.quick.schedule.objective / best.schedule.objective);
    CheckText(best.schedule, network.layers.size(), &scratch);
    gains += best.schedule.objective < best.layers_objective * 0.999 ? 1 : 0;
    for (const Segment& segment : best.schedule.segments) {
      segments += segment.layers.size() > 1 ? 1 : 0;
      spatial += segment.kind == SegmentKind::kSpatial ? 1 : 0;
      if (segment.kind == SegmentKind::kSpatial) {
        const double end = Pipeline(segment);
        CHECK(end <= static_cast<double>(segment.node_cycles));
        CHECK(end * 1.1 + 10 * segment.top_batch >=
              static_cast<double>(segment.node_cycles));
      }
      for (const LayerOnNodes& layer : segment.layers) {
        fine += layer.terms.top_ifm > 1 ? 1 : 0;
      }
    }
  }
  // The random cases cover segments, gains, spatial segments and fine stages.
  CHECK(segments >= 5);
  CHECK(gains >= 5);
  CHECK(spatial >= 5);
  CHECK(fine >= 5);
  // How much worse the search by estimates is, which leaves out chains of segments.
  CHECK(worst < 1.2);
}

}  // namespace
}  // namespace sluice
