// SPDX-License-Identifier: Apache-2.0
#include "cli/graph_names.h"

#include "sluice/graph_generated.h"
#include "sluice/ops.h"

namespace sluice::cli {
namespace {

const wire::Graph* Open(const Bytes& graph) {
  if (graph.size() < 12) return nullptr;
  flatbuffers::Verifier verifier(graph.data(), graph.size());
  return wire::VerifyGraphBuffer(verifier) ? wire::GetGraph(graph.data()) : nullptr;
}

template <typename T>
const T* At(const flatbuffers::Vector<T>* vector, uint32_t i) {
  return vector != nullptr && i < vector->size() ? vector->data() + i : nullptr;
}

std::string NameAt(const wire::Graph& graph, const uint32_t* name) {
  if (name == nullptr || graph.names() == nullptr || *name >= graph.names()->size()) {
    return {};
  }
  return graph.names()->Get(*name)->str();
}

const char* OpText(uint16_t op) {
  switch (op) {
#define SLUICE_CLI_OP(constant, code, name) \
  case code:                                \
    return name;
    SLUICE_OPS(SLUICE_CLI_OP)
#undef SLUICE_CLI_OP
    default:
      return "unknown op";
  }
}

const char* DtypeText(uint8_t dtype) {
  switch (dtype) {
#define SLUICE_CLI_DTYPE(constant, code, bytes, name) \
  case code:                                          \
    return name;
    SLUICE_DTYPES(SLUICE_CLI_DTYPE)
#undef SLUICE_CLI_DTYPE
    default:
      return "unknown type";
  }
}

}  // namespace

std::string Shortened(const std::string& name) {
  constexpr size_t kMost = 32;
  size_t begin = 12, end = name.size() - 18;
  if (name.size() <= kMost) return name;
  const auto inside = [&](size_t at) { return (name[at] & 0xc0) == 0x80; };  // of UTF-8
  while (begin > 0 && inside(begin)) --begin;
  while (end < name.size() && inside(end)) ++end;
  return name.substr(0, begin) + ".." + name.substr(end);
}

std::string GraphName(const Bytes& graph) {
  const wire::Graph* g = Open(graph);
  return g == nullptr || g->name() == nullptr ? std::string() : g->name()->str();
}

std::string LayerName(const Bytes& graph, uint32_t layer) {
  const wire::Graph* g = Open(graph);
  if (g == nullptr) return "layer " + std::to_string(layer);
  std::string name = NameAt(*g, At(g->layer_name(), layer));
  if (name.empty()) name = "layer " + std::to_string(layer);
  const uint16_t* op = At(g->layer_op(), layer);
  return op == nullptr ? name : name + " (" + OpText(*op) + ")";
}

std::vector<std::string> PlainLayerNames(const Bytes& graph) {
  std::vector<std::string> names;
  const wire::Graph* g = Open(graph);
  if (g == nullptr || g->layer_op() == nullptr) return names;
  for (uint32_t l = 0; l < g->layer_op()->size(); ++l) {
    names.push_back(NameAt(*g, At(g->layer_name(), l)));
  }
  return names;
}

std::string TensorName(const Bytes& graph, uint32_t tensor) {
  const wire::Graph* g = Open(graph);
  if (g == nullptr) return "tensor " + std::to_string(tensor);
  std::string name = NameAt(*g, At(g->tensor_name(), tensor));
  if (name.empty()) name = "tensor " + std::to_string(tensor);
  const uint32_t* begin = At(g->tensor_dim_begin(), tensor);
  const uint32_t* end = At(g->tensor_dim_begin(), tensor + 1);
  if (begin == nullptr || end == nullptr) return name;
  name += " [";
  for (uint32_t i = *begin; i < *end; ++i) {
    const int32_t* extent = At(g->tensor_dims(), i);
    if (extent == nullptr) break;
    if (i != *begin) name += ",";
    name += std::to_string(*extent);
  }
  name += "]";
  const uint8_t* dtype = At(g->tensor_dtype(), tensor);
  return dtype == nullptr ? name : name + " " + DtypeText(*dtype);
}

}  // namespace sluice::cli
