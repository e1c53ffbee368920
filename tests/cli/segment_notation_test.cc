// SPDX-License-Identifier: Apache-2.0
// Segments as text and JSON; plan files made of them.
#include "cli/segment_notation.h"

#include <doctest/doctest.h>

#include "zoo/zoo.h"

namespace sluice::cli {
namespace {

constexpr char kTwo[] =
    R"({"segments": [{"layers": ["conv1", 1], "loops": "H/4 C/2", "slice": 4096,
                      "leave": [0, 512]},
                     {"layers": [2], "loops": "sum/8", "piece": 64}]})";

std::string Refusal(const std::string& json) {
  const Bytes graph = zoo::MakeZooGraph("squeezenet", {});
  try {
    SegmentsFromJson(json, graph);
  } catch (const Failure& failure) {
    CHECK(failure.code() == kBadInput);
    return failure.what();
  }
  return "";
}

TEST_CASE("segment notation: JSON is read as it is written") {
  const Bytes graph = zoo::MakeZooGraph("squeezenet", {});
  const SegmentNotation notation = SegmentsFromJson(kTwo, graph);
  REQUIRE(notation.segments.size() == 2);
  const NotedSegment& first = notation.segments[0];
  CHECK(first.layers == std::vector<uint32_t>{0, 1});
  CHECK(first.leave == std::vector<uint32_t>{0, 512});
  CHECK(first.slice == 4096);
  REQUIRE(first.loops.size() == 2);
  CHECK(first.loops[1].axis == 3);
  CHECK(first.loops[1].parts == 2);
  CHECK(LoopsText(first.loops) == "H/4 C/2");
  CHECK(LoopsText({}) == "-");
  CHECK(notation.segments[1].piece == 64);
  const Json again = SegmentsToJson(notation, graph);
  CHECK(SegmentsToJson(SegmentsFromJson(again.dump(), graph), graph) == again);
  CHECK(HasSegments(kTwo));
  CHECK(!HasSegments("{\"groups\": []}"));
}

TEST_CASE("segment notation: what is wrong is said") {
  CHECK(Refusal("{") == "segments: this is no JSON, or it nests too deeply");
  CHECK(Refusal("{\"segments\": []}").find("at least") != std::string::npos);
  const auto with = [](const std::string& entry) {
    return Refusal("{\"segments\": [{\"layers\": [0], " + entry + "}]}");
  };
  CHECK(with("\"loops\": \"X/2\"").find("\"X/2\" is no loop") != std::string::npos);
  CHECK(with("\"loops\": \"H/1\"").find("at least 2") != std::string::npos);
  CHECK(with("\"loops\": \"H/99999999999\"").find("no loop") != std::string::npos);
  CHECK(with("\"loops\": 4").find("no text") != std::string::npos);
  CHECK(with("\"slice\": -1").find("slice") != std::string::npos);
  CHECK(with("\"leave\": [1, 2]").find("each layer") != std::string::npos);
  CHECK(with("\"lops\": \"H/2\"").find("\"lops\"") != std::string::npos);
  CHECK(Refusal("{\"segments\": [{\"layers\": [\"x\"]}]}").find("\"x\"") !=
        std::string::npos);
  CHECK(Refusal("{\"segments\": [{}]}").find("layers") != std::string::npos);
  CHECK(Refusal("{\"segments\": [{\"layers\": [0, 1]}, {\"layers\": [1]}]}")
            .find("stands there twice") != std::string::npos);
  CHECK_THROWS_AS(SegmentsOfPlan(Bytes(100)), Failure);
}

}  // namespace
}  // namespace sluice::cli
