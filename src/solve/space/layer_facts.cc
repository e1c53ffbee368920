// SPDX-License-Identifier: Apache-2.0
#include "solve/space/layer_facts.h"

#include "base/checked.h"
#include "model/tile_geometry.h"

namespace sluice {
namespace {

constexpr int64_t kHandShare = 4;  // HandsOnMuch: more than 1 / kHandShare is much
constexpr size_t kNearOutput = 6;  // StoresSoon: layers

// MACs of a whole layer.
int64_t MacsOf(const SpaceProblem& p, uint32_t at) {
  const Layer& layer = p.at(at);
  const int32_t channels = AccumulatedChannels(*p.graph, layer);
  return BoxesOf(*p.graph, layer, WholeBox(OutputOf(p, at)), 0, channels).macs;
}

}  // namespace

const Tensor& OutputOf(const SpaceProblem& p, uint32_t at) {
  return p.graph->tensors[p.at(at).outputs[0]];
}

int64_t ConstantsOf(const SpaceProblem& p, uint32_t at) {
  int64_t bytes = 0;
  for (uint32_t t : p.at(at).inputs) {
    if (t != kNone && p.roots[p.root_of[t]].constant) {
      bytes += p.roots[p.root_of[t]].bytes;
    }
  }
  return bytes;
}

int64_t TouchedBy(const SpaceProblem& p, uint32_t at) {
  int64_t bytes = 0;
  const Layer& layer = p.at(at);
  for (uint32_t t : layer.inputs) {
    if (t != kNone && !p.roots[p.root_of[t]].constant) {
      bytes += p.roots[p.root_of[t]].bytes;
    }
  }
  for (uint32_t t : layer.outputs) bytes += p.roots[p.root_of[t]].bytes;
  return bytes;
}

bool HandsOnMuch(const SpaceProblem& p, uint32_t at, uint32_t end) {
  for (; at + 1 < end; ++at) {
    const uint32_t root = p.root_of[p.at(at).outputs[0]];
    const int32_t images = Max(p.graph->tensors[root].extent[0], 1);
    const bool much = p.roots[root].bytes / images > p.capacity / kHandShare;
    if (much && !p.Lives(root, end)) return true;
  }
  return false;
}

bool StoresSoon(const SpaceProblem& p, uint32_t at) {
  const size_t end = Min(p.layer.size(), size_t{at} + kNearOutput);
  for (size_t k = at; k < end; ++k) {
    for (uint32_t t : p.at(static_cast<uint32_t>(k)).outputs) {
      if (p.roots[p.root_of[t]].output) return true;
    }
  }
  return false;
}

uint32_t ComputesMost(const SpaceProblem& problem, uint32_t first, uint32_t end) {
  uint32_t most = kNone;
  int64_t macs = 0;
  for (uint32_t p = first; p < end; ++p) {
    if (KindOf(problem.at(p).op) != LayerKind::kCompute) return kNone;
    const int64_t of = MacsOf(problem, p);
    if (of > macs) most = p;
    macs = Max(macs, of);
  }
  return most;
}

}  // namespace sluice
