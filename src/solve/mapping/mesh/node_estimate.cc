// SPDX-License-Identifier: Apache-2.0
// Estimates of the cost of splits: nearly lower bounds.
#include "base/checked.h"
#include "solve/mapping/mesh/node_split.h"

namespace sluice::node_split {

namespace {

bool IsFromDram(const Search& search, uint32_t operand) {
  return EndAlong(search.region, search.options.terms, operand, kColumns).kind ==
         AxisEnd::kEdges;
}

// Links that one word of the operand crosses; a lower bound before its parts are
// placed.
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

// The least energy of words between DRAM and all scratchpads: one operand may be
// stationary during the loops that do not index it; the other two are fetched again for
// every tile, and all tiles share one scratchpad.
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

// The energy of moving kept operands in or out, over all passes.
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

// The energy of all nodes' arrays and scratchpads in one pass, nearly a lower bound:
// that of the layer on one node, and copies in every sharer's scratchpad. (Array tiles
// divide the passes of a part, so other parts may be slightly better.)
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

// The energy saved when passes do not fetch an operand again, though it is not marked
// as kept: slices do not index it, and a node has room for its part.
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

// The objective of all passes. pj: of one pass, without leakage and kept operands;
// cycles: of one pass.
double Whole(const Search& search, const Parts& parts, double pj, double cycles) {
  cycles *= search.all_passes;
  pj = pj * search.all_passes + KeptPj(search, parts) - ReusedPj(search, parts);
  pj += search.hardware.leakage_pj_per_cycle *
        static_cast<double>(NodesOf(search.region)) * cycles;
  return MapObjective(search.options.node.constraints, pj, cycles);
}

// Bytes of the operands that one node keeps. *others: the part of these bytes that this
// pass does not use.
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

// Work as a share of that of all parts at full size.
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

MappingProblem PartOf(const MappingProblem& problem, const Parts& parts) {
  MappingProblem part = problem;
  for (uint32_t d = 0; d < kDims; ++d) {
    part.extent[d] = CeilDivide(problem.extent[d], int64_t{parts.factor[d]});
  }
  return part;
}

Sharing SharingOf(const Search& search, const Parts& parts) {
  Sharing sharing;
  if (!search.rotates) return sharing;
  for (uint32_t v = 0; v < kOutput; ++v) sharing.sharers[v] = SharersOf(parts, v);
  return sharing;
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

// The price of a word of DRAM for one node, when the layer is split into these parts.
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
  // The price ignores smaller parts at the border, and that one read of DRAM may serve
  // the halos of neighbours.
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
  SLUICE_TRY(EstimatePart(
      {part, view.hardware, constraints, SharingOf(*search, *parts)}, array_pj / nodes,
      search->table, &parts->dram_pj, &cycles, diagnostic));
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
