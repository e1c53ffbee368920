// SPDX-License-Identifier: Apache-2.0
#include "solve/segments/space.h"

#include "base/checked.h"

namespace sluice {

namespace {

constexpr uint32_t kMaxVertexLayers = 8;
constexpr int32_t kMaxGroups = 64;     // finer forwarding than this is not looked for
constexpr double kLeastBalance = 0.4;  // of the nodes at work, when stages are ready
constexpr uint32_t kMaxAllocations = 512;  // of one run, where all are wanted

bool IsChannelwise(const MappingProblem& problem) { return problem.extent[kDimG] > 1; }

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

// May the run that starts with layer `first` go on with vertex v?
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

// Of an output that the run takes, at most one consumer lies outside.
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

// Rectangles for stages [first, last) of a run, cut off `area` one by one.
struct Cutter {
  const double* load;
  bool all;
  Vector<NodeRegion>* out;  // `stages` regions per allocation
  NodeRegion part[kMaxStages];
  uint32_t stage[kMaxStages];  // which one lies at a place of the order
  uint32_t stages;
  uint32_t found;
  double best;  // most work per node, of the best allocation
  Status status;
};

double Sum(const double* load, uint32_t first, uint32_t last) {
  double sum = 0;
  for (uint32_t i = first; i < last; ++i) sum += load[i];
  return sum;
}

struct Piece {
  NodeRegion area;
  uint32_t first, last;
};

void Keep(Cutter* cutter) {
  double most = 0;
  for (uint32_t i = 0; i < cutter->stages; ++i) {
    most = Max(most, cutter->load[i] / static_cast<double>(NodesOf(cutter->part[i])));
  }
  if (!cutter->all) {
    if (cutter->found > 0 && most >= cutter->best) return;
    cutter->best = most;
    if (cutter->found > 0) {
      cutter->out->Truncate(cutter->out->size() - cutter->stages);
      cutter->found = 0;
    }
  } else {
    // Cuts in another order may give the same rectangles.
    const size_t begin = cutter->out->size() - size_t{cutter->found} * cutter->stages;
    for (uint32_t k = 0; k < cutter->found; ++k) {
      if (memcmp(cutter->out->data() + begin + size_t{k} * cutter->stages, cutter->part,
                 cutter->stages * sizeof(NodeRegion)) == 0) {
        return;
      }
    }
    if (cutter->found >= kMaxAllocations) return;
  }
  ++cutter->found;
  for (uint32_t i = 0; i < cutter->stages; ++i) {
    const Status pushed = cutter->out->Push(cutter->part[i]);
    if (pushed != Status::kOk) cutter->status = pushed;
  }
}

// Pieces still to be cut lie on a stack; a piece of one stage is done.
void Cut(Cutter* cutter, Piece* stack, uint32_t depth) {
  if (depth == 0) return Keep(cutter);
  const Piece piece = stack[depth - 1];
  if (piece.last - piece.first == 1) {
    cutter->part[cutter->stage[piece.first]] = piece.area;
    Cut(cutter, stack, depth - 1);
    stack[depth - 1] = piece;
    return;
  }
  if (NodesOf(piece.area) < int64_t{piece.last} - piece.first) return;
  const double whole = Sum(cutter->load, piece.first, piece.last);
  for (uint32_t split = piece.first + 1; split < piece.last; ++split) {
    const double share = Sum(cutter->load, piece.first, split) / whole;
    for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
      const uint32_t extent = piece.area.extent[axis];
      if (extent < 2) continue;
      const uint32_t near = static_cast<uint32_t>(share * extent);
      const uint32_t low = cutter->all ? 1 : Min(Max(near, 1u), extent - 1);
      const uint32_t high = cutter->all ? extent - 1 : Min(low + 1, extent - 1);
      for (uint32_t at = low; at <= high; ++at) {
        Piece left = piece, right = piece;
        left.last = right.first = split;
        left.area.extent[axis] = at;
        right.area.begin[axis] += at;
        right.area.extent[axis] -= at;
        stack[depth - 1] = right;
        stack[depth] = left;
        Cut(cutter, stack, depth + 1);
      }
    }
  }
  stack[depth - 1] = piece;
}

// The next order of the stages; false after the last.
bool NextOrder(uint32_t* stage, uint32_t n) {
  uint32_t i = n - 1;
  while (i > 0 && stage[i - 1] > stage[i]) --i;
  if (i == 0) return false;
  uint32_t j = n - 1;
  while (stage[j] < stage[i - 1]) --j;
  const uint32_t moved = stage[j];
  stage[j] = stage[i - 1];
  stage[i - 1] = moved;
  for (uint32_t a = i, b = n - 1; a < b; ++a, --b) {
    const uint32_t swapped = stage[a];
    stage[a] = stage[b];
    stage[b] = swapped;
  }
  return true;
}

// The allocations of a run: Space::regions from the returned index on.
Status Allocate(Space* space, const Run& run, uint32_t* first, uint32_t* count) {
  *first = static_cast<uint32_t>(space->regions.size());
  const NodeRegion mesh = WholeMesh(space->hardware);
  Cutter cutter = {};
  cutter.load = space->load.data() + run.vertex;
  cutter.all = space->options.proof;
  cutter.out = &space->regions;
  cutter.stages = run.stages;
  for (uint32_t i = 0; i < run.stages; ++i) cutter.stage[i] = i;
  Piece stack[2 * kMaxStages + 2];
  do {
    stack[0] = Piece{mesh, 0, run.stages};
    Cut(&cutter, stack, 1);
  } while (cutter.all && NextOrder(cutter.stage, run.stages));
  *count = cutter.found;
  if (!space->options.proof && cutter.found > 0) {
    const double even =
        Sum(cutter.load, 0, run.stages) / static_cast<double>(NodesOf(mesh));
    if (even < kLeastBalance * cutter.best) {
      space->regions.Truncate(*first);
      *count = 0;
    }
  }
  return cutter.status;
}

// The stage of the run that layer i takes its input from, other than its own.
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

// May the output of `stage` leave in g groups of channels, and be taken so?
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
    // The rest of that vertex takes whole slices, or channel by channel the same.
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
bool MayFit(const Space& space, const Run& run, const Scheme& scheme, bool* tight) {
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
  Scheme scheme;
  SegmentCounts* counts;
  size_t from;     // schemes of this batch
  bool some_easy;  // fit with room to spare
};

// Is there one with as coarse groups that fits easily?
bool IsDominated(const Lister& lister) {
  if (!lister.some_easy) return false;
  for (size_t i = lister.from; i < lister.space->schemes.size(); ++i) {
    const Scheme& other = lister.space->schemes[i];
    if (other.priced) continue;  // marks those that are tight, while listing
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

Status ListGroups(Lister* lister, uint32_t stage) {
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
  // Inputs that came whole would have to stay whole.
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

Status ListKind(Space* space, const Run& run, SegmentKind kind, SegmentCounts* counts) {
  Lister lister = {};
  lister.space = space;
  lister.run = run;
  lister.counts = counts;
  lister.scheme.kind = kind;
  ++counts->segments;
  ++counts->multi;
  if (kind != SegmentKind::kSpatial) return ListBatches(&lister);
  uint32_t first = 0, count = 0;
  SLUICE_TRY(Allocate(space, run, &first, &count));
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

Status ListRun(Space* space, uint32_t vertex, uint32_t stages, SegmentCounts* counts) {
  Run run = {};
  run.first = space->vertices[vertex].first;
  run.last = space->vertices[vertex + stages - 1].last;
  run.vertex = vertex;
  run.stages = stages;
  run.schemes = static_cast<uint32_t>(space->schemes.size());
  const int64_t nodes = NodesOf(WholeMesh(space->hardware));
  if (space->options.temporal) {
    SLUICE_TRY(ListKind(space, run, SegmentKind::kTemporal, counts));
  }
  if (space->options.spatial && stages > 1 && nodes >= int64_t{stages}) {
    SLUICE_TRY(ListKind(space, run, SegmentKind::kSpatial, counts));
  }
  run.beyond = run.best = static_cast<uint32_t>(space->schemes.size());
  run.known = run.beyond;
  run.value = run.known_value = kNoValue;
  return run.schemes == run.beyond ? Status::kOk : space->runs.Push(run);
}

}  // namespace

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

void SetStage(const Space& space, const Run& run, const Scheme& scheme, uint32_t i,
              LayerRole* role) {
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

// Where its input comes from, and in what groups.
void SetProducer(const Space& space, const Run& run, const Scheme& scheme, uint32_t i,
                 LayerRole* roles) {
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
  // Behind a layer that goes channel by channel, so do the others of the stage.
  if (IsChannelwise(layer.problem) && role->query.terms.top_ofm > 1) {
    role->query.terms.top_ifm = role->query.terms.top_ofm;
  }
}

// Bytes per node of outputs that layer i neither makes nor uses up while it works.
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

void RolesOf(const Space& space, const Run& run, const Scheme& scheme,
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

Status MakeSpace(Space* space, Budget* budget, Arena* arena, SegmentCounts* counts) {
  SLUICE_TRY(FindVertices(space, arena));
  const uint32_t n = static_cast<uint32_t>(space->layers.size());
  counts->layers = n;
  counts->vertices = space->vertices.size();
  uint32_t vertex = 0;
  for (uint32_t i = 0; i < n; ++i) {
    Run single = {};
    single.first = i;
    single.last = i + 1;
    single.schemes = single.best = static_cast<uint32_t>(space->schemes.size());
    single.beyond = single.schemes + 1;
    single.known = single.beyond;
    single.value = single.known_value = kNoValue;
    Scheme scheme = {};
    scheme.top_batch = 1;
    ++counts->segments;
    ++counts->schemes;
    ++counts->valid;
    SLUICE_TRY(space->schemes.Push(scheme));
    SLUICE_TRY(space->runs.Push(single));
    if (vertex >= space->vertices.size() || space->vertices[vertex].first != i) {
      continue;
    }
    const uint32_t most = space->options.solver == SegmentSolver::kLayers
                              ? 0
                              : Min(space->options.max_stages, kMaxStages);
    for (uint32_t stages = 1; stages <= most; ++stages) {
      if (vertex + stages > space->vertices.size()) break;
      const Vertex& last = space->vertices[vertex + stages - 1];
      if (last.last - i > kMaxRunLayers) break;
      if (stages > 1 && !MayJoin(*space, i, last)) break;
      if (last.last - i < 2 || !ConsumersFit(*space, i, last.last)) continue;
      if (budget->Exhausted()) break;  // layers by themselves are listed all the same
      SLUICE_TRY(ListRun(space, vertex, stages, counts));
    }
    ++vertex;
  }
  return Status::kOk;
}

}  // namespace sluice
