// SPDX-License-Identifier: Apache-2.0
// A lower bound on what transfers beyond the compulsory ones cost, from how often a matrix
// product can use what its scratchpad holds.
//
// Layers: FULLY_CONNECTED, BATCH_MATMUL and convolutions, with operands A and B, P MACs,
// S bytes of scratchpad (of all nodes together, and 16 for an element at a border). Of
// the tiles of a plan, those count that make each output for the first time. So P MACs
// count, and each sum is begun once. A MAC needs an element of A, one of B and a sum in
// the scratchpad, and any two of these name the MAC. By Loomis and Whitney, a, b and c
// elements allow at most sqrt(a b c) MACs.
//
// Windows: the MACs of one tap are such a product, of the b_t weights of this tap and of the
// a_t elements of A that it reads. Of a stride s, an element is read by at most
// ceil(filter / s) taps along an axis, or by all if they are dilated; let T be the product
// of both axes. Then all a_t together are at most T a, and by Cauchy and Schwarz the sum of
// sqrt(a_t b_t c) over all taps is at most sqrt(T a b c). So MACs of windows that count
// as 1 / sqrt(T) each are at most sqrt(a b c), also the sum of those of several layers.
// MACs on pads have no element of A and do not count.
//
// An element enters when it is loaded, made or, a sum, begun. Give each entering byte of
// A, B and sums the weights x^2, y^2 and z^2, all at most 1. Cut the plan into phases in
// which bytes of weight 2 S enter. In a phase, what lies in the scratchpad at its begin
// and what enters have weight 3 S at most, so its MACs are at most
// S^1.5 / (x y z sqrt(bytes of an element of A times B times a sum)). Hence the bytes
// that enter weigh at least 2 P x y z sqrt(elements' bytes / S) - 2 S. All weights of
// this form are true; some of those that give the most are taken.
//
// Each element enters once without cost here: its compulsory load, its first making, the
// begin of its sum. Any further time it is loaded, or made again by the MACs of its
// producer. So a weight is at most the price of these MACs over that of the load, and
// making it again does not undercut the bound. Sums that come back are loaded.
//
// Prices may be energies. They may be cycles too: no plan is faster than any mean of the
// cycles of its port and of its tiles, in which a byte that enters again counts with the
// port's weight and a MAC that makes it again with that of the tiles.
//
// An element behind element-wise or row-wise layers, reshapes and transposes is made
// from one element at least of the tensor in front of them, which was there. So the
// walk goes back to an input, a constant or the result of a layer with MACs: the root.
// Elements have the bytes of the smallest on this way. Whatever is loaded of a root's
// way counts for one layer alone; sums count for their own layer. Other roots (gathers,
// states, slices, joins, resizes) give no bound.
//
// Products whose A has one root (queries, keys and values of an attention) are one: each
// has a B of its own, so that any two of an element of the root, one of any B and a sum
// still name the MAC. The root's elements enter for all of them at once.
//
// A sum counts as one byte, though partial sums have four: a tile that sums over all
// channels writes bytes, and a plan may have no other tiles.
//
// Input    a graph fitted to its machine; its needs; prices.
// Output   for each price, that of loads or of MACs instead of them; 0 for a price whose
//          byte costs nothing.
// Errors   kOutOfMemory, kStopped.
// Cost     layers times the length of ways, and products times prices; scratch five bytes
//          per tensor, four per layer.
// Source   J. Hong and H. T. Kung, "I/O complexity: the red-blue pebble game", STOC 1981;
//          L. H. Loomis and H. Whitney, 1949. Weights and makings: own.
#ifndef SLUICE_MODEL_REUSE_BOUND_H_
#define SLUICE_MODEL_REUSE_BOUND_H_

#include "model/hardware.h"
#include "model/needs.h"

namespace sluice {

// Of a byte that is loaded again, and of a MAC that makes it again.
struct ReusePrice {
  double byte, mac;
};

Status FindReuse(const Graph& graph, const Hardware& hardware, const Needs& needs,
                 Span<const ReusePrice> prices, Arena* scratch, double* again);

}  // namespace sluice

#endif  // SLUICE_MODEL_REUSE_BOUND_H_
