// SPDX-License-Identifier: Apache-2.0
#include "model/host.h"

#include "base/checked.h"
#include "model/lowering.h"
#include "model/ops/traits.h"
#include "sluice/stream.h"

namespace sluice {
namespace {

constexpr int64_t kMostCycles = int64_t{1} << 50;  // that OPAQUE may declare

// By SLUICE_WHY_: what the rows lack.
constexpr char kLacks[SLUICE_WHY_COUNT][9] = {"",       "operator", "rounding",
                                              "types",  "scales",   "zeros",
                                              "window", "stride",   "dilation"};

uint32_t ScalesOf(const Graph& graph, const Layer& layer) {
  const OpTraits& traits = TraitsOf(layer);
  const int8_t multiplier = traits.quantities.multiplier;
  if (multiplier == kNoScales) return 0;
  if (multiplier == kPairsOfScales) return kScalesPerTensor;
  if (multiplier == kRowsOfScales) {
    const uint32_t parameters = layer.inputs[traits.role[1] == kRoleParameters ? 1 : 2];
    return graph.tensors[parameters].scales;
  }
  const size_t at = static_cast<uint8_t>(multiplier);
  const bool one = layer.attribute(at) == 1 << 30 && layer.attribute(at + 1) == 1;
  return one ? kScalesNone : kScalesPerTensor;
}

// What a layer asks of a row, field by field.
OpSupport WantsOf(const Graph& graph, const Layer& layer) {
  const OpTraits& traits = TraitsOf(layer);
  OpSupport wants = {{layer.op, 1}};
  uint32_t* const want = wants.field;
  const uint32_t second = layer.input(1);
  want[kOpDtypes] = 1u << graph.tensors[layer.outputs[0]].dtype |
                    1u << graph.tensors[layer.inputs[0]].dtype;
  // Tables, masks, indices and parameters have one type each.
  if (second != kNone && !traits.quantities.own_type &&
      traits.role[1] != kRoleParameters) {
    want[kOpDtypes] |= 1u << graph.tensors[second].dtype;
  }
  for (uint32_t side = 0; side < 2; ++side) {
    const Window w = WindowOf(graph, layer, static_cast<int>(side) + 1);
    want[kOpKernelH + side] = static_cast<uint32_t>(w.filter);
    want[kOpStride] = Max(want[kOpStride], static_cast<uint32_t>(w.stride));
    want[kOpDilation] = Max(want[kOpDilation], static_cast<uint32_t>(w.dilation));
  }
  if (traits.form == Form::kReduce &&
      layer.attribute(SLUICE_REDUCE_KIND) == SLUICE_REDUCE_KIND_MAX) {
    return wants;  // raw values
  }
  want[kOpRequantise] = ScalesOf(graph, layer);
  for (uint32_t i = 0; i < 3; ++i) {
    const int8_t zero = traits.quantities.zero[i];
    if (zero >= 0 && layer.attribute(static_cast<size_t>(zero)) != 0) {
      want[kOpZeroPoints] |= 1u << i;
    }
  }
  return wants;
}

// SLUICE_WHY_ of the first field in which the row lacks what the layer asks; 0 = none.
uint8_t LackOf(const OpSupport& row, const OpSupport& wants) {
  for (uint32_t f = kOpArithmetic; f < kOpFields; ++f) {
    const uint32_t has = row.field[f], want = wants.field[f];
    const bool limit = f >= kOpKernelH;
    if (limit ? has != 0 && want > has : (want & ~has) != 0) {
      return static_cast<uint8_t>(f < kOpKernelW ? f + 1 : f);
    }
  }
  return 0;
}

int64_t Quotient(int64_t amount, const Rational& rate) {
  if (rate.numerator == 0) return 0;
  return Min(TransferCycles(amount, rate.numerator, rate.denominator), kMostCycles);
}

int64_t CallCycles(const Graph& graph, const Host& host, const Layer& layer) {
  const int64_t cycles =
      host.call_cycles +
      Quotient(HostTrafficOf(graph, layer).bytes(), host.bytes_per_cycle) +
      Quotient(WorkOfLayer(graph, layer), host.ops_per_cycle);
  return Min(Max<int64_t>(cycles, 1), kMostCycles);
}

Status MoveToHost(const Graph& graph, const Host& host, Arena* arena, Layer* layer) {
  Span<uint32_t> inputs;
  Span<int32_t> attributes;
  SLUICE_TRY(arena->Allocate(layer->inputs.size(), &inputs));
  SLUICE_TRY(arena->Allocate(SLUICE_OPAQUE_ATTRIBUTES, &attributes));
  const uint64_t cycles = static_cast<uint64_t>(CallCycles(graph, host, *layer));
  attributes[SLUICE_OPAQUE_CYCLES_LO] = static_cast<int32_t>(cycles);
  attributes[SLUICE_OPAQUE_CYCLES_HI] = static_cast<int32_t>(cycles >> 32);
  size_t n = 0;
  for (uint32_t t : layer->inputs) {
    if (t != kNone) inputs[n++] = t;  // an OPAQUE layer has no absent inputs
  }
  layer->takes_rows = KindOf(layer->op) == LayerKind::kGather;
  layer->op = SLUICE_OP_OPAQUE;
  layer->inputs = inputs.Slice(0, n);
  layer->attributes = attributes;
  return Status::kOk;
}

}  // namespace

uint8_t WhyOnHost(const Graph& graph, const Hardware& hardware, const Layer& layer) {
  const LayerKind kind = KindOf(layer.op);
  if (hardware.ops.empty() ||
      (kind != LayerKind::kCompute && kind != LayerKind::kGather)) {
    return 0;
  }
  const OpSupport wants = WantsOf(graph, layer);
  uint8_t why = SLUICE_WHY_OPERATOR;
  for (const OpSupport& row : hardware.ops) {
    if (row.field[kOpOperator] != layer.op) continue;
    const uint8_t lack = LackOf(row, wants);
    if (lack == 0) return 0;
    why = Max(why, lack);
  }
  return why;
}

Status FitToMachine(const Graph& graph, const Hardware& hardware, Arena* arena,
                    Graph* fitted, Diagnostic* diagnostic) {
  *fitted = graph;
  if (hardware.ops.empty()) return Status::kOk;
  Span<Layer> layers;
  Span<uint8_t> why;
  SLUICE_TRY(arena->Allocate(graph.layers.size(), &layers));
  SLUICE_TRY(arena->Allocate(graph.layers.size(), &why));
  for (size_t l = 0; l < layers.size(); ++l) layers[l] = graph.layers[l];
  fitted->layers = layers;
  fitted->given = graph.layers;
  fitted->why = why;
  // PADs come second, because whether a PAD is work at all depends on its readers.
  for (int turn = 0; turn < 2; ++turn) {
    const bool pads = turn == 1;
    for (uint32_t l = 0; l < layers.size(); ++l) {
      if ((TraitsOf(layers[l]).view == ViewRule::kFolds) != pads) continue;
      const uint8_t reason = WhyOnHost(graph, hardware, layers[l]);
      if (reason == 0 || (pads && MayFoldPad(*fitted, l))) continue;
      if (!hardware.host.there) {
        return Fail(diagnostic, Status::kUnsupported, "host")
            .Layer(l)
            .Text(OpName(layers[l].op))
            .Text(": the machine's ops lack its ")
            .Text(kLacks[reason])
            .Text(", and it has no host");
      }
      why[l] = reason;
      SLUICE_TRY(MoveToHost(graph, hardware.host, arena, &layers[l]));
    }
  }
  return Status::kOk;
}

int64_t WorkOfLayer(const Graph& graph, const Layer& layer) {
  if (KindOf(layer.op) != LayerKind::kCompute) return 0;
  const TileBoxes boxes =
      BoxesOf(graph, layer, WholeBox(graph.tensors[layer.outputs[0]]), 0,
              AccumulatedChannels(graph, layer));
  return boxes.macs + boxes.vector_ops;
}

int64_t HostCycles(const Layer& layer) {
  return static_cast<int64_t>(
      static_cast<uint32_t>(layer.attribute(SLUICE_OPAQUE_CYCLES_LO)) |
      uint64_t{static_cast<uint32_t>(layer.attribute(SLUICE_OPAQUE_CYCLES_HI))} << 32);
}

HostTraffic HostTrafficOf(const Graph& graph, const Layer& layer) {
  HostTraffic traffic = {0, 0};
  for (uint32_t t : layer.outputs) traffic.written += graph.tensors[t].bytes;
  const bool takes_rows = layer.takes_rows || KindOf(layer.op) == LayerKind::kGather;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const uint32_t t = layer.inputs[i];
    const bool table = takes_rows && i == 0;
    traffic.read += t == kNone ? 0 : table ? traffic.written : graph.tensors[t].bytes;
  }
  return traffic;
}

double HostTrafficEnergy(const Hardware& hardware, const HostTraffic& traffic) {
  if (!hardware.host.uses_port) return 0;
  const MemoryLevel& dram = hardware.dram();
  return static_cast<double>(traffic.read) * 8 * dram.read_pj_per_bit +
         static_cast<double>(traffic.written) * 8 * dram.write_pj_per_bit;
}

int64_t HostHold(const Hardware& hardware, int64_t bytes) {
  return hardware.host.uses_port ? Quotient(bytes, hardware.dram().bandwidth) : 0;
}

}  // namespace sluice
