// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/spill_search.h"

#include <algorithm>

#include "base/checked.h"
#include "base/sort.h"
#include "solve/placement/spill/spill_model.h"

namespace sluice {
namespace {

constexpr uint32_t kNoState = 0xffffffffu;

// What does not depend on the number of words is outside the templates: one sort of it.
struct Other {  // resident, and not needed by the operator at hand
  int64_t bytes, price;
  uint32_t tensor;
  bool operator<(const Other& b) const {  // large ones first
    return bytes != b.bytes ? bytes > b.bytes : tensor < b.tensor;
  }
};
struct Ranked {
  int64_t score;
  uint32_t state;
  bool operator<(const Ranked& b) const {
    return score != b.score ? score < b.score : state < b.state;
  }
};

template <int W>
struct State {
  Bits<W> executed, resident, copied;
  Bits<W> ready;  // operators that may run next
  int64_t bytes;  // spent, and owed: the return of all that left is already in it
  int64_t held;   // sum of the resident tensors
  uint32_t parent;
  uint32_t next;  // in its group: same executed set
  uint32_t op;
  bool dead;  // dominated
};

// Executed sets of the layer in the making -> first state of the group.
template <int W>
struct GroupTable {
  Span<uint32_t> slots;
  Span<uint32_t> heads;  // states, for clearing and growth
  uint32_t mask = 0;
};

template <int W>
class Search {
 public:
  using Set = Bits<W>;
  // gnu::cold: once per search or seldom, kept small although the rest is built for
  // speed.

  Search(const SpillModel<W>& model, const SpillSearchOptions& options, Budget* budget,
         Arena* arena)
      : m_(model),
        options_(options),
        budget_(budget),
        arena_(arena),
        states_(arena),
        groups_(arena),
        ranked_(arena),
        give_up_(options.give_up) {}

  [[gnu::cold]] Status Run(SpillDecisions* out) {
    SLUICE_TRY(arena_->Allocate(m_.bytes.size(), &others_));
    SLUICE_TRY(GrowTable(256));
    const SpillWindow& window = options_.window;
    State<W> root{};
    for (uint32_t o = 0; o < m_.operators; ++o) allowed_.Add(o);
    uint32_t layers = m_.operators;
    if (window.begin != window.end) {
      SLUICE_TRY(At(*window.base, window.begin, &root));
      SLUICE_TRY(At(*window.base, window.end, &goal_));
      goal_.bytes -= root.bytes;
      root.bytes = 0;
      root.held = m_.Sum(root.resident);
      out->window_bytes = goal_.bytes;
      give_up_ = Min(give_up_, goal_.bytes);
      allowed_ = goal_.executed - root.executed;
      layers = window.end - window.begin;
    }
    root.parent = root.next = kNoState;
    for (uint32_t o = 0; o < m_.operators; ++o) {
      if (allowed_.Has(o) && m_.Ready(o, root.executed)) root.ready.Add(o);
    }
    SLUICE_TRY(states_.Push(root));
    const int64_t owed = m_.read_after.empty() ? 0 : Owed(root);
    size_t begin = 0, end = 1;
    for (uint32_t layer = 0; layer < layers; ++layer) {
      for (size_t i = begin; i < end && !limited_; ++i) {
        if (states_[i].dead) continue;
        if (budget_->Tick() || TooMany()) limited_ = true;
        if (!limited_) SLUICE_TRY(Expand(static_cast<uint32_t>(i), layer));
      }
      if (limited_) {
        // What was not expanded may hold anything above its own bytes.
        for (size_t i = begin; i < end; ++i) NoteDropped(states_[i]);
        break;
      }
      begin = end;
      end = states_.size();
      ClearTable();
      if (options_.width != 0) SLUICE_TRY(KeepBest(begin, &end));
    }
    uint32_t best = kNoState;
    for (size_t i = begin; i < end && !limited_; ++i) {
      if (states_[i].dead) continue;
      if (window.begin != window.end) states_[i].bytes += Surplus(states_[i], goal_);
      if (states_[i].bytes >= give_up_) continue;
      if (best == kNoState || states_[i].bytes < states_[best].bytes) {
        best = static_cast<uint32_t>(i);
      }
    }
    out->states = states_.size();
    out->found = best != kNoState;
    if (out->found) {
      out->bytes = states_[best].bytes;
      Trace(best, out);
    }
    const int64_t reached = out->found ? out->bytes : give_up_;
    out->lower_bound = Min(reached, Max(dropped_, owed));
    out->complete = !limited_ && !cut_;
    return Status::kOk;
  }

