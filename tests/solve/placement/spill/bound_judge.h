// SPDX-License-Identifier: Apache-2.0
// A lower bound on the bytes that any order of a net's operators moves, whatever it spills.
//
// Input   a net without in-place operators; a capacity; an order, which decides how the net
//         is divided and may be any; how many states may be looked at.
// Output  no plan moves fewer bytes, where every first departure is written (kPaper).
// Cost    exponential in the operators of a part, up to the states.
// Source  A plan moves at least what it moves for a part of the tensors, and for these it
//         is a plan of the operators that touch them. Each part is solved by a search that
//         continues with the state of the least bound. Shares nothing with the solvers but
//         the input structs.
#ifndef SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_BOUND_JUDGE_H_
#define SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_BOUND_JUDGE_H_

#include <algorithm>
#include <bitset>
#include <queue>
#include <unordered_map>
#include <vector>

#include "tests/solve/placement/spill/spill_judge.h"

namespace sluice_test {

// The operators of a part, and the tensors whose moves it counts. Other operands take room
// while an operator runs.
struct BoundPart {
  static constexpr size_t kMost = 320;  // operators; tensors
  using Set = std::bitset<kMost>;

  struct Op {
    int64_t need;       // bytes of all its operands
    Set in, out;        // counted tensors
    Set before, after;  // operators that must run earlier, or later
    Set across;         // tensors that are there while it runs: made before, read after
    Set later;          // tensors that are not its own and are read after
  };
  std::vector<Op> ops;
  std::vector<int64_t> bytes;    // of the counted tensors
  std::vector<Set> readers;      // of the counted tensors: operators
  std::vector<uint32_t> makers;  // likewise; kNoOperand: an input of the net

  bool operator==(const BoundPart& b) const {
    if (bytes != b.bytes || makers != b.makers || ops.size() != b.ops.size())
      return false;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].need != b.ops[i].need || ops[i].in != b.ops[i].in ||
          ops[i].out != b.ops[i].out || ops[i].before != b.ops[i].before) {
        return false;
      }
    }
    return true;
  }
};

// What may follow a state, and what it pays at least.
class PartRules {
 public:
  using Set = BoundPart::Set;

  struct State {
    Set ran, here, copied;
    int64_t paid = 0;  // a tensor that left has paid for its return
    bool beaten = false;
  };
  PartRules(const BoundPart& part, int64_t capacity)
      : part_(part), capacity_(capacity) {
    partner_.assign(part.ops.size(), sluice::kNoOperand);
    waiting_for_.resize(part.ops.size());
    for (uint32_t o = 0; o < part.ops.size(); ++o) FindPartner(o);
    for (uint32_t o = 0; o < part.ops.size(); ++o) {
      if (part.ops[o].need + Sum(part.ops[o].later) > capacity) pressing_.push_back(o);
    }
  }

  template <typename F>
  static void Each(const Set& set, F f) {
    for (size_t i = set._Find_first(); i < set.size(); i = set._Find_next(i)) {
      f(static_cast<uint32_t>(i));
    }
  }
  int64_t Sum(const Set& set) const {
    int64_t sum = 0;
    Each(set, [&](uint32_t a) { sum += part_.bytes[a]; });
    return sum;
  }
  // What it costs that a tensor leaves, with its return.
  int64_t Price(uint32_t a, const Set& copied) const {
    return copied[a] ? part_.bytes[a] : 2 * part_.bytes[a];
  }

  // What every continuation pays at least: for an operator that is to come, what waits
  // meanwhile must fit beside it or leave. Operators add up where the tensors differ.
  int64_t Owed(const State& s) const {
    Set touched = s.here;
    Each(s.ran, [&](uint32_t o) { touched |= part_.ops[o].in | part_.ops[o].out; });
    Set counted;
    int64_t sum = 0;
    for (const uint32_t o : pressing_) {
      if (s.ran[o]) continue;
      const BoundPart::Op& op = part_.ops[o];
      const Set waiting = Waiting(s, touched, op);
      const int64_t excess = op.need + Sum(waiting & ~counted) - capacity_;
      if (excess <= 0) continue;
      std::vector<uint32_t> from;
      Each(waiting & ~counted, [&](uint32_t a) { from.push_back(a); });
      std::sort(from.begin(), from.end(), [&](uint32_t a, uint32_t b) {
        return part_.bytes[a] != part_.bytes[b] ? part_.bytes[a] > part_.bytes[b]
                                                : a < b;
      });
      sum += Cover(from, 0, excess, s.copied, INT64_MAX / 2);
      counted |= waiting;
    }
    return sum;
  }

