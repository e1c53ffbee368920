// SPDX-License-Identifier: Apache-2.0
// Independent judge of spill plans, a reader of the reference cases, random graphs.
#ifndef SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_SPILL_JUDGE_H_
#define SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_SPILL_JUDGE_H_

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "solve/placement/spill/operator_graph.h"
#include "tests/solve/placement/judge.h"

namespace sluice_test {

struct Net {
  std::vector<sluice::OperatorTensor> tensors;
  std::vector<sluice::Operator> operators;
  std::vector<uint32_t> operands;

  uint32_t Tensor(int64_t bytes, sluice::TensorRole role) {
    tensors.push_back({bytes, role});
    return static_cast<uint32_t>(tensors.size() - 1);
  }
  void Op(const std::vector<uint32_t>& in, const std::vector<uint32_t>& out) {
    sluice::Operator op{};
    op.in_place = sluice::kNoOperand;
    op.first_input = static_cast<uint32_t>(operands.size());
    op.input_count = static_cast<uint32_t>(in.size());
    operands.insert(operands.end(), in.begin(), in.end());
    op.first_output = static_cast<uint32_t>(operands.size());
    op.output_count = static_cast<uint32_t>(out.size());
    operands.insert(operands.end(), out.begin(), out.end());
    operators.push_back(op);
  }
  sluice::OperatorGraph Graph() const {
    return {View(tensors), View(operators), View(operands), {}};
  }
};

// Up to `most` operators, one or two outputs each, inputs from earlier tensors.
inline Net RandomNet(sluice::Rng* rng, uint32_t most) {
  using sluice::TensorRole;
  Net net;
  const uint32_t count = 3 + rng->Below(most - 2);
  std::vector<uint32_t> available;
  const uint32_t inputs = 1 + rng->Below(2);
  for (uint32_t i = 0; i < inputs; ++i) {
    available.push_back(net.Tensor(1 + rng->Below(8), TensorRole::kInput));
  }
  for (uint32_t o = 0; o < count; ++o) {
    std::vector<uint32_t> in, out;
    const uint32_t reads = 1 + rng->Below(3);
    for (uint32_t k = 0; k < reads; ++k) {
      const uint32_t window =
          std::min<uint32_t>(6, static_cast<uint32_t>(available.size()));
      in.push_back(available[available.size() - 1 - rng->Below(window)]);
    }
    const uint32_t writes = 1 + (rng->Below(5) == 0 ? 1 : 0);
    for (uint32_t k = 0; k < writes; ++k) {
      const bool is_output = o + 1 == count || rng->Below(6) == 0;
      out.push_back(net.Tensor(1 + rng->Below(8), is_output
                                                      ? TensorRole::kOutput
                                                      : TensorRole::kIntermediate));
    }
    net.Op(in, out);
    available.insert(available.end(), out.begin(), out.end());
  }
  return net;
}

// `count` operators that read one to three of the last `reach` tensors; all tensors
// without a reader are outputs.
inline Net WindowNet(sluice::Rng* rng, uint32_t count, uint32_t reach, uint32_t most) {
  using sluice::TensorRole;
  Net net;
  std::vector<bool> read(1, false);
  net.Tensor(1 + rng->Below(most), TensorRole::kInput);
  for (uint32_t o = 0; o < count; ++o) {
    std::vector<uint32_t> in;
    const uint32_t reads = 1 + rng->Below(3);
    const uint32_t last = static_cast<uint32_t>(net.tensors.size());
    for (uint32_t k = 0; k < reads; ++k) {
      const uint32_t a = last - 1 - rng->Below(std::min(last, reach));
      if (std::find(in.begin(), in.end(), a) == in.end()) in.push_back(a);
      read[a] = true;
    }
    net.Op(in, {net.Tensor(1 + rng->Below(most), TensorRole::kIntermediate)});
    read.push_back(false);
  }
  for (size_t a = 0; a < read.size(); ++a) {
    if (!read[a] && net.tensors[a].role == TensorRole::kIntermediate) {
      net.tensors[a].role = TensorRole::kOutput;
    }
  }
  return net;
}

// Cells of five pairs of branches, each fed by the two cells before; shaped like the
// cells of architecture search.
inline Net CellNet(uint32_t cells, int64_t bytes) {
  using sluice::TensorRole;
  Net net;
  uint32_t previous = net.Tensor(bytes, TensorRole::kInput), current = previous;
  for (uint32_t c = 0; c < cells; ++c) {
    const auto op = [&](std::vector<uint32_t> in, int64_t size) {
      const uint32_t out = net.Tensor(size, TensorRole::kIntermediate);
      net.Op(in, {out});
      return out;
    };
    const uint32_t p = op({previous}, bytes), h = op({current}, bytes);
    const uint32_t a = op({op({h}, bytes), op({p}, bytes)}, bytes);
    const uint32_t b = op({op({p}, bytes), op({h}, bytes)}, bytes);
    const uint32_t d = op({op({h}, bytes), p}, bytes);
    const uint32_t e = op({op({p}, bytes), op({a}, bytes)}, bytes);
    const uint32_t f = op({op({a}, bytes), b}, bytes);
    const uint32_t out = op({b, d, e, f}, 4 * bytes);
    previous = current;
    current = out;
  }
  net.tensors[current].role = TensorRole::kOutput;
  return net;
}

// Tensor kinds and operators as in the reference's JSON.
inline Net ReadNet(const nlohmann::json& j) {
  Net net;
  for (const auto& t : j["tensors"]) {
    const std::string kind = t["kind"];
    net.Tensor(t["size"], kind == "input"    ? sluice::TensorRole::kInput
                          : kind == "output" ? sluice::TensorRole::kOutput
                                             : sluice::TensorRole::kIntermediate);
  }
  for (const auto& o : j["ops"]) {
    net.Op(o["inputs"].get<std::vector<uint32_t>>(),
           o["outputs"].get<std::vector<uint32_t>>());
  }
  return net;
}

// Walks the plan step by step: who lies where, what each operator finds, what crosses
// the border. "" or what is wrong. Recounts bytes into *recount.
inline std::string JudgePlan(const Net& net, const sluice::SpillPlan& plan,
                             int64_t capacity, bool paper, int64_t* recount) {
  using sluice::TensorRole;
  const size_t steps = net.operators.size();
  const auto text = [](const char* what, size_t i) {
    return std::string(what) + " " + std::to_string(i);
  };
  if (plan.order.size() != steps) return "order size";
  std::vector<int> ran(steps, 0);
  std::vector<int64_t> created(net.tensors.size(), -1);
  std::vector<bool> in_dram(net.tensors.size(), false),
      loaded(net.tensors.size(), false);
  *recount = 0;
  for (size_t a = 0; a < net.tensors.size(); ++a) {
    in_dram[a] = net.tensors[a].role == TensorRole::kInput;
  }
  for (const sluice::Residence& r : plan.residences) {
    if (r.begin >= r.end || r.end > steps) return text("lifetime of tensor", r.tensor);
    if (r.offset < 0 || r.offset + net.tensors[r.tensor].bytes > capacity) {
      return text("bounds of tensor", r.tensor);
    }
  }
  for (size_t t = 0; t < steps; ++t) {
    const uint32_t o = plan.order[t];
    if (o >= steps || ran[o]++) return text("operator twice", o);
    const sluice::Operator& op = net.operators[o];
    std::vector<int> here(net.tensors.size(), 0);
    // What ended with the previous step may have been written on leaving.
    for (const sluice::Residence& r : plan.residences) {
      if (r.end != t || !r.spilled) continue;
      const bool free_write =
          !paper && net.tensors[r.tensor].role != TensorRole::kIntermediate;
      if (free_write) return text("charged write of tensor", r.tensor);
      if (created[r.tensor] < 0 && !loaded[r.tensor]) return text("write of", r.tensor);
      in_dram[r.tensor] = true;
      *recount += net.tensors[r.tensor].bytes;
    }
    std::vector<const sluice::Residence*> alive;
    for (const sluice::Residence& r : plan.residences) {
      if (r.begin <= t && t < r.end) alive.push_back(&r);
    }
    for (const sluice::Residence* r : alive) {
      const uint32_t a = r->tensor;
      if (here[a]++) return text("two places of tensor", a);
      if (r->begin != t) continue;
      bool output = false;
      for (uint32_t k = 0; k < op.output_count; ++k) {
        output |= net.operands[op.first_output + k] == a;
      }
      if (output) {
        if (r->retrieved) return text("retrieved output", a);
        continue;
      }
      const bool is_input = net.tensors[a].role == TensorRole::kInput;
      const bool copy =
          paper ? in_dram[a] && (!is_input || !loaded[a] ||
                                 [&] {
                                   // A network input that was dropped must have been
                                   // written first.
                                   for (const sluice::Residence& s : plan.residences) {
                                     if (s.tensor == a && s.spilled && s.end <= t)
                                       return true;
                                   }
                                   return false;
                                 }())
                : in_dram[a] ||
                      (net.tensors[a].role == TensorRole::kOutput && created[a] >= 0);
      if (!copy) return text("read of what DRAM does not have, tensor", a);
      const bool first_load = is_input && !loaded[a];
      if (r->retrieved == first_load) return text("retrieve flag of tensor", a);
      if (!first_load) *recount += net.tensors[a].bytes;
      loaded[a] = true;
    }
    for (size_t i = 0; i < alive.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const sluice::Residence &x = *alive[i], &y = *alive[j];
        const int64_t xe = x.offset + net.tensors[x.tensor].bytes;
        const int64_t ye = y.offset + net.tensors[y.tensor].bytes;
        if (xe <= y.offset || ye <= x.offset) continue;
        // In place: the operand of this very step, read for the last time.
        const auto in_place = [&](const sluice::Residence& out,
                                  const sluice::Residence& in) {
          if (op.in_place == sluice::kNoOperand || out.begin != t || in.end != t + 1) {
            return false;
          }
          if (net.operands[op.first_output] != out.tensor ||
              net.operands[op.first_input + op.in_place] != in.tensor) {
            return false;
          }
          for (size_t later = t + 1; later < steps; ++later) {
            const sluice::Operator& next = net.operators[plan.order[later]];
            for (uint32_t k = 0; k < next.input_count; ++k) {
              if (net.operands[next.first_input + k] == in.tensor) return false;
            }
          }
          return out.offset == in.offset &&
                 net.tensors[out.tensor].bytes == net.tensors[in.tensor].bytes;
        };
        if (!in_place(x, y) && !in_place(y, x)) return text("overlap at step", t);
      }
    }
    for (uint32_t k = 0; k < op.input_count; ++k) {
      const uint32_t a = net.operands[op.first_input + k];
      if (!here[a]) return text("absent input", a);
      if (net.tensors[a].role != TensorRole::kInput && created[a] < 0) {
        return text("input not created yet", a);
      }
    }
    for (uint32_t k = 0; k < op.output_count; ++k) {
      const uint32_t a = net.operands[op.first_output + k];
      if (!here[a]) return text("absent output", a);
      created[a] = static_cast<int64_t>(t);
    }
  }
  return "";
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_SPILL_JUDGE_H_
