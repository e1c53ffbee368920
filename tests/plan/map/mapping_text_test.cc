// SPDX-License-Identifier: Apache-2.0
// A layer's mapping as text, and mappings with wrong fields.
#include "plan/map/mapping_text.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "plan/map/map_layers.h"
#include "support/read_graph.h"
#include "support/stream_builder.h"
#include "tests/solve/mapping/machines.h"

namespace sluice {
namespace {

struct Mapped : Machine {
  explicit Mapped(bool below) : tile_only(below) {
    AddLevel(64, 0.0625, 0.0625);
    levels.back().instances = 4;
    levels.back().name = {"registers", 9};
    AddLevel(16384, 0.5, 0.5);
    levels.back().name = {"scratchpad", 10};
    AddLevel(0, 8, 8);
    levels.back().name = {"dram", 4};
    AddFanout(1, 4, 127);
    hardware.macs_per_cycle = hardware.vector_ops_per_cycle = 4;
    hardware.accumulator_bytes = 4;
    Finish();
    const uint32_t layer = 0;
    sluice_map_options_t options = {};
    options.tile_only = tile_only ? 1 : 0;
    Span<sluice_layer_mapping_t> made;
    REQUIRE(MapGraphLayers({n.graph, hardware, {&layer, 1}, options}, &n.arena, &made,
                           &n.diagnostic) == Status::kOk);
    mapping = made[0];
  }
  Status Print(char* buffer, size_t* size) {
    return PrintMapping({mapping, hardware, tile_only, names}, &n.arena, buffer, size,
                        &n.diagnostic);
  }
  std::string Text() {
    size_t size = 0;
    REQUIRE(Print(nullptr, &size) == Status::kBufferTooSmall);
    std::vector<char> text(size, '#');
    REQUIRE(Print(text.data(), &size) == Status::kOk);
    REQUIRE(size == text.size());
    CHECK(text.back() == '\0');
    return text.data();
  }
  sluice_test::Nouns n{sluice_test::ConvCase().graph};
  sluice_layer_mapping_t mapping = {};
  bool tile_only;
  const char* const* names = nullptr;
};

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("mapping text: tensors by the caller's names, or by plain ones") {
  Mapped m(false);
  const std::string plain = m.Text();
  CHECK(Has(plain, "layer"));
  CHECK(Has(plain, "in"));
  CHECK(!Has(plain, "conv_a"));
  const char* const some[4] = {"conv_a", "image", nullptr, nullptr};
  m.names = some;
  const std::string named = m.Text();
  CHECK(Has(named, "conv_a"));
  CHECK(Has(named, "image"));
  CHECK(Has(named, "w"));
  CHECK(Has(named, "out"));
  CHECK(!Has(named, "layer"));
}

TEST_CASE("mapping text: a level is written for each memory below the outermost one") {
  Mapped whole(false), tile(true);
  const std::string text = whole.Text(), below = tile.Text();
  CHECK(Has(text, "registers:"));
  CHECK(Has(text, "scratchpad:"));
  CHECK(!Has(text, "dram:"));
  // The mapping of a tile has the scratchpad as its outermost memory.
  CHECK(Has(below, "registers:"));
  CHECK(!Has(below, "scratchpad:"));
}

TEST_CASE("mapping text: one byte too few is told, and nothing is written behind it") {
  Mapped m(false);
  size_t size = 0;
  REQUIRE(m.Print(nullptr, &size) == Status::kBufferTooSmall);
  const size_t needed = size;
  std::vector<char> text(needed, '#');
  size = needed - 1;
  CHECK(m.Print(text.data(), &size) == Status::kBufferTooSmall);
  CHECK(size == needed);
  CHECK(text.back() == '#');
  size = 0;
  CHECK(m.Print(text.data(), &size) == Status::kBufferTooSmall);
  CHECK(size == needed);
}

TEST_CASE("mapping text: a nest that a caller has spoilt is refused") {
  Mapped m(false);
  size_t size = 0;
  const sluice_layer_mapping_t right = m.mapping;
  m.mapping.temporal[2][0] = 0;
  CHECK(m.Print(nullptr, &size) == Status::kBadInput);
  m.mapping = right;
  m.mapping.levels = 7;
  CHECK(m.Print(nullptr, &size) == Status::kBadInput);
  m.mapping = right;
  m.mapping.order[1][0] = m.mapping.order[1][1];
  CHECK(m.Print(nullptr, &size) == Status::kBadInput);
  m.mapping = right;
  CHECK(m.Print(nullptr, &size) == Status::kBufferTooSmall);
}

}  // namespace
}  // namespace sluice
