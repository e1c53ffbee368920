// SPDX-License-Identifier: Apache-2.0
// What PlaceOffsets requires of its input: CheckLiveRanges of offsets.h.
#include <doctest/doctest.h>

#include <string>

#include "solve/placement/offsets/offsets.h"
#include "tests/solve/placement/judge.h"

using namespace sluice;
using sluice_test::Buffers;
using sluice_test::Ground;

TEST_CASE("bad live ranges are refused by the name of the buffer") {
  struct Case {
    const char* message;
    void (*spoil)(Buffers*);
  };
  const Case cases[] = {
      {"buffer 1 has size 0", [](Buffers* b) { b->ranges[1].bytes = 0; }},
      {"buffer 1 has size -5", [](Buffers* b) { b->ranges[1].bytes = -5; }},
      {"buffer 1 brings the sizes beyond 2^60 bytes",
       [](Buffers* b) { b->ranges[1].bytes = INT64_MAX; }},
      {"buffer 1 has an inverted or empty lifetime 5..5",
       [](Buffers* b) { b->ranges[1].begin = b->ranges[1].end = 5; }},
      {"buffer 1 has alignment 12, which is no power of two",
       [](Buffers* b) { b->ranges[1].alignment = 12; }},
      {"buffer 1 is fixed at 6, which its alignment forbids",
       [](Buffers* b) {
         b->ranges[1].alignment = 4;
         b->ranges[1].fixed_offset = 6;
       }},
      {"buffer 1 is fixed over fixed buffer 0",
       [](Buffers* b) { b->ranges[0].fixed_offset = b->ranges[1].fixed_offset = 0; }},
      {"buffer 0 is fixed over reserved region 0",
       [](Buffers* b) {
         b->ranges[0].fixed_offset = 0;
         b->reserved.push_back({0, 9, 5, 1});
       }},
      {"buffer 0 asks for banks, but none are declared",
       [](Buffers* b) { b->ranges[0].banks = 1; }},
      {"buffer 0 names gaps that do not exist",
       [](Buffers* b) { b->ranges[0].gap_count = 1; }},
      {"buffer 0 has a gap outside its life or over another gap, at 7",
       [](Buffers* b) {
         b->gaps.push_back({7, 8, 0, 0});
         b->ranges[0].gap_count = 1;
       }},
      {"buffer 0 has an inverted gap at 2",
       [](Buffers* b) {
         b->gaps.push_back({2, 2, 0, 0});
         b->ranges[0].gap_count = 1;
       }},
      {"buffer 0 uses bytes it does not have in its gap at 1",
       [](Buffers* b) {
         b->gaps.push_back({1, 2, 4, 11});
         b->ranges[0].gap_count = 1;
       }},
      {"buffer 1 is fixed in a bank that is closed to it",
       [](Buffers* b) {
         b->bank_bytes = 16;
         b->ranges[1].banks = 1;
         b->ranges[1].fixed_offset = 8;
       }},
      {"buffer 0 is fixed in a bank that is closed to it",
       [](Buffers* b) {
         b->bank_bytes = 16;
         b->ranges[0].single_bank = true;
         b->ranges[0].fixed_offset = 7;
       }},
  };
  for (const Case& c : cases) {
    Buffers b;
    b.Add(0, 4, 10);
    b.Add(2, 6, 10);
    c.spoil(&b);
    Ground ground;
    CHECK(CheckLiveRanges(b.Set(), 100, &ground.arena, &ground.diagnostic) ==
          Status::kBadInput);
    CHECK(std::string(ground.diagnostic.message) == c.message);
    CHECK(ground.diagnostic.tensor != SLUICE_NO_INDEX);
  }
}

TEST_CASE("live ranges that only just obey the rules are taken") {
  Buffers b;
  b.bank_bytes = 16;
  b.Add(0, 4, 16).fixed_offset = 16;
  b.ranges[0].single_bank = true;
  b.ranges[0].banks = 2;
  b.Add(4, 6, 16).fixed_offset = 16;  // begins when the other ends
  b.Add(0, 4, 16).fixed_offset = 0;   // ends where the other begins
  b.gaps = {{1, 2, 0, 0}, {2, 4, 8, 8}};
  b.ranges[2].gap_count = 2;
  b.reserved.push_back({1, 4, 0, 16});  // all of its gaps
  Ground ground;
  CHECK(CheckLiveRanges(b.Set(), 32, &ground.arena, &ground.diagnostic) == Status::kOk);
  b.reserved[0].begin = 0;
  CHECK(CheckLiveRanges(b.Set(), 32, &ground.arena, &ground.diagnostic) ==
        Status::kBadInput);
  b.reserved[0] = {3, 3, 0, 16};
  CHECK(CheckLiveRanges(b.Set(), 32, &ground.arena, &ground.diagnostic) ==
        Status::kBadInput);
  CHECK(std::string(ground.diagnostic.message) ==
        "reserved region 0 has 16 bytes at 0 during 3..3; a later end, an offset from "
        "0 and "
        "bytes from 1 to 1152921504606846976 would be right");
  CHECK(CheckLiveRanges(b.Set(), -1, &ground.arena, &ground.diagnostic) ==
        Status::kBadInput);
  CHECK(std::string(ground.diagnostic.message) ==
        "the capacity is -1 bytes; 0 to 1152921504606846976 would be right");
  b.bank_bytes = -16;
  CHECK(CheckLiveRanges(b.Set(), 32, &ground.arena, &ground.diagnostic) ==
        Status::kBadInput);
  CHECK(std::string(ground.diagnostic.message) ==
        "a bank has -16 bytes; 0 (no banks) to 18014398509481984 would be right");
}
