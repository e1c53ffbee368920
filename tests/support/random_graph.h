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
#include "support/random_elements.h"
#include "support/random_gradients.h"
#include "support/random_machine.h"
#include "support/random_moves.h"
#include "support/random_products.h"
#include "support/stream_builder.h"

namespace sluice_test {

class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed, RandomGraphLimits limits = {})
      : g_(seed, limits) {}

  GraphSpec Make() {
    const uint32_t inputs = 1 + g_.rng.Below(3);
    for (uint32_t i = 0; i < inputs; ++i) {
      const uint8_t dtype = g_.EightBit();
      g_.AddInput(g_.SmallShape(), dtype);
    }
    const uint32_t layers = 1 + g_.rng.Below(g_.limits.layers);
    for (int tries = 0; tries < 200 && g_.spec.layers.size() < layers; ++tries) {
      AddSomeLayer();
    }
    // A reshape always works.
    if (g_.spec.layers.empty()) AddReshape(&g_, 0);
    MarkOutputs();
    return g_.spec;
  }

 private:
  void AddRareLayer(uint32_t in) {
    switch (g_.rng.Below(g_.limits.opaque ? 13 : 9)) {
      case 5:
      case 6:
        return AddWeightGradient(&g_, in);
      case 7:
        return AddReluGradient(&g_, in);
      case 8:
        return AddMaxPoolGradient(&g_, in);
      case 0:
        return AddTransposedConv(&g_, in);
      case 1:
        return AddWidePad(&g_, in);
      case 2:
        return AddNorm(&g_, in);
      case 3:
      case 4:
        return AddAppend(&g_, in);
      default:
        return AddOpaque(&g_, in);
    }
  }

  void AddSomeLayer() {
    const uint32_t in = g_.Pick();
    if (g_.limits.curves && g_.Chance(8))
      return g_.Chance(50) ? AddHardSwish(&g_, in) : AddPrelu(&g_, in);
    if (g_.limits.every_op && g_.Chance(25)) return AddRareLayer(in);
    switch (g_.rng.Below(21)) {
      case 0:
      case 1:
      case 2:
        return AddConv(&g_, in, false);
      case 3:
        return AddConv(&g_, in, true);
      case 4:
        return AddFullyConnected(&g_, in);
      case 5:
        return AddMatmul(&g_, in);
      case 6:
        return AddPool(&g_, in);
      case 7:
      case 8:
        return AddBinary(&g_, in);
      case 9:
        return AddRequantize(&g_, in);
      case 10:
        return AddLookup(&g_, in);
      case 11:
        return AddSoftmax(&g_, in);
      case 12:
        return AddReduce(&g_, in);
      case 13:
        return AddArgmax(&g_, in);
      case 14:
      case 15:
        return AddConcat(&g_, in);
      case 16:
        return AddSlice(&g_, in);
      case 17:
        return AddPad(&g_, in);
      case 18:
        if (g_.Chance(30)) return AddGather(&g_);
        return g_.Chance(50) ? AddReshape(&g_, in) : AddReshapedConcat(&g_, in);
      case 19:
        return AddTranspose(&g_, in);
      default:
        return AddResize(&g_, in);
    }
  }

  // Tensors that no layer reads become outputs, and some that are read.
  void MarkOutputs() {
    for (const LayerSpec& layer : g_.spec.layers) {
      for (uint32_t t : layer.outputs) {
        if (g_.spec.tensors[t].kind != 0) continue;
        if (g_.consumers[t] == 0 || g_.Chance(15)) g_.spec.tensors[t].kind = 2;
      }
    }
    // A graph that writes only states gets an output.
    for (const TensorSpec& t : g_.spec.tensors) {
      if (t.kind == 2) return;
    }
    AddReshape(&g_, g_.activations[0]);
    g_.spec.tensors.back().kind = 2;
  }

  random_parts::RandomTensors g_;
};

inline GraphSpec MakeRandomGraph(uint64_t seed, RandomGraphLimits limits = {}) {
  return RandomGraph(seed, limits).Make();
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_RANDOM_GRAPH_H_
