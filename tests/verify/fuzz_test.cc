// SPDX-License-Identifier: Apache-2.0
// Untrusted bytes: the judge answers, whatever they are.
#include "base/rng.h"
#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

// Makes hashes fit, as far as the directory can be read.
void RehashAll(Bytes* image) {
  sluice_stream_header_t header;
  std::memcpy(&header, image->data(), sizeof header);
  for (uint64_t b = 0; b < header.block_count; ++b) {
    const uint64_t at = header.block_offset + b * sizeof(sluice_block_t);
    if (at + sizeof(sluice_block_t) > image->size()) break;
    sluice_block_t entry;
    std::memcpy(&entry, image->data() + at, sizeof entry);
    if (uint64_t{entry.body_offset} + entry.body_bytes > image->size()) continue;
    const uint64_t hash =
        StreamHash(image->data() + entry.body_offset, entry.body_bytes);
    entry.hash_lo = static_cast<uint32_t>(hash);
    entry.hash_hi = static_cast<uint32_t>(hash >> 32);
    std::memcpy(image->data() + at, &entry, sizeof entry);
  }
  Rehash(image);
}

TEST_CASE("verify: any change of a byte without the hash is refused") {
  const Case c = ConcatCase();
  Judged judged(c);
  const Bytes image = c.stream.Image();
  for (size_t i = sizeof(sluice_stream_header_t); i < image.size(); ++i) {
    Bytes flipped = image;
    flipped[i] ^= 1;
    const Verdict v = judged.OfImage(flipped);
    REQUIRE(v.status == sluice::Status::kRejected);
  }
}

TEST_CASE("verify: 20,000 byte flips with right hashes never crash the judge") {
  const Case cases[] = {ConvCase(),   AccumulateCase(), AddCase(),
                        ConcatCase(), GatherHostCase(), NodesCase()};
  sluice::Rng rng(7);
  int accepted = 0, rejected = 0;
  for (const Case& c : cases) {
    Judged judged(c);
    const Bytes image = c.stream.Image();
    for (int i = 0; i < 3334; ++i) {
      Bytes flipped = image;
      const uint32_t flips = 1 + rng.Below(3);
      for (uint32_t f = 0; f < flips; ++f) {
        const uint32_t at = rng.Below(static_cast<uint32_t>(image.size()));
        flipped[at] = rng.Below(2) == 0
                          ? static_cast<uint8_t>(flipped[at] ^ (1u << rng.Below(8)))
                          : static_cast<uint8_t>(rng.Next());
      }
      RehashAll(&flipped);
      const Verdict v = judged.OfImage(flipped);
      accepted += v.status == sluice::Status::kOk;
      rejected += v.status == sluice::Status::kRejected;
      const bool answered = v.status == sluice::Status::kOk ||
                            v.status == sluice::Status::kRejected ||
                            v.status == sluice::Status::kUnsupported;
      REQUIRE(answered);
    }
  }
  MESSAGE(accepted << " harmless, " << rejected << " rejected");
  CHECK(rejected > 10000);
}

TEST_CASE("verify: every truncation is refused") {
  const Case c = AddCase();
  Judged judged(c);
  const Bytes image = c.stream.Image();
  for (size_t n = 0; n < image.size(); n += 4) {
    Bytes cut(image.begin(), image.begin() + static_cast<long>(n));
    if (n >= sizeof(sluice_stream_header_t)) RehashAll(&cut);
    REQUIRE(judged.OfImage(cut).status == sluice::Status::kRejected);
  }
}

TEST_CASE("verify: absurd but well-formed streams end within the work bound") {
  // A write and reads whose strides interleave as badly as possible.
  Case c = ConvCase();
  BlockBuilder& b = c.stream.blocks[0];
  sluice_shape_t& shape = b.shapes[b.operands[b.transfers[3].src].shape];
  shape = sluice_shape_t{{4, 4, 4, 2}, {7, 5, 3, 2}};
  CHECK(Judge(c).status == sluice::Status::kRejected);
  // An element repeated two thousand million times.
  c = ConvCase();
  BlockBuilder& d = c.stream.blocks[0];
  for (const uint32_t o : {d.transfers[3].src, d.transfers[3].dst}) {
    d.shapes[d.operands[o].shape] = {{0x7fffffff, 1, 1, 1}, {0, 0, 0, 1}};
  }
  CHECK(Judge(c).status == sluice::Status::kUnsupported);
  // Many instances of the whole body.
  c = ConvCase();
  for (int i = 0; i < 2000000; ++i) c.stream.AddInstance(0, 0, 0);
  CHECK(Judge(c).status == sluice::Status::kUnsupported);
}

}  // namespace
}  // namespace sluice_test
