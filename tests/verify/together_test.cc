// SPDX-License-Identifier: Apache-2.0
// Streams that take turns in one scratchpad, made by hand.
#include "verify/together.h"

#include <string>
#include <vector>

#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

using sluice::JudgedStream;
using sluice::Status;

struct Pair {
  explicit Pair(bool swapped = false)
      : Pair(swapped ? ConvCase() : InTwoInstances(),
             swapped ? InTwoInstances() : ConvCase()) {}
  Pair(const Case& one, const Case& other) : first(one), second(other) {
    first.Deserve();
    second.Deserve();
  }
  Status Of(const std::vector<sluice_turn_t>& turns) {
    sluice::Memory memory(Malloc(), 0);
    sluice::Arena scratch(&memory);
    const JudgedStream streams[] = {{&first.graph, &first.plan},
                                    {&second.graph, &second.plan}};
    return VerifyTogether({streams, 2}, first.hardware, {turns.data(), turns.size()},
                          &scratch, &d);
  }
  void CheckRefused(const std::vector<sluice_turn_t>& turns, const char* rule,
                    uint32_t model, const char* message) {
    CHECK(Of(turns) == Status::kRejected);
    CHECK(std::string(d.rule) == rule);
    CHECK(d.model == model);
    CHECK(std::string(d.message) == message);
  }

  Judged first, second;
  sluice::Diagnostic d = {};
};

TEST_CASE("together: each stream to its end, in either order") {
  Pair pair;
  CHECK(pair.Of({{0, 0, 2, 0, 0}, {1, 0, 1, 0, 0}}) == Status::kOk);
  CHECK(pair.Of({{1, 0, 1, 0, 0}, {0, 0, 1, 0, 0}, {0, 1, 2, 0, 0}}) == Status::kOk);
}

TEST_CASE("together: what another stream has overwritten is not read") {
  Pair pair;
  // The convolution's weight covers bytes 0 to 576, where the loaded input lies.
  pair.CheckRefused({{0, 0, 1, 0, 0}, {1, 0, 1, 0, 0}, {0, 1, 2, 0, 0}}, "foreign", 0,
                    "instance 1, instruction 1: reads scratchpad byte 0, which model 1 "
                    "wrote last");
  Pair swapped(true);
  swapped.CheckRefused(
      {{1, 0, 1, 0, 0}, {0, 0, 1, 0, 0}, {1, 1, 2, 0, 0}}, "foreign", 1,
      "instance 1, instruction 1: reads scratchpad byte 0, which model 0 "
      "wrote last");
}

TEST_CASE("together: bytes between another stream's are not its own") {
  const std::vector<sluice_turn_t> turns = {
      {0, 0, 1, 0, 0}, {1, 0, 1, 0, 0}, {0, 1, 2, 0, 0}, {1, 1, 2, 0, 0}};
  Pair between(InTwoInstances(0, 2, 256), InTwoInstances(1, 2, 320));
  CHECK(between.Of(turns) == Status::kOk);
  Pair last(InTwoInstances(0, 2, 256), InTwoInstances(126, 2, 320));
  last.CheckRefused(
      turns, "foreign", 0,
      "instance 1, instruction 1: reads scratchpad byte 126, which model 1 "
      "wrote last");
}

TEST_CASE("together: turns are the streams' visits, once and in order") {
  Pair pair;
  const char* not_next = "turn 0 is not the next run of a stream's visits";
  pair.CheckRefused({{0, 1, 2, 0, 0}}, "turns", 0, not_next);
  pair.CheckRefused({{0, 0, 3, 0, 0}}, "turns", 0, not_next);
  pair.CheckRefused({{0, 0, 0, 0, 0}}, "turns", 0, not_next);
  pair.CheckRefused({{2, 0, 1, 0, 0}}, "turns", 0, not_next);
  pair.CheckRefused({{0, 0, 2, 0, 0}}, "turns", 1,
                    "the last turn ends before the stream");
  pair.CheckRefused({{0, 0, 1, 0, 0}, {1, 0, 1, 0, 0}}, "turns", 0,
                    "the last turn ends before the stream");
  pair.CheckRefused({{0, 0, 2, 0, 0}, {1, 0, 1, 0, 0}, {1, 0, 1, 0, 0}}, "turns", 1,
                    "turn 2 is not the next run of a stream's visits");
}

TEST_CASE("together: a plan that is wrong by itself is its model's fault") {
  Pair pair;
  pair.second.plan.graph_hash ^= 1;
  pair.CheckRefused({{0, 0, 2, 0, 0}, {1, 0, 1, 0, 0}}, "structure", 1,
                    "made for another graph");
}

TEST_CASE("together: several nodes are not judged") {
  Pair pair;
  pair.first.hardware.node_cols = 2;
  CHECK(pair.Of({}) == Status::kUnsupported);
  CHECK(std::string(pair.d.message) ==
        "streams that take turns are judged on one node only");
}

TEST_CASE("together: bytes just behind a row are another stream's") {
  const std::vector<sluice_turn_t> turns = {
      {0, 0, 1, 0, 0}, {1, 0, 1, 0, 0}, {0, 1, 2, 0, 0}, {1, 1, 2, 0, 0}};
  Pair next(InTwoInstances(0, 1, 256), InTwoInstances(64, 1, 320));
  CHECK(next.Of(turns) == Status::kOk);
  Pair over(InTwoInstances(0, 1, 256), InTwoInstances(32, 1, 320));
  over.CheckRefused(
      turns, "foreign", 0,
      "instance 1, instruction 1: reads scratchpad byte 32, which model 1 wrote last");
}

}  // namespace
}  // namespace sluice_test