 private:
  bool TooMany() const {
    return (options_.max_states != 0 && states_.size() >= options_.max_states) ||
           states_.size() >= kNoState / 2;
  }
  void NoteDropped(const State<W>& s) {
    if (!s.dead) dropped_ = Min(dropped_, s.bytes);
  }
  // What the write on leaving costs; the return comes on top.
  int64_t WritePrice(uint32_t a) const {
    if (options_.charge == SpillCharge::kHost &&
        m_.graph->tensors[a].role != TensorRole::kIntermediate) {
      return 0;
    }
    return m_.bytes[a];
  }

  Status Expand(uint32_t from, uint32_t layer) {
    if (!options_.fixed_order.empty()) {
      return Step(from, options_.fixed_order[options_.window.begin + layer]);
    }
    const Set ready = states_[from].ready;
    uint32_t free = kNoOperand;
    ready.ForEach([&](uint32_t o) {
      if (free == kNoOperand && Free(states_[from], o).taken) free = o;
    });
    if (free != kNoOperand) {
      if (!Free(states_[from], free).proved) {
        cut_ = true;
        NoteDropped(states_[from]);
      }
      return Step(from, free);
    }
    Status status = Status::kOk;
    ready.ForEach([&](uint32_t o) {
      if (status == Status::kOk) status = Step(from, o);
    });
    return status;
  }

  // Whether nothing is lost by running o at once: nothing has to leave for it, and its
  // outputs take no more than the operand that is read for the last time. Whatever
  // another order holds of that operand until o runs, this one can hold of the outputs,
  // and when they leave they cost no more. With several such operands that is so but
  // for plans that drop some of them only; a beam takes the chance.
  struct Freedom {
    bool taken, proved;
  };
  Freedom Free(const State<W>& s, uint32_t o) const {
    if (!m_.inputs[o].Within(s.resident)) return {false, false};
    Set with = s.executed;
    with.Add(o);
    int64_t written = 0, stays = 0, read_last = 0;
    int operands = 0;
    bool cheap = true;
    m_.outputs[o].ForEach([&](uint32_t a) {
      written += m_.bytes[a];
      if (!m_.readers[a].Empty()) stays += m_.bytes[a];
    });
    m_.inputs[o].ForEach([&](uint32_t a) {
      if (!m_.readers[a].Within(with)) return;
      read_last += m_.bytes[a];
      ++operands;
      cheap = cheap && (s.copied.Has(a) || WritePrice(a) == 0);
    });
    const int64_t room = options_.target == 0 ? options_.capacity : options_.target;
    if (s.held + written > room || stays > read_last) return {false, false};
    const bool proved = stays == 0 || (operands == 1 && !cheap);
    return {proved || options_.width != 0, proved};
  }

  // All ways to run operator o next: lazily, only as much leaves as must.
  Status Step(uint32_t from, uint32_t o) {
    const State<W> s = states_[from];  // a copy: states_ may move
    next_ = State<W>{};
    next_.parent = from;
    next_.op = o;
    next_.executed = s.executed;
    next_.executed.Add(o);
    next_.ready = s.ready;
    next_.ready.Drop(o);
    (m_.wakes[o] & allowed_).ForEach([&](uint32_t p) {
      if (m_.waits[p].Within(next_.executed)) next_.ready.Add(p);
    });
    next_.copied = s.copied;
    other_count_ = 0;
    const int64_t need = m_.NeedAfter(o, s.executed);
    if (need > options_.capacity) return Status::kOk;
    const int64_t room = options_.target == 0 ? options_.capacity : options_.target;
    int64_t excess = need - Max(need, room);
    (s.resident - m_.inputs[o]).ForEach([&](uint32_t a) {
      const int64_t write = s.copied.Has(a) ? 0 : WritePrice(a);
      others_[other_count_++] = Other{m_.bytes[a], m_.bytes[a] + write, a};
      excess += m_.bytes[a];
    });
    leaves_ = 0;
    if (excess <= 0) return Finish(Set{}, s.bytes);
    Sort(others_.begin(), others_.begin() + other_count_);
    int64_t rest = 0;
    for (uint32_t i = 0; i < other_count_; ++i) rest += others_[i].bytes;
    if (options_.max_evictions != 0) SLUICE_TRY(Greedy(excess, s.bytes));
    return Evict(0, excess, rest, Set{}, s.bytes);
  }

