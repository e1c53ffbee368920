// SPDX-License-Identifier: Apache-2.0
#include "solve/segments/value.h"

#include "base/checked.h"

namespace sluice {

Status InitValues(Values* values) {
  SLUICE_TRY(InitPriceTable(values->space.layers, &values->table));
  return InitPricesSeen(&values->seen, values->arena);
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

namespace {

LayerPart PartOf(const Values& values, const LayerRole& role, Ranking ranking) {
  const MappingProblem& problem = values.space.layers[role.query.position].problem;
  MeshCost extra = {};
  AddCrossings(values.space.hardware, problem, role, &extra);
  const PriceEntry* entry =
      ranking == Ranking::kPublished ? nullptr : FindPrice(values.table, role.query);
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
    part = ranking == Ranking::kBound ? BoundPart(values.space, role)
                                      : EstimatePart(values.seen, role, ranking);
    part.priced = false;
  }
  part.pj += extra.dram_pj + extra.noc_pj;
  part.dram_bytes += extra.dram_read_bytes + extra.dram_write_bytes;
  return part;
}

// Weights that stay must leave room for the other layers of their stage.
bool WeightsFit(const Values& values, const Run& run, const LayerRole* role) {
  const int64_t capacity = PadOf(values.space.hardware).capacity_bytes;
  const uint32_t n = run.last - run.first;
  if (capacity == 0) return true;
  int64_t stays[kMaxRunLayers], needs[kMaxRunLayers], sum[kMaxStages] = {};
  for (uint32_t i = 0; i < n; ++i) {
    stays[i] = needs[i] = 0;
    const PriceEntry* entry = FindPrice(values.table, role[i].query);
    if (entry == nullptr || entry->price == nullptr) continue;
    const LayerPrice& price = *entry->price;
    needs[i] = price.cost.scratchpad_bytes + role[i].query.reserved_bytes;
    const MappingProblem& problem = values.space.layers[run.first + i].problem;
    if ((price.kept >> kWeight & 1) == 0) continue;
    const MappingProblem part = PartOf(problem, price.split);
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

void Roles(const Values& values, const Run& run, const SegmentScheme& scheme,
           LayerRole* role) {
  RolesOf(values.space, run, scheme, role);
  if (scheme.kind == SegmentKind::kSingle || WeightsFit(values, run, role)) return;
  const uint32_t n = run.last - run.first;
  for (uint32_t i = 0; i < n; ++i) {
    const bool shares = (i > 0 && role[i - 1].stage == role[i].stage) ||
                        (i + 1 < n && role[i + 1].stage == role[i].stage);
    if (shares) role[i].query.stay = false;
  }
}

}  // namespace

SchemeValue ValueOf(const Values& values, const Run& run, const SegmentScheme& scheme,
                    Ranking ranking) {
  LayerRole role[kMaxRunLayers];
  LayerPart part[kMaxRunLayers];
  Roles(values, run, scheme, role);
  SchemeValue value = {};
  value.priced = true;
  int64_t bytes = 0;
  for (uint32_t i = 0; i < run.last - run.first; ++i) {
    part[i] = PartOf(values, role[i], ranking);
    if (part[i].pj >= kNoValue) {
      value.infeasible = true;
      value.pj = kNoValue;
      return value;
    }
    value.priced &= part[i].priced;
    value.pj += part[i].pj;
    bytes += part[i].dram_bytes;
  }
  const Hardware& hw = values.space.hardware;
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

namespace {

// Asks for the price of a layer that has none. A scheme may have infeasible layers, but a
// layer by itself may not.
Status Price(Values* values, const LayerRole& role, bool single,
             Diagnostic* diagnostic) {
  SLUICE_TRY(MakeRoomForPrice(&values->table));
  Span<LayerPrice> price;
  const Arena::Mark mark = values->arena->mark();
  SLUICE_TRY(values->arena->Allocate(1, &price));
  ++values->calls;
  Diagnostic why;
  ClearDiagnostic(&why);
  const LayerPricer& pricer = values->pricer;
  const Status status = pricer.price(pricer.user, role.query, &price[0], &why);
  if (status == Status::kOk) {
    if (!single) LearnRatio(role, price[0].cost, &values->seen);
    return RememberPrice(&values->table, role.query, price.data());
  }
  if (status == Status::kInfeasible && !single) {
    values->arena->Rewind(mark);
    return RememberPrice(&values->table, role.query, nullptr);
  }
  *diagnostic = why;
  diagnostic->layer = values->space.layers[role.query.position].layer;
  return status;
}

}  // namespace

Status PriceNext(Values* values, const Run& run, const SegmentScheme& scheme, bool* all,
                 Diagnostic* diagnostic) {
  LayerRole role[kMaxRunLayers];
  Roles(*values, run, scheme, role);
  const bool single = scheme.kind == SegmentKind::kSingle;
  *all = true;
  for (uint32_t i = 0; i < run.last - run.first; ++i) {
    if (FindPrice(values->table, role[i].query) != nullptr) continue;
    *all = false;
    SLUICE_TRY(Price(values, role[i], single, diagnostic));
    if (single) break;
    return Status::kOk;
  }
  if (single) {
    values->seen.single[run.first] = FindPrice(values->table, role[0].query)->price;
  }
  return Status::kOk;
}

bool PricesOf(const Values& values, const Run& run, const SegmentScheme& scheme,
              LayerRole* role, const LayerPrice** price) {
  Roles(values, run, scheme, role);
  for (uint32_t i = 0; i < run.last - run.first; ++i) {
    const PriceEntry* entry = FindPrice(values.table, role[i].query);
    if (entry == nullptr || entry->price == nullptr) return false;
    price[i] = entry->price;
  }
  return true;
}

}  // namespace sluice
