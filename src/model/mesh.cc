// SPDX-License-Identifier: Apache-2.0
#include "model/mesh.h"

#include "base/checked.h"

namespace sluice {

NodeSplit WholeOnEach() {
  NodeSplit split = {};
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    for (uint8_t d = 0; d < kDims; ++d) {
      split.factor[axis][d] = 1;
      split.order[axis][d] = d;
    }
  }
  return split;
}

int64_t NodesUsed(const NodeSplit& split) {
  int64_t nodes = 1;
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    for (uint32_t d = 0; d < kDims; ++d) nodes *= split.factor[axis][d];
  }
  return nodes;
}

MappingProblem PartOf(const MappingProblem& problem, const NodeSplit& split) {
  MappingProblem part = problem;
  for (uint32_t d = 0; d < kDims; ++d) {
    part.extent[d] = CeilDivide(
        problem.extent[d], int64_t{split.factor[kColumns][d]} * split.factor[kRows][d]);
  }
  return part;
}

namespace {

// Sharers per axis whose positions are tabulated; those of further sharers are
// computed.
constexpr int32_t kMostSharers = 64;

// Position of the i-th sharer of a group along the axis, relative to the first.
int64_t OffsetOf(const int32_t factor[kDims], const uint8_t order[kDims],
                 uint32_t operand, int32_t i) {
  int64_t at = 0, stride = 1;
  for (uint32_t j = 0; j < kDims; ++j) {
    const int32_t f = factor[order[j]];
    if (!Moves(order[j], operand)) {
      at += i % f * stride;
      i /= f;
    }
    stride *= f;
  }
  return at;
}

// Sum over all nodes of the stretch of the links to the nearest sharer; the first
// sharer sits at `low`.
struct Sharers {
  const int32_t* factor;  // kDims
  const uint8_t* order;   // kDims
  uint32_t operand;
  int32_t count;
  const int64_t* offset;  // of the first kMostSharers sharers
};
int64_t LinksFromStretch(int64_t low, const Sharers& sharers, const AxisEnd& end) {
  int64_t sum = 0;
  for (int64_t from = end.begin; from < int64_t{end.begin} + end.extent; ++from) {
    int64_t least = INT64_MAX;
    for (int32_t i = 0; i < sharers.count; ++i) {
      const int64_t at =
          low + (i < kMostSharers
                     ? sharers.offset[i]
                     : OffsetOf(sharers.factor, sharers.order, sharers.operand, i));
      least = Min(least, at < from ? from - at : at - from);
    }
    sum += least;
  }
  return sum;
}

}  // namespace

AxisPath PathAlong(uint32_t nodes, uint32_t begin, const int32_t factor[kDims],
                   const uint8_t order[kDims], uint32_t operand, const AxisEnd& end) {
  AxisPath path = {};
  path.sharers = 1;
  // reach: distance from the first sharer to the last found so far.
  int32_t stride = 1, reach = 0;
  int64_t all = 1;
  for (uint32_t d = 0; d < kDims; ++d) all *= factor[d];
  for (uint32_t i = 0; i < kDims; ++i) {
    const uint32_t d = order[i];
    const int32_t f = factor[d];
    if (f == 1) continue;
    if (!Moves(d, operand)) {
      for (int32_t g = 0; g < path.gaps; ++g) path.gap[g].count *= f;
      path.gap[path.gaps++] = AxisPath::Gap{stride - reach, f - 1};
      reach += stride * (f - 1);
      path.sharers *= f;
    }
    stride *= f;
  }
  if (end.kind == AxisEnd::kNowhere) return path;
  // Visit the first sharer of every group of sharers.
  int64_t offsets[kMostSharers];
  for (int32_t i = 0; i < Min(path.sharers, kMostSharers); ++i) {
    offsets[i] = OffsetOf(factor, order, operand, i);
  }
  double sum = 0;
  int64_t groups = 0;
  const int64_t edge = int64_t{nodes} - 1;
  for (int64_t position = 0; position < all; ++position) {
    int64_t left = position;
    bool first = true;
    for (uint32_t i = 0; i < kDims && first; ++i) {
      const uint32_t d = order[i];
      const int64_t digit = left % factor[d];
      left /= factor[d];
      first = digit == 0 || Moves(d, operand);
    }
    if (!first) continue;
    // From an edge the nearest sharer is the first or the last one; from a stretch it
    // may be any.
    const int64_t low = int64_t{begin} + position;
    const int64_t high = low + reach;
    const bool edges = end.kind == AxisEnd::kEdges;
    const Sharers sharers = {factor, order, operand, path.sharers, offsets};
    sum += static_cast<double>(edges ? Min(low, edge - high)
                                     : LinksFromStretch(low, sharers, end));
    groups += edges ? 1 : int64_t{end.extent};
  }
  path.to_end = sum / static_cast<double>(groups);
  return path;
}

