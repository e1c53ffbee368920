// SPDX-License-Identifier: Apache-2.0
#include "ability.h"

#include <algorithm>
#include <cstring>

#include "reference.h"

namespace sluice_sim {
namespace {

// The bit of OpSupport::requantise that rows of (bias, multiplier, shift) need.
uint32_t ScalesOfRows(const Graph& graph, const Tensor& t) {
  if (t.source != kInline) return 4;  // not known
  const uint8_t* rows = graph.data + t.source_offset;
  int32_t first[2] = {}, row[2];
  for (int64_t i = 0; i < t.bytes / 12; ++i) {
    std::memcpy(row, rows + 12 * i + 4, sizeof row);
    if (i == 0) std::memcpy(first, row, sizeof row);
    if (row[0] != first[0] || row[1] != first[1]) return 4;
  }
  return first[0] == 1 << 30 && first[1] == 1 ? 1 : 2;
}

int32_t At(const Layer& layer, int attribute) {
  const size_t i = static_cast<size_t>(attribute);
  return attribute >= 0 && i < layer.attributes.size() ? layer.attributes[i] : 0;
}

uint32_t ScalesOf(const Graph& graph, const Layer& layer) {
  const Quantities& q = OpOf(layer.op).quantities;
  switch (q.scaling) {
    case Scaling::kNone:
      return 0;
    case Scaling::kParameters: {
      const bool third = OpOf(layer.op).third == InputAs::kParameters;
      return ScalesOfRows(graph, graph.tensors[layer.inputs[third ? 2 : 1]]);
    }
    case Scaling::kAttribute:
      return At(layer, q.multiplier) == 1 << 30 && At(layer, q.multiplier + 1) == 1 ? 1
                                                                                    : 2;
    case Scaling::kAttributes:
      return 2;
  }
  return 0;
}

uint32_t DtypesOf(const Graph& graph, const Layer& layer) {
  const auto bit = [&](uint32_t t) { return 1u << graph.tensors[t].dtype; };
  uint32_t dtypes = bit(layer.inputs[0]) | bit(layer.outputs[0]);
  // Adds weights and second operands; tables, masks and indices have only one possible
  // type.
  const Op& op = OpOf(layer.op);
  const bool weight = op.second == InputAs::kWeight && op.finish == Finish::kParameters;
  const bool second = op.second == InputAs::kInput1 && !op.quantities.plain_second;
  if ((weight || second) && layer.input(1) != kAbsent) dtypes |= bit(layer.inputs[1]);
  return dtypes;
}

bool Above(int64_t value, int64_t most) { return most != 0 && value > most; }

uint32_t Lacks(const OpRow& row, const Graph& graph, const Layer& layer) {
  const Op& op = OpOf(layer.op);
  const Quantities& q = op.quantities;
  const bool raw = q.raw >= 0 && At(layer, q.raw) == q.raw_value;
  if ((row.arithmetic & 1) == 0) return SLUICE_WHY_ARITHMETIC;
  if ((DtypesOf(graph, layer) & ~row.dtypes) != 0) return SLUICE_WHY_DTYPE;
  if (!raw && (ScalesOf(graph, layer) & ~row.requantise) != 0) {
    return SLUICE_WHY_REQUANTISE;
  }
  const int zeros[3] = {q.input0_zero, q.input1_zero, q.output_zero};
  for (uint32_t i = 0; i < 3 && !raw; ++i) {
    if (At(layer, zeros[i]) != 0 && (row.zero_points >> i & 1) == 0) {
      return SLUICE_WHY_ZERO_POINT;
    }
  }
  if (!HasWindows(op.slide)) return 0;
  const Window w = WindowOf(WholeTile(graph, layer, nullptr));
  for (int i = 0; i < 2; ++i) {
    if (Above(w.size[i], row.max_kernel[i])) return SLUICE_WHY_KERNEL;
  }
  if (Above(std::max(w.stride[0], w.stride[1]), row.max_stride)) {
    return SLUICE_WHY_STRIDE;
  }
  return Above(std::max(w.dilation[0], w.dilation[1]), row.max_dilation)
             ? SLUICE_WHY_DILATION
             : 0;
}

}  // namespace

uint32_t WhyNot(const Graph& graph, const Hardware& hardware, const Layer& layer) {
  if (!hardware.limited || !OnEngines(OpOf(layer.op).means)) return 0;
  uint32_t why = SLUICE_WHY_OPERATOR;
  for (const OpRow& row : hardware.ops) {
    if (row.op != layer.op) continue;
    const uint32_t lacks = Lacks(row, graph, layer);
    if (lacks == 0) return 0;
    why = std::max(why, lacks);
  }
  return why;
}

uint64_t CallBytes(const Graph& graph, const Layer& layer) {
  uint64_t read = 0, written = 0;
  for (uint32_t t : layer.inputs) {
    if (t != kAbsent) read += static_cast<uint64_t>(graph.tensors[t].bytes);
  }
  for (uint32_t t : layer.outputs) {
    written += static_cast<uint64_t>(graph.tensors[t].bytes);
  }
  if (OpOf(layer.op).means == Means::kGather) {
    read += written - static_cast<uint64_t>(graph.tensors[layer.inputs[0]].bytes);
  }
  return read + written;
}

uint64_t CallCycles(const Graph& graph, const Hardware& hardware, const Layer& layer) {
  if (OpOf(layer.op).means == Means::kHost) {
    return static_cast<uint32_t>(At(layer, SLUICE_OPAQUE_CYCLES_LO)) |
           uint64_t{static_cast<uint32_t>(At(layer, SLUICE_OPAQUE_CYCLES_HI))} << 32;
  }
  const HostRates& host = hardware.host;
  uint64_t cycles = host.call_cycles + std::min(BandwidthCycles(CallBytes(graph, layer),
                                                                host.bytes_numerator,
                                                                host.bytes_denominator),
                                                kMostCycles);
  if (OpOf(layer.op).means != Means::kGather) {
    const Work work = WorkOf(WholeTile(graph, layer, nullptr));
    cycles += std::min(BandwidthCycles(work.times * work.each, host.ops_numerator,
                                       host.ops_denominator),
                       kMostCycles);
  }
  return std::clamp<uint64_t>(cycles, 1, kMostCycles);
}

Work WorkOf(const Tile& t) {
  const Window g = WindowOf(t);
  const uint64_t window = static_cast<uint64_t>(g.size[0] * g.size[1]);
  const uint64_t channels = static_cast<uint64_t>(t.c_end - t.c_begin);
  uint64_t times = static_cast<uint64_t>(t.target().elements()), each = 1;
  bool macs = false;
  switch (OpOf(t.op).count) {
    case Count::kNothing:
    case Count::kOnce:
      break;
    case Count::kMacs:
      each = window * (t.is_depthwise() ? 1 : channels);
      macs = true;
      break;
    case Count::kMacsOfErrors:
      each = channels * static_cast<uint64_t>(t.input1.extent[2]);
      macs = true;
      break;
    case Count::kWindows:
      each = window;
      break;
    case Count::kErrors:
      times = static_cast<uint64_t>(t.input0.elements());
      each = window;
      break;
    case Count::kInputs:
      times = static_cast<uint64_t>(t.input0.elements());
      break;
    case Count::kTwice:
      each = 2;
      break;
    case Count::kFourTimes:
      each = 4;
      break;
  }
  return {times, each, macs};
}

uint64_t BandwidthCycles(uint64_t bytes, uint64_t numerator, uint64_t denominator) {
  if (numerator == 0) return 0;
  const unsigned __int128 product = static_cast<unsigned __int128>(bytes) * denominator;
  const unsigned __int128 cycles = (product + numerator - 1) / numerator;
  const uint64_t limit = uint64_t{1} << 62;
  return cycles > limit ? limit : static_cast<uint64_t>(cycles);
}

}  // namespace sluice_sim
