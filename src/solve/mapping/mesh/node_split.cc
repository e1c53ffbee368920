// SPDX-License-Identifier: Apache-2.0
// Facts about a layer, computed once; its splits: their factors, and where the parts
// lie.
#include "solve/mapping/mesh/node_split.h"

#include "base/checked.h"

namespace sluice::node_split {

namespace {

constexpr int64_t kSmallExtent = 16;  // of which every factor is tried, too
constexpr int64_t kWasteShare = 32;   // larger ones may leave this share of nodes idle
constexpr size_t kMostFactors = 48;   // of one dim
constexpr size_t kMostParts = 60000;  // divisions looked at

uint64_t HashOf(const int32_t factor[kDims]) {
  uint64_t h = 0;
  for (uint32_t d = 0; d < kDims; ++d) {
    h = (h ^ static_cast<uint32_t>(factor[d])) * 0x9e3779b97f4a7c15u;
    h ^= h >> 31;
  }
  return h;
}

Status FindAxisWay(Search* search, uint32_t axis, const int32_t factor[kDims],
                   Arena* arena, uint32_t* found) {
  AxisWays* known = &search->axis[axis];
  if (2 * (known->ways.size() + 1) > known->slots.size()) {
    const size_t size = known->slots.empty() ? 256 : 2 * known->slots.size();
    SLUICE_TRY(arena->Allocate(size, &known->slots));
    for (size_t i = 0; i < known->ways.size(); ++i) {
      size_t at = HashOf(known->ways[i].factor) & (size - 1);
      while (known->slots[at] != 0) at = (at + 1) & (size - 1);
      known->slots[at] = static_cast<uint32_t>(i) + 1;
    }
  }
  const size_t mask = known->slots.size() - 1;
  size_t at = HashOf(factor) & mask;
  for (; known->slots[at] != 0; at = (at + 1) & mask) {
    *found = known->slots[at] - 1;
    if (memcmp(known->ways[*found].factor, factor, sizeof known->ways[0].factor) == 0) {
      return Status::kOk;
    }
  }
  const uint32_t nodes[kMeshAxes] = {search->hardware.node_cols,
                                     search->hardware.node_rows};
  AxisWay way = {};
  memcpy(way.factor, factor, sizeof way.factor);
  for (uint32_t v = 0; v < kOperands; ++v) {
    way.path[v] =
        PathAlong(nodes[axis], search->region.begin[axis], factor, search->order, v,
                  EndAlong(search->region, search->options.terms, v, axis));
  }
  *found = static_cast<uint32_t>(known->ways.size());
  SLUICE_TRY(known->ways.Push(way));
  known->slots[at] = *found + 1;
  return Status::kOk;
}

double LinksPj(const Search& search, const AxisWay& columns, const AxisWay& rows) {
  double pj = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(search.problem, v)) continue;
    pj +=
        search.words[v] * search.link_pj[v] * TreeLinks(columns.path[v], rows.path[v]);
  }
  return pj;
}

// False when fewer parts give the same part size: more would waste nodes.
bool IsUseful(int64_t extent, int64_t factor) {
  return factor <= extent && CeilDivide(extent, CeilDivide(extent, factor)) == factor;
}

bool IsTried(int64_t extent, int64_t factor, int64_t nodes) {
  if (!IsUseful(extent, factor)) return false;
  if (nodes <= kSmallMesh || extent < kSmallExtent) return true;
  const int64_t waste = CeilDivide(extent, factor) * factor - extent;
  return waste * kWasteShare <= extent;
}

// A layout of the parts over columns and rows under way, and the least so far.
struct Layout {
  AxisWay* columns;
  AxisWay* rows;
  Parts* parts;
  double least;
};

// The best layout of the parts from the i-th dim on.
Status Place(Search* search, int i, const int64_t free[kMeshAxes], Arena* arena,
             Layout* layout) {
  AxisWay* columns = layout->columns;
  AxisWay* rows = layout->rows;
  Parts* parts = layout->parts;
  if (i == kSplitDimCount) {
    uint32_t way[kMeshAxes];
    SLUICE_TRY(FindAxisWay(search, kColumns, columns->factor, arena, &way[kColumns]));
    SLUICE_TRY(FindAxisWay(search, kRows, rows->factor, arena, &way[kRows]));
    const double pj = LinksPj(*search, search->axis[kColumns].ways[way[kColumns]],
                              search->axis[kRows].ways[way[kRows]]);
    if (pj >= layout->least) return Status::kOk;
    layout->least = pj;
    memcpy(parts->way, way, sizeof way);
    return Status::kOk;
  }
  const uint32_t d = kSplitDims[i];
  const int64_t all = parts->factor[d];
  for (int64_t f = 1; f <= Min(all, free[kColumns]); ++f) {
    if (all % f != 0 || all / f > free[kRows]) continue;
    columns->factor[d] = static_cast<int32_t>(f);
    rows->factor[d] = static_cast<int32_t>(all / f);
    const int64_t rest[kMeshAxes] = {free[kColumns] / f, free[kRows] / (all / f)};
    SLUICE_TRY(Place(search, i + 1, rest, arena, layout));
  }
  return Status::kOk;
}

