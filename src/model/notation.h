// SPDX-License-Identifier: Apache-2.0
// The tensor-centric notation of a fused schedule, and the parser to tiles and
// transfers.
//
// Input    FusionProblem: layers with ofmap extents (elements, N H W K), weights
//          (bytes), sources; GroupNotation: computing order, cuts, tiling numbers.
// Output   TileList: one entry per tile in execution order, one per DRAM transfer.
// Errors   ParseResult says which rule a notation breaks; nothing else fails.
// Cost     O(layers + edges + tiles + transfers) per parse, no allocation.
// Source   SoMa sections III, IV (attributes: computing order, FLC set, tiling numbers,
//          DRAM cut set, DRAM tensor order, living durations). Deviations: boxes are
//          exact and loads shared, unless the TileModel asks for SoMa's uniform tiles.
#ifndef SLUICE_MODEL_NOTATION_H_
#define SLUICE_MODEL_NOTATION_H_

#include <stdint.h>

#include "base/array.h"
#include "base/memory.h"
#include "model/group_memo.h"
#include "model/hardware.h"
#include "model/tile_cost.h"

namespace sluice {

struct FusionInput {
  uint32_t source;  // layer, or layers.size() + external
  // Axes (bits N H W K) along which a group containing this edge may be cut.
  uint8_t fused_axes;
};

struct FusionLayer {
  int32_t extent[4];  // ofmap
  uint32_t element_bytes;
  // Constants; 0 = none. On chip as long as tiles use the same output channels of them.
  int64_t weight_bytes;
  // Part of weight_bytes; has a transfer and a buffer of its own.
  int64_t parameter_bytes;
  uint32_t first_input, inputs;
  uint32_t first_consumer, consumers;
  uint8_t axes;  // axes its ofmap may be cut along; K cuts its weights too
  bool output;   // stored to DRAM even when it has consumers
  bool kept;     // read after this problem: stays on chip if its group is the last
  uint64_t
      signature;  // equal for layers that TileModel treats alike; 0 = unlike any other
};

struct FusionExternal {
  int32_t extent[4];
  uint32_t element_bytes;
  // resident: on chip when the first group starts, as long as that group needs it.
  // kept: until the end, if the first group is the last.
  bool resident = false;
  bool kept = false;
};

struct FusionProblem {
  Span<const FusionLayer> layers;  // topological
  Span<const FusionInput> inputs;
  Span<const uint32_t> consumers;  // layers, by FusionLayer::first_consumer
  Span<const FusionExternal> externals;
  Rational dram_bandwidth;  // bytes per cycle
  int64_t dram_latency_cycles;
  double dram_pj_per_byte;
  int64_t buffer_bytes;
  int64_t alignment_bytes;  // alignment of buffers; 0 = none
  // By layer: buffer bytes that must stay free while it runs; empty = none.
  Span<const int64_t> reserve;
  // Slices of output channels begin and end at multiples of it, or at the last channel.
  int32_t channel_granule = 1;
};

// Fills `consumers` from `inputs`, one entry per input edge that reads a layer.
void LinkConsumers(Span<FusionLayer> layers, Span<const FusionInput> inputs,
                   Span<uint32_t> consumers);

enum Cut : uint8_t {
  kCutNone = 0,
  kCutFine = 1,  // FLC: a new fine-grained group
  kCutDram = 2,  // a new layer-fusion group: tensors across the cut go through DRAM
};

// Layer-fusion attributes. cut[i] is the cut in front of position i; cut[0] is
// kCutDram. tiles[i] is the tiling number of the group that starts at i; ignored if
// cut[i] is kCutNone.
struct GroupNotation {
  Span<uint32_t> order;
  Span<uint8_t> cut;
  Span<int32_t> tiles;
};

enum TransferKind : uint8_t { kLoadWeight = 0, kLoadInput = 1, kStore = 2 };

struct DramTensor {
  int64_t bytes;  // moved
  int64_t held;   // buffer bytes; 0 when another transfer's or tile's buffer holds it
  int64_t cycles;
  int32_t use;  // load: first tile that needs it; store: tile that makes it
  // Load: last tile that needs it + 1; store: last reader on chip + 1, > use.
  int32_t end;
  int32_t group_end;  // first position after its layer-fusion group
  int32_t tile;       // number among the layer's tiles
  uint32_t layer;
  uint32_t source;    // kLoadInput: as FusionInput::source
  uint32_t previous;  // transfer of the tile before, same layer and input; or kNone
  uint32_t after;     // store that must be done before it starts, or kNone
  TransferKind kind;
};

// DRAM attributes: order of transfers and living durations [start, end) in positions;
// -1 is the time before tile 0.
struct DmaNotation {
  Span<uint32_t> order;
  Span<int32_t> start;  // by transfer; of stores: DramTensor::use
  Span<int32_t> end;    // by transfer; of loads: DramTensor::end
};

// A tensor on chip from before the first tile until tile `end` starts.
struct Resident {
  int64_t bytes;
  int32_t end;
};

struct TileList {
  uint32_t tiles = 0;
  uint32_t transfers = 0;
  uint32_t groups = 0;  // layer-fusion groups
  uint32_t fine_groups = 0;
  int64_t compute_cycles = 0;
  int64_t dram_cycles = 0;
  int64_t load_bytes = 0;
  int64_t store_bytes = 0;
  double core_pj = 0;
  // Capacities are fixed by InitParser; only [0, tiles) and [0, transfers) are valid.
  Span<uint32_t> layer;  // by position
  Span<int32_t> tile;    // by position, of the layer
  Span<int64_t> cycles;  // by position
  Span<CutBox> box;      // by position, ofmap elements made there
  // By position: buffer bytes occupied in [position, ofmap_end), or until the
  // position's store is done. 0 where an earlier tile's buffer holds the whole ofmap.
  Span<int64_t> ofmap_bytes;
  Span<int32_t> ofmap_end;
  Span<int64_t> reserve;      // by position, as FusionProblem::reserve; empty = none
  Span<uint32_t> store;       // by position: its transfer or kNone
  Span<DramTensor> transfer;  // by position of use
  Span<Resident> resident;    // [0, residents)
  uint32_t residents = 0;
  // By transfer: box in the source or ofmap; for weights: the output channels.
  Span<CutBox> transfer_box;
};

enum class ParseResult : uint8_t {
  kOk,
  kOrder,    // a layer before its source
  kCut,      // a group cannot be cut into that many tiles
  kMapping,  // a tile has no mapping
  kTooMany,  // more tiles or transfers than the list holds, or the clock ran out
};

// How much a TileList holds.
struct TileRoom {
  uint32_t tiles;
  uint32_t transfers;
};

// What is known of a notation while it is parsed.
struct Parser {
  struct Group {           // fine-grained
    uint32_t first, last;  // positions in the order, half-open
    int32_t tiles;
    int32_t base;  // position of its first tile
    uint32_t fusion;
    int32_t slices;     // of output channels; divides tiles
    bool slices_outer;  // true: all of the map for one slice, then the next slice
  };
  struct Reach {    // of one layer's ofmap
    int32_t inner;  // distance to the last reader in the fine group, or 0
    int32_t later;  // first position after all readers in later fine groups, or 0
    bool store;
  };

