// SPDX-License-Identifier: Apache-2.0
// What a segment with all its numbers fixed costs on a small mesh, by the rules of
// model/segment.h and solve/segments/segments.h. Shares nothing with the solver but the
// prices of single layers under given terms.
#ifndef SLUICE_TESTS_SOLVE_SEGMENTS_SCHEME_COST_H_
#define SLUICE_TESTS_SOLVE_SEGMENTS_SCHEME_COST_H_

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/layer_cost.h"
#include "solve/segments/segments.h"

namespace sluice {

// Layers that share a region: [first, last).
struct LayerRun {
  size_t first, last;
};

inline size_t StageOf(const std::vector<LayerRun>& run, size_t layer) {
  size_t s = 0;
  while (layer >= run[s].last) ++s;
  return s;
}

// A network, a mesh, and what a layer costs on it under given terms.
struct PricedNetwork {
  std::vector<SegmentLayer> layers;
  Hardware hardware;  // leakage is one node's
  LayerPricer pricer;
  bool energy = true;  // or cycles
  std::map<std::string, LayerPrice> prices;
  std::set<std::string> refused;

  bool Price(const LayerQuery& query, LayerPrice* price) {
    std::string key;
    const auto add = [&key](uint64_t number) { key += std::to_string(number) + " "; };
    add(query.position);
    for (int a = 0; a < 2; ++a) {
      add(query.region.begin[a]);
      add(query.region.extent[a]);
      add(query.terms.ifmap.region.begin[a]);
      add(query.terms.ifmap.region.extent[a]);
    }
    add(static_cast<uint64_t>(query.terms.top_batch));
    add(static_cast<uint64_t>(query.terms.top_ifm));
    add(static_cast<uint64_t>(query.terms.top_ofm));
    add(static_cast<uint64_t>(query.terms.ifmap.kind));
    add(static_cast<uint64_t>(query.terms.ofmap.kind));
    add(static_cast<uint64_t>(query.reserved_bytes));
    add(query.stay ? 1 : 0);
    if (refused.count(key) != 0) return false;
    const auto found = prices.find(key);
    if (found != prices.end()) {
      *price = found->second;
      return true;
    }
    Diagnostic ignored = {};
    if (pricer.price(pricer.user, query, price, &ignored) != Status::kOk) {
      refused.insert(key);
      return false;
    }
    prices[key] = *price;
    return true;
  }

  bool Reads(size_t consumer, size_t producer) const {
    for (uint32_t p : layers[consumer].producers) {
      if (p == producer) return true;
    }
    return false;
  }
  size_t Readers(size_t producer) const {
    size_t count = 0;
    for (size_t i = 0; i < layers.size(); ++i) count += Reads(i, producer) ? 1 : 0;
    return count;
  }
};

// One segment: its stages, and every number that the solver would choose.
struct GivenScheme {
  std::vector<LayerRun> run;
  bool spatial = false;
  std::vector<NodeRegion> regions;  // of each stage, when spatial
  int64_t batch = 1;                // slices
  std::vector<int64_t> groups;      // of each stage, when spatial
};

class SchemeCost {
 public:
  SchemeCost(PricedNetwork* network, const GivenScheme& scheme)
      : net_(*network),
        scheme_(scheme),
        first_(scheme.run.front().first),
        last_(scheme.run.back().last),
        single_(last_ - first_ == 1 && !scheme.spatial),
        query_(last_ - first_),
        fine_(last_ - first_),
        fetched_(last_ - first_),
        from_(last_ - first_, -1),
        price_(last_ - first_),
        slice_(scheme.run.size()) {}

