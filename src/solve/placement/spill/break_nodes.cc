// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/break_nodes.h"

#include "base/checked.h"
#include "solve/placement/spill/spill_model.h"

namespace sluice {
namespace {

// One width of sets for all graphs, because this code runs rarely.
constexpr int kWords = 16;

Status Find(const OperatorGraph& graph, Span<const uint32_t> order, Arena* arena,
            Span<BreakNode> out) {
  using Set = Bits<kWords>;
  ArenaScope scope(arena);
  SpillModel<kWords> m;
  SLUICE_TRY(m.Init(graph, arena));
  const uint32_t n = m.operators;
  Span<Set> before, after;  // ancestors, descendants
  SLUICE_TRY(arena->Allocate(n, &before));
  SLUICE_TRY(arena->Allocate(n, &after));
  for (uint32_t t = 0; t < n; ++t) {
    const uint32_t o = order[t];
    m.waits[o].ForEach([&](uint32_t p) {
      before[o].Add(p);
      before[o] = before[o] | before[p];
    });
  }
  for (uint32_t t = n; t-- > 0;) {
    const uint32_t o = order[t];
    m.waits[o].ForEach([&](uint32_t p) {
      after[p].Add(o);
      after[p] = after[p] | after[o];
    });
  }
  Set executed{}, live{};
  for (uint32_t t = 0; t + 1 < n; ++t) {
    const uint32_t o = order[t];
    uint32_t comparable = 0;
    (before[o] | after[o]).ForEach([&](uint32_t) { ++comparable; });
    executed.Add(o);
    live = live | m.inputs[o] | m.outputs[o];
    live.ForEach([&](uint32_t a) {
      if (m.readers[a].Within(executed)) live.Drop(a);
    });
    out[t].step = t + 1;
    out[t].incomparable = n - 1 - comparable;
    out[t].independent = comparable == n - 1 && live.Within(m.outputs[o]);
  }
  return Status::kOk;
}

}  // namespace

Status FindBreakNodes(const OperatorGraph& graph, Span<const uint32_t> order,
                      Arena* arena, Span<BreakNode>* out) {
  const size_t n = graph.operators.size();
  SLUICE_TRY(arena->Allocate(n == 0 ? 0 : n - 1, out));
  if (SpillItems(graph) > size_t{64} * kWords) return Status::kUnsupported;
  return Find(graph, order, arena, *out);
}

}  // namespace sluice
