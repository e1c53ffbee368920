// SPDX-License-Identifier: Apache-2.0
#include "plan/map/map_layers.h"

#include <string.h>

#include "base/budget.h"
#include "base/checked.h"
#include "model/hardware_view.h"
#include "solve/mapping/factor/factor_nest.h"
#include "solve/mapping/kapla/kapla.h"
#include "solve/mapping/nest/nest_best.h"
#include "solve/mapping/nest_search.h"
#include "solve/mapping/tile_mapper.h"
#include "verify/nest/nest_claim.h"

namespace sluice {
namespace {

static_assert(int{SLUICE_MAP_DIMS} == kDims && int{SLUICE_MAP_AXES} == kMaxAxes &&
                  int{SLUICE_MAP_LEVELS} == kMaxLevels,
              "as in experimental.h");

// One call: the hardware it maps on, and the layers mapped so far.
struct LayerMaps {
  const Graph& graph;
  const Hardware& hardware;   // as described
  const Hardware& hierarchy;  // that is mapped on
  const sluice_map_options_t& options;
  TileMapper* tiles;
  Arena* arena;
  Budget* budget;
  Diagnostic* diagnostic;
};

MapConstraints ConstraintsOf(const sluice_map_options_t& options) {
  MapConstraints constraints;
  for (uint32_t d = 0; d < kDims; ++d) constraints.top_tile[d] = options.top_tile[d];
  constraints.resident = options.resident;
  if (options.energy_exponent != 0 || options.delay_exponent != 0) {
    constraints.energy_exponent = options.energy_exponent;
    constraints.delay_exponent = options.delay_exponent;
  }
  constraints.wide = options.wide != 0;
  constraints.bypass = options.bypass != 0;
  return constraints;
}

// True when the options ask for the mapping that plans use.
bool IsDeclared(const sluice_map_options_t& options) {
  const bool declares =
      options.solver == SLUICE_MAP_BEST || options.solver == SLUICE_MAP_KAPLA;
  bool plain = options.tile_only != 0 && declares && options.energy_exponent == 0 &&
               options.delay_exponent == 0 && options.resident == 0;
  for (const int64_t top : options.top_tile) plain = plain && top == 0;
  return plain;
}

// The loops that the caller wrote down, with their cost and no proof.
Status TakeGiven(const LayerMaps& maps, const MappingProblem& problem,
                 const MapConstraints& constraints, MappedNest* mapped) {
  const sluice_layer_mapping_t& given = *maps.options.given;
  *mapped = MappedNest{};
  LoopNest* nest = &mapped->nest;
  nest->levels = given.levels;
  static_assert(sizeof nest->temporal == sizeof given.temporal &&
                    sizeof nest->spatial == sizeof given.spatial &&
                    sizeof nest->order == sizeof given.order,
                "as in experimental.h");
  memcpy(nest->temporal, given.temporal, sizeof nest->temporal);
  memcpy(nest->spatial, given.spatial, sizeof nest->spatial);
  memcpy(nest->order, given.order, sizeof nest->order);
  for (uint32_t l = 0; l < kMaxLevels; ++l) {
    nest->hold[l] = static_cast<uint8_t>(given.hold[l] & problem.operands);
  }
  CostOptions options;
  options.resident = constraints.resident;
  SLUICE_TRY(EvaluateNest(problem, maps.hierarchy, *nest, options, &mapped->cost,
                          maps.diagnostic));
  mapped->objective = MapObjective(constraints, mapped->cost.energy_pj,
                                   static_cast<double>(mapped->cost.cycles));
  mapped->bound =
      Min(mapped->objective, NestBound(problem, maps.hierarchy, constraints));
  mapped->evaluated = 1;
  return Status::kOk;
}

Status Solve(const LayerMaps& maps, const MappingProblem& problem, BestNest* mapped) {
  const sluice_map_options_t& options = maps.options;
  if (IsDeclared(options)) {
    return maps.tiles->Map(problem, maps.budget, mapped, maps.diagnostic);
  }
  KaplaOptions kapla;
  kapla.constraints = ConstraintsOf(options);
  if (options.tile_only != 0 && options.energy_exponent == 0 &&
      options.delay_exponent == 0) {
    kapla.constraints.delay_exponent = 1;
  }
  kapla.dataflow =
      options.row_stationary != 0 ? Dataflow::kRowStationary : Dataflow::kSystolic;
  FactorObjective cosa;
  if (options.cosa_utilisation != 0 || options.cosa_compute != 0 ||
      options.cosa_traffic != 0) {
    cosa.utilisation = options.cosa_utilisation;
    cosa.compute = options.cosa_compute;
    cosa.traffic = options.cosa_traffic;
  }
  cosa.balance = options.cosa_balance != 0;
  switch (options.solver) {
    case SLUICE_MAP_EXACT:
      return MapConvExact({problem, maps.hierarchy, kapla.constraints}, maps.budget,
                          maps.arena, mapped, maps.diagnostic);
    case SLUICE_MAP_GIVEN:
      return TakeGiven(maps, problem, kapla.constraints, mapped);
    case SLUICE_MAP_SEARCH:
      return SearchNest(problem, maps.hierarchy, kapla.constraints, maps.budget, mapped,
                        maps.diagnostic);
    case SLUICE_MAP_BEST:
      return MapBestNest({problem, maps.hierarchy, kapla.constraints}, cosa,
                         maps.budget, maps.arena, mapped, maps.diagnostic);
    case SLUICE_MAP_COSA:
      return MapFactorNest({problem, maps.hierarchy, kapla.constraints}, cosa,
                           maps.budget, maps.arena, mapped, maps.diagnostic);
    default:
      kapla.greedy = options.solver == SLUICE_MAP_GREEDY;
      return MapKapla({problem, maps.hierarchy, kapla}, maps.budget, maps.arena, mapped,
                      maps.diagnostic);
  }
}

void DescribeProblem(const MappingProblem& problem, sluice_layer_mapping_t* out) {
  for (uint32_t d = 0; d < kDims; ++d) out->extent[d] = problem.extent[d];
  for (int i = 0; i < 2; ++i) {
    out->stride[i] = problem.stride[i];
    out->dilation[i] = problem.dilation[i];
  }
  for (uint32_t v = 0; v < kOperands; ++v) {
    out->element_bytes[v] = problem.element_bytes[v];
  }
  out->partial_bytes = problem.partial_bytes;
  out->operands = problem.operands;
  out->vector = problem.vector ? 1 : 0;
  out->operations = OperationCount(problem);
}

Status DescribeNest(const LayerMaps& maps, const MappingProblem& problem,
                    const MappedNest& mapped, sluice_layer_mapping_t* out) {
  const LoopNest& nest = mapped.nest;
  AccessCounts counts;
  SLUICE_TRY(CountAccesses(problem, maps.hierarchy, nest,
                           {ReuseForm::kReuse, maps.options.resident}, &counts,
                           maps.diagnostic));
  out->levels = nest.levels;
  for (uint32_t l = 0; l < nest.levels; ++l) {
    for (uint32_t d = 0; d < kDims; ++d) {
      out->temporal[l][d] = nest.temporal[l][d];
      out->order[l][d] = nest.order[l][d];
      for (uint32_t a = 0; a < kMaxAxes; ++a) {
        out->spatial[l][a][d] = nest.spatial[l][a][d];
      }
    }
    out->hold[l] = nest.hold[l];
    out->level_cycles[l] = mapped.cost.level_cycles[l];
    out->level_pj[l] = mapped.cost.level_pj[l];
    for (uint32_t v = 0; v < kOperands; ++v) {
      out->reads[l][v] = counts.reads[l][v];
      out->writes[l][v] = counts.writes[l][v];
    }
  }
  out->cycles = mapped.cost.cycles;
  out->compute_cycles = mapped.cost.compute_cycles;
  out->operations_pj = mapped.cost.operations_pj;
  out->transfer_pj = mapped.cost.transfer_pj;
  out->leakage_pj = mapped.cost.leakage_pj;
  out->energy_pj = mapped.cost.energy_pj;
  out->utilisation = mapped.cost.utilization;
  out->objective = mapped.objective;
  out->bound = mapped.bound;
  out->proved = mapped.proved ? 1 : 0;
  out->evaluated = static_cast<uint64_t>(mapped.evaluated);
  return Status::kOk;
}

// Has the judge check the nest and what was shown of its space. A check that a limit ends
// says nothing.
Status Certify(const LayerMaps& maps, const MappingProblem& problem,
               const BestNest& mapped, sluice_layer_mapping_t* out) {
  const MapConstraints constraints = ConstraintsOf(maps.options);
  ClaimedNest claim = {};
  static_assert(sizeof claim.temporal == sizeof out->temporal &&
                    sizeof claim.spatial == sizeof out->spatial &&
                    sizeof claim.order == sizeof out->order,
                "as in experimental.h");
  memcpy(claim.temporal, out->temporal, sizeof claim.temporal);
  memcpy(claim.spatial, out->spatial, sizeof claim.spatial);
  memcpy(claim.order, out->order, sizeof claim.order);
  memcpy(claim.extent, out->extent, sizeof claim.extent);
  memcpy(claim.stride, out->stride, sizeof claim.stride);
  memcpy(claim.dilation, out->dilation, sizeof claim.dilation);
  memcpy(claim.element_bytes, out->element_bytes, sizeof claim.element_bytes);
  memcpy(claim.top_tile, constraints.top_tile, sizeof claim.top_tile);
  for (uint32_t l = 0; l < kMaxLevels; ++l) claim.hold[l] = out->hold[l];
  claim.operands = problem.operands;
  claim.vector = problem.vector;
  claim.partial_bytes = problem.partial_bytes;
  claim.resident = constraints.resident;
  claim.energy_exponent = constraints.energy_exponent;
  claim.delay_exponent = constraints.delay_exponent;
  claim.bypass = mapped.bypasses;
  claim.ragged = mapped.uneven;
  claim.levels = out->levels;
  claim.energy_pj = out->energy_pj;
  claim.cycles = out->cycles;
  claim.objective = out->objective;
  claim.bound = mapped.level_bound;
  const Status status =
      CheckNestClaim(claim, maps.hierarchy, maps.arena, maps.budget, maps.diagnostic);
  if (status == Status::kOutOfMemory || status == Status::kBadInput) return status;
  ClearDiagnostic(maps.diagnostic);
  if (status == Status::kStopped) return Status::kOk;
  const bool good = status == Status::kOk;
  out->certificate = good ? SLUICE_CERTIFICATE_ACCEPTED : SLUICE_CERTIFICATE_REJECTED;
  if (good) out->certified_bound = claim.bound;
  if (good) out->certified_uneven = claim.ragged ? 1 : 0;
  return Status::kOk;
}

// Maps on a core array, with the energy split by component.
Status MapOnCores(const LayerMaps& maps, const MappingProblem& problem,
                  sluice_layer_mapping_t* out) {
  CoreCost cost = {};
  if (!CoreTileCost(CoreArrayOf(maps.hardware), problem, &cost)) {
    return Fail(maps.diagnostic, Status::kInfeasible, "mapping")
        .Text("no partitioning of the tile fits the core buffers");
  }
  const int64_t peak = PeakOperations(problem, maps.hardware);
  out->cycles = Max(cost.cycles, CeilDivide(out->operations, peak));
  out->operations_pj = cost.arithmetic_pj;
  out->level_pj[maps.hardware.scratchpad_level] = cost.scratchpad_pj;
  out->transfer_pj = cost.core_pj;
  out->leakage_pj =
      maps.hardware.leakage_pj_per_cycle * static_cast<double>(out->cycles);
  out->energy_pj = cost.energy_pj + out->leakage_pj;
  out->objective = out->energy_pj * static_cast<double>(out->cycles);
  out->utilisation = static_cast<double>(out->operations) /
                     (static_cast<double>(out->cycles) * static_cast<double>(peak));
  return Status::kOk;
}

Status ProblemOf(const LayerMaps& maps, uint32_t layer, MappingProblem* problem) {
  if (layer >= maps.graph.layers.size()) {
    return Fail(maps.diagnostic, Status::kBadArgument, "mapping")
        .Say("there is no layer #", layer);
  }
  const Layer& which = maps.graph.layers[layer];
  if (which.outputs.size() == 0 || which.input(0) == kNone) {
    return Fail(maps.diagnostic, Status::kUnsupported, "mapping")
        .Layer(layer)
        .Text("no loop nest for op ")
        .Text(OpName(which.op));
  }
  const Tensor& out = maps.graph.tensors[which.outputs[0]];
  int32_t tile[kAxes];
  for (int i = 0; i < kAxes; ++i) {
    const int32_t asked = maps.options.tile[i];
    if (asked < 0 || asked > out.extent[i] || maps.options.tile_channels < 0 ||
        (maps.options.tile_only == 0 && asked != 0)) {
      return Fail(maps.diagnostic, Status::kBadArgument, "mapping")
          .Layer(layer)
          .Say("a tile of # along axis #, where the output has #", asked, i,
               out.extent[i])
          .Text(maps.options.tile_only == 0 ? "; tiles need tile_only" : "");
    }
    tile[i] = asked == 0 ? out.extent[i] : asked;
  }
  const Status status =
      ProblemOfTile(maps.graph, {which, tile, maps.options.tile_channels},
                    maps.hardware.accumulator_bytes, problem, maps.diagnostic);
  if (status != Status::kOk) maps.diagnostic->layer = layer;
  return status;
}

Status MapOne(const LayerMaps& maps, uint32_t layer, sluice_layer_mapping_t* out) {
  ArenaScope scope(maps.arena);
  MappingProblem problem;
  SLUICE_TRY(ProblemOf(maps, layer, &problem));
  DescribeProblem(problem, out);
  Status status;
  if (IsDeclared(maps.options) && maps.hardware.cores.rows > 0) {
    status = MapOnCores(maps, problem, out);
  } else {
    BestNest mapped = {};
    status = Solve(maps, problem, &mapped);
    if (status == Status::kOk) status = DescribeNest(maps, problem, mapped, out);
    const bool judges = maps.options.certify != 0 && maps.options.tile_only == 0 &&
                        maps.options.solver == SLUICE_MAP_BEST;
    if (status == Status::kOk && judges) status = Certify(maps, problem, mapped, out);
  }
  if (status != Status::kOk) maps.diagnostic->layer = layer;
  return status;
}

bool SameLoops(const MappingProblem& problem, const sluice_layer_mapping_t& b) {
  sluice_layer_mapping_t a = {};
  DescribeProblem(problem, &a);
  bool same = a.operands == b.operands && a.vector == b.vector &&
              a.partial_bytes == b.partial_bytes;
  for (uint32_t d = 0; d < kDims; ++d) same = same && a.extent[d] == b.extent[d];
  for (int i = 0; i < 2; ++i) {
    same = same && a.stride[i] == b.stride[i] && a.dilation[i] == b.dilation[i];
  }
  for (uint32_t v = 0; v < kOperands; ++v) {
    same = same && a.element_bytes[v] == b.element_bytes[v];
  }
  return same;
}

// Copies the answer of an earlier equal layer, or maps the layer.
Status MapAgain(const LayerMaps& maps, uint32_t layer, uint32_t index,
                Span<sluice_layer_mapping_t> done, sluice_layer_mapping_t* out) {
  MappingProblem problem;
  SLUICE_TRY(ProblemOf(maps, layer, &problem));
  for (uint32_t i = 0; i < index; ++i) {
    if (done[i].same_as != i || done[i].status != SLUICE_OK) continue;
    if (!SameLoops(problem, done[i])) continue;
    *out = done[i];
    return Status::kOk;
  }
  out->same_as = index;
  return MapOne(maps, layer, out);
}

Status CheckOptions(const sluice_map_options_t& options, Diagnostic* diagnostic) {
  const auto bad = [&](const char* what) -> Status {
    return Fail(diagnostic, Status::kBadArgument, "mapping").Text(what);
  };
  if (options.solver > SLUICE_MAP_GIVEN) return bad("unknown solver");
  const bool given =
      options.given != nullptr && options.given->struct_size == sizeof *options.given;
  if (options.solver == SLUICE_MAP_GIVEN && !given) return bad("no mapping is given");
  if (options.energy_exponent > 16 || options.delay_exponent > 16) {
    return bad("objective exponents must be at most 16");
  }
  if (options.resident > 7) return bad("resident has bits 1, 2 and 4 only");
  if (!(options.cosa_traffic >= 0)) return bad("cosa_traffic must not be negative");
  return Status::kOk;
}

// Maps all layers; stops at the first that runs out of time or memory, and at any
// failure where there is one layer only.
Status MapAll(const LayerMaps& maps, Span<const uint32_t> layers,
              Span<sluice_layer_mapping_t> done) {
  const uint32_t count = static_cast<uint32_t>(layers.size());
  for (uint32_t i = 0; i < count; ++i) {
    sluice_layer_mapping_t one = {};
    const Status status = MapAgain(maps, layers[i], i, done, &one);
    if (status != Status::kOk) {
      const bool ends = status == Status::kOutOfMemory || status == Status::kStopped;
      if (count == 1 || ends) return status;
      one = sluice_layer_mapping_t{};
      one.same_as = i;
    }
    one.struct_size = sizeof one;
    one.layer = layers[i];
    one.status = static_cast<int32_t>(status);
    done[i] = one;
  }
  ClearDiagnostic(maps.diagnostic);
  return Status::kOk;
}

}  // namespace

Status MapGraphLayers(const LayerMapCall& call, Arena* arena,
                      Span<sluice_layer_mapping_t>* mappings, Diagnostic* diagnostic) {
  const Hardware& hardware = call.hardware;
  const sluice_map_options_t& options = call.options;
  SLUICE_TRY(CheckOptions(options, diagnostic));
  SLUICE_TRY(arena->Allocate(call.layers.size(), mappings));
  Budget budget(arena->memory()->time(), options.deadline_ns, 0, options.cancel);
  HardwareView view;
  const bool cores = IsDeclared(options) && hardware.cores.rows > 0;
  if (options.tile_only != 0 && !cores) {
    SLUICE_TRY(ViewBelowScratchpad(hardware, &view, diagnostic));
  }
  TileMapper tiles(hardware, arena);
  const LayerMaps maps = {call.graph,
                          hardware,
                          options.tile_only != 0 && !cores ? view.hardware : hardware,
                          options,
                          &tiles,
                          arena,
                          &budget,
                          diagnostic};
  return MapAll(maps, call.layers, *mappings);
}

}  // namespace sluice