  // Energy or cycles; huge when a layer has no price.
  double Of() {
    for (size_t i = first_; i < last_; ++i) Ask(i);
    if (!scheme_.spatial && !single_) {
      for (size_t i = first_; i < last_; ++i) Reserve(i);
    }
    for (int round = 0; round < 2; ++round) {
      for (size_t i = 0; i < price_.size(); ++i) {
        if (!net_.Price(query_[i], &price_[i])) return 1e300;
      }
      if (Fits()) break;
      LetWeightsGo();
    }
    for (size_t i = first_; i < last_; ++i) Charge(i);
    const Rational& rate = net_.hardware.dram().bandwidth;
    const double dram_cycles =
        std::ceil(bytes_ * static_cast<double>(rate.denominator) /
                  static_cast<double>(rate.numerator));
    const double cycles = std::max(NodeCycles(), dram_cycles);
    pj_ += net_.hardware.leakage_pj_per_cycle * net_.hardware.node_cols *
           net_.hardware.node_rows * cycles;
    return net_.energy ? pj_ : cycles;
  }

 private:
  size_t Stage(size_t layer) const { return StageOf(scheme_.run, layer); }

  // Fills in the query for layer i: its region and terms.
  void Ask(size_t i) {
    const SegmentLayer& layer = net_.layers[i];
    LayerQuery& q = query_[i - first_];
    const size_t s = Stage(i);
    q.position = static_cast<uint32_t>(i);
    q.region = scheme_.spatial ? scheme_.regions[s] : WholeMesh(net_.hardware);
    q.stay = true;
    q.terms.top_batch = static_cast<int32_t>(scheme_.batch);
    q.terms.top_ofm = static_cast<int32_t>(scheme_.spatial ? scheme_.groups[s] : 1);
    for (size_t k = 0; k < layer.producers.size(); ++k) {
      const size_t p = layer.producers[k];
      if (p < first_ || single_) continue;
      const size_t t = Stage(p);
      const bool here = !scheme_.spatial || s == t;
      from_[i - first_] = static_cast<int64_t>(p);
      fetched_[i - first_] = layer.input_words - layer.share[k];
      q.terms.ifmap.kind = here ? EndKind::kHere : EndKind::kNodes;
      if (!here) q.terms.ifmap.region = scheme_.regions[t];
      query_[p - first_].terms.ofmap.kind = here ? EndKind::kHere : EndKind::kNodes;
      if (here || scheme_.groups[t] == 1) continue;
      fine_[i - first_] = true;
      q.terms.top_ifm = static_cast<int32_t>(scheme_.groups[t]);
      if (layer.problem.extent[kDimG] == 1) q.terms.top_ofm = 1;
    }
    if (layer.problem.extent[kDimG] > 1 && q.terms.top_ofm > 1) {
      q.terms.top_ifm = q.terms.top_ofm;
    }
  }

  // Reserves room for results of earlier layers that layers after i read.
  void Reserve(size_t i) {
    for (size_t p = first_; p < i; ++p) {
      bool waits = false;
      for (size_t j = i + 1; j < last_; ++j) waits |= net_.Reads(j, p);
      if (!waits) continue;
      const MappingProblem& made = net_.layers[p].problem;
      const int64_t bytes = TileWords(made, kOutput, made.extent) / scheme_.batch *
                            InnerBytes(made, kOutput);
      const int64_t nodes = int64_t{net_.hardware.node_cols} * net_.hardware.node_rows;
      query_[i - first_].reserved_bytes += (bytes + nodes - 1) / nodes;
    }
  }

  bool SameNodes(size_t i, size_t j) const {
    return !scheme_.spatial || Stage(first_ + i) == Stage(first_ + j);
  }

  // Whether weights can stay beside the stage's other layers.
  bool Fits() const {
    const MemoryLevel& pad = net_.hardware.levels[net_.hardware.levels.size() - 2];
    bool fits = true;
    for (size_t i = 0; i < price_.size() && !single_; ++i) {
      int64_t bytes = price_[i].cost.scratchpad_bytes + query_[i].reserved_bytes;
      for (size_t j = 0; j < price_.size(); ++j) {
        if (i == j || !SameNodes(i, j) || (price_[j].kept >> kWeight & 1) == 0)
          continue;
        const MappingProblem part =
            PartOf(net_.layers[first_ + j].problem, price_[j].split);
        bytes += TileWords(part, kWeight, part.extent) * InnerBytes(part, kWeight);
      }
      fits &= bytes <= pad.capacity_bytes;
    }
    return fits;
  }

