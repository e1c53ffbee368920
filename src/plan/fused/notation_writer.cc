// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/notation_writer.h"

namespace sluice {

Status NotationWriter::Reserve(size_t sections, size_t layers, size_t dram,
                               size_t buffers) {
  SLUICE_TRY(section_.Reserve(sections));
  SLUICE_TRY(order_.Reserve(layers));
  SLUICE_TRY(cut_.Reserve(layers));
  SLUICE_TRY(tiling_.Reserve(layers));
  SLUICE_TRY(section_buffer_.Reserve(sections));
  SLUICE_TRY(buffer_.Reserve(buffers));
  return dram_.Reserve(dram);
}

Status NotationWriter::AddPosition(uint32_t layer, uint8_t cut, int32_t tiles) {
  SLUICE_TRY(order_.Push(layer));
  SLUICE_TRY(cut_.Push(cut));
  return tiling_.Push(tiles);
}

Status NotationWriter::AddPlain(Span<const uint32_t> layers) {
  if (layers.empty()) return Status::kOk;
  SLUICE_TRY(section_.Push(PlanSection{layers[0], 0, 0, 0}));
  SLUICE_TRY(section_buffer_.Push(0));
  for (uint32_t layer : layers) SLUICE_TRY(AddPosition(layer, kCutDram, 0));
  return Status::kOk;
}

Status NotationWriter::AddFused(uint32_t first_layer, const FusionRun& run,
                                const FusionResult& fused, Span<const int64_t> offsets,
                                uint32_t like) {
  const GroupNotation& n = fused.notation;
  for (size_t i = 0; i < n.order.size(); ++i) {
    SLUICE_TRY(AddPosition(run.layer[n.order[i]], n.cut[i],
                           n.cut[i] != kCutNone ? n.tiles[i] : 0));
  }
  PlanSection section = {first_layer, 1, static_cast<uint32_t>(dram_.size()),
                         fused.list.transfers};
  if (like != kNone) section.dram = section_[like].dram;
  SLUICE_TRY(section_.Push(section));
  SLUICE_TRY(section_buffer_.Push(
      like != kNone ? section_buffer_[like] : static_cast<uint32_t>(buffer_.size())));
  if (like != kNone) return Status::kOk;
  for (int64_t offset : offsets) {
    SLUICE_TRY(buffer_.Push(static_cast<uint32_t>(offset)));
  }
  for (uint32_t i = 0; i < section.transfers; ++i) {
    const uint32_t t = fused.dma.order[i];
    const bool store = fused.list.transfer[t].kind == kStore;
    const int32_t duration = store ? fused.dma.end[t] : fused.dma.start[t];
    SLUICE_TRY(dram_.Push(PlanDramTensor{t, duration}));
  }
  return Status::kOk;
}

PlanNotation NotationWriter::notation() const {
  PlanNotation n;
  n.section = Span<const PlanSection>(section_.data(), section_.size());
  n.order = Span<const uint32_t>(order_.data(), order_.size());
  n.cut = Span<const uint8_t>(cut_.data(), cut_.size());
  n.tiling = Span<const int32_t>(tiling_.data(), tiling_.size());
  n.dram = Span<const PlanDramTensor>(dram_.data(), dram_.size());
  n.section_buffer =
      Span<const uint32_t>(section_buffer_.data(), section_buffer_.size());
  n.buffer = Span<const uint32_t>(buffer_.data(), buffer_.size());
  return n;
}

}  // namespace sluice
