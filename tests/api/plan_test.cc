// SPDX-License-Identifier: Apache-2.0
// Plans: their bytes, places, hashes, and what differs between two of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "objects.h"

namespace sluice_test {
namespace {

TEST_CASE("plan: a plan survives a round trip through its bytes and verifies again") {
  Objects o;
  sluice_plan_t* plan = nullptr;
  REQUIRE(o.Schedule(nullptr, &plan) == SLUICE_OK);
  const Bytes bytes = PlanBytesOf(plan);
  sluice_plan_t* again = nullptr;
  REQUIRE(sluice_plan_create(o.context, bytes.data(), bytes.size(), &again,
                             &o.diagnostic) == SLUICE_OK);
  CHECK(sluice_verify(o.context, o.graph, o.hardware, again, &o.diagnostic) ==
        SLUICE_OK);
  CHECK(PlanBytesOf(again) == bytes);
  sluice_report_t first = {}, second = {};
  first.struct_size = second.struct_size = sizeof first;
  CHECK(sluice_plan_report(plan, &first) == SLUICE_OK);
  CHECK(sluice_plan_report(again, &second) == SLUICE_OK);
  // The reports agree but for the memory that making the plan took.
  CHECK(std::memcmp(&first, &second, offsetof(sluice_report_t, phase_peak_bytes)) == 0);
  CHECK(first.latency_cycles >= first.bound_latency_cycles);
  CHECK(first.energy_pj >= first.bound_energy_pj);
  sluice_plan_destroy(again);
  sluice_plan_destroy(plan);
}

struct Planned : Objects {
  Planned() { REQUIRE(Schedule(nullptr, &plan) == SLUICE_OK); }
  ~Planned() { sluice_plan_destroy(plan); }
  sluice_plan_t* plan = nullptr;
};

TEST_CASE("plan: inputs, outputs and constants have a place in their region") {
  const Planned p;
  // Tensors of ConvCase: input, weight, parameters, output.
  const uint32_t regions[] = {SLUICE_REGION_INPUT, SLUICE_REGION_CONST,
                              SLUICE_REGION_CONST, SLUICE_REGION_OUTPUT};
  sluice_tensor_place_t place = {};
  place.struct_size = sizeof place;
  for (uint32_t i = 0; i < 4; ++i) {
    REQUIRE(sluice_plan_tensor(p.plan, i, &place) == SLUICE_OK);
    CHECK(place.region == regions[i]);
  }
  // The output [1, 8, 4, 8] lies dense.
  CHECK(place.stride[1] == 32);
  CHECK(place.stride[2] == 8);
  CHECK(place.stride[3] == 1);
  CHECK(sluice_plan_tensor(p.plan, 4, &place) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_plan_tensor(nullptr, 0, &place) == SLUICE_BAD_ARGUMENT);
}

TEST_CASE("plan: hashes say what it was made for") {
  const Planned p;
  sluice_plan_hashes_t h = {};
  h.struct_size = sizeof h;
  REQUIRE(sluice_plan_hash(p.plan, &h) == SLUICE_OK);
  CHECK(h.made_for_graph == sluice_graph_hash(p.graph));
  CHECK(h.made_for_hardware == sluice_hardware_hash(p.hardware));
  CHECK(h.scratchpad_bytes == 4096);
  const Bytes bytes = PlanBytesOf(p.plan);
  CHECK(h.plan == Fnv1a64(bytes.data(), bytes.size()));
  CHECK(sluice_plan_hash(nullptr, &h) == SLUICE_BAD_ARGUMENT);
}

TEST_CASE(
    "plan: of a plan file with a graph and a machine behind it, the plan is kept") {
  const Planned p;
  const Bytes bytes = PlanBytesOf(p.plan);
  Bytes file = bytes;
  file.resize((bytes.size() + 7) / 8 * 8 + 64, 7);  // what lies behind it is not read
  uint64_t footer[4] = {bytes.size(), 32, 32, 0};
  std::memcpy(&footer[3], "SLPFILE1", 8);
  const auto* words = reinterpret_cast<const uint8_t*>(footer);
  file.insert(file.end(), words, words + sizeof footer);
  const auto create = [&] {
    sluice_plan_t* plan = nullptr;
    const sluice_status_t status =
        sluice_plan_create(p.context, file.data(), file.size(), &plan, nullptr);
    const Bytes kept = status == SLUICE_OK ? PlanBytesOf(plan) : Bytes();
    sluice_plan_destroy(plan);
    return kept;
  };
  CHECK(create() == bytes);
  file.back() ^= 1;  // no mark: all of it is the plan
  CHECK(create() == file);
  file.back() ^= 1;
  for (const uint64_t size : {uint64_t{0}, uint64_t{11}, UINT64_MAX}) {
    std::memcpy(file.data() + file.size() - sizeof footer, &size, sizeof size);
    CHECK(create() == (size < 12 ? Bytes() : file));
  }
}

TEST_CASE("plan: the stream lies inside the plan's bytes") {
  const Planned p;
  const void *bytes = nullptr, *stream = nullptr;
  size_t size = 0, stream_size = 0;
  REQUIRE(sluice_plan_bytes(p.plan, &bytes, &size) == SLUICE_OK);
  REQUIRE(sluice_plan_stream(p.plan, &stream, &stream_size) == SLUICE_OK);
  const auto* first = static_cast<const uint8_t*>(bytes);
  const auto* at = static_cast<const uint8_t*>(stream);
  CHECK(at > first);
  CHECK(at + stream_size <= first + size);
  uint32_t magic = 0;
  std::memcpy(&magic, stream, sizeof magic);
  CHECK(magic == SLUICE_STREAM_MAGIC);
  CHECK(sluice_plan_bytes(p.plan, nullptr, &size) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_plan_stream(p.plan, &stream, nullptr) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_plan_write(p.plan, nullptr, nullptr) == SLUICE_BAD_ARGUMENT);
}

TEST_CASE("plan: a device that copies the ranges of a patch holds the new stream") {
  Planned p;
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  options.scratchpad_bytes = 1500;
  sluice_plan_t* after = nullptr;
  REQUIRE(p.Schedule(&options, &after) == SLUICE_OK);
  const auto image = [](const sluice_plan_t* plan) {
    const void* stream = nullptr;
    size_t size = 0;
    REQUIRE(sluice_plan_stream(plan, &stream, &size) == SLUICE_OK);
    const auto* first = static_cast<const uint8_t*>(stream);
    return Bytes(first, first + size);
  };
  size_t count = 0;
  CHECK(sluice_plan_patch(p.plan, p.plan, 0, nullptr, &count) == SLUICE_OK);
  CHECK(count == 0);
  REQUIRE(sluice_plan_patch(p.plan, after, 0, nullptr, &count) ==
          SLUICE_BUFFER_TOO_SMALL);
  REQUIRE(count > 0);
  std::vector<sluice_patch_range_t> ranges(count);
  REQUIRE(sluice_plan_patch(p.plan, after, 0, ranges.data(), &count) == SLUICE_OK);
  Bytes device = image(p.plan);
  const Bytes wanted = image(after);
  CHECK(device != wanted);
  device.resize(std::max(device.size(), wanted.size()));
  for (const sluice_patch_range_t& r : ranges) {
    REQUIRE(r.offset + r.bytes <= wanted.size());
    std::memcpy(device.data() + r.offset, wanted.data() + r.offset, r.bytes);
  }
  device.resize(wanted.size());
  CHECK(device == wanted);
  CHECK(sluice_plan_patch(nullptr, after, 0, nullptr, &count) == SLUICE_BAD_ARGUMENT);
  sluice_plan_destroy(after);
}

TEST_CASE("plan: a plan without its graph or its judge's context is not verified") {
  Planned p;
  CHECK(sluice_verify(p.context, nullptr, p.hardware, p.plan, &p.diagnostic) ==
        SLUICE_BAD_ARGUMENT);
  CHECK(std::string(p.diagnostic.message) ==
        "context, graph, hardware and plan must not be null");
  CHECK(sluice_plan_report(nullptr, nullptr) == SLUICE_BAD_ARGUMENT);
}

}  // namespace
}  // namespace sluice_test
