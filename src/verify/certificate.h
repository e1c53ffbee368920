// SPDX-License-Identifier: Apache-2.0
// Whether a plan's certificate shows that the bounds in its report are true.
//
// A certificate says what every plan takes at least of each layer. It is right if each of
// these numbers is no larger than the judge's own, its sums are those of its layers, and
// its times, and the bounds in the report, follow from the sums as bound.h has it. Where
// the planner knows of parts of tensors that no layer needs, it may say less than the
// judge, so numbers of layers are compared with the judge's from one side only; the sums
// hold them from the other. What a caller has said of its own tiles is believed: its
// cycles and energy are added to those of tiles: assumed, not checked. room_cycles are no
// more than latencies one after the other for the certificate's bytes, or than the
// judge's own by room and reuse. A HOST call has the judge's cycles, or 0 where the
// planner does not count it.
//
// Input    the judge's graph, machine and plan; its own least costs.
// Output   kOk, also for a plan without a certificate and without bounds.
// Errors   kRejected by rule "certificate", with the field's name.
// Cost     linear in layers.
// Source   sluice.h, hardware.fbs; shares no code with model/bounds.
#ifndef SLUICE_VERIFY_CERTIFICATE_H_
#define SLUICE_VERIFY_CERTIFICATE_H_

#include "verify/bound.h"

namespace sluice {
namespace judge {

Status CheckCertificate(const Judge& judge, const LeastCosts& own);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_CERTIFICATE_H_
