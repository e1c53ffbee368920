// SPDX-License-Identifier: Apache-2.0
// Networks found by architecture search, in their sizes for 224 x 224: NASNet-A
// (4 @ 1056), PNASNet-5 (3 cells of 54), AmoebaNet-D (4 cells of 48), DARTS (14 cells
// of 48). A cell sums pairs of operators on earlier states. States 0 and 1 are the
// outputs of the two previous cells, brought to the cell's channels and extents. ReLUs
// that precede a convolution are layers of their own, as published. Deviation: the
// first convolution pads, so that every extent halves evenly.
#include "import/error.h"
#include "zoo/torch_layers.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

enum class Part {
  kSkip,
  kSeparable3,
  kSeparable5,
  kSeparable7,
  kDilated3,
  kMax2,
  kMax3,
  kAverage3,
  kConv1,
  kConv3,     // through a quarter of the channels
  kConv17x71  // likewise
};

struct Edge {
  Part part;
  size_t state;
};
struct Cell {
  std::vector<Edge> edges;  // two by two
  std::vector<size_t> output;
};

class Searched {
 public:
  explicit Searched(const std::string& name) : net(name) {}

  Fmap ReluConv(const std::string& name, const Fmap& in, int32_t channels,
                const Kernel& kernel) {
    return Conv(&net, name, Relu(&net, name + ".relu", in), channels, kernel, false);
  }

  // Two strided 1x1 convolutions, the second shifted by one row and one column.
  Fmap Halved(const std::string& name, const Fmap& in, int32_t channels) {
    const Fmap x = Relu(&net, name + ".relu", in);
    const Dims& d = x.dims;
    const Fmap shifted =
        Slice(&net, name + ".shift", x, {0, 1, 1, 0}, {d[0], d[1] - 1, d[2] - 1, d[3]});
    const int32_t half = channels / 2;
    return Concat(
        &net, name + ".concat",
        {Conv(&net, name + ".even", x, half, Square(1, 2), false),
         Conv(&net, name + ".odd", shifted, channels - half, Square(1, 2), false)});
  }

  Fmap Build(const std::string& name, const Edge& edge, const Fmap& in,
             int32_t channels, int32_t stride) {
    switch (edge.part) {
      case Part::kSkip:
        return stride == 1 ? in : ReluConv(name, in, channels, Square(1, stride));
      case Part::kSeparable3:
        return Separable(name, in, channels, 3, stride);
      case Part::kSeparable5:
        return Separable(name, in, channels, 5, stride);
      case Part::kSeparable7:
        return Separable(name, in, channels, 7, stride);
      case Part::kDilated3: {
        const Fmap x =
            DepthwiseConv(&net, name + ".depth", Relu(&net, name + ".relu", in),
                          Square(3, stride, 2), false);
        return Conv(&net, name, x, channels, {}, false);
      }
      case Part::kMax2:
        return Fitted(name, MaxPool(&net, name + ".pool", in, {2, 2, stride, stride}),
                      channels);
      case Part::kMax3:
        return Fitted(name, MaxPool(&net, name + ".pool", in, Square(3, stride)),
                      channels);
      case Part::kAverage3:
        return Fitted(name, AveragePool(&net, name + ".pool", in, Square(3, stride)),
                      channels);
      case Part::kConv1:
        return ReluConv(name, in, channels, Square(1, stride));
      case Part::kConv3: {
        const Fmap x = Narrow(name, in, channels);
        return Conv(&net, name,
                    Conv(&net, name + ".3x3", x, channels / 4, Square(3, stride), true),
                    channels, {}, false);
      }
      case Part::kConv17x71: {
        Fmap x = Narrow(name, in, channels);
        x = Conv(&net, name + ".1x7", x, channels / 4, {1, 7, 1, stride, 0, 3}, true);
        x = Conv(&net, name + ".7x1", x, channels / 4, {7, 1, stride, 1, 3, 0}, true);
        return Conv(&net, name, x, channels, {}, false);
      }
    }
    return in;
  }

