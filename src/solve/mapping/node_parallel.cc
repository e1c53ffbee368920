// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/node_parallel.h"

#include "base/checked.h"
#include "solve/mapping/node_array.h"

namespace sluice {

namespace {

constexpr uint8_t kSplitDims[] = {kDimN, kDimK, kDimC, kDimP, kDimQ, kDimG};
constexpr int kSplitDimCount = 6;
constexpr double kSlack = 0.005;  // gains below this share are not looked for
constexpr double kEstimateError = 0.03;
constexpr int kMore = 6;
constexpr int kFruitless = 100;       // parts placed in a row and not worth solving
constexpr int kMisses = 30;           // splits in a row that gain nothing
constexpr int64_t kSmallMesh = 16;    // up to this, every factor is tried
constexpr int64_t kSmallExtent = 16;  // and of extents below
constexpr int64_t kWasteShare = 32;   // others may idle this share of their nodes
constexpr size_t kMostFactors = 48;   // of one dim
constexpr size_t kMostParts = 60000;
constexpr double kNever = 1e300;

// Factors along one axis, and the paths they make.
struct AxisWay {
  int32_t factor[kDims];
  AxisPath path[kOperands];
};

enum Stage : uint8_t { kListed = 0, kPlaced };

// Parts of one size.
struct Parts {
  int32_t factor[kDims];    // columns x rows
  uint32_t way[kMeshAxes];  // AxisWay of the best layout, once placed
  double estimate;          // objective
  double dram_pj;           // of one, at least, once placed
  Stage stage;
};

struct Waiting {
  double estimate;
  uint32_t parts;
};

// Ways along one axis, found when first asked for.
struct AxisWays {
  explicit AxisWays(Arena* a) : ways(a) {}
  Vector<AxisWay> ways;
  Span<uint32_t> slots;  // hash of the factors -> way + 1
};

struct Search {
  Search(const MappingProblem& whole_problem, const int64_t pass_counts[kDims],
         const Hardware& h, const NodeRegion& r, const NodeParallelOptions& o, Arena* a)
      : layer(whole_problem),
        problem(PassOf(whole_problem, pass_counts)),
        hardware(h),
        region(r),
        options(o),
        axis{AxisWays(a), AxisWays(a)},
        parts(a),
        heap(a),
        own_table(a, h.leakage_pj_per_cycle),
        table(o.table != nullptr ? o.table : &own_table) {
    for (uint32_t d = 0; d < kDims; ++d) {
      passes[d] = pass_counts[d];
      all_passes *= static_cast<double>(passes[d]);
    }
  }
  const MappingProblem& layer;
  const MappingProblem problem;  // one pass
  int64_t passes[kDims];
  double all_passes = 1;
  uint32_t kept = 0;     // operands that lie whole in the scratchpads
  bool rotates = false;  // others may lie there in parts, handed round
  const Hardware& hardware;
  const NodeRegion& region;
  const NodeParallelOptions& options;
  AxisWays axis[kMeshAxes];
  Vector<Parts> parts;
  Span<double> to_corner;  // links, mean of the nearest nodes: one, two, ...
  bool rows_last = false;  // no halos: rows and columns are cut after the whole batch
  Span<int32_t> factors[kSplitDimCount];  // tried, of every dim
  Vector<Waiting> heap;
  ArrayTable own_table;
  ArrayTable* table;
  uint8_t
      order[kDims];  // of dims along an axis: whose sharers move most are neighbours
  double words[kOperands];     // at least, in and out of DRAM
  double link_pj[kOperands];   // of one word
  double wire_pj_per_bit = 0;  // of the array
  double summing = 1;          // units of a node that may work on the same output
  // Below every node's share together, from one node without limits doing it all.
  double least_array_pj;  // operations, registers, scratchpad with each word in it once
  double least_cycles;
  double best;
  NodeMapping* mapped;
  int64_t least_kept;  // bytes, of what was kept in parts that do not fit
  int fruitless;       // parts placed in a row that are not worth solving
  uint32_t cut;        // parts none of whose tiles holds a whole filter
};

// Sharers of the heaviest operand are neighbours: the dims it does not have come first.
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

const AxisWay& ColumnsOf(const Search& search, const Parts& parts) {
  return search.axis[kColumns].ways[parts.way[kColumns]];
}
const AxisWay& RowsOf(const Search& search, const Parts& parts) {
  return search.axis[kRows].ways[parts.way[kRows]];
}

int64_t NodesOfParts(const Parts& parts) {
  int64_t nodes = 1;
  for (uint32_t d = 0; d < kDims; ++d) nodes *= parts.factor[d];
  return nodes;
}

MappingProblem PartOf(const MappingProblem& problem, const Parts& parts) {
  MappingProblem part = problem;
  for (uint32_t d = 0; d < kDims; ++d) {
    part.extent[d] = CeilDivide(problem.extent[d], int64_t{parts.factor[d]});
  }
  return part;
}

int64_t SharersOf(const Parts& parts, uint32_t operand) {
  const int32_t* f = parts.factor;
  if (operand == kInput) return f[kDimK];
  if (operand == kOutput) return f[kDimC];
  return int64_t{f[kDimN]} * f[kDimP] * f[kDimQ];
}

bool IsFromDram(const Search& search, uint32_t operand) {
  return EndAlong(search.region, search.options.terms, operand, kColumns).kind ==
         AxisEnd::kEdges;
}

// Links one word of the operand crosses: before its parts are placed, at least.
double LinksOf(const Search& search, const Parts& parts, uint32_t operand) {
  if (parts.stage == kListed) {
    const int64_t sharers = SharersOf(parts, operand);
    const double tree = static_cast<double>(sharers - 1);
    if (search.to_corner.empty() || !IsFromDram(search, operand)) return tree;
    const int64_t groups = NodesOfParts(parts) / sharers;
    return tree + search.to_corner[static_cast<size_t>(groups) - 1];
  }
  return TreeLinks(ColumnsOf(search, parts).path[operand],
                   RowsOf(search, parts).path[operand]);
}

// Of which operands a node may hold a part only.
Sharing SharingOf(const Search& search, const Parts& parts) {
  Sharing sharing;
  if (!search.rotates) return sharing;
  for (uint32_t v = 0; v < kOutput; ++v) sharing.sharers[v] = SharersOf(parts, v);
  return sharing;
}

// What one node with an endless scratchpad and free DRAM needs for the whole layer: the
// nodes' loops, run one after the other on it, would need no less.
Status LeastArray(Search* search, Budget* budget, Arena* arena,
                  Diagnostic* diagnostic) {
  if (IsPlainNode(search->problem, search->hardware,
                  search->options.node.constraints)) {
    return LeastOnArray(search->problem, search->hardware,
                        search->options.node.constraints, search->table,
                        &search->least_array_pj, &search->least_cycles, diagnostic);
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
  SLUICE_TRY(MapConvExact(search->problem, node, constraints, budget, arena, &nest,
                          diagnostic));
  search->least_array_pj = nest.proved ? nest.objective : 0;
  constraints.energy_exponent = 0;
  constraints.delay_exponent = 1;
  SLUICE_TRY(MapConvExact(search->problem, node, constraints, budget, arena, &nest,
                          diagnostic));
  search->least_cycles = nest.proved ? nest.objective : 0;
  return Status::kOk;
}

// Words of an operand over all parts: rows that two parts need count for both.
double WordsOf(const Search& search, const MappingProblem& part, uint32_t operand) {
  if (operand != kInput) return search.words[operand];
  double words = static_cast<double>(TileWords(search.problem, operand, part.extent));
  for (uint32_t d = 0; d < kDims; ++d) {
    const double extent = static_cast<double>(search.problem.extent[d]);
    if (d == kDimN || d == kDimC || d == kDimG) {
      words *= extent / static_cast<double>(part.extent[d]);
    } else if (Moves(d, operand)) {
      words *= Max(1.0, extent / static_cast<double>(part.extent[d]));
    }
  }
  return Max(words, search.words[operand]);
}

// What moving words between DRAM and all scratchpads costs at least: of three operands
// one may stay while the loops it does not have go round; the other two are fetched
// again for every tile, and the tiles share one scratchpad.
double LeastDramPj(const Search& search, const Parts& parts) {
  const MappingProblem& problem = search.problem;
  const Hardware& hw = search.hardware;
  const MemoryLevel& dram = hw.dram();
  const MemoryLevel& scratchpad = hw.levels[hw.levels.size() - 2];
  const MappingProblem part = PartOf(problem, parts);
  const Sharing sharing = SharingOf(search, parts);
  double once[kOperands] = {}, again[kOperands] = {}, room[kOperands];
  for (uint32_t v = 0; v < kOperands; ++v) {
    const int64_t width = InnerBytes(problem, v);
    room[v] = scratchpad.capacity_bytes == 0
                  ? 1e300
                  : static_cast<double>(scratchpad.capacity_bytes / width *
                                        sharing.sharers[v]);
    if (!Has(problem, v)) continue;
    if ((search.kept >> v & 1) != 0) continue;
    const double words = WordsOf(search, part, v);
    const double sharers = static_cast<double>(SharersOf(parts, v));
    const double fill = sharers * WritePj(scratchpad, width);
    const double link = search.link_pj[v] * LinksOf(search, parts, v);
    once[v] = search.words[v] * ReadPj(dram, width) + words * (fill + link);
    again[v] = once[v];
    if (v != kOutput) continue;
    once[v] = words * (WritePj(dram, problem.element_bytes[v]) + link);
    again[v] += words * (WritePj(dram, width) + link);
  }
  const int64_t* e = part.extent;
  const double rows = static_cast<double>(e[kDimN] * e[kDimP] * e[kDimQ]);
  const double k = static_cast<double>(e[kDimK]);
  const double c = static_cast<double>(e[kDimC]);
  const double taps = static_cast<double>(e[kDimR] * e[kDimS]);
  const double all = once[kInput] + once[kWeight] + once[kOutput];
  double least = 1e300;
  // Outputs stay.
  least = Min(least, once[kOutput] + LeastVisits(again[kInput], k, again[kWeight], rows,
                                                 room[kOutput]));
  // Weights stay.
  if (Has(problem, kWeight)) {
    least = Min(least, once[kWeight] + once[kOutput] - again[kOutput] +
                           LeastVisits(again[kInput], k, again[kOutput], c,
                                       room[kWeight] / taps));
  }
  // Inputs stay.
  least = Min(least,
              once[kInput] + once[kOutput] - again[kOutput] +
                  LeastVisits(again[kWeight], rows, again[kOutput], c, room[kInput]));
  return Max(all, least);
}

// What kept operands cost on their way in or out, over all passes.
double KeptPj(const Search& search, const Parts& parts) {
  const Hardware& hw = search.hardware;
  const MemoryLevel& dram = hw.dram();
  const MemoryLevel& pad = hw.levels[hw.levels.size() - 2];
  const LayerTerms& terms = search.options.terms;
  double pj = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(search.problem, v) || (search.kept >> v & 1) == 0) continue;
    const int64_t width = InnerBytes(search.problem, v);
    const double links = LinksOf(search, parts, v);
    double each = links * search.link_pj[v];
    if (v == kOutput) {
      if (terms.ofmap.kind == EndKind::kDram) {
        each += WritePj(dram, search.problem.element_bytes[v]);
      }
    } else {
      const double sharers = static_cast<double>(SharersOf(parts, v));
      double fills = sharers, sources = 1;
      if (v == kInput && terms.ifmap.kind == EndKind::kHere) {
        const double lie = sharers / static_cast<double>(NodesOf(search.region));
        fills -= lie;
        if (sharers <= 1) sources -= lie;
      }
      const bool on_chip = v == kInput && terms.ifmap.kind != EndKind::kDram;
      each += fills * WritePj(pad, width) +
              (on_chip ? sources * ReadPj(pad, width) : ReadPj(dram, width));
    }
    pj += each * static_cast<double>(TileWords(search.layer, v, search.layer.extent));
  }
  return pj;
}

// What arrays and scratchpads of all nodes need in one pass, nearly from below: the
// layer's on one node, and copies in every sharer's scratchpad. (Tiles of the array's
// part divide its passes, so that other parts can do a little better.)
double ArrayPj(const Search& search, const Parts& parts, const MappingProblem& part) {
  const MappingProblem& problem = search.problem;
  const Hardware& hw = search.hardware;
  const MemoryLevel& pad = hw.levels[hw.levels.size() - 2];
  double pj = search.least_array_pj;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v)) continue;
    const double words = WordsOf(search, part, v);
    const double copies = words * (static_cast<double>(SharersOf(parts, v)) - 1);
    const int64_t width = InnerBytes(problem, v);
    const double wire = search.wire_pj_per_bit * static_cast<double>(8 * width);
    if (v == kOutput) {
      pj += copies * (WritePj(pad, width) + wire);
      // A unit's first update of a sum reads nothing; copies have first updates too.
      if ((hw.levels[0].may_hold >> v & 1) != 0) {
        pj -= copies * search.summing * ReadPj(hw.levels[0], width);
      }
    } else {
      pj +=
          copies * (ReadPj(pad, width) + wire) - search.words[v] * WritePj(pad, width);
    }
  }
  return pj;
}

