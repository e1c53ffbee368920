// SPDX-License-Identifier: Apache-2.0
#include "model/reuse_bound.h"

#include "base/checked.h"
#include "model/tile_geometry.h"

namespace sluice {
namespace {

// At most the square root, and close to it.
double RootBelow(double value) {
  if (value <= 0) return 0;
  double above = Max(value, 1.0);
  for (double next = (above + value / above) / 2; next < above;) {
    above = next;
    next = (above + value / above) / 2;
  }
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

bool IsProduct(const Layer& layer) {
  return MadeBy(layer) == Made::kOfMacs && !IsChannelwise(layer);
}

constexpr int32_t kMostTaps = 256;  // along an axis; longer filters count as no product

// The MACs of a product that have an element of A, which those on pads have not. With
// windows each counts as one over the square root of the taps that may read one element.
double CountOf(const Graph& graph, const Layer& layer) {
  const Tensor& out = graph.tensors[layer.outputs[0]];
  double macs = static_cast<double>(Elements(out)) * MacsPerOutput(graph, layer);
  if (TraitsOf(layer).window != WindowRule::kFilter) return macs;
  double taps = 1;
  for (int axis = 1; axis < 3; ++axis) {
    const Window w = WindowOf(graph, layer, axis);
    const int64_t in = graph.tensors[layer.inputs[0]].extent[axis];
    if (w.filter > kMostTaps) return 0;
    int64_t inside = 0;  // pairs of an output position and a tap
    for (int64_t tap = 0; tap < w.filter; ++tap) {
      const int64_t at = tap * w.dilation - w.pad_before;
      const int64_t begin = at < 0 ? CeilDivide(-at, w.stride) : 0;
      const int64_t end = at < in ? (in - 1 - at) / w.stride + 1 : 0;
      inside += Max<int64_t>(Min<int64_t>(end, out.extent[axis]) - begin, 0);
    }
    const int64_t all = int64_t{w.filter} * out.extent[axis];
    macs *= static_cast<double>(inside) / static_cast<double>(all);
    taps *= static_cast<double>(w.dilation == 1 ? CeilDivide(w.filter, w.stride)
                                                : w.filter);
  }
  return macs * RootBelow(1 / taps);
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

// A product, or several that read one root: given any two of an element of A, one of any
// B and a sum, the MAC is known.
struct Products {
  uint32_t shared = kNone;  // the root of A
  double made[2] = {0, 0};  // MACs that make an element of A or B again; 0: none can
  double bytes[3] = {0, 0, 0}, width[2] = {0, 0};
  double macs = 0;
  bool whole = true;  // all outputs are needed
};

// Of the square root of a weight: elements may be made again instead of loaded.
double MostOf(double made, double width, const ReusePrice& price) {
  const double again = made * price.mac / (price.byte * width);
  return made == 0 || again >= 1 ? 1 : RootBelow(again);
}

class Reuse {
 public:
  Reuse(const Graph& graph, const Needs& needs, int64_t room)
      : graph_(graph), needs_(needs), room_(static_cast<double>(room) + 16) {}

  Status Init(Arena* scratch) {
    SLUICE_TRY(scratch->Allocate(graph_.tensors.size(), &taken_));
    Span<uint32_t> later;  // by root: the next product of it
    SLUICE_TRY(scratch->Allocate(graph_.tensors.size(), &later));
    for (uint32_t& layer : later) layer = kNone;
    SLUICE_TRY(scratch->Allocate(graph_.layers.size(), &next_));
    for (uint32_t l = static_cast<uint32_t>(graph_.layers.size()); l-- > 0;) {
      next_[l] = kNone;
      if (!IsProduct(graph_.layers[l])) continue;
      const uint32_t root = RootOf(graph_, graph_.layers[l].inputs[0]).tensor;
      if (root == kNone) continue;
      next_[l] = later[root];
      later[root] = l;
    }
    return Status::kOk;
  }

  // What enters again for a layer and for later ones of its root.
  void AddFrom(uint32_t layer, Span<const ReusePrice> prices, double* again) {
    Products products;
    for (uint32_t l = layer; l != kNone; l = next_[l]) {
      Join(graph_.layers[l], &products);
      if (products.macs == 0) return;
    }
    if (!products.whole) return;
    const double* width = products.width;
    const double root = RootBelow(width[0] * width[1] / room_);
    for (size_t i = 0; i < prices.size(); ++i) {
      if (prices[i].byte <= 0) continue;
      const double most[3] = {MostOf(products.made[0], width[0], prices[i]),
                              MostOf(products.made[1], width[1], prices[i]), 1};
      again[i] += prices[i].byte *
                  EnteringAgain(most, products.bytes, products.macs, root, room_);
    }
  }

 private:
  void Join(const Layer& layer, Products* all) {
    const double macs = IsProduct(layer) ? CountOf(graph_, layer) : 0;
    if (macs <= 0) return;
    const Root a = RootOf(graph_, layer.inputs[0]), b = RootOf(graph_, layer.inputs[1]);
    if (a.tensor == kNone || b.tensor == kNone || a.tensor == b.tensor) return;
    if (taken_[b.tensor] != 0 || (taken_[a.tensor] != 0 && a.tensor != all->shared)) {
      return;
    }
    const bool first = all->macs == 0;
    if (!first && (b.macs != 0 || a.element_bytes != all->width[0] ||
                   b.element_bytes != all->width[1])) {
      return;
    }
    taken_[a.tensor] = taken_[b.tensor] = 1;
    const Tensor& out = graph_.tensors[layer.outputs[0]];
    const double outputs = static_cast<double>(Elements(out));
    if (first) {
      *all = {a.tensor,
              {a.macs, b.macs},
              {a.bytes, 0, 0},
              {a.element_bytes, b.element_bytes},
              0,
              true};
    }
    all->bytes[1] += b.bytes;
    all->bytes[2] += outputs;
    all->macs += macs;
    all->whole = all->whole && PartsMade(graph_, needs_, layer.outputs[0]).elements() ==
                                   Elements(out);
  }

  const Graph& graph_;
  const Needs& needs_;
  double room_;
  Span<uint8_t> taken_;  // roots whose loads count for a layer
  Span<uint32_t> next_;  // by layer: the next product of its root
};

}  // namespace

Status FindReuse(const ReuseQuestion& question, Span<const ReusePrice> prices,
                 Arena* scratch, double* again) {
  for (size_t i = 0; i < prices.size(); ++i) again[i] = 0;
  const auto& [graph, needs, room] = question;
  if (room == 0) return Status::kOk;
  ArenaScope scope(scratch);
  Reuse reuse(graph, needs, room);
  SLUICE_TRY(reuse.Init(scratch));
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    if (l % 32 == 31 && scratch->memory()->Stop()) return Status::kStopped;
    reuse.AddFrom(l, prices, again);
  }
  return Status::kOk;
}

}  // namespace sluice
