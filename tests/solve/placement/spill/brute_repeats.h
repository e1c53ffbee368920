// SPDX-License-Identifier: Apache-2.0
// The cheapest way through a tiny graph when operators may run again: a shortest path over
// what has run, lies on chip, and has a copy off chip. Sums of bytes only; inputs and
// outputs have a copy for nothing. Shares nothing with the solvers but the input structs.
#ifndef SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_BRUTE_REPEATS_H_
#define SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_BRUTE_REPEATS_H_

#include <map>
#include <queue>
#include <tuple>
#include <vector>

#include "tests/solve/placement/spill/spill_judge.h"

namespace sluice_test {

// again: per operator the price of another run; negative: none.
inline int64_t CheapestWithRepeats(const Net& net, const std::vector<int64_t>& again,
                                   int64_t capacity) {
  using State = std::tuple<uint32_t, uint32_t, uint32_t>;  // ran, on chip, off chip
  const uint32_t all = (1u << net.operators.size()) - 1;
  const auto bit = [](uint32_t i) { return 1u << i; };
  const auto bytes = [&](uint32_t set) {
    int64_t sum = 0;
    for (uint32_t a = 0; a < net.tensors.size(); ++a) {
      if ((set & bit(a)) != 0) sum += net.tensors[a].bytes;
    }
    return sum;
  };
  const auto role = [&](uint32_t a) { return net.tensors[a].role; };
  std::map<State, int64_t> least;
  std::priority_queue<std::pair<int64_t, State>, std::vector<std::pair<int64_t, State>>,
                      std::greater<>>
      open;
  // A network input has a copy in the first state; its first load is free, which the set
  // of copies tells by a second bit per tensor.
  const uint32_t loaded = static_cast<uint32_t>(net.tensors.size());
  uint32_t copies = 0;
  for (uint32_t a = 0; a < net.tensors.size(); ++a) {
    if (role(a) == sluice::TensorRole::kInput) copies |= bit(a);
  }
  const auto reach = [&](int64_t cost, const State& s) {
    const auto [it, fresh] = least.emplace(s, cost);
    if (!fresh && it->second <= cost) return;
    it->second = cost;
    open.push({cost, s});
  };
  reach(0, {0, 0, copies});
  while (!open.empty()) {
    const auto [cost, state] = open.top();
    open.pop();
    if (least[state] < cost) continue;
    const auto [ran, here, there] = state;
    if (ran == all) return cost;
    for (uint32_t a = 0; a < net.tensors.size(); ++a) {
      const int64_t size = net.tensors[a].bytes;
      if ((here & bit(a)) != 0) {
        reach(cost, {ran, here & ~bit(a), there});
        if ((there & bit(a)) == 0) reach(cost + size, {ran, here, there | bit(a)});
      } else if ((there & bit(a)) != 0 && bytes(here) + size <= capacity) {
        const bool first =
            role(a) == sluice::TensorRole::kInput && (there & bit(loaded + a)) == 0;
        reach(cost + (first ? 0 : size), {ran, here | bit(a), there | bit(loaded + a)});
      }
    }
    for (uint32_t o = 0; o < net.operators.size(); ++o) {
      const sluice::Operator& op = net.operators[o];
      const bool before = (ran & bit(o)) != 0;
      if (before && again[o] < 0) continue;
      uint32_t reads = 0, writes = 0, free = 0;
      for (uint32_t k = 0; k < op.input_count; ++k) {
        reads |= bit(net.operands[op.first_input + k]);
      }
      for (uint32_t k = 0; k < op.output_count; ++k) {
        const uint32_t a = net.operands[op.first_output + k];
        writes |= bit(a);
        if (role(a) == sluice::TensorRole::kOutput) free |= bit(a);
      }
      if ((reads & ~here) != 0 || bytes(here | writes) > capacity) continue;
      reach(cost + (before ? again[o] : 0),
            {ran | bit(o), here | writes, there | free});
    }
  }
  return INT64_MAX;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_BRUTE_REPEATS_H_
