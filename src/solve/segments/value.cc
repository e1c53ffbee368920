// SPDX-License-Identifier: Apache-2.0
#include "solve/segments/value.h"

#include "base/checked.h"

namespace sluice {

namespace {

// Ratio of price to estimate. The first guess: on a part of the mesh, and on all of it.
// Later the least ratio seen counts, but at least kLeastRatio,
// times kNextRatio as a margin.
constexpr double kFirstRatio[2] = {1.1, 0.98};
constexpr double kNextRatio = 0.99;
constexpr double kLeastRatio = 0.9;

uint64_t Packed(const NodeRegion& region) {
  return uint64_t{region.begin[0]} << 48 | uint64_t{region.begin[1]} << 32 |
         uint64_t{region.extent[0]} << 16 | region.extent[1];
}

const MemoryLevel& PadOf(const Hardware& hardware) {
  return hardware.levels[hardware.levels.size() - 2];
}

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

}  // namespace

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

int64_t PipelineCycles(const Run& run, const SegmentScheme& scheme,
                       const LayerRole* role, const LayerPart* part) {
  const uint32_t n = run.last - run.first;
  int64_t all = 0;
  for (uint32_t i = 0; i < n; ++i) all += part[i].busy_cycles;
  if (scheme.kind != SegmentKind::kSpatial) return all;
  int64_t slice[kMaxStages] = {}, start[kMaxStages] = {}, finish[kMaxStages] = {};
  int64_t period[kMaxStages] = {};
  for (uint32_t i = 0; i < n; ++i) slice[role[i].stage] += part[i].busy_cycles;
  int64_t end = 0;
  for (uint32_t s = 0, i = 0; s < run.stages; ++s) {
    slice[s] = CeilDivide(slice[s], int64_t{scheme.top_batch});
    uint32_t from = kNone;
    bool fine = false;
    for (; i < n && role[i].stage == s; ++i) {
      if (role[i].producer == kNone) continue;
      const uint32_t stage = role[role[i].producer - run.first].stage;
      if (stage == s) continue;
      from = stage;
      fine = role[i].fine;
    }
    period[s] = slice[s];
    int64_t last = 0;  // the first slice cannot end before
    if (from != kNone) {
      period[s] = Max(period[s], period[from]);
      const int64_t groups = scheme.groups[from];
      start[s] = fine ? start[from] + CeilDivide(slice[from], groups) : finish[from];
      last = finish[from] + (fine ? CeilDivide(slice[s], groups) : 0);
    }
    finish[s] = Max(start[s] + slice[s], last);
    end = Max(end, finish[s] + period[s] * (scheme.top_batch - 1));
  }
  return end;
}

Status Values::Init() {
  const size_t n = space_.layers.size();
  SLUICE_TRY(arena_->Allocate(n, &class_of_));
  SLUICE_TRY(arena_->Allocate(2 * n, &ratio_));
  SLUICE_TRY(arena_->Allocate(n, &single_));
  // Repeated layers are near each other or many: compare with the last layer of the
  // same hash.
  constexpr uint32_t kBuckets = 1024;
  Span<uint32_t> last;
  SLUICE_TRY(arena_->Allocate(kBuckets, &last));
  for (uint32_t i = 0; i < n; ++i) {
    const MappingProblem& problem = space_.layers[i].problem;
    uint64_t h = problem.operands;
    for (uint32_t d = 0; d < kDims; ++d) {
      h = (h ^ static_cast<uint64_t>(problem.extent[d])) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    }
    uint32_t* bucket = &last[h % kBuckets];
    const bool same =
        *bucket != 0 && SameProblem(space_.layers[*bucket - 1].problem, problem);
    class_of_[i] = same ? *bucket - 1 : i;
    *bucket = class_of_[i] + 1;
  }
  return Status::kOk;
}

void Values::KeyOf(const LayerQuery& query, uint64_t key[6]) const {
  const LayerTerms& terms = query.terms;
  const bool passes = terms.top_batch > 1 || terms.top_ifm > 1 || terms.top_ofm > 1;
  key[0] = class_of_[query.position];
  key[1] = Packed(query.region);
  key[2] = static_cast<uint64_t>(terms.top_batch) << 32 |
           static_cast<uint64_t>(terms.top_ifm) << 16 |
           static_cast<uint64_t>(terms.top_ofm);
  // The consumer pays for the links of an output that stays on the chip.
  key[3] = static_cast<uint64_t>(terms.ifmap.kind) << 2 |
           static_cast<uint64_t>(terms.ofmap.kind != EndKind::kDram) << 1 |
           static_cast<uint64_t>(query.stay || !passes);
  key[4] = terms.ifmap.kind == EndKind::kNodes ? Packed(terms.ifmap.region) : 0;
  key[5] = static_cast<uint64_t>(query.reserved_bytes);
}

namespace {

uint64_t HashKey(const uint64_t key[6]) {
  uint64_t h = 0;
  for (int i = 0; i < 6; ++i) {
    h = (h ^ key[i]) * 0x9e3779b97f4a7c15u;
    h ^= h >> 31;
  }
  return h;
}

}  // namespace

const PriceEntry* Values::Find(const LayerQuery& query) const {
  if (slots_.empty()) return nullptr;
  uint64_t key[6];
  KeyOf(query, key);
  const size_t mask = slots_.size() - 1;
  for (size_t at = HashKey(key) & mask; slots_[at] != 0; at = (at + 1) & mask) {
    const PriceEntry& entry = entries_[slots_[at] - 1];
    if (memcmp(entry.key, key, sizeof key) == 0) return &entry;
  }
  return nullptr;
}

Status Values::Grow() {
  if (2 * (entries_.size() + 1) <= slots_.size()) return Status::kOk;
  const size_t size = slots_.empty() ? 256 : 2 * slots_.size();
  SLUICE_TRY(arena_->Allocate(size, &slots_));
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t at = HashKey(entries_[i].key) & (size - 1);
    while (slots_[at] != 0) at = (at + 1) & (size - 1);
    slots_[at] = static_cast<uint32_t>(i) + 1;
  }
  return Status::kOk;
}

