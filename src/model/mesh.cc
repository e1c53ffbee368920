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

AxisPath PathAlong(uint32_t nodes, uint32_t begin, const int32_t factor[kDims],
                   const uint8_t order[kDims], uint32_t operand) {
  AxisPath path = {};
  path.sharers = 1;
  int32_t stride = 1, reach = 0;  // reach: from the first sharer to the last so far
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
  // Groups start at every position that is no other sharer's; walk them all.
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
    // The nearest sharer is the first from the left or the last from the right, or one
    // between; sharers between are nearer to neither edge.
    const int64_t low = int64_t{begin} + position;
    const int64_t high = low + reach;
    sum += static_cast<double>(Min(low, edge - high));
    ++groups;
  }
  path.to_corner = sum / static_cast<double>(groups);
  return path;
}

double TreeLinks(const AxisPath& columns, const AxisPath& rows) {
  // Kruskal's tree of a grid: the shortest gaps first; each gap along one axis is
  // bridged once for every part the other axis is still in.
  double links = columns.to_corner + rows.to_corner;
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

void FindPaths(const Hardware& hardware, const NodeRegion& region,
               const NodeSplit& split, OperandPath path[kOperands]) {
  const uint32_t nodes[kMeshAxes] = {hardware.node_cols, hardware.node_rows};
  for (uint32_t v = 0; v < kOperands; ++v) {
    AxisPath along[kMeshAxes];
    path[v].sharers = 1;
    for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
      along[axis] = PathAlong(nodes[axis], region.begin[axis], split.factor[axis],
                              split.order[axis], v);
      path[v].sharers *= along[axis].sharers;
    }
    path[v].links = TreeLinks(along[kColumns], along[kRows]);
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
          .Text("a region of ")
          .Number(region.extent[axis])
          .Text(axis == kColumns ? " columns from column " : " rows from row ")
          .Number(region.begin[axis])
          .Text(" on a mesh of ")
          .Number(mesh[axis]);
    }
  }
  machine->hardware = hardware;
  const uint32_t outermost = static_cast<uint32_t>(hardware.levels.size());
  if (outermost >= kMaxLevels) {
    return Fail(diagnostic, Status::kUnsupported, "mesh")
        .Text("nodes of ")
        .Number(outermost)
        .Text(" levels, mapping takes ")
        .Number(kMaxLevels - 1);
  }
  for (uint32_t l = 0; l < outermost; ++l) machine->levels[l] = hardware.levels[l];
  machine->levels[outermost] = hardware.dram();
  MemoryLevel loops = {};  // holds nothing, costs nothing
  loops.instances = loops.banks = loops.alignment_bytes = 1;
  loops.bandwidth = Rational{0, 1};
  machine->levels[outermost - 1] = loops;
  machine->hardware.levels =
      Span<const MemoryLevel>(machine->levels, size_t{outermost} + 1);
  uint32_t count = 0;
  for (const Fanout& fanout : hardware.fanouts) {
    if (fanout.level + 1 >= outermost || count + kMeshAxes >= kMaxFanouts) {
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

// One node's nest under the mesh: its DRAM loops become those of its part. Factors of
// `split` lose the nodes without work.
LoopNest OnMesh(const MappingProblem& problem, const LoopNest& nest, NodeSplit* split) {
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
    whole.temporal[outermost][d] = 1;
    whole.order[outermost][d] = nest.order[loops][d];
    for (uint32_t axis = 0; axis < kMaxAxes; ++axis) {
      whole.spatial[outermost][axis][d] = 1;
      if (axis >= kMeshAxes) continue;
      int32_t* factor = &split->factor[axis][d];
      const int64_t useful = CeilDivide(problem.extent[d], tile);
      *factor = static_cast<int32_t>(Min(int64_t{*factor}, useful));
      whole.spatial[outermost][axis][d] = *factor;
      tile *= *factor;
    }
  }
  return whole;
}

}  // namespace

Status EvaluateOnMesh(const MappingProblem& problem, const Hardware& hardware,
                      const NodeRegion& region, const NodeSplit& split,
                      const LoopNest& nest, const CostOptions& options, MeshCost* cost,
                      Diagnostic* diagnostic) {
  MeshMachine machine;
  SLUICE_TRY(MakeMeshMachine(hardware, region, &machine, diagnostic));
  NodeSplit used = split;
  const LoopNest whole = OnMesh(problem, nest, &used);
  const uint32_t outermost = nest.levels, scratchpad = nest.levels - 2;
  SLUICE_TRY(CheckNest(problem, machine.hardware, whole, 0, diagnostic));
  AccessCounts counts;
  SLUICE_TRY(CountAccesses(problem, machine.hardware, whole, options.form,
                           options.resident, &counts, diagnostic));
  CostOfCounts(problem, machine.hardware, counts, &cost->layer);
  OperandPath path[kOperands];
  FindPaths(hardware, region, used, path);
  cost->noc_pj = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v)) continue;
    // Words that travel together: outputs once per group (their sum), the others once
    // per set of sharers.
    const double words = v == kOutput
                             ? static_cast<double>(counts.transfers[outermost][v])
                             : static_cast<double>(counts.writes[scratchpad][v]) /
                                   static_cast<double>(path[v].sharers);
    cost->noc_pj += words * path[v].links * LinkPj(hardware, InnerBytes(problem, v));
  }
  cost->layer.energy_pj += cost->noc_pj;
  cost->nodes = counts.instances[scratchpad];
  return Status::kOk;
}

}  // namespace sluice
