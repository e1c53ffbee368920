// SPDX-License-Identifier: Apache-2.0
// Follows one instruction after the other: the bytes that it reads must be those that
// the graph's dataflow defines.
//
// Input    steps in the order of a linear extension.
// Output   traffic and peak counted on the way; contents after the last step.
// Errors   kRejected with rule bounds, alignment, order, content, tile, accumulate,
//          patch, append, cycles or structure; kUnsupported; kOutOfMemory.
// Cost     see contents.h, per access.
#ifndef SLUICE_VERIFY_FOLLOW_H_
#define SLUICE_VERIFY_FOLLOW_H_

#include "verify/contents.h"
#include "verify/tile_rules.h"
#include "verify/verify.h"
#include "verify/views.h"

namespace sluice {
namespace judge {

// An operand of one instance, in bounds of its region.
struct Access {
  uint32_t region;
  uint32_t patch;  // kNone, or the patch; then the base is that for value 0
  uint8_t dtype;
  int64_t base;
  int64_t width;
  int64_t extent[kAxes];
  int64_t stride[kAxes];
  int64_t elements;  // saturating

  // The box with a twin stride for each axis.
  Box BoxWith(int64_t twin, const int64_t* twin_stride) const {
    Box box = Box::At(base, twin, width);
    for (int a = 0; a < kAxes; ++a) box.Add(extent[a], stride[a], twin_stride[a]);
    return box;
  }
};

// A tile where it lies in its layer, and what follows from it.
struct SeenTile {
  sluice_tile_t tile;
  const Layer* layer;
  uint32_t layer_index;
  int64_t origin[kAxes];
  Access result, accumulator;
  TileNeeds needs;
};

// Progress of a STATE_APPEND layer: which of its rows are stored.
struct AppendProgress {
  struct Part {
    int64_t begin[kAxes];  // in the coordinates of the rows tensor
    int64_t extent[kAxes];
  };
  explicit AppendProgress(Arena* arena) : parts(arena) {}
  uint32_t layer;
  int64_t missing;     // elements
  Vector<Part> parts;  // disjoint
};

// What is known of the stream so far.
struct Follower {
  Follower(Judge* the_judge, const Order* the_order, VerifiedCounts* the_counts)
      : judge(the_judge),
        order(the_order),
        counts(the_counts),
        clocks(the_judge, the_order),
        contents(the_judge),
        views(the_judge),
        encoded(the_judge->arena),
        leaves(the_judge->arena),
        parts(the_judge->arena),
        inside(the_judge->arena),
        todo(the_judge->arena),
        outside(the_judge->arena) {}

  Judge* judge;
  const Order* order;
  VerifiedCounts* counts;
  Clocks clocks;
  Contents contents;
  Views views;
  Vector<uint32_t> encoded;  // tensors
  Span<AppendProgress*> appends;
  Span<uint8_t>
      worked_for;     // by layer: 1 once an instruction did, 2 once a HOST call did
  uint32_t node = 0;  // node whose scratchpad the instruction addresses
  // Of the last tile with an accumulator: what its accumulator has; it is one range that
  // this tile began or went on with.
  PartialSum sum = {};
  bool plain_sum = false;
  // Working memory of the functions below.
  Vector<Leaf> leaves;
  Vector<Part> parts;
  Vector<Inside> inside;
  Vector<Box> todo, outside;
};

Status InitFollower(Follower* f);  // places constants, inputs and states
Status FollowStep(Follower* f, const Step& step);
Status CheckEnd(Follower* f);  // outputs are complete, states in place

// ---- operands (follow.cc)

Status Locate(Follower* f, uint32_t operand, Access* access, bool may_move = false);
// What bytes must be: elements of `tensor` as layer `reader` sees it (kNone: at the
// end). rule, role: for the message otherwise.
struct Wanted {
  uint32_t tensor;
  uint32_t reader;
  const char* rule;
  const char* role;
};
// Requires the bytes of `box`, an operand that the instruction's engine reads, to be
// `wanted`; twins are the tensor's element index.
Status Take(Follower* f, uint32_t memory, const Box& box, const Wanted& wanted);
// Writes elements [origin, + extents) of a tensor.
Status LayDown(Follower* f, uint32_t memory, uint32_t tensor, const Access& access,
               const int64_t* origin, bool in_place);

// ---- one instruction

Status FollowTile(Follower* f, const sluice_instruction_t& instruction);  // tiles.cc
// Checks a tile without its bytes.
Status SeeTile(Follower* f, const sluice_instruction_t& instruction, SeenTile* seen);
Status FollowTransfer(Follower* f, const sluice_instruction_t& instruction);
Status FollowHost(Follower* f, const sluice_host_call_t& call);  // transfers.cc

// ---- rows appended to states (appends.cc)

Status InitAppends(Follower* f);
Status StoreRows(Follower* f, const sluice_transfer_t& transfer, const Access& src,
                 const Access& dst);

// ---- what an instruction takes and moves, for the report (count.cc)

void TakeTime(const Follower& f, int64_t before, int64_t hold);
void CountForward(Follower* f, const sluice_transfer_t& transfer, int64_t bytes);
// bytes: that land; region: of its side off chip.
void CountPort(Follower* f, const sluice_transfer_t& transfer, uint8_t opcode,
               int64_t bytes, uint32_t region);
void CountTile(Follower* f, const sluice_tile_t& tile, uint8_t flags,
               const TileNeeds& needs);
void CountHost(Follower* f, const sluice_host_call_t& call, uint32_t layer);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_FOLLOW_H_
