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

class DmaLister {
 public:
  Status Init(Arena* arena, size_t max_tiles, size_t max_transfers);
  int64_t List(const TileList& list, int64_t buffer_bytes, uint32_t policy,
               DmaNotation* dma);
  // Smallest buffer in which the last call of List would have found a legal schedule.
  int64_t minimum_bytes() const { return minimum_; }

 private:
  static constexpr int kWindow = 12;  // loads considered behind the first unissued one

  bool Fits(uint32_t load, int32_t p);
  void Reserve(uint32_t load);
  void IssueLoad(uint32_t load, int32_t start);
  void IssueStore();
  bool PickLoad(int32_t p);
  void FreePhase(int32_t p);
  void Boundary(int32_t q);
  bool Ready(const DramTensor& t) const;

  const Memory* memory_ = nullptr;
  const TileList* list_ = nullptr;
  DmaNotation* dma_ = nullptr;
  int64_t buffer_ = 0;
  int64_t minimum_ = 0;
  uint32_t policy_ = 0;
  int32_t tiles_ = 0;
  uint32_t issued_count_ = 0;
  // Cycle from which the channel is free; >= compute_ at tile boundaries.
  int64_t dram_ = 0;
  int64_t compute_ = 0;  // cycle in which the current tile ends
  uint32_t head_ = kNone;
  uint32_t first_store_ = 0, last_store_ = 0;  // queue of finished ofmaps
  uint32_t in_flight_ = kNone;  // store that may end after the current tile
  int64_t in_flight_done_ = 0;
  Span<int64_t> use_;       // bytes by position + 1
  Span<int64_t> ready_;     // by tile: cycle in which its loads are done
  Span<uint32_t> next_;     // by transfer: list of unissued loads
  Span<int32_t> release_;   // by load: first position from which it may fit
  Span<uint8_t> reserved_;  // by load
  Span<uint8_t> issued_;    // by transfer
  Span<uint32_t> queue_;
};

}  // namespace sluice

#endif  // SLUICE_MODEL_DMA_LIST_H_
