// SPDX-License-Identifier: Apache-2.0
// ResNet-50 and -101, MobileNet-v1, SqueezeNet and VGG-16 against what was published of them.
#include <doctest/doctest.h>

#include "counts.h"

namespace sluice_test {
namespace {

// He et al., table 1: 3.8 and 7.6 billion MACs, the 1x1 convolution takes the stride.
TEST_CASE("convolutional: ResNet-50 and -101 have their blocks, weights and MACs") {
  const NetworkCounts small = CountsOf("resnet50");
  CHECK(small.convolutions == 1 + 3 * (3 + 4 + 6 + 3) + 4);
  CHECK(small.matrices == 1);
  CHECK(small.additions == 3 + 4 + 6 + 3);
  CheckNear(small.weights, 25.5e6, 0.001);
  CheckNear(small.macs, 3.8e9, 0.02);
  const NetworkCounts large = CountsOf("resnet101");
  CHECK(large.convolutions == 1 + 3 * (3 + 4 + 23 + 3) + 4);
  CHECK(large.additions == 3 + 4 + 23 + 3);
  CheckNear(large.weights, 44.5e6, 0.002);
  CheckNear(large.macs, 7.6e9, 0.005);
  // 17 more blocks of 1024, 256, 256, 1024 channels at 14 x 14.
  const int64_t block = 2 * 1024 * 256 + 9 * 256 * 256;
  CHECK(large.weights - small.weights == 17 * block);
  CHECK(large.macs - small.macs == 17 * block * 14 * 14);
}

// Howard et al., table 4: 569 million multiply-adds, 4.2 million parameters.
TEST_CASE("convolutional: MobileNet-v1 has 13 pairs, 569 million MACs") {
  const NetworkCounts c = CountsOf("mobilenet_v1");
  CHECK(c.depthwise == 13);
  CHECK(c.convolutions == 1 + 2 * 13);
  CHECK(c.matrices == 1);
  CHECK(c.macs == 568740352);
  CHECK(c.weights == 4209088);
}

// SqueezeNet 1.1 of Iandola et al.: 1,235,496 parameters, of which 3,944 are biases; 2.4
// times fewer MACs than the 837 million of version 1.0.
TEST_CASE("convolutional: SqueezeNet has eight modules and 1,231,552 weights") {
  const NetworkCounts c = CountsOf("squeezenet");
  CHECK(c.convolutions == 2 + 3 * 8);
  CHECK(c.matrices == 0);
  CHECK(c.weights == 1235496 - 3944);
  CheckNear(c.macs, 837e6 / 2.4, 0.01);
}

// Simonyan and Zisserman: 138,357,544 parameters, of which 13,416 are biases.
TEST_CASE("convolutional: VGG-16 has 13 convolutions and 138,344,128 weights") {
  const NetworkCounts c = CountsOf("vgg16");
  CHECK(c.convolutions == 13);
  CHECK(c.pools == 5);
  CHECK(c.matrices == 3);
  CHECK(c.weights == 138357544 - 13416);
  CHECK(c.macs == 15470264320);
}

}  // namespace
}  // namespace sluice_test