double TreeLinks(const AxisPath& columns, const AxisPath& rows) {
  // Kruskal's spanning tree of a grid takes the shortest gaps first. A gap along one
  // axis is bridged once for each part into which gaps not yet bridged divide the other
  // axis.
  double links = columns.to_end + rows.to_end;
  int64_t parts[2] = {columns.sharers, rows.sharers};
  int32_t next[2] = {0, 0};
  const AxisPath* path[2] = {&columns, &rows};
  while (next[0] < path[0]->gaps || next[1] < path[1]->gaps) {
    int axis = next[0] < path[0]->gaps ? 0 : 1;
    if (axis == 0 && next[1] < path[1]->gaps &&
        path[1]->gap[next[1]].links < path[0]->gap[next[0]].links) {
      axis = 1;
    }
    const AxisPath::Gap& gap = path[axis]->gap[next[axis]++];
    links += static_cast<double>(int64_t{gap.links} * gap.count * parts[1 - axis]);
    parts[axis] -= gap.count;
  }
  return links;
}

Status PassesOf(const MappingProblem& problem, const LayerTerms& terms,
                int64_t passes[kDims], Diagnostic* diagnostic) {
  // Depthwise: slices of the input are also slices of the output.
  const bool channelwise = problem.extent[kDimG] > 1;
  if (terms.top_ifm > 1 && terms.top_ofm > 1 &&
      (!channelwise || terms.top_ifm != terms.top_ofm)) {
    return Fail(diagnostic, Status::kBadInput, "mesh")
        .Say("slices of both the input (#) and the output (#)", terms.top_ifm,
             terms.top_ofm);
  }
  for (uint32_t d = 0; d < kDims; ++d) passes[d] = 1;
  passes[kDimN] = terms.top_batch;
  if (channelwise) {
    passes[kDimG] = terms.top_ifm == 1 ? terms.top_ofm : terms.top_ifm;
  } else {
    passes[kDimC] = terms.top_ifm;
    passes[kDimK] = terms.top_ofm;
  }
  constexpr char kLetters[] = "NKCPQRSG";
  for (uint32_t d = 0; d < kDims; ++d) {
    if (passes[d] >= 1 && problem.extent[d] % passes[d] == 0) continue;
    return Fail(diagnostic, Status::kBadInput, "mesh")
        .Say("# slices of ", passes[d])
        .Text(kLetters + d, 1)
        .Say(" = #, must divide it", problem.extent[d]);
  }
  return Status::kOk;
}

MappingProblem PassOf(const MappingProblem& problem, const int64_t passes[kDims]) {
  MappingProblem pass = problem;
  for (uint32_t d = 0; d < kDims; ++d) pass.extent[d] /= passes[d];
  return pass;
}

uint32_t KeptOperands(const LayerTerms& terms, const int64_t passes[kDims]) {
  uint32_t kept = 0;
  if (terms.ifmap.kind != EndKind::kDram) kept |= OperandBit(kInput);
  if (terms.ofmap.kind != EndKind::kDram || passes[kDimC] > 1) {
    kept |= OperandBit(kOutput);
  }
  return kept;
}

