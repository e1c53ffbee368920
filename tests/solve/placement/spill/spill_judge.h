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

// Up to `most` operators, many of which read one tensor and write another, sometimes
// with an input of the network that only they read (a parameter).
inline Net ChainNet(sluice::Rng* rng, uint32_t most) {
  using sluice::TensorRole;
  Net net;
  std::vector<uint32_t> unread;
  std::vector<uint32_t> available = {net.Tensor(1 + rng->Below(6), TensorRole::kInput)};
  const uint32_t count = 4 + rng->Below(most - 3);
  for (uint32_t o = 0; o < count; ++o) {
    std::vector<uint32_t> in;
    if (!unread.empty() && rng->Below(4) != 0) {
      in.push_back(unread.back());
    } else {
      in.push_back(available[rng->Below(static_cast<uint32_t>(available.size()))]);
    }
    if (rng->Below(4) == 0 && available.size() > 1) {
      in.push_back(available[rng->Below(static_cast<uint32_t>(available.size()))]);
    }
    if (in.size() == 2 && in[0] == in[1]) in.pop_back();
    for (const uint32_t a : in) {
      unread.erase(std::remove(unread.begin(), unread.end(), a), unread.end());
    }
    if (rng->Below(5) == 0) {
      in.push_back(net.Tensor(1 + rng->Below(3), TensorRole::kInput));
    }
    const bool last = o + 1 == count;
    const uint32_t out = net.Tensor(
        1 + rng->Below(6), last ? TensorRole::kOutput : TensorRole::kIntermediate);
    net.Op(in, {out});
    available.push_back(out);
    if (!last) unread.push_back(out);
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

// Walks the plan step by step and checks where tensors lie, which operands each operator
// finds on chip, and what moves between chip and DRAM.
class SpillWalk {
 public:
  SpillWalk(const Net& net, const sluice::SpillPlan& plan, int64_t capacity, bool paper)
      : net_(net),
        plan_(plan),
        capacity_(capacity),
        paper_(paper),
        ran_(net.operators.size(), 0),
        created_(net.tensors.size(), -1),
        in_dram_(net.tensors.size(), false),
        loaded_(net.tensors.size(), false) {
    for (size_t a = 0; a < net.tensors.size(); ++a) in_dram_[a] = RoleIs(a, kInput);
  }

  // "" or what is wrong.
  std::string Judge() {
    const size_t steps = net_.operators.size();
    if (plan_.order.size() != steps) return "order size";
    for (const Residence& r : plan_.residences) {
      if (r.begin >= r.end || r.end > steps)
        return Text("lifetime of tensor", r.tensor);
      if (r.offset < 0 || r.offset + Bytes(r) > capacity_) {
        return Text("bounds of tensor", r.tensor);
      }
    }
    for (size_t t = 0; t < steps; ++t) {
      const uint32_t o = plan_.order[t];
      if (o >= steps || ran_[o]++) return Text("operator twice", o);
      const std::string why = Step(t, net_.operators[o]);
      if (!why.empty()) return why;
    }
    return "";
  }
  int64_t bytes() const { return bytes_; }

 private:
  using Residence = sluice::Residence;
  using Operator = sluice::Operator;
  static constexpr auto kInput = sluice::TensorRole::kInput;
  static constexpr auto kOutput = sluice::TensorRole::kOutput;
  static constexpr auto kIntermediate = sluice::TensorRole::kIntermediate;

  static std::string Text(const char* what, size_t i) {
    return std::string(what) + " " + std::to_string(i);
  }
  bool RoleIs(size_t tensor, sluice::TensorRole role) const {
    return net_.tensors[tensor].role == role;
  }
  int64_t Bytes(const Residence& r) const { return net_.tensors[r.tensor].bytes; }

  std::string Step(size_t t, const Operator& op) {
    std::string why = Write(t);
    if (!why.empty()) return why;
    std::vector<const Residence*> alive;
    std::vector<int> here(net_.tensors.size(), 0);
    for (const Residence& r : plan_.residences) {
      if (r.begin > t || t >= r.end) continue;
      alive.push_back(&r);
      if (here[r.tensor]++) return Text("two places of tensor", r.tensor);
    }
    for (const Residence* r : alive) {
      if (r->begin == t) why = Enter(t, op, *r);
      if (!why.empty()) return why;
    }
    for (size_t i = 0; i < alive.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (Overlap(t, op, *alive[i], *alive[j])) return Text("overlap at step", t);
      }
    }
    return Run(t, op, here);
  }

  // Counts the writes of the tensors whose residence ended with the previous step.
  std::string Write(size_t t) {
    for (const Residence& r : plan_.residences) {
      if (r.end != t || !r.spilled) continue;
      const bool free_write = !paper_ && !RoleIs(r.tensor, kIntermediate);
      if (free_write) return Text("charged write of tensor", r.tensor);
      if (created_[r.tensor] < 0 && !loaded_[r.tensor])
        return Text("write of", r.tensor);
      in_dram_[r.tensor] = true;
      bytes_ += Bytes(r);
    }
    return "";
  }

  // Whether a residence of the tensor that ended by step t was written to DRAM. A network
  // input that was dropped must have been written before it can be read again.
  bool WasWritten(size_t t, uint32_t tensor) const {
    for (const Residence& r : plan_.residences) {
      if (r.tensor == tensor && r.spilled && r.end <= t) return true;
    }
    return false;
  }

  // A residence that begins at this step is an output of its operator, or comes from DRAM.
  std::string Enter(size_t t, const Operator& op, const Residence& r) {
    const uint32_t a = r.tensor;
    for (uint32_t k = 0; k < op.output_count; ++k) {
      if (net_.operands[op.first_output + k] != a) continue;
      return r.retrieved ? Text("retrieved output", a) : "";
    }
    const bool is_input = RoleIs(a, kInput);
    const bool copy =
        paper_ ? in_dram_[a] && (!is_input || !loaded_[a] || WasWritten(t, a))
               : in_dram_[a] || (RoleIs(a, kOutput) && created_[a] >= 0);
    if (!copy) return Text("read of what DRAM does not have, tensor", a);
    const bool first_load = is_input && !loaded_[a];
    if (r.retrieved == first_load) return Text("retrieve flag of tensor", a);
    if (!first_load) bytes_ += Bytes(r);
    loaded_[a] = true;
    return "";
  }

  // Whether two tensors share bytes without being one in place of the other.
  bool Overlap(size_t t, const Operator& op, const Residence& x,
               const Residence& y) const {
    if (x.offset + Bytes(x) <= y.offset || y.offset + Bytes(y) <= x.offset)
      return false;
    return !InPlace(t, op, x, y) && !InPlace(t, op, y, x);
  }

  // Whether `out` takes over the bytes of `in`, which this step reads for the last time.
  bool InPlace(size_t t, const Operator& op, const Residence& out,
               const Residence& in) const {
    if (op.in_place == sluice::kNoOperand || out.begin != t || in.end != t + 1) {
      return false;
    }
    if (net_.operands[op.first_output] != out.tensor ||
        net_.operands[op.first_input + op.in_place] != in.tensor) {
      return false;
    }
    for (size_t later = t + 1; later < plan_.order.size(); ++later) {
      const Operator& next = net_.operators[plan_.order[later]];
      for (uint32_t k = 0; k < next.input_count; ++k) {
        if (net_.operands[next.first_input + k] == in.tensor) return false;
      }
    }
    return out.offset == in.offset && Bytes(out) == Bytes(in);
  }

  std::string Run(size_t t, const Operator& op, const std::vector<int>& here) {
    for (uint32_t k = 0; k < op.input_count; ++k) {
      const uint32_t a = net_.operands[op.first_input + k];
      if (!here[a]) return Text("absent input", a);
      if (!RoleIs(a, kInput) && created_[a] < 0)
        return Text("input not created yet", a);
    }
    for (uint32_t k = 0; k < op.output_count; ++k) {
      const uint32_t a = net_.operands[op.first_output + k];
      if (!here[a]) return Text("absent output", a);
      created_[a] = static_cast<int64_t>(t);
    }
    return "";
  }

  const Net& net_;
  const sluice::SpillPlan& plan_;
  const int64_t capacity_;
  const bool paper_;
  std::vector<int> ran_;
  std::vector<int64_t> created_;  // the step, or -1
  std::vector<bool> in_dram_, loaded_;
  int64_t bytes_ = 0;
};

// "" or what is wrong. Recounts bytes into *recount.
inline std::string JudgePlan(const Net& net, const sluice::SpillPlan& plan,
                             int64_t capacity, bool paper, int64_t* recount) {
  SpillWalk walk(net, plan, capacity, paper);
  const std::string why = walk.Judge();
  *recount = walk.bytes();
  return why;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_SPILL_JUDGE_H_
