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

struct OpRule {
  uint16_t op;  // SLUICE_OP_
  Deed deed;
  uint8_t elements;  // Deed::kElements: inputs read
  bool channelwise;  // an output channel reads one channel of the ifmap
  bool takes_pads;   // may take over the PAD in front of it
  // Attribute of its multiplier, the shift behind it; kNoScale; kManyScales: several
  // attributes; kChannelScales: a tensor with a row per channel.
  int8_t scale;
  int8_t
      zero[3];  // attributes with the zero points of inputs 0 and 1 and the output; -1
};
constexpr int8_t kNoScale = -1, kManyScales = -2, kChannelScales = -3;

const OpRule& RuleOf(const Layer& layer);
inline Deed DeedOf(const Layer& layer) { return RuleOf(layer).deed; }

// True if the output shows bytes of the inputs, so that the layer needs no work.
bool IsView(const Layer& layer);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_OP_RULES_H_
