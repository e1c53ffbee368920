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
}

}  // namespace
}  // namespace sluice
