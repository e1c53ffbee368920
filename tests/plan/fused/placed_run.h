// SPDX-License-Identifier: Apache-2.0
// A searched run of a small graph, for tests of the steps after the search.
#ifndef SLUICE_TESTS_PLAN_FUSED_PLACED_RUN_H_
#define SLUICE_TESTS_PLAN_FUSED_PLACED_RUN_H_

#include "plan/fused/section.h"
#include "tests/solve/fusion/lowered.h"

namespace sluice_test {

// All layers of the graph as one section. buffer_bytes: the scratchpad that the search has.
struct SearchedRun : Lowered {
  explicit SearchedRun(const GraphSpec& spec, int64_t buffer_bytes = 1 << 16)
      : Lowered(spec) {
    for (uint32_t l = 0; l < n.graph.layers.size(); ++l) {
      if (lowering.is_view[l] == 0) layers.push_back(l);
    }
    section.last = static_cast<uint32_t>(layers.size());
    REQUIRE(sluice::MakeFusionRun({n.graph, n.hardware, lowering, buffer_bytes},
                                  {layers.data(), layers.size()}, &n.arena,
                                  &section.run) == sluice::Status::kOk);
    // Scratch of PlaceOrTighten, one number for each layer of the run.
    REQUIRE(n.arena.Allocate(layers.size(), &section.more) == sluice::Status::kOk);
    model = sluice::ModelOf(&section.run);
    sluice::FusionOptions options;
    options.rounds = 100;
    REQUIRE(sluice::SolveFusion(section.run.problem, model, options,
                                {&budget, &n.arena, &n.diagnostic},
                                &section.result) == sluice::Status::kOk);
    REQUIRE(sluice::BuffersOfFused(section.run, section.result, &n.arena,
                                   &section.buffers) == sluice::Status::kOk);
  }
  // Whether no two buffers that live at the same time share a byte, and all end within
  // the capacity.
  bool Lies(sluice::Span<const int64_t> offsets, int64_t capacity) const {
    const sluice::Span<sluice::LiveRange> r = section.buffers.ranges;
    for (size_t i = 0; i < r.size(); ++i) {
      if (offsets[i] < 0 || offsets[i] + r[i].bytes > capacity) return false;
      for (size_t k = 0; k < i; ++k) {
        const bool meet = r[i].begin < r[k].end && r[k].begin < r[i].end;
        const bool touch = offsets[i] < offsets[k] + r[k].bytes &&
                           offsets[k] < offsets[i] + r[i].bytes;
        if (meet && touch) return false;
      }
    }
    return offsets.size() == r.size();
  }
  std::vector<uint32_t> layers;
  sluice::Budget budget;
  sluice::Section section = {};
  sluice::TileModel model = {};
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_PLAN_FUSED_PLACED_RUN_H_
