// SPDX-License-Identifier: Apache-2.0
// Whether a plan's certificate shows that the bounds in its report are true.
//
// A certificate says what every plan takes at least of each layer. It is right if each of
// these numbers is no larger than the judge's own, its sums are those of its layers, and
// its times, and the bounds in the report, follow from the sums as bound.h has it. Where
// the planner knows of parts of tensors that no layer needs, it may say less than the
// judge. So a layer's number may be lower than the judge's but not higher; a lower one
// lowers the sums, and with them the bounds that the certificate can show. What a caller
// has said of its own tiles cannot be checked: these cycles and this energy are added as
// they stand. room_cycles may be at most the larger of two numbers: the latencies of the
// certificate's bytes one after the other, and the judge's own bound by room and reuse. A
// HOST call has the judge's cycles, or 0 where the planner does not count it.
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
