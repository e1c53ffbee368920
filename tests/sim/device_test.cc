// SPDX-License-Identifier: Apache-2.0
// The device refuses accesses outside of what it was given, and goes on working.
#include "firmware-sim/device.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "firmware-sim/walker.h"
#include "sim/judge_case.h"

namespace sluice_test {
namespace {

constexpr uint64_t kDram = 1 << 16;

// A device with the convolution's stream placed in its memory, region after region, or
// the last region first and nothing between them, up to the memory's end.
struct Placed {
  const Case c = ConvCase();
  Bytes image = c.stream.Image();
  const Bytes graph = c.Graph(), hardware = c.Hardware();
  sluice_device_t* device = nullptr;
  sluice_device_submission_t s = {};

  explicit Placed(bool backwards = false) {
    REQUIRE(sluice_device_open(hardware.data(), hardware.size(), kDram, &device) == 0);
    sluice_walker_t walker;
    REQUIRE(sluice_walk_open(&walker, image.data(), image.size(), nullptr) == 0);
    uint64_t base[SLUICE_REGION_COUNT] = {}, next = 4096, end = kDram;
    for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
      const uint64_t bytes = sluice_walk_region_bytes(&walker, r);
      if (r != SLUICE_REGION_GBUF) base[r] = backwards ? end -= bytes : next;
      s.window[r] = {base[r], base[r] + bytes};
      if (r != SLUICE_REGION_GBUF) next += (bytes + 63) / 64 * 64;
    }
    REQUIRE(sluice_walk_relocate(image.data(), base) == SLUICE_WALK_OK);
    s.graph = graph.data();
    s.graph_bytes = graph.size();
  }
  ~Placed() { sluice_device_close(device); }

