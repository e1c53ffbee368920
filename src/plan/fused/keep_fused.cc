// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/keep_fused.h"

namespace sluice {
namespace {

// Copies the first n elements.
template <typename T>
Status Move(Arena* arena, size_t n, Span<T>* span) {
  Span<T> copy;
  if (n > span->size()) n = span->size();
  SLUICE_TRY(arena->Allocate(n, &copy));
  if (n != 0) memcpy(static_cast<void*>(copy.data()), span->data(), n * sizeof(T));
  *span = copy;
  return Status::kOk;
}

Status MoveList(Arena* arena, TileList* list) {
  SLUICE_TRY(Move(arena, list->tiles, &list->layer));
  SLUICE_TRY(Move(arena, list->tiles, &list->tile));
  SLUICE_TRY(Move(arena, list->tiles, &list->cycles));
  SLUICE_TRY(Move(arena, list->tiles, &list->box));
  SLUICE_TRY(Move(arena, list->tiles, &list->ofmap_bytes));
  SLUICE_TRY(Move(arena, list->tiles, &list->ofmap_end));
  SLUICE_TRY(Move(arena, list->tiles, &list->reserve));
  SLUICE_TRY(Move(arena, list->tiles, &list->store));
  SLUICE_TRY(Move(arena, list->transfers, &list->transfer));
  SLUICE_TRY(Move(arena, list->residents, &list->resident));
  return Move(arena, list->transfers, &list->transfer_box);
}

}  // namespace

Status KeepFused(Arena* arena, FusionResult* result, FusedBuffers* buffers,
                 Span<int64_t>* offsets) {
  const size_t layers = result->notation.order.size();
  const uint32_t transfers = result->list.transfers;
  result->scheme = nullptr;
  SLUICE_TRY(Move(arena, layers, &result->notation.order));
  SLUICE_TRY(Move(arena, layers, &result->notation.cut));
  SLUICE_TRY(Move(arena, layers, &result->notation.tiles));
  SLUICE_TRY(Move(arena, transfers, &result->dma.order));
  SLUICE_TRY(Move(arena, transfers, &result->dma.start));
  SLUICE_TRY(Move(arena, transfers, &result->dma.end));
  SLUICE_TRY(MoveList(arena, &result->list));
  SLUICE_TRY(Move(arena, SIZE_MAX, &buffers->ranges));
  SLUICE_TRY(Move(arena, SIZE_MAX, &buffers->of_transfer));
  SLUICE_TRY(Move(arena, SIZE_MAX, &buffers->of_tile));
  SLUICE_TRY(Move(arena, SIZE_MAX, &buffers->frame));
  SLUICE_TRY(Move(arena, SIZE_MAX, &buffers->group_of));
  SLUICE_TRY(Move(arena, SIZE_MAX, &buffers->fine_group_of));
  SLUICE_TRY(Move(arena, SIZE_MAX, &buffers->position_groups));
  return Move(arena, SIZE_MAX, offsets);
}

}  // namespace sluice
