// SPDX-License-Identifier: Apache-2.0
// GPT-2 small (12 blocks of 12 heads) and XL (48 of 25): embeddings, blocks, final norm
// and the tied head.
//
// Prefill takes `seq` tokens from an empty cache and answers the logits of the last
// one; decode takes one token at parameter "position", its position index and a mask
// that is 1 up to that position. Both append their keys and values to the same state
// tensors, so with equal `context` a decode continues from the state that a prefill
// leaves.
#include <algorithm>
#include <cmath>

#include "import/error.h"
#include "import/quantisation.h"
#include "zoo/network.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

constexpr int32_t kHead = 64;  // channels of a head
constexpr int32_t kVocabulary = 50257, kPositions = 1024;
constexpr uint8_t kInt8 = SLUICE_DTYPE_INT8;
// Steps of attention logits that stand for 1.
constexpr double kLogitSteps = Network::kSpread;

struct Size {
  const char* name;
  int32_t blocks, heads, width;
  int32_t prompt;  // default number of tokens of a prefill
};
constexpr Size kSmall = {"gpt2_small", 12, 12, 768, 512};
constexpr Size kXl = {"gpt2_xl", 48, 25, 1600, 1024};

class Gpt2 {
 public:
  Gpt2(const std::string& name, const Size& size, const ZooOptions& options,
       bool decode)
      : net_(name),
        decode_(decode),
        batch_(options.batch),
        tokens_(decode ? 1 : options.seq),
        context_(options.context),
        blocks_(options.blocks),
        heads_(size.heads),
        width_(size.width) {}

  Bytes Make() {
    const int32_t last = decode_ ? context_ - 1 : 0;
    position_ = net_.writer().AddParameter("position", 0, last);
    const uint32_t table = net_.Weight("token.embedding", {kVocabulary, width_});
    Fmap x = Embed(table);
    mask_ = Mask();
    for (int32_t b = 0; b < blocks_; ++b) x = Block("block" + std::to_string(b), x);
    x = LayerNorm(&net_, "final.norm", x);
    if (!decode_) {
      x = net_.Layer("last.token", SLUICE_OP_SLICE, {x.tensor}, {0, 0, tokens_ - 1, 0},
                     {batch_, 1, 1, width_}, x.rms);
    }
    return net_.Finish(FullyConnectedBy(&net_, "logits", x, kVocabulary, table, false));
  }

 private:
  Fmap Embed(uint32_t table) {
    GraphWriter& writer = net_.writer();
    const uint32_t tokens =
        writer.AddTensor("tokens", SLUICE_DTYPE_INT32, Kind::kInput, {batch_, tokens_});
    const Fmap token = net_.Layer("token", SLUICE_OP_GATHER, {table, tokens}, {},
                                  {batch_, 1, tokens_, width_}, Network::kWeightSpread);
    const uint32_t positions = net_.Weight("position.embedding", {kPositions, width_});
    Fmap position = {};
    if (decode_) {
      const uint32_t index =
          writer.AddTensor("position.index", SLUICE_DTYPE_INT32, Kind::kInput, {1});
      position = net_.Layer("position", SLUICE_OP_GATHER, {positions, index}, {},
                            {1, 1, 1, width_}, Network::kWeightSpread);
    } else {
      position = net_.Layer("position", SLUICE_OP_SLICE, {positions}, {},
                            {tokens_, width_}, Network::kWeightSpread);
    }
    return Add(&net_, "embedding", token, position, 0.5, false);
  }

  // The causal mask: 1 for the query's own and all earlier positions.
  uint32_t Mask() {
    if (decode_) {
      return net_.writer().AddTensor("mask", SLUICE_DTYPE_UINT8, Kind::kInput,
                                     {1, 1, 1, context_});
    }
    std::vector<uint8_t> mask;
    for (int32_t row = 0; row < tokens_; ++row) {
      for (int32_t column = 0; column < tokens_; ++column) {
        mask.push_back(column <= row ? 1 : 0);
      }
    }
    return net_.writer().AddConstant(
        "mask", SLUICE_DTYPE_UINT8, {1, 1, tokens_, tokens_}, mask.data(), mask.size());
  }

  // [B,1,S,width] -> [B,heads,S,64]; one token needs no transposition.
  Fmap ByHead(const std::string& name, const Fmap& x) {
    const Dims by_head = {batch_, heads_, tokens_, kHead};
    if (tokens_ == 1) return Reshape(&net_, name + ".heads", x, by_head);
    const Fmap rows =
        Reshape(&net_, name + ".rows", x, {batch_, tokens_, heads_, kHead});
    return net_.Layer(name + ".heads", SLUICE_OP_TRANSPOSE, {rows.tensor}, {0, 2, 1, 3},
                      by_head, x.rms);
  }
  Fmap ByToken(const std::string& name, const Fmap& x) {
    const Dims whole = {batch_, 1, tokens_, width_};
    if (tokens_ == 1) return Reshape(&net_, name + ".whole", x, whole);
    const Fmap rows = net_.Layer(name + ".rows", SLUICE_OP_TRANSPOSE, {x.tensor},
                                 {0, 2, 1, 3}, {batch_, tokens_, heads_, kHead}, x.rms);
    return Reshape(&net_, name + ".whole", rows, whole);
  }

