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
                                const sluice_hardware_t* hardware, int64_t m, int64_t n,
                                int64_t k, const sluice_gemm_options_t* options,
                                sluice_gemm_mapping_t* out_mapping,
                                sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_gemm_options_t own;
  if (context == nullptr || hardware == nullptr || out_mapping == nullptr ||
      out_mapping->struct_size < sizeof(uint32_t) ||
      !sluice::ReadStruct(options, &own)) {
    return report.BadArgument(
        "context, hardware and mapping must not be null, structs of a known version");
  }
  if (own.solver > SLUICE_GEMM_COSA || own.objective > SLUICE_GEMM_LATENCY) {
    return report.BadArgument("unknown solver or objective");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice_gemm_mapping_t mapping = {};
  mapping.struct_size = sizeof mapping;
  const sluice::Status status = sluice::MapGemm(
      {hardware->hardware, {{m, n, k}}, own}, &context->memory, &mapping, report.get());
  if (status == sluice::Status::kOk) (void)sluice::WriteStruct(mapping, out_mapping);
  return report.Done(status);
}

sluice_status_t sluice_map_layers(sluice_context_t* context,
                                  const sluice_graph_t* graph,
                                  const sluice_hardware_t* hardware,
                                  const uint32_t* layers, size_t count,
                                  const sluice_map_options_t* options,
                                  sluice_layer_mapping_t* mappings,
                                  sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_map_options_t own;
  if (context == nullptr || graph == nullptr || hardware == nullptr ||
      layers == nullptr || mappings == nullptr || count == 0 || count > UINT32_MAX ||
      mappings->struct_size < sizeof(uint32_t) ||
      mappings->struct_size % alignof(sluice_layer_mapping_t) != 0 ||
      !sluice::ReadStruct(options, &own)) {
    return report.BadArgument(
        "context, graph, hardware, layers and mappings must not be null, structs of a "
        "known version");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena arena(&context->memory);
  sluice::Span<sluice_layer_mapping_t> done;
  const sluice::Status status =
      sluice::MapGraphLayers({graph->graph, hardware->hardware,
                              sluice::Span<const uint32_t>(layers, count), own},
                             &arena, &done, report.get());
  sluice::WriteMappings(done, mappings);
  return report.Done(status);
}

sluice_status_t sluice_mapping_directives(sluice_context_t* context,
                                          const sluice_hardware_t* hardware,
                                          const sluice_layer_mapping_t* mapping,
                                          uint32_t tile_only,
                                          const char* const names[4], char* buffer,
                                          size_t* size,
                                          sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_layer_mapping_t own;
  if (context == nullptr || hardware == nullptr || mapping == nullptr ||
      size == nullptr || !sluice::ReadStruct(mapping, &own)) {
    return report.BadArgument("context, hardware, mapping and size must not be null");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena arena(&context->memory);
  const sluice::MappingText text = {own, hardware->hardware, tile_only != 0, names};
  return report.Done(sluice::PrintMapping(text, &arena, buffer, size, report.get()));
}