AxisEnd EndAlong(const NodeRegion& region, const LayerTerms& terms, uint32_t operand,
                 uint32_t axis) {
  AxisEnd end = {};
  if (operand == kWeight) return end;
  const FmapEnd& fmap = operand == kInput ? terms.ifmap : terms.ofmap;
  if (fmap.kind == EndKind::kDram) return end;
  const NodeRegion& from = fmap.kind == EndKind::kHere ? region : fmap.region;
  end.kind = operand == kInput ? AxisEnd::kStretch : AxisEnd::kNowhere;
  end.begin = from.begin[axis];
  end.extent = from.extent[axis];
  return end;
}

void FindPaths(const Hardware& hardware, const NodeRegion& region,
               const NodeSplit& split, const LayerTerms& terms,
               OperandPath path[kOperands]) {
  const uint32_t nodes[kMeshAxes] = {hardware.node_cols, hardware.node_rows};
  for (uint32_t v = 0; v < kOperands; ++v) {
    AxisPath along[kMeshAxes];
    path[v].sharers = 1;
    for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
      along[axis] = PathAlong(nodes[axis], region.begin[axis], split.factor[axis],
                              split.order[axis], v, EndAlong(region, terms, v, axis));
      path[v].sharers *= along[axis].sharers;
    }
    path[v].links = TreeLinks(along[kColumns], along[kRows]);
    path[v].between = path[v].links - along[kColumns].to_end - along[kRows].to_end;
  }
}

double LinkPj(const Hardware& hardware, int64_t bytes) {
  return hardware.hop_pj_per_bit * static_cast<double>(8 * bytes);
}

Status MakeMeshMachine(const Hardware& hardware, const NodeRegion& region,
                       MeshMachine* machine, Diagnostic* diagnostic) {
  const uint32_t mesh[kMeshAxes] = {hardware.node_cols, hardware.node_rows};
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    if (region.extent[axis] == 0 || region.begin[axis] > mesh[axis] ||
        region.extent[axis] > mesh[axis] - region.begin[axis]) {
      return Fail(diagnostic, Status::kBadInput, "mesh")
          .Say("a region of #", region.extent[axis])
          .Text(axis == kColumns ? " columns from column " : " rows from row ")
          .Say("# on a mesh of #", region.begin[axis], mesh[axis]);
    }
  }
  machine->hardware = hardware;
  const uint32_t outermost = static_cast<uint32_t>(hardware.levels.size());
  if (outermost >= kMaxLevels) {
    return Fail(diagnostic, Status::kUnsupported, "mesh")
        .Say("nodes of # levels, mapping takes #", outermost, kMaxLevels - 1);
  }
  for (uint32_t l = 0; l < outermost; ++l) machine->levels[l] = hardware.levels[l];
  machine->levels[outermost] = hardware.dram();
  MemoryLevel loops = {};  // holds nothing, costs nothing
  loops.instances = loops.alignment_bytes = 1;
  loops.bandwidth = Rational{0, 1};
  machine->levels[outermost - 1] = loops;
  machine->hardware.levels =
      Span<const MemoryLevel>(machine->levels, size_t{outermost} + 1);
  uint32_t count = 0;
  for (const Fanout& fanout : hardware.fanouts) {
    if (fanout.level + 1 >= outermost || count + kMeshAxes >= kMaxMeshFanouts) {
      return Fail(diagnostic, Status::kUnsupported, "mesh")
          .Text("DRAM feeds the nodes of the mesh and nothing else");
    }
    machine->fanouts[count++] = fanout;
  }
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    Fanout fanout = {};
    fanout.level = outermost;
    fanout.extent = region.extent[axis];
    fanout.may_unroll = ~0u;
    fanout.multicast = fanout.reduction = true;
    machine->fanouts[count++] = fanout;
  }
  machine->hardware.fanouts = Span<const Fanout>(machine->fanouts, count);
  const int64_t nodes = NodesOf(region);
  machine->hardware.macs_per_cycle *= nodes;
  machine->hardware.vector_ops_per_cycle *= nodes;
  machine->hardware.leakage_pj_per_cycle *= static_cast<double>(nodes);
  return Status::kOk;
}

