// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_pricer.h"

namespace sluice {

Hardware WithNodeLeakage(const Hardware& hardware) {
  Hardware one = hardware;
  one.leakage_pj_per_cycle /= static_cast<double>(NodesOf(WholeMesh(hardware)));
  return one;
}

namespace {

Status PriceOnNodes(void* user, const LayerQuery& query, LayerPrice* price,
                    Diagnostic* diagnostic) {
  NodePricer* self = static_cast<NodePricer*>(user);
  ArenaScope scope(&self->arena);
  NodeParallelOptions options = self->options;
  options.terms = query.terms;
  options.stay = query.stay;
  options.table = &self->table;
  Hardware hardware = self->hardware;
  Span<MemoryLevel> levels;
  if (query.reserved_bytes > 0) {
    SLUICE_TRY(self->arena.Allocate(hardware.levels.size(), &levels));
    for (size_t l = 0; l < levels.size(); ++l) levels[l] = hardware.levels[l];
    int64_t* capacity = &levels[levels.size() - 2].capacity_bytes;
    if (*capacity != 0 && *capacity <= query.reserved_bytes) {
      return Fail(diagnostic, Status::kInfeasible, "segments")
          .Text("tensors that wait on the chip leave no room");
    }
    if (*capacity != 0) *capacity -= query.reserved_bytes;
    hardware.levels = levels;
  }
  NodeMapping mapped;
  SLUICE_TRY(MapOnNodes(
      {self->layers[query.position].problem, hardware, query.region, options},
      self->budget, &self->arena, &mapped, diagnostic));
  price->split = mapped.split;
  price->nest = mapped.nest;
  price->kept = mapped.kept;
  price->cost = mapped.cost;
  return Status::kOk;
}

}  // namespace

LayerPricer NodePricer::pricer() { return LayerPricer{this, PriceOnNodes}; }

}  // namespace sluice
