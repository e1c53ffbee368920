// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/layer_order.h"

namespace sluice {

namespace {

// The layer behind which layer i is ordered: the last of i's producers. kNone if that
// producer feeds another layer too, or if i leads.
uint32_t LeaderOf(Span<const UnorderedLayer> network, Span<const uint32_t> readers,
                  uint32_t i) {
  const UnorderedLayer& layer = network[i];
  if (layer.leads || layer.producers.empty()) return kNone;
  const uint32_t last = layer.producers[layer.producers.size() - 1];
  return readers[last] == 1 ? last : kNone;
}

struct Order {
  Span<uint32_t> vertex;  // of a layer: the layer that starts it
  Span<uint32_t> behind;  // next layer of the same vertex, or kNone
  Span<uint32_t> first;   // edges from a vertex: [first[v], first[v + 1]) of next
  Span<uint32_t> next;
  Span<uint32_t> list;  // layers in their new order
};

// Edges between vertices, with repetitions.
Status FindEdges(Span<const UnorderedLayer> network, Arena* arena, Order* order) {
  const size_t n = network.size();
  SLUICE_TRY(arena->Allocate(n + 2, &order->first));
  size_t edges = 0;
  for (int fill = 0; fill < 2; ++fill) {
    for (uint32_t i = 0; i < n; ++i) {
      const Span<const uint32_t> lists[2] = {network[i].producers, network[i].before};
      for (const Span<const uint32_t>& list : lists) {
        for (uint32_t p : list) {
          const uint32_t from = order->vertex[p], to = order->vertex[i];
          if (from == to) continue;
          if (fill == 0) {
            ++order->first[from + 2];
            ++edges;
          } else {
            order->next[order->first[from + 1]++] = to;
          }
        }
      }
    }
    if (fill == 1) break;
    for (size_t v = 2; v < n + 2; ++v) order->first[v] += order->first[v - 1];
    SLUICE_TRY(arena->Allocate(edges, &order->next));
  }
  return Status::kOk;
}

// Lists the vertices in reverse post-order: each one before those that its edges lead
// to.
Status Walk(Span<const UnorderedLayer> network, Arena* arena, Order* order) {
  const uint32_t n = static_cast<uint32_t>(network.size());
  Span<uint32_t> stack, at;
  Span<uint8_t> seen;
  SLUICE_TRY(arena->Allocate(size_t{n} + 1, &stack));
  SLUICE_TRY(arena->Allocate(n, &at));
  SLUICE_TRY(arena->Allocate(n, &seen));
  SLUICE_TRY(arena->Allocate(n, &order->list));
  uint32_t write = n;
  for (uint32_t root = n; root-- > 0;) {
    if (order->vertex[root] != root || seen[root] != 0) continue;
    size_t depth = 0;
    stack[depth++] = root;
    seen[root] = 1;
    while (depth > 0) {
      const uint32_t v = stack[depth - 1];
      const uint32_t edges = order->first[v + 1] - order->first[v];
      if (at[v] < edges) {
        const uint32_t to = order->next[order->first[v + 1] - 1 - at[v]++];
        if (seen[to] != 0) continue;
        seen[to] = 1;
        stack[depth++] = to;
        continue;
      }
      --depth;
      uint32_t count = 0;
      for (uint32_t i = v; i != kNone; i = order->behind[i]) ++count;
      write -= count;
      count = write;
      for (uint32_t i = v; i != kNone; i = order->behind[i]) order->list[count++] = i;
    }
  }
  return Status::kOk;
}

// The same layer with producers by their new places, ascending.
Status CopyLayer(const UnorderedLayer& from, Span<const uint32_t> place, Arena* arena,
                 SegmentLayer* to) {
  to->problem = from.problem;
  to->layer = from.layer;
  to->leads = from.leads;
  to->stored = from.stored;
  to->whole = from.whole;
  to->input_words = from.input_words;
  Span<uint32_t> producers;
  Span<int64_t> share;
  SLUICE_TRY(arena->Allocate(from.producers.size(), &producers));
  SLUICE_TRY(arena->Allocate(from.producers.size(), &share));
  for (size_t j = 0; j < producers.size(); ++j) {
    const uint32_t p = place[from.producers[j]];
    size_t at = j;
    for (; at > 0 && producers[at - 1] > p; --at) {
      producers[at] = producers[at - 1];
      share[at] = share[at - 1];
    }
    producers[at] = p;
    share[at] = from.share[j];
  }
  to->producers = producers;
  to->share = share;
  Span<uint32_t> before;
  SLUICE_TRY(arena->Allocate(from.before.size(), &before));
  for (size_t j = 0; j < before.size(); ++j) before[j] = place[from.before[j]];
  to->before = before;
  return Status::kOk;
}

}  // namespace

Status OrderLayers(Span<const UnorderedLayer> network, Arena* arena,
                   Span<SegmentLayer>* layers) {
  const uint32_t n = static_cast<uint32_t>(network.size());
  Order order;
  Span<uint32_t> readers, place;
  SLUICE_TRY(arena->Allocate(n, &readers));
  SLUICE_TRY(arena->Allocate(n, &place));
  SLUICE_TRY(arena->Allocate(n, &order.vertex));
  SLUICE_TRY(arena->Allocate(n, &order.behind));
  SLUICE_TRY(arena->Allocate(n, layers));
  for (const UnorderedLayer& layer : network) {
    for (uint32_t p : layer.producers) ++readers[p];
    for (uint32_t p : layer.before) ++readers[p];
  }
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t leader = LeaderOf(network, readers, i);
    order.vertex[i] = leader == kNone ? i : order.vertex[leader];
    order.behind[i] = kNone;
    if (leader != kNone) order.behind[leader] = i;
  }
  SLUICE_TRY(FindEdges(network, arena, &order));
  SLUICE_TRY(Walk(network, arena, &order));
  for (uint32_t k = 0; k < n; ++k) place[order.list[k]] = k;
  for (uint32_t k = 0; k < n; ++k) {
    SLUICE_TRY(CopyLayer(network[order.list[k]], place, arena, &(*layers)[k]));
  }
  return Status::kOk;
}

}  // namespace sluice
