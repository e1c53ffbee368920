// SPDX-License-Identifier: Apache-2.0
// What the simulator knows about each operator: one row per code of ops.h, with the
// functions that check and compute its tiles.
//
// Input    an operator code
// Output   its row
// Errors   an unknown code has a row of Means::kUnknown, which every reader refuses
// Cost     constant
// Source   ops.h; the library's table and the static judge's share no code with this one
#ifndef SLUICE_FIRMWARE_SIM_OPS_H_
#define SLUICE_FIRMWARE_SIM_OPS_H_

#include <string>

#include "sluice/ops.h"

namespace sluice_sim {

struct Tile;

// How an untiled run makes a layer's output.
enum class Means {
  kUnknown,
  kCompute,  // as one tile of the whole output
  kConcat,
  kSlice,
  kReshape,
  kPad,
  kGather,
  kAppend,
  kHost
};

// Where stride, window and pads of an operator come from, and in which direction it
// slides.
enum class Slide {
  kNone,
  kFilter,   // CONV's attributes, the filter's extents
  kScatter,  // the same, but ifmap elements are spread over the output
  kTaps,     // CONV's attributes, the output's extents; one window per error element
  kPool,     // POOL's attributes
  kPoolScatter,    // the same, but errors are spread over the output
  kPads,           // PAD's attributes, windows of one element
  kInterpolation,  // RESIZE
};

// How the sums of a tile become output elements.
enum class Finish {
  kNoSum,
  kParameters,  // bias, multiplier and shift of each channel
  kMatmul,      // BATCH_MATMUL's attributes
  kGradient,    // WEIGHT_GRADIENT's attributes
};

// What a tile's minimum cycles are counted in.
enum class Count {
  kNothing,
  kMacs,          // outputs * window * channels summed over
  kMacsOfErrors,  // outputs * error rows summed over * columns
  kWindows,       // outputs * window
  kErrors,        // errors * window
  kInputs,        // elements of input 0
  kOnce,          // outputs, each counted 1, 2 or 4 times
  kTwice,
  kFourTimes,
};

// Which operand of a tile an input of the layer becomes.
enum class InputAs { kNothing, kInput1, kWeight, kParameters };

// Where the multiplier of a layer's requantisation stands.
enum class Scaling {
  kNone,
  kParameters,  // a row per channel in the layer's parameters
  kAttribute,   // one attribute, its shift is the next
  kAttributes   // several: of inputs and output
};

// Attributes; -1 = there is none.
struct Quantities {
  Scaling scaling;
  int multiplier;  // of Scaling::kAttribute
  int input0_zero, input1_zero, output_zero;
  // Neither scales nor zero points count where attribute `raw` is raw_value: the result is
  // one of the elements.
  int raw = -1, raw_value = 0;
  // Input 1 is a mask or a table, which has only one possible type.
  bool plain_second = false;
};

struct Op {
  int code;  // SLUICE_OP_
  Means means;
  Slide slide;
  Finish finish;
  Count count;
  InputAs second, third;  // inputs 1 and 2
  bool channelwise;       // an output channel sums over one channel of input 0
  bool grouped;           // has the attribute GROUPS
  bool matrix;            // its weight [1,1,K,C] is read as a filter [K,1,1,C]
  // Each element of the result depends on the elements at the same place of its inputs
  // alone: the result may overwrite one of them.
  bool elementwise;
  std::string (*check)(const Tile& tile);  // empty when the tile is right
  void (*run)(const Tile& tile);
  Quantities quantities;
};

const Op& OpOf(int code);
bool OnEngines(Means means);   // of DMA or of compute
bool HasWindows(Slide slide);  // with sizes, strides and dilations
bool MayPad(Slide slide);      // tiles may have pads

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_OPS_H_
