// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <string>

#include "cli/answers.h"
#include "cli/graph_names.h"
#include "cli/report.h"

namespace sluice::cli {
namespace {

std::string Line(const char* label, const std::string& value) {
  std::string line = std::string("\n  ") + label;
  line.resize(1 + 2 + 22, ' ');
  return line + value;
}

}  // namespace

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

sluice_machine_facts_t Session::Machine() const {
  sluice_machine_facts_t facts = {};
  facts.struct_size = sizeof facts;
  Check(sluice_hardware_machine(hardware_.get(), &facts), EmptyDiagnostic());
  return facts;
}

std::vector<sluice_engine_t> Session::Engines() const {
  std::vector<sluice_engine_t> engines(Machine().engines);
  for (uint32_t i = 0; i < engines.size(); ++i) {
    Check(sluice_hardware_engine(hardware_.get(), i, &engines[i]), EmptyDiagnostic());
  }
  return engines;
}

std::vector<std::string> Session::MachineDoubts() const {
  std::vector<std::string> doubts(Machine().doubts);
  for (uint32_t i = 0; i < doubts.size(); ++i) {
    sluice_diagnostic_t doubt = EmptyDiagnostic();
    Check(sluice_hardware_doubt(hardware_.get(), i, &doubt), doubt);
    doubts[i] = doubt.message;
  }
  return doubts;
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

sluice_evaluation_t Session::Evaluate(const sluice_notation_t& notation,
                                      const sluice_schedule_options_t& options,
                                      sluice_evaluation_t evaluation) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  evaluation.struct_size = sizeof evaluation;
  evaluation.options = &options;
  Check(sluice_evaluate(context_.get(), graph_.get(), hardware_.get(), &notation,
                        &evaluation, &diagnostic),
        diagnostic);
  evaluation.options = nullptr;
  return evaluation;
}

sluice_gemm_mapping_t Session::MapGemm(const sluice_gemm_t& gemm,
                                       const sluice_gemm_options_t& options) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  sluice_gemm_mapping_t mapping = {};
  mapping.struct_size = sizeof mapping;
  Check(sluice_map_gemm(context_.get(), hardware_.get(), &gemm, &options, &mapping,
                        &diagnostic),
        diagnostic);
  return mapping;
}

std::vector<sluice_layer_mapping_t> Session::MapLayers(
    const std::vector<uint32_t>& layers, const sluice_map_options_t& options) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  std::vector<sluice_layer_mapping_t> mappings(layers.size());
  mappings[0].struct_size = sizeof mappings[0];
  sluice_mapping_list_t list = {};
  list.struct_size = sizeof list;
  list.count = static_cast<uint32_t>(layers.size());
  list.layers = layers.data();
  list.mappings = mappings.data();
  const sluice_status_t status = sluice_map_layers(
      context_.get(), graph_.get(), hardware_.get(), &options, &list, &diagnostic);
  size_t left_out = 0;  // by a limit: not written
  for (size_t i = 0; i < layers.size(); ++i) {
    sluice_layer_mapping_t& m = mappings[i];
    if (m.levels != 0 || m.status != SLUICE_OK) continue;
    m.status = SLUICE_STOPPED;
    m.same_as = static_cast<uint32_t>(i);
    ++left_out;
  }
  if (status != SLUICE_STOPPED || left_out == layers.size()) Check(status, diagnostic);
  return mappings;
}

std::vector<sluice_layer_cost_t> Session::Layers() const {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  sluice_layer_list_t list = {};
  list.struct_size = sizeof list;
  const auto ask = [&] {
    return sluice_plan_layers(context_.get(), graph_.get(), hardware_.get(),
                              plan_.get(), &list, &diagnostic);
  };
  const sluice_status_t asked = ask();
  if (asked != SLUICE_BUFFER_TOO_SMALL) Check(asked, diagnostic);
  std::vector<sluice_layer_cost_t> costs(list.count);
  if (costs.empty()) return costs;
  list.costs = costs.data();
  list.capacity = list.count;
  Check(ask(), diagnostic);
  return costs;
}

