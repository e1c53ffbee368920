// SPDX-License-Identifier: Apache-2.0
// Lowers a plan to VTA and runs it on the model of VTA, with the host's work.
//
// Input    graph.fbs and plan.fbs; seeds of inputs and of the order of VTA's modules; what
//          to change in the instructions that leave
// Output   the outputs' hash as the simulator's, counts
// Errors   a sentence: of the lowering, of the model
#ifndef SLUICE_TESTS_TARGETS_VTA_RUN_ON_VTA_H_
#define SLUICE_TESTS_TARGETS_VTA_RUN_ON_VTA_H_

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bindings/targets/vta/sluice_vta.h"
#include "bindings/targets/vta/sluice_vta_scale.h"
#include "firmware-sim/scaled.h"
#include "targets/host.h"
#include "targets/vta/vta_model.h"

namespace vta_test {

struct Run {
  std::string error;
  int code = 0;
  uint64_t hash = 0;
  uint64_t instructions = 0;
  uint64_t commands_fnv1a =
      SLUICE_OUTPUT_HASH_START;  // of instructions, and of what the
                                 // host writes for them
  bool counts_hold = false;      // the model did as much as the lowering has counted
  sluice_vta_counts counts{};
  std::vector<uint8_t> outputs;
  std::vector<sluice_sim::ScaledBox> scaled;  // by VTA
};

// Changes an instruction, given its number; for mutants.
using Change = std::function<void(uint64_t, Instruction*)>;
using MakeModel = std::function<std::unique_ptr<Model>(std::vector<uint8_t>* dram)>;

// What VTA makes of a box, for whom it was asked.
inline sluice_sim::ScaledBox BoxOf(const sluice_vta_block& block,
                                   const std::vector<std::array<int32_t, 3>>& all,
                                   bool by_channel) {
  sluice_sim::ScaledBox box;
  box.layer = block.layer;
  for (size_t a = 0; a < 4; ++a) {
    box.begin[a] = block.begin[a];
    box.extent[a] = block.extent[a];
  }
  for (const auto& p : all) box.biases.push_back(by_channel ? p[0] : 0);
  box.make = [block, all](int64_t k, int32_t sum) {
    sluice_vta_block one = block;
    one.extent[3] = std::min<uint32_t>(16, block.extent[3] - uint32_t(k) / 16 * 16);
    sluice_vta_rows of;
    sluice_vta_scaling(
        &one, reinterpret_cast<const int32_t(*)[3]>(&all[size_t(k) / 16 * 16]), &of);
    return sluice_vta_scaled(&one, &of, uint32_t(k) % 16, sum);
  };
  return box;
}

class VtaRun : public target_test::Host {
 public:
  VtaRun(const void* graph, size_t graph_size, const void* plan, size_t plan_size)
      : Host(graph, graph_size, plan, plan_size) {
    result_.error = error_;
  }

  Run Execute(uint64_t seed, uint64_t order, const Change& change = nullptr,
              size_t depth = 255) {
    change_ = change;
    return ExecuteOn(seed, order, [&](std::vector<uint8_t>* dram) {
      return std::make_unique<Model>(dram, order, depth);
    });
  }
  // Changes what the lowering is told.
  using Adjust = std::function<void(std::vector<sluice_vta_layer>*, sluice_vta_input*)>;
  void Tell(const Adjust& adjust) { adjust_ = adjust; }
  // From now on VTA makes bytes of sums where it can.
  void Scale() { scales_ = true; }
  // The same on another machine. The second seed: of what DRAM has where nothing was
  // written.
  Run ExecuteOn(uint64_t seed, uint64_t garbage_seed, const MakeModel& make) {
    if (!result_.error.empty()) return result_;
    sluice_vta_input input{};
    input.staging = staging_ = static_cast<uint32_t>(Place(4096, 256));
    for (int r = 0; r < SLUICE_REGION_COUNT; ++r) {
      input.region[r] = static_cast<uint32_t>(base_[r]);
    }
    const uint32_t size = staging_ + SLUICE_VTA_STAGING;
    // Bytes that nothing writes differ from run to run.
    const sluice_sim::Bytes garbage = sluice_sim::SeededBytes(garbage_seed + 77, size);
    dram_.assign(garbage.begin(), garbage.end());
    if (result_.error = Fill(seed); !result_.error.empty()) return result_;
    model_ = make(&dram_);
    std::vector<uint32_t> home(
        static_cast<size_t>(sluice_walk_region_bytes(&walker_, SLUICE_REGION_GBUF)));
    std::vector<sluice_vta_layer> layers;
    for (const sluice_sim::Layer& layer : graph_.layers) {
      const auto channels = [&](uint32_t t) {
        return static_cast<uint32_t>(graph_.tensors[t].extent[3]);
      };
      layers.push_back({layer.inputs.empty() ? 0 : channels(layer.inputs[0]),
                        layer.outputs.empty() ? 0 : channels(layer.outputs[0])});
    }
    const auto state = std::make_unique<sluice_vta_state>();
    input.walker = &walker_;
    input.layers = layers.data();
    input.layer_count = static_cast<uint32_t>(layers.size());
    input.home = home.data();
    input.home_count = static_cast<uint32_t>(home.size());
    input.state = state.get();
    if (adjust_) adjust_(&layers, &input);
    const sluice_vta_port port = {
        this, Instruct, Start, Read, Write, Call, scales_ ? Scaled : nullptr};
    result_.code = sluice_vta_lower(&input, &port, &result_.counts);
    if (result_.code != 0 && result_.error.empty()) {
      result_.error =
          std::string(state->why) + ", layer " + std::to_string(state->layer);
    }
    const sluice_vta_counts& c = result_.counts;
    result_.counts_hold = std::equal(c.moved, c.moved + 5, model_->moved) &&
                          c.gemm_cycles == model_->gemms &&
                          c.alu_cycles == model_->alus;
    result_.hash = Hash(&result_.outputs);
    return result_;
  }

