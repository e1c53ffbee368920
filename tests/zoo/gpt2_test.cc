// SPDX-License-Identifier: Apache-2.0
// GPT-2 small and XL against their published sizes, and the sizes that are refused.
#include <doctest/doctest.h>

#include <string>

#include "counts.h"
#include "import/error.h"

namespace sluice_test {
namespace {

using sluice::zoo::ZooOptions;

constexpr int64_t kVocabulary = 50257, kPositions = 1024;

// Radford et al.: 124 and 1558 million parameters. A block has 12 * width^2 weights;
// the head shares the weights of the token embedding.
void CheckSize(const std::string& size, int64_t blocks, int64_t width,
               double published) {
  CAPTURE(size);
  const int64_t block = 12 * width * width;
  const NetworkCounts c = CountsOf((size + "_decode").c_str());
  CHECK(c.matrices == blocks * 6 + 1);
  CHECK(c.products == blocks * 2);
  CHECK(c.additions == blocks * 2 + 1);
  CHECK(c.weights == blocks * block + (kVocabulary + kPositions) * width);
  CheckNear(c.weights, published, 0.002);
  // Per token, every weight of blocks and head once, and two products over the cache.
  CHECK(c.macs == blocks * (block + 2 * kPositions * width) + kVocabulary * width);
  CHECK(CountsOf((size + "_prefill").c_str()).weights == c.weights);
}

TEST_CASE("gpt2: blocks, weights and the MACs of one token are the published ones") {
  CheckSize("gpt2_small", 12, 768, 124.4e6);
  CheckSize("gpt2_xl", 48, 1600, 1557.6e6);
}

TEST_CASE("gpt2: a prompt multiplies the blocks by its tokens, the head by one") {
  ZooOptions options;
  options.seq = 16;
  options.blocks = 2;
  const NetworkCounts c = CountsOf("gpt2_small_prefill", options);
  const int64_t width = 768, block = 12 * width * width;
  CHECK(c.matrices == 2 * 6 + 1);
  CHECK(c.macs == 2 * (16 * block + 2 * 16 * 16 * width) + kVocabulary * width);
}

std::string Refusal(const char* name, const ZooOptions& options) {
  try {
    sluice::zoo::MakeZooGraph(name, options);
  } catch (const sluice::import::Error& error) {
    CHECK(error.fault() == sluice::import::Fault::kBadArgument);
    return error.what();
  }
  return "";
}

TEST_CASE("gpt2: sizes that it cannot have are refused by name") {
  ZooOptions options;
  options.blocks = 13;
  CHECK(Refusal("gpt2_small_decode", options) == "gpt2_small has 12 blocks");
  options.blocks = -1;
  CHECK(Refusal("gpt2_xl_decode", options) == "gpt2_xl has 48 blocks");
  options = ZooOptions();
  options.context = 1025;
  CHECK(Refusal("gpt2_xl_prefill", options) ==
        "gpt2_xl: the cache holds 1 to 1024 positions");
  options.context = 8;
  options.seq = 9;
  CHECK(Refusal("gpt2_small_prefill", options) ==
        "gpt2_small: the sequence must fit the cache");
  CHECK(Refusal("gpt2_small_decode", options) == "");  // a decode has no sequence
}

}  // namespace
}  // namespace sluice_test
