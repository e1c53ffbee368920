// SPDX-License-Identifier: Apache-2.0
// Graph bytes read tensor by tensor, and KAPLA's reference networks.
#ifndef SLUICE_TESTS_ZOO_GRAPH_READER_H_
#define SLUICE_TESTS_ZOO_GRAPH_READER_H_

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "planned.h"
#include "sluice/graph_generated.h"
#include "sluice/ops.h"
#include "support/shared_data.h"

namespace sluice_test {

class GraphReader {
 public:
  explicit GraphReader(const Bytes& bytes)
      : graph_(*sluice::wire::GetGraph(bytes.data())) {}

  std::array<int64_t, 4> Dims(uint32_t tensor) const {
    std::array<int64_t, 4> dims = {1, 1, 1, 1};
    const uint32_t begin = graph_.tensor_dim_begin()->Get(tensor);
    const uint32_t end = graph_.tensor_dim_begin()->Get(tensor + 1);
    for (uint32_t i = begin; i < end; ++i) {
      dims[4 - (end - i)] = graph_.tensor_dims()->Get(i);
    }
    return dims;
  }
  uint32_t Input(uint32_t layer, uint32_t i) const {
    return graph_.layer_inputs()->Get(graph_.layer_input_begin()->Get(layer) + i);
  }
  uint32_t Output(uint32_t layer) const {
    return graph_.layer_outputs()->Get(graph_.layer_output_begin()->Get(layer));
  }
  int32_t Attribute(uint32_t layer, uint32_t i) const {
    return graph_.layer_attributes()->Get(graph_.layer_attribute_begin()->Get(layer) +
                                          i);
  }

  uint32_t layers() const { return graph_.layer_op()->size(); }
  uint16_t Op(uint32_t layer) const { return graph_.layer_op()->Get(layer); }

 private:
  const sluice::wire::Graph& graph_;
};

inline bool ReadPeer(const char* name, nlohmann::json* out) {
  std::ifstream file(
      SharedPath("reference/kapla/networks/" + std::string(name) + ".json"));
  if (!file) {
    MESSAGE("skipped: no reference networks");
    return false;
  }
  *out = nlohmann::json::parse(file);
  return true;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_ZOO_GRAPH_READER_H_
