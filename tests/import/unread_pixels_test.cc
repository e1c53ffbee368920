// SPDX-License-Identifier: Apache-2.0
#include "import/unread_pixels.h"

#include <doctest/doctest.h>

#include <random>

#include "firmware-sim/sim.h"
#include "import/graph_check.h"
#include "support/setting.h"
#include "zoo/zoo.h"

namespace sluice::import {
namespace {

// A graph under construction: int8 activations of 4 channels, seeded weights.
struct Net {
  GraphWriter graph{"net"};
  std::vector<uint32_t> made;  // tensors with pixels, in the order of their layers

  const Dims& dims(uint32_t tensor) const { return graph.tensors()[tensor].dims; }
  uint32_t Input(int32_t h, int32_t w) {
    made.push_back(
        graph.AddTensor("in", SLUICE_DTYPE_INT8, Kind::kInput, {1, h, w, 4}));
    return made.back();
  }
  uint32_t Output(int32_t h, int32_t w) {
    return graph.AddTensor("t" + std::to_string(made.size()), SLUICE_DTYPE_INT8,
                           Kind::kIntermediate, {1, h, w, 4});
  }
  uint32_t Made(uint16_t op, std::vector<uint32_t> inputs, uint32_t output,
                std::vector<int32_t> attributes) {
    graph.AddLayer("l" + std::to_string(made.size()), op, std::move(inputs), {output},
                   std::move(attributes));
    made.push_back(output);
    return output;
  }

  struct Window {
    int32_t size[2], stride[2], pad[2];
  };
  static int32_t Out(int32_t in, const Window& w, size_t side) {
    return (in + 2 * w.pad[side] - w.size[side]) / w.stride[side] + 1;
  }
  uint32_t Conv(uint32_t in, const Window& w, bool depthwise = false) {
    std::vector<int32_t> rows;
    for (int k = 0; k < 4; ++k) rows.insert(rows.end(), {k - 2, 1 << 30, -5});
    const Dims weight = {depthwise ? 1 : 4, w.size[0], w.size[1], 4};
    const uint32_t weights =
        graph.AddSeeded("", SLUICE_DTYPE_INT8, weight, 7 + made.size());
    const uint32_t parameters =
        graph.AddConstant("", SLUICE_DTYPE_INT32, {4, 3}, rows.data(), rows.size() * 4);
    const Dims from = dims(in);
    return Made(depthwise ? SLUICE_OP_DEPTHWISE_CONV : SLUICE_OP_CONV,
                {in, weights, parameters},
                Output(Out(from[1], w, 0), Out(from[2], w, 1)),
                {w.stride[0], w.stride[1], 0, 0, w.pad[0], w.pad[1], w.pad[0], w.pad[1],
                 0, 1, 0, 2, -128, 127});
  }
  uint32_t Pool(uint32_t in, const Window& w, bool average) {
    const Dims from = dims(in);
    return Made(average ? SLUICE_OP_AVERAGE_POOL : SLUICE_OP_MAX_POOL, {in},
                Output(Out(from[1], w, 0), Out(from[2], w, 1)),
                {w.size[0], w.size[1], w.stride[0], w.stride[1], w.pad[0], w.pad[1],
                 w.pad[0], w.pad[1], -100, 100});
  }
  uint32_t Add(uint32_t a, uint32_t b) {
    const Dims to = {1, std::max(dims(a)[1], dims(b)[1]),
                     std::max(dims(a)[2], dims(b)[2])};
    return Made(SLUICE_OP_ADD, {a, b}, Output(to[1], to[2]),
                {8, 1, 1 << 30, 0, 2, 1 << 29, 0, 3, 1 << 30, -6, -128, 127});
  }
  uint32_t Smaller(uint32_t a, uint32_t b) {
    return Made(SLUICE_OP_MINIMUM, {a, b}, Output(dims(a)[1], dims(a)[2]), {});
  }

