// SPDX-License-Identifier: Apache-2.0
// An operator graph as bit sets, for searches over executed and resident sets.
//
// Input   checked graph of at most 64 * W operators and tensors.
// Output  per operator its operands and what it waits for; per tensor its readers.
// Errors  kOutOfMemory.
// Cost    O(operands * W).
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_MODEL_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_MODEL_H_

#include "base/checked.h"
#include "solve/placement/spill/bits.h"
#include "solve/placement/spill/operator_graph.h"

namespace sluice {

// The only member, or kNoOperand.
template <int W>
uint32_t Only(const Bits<W>& set) {
  uint32_t only = kNoOperand, count = 0;
  set.ForEach([&](uint32_t i) {
    only = i;
    ++count;
  });
  return count == 1 ? only : kNoOperand;
}

// f(tensor) for each that the operator reads, once.
template <typename F>
void ForEachInput(const OperatorGraph& graph, uint32_t o, F f) {
  const Span<const uint32_t> all = graph.InputsOf(graph.operators[o]);
  for (size_t k = 0; k < all.size(); ++k) {
    size_t first = 0;
    while (all[first] != all[k]) ++first;
    if (first == k) f(all[k]);
  }
}

// f(tensor) for each that the operator reads, once; then for each that it writes.
template <typename F>
void ForEachOperand(const OperatorGraph& graph, uint32_t o, F f) {
  ForEachInput(graph, o, f);
  for (uint32_t a : graph.OutputsOf(graph.operators[o])) f(a);
}

template <int W>
struct SpillModel {
  using Set = Bits<W>;

  const OperatorGraph* graph = nullptr;
  uint32_t operators = 0;
  Span<Set> inputs, outputs;  // per operator: tensors
  Span<Set> waits;            // per operator: operators that must have run
  Span<Set> wakes;            // per operator: operators that wait for it
  Span<Set> readers;          // per tensor: operators
  Span<int64_t> need;         // per operator: bytes of its operands, together
  Span<int64_t> bytes;        // per tensor
  Span<uint32_t> in_place;    // per operator: tensor or kNoOperand
  Set only_here{};            // tensors: inputs of the network with a single reader
  // Per operator, for bounds. read_after: tensors that a later operator reads, without
  // the operator's own operands. across: those of read_after that an earlier operator
  // must have made or loaded.
  Span<Set> read_after, across;
  int64_t granule = 1;  // of all sizes
  // An operator that can run directly after this one in some optimal order (kNoOperand:
  // none); `delayed` says which of the two moves for that.
  Span<uint32_t> next;
  Span<uint8_t> delayed;  // the first of the two waits for the second

  [[gnu::cold]] Status Init(const OperatorGraph& g, Arena* arena) {
    graph = &g;
    operators = static_cast<uint32_t>(g.operators.size());
    SLUICE_TRY(arena->Allocate(operators, &inputs));
    SLUICE_TRY(arena->Allocate(operators, &outputs));
    SLUICE_TRY(arena->Allocate(operators, &waits));
    SLUICE_TRY(arena->Allocate(operators, &wakes));
    SLUICE_TRY(arena->Allocate(operators, &need));
    SLUICE_TRY(arena->Allocate(operators, &in_place));
    SLUICE_TRY(arena->Allocate(g.tensors.size(), &readers));
    SLUICE_TRY(arena->Allocate(g.tensors.size(), &bytes));
    Span<uint32_t> writer;
    SLUICE_TRY(arena->Allocate(g.tensors.size(), &writer));
    for (uint32_t a = 0; a < g.tensors.size(); ++a) {
      bytes[a] = g.tensors[a].bytes;
      writer[a] = kNoOperand;
    }
    for (uint32_t o = 0; o < operators; ++o) {
      for (uint32_t a : g.InputsOf(g.operators[o])) {
        inputs[o].Add(a);
        readers[a].Add(o);
      }
      for (uint32_t a : g.OutputsOf(g.operators[o])) {
        outputs[o].Add(a);
        writer[a] = o;
      }
    }
    for (uint32_t o = 0; o < operators; ++o) {
      inputs[o].ForEach([&](uint32_t a) {
        if (writer[a] != kNoOperand) waits[o].Add(writer[a]);
      });
      need[o] = Sum(inputs[o] | outputs[o]);
      in_place[o] = InPlaceTensor(g.operators[o]);
    }
    for (uint32_t a = 0; a < g.tensors.size(); ++a) {
      if (g.tensors[a].role == TensorRole::kInput && Only(readers[a]) != kNoOperand)
        only_here.Add(a);
    }
    for (const OperatorEdge& edge : g.edges) waits[edge.after].Add(edge.before);
    for (uint32_t o = 0; o < operators; ++o) {
      waits[o].ForEach([&](uint32_t p) { wakes[p].Add(o); });
    }
    return Status::kOk;
  }

  // An order of all operators: each behind those that it waits for.
  [[gnu::cold]] Status InSequence(Arena* arena, Span<uint32_t>* order) const {
    SLUICE_TRY(arena->Allocate(operators, order));
    Set done{};
    for (uint32_t count = 0; count < operators;) {
      for (uint32_t o = 0; o < operators; ++o) {
        if (!Ready(o, done)) continue;
        done.Add(o);
        (*order)[count++] = o;
      }
    }
    return Status::kOk;
  }

