// SPDX-License-Identifier: Apache-2.0
// Offsets of hand-made parts, the image, and what stays in place when parts grow.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "base/hash.h"
#include "emit/emitter.h"
#include "support/read_graph.h"

namespace sluice {
namespace {

// 1 body of 32 bytes, 3 bindings, 1 kernel, 5 attributes, and instances as asked for.
struct Parts {
  explicit Parts(size_t instances, Span<const uint8_t> before = {}) {
    parts.before = before;
    for (uint32_t i = 0; i < 8; ++i) body[i] = 0x1000 + i;
    sluice_block_t entry = {};
    entry.body_bytes = sizeof body;
    entry.instruction_offset = 20;
    REQUIRE(parts.entries.Push(entry) == Status::kOk);
    REQUIRE(parts.bodies.Push(reinterpret_cast<const uint8_t*>(body)) == Status::kOk);
    for (size_t i = 0; i < instances; ++i) {
      REQUIRE(parts.instances.Push(sluice_instance_t{0, 0, 0, SLUICE_NONE}) ==
              Status::kOk);
    }
    for (uint32_t i = 0; i < 3; ++i) {
      REQUIRE(parts.bindings.Push(sluice_binding_t{i, 0, 0, 0}) == Status::kOk);
    }
    REQUIRE(parts.kernels.Push(sluice_kernel_t{SLUICE_OP_ADD, 5, 0, 0, 0}) ==
            Status::kOk);
    for (int32_t i = 0; i < 5; ++i) {
      REQUIRE(parts.attributes.Push(i) == Status::kOk);
    }
    hardware.node_cols = 2;
    hardware.node_rows = 3;
    lowering.region_bytes[SLUICE_REGION_CONST] = (uint64_t{2} << 32) + 7;
  }
  Status LayOut() {
    const StreamCall call = {graph,   hardware, lowering,
                             program, waits,    (int64_t{1} << 32) + 5};
    return LayOutStream(call, &parts, &diagnostic);
  }
  Span<const uint8_t> Image() {
    REQUIRE(LayOut() == Status::kOk);
    image.assign(parts.header.size_bytes / 4, 0);
    REQUIRE(WriteStream(parts, reinterpret_cast<uint8_t*>(image.data())) ==
            Status::kOk);
    return {reinterpret_cast<const uint8_t*>(image.data()), 4 * image.size()};
  }

