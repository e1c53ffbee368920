// SPDX-License-Identifier: Apache-2.0
// What objects hold, told to those who fill memory and start runs: drivers.
#include "api/arguments.h"
#include "api/objects.h"
#include "sluice/sluice.h"

namespace sluice {
namespace {

void Put(const Graph& graph, uint32_t name, const char** text, uint32_t* size) {
  if (name >= graph.names.size()) return;
  *text = graph.names[name].data;
  *size = graph.names[name].size;
}

}  // namespace
}  // namespace sluice

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

sluice_status_t sluice_plan_tensor(const sluice_plan_t* plan, uint32_t index,
                                   sluice_tensor_place_t* out_place) {
  if (plan == nullptr || index >= plan->plan.tensors.size()) return SLUICE_BAD_ARGUMENT;
  const sluice::TensorPlace& p = plan->plan.tensors[index];
  sluice_tensor_place_t place = {};
  place.struct_size = sizeof place;
  place.region = p.region;
  place.offset = p.offset;
  for (int a = 0; a < sluice::kAxes; ++a) place.stride[a] = p.stride[a];
  return sluice::WriteStruct(place, out_place);
}
