// SPDX-License-Identifier: Apache-2.0
// A randomly wired network: three stages of ten nodes, each a Watts-Strogatz graph
// (4 neighbours, a link rewired with probability 0.75) turned into a DAG by the nodes'
// numbers. The wiring is this file's own draw; its seeds are chosen so that the stages
// have 2, 3 and 2 nodes that read the stage's input, and 1, 1 and 3 that make its
// output (the counts that fix MACs and weights). Ends with its last convolution.
//
// Source   Xie et al., "Exploring randomly wired neural networks for image recognition"
#include <array>

#include "zoo/network.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

constexpr int kNodes = 10;
constexpr int kReach = 2;              // neighbours on each side of the ring
constexpr uint32_t kRewireOf100 = 75;  // links
constexpr uint64_t kSeed3 = 4, kSeed4 = 28, kSeed5 = 20;

// Links from a lower to a higher node.
using Wiring = std::array<std::array<bool, kNodes>, kNodes>;

class Draw {  // SplitMix64
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  uint32_t Below(uint32_t limit) {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<uint32_t>((z ^ (z >> 31)) >> 32) % limit;
  }

 private:
  uint64_t state_;
};

Wiring DrawWiring(uint64_t seed) {
  Draw draw(seed);
  Wiring links = {};  // symmetric for now
  const auto set = [&](size_t a, size_t b, bool on) { links[a][b] = links[b][a] = on; };
  for (size_t v = 0; v < kNodes; ++v) {
    for (size_t i = 1; i <= kReach; ++i) set(v, (v + i) % kNodes, true);
  }
  for (size_t i = 1; i <= kReach; ++i) {
    for (size_t v = 0; v < kNodes; ++v) {
      if (draw.Below(100) >= kRewireOf100) continue;
      size_t to = draw.Below(kNodes);
      while (to == v || links[v][to]) to = draw.Below(kNodes);
      set(v, (v + i) % kNodes, false);
      set(v, to, true);
    }
  }
  for (size_t a = 0; a < kNodes; ++a) {
    for (size_t b = 0; b <= a; ++b) links[a][b] = false;
  }
  return links;
}

// What a node reads: the sum of its sources, centred like each of them.
Fmap Sum(Network* net, const std::string& name, const std::vector<Fmap>& sources) {
  Fmap sum = sources[0];
  for (size_t i = 1; i < sources.size(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(i + 1);
    sum = Add(net, name + ".add" + std::to_string(i), sum, sources[i], share,
              i + 1 == sources.size());
  }
  return sum;
}

Fmap Stage(Network* net, const std::string& name, const Fmap& in, int32_t channels,
           uint64_t seed) {
  const Wiring links = DrawWiring(seed);
  std::vector<Fmap> nodes, outputs;
  for (size_t v = 0; v < kNodes; ++v) {
    const std::string node = name + "." + std::to_string(v);
    std::vector<Fmap> sources;
    for (size_t u = 0; u < v; ++u) {
      if (links[u][v]) sources.push_back(nodes[u]);
    }
    const bool first = sources.empty();
    Fmap x = first ? in : Sum(net, node, sources);
    x = Convolution(net, node + ".a", x, x.dims[3], {3, first ? 2 : 1}, true);
    nodes.push_back(Convolution(net, node + ".b", x, channels, {1, 1}, false));
  }
  for (size_t v = 0; v < kNodes; ++v) {
    bool read = false;
    for (size_t w = v + 1; w < kNodes; ++w) read = read || links[v][w];
    if (!read) outputs.push_back(nodes[v]);
  }
  return Sum(net, name + ".out", outputs);
}

}  // namespace

Bytes MakeRandWire(const ZooOptions& options) {
  Network net("randwire");
  Fmap x = net.Input("image", {options.batch, 224, 224, 3});
  x = Convolution(&net, "conv1", x, 32, {3, 2}, true);
  x = Convolution(&net, "conv2", x, 64, {3, 2}, true);
  x = Stage(&net, "stage3", x, 64, kSeed3);
  x = Stage(&net, "stage4", x, 128, kSeed4);
  x = Stage(&net, "stage5", x, 256, kSeed5);
  return net.Finish(Convolution(&net, "conv6", x, 1024, {1, 1}, true));
}

}  // namespace sluice::zoo
