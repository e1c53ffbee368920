// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/operator_graph.h"

#include "base/checked.h"

namespace sluice {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 58;  // all tensors, so that costs fit

Status CheckTensors(const OperatorGraph& graph, Diagnostic* diagnostic) {
  int64_t total = 0;
  for (uint32_t a = 0; a < graph.tensors.size(); ++a) {
    const int64_t bytes = graph.tensors[a].bytes;
    if (bytes > 0 && bytes <= kMaxBytes - total) {
      total += bytes;
      continue;
    }
    return Fail(diagnostic, Status::kBadInput, "placement")
        .Tensor(a)
        .Say("tensor #", a)
        .Text(bytes <= 0 ? " has size " : " brings the sizes beyond 2^58 bytes: ")
        .Number(bytes);
  }
  return Status::kOk;
}

Status CheckOperands(const OperatorGraph& graph, Span<uint32_t> writer,
                     Diagnostic* diagnostic) {
  const size_t operands = graph.operands.size();
  for (uint32_t o = 0; o < graph.operators.size(); ++o) {
    const Operator& op = graph.operators[o];
    const auto blame = [&](const char* text) {
      return Fail(diagnostic, Status::kBadInput, "placement")
          .Layer(o)
          .Say("operator #", o)
          .Text(text);
    };
    if (op.first_input > operands || op.input_count > operands - op.first_input ||
        op.first_output > operands || op.output_count > operands - op.first_output) {
      return blame(" names operands that do not exist");
    }
    if (op.in_place != kNoOperand &&
        (op.in_place >= op.input_count || op.output_count == 0)) {
      return blame(" works in place on an operand it does not have");
    }
    for (uint32_t a : graph.InputsOf(op)) {
      if (a >= graph.tensors.size())
        return blame(" reads a tensor that does not exist");
    }
    for (uint32_t a : graph.OutputsOf(op)) {
      if (a >= graph.tensors.size())
        return blame(" writes a tensor that does not exist");
      if (graph.tensors[a].role == TensorRole::kInput) {
        return blame(" writes a network input").Tensor(a);
      }
      if (writer[a] != kNoOperand) {
        return blame(" writes a tensor that another operator wrote").Tensor(a);
      }
      writer[a] = o;
    }
  }
  return Status::kOk;
}

Status CheckEdges(const OperatorGraph& graph, Diagnostic* diagnostic) {
  const size_t n = graph.operators.size();
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    if (graph.edges[i].before < n && graph.edges[i].after < n) continue;
    return Fail(diagnostic, Status::kBadInput, "placement")
        .Say("edge # names an operator that does not exist", i);
  }
  return Status::kOk;
}

// Kahn's algorithm over a ready list.
Status CheckAcyclic(const OperatorGraph& graph, Span<const uint32_t> writer,
                    Arena* arena, Diagnostic* diagnostic) {
  const size_t n = graph.operators.size();
  Span<uint32_t> waits, first, readers, ready;
  SLUICE_TRY(arena->Allocate(n, &waits));
  SLUICE_TRY(arena->Allocate(n, &ready));
  SLUICE_TRY(arena->Allocate(graph.tensors.size() + 2, &first));
  for (const Operator& op : graph.operators) {
    for (uint32_t a : graph.InputsOf(op)) ++first[a + 2];
  }
  for (size_t a = 2; a < first.size(); ++a) first[a] += first[a - 1];
  SLUICE_TRY(arena->Allocate(first[first.size() - 1], &readers));
  uint32_t ready_count = 0;
  for (uint32_t o = 0; o < n; ++o) {
    for (uint32_t a : graph.InputsOf(graph.operators[o])) {
      readers[first[a + 1]++] = o;
      if (writer[a] != kNoOperand) ++waits[o];
    }
  }
  for (const OperatorEdge& edge : graph.edges) ++waits[edge.after];
  for (uint32_t o = 0; o < n; ++o) {
    if (waits[o] == 0) ready[ready_count++] = o;
  }
  for (uint32_t i = 0; i < ready_count; ++i) {
    for (const OperatorEdge& edge : graph.edges) {
      if (edge.before == ready[i] && --waits[edge.after] == 0) {
        ready[ready_count++] = edge.after;
      }
    }
    for (uint32_t a : graph.OutputsOf(graph.operators[ready[i]])) {
      for (uint32_t k = first[a]; k < first[a + 1]; ++k) {
        if (--waits[readers[k]] == 0) ready[ready_count++] = readers[k];
      }
    }
  }
  for (uint32_t o = 0; o < n && ready_count < n; ++o) {
    if (waits[o] == 0) continue;
    return Fail(diagnostic, Status::kBadInput, "placement")
        .Layer(o)
        .Say("operator # is on a cycle or behind one", o);
  }
  return Status::kOk;
}

}  // namespace

Status CheckOperatorGraph(const OperatorGraph& graph, Arena* arena,
                          Diagnostic* diagnostic) {
  ArenaScope scope(arena);
  SLUICE_TRY(CheckTensors(graph, diagnostic));
  Span<uint32_t> writer;
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &writer));
  for (uint32_t& w : writer) w = kNoOperand;
  SLUICE_TRY(CheckOperands(graph, writer, diagnostic));
  SLUICE_TRY(CheckEdges(graph, diagnostic));
  for (uint32_t a = 0; a < graph.tensors.size(); ++a) {
    if (writer[a] != kNoOperand || graph.tensors[a].role == TensorRole::kInput)
      continue;
    return Fail(diagnostic, Status::kBadInput, "placement")
        .Tensor(a)
        .Say("tensor # is no network input and nothing writes it", a);
  }
  return CheckAcyclic(graph, writer, arena, diagnostic);
}

int64_t OperatorBytes(const OperatorGraph& graph, const Operator& op,
                      int64_t alignment) {
  int64_t bytes = 0;
  const Span<const uint32_t> inputs = graph.InputsOf(op);
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool repeated = false;
    for (size_t k = 0; k < i; ++k) repeated |= inputs[k] == inputs[i];
    if (!repeated) bytes += RoundUpTo(graph.tensors[inputs[i]].bytes, alignment);
  }
  for (uint32_t a : graph.OutputsOf(op)) {
    bytes += RoundUpTo(graph.tensors[a].bytes, alignment);
  }
  return bytes;
}

int64_t LargestOperator(const OperatorGraph& graph, int64_t alignment) {
  int64_t largest = 0;
  for (const Operator& op : graph.operators)
    largest = Max(largest, OperatorBytes(graph, op, alignment));
  return largest;
}

}  // namespace sluice
