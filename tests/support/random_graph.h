// SPDX-License-Identifier: Apache-2.0
// Small random graphs, by seed: same seed, same bytes, everywhere.
//
// Input    a seed; limits of size
// Output   GraphSpec and its flatbuffer; valid by construction
// Cost     microseconds; tensors stay below RandomGraphLimits::elements
// Every op occurs, as do several consumers, concats of concats, slices of slices,
// reshapes of slices, outputs that are read, states read in front of and behind their
// append, and inputs that are outputs but for their shape.
#ifndef SLUICE_TESTS_SUPPORT_RANDOM_GRAPH_H_
#define SLUICE_TESTS_SUPPORT_RANDOM_GRAPH_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "support/random_machine.h"
#include "support/random_moves.h"
#include "support/stream_builder.h"

namespace sluice_test {

class RandomGraph : private RandomMoves {
 public:
  explicit RandomGraph(uint64_t seed, RandomGraphLimits limits = {})
      : RandomMoves(seed, limits) {}

  GraphSpec Make() {
    const uint32_t inputs = 1 + rng_.Below(3);
    for (uint32_t i = 0; i < inputs; ++i) {
      const uint8_t dtype = EightBit();
      AddInput(SmallShape(), dtype);
    }
    const uint32_t layers = 1 + rng_.Below(limits_.layers);
    for (int tries = 0; tries < 200 && spec_.layers.size() < layers; ++tries) {
      AddSomeLayer();
    }
    // A reshape always works.
    if (spec_.layers.empty()) AddReshape(0);
    MarkOutputs();
    return spec_;
  }

 private:
  void AddRareLayer(uint32_t in) {
    switch (rng_.Below(limits_.opaque ? 13 : 9)) {
      case 5:
      case 6:
        return AddWeightGradient(in);
      case 7:
        return AddReluGradient(in);
      case 8:
        return AddMaxPoolGradient(in);
      case 0:
        return AddTransposedConv(in);
      case 1:
        return AddWidePad(in);
      case 2:
        return AddNorm(in);
      case 3:
      case 4:
        return AddAppend(in);
      default:
        return AddOpaque(in);
    }
  }

  void AddSomeLayer() {
    const uint32_t in = Pick();
    if (limits_.curves && Chance(8))
      return Chance(50) ? AddHardSwish(in) : AddPrelu(in);
    if (limits_.every_op && Chance(25)) return AddRareLayer(in);
    switch (rng_.Below(21)) {
      case 0:
      case 1:
      case 2:
        return AddConv(in, false);
      case 3:
        return AddConv(in, true);
      case 4:
        return AddFullyConnected(in);
      case 5:
        return AddMatmul(in);
      case 6:
        return AddPool(in);
      case 7:
      case 8:
        return AddBinary(in);
      case 9:
        return AddRequantize(in);
      case 10:
        return AddLookup(in);
      case 11:
        return AddSoftmax(in);
      case 12:
        return AddReduce(in);
      case 13:
        return AddArgmax(in);
      case 14:
      case 15:
        return AddConcat(in);
      case 16:
        return AddSlice(in);
      case 17:
        return AddPad(in);
      case 18:
        if (Chance(30)) return AddGather();
        return Chance(50) ? AddReshape(in) : AddReshapedConcat(in);
      case 19:
        return AddTranspose(in);
      default:
        return AddResize(in);
    }
  }

  // Tensors that no layer reads become outputs, and some that are read.
  void MarkOutputs() {
    for (const LayerSpec& layer : spec_.layers) {
      for (uint32_t t : layer.outputs) {
        if (spec_.tensors[t].kind != 0) continue;
        if (consumers_[t] == 0 || Chance(15)) spec_.tensors[t].kind = 2;
      }
    }
    // A graph that writes only states gets an output.
    for (const TensorSpec& t : spec_.tensors) {
      if (t.kind == 2) return;
    }
    AddReshape(activations_[0]);
    spec_.tensors.back().kind = 2;
  }
};

inline GraphSpec MakeRandomGraph(uint64_t seed, RandomGraphLimits limits = {}) {
  return RandomGraph(seed, limits).Make();
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_GRAPH_H_
