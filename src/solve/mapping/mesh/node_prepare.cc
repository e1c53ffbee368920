// SPDX-License-Identifier: Apache-2.0
// Facts about a layer, computed once before its splits are estimated.
#include "base/checked.h"
#include "solve/mapping/mesh/node_split.h"

namespace sluice::node_split {

// Orders dims so that sharers of the heaviest operand are neighbours: dims that do not
// index it come first.
void OrderDims(Search* search) {
  const MappingProblem& problem = search->problem;
  for (const Fanout& fanout : search->hardware.fanouts) {
    if (MayUnroll(fanout, kDimC) || MayUnroll(fanout, kDimR) ||
        MayUnroll(fanout, kDimS)) {
      search->summing *= fanout.extent;
    }
  }
  const Fanout* bus = FanoutAt(search->hardware, 1, 0);
  if (bus != nullptr) search->wire_pj_per_bit = bus->transfer_pj_per_bit;
  double weight[kDims] = {};
  for (uint32_t v = 0; v < kOperands; ++v) {
    search->words[v] = Has(problem, v)
                           ? static_cast<double>(TileWords(problem, v, problem.extent))
                           : 0;
    search->link_pj[v] = LinkPj(search->hardware, InnerBytes(problem, v));
    for (uint32_t d = 0; d < kDims; ++d) {
      if (!Moves(d, v)) weight[d] += search->words[v] * search->link_pj[v];
    }
  }
  for (uint8_t d = 0; d < kDims; ++d) {
    int i = d;
    for (; i > 0 && weight[search->order[i - 1]] < weight[d]; --i) {
      search->order[i] = search->order[i - 1];
    }
    search->order[i] = d;
  }
}

// Distances of the region's nodes to the corners, nearest first, as running means.
Status MeasureCorners(Search* search, Arena* arena) {
  const NodeRegion& region = search->region;
  const int64_t edge[kMeshAxes] = {int64_t{search->hardware.node_cols} - 1,
                                   int64_t{search->hardware.node_rows} - 1};
  const size_t most = static_cast<size_t>((edge[kColumns] + edge[kRows]) / 2 + 1);
  Span<int64_t> count;
  SLUICE_TRY(arena->Allocate(most + 1, &count));
  for (int64_t c = 0; c < region.extent[kColumns]; ++c) {
    for (int64_t r = 0; r < region.extent[kRows]; ++r) {
      const int64_t column = region.begin[kColumns] + c;
      const int64_t row = region.begin[kRows] + r;
      ++count[static_cast<size_t>(Min(column, edge[kColumns] - column) +
                                  Min(row, edge[kRows] - row))];
    }
  }
  SLUICE_TRY(arena->Allocate(static_cast<size_t>(NodesOf(region)), &search->to_corner));
  int64_t sum = 0;
  size_t next = 0;
  for (size_t links = 0; links <= most; ++links) {
    for (int64_t i = 0; i < count[links]; ++i) {
      sum += static_cast<int64_t>(links);
      search->to_corner[next] =
          static_cast<double>(sum) / static_cast<double>(next + 1);
      ++next;
    }
  }
  return Status::kOk;
}

Status LeastArray(Search* search, Budget* budget, Arena* arena,
                  Diagnostic* diagnostic) {
  if (IsPlainNode(search->problem, search->hardware,
                  search->options.node.constraints)) {
    return LeastOnArray(
        {search->problem, search->hardware, search->options.node.constraints},
        search->table, &search->least_array_pj, &search->least_cycles, diagnostic);
  }
  Hardware node = search->hardware;
  Span<MemoryLevel> levels;
  SLUICE_TRY(arena->Allocate(node.levels.size(), &levels));
  for (size_t l = 0; l < levels.size(); ++l) {
    levels[l] = node.levels[l];
    if (l > 0) levels[l].bandwidth = Rational{0, 1};
  }
  levels[levels.size() - 2].capacity_bytes = 0;
  node.levels = levels;
  node.leakage_pj_per_cycle = 0;
  OuterPrice free = {};
  MapConstraints constraints;
  constraints.outer = &free;
  MappedNest nest;
  SLUICE_TRY(MapConvExact({search->problem, node, constraints}, budget, arena, &nest,
                          diagnostic));
  search->least_array_pj = nest.proved ? nest.objective : 0;
  constraints.energy_exponent = 0;
  constraints.delay_exponent = 1;
  SLUICE_TRY(MapConvExact({search->problem, node, constraints}, budget, arena, &nest,
                          diagnostic));
  search->least_cycles = nest.proved ? nest.objective : 0;
  return Status::kOk;
}

// A lower bound for any split, nest and set of kept operands: operations, each word
// once through the scratchpad, and through DRAM if it comes from or goes there.
double BoundOf(const Search& search) {
  const MappingProblem& problem = search.layer;
  const Hardware& hw = search.hardware;
  const LayerTerms& terms = search.options.terms;
  const MemoryLevel& scratchpad = hw.levels[hw.levels.size() - 2];
  const double ops = static_cast<double>(OperationCount(problem));
  const double nodes = static_cast<double>(NodesOf(search.region));
  double pj = ops * (problem.vector ? hw.vector_op_pj : hw.mac_pj);
  double bytes = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v)) continue;
    const int64_t width = InnerBytes(problem, v), outer = problem.element_bytes[v];
    const double words = static_cast<double>(TileWords(problem, v, problem.extent));
    pj +=
        words * (v == kOutput ? WritePj(scratchpad, width) : ReadPj(scratchpad, width));
    if (v == kInput && terms.ifmap.kind != EndKind::kDram) continue;
    if (v == kOutput && terms.ofmap.kind != EndKind::kDram) continue;
    bytes += words * static_cast<double>(outer);
    pj +=
        words * (v == kOutput ? WritePj(hw.dram(), outer)
                              : ReadPj(hw.dram(), width) + WritePj(scratchpad, width));
  }
  double cycles = ops / (nodes * static_cast<double>(PeakOperations(problem, hw)));
  const Rational& rate = hw.dram().bandwidth;
  if (rate.numerator > 0) {
    cycles = Max(cycles, bytes * static_cast<double>(rate.denominator) /
                             static_cast<double>(rate.numerator));
  }
  pj += hw.leakage_pj_per_cycle * nodes * cycles;
  return MapObjective(search.options.node.constraints, pj, cycles);
}

}  // namespace sluice::node_split
