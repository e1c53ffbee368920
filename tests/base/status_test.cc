// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace sluice {
namespace {

TEST_CASE("status: an empty diagnostic names nothing") {
  Diagnostic d;
  memset(static_cast<void*>(&d), 0x5a, sizeof d);
  ClearDiagnostic(&d);
  CHECK(d.struct_size == sizeof d);
  CHECK(d.status == SLUICE_OK);
  CHECK(d.layer == SLUICE_NO_INDEX);
  CHECK(d.tensor == SLUICE_NO_INDEX);
  CHECK(d.instruction == SLUICE_NO_INDEX);
  CHECK(d.required_bytes == 0);
  CHECK(d.smallest_scratchpad_bytes == 0);
  CHECK(std::string(d.stage).empty());
  CHECK(std::string(d.rule).empty());
  CHECK(std::string(d.message).empty());
}

TEST_CASE("status: a failure says what, where and how much, in one sentence") {
  Diagnostic d;
  const Status status = Fail(&d, Status::kInfeasible, "graph")
                            .Layer(3)
                            .Tensor(4)
                            .Instruction(5)
                            .Rule("bounds")
                            .Bytes(100, 60)
                            .SmallestScratchpad(128)
                            .Text("layer ")
                            .Number(3)
                            .Text(" needs more", 6);
  CHECK(status == Status::kInfeasible);
  CHECK(d.status == SLUICE_INFEASIBLE);
  CHECK(std::string(d.stage) == "graph");
  CHECK(std::string(d.rule) == "bounds");
  CHECK(std::string(d.message) == "layer 3 needs");
  CHECK(d.layer == 3);
  CHECK(d.tensor == 4);
  CHECK(d.instruction == 5);
  CHECK(d.required_bytes == 100);
  CHECK(d.available_bytes == 60);
  CHECK(d.smallest_scratchpad_bytes == 128);
  // The next failure starts from nothing.
  const Status next = Fail(&d, Status::kBadInput, "plan").Text("no");
  CHECK(next == Status::kBadInput);
  CHECK(std::string(d.message) == "no");
  CHECK(std::string(d.rule).empty());
  CHECK(d.layer == SLUICE_NO_INDEX);
  CHECK(d.required_bytes == 0);
}

TEST_CASE("status: numbers are written in full, the smallest too") {
  Diagnostic d;
  const Status status = Fail(&d, Status::kInternal, "")
                            .Number(0)
                            .Text(" ")
                            .Number(-10)
                            .Text(" ")
                            .Number(INT64_MAX)
                            .Text(" ")
                            .Number(INT64_MIN);
  CHECK(status == Status::kInternal);
  CHECK(std::string(d.message) == "0 -10 9223372036854775807 -9223372036854775808");
}

TEST_CASE("status: what does not fit is cut, and always ends") {
  const std::string long_text(300, 'x');
  Diagnostic d;
  const Status status = Fail(&d, Status::kBadInput, "a stage of more than sixteen")
                            .Rule(long_text.c_str())
                            .Text(long_text.substr(0, 253).c_str())
                            .Number(12345)
                            .Text("more");
  CHECK(status == Status::kBadInput);
  CHECK(std::string(d.stage) == "a stage of more");
  CHECK(std::string(d.rule) == std::string(sizeof d.rule - 1, 'x'));
  CHECK(std::string(d.message) == std::string(253, 'x') + "12");
  CHECK(strlen(d.message) == sizeof d.message - 1);
}

}  // namespace
}  // namespace sluice