  // Appends rows to the cache. Returns what attention reads: the cache or, in a
  // prefill, which starts from an empty cache, the new rows alone.
  Fmap Cached(const std::string& name, const Fmap& rows) {
    GraphWriter& writer = net_.writer();
    const Dims dims = {batch_, heads_, context_, kHead};
    const uint32_t cache = writer.AddTensor(name + ".cache", kInt8, Kind::kState, dims);
    writer.AddLayer(name + ".append", SLUICE_OP_STATE_APPEND, {cache, rows.tensor},
                    {cache}, {2, static_cast<int32_t>(position_)});
    return decode_ ? Fmap{cache, dims, rows.rms} : rows;
  }

  Fmap Softmax(const std::string& name, const Fmap& scores) {
    const Factor factor = QuantiseFactor((1 << 26) / kLogitSteps);
    const double radius =
        31.0 * (1 << 26) / static_cast<double>(int64_t{1} << factor.shift);
    return net_.Layer(
        name, SLUICE_OP_SOFTMAX, {scores.tensor, mask_},
        {factor.multiplier, factor.shift, -static_cast<int32_t>(std::floor(radius))},
        scores.dims, 1);
  }

  Fmap Attention(const std::string& name, const Fmap& x) {
    const Fmap q =
        ByHead(name + ".q", FullyConnected(&net_, name + ".q", x, width_, false));
    const Fmap k = Cached(
        name + ".k",
        ByHead(name + ".k", FullyConnected(&net_, name + ".k", x, width_, false)));
    const Fmap v = Cached(
        name + ".v",
        ByHead(name + ".v", FullyConnected(&net_, name + ".v", x, width_, false)));
    const double spread = std::sqrt(1.0 * kHead) * q.rms * k.rms;
    const Product logits = {q, k, true, 0, kLogitSteps / spread};
    const Fmap scores = Matmul(&net_, name + ".scores", logits,
                               {batch_, heads_, tokens_, k.dims[2]}, kLogitSteps);
    const Fmap p = Softmax(name + ".softmax", scores);
    // Probabilities are in 1/256; an average over tokens is narrower than the values.
    const Fmap mixed = Matmul(&net_, name + ".mix", {p, v, false, -128, 2.0 / 256},
                              {batch_, heads_, tokens_, kHead}, v.rms * 0.6);
    return FullyConnected(&net_, name + ".out", ByToken(name + ".mix", mixed), width_,
                          false);
  }

  Fmap Gelu(const std::string& name, const Fmap& x) {
    const Affine affine = {static_cast<float>(2 / Network::kSpread), 0};
    const std::vector<uint8_t> table = LookupTable(
        kInt8, affine, kInt8, affine,
        [](float real) { return real * 0.5f * (1 + std::erf(real * 0.70710678f)); });
    if (gelu_ == kNoTensor) {
      gelu_ =
          net_.writer().AddConstant("gelu", kInt8, {256}, table.data(), table.size());
    }
    return net_.Layer(name, SLUICE_OP_LOOKUP, {x.tensor, gelu_}, {}, x.dims,
                      x.rms / std::sqrt(2.0));
  }

  Fmap Block(const std::string& name, const Fmap& x) {
    const Fmap attention = Attention(name, LayerNorm(&net_, name + ".norm1", x));
    const Fmap y = Add(&net_, name + ".add1", x, attention, 0.75, false);
    Fmap h = LayerNorm(&net_, name + ".norm2", y);
    h = FullyConnected(&net_, name + ".up", h, 4 * width_, false);
    h = FullyConnected(&net_, name + ".down", Gelu(name + ".gelu", h), width_, false);
    return Add(&net_, name + ".add2", y, h, 0.75, false);
  }

  Network net_;
  bool decode_;
  int32_t batch_, tokens_, context_, blocks_, heads_, width_;
  uint32_t position_ = 0;
  uint32_t mask_ = kNoTensor, gelu_ = kNoTensor;
};

Bytes Make(const Size& size, ZooOptions options, bool decode) {
  const std::string name = size.name;
  if (options.context == 0) options.context = kPositions;
  if (options.seq == 0) options.seq = std::min(size.prompt, options.context);
  if (options.blocks == 0) options.blocks = size.blocks;
  if (options.context < 1 || options.context > kPositions) {
    throw import::Error(import::Fault::kBadArgument,
                        name + ": the cache holds 1 to 1024 positions");
  }
  if (!decode && (options.seq < 1 || options.seq > options.context)) {
    throw import::Error(import::Fault::kBadArgument,
                        name + ": the sequence must fit the cache");
  }
  if (options.blocks < 0 || options.blocks > size.blocks) {
    throw import::Error(import::Fault::kBadArgument,
                        name + " has " + std::to_string(size.blocks) + " blocks");
  }
  return Gpt2(name + (decode ? "_decode" : "_prefill"), size, options, decode).Make();
}

}  // namespace

Bytes MakeGpt2SmallPrefill(const ZooOptions& options) {
  return Make(kSmall, options, false);
}

Bytes MakeGpt2SmallDecode(const ZooOptions& options) {
  return Make(kSmall, options, true);
}

Bytes MakeGpt2XlPrefill(const ZooOptions& options) { return Make(kXl, options, false); }

Bytes MakeGpt2XlDecode(const ZooOptions& options) { return Make(kXl, options, true); }

}  // namespace sluice::zoo
