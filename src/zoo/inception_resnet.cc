// SPDX-License-Identifier: Apache-2.0
// Inception-ResNet v1 for 299 x 299 images: stem, 5 A, 10 B and 5 C blocks with a
// reduction between them, global pool, classes. Dropout does nothing in inference.
#include "zoo/network.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

constexpr Window kOne = {1, 1};
constexpr Window kThree = {3, 1};
constexpr Window kReduce = {3, 2, Padding::kValid};

class InceptionResNet {
 public:
  explicit InceptionResNet(const ZooOptions& options)
      : net_("inception_resnet_v1"), batch_(options.batch) {}

  Bytes Make() {
    Fmap x = Stem();
    for (int i = 1; i <= 5; ++i) x = BlockA("a" + std::to_string(i), x);
    x = ReduceA("reduce_a", x);
    for (int i = 1; i <= 10; ++i) {
      x = SeparableBlock("b" + std::to_string(i), x, 128, 7);
    }
    x = ReduceB("reduce_b", x);
    for (int i = 1; i <= 5; ++i) {
      x = SeparableBlock("c" + std::to_string(i), x, 192, 3);
    }
    x = GlobalAveragePool(&net_, "pool", x);
    return net_.Finish(FullyConnected(
        &net_, "fc", Reshape(&net_, "flat", x, {batch_, x.dims[3]}), 1000, false));
  }

 private:
  Fmap Conv(const std::string& name, const Fmap& in, int32_t channels, Window w) {
    return Convolution(&net_, name, in, channels, w, true);
  }

  Fmap Stem() {
    Fmap x = net_.Input("image", {batch_, 299, 299, 3});
    x = Conv("stem.1", x, 32, kReduce);
    x = Conv("stem.2", x, 32, {3, 1, Padding::kValid});
    x = Conv("stem.3", x, 64, kThree);
    x = PaddedMaxPool(&net_, "stem.pool", x, kReduce);
    x = Conv("stem.4", x, 80, kOne);
    x = Conv("stem.5", x, 192, {3, 1, Padding::kValid});
    return Conv("stem.6", x, 256, kReduce);
  }

  // The branches' channels, projected back and added.
  Fmap Residual(const std::string& name, const Fmap& x,
                const std::vector<Fmap>& branches) {
    const Fmap joined = Concat(&net_, name + ".concat", branches);
    const Fmap up = Convolution(&net_, name + ".up", joined, x.dims[3], kOne, false);
    return Add(&net_, name + ".add", x, up, 0.5, true);
  }

  Fmap BlockA(const std::string& name, const Fmap& x) {
    const Fmap one = Conv(name + ".1", x, 32, kOne);
    const Fmap two = Conv(name + ".2b", Conv(name + ".2a", x, 32, kOne), 32, kThree);
    const Fmap three = Conv(name + ".3b", Conv(name + ".3a", x, 32, kOne), 32, kThree);
    return Residual(name, x, {one, two, Conv(name + ".3c", three, 32, kThree)});
  }

  Fmap SeparableBlock(const std::string& name, const Fmap& x, int32_t channels,
                      int32_t size) {
    const Fmap one = Conv(name + ".1", x, channels, kOne);
    Fmap two = Conv(name + ".2a", x, channels, kOne);
    two = Conv(name + ".2b", two, channels, {1, 1, Padding::kSame, size});
    two = Conv(name + ".2c", two, channels, {size, 1, Padding::kSame, 1});
    return Residual(name, x, {one, two});
  }

  Fmap ReduceA(const std::string& name, const Fmap& x) {
    const Fmap pool = PaddedMaxPool(&net_, name + ".pool", x, kReduce);
    const Fmap one = Conv(name + ".1", x, 384, kReduce);
    const Fmap two = Conv(name + ".2b", Conv(name + ".2a", x, 192, kOne), 192, kThree);
    return Concat(&net_, name + ".concat",
                  {pool, one, Conv(name + ".2c", two, 256, kReduce)});
  }

  Fmap ReduceB(const std::string& name, const Fmap& x) {
    const Fmap pool = PaddedMaxPool(&net_, name + ".pool", x, kReduce);
    const Fmap one = Conv(name + ".1b", Conv(name + ".1a", x, 256, kOne), 384, kReduce);
    const Fmap two = Conv(name + ".2b", Conv(name + ".2a", x, 256, kOne), 256, kReduce);
    const Fmap three =
        Conv(name + ".3b", Conv(name + ".3a", x, 256, kOne), 256, kThree);
    return Concat(&net_, name + ".concat",
                  {pool, one, two, Conv(name + ".3c", three, 256, kReduce)});
  }

  Network net_;
  int32_t batch_;
};

}  // namespace

Bytes MakeInceptionResNetV1(const ZooOptions& options) {
  return InceptionResNet(options).Make();
}

}  // namespace sluice::zoo