  // Operators that may run next: all that are ready, but the members of a group only
  // together.
  std::vector<uint32_t> Ready(const State& s) const {
    std::vector<uint32_t> ready, group;
    for (uint32_t o = 0; o < part_.ops.size(); ++o) {
      if (s.ran[o] || (part_.ops[o].before & ~s.ran).any()) continue;
      const uint32_t p = partner_[o] == sluice::kNoOperand ? o : partner_[o];
      if ((waiting_for_[p] & s.ran).any()) {
        group.push_back(o);
      } else if (p == o || (part_.ops[p].before & ~s.ran & ~waiting_for_[p]).none()) {
        ready.push_back(o);
      }
    }
    if (!group.empty()) return group;
    for (const uint32_t o : ready) {
      if (partner_[o] == sluice::kNoOperand && IsFree(s, o)) return {o};
    }
    return ready;
  }

 private:
  // The least price of tensors among these that have this many bytes together.
  int64_t Cover(const std::vector<uint32_t>& from, size_t at, int64_t excess,
                const Set& copied, int64_t limit) const {
    if (excess <= 0) return 0;
    int64_t rest = 0;
    for (size_t i = at; i < from.size(); ++i) rest += part_.bytes[from[i]];
    if (rest < excess || excess >= limit) return limit;  // a byte costs one at least
    const uint32_t a = from[at];
    const int64_t price = Price(a, copied);
    if (price < limit) {
      limit = std::min(limit, price + Cover(from, at + 1, excess - part_.bytes[a],
                                            copied, limit - price));
    }
    return Cover(from, at + 1, excess, copied, limit);
  }

  // Tensors that must be here or have left while `o` runs later.
  Set Waiting(const State& s, const Set& touched, const BoundPart::Op& op) const {
    return (op.later & s.here) | (op.across & ~touched);
  }

  // An operator whose single result has a single reader `p` may as well run directly
  // before it, with others of that kind: until then its operand, which is not larger, can
  // lie where the result would lie, and beside it there is room for the operand where `p`
  // puts its own results.
  void FindPartner(uint32_t o) {
    const BoundPart::Op& op = part_.ops[o];
    if (op.out.count() != 1 || op.in.count() > 1 || waiting_for_[o].any()) return;
    const size_t middle = op.out._Find_first();
    if (part_.readers[middle].count() != 1) return;
    const uint32_t p = static_cast<uint32_t>(part_.readers[middle]._Find_first());
    const BoundPart::Op& next = part_.ops[p];
    Set then = next.after;
    then[p] = true;
    if (partner_[p] != sluice::kNoOperand || (op.after & ~then).any()) return;
    if (Sum(op.in) > part_.bytes[middle]) return;
    // Where nothing else reads the operand, it is often free to run at once instead.
    if (op.in.any() && part_.readers[op.in._Find_first()].count() == 1) return;
    if (op.need - part_.bytes[middle] > next.need - Sum(next.in)) return;
    partner_[o] = p;
    waiting_for_[p][o] = true;
  }

  // Whether running `o` now loses nothing. All of its counted operands are here or come for
  // it alone, and nothing has to leave for it. Then another order that runs it later holds
  // an operand meanwhile that only `o` still reads; this one can hold the results in its
  // place, and pays no more when they leave.
  bool IsFree(const State& s, uint32_t o) const {
    const BoundPart::Op& op = part_.ops[o];
    Set with = s.ran;
    with[o] = true;
    int64_t stays = 0;
    bool good = true, replaced = false;
    Each(op.out,
         [&](uint32_t a) { stays += part_.readers[a].any() ? part_.bytes[a] : 0; });
    Each(op.in, [&](uint32_t a) {
      const bool last = (part_.readers[a] & ~with).none();
      if (!s.here[a]) {
        good = good && last;
      } else if (last) {
        replaced = replaced || 2 * stays <= Price(a, s.copied);
      }
    });
    if (!good || !(replaced || stays == 0)) return false;
    return Sum(s.here & ~op.in) + op.need <= capacity_;
  }

