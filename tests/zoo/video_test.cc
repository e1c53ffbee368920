// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "import/error.h"
#include "zoo/network.h"
#include "zoo/zoo.h"

namespace sluice::zoo {
namespace {

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

TEST_CASE("video: networks take one clip") {
  ZooOptions options;
  options.batch = 2;
  CHECK_THROWS_AS(MakeZooGraph("s3d", options), import::Error);
}

}  // namespace
}  // namespace sluice::zoo
