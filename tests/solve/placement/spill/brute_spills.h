// SPDX-License-Identifier: Apache-2.0
// Every order, spill and address of a tiny graph; graphs whose sums fit but not their
// addresses. Shares nothing with the solvers but the input structs.
#ifndef SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_BRUTE_SPILLS_H_
#define SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_BRUTE_SPILLS_H_

#include <algorithm>
#include <vector>

#include "tests/solve/placement/spill/spill_judge.h"

namespace sluice_test {

// Enumerates all orders of the operators and, for each, all ways to keep or drop tensors
// between two uses. Checks the sums of live bytes per step first, then tries addresses, one
// buffer after the other.
struct Brute {
  const Net& net;
  int64_t capacity;
  bool paper;
  bool fixed;                     // only the order as given
  int64_t best = INT64_MAX;       // with addresses
  int64_t best_sums = INT64_MAX;  // without
  int64_t least_peak = INT64_MAX;
  std::vector<uint32_t> order;

  struct Gap {
    uint32_t tensor;
    size_t from, to;  // steps of the two uses
  };
  struct Pair {  // `to` lies where `from` lay
    uint32_t from, to;
  };
  std::vector<Pair> pairs;

  void Orders() {
    const size_t n = net.operators.size();
    if (order.size() == n) return Gaps();
    for (uint32_t o = 0; o < n; ++o) {
      if (fixed && o != order.size()) continue;
      if (std::find(order.begin(), order.end(), o) != order.end()) continue;
      bool ready = true;
      const sluice::Operator& op = net.operators[o];
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const uint32_t a = net.operands[op.first_input + k];
        if (net.tensors[a].role == sluice::TensorRole::kInput) continue;
        bool written = false;
        for (uint32_t p : order) {
          const sluice::Operator& q = net.operators[p];
          for (uint32_t w = 0; w < q.output_count; ++w) {
            written |= net.operands[q.first_output + w] == a;
          }
        }
        ready &= written;
      }
      if (!ready) continue;
      order.push_back(o);
      Orders();
      order.pop_back();
    }
  }

  void Gaps() {
    const size_t n = order.size();
    std::vector<std::vector<size_t>> uses(net.tensors.size());
    std::vector<int64_t> load(n, 0);
    for (size_t t = 0; t < n; ++t) {
      const sluice::Operator& op = net.operators[order[t]];
      const auto use = [&](uint32_t a) {
        if (!uses[a].empty() && uses[a].back() == t) return;
        uses[a].push_back(t);
        load[t] += net.tensors[a].bytes;
      };
      for (uint32_t k = 0; k < op.input_count; ++k)
        use(net.operands[op.first_input + k]);
      for (uint32_t k = 0; k < op.output_count; ++k) {
        use(net.operands[op.first_output + k]);
      }
    }
    // In place: the operand is read for the last time, and as large as the output.
    pairs.clear();
    for (size_t t = 0; t < n; ++t) {
      const sluice::Operator& op = net.operators[order[t]];
      if (op.in_place == sluice::kNoOperand) continue;
      const Pair pair = {net.operands[op.first_input + op.in_place],
                         net.operands[op.first_output]};
      const int64_t size = net.tensors[pair.from].bytes;
      if (uses[pair.from].back() != t || size != net.tensors[pair.to].bytes) continue;
      load[t] -= size;
      pairs.push_back(pair);
    }
    std::vector<Gap> gaps;
    for (uint32_t a = 0; a < uses.size(); ++a) {
      for (size_t u = 1; u < uses[a].size(); ++u) {
        gaps.push_back({a, uses[a][u - 1], uses[a][u]});
      }
    }
    std::vector<int64_t> all = load;
    for (const Gap& g : gaps) {
      for (size_t t = g.from + 1; t < g.to; ++t) all[t] += net.tensors[g.tensor].bytes;
    }
    least_peak = std::min(least_peak, *std::max_element(all.begin(), all.end()));
    std::vector<bool> kept(gaps.size());
    Choose(gaps, 0, &kept, load, 0, uses);
  }

