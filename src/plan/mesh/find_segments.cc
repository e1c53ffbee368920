// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/find_segments.h"

#include "plan/mesh/node_pricer.h"
#include "plan/mesh/segment_network.h"

namespace sluice {

Status FindSegments(const SegmentSearch& search, Budget* budget, Arena* arena,
                    SegmentSchedule* schedule, Diagnostic* diagnostic) {
  const Graph& graph = search.graph;
  const Hardware& hardware = search.hardware;
  const Lowering& lowering = search.lowering;
  const sluice_schedule_options_t& options = search.options;
  Hardware one = WithNodeLeakage(hardware);
  Span<MemoryLevel> levels;
  SLUICE_TRY(arena->Allocate(one.levels.size(), &levels));
  for (size_t l = 0; l < levels.size(); ++l) levels[l] = hardware.levels[l];
  levels[one.scratchpad_level].capacity_bytes = search.capacity;
  one.levels = levels;
  Span<SegmentLayer> layers;
  SLUICE_TRY(NetworkOfGraph({graph, one, lowering, 0}, arena, &layers, diagnostic));
  SegmentOptions wanted;
  if (search.alone) wanted.solver = SegmentSolver::kLayers;
  const bool stated = options.energy_exponent != 0 || options.delay_exponent != 0;
  wanted.energy_exponent = stated ? options.energy_exponent : 1;
  wanted.delay_exponent = stated ? options.delay_exponent : 1;
  NodeParallelOptions nodes;
  nodes.node.constraints.energy_exponent = wanted.energy_exponent;
  nodes.node.constraints.delay_exponent = wanted.delay_exponent;
  NodePricer pricer(layers, one, nodes, budget, arena->memory());
  ChosenSegments chosen;
  SLUICE_TRY(ChooseSegments({layers, one, wanted, pricer.pricer()}, budget, arena,
                            &chosen, diagnostic));
  size_t work = 0;
  for (const uint8_t view : lowering.is_view) work += view == 0 ? 1 : 0;
  if (chosen.schedule.order.size() != work) return Status::kUnsupported;
  *schedule = chosen.schedule;
  return Status::kOk;
}

}  // namespace sluice