// Cycles of one pass without DRAM, at least.
double ArrayCycles(const Search& search, const Parts& parts,
                   const MappingProblem& part) {
  const double cycles =
      static_cast<double>(OperationCount(part)) /
      static_cast<double>(PeakOperations(search.problem, search.hardware));
  return Max(cycles, search.least_cycles / static_cast<double>(NodesOfParts(parts)));
}

// All passes: energy of one without leakage and kept operands, cycles of one.
double Whole(const Search& search, const Parts& parts, double pj, double cycles) {
  cycles *= search.all_passes;
  pj = pj * search.all_passes + KeptPj(search, parts);
  pj += search.hardware.leakage_pj_per_cycle *
        static_cast<double>(NodesOf(search.region)) * cycles;
  return MapObjective(search.options.node.constraints, pj, cycles);
}

// What parts of these sizes cost, nearly from below, wherever they lie.
double EstimateOf(const Search& search, const Parts& parts) {
  const MappingProblem& problem = search.problem;
  const MappingProblem part = PartOf(problem, parts);
  double pj = ArrayPj(search, parts, part) + LeastDramPj(search, parts);
  double bytes = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v) || (search.kept >> v & 1) != 0) continue;
    bytes += search.words[v] * static_cast<double>(problem.element_bytes[v]);
  }
  double cycles = ArrayCycles(search, parts, part);
  const Rational& rate = search.hardware.dram().bandwidth;
  if (rate.numerator > 0) {
    cycles = Max(cycles, bytes * static_cast<double>(rate.denominator) /
                             static_cast<double>(rate.numerator));
  }
  return Whole(search, parts, pj, cycles);
}

