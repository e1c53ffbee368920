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

class Follower {
 public:
  Follower(Judge* judge, const Order* order, VerifiedCounts* counts)
      : judge_(judge),
        order_(order),
        counts_(counts),
        clocks_(judge, order),
        contents_(judge),
        views_(judge),
        leaves_(judge->arena),
        parts_(judge->arena),
        inside_(judge->arena),
        todo_(judge->arena),
        outside_(judge->arena),
        encoded_(judge->arena) {}
  Status Init();  // places constants, inputs and states
  Status Follow(const Step& step);
  Status CheckEnd();  // outputs are complete, states in place

 private:
  Status Locate(uint32_t operand, Access* access, bool may_move = false);
  // What bytes must be: elements of `tensor` as layer `reader` sees it (kNone: at the
  // end). rule, role: for the message otherwise.
  struct Wanted {
    uint32_t tensor;
    uint32_t reader;
    const char* rule;
    const char* role;
  };
  // Requires the bytes of `box` to be `wanted`; twins are the tensor's element index.
  Status Demand(uint32_t memory, const Box& box, const Wanted& wanted);
  // The same for an operand that the instruction's engine reads.
  Status Take(uint32_t memory, const Box& box, const Wanted& wanted);
  Status DemandRoot(uint32_t memory, const Box& box, uint32_t root, uint32_t tensor,
                    const char* rule, const char* role);
  Status DemandWhole(uint32_t tensor, const TensorPlace& place);
  Status LayDown(uint32_t memory, uint32_t tensor, const Access& access,
                 const int64_t* origin, bool in_place);

  Status Transfer(const sluice_instruction_t& instruction);
  Status CheckRegions(uint8_t opcode, const Access& src, const Access& dst);
  Status CheckEncoded(const sluice_transfer_t& transfer, const Access& src,
                      int64_t bytes);
  Status CheckDescriptors(const sluice_transfer_t& transfer, const Access& src,
                          const Access& dst);
  // What the instruction takes and adds to the counts (count.cc).
  void TakeTime(int64_t before, int64_t hold) const;
  void CountLayer(uint32_t layer, bool host);
  LayerCounts* CountsOf(uint32_t layer) const;  // null where nobody wants them
  void CountForward(const sluice_transfer_t& transfer, int64_t bytes);
  // bytes: that land; region: of its side off chip.
  void CountPort(const sluice_transfer_t& transfer, uint8_t opcode, int64_t bytes,
                 uint32_t region);
  void CountTile(const sluice_tile_t& tile, uint8_t flags, const TileNeeds& needs);
  void CountHost(const sluice_host_call_t& call, uint32_t layer);
  Status ReadIndex(const sluice_transfer_t& transfer, const Access& index,
                   uint32_t* root, int64_t* row);
  bool IsGather(const Layer& layer, uint32_t table, uint32_t index) const;
  Status Gather(const sluice_transfer_t& transfer, const Access& src,
                const Access& dst);
  Status GatherParts(const Access& dst, uint32_t layer, int64_t row, int64_t column);
  Status CopyTo(const sluice_transfer_t& transfer, uint8_t opcode, const Access& dst);
  Status Host(const sluice_host_call_t& call);

  Status InitAppends();
  Status StoreRows(const sluice_transfer_t& transfer, const Access& src,
                   const Access& dst);
  Status FindAppend(const Access& dst, AppendProgress** progress);
  Status TakeRows(AppendProgress* progress, const Inside& found, const Frame& frame,
                  uint32_t memory);

  Status Compute(const sluice_instruction_t& instruction);
  Status CheckTile(const Layer& layer, const sluice_tile_t& tile, uint8_t flags,
                   const int64_t* extent, const TileNeeds& needs);
  Status ReadInputs(const Layer& layer, uint32_t layer_index, const TileNeeds& needs,
                    bool last, bool* in_place, const Access& result);
  Status Accumulate(const Layer& layer, uint32_t layer_index, const sluice_tile_t& tile,
                    uint8_t flags, const TileNeeds& needs, const Access& accumulator);
  Status ReadAccumulator(const Layer& layer, uint32_t layer_index, uint32_t memory,
                         const Access& accumulator, const int64_t* origin,
                         PartialSum* sum);

  Judge* judge_;
  const Order* order_;
  VerifiedCounts* counts_;
  Clocks clocks_;
  Contents contents_;
  Views views_;
  Vector<Leaf> leaves_;
  Vector<Part> parts_;
  Vector<Inside> inside_;
  Vector<Box> todo_, outside_;
  Vector<uint32_t> encoded_;  // tensors
  Span<AppendProgress*> appends_;
  Span<uint8_t>
      worked_for_;     // by layer: 1 once an instruction did, 2 once a HOST call did
  uint32_t node_ = 0;  // node whose scratchpad the instruction addresses
};

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_FOLLOW_H_
