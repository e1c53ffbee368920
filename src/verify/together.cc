// SPDX-License-Identifier: Apache-2.0
#include "verify/together.h"

#include <new>

#include "verify/stream_view.h"
#include "verify/verify.h"

namespace sluice {
namespace judge {
namespace {

// The owner of a byte is the stream that wrote it last: 1 + its index; 0: nobody.
class Owners {
 public:
  Owners(Judge* judge, uint8_t stream, Span<uint8_t> owner)
      : judge_(*judge), id_(static_cast<uint8_t>(stream + 1)), owner_(owner) {}

  Status FollowVisit(uint32_t visit, Arena* scratch) {
    const BlockView& block = BlockOf(judge_.stream, visit);
    ArenaScope scope(scratch);
    Span<uint32_t> next;
    SLUICE_TRY(scratch->Allocate(judge_.stream.engines, &next));
    for (size_t left = block.instructions.size(); left != 0;) {
      for (uint32_t e = 0; e < judge_.stream.engines; ++e) {
        const uint32_t at = block.list[e] + next[e];
        if (at == block.list[e + 1]) continue;
        const sluice_instruction_t& instruction = block.instructions[at];
        bool ready = true;
        for (uint32_t w = 0; w < instruction.wait_count; ++w) {
          const sluice_wait_t& wait = block.waits[instruction.first_wait + w];
          ready = ready && (wait.before != 0 || next[wait.engine] >= wait.count);
        }
        if (!ready) continue;
        judge_.step = Step{visit, at, 0, 0};
        judge_.has_step = true;
        SLUICE_TRY(FollowOne(block, instruction));
        ++next[e];
        --left;
      }
    }
    return Status::kOk;
  }

 private:
  Status FollowOne(const BlockView& block, const sluice_instruction_t& i) {
    if (i.opcode == SLUICE_OPCODE_HOST) return Status::kOk;
    if (i.opcode != SLUICE_OPCODE_COMPUTE) {
      const sluice_transfer_t& t = block.transfers[i.descriptor];
      SLUICE_TRY(Touch(block, t.src, false));
      SLUICE_TRY(Touch(block, t.index, false));
      return Touch(block, t.dst, true);
    }
    const sluice_tile_t& t = block.tiles[i.descriptor];
    const bool last = (i.flags & SLUICE_FLAG_LAST) != 0;
    const bool first = (i.flags & SLUICE_FLAG_FIRST) != 0;
    SLUICE_TRY(Touch(block, t.input0, false));
    SLUICE_TRY(Touch(block, t.input1, false));
    SLUICE_TRY(Touch(block, t.weight, false));
    if (last) SLUICE_TRY(Touch(block, t.parameters, false));
    if (!first) SLUICE_TRY(Touch(block, t.accumulator, false));
    return Touch(block, last ? t.output : t.accumulator, true);
  }

  Status Touch(const BlockView& block, uint32_t operand, bool write) {
    if (operand == SLUICE_NONE) return Status::kOk;
    const sluice_operand_t& o = block.operands[operand];
    const uint32_t first = InstanceOf(judge_.stream, judge_.step.visit).first_binding;
    const sluice_binding_t& slot = judge_.stream.bindings[first + o.slot];
    if (slot.region != SLUICE_REGION_GBUF) return Status::kOk;
    return Box(block.shapes[o.shape], 0, DtypeBytes(o.dtype),
               Join(slot.base_lo, slot.base_hi) + Join(o.offset_lo, o.offset_hi),
               write);
  }

  Status Box(const sluice_shape_t& shape, int axis, uint64_t width, uint64_t at,
             bool write) {
    if (axis == kAxes) return Run(at, width, write);
    const uint64_t stride = shape.stride[axis];
    const uint32_t distinct = stride == 0 ? 1 : shape.extent[axis];
    for (uint32_t i = 0; i < distinct; ++i) {
      SLUICE_TRY(Box(shape, axis + 1, width, at + i * stride, write));
    }
    return Status::kOk;
  }

