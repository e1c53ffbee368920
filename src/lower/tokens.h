// SPDX-License-Identifier: Apache-2.0
// Translates waits to counting tokens: which instruction pops and pushes which channel,
// and which relays pass tokens on where no channel connects two engines.
//
// The instructions are walked in one linear extension P of the stream, with vector
// clocks. A wait is dropped if the engine's list or another wait implies it; at most
// one wait for each awaited engine remains. For each awaited engine, the counts of the
// remaining waits strictly increase along the list of the waiting engine. So push j of
// a channel matches pop j, and a channel is no more than a counter.
// If no channel leads from the awaited engine to the waiting one, tokens take a
// shortest path of channels. On each engine of the path, the first node that already
// implies the wait pushes; if there is none, a relay is inserted at the place that P
// has reached.
//
// Input    a stream's lists; channels between its engines
// Output   the graph of instructions and relays, in P; per engine its list of them
// Errors   kBadInput: the waits form a cycle. kInfeasible, rule "path": no path of
//          channels. kUnsupported: too many instructions for so many engines;
//          kOutOfMemory
// Cost     time O((instructions + waits) * engines); memory 56 bytes and 4 per engine
//          with work or channels, for each instruction and relay
// Source   the walker's rule for starting; vector clocks (Mattern 1988)
#ifndef SLUICE_LOWER_TOKENS_H_
#define SLUICE_LOWER_TOKENS_H_

#include "base/sequence.h"
#include "lower/stream_lists.h"
#include "sluice/lowering.h"

namespace sluice {

// A node: an instruction of the stream or a relay.
struct TokenNode {
  uint32_t column;
  uint32_t number;        // of the instruction; SLUICE_NONE: a relay
  uint32_t before;        // of a relay: the instruction that comes after it
  const uint32_t* clock;  // by column: nodes completed, in every timing, when it starts
  sluice_token_step_t step;
};

struct TokenChannel {
  uint32_t from, to;  // columns
};

struct TokenGraph {
  explicit TokenGraph(Arena* arena) : nodes(arena) {}
  Sequence<TokenNode> nodes;
  Span<uint32_t> engine;            // of each column: engines with work or a channel
  Span<Sequence<uint32_t>*> lists;  // by column: nodes
  Span<TokenChannel> channels;
  uint32_t relays = 0;
};

// What the caller gets.
struct TokenLists {
  Span<sluice_token_step_t> instruction;
  Span<sluice_token_relay_t> relay;
  Span<sluice_token_use_t> channel;
  Span<sluice_visit_t> visit;
  uint32_t common_depth = 0;
};

struct TokenCall {
  Span<const uint8_t> stream;
  Span<const sluice_token_channel_t> channels;
};

// The graph lies in `arena`.
Status BuildTokenGraph(const StreamLists& lists,
                       Span<const sluice_token_channel_t> channels, Arena* arena,
                       TokenGraph* graph, Diagnostic* diagnostic);

// Builds the graph, finds the depths (token_depth.h), and writes the lists into
// `out_arena`.
Status MakeTokens(const TokenCall& call, Arena* out_arena, TokenLists* out,
                  Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_LOWER_TOKENS_H_
