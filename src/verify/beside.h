// SPDX-License-Identifier: Apache-2.0
// What a plan says beside its stream, which nobody needs to run it but others read: sizes
// of regions, the map from instructions to layers, the schedule it was made of.
//
// Input    a judge whose stream has been followed.
// Output   none.
// Errors   kRejected with rule bounds or structure, kStopped, kOutOfMemory.
// Cost     a byte for each layer; linear in instructions and layers.
#ifndef SLUICE_VERIFY_BESIDE_H_
#define SLUICE_VERIFY_BESIDE_H_

#include "verify/stream_view.h"

namespace sluice {
namespace judge {

Status CheckBeside(const Judge& judge);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_BESIDE_H_
