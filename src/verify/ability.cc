// SPDX-License-Identifier: Apache-2.0
#include "verify/ability.h"

#include "base/checked.h"
#include "verify/op_rules.h"
#include "verify/tile_rules.h"

namespace sluice {
namespace judge {
namespace {

constexpr uint64_t kMostCycles = static_cast<uint64_t>(kMostHostCycles);

// What a layer asks of a row.
struct Question {
  uint32_t types, scales, zeros;
  int64_t kernel[2], stride, dilation;
};

bool IsForEngines(const Layer& layer) {
  const Work work = WorkOf(layer);
  return work == Work::kTiles || work == Work::kGather;
}

void AskScale(const Graph& graph, const Layer& layer, Question* ask) {
  const OpRule& rule = RuleOf(layer);
  if (rule.scale == kNoScale) return;
  if (rule.scale == kChannelScales) {
    // Parameters are the last input.
    ask->scales = graph.tensors[layer.inputs[layer.inputs.size() - 1]].scales;
    return;
  }
  const size_t at = static_cast<size_t>(Max<int>(rule.scale, 0));
  const bool keeps = rule.scale != kManyScales &&
                     layer.attribute(at) == INT32_C(1) << 30 &&
                     layer.attribute(at + 1) == 1;
  ask->scales = keeps ? 1 : 2;
}

void AskWindow(const Graph& graph, const Layer& layer, Question* ask) {
  const Windows windows = RuleOf(layer).windows;
  if (windows == Windows::kNone) return;
  for (size_t side = 0; side < 2; ++side) {
    int64_t stride = layer.attribute(SLUICE_CONV_STRIDE_H + side);
    if (windows == Windows::kPool) {
      ask->kernel[side] = layer.attribute(SLUICE_POOL_WINDOW_H + side);
      stride = layer.attribute(SLUICE_POOL_STRIDE_H + side);
    } else {
      const bool filters = windows == Windows::kFilters;
      const uint32_t taps = filters ? layer.inputs[1] : layer.outputs[0];
      ask->kernel[side] = graph.tensors[taps].extent[1 + side];
      ask->dilation =
          Max<int64_t>(ask->dilation, layer.attribute(SLUICE_CONV_DILATION_H + side));
    }
    ask->stride = Max(ask->stride, stride);
  }
}

Question Ask(const Graph& graph, const Layer& layer) {
  Question ask = {0, 0, 0, {1, 1}, 1, 1};
  const auto type = [&](uint32_t t) {
    if (t != kNone) ask.types |= 1u << graph.tensors[t].dtype;
  };
  type(layer.inputs[0]);
  type(layer.outputs[0]);
  if (!Has(layer, kPlainSecond)) type(layer.input(1));
  AskWindow(graph, layer, &ask);
  const bool raw = DeedOf(layer) == Deed::kReduce &&
                   layer.attribute(SLUICE_REDUCE_KIND) == SLUICE_REDUCE_KIND_MAX;
  if (raw) return ask;
  AskScale(graph, layer, &ask);
  for (uint32_t i = 0; i < 3; ++i) {
    const int8_t at = RuleOf(layer).zero[i];
    if (at >= 0 && layer.attribute(static_cast<size_t>(at)) != 0) ask.zeros |= 1u << i;
  }
  return ask;
}

// SLUICE_WHY_ of the first thing that the row lacks; 0 = nothing.
uint32_t Missing(const OpSupport& row, const Question& ask) {
  const uint32_t* has = row.field;
  const auto above = [](int64_t value, uint32_t most) {
    return most != 0 && value > int64_t{most};
  };
  if ((has[kOpArithmetic] & 1) == 0) return SLUICE_WHY_ARITHMETIC;
  if ((ask.types & ~has[kOpDtypes]) != 0) return SLUICE_WHY_DTYPE;
  if ((ask.scales & ~has[kOpRequantise]) != 0) return SLUICE_WHY_REQUANTISE;
  if ((ask.zeros & ~has[kOpZeroPoints]) != 0) return SLUICE_WHY_ZERO_POINT;
  if (above(ask.kernel[0], has[kOpKernelH]) || above(ask.kernel[1], has[kOpKernelW])) {
    return SLUICE_WHY_KERNEL;
  }
  if (above(ask.stride, has[kOpStride])) return SLUICE_WHY_STRIDE;
  return above(ask.dilation, has[kOpDilation]) ? SLUICE_WHY_DILATION : 0;
}

// Why the machine's compute engines cannot do a layer. 0: they can, or the layer is not
// for a compute engine.
uint32_t WhyNot(const Judge& judge, const Layer& layer) {
  if (judge.hardware.ops.empty() || !IsForEngines(layer)) return 0;
  const Question ask = Ask(judge.graph, layer);
  uint32_t why = SLUICE_WHY_OPERATOR;
  for (const OpSupport& row : judge.hardware.ops) {
    if (row.field[kOpOperator] != layer.op) continue;
    const uint32_t missing = Missing(row, ask);
    if (missing == 0) return 0;
    why = Max(why, missing);
  }
  return why;
}

uint64_t CyclesAtRate(int64_t amount, const Rational& rate) {
  if (rate.numerator == 0) return 0;
  const uint64_t cycles =
      static_cast<uint64_t>(TransferCycles(amount, rate.numerator, rate.denominator));
  return Min(cycles, kMostCycles);
}

uint64_t BytesWritten(const Graph& graph, const Layer& layer) {
  uint64_t bytes = 0;
  for (const uint32_t t : layer.outputs) {
    bytes += static_cast<uint64_t>(graph.tensors[t].bytes);
  }
  return bytes;
}

// A GATHER reads one row of its table, the first input, for each row that it writes.
uint64_t BytesRead(const Graph& graph, const Layer& layer) {
  uint64_t bytes = 0;
  for (const uint32_t t : layer.inputs) {
    if (t != kNone) bytes += static_cast<uint64_t>(graph.tensors[t].bytes);
  }
  if (DeedOf(layer) != Deed::kGather || layer.input(0) == kNone) return bytes;
  return bytes - static_cast<uint64_t>(graph.tensors[layer.input(0)].bytes) +
         BytesWritten(graph, layer);
}

// Cycles that the host takes for a layer of the engines.
uint64_t CallCycles(const Judge& judge, const Layer& layer) {
  TileNeeds needs;
  NeedsOfLayer(judge.graph, layer, &needs);
  const int64_t bytes = static_cast<int64_t>(BytesRead(judge.graph, layer) +
                                             BytesWritten(judge.graph, layer));
  const Host& host = judge.hardware.host;
  const uint64_t cycles = static_cast<uint64_t>(host.call_cycles) +
                          CyclesAtRate(bytes, host.bytes_per_cycle) +
                          CyclesAtRate(needs.work, host.ops_per_cycle);
  return Min(Max<uint64_t>(cycles, 1), kMostCycles);
}

}  // namespace

void NeedsOfBox(const Graph& graph, const Layer& layer, const int32_t* box, bool end,
                TileNeeds* needs) {
  const Tensor& out = graph.tensors[layer.outputs[0]];
  int64_t origin[kAxes], extent[kAxes];
  for (int a = 0; a < kAxes; ++a) {
    extent[a] = box[a];
    origin[a] = end ? int64_t{out.extent[a]} - box[a] : 0;
  }
  NeedsOfPart(graph, layer, origin, extent, needs);
}

// The first pass finds the extent of the layer's sum, which the second one needs if there is
// one.
void NeedsOfPart(const Graph& graph, const Layer& layer, const int64_t* origin,
                 const int64_t* extent, TileNeeds* needs) {
  sluice_tile_t tile = {};
  NeedsOfTile(graph, layer, tile, origin, extent, needs);
  if (needs->sum_channels == 0) return;
  tile.c_end = static_cast<uint32_t>(needs->sum_channels);
  NeedsOfTile(graph, layer, tile, origin, extent, needs);
}

void NeedsOfLayer(const Graph& graph, const Layer& layer, TileNeeds* needs) {
  NeedsOfBox(graph, layer, graph.tensors[layer.outputs[0]].extent, false, needs);
}

HostCost CostOnHost(const Judge& judge, const Layer& layer) {
  const Hardware& h = judge.hardware;
  HostCost cost = {0, BytesRead(judge.graph, layer), BytesWritten(judge.graph, layer),
                   -1};
  cost.cycles =
      DeedOf(layer) == Deed::kHost
          ? Join(static_cast<uint32_t>(layer.attribute(SLUICE_OPAQUE_CYCLES_LO)),
                 static_cast<uint32_t>(layer.attribute(SLUICE_OPAQUE_CYCLES_HI)))
          : CallCycles(judge, layer);
  if (h.host.uses_port) {
    const Rational bandwidth = h.dram().bandwidth;
    cost.hold = Min(TransferCycles(static_cast<int64_t>(cost.read + cost.written),
                                   bandwidth.numerator, bandwidth.denominator),
                    kMostHostCycles);
  }
  return cost;
}

uint64_t MacsOnHost(const Judge& judge, const Layer& layer) {
  if (DeedOf(layer) == Deed::kHost) return 0;
  TileNeeds needs;
  NeedsOfLayer(judge.graph, layer, &needs);
  return needs.macs ? static_cast<uint64_t>(needs.work) : 0;
}

bool IsAble(const Judge& judge, const Layer& layer) {
  return WhyNot(judge, layer) == 0;
}

bool HasTiles(const Judge& judge, const Layer& layer) {
  return WorkOf(layer) == Work::kTiles && IsAble(judge, layer);
}

Status CheckAble(const Judge& judge, const Layer& layer) {
  if (IsAble(judge, layer)) return Status::kOk;
  return Reject(judge, "ability")
      .Text(OpName(layer.op))
      .Text(": the machine's ops do not do this layer");
}

Status CheckHostCall(const Judge& judge, uint32_t index,
                     const sluice_host_call_t& call) {
  const Layer& layer = judge.graph.layers[index];
  const uint32_t why = WhyNot(judge, layer);
  const bool opaque = DeedOf(layer) == Deed::kHost;
  if (call.why != why || (!opaque && (why == 0 || !judge.hardware.host.there))) {
    return Reject(judge, "ability")
        .Layer(index)
        .Text(
            "`why` is not the reason for which this layer needs the host, or it needs "
            "none");
  }
  const uint64_t least = CostOnHost(judge, layer).cycles;
  const uint64_t cycles = Join(call.cycles_lo, call.cycles_hi);
  if (cycles >= least && cycles <= kMostCycles) return Status::kOk;
  return Reject(judge, "cycles")
      .Layer(index)
      .Text(cycles < least ? "fewer than the layer takes" : "more than any may take");
}

}  // namespace judge
}  // namespace sluice