  // raw: state 0 is `prev` itself (the first cell of a stem).
  Fmap Add(const Cell& cell, const Fmap& prev, const Fmap& current, int32_t channels,
           bool reduction, bool raw = false) {
    const std::string name = "cell" + std::to_string(count_++);
    std::vector<Fmap> states;
    if (raw) {
      states.push_back(prev);
    } else if (prev.dims[1] != current.dims[1]) {
      states.push_back(Halved(name + ".prev", prev, channels));
    } else {
      states.push_back(ReluConv(name + ".prev", prev, channels, {}));
    }
    states.push_back(ReluConv(name + ".current", current, channels, {}));
    for (size_t i = 0; i < cell.edges.size(); i += 2) {
      const std::string pair = name + "." + std::to_string(states.size());
      Fmap sides[2];
      for (size_t side = 0; side < 2; ++side) {
        const Edge& edge = cell.edges[i + side];
        const int32_t stride = reduction && edge.state < 2 ? 2 : 1;
        sides[side] = Build(pair + (side == 0 ? ".left" : ".right"), edge,
                            states[edge.state], channels, stride);
      }
      states.push_back(zoo::Add(&net, pair + ".add", sides[0], sides[1], 0.5, false));
    }
    std::vector<Fmap> output;
    for (const size_t state : cell.output) output.push_back(states[state]);
    return Concat(&net, name + ".concat", output);
  }

  Bytes Finish(const Fmap& x) {
    const Fmap pooled = GlobalAveragePool(&net, "pool", Relu(&net, "relu", x));
    const Fmap flat = Reshape(&net, "flat", pooled, {x.dims[0], x.dims[3]});
    return net.Finish(FullyConnected(&net, "classifier", flat, 1000, false));
  }

  Network net;

 private:
  Fmap Separable(const std::string& name, const Fmap& in, int32_t channels,
                 int32_t size, int32_t stride) {
    Fmap x = Relu(&net, name + ".relu", in);
    x = DepthwiseConv(&net, name + ".depth1", x, Square(size, stride), false);
    x = Conv(&net, name + ".point1", x, channels, {}, true);
    x = DepthwiseConv(&net, name + ".depth2", x, Square(size), false);
    return Conv(&net, name + ".point2", x, channels, {}, false);
  }
  Fmap Narrow(const std::string& name, const Fmap& in, int32_t channels) {
    return Conv(&net, name + ".narrow", Relu(&net, name + ".relu", in), channels / 4,
                {}, true);
  }
  Fmap Fitted(const std::string& name, const Fmap& in, int32_t channels) {
    return in.dims[3] == channels ? in
                                  : Conv(&net, name + ".fit", in, channels, {}, false);
  }

  int count_ = 0;
};

const Cell kNasNetNormal = {{{Part::kSeparable5, 1},
                             {Part::kSeparable3, 0},
                             {Part::kSeparable5, 0},
                             {Part::kSeparable3, 0},
                             {Part::kAverage3, 1},
                             {Part::kSkip, 0},
                             {Part::kAverage3, 0},
                             {Part::kAverage3, 0},
                             {Part::kSeparable3, 1},
                             {Part::kSkip, 1}},
                            {0, 2, 3, 4, 5, 6}};
const Cell kNasNetReduction = {{{Part::kSeparable5, 1},
                                {Part::kSeparable7, 0},
                                {Part::kMax3, 1},
                                {Part::kSeparable7, 0},
                                {Part::kAverage3, 1},
                                {Part::kSeparable5, 0},
                                {Part::kAverage3, 2},
                                {Part::kSkip, 3},
                                {Part::kSeparable3, 2},
                                {Part::kMax3, 1}},
                               {3, 4, 5, 6}};
const Cell kPnasNet = {{{Part::kSeparable5, 0},
                        {Part::kMax3, 0},
                        {Part::kSeparable7, 1},
                        {Part::kMax3, 1},
                        {Part::kSeparable5, 1},
                        {Part::kSeparable3, 1},
                        {Part::kSeparable3, 4},
                        {Part::kMax3, 1},
                        {Part::kSeparable3, 0},
                        {Part::kSkip, 1}},
                       {2, 3, 4, 5, 6}};
const Cell kAmoebaNormal = {{{Part::kConv1, 0},
                             {Part::kMax3, 0},
                             {Part::kSkip, 0},
                             {Part::kConv17x71, 1},
                             {Part::kConv1, 1},
                             {Part::kConv17x71, 1},
                             {Part::kMax3, 2},
                             {Part::kSkip, 2},
                             {Part::kAverage3, 0},
                             {Part::kConv1, 5}},
                            {1, 3, 4, 6}};
