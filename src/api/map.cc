// SPDX-License-Identifier: Apache-2.0
// Loop nests of one GEMM and of layers of a graph, and their text.
#include "api/arguments.h"
#include "api/create.h"
#include "api/objects.h"
#include "plan/map/map_gemm.h"
#include "plan/map/map_layers.h"
#include "plan/map/mapping_text.h"
#include "sluice/experimental.h"

namespace sluice {
namespace {

// Writes the complete mappings, each up to the caller's struct_size.
void WriteMappings(Span<const sluice_layer_mapping_t> done,
                   sluice_layer_mapping_t* mappings) {
  const uint32_t size = mappings->struct_size;
  unsigned char* to = reinterpret_cast<unsigned char*>(mappings);
  for (size_t i = 0; i < done.size() && done[i].struct_size != 0; ++i) {
    sluice_layer_mapping_t* out =
        reinterpret_cast<sluice_layer_mapping_t*>(to + size_t{size} * i);
    out->struct_size = size;
    (void)WriteStruct(done[i], out);
  }
}

}  // namespace
}  // namespace sluice

sluice_status_t sluice_map_gemm(sluice_context_t* context,
                                const sluice_hardware_t* hardware,
                                const sluice_gemm_t* gemm,
                                const sluice_gemm_options_t* options,
                                sluice_gemm_mapping_t* out_mapping,
                                sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_gemm_options_t own;
  if (context == nullptr || hardware == nullptr || gemm == nullptr ||
      out_mapping == nullptr || out_mapping->struct_size < sizeof(uint32_t) ||
      !sluice::ReadStruct(options, &own)) {
    return report.BadArgument(
        "context, hardware, gemm and mapping must not be null, structs of a known "
        "version");
  }
  if (own.solver > SLUICE_GEMM_COSA || own.objective > SLUICE_GEMM_LATENCY) {
    return report.BadArgument("unknown solver or objective");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice_gemm_mapping_t mapping = {};
  mapping.struct_size = sizeof mapping;
  const sluice::Status status =
      sluice::MapGemm({hardware->hardware, {{gemm->m, gemm->n, gemm->k}}, own},
                      &context->memory, &mapping, report.get());
  if (status == sluice::Status::kOk) (void)sluice::WriteStruct(mapping, out_mapping);
  return report.Done(status);
}

sluice_status_t sluice_map_layers(sluice_context_t* context,
                                  const sluice_graph_t* graph,
                                  const sluice_hardware_t* hardware,
                                  const sluice_map_options_t* options,
                                  const sluice_mapping_list_t* list,
                                  sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_map_options_t own;
  sluice_mapping_list_t asked;
  if (context == nullptr || graph == nullptr || hardware == nullptr ||
      !sluice::ReadStruct(options, &own) || !sluice::ReadStruct(list, &asked) ||
      asked.layers == nullptr || asked.mappings == nullptr || asked.count == 0 ||
      asked.mappings->struct_size < sizeof(uint32_t) ||
      asked.mappings->struct_size % alignof(sluice_layer_mapping_t) != 0) {
    return report.BadArgument(
        "context, graph, hardware, list, its layers and mappings must not be null, "
        "structs of a known version");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena arena(&context->memory);
  sluice::Span<sluice_layer_mapping_t> done;
  const sluice::Status status = sluice::MapGraphLayers(
      {graph->graph, hardware->hardware,
       sluice::Span<const uint32_t>(asked.layers, asked.count), own},
      &arena, &done, report.get());
  sluice::WriteMappings(done, asked.mappings);
  return report.Done(status);
}

sluice_status_t sluice_mapping_directives(sluice_context_t* context,
                                          const sluice_hardware_t* hardware,
                                          const sluice_layer_mapping_t* mapping,
                                          sluice_directives_t* directives,
                                          sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_layer_mapping_t own;
  sluice_directives_t out;
  if (context == nullptr || hardware == nullptr || mapping == nullptr ||
      directives == nullptr || !sluice::ReadStruct(mapping, &own) ||
      !sluice::ReadStruct(directives, &out)) {
    return report.BadArgument(
        "context, hardware, mapping and directives must not be null, structs of a "
        "known version");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena arena(&context->memory);
  const sluice::MappingText text = {own, hardware->hardware, out.tile_only != 0,
                                    out.names};
  size_t size = static_cast<size_t>(out.text_bytes);
  const sluice::Status status =
      sluice::PrintMapping(text, &arena, out.text, &size, report.get());
  out.text_bytes = size;
  (void)sluice::WriteStruct(out, directives);
  return report.Done(status);
}