std::string Session::Directives(const sluice_layer_mapping_t& mapping, bool tile_only,
                                const std::string& layer) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  sluice_directives_t directives = {};
  directives.struct_size = sizeof directives;
  directives.tile_only = tile_only ? 1 : 0;
  directives.names[0] = layer.empty() ? nullptr : layer.c_str();
  const auto print = [&] {
    return sluice_mapping_directives(context_.get(), hardware_.get(), &mapping,
                                     &directives, &diagnostic);
  };
  const sluice_status_t asked = print();
  if (asked != SLUICE_BUFFER_TOO_SMALL) Check(asked, diagnostic);
  std::string text(directives.text_bytes, ' ');
  directives.text = text.data();
  Check(print(), diagnostic);
  text.pop_back();
  return text;
}

std::vector<sluice_curve_point_t> Session::Curve(
    const sluice_schedule_options_t& options, uint32_t points) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  std::vector<sluice_curve_point_t> curve(points);
  sluice_curve_list_t list = {};
  list.struct_size = sizeof list;
  list.count = points;
  list.points = curve.data();
  Check(sluice_curve(context_.get(), graph_.get(), hardware_.get(), &options, &list,
                     &diagnostic),
        diagnostic);
  curve.resize(list.count);
  return curve;
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

void Session::Check(sluice_status_t status, const sluice_diagnostic_t& d) const {
  if (status == SLUICE_OK) return;
  const char* name = sluice_status_name(status);
  std::string text = d.message[0] != '\0' ? d.message : name;
  Json details = {{"status", name}};
  if (d.stage[0] != '\0') details["stage"] = d.stage;
  if (d.layer != SLUICE_NO_INDEX) {
    details["layer"] = LayerName(graph_bytes_, d.layer);
    text += Line("layer", details["layer"]);
  }
  if (d.tensor != SLUICE_NO_INDEX) {
    details["tensor"] = TensorName(graph_bytes_, d.tensor);
    text += Line("tensor", details["tensor"]);
  }
  if (status == SLUICE_REJECTED || status == SLUICE_INTERNAL) {
    details["rule"] = d.rule;
    if (d.instruction != SLUICE_NO_INDEX) {
      details["instruction"] = d.instruction;
    } else {
      details["instruction"] = nullptr;
    }
    details["detail"] = d.message;
    if (d.rule[0] != '\0') text += Line("rule", d.rule);
    if (d.instruction != SLUICE_NO_INDEX) {
      text += Line("instruction", std::to_string(d.instruction));
    }
  }
  if (d.required_bytes != 0) {
    const uint64_t excess =
        d.required_bytes > d.available_bytes ? d.required_bytes - d.available_bytes : 0;
    details["required_bytes"] = d.required_bytes;
    details["available_bytes"] = d.available_bytes;
    details["excess_bytes"] = excess;
    text += Line("required", Grouped(d.required_bytes) + " bytes");
    text += Line("available", Grouped(d.available_bytes) + " bytes");
    text += Line("excess", Grouped(excess) + " bytes");
  }
  if (d.smallest_scratchpad_bytes != 0) {
    details["smallest_scratchpad_bytes"] = d.smallest_scratchpad_bytes;
    text +=
        Line("smallest scratchpad", Grouped(d.smallest_scratchpad_bytes) + " bytes");
  }
  throw Failure(ExitCodeOf(status), text, details);
}

Session::Segments Session::ChooseSegments(const sluice_segment_options_t& options) {
  constexpr size_t kTextOfLayer = 1024;
  Segments all = {};
  sluice_graph_counts_t counts = {};
  counts.struct_size = sizeof counts;
  Check(sluice_graph_count(graph_.get(), &counts), {});
  const size_t layers = counts.layers;
  all.segments.resize(layers);
  all.layers.resize(layers);
  all.text.resize((layers + 1) * kTextOfLayer);
  all.schedule.struct_size = sizeof all.schedule;
  all.schedule.capacity = static_cast<uint32_t>(layers);
  all.schedule.segments = all.segments.data();
  all.schedule.layers = all.layers.data();
  all.schedule.text = all.text.data();
  all.schedule.text_bytes = all.text.size();
  sluice_diagnostic_t why = {};
  why.struct_size = sizeof why;
  Check(sluice_segments(context_.get(), graph_.get(), hardware_.get(), &options,
                        &all.schedule, &why),
        why);
  all.segments.resize(all.schedule.segment_count);
  all.layers.resize(all.schedule.layer_count);
  const bool whole = all.schedule.text_bytes <= all.text.size();
  all.text.resize(whole ? static_cast<size_t>(all.schedule.text_bytes) - 1 : 0);
  return all;
}

}  // namespace sluice::cli