// A lower bound on the price of any split and nest: every operation, its registers,
// each word once through the scratchpads it must pass.
LayerPart Values::Bound(const LayerRole& role) const {
  const MappingProblem& problem = space_.layers[role.query.position].problem;
  const Hardware& hw = space_.hardware;
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

size_t Values::RatioIndex(const LayerQuery& query) const {
  const bool whole = NodesOf(query.region) == NodesOf(WholeMesh(space_.hardware));
  return 2 * size_t{class_of_[query.position]} + (whole ? 1 : 0);
}

double Values::RatioOf(const LayerQuery& query) const {
  const size_t index = RatioIndex(query);
  const double seen = ratio_[index];
  return seen == 0 ? kFirstRatio[index & 1] : kNextRatio * Max(kLeastRatio, seen);
}

// Estimates from the price of the layer by itself: tensors that stay on the chip save
// DRAM words and add links; weights are loaded again for every slice unless they may
// stay.
LayerPart Values::Estimate(const LayerRole& role, Ranking ranking) const {
  const uint32_t position = role.query.position;
  const MappingProblem& problem = space_.layers[position].problem;
  const Hardware& hw = space_.hardware;
  const LayerPrice* single = single_[position];
  if (single == nullptr) return Bound(role);
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
      space_.options.delay_exponent > 0 ? least : Min(1.5 * least, scaled));
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
  part.pj *= RatioOf(role.query);
  return part;
}

LayerPart Values::PartOf(const LayerRole& role, Ranking ranking) const {
  const MappingProblem& problem = space_.layers[role.query.position].problem;
  MeshCost extra = {};
  AddCrossings(space_.hardware, problem, role, &extra);
  const PriceEntry* entry = ranking == Ranking::kPublished ? nullptr : Find(role.query);
  LayerPart part;
  if (entry != nullptr) {
    part.priced = true;
    part.pj = kNoValue;
    if (entry->price == nullptr) return part;
    const MeshCost& cost = entry->price->cost;
    part.pj = DynamicPj(cost);
    part.busy_cycles = cost.busy_cycles;
    part.dram_bytes = cost.dram_read_bytes + cost.dram_write_bytes;
  } else {
    part = ranking == Ranking::kBound ? Bound(role) : Estimate(role, ranking);
    part.priced = false;
  }
  part.pj += extra.dram_pj + extra.noc_pj;
  part.dram_bytes += extra.dram_read_bytes + extra.dram_write_bytes;
  return part;
}

// Weights that stay must leave room for the other layers of their stage.
bool Values::WeightsFit(const Run& run, const LayerRole* role) const {
  const int64_t capacity = PadOf(space_.hardware).capacity_bytes;
  const uint32_t n = run.last - run.first;
  if (capacity == 0) return true;
  int64_t stays[kMaxRunLayers], needs[kMaxRunLayers], sum[kMaxStages] = {};
  for (uint32_t i = 0; i < n; ++i) {
    stays[i] = needs[i] = 0;
    const PriceEntry* entry = Find(role[i].query);
    if (entry == nullptr || entry->price == nullptr) continue;
    const LayerPrice& price = *entry->price;
    needs[i] = price.cost.scratchpad_bytes + role[i].query.reserved_bytes;
    const MappingProblem& problem = space_.layers[run.first + i].problem;
    if ((price.kept >> kWeight & 1) == 0) continue;
    const MappingProblem part = sluice::PartOf(problem, price.split);
    // Channels are sliced before they are cut into parts, so these may be a little
    // larger.
    stays[i] = TileWords(part, kWeight, part.extent) * InnerBytes(problem, kWeight);
    sum[role[i].stage] += stays[i];
  }
  for (uint32_t i = 0; i < n; ++i) {
    if (needs[i] + sum[role[i].stage] - stays[i] > capacity) return false;
  }
  return true;
}

