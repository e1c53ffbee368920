// SPDX-License-Identifier: Apache-2.0
// A fused plan in the making: the layers in order, cut into sections.
//
// Input    nothing: this is data, which the verbs of this folder read and change.
// Output   nothing.
// Errors   none.
#ifndef SLUICE_PLAN_FUSED_SECTIONED_PLAN_H_
#define SLUICE_PLAN_FUSED_SECTIONED_PLAN_H_

#include "plan/deadline.h"
#include "plan/fused/fused_plan.h"
#include "plan/fused/section.h"
#include "solve/baseline/layer_by_layer.h"

namespace sluice {

struct SectionedPlan {
  const FusedCall& call;
  Budget* budget;  // of the search
  Arena* arena;    // of everything here

  Span<uint32_t> order = {};    // layers that are not views, in graph order
  Span<Section> sections = {};  // room for as many as there are layers
  uint32_t count = 0;           // of sections; they cover `order`
  uint32_t decisions = 0;       // how many different results they have

  // Only when an earlier schedule is carried over. carried_order: `order` with each
  // section sorted by carried ranks. local: by graph layer, its number in its section's
  // run.
  Span<uint32_t> carried_order = {}, local = {};

  FinishTime finish = {};                        // time to keep for writing and judging
  bool offered = false;                          // the constructed plan was offered
  uint64_t measured_ns = 0, measured_steps = 0;  // by MeasureFused

  Span<const uint32_t> LayersIn(const Section& s) const {
    return order.Slice(s.first, s.last);
  }
  Span<const Section> all() const { return sections.Slice(0, count); }
};

// True for the published searches, which choose their own rounds and are not improved
// later.
inline bool IsPublished(const FusedCall& call) {
  return call.options.solver == SLUICE_SOLVER_COCCO ||
         call.options.solver == SLUICE_SOLVER_SOMA;
}

// For layers that are not fused. lowering: the call's, or one with other places in
// DRAM.
inline LayerCall PlainLayers(const FusedCall& call, const Lowering& lowering,
                             Budget* budget) {
  return {call.graph,  call.hardware, lowering,    call.scratchpad_bytes,
          call.coster, budget,        call.tilings};
}

inline FusionSetting SettingOf(const FusedCall& call) {
  return {call.graph, call.hardware, call.lowering, call.scratchpad_bytes};
}

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_SECTIONED_PLAN_H_
