// SPDX-License-Identifier: Apache-2.0
// KAPLA within a layer: unit tensors of the array, stacking, caching, loop orders.
//
// Input    a problem, hardware with its array below level 1, options
// Output   MapKapla: the nest of the exact search; where that does not apply or proves
//          nothing, the better of it and of the published greedy search (on deeper
//          hierarchies a local search, nest_search.h). MapLayers: one entry for each
//          distinct problem, and the entry of every layer
// Errors   kBadInput; kInfeasible with bytes (the greedy search also when the unit
//          tensor does not fit); kUnsupported: more than four levels; kStopped
// Cost     exact: see conv_exact.h; greedy: 6^(levels-1) orders, about 0.3 ms with
//          three levels. Scratch from the arena; MapLayers leaves its entries there
// Source   KAPLA section IV-C, Algorithm 1. Deviations of the greedy search: window
//          dims are tiled as rows and columns rather than as a folded count; factors
//          that do not divide leave a smaller last tile; schemes are ranked by
//          model/layer_cost without leakage
#ifndef SLUICE_SOLVE_MAPPING_KAPLA_KAPLA_H_
#define SLUICE_SOLVE_MAPPING_KAPLA_KAPLA_H_

#include <stdint.h>

#include "solve/mapping/conv/conv_exact.h"

namespace sluice {

enum class Dataflow : uint8_t {
  kSystolic = 0,       // outputs over the first axis, channels over the second
  kRowStationary = 1,  // filter rows over the first axis, output rows over the second
};

struct KaplaOptions {
  Dataflow dataflow = Dataflow::kSystolic;
  bool greedy = false;  // the published search only
  MapConstraints constraints;
};

struct KaplaRequest {
  const MappingProblem& problem;
  const Hardware& hardware;
  const KaplaOptions& options;
};

Status MapKaplaGreedy(const KaplaRequest& request, Budget* budget, MappedNest* mapped,
                      Diagnostic* diagnostic);

Status MapKapla(const KaplaRequest& request, Budget* budget, Arena* arena,
                MappedNest* mapped, Diagnostic* diagnostic);

struct MappingTable {
  Span<MappingProblem> problems;  // distinct
  Span<MappedNest> nests;         // one each
  Span<uint32_t> entry;           // of every layer
};

struct LayersRequest {
  Span<const MappingProblem> layers;
  const Hardware& hardware;
  const KaplaOptions& options;
};

// The diagnostic's layer is the index in `layers`.
Status MapLayers(const LayersRequest& request, Budget* budget, Arena* arena,
                 MappingTable* table, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_SOLVE_MAPPING_KAPLA_KAPLA_H_
