// SPDX-License-Identifier: Apache-2.0
// What the machine can do: no engine does a layer that its rows lack, and the host executes
// no other.
//
// Input    a layer of the original graph, or a HOST call of it
// Output   kOk
// Errors   kRejected
// Cost     rows of the machine; nothing for a machine without rows
// Source   OpSupport and Host of hardware.fbs, ops.h; independent of the planners'
//          (model/host.h)
#ifndef SLUICE_VERIFY_ABILITY_H_
#define SLUICE_VERIFY_ABILITY_H_

#include "verify/stream_view.h"

namespace sluice {
namespace judge {

// Of a HOST call, and of each part of what it takes.
constexpr int64_t kMostHostCycles = int64_t{1} << 50;

// Of a layer that the host does in place of the engines; 0 where it counts no MACs.
uint64_t MacsOnHost(const Judge& judge, const Layer& layer);

// For tiles and indexed loads.
Status CheckAble(const Judge& judge, const Layer& layer);

// The layer is the host's, for the reason that the call states, and in enough cycles.
Status CheckHostCall(const Judge& judge, uint32_t layer,
                     const sluice_host_call_t& call);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_ABILITY_H_
