// SPDX-License-Identifier: Apache-2.0
// What the static judge knows about each operator: one row per code of ops.h.
//
// The rows were derived from ops.h alone, independently of the planners' (model/ops),
// so that the judge finds mistakes there.
//
// Input    an operator code.
// Output   its row.
// Errors   an unknown code has a row of Deed::kUnknown; CheckViews refuses such layers.
// Cost     constant.
// Source   ops.h.
#ifndef SLUICE_VERIFY_OP_RULES_H_
#define SLUICE_VERIFY_OP_RULES_H_

#include "model/graph.h"

namespace sluice {
namespace judge {

// How the bytes of a layer's output are produced.
enum class Deed : uint8_t {
  kUnknown,
  // Computed, tile by tile:
  kConvolution,     // windows of the ifmap times filters
  kScatter,         // elements of the ifmap times filters, spread over the output
  kFullyConnected,  // rows times a matrix
  kMatmul,          // two activations
  kWeightGradient,
  kPool,
  kPoolGradient,
  kElements,  // each element from those at the same place of one or two inputs
  kTable,     // each element from the one at the same place, through a table
  kSoftmax,   // each row of channels as a whole, with a mask
  kNorm,      // each row of channels as a whole, with parameters
  kReduce,    // each element from whole axes, named by an attribute
  kArgmax,    // each row of channels to one element
  kPad,
  kTranspose,
  kResize,
  // Not computed:
  kConcat,
  kSlice,
  kReshape,
  kGather,  // rows of a table by an indexed LOAD
  kAppend,  // rows stored into a state
  kHost,
};

// Who does that.
enum class Work : uint8_t {
  kUnknown,
  kTiles,   // engines that compute
  kView,    // nobody: the output may show bytes of the inputs
  kGather,  // a LOAD
  kAppend,  // a STORE
  kHost,
};

// What slides over the ifmap.
enum class Windows : uint8_t {
  kNone,
  kFilters,  // input 1, with CONV's attributes
  kErrors,   // input 1 over each element of the output, with CONV's attributes
  kPool,     // POOL's attributes
};

// What depends on an element of an input, wherever it lies.
enum class Reach : uint8_t {
  kNothing,  // that is certain
  kSame,     // the element at its place
  kPlaces,   // those at its place; along axes of other extents all
  kRows,     // of input 0: all channels at its place
  kWindows,  // of input 0: those whose windows read it
  kProducts,
  kCut,      // the element at its place, if it is not cut off
  kRegroup,  // the element, on other axes
  kPermute,
  kScale,   // some, if all rows and columns of its image do
  kSecond,  // of input 1: the element at its place
};

enum : uint8_t {     // OpRule.has
  kTakesPads = 1,    // may take over the PAD in front of it
  kChannelwise = 2,  // an output channel reads one channel of the ifmap
  kProduct = 4,      // each output sums products of elements of inputs 0 and 1
  // The output has as many elements as input 0; each is made of one of its own there at
  // least, and of nothing else that was computed but its row.
  kKeepsPlaces = 8,
  kPlainSecond = 16,  // input 1 is a mask, table, index or parameter: of one type only
  kVaries = 32,       // boxes of one size read images that differ by a row or column
  kNoParts = 64,      // what a part of the output reads is not followed
  kWholeRows = 128,   // a tile has all channels
};

// OpRule.types: what ops.h asks of element types. Those of views are asked together with
// their shapes.
enum : uint8_t {
  kEightFirst = 1,  // input 0 has 8 bits
  kEightSecond = 2,
  kEightOut = 4,
  kInputsAlike = 8,  // inputs 0 and 1 have one type
  kOutAsFirst = 16,  // the output has the type of input 0
  kLastInt32 = 32,   // the last input holds parameters or indices
  kMaskUint8 = 64,   // input 1, if there is one
  kOutIndex = 128,   // int32 or int64
};

struct OpRule {
  uint16_t op;  // SLUICE_OP_
  Deed deed;
  Work work;
  Windows windows;
  Reach reach;
  uint8_t has;       // bits
  uint8_t types;     // bits
  uint8_t elements;  // Deed::kElements: inputs read
  // Attribute of its multiplier, the shift behind it; kNoScale; kManyScales: several
  // attributes; kChannelScales: a tensor with a row per channel.
  int8_t scale;
  int8_t
      zero[3];  // attributes with the zero points of inputs 0 and 1 and the output; -1
};
constexpr int8_t kNoScale = -1, kManyScales = -2, kChannelScales = -3;

const OpRule& RuleOf(const Layer& layer);
inline Deed DeedOf(const Layer& layer) { return RuleOf(layer).deed; }
inline Work WorkOf(const Layer& layer) { return RuleOf(layer).work; }
inline bool Has(const Layer& layer, uint8_t what) {
  return (RuleOf(layer).has & what) != 0;
}

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_OP_RULES_H_
