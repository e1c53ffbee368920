// SPDX-License-Identifier: Apache-2.0
// A schedule in full, before it is written as a stream: transfers and tiles in one
// order that is right when executed one by one, with scratchpad addresses.
//
// The order of steps on each engine is the order in this list. Waits are derived, not
// decided: DeriveWaits finds the fewest that keep every read after its write and every
// write after the reads of what it overwrites.
//
// Cost     DeriveWaits O(steps * ranges that overlap), PredictCycles O(steps + waits).
#ifndef SLUICE_MODEL_PROGRAM_H_
#define SLUICE_MODEL_PROGRAM_H_

#include "base/memory.h"
#include "model/hardware.h"
#include "model/plan.h"
#include "model/tile_geometry.h"

namespace sluice {

// Bytes [begin, end) of one node's scratchpad: a whole buffer.
struct BufferRange {
  uint32_t begin;
  uint32_t end;
};

// A box of elements in the scratchpad: element i at offset + sum i[a] * stride[a].
struct BufferBox {
  BufferRange range;  // the buffer it lies in, for dependences
  uint32_t offset;    // bytes
  int32_t extent[kAxes];
  uint32_t stride[kAxes];
  uint8_t dtype;
};

// The same in DRAM; the tensor's place gives the base.
struct DramBox {
  uint32_t tensor;  // kNone: no DRAM side
  int64_t offset;   // bytes from the tensor's place
  int32_t extent[kAxes];
  uint32_t stride[kAxes];
  // The base moves by `step` bytes for each unit of the parameter.
  bool moves;
  uint32_t parameter;
  uint32_t step;
};

enum class StepKind : uint8_t { kLoad, kStore, kCompute, kHost };

struct Step {
  StepKind kind;
  uint32_t layer;  // graph layer
  uint32_t item;   // into Program::transfers, ::tiles, or the layer itself for kHost
};

struct Transfer {
  DramBox dram;
  BufferBox buffer;
  bool indexed;     // LOAD of rows chosen by `index`
  BufferBox index;  // int32, in the scratchpad
};

struct TileStep {
  bool present[kTileRoles];
  BufferBox operand[kTileRoles];
  bool has_accumulator;
  BufferBox accumulator;
  bool first;
  bool last;
  int32_t origin[kAxes];
  int32_t c_begin;
  int32_t c_end;
  uint16_t pad[4];
  int64_t cycles;
  int64_t macs;
  int64_t vector_ops;
};

// At least `count` steps of `engine` (counted over the whole program) have completed.
struct ProgramWait {
  uint32_t engine;  // kEngineDma ...
  uint32_t count;
};

enum ProgramEngine {
  kEngineDma = 0,
  kEngineHost = 1,
  kEngineCompute = 2,
  kEngines = 3
};
ProgramEngine EngineOf(StepKind kind);

struct Program {
  explicit Program(Arena* arena)
      : steps(arena), transfers(arena), tiles(arena), block_begin(arena) {}
  Vector<Step> steps;
  Vector<Transfer> transfers;
  Vector<TileStep> tiles;
  Vector<uint32_t> block_begin;  // first step of each block, ascending, starts with 0
};

// Waits of step i: waits[begin[i]] up to, not including, waits[begin[i + 1]].
struct ProgramWaits {
  Span<uint32_t> begin;
  Span<ProgramWait> waits;
};

// A box packed without holes at the start of `range`.
BufferBox DenseBuffer(BufferRange range, const int32_t extent[kAxes], uint8_t dtype,
                      uint32_t element_bytes);
// Elements [box] of a tensor at its place.
DramBox TensorBox(uint32_t tensor, const TensorPlace& place, const Box& box);
// Bytes a transfer moves.
int64_t TransferBytes(const Transfer& transfer);

Status DeriveWaits(const Program& program, Arena* arena, ProgramWaits* out);

// Cycles until the last step completes, exactly as the stream will execute.
Status PredictCycles(const Graph& graph, const Hardware& hardware,
                     const Program& program, const ProgramWaits& waits, Arena* scratch,
                     int64_t* cycles);

}  // namespace sluice

#endif  // SLUICE_MODEL_PROGRAM_H_
