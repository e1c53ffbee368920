// SPDX-License-Identifier: Apache-2.0
// Random mappings of a layer on a mesh, as a baseline: the best of many draws.
//
// Input    a problem, hardware, region, terms; draws that must fit; a generator
// Output   the cheapest of them, by energy
// Errors   kInfeasible when too few draws fit
// Cost     draws x EvaluateOnMesh
#ifndef SLUICE_TESTS_BENCH_KAPLA_RANDOM_H_
#define SLUICE_TESTS_BENCH_KAPLA_RANDOM_H_

#include "base/checked.h"
#include "base/rng.h"
#include "solve/segments/segments.h"

namespace sluice {

class RandomMapper {
 public:
  RandomMapper(const Hardware& hardware, uint64_t seed, int draws)
      : hardware_(hardware), rng_(seed), draws_(draws) {}

  Status Price(const MappingProblem& problem, const LayerQuery& query,
               LayerPrice* price, Diagnostic* diagnostic) {
    int64_t passes[kDims];
    const Status status = PassesOf(problem, query.terms, passes, diagnostic);
    if (status != Status::kOk) return status;
    const MappingProblem pass = PassOf(problem, passes);
    CostOptions options;
    options.resident = KeptOperands(query.terms, passes);
    bool found = false;
    int fitting = 0;
    for (int tries = 0; tries < 50 * draws_ && fitting < draws_; ++tries) {
      const NodeSplit split = Split(pass, query.region);
      const MappingProblem part = PartOf(pass, split);
      const LoopNest nest = Nest(part);
      MeshCost cost;
      Diagnostic ignored = {};
      if (EvaluateOnMesh({problem, hardware_, query.region, split, query.terms}, nest,
                         options, &cost, &ignored) != Status::kOk) {
        continue;
      }
      ++fitting;
      if (found && cost.layer.energy_pj >= price->cost.layer.energy_pj) continue;
      found = true;
      price->split = split;
      price->nest = nest;
      price->kept = options.resident;
      price->cost = cost;
    }
    return found ? Status::kOk : Status::kInfeasible;
  }

 private:
  static int64_t SmallestPrime(int64_t n) {
    for (int64_t p = 2; p * p <= n; ++p) {
      if (n % p == 0) return p;
    }
    return n;
  }

  NodeSplit Split(const MappingProblem& problem, const NodeRegion& region) {
    static constexpr uint32_t kDealt[] = {kDimN, kDimK, kDimC, kDimP, kDimQ, kDimG};
    NodeSplit split = WholeOnEach();
    for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
      int64_t spare = region.extent[axis];
      while (spare > 1) {
        const int64_t prime = SmallestPrime(spare);
        spare /= prime;
        const uint32_t d = kDealt[rng_.Below(6)];
        const int64_t factor = int64_t{split.factor[0][d]} * split.factor[1][d] * prime;
        if (factor > problem.extent[d]) continue;
        split.factor[axis][d] *= static_cast<int32_t>(prime);
      }
    }
    return split;
  }

  int64_t Divisor(int64_t n) {
    int64_t divisor = 1;
    while (n > 1 && rng_.Below(3) != 0) {
      const int64_t p = SmallestPrime(n);
      divisor *= p;
      n /= p;
    }
    return divisor;
  }

  LoopNest Nest(const MappingProblem& part) {
    LoopNest nest = EmptyNest(hardware_, part);
    int64_t left[kDims];
    for (uint32_t d = 0; d < kDims; ++d) left[d] = part.extent[d];
    for (uint32_t axis = 0; axis < kMaxAxes; ++axis) {
      const Fanout* fanout = FanoutAt(hardware_, 1, axis);
      if (fanout == nullptr) break;
      int64_t units = fanout->extent;
      for (int tries = 0; tries < 6 && units > 1; ++tries) {
        const uint32_t d = rng_.Below(kDims);
        if (!MayUnroll(*fanout, d) || left[d] == 1) continue;
        const int64_t factor = Min(units, left[d]);
        nest.spatial[1][axis][d] *= factor;
        left[d] = CeilDivide(left[d], factor);
        units /= factor;
      }
    }
    const uint32_t outermost = nest.levels - 1;
    for (uint32_t level = 0; level < outermost; ++level) {
      for (int step = 0; step < 6; ++step) {
        const uint32_t d = rng_.Below(kDims);
        const int64_t factor = Divisor(left[d]);
        nest.temporal[level][d] *= factor;
        if (!Fits(part, nest, level)) {
          nest.temporal[level][d] /= factor;
        } else {
          left[d] /= factor;
        }
      }
    }
    for (uint32_t d = 0; d < kDims; ++d) nest.temporal[outermost][d] = left[d];
    for (uint32_t level = 0; level <= outermost; ++level) {
      for (uint32_t i = kDims - 1; i > 0; --i) {
        const uint32_t j = rng_.Below(i + 1);
        const uint8_t other = nest.order[level][i];
        nest.order[level][i] = nest.order[level][j];
        nest.order[level][j] = other;
      }
    }
    return nest;
  }

  bool Fits(const MappingProblem& part, const LoopNest& nest, uint32_t level) const {
    int64_t bytes[kOperands];
    Diagnostic ignored = {};
    return LevelBytes(part, nest, level, 0, bytes, &ignored) == Status::kOk &&
           FitsLevel(hardware_.levels[level], bytes);
  }

  const Hardware& hardware_;
  Rng rng_;
  int draws_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCH_KAPLA_RANDOM_H_
