// SPDX-License-Identifier: Apache-2.0
#include "plan/evaluate/evaluate_notation.h"

#include "base/checked.h"
#include "model/evaluate.h"
#include "model/host.h"
#include "plan/evaluate/explain_fault.h"
#include "plan/evaluate/notation_problem.h"
#include "plan/tile_costs.h"

namespace sluice {

namespace {

// Energy from counts, added up in the order of a plan's report.
void FillEnergy(const NotationProblem& problem, const TileList& list,
                sluice_evaluation_t* out) {
  const Hardware& hardware = problem.hardware;
  TileWork sum = {};
  for (uint32_t p = 0; p < list.tiles; ++p) {
    const TileWork work = WorkOf(problem.run, list.layer[p], ToBox(list.box[p]));
    sum.declared.energy_pj += work.declared.energy_pj - work.declared.scratchpad_pj;
    sum.declared.scratchpad_pj += work.declared.scratchpad_pj;
    if (work.declared.energy_pj > 0) continue;
    sum.macs += work.macs;
    sum.vector_ops += work.vector_ops;
    sum.read_bytes += work.read_bytes;
    sum.written_bytes += work.written_bytes;
  }
  sum.read_bytes += list.store_bytes;
  sum.written_bytes += list.load_bytes;
  const MemoryLevel& dram = hardware.dram();
  const MemoryLevel& pad = hardware.scratchpad();
  out->dram_pj = static_cast<double>(list.load_bytes) * 8 * dram.read_pj_per_bit +
                 static_cast<double>(list.store_bytes) * 8 * dram.write_pj_per_bit;
  out->scratchpad_pj =
      static_cast<double>(sum.read_bytes) * 8 * pad.read_pj_per_bit +
      static_cast<double>(sum.written_bytes) * 8 * pad.write_pj_per_bit +
      sum.declared.scratchpad_pj;
  out->compute_pj = static_cast<double>(sum.macs) * hardware.mac_pj +
                    static_cast<double>(sum.vector_ops) * hardware.vector_op_pj +
                    sum.declared.energy_pj;
  out->leakage_pj =
      static_cast<double>(out->latency_cycles) * hardware.leakage_pj_per_cycle;
  out->energy_pj =
      out->dram_pj + out->scratchpad_pj + out->compute_pj + out->leakage_pj;
}

}  // namespace

Status EvaluateNotation(const EvaluationCall& call, Arena* arena,
                        sluice_evaluation_t* out, Diagnostic* diagnostic) {
  int64_t capacity = call.hardware.scratchpad().capacity_bytes;
  if (call.options.scratchpad_bytes != 0) {
    capacity = static_cast<int64_t>(
        Min(call.options.scratchpad_bytes, static_cast<uint64_t>(capacity)));
  }
  Graph graph;
  SLUICE_TRY(FitToMachine(call.graph, call.hardware, arena, &graph, diagnostic));
  NotationProblem problem = {graph,    call.hardware, call.notation,
                             capacity, arena,         diagnostic};
  SLUICE_TRY(MakeNotationProblem(&problem));
  Arena tile_memory(arena->memory());
  TileCosts costs(graph, call.hardware, problem.lowering, call.options, &tile_memory);
  SLUICE_TRY(costs.Init(diagnostic));
  problem.run.coster = costs.coster();
  ResolvedSchedule resolved;
  const TileModel model = ModelOf(&problem.run);
  SLUICE_TRY(ResolveNotation({problem.run.problem, model, problem.own}, arena,
                             &resolved, out, diagnostic));
  SLUICE_TRY(costs.status(diagnostic));
  TranslateBack(problem, out);
  if (out->tiles != 0) FillEnergy(problem, resolved.list, out);
  if (out->fault == SLUICE_SCHEDULE_LEGAL) return Status::kOk;
  return ExplainFault(problem, resolved, *out);
}

Status EvaluateTimedSchedule(const sluice_timed_schedule_t& schedule, Arena* arena,
                             sluice_evaluation_t* out, Diagnostic* diagnostic) {
  SLUICE_TRY(EvaluateTimed(schedule, arena, out, diagnostic));
  if (out->fault == SLUICE_SCHEDULE_LEGAL) return Status::kOk;
  return ExplainTimedFault(*out, diagnostic);
}

}  // namespace sluice
