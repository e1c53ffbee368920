// SPDX-License-Identifier: Apache-2.0
// Layers, MACs and weights of the zoo against SoMa's network files. What the networks'
// authors published is in the test of each network's source.
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "planned.h"
#include "sluice/graph_generated.h"
#include "sluice/ops.h"
#include "support/shared_data.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

using sluice::zoo::MakeZooGraph;
using sluice::zoo::ZooOptions;
namespace wire = sluice::wire;

struct Counts {
  int64_t macs = 0, weights = 0;
  int windows = 0, products = 0, additions = 0, pools = 0;
};

// Counts elements and layers of a graph; each weight tensor counts once.
class Counter {
 public:
  explicit Counter(const Bytes& bytes) : graph_(*wire::GetGraph(bytes.data())) {}

  int64_t Elements(uint32_t tensor) const {
    int64_t product = 1;
    for (uint32_t i = graph_.tensor_dim_begin()->Get(tensor);
         i < graph_.tensor_dim_begin()->Get(tensor + 1); ++i) {
      product *= graph_.tensor_dims()->Get(i);
    }
    return product;
  }
  int32_t LastDim(uint32_t tensor) const {
    return graph_.tensor_dims()->Get(graph_.tensor_dim_begin()->Get(tensor + 1) - 1);
  }
  uint32_t Input(uint32_t layer, uint32_t i) const {
    return graph_.layer_inputs()->Get(graph_.layer_input_begin()->Get(layer) + i);
  }
  uint32_t Output(uint32_t layer) const {
    return graph_.layer_outputs()->Get(graph_.layer_output_begin()->Get(layer));
  }

  Counts Count() const {
    Counts c;
    for (uint32_t l = 0; l < graph_.layer_op()->size(); ++l) {
      const int64_t outputs = Elements(Output(l));
      switch (graph_.layer_op()->Get(l)) {
        case SLUICE_OP_CONV:
        case SLUICE_OP_FULLY_CONNECTED: {
          const uint32_t weight = Input(l, 1);
          c.weights += Elements(weight);
          c.macs += outputs * (Elements(weight) / LastDim(Output(l)));
          ++c.windows;
          break;
        }
        case SLUICE_OP_BATCH_MATMUL:
          c.macs += outputs * LastDim(Input(l, 0));
          ++c.products;
          break;
        case SLUICE_OP_ADD:
          ++c.additions;
          break;
        case SLUICE_OP_MAX_POOL:
        case SLUICE_OP_AVERAGE_POOL:
          ++c.pools;
          break;
        default:
          break;
      }
    }
    return c;
  }

 private:
  const wire::Graph& graph_;
};

Counts CountsOf(const char* name, const ZooOptions& options) {
  const Bytes graph = MakeZooGraph(name, options);
  return Counter(graph).Count();
}

// Counts of one of SoMa's network files; false, with a message, when it is not there.
// skipped: a layer that the file lists as a product and that inference does not need.
bool ReadPeer(const std::string& name, const std::string& skipped, Counts* out) {
  std::ifstream file(
      sluice_test::SharedPath("reference/soma/networks/" + name + ".json"));
  if (!file) {
    MESSAGE("skipped: no reference networks");
    return false;
  }
  const nlohmann::json network = nlohmann::json::parse(file);
  for (const auto& l : network["layers"]) {
    if (l["name"] == skipped) continue;
    const std::string type = l["type"];
    const int64_t positions = l["H"].get<int64_t>() * l["W"].get<int64_t>();
    const int64_t filter = l["R"].get<int64_t>() * l["S"].get<int64_t>() *
                           l["C"].get<int64_t>() / l["groups"].get<int64_t>();
    if (type == "conv" || type == "fc" || type == "groupconv") {
      out->macs += positions * l["K"].get<int64_t>() * filter;
      out->weights += l["weight_bytes"].get<int64_t>();
      ++(type == "groupconv" ? out->products : out->windows);
    } else if (type == "eltwise") {
      out->additions +=
          l["C"].get<int32_t>() / l["K"].get<int32_t>() - 1;  // additions of two inputs
    } else if (type == "pool") {
      ++out->pools;
    }
  }
  return true;
}

