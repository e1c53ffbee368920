// SPDX-License-Identifier: Apache-2.0
#include "plan/map/map_gemm.h"

#include "base/budget.h"
#include "base/checked.h"
#include "solve/mapping/factor/factor_assign.h"
#include "solve/mapping/gemm/gemm_exact.h"
#include "solve/mapping/gemm/gemm_machine.h"
#include "solve/mapping/gemm/gemm_rate.h"
#include "verify/gemm_certificate.h"
#include "verify/gemm_rates.h"

namespace sluice {
namespace {

constexpr char kStage[] = "mapping";

// One call for one choice of memories.
struct MapCall {
  const GemmShape& shape;
  const GemmMachine& machine;
  const sluice_gemm_options_t& options;
  Arena* arena;
  Budget* budget;
  Diagnostic* diagnostic;
};

void Describe(const GemmMapping& mapping, const GemmCost& cost,
              sluice_gemm_mapping_t* out) {
  for (int d = 0; d < kGemmAxes; ++d) {
    out->middle_tile[d] = mapping.middle_tile[d];
    out->spatial[d] = mapping.spatial[d];
    out->inner_tile[d] = mapping.inner_tile[d];
    out->outer_order[d] = mapping.outer_order.axis[d];
    out->middle_order[d] = mapping.middle_order.axis[d];
    out->memory_pj[d] = cost.memory_pj[d];
    out->memory_cycles[d] = cost.memory_cycles[d];
    for (int datum = 0; datum < kGemmAxes; ++datum) {
      out->reads[d][datum] = cost.access.reads[d][datum];
      out->writes[d][datum] = cost.access.writes[d][datum];
    }
  }
  out->middle_holds = mapping.middle_holds;
  out->inner_holds = mapping.inner_holds;
  out->macs = cost.macs;
  out->cycles = cost.cycles;
  out->compute_cycles = cost.compute_cycles;
  out->pe_used = cost.pe_used;
  out->mac_pj = cost.mac_pj;
  out->leak_pj = cost.leak_pj;
  out->energy_pj = cost.energy_pj;
  out->energy_pj_per_mac = cost.energy_pj_per_mac;
}

// The problem and the mapping in the checker's types; the checker shares no types with
// the solver.
ClaimedGemm ClaimOf(const MapCall& call, const GemmExactOptions& exact,
                    const GemmSolution& solution) {
  const GemmMachine& m = call.machine;
  const GemmMapping& mapping = solution.mapping;
  ClaimedGemm claim = {};
  for (int d = 0; d < kGemmAxes; ++d) {
    claim.extent[d] = call.shape.extent[d];
    claim.fanout_limit[d] = m.fanout_limit[d];
    claim.middle_tile[d] = mapping.middle_tile[d];
    claim.spatial[d] = mapping.spatial[d];
    claim.inner_tile[d] = mapping.inner_tile[d];
    claim.outer_order[d] = mapping.outer_order.axis[d];
    claim.middle_order[d] = mapping.middle_order.axis[d];
  }
  claim.middle_words = m.middle_words;
  claim.inner_words = m.inner_words;
  claim.pe_count = m.pe_count;
  claim.read_pj[0] = m.outer_read_pj;
  claim.read_pj[1] = m.middle_read_pj;
  claim.read_pj[2] = m.inner_read_pj;
  claim.write_pj[0] = m.outer_write_pj;
  claim.write_pj[1] = m.middle_write_pj;
  claim.write_pj[2] = m.inner_write_pj;
  claim.mac_pj = m.mac_pj;
  claim.middle_leak_pj = m.middle_leak_pj;
  claim.inner_leak_pj = m.inner_leak_pj;
  claim.reuse_form = exact.form == GemmForm::kReuse;
  claim.at_most = exact.pe_use == GemmPeUse::kAtMost;
  claim.objective = exact.objective == GemmObjective::kEnergy        ? kClaimEnergy
                    : exact.objective == GemmObjective::kEnergyDelay ? kClaimEnergyDelay
                                                                     : kClaimDelay;
  claim.middle_holds = mapping.middle_holds;
  claim.inner_holds = mapping.inner_holds;
  return claim;
}

Status Certify(const MapCall& call, const GemmExactOptions& exact,
               const GemmSolution& solution, uint32_t* verdict) {
  ArenaScope scope(call.arena);
  GemmCertificate proof = {};
  const GemmMachine machine = WithoutRates(call.machine);
  SLUICE_TRY(CertifyGemm({call.shape, machine, exact}, solution, call.arena,
                         call.budget, &proof, call.diagnostic));
  ClaimedGemm claim = ClaimOf(call, exact, solution);
  claim.value = proof.objective;
  Span<ClaimedBranch> branches;
  Span<ClaimedSplit> splits;
  Span<ClaimedTile> tiles;
  SLUICE_TRY(call.arena->Allocate(proof.branches.size(), &branches));
  SLUICE_TRY(call.arena->Allocate(proof.splits.size(), &splits));
  SLUICE_TRY(call.arena->Allocate(proof.tiles.size(), &tiles));
  for (size_t i = 0; i < branches.size(); ++i) {
    const GemmProofBranch& b = proof.branches[i];
    branches[i] = {b.kind,        b.middle_holds, b.inner_holds, b.outer_axis,
                   b.middle_axis, b.bound,        b.split_count};
  }
  for (size_t i = 0; i < splits.size(); ++i) {
    const GemmProofSplit& s = proof.splits[i];
    splits[i] = {{s.spatial[0], s.spatial[1], s.spatial[2]}, s.bound, s.tile_count};
  }
  for (size_t i = 0; i < tiles.size(); ++i) {
    const GemmProofTile& t = proof.tiles[i];
    tiles[i] = {{t.inner_tile[0], t.inner_tile[1], t.inner_tile[2]}, t.bound};
  }
  claim.branches = branches;
  claim.splits = splits;
  claim.tiles = tiles;
  const Status status =
      CheckGemmCertificate(claim, call.arena, call.budget, call.diagnostic);
  if (status != Status::kOk && status != Status::kRejected) return status;
  *verdict =
      status == Status::kOk ? SLUICE_CERTIFICATE_ACCEPTED : SLUICE_CERTIFICATE_REJECTED;
  return Status::kOk;
}

// Where a memory's bandwidth limits, there is no proof to check, so the judge itself
// searches for a better mapping.
Status CertifyRates(const MapCall& call, const GemmExactOptions& exact,
                    const GemmSolution& solution, uint32_t* verdict) {
  const ClaimedGemm claim = ClaimOf(call, exact, solution);
  ClaimedRates rates = {};
  for (int m = 0; m < 3; ++m) {
    rates.words[m] = call.machine.bandwidth[m].numerator;
    rates.cycles[m] = call.machine.bandwidth[m].denominator;
  }
  rates.energy_pj = solution.cost.energy_pj;
  rates.time = solution.cost.cycles;
  const Status status =
      CheckGemmRates(claim, rates, call.arena, call.budget, call.diagnostic);
  if (status != Status::kOk && status != Status::kRejected) return status;
  *verdict =
      status == Status::kOk ? SLUICE_CERTIFICATE_ACCEPTED : SLUICE_CERTIFICATE_REJECTED;
  return Status::kOk;
}

Status MapExact(const MapCall& call, sluice_gemm_mapping_t* out) {
  GemmExactOptions exact;
  exact.form = call.options.paper_form != 0 ? GemmForm::kPaper : GemmForm::kReuse;
  exact.pe_use = call.options.at_most != 0 ? GemmPeUse::kAtMost : GemmPeUse::kExact;
  exact.objective =
      call.options.objective == SLUICE_GEMM_ENERGY ? GemmObjective::kEnergy
      : call.options.objective == SLUICE_GEMM_EDP  ? GemmObjective::kEnergyDelay
                                                   : GemmObjective::kDelay;
  GemmSolution solution;
  bool limited = false;
  SLUICE_TRY(SolveGemmRates({call.shape, call.machine, exact}, call.arena, call.budget,
                            &solution, &limited, call.diagnostic));
  Describe(solution.mapping, solution.cost, out);
  out->proved = solution.proved ? 1 : 0;
  out->objective = solution.objective;
  out->bound = solution.lower_bound;
  out->nodes = static_cast<uint64_t>(solution.nodes);
  if (call.options.certify == 0 || !solution.proved) return Status::kOk;
  if (limited) return CertifyRates(call, exact, solution, &out->certificate);
  return Certify(call, exact, solution, &out->certificate);
}

// CoSA's levels: the last one in the PE is the inner memory (the others there hold
// nothing), its global buffer the middle one. Capacities are per tensor there, shared
// here: a third each; an inner memory below three words keeps the weight.
FactorMachine FactorMachineOf(const GemmMachine& machine) {
  FactorMachine out = {};
  const int64_t third = machine.inner_words / 3;
  for (int t = 0; t < kFactorTensors; ++t) {
    out.words[kFactorInputBuffer][t] = third;
    out.words[kFactorGlobal][t] = machine.middle_words / 3;
  }
  if (third == 0) out.words[kFactorInputBuffer][kFactorWeight] = machine.inner_words;
  for (int64_t& spatial : out.spatial) spatial = 1;
  out.spatial[kFactorGlobal] = machine.pe_count;
  return out;
}

GemmMapping MappingOf(const GemmMachine& machine, const FactorSolution& solution) {
  constexpr FactorDim kDim[kGemmAxes] = {kFactorP, kFactorK, kFactorC};
  constexpr int kInnermost[3] = {2, 1, 0};  // axis of global_inner 0 1 2
  const FactorAssignment& a = solution.assignment;
  GemmMapping mapping = {};
  for (int d = 0; d < kGemmAxes; ++d) {
    mapping.inner_tile[d] = mapping.spatial[d] = 1;
    for (int level = 0; level < kFactorGlobal; ++level) {
      mapping.inner_tile[d] *= a.temporal[level][kDim[d]];
    }
    for (int level = 0; level < kFactorLevels; ++level) {
      mapping.spatial[d] *= a.spatial[level][kDim[d]];
    }
    mapping.middle_tile[d] =
        mapping.inner_tile[d] * mapping.spatial[d] * a.temporal[kFactorGlobal][kDim[d]];
  }
  mapping.middle_order = GemmOrderFrom(kInnermost[solution.global_inner % 3]);
  mapping.middle_holds = 7;
  mapping.inner_holds = machine.inner_words >= 3 ? 7 : machine.inner_words > 0 ? 1 : 0;
  return mapping;
}

Status MapFactors(const MapCall& call, sluice_gemm_mapping_t* out) {
  for (const int64_t limit : call.machine.fanout_limit) {
    if (limit != 0) {
      return Fail(call.diagnostic, Status::kUnsupported, kStage)
          .Text("the assignment of factors knows no limit of PEs along one axis");
    }
  }
  if (call.machine.middle_words < 3) {
    return Fail(call.diagnostic, Status::kUnsupported, kStage)
        .Text("the assignment of factors needs a word per operand in the scratchpad");
  }
  FactorLayer layer = {};
  for (int64_t& extent : layer.extent) extent = 1;
  layer.extent[kFactorP] = call.shape.extent[0];
  layer.extent[kFactorK] = call.shape.extent[1];
  layer.extent[kFactorC] = call.shape.extent[2];
  layer.stride_p = layer.stride_q = 1;
  FactorSolution solution;
  SLUICE_TRY(SolveFactorAssign({layer, FactorMachineOf(call.machine), FactorWeights{}},
                               call.arena, call.budget, &solution, call.diagnostic));
  GemmMapping mapping = MappingOf(call.machine, solution);
  const GemmForm form =
      call.options.paper_form != 0 ? GemmForm::kPaper : GemmForm::kReuse;
  // The formulation leaves the order of the outer loops open: take the cheapest.
  GemmCost best = {};
  GemmOrder order = {};
  for (int axis = 0; axis < kGemmAxes; ++axis) {
    mapping.outer_order = GemmOrderFrom(axis);
    SLUICE_TRY(CheckGemmMapping(call.shape, call.machine, mapping, call.diagnostic));
    const GemmCost cost = EvaluateGemm(call.shape, call.machine, mapping, form);
    if (axis == 0 || cost.energy_pj < best.energy_pj) {
      best = cost;
      order = mapping.outer_order;
    }
  }
  mapping.outer_order = order;
  Describe(mapping, best, out);
  out->proved = solution.proved ? 1 : 0;
  out->objective = solution.value.objective;
  out->bound = solution.lower_bound;
  out->nodes = static_cast<uint64_t>(solution.labels);
  return Status::kOk;
}

Status MapOn(const GemmCall& call, const GemmLevels& levels, Memory* memory,
             Budget* budget, sluice_gemm_mapping_t* out, Diagnostic* diagnostic) {
  GemmMachine machine;
  const bool exact =
      call.options.solver == SLUICE_GEMM_EXACT && call.options.at_most == 0;
  SLUICE_TRY(GemmMachineOf(call.hardware, levels, exact, &machine, diagnostic));
  SLUICE_TRY(CheckGemm(call.shape, machine, diagnostic));
  out->struct_size = sizeof *out;
  out->outer_level = levels.outer;
  out->middle_level = levels.middle;
  out->inner_level = levels.inner;
  Arena arena(memory);
  const MapCall one = {call.shape, machine, call.options, &arena, budget, diagnostic};
  return call.options.solver == SLUICE_GEMM_EXACT ? MapExact(one, out)
                                                  : MapFactors(one, out);
}

}  // namespace

Status MapGemm(const GemmCall& call, Memory* memory, sluice_gemm_mapping_t* out,
               Diagnostic* diagnostic) {
  const Hardware& hardware = call.hardware;
  const sluice_gemm_options_t& options = call.options;
  const uint32_t outer = options.from_level == 0
                             ? static_cast<uint32_t>(hardware.levels.size()) - 1
                             : options.from_level;
  GemmChoices choices = {};
  SLUICE_TRY(GemmChoicesOf(hardware, outer, &choices, diagnostic));
  Budget budget(memory->time(), options.deadline_ns, 0, options.cancel);
  const uint32_t middles = Max(1u, outer - choices.middle_begin);
  const uint32_t inners = Max(1u, choices.inner_end);
  Status answer = Status::kUnsupported;
  double bound = 0;
  for (uint32_t i = 0; i < middles * inners; ++i) {
    const uint32_t middle = choices.middle_begin + i / inners;
    const GemmLevels levels = {outer, middle < outer ? middle : SLUICE_NO_INDEX,
                               choices.inner_end > 0 ? i % inners : SLUICE_NO_INDEX};
    sluice_gemm_mapping_t one = {};
    const Status status = MapOn(call, levels, memory, &budget, &one, diagnostic);
    if (status == Status::kUnsupported || status == Status::kInfeasible) {
      if (answer != Status::kOk) answer = status;
      continue;
    }
    SLUICE_TRY(status);
    const bool faster = options.solver == SLUICE_GEMM_EXACT &&
                        options.objective == SLUICE_GEMM_LATENCY &&
                        one.cycles != out->cycles;
    const bool better =
        answer != Status::kOk ||
        (faster ? one.cycles < out->cycles : one.objective < out->objective);
    bound = answer != Status::kOk ? one.bound : Min(bound, one.bound);
    if (better) *out = one;
    answer = status;
  }
  if (answer != Status::kOk) return answer;
  out->bound = bound;
  ClearDiagnostic(diagnostic);
  return Status::kOk;
}

}  // namespace sluice