  const BoundPart& part_;
  const int64_t capacity_;
  std::vector<uint32_t> partner_;   // the operator that this one runs directly before
  std::vector<Set> waiting_for_;    // operators that run directly before this one
  std::vector<uint32_t> pressing_;  // operators beside which not all fits
};

// The least that a part moves.
class PartSearch {
 public:
  using Set = BoundPart::Set;
  using State = PartRules::State;

  PartSearch(const BoundPart& part, int64_t capacity, size_t most_states)
      : part_(part), capacity_(capacity), most_(most_states), rules_(part, capacity) {
    for (size_t o = 0; o < part.ops.size(); ++o) all_[o] = true;
  }

  // Exact if exact(), else a bound.
  int64_t Run() {
    Push(State{}, 0);
    while (!open_.empty()) {
      const Open top = open_.top();
      open_.pop();
      if (states_[top.state].beaten) continue;
      if (states_[top.state].ran == all_) return exact_ = true, top.bound;
      if (states_.size() >= most_) return top.bound;
      Expand(top.state, top.bound);
    }
    return INT64_MAX;  // an operator alone exceeds the capacity
  }
  bool exact() const { return exact_; }
  size_t states() const { return states_.size(); }

 private:
  struct Open {
    int64_t bound;
    size_t done;  // operators; more of them first
    uint32_t state;
    bool operator<(const Open& b) const {
      return bound != b.bound ? bound > b.bound : done < b.done;
    }
  };

  void Expand(uint32_t from, int64_t bound) {
    const State s = states_[from];
    for (const uint32_t o : rules_.Ready(s)) {
      const BoundPart::Op& op = part_.ops[o];
      if (op.need > capacity_) continue;
      std::vector<uint32_t> others;
      PartRules::Each(s.here & ~op.in, [&](uint32_t a) { others.push_back(a); });
      std::sort(others.begin(), others.end(), [&](uint32_t a, uint32_t b) {
        return part_.bytes[a] != part_.bytes[b] ? part_.bytes[a] > part_.bytes[b]
                                                : a < b;
      });
      Leave(s, o, others, 0, op.need + rules_.Sum(s.here & ~op.in) - capacity_, s,
            bound);
    }
  }

  // All sets of tensors that leave and of which none could stay: by falling size, each
  // ends with the one that makes the room.
  void Leave(const State& before, uint32_t o, const std::vector<uint32_t>& others,
             size_t at, int64_t excess, State next, int64_t bound) {
    if (excess <= 0) {
      const BoundPart::Op& op = part_.ops[o];
      next.ran[o] = true;
      next.here |= op.in | op.out;
      const Set here = next.here;
      PartRules::Each(here, [&](uint32_t a) {
        if ((part_.readers[a] & ~next.ran).none()) next.here[a] = false;
      });
      return Push(next, bound);
    }
    if (at == others.size()) return;
    const uint32_t a = others[at];
    State gone = next;
    gone.here[a] = false;
    gone.copied[a] = true;
    gone.paid += rules_.Price(a, next.copied);
    Leave(before, o, others, at + 1, excess - part_.bytes[a], gone, bound);
    Leave(before, o, others, at + 1, excess, next, bound);
  }

  // Whether `a` can do all that `b` can, and pays no more.
  bool Beats(const State& a, const State& b) const {
    int64_t paid = a.paid;
    if (paid > b.paid) return false;
    PartRules::Each(a.here & ~b.here,
                    [&](uint32_t t) { paid += rules_.Price(t, a.copied); });
    PartRules::Each(a.here & b.here & b.copied & ~a.copied,
                    [&](uint32_t t) { paid += part_.bytes[t]; });
    return paid <= b.paid;
  }