void CheckImageCounts(const char* name, const char* skipped) {
  CAPTURE(std::string(name));
  const Counts ours = CountsOf(name, ZooOptions());
  Counts peer;
  if (!ReadPeer(name, skipped, &peer)) return;
  CHECK(ours.macs == peer.macs);
  CHECK(ours.weights == peer.weights);
  CHECK(ours.windows == peer.windows);
  CHECK(ours.pools == peer.pools);
  CHECK(ours.additions == peer.additions);
}

TEST_CASE("the image networks have SoMa's layers, MACs and weights") {
  CheckImageCounts("resnet50", "");
  CheckImageCounts("resnet101", "");
  CheckImageCounts("inception_resnet_v1", "Dropout");
  CheckImageCounts("randwire", "");
}

TEST_CASE("MACs grow with the batch, weights do not") {
  for (const char* name : {"resnet101", "inception_resnet_v1", "randwire",
                           "gpt2_xl_prefill", "gpt2_small_decode"}) {
    CAPTURE(name);
    const Counts one = CountsOf(name, ZooOptions());
    for (const int32_t batch : {4, 16, 64}) {
      ZooOptions options;
      options.batch = batch;
      const Counts many = CountsOf(name, options);
      CHECK(many.macs == batch * one.macs);
      CHECK(many.weights == one.weights);
    }
  }
}

// SoMa's file has one block, with one product per head for the keys. The zoo has the
// whole network: all blocks, the embedding, and the head for one token.
void CheckTransformer(const std::string& size, int32_t blocks, int32_t width,
                      int32_t context) {
  CAPTURE(size);
  const int64_t head = int64_t{width} * 50257;
  Counts prefill, decode;
  if (!ReadPeer(size + "_prefill", "", &prefill)) return;
  REQUIRE(ReadPeer(size + "_decode", "", &decode));
  ZooOptions options;
  const Counts ours = CountsOf((size + "_prefill").c_str(), options);
  CHECK(ours.macs == blocks * prefill.macs + head);
  CHECK(ours.weights == blocks * prefill.weights + head);
  CHECK(ours.products == blocks * prefill.products);
  CHECK(ours.additions == blocks * prefill.additions + 1);
  options.context = context;
  const Counts token = CountsOf((size + "_decode").c_str(), options);
  // Two products run over the positions; SoMa's include the new one behind the cache.
  const int64_t peer_context = context == 1024 ? 1025 : context;
  CHECK(token.macs ==
        blocks * (decode.macs - 2 * width * (peer_context - context)) + head);
  CHECK(token.weights == blocks * decode.weights + head);
}

TEST_CASE("GPT-2 has SoMa's blocks as often as published, and the head") {
  CheckTransformer("gpt2_small", 12, 768, 513);
  CheckTransformer("gpt2_xl", 48, 1600, 1024);
}

TEST_CASE("a graph holds no weight bytes") {
  for (const sluice::zoo::ZooEntry& entry : sluice::zoo::ZooEntries()) {
    CAPTURE(entry.name);
    const Bytes bytes = entry.make(ZooOptions());
    const wire::Graph& graph = *wire::GetGraph(bytes.data());
    for (uint32_t l = 0; l < graph.layer_op()->size(); ++l) {
      const uint16_t op = graph.layer_op()->Get(l);
      if (op != SLUICE_OP_CONV && op != SLUICE_OP_FULLY_CONNECTED) continue;
      const uint32_t weight = Counter(bytes).Input(l, 1);
      CHECK(graph.tensor_source()->Get(weight) == 3);
    }
    CHECK(bytes.size() < 4u << 20);
  }
}

}  // namespace
}  // namespace sluice_test
