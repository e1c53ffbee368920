// SPDX-License-Identifier: Apache-2.0
// Operators that take whole tensors, and the plan of what lies in the scratchpad when.
//
// One operator per step. Between two uses a tensor either stays where it is, or leaves
// at once and is read again for the later use; a stay is a Residence.
//
// Input   operators, their operands, tensors with sizes and roles: from a caller.
// Output  CheckOperatorGraph: the status alone; sums that several solvers ask for.
// Errors  kBadInput with the operator or tensor; kOutOfMemory.
// Cost    linear in operands and edges.
#ifndef SLUICE_SOLVE_PLACEMENT_SPILL_OPERATOR_GRAPH_H_
#define SLUICE_SOLVE_PLACEMENT_SPILL_OPERATOR_GRAPH_H_

#include <stdint.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/status.h"

namespace sluice {

constexpr uint32_t kNoOperand = 0xffffffffu;

enum class TensorRole : uint8_t { kIntermediate, kInput, kOutput };

struct OperatorTensor {
  int64_t bytes;
  TensorRole role;
};

struct Operator {
  uint32_t first_input, input_count;    // into OperatorGraph::operands
  uint32_t first_output, output_count;  // likewise
  // Operand whose bytes the first output may take over when the operator is its last
  // reader and the sizes are equal (elementwise, reshape); kNoOperand = none.
  uint32_t in_place = kNoOperand;
};

// An order that no tensor implies: `after` runs after `before`.
struct OperatorEdge {
  uint32_t before, after;
};

struct OperatorGraph {
  Span<const OperatorTensor> tensors;
  Span<const Operator> operators;
  Span<const uint32_t> operands;  // tensors
  Span<const OperatorEdge> edges;

  Span<const uint32_t> InputsOf(const Operator& op) const {
    return operands.Slice(op.first_input, op.first_input + op.input_count);
  }
  Span<const uint32_t> OutputsOf(const Operator& op) const {
    return operands.Slice(op.first_output, op.first_output + op.output_count);
  }
};

// What leaving the scratchpad costs. Every return costs the tensor's bytes. The first
// departure costs a write too: of every tensor (kPaper), or of intermediates only,
// since inputs are in DRAM already and outputs must go there anyway (kHost).
enum class SpillCharge : uint8_t { kPaper, kHost };

// A tensor's stay during the steps [begin, end), at one offset.
struct Residence {
  uint32_t tensor;
  uint32_t begin, end;
  int64_t offset;       // kFreeOffset while unplaced
  bool retrieved;       // begins by a counted read; else created or first loaded
  bool spilled;         // ends by a counted write
  uint32_t takes_over;  // residence whose bytes it takes in place, or kNoOperand
};

struct SpillPlan {
  Span<uint32_t> order;  // operators
  Span<Residence> residences;
  int64_t spill_bytes = 0;
  int64_t retrieve_bytes = 0;
  int64_t lower_bound = 0;  // of spill + retrieve bytes
  bool proved = false;      // spill + retrieve bytes == lower_bound
  bool placed = false;      // offsets are set and within the capacity
  int64_t peak_bytes = 0;   // highest byte used, when placed
  uint64_t states = 0;      // searched

  int64_t bytes() const { return spill_bytes + retrieve_bytes; }
};

// Checks that sizes are positive, operands and edges in range, inputs never written and
// all other tensors exactly once, and that there is no cycle. Names the tensor or
// operator.
Status CheckOperatorGraph(const OperatorGraph& graph, Arena* arena,
                          Diagnostic* diagnostic);

// Bytes of the operator's distinct operands, together, each rounded up to the
// alignment; the largest is the least capacity that any plan needs (without in-place
// reuse).
int64_t OperatorBytes(const OperatorGraph& graph, const Operator& op,
                      int64_t alignment = 1);
int64_t LargestOperator(const OperatorGraph& graph, int64_t alignment = 1);

}  // namespace sluice

#endif  // SLUICE_SOLVE_PLACEMENT_SPILL_OPERATOR_GRAPH_H_