namespace {

// The nest of all nodes: one node's DRAM loops become the loops of its part, the passes
// go outside. Lowers the factors of `split` where nodes have no work.
LoopNest OnMesh(const MappingProblem& pass, const int64_t passes[kDims],
                const LoopNest& nest, NodeSplit* split) {
  constexpr uint8_t kPassOrder[kDims] = {kDimC, kDimK, kDimG, kDimP,
                                         kDimQ, kDimR, kDimS, kDimN};
  LoopNest whole = nest;
  const uint32_t loops = nest.levels - 1, outermost = nest.levels;
  whole.levels = nest.levels + 1;
  whole.hold[outermost] = nest.hold[loops];
  whole.hold[loops] = 0;
  for (uint32_t d = 0; d < kDims; ++d) {
    int64_t tile = 1;
    for (uint32_t l = 0; l < nest.levels; ++l) {
      tile *= SpatialFactor(nest, l, d) * nest.temporal[l][d];
    }
    whole.temporal[outermost][d] = passes[d];
    whole.order[outermost][d] = kPassOrder[d];
    for (uint32_t axis = 0; axis < kMaxAxes; ++axis) {
      whole.spatial[outermost][axis][d] = 1;
      if (axis >= kMeshAxes) continue;
      int32_t* factor = &split->factor[axis][d];
      const int64_t useful = CeilDivide(pass.extent[d], tile);
      *factor = static_cast<int32_t>(Min(int64_t{*factor}, useful));
      whole.spatial[outermost][axis][d] = *factor;
      tile *= *factor;
    }
  }
  return whole;
}

// Words of an operand that travel: halos count once for every part that needs them.
int64_t WordsOfParts(const MappingProblem& problem, const NodeSplit& split,
                     const int64_t passes[kDims], uint32_t operand) {
  if (operand != kInput) return TileWords(problem, operand, problem.extent);
  int64_t words = problem.extent[kDimN] * problem.extent[kDimG] * problem.extent[kDimC];
  for (uint32_t axis = 0; axis < 2; ++axis) {
    const uint32_t d = kDimP + axis;
    const int64_t rows = problem.extent[d], taps = problem.extent[kDimR + axis];
    const int64_t parts =
        passes[d] * split.factor[kColumns][d] * split.factor[kRows][d];
    const int64_t used = CeilDivide(rows, CeilDivide(rows, parts));
    words *= rows * WindowStep(problem, static_cast<int>(axis)) +
             used * (WindowSpan(problem, static_cast<int>(axis), 1, taps) -
                     WindowStep(problem, static_cast<int>(axis)));
  }
  return words;
}

// A nest as it runs on the mesh; `mesh.split` counts only nodes with work.
struct NestOnMesh {
  MeshCase mesh;
  const LoopNest& whole;  // of all nodes, with the added outermost level
  const int64_t* passes;  // kDims
  uint32_t pad;           // index of the scratchpads' level
};

// Adds the traffic of an operand kept in the scratchpads to the counts. Returns pJ of
// links; adds pJ of reads of other nodes' scratchpads to *source_pj.
double MoveKept(const NestOnMesh& run, uint32_t operand, const OperandPath& path,
                AccessCounts* counts, double* source_pj) {
  const auto& [problem, hardware, region, split, terms] = run.mesh;
  const uint32_t outermost = run.whole.levels - 1, pad = run.pad;
  const int64_t once = TileWords(problem, operand, problem.extent);
  const int64_t words = WordsOfParts(problem, split, run.passes, operand);
  const double links_pj = static_cast<double>(words) * path.links *
                          LinkPj(hardware, InnerBytes(problem, operand));
  if (operand == kOutput) {
    if (terms.ofmap.kind != EndKind::kDram) return links_pj;
    counts->writes[outermost][operand] += once;
    counts->final_writes += once;
    return links_pj;
  }
  int64_t fills = words * path.sharers, sources = words;
  if (operand == kWeight || terms.ifmap.kind == EndKind::kDram) {
    counts->reads[outermost][operand] += once;
    sources = 0;
  } else if (terms.ifmap.kind == EndKind::kHere) {
    // A share of the words already lies on the node that needs it.
    const int64_t lie = fills / NodesOf(region);
    fills -= lie;
    if (path.sharers == 1) sources -= lie;
  }
  counts->writes[pad][operand] += fills;
  *source_pj += static_cast<double>(sources) *
                ReadPj(hardware.levels[pad], InnerBytes(problem, operand));
  return links_pj;
}

// How many rounds the sharers rotate their parts of an operand: one for each iteration
// of the loops outside those that step through the parts.
int64_t RoundsOf(const LoopNest& whole, uint32_t pad, uint32_t operand, bool kept,
                 int64_t sharers) {
  int64_t rounds = 1, parts = 1;
  for (uint32_t l = whole.levels; l-- > pad;) {
    for (int i = kDims; i-- > 0 && parts < sharers;) {
      const uint32_t d = whole.order[l][i];
      if (!Moves(d, operand)) {
        rounds *= whole.temporal[l][d];
      } else if (kept || l == pad) {
        parts *= whole.temporal[l][d];
      }
    }
  }
  return rounds;
}

// Adds the rounds to the counts. The first round of every stay replaces a delivery of
// all parts to all sharers. Returns pJ of links.
double Rotate(const NestOnMesh& run, uint32_t operand, bool kept,
              const OperandPath& path, AccessCounts* counts) {
  if (path.sharers == 1) return 0;
  const MappingProblem& problem = run.mesh.problem;
  const uint32_t pad = run.pad;
  const int64_t words = WordsOfParts(problem, run.mesh.split, run.passes, operand);
  const int64_t all = words * RoundsOf(run.whole, pad, operand, kept, path.sharers);
  const int64_t more =
      Max(int64_t{0}, all - counts->writes[pad][operand] / path.sharers);
  counts->reads[pad][operand] += all * (path.sharers - 1);
  counts->writes[pad][operand] += more * (path.sharers - 1);
  return static_cast<double>(more) * path.between *
         LinkPj(run.mesh.hardware, InnerBytes(problem, operand));
}

// One node's part of one pass.
struct NestOnNode {
  const MappingProblem& part;
  const LoopNest& nest;
  const int64_t* passes;  // kDims
};

// Bytes in the scratchpad of the node with the largest part.
Status ScratchpadBytes(const NestOnNode& node, const CostOptions& options,
                       const OperandPath path[kOperands], int64_t* sum,
                       Diagnostic* diagnostic) {
  int64_t bytes[kOperands];
  const auto& [part, nest, passes] = node;
  SLUICE_TRY(
      LevelBytes(part, nest, nest.levels - 2, options.resident, bytes, diagnostic));
  if ((options.resident >> kWeight & 1) != 0) {
    bytes[kWeight] *= passes[kDimC] * passes[kDimK] * passes[kDimG];
  }
  for (uint32_t v = 0; v < kOutput; ++v) {
    if ((options.rotated >> v & 1) != 0) {
      bytes[v] = CeilDivide(bytes[v], path[v].sharers);
    }
  }
  *sum = bytes[kInput] + bytes[kWeight] + bytes[kOutput];
  return Status::kOk;
}

int64_t BytesOf(const MappingProblem& problem, const int64_t words[kOperands]) {
  int64_t bytes = 0;
  for (uint32_t v = 0; v < kOperands; ++v) bytes += words[v] * InnerBytes(problem, v);
  return bytes;
}

// Adds traffic between nodes to the counts and returns pJ of links. *source_pj: pJ of
// reads of other nodes' scratchpads.
double MoveOperands(const NestOnMesh& run, const CostOptions& options,
                    const OperandPath path[kOperands], AccessCounts* counts,
                    double* source_pj) {
  const MappingProblem& problem = run.mesh.problem;
  const Hardware& hardware = run.mesh.hardware;
  const uint32_t kept = options.resident, outermost = run.whole.levels - 1;
  double noc_pj = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v)) continue;
    if ((kept >> v & 1) != 0) {
      noc_pj += MoveKept(run, v, path[v], counts, source_pj);
      continue;
    }
    // Copies of words that travel as one: outputs once per group (their sum), inputs
    // and weights once per set of sharers.
    const double words = v == kOutput
                             ? static_cast<double>(counts->transfers[outermost][v])
                             : static_cast<double>(counts->writes[run.pad][v]) /
                                   static_cast<double>(path[v].sharers);
    noc_pj += words * path[v].links * LinkPj(hardware, InnerBytes(problem, v));
  }
  for (uint32_t v = 0; v < kOutput; ++v) {
    if (!Has(problem, v) || (options.rotated >> v & 1) == 0) continue;
    noc_pj += Rotate(run, v, (kept >> v & 1) != 0, path[v], counts);
  }
  return noc_pj;
}

