// SPDX-License-Identifier: Apache-2.0
// Makes plans of given segments and tells their costs by the objective.
//
// Input    graph, hardware, a plan, the options that it was made with; segments
// Output   what the plan of the segments costs, over the cost of the given plan; infinite where
//          there is none
// Errors   Failure
// Cost     a plan, made and judged, for each question
#ifndef SLUICE_CLI_PLAN_MAKER_H_
#define SLUICE_CLI_PLAN_MAKER_H_

#include <cmath>

#include "cli/failure.h"
#include "cli/segment_notation.h"
#include "cli/session.h"

namespace sluice::cli {

class PlanMaker {
 public:
  PlanMaker(const Bytes& graph, const Bytes& hardware, const Bytes& plan,
            const sluice_schedule_options_t& options)
      : plan_(plan), session_(0), schedule_(options) {
    session_.LoadHardware(hardware);
    session_.LoadGraph(graph);
    session_.LoadPlan(plan);
    schedule_.deadline_ns = schedule_.max_iterations = 0;
    schedule_.resume = nullptr;
    schedule_.progress = nullptr;
    base_ = session_.Report();
  }

  // Infinite: there is no such plan.
  double Ratio(const SegmentNotation& notation) {
    sluice_reschedule_options_t options = {};
    options.struct_size = sizeof options;
    options.minimise_changes = 1;
    options.schedule = &schedule_;
    session_.LoadPlan(PlanOfSegments(notation, plan_));
    try {
      session_.Reschedule(options);
    } catch (const Failure& failure) {
      const std::string rejected = sluice_status_name(SLUICE_REJECTED);
      if (failure.details().value("status", "") != rejected) throw;
      return INFINITY;
    }
    const sluice_report_t made = session_.Report();
    return RatioOf(made.energy_pj, static_cast<double>(made.latency_cycles));
  }

  // What so much energy and so many cycles cost.
  double RatioOf(double pj, double cycles) const {
    return std::pow(pj / base_.energy_pj, schedule_.energy_exponent) *
           std::pow(cycles / static_cast<double>(base_.latency_cycles),
                    schedule_.delay_exponent);
  }

  const sluice_report_t& base() const { return base_; }
  Bytes PlanBytes() const {
    return session_.PlanBytes();
  }  // of the last plan that was made

 private:
  const Bytes& plan_;
  Session session_;
  sluice_schedule_options_t schedule_;
  sluice_report_t base_ = {};
};

}  // namespace sluice::cli

#endif  // SLUICE_CLI_PLAN_MAKER_H_
