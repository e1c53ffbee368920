// SPDX-License-Identifier: Apache-2.0
// R(2+1)D-18 and S3D: their stages, and what torchvision publishes of them.
#include <doctest/doctest.h>

#include <string>

#include "counts.h"
#include "import/error.h"
#include "zoo/network.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

using sluice_test::CheckNear;
using sluice_test::CountsOf;
using sluice_test::NetworkCounts;

TEST_CASE("video: R(2+1)D's stages halve frames, height and width") {
  const GraphWriter graph(MakeZooGraph("r2plus1d_18", ZooOptions()));
  const auto shape = [&](const std::string& name) {
    for (const auto& layer : graph.layers()) {
      if (graph.name(layer.name) == name) return graph.tensors()[layer.outputs[0]].dims;
    }
    return Dims();
  };
  CHECK(shape("stem.space") == Dims{16, 112, 112, 45});
  CHECK(shape("stage1.0.a.space") == Dims{16, 112, 112, 144});
  CHECK(shape("stage2.0.a.space") == Dims{16, 56, 56, 230});
  CHECK(shape("stage2.0.b.space") ==
        Dims{8, 56, 56, 230});  // one width for both convolutions of a block
  CHECK(shape("stage2.0.add") == Dims{8, 56, 56, 128});
  CHECK(shape("stage4.1.add") == Dims{2, 14, 14, 512});
}

// torchvision: 31.51 million weights, 40.52 billion MACs for 16 frames of 112 x 112.
TEST_CASE(
    "video: R(2+1)D-18 has as many weights as 3x3x3 would, and four times the MACs") {
  const NetworkCounts c = CountsOf("r2plus1d_18");
  CHECK(c.convolutions == 2 + 4 * 2 * 2 * 2 + 3);
  CHECK(c.matrices == 1);
  CHECK(c.additions == 8);
  CheckNear(c.weights, 31.51e6, 0.002);
  CheckNear(c.macs, 4 * 40.52e9, 0.001);
}

// torchvision: 8.32 million weights, 17.98 billion MACs for 16 frames of 224 x 224.
TEST_CASE("video: S3D has nine modules and 17.98 billion MACs") {
  const NetworkCounts c = CountsOf("s3d");
  CHECK(c.convolutions == 2 + 1 + 2 + 9 * 8);
  CHECK(c.matrices == 1);
  CheckNear(c.weights, 8.32e6, 0.005);
  CheckNear(c.macs, 17.98e9, 0.001);
}

TEST_CASE("video: more than one clip is refused") {
  ZooOptions options;
  options.batch = 2;
  for (const char* name : {"r2plus1d_18", "s3d"}) {
    CAPTURE(std::string(name));
    try {
      MakeZooGraph(name, options);
      FAIL("it was made");
    } catch (const import::Error& error) {
      CHECK(error.fault() == import::Fault::kBadArgument);
      CHECK(std::string(error.what()) ==
            "video networks take one clip: the batch must be 1");
    }
  }
}

}  // namespace
}  // namespace sluice::zoo
