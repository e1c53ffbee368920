// SPDX-License-Identifier: Apache-2.0
// ResNeXt-50, DenseNet-121, and the networks on a dilated ResNet-50: FCN, DeepLabV3.
#include "zoo/torch_layers.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

constexpr int32_t kImage = 224, kClasses = 1000;
constexpr int32_t kObjects = 21;  // classes of the segmentation networks

struct ResNetShape {
  int32_t groups = 1, group_width = 64;
  bool dilated = false;  // the last two stages dilate instead of striding
};

struct Block {
  int32_t planes, stride, dilation;
  bool project;  // the shortcut is a convolution
};

Fmap Bottleneck(Network* net, const std::string& name, const Fmap& in,
                const ResNetShape& shape, const Block& block) {
  const int32_t width = block.planes * shape.group_width / 64 * shape.groups;
  const int32_t channels = 4 * block.planes;
  const Fmap a = Conv(net, name + ".a", in, width, {}, true);
  const Kernel square = Square(3, block.stride, block.dilation);
  const Fmap b = Conv(net, name + ".b", a, width, Grouped(square, shape.groups), true);
  const Fmap c = Conv(net, name + ".c", b, channels, {}, false);
  const Fmap shortcut = block.project ? Conv(net, name + ".shortcut", in, channels,
                                             Square(1, block.stride), false)
                                      : in;
  return Add(net, name + ".add", shortcut, c, 0.5, true);
}

Fmap ResNet50(Network* net, const Fmap& image, const ResNetShape& shape) {
  Fmap x = Conv(net, "conv1", image, 64, Square(7, 2), true);
  x = MaxPool(net, "pool1", x, Square(3, 2));
  const int depth[4] = {3, 4, 6, 3};
  int32_t dilation = 1;
  for (int stage = 0; stage < 4; ++stage) {
    const bool dilate = shape.dilated && stage >= 2;
    const int32_t stride = stage == 0 || dilate ? 1 : 2;
    for (int i = 0; i < depth[stage]; ++i) {
      const std::string name =
          "stage" + std::to_string(stage + 1) + "." + std::to_string(i);
      // The first block of a stage has the dilation of the previous stage.
      const Block block = {64 << stage, i == 0 ? stride : 1, dilation, i == 0};
      x = Bottleneck(net, name, x, shape, block);
      if (i == 0 && dilate) dilation *= 2;
    }
  }
  return x;
}

Fmap Classifier(Network* net, const Fmap& x) {
  const Fmap pooled = GlobalAveragePool(net, "pool", x);
  const Fmap flat = Reshape(net, "flat", pooled, {x.dims[0], x.dims[3]});
  return FullyConnected(net, "classifier", flat, kClasses, false);
}

// Each layer reads the concatenation of the block's input and all earlier layers'
// outputs.
Fmap DenseBlock(Network* net, const std::string& name, const Fmap& in, int layers) {
  constexpr int32_t kGrowth = 32;
  std::vector<Fmap> features = {in};
  for (int i = 0; i < layers; ++i) {
    const std::string layer = name + "." + std::to_string(i);
    const Fmap all = i == 0 ? in : Concat(net, layer + ".concat", features);
    const Fmap norm = DepthwiseConv(net, layer + ".norm", all, {}, true);
    const Fmap narrow = Conv(net, layer + ".1x1", norm, 4 * kGrowth, {}, true);
    features.push_back(Conv(net, layer + ".3x3", narrow, kGrowth, Square(3), false));
  }
  return Concat(net, name + ".concat", features);
}

Fmap Input(Network* net, const ZooOptions& options) {
  return net->Input("image", {options.batch, kImage, kImage, 3});
}

}  // namespace

Bytes MakeResNext50(const ZooOptions& options) {
  Network net("resnext50_32x4d");
  ResNetShape shape;
  shape.groups = 32;
  shape.group_width = 4;
  return net.Finish(Classifier(&net, ResNet50(&net, Input(&net, options), shape)));
}

Bytes MakeDenseNet121(const ZooOptions& options) {
  Network net("densenet121");
  Fmap x = Conv(&net, "conv0", Input(&net, options), 64, Square(7, 2), true);
  x = MaxPool(&net, "pool0", x, Square(3, 2));
  const int depth[4] = {6, 12, 24, 16};
  for (int b = 0; b < 4; ++b) {
    const std::string number = std::to_string(b + 1);
    x = DenseBlock(&net, "block" + number, x, depth[b]);
    x = DepthwiseConv(&net, "norm" + number, x, {}, true);
    if (b == 3) break;
    x = Conv(&net, "transition" + number, x, x.dims[3] / 2, {}, false);
    x = AveragePool(&net, "pool" + number, x, {2, 2, 2, 2});
  }
  return net.Finish(Classifier(&net, x));
}

Bytes MakeFcnResNet50(const ZooOptions& options) {
  Network net("fcn_resnet50");
  ResNetShape shape;
  shape.dilated = true;
  Fmap x = ResNet50(&net, Input(&net, options), shape);
  x = Conv(&net, "head.3x3", x, 512, Square(3), true);
  x = Conv(&net, "head.1x1", x, kObjects, {}, false);
  return net.Finish(Resize(&net, "resize", x, kImage, kImage));
}

Bytes MakeDeepLabV3ResNet50(const ZooOptions& options) {
  Network net("deeplabv3_resnet50");
  ResNetShape shape;
  shape.dilated = true;
  const Fmap x = ResNet50(&net, Input(&net, options), shape);
  std::vector<Fmap> pyramid = {Conv(&net, "aspp.1x1", x, 256, {}, true)};
  for (const int32_t rate : {12, 24, 36}) {
    pyramid.push_back(Conv(&net, "aspp.rate" + std::to_string(rate), x, 256,
                           Square(3, 1, rate), true));
  }
  const Fmap pooled = GlobalAveragePool(&net, "aspp.pool", x);
  const Fmap context = Conv(&net, "aspp.context", pooled, 256, {}, true);
  pyramid.push_back(Resize(&net, "aspp.resize", context, x.dims[1], x.dims[2]));
  Fmap y = Concat(&net, "aspp.concat", pyramid);
  y = Conv(&net, "aspp.project", y, 256, {}, true);
  y = Conv(&net, "head.3x3", y, 256, Square(3), true);
  y = Conv(&net, "head.1x1", y, kObjects, {}, false);
  return net.Finish(Resize(&net, "resize", y, kImage, kImage));
}

}  // namespace sluice::zoo
