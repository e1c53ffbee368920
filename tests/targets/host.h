// SPDX-License-Identifier: Apache-2.0
// What the host of any target does: DRAM with a graph's tensors where its plan has them, the
// outputs' hash, layers that the planner gave to the host.
//
// Input    graph.fbs and plan.fbs, the seed of the inputs
// Output   bytes of DRAM; the hash as the simulator's
// Errors   a sentence
#ifndef SLUICE_TESTS_TARGETS_HOST_H_
#define SLUICE_TESTS_TARGETS_HOST_H_

#include <string>
#include <vector>

#include "firmware-sim/reference.h"
#include "firmware-sim/sim.h"
#include "firmware-sim/walker.h"
#include "firmware-sim/wire.h"
#include "sluice/lowering.h"

namespace target_test {

class Host {
 public:
  Host(const void* graph, size_t graph_size, const void* plan, size_t plan_size) {
    error_ = sluice_sim::ReadGraph(graph, graph_size, &graph_);
    if (error_.empty()) {
      error_ = sluice_sim::ReadPlan(plan, plan_size, graph_.tensors.size(), &plan_);
    }
    if (error_.empty() && sluice_walk_open(&walker_, plan_.image, plan_.image_size,
                                           nullptr) != SLUICE_WALK_OK) {
      error_ = "the walker refuses the stream";
    }
    sluice_walk_set_parameters(&walker_, graph_.parameter_min.data(),
                               static_cast<uint32_t>(graph_.parameter_min.size()));
  }

 protected:
  // Regions one behind the other from `at` on, each at a multiple of `granule`; where they
  // end. GBUF's is the image of the scratchpad.
  uint64_t Place(uint64_t at, uint64_t granule) {
    for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
      base_[r] = at;
      at += (sluice_walk_region_bytes(&walker_, r) + granule - 1) / granule * granule;
    }
    return at;
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

  // An operand of the stream, as it lies in DRAM; GBUF's in the image.
  sluice_sim::Box BoxOf(const sluice_walk_visit_t& visit, uint32_t operand) {
    sluice_walk_operand_t o;
    sluice_walk_operand(&walker_, &visit, operand, &o);
    sluice_sim::Box box;
    box.data = dram_.data() + base_[o.region] + o.offset;
    box.dtype = static_cast<uint8_t>(o.dtype);
    for (size_t a = 0; a < 4; ++a) {
      box.extent[a] = o.extent[a];
      box.stride[a] = o.stride[a];
    }
    return box;
  }

  std::string RunOnHost(const sluice_walk_visit_t& visit,
                        const sluice_host_call_t& call) {
    sluice_kernel_t kernel;
    sluice_walk_kernel(&walker_, visit.instance, call.kernel, &kernel);
    const sluice_sim::Layer& layer = graph_.layers[kernel.layer];
    sluice_sim::Values values(graph_.tensors.size());
    uint32_t operand = call.first_operand;
    for (uint32_t t : layer.inputs) {
      if (t == sluice_sim::kAbsent) continue;
      const sluice_sim::Box from = BoxOf(visit, operand++);
      values[t].resize(static_cast<size_t>(graph_.tensors[t].bytes));
      sluice_sim::CopyBox(
          from, sluice_sim::DenseBox(values[t].data(), from.dtype, from.extent));
    }
    const std::string error =
        sluice_sim::RunLayer(graph_, layer, &values, graph_.parameter_min);
    for (uint32_t t : layer.outputs) {
      if (!error.empty()) break;
      const sluice_sim::Box to = BoxOf(visit, operand++);
      sluice_sim::CopyBox(sluice_sim::DenseBox(values[t].data(), to.dtype, to.extent),
                          to);
    }
    return error;
  }

  std::string error_;  // the first
  sluice_sim::Graph graph_;
  sluice_sim::Plan plan_;
  sluice_walker_t walker_{};
  std::vector<uint8_t> dram_;
  uint64_t base_[SLUICE_REGION_COUNT]{};
};

}  // namespace target_test

#endif  // SLUICE_TESTS_TARGETS_HOST_H_
