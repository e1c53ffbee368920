// SPDX-License-Identifier: Apache-2.0
// Every schedule of layers on a small mesh, by the rules of model/segment.h and
// solve/segments/segments.h, one after the other. Shares nothing with the solver but the
// prices of single layers under given terms.
#ifndef SLUICE_TESTS_SOLVE_SEGMENTS_BRUTE_FORCE_H_
#define SLUICE_TESTS_SOLVE_SEGMENTS_BRUTE_FORCE_H_

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/layer_cost.h"
#include "solve/segments/segments.h"

namespace sluice {

struct BruteForce {
  std::vector<SegmentLayer> layers;
  Hardware hardware;  // leakage is one node's
  LayerPricer pricer;
  uint32_t max_stages = 5;
  bool energy = true;  // or cycles
  std::map<std::string, LayerPrice> prices;
  std::set<std::string> refused;
  uint64_t schemes = 0;

  struct Stage {
    size_t first, last;
  };

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

  std::vector<Stage> Vertices() const {
    std::vector<Stage> vertices;
    for (size_t i = 0; i < layers.size(); ++i) {
      bool behind = i > 0 && !layers[i].leads && Reads(i, i - 1) && Readers(i - 1) == 1;
      for (size_t p = i; behind && p < layers.size(); ++p) {
        if (Reads(i, p)) behind = false;
      }
      if (behind) {
        vertices.back().last = i + 1;
      } else {
        vertices.push_back({i, i + 1});
      }
    }
    return vertices;
  }

  bool IsLegal(const std::vector<Stage>& run) const {
    const size_t first = run.front().first, last = run.back().last;
    for (size_t v = 0; v < run.size(); ++v) {
      std::set<size_t> stages;
      bool shares = false;
      for (size_t i = run[v].first; i < run[v].last; ++i) {
        size_t inside = 0;
        for (uint32_t p : layers[i].producers) {
          if (p >= first) {
            ++inside;
            if (p < run[v].first) stages.insert(StageOf(run, p));
          } else {
            for (size_t j = first; j < run[v].first; ++j) shares |= Reads(j, p);
          }
        }
        if (inside > 1) return false;
      }
      if (stages.size() > 1) return false;
      if (v > 0 && stages.empty() && !shares) return false;
    }
    for (size_t p = first; p < last; ++p) {
      size_t inside = 0;
      for (size_t i = first; i < last; ++i) inside += Reads(i, p) ? 1 : 0;
      if (inside > 0 && Readers(p) - inside > 1) return false;
    }
    return true;
  }

  static size_t StageOf(const std::vector<Stage>& run, size_t layer) {
    size_t s = 0;
    while (layer >= run[s].last) ++s;
    return s;
  }

  // All ways to tile the mesh with one rectangle per stage.
  void Tile(std::vector<NodeRegion>* regions, size_t stages,
            std::vector<std::vector<NodeRegion>>* all) const {
    const uint32_t cols = hardware.node_cols, rows = hardware.node_rows;
    if (regions->size() == stages) {
      int64_t nodes = 0;
      for (const NodeRegion& r : *regions) nodes += NodesOf(r);
      if (nodes == int64_t{cols} * rows) all->push_back(*regions);
      return;
    }
    for (uint32_t c = 0; c < cols; ++c) {
      for (uint32_t r = 0; r < rows; ++r) {
        for (uint32_t w = 1; c + w <= cols; ++w) {
          for (uint32_t h = 1; r + h <= rows; ++h) {
            const NodeRegion region = {{c, r}, {w, h}};
            bool free = true;
            for (const NodeRegion& other : *regions) {
              free &= c >= other.begin[0] + other.extent[0] ||
                      other.begin[0] >= c + w ||
                      r >= other.begin[1] + other.extent[1] || other.begin[1] >= r + h;
            }
            if (!free) continue;
            regions->push_back(region);
            Tile(regions, stages, all);
            regions->pop_back();
          }
        }
      }
    }
  }

