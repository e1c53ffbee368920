// SPDX-License-Identifier: Apache-2.0
// Layers of a small graph on nodes of a mesh, for tests of single steps of the planner.
#ifndef SLUICE_TESTS_PLAN_MESH_NODE_LAYERS_H_
#define SLUICE_TESTS_PLAN_MESH_NODE_LAYERS_H_

#include <string>

#include "plan/mesh/mesh_run.h"
#include "plan/mesh/node_layer.h"
#include "presets/presets.h"

namespace sluice_test {

inline HardwareSpec MeshOf(uint32_t cols, uint32_t rows,
                           uint64_t scratchpad = 1 << 16) {
  HardwareSpec h;
  h.node_cols = cols;
  h.node_rows = rows;
  h.scratchpad_bytes = scratchpad;
  return h;
}

struct NodeLayers {
  explicit NodeLayers(const GraphSpec& spec, uint32_t cols = 2, uint32_t rows = 2)
      : n(spec, MeshOf(cols, rows)) {
    REQUIRE(sluice::Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
            sluice::Status::kOk);
  }
  sluice::NodeLayer* Make(uint32_t layer, const sluice::NodeRegion& region,
                          const sluice::NodeSplit& split = sluice::WholeOnEach(),
                          int32_t slices = 1) {
    sluice::NodeLayer* made = nullptr;
    const sluice::NodeDeal deal =
        sluice::DealOf(n.graph, lowering.executed[layer], split);
    REQUIRE(sluice::MakeNodeLayer(context, {layer, region, deal, slices}, &n.arena,
                                  &made) == sluice::Status::kOk);
    return made;
  }
  // The kinds of the program's steps from `first` on: L load, S store, C compute, F
  // forward; behind it the node.
  std::string Steps(size_t first = 0) const {
    std::string steps;
    for (size_t i = first; i < program.size(); ++i) {
      const sluice::Step s = program.step(i);
      steps += "LSCHF"[static_cast<int>(s.kind)] + std::to_string(s.node) + " ";
    }
    return steps;
  }
  Nouns n;
  sluice::Lowering lowering = {};
  sluice::TileCoster coster = {};
  sluice::Budget budget;
  sluice::Arena memory{&n.memory};
  sluice::Program program{&memory, n.hardware};
  sluice::NodeContext context{n.graph,
                              n.hardware,
                              lowering,
                              coster,
                              &budget,
                              &program,
                              n.hardware.node_cols* n.hardware.node_rows};
};

// The same on 4 x 4 nodes whose PEs have registers, as the mapper of meshes wants them.
struct KaplaLayers : NodeLayers {
  explicit KaplaLayers(const GraphSpec& spec) : NodeLayers(spec) {
    const std::vector<uint8_t> h = sluice::presets::LoadPreset("kapla-4x4");
    REQUIRE(sluice::ReadHardware(h.data(), h.size(), &n.arena, &n.hardware,
                                 &n.diagnostic) == sluice::Status::kOk);
    REQUIRE(sluice::Lower(n.graph, n.hardware, &n.arena, &lowering, &n.diagnostic) ==
            sluice::Status::kOk);
  }
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_PLAN_MESH_NODE_LAYERS_H_
