// SPDX-License-Identifier: Apache-2.0
#include "zoo/network.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace sluice::zoo {
namespace {

TEST_CASE("network: windows are padded as TensorFlow pads them, or not at all") {
  Network net("windows");
  const Fmap image = net.Input("image", {2, 224, 224, 3});
  const Fmap same = Convolution(&net, "same", image, 8, {3, 2}, true);
  CHECK(same.dims == Dims{2, 112, 112, 8});
  CHECK(same.rms == doctest::Approx(Network::kSpread / std::sqrt(2.0)));
  const auto& layer = net.writer().layers().back();
  CHECK(layer.attributes[SLUICE_CONV_PAD_TOP] == 0);
  CHECK(layer.attributes[SLUICE_CONV_PAD_BOTTOM] == 1);
  CHECK(layer.attributes[SLUICE_CONV_ACT_MIN] == 0);
  const Fmap valid =
      Convolution(&net, "valid", image, 8, {3, 2, Padding::kValid}, false);
  CHECK(valid.dims == Dims{2, 111, 111, 8});
  const Fmap depthwise = Depthwise(&net, "depthwise", same, {5, 1}, false);
  CHECK(depthwise.dims == same.dims);
  const uint32_t weight = net.writer().layers().back().inputs[1];
  CHECK(net.writer().tensors()[weight].dims == Dims{1, 5, 5, 8});
}

TEST_CASE("network: a product says what is transposed, and its factor") {
  Network net("product");
  const Fmap a = net.Input("a", {1, 2, 3, 8}), b = net.Input("b", {1, 2, 5, 8});
  const Fmap y = Matmul(&net, "y", {a, b, true, -128, 0.25}, {1, 2, 3, 5}, 20);
  CHECK(y.dims == Dims{1, 2, 3, 5});
  CHECK(y.rms == 20);
  const auto& layer = net.writer().layers().back();
  CHECK(layer.inputs == std::vector<uint32_t>{a.tensor, b.tensor});
  CHECK(layer.attributes[SLUICE_MATMUL_TRANSPOSE_B] == 1);
  CHECK(layer.attributes[SLUICE_MATMUL_A_ZERO] == -128);
  CHECK(layer.attributes[SLUICE_MATMUL_B_ZERO] == 0);
  CHECK(layer.attributes[SLUICE_MATMUL_MULTIPLIER] == 1 << 30);
  CHECK(layer.attributes[SLUICE_MATMUL_SHIFT] == -1);
}

TEST_CASE("network: equal parameters are one tensor, weights are seeded by name") {
  Network net("shared");
  CHECK(net.Parameters(8, 0.5, 4, 0) == net.Parameters(8, 0.5, 4, 0));
  CHECK(net.Parameters(8, 0.5, 4, 0) != net.Parameters(8, 0.25, 4, 0));
  const uint32_t a = net.Weight("a", {4}), b = net.Weight("b", {4});
  const auto& tensors = net.writer().tensors();
  CHECK(tensors[a].source_offset != tensors[b].source_offset);
}

int32_t Last(Network* net, int attribute) {
  return net->writer().layers().back().attributes[static_cast<size_t>(attribute)];
}

TEST_CASE("network: same padding gives ceil(in / stride), the odd pad behind") {
  Network net("n");
  const Fmap x = net.Input("x", {1, 7, 10, 3});
  const Fmap y = Convolution(&net, "y", x, 5, {3, 2}, true);
  CHECK(y.dims == Dims{1, 4, 5, 5});
  // 7 rows: (4 - 1) * 2 + 3 - 7 = 2 pads; 10 columns: (5 - 1) * 2 + 3 - 10 = 1.
  CHECK(Last(&net, SLUICE_CONV_PAD_TOP) == 1);
  CHECK(Last(&net, SLUICE_CONV_PAD_BOTTOM) == 1);
  CHECK(Last(&net, SLUICE_CONV_PAD_LEFT) == 0);
  CHECK(Last(&net, SLUICE_CONV_PAD_RIGHT) == 1);
  CHECK(PaddedMaxPool(&net, "p", x, {2, 2}).dims == Dims{1, 4, 5, 3});
  CHECK(GlobalAveragePool(&net, "g", x).dims == Dims{1, 1, 1, 3});
}

TEST_CASE("network: a ReLU takes half of the mean square") {
  Network net("n");
  const Fmap x = net.Input("x", {1, 4, 4, 8});
  CHECK(x.rms == 74);
  CHECK(Convolution(&net, "a", x, 8, {1, 1}, false).rms == 32);
  CHECK(Convolution(&net, "b", x, 8, {1, 1}, true).rms ==
        doctest::Approx(32 / std::sqrt(2.0)));
  CHECK(PaddedMaxPool(&net, "c", x, {2, 2}).rms == doctest::Approx(1.4 * 74));
}

TEST_CASE("network: a concat weighs the spreads of its parts by their channels") {
  Network net("n");
  Fmap a = net.Input("a", {1, 2, 2, 3}), b = net.Input("b", {1, 2, 2, 1});
  a.rms = 10;
  b.rms = 30;
  const Fmap both = Concat(&net, "c", {a, b});
  CHECK(both.dims == Dims{1, 2, 2, 4});
  CHECK(both.rms == doctest::Approx(std::sqrt((3 * 100 + 900) / 4.0)));
  CHECK(net.writer().layers().back().attributes == std::vector<int32_t>{3});
}

TEST_CASE("network: a sum broadcasts, and tells whether it can be negative") {
  Network net("n");
  const Fmap a = net.Input("a", {2, 3, 3, 4}), b = net.Input("b", {1, 1, 1, 4});
  const Fmap plain = Add(&net, "plain", a, b, 0.5, false);
  CHECK(plain.dims == Dims{2, 3, 3, 4});
  CHECK(!plain.positive);
  CHECK(plain.rms == 32);
  // Equal shares of equal spreads: both operands have the multiplier 1/2.
  CHECK(Last(&net, SLUICE_BINARY_MULTIPLIER0) == 1 << 30);
  CHECK(Last(&net, SLUICE_BINARY_MULTIPLIER1) == 1 << 30);
  const Fmap cut = Add(&net, "cut", a, b, 0.5, true);
  CHECK(cut.positive);
  CHECK(Add(&net, "again", cut, b, 0.5, true).rms == doctest::Approx(0.93 * 32));
}

TEST_CASE("network: the last layer's output is the graph's") {
  Network net("n");
  const Fmap x = net.Input("x", {1, 8});
  const Fmap y = FullyConnected(&net, "y", x, 4, false);
  CHECK(y.dims == Dims{1, 4});
  CHECK(net.writer().tensors()[y.tensor].kind == Kind::kIntermediate);
  net.Finish(y);
  CHECK(net.writer().tensors()[y.tensor].kind == Kind::kOutput);
}

}  // namespace
}  // namespace sluice::zoo
