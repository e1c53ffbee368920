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
  // Fills the arrays of `evaluation`, if it has any.
  sluice_evaluation_t Evaluate(const sluice_notation_t& notation,
                               const sluice_schedule_options_t& options,
                               sluice_evaluation_t evaluation);
  sluice_gemm_mapping_t MapGemm(const sluice_gemm_t& gemm,
                                const sluice_gemm_options_t& options);

  sluice_machine_facts_t Machine() const;
  std::vector<sluice_engine_t> Engines() const;
  std::vector<std::string> MachineDoubts() const;

  sluice_context_t* context() const { return context_.get(); }
  // After a limit the layers that it left out have the status SLUICE_STOPPED; throws if
  // it left all of them out.
  std::vector<sluice_layer_mapping_t> MapLayers(const std::vector<uint32_t>& layers,
                                                const sluice_map_options_t& options);
  struct Segments {
    sluice_segment_schedule_t schedule;
    std::vector<sluice_segment_t> segments;
    std::vector<sluice_segment_layer_t> layers;
    std::string text;
  };
  Segments ChooseSegments(const sluice_segment_options_t& options);
  std::string Directives(const sluice_layer_mapping_t& mapping, bool tile_only,
                         const std::string& layer);

  std::vector<sluice_curve_point_t> Curve(const sluice_schedule_options_t& options,
                                          uint32_t points);
  // Reads several graphs and sets models[i].graph.
  void LoadModels(std::vector<Bytes> graphs, const std::vector<std::string>& paths);
  Owned<sluice_cohort_t> Coschedule(std::vector<sluice_model_t> models,
                                    const sluice_coschedule_options_t& options);

  const sluice_graph_t* graph() const { return graph_.get(); }
  const sluice_hardware_t* hardware() const { return hardware_.get(); }
  const sluice_plan_t* plan() const { return plan_.get(); }
  sluice_certificate_t Certificate() const;
  sluice_report_t Report() const;
  std::vector<sluice_layer_cost_t> Layers() const;
  Bytes PlanBytes() const;
  uint64_t peak_memory_bytes() const;

 private:
  // Throws unless status is SLUICE_OK.
  void Check(sluice_status_t status, const sluice_diagnostic_t& diagnostic) const;

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
