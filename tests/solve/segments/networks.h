// SPDX-License-Identifier: Apache-2.0
// The networks of reference/kapla/networks as layers of segments.
#ifndef SLUICE_TESTS_SOLVE_SEGMENTS_NETWORKS_H_
#define SLUICE_TESTS_SOLVE_SEGMENTS_NETWORKS_H_

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "plan/mesh/layer_order.h"
#include "plan/mesh/node_pricer.h"
#include "plan/mesh/segment_network.h"
#include "tests/solve/mapping/networks.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {

// Layers with their producers; owns what the spans of UnorderedLayer point at.
struct Network {
  std::vector<UnorderedLayer> layers;
  std::vector<std::string> names;
  std::deque<std::vector<uint32_t>> producers;
  std::deque<std::vector<int64_t>> shares;

  // from: indices of layers, or -1 for an input of the network.
  void Add(const std::string& name, const MappingProblem& problem,
           const std::vector<int>& from) {
    UnorderedLayer layer = {};
    layer.problem = problem;
    layer.layer = static_cast<uint32_t>(layers.size());
    layer.leads = !problem.vector;
    const int64_t all = TileWords(problem, kInput, problem.extent);
    std::map<uint32_t, int64_t> words;
    for (int p : from) {
      if (p < 0) {
        layer.input_words += all / static_cast<int64_t>(from.size());
        continue;
      }
      const MappingProblem& made = layers[static_cast<size_t>(p)].problem;
      const int64_t share = TileWords(made, kOutput, made.extent);
      layer.input_words += share;
      words[static_cast<uint32_t>(p)] += share;
    }
    producers.emplace_back();
    shares.emplace_back();
    for (const auto& [p, share] : words) {
      producers.back().push_back(p);
      shares.back().push_back(share);
    }
    layer.producers =
        Span<const uint32_t>(producers.back().data(), producers.back().size());
    layer.share = Span<const int64_t>(shares.back().data(), shares.back().size());
    layers.push_back(layer);
    names.push_back(name);
  }

  Span<const UnorderedLayer> span() const {
    return Span<const UnorderedLayer>(layers.data(), layers.size());
  }
};

// Empty when the file is absent. Words of 16 bits.
inline Network ReadSegmentNetwork(const std::string& name, int64_t batch) {
  Network network;
  std::map<std::string, int> index;
  for (const NetworkLayer& layer : ReadNetwork(name, batch)) {
    std::vector<int> from;
    for (const std::string& prev : layer.prev) {
      const auto found = index.find(prev);
      from.push_back(found == index.end() ? -1 : found->second);
    }
    index[layer.name] = static_cast<int>(network.layers.size());
    network.Add(layer.name, layer.problem, from);
  }
  return network;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_SEGMENTS_NETWORKS_H_