// Below any split, nest and set of kept operands: operations, each word once through
// the scratchpad, and through DRAM where it comes from or goes there.
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

double LinksPj(const Search& search, const AxisWay& columns, const AxisWay& rows) {
  double pj = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(search.problem, v)) continue;
    pj +=
        search.words[v] * search.link_pj[v] * TreeLinks(columns.path[v], rows.path[v]);
  }
  return pj;
}

// A factor that reaches the same part size with fewer parts wastes nodes.
bool IsUseful(int64_t extent, int64_t factor) {
  return factor <= extent && CeilDivide(extent, CeilDivide(extent, factor)) == factor;
}

bool IsTried(int64_t extent, int64_t factor, int64_t nodes) {
  if (!IsUseful(extent, factor)) return false;
  if (nodes <= kSmallMesh || extent < kSmallExtent) return true;
  const int64_t waste = CeilDivide(extent, factor) * factor - extent;
  return waste * kWasteShare <= extent;
}

// The best layout of the parts over columns and rows: of all ways to divide every
// factor between both. *found: whether there is one.
Status Place(Search* search, int i, const int64_t free[kMeshAxes], AxisWay* columns,
             AxisWay* rows, Arena* arena, Parts* parts, double* least) {
  if (i == kSplitDimCount) {
    uint32_t way[kMeshAxes];
    SLUICE_TRY(FindAxisWay(search, kColumns, columns->factor, arena, &way[kColumns]));
    SLUICE_TRY(FindAxisWay(search, kRows, rows->factor, arena, &way[kRows]));
    const double pj = LinksPj(*search, search->axis[kColumns].ways[way[kColumns]],
                              search->axis[kRows].ways[way[kRows]]);
    if (pj >= *least) return Status::kOk;
    *least = pj;
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
    SLUICE_TRY(Place(search, i + 1, rest, columns, rows, arena, parts, least));
  }
  return Status::kOk;
}

