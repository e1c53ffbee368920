// SPDX-License-Identifier: Apache-2.0
// Tiles and transfers written by hand.
#ifndef SLUICE_TESTS_MODEL_HAND_LIST_H_
#define SLUICE_TESTS_MODEL_HAND_LIST_H_

#include <vector>

#include "model/timeline.h"

namespace sluice {

// A TileList that owns its arrays; Finish after every change.
struct HandList {
  std::vector<int64_t> cycles, ofmap_bytes, reserve;
  std::vector<int32_t> ofmap_end;
  std::vector<uint32_t> store;
  std::vector<DramTensor> transfer;
  std::vector<Resident> resident;
  TileList list;

  HandList() = default;
  HandList(HandList&&) = default;
  HandList(const HandList&) = delete;  // `list` would point into the other

  void AddTile(int64_t tile_cycles, int64_t bytes, int32_t end) {
    cycles.push_back(tile_cycles);
    ofmap_bytes.push_back(bytes);
    ofmap_end.push_back(end);
    store.push_back(kNone);
  }
  void AddTransfer(TransferKind kind, int64_t bytes, int64_t transfer_cycles,
                   int32_t use, int32_t end) {
    DramTensor t = {};
    t.bytes = t.held = bytes;
    t.cycles = transfer_cycles;
    t.use = use;
    t.end = end;
    t.previous = t.after = kNone;
    t.kind = kind;
    transfer.push_back(t);
  }
  void Finish() {
    list.tiles = static_cast<uint32_t>(cycles.size());
    list.transfers = static_cast<uint32_t>(transfer.size());
    list.residents = static_cast<uint32_t>(resident.size());
    list.compute_cycles = list.dram_cycles = list.load_bytes = list.store_bytes = 0;
    for (const int64_t c : cycles) list.compute_cycles += c;
    for (DramTensor& t : transfer) {
      list.dram_cycles += t.cycles;
      (t.kind == kStore ? list.store_bytes : list.load_bytes) += t.bytes;
      t.group_end = static_cast<int32_t>(list.tiles);
    }
    list.cycles = {cycles.data(), cycles.size()};
    list.ofmap_bytes = {ofmap_bytes.data(), ofmap_bytes.size()};
    list.ofmap_end = {ofmap_end.data(), ofmap_end.size()};
    list.reserve = {reserve.data(), reserve.size()};
    list.store = {store.data(), store.size()};
    list.transfer = {transfer.data(), transfer.size()};
    list.resident = {resident.data(), resident.size()};
  }
};

// Tile 0 takes 10 cycles and leaves 3 bytes for tile 1, which takes 20. Transfers: 8
// bytes in 4 cycles into tile 0, 12 in 6 into tile 1, and tile 1's store of 10 in 5.
inline HandList TwoTiles() {
  HandList h;
  h.AddTile(10, 3, 2);
  h.AddTile(20, 0, 2);
  h.AddTransfer(kLoadInput, 8, 4, 0, 1);
  h.AddTransfer(kLoadInput, 12, 6, 1, 2);
  h.AddTransfer(kStore, 10, 5, 1, 2);
  h.Finish();
  return h;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_MODEL_HAND_LIST_H_
