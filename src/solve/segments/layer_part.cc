// SPDX-License-Identifier: Apache-2.0
#include "solve/segments/layer_part.h"

#include "base/checked.h"

namespace sluice {
namespace {

// Ratio of price to estimate. The first guess: on a part of the mesh, and on all of it.
// Later the least ratio seen counts, but at least kLeastRatio,
// times kNextRatio as a margin.
constexpr double kFirstRatio[2] = {1.1, 0.98};
constexpr double kNextRatio = 0.99;
constexpr double kLeastRatio = 0.9;

double WordsOf(const MappingProblem& problem, uint32_t operand) {
  return Has(problem, operand)
             ? static_cast<double>(TileWords(problem, operand, problem.extent))
             : 0;
}

// Mean number of links from a node of the region to its nearest corner.
double CornerLinks(const Hardware& hardware, const NodeRegion& region) {
  const uint32_t nodes[kMeshAxes] = {hardware.node_cols, hardware.node_rows};
  double links = 0;
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < region.extent[axis]; ++i) {
      const int64_t at = int64_t{region.begin[axis]} + i;
      sum += Min(at, int64_t{nodes[axis]} - 1 - at);
    }
    links += static_cast<double>(sum) / static_cast<double>(region.extent[axis]);
  }
  return links;
}

// Links from the middle of one region to the middle of another.
double CentreLinks(const NodeRegion& a, const NodeRegion& b) {
  double links = 0;
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    const double between =
        static_cast<double>(a.begin[axis]) + 0.5 * static_cast<double>(a.extent[axis]) -
        static_cast<double>(b.begin[axis]) - 0.5 * static_cast<double>(b.extent[axis]);
    links += between < 0 ? -between : between;
  }
  return links;
}

// The least number of times that DRAM must send the weights.
double WeightPasses(const Hardware& hardware, const MappingProblem& problem,
                    const LayerRole& role) {
  const int64_t capacity = PadOf(hardware).capacity_bytes;
  const int64_t passes = role.query.terms.top_batch;
  if (passes == 1 || !Has(problem, kWeight)) return 1;
  const int64_t bytes =
      TileWords(problem, kWeight, problem.extent) * InnerBytes(problem, kWeight);
  const bool stays = role.query.stay &&
                     (capacity == 0 || bytes <= capacity * NodesOf(role.query.region));
  return stays ? 1 : static_cast<double>(passes);
}

// DRAM words of each operand that a layer in its role cannot avoid, in pJ and bytes.
struct Compulsory {
  double pj[kOperands];
  double bytes[kOperands];
};

Compulsory CompulsoryOf(const Hardware& hardware, const MappingProblem& problem,
                        const LayerRole& role) {
  Compulsory c = {};
  const MemoryLevel& dram = hardware.dram();
  const LayerTerms& terms = role.query.terms;
  for (uint32_t v = 0; v < kOperands; ++v) {
    double words = WordsOf(problem, v);
    if (v == kInput && terms.ifmap.kind != EndKind::kDram) words = 0;
    if (v == kOutput && terms.ofmap.kind != EndKind::kDram) words = 0;
    if (v == kWeight) words *= WeightPasses(hardware, problem, role);
    const int64_t width =
        v == kOutput ? problem.element_bytes[v] : InnerBytes(problem, v);
    c.pj[v] = words * (v == kOutput ? WritePj(dram, width) : ReadPj(dram, width));
    c.bytes[v] = words * static_cast<double>(width);
  }
  return c;
}

size_t RatioIndex(const PricesSeen& seen, const LayerQuery& query) {
  const bool whole = NodesOf(query.region) == NodesOf(WholeMesh(seen.space.hardware));
  return 2 * size_t{seen.table.class_of[query.position]} + (whole ? 1 : 0);
}

double RatioOf(const PricesSeen& seen, const LayerQuery& query) {
  const size_t index = RatioIndex(seen, query);
  const double least = seen.ratio[index];
  return least == 0 ? kFirstRatio[index & 1] : kNextRatio * Max(kLeastRatio, least);
}

}  // namespace

const MemoryLevel& PadOf(const Hardware& hardware) {
  return hardware.levels[hardware.levels.size() - 2];
}

double DynamicPj(const MeshCost& cost) {
  return cost.layer.operations_pj + cost.registers_pj + cost.layer.transfer_pj +
         cost.scratchpad_pj + cost.dram_pj + cost.noc_pj;
}

void AddCrossings(const Hardware& hardware, const MappingProblem& problem,
                  const LayerRole& role, MeshCost* cost) {
  const double links = CornerLinks(hardware, role.query.region);
  const int64_t in = InnerBytes(problem, kInput);
  if (role.fetched > 0) {
    const double words = static_cast<double>(role.fetched);
    cost->dram_pj += words * ReadPj(hardware.dram(), in);
    cost->noc_pj += words * links * LinkPj(hardware, in);
    cost->dram_read_bytes += role.fetched * in;
  }
  if (role.stores && role.query.terms.ofmap.kind != EndKind::kDram) {
    const int64_t count = TileWords(problem, kOutput, problem.extent);
    const int64_t width = problem.element_bytes[kOutput];
    const double words = static_cast<double>(count);
    cost->dram_pj += words * WritePj(hardware.dram(), width);
    cost->noc_pj += words * links * LinkPj(hardware, width);
    cost->dram_write_bytes += count * width;
  }
}