// Heap of estimates, least first; ties by position, so that the order is one.
bool Before(const Waiting& a, const Waiting& b) {
  return a.estimate != b.estimate ? a.estimate < b.estimate : a.parts < b.parts;
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

// Takes the least away; Sink comes after.
void Drop(Search* search) {
  Vector<Waiting>& heap = search->heap;
  heap[0] = heap[heap.size() - 1];
  heap.Truncate(heap.size() - 1);
}

// Bytes of kept operands in one node, and of these what other passes need.
int64_t KeptBytes(const Search& search, const Parts& parts, const MappingProblem& part,
                  int64_t* others) {
  const Sharing sharing = SharingOf(search, parts);
  int64_t kept = 0;
  *others = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(part, v) || (search.kept >> v & 1) == 0) continue;
    const int64_t bytes = CeilDivide(
        TileWords(part, v, part.extent) * InnerBytes(part, v), sharing.sharers[v]);
    kept += bytes;
    if (v != kWeight) continue;
    // The weights of the other passes lie there too.
    *others = bytes *
              (search.passes[kDimC] * search.passes[kDimK] * search.passes[kDimG] - 1);
  }
  return kept + *others;
}

// Is there room for what parts keep? Remembers the least room asked for.
bool KeepsFit(Search* search, const Parts& parts) {
  const int64_t capacity =
      search->hardware.levels[search->hardware.levels.size() - 2].capacity_bytes;
  if (search->kept == 0 || capacity == 0) return true;
  int64_t others;
  const int64_t bytes =
      KeptBytes(*search, parts, PartOf(search->problem, parts), &others);
  if (bytes <= capacity) return true;
  search->least_kept = Min(search->least_kept, bytes);
  return false;
}

