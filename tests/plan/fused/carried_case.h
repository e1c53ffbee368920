// SPDX-License-Identifier: Apache-2.0
// A fused plan of a small graph, carried over to the same graph or to an edited one.
#ifndef SLUICE_TESTS_PLAN_FUSED_CARRIED_CASE_H_
#define SLUICE_TESTS_PLAN_FUSED_CARRIED_CASE_H_

#include <memory>

#include "plan/carry/carried_section.h"
#include "tests/plan/fused/sectioned_case.h"

namespace sluice_test {

// A chain of 16 layers that run in several fine-grained groups in 3072 bytes, among them
// layers 6 to 9 one by one. edited: layer 7 is a LOOKUP instead, which loads a table.
inline GraphSpec LongChain(bool edited) {
  GraphSpec g = Chain(16, 16);
  if (!edited) return g;
  g.tensors.push_back({{256}, SLUICE_DTYPE_INT8, 3, 3, 7});
  g.layers[7] = {SLUICE_OP_LOOKUP, {7, 17}, {8}, {}};
  return g;
}

// The earlier plan. Its notation and its sections live as long as it does.
struct EarlierPlan : SectionedCase {
  explicit EarlierPlan(const GraphSpec& spec, int64_t bytes = 4096)
      : SectionedCase(spec, bytes) {
    bool fused = false;
    REQUIRE(ScheduleFused(call, &budget, &scratch, &out, &fused, &n.diagnostic) ==
            sluice::Status::kOk);
    REQUIRE(fused);
  }
  sluice::Arena scratch{&n.memory};
  sluice::Candidate out{&n.memory, n.hardware};
};

// A graph of as many layers as the earlier plan has, of which `changed` have other
// shapes or options; carried over, and not decided yet.
struct CarriedCase : SectionedCase {
  CarriedCase(const EarlierPlan& before, const GraphSpec& spec,
              const std::vector<uint32_t>& changed = {}, int64_t bytes = 4096)
      : SectionedCase(spec, bytes), same(spec.layers.size(), 1) {
    for (uint32_t l = 0; l < spec.layers.size(); ++l) {
      before_of.push_back(l);
      after_of.push_back(l);
    }
    for (const uint32_t l : changed) same[l] = 0;
    sluice::Alignment alignment;
    alignment.before_of = {before_of.data(), before_of.size()};
    alignment.after_of = {after_of.data(), after_of.size()};
    alignment.same = {same.data(), same.size()};
    REQUIRE(Carry(before.out.notation, alignment, n.graph, &n.arena, &carried,
                  &n.diagnostic) == sluice::Status::kOk);
    carried.same_machine = true;
    call.carried = &carried;
  }
  // The first section with its list of tiles and transfers, without addresses. It has
  // no times either, or with `times` those of a list schedule.
  sluice::Section* Listed(bool times = false) {
    REQUIRE(sluice::CutIntoSections(&plan) == sluice::Status::kOk);
    sluice::Section* section = &plan.sections[0];
    bool decided = false, touched = false;
    REQUIRE(sluice::OpenSection(&plan, section, &decided) == sluice::Status::kOk);
    local.assign(n.graph.layers.size(), sluice::kNone);
    REQUIRE(StartOfCarried(carried, carried.order.Slice(section->first, section->last),
                           {local.data(), local.size()}, &n.arena, section,
                           &touched) == sluice::Status::kOk);
    sluice::FusionSearch search = SearchOf(plan, *section, 0);
    if (!times) search.list_transfers = carried.before->section[0].transfers;
    REQUIRE(SolveSection(plan, search, &budget, &n.arena, section) ==
            sluice::Status::kOk);
    return section;
  }
  sluice::CarriedCall Call() {
    return {carried, 0, {local.data(), local.size()}, capacity, &n.arena};
  }
  std::vector<uint32_t> before_of, after_of, local;
  std::vector<uint8_t> same;
  sluice::CarriedSchedule carried;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_PLAN_FUSED_CARRIED_CASE_H_
