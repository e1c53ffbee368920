// SPDX-License-Identifier: Apache-2.0
// Energy and delay of one GEMM mapping on three memories, in closed form.
//
// Input    P(x,y) += A(x,z) B(y,z). Axes 0 1 2 = x y z = M N K. The datum "of axis d"
//          is the one without d: x -> B, y -> A, z -> P. One word holds one element.
// Output   exact access counts (words), energy (pJ) and cycles.
// Errors   none: shape, machine, mapping must be valid (CheckGemm, CheckGemmMapping)
// Cost     constant
// Source   GOMA (arXiv 2603.07962) equations (10)-(30). kReuse differs where loops of
//          trip 1 stand inside: it equals Timeloop's counts; kPaper is the text's
//          formula.
#ifndef SLUICE_MODEL_GEMM_COST_H_
#define SLUICE_MODEL_GEMM_COST_H_

#include <stdint.h>

#include "base/status.h"
#include "model/hardware.h"

namespace sluice {

constexpr int kGemmAxes = 3;
constexpr int64_t kGemmMaxExtent = int64_t{1} << 31;
constexpr int64_t kGemmMaxMacs = int64_t{1} << 61;  // keeps access counts within int64

struct GemmShape {
  int64_t extent[kGemmAxes];  // 1 .. 2^31; at most 2^61 multiplications
};

// Any three neighbouring memories of a hierarchy; the innermost has one instance per
// PE.
struct GemmMachine {
  int64_t middle_words;  // shared by all PEs; 0 = no such memory, all data bypass it
  int64_t inner_words;   // per PE; 0 = no such memory
  int64_t pe_count;      // PEs of the array
  int64_t fanout_limit[kGemmAxes];  // most PEs along one axis; 0 = pe_count
  double outer_read_pj;             // per word
  double outer_write_pj;
  double middle_read_pj;
  double middle_write_pj;
  double inner_read_pj;
  double inner_write_pj;
  double mac_pj;
  double middle_leak_pj;  // per cycle
  double inner_leak_pj;   // per cycle and PE, working or not
  // Words per cycle into and out of the outer, the middle and one inner memory.
  Rational bandwidth[3] = {{0, 1}, {0, 1}, {0, 1}};
};

// Loop order, innermost first: a permutation of the axes.
struct GemmOrder {
  uint8_t axis[kGemmAxes];
};

struct GemmMapping {
  int64_t middle_tile[kGemmAxes];  // elements of each axis in the middle memory
  int64_t spatial[kGemmAxes];      // PEs along each axis
  int64_t inner_tile[kGemmAxes];   // elements of each axis in one PE
  GemmOrder outer_order;           // of the loops over middle tiles
  GemmOrder middle_order;          // of the loops over array tiles in a middle tile
  uint8_t middle_holds;            // bit d: the middle memory holds the datum of axis d
  uint8_t inner_holds;
};

enum class GemmForm : uint8_t { kReuse = 0, kPaper = 1 };

enum GemmMemory : uint8_t { kGemmOuter = 0, kGemmMiddle = 1, kGemmInner = 2 };

struct GemmAccess {
  int64_t reads[3][kGemmAxes];  // [GemmMemory][datum], words
  int64_t writes[3][kGemmAxes];
};

struct GemmCost {
  GemmAccess access;
  int64_t macs;
  int64_t pe_used;
  int64_t cycles;            // the largest of the following
  int64_t compute_cycles;    // macs / pe_used
  int64_t memory_cycles[3];  // words of one instance / bandwidth; 0: never limits
  double memory_pj[3];
  double mac_pj;
  double leak_pj;
  double energy_pj;  // sum of the above
  double energy_pj_per_mac;
};

// The walking axis innermost, then the other two in the order x y z.
GemmOrder GemmOrderFrom(int walking_axis);

// kBadInput with the offending numbers, or kOk.
Status CheckGemm(const GemmShape& shape, const GemmMachine& machine,
                 Diagnostic* diagnostic);
// Nesting, capacities, PE count and fanouts; kBadInput names what is broken.
Status CheckGemmMapping(const GemmShape& shape, const GemmMachine& machine,
                        const GemmMapping& mapping, Diagnostic* diagnostic);

GemmCost EvaluateGemm(const GemmShape& shape, const GemmMachine& machine,
                      const GemmMapping& mapping, GemmForm form);

// Words that a tile needs of the data in `holds`; saturates at INT64_MAX.
int64_t GemmFootprint(const int64_t tile[kGemmAxes], uint8_t holds);

}  // namespace sluice

#endif  // SLUICE_MODEL_GEMM_COST_H_
