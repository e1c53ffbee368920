// SPDX-License-Identifier: Apache-2.0
#include "soak/round.h"

#include <cstring>

namespace sluice_test {
namespace {

sluice_schedule_options_t Options() {
  sluice_schedule_options_t options;
  std::memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  return options;
}

}  // namespace

Soak::Soak() {
  sluice_context_options_t options = allocator_.Options();
  options.clock_user = &clock_;
  options.now_ns = [](void* user) {
    Clock* clock = static_cast<Clock*>(user);
    if (++clock->ticks >= clock->cancel_at && clock->cancel_at != 0) clock->cancel = 1;
    return clock->ticks;
  };
  library_ = std::make_unique<Library>(&options);
  empty_bytes_ = allocator_.live_bytes();
}

bool Soak::Say(const std::string& what) {
  wrong_ = "round " + std::to_string(number_) + ": " + what;
  return false;
}

// A call that has not made a plan has said why, as it documents.
bool Soak::Answered(const std::string& what) {
  const sluice_status_t status = library_->status;
  if (status == SLUICE_INFEASIBLE || status == SLUICE_STOPPED) return true;
  return Say(what + ": " + sluice_status_name(status) + ": " +
             library_->diagnostic.rule + " " + library_->diagnostic.message);
}

bool Soak::Judge(const std::string& what, const GraphPtr& graph,
                 const Bytes& graph_bytes, const Bytes& machine_bytes,
                 const PlanPtr& plan) {
  const HardwarePtr hardware = library_->Hardware(machine_bytes);
  if (library_->Verify(graph, hardware, plan) != SLUICE_OK) {
    return Say(what + ": verify: " + library_->diagnostic.message);
  }
  const Bytes bytes = BytesOf(plan);
  sluice_sim::SimulateOptions options = SimulationOf(graph_bytes, machine_bytes, bytes);
  options.functional = true;
  options.seed = number_;
  options.parameters = ParametersOf(graph_bytes, number_);
  const sluice_sim::SimulateResult result = sluice_sim::Simulate(options);
  if (!result.ok) return Say(what + ": the simulator: " + result.error);
  if (result.mismatches != 0) return Say(what + ": other bytes than an untiled run");
  if (result.cycles != ReportOf(plan).latency_cycles)
    return Say(what + ": other cycles");
  for (const sluice_sim::Claim& claim : result.claims) {
    if (claim.claimed != claim.measured)
      return Say(what + ": claims another " + claim.field);
  }
  tally_.compared_bytes += result.compared_bytes;
  return true;
}

PlanPtr Soak::Schedule(const GraphPtr& graph, const HardwarePtr& hardware,
                       const sluice_schedule_options_t& options) {
  sluice_plan_t* plan = nullptr;
  library_->status =
      sluice_schedule(library_->context.get(), graph.get(), hardware.get(), &options,
                      &plan, &library_->diagnostic);
  return PlanPtr(plan);
}

// Where nothing fits, the machine gets the smallest scratchpad that the answer names.
bool Soak::Plan(bool spoil) {
  sluice_schedule_options_t options = Options();
  options.solver = rng_.Below(SLUICE_SOLVER_SOMA + 1);
  options.max_iterations = 1 + rng_.Below(300);
  options.seed = number_;
  plan_ = Schedule(graph_, hardware_, options);
  if (library_->status == SLUICE_INFEASIBLE) {
    ++tally_.infeasible;
    machine_.base.scratchpad_bytes = library_->diagnostic.smallest_scratchpad_bytes;
    machine_bytes_ = MachineBytes(machine_);
    hardware_ = library_->Hardware(machine_bytes_);
    plan_ = Schedule(graph_, hardware_, Options());
  }
  if (plan_ == nullptr)
    return Answered("plan") && Say("plan: infeasible in the smallest");
  ++tally_.plans;
  if (spoil) {
    Bytes bytes = BytesOf(plan_);
    bytes[bytes.size() / 2] ^= 1;
    plan_ = library_->Plan(bytes);
    if (plan_ == nullptr) return Say("a changed plan is not read");
  }
  return Judge("plan", graph_, graph_bytes_, machine_bytes_, plan_);
}

// A limit ends the call anywhere: what it returns is valid.
bool Soak::Limited(bool cancelled) {
  sluice_schedule_options_t options = Options();
  options.solver = rng_.Below(SLUICE_SOLVER_SOMA + 1);
  options.seed = number_;
  options.max_iterations = 2000;
  const uint64_t questions = uint64_t{1} << rng_.Below(14);
  options.deadline_ns = cancelled ? uint64_t{1} << 40 : questions;
  options.cancel = &clock_.cancel;
  clock_.cancel = 0;
  clock_.cancel_at = cancelled ? clock_.ticks + questions : 0;
  const PlanPtr plan = Schedule(graph_, hardware_, options);
  clock_.cancel_at = 0;
  ++tally_.limited;
  if (library_->status == SLUICE_STOPPED) ++tally_.stopped;
  if (plan == nullptr) return Answered("limited");
  return Judge("limited", graph_, graph_bytes_, machine_bytes_, plan);
}

// Another layer, one less, or another window.
bool Soak::Changed() {
  GraphSpec spec = spec_;
  const size_t layer = rng_.Below(static_cast<uint32_t>(spec.layers.size()));
  const uint32_t kind = rng_.Below(3);
  const bool applies = kind == 0   ? InsertLayer(&spec, layer)
                       : kind == 1 ? RemoveLayer(&spec, layer)
                                   : ChangeWindow(&spec, layer);
  if (!applies) return true;
  const Bytes bytes = GraphBytes(spec);
  const GraphPtr graph = library_->Graph(bytes);
  if (graph == nullptr) return true;  // the edit does not suit this graph
  sluice_reschedule_options_t options;
  std::memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.minimise_changes = rng_.Below(2);
  options.previous = plan_.get();
  sluice_change_t change;
  std::memset(&change, 0, sizeof change);
  change.struct_size = sizeof change;
  options.change = &change;
  sluice_plan_t* made = nullptr;
  library_->status =
      sluice_reschedule(library_->context.get(), graph.get(), hardware_.get(), &options,
                        &made, &library_->diagnostic);
  const PlanPtr plan(made);
  ++tally_.reschedules;
  if (plan == nullptr) return Answered("changed");
  return Judge("changed", graph, bytes, machine_bytes_, plan);
}

// The same graph in less; what an infeasible answer names is exact.
bool Soak::Smaller() {
  const uint64_t bytes = 1 + machine_.base.scratchpad_bytes / (2 + rng_.Below(6));
  sluice_schedule_options_t schedule = Options();
  schedule.scratchpad_bytes = bytes;
  sluice_reschedule_options_t options;
  std::memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.previous = plan_.get();
  options.schedule = &schedule;
  sluice_plan_t* made = nullptr;
  library_->status =
      sluice_reschedule(library_->context.get(), graph_.get(), hardware_.get(),
                        &options, &made, &library_->diagnostic);
  PlanPtr plan(made);
  if (library_->status == SLUICE_INFEASIBLE) {
    schedule.scratchpad_bytes = library_->diagnostic.smallest_scratchpad_bytes;
    plan = Schedule(graph_, hardware_, schedule);
    if (plan == nullptr) return Say("smaller: none in the smallest scratchpad");
    const uint64_t least = schedule.scratchpad_bytes--;
    (void)Schedule(graph_, hardware_, schedule);
    if (library_->status != SLUICE_INFEASIBLE ||
        library_->diagnostic.smallest_scratchpad_bytes != least) {
      return Say("smaller: one byte less than the smallest does too");
    }
  }
  if (plan == nullptr) return Answered("smaller");
  ++tally_.shrunk;
  return Judge("smaller", graph_, graph_bytes_, machine_bytes_, plan);
}

// From some allocation on there is no memory.
bool Soak::Refused() {
  allocator_.FailAt(1 + rng_.Below(200), true);
  const PlanPtr plan = library_->Schedule(graph_, hardware_);
  allocator_.FailAt(0);
  if (library_->status == SLUICE_OUT_OF_MEMORY) {
    ++tally_.refused;
    return true;
  }
  if (plan == nullptr) return Answered("refused");
  return Judge("refused", graph_, graph_bytes_, machine_bytes_, plan);
}

// This graph and one or two others, by turns: on a machine of one queue, as such calls need.
bool Soak::Together() {
  std::vector<Bytes> graphs = {graph_bytes_};
  for (uint32_t more = 1 + rng_.Below(2); more > 0; --more) {
    graphs.push_back(GraphBytes(MakeRandomGraph(number_ * 4 + more)));
  }
  MachineSpec machine = machine_;
  machine.base.queues.clear();
  Cohort cohort(graphs, MachineBytes(machine));
  if (!cohort.ok)
    return Say("together: " + std::string(cohort.library.diagnostic.message));
  cohort.options.points = 2 + rng_.Below(4);
  cohort.options.share = rng_.Below(3);
  if (rng_.Below(2) != 0) cohort.options.max_turn_cycles = 1 + rng_.Below(1 << 16);
  const sluice_status_t status = cohort.Schedule();
  if (status == SLUICE_INFEASIBLE) return true;
  if (status != SLUICE_OK) {
    return Say(std::string("together: ") + sluice_status_name(status) + ": " +
               cohort.library.diagnostic.message);
  }
  ++tally_.cohorts;
  if (cohort.Verify(cohort.turns) != SLUICE_OK) {
    return Say("together: verify: " + std::string(cohort.library.diagnostic.message));
  }
  const sluice_sim::TogetherResult result = cohort.Run(cohort.turns, false);
  if (!result.ok) return Say("together: the simulator: " + result.error);
  if (result.cycles != cohort.summary.total_cycles)
    return Say("together: other cycles");
  return true;
}

// Everything that the round took is given back.
bool Soak::Flat() {
  plan_.reset();
  hardware_.reset();
  graph_.reset();
  if (!allocator_.sound()) return Say("memory is given back wrongly");
  if (allocator_.live_bytes() == empty_bytes_) return true;
  return Say(std::to_string(allocator_.live_bytes() - empty_bytes_) +
             " bytes are not given back");
}

bool Soak::Round(uint64_t number, bool spoil) {
  number_ = number;
  rng_ = sluice::Rng(number ^ 0x736f616bu);
  spec_ = MakeRandomGraph(number);
  machine_ = rng_.Below(4) == 0 ? LimitedMachine(number) : MakeRandomMachine(number);
  graph_bytes_ = GraphBytes(spec_);
  machine_bytes_ = MachineBytes(machine_);
  graph_ = library_->Graph(graph_bytes_);
  if (graph_ == nullptr)
    return Say(std::string("graph: ") + library_->diagnostic.message);
  hardware_ = library_->Hardware(machine_bytes_);
  if (hardware_ == nullptr)
    return Say(std::string("machine: ") + library_->diagnostic.message);
  const bool good = Plan(spoil) && Limited(false) && Limited(true) && Changed() &&
                    Smaller() && Refused() && (number % 4 != 0 || Together()) && Flat();
  if (good) ++tally_.rounds;
  return good;
}

}  // namespace sluice_test