  void LetWeightsGo() {
    for (size_t i = 0; i < price_.size(); ++i) {
      for (size_t j = 0; j < price_.size(); ++j) {
        if (i != j && SameNodes(i, j)) query_[i].stay = false;
      }
    }
  }

  // Adds the cost of words that cross the chip's edge and are not in layer i's price.
  void Cross(size_t i, double words, int64_t width, bool write) {
    const Hardware& hardware = net_.hardware;
    double links = 0;
    const NodeRegion& region = query_[i - first_].region;
    for (int a = 0; a < 2; ++a) {
      const uint32_t nodes = a == 0 ? hardware.node_cols : hardware.node_rows;
      for (uint32_t x = region.begin[a]; x < region.begin[a] + region.extent[a]; ++x) {
        links += std::min(x, nodes - 1 - x) / static_cast<double>(region.extent[a]);
      }
    }
    pj_ += words *
           (write ? WritePj(hardware.dram(), width) : ReadPj(hardware.dram(), width));
    pj_ += words * links * LinkPj(hardware, width);
    bytes_ += words * static_cast<double>(width);
  }

  void Charge(size_t i) {
    const MeshCost& cost = price_[i - first_].cost;
    const MappingProblem& problem = net_.layers[i].problem;
    pj_ += cost.layer.operations_pj + cost.registers_pj + cost.layer.transfer_pj +
           cost.scratchpad_pj + cost.dram_pj + cost.noc_pj;
    bytes_ += static_cast<double>(cost.dram_read_bytes + cost.dram_write_bytes);
    slice_[Stage(i)] += static_cast<double>(cost.busy_cycles);
    Cross(i, static_cast<double>(fetched_[i - first_]), InnerBytes(problem, kInput),
          false);
    size_t inside = 0;
    for (size_t j = first_; j < last_; ++j) inside += net_.Reads(j, i) && !single_;
    const bool stored = net_.layers[i].stored || net_.Readers(i) > inside;
    if (inside > 0 && stored) {
      Cross(i, static_cast<double>(TileWords(problem, kOutput, problem.extent)),
            problem.element_bytes[kOutput], true);
    }
  }

  // Cycles until the last node is done.
  double NodeCycles() {
    double last = 0;
    if (!scheme_.spatial) {
      for (double cycles : slice_) last += cycles;
      return last;
    }
    const std::vector<LayerRun>& run = scheme_.run;
    const double batch = static_cast<double>(scheme_.batch);
    std::vector<double> start(run.size()), finish(run.size()), period(run.size());
    for (size_t s = 0; s < run.size(); ++s) {
      slice_[s] = std::ceil(slice_[s] / batch);
      start[s] = 0;
      finish[s] = slice_[s];
      period[s] = slice_[s];
      for (size_t i = run[s].first; i < run[s].last; ++i) {
        if (from_[i - first_] < 0) continue;
        const size_t t = Stage(static_cast<size_t>(from_[i - first_]));
        if (t == s) continue;
        const bool fine = fine_[i - first_];
        const double g = static_cast<double>(scheme_.groups[t]);
        start[s] = fine ? start[t] + std::ceil(slice_[t] / g) : finish[t];
        finish[s] = std::max(start[s] + slice_[s],
                             finish[t] + (fine ? std::ceil(slice_[s] / g) : 0));
        period[s] = std::max(slice_[s], period[t]);
      }
      last = std::max(last, finish[s] + period[s] * (batch - 1));
    }
    return last;
  }

  PricedNetwork& net_;
  const GivenScheme& scheme_;
  const size_t first_, last_;
  const bool single_;
  std::vector<LayerQuery> query_;
  std::vector<bool> fine_;
  std::vector<int64_t> fetched_, from_;
  std::vector<LayerPrice> price_;
  std::vector<double> slice_;  // cycles of each stage
  double pj_ = 0, bytes_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_SEGMENTS_SCHEME_COST_H_