// A lower bound on the price of any split and nest: every operation, its registers,
// each word once through the scratchpads it must pass.
LayerPart BoundPart(const Space& space, const LayerRole& role) {
  const MappingProblem& problem = space.layers[role.query.position].problem;
  const Hardware& hw = space.hardware;
  const MemoryLevel& pad = PadOf(hw);
  const double ops = static_cast<double>(OperationCount(problem));
  double pj = ops * (problem.vector ? hw.vector_op_pj : hw.mac_pj);
  bool plain = hw.levels.size() > 2;  // a register per unit: each operation reads it
  for (const Fanout& fanout : hw.fanouts) plain &= fanout.level > 0;
  const Compulsory dram = CompulsoryOf(hw, problem, role);
  double bytes = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v)) continue;
    const int64_t width = InnerBytes(problem, v);
    if (plain && (hw.levels[0].may_hold >> v & 1) != 0) {
      pj += ops *
            (v == kOutput ? WritePj(hw.levels[0], width) : ReadPj(hw.levels[0], width));
    }
    const double words = WordsOf(problem, v);
    pj += words * (v == kOutput ? WritePj(pad, width) : ReadPj(pad, width));
    if (v != kOutput && dram.pj[v] > 0) pj += words * WritePj(pad, width);
    pj += dram.pj[v];
    bytes += dram.bytes[v];
  }
  const double nodes = static_cast<double>(NodesOf(role.query.region));
  const double cycles =
      ops / (nodes * static_cast<double>(PeakOperations(problem, hw)));
  return LayerPart{pj, static_cast<int64_t>(cycles), static_cast<int64_t>(bytes),
                   false};
}

// Estimates from the price of the layer by itself: tensors that stay on the chip save
// DRAM words and add links; weights are loaded again for every slice unless they may
// stay.
LayerPart EstimatePart(const PricesSeen& seen, const LayerRole& role, Ranking ranking) {
  const Space& space = seen.space;
  const uint32_t position = role.query.position;
  const MappingProblem& problem = space.layers[position].problem;
  const Hardware& hw = space.hardware;
  const LayerPrice* single = seen.single[position];
  if (single == nullptr) return BoundPart(space, role);
  const MeshCost& base = single->cost;
  LayerRole alone = role;
  alone.query.terms = LayerTerms{};
  alone.query.region = WholeMesh(hw);
  const Compulsory whole = CompulsoryOf(hw, problem, alone);
  const Compulsory now = CompulsoryOf(hw, problem, role);
  double whole_pj = 0, now_pj = 0, now_bytes = 0;
  for (uint32_t v = 0; v < kOperands; ++v) {
    whole_pj += whole.pj[v];
    now_pj += now.pj[v];
    now_bytes += now.bytes[v];
  }
  const double again = Max(0.0, base.dram_pj - whole_pj);
  double pj = now_pj;
  double hops = base.noc_pj * (now_pj / Max(1.0, whole_pj));
  const LayerTerms& terms = role.query.terms;
  if (terms.ifmap.kind != EndKind::kDram) {
    const NodeRegion& region = role.query.region;
    const double links =
        terms.ifmap.kind == EndKind::kNodes
            ? CentreLinks(region, terms.ifmap.region)
            : static_cast<double>(region.extent[0] + region.extent[1]) / 4;
    hops += WordsOf(problem, kInput) * links * LinkPj(hw, InnerBytes(problem, kInput));
  }
  const double nodes = static_cast<double>(NodesOf(role.query.region));
  const double mesh = static_cast<double>(NodesOf(WholeMesh(hw)));
  LayerPart part = {};
  // All nodes may be at work, even if the layer by itself leaves some idle.
  const double least = static_cast<double>(OperationCount(problem)) /
                       (nodes * static_cast<double>(PeakOperations(problem, hw)));
  const double scaled = 0.8 * static_cast<double>(base.busy_cycles) * mesh / nodes;
  part.busy_cycles = static_cast<int64_t>(
      space.options.delay_exponent > 0 ? least : Min(1.5 * least, scaled));
  part.dram_bytes = static_cast<int64_t>(now_bytes);
  if (ranking == Ranking::kPublished) {
    // Node buffers once, links, DRAM: the part that the top level alone determines.
    for (uint32_t v = 0; v < kOperands; ++v) {
      if (!Has(problem, v)) continue;
      pj += WordsOf(problem, v) * ReadPj(PadOf(hw), InnerBytes(problem, v));
    }
    part.pj = pj + hops;
    return part;
  }
  pj += base.layer.operations_pj + base.registers_pj + base.layer.transfer_pj +
        base.scratchpad_pj;
  part.pj = pj + 0.8 * hops + 0.5 * again * (now_pj / Max(1.0, whole_pj));
  part.pj *= RatioOf(seen, role.query);
  return part;
}

Status InitPricesSeen(PricesSeen* seen, Arena* arena) {
  const size_t n = seen->space.layers.size();
  SLUICE_TRY(arena->Allocate(2 * n, &seen->ratio));
  return arena->Allocate(n, &seen->single);
}

void LearnRatio(const LayerRole& role, const MeshCost& cost, PricesSeen* seen) {
  double* least = &seen->ratio[RatioIndex(*seen, role.query)];
  const LayerPart estimate = EstimatePart(*seen, role, Ranking::kEstimate);
  const double ratio = DynamicPj(cost) / (estimate.pj / RatioOf(*seen, role.query));
  if (*least == 0 || ratio < *least) *least = ratio;
}

}  // namespace sluice
