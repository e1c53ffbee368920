// SPDX-License-Identifier: Apache-2.0
// Every schedule of layers on a small mesh, by the rules of model/segment.h and
// solve/segments/segments.h, one after the other. Shares nothing with the solver but the
// prices of single layers under given terms.
#ifndef SLUICE_TESTS_SOLVE_SEGMENTS_BRUTE_FORCE_H_
#define SLUICE_TESTS_SOLVE_SEGMENTS_BRUTE_FORCE_H_

#include <algorithm>
#include <set>
#include <vector>

#include "tests/solve/segments/scheme_cost.h"

namespace sluice {

struct BruteForce : PricedNetwork {
  uint32_t max_stages = 5;
  uint64_t schemes = 0;

  using Stage = LayerRun;

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

  double CostOf(const GivenScheme& scheme) { return SchemeCost(this, scheme).Of(); }

  // Tries all numbers of groups that the rules allow for the stages of a run.
  void TryGroups(const std::vector<Stage>& run, const std::vector<NodeRegion>& regions,
                 int64_t batch, std::vector<int64_t>* groups, double* best) {
    const size_t s = groups->size();
    if (s == run.size()) {
      ++schemes;
      *best = std::min(*best, CostOf({run, true, regions, batch, *groups}));
      return;
    }
    // in: groups in which inputs arrive; feeds: whether another stage reads this one.
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
        best = std::min(best, CostOf({run, false, {}, slices, {}}));
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
      const double alone = CostOf({{{i, i + 1}}, false, {}, 1, {}});
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
