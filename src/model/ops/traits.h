// SPDX-License-Identifier: Apache-2.0
// What the planners know about each operator: one row per code of ops.h.
//
// Library code outside this folder asks an operator's row and never compares operator
// codes. The judges keep tables of their own (verify/op_rules.h, firmware-sim/ops.h) and
// share no code with this one.
//
// Input    an operator code, or a layer.
// Output   its row; questions that also depend on a layer's attributes.
// Errors   an unknown code has the row of Form::kUnknown, which io rejects. Each switch
//          over the enums below names every value and has no default (a rule checks
//          it), so that the compiler finds those that lack a new one.
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
  kHost,     // a function that the host calls (OPAQUE)
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

// When an operator may be a view instead of work.
enum class ViewRule : uint8_t {
  kNever,
  kReshape,  // the same bytes with other extents
  kSlice,    // a box of its input
  kConcat,   // its inputs are boxes of its output
  kFolds,    // pads that convolutions behind it may take over
};

// Which attributes hold the window's filter, stride, dilation and pads.
enum class WindowRule : uint8_t {
  kNoWindow,
  kFilter,  // CONV's attributes, the filter's extents are input 1's
  kTaps,    // CONV's attributes, the filter's extents are the output's
  kPool,    // POOL's attributes
  kPads,    // windows of one element, PAD's attributes
};

// The range that tiles may split to compute a sum in pieces.
enum class SumRule : uint8_t {
  kNoSum,
  kWeightChannels,  // the weight's input channels; no pieces if channelwise
  kInputChannels,
  kErrorRows,  // rows of input 1, counted over all its images
};

// Along which output axes a tile may be cut.
enum class CutLimit : uint8_t {
  kAnywhere,
  kChannelGroups,  // channels at group borders
  kWholeRows,      // never along channels
  kUnpaddedAxes,   // axes where input and output extents agree
  kWholeTaps,  // never along the filter's rows and columns; channels at group borders
};

// Which inputs must be read in full for the whole output. For lower bounds: only what
// is certain counts.
enum class NeedRule : uint8_t {
  kAll,
  kNothing,
  kFirst,      // input 0 alone
  kSecond,     // input 1 alone
  kByWindows,  // input 0 if its windows cover every row; the others always
};

// Which input positions (along N, H and W) one output position needs. For lower bounds.
enum class Reach : uint8_t {
  kUnknown,  // nothing counts as needed
  kElement,  // the same position of each input that does not broadcast
  kRow,      // the same position of each input, all channels
  kWindow,   // the positions under the window
  kShifted,  // the position plus SLICE's begins
};

// How cuts of output axes cut the input's axes.
enum class AxisRule : uint8_t {
  kSame,      // axis a follows axis a
  kPermuted,  // axis PERM[a] follows axis a
  kReduced,   // the axes in the mask AXES are read whole
  kApart,     // no axis follows another
};

// Which loop nest an operator has on the array.
enum class NestRule : uint8_t {
  kNoNest,
  kConv,        // windows over rows and columns, summed over input channels
  kTransposed,  // the same, by the windows of input elements over the output
  kRows,        // each row of channels times a matrix
  kMatmul,      // two activations; rows of the second are no rows of the output
  kGradient,    // filter rows and columns stand for rows and columns
  kPool,        // windows over rows and columns, no sum
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

// Where an operator has its scales and zero points.
struct Quantities {
  int8_t
      multiplier;  // number of its attribute (the shift is the next one), or k...Scales
  int8_t zero[3];  // of inputs 0 and 1 and the output: numbers of attributes, or -1
  bool own_type = false;  // input 1 is a table, a mask or indices, of a fixed type
};
constexpr int8_t kNoScales = -1;
constexpr int8_t kPairsOfScales = -2;  // several attributes
constexpr int8_t kRowsOfScales = -3;   // parameters, a row per channel

constexpr size_t kMaxRoles = 3;  // inputs of a compute layer that have a role

struct OpTraits {
  uint16_t op;  // SLUICE_OP_
  LayerKind kind;
  Form form;
  uint8_t least_inputs, most_inputs;  // most 0: any number
  uint8_t attributes;                 // how many attributes ops.h defines
  TileRole role[kMaxRoles];           // of inputs 0 to 2
  Work work;
  uint8_t ops_per_output;  // vector operations; 0: the form computes the count
  WindowRule window;
  SumRule sum;
  CutLimit cuts;
  ViewRule view;
  NeedRule needs;
  Reach reach;
  AxisRule axes;
  NestRule nest;
  bool same_channels;  // each tile of channels needs all of an operand
  bool takes_pads;     // may take over the pads of a PAD in front of it
  bool in_place;       // its output may overwrite an input with the same box
  bool scatters;       // windows lie over the output: one for each input element
  Quantities quantities;
};

// The row of a code; unknown codes get the row of Form::kUnknown.
const OpTraits& TraitsOf(uint16_t op);
inline const OpTraits& TraitsOf(const Layer& layer) { return TraitsOf(layer.op); }

inline bool IsKnownOp(uint16_t op) { return TraitsOf(op).form != Form::kUnknown; }
inline LayerKind KindOf(uint16_t op) { return TraitsOf(op).kind; }
// True when work counts as MACs, false when as vector operations.
inline bool IsMacOp(uint16_t op) { return TraitsOf(op).work == Work::kMacs; }

// Groups of a convolution or of its weight gradient; 1 for other operators.
int32_t GroupsOf(const Layer& layer);

// WEIGHT_LAYOUT of a TRANSPOSED_CONV; SLUICE_WEIGHT_LAYOUT_OWN for other operators.
int32_t WeightLayoutOf(const Layer& layer);

// True if each output channel reads one input channel.
bool IsChannelwise(const Layer& layer);

// The axes that a REDUCE or ARGMAX reduces to one element: bit a = axis a.
uint32_t ReducedAxes(const Layer& layer);

// The axis of input 0 that follows output axis a.
int InputAxisOf(const Layer& layer, int a);

// Output axes N, H and W (bits 0 to 2) whose cuts also cut this input on the same axis.
uint32_t FollowingAxes(const Layer& layer, TileRole role);

// True if tiles may compute parts of the layer's sum. Grouped convolutions sum the few
// channels of a group at once.
bool MaySplitSum(const Layer& layer);

}  // namespace sluice

#endif  // SLUICE_MODEL_OPS_TRAITS_H_