  // For Owed. One more pass of O(operands * W) if the graph is in order, else one per
  // place where it is not.
  [[gnu::cold]] Status InitBounds(Arena* arena) {
    SLUICE_TRY(arena->Allocate(operators, &read_after));
    SLUICE_TRY(arena->Allocate(operators, &across));
    Span<Set> made;  // by what must have run before
    Span<uint32_t> order;
    SLUICE_TRY(arena->Allocate(operators, &made));
    SLUICE_TRY(InSequence(arena, &order));
    for (uint32_t o : order) {
      waits[o].ForEach(
          [&](uint32_t p) { made[o] = made[o] | made[p] | inputs[p] | outputs[p]; });
    }
    for (uint32_t i = operators; i-- > 0;) {
      const uint32_t o = order[i];
      waits[o].ForEach([&](uint32_t p) {
        read_after[p] = read_after[p] | read_after[o] | inputs[o];
      });
    }
    for (uint32_t o = 0; o < operators; ++o) {
      read_after[o] = read_after[o] - inputs[o] - outputs[o];
      across[o] = read_after[o] & made[o];
    }
    granule = 0;
    for (int64_t size : bytes) {
      for (int64_t b = size; b != 0;) {
        const int64_t rest = granule % b;
        granule = b;
        b = rest;
      }
    }
    return Status::kOk;
  }

  // Finds chains: a writer and the only reader of its output, where that output is the
  // reader's only operand. If the reader's output is no larger than its operand, and no
  // larger than what the writer has freed, the reader may run directly after the writer: an
  // order that runs it later could hold the reader's output in the operand's place. If the
  // tensor between them is at least as large as the writer's operand, the writer may wait
  // until directly before the reader. An operator that was moved forward does not also wait.
  [[gnu::cold]] Status InitChains(Arena* arena) {
    SLUICE_TRY(arena->Allocate(operators, &next));
    SLUICE_TRY(arena->Allocate(operators, &delayed));
    Span<uint32_t> moved;  // follows its writer
    SLUICE_TRY(arena->Allocate(operators, &moved));
    for (uint32_t& p : next) p = kNoOperand;
    Span<uint32_t> order;
    SLUICE_TRY(InSequence(arena, &order));
    for (uint32_t o : order) FindNext(o, moved);
    return Status::kOk;
  }

  int64_t Sum(const Set& tensors) const {
    int64_t sum = 0;
    tensors.ForEach([&](uint32_t a) { sum += bytes[a]; });
    return sum;
  }
  // Bytes the operator needs when run after `executed`; less in place.
  int64_t NeedAfter(uint32_t o, const Set& executed) const {
    const uint32_t a = in_place[o];
    if (a == kNoOperand) return need[o];
    Set with = executed;
    with.Add(o);
    return readers[a].Within(with) ? need[o] - bytes[a] : need[o];
  }
  bool Ready(uint32_t o, const Set& executed) const {
    return !executed.Has(o) && waits[o].Within(executed);
  }

 private:
  [[gnu::cold]] void FindNext(uint32_t o, Span<uint32_t> moved) {
    const uint32_t middle = Only(outputs[o]);
    const uint32_t p = middle == kNoOperand ? kNoOperand : Only(readers[middle]);
    if (p == kNoOperand || graph->tensors[middle].role != TensorRole::kIntermediate) {
      return;
    }
    const uint32_t last = Only(outputs[p]);
    if (Only(inputs[p] - only_here) != middle || Only(waits[p]) != o) return;
    if (last == kNoOperand) return;
    const int64_t before = bytes[middle],
                  after = readers[last].Empty() ? 0 : bytes[last];
    const int64_t need_after =
        Sum(inputs[p]) + (in_place[p] == middle ? 0 : bytes[last]);
    int64_t freed = 0;
    inputs[o].ForEach([&](uint32_t a) {
      if (Only(readers[a]) == o) freed += bytes[a];
    });
    const int64_t room =
        in_place[o] == kNoOperand ? freed + before : Max(freed, before);
    if (need_after <= room && after <= before) {
      next[o] = p;
      moved[p] = 1;
      return;
    }
    const uint32_t first = Only(inputs[o] - only_here);
    if (moved[o] || first == kNoOperand || Only(wakes[o]) != p) return;
    if (bytes[first] <= before && Sum(inputs[o]) + before <= need_after) {
      next[o] = p;
      delayed[o] = 1;
    }
  }

  uint32_t InPlaceTensor(const Operator& op) const {
    if (op.in_place == kNoOperand) return kNoOperand;
    const uint32_t from = graph->InputsOf(op)[op.in_place];
    const uint32_t to = graph->OutputsOf(op)[0];
    return bytes[from] == bytes[to] ? from : kNoOperand;
  }
};

inline size_t SpillItems(const OperatorGraph& graph) {
  return graph.operators.size() > graph.tensors.size() ? graph.operators.size()
                                                       : graph.tensors.size();
}

// Calls f(std::integral_constant-like tag) with the narrowest W that holds n items. Two
// widths only: each is 20 KB of code.
template <typename F>
Status WithWidth(size_t n, F f) {
  if (n <= 256) return f(static_cast<Bits<4>*>(nullptr));
  if (n <= 1024) return f(static_cast<Bits<16>*>(nullptr));
  return Status::kUnsupported;
}
template <int W>
constexpr int WordsOf(Bits<W>*) {
  return W;
}

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_SPILL_MODEL_H_
