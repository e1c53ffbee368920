// SPDX-License-Identifier: Apache-2.0
// Replaces the ONNX importer in builds where its libraries were not found.
#include "import/error.h"
#include "import/onnx/import_onnx.h"

namespace sluice::import {

bool HasOnnx() { return false; }

ImportResult ImportOnnx(const uint8_t*, size_t, const OnnxImportOptions&) {
  throw Error(Fault::kUnsupported,
              "this build reads no ONNX models; it needs libonnx-dev and "
              "libprotobuf-dev when it is configured");
}

}  // namespace sluice::import