  // Sets in order of falling size that free `excess` and stop as soon as they do, which
  // makes them minimal: the last one taken is the smallest.
  Status Evict(uint32_t at, int64_t excess, int64_t rest, const Set& gone,
               int64_t bytes) {
    if (bytes >= give_up_) return Status::kOk;
    if (excess <= 0) return Finish(gone, bytes);
    if (rest < excess) return Status::kOk;
    if (options_.max_evictions != 0 && leaves_ >= options_.max_evictions) {
      cut_ = true;
      dropped_ = Min(dropped_, bytes);
      return Status::kOk;
    }
    const Other& other = others_[at];
    Set with = gone;
    with.Add(other.tensor);
    SLUICE_TRY(Evict(at + 1, excess - other.bytes, rest - other.bytes, with,
                     bytes + other.price));
    return Evict(at + 1, excess, rest - other.bytes, gone, bytes);
  }

  // With a limit on sets, the cheapest ones come first: the best single, and by price.
  Status Greedy(int64_t excess, int64_t bytes) {
    uint32_t single = kNoState;
    for (uint32_t i = 0; i < other_count_; ++i) {
      if (others_[i].bytes < excess) continue;
      if (single == kNoState || others_[i].price < others_[single].price) single = i;
    }
    if (single != kNoState) {
      Set gone{};
      gone.Add(others_[single].tensor);
      SLUICE_TRY(Finish(gone, bytes + others_[single].price));
    }
    Set gone{};
    while (excess > 0) {  // least price per byte, ties by size
      uint32_t pick = kNoState;
      for (uint32_t i = 0; i < other_count_; ++i) {
        if (gone.Has(others_[i].tensor)) continue;
        if (pick == kNoState ||
            static_cast<__int128>(others_[i].price) * others_[pick].bytes <
                static_cast<__int128>(others_[pick].price) * others_[i].bytes) {
          pick = i;
        }
      }
      if (pick == kNoState) return Status::kOk;
      gone.Add(others_[pick].tensor);
      excess -= others_[pick].bytes;
      bytes += others_[pick].price;
    }
    return Finish(gone, bytes);
  }

  Status Finish(const Set& gone, int64_t bytes) {
    ++leaves_;
    if (bytes >= give_up_) return Status::kOk;
    const State<W>& s = states_[next_.parent];
    next_.bytes = bytes;
    next_.copied = s.copied | gone;
    next_.resident = (s.resident - gone) | m_.inputs[next_.op] | m_.outputs[next_.op];
    next_.held = 0;
    next_.resident.ForEach([&](uint32_t a) {
      if (m_.readers[a].Within(next_.executed)) {
        next_.resident.Drop(a);
      } else {
        next_.held += m_.bytes[a];
      }
    });
    if (options_.width == 0 && bytes + Owed(next_) >= give_up_) return Status::kOk;
    return Insert();
  }

  // Bytes that any way on from here still has to pay: when the hardest operator to come
  // runs, what is read after it and was resident or made before must share the capacity
  // with its operands, or leave.
  int64_t Owed(const State<W>& s) const {
    int64_t most = 0;
    Set made = s.resident;  // resident, or gone and paid
    s.executed.ForEach([&](uint32_t o) { made = made | m_.inputs[o] | m_.outputs[o]; });
    (allowed_ - s.executed).ForEach([&](uint32_t o) {
      const Set waiting = (m_.read_after[o] & s.resident) | (m_.across[o] - made);
      int64_t excess = m_.need[o] - options_.capacity;
      if (m_.in_place[o] != kNoOperand) excess -= m_.bytes[m_.in_place[o]];
      int64_t cheap = 0, least = INT64_MAX;  // cheap: leave without a write
      waiting.ForEach([&](uint32_t a) {
        const int64_t write = s.copied.Has(a) ? 0 : WritePrice(a);
        excess += m_.bytes[a];
        if (write == 0) cheap += m_.bytes[a];
        least = Min(least, m_.bytes[a] + write);
      });
      if (excess <= 0 || least == INT64_MAX) return;
      const int64_t price = excess + Max<int64_t>(0, excess - cheap);
      most = Max(most, Max(least, RoundUpTo(price, m_.granule)));
    });
    return most;
  }

