// SPDX-License-Identifier: Apache-2.0
// Differences between hand-made images of streams.
#include "plan/compare_streams.h"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

namespace sluice {
namespace {

constexpr uint32_t kBody = 16;  // bytes of each

// A stream of a header, a directory and bodies. Each body repeats one byte, which is also
// its hash.
struct Image {
  explicit Image(const std::vector<uint8_t>& bodies, uint64_t gbuf_bytes = 4096) {
    sluice_stream_header_t header = {};
    header.magic = SLUICE_STREAM_MAGIC;
    header.gbuf_bytes_lo = static_cast<uint32_t>(gbuf_bytes);
    header.gbuf_bytes_hi = static_cast<uint32_t>(gbuf_bytes >> 32);
    header.block_count = static_cast<uint32_t>(bodies.size());
    header.block_offset = sizeof header;
    const size_t begin = sizeof header + bodies.size() * sizeof(sluice_block_t);
    bytes.resize(begin + bodies.size() * kBody);
    std::memcpy(bytes.data(), &header, sizeof header);
    for (size_t i = 0; i < bodies.size(); ++i) {
      sluice_block_t block = {};
      block.body_offset = static_cast<uint32_t>(begin + i * kBody);
      block.body_bytes = kBody;
      block.hash_lo = bodies[i];
      Set(i, block);
      std::memset(bytes.data() + block.body_offset, bodies[i], kBody);
    }
  }
  sluice_block_t Block(size_t i) const {
    sluice_block_t block;
    std::memcpy(&block, At(i), sizeof block);
    return block;
  }
  void Set(size_t i, const sluice_block_t& block) {
    std::memcpy(bytes.data() + (At(i) - bytes.data()), &block, sizeof block);
  }
  const uint8_t* At(size_t i) const {
    return bytes.data() + sizeof(sluice_stream_header_t) + i * sizeof(sluice_block_t);
  }
  Plan plan() const {
    Plan p = {};
    p.stream = {bytes.data(), bytes.size()};
    return p;
  }
  std::vector<uint8_t> bytes;
};

sluice_change_t Compare(const Plan& before, const Plan& after) {
  sluice_change_t change = {};
  CompareStreams(before, after, &change);
  return change;
}

TEST_CASE("compare streams: equal ones differ in nothing") {
  const Image a({1, 2, 3});
  const sluice_change_t change = Compare(a.plan(), a.plan());
  CHECK(change.changed == 0);
  CHECK(change.blocks == 3);
  CHECK(change.blocks_changed == 0);
  CHECK(change.stream_bytes == a.bytes.size());
  CHECK(change.patch_bytes == 0);
}

TEST_CASE("compare streams: a block with another body is one, its words are counted") {
  const Image a({1, 2, 3}), b({1, 9, 3});
  const sluice_change_t change = Compare(a.plan(), b.plan());
  CHECK(change.blocks_changed == 1);
  CHECK(change.patch_bytes == kBody + 4);  // and the hash
  // Both the hash and the bytes count: a body with an equal hash and other bytes has
  // changed, and so has one with equal bytes and another hash.
  Image lies = a;
  std::memset(lies.bytes.data() + lies.Block(1).body_offset, 9, 1);
  CHECK(Compare(a.plan(), lies.plan()).blocks_changed == 1);
  for (int word = 0; word < 2; ++word) {
    Image other = a;
    sluice_block_t block = other.Block(2);
    (word == 0 ? block.hash_lo : block.hash_hi) += 1;
    other.Set(2, block);
    CHECK(Compare(a.plan(), other.plan()).blocks_changed == 1);
  }
  Image shorter = a;
  sluice_block_t block = shorter.Block(0);
  block.body_bytes -= 4;
  shorter.Set(0, block);
  CHECK(Compare(a.plan(), shorter.plan()).blocks_changed == 1);
}

TEST_CASE("compare streams: more blocks than before are changed ones") {
  const Image a({1}), b({1, 2, 3});
  CHECK(Compare(a.plan(), b.plan()).blocks_changed == 2);
  CHECK(Compare(b.plan(), a.plan()).blocks == 1);
  // A longer directory moves the bodies behind it; they are compared wherever they lie.
  CHECK(Compare(b.plan(), a.plan()).blocks_changed == 0);
}

TEST_CASE("compare streams: what has changed beside them") {
  const Image a({1}), b({1}, uint64_t{1} << 33);
  CHECK(BudgetOf(a.plan()) == 4096);
  CHECK(BudgetOf(b.plan()) == int64_t{1} << 33);
  CHECK(Compare(a.plan(), b.plan()).changed == SLUICE_CHANGED_SCRATCHPAD);
  Plan plan = a.plan();
  plan.graph_hash = 5;
  CHECK(Compare(a.plan(), plan).changed == SLUICE_CHANGED_GRAPH);
  plan.graph_hash = 0;
  plan.hardware_hash = 5;
  CHECK(Compare(a.plan(), plan).changed == SLUICE_CHANGED_HARDWARE);
}

TEST_CASE("compare streams: a damaged earlier stream counts as changed") {
  const Image good({1, 2});
  Image magic = good;
  magic.bytes[0] ^= 1;
  CHECK(BudgetOf(magic.plan()) == 0);
  sluice_change_t change = Compare(magic.plan(), good.plan());
  CHECK(change.blocks_changed == 2);
  CHECK(change.patch_bytes == good.bytes.size());
  Plan cut = good.plan();
  cut.stream = {good.bytes.data(), sizeof(sluice_stream_header_t) - 1};
  CHECK(Compare(cut, good.plan()).blocks_changed == 2);
  cut.stream = {good.bytes.data(), sizeof(sluice_stream_header_t)};
  change = Compare(cut, good.plan());
  CHECK(change.blocks_changed == 2);
  CHECK(change.patch_bytes == good.bytes.size() - sizeof(sluice_stream_header_t));
  Image fewer = good;  // bytes behind the shorter directory are no entries
  sluice_stream_header_t header;
  std::memcpy(&header, fewer.bytes.data(), sizeof header);
  header.block_count = 1;
  std::memcpy(fewer.bytes.data(), &header, sizeof header);
  CHECK(Compare(fewer.plan(), good.plan()).blocks_changed == 1);
  Image outside = good;
  sluice_block_t block = outside.Block(1);
  block.body_offset = UINT32_MAX;
  outside.Set(1, block);
  CHECK(Compare(outside.plan(), good.plan()).blocks_changed == 1);
}

}  // namespace
}  // namespace sluice
