// SPDX-License-Identifier: Apache-2.0
#include "plan/space/schedule_space.h"

#include "base/checked.h"
#include "model/program_order.h"
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

Status ScheduleSpace(const SpaceCall& call, Arena* scratch, Candidate* out,
                     uint32_t* groups) {
  Arena memory(scratch->memory());
  SpaceProblem problem;
  SpacePlan plan;
  SLUICE_TRY(MakeSpaceProblem(
      {call.graph, call.hardware, call.lowering, call.coster, call.scratchpad_bytes},
      &memory, &problem));
  // Images that do not lie ask for room where they did not, and the search begins again.
  constexpr int kRounds = 6;
  const Arena::Mark begin = memory.mark();
  for (int round = 0;; ++round) {
    memory.Rewind(begin);
    SLUICE_TRY(SearchSpace(problem, call.search, scratch, &memory, &plan));
    SLUICE_TRY(MeasureImages({call.graph, call.hardware.array, call.lowering,
                              problem.alignment, call.hardware.accumulator_bytes},
                             plan, &memory));
    const Status placed = PlaceImages(
        plan,
        {call.scratchpad_bytes, problem.alignment, call.search.budget, problem.slack},
        &memory);
    if (placed == Status::kOk) break;
    if (placed != Status::kInfeasible || round == kRounds) return placed;
  }
  SLUICE_TRY(PlaceTensors(call, plan, &memory, out));
  SLUICE_TRY(WriteSpace(
      {call.graph, call.hardware, out->lowering, call.coster, call.search.budget}, plan,
      &memory, &out->program));
  *groups = static_cast<uint32_t>(plan.segments.size());
  return OrderTransfers(call.graph, call.hardware, problem.root_of, &memory,
                        &out->program);
}

}  // namespace sluice
