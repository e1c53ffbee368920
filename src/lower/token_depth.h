// SPDX-License-Identifier: Apache-2.0
// Depths of channels: the most tokens that may be in a channel at once, and the least
// depth with which the lists do not deadlock.
//
// Lists that pop and push are a marked graph: whether they end does not depend on the
// order in which engines take their turns, so one simulated run decides. Room for K
// tokens in a channel means that pop j comes before push j + K.
//
// Input    the graph of tokens; depths as given
// Output   per channel its tokens, the most outstanding, the least depth; the least
//          depth that does for all channels alike
// Errors   kInfeasible, rule "depth": the given depths deadlock; kOutOfMemory
// Cost     a run is linear in nodes; log2(most outstanding) runs for each channel
#ifndef SLUICE_LOWER_TOKEN_DEPTH_H_
#define SLUICE_LOWER_TOKEN_DEPTH_H_

#include "lower/tokens.h"

namespace sluice {

// use: one per channel, zero. channels: as the caller gave them, depths in them.
Status FindDepths(const TokenGraph& graph, Span<const sluice_token_channel_t> channels,
                  Arena* scratch, TokenLists* out, Diagnostic* diagnostic);

}  // namespace sluice

#endif  // SLUICE_LOWER_TOKEN_DEPTH_H_
