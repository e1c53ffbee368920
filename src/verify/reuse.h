// SPDX-License-Identifier: Apache-2.0
// The judge's own bound on what matrix products load again because the scratchpad does
// not hold them.
//
// A product of P MACs in S bytes (of all nodes), whose operands take BA and BB bytes in
// elements of WA and WB bytes and whose N outputs take one byte each at least, loads
// 2 P sqrt(U V W WA WB / S) - 2 S - U BA - V BB - W N weighted bytes beyond those that
// it loads once in any case, for all weights U, V, W of at most 1. An operand that
// another layer makes could be computed again instead of being loaded: then its weight
// is at most the price of computing an element divided by that of loading it. MACs of
// windows count as one over the square root of the taps that may share an element,
// those on pads not at all.
// Products that share one operand, and whose other operands are inputs or constants of the
// graph, are bounded together as one product.
// model/reuse_bound.h has the proof.
//
// Input    the judge's graph and machine; what a byte and a MAC take.
// Output   what is taken beyond compulsory traffic and work; 0 where bytes take nothing.
// Errors   kOutOfMemory.
// Cost     layers times tensors on the way to their operands; 5 bytes per tensor, 44
//          per layer.
// Source   as model/reuse_bound.h; shares no code with it.
#ifndef SLUICE_VERIFY_REUSE_H_
#define SLUICE_VERIFY_REUSE_H_

#include "verify/needed.h"

namespace sluice {
namespace judge {

// Whether all bytes off chip take the same: one memory, nothing encoded.
bool AllAlike(const Judge& judge);

// Of a loaded byte and of a MAC: energies, or cycles of the port and of tiles with weights
// that add up to 1.
struct Price {
  double byte = 0, mac = 0;
};

// Sets `more` of each price. Only products that are needed whole count.
Status FindReuse(const Judge& judge, const NeededOfAll& of_all,
                 Span<const Price> prices, double* more);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_REUSE_H_
