// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/node_parallel.h"

#include "base/checked.h"

namespace sluice {

namespace {

constexpr uint8_t kSplitDims[] = {kDimN, kDimK, kDimC, kDimP, kDimQ, kDimG};
constexpr int kSplitDimCount = 6;
constexpr double kSlack = 0.005;  // gains below this share are not looked for
constexpr double kEstimateError = 0.03;
constexpr int kMore = 32;
constexpr size_t kMaxAxisWays = 1200;  // of dealing dims out along one axis

// Factors along one axis, and the paths they make.
struct AxisWay {
  int32_t factor[kDims];
  AxisPath path[kOperands];
};

// Parts of one size, in the best layout known.
struct Parts {
  int32_t factor[kDims];  // columns x rows
  uint32_t columns;       // AxisWay
  uint32_t rows;
  double links_pj;  // of the words that must move at least
  double estimate;  // objective; below 0: solved
};

struct Search {
  Search(const MappingProblem& whole_problem, const int64_t pass_counts[kDims],
         const Hardware& h, const NodeRegion& r, const NodeParallelOptions& o, Arena* a)
      : layer(whole_problem),
        problem(PassOf(whole_problem, pass_counts)),
        hardware(h),
        region(r),
        options(o),
        ways{Ways(a), Ways(a)},
        parts(a),
        slots() {
    for (uint32_t d = 0; d < kDims; ++d) {
      passes[d] = pass_counts[d];
      all_passes *= static_cast<double>(passes[d]);
    }
  }
  using Ways = Vector<AxisWay>;
  const MappingProblem& layer;
  const MappingProblem problem;  // one pass
  int64_t passes[kDims];
  double all_passes = 1;
  uint32_t kept = 0;  // operands that lie whole in the scratchpads
  const Hardware& hardware;
  const NodeRegion& region;
  const NodeParallelOptions& options;
  Ways ways[kMeshAxes];
  Vector<Parts> parts;
  Span<uint32_t> slots;  // hash of the factors -> parts + 1
  uint8_t
      order[kDims];  // of dims along an axis: whose sharers move most are neighbours
  double words[kOperands];    // at least, in and out of DRAM
  double link_pj[kOperands];  // of one word
  // Below every node's share together, from one node without limits doing it all.
  double least_array_pj;  // operations, registers, scratchpad with each word in it once
  double least_cycles;
  double best;
  NodeMapping* mapped;
};

// Sharers of the heaviest operand are neighbours: the dims it does not have come first.
void OrderDims(Search* search) {
  const MappingProblem& problem = search->problem;
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

// Factors that waste no node of the axis: extents are cut into that many parts.
bool IsTried(int64_t extent, int64_t factor, int64_t nodes) {
  if (factor > extent) return false;
  if (factor <= 4 || nodes <= 16) return true;
  return extent % factor == 0 || nodes % factor == 0;
}

Status ListWays(Search* search, uint32_t axis, int i, int64_t left, AxisWay* way) {
  if (search->ways[axis].size() >= kMaxAxisWays) return Status::kOk;
  if (i == kSplitDimCount) {
    const uint32_t nodes[kMeshAxes] = {search->hardware.node_cols,
                                       search->hardware.node_rows};
    for (uint32_t v = 0; v < kOperands; ++v) {
      way->path[v] =
          PathAlong(nodes[axis], search->region.begin[axis], way->factor, search->order,
                    v, EndAlong(search->region, search->options.terms, v, axis));
    }
    return search->ways[axis].Push(*way);
  }
  const uint32_t d = kSplitDims[i];
  const int64_t extent = search->problem.extent[d];
  for (int64_t f = Min(left, extent); f >= 1; --f) {
    if (!IsTried(extent, f, search->region.extent[axis])) continue;
    way->factor[d] = static_cast<int32_t>(f);
    SLUICE_TRY(ListWays(search, axis, i + 1, left / f, way));
  }
  way->factor[d] = 1;
  return Status::kOk;
}

uint64_t HashOf(const int32_t factor[kDims]) {
  uint64_t h = 0;
  for (uint32_t d = 0; d < kDims; ++d) {
    h = (h ^ static_cast<uint32_t>(factor[d])) * 0x9e3779b97f4a7c15u;
    h ^= h >> 31;
  }
  return h;
}

Status GrowSlots(Search* search, Arena* arena) {
  const size_t size = search->slots.empty() ? 4096 : 2 * search->slots.size();
  SLUICE_TRY(arena->Allocate(size, &search->slots));
  for (size_t i = 0; i < search->parts.size(); ++i) {
    size_t at = HashOf(search->parts[i].factor) & (size - 1);
    while (search->slots[at] != 0) at = (at + 1) & (size - 1);
    search->slots[at] = static_cast<uint32_t>(i) + 1;
  }
  return Status::kOk;
}

// The entry of these factors, made when new.
Status FindParts(Search* search, const int32_t factor[kDims], Arena* arena,
                 Parts** found, bool* made) {
  if (2 * (search->parts.size() + 1) > search->slots.size()) {
    SLUICE_TRY(GrowSlots(search, arena));
  }
  const size_t mask = search->slots.size() - 1;
  size_t at = HashOf(factor) & mask;
  *made = false;
  for (; search->slots[at] != 0; at = (at + 1) & mask) {
    Parts* parts = &search->parts[search->slots[at] - 1];
    if (memcmp(parts->factor, factor, sizeof parts->factor) == 0) {
      *found = parts;
      return Status::kOk;
    }
  }
  Parts parts = {};
  memcpy(parts.factor, factor, sizeof parts.factor);
  SLUICE_TRY(search->parts.Push(parts));
  search->slots[at] = static_cast<uint32_t>(search->parts.size());
  *found = &search->parts[search->parts.size() - 1];
  *made = true;
  return Status::kOk;
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
  int64_t sharers = 1;
  for (uint32_t d = 0; d < kDims; ++d) {
    if (!Moves(d, operand)) sharers *= parts.factor[d];
  }
  return sharers;
}

// What one node with an endless scratchpad and free DRAM needs for the whole layer: the
// nodes' loops, run one after the other on it, would need no less.
Status LeastArray(Search* search, Budget* budget, Arena* arena,
                  Diagnostic* diagnostic) {
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

double SquareRoot(double x) {
  if (x <= 0) return 0;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits >> 1) + (uint64_t{1023} << 51);  // half the exponent: within 6 %
  double root;
  memcpy(&root, &bits, sizeof root);
  for (int i = 0; i < 5; ++i) root = 0.5 * (root + x / root);
  return root;
}

// The least of a A/x + b B/y over 1 <= x <= A, 1 <= y <= B with x y <= room.
double LeastVisits(double a, double whole_x, double b, double whole_y, double room) {
  if (whole_x * whole_y <= room) return a + b;
  if (room <= 1) return a * whole_x + b * whole_y;
  const double low = Max(1.0, room / whole_y), high = Min(whole_x, room);
  double x = b * whole_y > 0 ? SquareRoot(a * whole_x * room / (b * whole_y)) : high;
  x = Max(low, Min(high, x));
  return a * whole_x / x + b * whole_y * x / room;
}

// What moving words between DRAM and all scratchpads costs at least: of three operands
// one may stay while the loops it does not have go round; the other two are fetched
// again for every tile, and the tiles share one scratchpad.
double LeastDramPj(const Search& search, const Parts& parts, double links_share) {
  const MappingProblem& problem = search.problem;
  const Hardware& hw = search.hardware;
  const MemoryLevel& dram = hw.dram();
  const MemoryLevel& scratchpad = hw.levels[hw.levels.size() - 2];
  const MappingProblem part = PartOf(problem, parts);
  double once[kOperands] = {}, again[kOperands] = {}, room[kOperands];
  for (uint32_t v = 0; v < kOperands; ++v) {
    const int64_t width = InnerBytes(problem, v);
    room[v] = scratchpad.capacity_bytes == 0
                  ? 1e300
                  : static_cast<double>(scratchpad.capacity_bytes / width);
    if (!Has(problem, v)) continue;
    if ((search.kept >> v & 1) != 0) continue;
    const double words = WordsOf(search, part, v);
    const double sharers = static_cast<double>(SharersOf(parts, v));
    const double fill = sharers * WritePj(scratchpad, width);
    const double link = links_share * search.link_pj[v];
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
    const double links = TreeLinks(search.ways[kColumns][parts.columns].path[v],
                                   search.ways[kRows][parts.rows].path[v]);
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

// What parts of these sizes cost, nearly from below: the array's part, copies in every
// sharer's scratchpad, DRAM and links, leakage of the region. (Tiles of the array's
// part divide its passes, so that other parts can do a little better.)
double EstimateOf(const Search& search, const Parts& parts) {
  const MappingProblem& problem = search.problem;
  const Hardware& hw = search.hardware;
  const size_t dram = hw.levels.size() - 1;
  double pj = search.least_array_pj;
  double summing = 1;  // units of a node that may work on the same output
  for (const Fanout& fanout : hw.fanouts) {
    if (MayUnroll(fanout, kDimC) || MayUnroll(fanout, kDimR) ||
        MayUnroll(fanout, kDimS)) {
      summing *= fanout.extent;
    }
  }
  double bytes = 0;
  const MappingProblem part = PartOf(problem, parts);
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v)) continue;
    const double words = WordsOf(search, part, v);
    const double copies = words * (static_cast<double>(SharersOf(parts, v)) - 1);
    const int64_t width = InnerBytes(problem, v);
    if (v == kOutput) {
      pj += copies * WritePj(hw.levels[dram - 1], width);
      // A unit's first update of a sum reads nothing; copies have first updates too.
      if ((hw.levels[0].may_hold >> v & 1) != 0) {
        pj -= copies * summing * ReadPj(hw.levels[0], width);
      }
    } else {
      pj += copies * ReadPj(hw.levels[dram - 1], width) -
            words * WritePj(hw.levels[dram - 1], width);
    }
    if ((search.kept >> v & 1) == 0) {
      bytes += words * static_cast<double>(problem.element_bytes[v]);
    }
  }
  pj += LeastDramPj(search, parts, 0) + parts.links_pj;
  double cycles = static_cast<double>(OperationCount(part)) /
                  static_cast<double>(PeakOperations(problem, hw));
  cycles = Max(cycles, search.least_cycles / static_cast<double>(NodesOfParts(parts)));
  const Rational& rate = hw.dram().bandwidth;
  if (rate.numerator > 0) {
    cycles = Max(cycles, bytes * static_cast<double>(rate.denominator) /
                             static_cast<double>(rate.numerator));
  }
  cycles *= search.all_passes;
  pj = pj * search.all_passes + KeptPj(search, parts);
  pj += hw.leakage_pj_per_cycle * static_cast<double>(NodesOf(search.region)) * cycles;
  return MapObjective(search.options.node.constraints, pj, cycles);
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
    if ((search.kept >> v & 1) != 0) continue;
    pj +=
        search.words[v] * search.link_pj[v] * TreeLinks(columns.path[v], rows.path[v]);
  }
  return pj;
}

// A factor that reaches the same part size with fewer parts wastes nodes.
bool IsUseful(int64_t extent, int64_t factor) {
  return factor <= extent && CeilDivide(extent, CeilDivide(extent, factor)) == factor;
}

Status ListParts(Search* search, Budget* budget, Arena* arena) {
  for (uint32_t c = 0; c < search->ways[kColumns].size(); ++c) {
    if (budget->Exhausted()) return Status::kOk;
    const AxisWay& columns = search->ways[kColumns][c];
    for (uint32_t r = 0; r < search->ways[kRows].size(); ++r) {
      const AxisWay& rows = search->ways[kRows][r];
      int32_t factor[kDims];
      bool useful = true;
      for (uint32_t d = 0; d < kDims; ++d) {
        factor[d] = columns.factor[d] * rows.factor[d];
        useful &= factor[d] == 1 || IsUseful(search->problem.extent[d], factor[d]);
      }
      if (!useful) continue;
      Parts* parts;
      bool made;
      SLUICE_TRY(FindParts(search, factor, arena, &parts, &made));
      const double links = LinksPj(*search, columns, rows);
      if (!made && links >= parts->links_pj) continue;
      parts->links_pj = links;
      parts->columns = c;
      parts->rows = r;
    }
  }
  for (Parts& parts : search->parts) parts.estimate = EstimateOf(*search, parts);
  return Status::kOk;
}

NodeSplit SplitOf(const Search& search, const Parts& parts) {
  NodeSplit split;
  const AxisWay* way[kMeshAxes] = {&search.ways[kColumns][parts.columns],
                                   &search.ways[kRows][parts.rows]};
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
  const AxisWay& columns = search.ways[kColumns][parts.columns];
  const AxisWay& rows = search.ways[kRows][parts.rows];
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
  double upper = search.best * (1 - kSlack);
  if (constraints.energy_exponent == 1 && constraints.delay_exponent == 0) {
    upper -= KeptPj(search, parts);
  }
  for (uint32_t i = 0; i < constraints.energy_exponent; ++i) {
    upper *= ease / search.all_passes;
  }
  for (uint32_t i = 0; i < constraints.delay_exponent; ++i) upper /= search.all_passes;
  return upper;
}

Status SolveParts(Search* search, const Parts& parts, Budget* budget, Arena* arena,
                  Diagnostic* diagnostic) {
  const MappingProblem part = PartOf(search->problem, parts);
  const OuterPrice price = PriceOf(*search, parts);
  const double nodes = static_cast<double>(NodesOfParts(parts));
  Hardware node = search->hardware;
  node.leakage_pj_per_cycle *= static_cast<double>(NodesOf(search->region)) / nodes;
  MemoryLevel levels[kMaxLevels];
  for (size_t l = 0; l < node.levels.size(); ++l) levels[l] = node.levels[l];
  MemoryLevel* pad = &levels[node.levels.size() - 2];
  if ((search->kept >> kWeight & 1) != 0 && pad->capacity_bytes != 0) {
    // The weights of the other passes lie there too.
    const int64_t slices =
        search->passes[kDimC] * search->passes[kDimK] * search->passes[kDimG];
    const int64_t others = (slices - 1) * TileWords(part, kWeight, part.extent) *
                           InnerBytes(part, kWeight);
    if (others >= pad->capacity_bytes) {
      return Fail(diagnostic, Status::kInfeasible, "mesh")
          .Text("the weights of all passes need more than a node's scratchpad")
          .Bytes(static_cast<uint64_t>(others),
                 static_cast<uint64_t>(pad->capacity_bytes));
    }
    pad->capacity_bytes -= others;
  }
  node.levels = Span<const MemoryLevel>(levels, node.levels.size());
  KaplaOptions options = search->options.node;
  options.constraints.outer = &price;
  options.constraints.resident = search->kept;
  if (search->best > 0 && !search->options.every) {
    options.constraints.upper = UpperOf(*search, parts, node);
    options.constraints.gap = kSlack;
    if (options.constraints.upper <= 0) return Status::kInfeasible;
  }
  MappedNest nest;
  ++search->mapped->solved;
  SLUICE_TRY(
      MapConvExact(part, node, options.constraints, budget, arena, &nest, diagnostic));
  MeshCost cost;
  CostOptions cost_options;
  cost_options.resident = search->kept;
  const NodeSplit split = SplitOf(*search, parts);
  SLUICE_TRY(EvaluateOnMesh(search->layer, search->hardware, search->region, split,
                            nest.nest, search->options.terms, cost_options, &cost,
                            diagnostic));
  const double objective = MapObjective(options.constraints, cost.layer.energy_pj,
                                        static_cast<double>(cost.layer.cycles));
  if (search->best > 0 && objective >= search->best) return Status::kOk;
  search->best = objective;
  search->mapped->split = split;
  search->mapped->nest = nest.nest;
  search->mapped->kept = search->kept;
  search->mapped->cost = cost;
  search->mapped->objective = objective;
  return Status::kOk;
}

Status SolveAll(Search* search, Budget* budget, Arena* arena, Diagnostic* diagnostic) {
  Diagnostic first = {};
  int more = 0;
  for (;;) {
    Parts* next = nullptr;
    for (Parts& parts : search->parts) {
      if (parts.estimate < 0) continue;
      if (next == nullptr || parts.estimate < next->estimate) next = &parts;
    }
    if (next == nullptr || budget->Exhausted()) break;
    if (search->best > 0 && !search->options.every) {
      // Estimates may be a little high: some more are looked at.
      if (next->estimate >= search->best * (1 + kEstimateError)) break;
      if (next->estimate >= search->best * (1 - kSlack) && ++more > kMore) break;
    }
    if (search->options.max_solved != 0 &&
        search->mapped->solved >= search->options.max_solved && search->best > 0) {
      break;
    }
    Diagnostic tried = {};
    const Status status = SolveParts(search, *next, budget, arena, &tried);
    next->estimate = -1;
    if (status == Status::kOk) continue;
    if (status != Status::kInfeasible && status != Status::kStopped) {
      *diagnostic = tried;
      return status;
    }
    if (search->best == 0) first = tried;
  }
  if (search->best > 0) return Status::kOk;
  if (budget->Exhausted()) {
    return Fail(diagnostic, Status::kStopped, "mesh")
        .Text("the budget ended before any split was solved");
  }
  *diagnostic = first;
  return Status::kInfeasible;
}

// Every set of operands that may be kept beyond those that must.
Status SolveSets(Search* search, Budget* budget, Arena* arena, Diagnostic* diagnostic) {
  const LayerTerms& terms = search->options.terms;
  const uint32_t must = KeptOperands(terms, search->passes);
  uint32_t may = must;
  if (search->options.stay && search->all_passes > 1 &&
      Has(search->problem, kWeight)) {
    may |= OperandBit(kWeight);
  }
  if (search->passes[kDimK] > 1) may |= OperandBit(kInput);
  Status found = Status::kInfeasible;
  Diagnostic why = {};
  for (uint32_t kept = 0; kept < 1u << kOperands; ++kept) {
    if ((kept & must) != must || (kept & ~may) != 0) continue;
    search->kept = kept;
    SLUICE_TRY(LeastArray(search, budget, arena, diagnostic));
    search->parts.Truncate(0);
    search->slots = Span<uint32_t>();
    SLUICE_TRY(ListParts(search, budget, arena));
    search->mapped->splits += search->parts.size();
    Diagnostic tried = {};
    const Status status = SolveAll(search, budget, arena, &tried);
    if (status == Status::kOk) {
      found = status;
    } else if (status == Status::kInfeasible) {
      if (kept == must) why = tried;
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
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    AxisWay way = {};
    for (int32_t& f : way.factor) f = 1;
    SLUICE_TRY(ListWays(&search, axis, 0, region.extent[axis], &way));
  }
  mapped->bound = BoundOf(search);
  return SolveSets(&search, budget, arena, diagnostic);
}

Status MapTableOnNodes(const MappingProblem& problem, const Hardware& hardware,
                       const NodeRegion& region, const NodeParallelOptions& options,
                       Span<const LayerTerms> terms, Budget* budget, Arena* arena,
                       Span<NodeMapping> mapped, Span<Status> status,
                       Diagnostic* diagnostic) {
  NodeParallelOptions each = options;
  for (size_t i = 0; i < terms.size(); ++i) {
    each.terms = terms[i];
    status[i] = MapOnNodes(problem, hardware, region, each, budget, arena, &mapped[i],
                           diagnostic);
    if (status[i] != Status::kOk && status[i] != Status::kInfeasible) return status[i];
  }
  return Status::kOk;
}

}  // namespace sluice
