// SPDX-License-Identifier: Apache-2.0
// The answer about segments: counts always, the rest as far as there is room.
#include "plan/mesh/segment_answer.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "plan/mesh/node_layers.h"

namespace sluice {
namespace {

using sluice_test::Chain;

struct Asked : sluice_test::KaplaLayers {
  Asked()
      : KaplaLayers(
            Chain(2, 16, 16, 16).Conv(32, 3).Conv(32, 3).Pool(2).Dense(10).Done()) {
    options.struct_size = sizeof options;
    out.struct_size = sizeof out;
  }
  Status Ask() {
    return ScheduleSegments({n.graph, n.hardware, options}, &n.arena, &out,
                            &n.diagnostic);
  }
  sluice_segment_options_t options = {};
  sluice_segment_schedule_t out = {};
};

TEST_CASE("segment answer: an option out of range is refused by name") {
  Asked a;
  a.options.max_stages = 9;
  CHECK(a.Ask() == Status::kBadArgument);
  CHECK(std::string(a.n.diagnostic.message) == "max_stages is 9, must be at most 8");
  a.options.max_stages = 8;
  a.options.word_bytes = 16;
  CHECK(a.Ask() == Status::kBadArgument);
  CHECK(std::string(a.n.diagnostic.message).find("word_bytes") == 0);
}

TEST_CASE("segment answer: counts come without room, and then everything fits") {
  Asked a;
  REQUIRE(a.Ask() == Status::kOk);
  CHECK(a.out.layer_count == 4);
  REQUIRE(a.out.segment_count >= 1);
  REQUIRE(a.out.text_bytes > 1);
  const sluice_segment_schedule_t counted = a.out;
  std::vector<sluice_segment_t> segments(4);
  std::vector<sluice_segment_layer_t> layers(4);
  std::string text(counted.text_bytes, '?');
  a.out = {};
  a.out.struct_size = sizeof a.out;
  a.out.segments = segments.data();
  a.out.layers = layers.data();
  a.out.capacity = 4;
  a.out.text = &text[0];
  a.out.text_bytes = text.size();
  REQUIRE(a.Ask() == Status::kOk);
  CHECK(a.out.cost.energy_pj == counted.cost.energy_pj);
  CHECK(a.out.text_bytes == counted.text_bytes);
  CHECK(text.back() == '\0');
  CHECK(text.find('?') == std::string::npos);
  // The graph's layers have no names.
  CHECK(text.find("layer-0") != std::string::npos);
  CHECK(text.find("layer-3") != std::string::npos);
  uint32_t at = 0;
  uint64_t cycles = 0;
  for (uint32_t s = 0; s < a.out.segment_count; ++s) {
    CHECK(segments[s].first_layer == at);
    for (uint32_t i = 0; i < segments[s].layer_count; ++i, ++at) {
      CHECK(layers[at].segment == s);
      CHECK(layers[at].layer == at);
      CHECK(layers[at].column + layers[at].columns <= 4);
      CHECK(layers[at].rows >= 1);
    }
    cycles += segments[s].cost.cycles;
  }
  CHECK(at == 4);
  CHECK(cycles == a.out.cost.cycles);
}

TEST_CASE("segment answer: room for fewer keeps what is behind it") {
  Asked a;
  std::vector<sluice_segment_layer_t> layers(4);
  for (sluice_segment_layer_t& layer : layers) layer.layer = 77;
  std::string text(9, '?');
  a.out.layers = layers.data();
  a.out.capacity = 1;
  a.out.text = &text[0];
  a.out.text_bytes = 8;
  REQUIRE(a.Ask() == Status::kOk);
  CHECK(layers[0].layer == 0);
  CHECK(layers[1].layer == 77);
  CHECK(text[8] == '?');
  CHECK(a.out.text_bytes > 8);
}

TEST_CASE("segment answer: layer by layer there is a segment for each") {
  Asked a;
  a.options.solver = SLUICE_SEGMENTS_LAYERS;
  REQUIRE(a.Ask() == Status::kOk);
  CHECK(a.out.segment_count == 4);
  CHECK(a.out.objective == a.out.layers_objective);
  CHECK(a.out.cost.energy_pj == a.out.layers_cost.energy_pj);
}

}  // namespace
}  // namespace sluice
