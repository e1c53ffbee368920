// SPDX-License-Identifier: Apache-2.0
// The report of a plan, recomputed from the stream: cycles, energy, traffic, work.
//
// The graph, the machine and the stream determine what a plan costs, with two
// exceptions. First, what a tile costs below the scratchpad was declared by its source (a
// core array, a mapping, the caller) and is not in the stream. So a tile's declared cycles
// are accepted if they are at least its work divided by the machine's peak. Where energies
// of tiles are declared, energy_scratchpad_pj and energy_compute_pj must only be at least
// what transfers and partial sums take; else both must be what bytes and work cost. Second,
// how the search went is not in the stream: stop_reason must be one of its values, groups at
// most the number of layers, iterations may be any number.
//
// Bounds are statements about all plans. A bound may exceed neither the judge's own
// (bound.h) nor what this plan costs. A bound that is lower than it could be is true,
// and passes.
//
// Input    what was counted while the stream was followed; when its instructions may
//          start.
// Output   the latency; kOk where the report says what the stream does.
// Errors   kRejected with rule traffic or report: the field's name, what it says, what
//          was counted; kOutOfMemory; kStopped.
// Cost     latency: instructions * engines with work. The rest: tensors.
// Source   "Timing" of stream.h; sluice_report_t; shares no code with model/report.
#ifndef SLUICE_VERIFY_REPORT_H_
#define SLUICE_VERIFY_REPORT_H_

#include "verify/order.h"
#include "verify/verify.h"

namespace sluice {
namespace judge {

// When the last instruction ends, in counts->latency_cycles. Spends stream.time.
Status FindLatency(Judge* judge, const Order& order, VerifiedCounts* counts);

Status CheckReport(const Judge& judge, const VerifiedCounts& counts);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_REPORT_H_
