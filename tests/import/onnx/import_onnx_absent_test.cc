// SPDX-License-Identifier: Apache-2.0
// What stands in place of the ONNX importer where its libraries were not found.
#include <doctest/doctest.h>

#include "import/error.h"
#include "import/onnx/import_onnx.h"

// Other names for its functions, as the importer's are linked in, too.
#define HasOnnx HasOnnxWithoutLibraries
#define ImportOnnx ImportOnnxWithoutLibraries
#include "import/onnx/import_onnx_absent.cc"
#undef HasOnnx
#undef ImportOnnx

namespace sluice_test {
namespace {

TEST_CASE("onnx absent: a build without the libraries says which ones it needs") {
  CHECK(!sluice::import::HasOnnxWithoutLibraries());
  CHECK(sluice::import::HasOnnx());  // this build has the libraries
  const uint8_t bytes[] = {1, 2, 3};
  try {
    sluice::import::ImportOnnxWithoutLibraries(bytes, sizeof bytes, {});
    FAIL("it was imported");
  } catch (const sluice::import::Error& error) {
    CHECK(error.fault() == sluice::import::Fault::kUnsupported);
    CHECK(std::string(error.what()) ==
          "this build reads no ONNX models; it needs libonnx-dev and libprotobuf-dev "
          "when it is configured");
  }
}

}  // namespace
}  // namespace sluice_test
