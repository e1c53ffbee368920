// SPDX-License-Identifier: Apache-2.0
// Cost of one tile on an array of cores, each a vector (C) by lane (K) MAC unit.
//
// Input    CoreArray: the array as data (bytes, bytes per cycle, pJ per byte);
//          CoreLayer: the layer; ofmap tile extents N H W K (elements).
// Output   cycles and energy of the best of all core partitionings and buffer tilings.
// Errors   false when no mapping fits the core buffers.
// Cost     O(partitions x tile width) integer steps; remember the result (TileMemo).
// Source   SoMa section VI-A (core array); weights stay in the cores, K outermost.
//          Deviation: tilings whose halo would leave no ifmap rows or columns are
//          skipped.
#ifndef SLUICE_MODEL_CORE_ARRAY_H_
#define SLUICE_MODEL_CORE_ARRAY_H_

#include <stdint.h>

#include "model/hardware.h"
#include "model/mapping_problem.h"
#include "model/tile_cost.h"

namespace sluice {

struct CoreArray {
  int32_t rows, columns;         // of cores; a partitioning cuts one dim along each
  int32_t vector, lane;          // MACs per core = vector (C) x lane (K)
  int32_t input_bytes;           // core input buffer, per vector element
  int32_t weight_bytes;          // core weight buffer, per lane and vector element
  int32_t output_bytes;          // core output buffer, per lane
  int64_t read_bytes_per_cycle;  // of the scratchpad
  int64_t vector_ops_per_cycle;
  double mac_pj, vector_op_pj;
  double input_read_pj, input_write_pj;    // pJ per byte, core input buffer
  double weight_read_pj, weight_write_pj;  // core weight buffer
  double output_read_pj, output_write_pj;  // core output buffer
  double slice_read_pj, slice_write_pj;    // the scratchpad slice that outputs pass
  double gbuf_read_pj, gbuf_write_pj;      // scratchpad
};

struct CoreLayer {
  bool vector_op;    // elementwise, pooling, transpose: on the vector unit
  bool activations;  // both operands are activations: each batch entry is a group
  int32_t c, k;      // channels of the whole layer
  int32_t r, s;
  int32_t stride_h, stride_w;
  int32_t groups;
  int32_t operands;  // vector ops per output element and window position
};

struct CoreCost {
  int64_t cycles;
  double energy_pj;  // = scratchpad + core buffers + arithmetic
  double scratchpad_pj, core_pj, arithmetic_pj;
};

bool CoreArrayCost(const CoreArray& array, const CoreLayer& layer,
                   const int32_t extent[4], CoreCost* out);

// The same from a descriptor: the array of hardware.cores (rows > 0), with scratchpad
// bandwidth rounded to whole bytes per cycle; a tile as a mapping problem. Words of one
// byte; rows between the taps of a dilated window are not counted. False also when an
// extent exceeds 2^31.
CoreArray CoreArrayOf(const Hardware& hardware);
bool CoreTileCost(const CoreArray& array, const MappingProblem& tile, CoreCost* out);

// The least that the tiles of a layer take together, however it is cut; for bounds.h.
// layer: all of it. False where a tile of the layer may have no mapping. Cycles of
// several groups hold only where none is cut along C or K.
struct CoreLeast {
  int64_t cycles;
  double energy_pj;
};
bool LeastOnCores(const CoreArray& array, const MappingProblem& layer, CoreLeast* out);

}  // namespace sluice

#endif  // SLUICE_MODEL_CORE_ARRAY_H_
