// SPDX-License-Identifier: Apache-2.0
// What the stream does for one layer, counted while the judge follows it.
#ifndef SLUICE_VERIFY_LAYER_COUNTS_H_
#define SLUICE_VERIFY_LAYER_COUNTS_H_

#include <stdint.h>

#include "sluice/stream.h"

namespace sluice {

struct LayerCounts {
  uint64_t cycles;       // of its tiles, one after the other
  uint64_t host_cycles;  // of its HOST calls
  uint64_t port_cycles;  // that its transfers hold DRAM's port
  uint64_t dram_read_bytes, dram_write_bytes, spill_bytes;
  uint64_t moved_bytes[SLUICE_REGION_COUNT][2];  // of the DRAM bytes, read and written
  uint64_t macs, vector_ops;
  // Scratchpad bytes: of transfers and partial sums, and those of tiles' operands.
  uint64_t pad_read_bytes, pad_write_bytes, tile_read_bytes, tile_write_bytes;
  uint32_t tiles;
  uint32_t first_instance;  // of the stream, that works for it
  uint32_t extent[4];       // output of its largest tile
};

}  // namespace sluice

#endif  // SLUICE_VERIFY_LAYER_COUNTS_H_
