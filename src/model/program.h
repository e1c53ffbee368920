// SPDX-License-Identifier: Apache-2.0
// A complete schedule before it is written as a stream: all transfers and tiles with
// their scratchpad addresses. Executing the steps one by one in list order gives
// correct results.
//
// Each engine executes its steps in list order. DeriveWaits derives the fewest waits
// that keep every read after its write and every write after the reads of what it
// overwrites.
//
// Steps are stored densely: a form, stored once, holds what several tiles or transfers
// have in common; each step adds its own numbers. The Add functions take a step in
// full; step() and the forms have its parts.
//
// A tile runs on one node. A STORE or FORWARD names its source node; a LOAD names the
// top left node of its destination rectangle. Each node has its own scratchpad
// addresses.
//
// Input    steps in execution order, added by planners
// Output   the same steps; DeriveWaits: waits per step; PredictCycles: cycles
// Errors   kOutOfMemory; kStopped when the memory's clock has run out
// Cost     some 40 bytes per step and its waits where tiles repeat; DeriveWaits O(steps
//          * overlapping ranges), PredictCycles O(steps + waits). Waits implied by
//          other waits are left out; if nodes * steps > 2^22, only those implied within
//          two waits.
#ifndef SLUICE_MODEL_PROGRAM_H_
#define SLUICE_MODEL_PROGRAM_H_

#include "base/checked.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/sequence.h"
#include "model/engines.h"
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
  // 1: this write is independent of the other writes since the last read and need not
  // wait for them.
  uint8_t joins;
  uint8_t reserved[2];  // 0: boxes are compared by their bytes
};

// The same in DRAM; the tensor's place gives the base.
struct DramBox {
  uint32_t tensor;  // kNone: no DRAM side
  uint32_t region;  // of the tensor's place
  int64_t offset;   // bytes from the tensor's place
  int32_t extent[kAxes];
  uint32_t stride[kAxes];
  // The base moves by `step` bytes for each unit of the parameter.
  bool moves;
  uint32_t parameter;
  uint32_t step;
};

enum class StepKind : uint8_t { kLoad, kStore, kCompute, kHost, kForward };

struct Step {
  StepKind kind;
  // Of the tile; LOAD: top left of the destination; STORE, FORWARD: source.
  uint32_t node;
  uint32_t layer;  // graph layer
  uint32_t item;   // index of the transfer or tile; for kHost the layer
};

struct NodeRect {
  uint32_t node;        // top left
  uint32_t cols, rows;  // 0 means 1
};

struct Transfer {
  DramBox dram;       // not used by FORWARD
  BufferBox buffer;   // FORWARD: the source
  bool indexed;       // LOAD of rows chosen by `index`
  BufferBox index;    // int32, in the scratchpad
  uint32_t node;      // STORE, FORWARD: source node
  NodeRect to;        // LOAD, FORWARD
  BufferBox landing;  // FORWARD: the destination, at this address on each node of `to`
  uint8_t role;       // SLUICE_ROLE_: what the tensor is for the step's layer
};

struct TileStep {
  uint32_t node;
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
  double energy_pj;  // on chip; 0 = derive it from bytes and work
  double scratchpad_pj;
};

// Wait until at least `count` steps of `engine`, counted from the program's start, are
// done.
struct ProgramWait {
  uint32_t engine;  // model/engines.h
  uint32_t count;
};

// FarthestHops: links from `node` to the farthest node of a rectangle. LinksTo: links
// of a tree from `node` that enters the rectangle at its nearest node and reaches all
// its nodes.
int64_t FarthestHops(uint32_t cols, uint32_t node, const NodeRect& to);
int64_t LinksTo(uint32_t cols, uint32_t node, const NodeRect& to);

constexpr uint32_t kNoBox = 0xffffffffu;
// Steps of a program that are judged in reasonable time and memory.
constexpr size_t kJudgedSteps = 1 << 21;

