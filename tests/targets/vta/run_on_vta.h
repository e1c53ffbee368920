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
#include "firmware-sim/reference.h"
#include "firmware-sim/scaled.h"
#include "firmware-sim/sim.h"
#include "firmware-sim/wire.h"
#include "sluice/lowering.h"
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

// A graph and a plan; DRAM with the tensors where the plan has them.
class Memory {
 public:
  Memory(const void* graph, size_t graph_size, const void* plan, size_t plan_size) {
    error_ = sluice_sim::ReadGraph(graph, graph_size, &graph_);
    if (error_.empty()) {
      error_ = sluice_sim::ReadPlan(plan, plan_size, graph_.tensors.size(), &plan_);
    }
  }

 protected:
  uint32_t Place(const sluice_walker_t& walker, sluice_vta_input* input) {
    uint32_t at = 4096;
    for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
      base_[r] = input->region[r] = at;
      at += static_cast<uint32_t>((sluice_walk_region_bytes(&walker, r) + 255) / 256 *
                                  256);
    }
    input->staging = staging_ = at;
    return at + SLUICE_VTA_STAGING;
  }

  sluice_sim::Box At(size_t tensor) {
    const sluice_sim::Tensor& t = graph_.tensors[tensor];
    sluice_sim::Box box = sluice_sim::DenseBox(nullptr, t.dtype, t.extent);
    box.data =
        dram_.data() + base_[plan_.places[tensor].region] + plan_.places[tensor].offset;
    box.stride = plan_.places[tensor].stride;
    return box;
  }

  std::string Fill(uint64_t seed) {
    sluice_sim::Values values(graph_.tensors.size());
    std::string error = sluice_sim::FillConstants(graph_, ".", &values);
    if (error.empty()) error = sluice_sim::FillInputs(graph_, seed, nullptr, &values);
    for (size_t t = 0; error.empty() && t < values.size(); ++t) {
      const int kind = graph_.tensors[t].kind;
      if (kind != sluice_sim::kInput && kind != sluice_sim::kConstant &&
          kind != sluice_sim::kState) {
        continue;
      }
      if (plan_.places[t].region == 255) continue;
      if (kind == sluice_sim::kState) {
        error = sluice_sim::FillFromSource(graph_, t, ".", &values[t]);
        if (!error.empty()) break;
      }
      const sluice_sim::Box to = At(t);
      sluice_sim::CopyBox(sluice_sim::DenseBox(values[t].data(), to.dtype, to.extent),
                          to);
    }
    return error;
  }

  uint64_t Hash(std::vector<uint8_t>* outputs) {
    uint64_t hash = SLUICE_OUTPUT_HASH_START;
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      if (graph_.tensors[t].kind != sluice_sim::kOutput) continue;
      std::vector<uint8_t> bytes(static_cast<size_t>(graph_.tensors[t].bytes));
      const sluice_sim::Box from = At(t);
      sluice_sim::CopyBox(from,
                          sluice_sim::DenseBox(bytes.data(), from.dtype, from.extent));
      hash = sluice_output_hash(hash, bytes.data(), bytes.size());
      outputs->insert(outputs->end(), bytes.begin(), bytes.end());
    }
    return hash;
  }

  std::string error_;  // of graph and plan
  sluice_sim::Graph graph_;
  sluice_sim::Plan plan_;
  std::vector<uint8_t> dram_;
  uint32_t base_[SLUICE_REGION_COUNT]{}, staging_ = 0;
};

class VtaRun : public Memory {
 public:
  VtaRun(const void* graph, size_t graph_size, const void* plan, size_t plan_size)
      : Memory(graph, graph_size, plan, plan_size) {
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
    sluice_walker_t walker;
    if (sluice_walk_open(&walker, plan_.image, plan_.image_size, nullptr) !=
        SLUICE_WALK_OK) {
      result_.error = "the walker refuses the stream";
      return result_;
    }
    sluice_walk_set_parameters(&walker, graph_.parameter_min.data(),
                               static_cast<uint32_t>(graph_.parameter_min.size()));
    sluice_vta_input input{};
    const uint32_t size = Place(walker, &input);
    // Bytes that nothing writes differ from run to run.
    const sluice_sim::Bytes garbage = sluice_sim::SeededBytes(garbage_seed + 77, size);
    dram_.assign(garbage.begin(), garbage.end());
    if (result_.error = Fill(seed); !result_.error.empty()) return result_;
    model_ = make(&dram_);
    std::vector<uint32_t> home(
        static_cast<size_t>(sluice_walk_region_bytes(&walker, SLUICE_REGION_GBUF)));
    std::vector<sluice_vta_layer> layers;
    for (const sluice_sim::Layer& layer : graph_.layers) {
      const auto channels = [&](uint32_t t) {
        return static_cast<uint32_t>(graph_.tensors[t].extent[3]);
      };
      layers.push_back({layer.inputs.empty() ? 0 : channels(layer.inputs[0]),
                        layer.outputs.empty() ? 0 : channels(layer.outputs[0])});
    }
    const auto state = std::make_unique<sluice_vta_state>();
    input.walker = &walker;
    input.layers = layers.data();
    input.layer_count = static_cast<uint32_t>(layers.size());
    input.home = home.data();
    input.home_count = static_cast<uint32_t>(home.size());
    input.state = state.get();
    if (adjust_) adjust_(&layers, &input);
    const sluice_vta_port port = {
        this, Instruct, Start, Read, Write, Host, scales_ ? Scaled : nullptr};
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
    result_.scaled.push_back(BoxOf(block, all, by_channel));
    return 1;
  }
  static int Host(void* user, const sluice_walker_t* walker,
                  const sluice_walk_visit_t* visit, const sluice_host_call_t* call) {
    return Self(user)->RunOnHost(*walker, *visit, *call);
  }
  int RunOnHost(const sluice_walker_t& walker, const sluice_walk_visit_t& visit,
                const sluice_host_call_t& call) {
    sluice_kernel_t kernel;
    sluice_walk_kernel(&walker, visit.instance, call.kernel, &kernel);
    const sluice_sim::Layer& layer = graph_.layers[kernel.layer];
    sluice_sim::Values values(graph_.tensors.size());
    uint32_t operand = call.first_operand;
    const auto box = [&](uint32_t t) {
      sluice_walk_operand_t o;
      sluice_walk_operand(&walker, &visit, operand++, &o);
      sluice_sim::Box b = At(t);
      b.data = dram_.data() + base_[o.region] + o.offset;
      for (int a = 0; a < 4; ++a) b.stride[static_cast<size_t>(a)] = o.stride[a];
      return b;
    };
    for (uint32_t t : layer.inputs) {
      if (t == sluice_sim::kAbsent) continue;
      const sluice_sim::Box from = box(t);
      values[t].resize(static_cast<size_t>(graph_.tensors[t].bytes));
      sluice_sim::CopyBox(
          from, sluice_sim::DenseBox(values[t].data(), from.dtype, from.extent));
    }
    result_.error = sluice_sim::RunLayer(graph_, layer, &values);
    if (!result_.error.empty()) return 1;
    for (uint32_t t : layer.outputs) {
      const sluice_sim::Box to = box(t);
      sluice_sim::CopyBox(sluice_sim::DenseBox(values[t].data(), to.dtype, to.extent),
                          to);
    }
    return 0;
  }

  Run result_;
  std::unique_ptr<Model> model_;
  Change change_;
  bool scales_ = false;
  Adjust adjust_;
};

}  // namespace vta_test

#endif  // SLUICE_TESTS_TARGETS_VTA_RUN_ON_VTA_H_