  void Push(const State& next, int64_t bound) {
    std::vector<uint32_t>& same = by_ran_[next.ran];
    for (const uint32_t i : same) {
      if (Beats(states_[i], next)) return;
    }
    size_t kept = 0;
    for (const uint32_t i : same) {
      if (Beats(next, states_[i])) {
        states_[i].beaten = true;
      } else {
        same[kept++] = i;
      }
    }
    same.resize(kept);
    const uint32_t at = static_cast<uint32_t>(states_.size());
    same.push_back(at);
    states_.push_back(next);
    open_.push({std::max(bound, next.paid + rules_.Owed(next)), next.ran.count(), at});
  }

  const BoundPart& part_;
  const int64_t capacity_;
  const size_t most_;
  const PartRules rules_;
  Set all_;
  std::vector<State> states_;
  std::priority_queue<Open> open_;
  std::unordered_map<Set, std::vector<uint32_t>> by_ran_;
  bool exact_ = false;
};

struct BoundShape {
  uint32_t least = 12, most = 40;  // steps of a part, before parts are joined
  uint32_t ahead = 40;             // steps behind it whose reads are looked at as well
  size_t states = 1 << 16;         // of a part
};

// The bound of a whole net: the sum of those of parts that count different tensors.
class BoundJudge {
 public:
  BoundJudge(const Net& net, int64_t capacity, const std::vector<uint32_t>& order,
             BoundShape shape)
      : net_(net), capacity_(capacity), order_(order), shape_(shape) {
    const size_t n = net.operators.size();
    maker_.assign(net.tensors.size(), sluice::kNoOperand);
    first_.assign(net.tensors.size(), n);
    earlier_.assign(n, std::vector<bool>(n));
    for (uint32_t t = 0; t < n; ++t) {
      const uint32_t o = order[t];
      for (const uint32_t a : Operands(o, true))
        first_[a] = std::min<size_t>(first_[a], t);
      for (const uint32_t a : Operands(o, false)) {
        if (maker_[a] == sluice::kNoOperand) continue;
        for (uint32_t p = 0; p < n; ++p) {
          if (p == maker_[a] || earlier_[maker_[a]][p]) earlier_[o][p] = true;
        }
      }
      for (const uint32_t a : Written(o)) maker_[a] = o;
    }
  }