  // Verify has checked that the bytes lie inside the scratchpad.
  Status Run(uint64_t at, uint64_t bytes, bool write) {
    for (uint64_t b = at; b < at + bytes; ++b) {
      uint8_t& owner = owner_[static_cast<size_t>(b)];
      if (write) {
        owner = id_;
      } else if (owner != id_) {
        Fail fail = Reject(judge_, "foreign");
        fail.Say("reads scratchpad byte #", b);
        if (owner == 0) return fail.Text(", which was never written");
        return fail.Say(", which model # wrote last", owner - 1);
      }
    }
    return Status::kOk;
  }

  Judge& judge_;
  uint8_t id_;
  Span<uint8_t> owner_;
};

// A refusal empties the diagnostic, so the model is named behind it.
Status OfModel(Diagnostic* diagnostic, uint32_t model, Status status) {
  diagnostic->model = model;
  return status;
}

Status TakeTurns(Span<Judge*> judges, int64_t capacity, Span<const sluice_turn_t> turns,
                 Arena* scratch, Diagnostic* diagnostic) {
  Span<uint8_t> owner;
  SLUICE_TRY(scratch->Allocate(static_cast<size_t>(capacity), &owner));
  Span<uint32_t> next;
  SLUICE_TRY(scratch->Allocate(judges.size(), &next));
  for (size_t n = 0; n <= turns.size(); ++n) {
    const bool end = n == turns.size();
    for (uint32_t m = 0; end && m < judges.size(); ++m) {
      if (next[m] == judges[m]->stream.visits.size()) continue;
      judges[m]->has_step = false;
      return OfModel(
          diagnostic, m,
          Reject(*judges[m], "turns").Text("the last turn ends before the stream"));
    }
    if (end) break;
    const sluice_turn_t& turn = turns[n];
    const uint32_t m = turn.model < judges.size() ? turn.model : 0;
    Judge* judge = judges[m];
    judge->has_step = false;
    if (turn.model != m || turn.first_visit != next[m] ||
        turn.end_visit <= turn.first_visit ||
        turn.end_visit > judge->stream.visits.size()) {
      return OfModel(diagnostic, m,
                     Reject(*judge, "turns")
                         .Say("turn # is not the next run of a stream's visits", n));
    }
    Owners owners(judge, static_cast<uint8_t>(m), owner);
    for (; next[m] < turn.end_visit; ++next[m]) {
      SLUICE_TRY(OfModel(diagnostic, m, owners.FollowVisit(next[m], scratch)));
    }
  }
  diagnostic->model = 0;
  return Status::kOk;
}

}  // namespace
}  // namespace judge

Status VerifyTogether(Span<const JudgedStream> streams, const Hardware& hardware,
                      Span<const sluice_turn_t> turns, Arena* scratch,
                      Diagnostic* diagnostic) {
  if (hardware.node_cols * hardware.node_rows != 1) {
    return Fail(diagnostic, Status::kUnsupported, "verify")
        .Text("streams that take turns are judged on one node only");
  }
  ArenaScope scope(scratch);
  Span<judge::Judge*> judges;
  SLUICE_TRY(scratch->Allocate(streams.size(), &judges));
  for (uint32_t m = 0; m < streams.size(); ++m) {
    const Graph& graph = *streams[m].graph;
    const Plan& plan = *streams[m].plan;
    const Status status = Verify(graph, hardware, plan, scratch, nullptr, diagnostic);
    diagnostic->model = m;
    SLUICE_TRY(status);
    void* place = scratch->AllocateBytes(sizeof(judge::Judge), alignof(judge::Judge));
    if (place == nullptr) return Status::kOutOfMemory;
    judges[m] = new (place)
        judge::Judge{graph, hardware, plan, scratch, diagnostic, {}, 0, {}, false};
    SLUICE_TRY(judge::ReadStream(judges[m]));
  }
  return judge::TakeTurns(judges, hardware.scratchpad().capacity_bytes, turns, scratch,
                          diagnostic);
}

}  // namespace sluice
