// SPDX-License-Identifier: Apache-2.0
// Segments on a mesh, by the C function.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sluice/experimental.h"
#include "support/array_machine.h"
#include "support/library.h"
#include "support/stream_builder.h"

namespace sluice_test {
namespace {

struct Setting {
  Library library;
  HardwarePtr hardware = library.Hardware(ArrayMachine(4, 2));
  GraphPtr graph = library.Graph(ConvCase().Graph());
  sluice_segment_options_t options = {};
  sluice_segment_schedule_t schedule = {};

  Setting() {
    options.struct_size = sizeof options;
    schedule.struct_size = sizeof schedule;
  }
  sluice_status_t Run() {
    return sluice_segments(library.context.get(), graph.get(), hardware.get(), &options,
                           &schedule, &library.diagnostic);
  }
  std::string why() const { return library.diagnostic.message; }
};

TEST_CASE("segments: one layer is one segment on all four nodes") {
  Setting s;
  sluice_segment_t segment = {};
  sluice_segment_layer_t layer = {};
  s.schedule.capacity = 1;
  s.schedule.segments = &segment;
  s.schedule.layers = &layer;
  REQUIRE(s.Run() == SLUICE_OK);
  CHECK(s.schedule.segment_count == 1);
  CHECK(s.schedule.layer_count == 1);
  CHECK(segment.kind == SLUICE_SEGMENT_SINGLE);
  CHECK(segment.layer_count == 1);
  CHECK(layer.layer == 0);
  CHECK(layer.producer == SLUICE_NO_INDEX);
  CHECK(layer.columns * layer.rows <= 4);
  const sluice_segment_cost_t& c = s.schedule.cost;
  CHECK(c.operations_pj == doctest::Approx(8 * 4 * 8 * 72 * 0.25));
  CHECK(c.energy_pj ==
        doctest::Approx(c.operations_pj + c.registers_pj + c.transfer_pj +
                        c.scratchpad_pj + c.dram_pj + c.noc_pj + c.leakage_pj));
  CHECK(c.dram_write_bytes == 256);
  CHECK(c.energy_pj == segment.cost.energy_pj);
  CHECK(s.schedule.objective <= s.schedule.layers_objective);
}

TEST_CASE("segments: counts and the text's size are told without room for them") {
  Setting s;
  REQUIRE(s.Run() == SLUICE_OK);
  CHECK(s.schedule.layer_count == 1);
  const uint64_t needed = s.schedule.text_bytes;
  REQUIRE(needed > 1);
  std::vector<char> text(needed, '#');
  s.schedule.text = text.data();
  REQUIRE(s.Run() == SLUICE_OK);
  CHECK(text.back() == '\0');
  CHECK(std::string(text.data()).size() + 1 == needed);
}

TEST_CASE("segments: limits of the options are named") {
  Setting s;
  s.options.top_k = 65;
  CHECK(s.Run() == SLUICE_BAD_ARGUMENT);
  CHECK(s.why() == "top_k is 65, must be at most 64");
  s.options.top_k = 0;
  s.options.max_stages = 9;
  CHECK(s.Run() == SLUICE_BAD_ARGUMENT);
  CHECK(s.why() == "max_stages is 9, must be at most 8");
  s.options.max_stages = 0;
  s.schedule.struct_size = 2;
  CHECK(s.Run() == SLUICE_BAD_ARGUMENT);
  CHECK(s.why() ==
        "context, graph, hardware and schedule must not be null, structs of a known "
        "version");
}

}  // namespace
}  // namespace sluice_test
