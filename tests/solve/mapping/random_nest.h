// SPDX-License-Identifier: Apache-2.0
// Random problems, hardware and legal nests, small enough to walk.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_RANDOM_NEST_H_
#define SLUICE_TESTS_SOLVE_MAPPING_RANDOM_NEST_H_

#include <initializer_list>
#include <utility>

#include "base/rng.h"
#include "model/loop_nest.h"
#include "tests/solve/mapping/machines.h"

namespace sluice {

inline int64_t Pick(Rng* rng, std::initializer_list<int64_t> from) {
  return from.begin()[rng->Below(static_cast<uint32_t>(from.size()))];
}

inline MappingProblem RandomProblem(Rng* rng) {
  MappingProblem problem = ConvProblem({1, 1, 1, 1, 1, 1, 1, 1, 1});
  const uint32_t kind = rng->Below(6);
  const auto set = [&](Dim d, std::initializer_list<int64_t> from) {
    problem.extent[d] = Pick(rng, from);
  };
  if (kind == 0) {  // GEMM, batched
    set(kDimP, {2, 4, 5, 6});
    set(kDimK, {2, 3, 4, 6});
    set(kDimC, {2, 4, 5});
    set(kDimG, {1, 1, 2, 3});
  } else {
    set(kDimN, {1, 1, 2});
    set(kDimP, {1, 2, 3, 4, 5});
    set(kDimQ, {1, 2, 3});
    set(kDimR, {1, 2, 3});
    set(kDimS, {1, 2});
    problem.stride[0] = static_cast<int32_t>(1 + rng->Below(3));
    problem.stride[1] = static_cast<int32_t>(1 + rng->Below(3));
    problem.dilation[0] = static_cast<int32_t>(1 + rng->Below(3));
    problem.dilation[1] = static_cast<int32_t>(1 + rng->Below(2));
    if (kind <= 2) {  // conv, maybe grouped
      set(kDimK, {1, 2, 3, 4});
      set(kDimC, {1, 2, 3, 4});
      set(kDimG, {1, 1, 2});
    } else if (kind == 3) {  // depthwise, with multiplier
      set(kDimG, {2, 3, 4});
      set(kDimK, {1, 1, 2});
    } else {  // pooling; or (kind 5) elementwise on C operands
      set(kDimG, {2, 3, 4});
      if (kind == 5) {
        set(kDimC, {1, 2, 3});
        problem.extent[kDimR] = problem.extent[kDimS] = 1;
      }
      problem.operands = 5;
      problem.vector = true;
    }
  }
  return problem;
}

inline void RandomMachine(Rng* rng, Machine* machine) {
  const uint32_t levels = 2 + rng->Below(3);
  for (uint32_t l = 0; l < levels; ++l) {
    machine->AddLevel(0, 0.1 + l, 0.2 + l);
    machine->levels.back().sliding = rng->Below(3) == 0;
    const uint32_t axes = rng->Below(3);
    for (uint32_t a = 0; a < axes; ++a) {
      machine->AddFanout(l, 1u << 16, 127);
      Fanout& fanout = machine->fanouts.back();
      fanout.multicast = rng->Below(4) != 0;
      fanout.reduction = rng->Below(4) != 0;
      fanout.forwarding = rng->Below(3) == 0;
    }
  }
}

inline void RandomNest(Rng* rng, const MappingProblem& problem,
                       const Hardware& hardware, LoopNest* nest) {
  *nest = EmptyNest(hardware, problem);
  for (uint32_t l = 0; l < nest->levels; ++l) {
    for (uint32_t i = kDims - 1; i > 0; --i) {
      std::swap(nest->order[l][i], nest->order[l][rng->Below(i + 1)]);
    }
    if (l + 1 < nest->levels) {
      nest->hold[l] = static_cast<uint8_t>(problem.operands & rng->Below(8));
      if (rng->Below(2) == 0) nest->hold[l] = static_cast<uint8_t>(problem.operands);
    }
  }
  for (uint32_t d = 0; d < kDims; ++d) {
    const int64_t extent = problem.extent[d];
    int64_t tile = 1;
    for (uint32_t l = 0; l < nest->levels; ++l) {
      for (uint32_t a = 0; a <= kMaxAxes; ++a) {
        const bool time = a == kMaxAxes;
        if (!time && FanoutAt(hardware, l, a) == nullptr) continue;
        int64_t factor = rng->Below(5) < 3 ? 1 : 2 + rng->Below(3);
        while ((factor - 1) * tile >= extent) --factor;
        if (time && l + 1 == nest->levels) factor = (extent + tile - 1) / tile;
        (time ? nest->temporal[l][d] : nest->spatial[l][a][d]) = factor;
        tile *= factor;
      }
    }
  }
}

}  // namespace sluice

#endif  // SLUICE_TESTS_SOLVE_MAPPING_RANDOM_NEST_H_
