// SPDX-License-Identifier: Apache-2.0
// The untrusted image as checked tables; the state shared by all rules of the judge.
//
// Input    an image that ReadStream has accepted.
// Output   views into it; only the block directory and positions are copied.
// Errors   Reject builds the diagnostic of a refused stream.
// Cost     plain data.
#ifndef SLUICE_VERIFY_STREAM_VIEW_H_
#define SLUICE_VERIFY_STREAM_VIEW_H_

#include "base/memory.h"
#include "model/graph.h"
#include "model/hardware.h"
#include "model/plan.h"
#include "sluice/stream.h"

namespace sluice {
namespace judge {

// Addresses beyond this are refused, so that sums of a few of them fit int64.
constexpr uint64_t kAddressLimit = uint64_t{1} << 48;

struct BlockView {
  Span<const uint32_t> list;  // engines + 1
  Span<const sluice_instruction_t> instructions;
  Span<const sluice_wait_t> waits;
  Span<const sluice_tile_t> tiles;
  Span<const sluice_transfer_t> transfers;
  Span<const sluice_host_call_t> host_calls;
  Span<const sluice_operand_t> operands;
  Span<const sluice_shape_t> shapes;
  uint32_t slot_count;
  uint32_t kernel_count;
};

// One visit of an instance: an iteration of each of the loops around it.
struct Visit {
  uint32_t instance;
  uint32_t first_number;             // its instruction i has number first_number + i
  uint32_t index[SLUICE_MAX_LOOPS];  // iterations, the outermost loop's first
};

// What an instruction takes: cycles before it ends or, where it uses the DRAM port,
// before it asks for the port, which it then holds. hold -1: it does not use the port.
struct StepTime {
  int64_t before, hold;
};

struct StreamView {
  const sluice_stream_header_t* header;
  int64_t share = INT64_MAX;  // bytes of each node's scratchpad that it is made for
  Span<const sluice_engine_t> engine;
  Span<BlockView> blocks;
  Span<const sluice_instance_t> instances;
  Span<const sluice_loop_t> loops;
  Span<const int32_t> steps;
  Span<Visit> visits;  // all of them, in order: loops are judged unrolled
  Span<const sluice_binding_t> bindings;
  Span<const sluice_kernel_t> kernels;
  Span<const int32_t> attributes;
  Span<const sluice_patch_t> patches;
  Span<uint32_t>
      patch_of;  // of each binding, or kNone; empty when there are no patches
  // Of each instance: index of its first instruction in the debug map.
  Span<uint32_t> first_debug;
  // Layer of each kernel; if the layer takes over a PAD, the layer with the PAD folded
  // in (structure.cc).
  Span<Layer> executed;
  uint32_t stored;        // instructions of all instances
  uint32_t instructions;  // of all visits
  uint32_t nodes;
  uint32_t engines;
  uint64_t region_limit[SLUICE_REGION_COUNT];  // bytes that may be addressed
  uint64_t region_end[SLUICE_REGION_COUNT];    // end of what tensors and operands take
  Span<uint8_t> reaches_dram;                  // per engine: has a LOAD, STORE or HOST
  uint32_t dram_engines;                       // how many do
  Span<uint8_t> stores;                        // per engine: has a STORE
  uint32_t storers;                            // how many do
  Span<StepTime> time;                         // of each instruction, by its number
};

// One instruction of one visit.
struct Step {
  uint32_t visit;
  uint32_t index;     // in its body
  uint32_t engine;    // column, among the engines with work
  uint32_t position;  // 1-based among all instructions of that engine
};

struct Judge {
  const Graph& graph;
  const Hardware& hardware;
  const Plan& plan;
  Arena* arena;
  Diagnostic* diagnostic;
  StreamView stream;
  int64_t work;  // work bound: steps left before the judge gives up, on any bytes
  // The instruction being judged, for messages.
  Step step;
  bool has_step;
  bool counts_only = false;  // the plan was judged before: only what it costs is asked
  // What is in DRAM may be told apart less than it could be (contents.cc): nothing wrong
  // is accepted, but a stream that is refused must be judged again; whether it was.
  bool joins = false, joined = false;
  // Repeats are followed like all else; if they were not, it counts as joined.
  bool unrolls = false;
  uint32_t storer = kNone;  // while it joins: the column of the one engine that stores
};

inline uint64_t Join(uint32_t low, uint32_t high) {
  return uint64_t{low} | uint64_t{high} << 32;
}

inline const sluice_instance_t& InstanceOf(const StreamView& stream, uint32_t visit) {
  return stream.instances[stream.visits[visit].instance];
}

inline const BlockView& BlockOf(const StreamView& stream, uint32_t visit) {
  return stream.blocks[InstanceOf(stream, visit).block];
}

// The instruction's index in the debug map.
inline uint32_t DebugIndex(const StreamView& stream, const Step& step) {
  return stream.first_debug[stream.visits[step.visit].instance] + step.index;
}

// Starts the diagnostic; append to the sentence with .Text(...).Number(...).
inline Fail Reject(const Judge& judge, const char* rule) {
  Fail fail(judge.diagnostic, Status::kRejected, "verify");
  fail.Rule(rule);
  if (judge.has_step) {
    fail.Instruction(DebugIndex(judge.stream, judge.step));
    fail.Say("instance #", judge.stream.visits[judge.step.visit].instance);
    fail.Say(", instruction #", judge.step.index);
    if (judge.stream.loops.size() != 0) fail.Say(", visit #", judge.step.visit);
    fail.Text(": ");
  }
  return fail;
}

// Spends n steps of the judge's work bound; kUnsupported once it is used up.
inline Status Spend(Judge* judge, int64_t n) {
  const int64_t before = judge->work;
  judge->work -= n;
  if (judge->work >= 0) {
    // Read the clock once every 256 steps.
    const bool look = ((before ^ judge->work) >> 8) != 0;
    return look && judge->arena->memory()->Stop() ? Status::kStopped : Status::kOk;
  }
  Fail fail(judge->diagnostic, Status::kUnsupported, "verify");
  fail.Rule("work").Text("the stream's boxes are too intricate to be followed");
  if (judge->has_step) {
    fail.Instruction(DebugIndex(judge->stream, judge->step));
  }
  return fail;
}

// Checks the whole image in one linear pass and fills judge->stream.
Status ReadStream(Judge* judge);

// ReadStream's part for loops: checks loops and steps, and lists the visits.
Status ReadLoops(Judge* judge);

// The loops around an instance, the outermost first.
struct Nest {
  uint32_t depth = 0;
  uint32_t loop[SLUICE_MAX_LOOPS];
};
Nest NestOf(const StreamView& stream, const sluice_instance_t& instance);

// Bytes that the loops move the base of a slot by.
int64_t MoveOfSlot(const StreamView& stream, uint32_t visit, uint32_t slot);

// The tile where it lies in its layer in this visit; false: before its first element.
bool MoveTile(const StreamView& stream, uint32_t visit, sluice_tile_t* tile);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_STREAM_VIEW_H_
