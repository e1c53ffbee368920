// SPDX-License-Identifier: Apache-2.0
// What splits of a layer cost, nearly from below.
#include "base/checked.h"
#include "solve/mapping/mesh/node_split.h"

namespace sluice::node_split {

namespace {

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

// What passes need not fetch again although nothing says so: operands that no slice
// moves, where a node has room for its part of them.
double ReusedPj(const Search& search, const Parts& parts) {
  const Hardware& hw = search.hardware;
  const MemoryLevel& pad = hw.levels[hw.levels.size() - 2];
  if (search.all_passes <= 1) return 0;
  const MappingProblem part = PartOf(search.problem, parts);
  double pj = 0;
  for (uint32_t v = 0; v < kOutput; ++v) {
    if (!Has(part, v) || (search.kept >> v & 1) != 0) continue;
    double moving = 1;
    for (uint32_t d = 0; d < kDims; ++d) {
      if (Moves(d, v)) moving *= static_cast<double>(search.passes[d]);
    }
    const int64_t width = InnerBytes(part, v);
    if (pad.capacity_bytes != 0 &&
        TileWords(part, v, part.extent) * width > pad.capacity_bytes) {
      continue;
    }
    const double each = ReadPj(hw.dram(), width) +
                        static_cast<double>(SharersOf(parts, v)) * WritePj(pad, width) +
                        LinksOf(search, parts, v) * search.link_pj[v];
    pj += (search.all_passes - moving) * search.words[v] * each;
  }
  return pj;
}

// All passes: energy of one without leakage and kept operands, cycles of one.
double Whole(const Search& search, const Parts& parts, double pj, double cycles) {
  cycles *= search.all_passes;
  pj = pj * search.all_passes + KeptPj(search, parts) - ReusedPj(search, parts);
  pj += search.hardware.leakage_pj_per_cycle *
        static_cast<double>(NodesOf(search.region)) * cycles;
  return MapObjective(search.options.node.constraints, pj, cycles);
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

}  // namespace

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

MappingProblem PartOf(const MappingProblem& problem, const Parts& parts) {
  MappingProblem part = problem;
  for (uint32_t d = 0; d < kDims; ++d) {
    part.extent[d] = CeilDivide(problem.extent[d], int64_t{parts.factor[d]});
  }
  return part;
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

Sharing SharingOf(const Search& search, const Parts& parts) {
  Sharing sharing;
  if (!search.rotates) return sharing;
  for (uint32_t v = 0; v < kOutput; ++v) sharing.sharers[v] = SharersOf(parts, v);
  return sharing;
}

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
    upper += ReusedPj(search, parts) - KeptPj(search, parts);
  }
  for (uint32_t i = 0; i < constraints.energy_exponent; ++i) {
    upper *= ease / search.all_passes;
  }
  for (uint32_t i = 0; i < constraints.delay_exponent; ++i) upper /= search.all_passes;
  return upper;
}

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
    const double most = search->best * (1 + kEstimateError) - KeptPj(*search, *parts) +
                        ReusedPj(*search, *parts);
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

}  // namespace sluice::node_split