const Cell kAmoebaReduction = {{{Part::kMax2, 1},
                                {Part::kMax3, 1},
                                {Part::kSkip, 2},
                                {Part::kConv3, 0},
                                {Part::kConv17x71, 2},
                                {Part::kMax3, 2},
                                {Part::kSkip, 3},
                                {Part::kMax2, 0},
                                {Part::kAverage3, 2},
                                {Part::kConv1, 3}},
                               {4, 5, 6}};
const Cell kDartsNormal = {{{Part::kSeparable3, 0},
                            {Part::kSeparable3, 1},
                            {Part::kSeparable3, 0},
                            {Part::kSeparable3, 1},
                            {Part::kSeparable3, 1},
                            {Part::kSkip, 0},
                            {Part::kSkip, 0},
                            {Part::kDilated3, 2}},
                           {2, 3, 4, 5}};
const Cell kDartsReduction = {{{Part::kMax3, 0},
                               {Part::kMax3, 1},
                               {Part::kSkip, 2},
                               {Part::kMax3, 1},
                               {Part::kMax3, 0},
                               {Part::kSkip, 2},
                               {Part::kSkip, 2},
                               {Part::kMax3, 1}},
                              {2, 3, 4, 5}};

struct Stages {
  const Cell* normal;
  const Cell* reduction;
  int32_t stem, filters;
  int32_t stem_cell[2];  // filters
  int cells;             // normal ones of a stage
  bool reduce_apart;     // reductions stand before a stage; else its first cell reduces
  bool raw_stem;
};

// A convolution, two reducing cells, then three stages of doubling filters.
Bytes MakeStaged(const std::string& name, const ZooOptions& options, const Stages& s) {
  Searched searched(name);
  Network& net = searched.net;
  const Fmap image = net.Input("image", {options.batch, 224, 224, 3});
  Fmap prev = Conv(&net, "stem", image, s.stem, Square(3, 2), false);
  Fmap x = searched.Add(*s.reduction, prev, prev, s.stem_cell[0], true, s.raw_stem);
  const auto step = [&](const Cell& cell, int32_t filters, bool reduction) {
    const Fmap next = searched.Add(cell, prev, x, filters, reduction);
    prev = x;
    x = next;
  };
  step(*s.reduction, s.stem_cell[1], true);
  for (int stage = 0; stage < 3; ++stage) {
    const int32_t filters = s.filters << stage;
    const bool reduce = stage > 0;
    if (reduce && s.reduce_apart) step(*s.reduction, filters, true);
    for (int i = 0; i < s.cells; ++i) {
      step(*s.normal, filters, reduce && !s.reduce_apart && i == 0);
    }
  }
  return searched.Finish(x);
}

}  // namespace

Bytes MakeNasNetA(const ZooOptions& options) {
  return MakeStaged(
      "nasnet_a_mobile", options,
      {&kNasNetNormal, &kNasNetReduction, 32, 44, {11, 22}, 4, true, true});
}

Bytes MakePnasNet5(const ZooOptions& options) {
  return MakeStaged("pnasnet5_mobile", options,
                    {&kPnasNet, &kPnasNet, 32, 54, {13, 27}, 3, false, true});
}

Bytes MakeAmoebaNetD(const ZooOptions& options) {
  return MakeStaged(
      "amoebanet_d", options,
      {&kAmoebaNormal, &kAmoebaReduction, 12, 48, {12, 24}, 4, true, false});
}

Bytes MakeDarts(const ZooOptions& options) {
  Searched searched("darts_imagenet");
  Network& net = searched.net;
  constexpr int kCells = 14;
  int32_t filters = 48;
  Fmap x = net.Input("image", {options.batch, 224, 224, 3});
  x = Conv(&net, "stem0.a", x, filters / 2, Square(3, 2), true);
  Fmap prev = Conv(&net, "stem0.b", x, filters, Square(3, 2), false);
  x = searched.ReluConv("stem1", prev, filters, Square(3, 2));
  for (int i = 0; i < kCells; ++i) {
    const bool reduction = i == kCells / 3 || i == 2 * kCells / 3;
    if (reduction) filters *= 2;
    const Fmap next = searched.Add(reduction ? kDartsReduction : kDartsNormal, prev, x,
                                   filters, reduction);
    prev = x;
    x = next;
  }
  return searched.Finish(x);
}

}  // namespace sluice::zoo
