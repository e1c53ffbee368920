// SPDX-License-Identifier: Apache-2.0
// R(2+1)D-18 and S3D for 16 frames of 224 x 224. Frames take the batch axis. Layers
// along time read [1, frames, height * width, channels], a view of the same bytes.
#include "import/error.h"
#include "zoo/torch_layers.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

constexpr int32_t kFrames = 16, kImage = 224, kActions = 400;

Fmap Input(Network* net, const ZooOptions& options) {
  if (options.batch != 1) {
    throw import::Error(import::Fault::kBadArgument,
                        "video networks take one clip: the batch must be 1");
  }
  return net->Input("clip", {kFrames, kImage, kImage, 3});
}

// Applies f to the view with frames as rows; the result has height and width again.
template <typename F>
Fmap AlongTime(Network* net, const std::string& name, const Fmap& in, F f) {
  const Dims& d = in.dims;
  const Fmap y = f(Reshape(net, name + ".time", in, {1, d[0], d[1] * d[2], d[3]}));
  return Reshape(net, name + ".frames", y, {y.dims[1], d[1], d[2], y.dims[3]});
}

// A window along time.
struct Frames {
  int32_t size, stride;
};

Fmap TimeConv(Network* net, const std::string& name, const Fmap& in, int32_t channels,
              const Frames& f, bool relu) {
  return AlongTime(net, name, in, [&](const Fmap& x) {
    return Conv(net, name, x, channels, {f.size, 1, f.stride, 1, f.size / 2, 0}, relu);
  });
}

// ---- R(2+1)D

struct Widths {
  int32_t middle, out;  // channels after the spatial and the temporal convolution
};

Fmap Conv2Plus1(Network* net, const std::string& name, const Fmap& in,
                const Widths& widths, int32_t stride, bool relu) {
  const Fmap x = Conv(net, name + ".space", in, widths.middle, Square(3, stride), true);
  return TimeConv(net, name + ".time", x, widths.out, {3, stride}, relu);
}

// A convolution of 1x1x1 with stride 2, along time too. A view puts the two frames of a
// pair above each other, so that a stride over rows takes the first frame.
Fmap Shortcut(Network* net, const std::string& name, const Fmap& in, int32_t channels) {
  const Dims& d = in.dims;
  const Fmap pairs =
      Reshape(net, name + ".pairs", in, {d[0] / 2, 2 * d[1], d[2], d[3]});
  const Fmap even =
      Slice(net, name + ".even", pairs, {0, 0, 0, 0}, {d[0] / 2, d[1], d[2], d[3]});
  return Conv(net, name, even, channels, Square(1, 2), false);
}

// ---- S3D

Fmap SeparableConv(Network* net, const std::string& name, const Fmap& in,
                   int32_t channels, int32_t size, int32_t stride) {
  const Fmap x = Conv(net, name + ".space", in, channels, Square(size, stride), true);
  return TimeConv(net, name + ".time", x, channels, {size, stride}, true);
}

// A 3-D max pool: the maximum over each square, then over time.
Fmap CubePool(Network* net, const std::string& name, const Fmap& in,
              const Kernel& square) {
  const Fmap x = MaxPool(net, name + ".space", in, square);
  return AlongTime(net, name + ".time", x, [&](const Fmap& y) {
    return MaxPool(net, name + ".time", y,
                   {square.h, 1, square.stride_h, 1, square.pad_h, 0});
  });
}

Fmap Inception(Network* net, const std::string& name, const Fmap& in,
               const int32_t (&c)[6]) {
  const Fmap a = Conv(net, name + ".0", in, c[0], {}, true);
  const Fmap b = Conv(net, name + ".1.1x1", in, c[1], {}, true);
  const Fmap b2 = SeparableConv(net, name + ".1", b, c[2], 3, 1);
  const Fmap d = Conv(net, name + ".2.1x1", in, c[3], {}, true);
  const Fmap d2 = SeparableConv(net, name + ".2", d, c[4], 3, 1);
  const Fmap p = CubePool(net, name + ".3.pool", in, Square(3));
  const Fmap e = Conv(net, name + ".3", p, c[5], {}, true);
  return Concat(net, name + ".concat", {a, b2, d2, e});
}

Fmap Classifier(Network* net, const Fmap& x) {
  const Dims& d = x.dims;
  const Fmap cube = Reshape(net, "cube", x, {1, d[0] * d[1], d[2], d[3]});
  const Fmap pooled = GlobalAveragePool(net, "pool", cube);
  const Fmap flat = Reshape(net, "flat", pooled, {1, d[3]});
  return FullyConnected(net, "classifier", flat, kActions, false);
}

}  // namespace

Bytes MakeR2Plus1D18(const ZooOptions& options) {
  Network net("r2plus1d_18");
  Fmap x = Conv(&net, "stem.space", Input(&net, options), 45, Square(7, 2), true);
  x = TimeConv(&net, "stem.time", x, 64, {3, 1}, true);
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < 2; ++i) {
      const std::string name =
          "stage" + std::to_string(stage + 1) + "." + std::to_string(i);
      const bool shrink = stage > 0 && i == 0;
      const int32_t planes = 64 << stage;
      // So wide that the two convolutions have as many weights as one of 3x3x3. Both pairs
      // of a block have the width of the first, as in the published network.
      const int32_t c = x.dims[3];
      const Widths widths = {c * planes * 27 / (c * 9 + 3 * planes), planes};
      const Fmap a = Conv2Plus1(&net, name + ".a", x, widths, shrink ? 2 : 1, true);
      const Fmap b = Conv2Plus1(&net, name + ".b", a, widths, 1, false);
      const Fmap s = shrink ? Shortcut(&net, name + ".shortcut", x, planes) : x;
      x = Add(&net, name + ".add", s, b, 0.5, true);
    }
  }
  return net.Finish(Classifier(&net, x));
}

Bytes MakeS3d(const ZooOptions& options) {
  Network net("s3d");
  constexpr int32_t kBlocks[9][6] = {
      {64, 96, 128, 16, 32, 32},     {128, 128, 192, 32, 96, 64},
      {192, 96, 208, 16, 48, 64},    {160, 112, 224, 24, 64, 64},
      {128, 128, 256, 24, 64, 64},   {112, 144, 288, 32, 64, 64},
      {256, 160, 320, 32, 128, 128}, {256, 160, 320, 32, 128, 128},
      {384, 192, 384, 48, 128, 128}};
  Fmap x = SeparableConv(&net, "conv1", Input(&net, options), 64, 7, 2);
  x = MaxPool(&net, "pool1", x, Square(3, 2));
  x = Conv(&net, "conv2", x, 64, {}, true);
  x = SeparableConv(&net, "conv3", x, 192, 3, 1);
  x = MaxPool(&net, "pool3", x, Square(3, 2));
  for (int i = 0; i < 9; ++i) {
    if (i == 2) x = CubePool(&net, "pool4", x, Square(3, 2));
    if (i == 7) x = CubePool(&net, "pool5", x, {2, 2, 2, 2});
    x = Inception(&net, "mixed" + std::to_string(i), x, kBlocks[i]);
  }
  return net.Finish(Classifier(&net, x));
}

}  // namespace sluice::zoo
