// SPDX-License-Identifier: Apache-2.0
// A TensorFlow Lite model -> a graph for the scheduler.
//
// Input    the untrusted bytes of a .tflite file with fixed shapes: the first subgraph, and
//          those that initialise its variables. Quantised operators become layers of ops.h;
//          floats beside them run on the host, and a model of floats alone gives shapes
// Output   rows of a graph whose execution by ops.h gives the bytes that TensorFlow
//          Lite's reference kernels give (of a model of floats alone: shapes only), and a
//          summary
// Errors   Error(kBadInput): damaged file, or operators that cannot be expressed, all
//          of them listed with their counts
// Cost     linear in the file; constants of the file are not copied
#ifndef SLUICE_IMPORT_TFLITE_IMPORT_TFLITE_H_
#define SLUICE_IMPORT_TFLITE_IMPORT_TFLITE_H_

#include <cstdint>
#include <string>

#include "import/float_ranges.h"
#include "import/import_result.h"
#include "import/state_names.h"

namespace sluice::import {

struct TfliteImportOptions {
  std::string name;            // of the graph
  bool allow_opaque = false;   // what cannot be expressed runs on the host
  uint64_t opaque_cycles = 0;  // declared for each; 0 = one per element in and out
  uint64_t max_constant_bytes = UINT64_MAX;  // kTooLarge beyond that
  bool skip_unread = false;                  // SkipUnreadPixels
  // Not empty: constants that lie in the graph as in the model stay in this file.
  std::string model_file = {};
  StateNames states = {};   // inputs that hold what an output was
  FloatRanges ranges = {};  // of a model of floats; empty: its shapes alone
};

ImportResult ImportTflite(const uint8_t* bytes, size_t size,
                          const TfliteImportOptions& options);

// The same for a model that was not read from bytes (the delegate makes one from the tensors
// of a runtime): nothing is folded, and operators on floats are refused.
struct TfliteModel;
ImportResult LowerTflite(const TfliteModel& model, const TfliteImportOptions& options);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_TFLITE_IMPORT_TFLITE_H_