  int64_t Run() {
    std::vector<Window> windows = Cut();
    for (Window& w : windows) w.bound = BoundOf(w);
    for (bool joined = true; joined;) {
      joined = false;
      for (size_t i = 0; i + 1 < windows.size(); ++i) {
        Window both = {windows[i].begin, windows[i + 1].end, 0};
        both.bound = BoundOf(both);
        if (both.bound <= windows[i].bound + windows[i + 1].bound) continue;
        windows[i] = both;
        windows.erase(windows.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        joined = true;
      }
    }
    int64_t sum = 0;
    for (const Window& w : windows) sum += w.bound;
    return sum;
  }
  size_t states() const { return states_; }

 private:
  struct Window {  // steps of the order
    uint32_t begin, end;
    int64_t bound;
  };
  struct Known {
    BoundPart part;
    int64_t bound;
  };

  std::vector<uint32_t> Written(uint32_t o) const {
    const sluice::Operator& op = net_.operators[o];
    const auto from = net_.operands.begin() + op.first_output;
    return {from, from + op.output_count};
  }
  std::vector<uint32_t> Operands(uint32_t o, bool outputs) const {
    const sluice::Operator& op = net_.operators[o];
    const auto from = net_.operands.begin() + op.first_input;
    std::vector<uint32_t> all(from, from + op.input_count);
    if (outputs) {
      for (const uint32_t a : Written(o)) all.push_back(a);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  // Cuts the order where the fewest bytes wait between two steps.
  std::vector<Window> Cut() const {
    const uint32_t n = static_cast<uint32_t>(order_.size());
    std::vector<int64_t> waiting(n + 1);
    std::vector<size_t> last(net_.tensors.size());
    for (uint32_t t = 0; t < n; ++t) {
      for (const uint32_t a : Operands(order_[t], true)) last[a] = t;
    }
    for (size_t a = 0; a < last.size(); ++a) {
      for (size_t t = first_[a] + 1; t <= last[a]; ++t)
        waiting[t] += net_.tensors[a].bytes;
    }
    std::vector<Window> windows;
    for (uint32_t from = 0; from < n;) {
      uint32_t end = n;
      if (n - from > shape_.most) {
        end = from + shape_.least;
        for (uint32_t t = end; t <= from + shape_.most; ++t) {
          if (waiting[t] < waiting[end]) end = t;
        }
      }
      windows.push_back({from, end, 0});
      from = end;
    }
    return windows;
  }

  // The part that counts the tensors which the window touches first. False: too large.
  bool Make(const Window& w, BoundPart* part) const {
    const size_t last = std::min<size_t>(order_.size(), w.end + shape_.ahead);
    if (last - w.begin > BoundPart::kMost) return false;
    std::vector<uint32_t> at(net_.tensors.size(), sluice::kNoOperand);
    part->ops.resize(last - w.begin);
    std::vector<uint32_t> touches(net_.tensors.size());  // by operators of the part
    for (size_t t = w.begin; t < last; ++t) {
      for (const uint32_t a : Operands(order_[t], true)) ++touches[a];
    }
    for (uint32_t i = 0; i < part->ops.size(); ++i) {
      const uint32_t o = order_[w.begin + i];
      BoundPart::Op& op = part->ops[i];
      op.need = 0;
      const std::vector<uint32_t> written = Written(o);
      for (const uint32_t a : Operands(o, true)) {
        op.need += net_.tensors[a].bytes;
        if (first_[a] < w.begin || first_[a] >= w.end || touches[a] < 2) continue;
        const bool makes =
            std::find(written.begin(), written.end(), a) != written.end();
        if (at[a] == sluice::kNoOperand) {
          at[a] = static_cast<uint32_t>(part->bytes.size());
          part->bytes.push_back(net_.tensors[a].bytes);
          part->makers.push_back(makes ? i : sluice::kNoOperand);
          part->readers.emplace_back();
          if (part->bytes.size() > BoundPart::kMost) return false;
        }
        (makes ? op.out : op.in)[at[a]] = true;
        if (!makes) part->readers[at[a]][i] = true;
      }
      for (uint32_t k = 0; k < i; ++k) {
        if (!earlier_[o][order_[w.begin + k]]) continue;
        op.before[k] = true;
        part->ops[k].after[i] = true;
      }
    }
    for (BoundPart::Op& op : part->ops) {
      for (uint32_t a = 0; a < part->bytes.size(); ++a) {
        op.later[a] = (part->readers[a] & op.after).any() && !op.in[a] && !op.out[a];
        const bool there = part->makers[a] == sluice::kNoOperand
                               ? (part->readers[a] & op.before).any()
                               : op.before[part->makers[a]];
        op.across[a] = op.later[a] && there;
      }
    }
    return true;
  }

  int64_t BoundOf(const Window& w) {
    BoundPart part;
    if (!Make(w, &part)) return 0;
    for (const Known& known : known_) {
      if (known.part == part) return known.bound;
    }
    PartSearch search(part, capacity_, shape_.states);
    const int64_t bound = search.Run();
    states_ += search.states();
    known_.push_back({part, bound});
    return bound;
  }

  const Net& net_;
  const int64_t capacity_;
  const std::vector<uint32_t>& order_;
  const BoundShape shape_;
  std::vector<uint32_t> maker_;
  std::vector<size_t> first_;               // step that touches a tensor first
  std::vector<std::vector<bool>> earlier_;  // operators that must run before
  std::vector<Known> known_;
  size_t states_ = 0;
};

// The better bound of parts and, where it is not too large, of the whole net at once.
inline int64_t JudgeBound(const Net& net, int64_t capacity,
                          const std::vector<uint32_t>& order, size_t states) {
  BoundShape shape;
  shape.states = states;
  const int64_t by_parts = BoundJudge(net, capacity, order, shape).Run();
  if (order.size() > BoundPart::kMost) return by_parts;
  shape.least = shape.most = BoundPart::kMost;
  return std::max(by_parts, BoundJudge(net, capacity, order, shape).Run());
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SOLVE_PLACEMENT_SPILL_BOUND_JUDGE_H_
