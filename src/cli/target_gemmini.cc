// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <set>

#include "bindings/targets/gemmini/sluice_gemmini.h"
#include "bindings/targets/gemmini/sluice_gemmini_scale.h"
#include "cli/machine_scaling.h"
#include "cli/targets.h"

namespace sluice::cli {
namespace {

constexpr const char* kFuncts[SLUICE_GEMMINI_FUNCTS] = {"config",
                                                        "mvin2",
                                                        "mvin",
                                                        "mvout",
                                                        "compute_preloaded",
                                                        "compute_accumulated",
                                                        "preload",
                                                        "flush",
                                                        "",
                                                        "",
                                                        "",
                                                        "",
                                                        "",
                                                        "",
                                                        "mvin3",
                                                        "",
                                                        "",
                                                        "",
                                                        "",
                                                        "",
                                                        "",
                                                        "",
                                                        "",
                                                        "mvout_spad"};
constexpr const char* kSteps[SLUICE_GEMMINI_STEPS] = {"copy", "finish", "call",
                                                      "spread", "bias"};
// First words of what is no command in a binary.
constexpr uint64_t kFenceWord = 256, kHostWord = 257;

struct Listing {
  const CommandSink& sink;
  MachineScaling* scaling;  // nullptr: the host finishes all sums
  const sluice_walker_t& walker;
  std::set<uint32_t> host_layers;  // with calls of the host
};

Listing* Self(void* user) { return static_cast<Listing*>(user); }

int OnCommand(void* user, uint32_t funct, uint64_t rs1, uint64_t rs2) {
  char line[96];
  std::snprintf(line, sizeof line, "%-19s 0x%016" PRIx64 " 0x%016" PRIx64,
                kFuncts[funct], rs1, rs2);
  Self(user)->sink({line, {funct, rs1, rs2}});
  return 0;
}

int OnFence(void* user) {
  Self(user)->sink({"fence", {kFenceWord, 0, 0}});
  return 0;
}

int OnStep(void* user, const sluice_gemmini_step* step) {
  if (step->kind == SLUICE_GEMMINI_CALL) Self(user)->host_layers.insert(step->layer);
  std::string line = std::string("host ") + kSteps[step->kind];
  if (step->layer != SLUICE_NONE) line += " layer " + std::to_string(step->layer);
  Self(user)->sink({line, {kHostWord, step->kind, step->layer}});
  return 0;
}

int OnScale(void* user, const sluice_gemmini_step* step, float* scale, int* relu) {
  OnStep(user, step);
  sluice_sim::ScaledRun& run = Self(user)->scaling->run();
  const sluice_walker_t& walker = Self(user)->walker;
  sluice_tile_t tile;
  sluice_walk_tile(&walker, step->visit, step->instruction.descriptor, &tile);
  sluice_sim::ScaledBox box;
  box.layer = step->layer;
  box.biases.resize(step->channels);
  if (sluice_gemmini_scaling(&walker, step,
                             run.Parameters(step->layer, tile.origin[3] + step->k),
                             scale, relu, box.biases.data()) == 0) {
    return 0;
  }
  box.begin = {tile.origin[0] + step->n, tile.origin[1] + step->h,
               tile.origin[2] + step->w, tile.origin[3] + step->k};
  box.extent = {step->images, step->rows, step->columns, step->channels};
  box.scale = *scale;
  box.relu = *relu != 0;
  run.Add(box);
  return 1;
}

// What mvins and mvouts move.
uint64_t Moved(const sluice_gemmini_counts& c) {
  return c.input_bytes + c.weight_bytes + c.output_bytes + c.sum_bytes +
         c.scaled_bytes + c.bias_bytes + c.fetched_bytes + c.spilled_bytes;
}

Json AsJson(const sluice_gemmini_counts& c) {
  Json commands = Json::object(), steps = Json::object();
  for (int f = 0; f < SLUICE_GEMMINI_FUNCTS; ++f) {
    if (kFuncts[f][0] != '\0') commands[kFuncts[f]] = c.commands[f];
  }
  commands["fence"] = c.fences;
  for (int s = 0; s < SLUICE_GEMMINI_STEPS; ++s) steps[kSteps[s]] = c.steps[s];
  return {{"commands", commands},
          {"host_steps", steps},
          {"array_cycles", c.array_cycles},
          {"array_macs", c.array_macs},
          {"host_macs", c.host_macs},
          {"input_bytes", c.input_bytes},
          {"weight_bytes", c.weight_bytes},
          {"output_bytes", c.output_bytes},
          {"sum_bytes", c.sum_bytes},
          {"scaled_bytes", c.scaled_bytes},
          {"bias_bytes", c.bias_bytes},
          {"fetched_bytes", c.fetched_bytes},
          {"spilled_bytes", c.spilled_bytes},
          {"kept_bytes", c.kept_bytes},
          {"copied_bytes", c.copied_bytes},
          {"called_bytes", c.called_bytes}};
}

}  // namespace

Json LowerToGemmini(const LoweredPlan& plan, const CommandSink& sink) {
  const sluice_walker_t& walker = plan.walker;
  std::vector<sluice_walk_cursor_t> cursors(walker.engines);
  sluice_gemmini_input input = {};
  uint64_t at = 64;  // address 0 is none
  for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
    input.base[r] = at;
    at += (sluice_walk_region_bytes(&walker, r) + 63) / 64 * 64;
  }
  input.walker = &walker;
  input.cursors = cursors.data();
  input.scratch = at;
  std::vector<unsigned char> lines(SLUICE_GEMMINI_ROWS);
  input.lines = lines.data();
  std::vector<uint32_t> multipliers;
  for (const LayerChannels& c : ChannelsOf(plan.graph)) {
    multipliers.push_back(c.input == 0 ? 1 : c.output / c.input);
  }
  input.multipliers = multipliers.data();
  std::unique_ptr<MachineScaling> scaling;
  if (plan.scale) scaling = std::make_unique<MachineScaling>(plan);
  Listing own = {sink, scaling.get(), walker, {}};
  const sluice_gemmini_port port = {&own,
                                    OnCommand,
                                    OnFence,
                                    OnStep,
                                    plan.scale ? OnScale : nullptr,
                                    plan.to_rows ? 1 : 0};
  sluice_gemmini_counts counts;
  if (sluice_gemmini_lower(&input, &port, &counts) != SLUICE_GEMMINI_OK) {
    std::string text = std::string("gemmini: ") + counts.reason;
    if (counts.layer != SLUICE_NONE) text += ", layer " + std::to_string(counts.layer);
    throw Failure(kRejected, text);
  }
  Json json = AsJson(counts);
  json.update(HostShare(
      {counts.host_macs, counts.array_macs, counts.copied_bytes + counts.called_bytes,
       Moved(counts), own.host_layers.size()},
      plan.graph));
  if (plan.scale) json["scaled_by_the_machine"] = scaling->Difference();
  return json;
}

}  // namespace sluice::cli
