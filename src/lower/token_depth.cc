// SPDX-License-Identifier: Apache-2.0
#include "lower/token_depth.h"

#include "base/checked.h"

namespace sluice {
namespace {

// State of one simulated run of the lists, in which nodes wait for tokens alone.
struct Run {
  const TokenGraph& graph;
  Span<const uint32_t> depth;     // by channel; 0: any
  Span<uint32_t> at;              // by column: nodes completed
  Span<uint8_t> started;          // by column: the next node has popped
  Span<uint32_t> popped, pushed;  // by channel
};

template <typename Visit>
void ForEachChannel(uint64_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) {
    visit(static_cast<uint32_t>(__builtin_ctzll(mask)));
  }
}

// Starts or completes the next node of a column; false: it must wait.
bool Advance(Run* run, uint32_t q) {
  const TokenGraph& g = run->graph;
  const sluice_token_step_t step = g.nodes[(*g.lists[q])[run->at[q]]].step;
  bool ready = true;
  if (run->started[q] == 0) {
    ForEachChannel(step.pops,
                   [&](uint32_t c) { ready &= run->pushed[c] != run->popped[c]; });
    if (!ready) return false;
    ForEachChannel(step.pops, [&](uint32_t c) { ++run->popped[c]; });
    run->started[q] = 1;
    return true;
  }
  ForEachChannel(step.pushes, [&](uint32_t c) {
    ready &= run->depth[c] == 0 || run->pushed[c] - run->popped[c] < run->depth[c];
  });
  if (!ready) return false;
  ForEachChannel(step.pushes, [&](uint32_t c) { ++run->pushed[c]; });
  run->started[q] = 0;
  ++run->at[q];
  return true;
}

template <typename T>
void Clear(Span<T> items) {
  for (T& item : items) item = 0;
}

bool Ends(Run* run, Span<const uint32_t> depth) {
  const TokenGraph& g = run->graph;
  run->depth = depth;
  Clear(run->at);
  Clear(run->started);
  Clear(run->popped);
  Clear(run->pushed);
  size_t left = g.nodes.size();
  for (bool progress = true; progress && left != 0;) {
    progress = false;
    for (uint32_t q = 0; q < g.lists.size(); ++q) {
      const uint32_t before = run->at[q];
      while (run->at[q] < g.lists[q]->size() && Advance(run, q)) progress = true;
      left -= run->at[q] - before;
    }
  }
  return left == 0;
}

// The least depth of channel c with which the lists end; the others are as in `depth`.
// `high` is enough and > 0.
uint32_t LeastDepth(Run* run, Span<uint32_t> depth, uint32_t c, uint32_t high) {
  const uint32_t given = depth[c];
  uint32_t low = 0;  // no token could pass
  while (high - low > 1) {
    depth[c] = low + (high - low) / 2;
    (Ends(run, depth) ? high : low) = depth[c];
  }
  depth[c] = given;
  return high;
}

uint32_t CommonDepth(Run* run, Span<uint32_t> depth, uint32_t high) {
  uint32_t low = 0;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    for (uint32_t& d : depth) d = middle;
    (Ends(run, depth) ? high : low) = middle;
  }
  return high;
}

// Counts the tokens of channel c, and the most that are outstanding at once. A token is
// outstanding until the pushing node's clock includes the node that pops it: by then
// that node has completed in every timing.
void CountTokens(const TokenGraph& g, uint32_t c, sluice_token_use_t* use) {
  const Sequence<uint32_t>& from = *g.lists[g.channels[c].from];
  const Sequence<uint32_t>& to = *g.lists[g.channels[c].to];
  const uint64_t bit = uint64_t{1} << c;
  uint32_t popped = 0, done = 0, pushed = 0, most = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    const TokenNode& node = g.nodes[from[i]];
    if ((node.step.pushes & bit) == 0) continue;
    for (; done < node.clock[g.channels[c].to]; ++done) {
      popped += (g.nodes[to[done]].step.pops & bit) != 0 ? 1 : 0;
    }
    ++pushed;
    most = Max(most, pushed - popped);
  }
  use->tokens = pushed;
  use->outstanding = most;
}

// The given depths deadlock. Names the first channel c for which the depths of channels
// 0 to c alone deadlock.
Status TooShallow(Run* run, Span<const sluice_token_channel_t> channels,
                  Span<uint32_t> depth, const TokenLists& lists,
                  Diagnostic* diagnostic) {
  for (uint32_t& d : depth) d = 0;
  uint32_t c = 0;
  for (;; ++c) {
    depth[c] = channels[c].depth;
    if (!Ends(run, depth)) break;
  }
  const uint32_t needed = LeastDepth(run, depth, c, lists.channel[c].outstanding);
  return Fail(diagnostic, Status::kInfeasible, "tokens")
      .Rule("depth")
      .Say(
          "channel # from engine # to engine # has depth # and needs #; # in every "
          "channel are enough",
          c, channels[c].producer, channels[c].consumer, channels[c].depth, needed,
          lists.common_depth);
}

}  // namespace

Status FindDepths(const TokenGraph& graph, Span<const sluice_token_channel_t> channels,
                  Arena* scratch, TokenLists* out, Diagnostic* diagnostic) {
  Run run = {graph, {}, {}, {}, {}, {}};
  Span<uint32_t> depth;
  SLUICE_TRY(scratch->Allocate(graph.lists.size(), &run.at));
  SLUICE_TRY(scratch->Allocate(graph.lists.size(), &run.started));
  SLUICE_TRY(scratch->Allocate(channels.size(), &run.popped));
  SLUICE_TRY(scratch->Allocate(channels.size(), &run.pushed));
  SLUICE_TRY(scratch->Allocate(channels.size(), &depth));
  uint32_t most = 0;
  for (uint32_t c = 0; c < channels.size(); ++c) {
    CountTokens(graph, c, &out->channel[c]);
    most = Max(most, out->channel[c].outstanding);
  }
  out->common_depth = most == 0 ? 0 : CommonDepth(&run, depth, most);
  for (uint32_t c = 0; c < channels.size(); ++c) depth[c] = channels[c].depth;
  if (!Ends(&run, depth)) {
    return TooShallow(&run, channels, depth, *out, diagnostic);
  }
  for (uint32_t c = 0; c < channels.size(); ++c) {
    sluice_token_use_t* use = &out->channel[c];
    if (use->tokens == 0) continue;
    uint32_t enough = use->outstanding;
    if (channels[c].depth != 0) enough = Min(enough, channels[c].depth);
    use->least_depth = LeastDepth(&run, depth, c, enough);
  }
  return Status::kOk;
}

}  // namespace sluice