  // Cost of one segment with all its numbers fixed, or a huge one.
  double CostOf(const std::vector<Stage>& run, bool spatial,
                const std::vector<NodeRegion>& regions, int64_t batch,
                const std::vector<int64_t>& groups) {
    const size_t first = run.front().first, last = run.back().last;
    const bool single = last - first == 1 && !spatial;
    std::vector<LayerQuery> query(last - first);
    std::vector<bool> fine(last - first);
    std::vector<int64_t> fetched(last - first), from(last - first, -1);
    for (size_t i = first; i < last; ++i) {
      LayerQuery& q = query[i - first];
      const size_t s = StageOf(run, i);
      q.position = static_cast<uint32_t>(i);
      q.region = spatial ? regions[s] : WholeMesh(hardware);
      q.stay = true;
      q.terms.top_batch = static_cast<int32_t>(batch);
      q.terms.top_ofm = static_cast<int32_t>(spatial ? groups[s] : 1);
      for (size_t k = 0; k < layers[i].producers.size(); ++k) {
        const size_t p = layers[i].producers[k];
        if (p < first || single) continue;
        const size_t t = StageOf(run, p);
        const bool here = !spatial || s == t;
        from[i - first] = static_cast<int64_t>(p);
        fetched[i - first] = layers[i].input_words - layers[i].share[k];
        q.terms.ifmap.kind = here ? EndKind::kHere : EndKind::kNodes;
        if (!here) q.terms.ifmap.region = regions[t];
        query[p - first].terms.ofmap.kind = here ? EndKind::kHere : EndKind::kNodes;
        if (here || groups[t] == 1) continue;
        fine[i - first] = true;
        q.terms.top_ifm = static_cast<int32_t>(groups[t]);
        if (layers[i].problem.extent[kDimG] == 1) q.terms.top_ofm = 1;
      }
      if (layers[i].problem.extent[kDimG] > 1 && q.terms.top_ofm > 1) {
        q.terms.top_ifm = q.terms.top_ofm;
      }
    }
    const MemoryLevel& pad = hardware.levels[hardware.levels.size() - 2];
    if (!spatial && !single) {
      for (size_t i = first; i < last; ++i) {
        for (size_t p = first; p < i; ++p) {
          bool waits = false;
          for (size_t j = i + 1; j < last; ++j) waits |= Reads(j, p);
          if (!waits) continue;
          const MappingProblem& made = layers[p].problem;
          const int64_t bytes =
              TileWords(made, kOutput, made.extent) / batch * InnerBytes(made, kOutput);
          const int64_t nodes = int64_t{hardware.node_cols} * hardware.node_rows;
          query[i - first].reserved_bytes += (bytes + nodes - 1) / nodes;
        }
      }
    }
    std::vector<LayerPrice> price(last - first);
    for (int round = 0; round < 2; ++round) {
      for (size_t i = 0; i < price.size(); ++i) {
        if (!Price(query[i], &price[i])) return 1e300;
      }
      // Weights that stay beside the stage's other layers.
      bool fits = true;
      for (size_t i = 0; i < price.size() && !single; ++i) {
        int64_t bytes = price[i].cost.scratchpad_bytes + query[i].reserved_bytes;
        for (size_t j = 0; j < price.size(); ++j) {
          const bool shares =
              !spatial || StageOf(run, first + i) == StageOf(run, first + j);
          if (i == j || !shares || (price[j].kept >> kWeight & 1) == 0) continue;
          const MappingProblem part = PartOf(layers[first + j].problem, price[j].split);
          bytes += TileWords(part, kWeight, part.extent) * InnerBytes(part, kWeight);
        }
        fits &= bytes <= pad.capacity_bytes;
      }
      if (fits) break;
      for (size_t i = 0; i < price.size(); ++i) {
        for (size_t j = 0; j < price.size(); ++j) {
          if (i == j) continue;
          if (!spatial || StageOf(run, first + i) == StageOf(run, first + j)) {
            query[i].stay = false;
          }
        }
      }
    }
    double pj = 0, bytes = 0;
    std::vector<double> slice(run.size());
    for (size_t i = first; i < last; ++i) {
      const MeshCost& cost = price[i - first].cost;
      const MappingProblem& problem = layers[i].problem;
      pj += cost.layer.operations_pj + cost.registers_pj + cost.layer.transfer_pj +
            cost.scratchpad_pj + cost.dram_pj + cost.noc_pj;
      bytes += static_cast<double>(cost.dram_read_bytes + cost.dram_write_bytes);
      slice[StageOf(run, i)] += static_cast<double>(cost.busy_cycles);
      // What crosses the chip's edge beside the price.
      double links = 0;
      const NodeRegion& region = query[i - first].region;
      for (int a = 0; a < 2; ++a) {
        const uint32_t nodes = a == 0 ? hardware.node_cols : hardware.node_rows;
        for (uint32_t x = region.begin[a]; x < region.begin[a] + region.extent[a];
             ++x) {
          links += std::min(x, nodes - 1 - x) / static_cast<double>(region.extent[a]);
        }
      }
      const auto cross = [&](double words, int64_t width, bool write) {
        pj += words * (write ? WritePj(hardware.dram(), width)
                             : ReadPj(hardware.dram(), width));
        pj += words * links * LinkPj(hardware, width);
        bytes += words * static_cast<double>(width);
      };
      cross(static_cast<double>(fetched[i - first]), InnerBytes(problem, kInput),
            false);
      size_t inside = 0;
      for (size_t j = first; j < last; ++j) inside += Reads(j, i) && !single ? 1 : 0;
      const bool stored = layers[i].stored || Readers(i) > inside;
      if (inside > 0 && stored) {
        cross(static_cast<double>(TileWords(problem, kOutput, problem.extent)),
              problem.element_bytes[kOutput], true);
      }
    }
    double node_cycles = 0;
    if (!spatial) {
      for (double cycles : slice) node_cycles += cycles;
    } else {
      std::vector<double> start(run.size()), finish(run.size()), period(run.size());
      for (size_t s = 0; s < run.size(); ++s) {
        slice[s] = std::ceil(slice[s] / static_cast<double>(batch));
        start[s] = 0;
        finish[s] = slice[s];
        period[s] = slice[s];
        for (size_t i = run[s].first; i < run[s].last; ++i) {
          if (from[i - first] < 0) continue;
          const size_t t = StageOf(run, static_cast<size_t>(from[i - first]));
          if (t == s) continue;
          const double g = static_cast<double>(groups[t]);
          start[s] = fine[i - first] ? start[t] + std::ceil(slice[t] / g) : finish[t];
          finish[s] =
              std::max(start[s] + slice[s],
                       finish[t] + (fine[i - first] ? std::ceil(slice[s] / g) : 0));
          period[s] = std::max(slice[s], period[t]);
        }
        node_cycles = std::max(node_cycles,
                               finish[s] + period[s] * static_cast<double>(batch - 1));
      }
    }
    const Rational& rate = hardware.dram().bandwidth;
    const double dram_cycles = std::ceil(bytes * static_cast<double>(rate.denominator) /
                                         static_cast<double>(rate.numerator));
    const double cycles = std::max(node_cycles, dram_cycles);
    pj += hardware.leakage_pj_per_cycle * hardware.node_cols * hardware.node_rows *
          cycles;
    return energy ? pj : cycles;
  }

