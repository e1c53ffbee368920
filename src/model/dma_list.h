// SPDX-License-Identifier: Apache-2.0
// Fast list schedule of DRAM transfers: order and living durations for given tiles.
//
// Input    TileList; bytes of buffer; a policy (bits).
// Output   DmaNotation (legal, within the buffer) and its latency, equal to Latency().
// Errors   -1 when the tiles' minimal use exceeds the buffer, or the clock ran out.
// Cost     O(tiles + transfers + positions walked to find room); no allocation.
// Source   own. Loads in the order of first use, each as soon as the buffer can hold it
//          until its use. A load that does not fit yet reserves its space; later loads
//          may overtake it. Stores wait for a free channel as long as they fit.
#ifndef SLUICE_MODEL_DMA_LIST_H_
#define SLUICE_MODEL_DMA_LIST_H_

#include <stdint.h>

#include "base/memory.h"
#include "model/timeline.h"

namespace sluice {

enum DmaPolicy : uint32_t {
  kDmaStoreFirst = 1,  // a finished ofmap is stored before the next load
  kDmaNoReserve = 2,   // a load that does not fit yet reserves no space
  kDmaPolicies = 4,
};

// Working memory of ListTransfers, and where it stands.
struct DmaLister {
  const Memory* memory = nullptr;
  const TileList* tile_list = nullptr;
  DmaNotation* notation = nullptr;
  int64_t buffer = 0;
  // Smallest buffer in which the last call would have found a legal schedule.
  int64_t minimum_bytes = 0;
  uint32_t policy = 0;
  int32_t tiles = 0;
  uint32_t issued_count = 0;
  // Cycle from which the channel is free; >= compute at tile boundaries.
  int64_t dram = 0;
  int64_t compute = 0;  // cycle in which the current tile ends
  uint32_t head = kNone;
  uint32_t first_store = 0, last_store = 0;  // queue of finished ofmaps
  uint32_t in_flight = kNone;  // store that may end after the current tile
  int64_t in_flight_done = 0;
  Span<int64_t> use;       // bytes by position + 1
  Span<int64_t> ready;     // by tile: cycle in which its loads are done
  Span<uint32_t> next;     // by transfer: list of unissued loads
  Span<int32_t> release;   // by load: first position from which it may fit
  Span<uint8_t> reserved;  // by load
  Span<uint8_t> issued;    // by transfer
  Span<uint32_t> queue;
};

Status InitDmaLister(Arena* arena, size_t max_tiles, size_t max_transfers,
                     DmaLister* lister);
int64_t ListTransfers(DmaLister* lister, const TileList& list, int64_t buffer_bytes,
                      uint32_t policy, DmaNotation* dma);

}  // namespace sluice

#endif  // SLUICE_MODEL_DMA_LIST_H_
