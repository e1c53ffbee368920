// SPDX-License-Identifier: Apache-2.0
// What all C functions of libsluice_import share: structs of any size, exceptions as
// statuses, bytes in the caller's memory.
#include "import/border.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "support/recording_allocator.h"

namespace sluice::import {
namespace {

struct Known {
  uint32_t struct_size;
  uint32_t first, second;
};

TEST_CASE(
    "border: a struct of an older version is completed, a newer one's tail is 0") {
  Known in = {sizeof(uint32_t) * 2, 5, 6};
  const Known older = Complete(&in, "known");
  CHECK(older.first == 5);
  CHECK(older.second == 0);
  CHECK(older.struct_size == sizeof(Known));
  CHECK(Complete<Known>(nullptr, "known").struct_size == sizeof(Known));
  struct Newer {
    Known known;
    uint32_t unknown;
  } newer = {{sizeof(Newer), 5, 6}, 0};
  CHECK(Complete(&newer.known, "known").second == 6);
  newer.unknown = 1;
  CHECK_THROWS_WITH(Complete(&newer.known, "known"),
                    "known.struct_size is not that of a known version");
  in.struct_size = 3;
  CHECK_THROWS_WITH(Complete(&in, "known"),
                    "known.struct_size is not that of a known version");
}

TEST_CASE("border: as much is written as the caller has room for") {
  const Known from = {sizeof(Known), 5, 6};
  Known to = {sizeof(uint32_t) * 2, 0, 77};
  CHECK(WriteOut(from, &to) == SLUICE_OK);
  CHECK(to.struct_size == sizeof(uint32_t) * 2);
  CHECK(to.first == 5);
  CHECK(to.second == 77);
  to.struct_size = 0;
  CHECK(WriteOut(from, &to) == SLUICE_BAD_ARGUMENT);
  CHECK(WriteOut(from, static_cast<Known*>(nullptr)) == SLUICE_BAD_ARGUMENT);
}

TEST_CASE("border: what is reserved must be zero") {
  struct Reserved {
    uint32_t struct_size, first, reserved;
  } in = {sizeof(Reserved), 5, 0};
  CHECK(Complete(&in, "given").first == 5);
  in.reserved = 1;
  std::string why;
  try {
    Complete(&in, "given");
  } catch (const Error& error) {
    why = error.what();
  }
  CHECK(why == "given.reserved must be 0");
  in.struct_size = 2 * sizeof(uint32_t);  // then the caller does not know the field
  CHECK(Complete(&in, "given").first == 5);
}

struct Told {
  sluice_status_t status;
  std::string stage, message;
};
template <typename Work>
Told TellOf(Work work) {
  sluice_diagnostic_t d = {};
  d.struct_size = sizeof d;
  d.layer = 3;
  const sluice_status_t status = Guarded(&d, "stage", work);
  if (status != SLUICE_OK) {
    CHECK(d.status == status);
    CHECK(d.layer == SLUICE_NO_INDEX);
  }
  return {status, d.stage, d.message};
}

TEST_CASE("border: what is thrown becomes a status and a sentence") {
  CHECK(TellOf([] {}).status == SLUICE_OK);
  const struct {
    Fault fault;
    sluice_status_t status;
  } faults[] = {{Fault::kBadArgument, SLUICE_BAD_ARGUMENT},
                {Fault::kBadInput, SLUICE_BAD_INPUT},
                {Fault::kUnsupported, SLUICE_UNSUPPORTED},
                {Fault::kTooLarge, SLUICE_OUT_OF_MEMORY}};
  for (const auto& f : faults) {
    CHECK(StatusOf(f.fault) == f.status);
    const Told told = TellOf([&] { throw Error(f.fault, "why"); });
    CHECK(told.status == f.status);
    CHECK(told.stage == "stage");
    CHECK(told.message == "why");
  }
  CHECK(TellOf([] { throw std::bad_alloc(); }).status == SLUICE_OUT_OF_MEMORY);
  CHECK(TellOf([] { throw std::bad_alloc(); }).message == "memory is exhausted");
  CHECK(TellOf([] { throw std::runtime_error("odd"); }).status == SLUICE_INTERNAL);
  CHECK(TellOf([] { throw 7; }).message == "an unknown exception");
  CHECK(TellOf([] { MustBeThere(nullptr, "model"); }).message == "model is NULL");
}

TEST_CASE("border: a list over several lines is told in one that fits") {
  const auto line = [](const std::string& text) {
    sluice_diagnostic_t d = {};
    d.struct_size = sizeof d;
    CHECK(Tell(&d, SLUICE_UNSUPPORTED, "s", text.c_str()) == SLUICE_UNSUPPORTED);
    return std::string(d.message);
  };
  CHECK(line("operators:\n  2 x A\n  1 x B (why)") == "operators: 2 x A, 1 x B (why)");
  const size_t room = sizeof(sluice_diagnostic_t::message) - 1;
  CHECK(line(std::string(2 * room, 'x')) == std::string(room, 'x'));
  CHECK(line(std::string(room - 1, 'x') + "\ny") == std::string(room - 1, 'x') + ",");
  CHECK(Tell(nullptr, SLUICE_INTERNAL, "s", "m") == SLUICE_INTERNAL);
}

TEST_CASE("border: bytes are handed over in the caller's memory, and given back") {
  sluice_test::RecordingAllocator memory;
  sluice_bytes_t out = {};
  HandOver({1, 2, 3}, memory.interface(), &out);
  REQUIRE(out.size == 3);
  CHECK(static_cast<const uint8_t*>(out.data)[2] == 3);
  CHECK(reinterpret_cast<uintptr_t>(out.data) % 16 == 0);
  CHECK(memory.live_bytes() == 3);
  sluice_bytes_release(memory.interface(), &out);
  CHECK(out.data == nullptr);
  CHECK(out.size == 0);
  CHECK(memory.live_blocks() == 0);
  memory.FailAt(1);
  CHECK_THROWS_AS(HandOver({1}, memory.interface(), &out), std::bad_alloc);
  sluice_allocator_t half = *memory.interface();
  half.release = nullptr;
  CHECK_THROWS_WITH(HandOver({1}, &half, &out),
                    "allocator.allocate or allocator.release is NULL");
  CHECK(memory.sound());
}

}  // namespace
}  // namespace sluice::import
