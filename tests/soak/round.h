// SPDX-License-Identifier: Apache-2.0
// A round of the soak: one random graph on one random machine is planned, ended early, planned
// again after a change, in a smaller scratchpad, without memory, and together with others; all in
// a context that lives as long as the process.
//
// Input    the round's number, from which everything in it is made
// Output   what was done, or what is wrong
// Errors   a plan that a judge refuses or that computes another byte than an untiled run, a
//          status that the call does not document, a byte of memory that is not given back
// Cost     milliseconds
#ifndef SLUICE_TESTS_SOAK_ROUND_H_
#define SLUICE_TESTS_SOAK_ROUND_H_

#include <cstdint>
#include <string>

#include "support/cohort.h"
#include "support/graph_edit.h"
#include "support/library.h"
#include "support/parameters.h"
#include "support/random_graph.h"
#include "support/recording_allocator.h"
#include "support/simulation.h"

namespace sluice_test {

// What rounds have done; added up over runs. The order is that of kTallyNames.
struct Tally {
  uint64_t rounds = 0, plans = 0, infeasible = 0, limited = 0, stopped = 0,
           reschedules = 0, shrunk = 0, refused = 0, cohorts = 0, compared_bytes = 0;
};

class Soak {
 public:
  Soak();

  // False: `wrong` says what. `spoil` changes a byte of the first plan before it is judged, to
  // show that the round notices.
  bool Round(uint64_t number, bool spoil);

  const Tally& tally() const { return tally_; }
  const std::string& wrong() const { return wrong_; }

 private:
  // The context's clock: a tick per question, so that limits end a call at the same place in
  // every run. From `cancel_at` questions on, the cancel word is set.
  struct Clock {
    uint64_t ticks = 0, cancel_at = 0;
    uint32_t cancel = 0;
  };

  bool Say(const std::string& what);
  bool Answered(const std::string& what);
  bool Judge(const std::string& what, const GraphPtr& graph, const Bytes& graph_bytes,
             const Bytes& machine_bytes, const PlanPtr& plan);
  PlanPtr Schedule(const GraphPtr& graph, const HardwarePtr& hardware,
                   const sluice_schedule_options_t& options);
  bool Plan(bool spoil);
  bool Limited(bool cancelled);
  bool Changed();
  bool Smaller();
  bool Refused();
  bool Together();
  bool Flat();

  RecordingAllocator allocator_;
  Clock clock_;
  std::unique_ptr<Library> library_;
  uint64_t empty_bytes_ = 0;  // that the context itself takes
  Tally tally_;
  std::string wrong_;

  // Of the round.
  uint64_t number_ = 0;
  sluice::Rng rng_{0};
  GraphSpec spec_;
  MachineSpec machine_;
  Bytes graph_bytes_, machine_bytes_;
  GraphPtr graph_;
  HardwarePtr hardware_;
  PlanPtr plan_;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SOAK_ROUND_H_
