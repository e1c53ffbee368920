// SPDX-License-Identifier: Apache-2.0
// Training steps: gradients are adjoint to their forward layers in exact integers;
// whole steps equal their untiled runs; shapes and work are KAPLA's.
#include "import/training/training.h"

#include <functional>
#include <set>
#include <tuple>

#include "base/rng.h"
#include "graph_reader.h"
#include "import/error.h"
#include "import/graph_writer.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

using sluice::Rng;
using sluice::import::Dims;
using sluice::import::GraphWriter;
using sluice::import::Kind;
using sluice::import::MakeTrainingGraph;
using sluice::zoo::MakeZooGraph;
using sluice::zoo::ZooOptions;

constexpr int32_t kOne = 1 << 30;  // with shift 1: a factor of 1

int64_t Elements(const Dims& dims) {
  int64_t n = 1;
  for (const int32_t d : dims) n *= d;
  return n;
}

// Mostly 0, else 1 or -1: sums of a few dozen products stay within 8 bits.
Bytes Sparse(const Dims& dims, Rng* rng) {
  Bytes bytes(static_cast<size_t>(Elements(dims)));
  for (uint8_t& b : bytes) {
    const uint32_t r = rng->Below(6);
    b = static_cast<uint8_t>(r == 0 ? 1 : r == 1 ? -1 : 0);
  }
  return bytes;
}

int64_t Inner(const Bytes& a, const Bytes& b) {
  REQUIRE(a.size() == b.size());
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += int64_t{static_cast<int8_t>(a[i])} * static_cast<int8_t>(b[i]);
  }
  return sum;
}
bool AtAnEnd(const Bytes& bytes) {
  for (const uint8_t b : bytes) {
    if (b == 0x7f || b == 0x80) return true;
  }
  return false;
}

struct Conv {
  int32_t n, h, w, c, k, r, s, stride, pad, groups;
};

// conv(x, w), the gradient of x from (e, w), and the gradient of w from (x, e).
void CheckAdjoint(const Conv& v, bool depthwise, uint64_t seed) {
  CAPTURE(seed);
  Rng rng(seed);
  const int32_t p = (v.h + 2 * v.pad - v.r) / v.stride + 1;
  const int32_t q = (v.w + 2 * v.pad - v.s) / v.stride + 1;
  const Dims in = {v.n, v.h, v.w, v.c}, out = {v.n, p, q, v.k};
  const Dims filter =
      depthwise ? Dims{1, v.r, v.s, v.k} : Dims{v.k, v.r, v.s, v.c / v.groups};
  const Dims gradient = {v.k, v.r, v.s, depthwise ? 1 : v.c / v.groups};
  const Bytes x = Sparse(in, &rng), e = Sparse(out, &rng), w = Sparse(filter, &rng);
  GraphWriter graph("adjoint");
  constexpr uint8_t kInt8 = SLUICE_DTYPE_INT8;
  const uint32_t tx = graph.AddTensor("x", kInt8, Kind::kInput, in);
  const uint32_t te = graph.AddTensor("e", kInt8, Kind::kInput, out);
  const uint32_t tw = graph.AddConstant("w", kInt8, filter, w.data(), w.size());
  const auto ones = [&](int32_t channels) {
    std::vector<int32_t> rows;
    for (int32_t i = 0; i < channels; ++i) rows.insert(rows.end(), {0, kOne, 1});
    return graph.AddConstant("", SLUICE_DTYPE_INT32, {channels, 3}, rows.data(),
                             rows.size() * 4);
  };
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_STRIDE_H] = a[SLUICE_CONV_STRIDE_W] = v.stride;
  for (size_t i = 0; i < 4; ++i) a[SLUICE_CONV_PAD_TOP + i] = v.pad;
  a[SLUICE_CONV_GROUPS] = depthwise ? 0 : v.groups;
  a[SLUICE_CONV_ACT_MIN] = -128;
  a[SLUICE_CONV_ACT_MAX] = 127;
  const uint32_t y = graph.AddTensor("y", kInt8, Kind::kOutput, out);
  graph.AddLayer("conv", depthwise ? SLUICE_OP_DEPTHWISE_CONV : SLUICE_OP_CONV,
                 {tx, tw, ones(v.k)}, {y}, a);
  std::vector<int32_t> g(a.begin(), a.begin() + SLUICE_CONV_ACT_MAX + 1);
  g[SLUICE_CONV_GROUPS] = depthwise ? v.c : v.groups;
  g.insert(g.end(), {kOne, 1});
  const uint32_t dw = graph.AddTensor("dw", kInt8, Kind::kOutput, gradient);
  graph.AddLayer("dw", SLUICE_OP_WEIGHT_GRADIENT, {tx, te}, {dw}, g);
  const bool data = depthwise ? v.k == v.c : v.groups == 1;
  if (data) {
    a.resize(SLUICE_TRANSPOSED_CONV_ATTRIBUTES);
    a[SLUICE_CONV_GROUPS] = 0;
    a[SLUICE_CONV_WEIGHT_LAYOUT] =
        depthwise ? SLUICE_WEIGHT_LAYOUT_DEPTHWISE : SLUICE_WEIGHT_LAYOUT_CONV;
    const uint32_t dx = graph.AddTensor("dx", kInt8, Kind::kOutput, in);
    graph.AddLayer("dx", SLUICE_OP_TRANSPOSED_CONV, {te, tw, ones(v.c)}, {dx}, a);
  }
  Planned plan(graph.Finish(), "mcu-256k");
  CHECK(plan.RefusedBy(plan.plan) == "");
  sluice_sim::SimulateOptions options = plan.Options();
  const std::vector<Bytes> inputs = {x, e};
  options.inputs = &inputs;
  const auto outputs = plan.Run(options).outputs;
  REQUIRE(outputs.size() == (data ? 3 : 2));
  for (const Bytes& o : outputs) REQUIRE(!AtAnEnd(o));
  const int64_t forward = Inner(outputs[0], e);
  Bytes turned = outputs[1];
  if (depthwise) {  // [K,R,S,1] -> [1,R,S,K]
    const size_t k = static_cast<size_t>(v.k), taps = turned.size() / k;
    for (size_t i = 0; i < turned.size(); ++i) {
      turned[i % taps * k + i / taps] = outputs[1][i];
    }
  }
  CHECK(Inner(turned, w) == forward);
  if (data) CHECK(Inner(outputs[2], x) == forward);
}

