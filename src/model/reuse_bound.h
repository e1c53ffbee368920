// SPDX-License-Identifier: Apache-2.0
// A lower bound on what a plan pays for loading the operands of matrix products more than once.
// A product whose operands do not fit into the scratchpad loads some of their elements again, or
// makes them again by repeating the MACs of the layer that they come from.
//
// Terms. Counted are FULLY_CONNECTED, BATCH_MATMUL and convolutions. A and B are the operands,
// P is the number of MACs of the product. S is the bytes of all nodes' scratchpads together, and
// 16 more, because a phase (below) may end within an element. If a plan computes an output
// several times, only the first time is counted: then exactly P MACs count, and each sum is begun
// once.
//
// How many MACs some elements allow. A MAC needs an element of A, an element of B and a sum in
// the scratchpad, and any two of these three determine the MAC. By the inequality of Loomis and
// Whitney, `a` elements of A, `b` elements of B and `c` sums then allow at most sqrt(a b c) MACs.
//
// Windows. The MACs of one tap of a filter form such a product, of the b_t weights of this tap
// and of the a_t elements of A that the tap reads. At stride s, at most ceil(filter / s) taps
// along an axis read the same element; at a dilation, all taps may. Let T be the product of this
// number for both axes. Then all a_t add up to at most T a, and by the inequality of Cauchy and
// Schwarz the sum of sqrt(a_t b_t c) over all taps is at most sqrt(T a b c). So each MAC of such
// a window counts as 1 / sqrt(T) of a MAC, and then a, b and c elements allow at most
// sqrt(a b c) of them, also if several layers share A. MACs on pads read no element of A and do
// not count.
//
// How many bytes must enter. An element enters the scratchpad when it is loaded or made; a sum,
// when it is begun or loaded. Give the entering bytes of A, of B and of sums the weights x^2, y^2
// and z^2, none above 1. Cut the plan into phases in which bytes of weight 2 S enter. What lies
// in the scratchpad when a phase begins and what enters during it weigh at most 3 S together, so
// the phase has at most
// S^1.5 / (x y z sqrt(bytes of an element of A times B times a sum)) MACs. Hence the bytes that
// enter during the whole plan weigh at least 2 P x y z sqrt(elements' bytes / S) - 2 S. This
// holds for all such weights; the code tries several and takes the largest result.
//
// What this costs. The first time that an element enters is free here: its compulsory load, its
// first making, or the begin of its sum. At every later time it is loaded, or made again by MACs
// of the layer that it comes from; a sum is loaded. Where making an element costs less than
// loading it, its weight is at most the ratio of the two prices, so that a plan that makes
// elements again does not cost less than the bound either.
//
// Prices are energies or cycles. For cycles: a plan takes at least as long as DRAM's port is busy
// and at least as long as its tiles take, hence also at least any weighted mean of both. In such
// a mean, a byte that is loaded again has the price of the port's time, and a MAC that is
// repeated has that of the tiles' time, each with its weight.
//
// Layers between. Element-wise and row-wise layers, reshapes and transposes may stand between a
// product and the layer that its operand comes from. They make each element from at least one
// element of the tensor before them, which therefore was on chip. So the code walks back to an
// input, a constant or the result of a layer with MACs, called the root. An element counts with
// the bytes of the narrowest tensor on this way. Loads of tensors between a root and its readers
// count for one product alone; loads of sums count for the product that they belong to. Operands
// of other origin (gathers, states, slices, joins, resizes) give no bound.
//
// Products whose A has the same root (queries, keys and values of an attention) are one product:
// each has a B of its own, so any two of an element of the root, an element of any B and a sum
// still determine the MAC. An element of the root enters for all of them at once.
//
// A sum counts as one byte although partial sums have four: a tile that adds up all channels
// writes one byte for each sum, and a plan may consist of such tiles alone.
//
// Input    a graph fitted to its machine; its needs; prices.
// Output   for each price, the bound on the cost of all elements that enter again; 0 for a price
//          whose byte costs nothing.
// Errors   kOutOfMemory, kStopped.
// Cost     layers times the layers between them and their roots, and products times prices;
//          scratch five bytes per tensor, four per layer.
// Source   J. Hong and H. T. Kung, "I/O complexity: the red-blue pebble game", STOC 1981;
//          L. H. Loomis and H. Whitney, 1949. Own: the weights, and elements made again.
#ifndef SLUICE_MODEL_REUSE_BOUND_H_
#define SLUICE_MODEL_REUSE_BOUND_H_

#include "model/hardware.h"
#include "model/needs.h"

namespace sluice {

// The price of a byte that is loaded again, and of a MAC that is repeated instead.
struct ReusePrice {
  double byte, mac;
};

// The graph, its needs, and the bytes of all scratchpads that plans may use.
struct ReuseQuestion {
  const Graph& graph;
  const Needs& needs;
  int64_t room;
};
Status FindReuse(const ReuseQuestion& question, Span<const ReusePrice> prices,
                 Arena* scratch, double* again);

}  // namespace sluice

#endif  // SLUICE_MODEL_REUSE_BOUND_H_
