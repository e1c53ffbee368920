// SPDX-License-Identifier: Apache-2.0
// A plan as read from plan.fbs or about to be written to it.
#ifndef SLUICE_MODEL_PLAN_H_
#define SLUICE_MODEL_PLAN_H_

#include <stdint.h>

#include "base/array.h"
#include "model/graph.h"
#include "sluice/sluice.h"
#include "sluice/stream.h"

namespace sluice {

constexpr uint8_t kRegionNowhere = 255;  // the tensor never leaves the scratchpad

// Where a graph tensor lies in DRAM. Element (n, h, w, c) of the normalised axes is at
// offset + n * stride[0] + h * stride[1] + w * stride[2] + c * stride[3].
struct TensorPlace {
  uint8_t region;  // SLUICE_REGION_ or kRegionNowhere
  uint64_t offset;
  uint32_t stride[kAxes];  // bytes
};

struct Plan {
  uint64_t graph_hash;
  uint64_t hardware_hash;
  Span<const uint8_t> stream;  // image of stream.h, 4-byte aligned; not yet trusted
  Span<const TensorPlace> tensors;
  Span<const uint32_t> debug_layer;  // graph layer per instruction, block by block
  sluice_report_t report;
};

}  // namespace sluice

#endif  // SLUICE_MODEL_PLAN_H_