 private:
  static VtaRun* Self(void* user) { return static_cast<VtaRun*>(user); }
  static int Instruct(void* user, const unsigned char* bytes) {
    Instruction i;
    std::memcpy(i.data(), bytes, i.size());
    if (Self(user)->change_) Self(user)->change_(Self(user)->result_.instructions, &i);
    ++Self(user)->result_.instructions;
    Self(user)->Note(i.data(), 16);
    Self(user)->model_->Push(i);
    return 0;
  }
  static int Start(void* user) {
    Self(user)->result_.error = Self(user)->model_->Run();
    return Self(user)->result_.error.empty() ? 0 : 1;
  }
  void Note(const void* bytes, size_t size) {
    result_.commands_fnv1a = sluice_output_hash(
        result_.commands_fnv1a, static_cast<const uint8_t*>(bytes), size);
  }
  bool Outside(uint32_t address, uint32_t bytes) const {
    return uint64_t{address} + bytes > dram_.size();
  }
  static int Read(void* user, uint32_t address, void* to, uint32_t bytes) {
    if (Self(user)->Outside(address, bytes)) return 1;
    std::memcpy(to, Self(user)->dram_.data() + address, bytes);
    return 0;
  }
  static int Write(void* user, uint32_t address, const void* from, uint32_t bytes) {
    if (Self(user)->Outside(address, bytes)) return 1;
    std::memcpy(Self(user)->dram_.data() + address, from, bytes);
    if (address >= Self(user)->staging_) Self(user)->Note(from, bytes);
    return 0;
  }
  static int Scaled(void* user, const sluice_vta_block* block, sluice_vta_rows* rows) {
    return Self(user)->Answer(*block, rows);
  }
  // Its parameters are those in DRAM; a box that VTA is asked for is kept.
  int Answer(const sluice_vta_block& block, sluice_vta_rows* rows) {
    const uint32_t tensor = graph_.layers[block.layer].input(2);
    const bool by_channel = tensor != sluice_sim::kAbsent;
    std::vector<std::array<int32_t, 3>> all(block.extent[3]);
    for (size_t k = 0; k < all.size(); ++k) {
      std::copy_n(block.parameters, 3, all[k].begin());
      if (by_channel)
        std::memcpy(&all[k], At(tensor).at(0, 0, block.begin[3] + k, 0), 12);
    }
    const auto parameters = reinterpret_cast<const int32_t(*)[3]>(all.data());
    if (sluice_vta_scaling(&block, parameters, rows) == 0 || rows != nullptr) {
      return rows != nullptr;
    }
    result_.scaled.push_back(vta_test::BoxOf(block, all, by_channel));
    return 1;
  }
  static int Call(void* user, const sluice_walker_t*, const sluice_walk_visit_t* visit,
                  const sluice_host_call_t* call) {
    Self(user)->result_.error = Self(user)->RunOnHost(*visit, *call);
    return Self(user)->result_.error.empty() ? 0 : 1;
  }
  Run result_;
  uint32_t staging_ = 0;
  std::unique_ptr<Model> model_;
  Change change_;
  bool scales_ = false;
  Adjust adjust_;
};

}  // namespace vta_test

#endif  // SLUICE_TESTS_TARGETS_VTA_RUN_ON_VTA_H_