// Heap of estimates, least first; ties by position, so that the order is unique.
bool Before(const Waiting& a, const Waiting& b) {
  return a.estimate != b.estimate ? a.estimate < b.estimate : a.parts < b.parts;
}

Status ListParts(Search* search, int i, int64_t left, Parts* parts) {
  if (search->parts.size() >= kMostParts) return Status::kOk;
  if (i == kSplitDimCount) {
    if (!KeepsFit(search, *parts)) return Status::kOk;
    parts->estimate = EstimateOf(*search, *parts);
    return search->parts.Push(*parts);
  }
  const uint32_t d = kSplitDims[i];
  for (const int32_t f : search->factors[i]) {
    if (f > left) break;
    if (f > 1 && search->rows_last && (d == kDimP || d == kDimQ) &&
        parts->factor[kDimN] < search->problem.extent[kDimN]) {
      break;
    }
    parts->factor[d] = f;
    SLUICE_TRY(ListParts(search, i + 1, left / f, parts));
  }
  parts->factor[d] = 1;
  return Status::kOk;
}

}  // namespace

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

void Sink(Search* search, size_t i) {
  const Span<Waiting> heap = search->heap.span();
  if (i >= heap.size()) return;
  const Waiting sunk = heap[i];
  for (;;) {
    size_t child = 2 * i + 1;
    if (child >= heap.size()) break;
    if (child + 1 < heap.size() && Before(heap[child + 1], heap[child])) ++child;
    if (!Before(heap[child], sunk)) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = sunk;
}

void Drop(Search* search) {
  Vector<Waiting>& heap = search->heap;
  heap[0] = heap[heap.size() - 1];
  heap.Truncate(heap.size() - 1);
}

Status ListFactors(Search* search, Arena* arena) {
  const int64_t nodes = NodesOf(search->region);
  const int64_t* extent_of = search->problem.extent;
  search->rows_last =
      nodes > kSmallMesh && extent_of[kDimR] == 1 && extent_of[kDimS] == 1;
  for (int i = 0; i < kSplitDimCount; ++i) {
    const int64_t extent = search->problem.extent[kSplitDims[i]];
    Vector<int32_t> factors(arena);
    for (int64_t f = 1; f <= Min(nodes, extent) && factors.size() < kMostFactors; ++f) {
      if (IsTried(extent, f, nodes)) {
        SLUICE_TRY(factors.Push(static_cast<int32_t>(f)));
      }
    }
    search->factors[i] = factors.span();
  }
  return Status::kOk;
}

NodeSplit SplitOf(const Search& search, const Parts& parts) {
  NodeSplit split;
  const AxisWay* way[kMeshAxes] = {&ColumnsOf(search, parts), &RowsOf(search, parts)};
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    memcpy(split.factor[axis], way[axis]->factor, sizeof split.factor[axis]);
    memcpy(split.order[axis], search.order, sizeof split.order[axis]);
  }
  return split;
}

Status ListAllParts(Search* search) {
  search->parts.Truncate(0);
  search->heap.Truncate(0);
  Parts parts = {};
  for (int32_t& f : parts.factor) f = 1;
  SLUICE_TRY(ListParts(search, 0, NodesOf(search->region), &parts));
  for (uint32_t i = 0; i < search->parts.size(); ++i) {
    SLUICE_TRY(search->heap.Push(Waiting{search->parts[i].estimate, i}));
  }
  for (size_t i = search->heap.size() / 2; i-- > 0;) Sink(search, i);
  return Status::kOk;
}

Status FindPlace(Search* search, Arena* arena, Parts* parts, bool* found) {
  AxisWay columns = {}, rows = {};
  for (uint32_t d = 0; d < kDims; ++d) columns.factor[d] = rows.factor[d] = 1;
  Layout layout = {&columns, &rows, parts, kNever};
  const int64_t free[kMeshAxes] = {search->region.extent[kColumns],
                                   search->region.extent[kRows]};
  SLUICE_TRY(Place(search, 0, free, arena, &layout));
  *found = layout.least < kNever;
  if (*found) parts->stage = kPlaced;
  return Status::kOk;
}

}  // namespace sluice::node_split