  Memory memory{sluice_test::Nouns::Allocator(), 0};
  Arena arena{&memory};
  Graph graph = {};
  Hardware hardware = {};
  Lowering lowering = {};
  Program program{&arena, hardware};
  ProgramWaits waits{&arena};
  Diagnostic diagnostic = {};
  StreamParts parts{&arena};
  uint32_t body[8];
  std::vector<uint32_t> image;
};

TEST_CASE("layout: tables behind the header, each on 16 bytes, then the bodies") {
  Parts p(2);
  REQUIRE(p.LayOut() == Status::kOk);
  const sluice_stream_header_t& h = p.parts.header;
  CHECK(h.magic == SLUICE_STREAM_MAGIC);
  CHECK(h.node_cols == 2);
  CHECK(h.node_rows == 3);
  CHECK(h.block_offset == 176);
  CHECK(h.instance_offset == 272);
  CHECK(h.instance_count == 2);
  CHECK(h.binding_offset == 304);
  CHECK(h.kernel_offset == 352);
  CHECK(h.attribute_offset == 368);  // 20 bytes
  CHECK(h.attribute_count == 5);
  CHECK(h.patch_offset == 400);
  CHECK(h.patch_count == 0);
  CHECK(p.parts.entries[0].body_offset == 400);
  CHECK(p.parts.entries[0].list_offset == 400);
  CHECK(p.parts.entries[0].instruction_offset == 420);
  CHECK(h.size_bytes == 432);
  CHECK(h.gbuf_bytes_lo == 5);
  CHECK(h.gbuf_bytes_hi == 1);
  CHECK(h.region_bytes[SLUICE_REGION_GBUF][0] == 5);
  CHECK(h.region_bytes[SLUICE_REGION_GBUF][1] == 1);
  CHECK(h.region_bytes[SLUICE_REGION_CONST][0] == 7);
  CHECK(h.region_bytes[SLUICE_REGION_CONST][1] == 2);
}

TEST_CASE("layout: the image holds header, tables and bodies, and its own hash") {
  Parts p(2);
  const Span<const uint8_t> image = p.Image();
  REQUIRE(image.size() == 432);
  sluice_stream_header_t h;
  memcpy(&h, image.data(), sizeof h);
  const uint64_t hash = Fnv1aWords(image.data() + sizeof h, image.size() - sizeof h);
  CHECK(h.hash_lo == static_cast<uint32_t>(hash));
  CHECK(h.hash_hi == static_cast<uint32_t>(hash >> 32));
  CHECK(memcmp(image.data() + 400, p.body, sizeof p.body) == 0);
  sluice_binding_t bindings[3];
  memcpy(bindings, image.data() + 304, sizeof bindings);
  CHECK(bindings[2].region == 2);
  int32_t attributes[5];
  memcpy(attributes, image.data() + 368, sizeof attributes);
  CHECK(attributes[4] == 4);
}

TEST_CASE("layout: what the device has stays in place as far as there is room") {
  Parts first(2);
  // One more instance: every part behind the instances moves, and leaves room in front.
  Parts second(3, first.Image());
  const Span<const uint8_t> image = second.Image();
  CHECK(second.parts.header.instance_offset == 272);
  CHECK(second.parts.header.binding_offset == 320 + 64);
  CHECK(second.parts.header.kernel_offset == 432 + 64);
  CHECK(second.parts.header.attribute_offset == 512 + 64);
  CHECK(second.parts.entries[0].body_offset == 608 + 64);
  CHECK(second.parts.header.size_bytes == 704);
  // The next instance fits into that room.
  Parts third(4, image);
  const Span<const uint8_t> grown = third.Image();
  CHECK(third.parts.header.instance_count == 4);
  CHECK(third.parts.header.binding_offset == 384);
  CHECK(third.parts.entries[0].body_offset == 672);
  REQUIRE(grown.size() == image.size());
  CHECK(memcmp(grown.data() + 384, image.data() + 384, image.size() - 384) == 0);
  // Bytes that are no image give no places to keep.
  const uint8_t none[10] = {};
  Parts garbage(2, Span<const uint8_t>(none, sizeof none));
  REQUIRE(garbage.LayOut() == Status::kOk);
  CHECK(garbage.parts.header.block_offset == 176 + 64);
}

TEST_CASE("layout: streams of 2 GiB are refused with their bytes") {
  Parts p(1);
  p.parts.entries[0].body_bytes = kMaxImage;
  CHECK(p.LayOut() == Status::kUnsupported);
  CHECK(std::string(p.diagnostic.message) == "the stream exceeds 2 GiB");
  CHECK(p.diagnostic.available_bytes == kMaxImage);
  CHECK(p.diagnostic.required_bytes == 384 + uint64_t{kMaxImage});
  Parts largest(1);
  largest.parts.entries[0].body_bytes = kMaxImage - 384;
  CHECK(largest.LayOut() == Status::kOk);
  CHECK(largest.parts.header.size_bytes == kMaxImage);
}

// A stream with one block, whose table and body lie where a test wants them.
struct OnDevice {
  OnDevice(uint32_t block_offset, uint32_t body_offset) {
    header.block_offset = block_offset;
    header.block_count = 1;
    body = body_offset;
  }
  Span<const uint8_t> Bytes(size_t size) {
    sluice_block_t entry = {};
    entry.body_offset = body;
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + header.block_offset, &entry, sizeof entry);
    return {bytes, size};
  }
  sluice_stream_header_t header = {};
  uint32_t body;
  uint8_t bytes[512] = {};
};

TEST_CASE("layout: a table keeps its place if the gap before it is small enough") {
  // The table of blocks has 96 bytes, and 64 more are room enough; the instances' table
  // has 32 bytes, and 64 more, and 64 that the table before it was moved by.
  struct Row {
    uint32_t blocks, instances;  // on the device
    uint32_t blocks_now, instances_now;
  };
  const Row rows[] = {
      {176, 272, 176, 272},        // as they would lie without a device
      {176 + 64, 336, 240, 336},   // as far behind as is allowed
      {176 + 80, 336, 240, 336},   // farther: moves to where the room ends
      {176 - 16, 272, 240, 400},   // in the header
      {176 + 8, 272, 240, 400},    // not on 16 bytes
      {176 + 80, 464, 240, 464},   // room that the table before it did not need
      {176 + 80, 480, 240, 400},   // farther than that
      {176 + 64, 464, 240, 400}};  // no room is left over by a table that stays
  for (const Row& row : rows) {
    CAPTURE(row.blocks);
    CAPTURE(row.instances);
    sluice_stream_header_t header = {};
    header.block_offset = row.blocks;
    header.instance_offset = row.instances;
    uint8_t bytes[sizeof header];
    memcpy(bytes, &header, sizeof header);
    Parts p(2, Span<const uint8_t>(bytes, sizeof bytes));
    REQUIRE(p.LayOut() == Status::kOk);
    CHECK(p.parts.header.block_offset == row.blocks_now);
    CHECK(p.parts.header.instance_offset == row.instances_now);
  }
}

TEST_CASE("layout: a body keeps its place if the stream has an entry for it") {
  const auto body_of = [](const OnDevice& device, size_t size) {
    OnDevice copy = device;
    Parts p(2, copy.Bytes(size));
    REQUIRE(p.LayOut() == Status::kOk);
    return p.parts.entries[0].body_offset;
  };
  // Behind the header, all tables move by 64 bytes each, the body too, unless its place
  // is known.
  OnDevice device(256, 0);
  const uint32_t moved = body_of(device, 352);
  device.body = moved - 48;
  CHECK(body_of(device, 352) == moved - 48);
  CHECK(body_of(device, 351) == moved);  // the entry is cut off
  device.header.block_count = 0;
  CHECK(body_of(device, 352) == moved);
  device.header.block_count = 1;
  device.header.block_offset = 416;
  CHECK(body_of(device, 512) == moved - 48);  // as near to the end as fits
}

TEST_CASE("layout: many bodies are written, and none once the call is cancelled") {
  Parts p(1);
  for (int b = 1; b < 40; ++b) {
    sluice_block_t entry = {};
    entry.body_bytes = sizeof p.body;
    REQUIRE(p.parts.entries.Push(entry) == Status::kOk);
    REQUIRE(p.parts.bodies.Push(reinterpret_cast<const uint8_t*>(p.body)) ==
            Status::kOk);
  }
  const Span<const uint8_t> image = p.Image();
  for (size_t b = 0; b < 40; ++b) {
    const sluice_block_t& entry = p.parts.entries[b];
    CHECK(memcmp(image.data() + entry.body_offset, p.body, sizeof p.body) == 0);
  }
  const uint32_t cancel = 1;
  Budget clock({}, 0, 0, &cancel);
  p.memory.Watch(&clock);
  std::vector<uint32_t> none(image.size() / 4);
  CHECK(WriteStream(p.parts, reinterpret_cast<uint8_t*>(none.data())) ==
        Status::kStopped);
  p.memory.Watch(nullptr);
  // The first bodies are small and written before the time is looked at; the last are
  // not.
  const uint32_t last = p.parts.entries[39].body_offset / 4;
  CHECK(none[last] == 0);
}

}  // namespace
}  // namespace sluice