  // What no layer reads is an output.
  void Close() {
    std::vector<bool> read(graph.tensors().size());
    for (const LayerRow& layer : graph.layers()) {
      for (uint32_t input : layer.inputs) read[input] = true;
    }
    for (uint32_t tensor : made) {
      if (!read[tensor] && tensor != made[0]) graph.SetKind(tensor, Kind::kOutput);
    }
  }
};

constexpr Net::Window kPoint = {{1, 1}, {1, 1}, {0, 0}};
constexpr Net::Window kEverySecond = {{1, 1}, {2, 2}, {0, 0}};
constexpr Net::Window kThree = {{3, 3}, {1, 1}, {1, 1}};

std::vector<uint64_t> OutputsOf(const Bytes& graph) {
  CheckGraph(graph);
  sluice_sim::SimulateOptions options;
  options.graph = graph.data();
  options.graph_size = graph.size();
  options.seed = 3;
  const sluice_sim::SimulateResult result = sluice_sim::RunReference(options);
  REQUIRE_MESSAGE(result.ok, result.error);
  return result.output_hashes;
}

// Closes the net and leaves out what is not read; its outputs must keep their bytes.
std::vector<UnsupportedOperator> Skip(Net* net) {
  net->Close();
  const Bytes before = net->graph.Finish();
  const auto skipped = SkipUnreadPixels(&net->graph);
  CHECK(OutputsOf(before) == OutputsOf(net->graph.Finish()));
  return skipped;
}

uint32_t Count(const std::vector<UnsupportedOperator>& list, const std::string& name) {
  uint32_t count = 0;
  for (const auto& entry : list) count += entry.name == name ? entry.count : 0;
  return count;
}

TEST_CASE("unread pixels: the end of a residual stage, two readers with strides") {
  Net net;
  const uint32_t in = net.Conv(net.Input(9, 8), kThree);
  const uint32_t inside = net.Conv(net.Conv(in, kPoint), kThree);
  const uint32_t sum = net.Add(net.Conv(inside, kPoint), in);
  net.Conv(sum, kEverySecond);
  net.Conv(sum, kEverySecond);
  const auto skipped = Skip(&net);
  // The sum, both convolutions in front of it; what is added to it is read whole elsewhere.
  CHECK(Count(skipped, "conv") == 2);
  CHECK(Count(skipped, "add") == 1);
  CHECK(net.dims(sum) == Dims{1, 5, 4, 4});
  CHECK(net.dims(inside) == Dims{1, 5, 4, 4});
  CHECK(net.dims(in) == Dims{1, 9, 8, 4});
  size_t pools = 0, strides = 0;
  for (const LayerRow& layer : net.graph.layers()) {
    pools += layer.op == SLUICE_OP_MAX_POOL ? 1 : 0;
    strides += layer.op == SLUICE_OP_CONV && layer.attributes[0] == 2 ? 1 : 0;
  }
  CHECK(pools == 1);
  CHECK(strides == 1);
}

TEST_CASE("unread pixels: what has to stay whole") {
  const auto layers = [](auto build) {
    Net net;
    build(&net, net.Conv(net.Input(8, 8), kThree));
    return Skip(&net).size();
  };
  CHECK(layers([](Net* net, uint32_t t) { net->Conv(t, kEverySecond); }) == 1);
  // A reader that takes all of it; a window of two; padding; an output; an input.
  CHECK(layers([](Net* net, uint32_t t) {
          net->Conv(t, kEverySecond);
          net->Conv(t, kThree);
        }) == 0);
  CHECK(layers([](Net* net, uint32_t t) {
          net->Pool(t, {{2, 2}, {2, 2}, {0, 0}}, false);
        }) == 0);
  CHECK(layers([](Net* net, uint32_t t) {
          net->Conv(t, kEverySecond);
          net->graph.SetKind(t, Kind::kOutput);
        }) == 0);
  Net first;
  first.Conv(first.Input(8, 8), kEverySecond);
  CHECK(Skip(&first).empty());
  // Nothing is gained where only elementwise layers would do less.
  CHECK(layers([](Net* net, uint32_t t) {
          const uint32_t other = net->Conv(t, kThree);
          net->Conv(net->Smaller(t, other), kEverySecond);
          net->Conv(other, kThree);
          net->Conv(t, kThree);
        }) == 0);
}

TEST_CASE("unread pixels: readers with strides of 2 and 4 leave every second") {
  Net net;
  const uint32_t t = net.Conv(net.Input(9, 9), kThree);
  net.Conv(t, kEverySecond);
  net.Pool(t, {{1, 1}, {4, 4}, {0, 0}}, true);
  CHECK(Count(Skip(&net), "conv") == 1);
  CHECK(net.dims(t) == Dims{1, 5, 5, 4});
}

TEST_CASE("unread pixels: no stride becomes larger than the reader of graphs takes") {
  Net net;
  const Net::Window far = {{1, 1}, {300, 1}, {0, 0}};
  const uint32_t t = net.Conv(net.Input(90001, 1), kThree);
  const uint32_t between = net.Conv(t, far);
  net.Conv(between, far);
  CHECK(Count(Skip(&net), "conv") == 1);
  CHECK(net.dims(t)[1] == 301);
  CHECK(net.dims(between)[1] == 301);
}

TEST_CASE("unread pixels: an operator that there is not is refused by its number") {
  for (const int op : {0, int{SLUICE_OP_COUNT}, 0xffff}) {
    Net net;
    const uint32_t t = net.Conv(net.Input(8, 8), kThree);
    net.Made(static_cast<uint16_t>(op), {t}, net.Output(4, 4), {});
    std::string why;
    try {
      Skip(&net);
    } catch (const Error& error) {
      why = error.what();
    }
    CHECK(why == "there is no operator " + std::to_string(op));
  }
}

TEST_CASE("unread pixels: constant operands of sums stay as they are") {
  for (const Dims& dims : {Dims{1, 8, 8, 4}, Dims{1, 1, 1, 4}, Dims{1, 8, 1, 4}}) {
    CAPTURE(dims.size());
    Net net;
    const uint32_t t = net.Conv(net.Input(8, 8), kThree);
    const uint32_t constant = net.graph.AddSeeded("c", SLUICE_DTYPE_INT8, dims, 5);
    net.Conv(net.Add(t, constant), kEverySecond);
    // Only one without pixels can be added to fewer of them.
    CHECK(Skip(&net).size() == (dims[1] == 1 ? 2 : 0));
    CHECK(net.dims(constant) == dims);
    for (const LayerRow& layer : net.graph.layers())
      CHECK(layer.op != SLUICE_OP_MAX_POOL);
  }
}

// A random window, mostly of one pixel with strides.
Net::Window RandomWindow(std::mt19937* random) {
  Net::Window w;
  for (size_t side = 0; side < 2; ++side) {
    w.size[side] = (*random)() % 3 == 0 ? 3 : 1;
    w.stride[side] = 1 + static_cast<int32_t>((*random)() % 3);
    w.pad[side] = w.size[side] == 1 ? 0 : 1;
  }
  return w;
}

void AddRandomLayer(Net* net, std::mt19937* random) {
  const auto any = [&] { return net->made[(*random)() % net->made.size()]; };
  const uint32_t a = (*random)() % 2 == 0 ? net->made.back() : any(), b = any();
  switch ((*random)() % 6) {
    case 0:
    case 1:
      net->Conv(a, RandomWindow(random), (*random)() % 3 == 0);
      return;
    case 2:
      net->Pool(a, RandomWindow(random), (*random)() % 2 == 0);
      return;
    default:
      for (size_t axis = 1; axis < 3; ++axis) {
        const int32_t x = net->dims(a)[axis], y = net->dims(b)[axis];
        if (x != y && x != 1 && y != 1) return;
      }
      net->Add(a, b);
  }
}

TEST_CASE("unread pixels: random graphs keep every byte of their outputs") {
  const int cases = static_cast<int>(sluice_test::Setting("SLUICE_UNREAD_CASES", 500));
  int changed = 0;
  for (int seed = 0; seed < cases; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(static_cast<uint32_t>(seed));
    Net net;
    net.Input(1 + static_cast<int32_t>(random() % 12),
              1 + static_cast<int32_t>(random() % 12));
    net.Conv(net.made[0], kThree);
    const int layers = 3 + static_cast<int>(random() % 9);
    while (static_cast<int>(net.graph.layers().size()) < layers)
      AddRandomLayer(&net, &random);
    changed += Skip(&net).empty() ? 0 : 1;
  }
  CHECK(changed > cases / 5);
}

TEST_CASE("unread pixels: ResNet-50's stages end with a quarter of their pixels") {
  GraphWriter graph(zoo::MakeZooGraph("resnet50", zoo::ZooOptions()));
  const size_t layers = graph.layers().size();
  const auto skipped = SkipUnreadPixels(&graph);
  CHECK(Count(skipped, "conv") == 6);
  CHECK(Count(skipped, "add") == 3);
  CHECK(graph.layers().size() == layers + 3);
  CheckGraph(graph.Finish());
  CHECK(SkipUnreadPixels(&graph).empty());
}

}  // namespace
}  // namespace sluice::import