// Divides energy, cycles and bytes by place, from the layer's cost and the counts.
void DivideCost(const MappingProblem& problem, uint32_t scratchpad, uint32_t outermost,
                double source_pj, const AccessCounts& counts, MeshCost* cost) {
  LayerCost& layer = cost->layer;
  layer.energy_pj += cost->noc_pj;
  layer.energy_pj += source_pj;
  cost->registers_pj = 0;
  for (uint32_t l = 0; l < scratchpad; ++l) cost->registers_pj += layer.level_pj[l];
  cost->scratchpad_pj = layer.level_pj[scratchpad] + source_pj;
  cost->dram_pj = layer.level_pj[outermost];
  cost->dram_cycles = layer.level_cycles[outermost];
  cost->busy_cycles = Max(int64_t{1}, layer.compute_cycles);
  for (uint32_t l = 0; l < outermost; ++l) {
    cost->busy_cycles = Max(cost->busy_cycles, layer.level_cycles[l]);
  }
  cost->dram_read_bytes = BytesOf(problem, counts.reads[outermost]);
  cost->dram_write_bytes =
      BytesOf(problem, counts.writes[outermost]) +
      counts.final_writes *
          (int64_t{problem.element_bytes[kOutput]} - int64_t{problem.partial_bytes});
  cost->nodes = counts.instances[scratchpad];
}

}  // namespace

