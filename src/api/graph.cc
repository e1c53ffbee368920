// SPDX-License-Identifier: Apache-2.0
// Graphs and hardware: made from bytes; tensors, layers and parameters of a graph;
// hashes.
#include "api/arguments.h"
#include "api/create.h"
#include "api/objects.h"
#include "base/hash.h"
#include "io/read.h"
#include "sluice/lowering.h"

namespace sluice {
namespace {

void Put(const Graph& graph, uint32_t name, const char** text, uint32_t* size) {
  if (name >= graph.names.size()) return;
  *text = graph.names[name].data;
  *size = graph.names[name].size;
}

}  // namespace
}  // namespace sluice

sluice_status_t sluice_graph_create(sluice_context_t* context, const void* bytes,
                                    size_t size, sluice_graph_t** out_graph,
                                    sluice_diagnostic_t* diagnostic) {
  return sluice::CreateFrom(context, bytes, out_graph, diagnostic,
                            [&](sluice_graph_t* object, sluice::Diagnostic* d) {
                              const sluice::Status status = sluice::ReadGraph(
                                  bytes, size, &object->arena, &object->graph, d);
                              object->read_peak_bytes =
                                  context->memory.phase_peak_bytes(SLUICE_PHASE_READ);
                              return status;
                            });
}

void sluice_graph_destroy(sluice_graph_t* graph) { sluice::Destroy(graph); }

sluice_status_t sluice_hardware_create(sluice_context_t* context, const void* bytes,
                                       size_t size, sluice_hardware_t** out_hardware,
                                       sluice_diagnostic_t* diagnostic) {
  return sluice::CreateFrom(context, bytes, out_hardware, diagnostic,
                            [&](sluice_hardware_t* object, sluice::Diagnostic* d) {
                              const sluice::Status status = sluice::ReadHardware(
                                  bytes, size, &object->arena, &object->hardware, d);
                              object->read_peak_bytes =
                                  context->memory.phase_peak_bytes(SLUICE_PHASE_READ);
                              return status;
                            });
}

void sluice_hardware_destroy(sluice_hardware_t* hardware) { sluice::Destroy(hardware); }

uint64_t sluice_graph_hash(const sluice_graph_t* graph) {
  return graph == nullptr ? 0 : graph->graph.hash;
}

uint64_t sluice_hardware_hash(const sluice_hardware_t* hardware) {
  return hardware == nullptr ? 0 : hardware->hardware.hash;
}

uint64_t sluice_output_hash(uint64_t hash, const void* bytes, size_t size) {
  return sluice::Fnv1a(bytes, size, hash);
}

sluice_status_t sluice_graph_count(const sluice_graph_t* graph,
                                   sluice_graph_counts_t* out_counts) {
  if (graph == nullptr) return SLUICE_BAD_ARGUMENT;
  sluice_graph_counts_t info = {};
  info.struct_size = sizeof info;
  info.tensors = static_cast<uint32_t>(graph->graph.tensors.size());
  info.layers = static_cast<uint32_t>(graph->graph.layers.size());
  info.parameters = static_cast<uint32_t>(graph->graph.parameters.size());
  return sluice::WriteStruct(info, out_counts);
}

sluice_status_t sluice_graph_tensor(const sluice_graph_t* graph, uint32_t index,
                                    sluice_tensor_info_t* out_tensor) {
  if (graph == nullptr || index >= graph->graph.tensors.size()) {
    return SLUICE_BAD_ARGUMENT;
  }
  const sluice::Tensor& t = graph->graph.tensors[index];
  sluice_tensor_info_t info = {};
  info.struct_size = sizeof info;
  info.kind = static_cast<uint32_t>(t.kind);
  info.dtype = t.dtype;
  info.rank = t.rank;
  for (int a = 0; a < sluice::kAxes; ++a) info.extent[a] = t.extent[a];
  info.bytes = static_cast<uint64_t>(t.bytes);
  info.source = t.source;
  info.source_offset = t.source_offset;
  if (t.source == SLUICE_SOURCE_INLINE) {
    info.source_offset += graph->graph.data_begin;
  }
  sluice::Put(graph->graph, t.name, &info.name, &info.name_size);
  sluice::Put(graph->graph, t.file, &info.file, &info.file_size);
  return sluice::WriteStruct(info, out_tensor);
}

sluice_status_t sluice_graph_layer(const sluice_graph_t* graph, uint32_t index,
                                   sluice_layer_info_t* out_layer) {
  if (graph == nullptr || index >= graph->graph.layers.size()) {
    return SLUICE_BAD_ARGUMENT;
  }
  const sluice::Layer& l = graph->graph.layers[index];
  sluice_layer_info_t info = {};
  info.struct_size = sizeof info;
  info.op = l.op;
  info.input_count = static_cast<uint32_t>(l.inputs.size());
  info.output_count = static_cast<uint32_t>(l.outputs.size());
  info.attribute_count = static_cast<uint32_t>(l.attributes.size());
  info.inputs = l.inputs.data();
  info.outputs = l.outputs.data();
  info.attributes = l.attributes.data();
  sluice::Put(graph->graph, l.name, &info.name, &info.name_size);
  return sluice::WriteStruct(info, out_layer);
}

sluice_status_t sluice_graph_parameter(const sluice_graph_t* graph, uint32_t index,
                                       sluice_parameter_info_t* out_parameter) {
  if (graph == nullptr || index >= graph->graph.parameters.size()) {
    return SLUICE_BAD_ARGUMENT;
  }
  const sluice::Parameter& p = graph->graph.parameters[index];
  sluice_parameter_info_t info = {};
  info.struct_size = sizeof info;
  info.min = p.min;
  info.max = p.max;
  sluice::Put(graph->graph, p.name, &info.name, &info.name_size);
  return sluice::WriteStruct(info, out_parameter);
}
