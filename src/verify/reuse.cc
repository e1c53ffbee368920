// SPDX-License-Identifier: Apache-2.0
#include "verify/reuse.h"

#include "base/checked.h"
#include "verify/ability.h"
#include "verify/bound.h"
#include "verify/op_rules.h"

namespace sluice {
namespace judge {
namespace {

// Of the bounds that differ by rounding the judge's is the greater one.
double SquareRoot(double value) {
  if (value <= 0) return 0;
  for (double root = Max(value, 1.0);;) {
    const double next = (root + value / root) / 2;
    if (next >= root) return root * (1 + 1e-12);
    root = next;
  }
}

double Count(const Tensor& t) {
  return static_cast<double>(t.bytes) / static_cast<double>(t.element_bytes);
}

// MACs of one output; 0 for layers that are no products of an ifmap or a matrix.
double Depth(const Judge& judge, const Layer& layer) {
  if (!Has(layer, kProduct) || !IsAble(judge, layer)) return 0;
  TileNeeds needs;
  NeedsOfLayer(judge.graph, layer, &needs);
  return static_cast<double>(needs.work) / Count(judge.graph.tensors[layer.outputs[0]]);
}

constexpr int64_t kMostTaps = 256;  // along an axis; longer filters count as no product

// Along one axis of a convolution: pairs of a tap and an output of which an element inside
// the tensor is read, and how many taps may read one element.
struct Taps {
  int64_t pairs = 0, reuse = 0;
};

Taps TapsAlong(const Judge& judge, const Layer& layer, size_t axis) {
  const auto extent = [&](uint32_t tensor) {
    return int64_t{judge.graph.tensors[tensor].extent[1 + axis]};
  };
  const auto attribute = [&](size_t first) {
    return int64_t{layer.attribute(first + axis)};
  };
  const int64_t filter = extent(layer.inputs[1]), out = extent(layer.outputs[0]);
  const int64_t step = Max<int64_t>(attribute(SLUICE_CONV_STRIDE_H), 1);
  const int64_t apart = Max<int64_t>(attribute(SLUICE_CONV_DILATION_H), 1);
  Taps taps;
  if (filter > kMostTaps) return taps;
  // Outputs that a tap reads in front of a place.
  const auto below = [&](int64_t place) {
    return place <= 0 ? 0 : Min(out, CeilDivide(place, step));
  };
  for (int64_t t = 0; t < filter; ++t) {
    const int64_t begin = attribute(SLUICE_CONV_PAD_TOP) - t * apart;
    taps.pairs += below(begin + extent(layer.inputs[0])) - below(begin);
  }
  taps.reuse = apart > 1 ? filter : (filter + step - 1) / step;
  return taps;
}

// MACs of a layer of which any two of an element of A, of B and of the output name the tap
// and the MAC; of windows, divided by the root of the taps that share an element. 0: the
// layer is no such product.
double MacsOf(const Judge& judge, const Layer& layer, double depth) {
  const Tensor& out = judge.graph.tensors[layer.outputs[0]];
  if (DeedOf(layer) != Deed::kConvolution || depth == 0) return Count(out) * depth;
  TileNeeds needs;
  NeedsOfLayer(judge.graph, layer, &needs);
  const Taps rows = TapsAlong(judge, layer, 0), columns = TapsAlong(judge, layer, 1);
  const double sums = static_cast<double>(out.extent[0]) * out.extent[3];
  const double pairs =
      static_cast<double>(rows.pairs) * static_cast<double>(columns.pairs);
  if (pairs == 0) return 0;
  const double reuse =
      static_cast<double>(rows.reuse) * static_cast<double>(columns.reuse);
  return sums * static_cast<double>(needs.sum_channels) * pairs * SquareRoot(1 / reuse);
}

// Where a factor's elements, of one byte each, come from.
struct Source {
  uint32_t tensor = kNone;
  double depth = 0;  // MACs that sum it again; 0 = given
};

// What is asked more than once, by layer.
struct Known {
  Span<double> depth, macs;
  Span<Source> source;  // of input 0, where there are MACs
};

Source SourceOf(const Judge& judge, const Known& known, uint32_t tensor) {
  const Graph& graph = judge.graph;
  Source source;
  for (uint32_t next = tensor; next != kNone;) {
    const uint32_t at = next;
    const Tensor& t = graph.tensors[at];
    next = kNone;
    if (t.kind == TensorKind::kInput || t.kind == TensorKind::kConstant) {
      source.tensor = at;
    } else if (t.producer != kNone) {
      const Layer& maker = graph.layers[t.producer];
      source.depth = known.depth[t.producer];
      if (source.depth != 0) source.tensor = at;
      if (!Has(maker, kKeepsPlaces) || !IsAble(judge, maker)) continue;
      // The last input of this size that is a sum, else the first one.
      for (size_t i = maker.inputs.size(); i-- > 0;) {
        const uint32_t in = maker.inputs[i];
        if (in == kNone || Count(graph.tensors[in]) != Count(t)) continue;
        next = in;
        const uint32_t by = graph.tensors[in].producer;
        if (by != kNone && known.depth[by] != 0) break;
      }
    }
  }
  return source;
}

// Products that multiply elements of one source, each with elements of its own.
struct Product {
  double depth[2] = {0, 0};     // of its sources
  double bytes[3] = {0, 0, 0};  // that come in once
  double macs = 0;
};

// The price of what comes again; `held` is sqrt(1 / S).
double ComesAgain(const Product& p, const Price& price, double held, double room) {
  const double twice = 2 * p.macs * held;
  double limit[3] = {1, 1, 1};  // of the square roots of weights
  for (size_t i = 0; i < 2 && price.byte > 0; ++i) {
    const double again = p.depth[i] * price.mac / price.byte;
    if (p.depth[i] != 0 && again < 1) limit[i] = SquareRoot(again);
  }
  double weight[3] = {limit[0], limit[1], limit[2]};
  // Each weight in turn is the best for the others, from that of the sums on.
  for (int turn = 0; turn < 9; ++turn) {
    const int i = 2 - turn % 3;
    double others = 1;
    for (int j = 0; j < 3; ++j) others *= j == i ? 1 : weight[j];
    weight[i] = Min(limit[i], twice * others / (2 * p.bytes[i]));
  }
  double sum = twice * weight[0] * weight[1] * weight[2] - 2 * room;
  for (int i = 0; i < 3; ++i) sum -= weight[i] * weight[i] * p.bytes[i];
  return sum > 0 ? sum * price.byte : 0;
}

// Adds a layer to the product of layers before it that share its first source, or begins
// one. False: it is no part of it.
bool Adds(const Judge& judge, const Known& known, uint32_t index, Span<uint8_t> counted,
          Product* p) {
  if (known.macs[index] <= 0) return false;
  const Layer& layer = judge.graph.layers[index];
  const Source source[2] = {known.source[index],
                            SourceOf(judge, known, layer.inputs[1])};
  const uint32_t a = source[0].tensor, b = source[1].tensor;
  const bool begins = p->macs <= 0;
  if (a == kNone || b == kNone || a == b || counted[b] != 0) return false;
  if (begins ? counted[a] != 0 : source[1].depth != 0) return false;
  counted[a] = counted[b] = 1;
  const double outputs = Count(judge.graph.tensors[layer.outputs[0]]);
  for (size_t i = 0; i < 2 && begins; ++i) {
    p->depth[i] = source[i].depth;
  }
  p->bytes[0] = Count(judge.graph.tensors[layer.inputs[0]]);
  p->bytes[1] += Count(judge.graph.tensors[layer.inputs[1]]);
  p->bytes[2] += outputs;
  p->macs += known.macs[index];
  return true;
}

}  // namespace

bool AllAlike(const Judge& judge) {
  bool alike = judge.hardware.memories.empty();
  for (const Tensor& t : judge.graph.tensors) alike = alike && t.encoded_bytes == 0;
  return alike;
}

Status FindReuse(const Judge& judge, const NeededOfAll& of_all,
                 Span<const Price> prices, double* more) {
  for (size_t i = 0; i < prices.size(); ++i) more[i] = 0;
  if (!AllAlike(judge)) return Status::kOk;
  const Graph& graph = judge.graph;
  ArenaScope scope(judge.arena);
  Span<uint8_t> counted;
  Span<uint32_t> last,
      sibling;  // by source: its last layer; by layer: the one after it
  SLUICE_TRY(judge.arena->Allocate(graph.tensors.size(), &counted));
  SLUICE_TRY(judge.arena->Allocate(graph.tensors.size(), &last));
  SLUICE_TRY(judge.arena->Allocate(graph.layers.size(), &sibling));
  Known known;
  SLUICE_TRY(judge.arena->Allocate(graph.layers.size(), &known.depth));
  SLUICE_TRY(judge.arena->Allocate(graph.layers.size(), &known.macs));
  SLUICE_TRY(judge.arena->Allocate(graph.layers.size(), &known.source));
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    known.depth[l] = Depth(judge, graph.layers[l]);
    known.macs[l] = MacsOf(judge, graph.layers[l], known.depth[l]);
    const uint32_t out = graph.layers[l].outputs[0];
    const double made = static_cast<double>(of_all.Made(graph, out).elements());
    if (made < Count(graph.tensors[out])) known.macs[l] = 0;
  }
  for (uint32_t& layer : last) layer = kNone;
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    sibling[l] = kNone;
    if (known.macs[l] <= 0) continue;
    known.source[l] = SourceOf(judge, known, graph.layers[l].inputs[0]);
    const uint32_t source = known.source[l].tensor;
    if (source == kNone) continue;
    if (last[source] != kNone) sibling[last[source]] = l;
    last[source] = l;
  }
  // What all nodes hold. Phases end behind an element, which may lie over their border.
  const double room = RoomOf(judge) + 16;
  const double held = SquareRoot(1 / room);
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    Product p;
    if (!Adds(judge, known, l, counted, &p)) continue;
    for (uint32_t next = sibling[l]; next != kNone; next = sibling[next]) {
      (void)Adds(judge, known, next, counted, &p);
    }
    for (size_t i = 0; i < prices.size(); ++i) {
      more[i] += ComesAgain(p, prices[i], held, room);
    }
  }
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
