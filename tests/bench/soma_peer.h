// SPDX-License-Identifier: Apache-2.0
// SoMa's networks, platforms, tile rule and results, read from the reference folder.
//
// Input    the folder soma/ of the reference (networks, oracle, schedules, soma.md).
// Output   FusionProblem and TileModel with the peer's quirks: uniform tiles of the
//          top-left box, producers inflated to the consumer's channels.
#ifndef SLUICE_TESTS_BENCH_SOMA_PEER_H_
#define SLUICE_TESTS_BENCH_SOMA_PEER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/core_array.h"
#include "model/notation.h"

namespace sluice {

struct PeerPlatform {
  CoreArray array;
  int64_t buffer_bytes;
  int64_t dram_bytes_per_cycle;
};
PeerPlatform MakePeerPlatform(const std::string& name);  // "edge", "cloud"

// A network with batch on a platform. Must not be moved: the problem points into it.
struct PeerNetwork {
  PeerNetwork() = default;
  PeerNetwork(const PeerNetwork&) = delete;
  PeerNetwork& operator=(const PeerNetwork&) = delete;

  std::string name;
  int32_t batch = 1;
  PeerPlatform platform;
  FusionProblem problem = {};
  TileModel model = {};
  std::vector<bool> alone;  // fully connected layers

  struct Rule {  // what the tile model knows of a layer
    enum Kind { kWindow, kSame, kTranspose } kind;
    int32_t in_h, in_w, in_c;
    int32_t r, s, stride_h, stride_w, pad_h, pad_w;
    int32_t group_c;
    uint32_t first_operand;  // inputs from here on are activation operands
    CoreLayer core;
  };
  std::vector<Rule> rules;
  std::vector<FusionLayer> layers;
  std::vector<FusionInput> inputs;
  std::vector<uint32_t> consumers;
  std::vector<FusionExternal> externals;
};

std::string PeerFolder();  // "" when the reference is not there
std::unique_ptr<PeerNetwork> ReadPeerNetwork(const std::string& folder,
                                             const std::string& name, int32_t batch,
                                             const std::string& platform);

struct PeerResult {  // one row of the reference's table of results
  std::string network;
  int32_t batch;
  std::string platform;
  double cpu_s;
  double energy_pj;
  double edp;
  int64_t latency_cycles;
};
std::vector<PeerResult> ReadPeerResults(const std::string& folder);

// A lower bound on energy times latency for all schemes of the network: every layer in tiles
// of the extents that cost least per element, no more elements than readers need, weights,
// inputs and outputs through DRAM once. (The peer's rule can make tiles with more channels
// than the layer; the bound assumes that these cost no less.)
double PeerBound(const PeerNetwork& network);

// Memory for tests and benches.
sluice_allocator_t HostAllocator();

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCH_SOMA_PEER_H_
