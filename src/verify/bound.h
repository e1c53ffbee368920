// SPDX-License-Identifier: Apache-2.0
// What the judge itself says no plan of a graph on a machine undercuts: the bounds of a
// report may say less, not more.
//
// Derived from the graph and the machine alone, with tiles that cost what the machine says,
// as if all of every tensor that a layer reads were needed: cycles of each layer as one
// tile in whole passes of the array, each given byte loaded and each wanted byte stored
// once; of late layers' loads no more before their time than scratchpads have room for. A
// report that knows of parts that nobody needs says less.
//
// Input    the judge's graph and machine; of the stream, its HOST calls alone: every layer of
//          the host is called in every plan.
// Output   cycles and pJ.
// Errors   kOutOfMemory, kStopped.
// Cost     layers and tensors, 24 times at most; two bytes per tensor, eight per layer.
// Source   hardware.fbs, stream.h ("Timing"), ops.h; shares no code with model/bounds.
#ifndef SLUICE_VERIFY_BOUND_H_
#define SLUICE_VERIFY_BOUND_H_

#include "verify/stream_view.h"
#include "verify/verify.h"

namespace sluice {
namespace judge {

struct LeastCosts {
  uint64_t cycles;
  double energy_pj;  // but for leakage and the host's
};

Status FindLeastCosts(const Judge& judge, const VerifiedCounts& counts,
                      LeastCosts* least);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_BOUND_H_
