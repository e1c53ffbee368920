// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/measure_section.h"

#include "model/report.h"
#include "plan/fused/write_sections.h"
#include "plan/objective.h"
#include "solve/baseline/layer_by_layer.h"

namespace sluice {
namespace {

Status Report(const SectionedPlan& plan, const Program& program,
              Span<const TensorPlace> places, sluice_report_t* report) {
  const FusedCall& call = plan.call;
  Arena arena(plan.arena->memory());
  ProgramWaits waits(&arena);
  int64_t cycles = 0;
  const ProgramRun run = {call.graph, call.hardware, program};
  SLUICE_TRY(DeriveWaits(run, places, &arena, &waits));
  SLUICE_TRY(PredictCycles(run, waits, &arena, &cycles));
  SLUICE_TRY(FillCosts(run, cycles, *arena.memory(), report));
  report->latency_cycles = cycles;
  return Status::kOk;
}

double CostOf(const FusedCall& call, double energy_pj, int64_t cycles) {
  const Exponents exponents = ExponentsOf(call.options);
  return exponents.energy * energy_pj / call.baseline.energy_pj +
         exponents.delay * static_cast<double>(cycles) /
             static_cast<double>(call.baseline.latency_cycles);
}

// Costs a program by itself.
Status Measure(const SectionedPlan& plan, const Program& program, double* cost) {
  sluice_report_t report = {};
  SLUICE_TRY(Report(plan, program, plan.call.lowering.places, &report));
  *cost =
      CostOf(plan.call, report.energy_pj, static_cast<int64_t>(report.latency_cycles));
  return Status::kOk;
}

uint64_t StepsOf(const FusedCall& call, const Section& s) {
  if (s.fused) return 2 * uint64_t{s.result.list.transfers} + s.result.list.tiles;
  if (call.alone.empty()) return 4 * LayersOf(s);
  uint64_t steps = 0;
  for (uint32_t l = s.first; l < s.last; ++l) steps += call.alone[l].steps;
  return steps;
}

}  // namespace

Status MeasureFused(SectionedPlan* plan, Section* section) {
  Arena programs(plan->arena->memory());
  Program fused(&programs, plan->call.hardware);
  const Memory& memory = *plan->arena->memory();
  const bool timed = memory.clock() != nullptr && memory.clock()->timed();
  const uint64_t begin = timed ? memory.time().Now() : 0;
  SLUICE_TRY(
      AppendFused(section->run, plan->call.lowering,
                  PlacedFusion{section->result, section->buffers, section->offsets},
                  plan->arena, &fused));
  SLUICE_TRY(Measure(*plan, fused, &section->cost));
  plan->measured_ns += timed ? memory.time().Since(begin) : 0;
  plan->measured_steps += fused.size();
  return Status::kOk;
}

Status MeasureAlone(const SectionedPlan& plan, const Section& section, double* cost) {
  const FusedCall& call = plan.call;
  if (!call.alone.empty()) {
    double energy_pj = 0;
    int64_t cycles = 0;
    for (const BlockCost& b : call.alone.Slice(section.first, section.last)) {
      energy_pj += b.energy_pj;
      cycles += b.cycles;
    }
    *cost = CostOf(call, energy_pj, cycles);
    return Status::kOk;
  }
  Arena programs(plan.arena->memory());
  Program alone(&programs, call.hardware);
  Budget unlimited;
  for (uint32_t l : plan.LayersIn(section)) {
    SLUICE_TRY(AppendLayer(PlainLayers(call, call.lowering, &unlimited), l, plan.arena,
                           &alone));
  }
  return Measure(plan, alone, cost);
}

Status CostOfAll(const SectionedPlan& plan, double* cost) {
  Candidate written(plan.arena->memory(), plan.call.hardware);
  Diagnostic ignored = {};
  sluice_report_t report = {};
  SLUICE_TRY(WriteSections(plan, &written, &ignored));
  SLUICE_TRY(Report(plan, written.program, written.lowering.places, &report));
  *cost = PlanCost(plan.call.options, report);
  return Status::kOk;
}

void LeaveTime(SectionedPlan* plan, uint64_t looks) {
  const Budget* clock = plan->arena->memory()->clock();
  if (clock == nullptr) return;
  uint64_t steps = 0;
  for (const Section& s : plan->all()) steps += StepsOf(plan->call, s);
  EstimateFinish(*clock,
                 FinishWork{steps, plan->call.step_ns, looks, plan->measured_ns,
                            plan->measured_steps, plan->call.in_hand},
                 &plan->finish);
  EndSearchBefore(*clock, plan->finish, plan->budget);
}

}  // namespace sluice