// A node as its part's mapper sees it. Not to be copied: hardware points into it.
struct NodeView {
  MemoryLevel levels[kMaxLevels];
  Hardware hardware;
};

void ViewNode(const Search& search, const Parts& parts, const MappingProblem& part,
              NodeView* view) {
  Hardware& node = view->hardware;
  node = search.hardware;
  node.leakage_pj_per_cycle *= static_cast<double>(NodesOf(search.region)) /
                               static_cast<double>(NodesOfParts(parts));
  for (size_t l = 0; l < node.levels.size(); ++l) view->levels[l] = node.levels[l];
  MemoryLevel* pad = &view->levels[node.levels.size() - 2];
  node.levels = Span<const MemoryLevel>(view->levels, node.levels.size());
  if (pad->capacity_bytes == 0) return;
  int64_t others;
  KeptBytes(search, parts, part, &others);
  pad->capacity_bytes -= others;
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

// What DRAM's words cost one node of these parts.
OuterPrice PriceOf(const Search& search, const Parts& parts) {
  OuterPrice price = {};
  const MemoryLevel& dram = search.hardware.dram();
  const double nodes = static_cast<double>(NodesOfParts(parts));
  const AxisWay& columns = ColumnsOf(search, parts);
  const AxisWay& rows = RowsOf(search, parts);
  for (uint32_t v = 0; v < kOperands; ++v) {
    const double sharers = static_cast<double>(SharersOf(parts, v));
    const double links =
        TreeLinks(columns.path[v], rows.path[v]) * search.link_pj[v] / sharers;
    const int64_t width = InnerBytes(search.problem, v);
    price.read_pj[v] = ReadPj(dram, width) / sharers + links;
    price.byte_share[v] = nodes / sharers;
    if (v != kOutput) continue;
    price.write_partial_pj = WritePj(dram, width) / sharers + links;
    price.write_final_pj =
        WritePj(dram, search.problem.element_bytes[v]) / sharers + links;
  }
  const Rational& rate = dram.bandwidth;
  if (rate.numerator > 0) {
    price.cycles_per_byte =
        static_cast<double>(rate.denominator) / static_cast<double>(rate.numerator);
  }
  return price;
}

// The share of its full parts that is work.
double Fullness(const Search& search, const Parts& parts) {
  double full = 1;
  for (uint32_t d = 0; d < kDims; ++d) {
    const int64_t extent = search.problem.extent[d];
    full *= static_cast<double>(extent) /
            static_cast<double>(CeilDivide(extent, int64_t{parts.factor[d]}) *
                                parts.factor[d]);
  }
  return full;
}

// The objective that the mapper of a node's part must stay below to be of use.
double UpperOf(const Search& search, const Parts& parts, const Hardware& node) {
  const MapConstraints& constraints = search.options.node.constraints;
  const MappingProblem part = PartOf(search.problem, parts);
  // The price knows neither smaller parts at the border nor that one read of DRAM may
  // serve the halos of neighbours.
  const double halo = (WordsOf(search, part, kInput) - search.words[kInput]) *
                      ReadPj(node.dram(), InnerBytes(part, kInput));
  const double nodes = static_cast<double>(NodesOfParts(parts));
  const double ease =
      (1 + halo * search.all_passes / search.mapped->cost.layer.energy_pj) /
      (nodes * Fullness(search, parts));
  double upper = search.best * (search.options.exact ? 1 : 1 - kSlack);
  if (constraints.energy_exponent == 1 && constraints.delay_exponent == 0) {
    upper -= KeptPj(search, parts);
  }
  for (uint32_t i = 0; i < constraints.energy_exponent; ++i) {
    upper *= ease / search.all_passes;
  }
  for (uint32_t i = 0; i < constraints.delay_exponent; ++i) upper /= search.all_passes;
  return upper;
}

// A better estimate of parts that have a place: with tiles that fit.
Status EstimatePlaced(Search* search, Parts* parts, bool* fits,
                      Diagnostic* diagnostic) {
  const MappingProblem part = PartOf(search->problem, *parts);
  NodeView view;
  ViewNode(*search, *parts, part, &view);
  *fits = true;
  if (!IsPlainNode(part, view.hardware, search->options.node.constraints)) {
    parts->estimate = EstimateOf(*search, *parts);
    return Status::kOk;
  }
  const OuterPrice price = PriceOf(*search, *parts);
  MapConstraints constraints = search->options.node.constraints;
  constraints.outer = &price;
  constraints.resident = search->kept;
  const double nodes = static_cast<double>(NodesOfParts(*parts));
  const double array_pj = ArrayPj(*search, *parts, part);
  const double full = nodes * Fullness(*search, *parts);
  // One read of DRAM may serve the halos of neighbours.
  double halo = 0;
  if ((search->kept >> kInput & 1) == 0) {
    halo = (WordsOf(*search, part, kInput) - search->words[kInput]) *
           ReadPj(search->hardware.dram(), InnerBytes(part, kInput));
  }
  if (search->best > 0 && !search->options.every && constraints.energy_exponent == 1 &&
      constraints.delay_exponent == 0) {
    const double most = search->best * (1 + kEstimateError) - KeptPj(*search, *parts);
    constraints.upper = (most / search->all_passes + halo) / full;
    *fits = constraints.upper > 0;
    if (!*fits) return Status::kOk;
  }
  double cycles = ArrayCycles(*search, *parts, part);
  SLUICE_TRY(EstimatePart(part, view.hardware, constraints, SharingOf(*search, *parts),
                          array_pj / nodes, search->table, &parts->dram_pj, &cycles,
                          diagnostic));
  if (parts->dram_pj < 0) {
    *fits = false;
    parts->dram_pj = 0;
    if (search->best == 0 && search->cut == ~0u) search->cut = search->heap[0].parts;
    return Status::kOk;
  }
  const double estimate =
      Whole(*search, *parts, array_pj + full * parts->dram_pj - halo, cycles);
  parts->estimate = Max(parts->estimate, estimate);
  return Status::kOk;
}

// Remembers the nest if on the mesh it is better than what was found before.
Status TakeNest(Search* search, const Parts& parts, const LoopNest& nest,
                uint32_t rotated, Diagnostic* diagnostic) {
  MeshCost cost;
  CostOptions options;
  options.resident = search->kept;
  options.rotated = rotated;
  const NodeSplit split = SplitOf(*search, parts);
  const Status status =
      EvaluateOnMesh(search->layer, search->hardware, search->region, split, nest,
                     search->options.terms, options, &cost, diagnostic);
  // Array steps that reach beyond a pass's slice have no place in the loops over all.
  if (status == Status::kBadInput && search->all_passes > 1) return Status::kInfeasible;
  SLUICE_TRY(status);
  const double objective =
      MapObjective(search->options.node.constraints, cost.layer.energy_pj,
                   static_cast<double>(cost.layer.cycles));
  if (search->best > 0 && objective >= search->best) return Status::kOk;
  search->best = objective;
  search->mapped->split = split;
  search->mapped->nest = nest;
  search->mapped->kept = search->kept;
  search->mapped->rotated = rotated;
  search->mapped->cost = cost;
  search->mapped->objective = objective;
  return Status::kOk;
}

Status SolveParts(Search* search, const Parts& parts, Budget* budget, Arena* arena,
                  Diagnostic* diagnostic) {
  const MappingProblem part = PartOf(search->problem, parts);
  const OuterPrice price = PriceOf(*search, parts);
  NodeView view;
  ViewNode(*search, parts, part, &view);
  const Hardware& node = view.hardware;
  KaplaOptions options = search->options.node;
  options.constraints.outer = &price;
  options.constraints.resident = search->kept;
  options.constraints.wide |= search->options.exact;
  if (search->best > 0 && !search->options.every) {
    options.constraints.upper = UpperOf(*search, parts, node);
    options.constraints.gap = search->options.exact ? 0 : kSlack;
    if (options.constraints.upper <= 0) return Status::kInfeasible;
  }
  MappedNest nest;
  ++search->mapped->solved;
  const bool quick = !search->options.every && NodesOf(search->region) > 1 &&
                     IsPlainNode(part, node, options.constraints);
  Status status = Status::kInfeasible;
  if (quick) {
    PartNest found;
    status = MapPart(part, node, options.constraints, SharingOf(*search, parts),
                     parts.dram_pj, search->table, &found, &nest.nest, diagnostic);
    if (status == Status::kOk) {
      status = TakeNest(search, parts, nest.nest, found.rotated, diagnostic);
    }
    if (status != Status::kOk && status != Status::kInfeasible) return status;
    if (!search->options.exact && search->best > 0) return status;
  }
  if (status == Status::kOk && !search->options.exact) return status;
  SLUICE_TRY(
      MapConvExact(part, node, options.constraints, budget, arena, &nest, diagnostic));
  return TakeNest(search, parts, nest.nest, 0, diagnostic);
}

// Parts placed are looked at if they promise less.
double WantedOf(const Search& search) {
  if (search.best == 0 || search.options.every) return kNever;
  return search.best * (search.options.exact ? 1 + kEstimateError : 1 - kSlack);
}

// The next parts to solve: those of the least estimate, placed. *next is nullptr where
// none are left that can be placed.
Status NextParts(Search* search, Arena* arena, Parts** next, Diagnostic* diagnostic) {
  Vector<Waiting>& heap = search->heap;
  *next = nullptr;
  while (heap.size() > 0) {
    Parts* parts = &search->parts[heap[0].parts];
    if (parts->stage == kPlaced) {
      *next = parts;
      return Status::kOk;
    }
    const double wanted = search->best > 0 && !search->options.every
                              ? search->best * (1 - kSlack)
                              : kNever;
    if (parts->estimate >= wanted || search->fruitless > kFruitless) {
      Drop(search);
      Sink(search, 0);
      continue;
    }
    AxisWay columns = {}, rows = {};
    for (uint32_t d = 0; d < kDims; ++d) columns.factor[d] = rows.factor[d] = 1;
    double least = kNever;
    const int64_t free[kMeshAxes] = {search->region.extent[kColumns],
                                     search->region.extent[kRows]};
    SLUICE_TRY(Place(search, 0, free, &columns, &rows, arena, parts, &least));
    bool fits = least < kNever;
    if (fits) {
      parts->stage = kPlaced;
      SLUICE_TRY(EstimatePlaced(search, parts, &fits, diagnostic));
    }
    ++search->fruitless;
    if (fits) {
      if (parts->estimate < wanted) search->fruitless = 0;
      heap[0].estimate = parts->estimate;
    } else {
      Drop(search);
    }
    Sink(search, 0);
  }
  return Status::kOk;
}

// Goes on from what has been found: *failure is why the first parts could not be
// solved.
Status SolveWaiting(Search* search, Budget* budget, Arena* arena, Diagnostic* failure) {
  int more = 0, misses = 0;
  while (!budget->Exhausted()) {
    Parts* next;
    SLUICE_TRY(NextParts(search, arena, &next, failure));
    if (next == nullptr) return Status::kOk;
    const double before = search->best;
    if (before > 0 && !search->options.every) {
      // Estimates may be a little high: some more are looked at.
      if (next->estimate >= before * (1 + kEstimateError)) return Status::kOk;
      const bool patient = search->options.exact;
      if (next->estimate >= WantedOf(*search) && ++more > kMore && !patient) {
        return Status::kOk;
      }
      if (misses > kMisses && !patient) return Status::kOk;
      if (search->options.max_solved != 0 &&
          search->mapped->solved >= search->options.max_solved) {
        return Status::kOk;
      }
    }
    Diagnostic tried = {};
    const Status status = SolveParts(search, *next, budget, arena, &tried);
    Drop(search);
    Sink(search, 0);
    misses = search->best < before * (1 - kSlack) ? 0 : misses + 1;
    if (status == Status::kOk) continue;
    if (before == 0) *failure = tried;
    if (status != Status::kInfeasible && status != Status::kStopped) return status;
  }
  return Status::kOk;
}

Status SolveAll(Search* search, Budget* budget, Arena* arena, Diagnostic* diagnostic) {
  Diagnostic why = {};
  SLUICE_TRY(SolveWaiting(search, budget, arena, &why));
  if (search->best == 0 && search->cut != ~0u) {
    const Status status =
        SolveParts(search, search->parts[search->cut], budget, arena, &why);
    if (status != Status::kInfeasible && status != Status::kStopped) {
      *diagnostic = why;
      return status;
    }
  }
  if (search->best > 0) return Status::kOk;
  if (budget->Exhausted()) {
    return Fail(diagnostic, Status::kStopped, "mesh")
        .Text("the budget ended before any split was solved");
  }
  *diagnostic = why;
  if (search->parts.size() > 0) return Status::kInfeasible;
  const int64_t capacity =
      search->hardware.levels[search->hardware.levels.size() - 2].capacity_bytes;
  return Fail(diagnostic, Status::kInfeasible, "mesh")
      .Text("what stays in a node's scratchpad takes ")
      .Number(search->least_kept)
      .Text(" bytes of ")
      .Number(capacity)
      .Bytes(static_cast<uint64_t>(search->least_kept),
             static_cast<uint64_t>(capacity));
}

// All parts for one set of kept operands.
Status SolveSet(Search* search, Budget* budget, Arena* arena, Diagnostic* diagnostic) {
  search->parts.Truncate(0);
  search->least_kept = INT64_MAX;
  search->cut = ~0u;
  search->fruitless = 0;
  search->heap.Truncate(0);
  Parts parts = {};
  for (int32_t& f : parts.factor) f = 1;
  SLUICE_TRY(ListParts(search, 0, NodesOf(search->region), &parts));
  for (uint32_t i = 0; i < search->parts.size(); ++i) {
    SLUICE_TRY(search->heap.Push(Waiting{search->parts[i].estimate, i}));
  }
  for (size_t i = search->heap.size() / 2; i-- > 0;) Sink(search, i);
  search->mapped->splits += search->parts.size();
  return SolveAll(search, budget, arena, diagnostic);
}

// Every set of operands that may be kept beyond those that must; then all again with
// operands handed round, to improve on what is known.
Status SolveSets(Search* search, Budget* budget, Arena* arena, Diagnostic* diagnostic) {
  const LayerTerms& terms = search->options.terms;
  const uint32_t must = KeptOperands(terms, search->passes);
  uint32_t may = must;
  if (search->options.stay && search->all_passes > 1 && Has(search->problem, kWeight)) {
    may |= OperandBit(kWeight);
  }
  if (search->passes[kDimK] > 1) may |= OperandBit(kInput);
  SLUICE_TRY(LeastArray(search, budget, arena, diagnostic));
  const bool rotate = search->options.rotate && !search->options.exact;
  Status found = Status::kInfeasible;
  Diagnostic why = {};
  for (uint32_t i = 0; i < (rotate ? 2u : 1u) << kOperands; ++i) {
    search->kept = i & ((1u << kOperands) - 1);
    search->rotates = i >> kOperands != 0;
    if ((search->kept & must) != must || (search->kept & ~may) != 0) continue;
    Diagnostic tried = {};
    const Status status = SolveSet(search, budget, arena, &tried);
    if (status == Status::kOk) {
      found = status;
    } else if (status == Status::kInfeasible) {
      if (search->kept == must) why = tried;
    } else if (found != Status::kOk) {
      *diagnostic = tried;
      return status;
    }
  }
  if (found != Status::kOk) *diagnostic = why;
  return found;
}

}  // namespace

