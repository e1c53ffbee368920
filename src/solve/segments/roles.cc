// SPDX-License-Identifier: Apache-2.0
// The roles of a scheme's layers: regions, slices, where inputs come from.
#include "base/checked.h"
#include "solve/segments/space.h"

namespace sluice {

int64_t StepBytes(const MappingProblem& problem, const LayerTerms& terms,
                  uint32_t operand) {
  MappingProblem step = problem;
  step.extent[kDimN] /= terms.top_batch;
  if (IsChannelwise(problem)) {
    step.extent[kDimG] /= Max(terms.top_ifm, terms.top_ofm);
  } else {
    step.extent[kDimC] /= terms.top_ifm;
    step.extent[kDimK] /= terms.top_ofm;
  }
  return TileWords(step, operand, step.extent) * InnerBytes(problem, operand);
}

namespace {

void SetStage(const Space& space, const Run& run, const SegmentScheme& scheme,
              uint32_t i, LayerRole* role) {
  role->query = LayerQuery{};
  role->query.position = i;
  role->query.region = WholeMesh(space.hardware);
  role->query.terms.top_batch = scheme.top_batch;
  role->query.stay = true;
  role->producer = kNone;
  role->consumers = 0;
  role->fetched = 0;
  role->fine = false;
  role->stage = 0;
  if (scheme.kind != SegmentKind::kSpatial) return;
  role->stage = space.vertex_of[i] - run.vertex;
  role->query.region = space.regions[scheme.regions + role->stage];
  role->query.terms.top_ofm = scheme.groups[role->stage];
}

// Sets where the input of layer i comes from, and in what groups of channels.
void SetProducer(const Space& space, const Run& run, const SegmentScheme& scheme,
                 uint32_t i, LayerRole* roles) {
  LayerRole* role = &roles[i - run.first];
  const SegmentLayer& layer = space.layers[i];
  for (size_t k = 0; k < layer.producers.size(); ++k) {
    const uint32_t p = layer.producers[k];
    if (p < run.first) continue;
    LayerRole* from = &roles[p - run.first];
    role->producer = p;
    role->fetched = layer.input_words - layer.share[k];
    ++from->consumers;
    const bool here = from->stage == role->stage;
    role->query.terms.ifmap.kind = here ? EndKind::kHere : EndKind::kNodes;
    if (!here) role->query.terms.ifmap.region = from->query.region;
    from->query.terms.ofmap.kind = here ? EndKind::kHere : EndKind::kNodes;
    if (here || scheme.kind != SegmentKind::kSpatial) continue;
    const int32_t in = scheme.groups[from->stage];
    if (in == 1) continue;
    role->fine = true;
    role->query.terms.top_ifm = in;
    if (!IsChannelwise(layer.problem)) role->query.terms.top_ofm = 1;
  }
  // Layers that follow a channelwise layer work channel by channel too.
  if (IsChannelwise(layer.problem) && role->query.terms.top_ofm > 1) {
    role->query.terms.top_ifm = role->query.terms.top_ofm;
  }
}

// Bytes per node of outputs that wait while layer i runs and that it neither makes nor
// consumes.
int64_t Reserved(const Space& space, const Run& run, const LayerRole* roles,
                 uint32_t i) {
  int64_t bytes = 0;
  for (uint32_t p = run.first; p < i; ++p) {
    bool waits = false;
    for (uint32_t j = i + 1; j < run.last; ++j) {
      waits |= roles[j - run.first].producer == p;
    }
    if (!waits) continue;
    const int64_t all =
        StepBytes(space.layers[p].problem, roles[p - run.first].query.terms, kOutput);
    bytes += CeilDivide(all, NodesOf(roles[i - run.first].query.region));
  }
  return bytes;
}

}  // namespace

void RolesOf(const Space& space, const Run& run, const SegmentScheme& scheme,
             LayerRole* role) {
  for (uint32_t i = run.first; i < run.last; ++i) {
    SetStage(space, run, scheme, i, &role[i - run.first]);
  }
  if (scheme.kind == SegmentKind::kSingle) {
    role[0].stores = true;
    return;
  }
  for (uint32_t i = run.first; i < run.last; ++i) {
    SetProducer(space, run, scheme, i, role);
  }
  for (uint32_t i = run.first; i < run.last; ++i) {
    LayerRole* r = &role[i - run.first];
    r->stores = space.layers[i].stored || space.consumers[i] > r->consumers ||
                r->consumers == 0;
    if (scheme.kind == SegmentKind::kTemporal) {
      r->query.reserved_bytes = Reserved(space, run, role, i);
    }
  }
}

}  // namespace sluice
