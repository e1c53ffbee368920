// SPDX-License-Identifier: Apache-2.0
// The notation that a plan carries, section by section.
//
// Input    graph layers layer by layer, or a fused run with what was found for it.
// Output   PlanNotation; its arrays in the arena.
// Errors   kOutOfMemory.
// Cost     linear; an equal run shares the DRAM tensors of the one before it.
#ifndef SLUICE_PLAN_FUSED_NOTATION_WRITER_H_
#define SLUICE_PLAN_FUSED_NOTATION_WRITER_H_

#include "model/plan.h"
#include "solve/fusion/fusion.h"
#include "solve/fusion/problem.h"

namespace sluice {

class NotationWriter {
 public:
  explicit NotationWriter(Arena* arena)
      : section_(arena),
        order_(arena),
        cut_(arena),
        tiling_(arena),
        dram_(arena),
        section_buffer_(arena),
        buffer_(arena) {}

  // Exact room, so that growing leaves no old copies in the arena.
  Status Reserve(size_t sections, size_t layers, size_t dram, size_t buffers);
  Status AddPlain(Span<const uint32_t> layers);
  // offsets: of its buffers. like: the section with the same DRAM tensors and offsets,
  // or kNone.
  Status AddFused(uint32_t first_layer, const FusionRun& run, const FusionResult& fused,
                  Span<const int64_t> offsets, uint32_t like);
  PlanNotation notation() const;

 private:
  Status AddPosition(uint32_t layer, uint8_t cut, int32_t tiles);

  Vector<PlanSection> section_;
  Vector<uint32_t> order_;
  Vector<uint8_t> cut_;
  Vector<int32_t> tiling_;
  Vector<PlanDramTensor> dram_;
  Vector<uint32_t> section_buffer_, buffer_;
};

}  // namespace sluice

#endif  // SLUICE_PLAN_FUSED_NOTATION_WRITER_H_
