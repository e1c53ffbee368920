// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/same_run.h"

#include <string.h>

namespace sluice {
namespace {

template <typename T>
bool SameBytes(Span<const T> a, Span<const T> b) {
  return a.size() == b.size() &&
         (a.empty() || memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

bool SameLayer(const FusionRun& a, const FusionRun& b, uint32_t i) {
  const Layer& x = a.executed(i);
  const Layer& y = b.executed(i);
  if (x.op != y.op || x.inputs.size() != y.inputs.size() ||
      !SameBytes<int32_t>(x.attributes, y.attributes) ||
      (a.append[i] == kNone) != (b.append[i] == kNone) ||
      a.in_dram[i] != b.in_dram[i]) {
    return false;
  }
  const FusionLayer& l = a.problem.layers[i];
  const FusionLayer& m = b.problem.layers[i];
  return memcmp(l.extent, m.extent, sizeof l.extent) == 0 &&
         l.element_bytes == m.element_bytes && l.weight_bytes == m.weight_bytes &&
         l.parameter_bytes == m.parameter_bytes && l.axes == m.axes &&
         l.output == m.output && l.inputs == m.inputs;
}

bool SameTensor(const Graph& graph, uint32_t a, uint32_t b) {
  const Tensor& x = graph.tensors[a];
  const Tensor& y = graph.tensors[b];
  return memcmp(x.extent, y.extent, sizeof x.extent) == 0 && x.dtype == y.dtype;
}

}  // namespace

bool SameRun(const FusionRun& a, const FusionRun& b) {
  if (a.layer.size() != b.layer.size() || !SameBytes<uint8_t>(a.role, b.role) ||
      a.problem.inputs.size() != b.problem.inputs.size() ||
      a.problem.externals.size() != b.problem.externals.size()) {
    return false;
  }
  for (uint32_t i = 0; i < a.layer.size(); ++i) {
    if (!SameLayer(a, b, i)) return false;
  }
  for (size_t e = 0; e < a.problem.inputs.size(); ++e) {
    const FusionInput& x = a.problem.inputs[e];
    const FusionInput& y = b.problem.inputs[e];
    if (x.source != y.source || x.fused_axes != y.fused_axes ||
        !SameTensor(*a.graph, a.edge_tensor[e], b.edge_tensor[e]) ||
        !SameTensor(*a.graph, a.edge_source[e], b.edge_source[e])) {
      return false;
    }
  }
  return true;
}

}  // namespace sluice