  void Choose(const std::vector<Gap>& gaps, size_t at, std::vector<bool>* kept,
              const std::vector<int64_t>& load, int64_t cost,
              const std::vector<std::vector<size_t>>& uses) {
    if (cost >= best) return;
    for (int64_t l : load) {
      if (l > capacity) return;
    }
    if (at == gaps.size()) {
      best_sums = std::min(best_sums, cost);
      if (Addresses(gaps, *kept, uses)) best = cost;
      return;
    }
    const Gap& g = gaps[at];
    const int64_t bytes = net.tensors[g.tensor].bytes;
    (*kept)[at] = true;
    std::vector<int64_t> more = load;
    for (size_t t = g.from + 1; t < g.to; ++t) more[t] += bytes;
    Choose(gaps, at + 1, kept, more, cost, uses);
    (*kept)[at] = false;
    bool wrote =
        !paper && net.tensors[g.tensor].role != sluice::TensorRole::kIntermediate;
    for (size_t i = 0; i < at; ++i) wrote |= gaps[i].tensor == g.tensor && !(*kept)[i];
    Choose(gaps, at + 1, kept, load, cost + bytes + (wrote ? 0 : bytes), uses);
  }

  bool Addresses(const std::vector<Gap>& gaps, const std::vector<bool>& kept,
                 const std::vector<std::vector<size_t>>& uses) const {
    struct Stay {
      int64_t begin, end;
    };
    std::vector<std::vector<Stay>> stays(uses.size());
    for (uint32_t a = 0; a < uses.size(); ++a) {
      if (uses[a].empty()) continue;
      int64_t begin = static_cast<int64_t>(uses[a][0]);
      for (size_t g = 0; g < gaps.size(); ++g) {
        if (gaps[g].tensor != a || kept[g]) continue;
        stays[a].push_back({begin, static_cast<int64_t>(gaps[g].from) + 1});
        begin = static_cast<int64_t>(gaps[g].to);
      }
      stays[a].push_back({begin, static_cast<int64_t>(uses[a].back()) + 1});
    }
    // Pairs come in the order of steps, so a chain grows from its first tensor.
    for (const Pair& pair : pairs) {
      stays[pair.to][0].begin = stays[pair.from].back().begin;
      stays[pair.from].pop_back();
    }
    Buffers buffers;
    for (uint32_t a = 0; a < uses.size(); ++a) {
      for (const Stay& stay : stays[a]) {
        buffers.Add(stay.begin, stay.end, net.tensors[a].bytes);
      }
    }
    std::sort(buffers.ranges.begin(), buffers.ranges.end(),
              [](const sluice::LiveRange& x, const sluice::LiveRange& y) {
                return x.begin < y.begin;
              });
    std::vector<int64_t> at;
    return Sweep(buffers, &at);
  }
  bool Sweep(const Buffers& b, std::vector<int64_t>* at) const {
    const size_t i = at->size();
    if (i == b.ranges.size()) return true;
    for (int64_t p = 0; p + b.ranges[i].bytes <= capacity; ++p) {
      bool free = true;
      for (size_t j = 0; j < i && free; ++j) {
        free = b.ranges[j].end <= b.ranges[i].begin ||
               (*at)[j] >= p + b.ranges[i].bytes || p >= (*at)[j] + b.ranges[j].bytes;
      }
      if (!free) continue;
      at->push_back(p);
      if (Sweep(b, at)) return true;
      at->pop_back();
    }
    return false;
  }
};

// paper: SpillCharge::kPaper. fixed: only the order as given.
inline Brute TryAll(const Net& net, int64_t capacity, bool paper, bool fixed) {
  Brute brute{net, capacity, paper, fixed, INT64_MAX, INT64_MAX, INT64_MAX, {}, {}};
  brute.Orders();
  return brute;
}

// Step t writes the buffers that begin at t and reads those that end behind t.
inline Net NetOfBuffers(const Buffers& b, int64_t times) {
  Net net;
  for (const sluice::LiveRange& r : b.ranges) {
    net.Tensor(r.bytes, r.end == r.begin + 1 ? sluice::TensorRole::kOutput
                                             : sluice::TensorRole::kIntermediate);
  }
  for (int64_t t = 0; t < times; ++t) {
    std::vector<uint32_t> in, out;
    for (uint32_t a = 0; a < b.ranges.size(); ++a) {
      if (b.ranges[a].begin == t) out.push_back(a);
      if (b.ranges[a].begin != t && b.ranges[a].end == t + 1) in.push_back(a);
    }
    if (out.empty()) out.push_back(net.Tensor(1, sluice::TensorRole::kOutput));
    net.Op(in, out);
  }
  return net;
}

// 0, 1, 2, ... as many as operators.
inline std::vector<uint32_t> GivenOrder(const Net& net) {
  std::vector<uint32_t> order;
  for (uint32_t o = 0; o < net.operators.size(); ++o) order.push_back(o);
  return order;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_BRUTE_SPILLS_H_
