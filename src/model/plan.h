// SPDX-License-Identifier: Apache-2.0
// A plan as read from plan.fbs or about to be written to it.
//
// Input    filled by io/read_plan.cc, or by plan for io/write_plan.cc
// Output   none: plain data
// Errors   none
// Cost     none
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

// The schedule as plan.fbs has it. io/read_plan.cc checks only that sections lie inside
// `dram` and that order, cut and tiling have one length.
enum SectionKind : uint32_t { kPlainSection, kFusedSection, kSegmentSection };

struct PlanSection {
  uint32_t layer;
  uint32_t kind;  // SectionKind
  uint32_t dram, transfers;
};

struct PlanDramTensor {
  uint32_t tensor;   // index into TileList::transfer
  int32_t duration;  // load: its start; store: its end
};

struct PlanLayerHash {
  uint32_t kind, shape;
  bool operator==(const PlanLayerHash& o) const {
    return kind == o.kind && shape == o.shape;
  }
};

// The next `layers` positions of the order, under the next `loops` loops.
struct PlanSegment {
  uint32_t layers, loops;
  uint32_t slice, piece;  // bytes: LoopChoice
};

struct PlanLoop {
  uint32_t axis;
  int32_t trips;
};

struct PlanNotation {
  Span<const PlanSection> section;
  Span<const uint32_t> order;  // graph layers
  Span<const uint8_t> cut;     // Cut
  Span<const int32_t> tiling;
  Span<const PlanDramTensor> dram;
  Span<const uint32_t> section_buffer;  // per section, or empty
  Span<const uint32_t> buffer;          // offsets
  Span<const PlanSegment> segment;      // of a section of kSegmentSection
  Span<const PlanLoop> loop;
  Span<const uint32_t> leave;  // by position: bytes that are left empty; or none
  uint32_t placing = 0;        // how images got their offsets
};

struct Plan {
  // Without a stream a plan is its notation alone: one to be made.
  bool is_made() const { return !stream.empty(); }

  uint64_t graph_hash;
  uint64_t hardware_hash;
  Span<const uint8_t> stream;  // image of stream.h, 4-byte aligned; not yet trusted
  Span<const TensorPlace> tensors;
  Span<const uint32_t> debug_layer;  // graph layer per instruction, block by block
  PlanNotation notation;
  Span<const PlanLayerHash> layer_hash;  // by graph layer
  sluice_report_t report;
  sluice_certificate_t certificate;  // of the bounds in the report
};

}  // namespace sluice

#endif  // SLUICE_MODEL_PLAN_H_