  // What a has to pay to go on exactly as b can: for leaving at once what b does not
  // hold, and for copies that b has. What only b holds, a has paid the return of.
  int64_t Surplus(const State<W>& a, const State<W>& b) const {
    int64_t bytes = 0;
    (a.resident - b.resident).ForEach([&](uint32_t t) {
      bytes += m_.bytes[t] + (a.copied.Has(t) ? 0 : WritePrice(t));
    });
    ((a.resident & b.resident & b.copied) - a.copied).ForEach([&](uint32_t t) {
      bytes += WritePrice(t);
    });
    return bytes;
  }
  bool Dominates(const State<W>& a, const State<W>& b) const {
    // At least the difference of the sums must leave, so most pairs end here.
    if (a.bytes + a.held - b.held > b.bytes) return false;
    int64_t slack = b.bytes - a.bytes;
    for (int k = 0; k < W; ++k) {
      uint64_t rest = a.resident.w[k] & ~b.resident.w[k];
      for (; rest != 0 && slack >= 0; rest &= rest - 1) {
        const uint32_t t = static_cast<uint32_t>(64 * k + __builtin_ctzll(rest));
        slack -= m_.bytes[t] + (a.copied.Has(t) ? 0 : WritePrice(t));
      }
      rest = a.resident.w[k] & b.resident.w[k] & b.copied.w[k] & ~a.copied.w[k];
      for (; rest != 0 && slack >= 0; rest &= rest - 1) {
        slack -= WritePrice(static_cast<uint32_t>(64 * k + __builtin_ctzll(rest)));
      }
    }
    return slack >= 0;
  }

  // The state of a plan before its step `step`. A tensor used just before is still
  // there; others only if their next use does not fetch them.
  [[gnu::cold]] Status At(const SpillDecisions& plan, uint32_t step,
                          State<W>* state) const {
    *state = State<W>{};
    ArenaScope scope(arena_);
    Span<uint32_t> last_use;  // plus one; 0 = none
    SLUICE_TRY(arena_->Allocate(m_.bytes.size(), &last_use));
    Set settled{};  // next use at or after `step` seen
    for (uint32_t t = 0; t < m_.operators; ++t) {
      const uint32_t o = plan.order[t];
      const Operator& op = m_.graph->operators[o];
      if (t < step) state->executed.Add(o);
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const uint32_t a = m_.graph->operands[op.first_input + k];
        const uint32_t last = last_use[a];
        const bool drop = last != 0 && last != t + 1 && plan.fetch[op.first_input + k];
        last_use[a] = t + 1;
        if (last == 0 || last > step || settled.Has(a)) continue;
        if (drop && last < step) {
          state->bytes += m_.bytes[a] + (state->copied.Has(a) ? 0 : WritePrice(a));
          state->copied.Add(a);
        }
        if (t < step) continue;
        settled.Add(a);
        if (!drop || last == step) state->resident.Add(a);
      }
      for (uint32_t a : m_.graph->OutputsOf(op)) last_use[a] = t + 1;
    }
    return Status::kOk;
  }

  Status Insert() {
    uint32_t slot = static_cast<uint32_t>(next_.executed.Hash() >> 32) & table_.mask;
    while (table_.slots[slot] != kNoState &&
           !(states_[table_.slots[slot]].executed == next_.executed)) {
      slot = (slot + 1) & table_.mask;
    }
    uint32_t before = kNoState;
    for (uint32_t i = table_.slots[slot]; i != kNoState;
         before = i, i = states_[i].next) {
      State<W>& other = states_[i];
      if (other.dead) continue;
      if (other.bytes <= next_.bytes && Dominates(other, next_)) {
        // It will dominate more: to the front of the group with it.
        if (before != kNoState) {
          states_[before].next = other.next;
          other.next = table_.slots[slot];
          table_.slots[slot] = i;
        }
        return Status::kOk;
      }
      if (next_.bytes <= other.bytes && Dominates(next_, other)) other.dead = true;
    }
    const bool is_new = table_.slots[slot] == kNoState;
    next_.next = is_new ? kNoState : states_[table_.slots[slot]].next;
    const uint32_t index = static_cast<uint32_t>(states_.size());
    SLUICE_TRY(states_.Push(next_));
    if (!is_new) {  // behind the head, which names the group
      states_[table_.slots[slot]].next = index;
      return Status::kOk;
    }
    table_.slots[slot] = index;
    SLUICE_TRY(groups_.Push(slot));
    if (groups_.size() * 2 > table_.mask) return GrowTable(4 * (table_.mask + 1));
    return Status::kOk;
  }

  void ClearTable() {
    for (uint32_t slot : groups_) table_.slots[slot] = kNoState;
    groups_.Truncate(0);
  }

