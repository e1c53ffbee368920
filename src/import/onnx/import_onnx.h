// SPDX-License-Identifier: Apache-2.0
// An ONNX model -> a graph for the scheduler.
//
// Input    the untrusted bytes of a .onnx file; values for dynamic dimensions by name
//          ("batch") or by input and axis ("image:0"); functions that read other files
// Output   rows of a graph and a summary. Quantised models (QDQ or QLinear operators)
//          compute the model's integers; floating-point operators become int8 layers of
//          the same shapes with seeded weights, and the summary says so. See
//          onnx_lowering.h.
// Errors   Error(kBadInput): damaged file, wrong graph, or operators that cannot be
//          expressed, all of them listed; Error(kUnsupported): built without ONNX
// Cost     linear in the file; constants are held twice
#ifndef SLUICE_IMPORT_ONNX_IMPORT_ONNX_H_
#define SLUICE_IMPORT_ONNX_IMPORT_ONNX_H_

#include <cstdint>
#include <map>
#include <string>

#include "import/float_ranges.h"
#include "import/import_result.h"
#include "import/state_names.h"
#include "sluice/import.h"

namespace sluice::import {

struct OnnxImportOptions {
  std::string name;                                   // of the graph
  std::map<std::string, int64_t> dims;                // of dynamic dimensions
  const sluice_external_files_t* external = nullptr;  // constants in other files
  bool allow_opaque = false;   // what cannot be expressed runs on the host
  uint64_t opaque_cycles = 0;  // declared for each; 0 = one per element
  uint64_t max_constant_bytes = UINT64_MAX;  // kTooLarge beyond that
  uint64_t for_external_byte = 0;  // so many more for each byte read from other files
  bool skip_unread = false;        // SkipUnreadPixels
  StateNames states;               // inputs that hold what an output was
  FloatRanges ranges;              // of a model of floats; empty: its shapes alone
};

bool HasOnnx();  // whether this build can read ONNX files

ImportResult ImportOnnx(const uint8_t* bytes, size_t size,
                        const OnnxImportOptions& options);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_IMPORT_ONNX_H_