// What transfers have in common: everything except their place in DRAM.
struct TransferForm {
  uint32_t tensor;
  uint32_t moves, parameter, step;  // as in DramBox
  int32_t extent[kAxes];
  uint32_t stride[kAxes];
  uint32_t buffer;  // box
  uint32_t other;   // box: of a FORWARD the destination, of others the index or kNoBox
  uint32_t to;      // FORWARD: top left node
  uint32_t cols, rows;  // LOAD, FORWARD: of the rectangle, each >= 1
  uint32_t role;        // SLUICE_ROLE_
  uint32_t queue;       // LOAD, STORE: that runs it
  uint32_t region;      // LOAD, STORE: of its side off chip
};

// What tiles have in common: everything except their place in the layer.
struct TileForm {
  uint32_t operand[kTileRoles];  // boxes, kNoBox where absent
  uint32_t accumulator;          // box or kNoBox
  uint32_t first, last;
  uint16_t pad[4];
  int64_t cycles, macs, vector_ops;
  // Bits of doubles, so that equal forms have equal bytes.
  uint64_t energy_bits, scratchpad_bits;

  double energy_pj() const { return FromBits(energy_bits); }
  double scratchpad_pj() const { return FromBits(scratchpad_bits); }
  static double FromBits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  static uint64_t ToBits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
  }
};

// The place of a tile in its layer.
struct TilePlace {
  int32_t origin[kAxes];
  int32_t c_begin, c_end;
};

class Program {
 public:
  // Needs the descriptor's mesh and queues only, and not beyond the call.
  Program(Arena* arena, const Hardware& hardware)
      : cols_(Max(hardware.node_cols, 1u)),
        nodes_(cols_ * Max(hardware.node_rows, 1u)),
        engines_(hardware),
        boxes_(arena),
        transfer_forms_(arena),
        tile_forms_(arena),
        steps_(arena),
        transfers_(arena),
        tiles_(arena),
        block_begin_(arena) {}

  Status BeginBlock() { return BeginBlock(static_cast<uint32_t>(size())); }
  // Ascending, after DropBlocks.
  Status BeginBlock(uint32_t first) { return block_begin_.Push(first); }
  void DropBlocks() { block_begin_.Truncate(0); }
  Status AddTransfer(StepKind kind, uint32_t layer, const Transfer& transfer);
  Status AddTile(uint32_t layer, const TileStep& tile);
  Status AddHost(uint32_t layer) { return Push(StepKind::kHost, 0, layer, layer); }
  // Puts the steps into another order: order[i] was the number of the step that is now
  // step i. blocks: the first step of each block. Gives scratch back.
  Status Reorder(Span<const uint32_t> order, Span<const uint32_t> blocks,
                 Arena* scratch);

  uint32_t cols() const { return cols_; }
  uint32_t nodes() const { return nodes_; }
  const Engines& engines() const { return engines_; }
  size_t size() const { return steps_.size(); }
  size_t tile_count() const { return tiles_.size(); }
  size_t block_count() const { return block_begin_.size(); }
  // First step of a block; block = block_count() gives the end of the last block.
  uint32_t block_begin(size_t block) const {
    return block < block_begin_.size() ? block_begin_[block]
                                       : static_cast<uint32_t>(size());
  }
  Step step(size_t i) const {
    const PackedStep& s = steps_[i];
    return Step{static_cast<StepKind>(s.item >> kItemBits), s.layer >> kLayerBits,
                s.layer & ((1u << kLayerBits) - 1), s.item & ((1u << kItemBits) - 1)};
  }

  // The stored parts, for code that walks over all of them.
  const TransferForm& transfer_form(uint32_t item) const {
    return transfer_forms_[transfers_[item].form];
  }
  uint32_t form_of_transfer(uint32_t item) const { return transfers_[item].form; }
  uint32_t form_of_tile(uint32_t item) const { return tiles_[item].form; }
  int64_t dram_offset(uint32_t item) const {
    const PackedTransfer& t = transfers_[item];
    return static_cast<int64_t>(t.offset_lo | uint64_t{t.offset_hi} << 32);
  }
  const TilePlace& tile_place(uint32_t item) const { return tiles_[item].place; }
  const TileForm& tile_form(uint32_t item) const {
    return tile_forms_[tiles_[item].form];
  }
  size_t box_count() const { return boxes_.size(); }
  const BufferBox& box(uint32_t index) const { return boxes_[index]; }

