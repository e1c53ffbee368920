// SPDX-License-Identifier: Apache-2.0
// Random products, and what the reference makes of a graph before and after it is fitted.
#ifndef SLUICE_TESTS_IMPORT_FITTED_H_
#define SLUICE_TESTS_IMPORT_FITTED_H_

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "firmware-sim/sim.h"
#include "import/graph_check.h"
#include "import/machine_fit.h"
#include "presets/presets.h"

namespace sluice_test {

using namespace sluice::import;  // NOLINT: a header of tests

struct FitNet {
  explicit FitNet(uint32_t seed) : rng(seed) {}

  GraphWriter graph{"net"};
  std::mt19937 rng;

  int32_t Any(int32_t least, int32_t most) {
    return std::uniform_int_distribution<int32_t>(least, most)(rng);
  }
  static int32_t Low(uint8_t dtype) { return dtype == SLUICE_DTYPE_INT8 ? -128 : 0; }
  int32_t Zero(uint8_t dtype) { return Low(dtype) + Any(0, 255); }
  Extents Of(uint32_t t) const { return Normalised(graph.tensors()[t].dims); }
  uint8_t Dtype(uint32_t t) const { return graph.tensors()[t].dtype; }

  uint32_t Input(uint8_t dtype, Dims dims) {
    return graph.AddTensor("in" + std::to_string(graph.tensors().size()), dtype,
                           Kind::kInput, std::move(dims));
  }
  uint32_t Bytes8(uint8_t dtype, Dims dims) {
    int64_t count = 1;
    for (const int32_t extent : dims) count *= extent;
    Bytes bytes;
    for (int64_t i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(rng()));
    return graph.AddConstant("", dtype, std::move(dims), bytes.data(), bytes.size());
  }
  uint32_t Made(uint16_t op, std::vector<uint32_t> inputs, uint8_t dtype, Dims dims,
                std::vector<int32_t> attributes) {
    const std::string name = "t" + std::to_string(graph.tensors().size());
    const uint32_t out =
        graph.AddTensor(name, dtype, Kind::kIntermediate, std::move(dims));
    graph.AddLayer(name, op, std::move(inputs), {out}, std::move(attributes));
    return out;
  }

  // Sums of so many products fill about the output's range.
  static int32_t Shift(int64_t terms) {
    return 1 -
           static_cast<int32_t>(std::log2(137 * std::sqrt(static_cast<double>(terms))));
  }
  uint32_t Parameters(int32_t channels, int64_t terms) {
    std::vector<int32_t> rows;
    for (int32_t k = 0; k < channels; ++k) {
      rows.insert(rows.end(), {Any(-9000, 9000), Any(1 << 30, (1 << 30) + (1 << 29)),
                               Shift(terms)});
    }
    return graph.AddConstant("", SLUICE_DTYPE_INT32, {channels, 3}, rows.data(),
                             rows.size() * 4);
  }

  struct Window {
    int32_t size[2], stride[2], dilation[2], before[2], after[2];
  };
  Window AnyWindow(int32_t most, bool dilates) {
    Window w = {};
    for (size_t side = 0; side < 2; ++side) {
      w.size[side] = Any(1, most);
      w.stride[side] = Any(1, 3);
      w.dilation[side] = dilates ? Any(1, 2) : 1;
      const int32_t reach = (w.size[side] - 1) * w.dilation[side];
      w.before[side] = Any(0, reach);
      w.after[side] = Any(0, reach);
    }
    return w;
  }
  static std::vector<int32_t> Attributes(const Window& w, int32_t groups,
                                         const std::vector<int32_t>& numbers) {
    std::vector<int32_t> a = {w.stride[0],   w.stride[1], w.dilation[0],
                              w.dilation[1], w.before[0], w.before[1],
                              w.after[0],    w.after[1],  groups};
    a.insert(a.end(), numbers.begin(), numbers.end());
    return a;
  }

  struct Types {
    uint8_t weight, out;
    int32_t weight_zero;
  };
  std::vector<int32_t> Numbers(uint32_t in, const Types& t) {
    return {Zero(Dtype(in)), t.weight_zero,    Zero(t.out),
            Low(t.out),      Low(t.out) + 250, static_cast<int32_t>(rng() % 2)};
  }

