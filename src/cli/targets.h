// SPDX-License-Identifier: Apache-2.0
// The machines that `sluice lower` knows: a row each.
//
// Input    an opened stream and the graph that it was made for
// Output   commands in program order, and counts by name
// Errors   Failure(kRejected): the target does not do what the stream has
#ifndef SLUICE_CLI_TARGETS_H_
#define SLUICE_CLI_TARGETS_H_

#include <functional>
#include <string>
#include <vector>

#include "cli/failure.h"
#include "cli/files.h"
#include "firmware-sim/walker.h"
#include "sluice/sluice.h"

namespace sluice::cli {

// One line of a listing: what it says, and its words in a binary.
struct TargetCommand {
  std::string text;
  std::vector<uint64_t> words;
};
using CommandSink = std::function<void(const TargetCommand&)>;

// What is lowered. The graph has what tiles do not tell: channels of a layer.
struct LoweredPlan {
  const sluice_walker_t& walker;
  const sluice_graph_t* graph;
  const Bytes& graph_bytes;
  std::string data_dir;  // of external constants
  bool scale,
      to_rows;    // what the target itself can make bytes of, it does, if inexactly
  uint64_t seed;  // of inputs, for the difference that makes
};

struct Target {
  const char* name;
  // Lowers the stream; answers its counts. Addresses: the regions in their order, each
  // from the next multiple of 64 (VTA: 256) on, then the target's own range.
  Json (*lower)(const LoweredPlan& plan, const CommandSink& sink);
  // What tiles take there, for sluice_schedule; its tile_cost_user is the graph.
  sluice_tile_cost_fn tile_cost;
  bool keeps_rows;  // bytes that it has made of sums may stay in its scratchpad
};

// Channels of each layer's first input and output, which tiles do not tell; 0: it has none.
struct LayerChannels {
  uint32_t input, output;
};
std::vector<LayerChannels> ChannelsOf(const sluice_graph_t* graph);

// What the host does beside the machine; layers: those with calls.
struct HostWork {
  uint64_t host_macs, array_macs, host_bytes, machine_bytes;
  size_t layers;
};
// Its shares in percent: of MACs, of bytes moved, of the graph's layers.
Json HostShare(const HostWork& work, const sluice_graph_t* graph);

// nullptr: no such target.
const Target* FindTarget(const std::string& name);
// The same, or Failure(kUsage) that names those that there are.
const Target& TargetNamed(const std::string& name);
std::vector<std::string> TargetNames();

Json LowerToGemmini(const LoweredPlan& plan, const CommandSink& sink);
Json LowerToVta(const LoweredPlan& plan, const CommandSink& sink);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_TARGETS_H_
