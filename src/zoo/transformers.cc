// SPDX-License-Identifier: Apache-2.0
// The original Transformer (base), encoder and decoder, and ViT-B/16.
#include "import/error.h"
#include "zoo/torch_layers.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

constexpr int32_t kWidth = 512, kHidden = 2048, kHeads = 8, kLayers = 6;
constexpr int32_t kSource = 10, kTarget = 20, kSentences = 32;

// Adds `change` to x, then normalises (post-norm).
Fmap AddNorm(Network* net, const std::string& name, const Fmap& x, const Fmap& change) {
  return LayerNorm(net, name + ".norm", Add(net, name + ".add", x, change, 0.5, false));
}

Fmap Sublayer(Network* net, const std::string& name, const Fmap& x,
              const Fmap& memory) {
  return AddNorm(net, name, x, Attention(net, name, x, memory, kHeads));
}

Fmap FeedForward(Network* net, const std::string& name, const Fmap& x) {
  const Fmap h = FullyConnected(net, name + ".up", x, kHidden, true);
  return AddNorm(net, name, x, FullyConnected(net, name + ".down", h, kWidth, false));
}

int32_t BlocksOf(const ZooOptions& options, int32_t all) {
  if (options.blocks < 0 || options.blocks > all) {
    throw import::Error(import::Fault::kBadArgument,
                        "the network has " + std::to_string(all) + " blocks");
  }
  return options.blocks == 0 ? all : options.blocks;
}

}  // namespace

Bytes MakeTransformer(const ZooOptions& options) {
  Network net("transformer");
  const int32_t batch = kSentences * options.batch;
  Fmap memory = net.Input("source", {batch, 1, kSource, kWidth});
  Fmap x = net.Input("target", {batch, 1, kTarget, kWidth});
  const int32_t layers = BlocksOf(options, kLayers);
  for (int32_t i = 0; i < layers; ++i) {
    const std::string name = "encoder" + std::to_string(i);
    memory = Sublayer(&net, name + ".self", memory, memory);
    memory = FeedForward(&net, name + ".feed", memory);
  }
  memory = LayerNorm(&net, "encoder.norm", memory);
  for (int32_t i = 0; i < layers; ++i) {
    const std::string name = "decoder" + std::to_string(i);
    x = Sublayer(&net, name + ".self", x, x);
    x = Sublayer(&net, name + ".cross", x, memory);
    x = FeedForward(&net, name + ".feed", x);
  }
  return net.Finish(LayerNorm(&net, "decoder.norm", x));
}

Bytes MakeVitB16(const ZooOptions& options) {
  Network net("vit_b_16");
  constexpr int32_t kPatch = 16, kSide = 14, kTokens = kSide * kSide, kDim = 768;
  const int32_t batch = options.batch;
  Fmap x = net.Input("image", {batch, 224, 224, 3});
  x = Conv(&net, "patches", x, kDim, {kPatch, kPatch, kPatch, kPatch}, false);
  x = Reshape(&net, "tokens", x, {batch, 1, kTokens, kDim});
  const Dims one = {batch, 1, 1, kDim};
  const Fmap token = {net.Weight("class.token", one), one, Network::kWeightSpread};
  const Dims table = {1, 1, kTokens + 1, kDim};
  x = net.Layer("with.class", SLUICE_OP_CONCAT, {token.tensor, x.tensor}, {2},
                {batch, 1, kTokens + 1, kDim}, x.rms);
  const Fmap positions = {net.Weight("positions", table), table,
                          Network::kWeightSpread};
  x = Add(&net, "embedding", x, positions, 0.5, false);
  const int32_t blocks = BlocksOf(options, 12);
  for (int32_t i = 0; i < blocks; ++i) {
    const std::string name = "block" + std::to_string(i);
    Fmap h = LayerNorm(&net, name + ".norm1", x);
    h = Attention(&net, name + ".attention", h, h, 12);
    x = Add(&net, name + ".add1", x, h, 0.75, false);
    h = LayerNorm(&net, name + ".norm2", x);
    h = FullyConnected(&net, name + ".up", h, 4 * kDim, false);
    h = Curve(&net, name + ".gelu", h, Gelu);
    h = FullyConnected(&net, name + ".down", h, kDim, false);
    x = Add(&net, name + ".add2", x, h, 0.75, false);
  }
  x = LayerNorm(&net, "norm", x);
  x = Slice(&net, "class", x, {0, 0, 0, 0}, {batch, 1, 1, kDim});
  return net.Finish(FullyConnected(&net, "head", x, 1000, false));
}

}  // namespace sluice::zoo
