// SPDX-License-Identifier: Apache-2.0
// AlexNet (two towers), GoogLeNet, MLP-L and an LSTM step of GNMT (four cells), layer
// by layer as in KAPLA's evaluation. As there, GoogLeNet's pooling branch has its
// projection but no 3x3 pooling, and the LSTM's gates have no activation functions.
#include "zoo/torch_layers.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

constexpr int32_t kImage = 224, kClasses = 1000;

Fmap Flat(Network* net, const Fmap& x) {
  return Reshape(net, "flat", x, {x.dims[0], x.dims[1] * x.dims[2] * x.dims[3]});
}

// Channels of an inception module: 1x1, 3x3 and 5x5 filters side by side.
struct Inception {
  const char* name;
  int32_t one, three_reduce, three, five_reduce, five, projected;
};

Fmap AddInception(Network* net, const Inception& i, const Fmap& in) {
  const std::string name = std::string("inception_") + i.name;
  const auto conv = [&](const char* part, const Fmap& from, int32_t channels,
                        int32_t size) {
    return Convolution(net, name + "_" + part, from, channels, {size, 1}, true);
  };
  const Fmap one = conv("1x1", in, i.one, 1);
  const Fmap three_reduce = conv("3x3_reduce", in, i.three_reduce, 1);
  const Fmap three = conv("3x3", three_reduce, i.three, 3);
  const Fmap five_reduce = conv("5x5_reduce", in, i.five_reduce, 1);
  const Fmap five = conv("5x5", five_reduce, i.five, 5);
  const Fmap projected = conv("pool_proj", in, i.projected, 1);
  return Concat(net, name, {one, three, five, projected});
}

// Adds one LSTM cell; returns its new hidden state.
Fmap AddCell(Network* net, const std::string& name, const Fmap& x, const Fmap& hidden,
             const Fmap& state) {
  const Fmap both = Concat(net, name + "_in", {hidden, x});
  const auto gate = [&](const char* part) {
    return FullyConnected(net, name + part, both, hidden.dims[3], false);
  };
  const Fmap candidate = gate("_cand"), in = gate("_igate"), forget = gate("_fgate"),
             out = gate("_ogate");
  const Fmap kept = Gate(net, name + "_cout_f", state, forget);
  const Fmap added = Gate(net, name + "_cout_i", candidate, in);
  const Fmap sum = Add(net, name + "_cout", added, kept, 0.5, false);
  return Gate(net, name + "_hout", sum, out);
}

}  // namespace

Bytes MakeAlexNet(const ZooOptions& options) {
  Network net("alexnet");
  const Fmap image = net.Input("image", {options.batch, kImage, kImage, 3});
  const char* const towers[2] = {"_a", "_b"};
  Fmap x[2] = {image, image};
  const auto conv = [&](const char* name, int32_t channels, const Kernel& kernel) {
    for (int t = 0; t < 2; ++t) {
      x[t] = Conv(&net, std::string(name) + towers[t], x[t], channels, kernel, true);
    }
  };
  const auto pool = [&](const char* name) {
    for (int t = 0; t < 2; ++t) {
      x[t] = PaddedMaxPool(&net, std::string(name) + towers[t], x[t],
                           {3, 2, Padding::kValid});
    }
  };
  conv("conv1", 48, {11, 11, 4, 4, 2, 2});
  pool("pool1");
  conv("conv2", 128, Square(5));
  pool("pool2");
  x[0] = x[1] = Concat(&net, "towers", {x[0], x[1]});
  conv("conv3", 192, Square(3));
  conv("conv4", 192, Square(3));
  conv("conv5", 128, Square(3));
  pool("pool3");
  Fmap y = Flat(&net, Concat(&net, "pool3", {x[0], x[1]}));
  y = FullyConnected(&net, "fc1", y, 4096, true);
  y = FullyConnected(&net, "fc2", y, 4096, true);
  return net.Finish(FullyConnected(&net, "fc3", y, kClasses, false));
}

Bytes MakeGoogLeNet(const ZooOptions& options) {
  Network net("googlenet");
  Fmap x = net.Input("image", {options.batch, kImage, kImage, 3});
  x = Convolution(&net, "conv1", x, 64, {7, 2}, true);
  x = PaddedMaxPool(&net, "pool1", x, {3, 2});
  x = Convolution(&net, "conv2_3x3_reduce", x, 64, {1, 1}, true);
  x = Convolution(&net, "conv2_3x3", x, 192, {3, 1}, true);
  x = PaddedMaxPool(&net, "pool2", x, {3, 2});
  x = AddInception(&net, {"3a", 64, 96, 128, 16, 32, 32}, x);
  x = AddInception(&net, {"3b", 128, 128, 192, 32, 96, 64}, x);
  x = PaddedMaxPool(&net, "pool3", x, {3, 2});
  x = AddInception(&net, {"4a", 192, 96, 208, 16, 48, 64}, x);
  x = AddInception(&net, {"4b", 160, 112, 224, 24, 64, 64}, x);
  x = AddInception(&net, {"4c", 128, 128, 256, 24, 64, 64}, x);
  x = AddInception(&net, {"4d", 112, 144, 288, 32, 64, 64}, x);
  x = AddInception(&net, {"4e", 256, 160, 320, 32, 128, 128}, x);
  x = PaddedMaxPool(&net, "pool4", x, {3, 2});
  x = AddInception(&net, {"5a", 256, 160, 320, 32, 128, 128}, x);
  x = AddInception(&net, {"5b", 384, 192, 384, 48, 128, 128}, x);
  x = Flat(&net, GlobalAveragePool(&net, "pool5", x));
  return net.Finish(FullyConnected(&net, "fc", x, kClasses, false));
}

Bytes MakeMlpL(const ZooOptions& options) {
  Network net("mlp_l");
  Fmap x = net.Input("image", {options.batch, 784});
  x = FullyConnected(&net, "fc1", x, 1500, true);
  x = FullyConnected(&net, "fc2", x, 1000, true);
  x = FullyConnected(&net, "fc3", x, 500, true);
  return net.Finish(FullyConnected(&net, "fc4", x, 10, false));
}

Bytes MakeLstmGnmt(const ZooOptions& options) {
  constexpr int32_t kWidth = 1000;
  Network net("lstm_gnmt");
  const Dims dims = {options.batch, 1, 1, kWidth};
  Fmap x = net.Input("word", dims);
  for (int i = 0; i < 4; ++i) {
    const std::string name = "cell_l" + std::to_string(i);
    const Fmap hidden = net.Input(name + "_hinit", dims);
    const Fmap state = net.Input(name + "_cinit", dims);
    x = AddCell(&net, name, x, hidden, state);
  }
  return net.Finish(net.Layer("Wd", SLUICE_OP_REQUANTIZE, {x.tensor},
                              {0, 1 << 30, 1, 0, -128, 127}, x.dims, x.rms));
}

}  // namespace sluice::zoo