  // May be changed to another problem with the same layers, whose buffer may differ.
  const FusionProblem* problem = nullptr;
  TileMemo* memo = nullptr;
  const Memory* memory = nullptr;
  Span<Group> groups;
  uint32_t group_count = 0;
  uint32_t fusion_count = 0;
  Span<uint32_t> position;  // by layer
  Span<uint32_t> group_of;  // by layer
  Span<Reach> reach;        // by layer
  Span<CutBox> box;         // by layer
  Span<uint8_t> has_box;    // by layer
  Span<TileCost> cost;      // by layer
  Span<int32_t> counts;     // by layer, four each: parts of its ofmap along each axis
  GroupMemo groups_memo;
  int32_t total = 0;  // tiles
  Span<int32_t> fusion_end;
  Span<uint32_t> last_load;    // by input edge: last transfer, or kNone
  Span<uint32_t> last_store;   // by layer
  Span<uint32_t> last_weight;  // by layer: transfer of its latest slice
  Span<uint32_t> sharer;       // by source: edge that loads it in this tile
  Span<uint64_t> shared_at;    // by source: stamp of that tile
  Span<int32_t> resident_end;  // by external: last tile on chip that reads it + 1
  uint64_t stamp = 0;
};

// problem and memo must outlive the parser. Fixes the capacities of the list.
Status InitParser(Parser* parser, Arena* arena, const FusionProblem* problem,
                  TileMemo* memo, const TileRoom& room, TileList* list);
ParseResult ParseNotation(Parser* parser, const GroupNotation& notation,
                          TileList* list);

}  // namespace sluice

#endif  // SLUICE_MODEL_NOTATION_H_
