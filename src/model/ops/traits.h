// SPDX-License-Identifier: Apache-2.0
// What the planners know about each operator: one row per code of ops.h.
//
// Whoever asks something about an operator asks its row. Nothing outside this folder
// compares operator codes. The judges keep tables of their own (verify/op_rules.h,
// firmware-sim/ops.h) and share no code with this one.
//
// Input    an operator code, or a layer.
// Output   its row; questions that also depend on a layer's attributes.
// Errors   an unknown code has the row of Form::kUnknown, which nobody reads, plans or
//          costs: each switch over the enums below names every value.
// Cost     constant.
// Source   ops.h.
#ifndef SLUICE_MODEL_OPS_TRAITS_H_
#define SLUICE_MODEL_OPS_TRAITS_H_

#include "model/graph.h"

namespace sluice {

// How a layer is executed.
enum class LayerKind : uint8_t {
  kUnknown,  // no operator of this version
  kCompute,  // tiles on the compute engine
  kCopy,     // by DMA alone, or a view
  kGather,   // indexed load
  kAppend,   // store into a state tensor
  kHost,     // opaque
};

// Operators of one form have the same shape rules and the same geometry.
enum class Form : uint8_t {
  kUnknown,
  kConv,            // windows over the ifmap; a filter per output channel
  kDepthwiseConv,   // the same, each filter on one channel of the ifmap
  kTransposedConv,  // the ifmap's elements scatter into the output
  kFullyConnected,  // each row of channels by itself, times a matrix
  kMatmul,          // two activations
  kWeightGradient,  // sums over the rows of an error
  kPool,
  kPoolGradient,
  kBinary,        // element by element, both inputs broadcast
  kUnary,         // element by element
  kReluGradient,  // element by element, no broadcast
  kHardSwish,     // element by element
  kPrelu,         // element by element, the second input broadcasts
  kLookup,        // element by element, through a table
  kSoftmax,       // each row of channels as a whole, with a mask that broadcasts
  kLayerNorm,     // each row of channels as a whole, with parameters
  kRmsNorm,       // the same
  kReduce,
  kArgmax,
  kPad,
  kTranspose,
  kResize,
  kConcat,
  kSlice,
  kReshape,
  kGather,
  kAppend,
  kOpaque,
};

// What the work of a tile is counted in.
enum class Work : uint8_t { kNoWork, kMacs, kVectorOps };

// What an operator may be instead of work.
enum class ViewRule : uint8_t {
  kNever,
  kReshape,  // the same bytes with other extents
  kSlice,    // a box of its input
  kConcat,   // its inputs are boxes of its output
  kFolds,    // pads that convolutions behind it may take over
};

// Where the window's filter, stride, dilation and pads are written.
enum class WindowRule : uint8_t {
  kNoWindow,
  kFilter,  // CONV's attributes, the filter's extents are input 1's
  kTaps,    // CONV's attributes, the filter's extents are the output's
  kPool,    // POOL's attributes
  kPads,    // windows of one element, PAD's attributes
};

// What tiles may sum over in pieces.
enum class SumRule : uint8_t {
  kNoSum,
  kWeightChannels,  // input channels as the weight has them; none if channelwise
  kInputChannels,
  kErrorRows,  // rows of input 1, counted over all its images
};

// Along which output axes a tile may be cut.
enum class CutLimit : uint8_t {
  kAnywhere,
  kChannelGroups,  // channels in whole groups
  kWholeRows,      // never along channels
  kUnpaddedAxes,   // where input and output agree
  kWholeTaps,      // never along the filter's rows and columns, groups whole
};

// Which inputs every plan needs in full when it needs the whole output. For bounds:
// what is not sure is not counted.
enum class NeedRule : uint8_t {
  kAll,
  kNothing,
  kFirst,      // input 0 alone
  kSecond,     // input 1 alone
  kByWindows,  // input 0 if windows leave nothing out; the others always
};

// Which input positions (along N, H and W) a needed output position needs. For bounds.
enum class Reach : uint8_t {
  kUnknown,  // nothing is counted
  kElement,  // the same position of each input that does not broadcast
  kRow,      // the same position of each input, whatever its channels
  kWindow,   // the positions under the window
  kShifted,  // the position further along by SLICE's begins
};

// How input axes follow the output's: a cut of the output cuts those that follow.
enum class AxisRule : uint8_t {
  kSame,      // axis a follows axis a
  kPermuted,  // axis PERM[a] follows axis a
  kReduced,   // axes in the mask AXES are needed whole
  kApart,     // none follows
};

// Which loop nest an operator has on the array.
enum class NestRule : uint8_t {
  kNoNest,
  kOwn,         // that of its form
  kPerElement,  // one operation per operand and output element
};

// The operands of a compute tile, in the stream's roles.
enum TileRole : uint8_t {
  kRoleInput0 = 0,
  kRoleInput1,
  kRoleWeight,
  kRoleParameters,
  kRoleOutput,
  kTileRoles,
  kNoRole = kTileRoles
};

constexpr size_t kMaxRoles = 3;  // inputs of a compute layer that have a role

struct OpTraits {
  uint16_t op;  // SLUICE_OP_
  LayerKind kind;
  Form form;
  uint8_t least_inputs, most_inputs;  // most 0: any number
  uint8_t attributes;                 // how many ops.h defines
  TileRole role[kMaxRoles];           // of inputs 0 to 2
  Work work;
  uint8_t ops_per_output;  // vector operations; 0: counted by the form
  WindowRule window;
  SumRule sum;
  CutLimit cuts;
  ViewRule view;
  NeedRule needs;
  Reach reach;
  AxisRule axes;
  NestRule nest;
  bool same_channels;  // each tile of channels needs an operand whole, cut or not
  bool takes_pads;     // of a PAD in front of it
  bool in_place;       // its output may lie where an input of the same box lay
};

// The row of a code; of a code this version does not have, the row of Form::kUnknown.
const OpTraits& TraitsOf(uint16_t op);
inline const OpTraits& TraitsOf(const Layer& layer) { return TraitsOf(layer.op); }

inline bool IsKnownOp(uint16_t op) { return TraitsOf(op).form != Form::kUnknown; }
inline LayerKind KindOf(uint16_t op) { return TraitsOf(op).kind; }
// True when work counts as MACs, false when as vector operations.
inline bool IsMacOp(uint16_t op) { return TraitsOf(op).work == Work::kMacs; }

// Groups of a convolution or of its weight gradient; 1 for other operators.
int32_t GroupsOf(const Layer& layer);

// Of a TRANSPOSED_CONV its WEIGHT_LAYOUT; SLUICE_WEIGHT_LAYOUT_OWN for the others.
int32_t WeightLayoutOf(const Layer& layer);

// Each output channel reads one of the input.
bool IsChannelwise(const Layer& layer);

// The axes that a REDUCE or ARGMAX gathers into one element: bit a = axis a.
uint32_t ReducedAxes(const Layer& layer);

// Input 0's axis that follows output axis a.
int InputAxisOf(const Layer& layer, int a);

// Output axes N, H and W (bits 0 to 2) whose cuts cut this input too, on the same axis.
uint32_t FollowingAxes(const Layer& layer, TileRole role);

// True when tiles may take pieces of the layer's sum. Grouped convolutions keep the few
// channels of a group whole.
bool MaySplitSum(const Layer& layer);

}  // namespace sluice

#endif  // SLUICE_MODEL_OPS_TRAITS_H_
