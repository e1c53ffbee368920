// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_deal.h"

#include "base/checked.h"
#include "model/granules.h"
#include "model/tile_geometry.h"
#include "solve/baseline/tiling.h"

namespace sluice {

int64_t StretchesOf(const SharedRole& role, const NodeDeal& deal, uint32_t axis) {
  int64_t stretches = 1;
  bool depends = false;
  for (const uint8_t v : deal.order[axis]) {
    const int32_t parts = deal.parts[axis][v];
    if (parts == 1) continue;
    depends = depends || role.depends[v];
    if (depends && !role.depends[v]) stretches *= parts;
  }
  return stretches;
}

namespace {

constexpr int kLoopC = kAxes;

NodeDeal Undealt() {
  NodeDeal deal;
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    for (uint8_t v = 0; v < kNodeLoops; ++v) {
      deal.parts[axis][v] = 1;
      deal.order[axis][v] = v;
    }
  }
  return deal;
}

// A byte on a link against one from DRAM, in energy and in time that others lose.
constexpr double kLinkToll = 1.0 / 64;

double CostOfOrder(Span<const SharedRole> roles, double sum_bytes,
                   const NodeDeal& deal) {
  double cost = 0;
  for (const SharedRole& role : roles) {
    cost += role.bytes * static_cast<double>(StretchesOf(role, deal, kColumns) *
                                             StretchesOf(role, deal, kRows));
  }
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    int64_t links = 1;
    for (const uint8_t v : deal.order[axis]) {
      if (v == kLoopC) break;
      links *= deal.parts[axis][v];
    }
    if (deal.parts[axis][kLoopC] > 1) {
      cost += kLinkToll * sum_bytes * static_cast<double>(links);
    }
  }
  return cost;
}

// The next permutation in ascending order; false after the last.
bool NextOrder(uint8_t order[kNodeLoops]) {
  int i = kNodeLoops - 1;
  while (i > 0 && order[i - 1] >= order[i]) --i;
  if (i == 0) return false;
  int j = kNodeLoops - 1;
  while (order[j] <= order[i - 1]) --j;
  const uint8_t moved = order[i - 1];
  order[i - 1] = order[j];
  order[j] = moved;
  for (int a = i, b = kNodeLoops - 1; a < b; ++a, --b) {
    const uint8_t first = order[a];
    order[a] = order[b];
    order[b] = first;
  }
  return true;
}

// A sum over nodes makes the nodes wait for each other: its estimate must be a fifth
// lower to win, and the last node begins when all others have ended their first piece
// of the output.
double ChainToll(const TiledLayer& tiled, const CutRule& rule, const Tiling& tiling) {
  constexpr double kLeastToll = 1.25;
  const int32_t links = tiled.parts[kLoopC];
  if (links == 1) return 1;
  const Tensor& out = tiled.graph.tensors[tiled.layer.outputs[0]];
  double pieces = 1;
  for (int a = 0; a < kAxes; ++a) {
    const int32_t part = PartExtent(out.extent[a], tiled.parts[a], rule.unit[a]);
    pieces *= static_cast<double>(CeilDivide(part, tiling.chunk[a]));
  }
  return Max(kLeastToll, (pieces + links - 1) / pieces);
}

}  // namespace

// Each axis by itself is enough: what one axis costs only scales what the other one costs.
void OrderDeal(Span<const SharedRole> roles, double sum_bytes, NodeDeal* deal) {
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    NodeDeal best = *deal;
    double least = CostOfOrder(roles, sum_bytes, best);
    NodeDeal next = *deal;
    for (uint8_t v = 0; v < kNodeLoops; ++v) next.order[axis][v] = v;
    do {
      const double cost = CostOfOrder(roles, sum_bytes, next);
      if (cost >= least) continue;
      least = cost;
      best = next;
    } while (NextOrder(next.order[axis]));
    *deal = best;
  }
}

bool CanSplitC(const Layer& layer, int32_t channels) {
  return channels > 1 && MaySplitSum(layer);
}

