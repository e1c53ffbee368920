// SPDX-License-Identifier: Apache-2.0
#include "model/granules.h"

#include "base/checked.h"
#include "base/gcd.h"

namespace sluice {

namespace {

// The least common multiple, at most `extent`: there the axis is not cut.
int32_t Both(int64_t a, int64_t b, int64_t extent) {
  return static_cast<int32_t>(Min(a / Gcd(a, b) * b, Max<int64_t>(extent, 1)));
}

}  // namespace

Granules DemandedOf(const MacArray& array, const Graph& graph, const Layer& layer) {
  Granules granules = {{1, 1, 1, 1}, 1};
  const OpTraits& traits = TraitsOf(layer);
  if (array.demands == 0 || traits.work != Work::kMacs ||
      traits.form == Form::kWeightGradient) {
    return granules;
  }
  const int32_t* extent = graph.tensors[layer.outputs[0]].extent;
  if ((array.demands & 1) != 0) granules.unit[3] = static_cast<int32_t>(array.k);
  if ((array.demands & 2) != 0) granules.sum = static_cast<int32_t>(array.c);
  if ((array.demands & 4) != 0) {
    const int32_t p = static_cast<int32_t>(array.p);
    if (!array.crosses_rows || extent[1] == 1) {
      granules.unit[2] = p;
    } else {
      // Whole rows, as many as fill granules.
      granules.unit[2] = extent[2];
      granules.unit[1] = p / static_cast<int32_t>(Gcd(p, extent[2]));
    }
  }
  return granules;
}

CutRule CutsOn(const MacArray& array, const Graph& graph, const Layer& layer) {
  CutRule rule = CutsOf(graph, layer);
  if (array.demands == 0) return rule;
  const Granules granules = DemandedOf(array, graph, layer);
  const int32_t* extent = graph.tensors[layer.outputs[0]].extent;
  for (int a = 0; a < kAxes; ++a) {
    if (granules.unit[a] != 1) {
      rule.unit[a] = Both(rule.unit[a], granules.unit[a], extent[a]);
    }
  }
  if (granules.sum != 1) {
    rule.sum_unit =
        Both(rule.sum_unit, granules.sum, AccumulatedChannels(graph, layer));
  }
  return rule;
}

}  // namespace sluice
