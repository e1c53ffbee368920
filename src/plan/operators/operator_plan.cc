// SPDX-License-Identifier: Apache-2.0
#include "plan/operators/operator_plan.h"

#include "base/checked.h"
#include "plan/operators/operator_sections.h"
#include "plan/operators/operator_write.h"
#include "plan/operators/repeat_cost.h"
#include "solve/placement/spill/joint.h"
#include "solve/placement/spill/repeats.h"
#include "solve/placement/spill/replacement.h"

namespace sluice {
namespace {

constexpr char kStage[] = "operators";
constexpr int64_t kElementBytes = 4;  // widest operand of a tile
constexpr uint64_t kStates = 20000;   // of the exact search, per run

// Fails when the operands of some operator do not fit together; names the worst one.
Status CheckNeeds(const OperatorSchedule& self, Diagnostic* diagnostic) {
  int64_t worst = 0;
  uint32_t layer = kNone;
  for (const OperatorSection& section : self.sections) {
    for (uint32_t o = 0; section.operators && o < section.layer_of.size(); ++o) {
      OperatorGraph alone = section.graph;
      alone.operators = section.graph.operators.Slice(o, o + 1);
      const int64_t need = LargestOperator(alone, self.alignment);
      if (need <= worst) continue;
      worst = need;
      layer = section.layer_of[o];
    }
  }
  if (worst <= self.capacity / self.alignment * self.alignment) return Status::kOk;
  return Fail(diagnostic, Status::kInfeasible, kStage)
      .Layer(layer)
      .Bytes(static_cast<uint64_t>(worst), static_cast<uint64_t>(self.capacity))
      .SmallestScratchpad(static_cast<uint64_t>(worst))
      .Say("layer # (", layer)
      .Text(OpName(self.graph.layers[layer].op))
      .Say("): its whole tensors need # bytes of scratchpad, # are available", worst,
           self.capacity);
}

// Plans a section. With repeats it then has an operator for every run of a layer.
Status PlanOnce(OperatorSchedule* self, const JointOptions& options,
                OperatorSection* section, Diagnostic* diagnostic) {
  if (!self->repeats) {
    return (options.fixed_order.empty() ? PlanJoint : PlanReplacement)(
        section->graph, options, self->budget, self->arena, &section->plan, diagnostic);
  }
  Span<int64_t> again;
  SLUICE_TRY(self->arena->Allocate(section->layer_of.size(), &again));
  for (uint32_t o = 0; o < again.size(); ++o) {
    const uint32_t l = section->layer_of[o];
    again[o] = RepeatCost(
        {self->coster, self->hardware, self->graph, self->lowering.executed[l], l});
  }
  RepeatedPlan found;
  SLUICE_TRY(PlanRepeats(section->graph, again, options,
                         {self->budget, self->arena, diagnostic}, &found));
  for (uint32_t& o : found.operator_of) o = section->layer_of[o];
  for (uint32_t& a : found.tensor_of) a = section->tensor_of[a];
  section->layer_of = found.operator_of;
  section->tensor_of = found.tensor_of;
  section->graph = found.graph;
  section->plan = found.plan;
  return Status::kOk;
}

Status PlanSection(OperatorSchedule* self, OperatorSection* section,
                   Diagnostic* diagnostic) {
  if (section->layer_of.empty()) return Status::kOk;
  JointOptions options;
  options.capacity = self->capacity;
  options.alignment = self->alignment;
  options.max_states = kStates;
  Status status = PlanOnce(self, options, section, diagnostic);
  if (status != Status::kUnsupported && status != Status::kStopped) return status;
  Span<uint32_t> order;
  SLUICE_TRY(self->arena->Allocate(section->layer_of.size(), &order));
  for (uint32_t o = 0; o < order.size(); ++o) order[o] = o;
  options.fixed_order = order;
  options.exact = false;
  return PlanOnce(self, options, section, diagnostic);
}

Status PlanSections(OperatorSchedule* self, Diagnostic* diagnostic) {
  SLUICE_TRY(FindSections(self));
  for (OperatorSection& section : self->sections) {
    if (section.operators) SLUICE_TRY(BuildOperators(self, &section));
  }
  SLUICE_TRY(CheckNeeds(*self, diagnostic));
  for (OperatorSection& section : self->sections) {
    if (section.operators) SLUICE_TRY(PlanSection(self, &section, diagnostic));
  }
  return Status::kOk;
}

}  // namespace

Status ScheduleOperators(const OperatorCall& call, Program* program, Lowering* out,
                         Diagnostic* diagnostic) {
  const int64_t alignment =
      Max<int64_t>(call.hardware.scratchpad().alignment_bytes, kElementBytes);
  OperatorSchedule schedule(call, alignment);
  SLUICE_TRY(PlanSections(&schedule, diagnostic));
  return WriteSections(&schedule, call.places, program, out, diagnostic);
}

}  // namespace sluice