  int Submit() {
    s.stream = image.data();
    s.stream_bytes = image.size();
    return sluice_device_control(device, SLUICE_DEVICE_SUBMIT, &s);
  }
};

TEST_CASE("device: a placed stream runs, in as many cycles as the simulator says") {
  Placed p;
  REQUIRE(p.Submit() == SLUICE_DEVICE_OK);
  CHECK(p.s.cycles == Judge(p.c).cycles);
  CHECK(std::string(p.s.fault).empty());
}

TEST_CASE("device: windows may touch each other and the memory's end") {
  Placed p(true);
  CHECK(p.s.window[SLUICE_REGION_CONST].end == kDram);
  CHECK(p.s.window[SLUICE_REGION_OUTPUT].end == p.s.window[SLUICE_REGION_INPUT].begin);
  CHECK(p.Submit() == SLUICE_DEVICE_OK);
  Placed forwards;
  const sluice_device_window_t input = forwards.s.window[SLUICE_REGION_INPUT];
  sluice_device_window_t* const space = &forwards.s.window[SLUICE_REGION_WORKSPACE];
  *space = {input.end, input.end};
  CHECK(forwards.Submit() == SLUICE_DEVICE_OK);
  *space = {input.end - 1, input.end};
  CHECK(forwards.Submit() == SLUICE_DEVICE_INVALID);
}

TEST_CASE("device: two windows that are read may overlap, none that is written") {
  Placed p;
  auto* const window = p.s.window;
  const auto overlap = [&](uint32_t one, uint32_t other) {
    const sluice_device_window_t was = window[one];
    window[one] = {window[other].begin, window[other].begin + was.end - was.begin};
    const int code = p.Submit();
    window[one] = was;
    return code;
  };
  // Accepted, but the stream is placed elsewhere.
  CHECK(overlap(SLUICE_REGION_INPUT, SLUICE_REGION_CONST) == SLUICE_DEVICE_FAULT);
  for (const uint32_t written :
       {SLUICE_REGION_OUTPUT, SLUICE_REGION_STATE, SLUICE_REGION_WORKSPACE}) {
    CAPTURE(written);
    for (const uint32_t other :
         {SLUICE_REGION_CONST, SLUICE_REGION_INPUT, SLUICE_REGION_OUTPUT}) {
      if (other == written) continue;
      window[written].end = std::max(window[written].end, window[written].begin + 1);
      CHECK(overlap(written, other) == SLUICE_DEVICE_INVALID);
    }
  }
}

TEST_CASE("device: windows that leave it, overlap or are too small are refused") {
  Placed p;
  const sluice_device_window_t output = p.s.window[SLUICE_REGION_OUTPUT];
  for (const sluice_device_window_t bad : {sluice_device_window_t{kDram - 8, kDram + 8},
                                           {output.end, output.begin},
                                           {output.begin, output.end - 1},
                                           p.s.window[SLUICE_REGION_CONST]}) {
    p.s.window[SLUICE_REGION_OUTPUT] = bad;
    CHECK(p.Submit() == SLUICE_DEVICE_INVALID);
    CHECK(!std::string(p.s.fault).empty());
  }
  p.s.window[SLUICE_REGION_OUTPUT] = output;
  p.s.window[SLUICE_REGION_GBUF].end = uint64_t{1} << 40;
  CHECK(p.Submit() == SLUICE_DEVICE_INVALID);
}

TEST_CASE(
    "device: a stream that reaches beyond its windows faults, the next one runs") {
  Placed p;
  const sluice_device_window_t good = p.s.window[SLUICE_REGION_INPUT];
  for (const uint64_t moved : {good.begin + 16, good.begin - 16}) {
    p.s.window[SLUICE_REGION_INPUT] = {moved, moved + (good.end - good.begin)};
    p.s.window[SLUICE_REGION_OUTPUT].begin += 512;
    p.s.window[SLUICE_REGION_OUTPUT].end += 512;
    CHECK(p.Submit() == SLUICE_DEVICE_FAULT);
    CHECK(std::string(p.s.fault).find("bounds") == 0);
    CHECK(p.s.fault_instruction != SLUICE_NONE);
    p.s.window[SLUICE_REGION_OUTPUT].begin -= 512;
    p.s.window[SLUICE_REGION_OUTPUT].end -= 512;
  }
  p.s.window[SLUICE_REGION_INPUT] = good;
  CHECK(p.Submit() == SLUICE_DEVICE_OK);
}

TEST_CASE(
    "device: bytes that nobody wrote read as 0xa5, whichever blocks are written") {
  Placed p;
  sluice_device_t* device = nullptr;
  constexpr uint64_t kBytes = (1 << 18) + 100, kBlock = 1 << 16;
  REQUIRE(sluice_device_open(p.hardware.data(), p.hardware.size(), kBytes, &device) ==
          0);
  Bytes expected(kBytes, 0xa5);
  const Bytes written(kBlock + 20, 7);
  const uint64_t ranges[][2] = {{5, 10},
                                {kBlock - 1, 2},
                                {2 * kBlock - 10, kBlock + 20},
                                {kBytes - 60, 60},
                                {kBytes, 0}};
  for (const auto& [begin, bytes] : ranges) {
    sluice_device_copy_t write = {begin, bytes, const_cast<uint8_t*>(written.data())};
    CHECK(sluice_device_control(device, SLUICE_DEVICE_WRITE_DRAM, &write) == 0);
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(begin), bytes,
                uint8_t{7});
  }
  Bytes found(kBytes);
  sluice_device_copy_t read = {0, kBytes, found.data()};
  CHECK(sluice_device_control(device, SLUICE_DEVICE_READ_DRAM, &read) == 0);
  CHECK(found == expected);
  // A part of it lies where the whole has it.
  read = {kBlock - 3, 9, found.data()};
  CHECK(sluice_device_control(device, SLUICE_DEVICE_READ_DRAM, &read) == 0);
  CHECK(std::equal(found.begin(), found.begin() + 9,
                   expected.begin() + static_cast<std::ptrdiff_t>(kBlock - 3)));
  sluice_device_close(device);
  // More memory than the address space has.
  CHECK(sluice_device_open(p.hardware.data(), p.hardware.size(), UINT64_MAX, &device) ==
        SLUICE_DEVICE_MEMORY);
}

TEST_CASE("device: requests that make no sense are refused") {
  Placed p;
  const int32_t parameter = 0;
  sluice_device_t* none = nullptr;
  CHECK(sluice_device_open("junk", 4, kDram, &none) == SLUICE_DEVICE_INVALID);
  CHECK(sluice_device_open(nullptr, 0, kDram, &none) == SLUICE_DEVICE_INVALID);
  CHECK(none == nullptr);
  CHECK(sluice_device_control(p.device, 99, &p.s) == SLUICE_DEVICE_INVALID);
  CHECK(sluice_device_control(p.device, SLUICE_DEVICE_SUBMIT, nullptr) ==
        SLUICE_DEVICE_INVALID);
  sluice_device_submission_t empty = {};
  CHECK(sluice_device_control(p.device, SLUICE_DEVICE_SUBMIT, &empty) ==
        SLUICE_DEVICE_INVALID);
  uint8_t byte = 0;
  sluice_device_copy_t copy = {kDram, 1, &byte};
  CHECK(sluice_device_control(p.device, SLUICE_DEVICE_WRITE_DRAM, &copy) ==
        SLUICE_DEVICE_INVALID);
  copy = {8, UINT64_MAX, &byte};
  CHECK(sluice_device_control(p.device, SLUICE_DEVICE_READ_DRAM, &copy) ==
        SLUICE_DEVICE_INVALID);
  p.s.parameters = &parameter;
  p.s.parameter_count = 1;
  CHECK(p.Submit() == SLUICE_DEVICE_INVALID);
}

}  // namespace
}  // namespace sluice_test
