// SPDX-License-Identifier: Apache-2.0
// The C functions of import.h that describe a graph's inputs and outputs: name, shape,
// scale and zero point.
#include "import/border.h"
#include "import/graph_writer.h"
#include "sluice/graph_generated.h"
#include "sluice/import.h"

namespace sluice::import {
namespace {

// Entry `i` of an optional vector.
template <typename Vector, typename T>
T At(const Vector* vector, uint32_t i, T otherwise) {
  return vector != nullptr && i < vector->size() ? vector->Get(i) : otherwise;
}

// The index-th tensor of this kind; kNoTensor if there are fewer.
uint32_t Find(const wire::Graph& g, Kind kind, uint32_t index) {
  const auto* kinds = g.tensor_kind();
  for (uint32_t t = 0; kinds != nullptr && t < kinds->size(); ++t) {
    if (kinds->Get(t) == static_cast<uint8_t>(kind) && index-- == 0) return t;
  }
  return kNoTensor;
}

sluice_status_t Describe(const void* graph, size_t size, Kind kind, uint32_t index,
                         sluice_graph_port_t* out) {
  if (graph == nullptr || out == nullptr) return SLUICE_BAD_ARGUMENT;
  flatbuffers::Verifier verifier(static_cast<const uint8_t*>(graph), size, 8, 16);
  if (!wire::VerifyGraphBuffer(verifier)) return SLUICE_BAD_INPUT;
  const wire::Graph& g = *wire::GetGraph(graph);
  const uint32_t t = Find(g, kind, index);
  if (t == kNoTensor) return SLUICE_BAD_ARGUMENT;
  sluice_graph_port_t port;
  std::memset(static_cast<void*>(&port), 0, sizeof port);
  port.struct_size = sizeof port;
  port.tensor = t;
  const uint32_t name = At(g.tensor_name(), t, kNoTensor);
  const bool named = g.names() != nullptr && name < g.names()->size();
  port.name = named ? g.names()->Get(name)->c_str() : "";
  port.dtype = At(g.tensor_dtype(), t, uint8_t{0});
  port.zero_point = At(g.tensor_zero_point(), t, 0);
  port.scale = At(g.tensor_scale(), t, 0.0f);
  const uint32_t begin = At(g.tensor_dim_begin(), t, 0u),
                 end = At(g.tensor_dim_begin(), t + 1, 0u);
  if (end < begin || end - begin > 4) return SLUICE_BAD_INPUT;
  port.rank = end - begin;
  for (uint32_t a = 0; a < 4; ++a) {
    port.extent[a] = a < port.rank ? At(g.tensor_dims(), begin + a, 0) : 1;
  }
  return WriteOut(port, out);
}

}  // namespace
}  // namespace sluice::import

sluice_status_t sluice_graph_input(const void* graph, size_t graph_size, uint32_t index,
                                   sluice_graph_port_t* out_port) {
  using namespace sluice::import;
  return Describe(graph, graph_size, Kind::kInput, index, out_port);
}

sluice_status_t sluice_graph_output(const void* graph, size_t graph_size,
                                    uint32_t index, sluice_graph_port_t* out_port) {
  using namespace sluice::import;
  return Describe(graph, graph_size, Kind::kOutput, index, out_port);
}