TEST_CASE("<conv(x, w), e> = <x, dx> = <w, dw> in exact integers") {
  CheckAdjoint({2, 9, 7, 5, 6, 3, 3, 1, 1, 1}, false, 1);
  CheckAdjoint({1, 11, 11, 3, 4, 5, 3, 2, 2, 1}, false, 2);
  CheckAdjoint({3, 8, 8, 4, 6, 1, 1, 2, 0, 1}, false, 3);
  CheckAdjoint({2, 10, 6, 4, 6, 3, 3, 3, 1, 2}, false, 4);
  CheckAdjoint({2, 9, 9, 6, 6, 3, 3, 2, 1, 1}, true, 5);
  CheckAdjoint({1, 7, 8, 3, 6, 3, 3, 1, 1, 1}, true, 6);
  CheckAdjoint({1, 13, 13, 4, 2, 11, 7, 4, 2, 1}, false, 7);
}

// A layer that selects elements: <f(x), e> must equal <x, its gradient of e at x>.
void CheckSelection(bool pool, uint64_t seed) {
  CAPTURE(seed);
  Rng rng(seed);
  const Dims in = {2, 9, 10, 5};
  const Dims out = pool ? Dims{2, 5, 5, 5} : in;
  GraphWriter graph("selection");
  constexpr uint8_t kInt8 = SLUICE_DTYPE_INT8;
  const uint32_t tx = graph.AddTensor("x", kInt8, Kind::kInput, in);
  const uint32_t te = graph.AddTensor("e", kInt8, Kind::kInput, out);
  const uint32_t y = graph.AddTensor("y", kInt8, Kind::kOutput, out);
  const uint32_t dx = graph.AddTensor("dx", kInt8, Kind::kOutput, in);
  if (pool) {
    std::vector<int32_t> a = {3, 3, 2, 2, 1, 1, 1, 0, -128, 127};
    graph.AddLayer("y", SLUICE_OP_MAX_POOL, {tx}, {y}, a);
    a.push_back(0);
    graph.AddLayer("dx", SLUICE_OP_MAX_POOL_GRADIENT, {te, tx}, {dx}, a);
  } else {
    graph.AddLayer("y", SLUICE_OP_REQUANTIZE, {tx}, {y}, {0, kOne, 1, 0, 0, 127});
    std::vector<int32_t> a(SLUICE_BINARY_ATTRIBUTES);
    a[SLUICE_BINARY_OUT_MULTIPLIER] = kOne;
    a[SLUICE_BINARY_OUT_SHIFT] = 1;
    a[SLUICE_BINARY_ACT_MIN] = -128;
    a[SLUICE_BINARY_ACT_MAX] = 127;
    graph.AddLayer("dx", SLUICE_OP_RELU_GRADIENT, {te, y}, {dx}, a);
  }
  Bytes x(static_cast<size_t>(Elements(in)));
  for (uint8_t& b : x) b = static_cast<uint8_t>(rng.Below(200) - 100);
  const std::vector<Bytes> inputs = {x, Sparse(out, &rng)};
  Planned plan(graph.Finish(), "mcu-256k");
  CHECK(plan.RefusedBy(plan.plan) == "");
  sluice_sim::SimulateOptions options = plan.Options();
  options.inputs = &inputs;
  const auto outputs = plan.Run(options).outputs;
  REQUIRE(outputs.size() == 2);
  CHECK(Inner(outputs[0], inputs[1]) == Inner(x, outputs[1]));
}

