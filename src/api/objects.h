// SPDX-License-Identifier: Apache-2.0
// What the opaque pointers of sluice.h point at. Each object owns an arena with all it
// holds, so destroying it gives everything back.
//
// Input    none: plain structs
// Output   none
// Errors   none
// Cost     a context about 200 bytes; other objects what their arena holds
#ifndef SLUICE_API_OBJECTS_H_
#define SLUICE_API_OBJECTS_H_

#include "base/block_heap.h"
#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"
#include "model/plan.h"

struct sluice_context {
  sluice_context(const sluice_allocator_t& allocator, uint64_t max_bytes,
                 sluice::Clock time = {})
      : memory(allocator, max_bytes, time) {}
  sluice::BlockHeap heap;  // in-place mode only
  size_t home_bytes = 0;   // of the context itself; 0 in in-place mode
  uint32_t in_use = 0;     // 1 while a call works with it
  sluice::Memory memory;
};

struct sluice_graph {
  explicit sluice_graph(sluice::Memory* memory) : arena(memory) {}
  sluice::Arena arena;
  sluice::Graph graph = {};
  uint64_t read_peak_bytes = 0;  // peak memory of the context while this was read
};

struct sluice_hardware {
  explicit sluice_hardware(sluice::Memory* memory) : arena(memory) {}
  sluice::Arena arena;
  sluice::Hardware hardware = {};
  uint64_t read_peak_bytes = 0;
};

struct sluice_plan {
  explicit sluice_plan(sluice::Memory* memory) : arena(memory) {}
  sluice::Arena arena;
  sluice::Span<const uint8_t> bytes;
  sluice::Plan plan = {};
  bool judged = false;  // this library made the plan and has judged it
};

#endif  // SLUICE_API_OBJECTS_H_
