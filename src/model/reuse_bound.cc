// SPDX-License-Identifier: Apache-2.0
#include "model/reuse_bound.h"

#include "base/checked.h"

namespace sluice {
namespace {

// At most the square root, and close to it.
double RootBelow(double value) {
  double above = Max(value, 1.0);
  for (int i = 0; i < 64; ++i) above = (above + value / above) / 2;
  return value / above * (1 - 1e-12);
}

int64_t Elements(const Tensor& t) { return t.bytes / t.element_bytes; }

// What a layer's elements are made of: MACs, one element of an input at least, or else.
enum class Made : uint8_t { kOfMacs, kOfElements, kElse };

Made MadeBy(const Layer& layer) {
  switch (TraitsOf(layer).form) {
    case Form::kConv:
    case Form::kDepthwiseConv:
    case Form::kFullyConnected:
    case Form::kMatmul:
      return Made::kOfMacs;
    case Form::kBinary:
    case Form::kUnary:
    case Form::kReluGradient:
    case Form::kHardSwish:
    case Form::kPrelu:
    case Form::kLookup:
    case Form::kSoftmax:
    case Form::kLayerNorm:
    case Form::kRmsNorm:
    case Form::kTranspose:
    case Form::kReshape:
      return Made::kOfElements;
    case Form::kUnknown:
    case Form::kTransposedConv:
    case Form::kWeightGradient:
    case Form::kPool:
    case Form::kPoolGradient:
    case Form::kReduce:
    case Form::kArgmax:
    case Form::kPad:
    case Form::kResize:
    case Form::kConcat:
    case Form::kSlice:
    case Form::kGather:
    case Form::kAppend:
    case Form::kOpaque:
      break;
  }
  return Made::kElse;
}

double MacsPerOutput(const Graph& graph, const Layer& layer) {
  const Tensor& in = graph.tensors[layer.inputs[0]];
  if (TraitsOf(layer).form == Form::kMatmul) return in.extent[3];
  const Tensor& out = graph.tensors[layer.outputs[0]];
  return static_cast<double>(Elements(graph.tensors[layer.inputs[1]]) / out.extent[3]);
}

// Where an operand's elements come from.
struct Root {
  uint32_t tensor = kNone;  // kNone: from elsewhere
  double element_bytes = 0, bytes = 0;
  double macs = 0;  // that make an element again; 0: it can only be loaded
};

Root RootOf(const Graph& graph, uint32_t tensor) {
  Root root;
  const double elements = static_cast<double>(Elements(graph.tensors[tensor]));
  uint32_t least = graph.tensors[tensor].element_bytes;
  for (;;) {
    const Tensor& t = graph.tensors[tensor];
    least = Min(least, t.element_bytes);
    const bool given = t.kind == TensorKind::kInput || t.kind == TensorKind::kConstant;
    if (t.kind == TensorKind::kState || (t.producer == kNone && !given)) return root;
    if (t.producer == kNone) break;
    const Layer& maker = graph.layers[t.producer];
    const Made made = MadeBy(maker);
    if (made == Made::kOfMacs) {
      root.macs = MacsPerOutput(graph, maker);
      break;
    }
    if (made == Made::kElse) return root;
    uint32_t from = kNone;
    for (const uint32_t in : maker.inputs) {
      if (in == kNone || Elements(graph.tensors[in]) != Elements(t)) continue;
      const uint32_t producer = graph.tensors[in].producer;
      const bool sums =
          producer != kNone && MadeBy(graph.layers[producer]) == Made::kOfMacs;
      if (from == kNone || sums) from = in;
    }
    if (from == kNone) return root;
    tensor = from;
  }
  root.tensor = tensor;
  root.element_bytes = least;
  root.bytes = elements * least;
  return root;
}

bool IsProduct(const Graph& graph, const Layer& layer) {
  if (MadeBy(layer) != Made::kOfMacs || IsChannelwise(layer)) return false;
  if (TraitsOf(layer).window != WindowRule::kFilter) return true;
  for (size_t i = 0; i < 4; ++i) {
    if (layer.attribute(SLUICE_CONV_PAD_TOP + i) != 0) return false;
  }
  return WindowOf(graph, layer, 1).filter == 1 && WindowOf(graph, layer, 2).filter == 1;
}

// The weight of the bytes that are loaded beyond the first load of each element.
double EnteringAgain(const double* most, const double* bytes, double macs, double root,
                     double room) {
  double x[3] = {most[0], most[1], most[2]};
  for (int sweep = 0; sweep < 3; ++sweep) {
    for (int i = 2; i >= 0; --i) {
      x[i] = Min(most[i], macs * root * x[(i + 1) % 3] * x[(i + 2) % 3] / bytes[i]);
    }
  }
  double entering = 2 * macs * root * x[0] * x[1] * x[2] - 2 * room;
  for (int i = 0; i < 3; ++i) entering -= x[i] * x[i] * bytes[i];
  return Max(entering, 0.0);
}

}  // namespace

Status EnergyOfReuse(const Graph& graph, const Hardware& hardware, const Needs& needs,
                     Arena* scratch, double* pj) {
  *pj = 0;
  const MemoryLevel& pad = hardware.scratchpad();
  const double load = 8 * (hardware.dram().read_pj_per_bit + pad.write_pj_per_bit);
  const bool one = int64_t{hardware.node_cols} * hardware.node_rows <= 1;
  const bool mapped = hardware.scratchpad_level != 0 || hardware.cores.rows > 0;
  if (!one || mapped || pad.capacity_bytes == 0 || load <= 0) return Status::kOk;
  ArenaScope scope(scratch);
  Span<uint8_t> taken;  // roots whose loads count for a layer
  SLUICE_TRY(scratch->Allocate(graph.tensors.size(), &taken));
  const double room = static_cast<double>(pad.capacity_bytes) + 16;
  for (const Layer& layer : graph.layers) {
    if (!IsProduct(graph, layer)) continue;
    const Root a = RootOf(graph, layer.inputs[0]), b = RootOf(graph, layer.inputs[1]);
    if (a.tensor == kNone || b.tensor == kNone || a.tensor == b.tensor) continue;
    if (taken[a.tensor] != 0 || taken[b.tensor] != 0) continue;
    taken[a.tensor] = taken[b.tensor] = 1;
    const Tensor& out = graph.tensors[layer.outputs[0]];
    const double outputs = static_cast<double>(Elements(out));
    if (PartsMade(graph, needs, layer.outputs[0]).elements() != Elements(out)) continue;
    double most[3] = {1, 1, 1};
    for (int i = 0; i < 2; ++i) {
      const Root& root = i == 0 ? a : b;
      if (root.macs == 0) continue;
      const double again = root.macs * hardware.mac_pj / (load * root.element_bytes);
      if (again < 1) most[i] = RootBelow(again);
    }
    const double bytes[3] = {a.bytes, b.bytes, outputs};
    *pj +=
        load * EnteringAgain(most, bytes, outputs * MacsPerOutput(graph, layer),
                             RootBelow(a.element_bytes * b.element_bytes / room), room);
  }
  return Status::kOk;
}

}  // namespace sluice