  // depthwise: `channels` does not count.
  uint32_t Conv(uint32_t in, const Window& w, int32_t channels, bool depthwise,
                int32_t groups, const Types& t) {
    const Extents from = Of(in);
    Dims to = {from[0], 0, 0, depthwise ? from[3] : channels};
    for (size_t side = 0; side < 2; ++side) {
      to[1 + side] = (from[1 + side] + w.before[side] + w.after[side] -
                      (w.size[side] - 1) * w.dilation[side] - 1) /
                         w.stride[side] +
                     1;
    }
    const int32_t depth = depthwise ? 1 : from[3] / groups;
    const Dims weight = depthwise ? Dims{1, w.size[0], w.size[1], from[3]}
                                  : Dims{channels, w.size[0], w.size[1], depth};
    const uint32_t filter = Bytes8(t.weight, weight);
    const uint32_t rows = Parameters(to[3], int64_t{depth} * w.size[0] * w.size[1]);
    return Made(depthwise ? SLUICE_OP_DEPTHWISE_CONV : SLUICE_OP_CONV,
                {in, filter, rows}, t.out, to,
                Attributes(w, depthwise ? 0 : groups, Numbers(in, t)));
  }
  uint32_t Transposed(uint32_t in, Window w, int32_t channels, const Types& t) {
    const Extents from = Of(in);
    Dims to = {from[0], 0, 0, channels};
    for (size_t side = 0; side < 2; ++side) {
      const int32_t whole = (from[1 + side] - 1) * w.stride[side] + w.size[side];
      to[1 + side] =
          whole - w.before[side] - w.after[side] + Any(0, w.stride[side] - 1);
    }
    const uint32_t filter = Bytes8(t.weight, {channels, w.size[0], w.size[1], from[3]});
    const uint32_t rows =
        Parameters(channels, int64_t{from[3]} * w.size[0] * w.size[1]);
    return Made(SLUICE_OP_TRANSPOSED_CONV, {in, filter, rows}, t.out, to,
                Attributes(w, 0, Numbers(in, t)));
  }
  uint32_t Fc(uint32_t in, int32_t units, const Types& t) {
    const Extents from = Of(in);
    const uint32_t filter = Bytes8(t.weight, {units, from[3]});
    const uint32_t rows = Parameters(units, from[3]);
    return Made(SLUICE_OP_FULLY_CONNECTED, {in, filter, rows}, t.out,
                {from[0], from[1], from[2], units}, Attributes({}, 0, Numbers(in, t)));
  }
  uint32_t Matmul(uint32_t a, uint32_t b, bool transposed, int32_t b_zero,
                  uint8_t out) {
    const Extents first = Of(a), second = Of(b);
    return Made(SLUICE_OP_BATCH_MATMUL, {a, b}, out,
                {first[0], first[1], first[2], second[transposed ? 2 : 3]},
                {transposed ? 1 : 0, Zero(Dtype(a)), b_zero, Zero(out), 1 << 30,
                 Shift(first[3]), Low(out), Low(out) + 255});
  }
  void Close(uint32_t out) { graph.SetKind(out, Kind::kOutput); }
};

inline std::vector<uint64_t> OutputsOf(const Bytes& graph) {
  CheckGraph(graph);
  sluice_sim::SimulateOptions options;
  options.graph = graph.data();
  options.graph_size = graph.size();
  options.seed = 3;
  const sluice_sim::SimulateResult result = sluice_sim::RunReference(options);
  REQUIRE_MESSAGE(result.ok, result.error);
  return result.output_hashes;
}

inline Bytes Gemmini() { return sluice::presets::LoadPreset("gemmini-16x16"); }

// How many of the graph's products the machine leaves to its host.
inline size_t OnHost(const GraphRows& rows) {
  const Units units(Gemmini());
  const GraphWriter graph{GraphRows(rows)};
  size_t count = 0;
  for (const LayerRow& layer : graph.layers())
    count += IsProduct(layer.op) && !units.Takes(NeedsOf(graph, layer)) ? 1 : 0;
  return count;
}

// Fits the net for the machine; its outputs must keep their bytes.
inline GraphRows Fitted(const FitNet& net) {
  const Bytes before = net.graph.Finish();
  GraphRows rows = ReadRows(before);
  FitMachine(Gemmini(), uint64_t{1} << 30, &rows);
  CHECK(OutputsOf(before) == OutputsOf(WriteRows(rows)));
  return rows;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_IMPORT_FITTED_H_
