// SPDX-License-Identifier: Apache-2.0
// Several graphs on one machine: co-scheduled, verified and simulated together.
#ifndef SLUICE_TESTS_SUPPORT_COHORT_H_
#define SLUICE_TESTS_SUPPORT_COHORT_H_

#include <string>
#include <vector>

#include "firmware-sim/sim.h"
#include "sluice/experimental.h"
#include "support/library.h"

namespace sluice_test {

class Cohort {
 public:
  using ByteVector = std::vector<uint8_t>;

  Cohort(std::vector<ByteVector> graphs, ByteVector hardware)
      : graph_bytes_(std::move(graphs)), hardware_bytes_(std::move(hardware)) {
    hardware_ = library.Hardware(hardware_bytes_);
    ok = hardware_ != nullptr;
    for (const ByteVector& bytes : graph_bytes_) {
      graphs_.push_back(library.Graph(bytes));
      ok = ok && graphs_.back() != nullptr;
      models.push_back(sluice_model_t{graphs_.back().get(), 0, 0, 0, 0});
    }
    std::memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
  }
  ~Cohort() { sluice_cohort_destroy(cohort_); }
  Cohort(const Cohort&) = delete;

  sluice_status_t Schedule() {
    sluice_cohort_destroy(cohort_);
    members.clear();
    turns.clear();
    options.models = models.data();
    options.model_count = static_cast<uint32_t>(models.size());
    const sluice_status_t status =
        sluice_coschedule(library.context.get(), hardware_.get(), &options, &cohort_,
                          &library.diagnostic);
    if (status != SLUICE_OK) return status;
    std::memset(&summary, 0, sizeof summary);
    summary.struct_size = sizeof summary;
    sluice_cohort_report(cohort_, &summary);
    for (uint32_t m = 0; m < models.size(); ++m) {
      sluice_member_t member;
      std::memset(&member, 0, sizeof member);
      member.struct_size = sizeof member;
      sluice_cohort_member(cohort_, m, &member);
      members.push_back(member);
    }
    const sluice_turn_t* first = nullptr;
    uint32_t count = 0;
    sluice_cohort_turns(cohort_, &first, &count);
    turns.assign(first, first + count);
    return status;
  }

  // Schedules each graph alone, in the whole scratchpad and short blocks; they run in
  // turn.
  bool ScheduleApart(uint64_t max_block_cycles) {
    members.assign(models.size(), sluice_member_t{});
    turns.clear();
    apart_.clear();
    sluice_schedule_options_t each;
    std::memset(&each, 0, sizeof each);
    each.struct_size = sizeof each;
    each.max_block_cycles = max_block_cycles;
    for (uint32_t m = 0; m < models.size(); ++m) {
      sluice_plan_t* plan = nullptr;
      if (sluice_schedule(library.context.get(), models[m].graph, hardware_.get(),
                          &each, &plan, &library.diagnostic) != SLUICE_OK) {
        return false;
      }
      apart_.emplace_back(plan);
      members[m].plan = plan;
      const uint32_t end = static_cast<uint32_t>(Points(m).size()) - 1;
      if (end != 0) turns.push_back({m, 0, end, 0, 0});
    }
    return true;
  }

  // The judge's verdict on the given turns of the members' plans.
  sluice_status_t Verify(const std::vector<sluice_turn_t>& which) {
    std::vector<const sluice_graph_t*> graphs;
    std::vector<const sluice_plan_t*> plans;
    for (size_t m = 0; m < models.size(); ++m) {
      graphs.push_back(graphs_[m].get());
      plans.push_back(members[m].plan);
    }
    sluice_turn_list_t list;
    std::memset(&list, 0, sizeof list);
    list.struct_size = sizeof list;
    list.model_count = static_cast<uint32_t>(models.size());
    list.turn_count = static_cast<uint32_t>(which.size());
    list.graphs = graphs.data();
    list.plans = plans.data();
    list.turns = which.data();
    return sluice_verify_together(library.context.get(), hardware_.get(), &list,
                                  &library.diagnostic);
  }
  sluice_sim::TogetherResult Run(const std::vector<sluice_turn_t>& which,
                                 bool functional) const {
    std::vector<sluice_sim::SimulateOptions> streams(models.size());
    for (size_t m = 0; m < models.size(); ++m) {
      const void* bytes = nullptr;
      sluice_plan_bytes(members[m].plan, &bytes, &streams[m].plan_size);
      streams[m].plan = bytes;
      streams[m].graph = graph_bytes_[m].data();
      streams[m].graph_size = graph_bytes_[m].size();
      streams[m].hardware = hardware_bytes_.data();
      streams[m].hardware_size = hardware_bytes_.size();
      streams[m].functional = functional;
      streams[m].seed = m + 1;
    }
    std::vector<sluice_sim::Turn> all;
    for (const sluice_turn_t& t : which) {
      all.push_back({t.model, t.first_visit, t.end_visit});
    }
    return sluice_sim::SimulateTogether(streams, all);
  }
  std::vector<sluice_preemption_point_t> Points(size_t m) {
    sluice_preemption_list_t list;
    std::memset(&list, 0, sizeof list);
    list.struct_size = sizeof list;
    const auto ask = [&] {
      return sluice_preemption_points(library.context.get(), graphs_[m].get(),
                                      hardware_.get(), members[m].plan, &list,
                                      &library.diagnostic);
    };
    if (ask() != SLUICE_BUFFER_TOO_SMALL) return {};
    std::vector<sluice_preemption_point_t> points(list.count);
    list.points = points.data();
    if (ask() != SLUICE_OK) points.clear();
    return points;
  }

  const sluice_hardware_t* hardware() const { return hardware_.get(); }

  Library library;
  bool ok = false;
  std::vector<sluice_model_t> models;  // a test may change them before Schedule
  sluice_coschedule_options_t options;
  sluice_cohort_summary_t summary;
  std::vector<sluice_member_t> members;
  std::vector<sluice_turn_t> turns;

 private:
  std::vector<ByteVector> graph_bytes_;
  ByteVector hardware_bytes_;
  HardwarePtr hardware_;
  std::vector<GraphPtr> graphs_;
  std::vector<PlanPtr> apart_;
  sluice_cohort_t* cohort_ = nullptr;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_COHORT_H_
