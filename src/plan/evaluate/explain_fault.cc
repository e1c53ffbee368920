// SPDX-License-Identifier: Apache-2.0
#include "plan/evaluate/explain_fault.h"

namespace sluice {

namespace {

constexpr char kStage[] = "evaluate";

// The rule that a diagnostic carries, by fault.
const char* RuleOf(uint32_t fault) {
  switch (fault) {
    case SLUICE_SCHEDULE_ORDER:
      return "order";
    case SLUICE_SCHEDULE_TILES:
      return "tiles";
    case SLUICE_SCHEDULE_DURATION:
      return "duration";
    case SLUICE_SCHEDULE_SOURCE:
      return "source";
    case SLUICE_SCHEDULE_BLOCKED:
      return "blocked";
    case SLUICE_SCHEDULE_BUFFER:
      return "buffer";
    case SLUICE_SCHEDULE_MAPPING:
      return "mapping";
    default:
      return "";
  }
}

const char* SentenceOf(uint32_t fault, bool dram) {
  switch (fault) {
    case SLUICE_SCHEDULE_ORDER:
      return dram ? "the DRAM order does not name every DRAM tensor of the groups "
                    "once, tile after tile"
                  : "a layer stands before one that it reads";
    case SLUICE_SCHEDULE_TILES:
      return "the group cannot be cut into that many tiles";
    case SLUICE_SCHEDULE_DURATION:
      return "the living duration starts or ends outside what its tiles allow";
    case SLUICE_SCHEDULE_SOURCE:
      return "a load stands before the store that it reads";
    case SLUICE_SCHEDULE_BLOCKED:
      return "a DRAM transfer waits for a tile that waits for it";
    case SLUICE_SCHEDULE_MAPPING:
      return "a tile cannot be computed on this machine";
    default:
      return "the schedule needs more of the scratchpad than there is";
  }
}

Status ExplainBuffer(const NotationProblem& p, const ResolvedSchedule& resolved,
                     const sluice_evaluation_t& out) {
  const uint32_t at = out.fault_index;
  const uint32_t layer = p.run.layer[resolved.list.layer[at]];
  return Fail(p.diagnostic, Status::kRejected, kStage)
      .Rule(RuleOf(out.fault))
      .Layer(layer)
      .Bytes(static_cast<uint64_t>(out.peak_buffer_bytes),
             static_cast<uint64_t>(p.capacity))
      .Text(SentenceOf(out.fault, false))
      .Say(", first during tile # of the layer", resolved.list.tile[at]);
}

Status ExplainPosition(const NotationProblem& p, const sluice_evaluation_t& out) {
  const uint32_t at = out.fault_index;
  const bool known = at < p.notation.layers;
  return Fail(p.diagnostic, Status::kRejected, kStage)
      .Rule(RuleOf(out.fault))
      .Layer(known ? p.notation.order[at] : kNone)
      .Text(SentenceOf(out.fault, false))
      .Say(", at position #", known ? at : p.notation.layers);
}

Status ExplainDramTensor(const NotationProblem& p, const ResolvedSchedule& resolved,
                         const sluice_evaluation_t& out) {
  const uint32_t at = out.fault_index;
  uint32_t layer = kNone;
  int64_t tile = 0;
  if (p.notation.transfers != 0 && at < p.notation.transfers) {
    layer = p.notation.dram[at].layer;
    tile = p.notation.dram[at].tile;
  }
  if (layer == kNone) {
    return Fail(p.diagnostic, Status::kRejected, kStage)
        .Rule(RuleOf(out.fault))
        .Text(SentenceOf(out.fault, true))
        .Say(": it has # of #", p.notation.transfers, resolved.list.transfers);
  }
  return Fail(p.diagnostic, Status::kRejected, kStage)
      .Rule(RuleOf(out.fault))
      .Layer(layer)
      .Text(SentenceOf(out.fault, true))
      .Say(", tile # of the layer, place # in the DRAM order", tile, at);
}

}  // namespace

Status ExplainFault(const NotationProblem& problem, const ResolvedSchedule& resolved,
                    const sluice_evaluation_t& out) {
  if (out.fault == SLUICE_SCHEDULE_BUFFER) return ExplainBuffer(problem, resolved, out);
  // Without a list of DRAM tensors the index is a position in the order.
  if (resolved.dma.order.size() == 0) return ExplainPosition(problem, out);
  return ExplainDramTensor(problem, resolved, out);
}

Status ExplainTimedFault(const sluice_evaluation_t& out, Diagnostic* diagnostic) {
  return Fail(diagnostic, Status::kRejected, kStage)
      .Rule(RuleOf(out.fault))
      .Text(SentenceOf(out.fault, true))
      .Say(", at #", out.fault_index);
}

}  // namespace sluice
