// SPDX-License-Identifier: Apache-2.0
// L-RASPP on MobileNetV3-Large whose last stage dilates instead of striding.
#include <algorithm>

#include "zoo/torch_layers.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

constexpr int32_t kImage = 224, kObjects = 21;

struct Row {
  int32_t kernel, expanded, out;
  bool squeeze, swish;
  int32_t stride, dilation;
};
constexpr Row kRows[] = {
    {3, 16, 16, false, false, 1, 1}, {3, 64, 24, false, false, 2, 1},
    {3, 72, 24, false, false, 1, 1}, {5, 72, 40, true, false, 2, 1},
    {5, 120, 40, true, false, 1, 1}, {5, 120, 40, true, false, 1, 1},
    {3, 240, 80, false, true, 2, 1}, {3, 200, 80, false, true, 1, 1},
    {3, 184, 80, false, true, 1, 1}, {3, 184, 80, false, true, 1, 1},
    {3, 480, 112, true, true, 1, 1}, {3, 672, 112, true, true, 1, 1},
    {5, 672, 160, true, true, 1, 2}, {5, 960, 160, true, true, 1, 2},
    {5, 960, 160, true, true, 1, 2},
};
constexpr size_t kLow = 3;  // the head also reads row 3's output, at 1/8 size

int32_t Squeezed(int32_t channels) {
  const int32_t quarter = channels / 4;
  const int32_t rounded = std::max(8, (quarter + 4) / 8 * 8);
  return 10 * rounded < 9 * quarter ? rounded + 8 : rounded;
}

// Convolution with its activation: ReLU inside it, hard swish behind it.
Fmap Activated(Network* net, const std::string& name, const Fmap& in, bool swish) {
  return swish ? Curve(net, name + ".swish", in, HardSwish) : in;
}

Fmap Inverted(Network* net, const std::string& name, const Fmap& in, const Row& row) {
  Fmap x = in;
  if (row.expanded != in.dims[3]) {
    x = Conv(net, name + ".expand", x, row.expanded, {}, !row.swish);
    x = Activated(net, name + ".expand", x, row.swish);
  }
  x = DepthwiseConv(net, name + ".depthwise", x,
                    Square(row.kernel, row.stride, row.dilation), !row.swish);
  x = Activated(net, name + ".depthwise", x, row.swish);
  if (row.squeeze) {
    Fmap s = GlobalAveragePool(net, name + ".squeeze", x);
    s = Conv(net, name + ".squeeze1", s, Squeezed(row.expanded), {}, true);
    s = Conv(net, name + ".squeeze2", s, row.expanded, {}, false);
    x = Gate(net, name + ".excite", x, Curve(net, name + ".sigmoid", s, HardSigmoid));
  }
  x = Conv(net, name + ".project", x, row.out, {}, false);
  const bool shortcut = row.stride == 1 && row.out == in.dims[3];
  return shortcut ? Add(net, name + ".add", in, x, 0.5, false) : x;
}

}  // namespace

Bytes MakeLraspp(const ZooOptions& options) {
  Network net("lraspp_mobilenet_v3_large");
  Fmap x = net.Input("image", {options.batch, kImage, kImage, 3});
  x = Conv(&net, "conv0", x, 16, Square(3, 2), false);
  x = Activated(&net, "conv0", x, true);
  Fmap low = {};
  for (size_t i = 0; i < std::size(kRows); ++i) {
    x = Inverted(&net, "block" + std::to_string(i + 1), x, kRows[i]);
    if (i == kLow) low = x;
  }
  x = Activated(&net, "last", Conv(&net, "last", x, 960, {}, false), true);
  Fmap y = Conv(&net, "head.branch", x, 128, {}, true);
  Fmap s = GlobalAveragePool(&net, "head.pool", x);
  s = Conv(&net, "head.scale", s, 128, {}, false);
  y = Gate(&net, "head.gate", y, Curve(&net, "head.sigmoid", s, Sigmoid));
  y = Resize(&net, "head.resize", y, low.dims[1], low.dims[2]);
  const Fmap from_low = Conv(&net, "head.low", low, kObjects, {}, false);
  const Fmap from_high = Conv(&net, "head.high", y, kObjects, {}, false);
  y = Add(&net, "head.add", from_low, from_high, 0.5, false);
  return net.Finish(Resize(&net, "resize", y, kImage, kImage));
}

}  // namespace sluice::zoo