Status MapOnNodes(const MappingProblem& problem, const Hardware& hardware,
                  const NodeRegion& region, const NodeParallelOptions& options,
                  Budget* budget, Arena* arena, NodeMapping* mapped,
                  Diagnostic* diagnostic) {
  if (options.node.greedy) {
    return MapGreedyOnNodes(problem, hardware, region, options, budget, mapped,
                            diagnostic);
  }
  SLUICE_TRY(CheckProblem(problem, diagnostic));
  MeshMachine machine;
  SLUICE_TRY(MakeMeshMachine(hardware, region, &machine, diagnostic));
  int64_t passes[kDims];
  SLUICE_TRY(PassesOf(problem, options.terms, passes, diagnostic));
  ArenaScope scope(arena);
  Search search(problem, passes, hardware, region, options, arena);
  *mapped = NodeMapping{};
  search.mapped = mapped;
  search.best = 0;
  OrderDims(&search);
  SLUICE_TRY(MeasureCorners(&search, arena));
  SLUICE_TRY(ListFactors(&search, arena));
  mapped->bound = BoundOf(search);
  return SolveSets(&search, budget, arena, diagnostic);
}

Status MapTableOnNodes(const MappingProblem& problem, const Hardware& hardware,
                       const NodeRegion& region, const NodeParallelOptions& options,
                       Span<const LayerTerms> terms, Budget* budget, Arena* arena,
                       Span<NodeMapping> mapped, Span<Status> status,
                       Diagnostic* diagnostic) {
  NodeParallelOptions each = options;
  Arena kept(arena->memory());
  ArrayTable table(&kept, hardware.leakage_pj_per_cycle);
  if (each.table == nullptr) each.table = &table;
  for (size_t i = 0; i < terms.size(); ++i) {
    each.terms = terms[i];
    status[i] = MapOnNodes(problem, hardware, region, each, budget, arena, &mapped[i],
                           diagnostic);
    if (status[i] != Status::kOk && status[i] != Status::kInfeasible) return status[i];
  }
  return Status::kOk;
}

}  // namespace sluice
