// SPDX-License-Identifier: Apache-2.0
// Owns the library's objects and turns its statuses into Failures.
//
// Input    graph, hardware and plan bytes
// Errors   Failure with the exit code of the status, the library's sentence, the layer
//          and tensor by name and the bytes that were required and available
#ifndef SLUICE_CLI_SESSION_H_
#define SLUICE_CLI_SESSION_H_

#include <memory>
#include <string>
#include <vector>

#include "cli/files.h"
#include "sluice/experimental.h"

namespace sluice::cli {

struct Destroy {
  void operator()(sluice_context_t* c) const { sluice_context_destroy(c); }
  void operator()(sluice_graph_t* g) const { sluice_graph_destroy(g); }
  void operator()(sluice_hardware_t* h) const { sluice_hardware_destroy(h); }
  void operator()(sluice_plan_t* p) const { sluice_plan_destroy(p); }
  void operator()(sluice_cohort_t* c) const { sluice_cohort_destroy(c); }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

class Session {
 public:
  // max_memory_bytes 0 = no cap.
  explicit Session(uint64_t max_memory_bytes);

  // path: the file that the graph came from, which a failure then names.
  void LoadGraph(Bytes graph, const std::string& path = "");
  void LoadHardware(const Bytes& hardware);
  void Schedule(const sluice_schedule_options_t& options);
  // Reschedules from the plan that was loaded or made last; the new plan replaces it.
  sluice_change_t Reschedule(const sluice_reschedule_options_t& options);
  void LoadPlan(const Bytes& plan);
  void Verify();
  // Throws unless status is SLUICE_OK.
  void Check(sluice_status_t status, const sluice_diagnostic_t& diagnostic) const;

  sluice_context_t* context() const { return context_.get(); }
  // Reads several graphs and sets models[i].graph.
  void LoadModels(std::vector<Bytes> graphs, const std::vector<std::string>& paths);
  Owned<sluice_cohort_t> Coschedule(std::vector<sluice_model_t> models,
                                    const sluice_coschedule_options_t& options);

  const sluice_graph_t* graph() const { return graph_.get(); }
  const sluice_hardware_t* hardware() const { return hardware_.get(); }
  const sluice_plan_t* plan() const { return plan_.get(); }
  sluice_certificate_t Certificate() const;
  sluice_report_t Report() const;
  Bytes PlanBytes() const;
  uint64_t peak_memory_bytes() const;

 private:
  Bytes graph_bytes_;                // for names
  Owned<sluice_context_t> context_;  // destroyed last
  Owned<sluice_graph_t> graph_;
  std::vector<Bytes> model_bytes_;
  std::vector<Owned<sluice_graph_t>> models_;
  Owned<sluice_hardware_t> hardware_;
  Owned<sluice_plan_t> plan_;
};

}  // namespace sluice::cli

#endif  // SLUICE_CLI_SESSION_H_
