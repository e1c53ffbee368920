// SPDX-License-Identifier: Apache-2.0
#include "plan/space/schedule_space.h"

#include "base/checked.h"
#include "model/program_order.h"
#include "plan/better_plan.h"
#include "plan/objective.h"
#include "plan/space/measure_images.h"
#include "plan/space/place_images.h"
#include "plan/space/write_space.h"

namespace sluice {
namespace {

// DRAM places: of what is loaded or stored, each for the whole run, because the order of
// transfers is not known yet.
Status PlaceTensors(const SpaceCall& call, const SpacePlan& plan, Arena* scratch,
                    Candidate* out) {
  ArenaScope scope(scratch);
  const Graph& graph = call.graph;
  out->lowering = call.lowering;
  SLUICE_TRY(out->places.Allocate(graph.tensors.size(), &out->lowering.places));
  Span<uint32_t> when;
  Span<uint8_t> on_chip;
  SLUICE_TRY(scratch->Allocate(graph.layers.size(), &when));
  SLUICE_TRY(scratch->Allocate(graph.tensors.size(), &on_chip));
  for (uint8_t& chip : on_chip) chip = 1;
  for (const SpaceImage& image : plan.images) {
    if (image.load || image.store != SpaceStore::kNever) on_chip[image.root] = 0;
  }
  for (const SpaceLayer& at : plan.layers) {
    if (!at.alone) continue;
    const Layer& layer = call.lowering.executed[at.layer];
    for (uint32_t t : layer.inputs) {
      if (t != kNone) on_chip[RootOf(call.lowering, t)] = 0;
    }
    for (uint32_t t : layer.outputs) on_chip[RootOf(call.lowering, t)] = 0;
  }
  Diagnostic ignored = {};
  return PlaceInDram(graph, when, on_chip, scratch, &out->lowering, &ignored);
}

}  // namespace

Status SpaceSchedule::Find() {
  SLUICE_TRY(MakeSpaceProblem({call_.graph, call_.hardware, call_.lowering,
                               call_.coster, call_.scratchpad_bytes},
                              memory_, &problem_));
  // Images that do not lie ask for room where they did not, and the search begins again.
  constexpr int kRounds = 6;
  constexpr uint64_t kBytesOfPair = 40;
  const Arena::Mark begin = memory_->mark();
  for (int round = 0;; ++round) {
    memory_->Rewind(begin);
    SLUICE_TRY(SearchSpace(problem_, call_.search, memory_, memory_, &plan_));
    SLUICE_TRY(MeasureImages({call_.graph, call_.hardware.array, call_.lowering,
                              problem_.alignment, call_.hardware.accumulator_bytes},
                             plan_, memory_));
    bool lies = false;
    for (int order = 0; order < kOrders; ++order) {
      // Where images lie already, another order is worth less memory.
      const uint64_t images = plan_.images.size();
      const Status placed = Place(order, lies ? kBytesOfPair * images * images : 0);
      lies = lies || placed == Status::kOk;
      // One order in which they lie is enough.
      if (placed != Status::kOk && placed != Status::kInfeasible && !lies) {
        return placed;
      }
    }
    if (lies) return Status::kOk;
    if (round == kRounds) return Status::kInfeasible;
    // What does not come to lie by itself gets room everywhere.
    const int64_t all = call_.scratchpad_bytes / 8 * (round - kRounds / 2 + 1);
    for (int64_t& slack : problem_.slack) slack = Max(slack, all);
  }
}

Status SpaceSchedule::Place(int order, uint64_t search_bytes) {
  offsets_[order] = {};
  if (static_cast<PlaceOrder>(order) == PlaceOrder::kEarlier) {
    if (!Restore(static_cast<int>(PlaceOrder::kByLeads))) return Status::kInfeasible;
  }
  SLUICE_TRY(PlaceImages(plan_,
                         {call_.scratchpad_bytes, problem_.alignment,
                          call_.search.budget, problem_.slack, search_bytes},
                         static_cast<PlaceOrder>(order), memory_));
  SLUICE_TRY(memory_->Allocate(plan_.images.size(), &offsets_[order]));
  for (size_t i = 0; i < plan_.images.size(); ++i) {
    offsets_[order][i] = plan_.images[i].offset;
  }
  return Status::kOk;
}

bool SpaceSchedule::Restore(int order) {
  const Span<int64_t> offsets = offsets_[order];
  if (offsets.size() != plan_.images.size()) return false;
  for (size_t i = 0; i < offsets.size(); ++i) plan_.images[i].offset = offsets[i];
  return true;
}

Status SpaceSchedule::Write(int order, Candidate* out) {
  if (!Restore(order)) return Status::kInfeasible;
  SLUICE_TRY(PlaceTensors(call_, plan_, memory_, out));
  SLUICE_TRY(WriteSpace(
      {call_.graph, call_.hardware, out->lowering, call_.coster, call_.search.budget},
      plan_, memory_, &out->program));
  return OrderTransfers(call_.graph, call_.hardware, problem_.root_of, memory_,
                        &out->program);
}

Status TakeFromSpace(PlanCall* call) {
  if (call->on_many_nodes() || call->options.solver != SLUICE_SOLVER_DEFAULT ||
      !call->costs->quick()) {
    return Status::kOk;
  }
  const Exponents exponents = ExponentsOf(call->options);
  const sluice_report_t& scale = call->plain.report;
  SpaceSearch search;
  search.goal.per_pj = exponents.energy / scale.energy_pj;
  search.goal.per_cycle = exponents.delay / static_cast<double>(scale.latency_cycles);
  // Iterations are fusion's.
  Budget endless;
  search.budget = call->options.deadline_ns != 0 ? &call->search : &endless;
  Arena memory(call->scratch->memory());
  SpaceSchedule space({call->graph, call->hardware, call->plain.lowering,
                       call->capacity, call->coster, search},
                      &memory);
  const bool found = space.Find() == Status::kOk;
  call->spaced = call->spaced || found;
  for (int order = 0; found && order < SpaceSchedule::kOrders; ++order) {
    Candidate candidate(call->scratch->memory(), call->hardware);
    if (space.Write(order, &candidate) != Status::kOk) continue;
    candidate.groups = space.groups();
    const bool better = IsBetter(call, &candidate, &memory);
    SLUICE_TRY(TakeFound(call, better, &candidate));
  }
  // A fault of the tiles' costs is told even where nothing was found.
  return found ? Status::kOk : TakeFound(call, false, nullptr);
}

}  // namespace sluice
