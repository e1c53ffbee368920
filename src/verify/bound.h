// SPDX-License-Identifier: Apache-2.0
// The judge's own lower bounds on what a plan of a graph on a machine costs. The bounds
// in a report may be lower than these, not higher.
//
// They follow from the graph and the machine alone, with the tile costs that the machine
// gives, as if every tensor that a layer reads were needed in full. Cycles: each layer as
// one tile in whole passes of the array. Each byte of an input or constant is loaded once,
// each byte of an output stored once, and matrix products load some bytes again (reuse.h).
// Loads run one after the other, and those of late layers run ahead by at most as many
// bytes as the scratchpads hold. A bound in a report
// may leave out parts of tensors that no layer needs.
//
// Input    the judge's graph and machine; of the stream only its HOST calls, because
//          every plan calls every layer of the host.
// Output   cycles and pJ.
// Errors   kOutOfMemory, kStopped.
// Cost     layers and tensors for each layer that room.h looks at; six bytes per tensor,
//          forty per layer.
// Source   hardware.fbs, stream.h ("Timing"), ops.h; shares no code with model/bounds.
#ifndef SLUICE_VERIFY_BOUND_H_
#define SLUICE_VERIFY_BOUND_H_

#include "verify/stream_view.h"
#include "verify/verify.h"

namespace sluice {
namespace judge {

// Of one layer or of several together.
struct LeastOfLayer {
  double cycles = 0;  // of tiles
  double energy = 0;  // of tiles, pJ
  double macs = 0;
  double constants = 0, loaded = 0, stored = 0;  // bytes off chip
  double loads = 0;  // LOADs of given tensors, each of bytes that fit
};

void Add(const LeastOfLayer& layer, LeastOfLayer* all);

enum : uint8_t {  // who uses a tensor
  kHostMakes = 4,
  kGoesOut = 8,  // a copy of it is an output of the graph
  kTaken = 16,   // a convolution that reads it may take over a PAD in front of it
  kKept = 32,    // somebody reads it who cannot take over a PAD that makes it
};

constexpr double kMostBound = 1e18;  // cycles; beyond, a bound is as good as none

double NodesOf(const Hardware& hardware);
// Bytes of all scratchpads that the plan may use.
double RoomOf(const Judge& judge);

// The least whole number of `unit`s in an amount; cycles of a port for so many bytes.
double Up(double amount, double unit);
double CyclesAt(const Rational& rate, double bytes);

// Cycles of tiles that make a box of so many elements of a layer's output.
double CyclesOfBox(const Judge& judge, const Layer& layer, const int32_t* extent);

// Cycles of all tiles, with a load before and a store behind them; of the port if HOST
// calls hold it for `hold` cycles; of loads one after the other.
struct LeastTimes {
  double compute, port, serial;
};
LeastTimes TimesOf(const Judge& judge, const LeastOfLayer& all, double hold);

// pJ of all tiles and transfers.
double EnergyOf(const Judge& judge, const LeastOfLayer& all);

struct LeastCosts {
  // Set by who asks: the bound that these costs are compared with. Room is looked at only
  // until they reach it; costs that do not reach it are the greatest that are found.
  double enough = kMostBound;
  uint64_t cycles;
  double energy_pj;  // without leakage and the host's energy
  double again_pj;   // of this, what reuse.h says
  double beyond;     // cycles by room and reuse
  Span<const LeastOfLayer> layers;
};

Status FindLeastCosts(const Judge& judge, const VerifiedCounts& counts,
                      LeastCosts* least);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_BOUND_H_