Status EvaluateOnMesh(const MeshCase& mesh, const LoopNest& nest,
                      const CostOptions& options, MeshCost* cost,
                      Diagnostic* diagnostic) {
  const auto& [problem, hardware, region, split, terms] = mesh;
  MeshMachine machine;
  SLUICE_TRY(MakeMeshMachine(hardware, region, &machine, diagnostic));
  int64_t passes[kDims];
  SLUICE_TRY(PassesOf(problem, terms, passes, diagnostic));
  const MappingProblem pass = PassOf(problem, passes);
  NodeSplit used = split;
  const LoopNest whole = OnMesh(pass, passes, nest, &used);
  const uint32_t outermost = nest.levels, scratchpad = nest.levels - 2;
  OperandPath path[kOperands];
  FindPaths(hardware, region, used, terms, path);
  SLUICE_TRY(ScratchpadBytes({PartOf(pass, split), nest, passes}, options, path,
                             &cost->scratchpad_bytes, diagnostic));
  const int64_t capacity = hardware.levels[scratchpad].capacity_bytes;
  if (capacity != 0 && cost->scratchpad_bytes > capacity) {
    return Fail(diagnostic, Status::kInfeasible, "mesh")
        .Say("a node's part needs # bytes of its scratchpad, which has #",
             cost->scratchpad_bytes, capacity)
        .Bytes(static_cast<uint64_t>(cost->scratchpad_bytes),
               static_cast<uint64_t>(capacity));
  }
  // The size of rotated parts has been checked; the nest's tile holds all sharers'
  // parts.
  if (options.rotated != 0) machine.levels[scratchpad].capacity_bytes = 0;
  SLUICE_TRY(CheckNest(problem, machine.hardware, whole, options.resident, diagnostic));
  AccessCounts counts;
  SLUICE_TRY(CountAccesses(problem, machine.hardware, whole,
                           {options.form, options.resident}, &counts, diagnostic));
  double source_pj = 0;
  const NestOnMesh run = {
      {problem, hardware, region, used, terms}, whole, passes, scratchpad};
  cost->noc_pj = MoveOperands(run, options, path, &counts, &source_pj);
  CostOfCounts(problem, machine.hardware, counts, &cost->layer);
  DivideCost(problem, scratchpad, outermost, source_pj, counts, cost);
  return Status::kOk;
}

}  // namespace sluice