void RestrictDeal(const Graph& graph, const Layer& layer, NodeDeal* deal) {
  const CutRule rule = CutsOf(graph, layer);
  for (int v = 0; v < kNodeLoops; ++v) {
    const bool can = v == kLoopC ? CanSplitC(layer, AccumulatedChannels(graph, layer))
                                 : rule.cuttable[v];
    for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
      if (!can) deal->parts[axis][v] = 1;
    }
  }
}

// The loop of each dim of the layer's nest; -1: of the filter, never dealt out.
const int* LoopsOf(const Graph& graph, const Layer& layer) {
  static constexpr int kWindows[kDims] = {0, 3, kLoopC, 1, 2, -1, -1, 3};
  static constexpr int kImages[kDims] = {0, 3, kLoopC, 2, 2, -1, -1, 0};
  static constexpr int kOneImage[kDims] = {0, 3, kLoopC, 2, 2, -1, -1, 1};
  static constexpr int kTaps[kDims] = {3, 0, kLoopC, 1, 2, -1, -1, 0};
  switch (TraitsOf(layer).nest) {
    case NestRule::kMatmul:
      return graph.tensors[layer.outputs[0]].extent[0] > 1 ? kImages : kOneImage;
    case NestRule::kGradient:
      return kTaps;
    case NestRule::kNoNest:  // one operation per word, dealt out by its axes
    case NestRule::kConv:
    case NestRule::kTransposed:
    case NestRule::kRows:
    case NestRule::kPool:
    case NestRule::kPerElement:
      break;
  }
  return kWindows;
}

NodeDeal DealOf(const Graph& graph, const Layer& layer, const NodeSplit& split) {
  const int* loop = LoopsOf(graph, layer);
  NodeDeal deal = Undealt();
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    uint8_t next = 0;
    bool placed[kNodeLoops] = {};
    for (uint32_t i = 0; i < kDims; ++i) {
      const int v = loop[split.order[axis][i]];
      if (v < 0) continue;
      deal.parts[axis][v] *= split.factor[axis][split.order[axis][i]];
      if (placed[v]) continue;
      placed[v] = true;
      deal.order[axis][next++] = static_cast<uint8_t>(v);
    }
    for (uint8_t v = 0; v < kNodeLoops; ++v) {
      if (!placed[v]) deal.order[axis][next++] = v;
    }
  }
  RestrictDeal(graph, layer, &deal);
  return deal;
}

NodeDeal ChooseDeal(const Graph& graph, const Hardware& hardware, const Layer& layer,
                    const NodeRegion& region, int64_t capacity, Arena* scratch) {
  TiledLayer tiled = {graph, hardware, layer, OperandsOf(layer),
                      AccumulatedChannels(graph, layer)};
  const Tensor& out = graph.tensors[layer.outputs[0]];
  const CutRule rule = CutsOn(tiled.hardware.array, graph, layer);
  NodeDeal best = Undealt();
  double best_cycles = -1;
  for (int a = 0; a < kNodeLoops * kNodeLoops; ++a) {
    const int along[kMeshAxes] = {a / kNodeLoops, a % kNodeLoops};
    NodeDeal deal = Undealt();
    for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
      const int v = along[axis];
      const int64_t most = v == kLoopC ? CeilDivide(tiled.channels, rule.sum_unit)
                                       : CeilDivide(out.extent[v], rule.unit[v]);
      const int64_t left = CeilDivide(most, deal.parts[0][v]);
      deal.parts[axis][v] = static_cast<int32_t>(
          Max<int64_t>(1, Min(int64_t{region.extent[axis]}, left)));
    }
    RestrictDeal(graph, layer, &deal);
    for (int v = 0; v < kNodeLoops; ++v) {
      tiled.parts[v] = deal.parts[kColumns][v] * deal.parts[kRows][v];
    }
    Tiling tiling = {};
    int64_t smallest = 0;
    if (ChooseTiling(tiled, capacity, scratch, &tiling, &smallest) != Status::kOk) {
      continue;
    }
    const double cycles = tiling.cycles * ChainToll(tiled, rule, tiling);
    if (best_cycles >= 0 && cycles >= best_cycles) continue;
    best_cycles = cycles;
    best = deal;
  }
  return best;
}

}  // namespace sluice