TEST_CASE("max pools and ReLUs pass errors to what they took") {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    CheckSelection(true, seed);
    CheckSelection(false, seed);
  }
}

void CheckStep(const char* name, int32_t batch, const char* machine) {
  CAPTURE(std::string(name));
  CAPTURE(std::string(machine));
  ZooOptions options;
  options.batch = batch;
  Planned p(MakeTrainingGraph(MakeZooGraph(name, options)), machine);
  CHECK(p.RefusedBy(p.plan) == "");
  const sluice_sim::SimulateResult result = p.Run(p.Options());
  // The gradients of the first layers have passed through all others.
  std::set<uint8_t> values(result.outputs.back().begin(), result.outputs.back().end());
  CHECK(values.size() > 20);
}

TEST_CASE("training steps equal their untiled runs, on one node and on sixteen") {
  CheckStep("mlp_l", 4, "soma-edge");
  CheckStep("mlp_l", 3, "kapla-4x4");
  CheckStep("lstm_gnmt", 2, "soma-edge");
  CheckStep("alexnet", 1, "soma-edge");
}

struct Work {
  int64_t forward = 0, data = 0, weight = 0;
};

// MACs; of data gradients only those that meet an error.
Work WorkOf(const GraphReader& graph) {
  Work work;
  const auto elements = [&](uint32_t t) {
    const auto d = graph.Dims(t);
    return d[0] * d[1] * d[2] * d[3];
  };
  for (uint32_t l = 0; l < graph.layers(); ++l) {
    const int64_t out = elements(graph.Output(l)), in = elements(graph.Input(l, 0));
    const auto shape = graph.Dims(graph.Output(l));
    switch (graph.Op(l)) {
      case SLUICE_OP_CONV:
      case SLUICE_OP_DEPTHWISE_CONV:
      case SLUICE_OP_FULLY_CONNECTED:
        work.forward += out * elements(graph.Input(l, 1)) / shape[3];
        break;
      case SLUICE_OP_TRANSPOSED_CONV: {
        const auto w = graph.Dims(graph.Input(l, 1));
        work.data += in * w[1] * w[2] * (w[0] == 1 ? 1 : w[3]);
        break;
      }
      case SLUICE_OP_BATCH_MATMUL:
        work.data += out * graph.Dims(graph.Input(l, 0))[3];
        break;
      case SLUICE_OP_WEIGHT_GRADIENT: {
        const auto e = graph.Dims(graph.Input(l, 1));
        work.weight += out * e[0] * e[1] * e[2];
        break;
      }
      default:
        break;
    }
  }
  return work;
}

TEST_CASE("a step has its forward MACs once more per gradient, but for the first") {
  const std::pair<const char*, int64_t> first[] = {
      {"mlp_l", 1176000},     {"alexnet", 2 * 52707600}, {"mobilenet_v1", 10838016},
      {"vgg16", 86704128},    {"googlenet", 118013952},  {"resnet50", 118013952},
      {"lstm_gnmt", 8000000},
  };
  for (const auto& entry : first) {
    const char* name = entry.first;
    const int64_t macs = entry.second;
    CAPTURE(std::string(name));
    ZooOptions options;
    options.batch = 2;
    const Bytes graph = MakeTrainingGraph(MakeZooGraph(name, options));
    const Work work = WorkOf(GraphReader(graph));
    CHECK(work.weight == work.forward);
    CHECK(work.data == work.forward - 2 * macs);
  }
}

// Channels of the error and of the result, rows of the result, filter, stride.
using Back = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>;

