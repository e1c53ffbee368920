// SPDX-License-Identifier: Apache-2.0
#include "verify/reuse.h"

#include "base/checked.h"
#include "verify/ability.h"
#include "verify/op_rules.h"

namespace sluice {
namespace judge {
namespace {

// Of the bounds that differ by rounding the judge's is the greater one.
double SquareRoot(double value) {
  double low = 0, high = value < 1 ? 1 : value;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (middle * middle > value ? high : low) = middle;
  }
  return high;
}

double Count(const Tensor& t) {
  return static_cast<double>(t.bytes) / static_cast<double>(t.element_bytes);
}

// MACs of one output; 0 for layers that are no products of an ifmap or a matrix.
double Depth(const Judge& judge, const Layer& layer) {
  const Deed deed = DeedOf(layer);
  const bool product = deed == Deed::kConvolution || deed == Deed::kFullyConnected ||
                       deed == Deed::kMatmul;
  if (!product || !IsAble(judge, layer)) return 0;
  TileNeeds needs;
  NeedsOfLayer(judge.graph, layer, &needs);
  return static_cast<double>(needs.work) / Count(judge.graph.tensors[layer.outputs[0]]);
}

// True if a MAC is known from any two of its operands and its sum.
bool IsMatrixProduct(const Judge& judge, const Layer& layer) {
  if (DeedOf(layer) != Deed::kConvolution) return Depth(judge, layer) != 0;
  TileNeeds needs;
  NeedsOfLayer(judge.graph, layer, &needs);
  bool pads = false;
  for (int i = 0; i < 4; ++i) {
    pads = pads || layer.attribute(SLUICE_CONV_PAD_TOP + static_cast<size_t>(i)) != 0;
  }
  const double depth = Depth(judge, layer);
  return !pads && depth != 0 && depth == static_cast<double>(needs.sum_channels);
}

struct Source {
  uint32_t tensor = kNone;
  double width = 0;  // bytes of an element, where it is the smallest
  double depth = 0;  // MACs that sum it again; 0 = given
};

bool KeepsPlaces(Deed deed) {
  return deed == Deed::kElements || deed == Deed::kTable || deed == Deed::kSoftmax ||
         deed == Deed::kNorm || deed == Deed::kTranspose || deed == Deed::kReshape;
}

Source SourceOf(const Judge& judge, uint32_t tensor) {
  const Graph& graph = judge.graph;
  Source source;
  source.width = graph.tensors[tensor].element_bytes;
  for (uint32_t next = tensor; next != kNone;) {
    const uint32_t at = next;
    const Tensor& t = graph.tensors[at];
    source.width = Min(source.width, static_cast<double>(t.element_bytes));
    next = kNone;
    if (t.kind == TensorKind::kInput || t.kind == TensorKind::kConstant) {
      source.tensor = at;
    } else if (t.kind != TensorKind::kState && t.producer != kNone) {
      const Layer& maker = graph.layers[t.producer];
      source.depth = Depth(judge, maker);
      if (source.depth != 0) source.tensor = at;
      if (!KeepsPlaces(DeedOf(maker)) || !IsAble(judge, maker)) continue;
      // The last input of this size that is a sum, else the first one.
      for (size_t i = maker.inputs.size(); i-- > 0;) {
        const uint32_t in = maker.inputs[i];
        if (in == kNone || Count(graph.tensors[in]) != Count(t)) continue;
        next = in;
        const uint32_t by = graph.tensors[in].producer;
        if (by != kNone && Depth(judge, graph.layers[by]) != 0) break;
      }
    }
  }
  return source;
}

struct Product {
  double limit[3];  // of the square roots of weights
  double bytes[3];  // that come in once
  double twice;     // 2 P sqrt(WA WB / S)
};

double ComesAgain(const Product& p, double room) {
  double weight[3] = {p.limit[0], p.limit[1], p.limit[2]};
  // Each weight in turn is the best for the others, from that of the sums on.
  for (int turn = 0; turn < 9; ++turn) {
    const int i = 2 - turn % 3;
    double others = 1;
    for (int j = 0; j < 3; ++j) others *= j == i ? 1 : weight[j];
    weight[i] = Min(p.limit[i], p.twice * others / (2 * p.bytes[i]));
  }
  double sum = p.twice * weight[0] * weight[1] * weight[2] - 2 * room;
  for (int i = 0; i < 3; ++i) sum -= weight[i] * weight[i] * p.bytes[i];
  return sum > 0 ? sum : 0;
}

}  // namespace

bool AllAlike(const Judge& judge) {
  bool alike = judge.hardware.memories.empty();
  for (const Tensor& t : judge.graph.tensors) alike = alike && t.encoded_bytes == 0;
  return alike;
}

Status FindReuse(const Judge& judge, double* pj) {
  *pj = 0;
  const Hardware& h = judge.hardware;
  const double load = 8 * (h.dram().read_pj_per_bit + h.scratchpad().write_pj_per_bit);
  if (int64_t{h.node_cols} * h.node_rows > 1 || h.scratchpad_level != 0 ||
      h.cores.rows > 0 || h.scratchpad().capacity_bytes == 0 || !(load > 0) ||
      !AllAlike(judge)) {
    return Status::kOk;
  }
  ArenaScope scope(judge.arena);
  Span<uint8_t> counted;
  SLUICE_TRY(judge.arena->Allocate(judge.graph.tensors.size(), &counted));
  // Phases end behind an element, which may lie over their border.
  const double room = static_cast<double>(h.scratchpad().capacity_bytes) + 16;
  for (const Layer& layer : judge.graph.layers) {
    if (!IsMatrixProduct(judge, layer)) continue;
    const Source source[2] = {SourceOf(judge, layer.inputs[0]),
                              SourceOf(judge, layer.inputs[1])};
    if (source[0].tensor == kNone || source[1].tensor == kNone ||
        source[0].tensor == source[1].tensor || counted[source[0].tensor] != 0 ||
        counted[source[1].tensor] != 0) {
      continue;
    }
    const double outputs = Count(judge.graph.tensors[layer.outputs[0]]);
    Product p = {{1, 1, 1}, {0, 0, outputs}, 0};
    for (size_t i = 0; i < 2; ++i) {
      counted[source[i].tensor] = 1;
      p.bytes[i] = Count(judge.graph.tensors[layer.inputs[i]]) * source[i].width;
      const double again = source[i].depth * h.mac_pj / (load * source[i].width);
      if (source[i].depth != 0 && again < 1) p.limit[i] = SquareRoot(again);
    }
    p.twice = 2 * outputs * Depth(judge, layer) *
              SquareRoot(source[0].width * source[1].width / room);
    *pj += load * ComesAgain(p, room);
  }
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
