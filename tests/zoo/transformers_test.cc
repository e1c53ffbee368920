// SPDX-License-Identifier: Apache-2.0
// The original Transformer and ViT-B/16 against their published sizes.
#include <doctest/doctest.h>

#include <string>

#include "counts.h"
#include "import/error.h"

namespace sluice_test {
namespace {

// Vaswani et al., base: width 512, hidden width 2048, six layers on each side. Here a
// batch has 32 pairs of sentences of 10 and 20 tokens.
TEST_CASE(
    "transformers: the base Transformer's weights and MACs, sublayer by sublayer") {
  constexpr int64_t kWidth = 512, kProjections = 4 * kWidth * kWidth,
                    kFeed = 2 * kWidth * 2048, kPairs = 32;
  const NetworkCounts c = CountsOf("transformer");
  CHECK(c.matrices == 6 * (4 + 2) + 6 * (8 + 2));
  CHECK(c.products == 6 * 2 + 6 * 4);
  CHECK(c.additions == 6 * 2 + 6 * 3);
  CHECK(c.weights == 6 * (kProjections + kFeed) + 6 * (2 * kProjections + kFeed));
  const int64_t encoder = 10 * (kProjections + kFeed) + 2 * 10 * 10 * kWidth;
  const int64_t own = 20 * (kProjections + kFeed) + 2 * 20 * 20 * kWidth;
  // Queries and result are of the target's tokens, keys and values of the source's.
  const int64_t cross = (20 + 10) * kProjections / 2 + 2 * 20 * 10 * kWidth;
  CHECK(c.macs == 6 * kPairs * (encoder + own + cross));
}

// Dosovitskiy et al.; torchvision: 86.57 million weights, 17.56 billion MACs.
TEST_CASE("transformers: ViT-B/16 has 12 blocks over 197 tokens") {
  const NetworkCounts c = CountsOf("vit_b_16");
  CHECK(c.convolutions == 1);
  CHECK(c.matrices == 12 * 6 + 1);
  CHECK(c.products == 12 * 2);
  CheckNear(c.weights, 86.57e6, 0.002);
  CheckNear(c.macs, 17.56e9, 0.001);
  sluice::zoo::ZooOptions options;
  options.blocks = 1;
  const NetworkCounts one = CountsOf("vit_b_16", options);
  CHECK(c.weights - one.weights == 11 * int64_t{12} * 768 * 768);
}

TEST_CASE("transformers: more blocks than there are, or less than none, are refused") {
  for (const int32_t blocks : {-1, 7}) {
    sluice::zoo::ZooOptions options;
    options.blocks = blocks;
    try {
      sluice::zoo::MakeZooGraph("transformer", options);
      FAIL("it was made");
    } catch (const sluice::import::Error& error) {
      CHECK(error.fault() == sluice::import::Fault::kBadArgument);
      CHECK(std::string(error.what()) == "the network has 6 blocks");
    }
  }
}

}  // namespace
}  // namespace sluice_test