  // Groups of every stage of a run, all that the rules allow.
  void TryGroups(const std::vector<Stage>& run, const std::vector<NodeRegion>& regions,
                 int64_t batch, std::vector<int64_t>* groups, double* best) {
    const size_t s = groups->size();
    if (s == run.size()) {
      ++schemes;
      *best = std::min(*best, CostOf(run, true, regions, batch, *groups));
      return;
    }
    // What arrives in groups, and does anything leave for another stage?
    int64_t in = 0;
    bool feeds = false;
    for (size_t i = run[s].first; i < run[s].last; ++i) {
      for (uint32_t p : layers[i].producers) {
        if (p >= run.front().first && p < run[s].first) in = (*groups)[StageOf(run, p)];
      }
    }
    for (size_t t = s + 1; t < run.size(); ++t) {
      for (size_t i = run[t].first; i < run[t].last; ++i) {
        for (size_t p = run[s].first; p < run[s].last; ++p) feeds |= Reads(i, p);
      }
    }
    const SegmentLayer& head = layers[run[s].first];
    const bool channelwise = head.problem.extent[kDimG] > 1;
    for (int64_t g = 1; g <= 64; ++g) {
      if (in > 1 && g != (channelwise ? in : 1)) continue;
      if (in <= 1 && g > 1 && (!feeds || (in == 1 && channelwise))) break;
      if (g > 1 && feeds && !GroupsFit(run, s, g)) continue;
      groups->push_back(g);
      TryGroups(run, regions, batch, groups, best);
      groups->pop_back();
    }
  }

