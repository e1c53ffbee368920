// SPDX-License-Identifier: Apache-2.0
#include "solve/segments/space.h"

#include "base/checked.h"
#include "solve/segments/regions.h"

namespace sluice {

namespace {

constexpr uint32_t kMaxVertexLayers = 8;  // layers that are never in different stages
constexpr int32_t kMaxGroups = 64;  // finer forwarding than this is not looked for

int64_t OutputChannels(const MappingProblem& problem) {
  return problem.extent[kDimG] * problem.extent[kDimK];
}
int64_t InputChannels(const MappingProblem& problem) {
  return problem.extent[kDimG] * (problem.vector ? 1 : problem.extent[kDimC]);
}

Status FindVertices(Space* space, Arena* arena) {
  const size_t n = space->layers.size();
  SLUICE_TRY(arena->Allocate(n, &space->vertex_of));
  SLUICE_TRY(arena->Allocate(n, &space->consumers));
  for (const SegmentLayer& layer : space->layers) {
    for (uint32_t p : layer.producers) ++space->consumers[p];
    for (uint32_t p : layer.before) ++space->consumers[p];
  }
  for (uint32_t i = 0; i < n; ++i) {
    const SegmentLayer& layer = space->layers[i];
    const size_t inputs = layer.producers.size();
    const bool behind = i > 0 && !layer.leads && inputs > 0 &&
                        layer.producers[inputs - 1] == i - 1 &&
                        space->consumers[i - 1] == 1;
    const size_t vertices = space->vertices.size();
    if (behind && i - space->vertices[vertices - 1].first < kMaxVertexLayers) {
      space->vertices[vertices - 1].last = i + 1;
    } else {
      SLUICE_TRY(space->vertices.Push(Vertex{i, i + 1}));
    }
    space->vertex_of[i] = static_cast<uint32_t>(space->vertices.size() - 1);
  }
  SLUICE_TRY(arena->Allocate(space->vertices.size(), &space->load));
  for (uint32_t i = 0; i < n; ++i) {
    const MappingProblem& problem = space->layers[i].problem;
    space->load[space->vertex_of[i]] +=
        static_cast<double>(OperationCount(problem)) /
        static_cast<double>(PeakOperations(problem, space->hardware));
  }
  return Status::kOk;
}

// May vertex v join the run that starts with layer `first`?
bool MayJoin(const Space& space, uint32_t first, const Vertex& v) {
  uint32_t from = kNone;  // vertex of the run that feeds v
  bool shares = false;
  for (uint32_t i = v.first; i < v.last; ++i) {
    uint32_t inside = 0;
    for (uint32_t p : space.layers[i].before) {
      if (p >= first) return false;
    }
    for (uint32_t p : space.layers[i].producers) {
      if (p >= first) {
        ++inside;
        if (p >= v.first) continue;
        if (from != kNone && from != space.vertex_of[p]) return false;
        from = space.vertex_of[p];
        continue;
      }
      for (uint32_t j = first; j < v.first && !shares; ++j) {
        for (uint32_t q : space.layers[j].producers) shares |= q == p;
      }
    }
    if (inside > 1) return false;
  }
  return from != kNone || shares;
}

// Whether every output that the run itself reads has at most one consumer outside the
// run.
bool ConsumersFit(const Space& space, uint32_t first, uint32_t last) {
  uint32_t inside[kMaxRunLayers] = {};
  for (uint32_t i = first; i < last; ++i) {
    for (uint32_t p : space.layers[i].producers) {
      if (p >= first) ++inside[p - first];
    }
  }
  for (uint32_t i = first; i < last; ++i) {
    const uint32_t in = inside[i - first];
    if (in > 0 && space.consumers[i] - in > 1) return false;
  }
  return true;
}

// The other stage of the run that feeds this stage, or kNone.
uint32_t FeedingStage(const Space& space, const Run& run, uint32_t stage) {
  const Vertex& v = space.vertices[run.vertex + stage];
  for (uint32_t i = v.first; i < v.last; ++i) {
    for (uint32_t p : space.layers[i].producers) {
      if (p >= run.first && p < v.first) return space.vertex_of[p] - run.vertex;
    }
  }
  return kNone;
}

bool HasConsumersInRun(const Space& space, const Run& run, uint32_t stage) {
  for (uint32_t s = stage + 1; s < run.stages; ++s) {
    if (FeedingStage(space, run, s) == stage) return true;
  }
  return false;
}

// May the output of `stage` be sent, and received, in g groups of channels?
bool MayGroup(const Space& space, const Run& run, uint32_t stage, int64_t g) {
  const Vertex& v = space.vertices[run.vertex + stage];
  const int64_t channels = OutputChannels(space.layers[v.last - 1].problem);
  for (uint32_t i = v.first; i < v.last; ++i) {
    const MappingProblem& problem = space.layers[i].problem;
    if (space.layers[i].whole) return false;
    const int64_t sliced =
        IsChannelwise(problem) ? problem.extent[kDimG] : problem.extent[kDimK];
    if (OutputChannels(problem) != channels || sliced % g != 0) return false;
    if (i > v.first && !IsChannelwise(problem)) return false;
  }
  for (uint32_t s = stage + 1; s < run.stages; ++s) {
    if (FeedingStage(space, run, s) != stage) continue;
    const SegmentLayer& head = space.layers[space.vertices[run.vertex + s].first];
    if (head.producers.size() != 1 || head.producers[0] != v.last - 1) return false;
    if (head.share[0] != head.input_words || head.whole) return false;
    if (InputChannels(head.problem) != channels) return false;
    const int64_t sliced = IsChannelwise(head.problem) ? head.problem.extent[kDimG]
                                                       : head.problem.extent[kDimC];
    if (sliced % g != 0) return false;
    // The other layers of that vertex take whole slices, or the same groups channel by
    // channel.
    for (uint32_t i = space.vertices[run.vertex + s].first + 1;
         i < space.vertices[run.vertex + s].last; ++i) {
      for (uint32_t p : space.layers[i].producers) {
        if (p >= run.first && space.vertex_of[p] == run.vertex + stage) return false;
      }
      if (IsChannelwise(head.problem) &&
          (!IsChannelwise(space.layers[i].problem) ||
           space.layers[i].problem.extent[kDimG] % g != 0)) {
        return false;
      }
    }
  }
  return true;
}

// Do all layers' fmaps that stay on the chip fit the scratchpads of their regions?
// `tight` when they take more than half.
bool MayFit(const Space& space, const Run& run, const SegmentScheme& scheme,
            bool* tight) {
  LayerRole role[kMaxRunLayers];
  RolesOf(space, run, scheme, role);
  const int64_t capacity =
      space.hardware.levels[space.hardware.levels.size() - 2].capacity_bytes;
  *tight = false;
  if (capacity == 0) return true;
  for (uint32_t i = run.first; i < run.last; ++i) {
    const LayerQuery& query = role[i - run.first].query;
    const MappingProblem& problem = space.layers[i].problem;
    const int64_t all = NodesOf(query.region) * (capacity - query.reserved_bytes);
    int64_t bytes = 0;
    if (query.terms.ifmap.kind != EndKind::kDram) {
      bytes += StepBytes(problem, query.terms, kInput);
    }
    if (query.terms.ofmap.kind != EndKind::kDram ||
        (query.terms.top_ifm > 1 && !IsChannelwise(problem))) {
      bytes += StepBytes(problem, query.terms, kOutput);
    }
    if (bytes > all) return false;
    if (2 * bytes > all) *tight = true;
  }
  return true;
}

struct Lister {
  Space* space;
  Run run;
  SegmentScheme scheme;
  SegmentCounts* counts;
  Budget* budget;
  size_t from;     // the first scheme of this batch
  bool some_easy;  // one of them fits with room to spare
};

// Is there a scheme with groups at least as coarse that fits easily?
bool IsDominated(const Lister& lister) {
  if (!lister.some_easy) return false;
  for (size_t i = lister.from; i < lister.space->schemes.size(); ++i) {
    const SegmentScheme& other = lister.space->schemes[i];
    if (other.priced) continue;  // while listing, `priced` marks schemes that are tight
    bool coarser = true;
    for (uint32_t s = 0; s < lister.run.stages; ++s) {
      coarser &= other.groups[s] <= lister.scheme.groups[s];
    }
    if (coarser) return true;
  }
  return false;
}

Status AddScheme(Lister* lister) {
  const SegmentOptions& options = lister->space->options;
  ++lister->counts->schemes;
  bool tight;
  if (!MayFit(*lister->space, lister->run, lister->scheme, &tight)) return Status::kOk;
  if (!options.proof && options.delay_exponent == 0 && IsDominated(*lister)) {
    return Status::kOk;
  }
  ++lister->counts->valid;
  lister->scheme.priced = tight;
  lister->some_easy |= !tight;
  return lister->space->schemes.Push(lister->scheme);
}

// The listing of schemes ends with the budget: then no schedule is proved the best.
Status ListGroups(Lister* lister, uint32_t stage) {
  if (lister->budget->Tick()) return Status::kOk;
  const Run& run = lister->run;
  Space& space = *lister->space;
  if (stage == run.stages) return AddScheme(lister);
  const uint32_t from = FeedingStage(space, run, stage);
  const int32_t in = from == kNone ? 1 : lister->scheme.groups[from];
  const bool feeds = HasConsumersInRun(space, run, stage);
  uint16_t* groups = &lister->scheme.groups[stage];
  *groups = 1;
  const MappingProblem& head =
      space.layers[space.vertices[run.vertex + stage].first].problem;
  if (in > 1) {
    if (IsChannelwise(head)) {
      *groups = static_cast<uint16_t>(in);
      if (feeds && !MayGroup(space, run, stage, in)) return Status::kOk;
    }
    return ListGroups(lister, stage + 1);
  }
  SLUICE_TRY(ListGroups(lister, stage + 1));
  if (!feeds || lister->scheme.kind != SegmentKind::kSpatial) return Status::kOk;
  // A channelwise layer whose input arrives whole sends its output whole.
  if (from != kNone && IsChannelwise(head)) return Status::kOk;
  const Vertex& v = space.vertices[run.vertex + stage];
  const int64_t channels = OutputChannels(space.layers[v.last - 1].problem);
  for (int32_t g = 2; g <= kMaxGroups && g <= channels; ++g) {
    if (channels % g != 0 || !MayGroup(space, run, stage, g)) continue;
    *groups = static_cast<uint16_t>(g);
    SLUICE_TRY(ListGroups(lister, stage + 1));
  }
  *groups = 1;
  return Status::kOk;
}

Status ListBatches(Lister* lister) {
  const Space& space = *lister->space;
  int64_t batch = space.layers[lister->run.first].problem.extent[kDimN];
  for (uint32_t i = lister->run.first; i < lister->run.last; ++i) {
    const SegmentLayer& layer = space.layers[i];
    if (layer.whole || layer.problem.extent[kDimN] != batch) batch = 1;
  }
  for (int64_t tb = 1; tb <= batch; ++tb) {
    if (batch % tb != 0 || tb > INT32_MAX) continue;
    lister->scheme.top_batch = static_cast<int32_t>(tb);
    lister->from = space.schemes.size();
    lister->some_easy = false;
    SLUICE_TRY(ListGroups(lister, 0));
    for (size_t i = lister->from; i < space.schemes.size(); ++i) {
      lister->space->schemes[i].priced = false;
    }
  }
  return Status::kOk;
}

Status ListKind(Space* space, const Run& run, SegmentKind kind, Budget* budget,
                SegmentCounts* counts) {
  Lister lister = {};
  lister.space = space;
  lister.run = run;
  lister.counts = counts;
  lister.budget = budget;
  lister.scheme.kind = kind;
  ++counts->segments;
  ++counts->multi;
  if (kind != SegmentKind::kSpatial) return ListBatches(&lister);
  uint32_t first = 0, count = 0;
  SLUICE_TRY(AllocateRegions(space, run, budget, &first, &count));
  if (count > 0) {
    ++counts->spatial;
  } else {
    --counts->segments;
    --counts->multi;
  }
  for (uint32_t k = 0; k < count; ++k) {
    lister.scheme.regions = first + k * run.stages;
    SLUICE_TRY(ListBatches(&lister));
  }
  return Status::kOk;
}

Status ListRun(Space* space, uint32_t vertex, uint32_t stages, Budget* budget,
               SegmentCounts* counts) {
  Run run = {};
  run.first = space->vertices[vertex].first;
  run.last = space->vertices[vertex + stages - 1].last;
  run.vertex = vertex;
  run.stages = stages;
  run.schemes = static_cast<uint32_t>(space->schemes.size());
  const int64_t nodes = NodesOf(WholeMesh(space->hardware));
  if (space->options.temporal) {
    SLUICE_TRY(ListKind(space, run, SegmentKind::kTemporal, budget, counts));
  }
  if (space->options.spatial && stages > 1 && nodes >= int64_t{stages}) {
    SLUICE_TRY(ListKind(space, run, SegmentKind::kSpatial, budget, counts));
  }
  run.beyond = run.best = static_cast<uint32_t>(space->schemes.size());
  run.known = run.beyond;
  run.value = run.known_value = kNoValue;
  return run.schemes == run.beyond ? Status::kOk : space->runs.Push(run);
}

// A layer by itself.
Status ListSingle(Space* space, uint32_t i, SegmentCounts* counts) {
  Run single = {};
  single.first = i;
  single.last = i + 1;
  single.schemes = single.best = static_cast<uint32_t>(space->schemes.size());
  single.beyond = single.schemes + 1;
  single.known = single.beyond;
  single.value = single.known_value = kNoValue;
  SegmentScheme scheme = {};
  scheme.top_batch = 1;
  ++counts->segments;
  ++counts->schemes;
  ++counts->valid;
  SLUICE_TRY(space->schemes.Push(scheme));
  SLUICE_TRY(space->runs.Push(single));
  return Status::kOk;
}

// Segments of several layers that begin with a vertex.
Status ListRunsFrom(Space* space, uint32_t vertex, Budget* budget,
                    SegmentCounts* counts) {
  const uint32_t i = space->vertices[vertex].first;
  const uint32_t most = space->options.solver == SegmentSolver::kLayers
                            ? 0
                            : Min(space->options.max_stages, kMaxStages);
  for (uint32_t stages = 1; stages <= most; ++stages) {
    if (vertex + stages > space->vertices.size()) break;
    const Vertex& last = space->vertices[vertex + stages - 1];
    if (last.last - i > kMaxRunLayers) break;
    if (stages > 1 && !MayJoin(*space, i, last)) break;
    if (last.last - i < 2 || !ConsumersFit(*space, i, last.last)) continue;
    if (budget->Exhausted()) break;  // single layers are still listed
    SLUICE_TRY(ListRun(space, vertex, stages, budget, counts));
  }
  return Status::kOk;
}

}  // namespace

Status MakeSpace(Space* space, Budget* budget, Arena* arena, SegmentCounts* counts) {
  SLUICE_TRY(FindVertices(space, arena));
  const uint32_t n = static_cast<uint32_t>(space->layers.size());
  counts->layers = n;
  counts->vertices = space->vertices.size();
  uint32_t vertex = 0;
  for (uint32_t i = 0; i < n; ++i) {
    SLUICE_TRY(ListSingle(space, i, counts));
    if (vertex >= space->vertices.size() || space->vertices[vertex].first != i) {
      continue;
    }
    SLUICE_TRY(ListRunsFrom(space, vertex, budget, counts));
    ++vertex;
  }
  return Status::kOk;
}

}  // namespace sluice