 private:
  static constexpr uint32_t kItemBits = 29, kLayerBits = 22;
  struct PackedStep {
    uint32_t layer;  // node in the bits above kLayerBits
    uint32_t item;   // kind in the bits above kItemBits
  };
  struct PackedTransfer {
    uint32_t form;
    uint32_t offset_lo, offset_hi;
  };
  struct PackedTile {
    uint32_t form;
    TilePlace place;
  };
  Status Push(StepKind kind, uint32_t node, uint32_t layer, size_t item);
  Status PushTransfer(StepKind kind, uint32_t layer, const Transfer& transfer,
                      uint32_t queue);

  uint32_t cols_;
  uint32_t nodes_;
  Engines engines_;
  int64_t queue_bytes_[kMaxQueues] = {};  // given to each queue so far
  InternTable<BufferBox> boxes_;
  InternTable<TransferForm> transfer_forms_;
  InternTable<TileForm> tile_forms_;
  Sequence<PackedStep> steps_;
  Sequence<PackedTransfer> transfers_;
  Sequence<PackedTile> tiles_;
  Vector<uint32_t> block_begin_;  // ascending, starts with 0
};

// The engine that runs a step.
uint32_t EngineOf(const Program& program, const Step& step);

// Waits of step i: waits[begin[i]] up to, not including, waits[begin[i + 1]].
struct ProgramWaits {
  explicit ProgramWaits(Arena* arena) : begin(arena), waits(arena) {}
  Sequence<uint32_t> begin;
  Sequence<ProgramWait> waits;
};

// The role of what a tile reads or writes, as transfers say it (SLUICE_ROLE_).
uint8_t WireRole(int tile_role);

// A box packed without holes at the start of `range`.
BufferBox DenseBuffer(BufferRange range, const int32_t extent[kAxes], uint8_t dtype,
                      uint32_t element_bytes);
// The box of a tensor, at its place in DRAM.
DramBox TensorBox(uint32_t tensor, const TensorPlace& place, const Box& box);
// Bytes of a box's elements, without gaps.
int64_t BoxBytes(const BufferBox& box);

// What a LOAD or STORE takes of its queue, and the bytes that leave memory encoded, or 0.
struct TransferWork {
  QueueWork queue;
  int64_t encoded;
};
TransferWork WorkOf(const Graph& graph, const Program& program,
                    const TransferForm& transfer);

// A program of a graph on a machine.
struct ProgramRun {
  const Graph& graph;
  const Hardware& hardware;
  const Program& program;
};

// Step `count` (1-based) of an engine is number (*begin)[engine] + count - 1.
Status CountEngines(const Program& program, Arena* arena, Span<uint32_t>* begin);

// places: of the graph's tensors in DRAM; only read where the machine has several
// queues, which wait for each other there. Scratch is taken and given back.
Status DeriveWaits(const ProgramRun& run, Span<const TensorPlace> places,
                   Arena* scratch, ProgramWaits* out);

// Cuts blocks so that the sum of the steps' cycles of each block is within max_cycles,
// except for blocks of one step. Gives scratch back.
Status CutBlocks(const Graph& graph, const Hardware& hardware, int64_t max_cycles,
                 Arena* scratch, Program* program);

// Cycles of one step by itself.
int64_t CyclesOfStep(const ProgramRun& run, const Step& step);

// Cycles until the last step completes, exactly as the stream executes. block_cycles:
// for each block, cycles until all steps up to its end are done; empty = not wanted.
Status PredictCycles(const ProgramRun& run, const ProgramWaits& waits, Arena* scratch,
                     int64_t* cycles, Span<int64_t> block_cycles = {});

}  // namespace sluice

#endif  // SLUICE_MODEL_PROGRAM_H_
