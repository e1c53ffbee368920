// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>

#include "bindings/targets/vta/sluice_vta.h"
#include "bindings/targets/vta/sluice_vta_scale.h"
#include "cli/machine_scaling.h"
#include "cli/targets.h"

namespace sluice::cli {
namespace {

// First words of a binary's lines: an instruction (its two words follow), a micro-op (DRAM
// address, value), a run of the machine, a layer of the host (index).
constexpr uint64_t kInstruction = 0, kMicroOp = 1, kRun = 2, kHost = 3;

struct Listing {
  const CommandSink& sink;
  uint32_t staging;            // address
  std::vector<uint8_t> bytes;  // there, as the lowering wrote them
  std::set<uint32_t> host_layers;
  MachineScaling* scaling = nullptr;  // the host makes bytes of all sums
};

Listing* Self(void* user) { return static_cast<Listing*>(user); }

uint64_t Field(uint64_t word, int low, int width) {
  return word >> low & ((uint64_t{1} << width) - 1);
}

// The micro-ops that a LOAD finds in DRAM: the lowering has just written them.
void ListMicroOps(const Listing& to, uint64_t first, uint64_t count) {
  for (uint64_t at = first * 4; at < (first + count) * 4; at += 4) {
    uint32_t op = 0;
    std::memcpy(&op, &to.bytes[at - to.staging], 4);
    char line[96];
    std::snprintf(line, sizeof line, "  uop 0x%08" PRIx64 " dst %u src %u wgt %u", at,
                  op & 2047, op >> 11 & 2047, op >> 22);
    to.sink({line, {kMicroOp, at, op}});
  }
}

std::string Tokens(uint64_t low) {
  std::string text;
  const char* const names[] = {" pop_prev", " pop_next", " push_prev", " push_next"};
  for (int bit = 0; bit < 4; ++bit) {
    if (Field(low, 3 + bit, 1) != 0) text += names[bit];
  }
  return text;
}

std::string Transfer(uint64_t low, uint64_t high) {
  const char* const memories[] = {"uop", "wgt", "inp", "acc", "out"};
  char line[128];
  std::snprintf(line, sizeof line,
                "%s %s %" PRIu64 " dram 0x%08" PRIx64 " %" PRIu64 " x %" PRIu64
                " stride %" PRIu64,
                Field(low, 0, 3) == 0 ? "load" : "store", memories[Field(low, 7, 3)],
                Field(low, 10, 16), Field(low, 26, 32), Field(high, 0, 16),
                Field(high, 16, 16), Field(high, 32, 16));
  return line;
}

std::string Loops(uint64_t low, uint64_t high) {
  const bool gemm = Field(low, 0, 3) == 2;
  const char* const operations[] = {"min", "max", "add", "shr"};
  char line[192];
  std::snprintf(line, sizeof line,
                "%s uops %" PRIu64 "..%" PRIu64 " loops %" PRIu64 " x %" PRIu64
                " dst %" PRIu64 " %" PRIu64 " src %" PRIu64 " %" PRIu64,
                !gemm                   ? operations[Field(high, 44, 2)]
                : Field(low, 7, 1) != 0 ? "reset"
                                        : "gemm",
                Field(low, 8, 13), Field(low, 21, 14), Field(low, 35, 14),
                Field(low, 49, 14), Field(high, 0, 11), Field(high, 11, 11),
                Field(high, 22, 11), Field(high, 33, 11));
  std::string text = line;
  if (gemm) {
    return text + " wgt " + std::to_string(Field(high, 44, 10)) + " " +
           std::to_string(Field(high, 54, 10));
  }
  if (Field(high, 47, 1) == 0) return text;
  return text + " by " + std::to_string(static_cast<int16_t>(Field(high, 48, 16)));
}

int OnInstruction(void* user, const unsigned char* bytes) {
  const Listing& to = *Self(user);
  uint64_t low = 0, high = 0;
  std::memcpy(&low, bytes, 8);
  std::memcpy(&high, bytes + 8, 8);
  const uint64_t opcode = Field(low, 0, 3);
  if (opcode == 0 && Field(low, 7, 3) == 0) {
    ListMicroOps(to, Field(low, 26, 32), Field(high, 16, 16));
  }
  const std::string text = opcode < 2    ? Transfer(low, high)
                           : opcode == 3 ? "finish"
                                         : Loops(low, high);
  to.sink({text + Tokens(low), {kInstruction, low, high}});
  return 0;
}

int OnRun(void* user) {
  Self(user)->sink({"run", {kRun, 0, 0}});
  return 0;
}

// The bytes of the model are not known here; nothing but values depends on them.
int OnRead(void*, uint32_t, void* to, uint32_t bytes) {
  std::memset(to, 0, bytes);
  return 0;
}

int OnWrite(void* user, uint32_t address, const void* from, uint32_t bytes) {
  Listing* const to = Self(user);
  if (address >= to->staging && address - to->staging + bytes <= to->bytes.size()) {
    std::memcpy(&to->bytes[address - to->staging], from, bytes);
  }
  return 0;
}

int OnHost(void* user, const sluice_walker_t* walker, const sluice_walk_visit_t* visit,
           const sluice_host_call_t* call) {
  sluice_kernel_t kernel;
  sluice_walk_kernel(walker, visit->instance, call->kernel, &kernel);
  Self(user)->host_layers.insert(kernel.layer);
  Self(user)->sink(
      {"host layer " + std::to_string(kernel.layer), {kHost, kernel.layer, 0}});
  return 0;
}

// The box is noted when VTA is asked for all of it.
int OnScale(void* user, const sluice_vta_block* block, sluice_vta_rows* rows) {
  sluice_sim::ScaledRun& run = Self(user)->scaling->run();
  const auto parameters = run.Parameters(block->layer, block->begin[3]);
  if (sluice_vta_scaling(block, parameters, rows) == 0) return 0;
  if (rows != nullptr) return 1;
  sluice_sim::ScaledBox box;
  box.layer = block->layer;
  std::copy_n(block->begin, 4, box.begin.begin());
  std::copy_n(block->extent, 4, box.extent.begin());
  std::vector<sluice_vta_rows> of;  // of 16 channels each
  for (uint32_t k = 0; k < block->extent[3]; ++k) {
    box.biases.push_back(parameters != nullptr ? parameters[k][0] : 0);
    if (k % 16 != 0) continue;
    sluice_vta_block part = *block;
    part.extent[3] = std::min(16u, block->extent[3] - k);
    sluice_vta_scaling(&part, parameters != nullptr ? parameters + k : nullptr,
                       &of.emplace_back());
  }
  box.make = [block = *block, of](int64_t k, int32_t sum) {
    return sluice_vta_scaled(&block, &of[static_cast<size_t>(k / 16)],
                             static_cast<uint32_t>(k % 16), sum);
  };
  run.Add(box);
  return 1;
}

Json AsJson(const sluice_vta_counts& c) {
  const char* const opcodes[] = {"load", "store", "gemm", "finish", "alu"};
  const char* const memories[] = {"uop_bytes", "weight_bytes", "input_bytes",
                                  "bias_bytes", "sum_bytes"};
  Json instructions = Json::object(), moved = Json::object();
  for (int i = 0; i < SLUICE_VTA_OPCODES; ++i)
    instructions[opcodes[i]] = c.instructions[i];
  for (int i = 0; i < SLUICE_VTA_MEMORIES; ++i) moved[memories[i]] = c.moved[i];
  return {{"instructions", instructions},
          {"dram", moved},
          {"micro_ops", c.moved[SLUICE_VTA_OF_UOP] / 4},
          {"gemm_cycles", c.gemm_cycles},
          {"alu_cycles", c.alu_cycles},
          {"tiles", c.tiles},
          {"host_calls", c.host_calls},
          {"array_macs", c.array_macs},
          {"host_macs", c.host_macs},
          {"planned_weight_bytes", c.planned[0]},
          {"planned_input_bytes", c.planned[1]},
          {"packed_bytes", c.packed_bytes},
          {"requantised", c.requantised},
          {"scaled", c.scaled},
          {"copied_bytes", c.copied_bytes},
          {"called_bytes", c.called_bytes}};
}

}  // namespace

Json LowerToVta(const LoweredPlan& plan, const CommandSink& sink) {
  std::vector<sluice_vta_layer> layers;
  for (const LayerChannels& c : ChannelsOf(plan.graph)) {
    layers.push_back({c.input, c.output});
  }
  const auto state = std::make_unique<sluice_vta_state>();
  sluice_vta_input input = {};
  uint64_t at = 0;
  for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
    input.region[r] = static_cast<uint32_t>(at);
    at += (sluice_walk_region_bytes(&plan.walker, r) + 255) / 256 * 256;
  }
  if (at + SLUICE_VTA_STAGING > UINT32_MAX) {
    throw Failure(kRejected, "vta: the regions need more than 4 GiB");
  }
  std::vector<uint32_t> home(
      static_cast<size_t>(sluice_walk_region_bytes(&plan.walker, SLUICE_REGION_GBUF)));
  input.walker = &plan.walker;
  input.layers = layers.data();
  input.layer_count = static_cast<uint32_t>(layers.size());
  input.staging = static_cast<uint32_t>(at);
  input.home = home.data();
  input.home_count = static_cast<uint32_t>(home.size());
  input.state = state.get();
  Listing listing = {sink, input.staging, std::vector<uint8_t>(SLUICE_VTA_STAGING), {}};
  std::unique_ptr<MachineScaling> scaling;
  if (plan.scale) scaling = std::make_unique<MachineScaling>(plan);
  listing.scaling = scaling.get();
  const sluice_vta_port port = {&listing,
                                OnInstruction,
                                OnRun,
                                OnRead,
                                OnWrite,
                                OnHost,
                                plan.scale ? OnScale : nullptr};
  sluice_vta_counts counts;
  if (sluice_vta_lower(&input, &port, &counts) != SLUICE_VTA_OK) {
    std::string text = std::string("vta: ") + state->why;
    if (state->layer != SLUICE_NONE) text += ", layer " + std::to_string(state->layer);
    throw Failure(kRejected, text);
  }
  Json json = AsJson(counts);
  // Bytes that the host makes: vectors of 16, outputs of sums, copies, its layers'.
  const uint64_t made = counts.packed_bytes + counts.requantised + counts.copied_bytes +
                        counts.called_bytes;
  const uint64_t moved =
      std::accumulate(std::begin(counts.moved), std::end(counts.moved), uint64_t{0});
  json.update(HostShare(
      {counts.host_macs, counts.array_macs, made, moved, listing.host_layers.size()},
      plan.graph));
  if (plan.scale) json["scaled_by_the_machine"] = scaling->Difference();
  return json;
}

}  // namespace sluice::cli