  bool GroupsFit(const std::vector<Stage>& run, size_t s, int64_t g) const {
    const auto out = [](const MappingProblem& p) {
      return p.extent[kDimG] * p.extent[kDimK];
    };
    const auto sliced = [](const MappingProblem& p, Dim alone) {
      return p.extent[kDimG] > 1 ? p.extent[kDimG] : p.extent[alone];
    };
    const int64_t channels = out(layers[run[s].last - 1].problem);
    for (size_t i = run[s].first; i < run[s].last; ++i) {
      const MappingProblem& p = layers[i].problem;
      if (layers[i].whole || out(p) != channels || sliced(p, kDimK) % g != 0) {
        return false;
      }
      if (i > run[s].first && p.extent[kDimG] == 1) return false;
    }
    for (size_t t = s + 1; t < run.size(); ++t) {
      for (size_t i = run[t].first; i < run[t].last; ++i) {
        if (!Reads(i, run[s].last - 1)) continue;
        const SegmentLayer& taker = layers[i];
        const MappingProblem& p = taker.problem;
        if (i != run[t].first || taker.whole || taker.producers.size() != 1 ||
            taker.share[0] != taker.input_words) {
          return false;
        }
        const int64_t c = p.extent[kDimG] * (p.vector ? 1 : p.extent[kDimC]);
        if (c != channels || sliced(p, kDimC) % g != 0) return false;
        for (size_t j = i + 1; j < run[t].last && p.extent[kDimG] > 1; ++j) {
          if (layers[j].problem.extent[kDimG] % g != 0 ||
              layers[j].problem.extent[kDimG] == 1) {
            return false;
          }
        }
      }
    }
    return true;
  }

  double BestOfRun(const std::vector<Stage>& run) {
    double best = 1e300;
    int64_t batch = layers[run.front().first].problem.extent[kDimN];
    for (size_t i = run.front().first; i < run.back().last; ++i) {
      if (layers[i].whole || layers[i].problem.extent[kDimN] != batch) batch = 1;
    }
    for (int64_t slices = 1; slices <= batch; ++slices) {
      if (batch % slices != 0) continue;
      if (run.back().last - run.front().first > 1) {
        ++schemes;
        best = std::min(best, CostOf(run, false, {}, slices, {}));
      }
      if (run.size() < 2) continue;
      std::vector<NodeRegion> regions;
      std::vector<std::vector<NodeRegion>> all;
      Tile(&regions, run.size(), &all);
      for (const auto& allocation : all) {
        std::vector<int64_t> groups;
        TryGroups(run, allocation, slices, &groups, &best);
      }
    }
    return best;
  }

  double Best() {
    const std::vector<Stage> vertices = Vertices();
    std::vector<double> best(layers.size() + 1, 1e300);
    best[0] = 0;
    for (size_t i = 0; i < layers.size(); ++i) {
      const double alone = CostOf({{i, i + 1}}, false, {}, 1, {});
      best[i + 1] = std::min(best[i + 1], best[i] + alone);
      for (size_t v = 0; v < vertices.size(); ++v) {
        if (vertices[v].first != i) continue;
        std::vector<Stage> run;
        for (size_t w = v; w < vertices.size() && run.size() < max_stages; ++w) {
          run.push_back(vertices[w]);
          if (!IsLegal(run)) continue;
          best[vertices[w].last] =
              std::min(best[vertices[w].last], best[i] + BestOfRun(run));
        }
      }
    }
    return best[layers.size()];
  }
};

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_SEGMENTS_BRUTE_FORCE_H_
