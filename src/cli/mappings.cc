// SPDX-License-Identifier: Apache-2.0
#include "cli/mappings.h"

#include "cli/answers.h"

namespace sluice::cli {

sluice_gemm_mapping_t MapGemm(const Session& session, const sluice_gemm_t& gemm,
                              const sluice_gemm_options_t& options) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  sluice_gemm_mapping_t mapping = {};
  mapping.struct_size = sizeof mapping;
  session.Check(sluice_map_gemm(session.context(), session.hardware(), &gemm, &options,
                                &mapping, &diagnostic),
                diagnostic);
  return mapping;
}

std::vector<sluice_layer_mapping_t> MapLayers(const Session& session,
                                              const std::vector<uint32_t>& layers,
                                              const sluice_map_options_t& options) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  std::vector<sluice_layer_mapping_t> mappings(layers.size());
  mappings[0].struct_size = sizeof mappings[0];
  sluice_mapping_list_t list = {};
  list.struct_size = sizeof list;
  list.count = static_cast<uint32_t>(layers.size());
  list.layers = layers.data();
  list.mappings = mappings.data();
  const sluice_status_t status =
      sluice_map_layers(session.context(), session.graph(), session.hardware(),
                        &options, &list, &diagnostic);
  size_t left_out = 0;  // by a limit: not written
  for (size_t i = 0; i < layers.size(); ++i) {
    sluice_layer_mapping_t& m = mappings[i];
    if (m.levels != 0 || m.status != SLUICE_OK) continue;
    m.status = SLUICE_STOPPED;
    m.same_as = static_cast<uint32_t>(i);
    ++left_out;
  }
  if (status != SLUICE_STOPPED || left_out == layers.size())
    session.Check(status, diagnostic);
  return mappings;
}

std::string DirectivesOf(const Session& session, const sluice_layer_mapping_t& mapping,
                         bool tile_only, const std::string& layer) {
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
  sluice_directives_t directives = {};
  directives.struct_size = sizeof directives;
  directives.tile_only = tile_only ? 1 : 0;
  directives.names[0] = layer.empty() ? nullptr : layer.c_str();
  const auto print = [&] {
    return sluice_mapping_directives(session.context(), session.hardware(), &mapping,
                                     &directives, &diagnostic);
  };
  const sluice_status_t asked = print();
  if (asked != SLUICE_BUFFER_TOO_SMALL) session.Check(asked, diagnostic);
  std::string text(directives.text_bytes, ' ');
  directives.text = text.data();
  session.Check(print(), diagnostic);
  text.pop_back();
  return text;
}

ChosenSegments ChooseSegments(const Session& session,
                              const sluice_segment_options_t& options) {
  constexpr size_t kTextOfLayer = 1024;
  ChosenSegments all = {};
  sluice_graph_counts_t counts = {};
  counts.struct_size = sizeof counts;
  session.Check(sluice_graph_count(session.graph(), &counts), {});
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
  session.Check(sluice_segments(session.context(), session.graph(), session.hardware(),
                                &options, &all.schedule, &why),
                why);
  all.segments.resize(all.schedule.segment_count);
  all.layers.resize(all.schedule.layer_count);
  const bool whole = all.schedule.text_bytes <= all.text.size();
  all.text.resize(whole ? static_cast<size_t>(all.schedule.text_bytes) - 1 : 0);
  return all;
}

}  // namespace sluice::cli
