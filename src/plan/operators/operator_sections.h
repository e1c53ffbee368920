// SPDX-License-Identifier: Apache-2.0
// Runs of whole-tensor operators in a graph, and the layers that lie between them.
//
// A section is a run of computing layers, which becomes an operator graph, or one layer
// that goes through DRAM: a copy, a gather, an append, a host call. A reshape that
// moves nothing is its input under another name and belongs to the run.
//
// Input    graph, lowering, scratchpad bytes
// Output   sections with their operator graphs; which tensors leave their section
// Errors   kOutOfMemory
// Cost     linear in layers and tensors, for each section
// Source   COSMA; sections are ours
#ifndef SLUICE_PLAN_OPERATORS_OPERATOR_SECTIONS_H_
#define SLUICE_PLAN_OPERATORS_OPERATOR_SECTIONS_H_

#include "model/lowering.h"
#include "plan/operators/operator_plan.h"
#include "solve/placement/spill/joint.h"

namespace sluice {

// Layers [first, last) of the graph: a run of operators, or one that goes through DRAM.
struct OperatorSection {
  uint32_t first, last;
  bool operators;
  Span<uint32_t> layer_of;   // graph layer of each operator; several may have the same
  Span<uint32_t> tensor_of;  // graph tensor of each operator tensor, likewise
  OperatorGraph graph;
  SpillPlan plan;
};

// What is being planned, and its sections.
struct OperatorSchedule {
  OperatorSchedule(const OperatorCall& call, int64_t alignment_bytes)
      : graph(call.graph),
        hardware(call.hardware),
        lowering(call.lowering),
        capacity(call.scratchpad_bytes),
        repeats(call.repeats),
        coster(call.coster),
        budget(call.budget),
        arena(call.scratch),
        alignment(alignment_bytes),
        sections(call.scratch) {}

  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  const int64_t capacity;  // bytes of scratchpad
  const bool repeats;      // layers may run more than once
  const TileCoster& coster;
  Budget* const budget;
  Arena* const arena;
  const int64_t alignment;    // of whole tensors in the scratchpad
  Span<uint32_t> name;        // by tensor: the tensor that holds its bytes
  Span<uint32_t> section_of;  // by layer
  Span<uint8_t> needed;       // by name: read outside its section, or by the host
  Vector<OperatorSection> sections;
};

// Cuts the graph into sections.
Status FindSections(OperatorSchedule* self);

// Fills the section's operators and tensors.
Status BuildOperators(OperatorSchedule* self, OperatorSection* section);

// The layer is a reshape that moves nothing.
bool IsRename(const OperatorSchedule& self, uint32_t l);
// The layer is a PAD that another layer has taken over: it has no work, and nothing
// reads its output.
bool IsFolded(const OperatorSchedule& self, uint32_t l);
// The layer is an operator of a section.
bool Runs(const OperatorSchedule& self, uint32_t l);

}  // namespace sluice

#endif  // SLUICE_PLAN_OPERATORS_OPERATOR_SECTIONS_H_
