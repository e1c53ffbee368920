// SPDX-License-Identifier: Apache-2.0
// ResNet-50 and -101, MobileNet-v1 and VGG-16 for 224 x 224 images.
#include "zoo/network.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

constexpr int32_t kImage = 224;
constexpr int32_t kClasses = 1000;

// Convolutions 1x1 (with the stride), 3x3 and 1x1, and a shortcut around them.
Fmap Bottleneck(Network* net, const std::string& name, const Fmap& in, int32_t channels,
                int32_t stride, bool project) {
  const Fmap a = Convolution(net, name + ".a", in, channels, {1, stride}, true);
  const Fmap b = Convolution(net, name + ".b", a, channels, {3, 1}, true);
  const Fmap c = Convolution(net, name + ".c", b, 4 * channels, {1, 1}, false);
  const Fmap shortcut = project ? Convolution(net, name + ".shortcut", in, 4 * channels,
                                              {1, stride}, false)
                                : in;
  return Add(net, name + ".add", shortcut, c, 0.5, true);
}

Bytes MakeResNet(const char* name, const int (&depth)[4], const ZooOptions& options) {
  Network net(name);
  Fmap x = net.Input("image", {options.batch, kImage, kImage, 3});
  x = Convolution(&net, "conv1", x, 64, {7, 2}, true);
  x = PaddedMaxPool(&net, "pool1", x, {3, 2});
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < depth[stage]; ++i) {
      const std::string block =
          "stage" + std::to_string(stage + 2) + "." + std::to_string(i);
      x = Bottleneck(&net, block, x, 64 << stage, i == 0 && stage > 0 ? 2 : 1, i == 0);
    }
  }
  x = GlobalAveragePool(&net, "pool5", x);
  x = FullyConnected(&net, "fc", Reshape(&net, "flat", x, {options.batch, 2048}),
                     kClasses, false);
  return net.Finish(x);
}

}  // namespace

Bytes MakeResNet50(const ZooOptions& options) {
  return MakeResNet("resnet50", {3, 4, 6, 3}, options);
}

Bytes MakeResNet101(const ZooOptions& options) {
  return MakeResNet("resnet101", {3, 4, 23, 3}, options);
}

Bytes MakeMobileNetV1(const ZooOptions& options) {
  Network net("mobilenet_v1");
  Fmap x = net.Input("image", {options.batch, kImage, kImage, 3});
  x = Convolution(&net, "conv0", x, 32, {3, 2}, true);
  const struct {
    int32_t channels, stride;
  } pairs[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
               {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
  int number = 0;
  for (const auto& pair : pairs) {
    const std::string name = std::to_string(++number);
    x = Depthwise(&net, "depthwise" + name, x, {3, pair.stride}, true);
    x = Convolution(&net, "pointwise" + name, x, pair.channels, {1, 1}, true);
  }
  x = GlobalAveragePool(&net, "pool", x);
  x = FullyConnected(&net, "fc", Reshape(&net, "flat", x, {options.batch, 1024}),
                     kClasses, false);
  return net.Finish(x);
}

// Eight modules that squeeze their input into few channels, and make many of those by 1x1
// and by 3x3 filters side by side.
Bytes MakeSqueezeNet(const ZooOptions& options) {
  Network net("squeezenet");
  Fmap x = net.Input("image", {options.batch, kImage, kImage, 3});
  x = Convolution(&net, "conv1", x, 64, {3, 2, Padding::kValid}, true);
  const int32_t squeezed[8] = {16, 16, 32, 32, 48, 48, 64, 64};
  for (int i = 0; i < 8; ++i) {
    const std::string name = "fire" + std::to_string(i + 2);
    if (i == 0 || i == 2 || i == 4) {
      x = PaddedMaxPool(&net, name + ".pool", x, {3, 2, Padding::kValid});
    }
    const Fmap few = Convolution(&net, name + ".squeeze", x, squeezed[i], {1, 1}, true);
    const Fmap one =
        Convolution(&net, name + ".expand1x1", few, 4 * squeezed[i], {1, 1}, true);
    const Fmap three =
        Convolution(&net, name + ".expand3x3", few, 4 * squeezed[i], {3, 1}, true);
    x = Concat(&net, name, {one, three});
  }
  x = Convolution(&net, "conv10", x, kClasses, {1, 1}, true);
  return net.Finish(GlobalAveragePool(&net, "pool", x));
}

Bytes MakeVgg16(const ZooOptions& options) {
  Network net("vgg16");
  Fmap x = net.Input("image", {options.batch, kImage, kImage, 3});
  const int32_t channels[5] = {64, 128, 256, 512, 512};
  const int depth[5] = {2, 2, 3, 3, 3};
  for (int stage = 0; stage < 5; ++stage) {
    const std::string name = std::to_string(stage + 1);
    for (int i = 0; i < depth[stage]; ++i) {
      x = Convolution(&net, "conv" + name + "." + std::to_string(i), x, channels[stage],
                      {3, 1}, true);
    }
    x = PaddedMaxPool(&net, "pool" + name, x, {2, 2});
  }
  x = Reshape(&net, "flat", x, {options.batch, 7 * 7 * 512});
  x = FullyConnected(&net, "fc6", x, 4096, true);
  x = FullyConnected(&net, "fc7", x, 4096, true);
  return net.Finish(FullyConnected(&net, "fc8", x, kClasses, false));
}

}  // namespace sluice::zoo
