// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include "cli/answers.h"
#include "cli/status_failure.h"

namespace sluice::cli {
Session::Session(uint64_t max_memory_bytes) {
  sluice_context_options_t options = {};
  options.struct_size = sizeof options;
  options.max_bytes = max_memory_bytes;
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  sluice_context_t* context = nullptr;
  Check(sluice_context_create(&options, &context, &diagnostic), diagnostic);
  context_.reset(context);
}

void Session::LoadGraph(Bytes graph, const std::string& path) {
  graph_bytes_ = std::move(graph);
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  sluice_graph_t* made = nullptr;
  const sluice_status_t status = sluice_graph_create(
      context_.get(), graph_bytes_.data(), graph_bytes_.size(), &made, &diagnostic);
  try {
    Check(status, diagnostic);
  } catch (const Failure& failure) {
    if (path.empty() || failure.code() != kBadInput) throw;
    throw Failure(kBadInput, path + ": " + failure.what(), failure.details());
  }
  graph_.reset(made);
}

void Session::LoadHardware(const Bytes& hardware) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  sluice_hardware_t* made = nullptr;
  Check(sluice_hardware_create(context_.get(), hardware.data(), hardware.size(), &made,
                               &diagnostic),
        diagnostic);
  hardware_.reset(made);
}

void Session::Schedule(const sluice_schedule_options_t& options) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  sluice_plan_t* made = nullptr;
  Check(sluice_schedule(context_.get(), graph_.get(), hardware_.get(), &options, &made,
                        &diagnostic),
        diagnostic);
  plan_.reset(made);
}

sluice_change_t Session::Reschedule(const sluice_reschedule_options_t& options) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  sluice_plan_t* made = nullptr;
  sluice_change_t change = {};
  change.struct_size = sizeof change;
  sluice_reschedule_options_t how = options;
  how.previous = plan_.get();
  how.change = &change;
  Check(sluice_reschedule(context_.get(), graph_.get(), hardware_.get(), &how, &made,
                          &diagnostic),
        diagnostic);
  plan_.reset(made);
  return change;
}

void Session::LoadPlan(const Bytes& plan) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  sluice_plan_t* made = nullptr;
  Check(
      sluice_plan_create(context_.get(), plan.data(), plan.size(), &made, &diagnostic),
      diagnostic);
  plan_.reset(made);
}

void Session::Verify() {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  Check(sluice_verify(context_.get(), graph_.get(), hardware_.get(), plan_.get(),
                      &diagnostic),
        diagnostic);
}

void Session::LoadModels(std::vector<Bytes> graphs,
                         const std::vector<std::string>& paths) {
  for (size_t i = 0; i < graphs.size(); ++i) {
    LoadGraph(graphs[i], paths[i]);
    models_.push_back(std::move(graph_));
    model_bytes_.push_back(std::move(graphs[i]));
  }
}

Owned<sluice_cohort_t> Session::Coschedule(std::vector<sluice_model_t> models,
                                           const sluice_coschedule_options_t& options) {
  for (size_t m = 0; m < models.size(); ++m) models[m].graph = models_[m].get();
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  sluice_cohort_t* made = nullptr;
  sluice_coschedule_options_t how = options;
  how.models = models.data();
  how.model_count = static_cast<uint32_t>(models.size());
  const sluice_status_t status =
      sluice_coschedule(context_.get(), hardware_.get(), &how, &made, &diagnostic);
  if (diagnostic.model < model_bytes_.size()) {
    graph_bytes_ = model_bytes_[diagnostic.model];  // has the named layer
  }
  Check(status, diagnostic);
  return Owned<sluice_cohort_t>(made);
}

sluice_certificate_t Session::Certificate() const {
  sluice_certificate_t certificate = {};
  certificate.struct_size = sizeof certificate;
  Check(sluice_plan_certificate(plan_.get(), &certificate), EmptyDiagnostic());
  return certificate;
}

sluice_report_t Session::Report() const {
  sluice_report_t report = {};
  report.struct_size = sizeof report;
  Check(sluice_plan_report(plan_.get(), &report), EmptyDiagnostic());
  return report;
}

Bytes Session::PlanBytes() const {
  const void* bytes = nullptr;
  size_t size = 0;
  Check(sluice_plan_bytes(plan_.get(), &bytes, &size), EmptyDiagnostic());
  const uint8_t* first = static_cast<const uint8_t*>(bytes);
  return Bytes(first, first + size);
}

uint64_t Session::peak_memory_bytes() const {
  sluice_memory_stats_t stats = {};
  stats.struct_size = sizeof stats;
  Check(sluice_context_memory(context_.get(), &stats), EmptyDiagnostic());
  return stats.peak_bytes;
}

void Session::Check(sluice_status_t status,
                    const sluice_diagnostic_t& diagnostic) const {
  if (status != SLUICE_OK) throw FailureOf(status, diagnostic, graph_bytes_);
}

}  // namespace sluice::cli