TEST_CASE("data gradients have the shapes of KAPLA's, those of images left out") {
  const std::pair<const char*, const char*> names[] = {
      {"alexnet", "alex_net_bp"},
      {"mobilenet_v1", "mobilenet_bp"},
      {"vgg16", "vgg_net_bp"},
  };
  for (const auto& entry : names) {
    const char* name = entry.first;
    CAPTURE(std::string(name));
    nlohmann::json peer;
    if (!ReadPeer(entry.second, &peer)) return;
    std::multiset<Back> want, have;
    for (const auto& l : peer["layers"]) {
      const std::string type = l["type"];
      if (type != "conv_back_act" && type != "dwconv_back_act") continue;
      const auto at = [&](const char* key) { return l[key].get<int64_t>(); };
      if (at("K") == 3) continue;
      want.insert({at("C"), at("K"), at("H_out"), at("R"), at("stride")});
    }
    const Bytes bytes = MakeTrainingGraph(MakeZooGraph(name, ZooOptions()));
    const GraphReader graph(bytes);
    for (uint32_t l = 0; l < graph.layers(); ++l) {
      if (graph.Op(l) != SLUICE_OP_TRANSPOSED_CONV) continue;
      const auto out = graph.Dims(graph.Output(l));
      have.insert({graph.Dims(graph.Input(l, 0))[3], out[3], out[1],
                   graph.Dims(graph.Input(l, 1))[1],
                   graph.Attribute(l, SLUICE_CONV_STRIDE_H)});
    }
    CHECK(have == want);
  }
}

TEST_CASE("a transformer trains too, softmax and norms on the host") {
  const Bytes bytes = MakeTrainingGraph(MakeZooGraph("vit_b_16", ZooOptions()));
  const GraphReader graph(bytes);
  int opaque = 0, gradients = 0;
  for (uint32_t l = 0; l < graph.layers(); ++l) {
    opaque += graph.Op(l) == SLUICE_OP_OPAQUE;
    gradients += graph.Op(l) == SLUICE_OP_WEIGHT_GRADIENT;
  }
  CHECK(gradients == 12 * 6 + 2);
  CHECK(opaque == 12 * 3 + 1);
  Planned plan(bytes, "soma-edge");
  CHECK(plan.RefusedBy(plan.plan) == "");
}

TEST_CASE("a softmax at the end passes output - target to what goes into it") {
  GraphWriter graph("classifier");
  constexpr uint8_t kInt8 = SLUICE_DTYPE_INT8;
  const uint32_t x = graph.AddTensor("x", kInt8, Kind::kInput, {3, 20});
  const uint32_t w = graph.AddSeeded("w", kInt8, {8, 20}, 7);
  std::vector<int32_t> rows;
  for (int i = 0; i < 8; ++i) rows.insert(rows.end(), {0, kOne, -8});
  const uint32_t parameters =
      graph.AddConstant("", SLUICE_DTYPE_INT32, {8, 3}, rows.data(), rows.size() * 4);
  const uint32_t logits = graph.AddTensor("logits", kInt8, Kind::kIntermediate, {3, 8});
  std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
  a[SLUICE_CONV_ACT_MIN] = -128;
  a[SLUICE_CONV_ACT_MAX] = 127;
  graph.AddLayer("fc", SLUICE_OP_FULLY_CONNECTED, {x, w, parameters}, {logits}, a);
  const uint32_t p = graph.AddTensor("p", kInt8, Kind::kIntermediate, {3, 8});
  graph.AddLayer("p", SLUICE_OP_SOFTMAX, {logits}, {p}, {kOne, 23, -248});
  const uint32_t flat = graph.AddTensor("flat", kInt8, Kind::kOutput, {24});
  graph.AddLayer("flat", SLUICE_OP_RESHAPE, {p}, {flat}, {});
  const Bytes bytes = MakeTrainingGraph(graph.Finish());
  const GraphReader reader(bytes);
  for (uint32_t l = 0; l < reader.layers(); ++l) {
    CHECK(reader.Op(l) != SLUICE_OP_OPAQUE);
  }
  Planned plan(bytes, "mcu-256k");
  CHECK(plan.RefusedBy(plan.plan) == "");
  const auto outputs = plan.Run(plan.Options()).outputs;
  REQUIRE(outputs.size() == 2);
  CHECK(outputs[1].size() == 8 * 20);
}

TEST_CASE("a graph without weights cannot be trained") {
  GraphWriter graph("nothing");
  const uint32_t x =
      graph.AddTensor("x", SLUICE_DTYPE_INT8, Kind::kInput, {1, 2, 2, 4});
  const uint32_t y =
      graph.AddTensor("y", SLUICE_DTYPE_INT8, Kind::kOutput, {1, 2, 2, 4});
  graph.AddLayer("copy", SLUICE_OP_REQUANTIZE, {x}, {y}, {0, kOne, 1, 0, -128, 127});
  CHECK_THROWS_AS(MakeTrainingGraph(graph.Finish()), sluice::import::Error);
}

}  // namespace
}  // namespace sluice_test