  [[gnu::cold]] Status GrowTable(uint32_t size) {
    const Span<uint32_t> old = table_.slots;
    SLUICE_TRY(arena_->Allocate(size, &table_.slots));
    table_.mask = size - 1;
    for (uint32_t& slot : table_.slots) slot = kNoState;
    for (uint32_t& group : groups_) {
      const uint32_t head = old[group];
      group = static_cast<uint32_t>(states_[head].executed.Hash() >> 32) & table_.mask;
      while (table_.slots[group] != kNoState) group = (group + 1) & table_.mask;
      table_.slots[group] = head;
    }
    return Status::kOk;
  }

  // Fewest bytes first, and of those the emptiest scratchpad.
  Status KeepBest(size_t begin, size_t* end) {
    ranked_.Truncate(0);
    for (size_t i = begin; i < *end; ++i) {
      if (states_[i].dead) continue;
      const int64_t score = states_[i].bytes + states_[i].held / 8;
      SLUICE_TRY(ranked_.Push(Ranked{score, static_cast<uint32_t>(i)}));
    }
    if (ranked_.size() <= options_.width) return Status::kOk;
    cut_ = true;
    std::nth_element(ranked_.begin(), ranked_.begin() + options_.width, ranked_.end());
    for (size_t i = options_.width; i < ranked_.size(); ++i) {
      State<W>& s = states_[ranked_[i].state];
      NoteDropped(s);
      s.dead = true;
    }
    return Status::kOk;
  }

  [[gnu::cold]] void Trace(uint32_t last, SpillDecisions* out) {
    const SpillWindow& window = options_.window;
    uint32_t step = m_.operators;
    if (window.begin == window.end) {
      std::fill(out->fetch.begin(), out->fetch.end(), uint8_t{0});
    } else {
      std::copy(window.base->order.begin(), window.base->order.end(),
                out->order.begin());
      std::copy(window.base->fetch.begin(), window.base->fetch.end(),
                out->fetch.begin());
      FetchAfterWindow(goal_.resident - states_[last].resident, out);
      step = window.end;
    }
    for (uint32_t i = last; states_[i].parent != kNoState; i = states_[i].parent) {
      const State<W>& s = states_[i];
      out->order[--step] = s.op;
      const Operator& op = m_.graph->operators[s.op];
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const uint32_t a = m_.graph->operands[op.first_input + k];
        out->fetch[op.first_input + k] = !states_[s.parent].resident.Has(a);
      }
    }
  }

  // What the old plan still held after the window, and the new one does not, must be
  // fetched for its first use there.
  [[gnu::cold]] void FetchAfterWindow(Set missing, SpillDecisions* out) const {
    for (uint32_t t = options_.window.end; t < m_.operators; ++t) {
      const Operator& op = m_.graph->operators[out->order[t]];
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const uint32_t a = m_.graph->operands[op.first_input + k];
        if (missing.Has(a)) out->fetch[op.first_input + k] = 1;
      }
      missing = missing - m_.inputs[out->order[t]];
    }
  }

  const SpillModel<W>& m_;
  const SpillSearchOptions& options_;
  Budget* const budget_;
  Arena* const arena_;
  Vector<State<W>> states_;
  GroupTable<W> table_;
  Vector<uint32_t> groups_;  // used slots
  Vector<Ranked> ranked_;
  Span<Other> others_;
  uint32_t other_count_ = 0;
  uint32_t leaves_ = 0;
  State<W> next_{};
  State<W> goal_{};              // of a window: the old plan after it
  Set allowed_{};                // operators
  int64_t give_up_;              // states at or above it are of no use
  int64_t dropped_ = INT64_MAX;  // least bytes of what was cut
  bool cut_ = false;
  bool limited_ = false;
};

}  // namespace

Status SearchSpills(const OperatorGraph& graph, const SpillSearchOptions& options,
                    Budget* budget, Arena* arena, SpillDecisions* out) {
  return WithWidth(SpillItems(graph), [&](auto* tag) {
    constexpr int kWords = WordsOf(decltype(tag){});
    ArenaScope scope(arena);
    SpillModel<kWords> model;
    SLUICE_TRY(model.Init(graph, arena));
    const bool window = options.window.begin != options.window.end;
    if (options.width == 0 || !window) SLUICE_TRY(model.InitBounds(arena));
    Search<kWords> search(model, options, budget, arena);
    return search.Run(out);
  });
}

}  // namespace sluice
