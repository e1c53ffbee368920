// SPDX-License-Identifier: Apache-2.0
// Remembers the tilings of layers: networks repeat layers, and a tiling depends only on
// shapes.
//
// Input    layers of one graph, on one chip, for one scratchpad size and one coster.
// Output   the results of ChooseTiling and BuffersOf, remembered for equal layers.
// Errors   those of ChooseTiling.
// Cost     a comparison per different layer whose hash begins alike; some 230 bytes for each
//          in the arena.
#ifndef SLUICE_SOLVE_BASELINE_TILING_MEMO_H_
#define SLUICE_SOLVE_BASELINE_TILING_MEMO_H_

#include "solve/baseline/tiling.h"

namespace sluice {

// Whether two layers of a graph do the same work on tensors of the same shapes.
bool SameLayer(const Graph& graph, const Layer& a, const Layer& b);

// Equal layers have equal hashes.
uint64_t HashOfLayer(const Graph& graph, const Layer& layer);

class TilingMemo {
 public:
  explicit TilingMemo(Arena* arena) : entries_(arena) {}
  Status Choose(const TiledLayer& layer, int64_t scratchpad_bytes, Arena* scratch,
                Tiling* tiling, TileBuffers* buffers, int64_t* smallest);

 private:
  struct Entry {
    uint64_t hash;
    Layer layer;
    uint32_t index;
    uint32_t next;  // with the same bits of the hash: number + 1, or 0
    Tiling tiling;
    TileBuffers buffers;
  };
  Vector<Entry> entries_;
  uint32_t head_[64] = {};  // by the highest bits of the hash: number + 1, or 0
};

}  // namespace sluice

#endif  // SLUICE_SOLVE_BASELINE_TILING_MEMO_H_