void Values::Roles(const Run& run, const SegmentScheme& scheme, LayerRole* role) const {
  RolesOf(space_, run, scheme, role);
  if (scheme.kind == SegmentKind::kSingle || WeightsFit(run, role)) return;
  const uint32_t n = run.last - run.first;
  for (uint32_t i = 0; i < n; ++i) {
    const bool shares = (i > 0 && role[i - 1].stage == role[i].stage) ||
                        (i + 1 < n && role[i + 1].stage == role[i].stage);
    if (shares) role[i].query.stay = false;
  }
}

SchemeValue Values::Of(const Run& run, const SegmentScheme& scheme,
                       Ranking ranking) const {
  LayerRole role[kMaxRunLayers];
  LayerPart part[kMaxRunLayers];
  Roles(run, scheme, role);
  SchemeValue value = {};
  value.priced = true;
  int64_t bytes = 0;
  for (uint32_t i = 0; i < run.last - run.first; ++i) {
    part[i] = PartOf(role[i], ranking);
    if (part[i].pj >= kNoValue) {
      value.infeasible = true;
      value.pj = kNoValue;
      return value;
    }
    value.priced &= part[i].priced;
    value.pj += part[i].pj;
    bytes += part[i].dram_bytes;
  }
  const Hardware& hw = space_.hardware;
  value.node_cycles = PipelineCycles(run, scheme, role, part);
  const Rational& rate = hw.dram().bandwidth;
  if (rate.numerator > 0) {
    value.dram_cycles = TransferCycles(bytes, rate.numerator, rate.denominator);
  }
  value.cycles = Max(int64_t{1}, Max(value.node_cycles, value.dram_cycles));
  value.pj += hw.leakage_pj_per_cycle * static_cast<double>(NodesOf(WholeMesh(hw))) *
              static_cast<double>(value.cycles);
  return value;
}

Status Values::PriceNext(const Run& run, const SegmentScheme& scheme, bool* all,
                         Diagnostic* diagnostic) {
  LayerRole role[kMaxRunLayers];
  Roles(run, scheme, role);
  *all = true;
  for (uint32_t i = 0; i < run.last - run.first; ++i) {
    if (Find(role[i].query) != nullptr) continue;
    *all = false;
    SLUICE_TRY(Grow());
    PriceEntry entry = {};
    KeyOf(role[i].query, entry.key);
    Span<LayerPrice> price;
    const Arena::Mark mark = arena_->mark();
    SLUICE_TRY(arena_->Allocate(1, &price));
    ++calls_;
    Diagnostic why;
    ClearDiagnostic(&why);
    const Status status = pricer_.price(pricer_.user, role[i].query, &price[0], &why);
    if (status != Status::kOk &&
        (status != Status::kInfeasible || scheme.kind == SegmentKind::kSingle)) {
      *diagnostic = why;
      diagnostic->layer = space_.layers[role[i].query.position].layer;
      return status;
    }
    if (status == Status::kOk) {
      entry.price = price.data();
      if (scheme.kind != SegmentKind::kSingle) {
        double* ratio = &ratio_[RatioIndex(role[i].query)];
        const LayerPart estimate = Estimate(role[i], Ranking::kEstimate);
        const double seen =
            DynamicPj(price[0].cost) / (estimate.pj / RatioOf(role[i].query));
        if (*ratio == 0 || seen < *ratio) *ratio = seen;
      }
    } else {
      arena_->Rewind(mark);
    }
    SLUICE_TRY(entries_.Push(entry));
    const size_t mask = slots_.size() - 1;
    size_t at = HashKey(entry.key) & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<uint32_t>(entries_.size());
    if (scheme.kind == SegmentKind::kSingle) break;
    return Status::kOk;
  }
  if (scheme.kind == SegmentKind::kSingle) {
    single_[run.first] = Find(role[0].query)->price;
  }
  return Status::kOk;
}

bool Values::PricesOf(const Run& run, const SegmentScheme& scheme, LayerRole* role,
                      const LayerPrice** price) const {
  Roles(run, scheme, role);
  for (uint32_t i = 0; i < run.last - run.first; ++i) {
    const PriceEntry* entry = Find(role[i].query);
    if (entry == nullptr || entry->price == nullptr) return false;
    price[i] = entry->price;
  }
  return true;
}

}  // namespace sluice
