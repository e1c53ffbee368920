// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/check_joint.h"

#include "base/checked.h"

namespace sluice {
namespace {

constexpr int64_t kMaxAlignment = int64_t{1} << 30;

// *at: the first step that is wrong.
bool FollowsGraph(const OperatorGraph& graph, Span<const uint32_t> order,
                  Span<uint8_t> written, Span<uint8_t> done, uint32_t* at) {
  for (size_t a = 0; a < written.size(); ++a) {
    written[a] = graph.tensors[a].role == TensorRole::kInput;
  }
  *at = 0;
  if (order.size() != graph.operators.size()) return false;
  for (; *at < order.size(); ++*at) {
    const uint32_t o = order[*at];
    if (o >= graph.operators.size() || done[o] != 0) return false;
    done[o] = 1;
    for (uint32_t a : graph.InputsOf(graph.operators[o])) {
      if (written[a] == 0) return false;
    }
    for (const OperatorEdge& edge : graph.edges) {
      if (edge.after == o && done[edge.before] == 0) return false;
    }
    for (uint32_t a : graph.OutputsOf(graph.operators[o])) written[a] = 1;
  }
  return true;
}

Status CheckFixedOrder(const OperatorGraph& graph, Span<const uint32_t> order,
                       Arena* arena, Diagnostic* diagnostic) {
  if (order.empty()) return Status::kOk;
  bool good = false;
  uint32_t at = 0;
  SLUICE_TRY(CheckOrder(graph, order, arena, &good, &at));
  if (good) return Status::kOk;
  return Fail(diagnostic, Status::kBadInput, "placement")
      .Say("the fixed order is no order of this graph's operators, at step #", at);
}

// Rounds sizes up to the alignment.
Status RoundSizes(const OperatorGraph& graph, int64_t alignment, Arena* arena,
                  OperatorGraph* rounded) {
  *rounded = graph;
  if (alignment == 1) return Status::kOk;
  Span<OperatorTensor> tensors;
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &tensors));
  for (size_t a = 0; a < tensors.size(); ++a) {
    tensors[a] = graph.tensors[a];
    tensors[a].bytes = RoundUpTo(tensors[a].bytes, alignment);
  }
  rounded->tensors = tensors;
  return Status::kOk;
}

// Names the operator that needs most. One that works in place needs an operand less.
Status CheckRoom(const OperatorGraph& graph, int64_t capacity, Diagnostic* diagnostic) {
  int64_t most = capacity;
  uint32_t worst = kNoOperand;
  for (uint32_t o = 0; o < graph.operators.size(); ++o) {
    const Operator& op = graph.operators[o];
    int64_t bytes = OperatorBytes(graph, op);
    if (op.in_place != kNoOperand) {
      const int64_t size = graph.tensors[graph.InputsOf(op)[op.in_place]].bytes;
      if (size == graph.tensors[graph.OutputsOf(op)[0]].bytes) bytes -= size;
    }
    if (bytes <= most) continue;
    most = bytes;
    worst = o;
  }
  if (worst == kNoOperand) return Status::kOk;
  return DoNotFit(worst, most, capacity, diagnostic);
}

}  // namespace

Status DoNotFit(uint32_t o, int64_t bytes, int64_t capacity, Diagnostic* diagnostic) {
  return Fail(diagnostic, Status::kInfeasible, "placement")
      .Layer(o)
      .Bytes(static_cast<uint64_t>(bytes), static_cast<uint64_t>(capacity))
      .Say("the operands of operator # do not fit together", o);
}

Status CheckOrder(const OperatorGraph& graph, Span<const uint32_t> order, Arena* arena,
                  bool* good, uint32_t* at) {
  ArenaScope scope(arena);
  Span<uint8_t> written, done;
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &written));
  SLUICE_TRY(arena->Allocate(graph.operators.size(), &done));
  *good = FollowsGraph(graph, order, written, done, at);
  return Status::kOk;
}

Status CheckJoint(const OperatorGraph& graph, const JointOptions& options, Arena* arena,
                  RoundedJoint* rounded, Diagnostic* diagnostic) {
  SLUICE_TRY(CheckOperatorGraph(graph, arena, diagnostic));
  SLUICE_TRY(CheckFixedOrder(graph, options.fixed_order, arena, diagnostic));
  if (options.alignment <= 0 || options.capacity < 0 ||
      options.alignment > kMaxAlignment ||
      !IsPowerOfTwo(static_cast<uint64_t>(options.alignment))) {
    return Fail(diagnostic, Status::kBadArgument, "placement")
        .Text("alignment must be a power of two up to 2^30, capacity not negative");
  }
  rounded->options = options;
  rounded->options.capacity = options.capacity / options.alignment * options.alignment;
  SLUICE_TRY(RoundSizes(graph, options.alignment, arena, &rounded->graph));
  return CheckRoom(rounded->graph, rounded->options.capacity, diagnostic);
}

}  // namespace sluice
