// SPDX-License-Identifier: Apache-2.0
// Rows of operators and the host: which are read, which are refused with which message.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "support/library.h"
#include "support/read_graph.h"

namespace sluice_test {
namespace {

constexpr OpSpec kConv = {SLUICE_OP_CONV, 5, 6, 3, 4, 3, 5, 2, 1};

std::string Refusal(const HardwareSpec& spec) {
  Library library;
  const HardwarePtr hardware = library.Hardware(HardwareBytes(spec));
  if (hardware != nullptr) return "";
  CHECK(library.status == SLUICE_BAD_INPUT);
  CHECK(std::string(library.diagnostic.stage) == "hardware");
  return library.diagnostic.message;
}

GraphSpec Copy() {
  GraphSpec g;
  g.tensors.push_back({{1, 4}, SLUICE_DTYPE_INT8, 1});
  g.tensors.push_back({{4, 1}, SLUICE_DTYPE_INT8, 2});
  g.layers.push_back({SLUICE_OP_RESHAPE, {0}, {1}, {}});
  return g;
}

TEST_CASE("ops: every field of a row and of the host is read") {
  HardwareSpec spec;
  spec.ops = {{SLUICE_OP_ADD}, kConv};
  spec.host = HostSpec{7, 3, 2, 5, 4, 1.5};
  const Nouns n(Copy(), spec);
  REQUIRE(n.hardware.ops.size() == 2);
  const uint32_t otherwise[] = {SLUICE_OP_ADD, 1, 62, 7, 7, 0, 0, 0, 0};
  const uint32_t conv[] = {SLUICE_OP_CONV, 5, 6, 3, 4, 3, 5, 2, 1};
  for (uint32_t f = 0; f < sluice::kOpFields; ++f) {
    CAPTURE(f);
    CHECK(n.hardware.ops[0].field[f] == otherwise[f]);
    CHECK(n.hardware.ops[1].field[f] == conv[f]);
  }
  const sluice::Host& host = n.hardware.host;
  CHECK(host.there);
  CHECK(host.call_cycles == 7);
  CHECK(host.bytes_per_cycle.numerator == 3);
  CHECK(host.bytes_per_cycle.denominator == 2);
  CHECK(host.ops_per_cycle.numerator == 5);
  CHECK(host.ops_per_cycle.denominator == 4);
  CHECK(host.pj_per_cycle == 1.5);
  const Nouns without(Copy());
  CHECK(without.hardware.ops.empty());
  CHECK_FALSE(without.hardware.host.there);
}

TEST_CASE("ops: each kind of bad row gets its own sentence") {
  struct BadRow {
    std::function<void(OpSpec*)> spoil;
    std::string what;
  };
  const auto op = [](uint32_t code) { return "op cannot be " + std::to_string(code); };
  const BadRow cases[] = {
      {[](OpSpec* o) { o->op = 0; }, "op cannot be 0"},
      {[](OpSpec* o) { o->op = SLUICE_OP_COUNT; }, op(SLUICE_OP_COUNT)},
      {[](OpSpec* o) { o->op = 65536 + SLUICE_OP_CONV; }, op(65536 + SLUICE_OP_CONV)},
      {[](OpSpec* o) { o->op = SLUICE_OP_CONCAT; }, op(SLUICE_OP_CONCAT)},
      {[](OpSpec* o) { o->op = SLUICE_OP_STATE_APPEND; }, op(SLUICE_OP_STATE_APPEND)},
      {[](OpSpec* o) { o->op = SLUICE_OP_OPAQUE; }, op(SLUICE_OP_OPAQUE)},
      {[](OpSpec* o) { o->arithmetic = 0; }, "arithmetic cannot be 0"},
      {[](OpSpec* o) { o->arithmetic = 9; }, "arithmetic cannot be 9"},
      {[](OpSpec* o) { o->dtypes = 0; }, "dtypes cannot be 0"},
      {[](OpSpec* o) { o->dtypes = 1; }, "dtypes cannot be 1"},
      {[](OpSpec* o) { o->dtypes = 64; }, "dtypes cannot be 64"},
      {[](OpSpec* o) { o->requantise = 8; }, "requantise cannot be 8"},
      {[](OpSpec* o) { o->requantise = 0; }, "requantise cannot be 0"},
      {[](OpSpec* o) { o->zero_points = 8; }, "zero_points cannot be 8"},
      {[](OpSpec* o) {
         *o = {SLUICE_OP_ADD};
         o->max_kernel_h = 2;
       },
       "max_kernel_h cannot be 2"},
      {[](OpSpec* o) {
         *o = {SLUICE_OP_FULLY_CONNECTED};
         o->max_kernel_w = 1;
       },
       "max_kernel_w cannot be 1"},
      {[](OpSpec* o) {
         *o = {SLUICE_OP_PAD};
         o->max_stride = 1;
       },
       "max_stride cannot be 1"},
      {[](OpSpec* o) {
         *o = {SLUICE_OP_SOFTMAX};
         o->max_dilation = 4;
       },
       "max_dilation cannot be 4"},
  };
  for (const BadRow& c : cases) {
    HardwareSpec spec;
    spec.ops = {{SLUICE_OP_ADD}, kConv};
    c.spoil(&spec.ops[1]);
    CHECK(Refusal(spec) == "row 1 of ops: " + c.what);
  }
  // An operator that multiplies nothing needs no bit.
  HardwareSpec spec;
  spec.ops = {{SLUICE_OP_SOFTMAX}};
  spec.ops[0].requantise = 0;
  spec.ops[0].zero_points = 0;
  CHECK(Refusal(spec).empty());
  spec.ops.resize(256, spec.ops[0]);
  CHECK(Refusal(spec).empty());
  spec.ops.resize(257, spec.ops[0]);
  CHECK(Refusal(spec) == "ops must have 1 to 256 rows, not 257");
}

TEST_CASE("ops: a host whose rates mean nothing is refused") {
  const auto refusal = [](const HostSpec& host) {
    HardwareSpec spec;
    spec.host = host;
    return Refusal(spec);
  };
  const char* const range = "host: call_cycles or pj_per_cycle is out of range";
  CHECK(refusal({}).empty());
  CHECK(refusal({uint64_t{1} << 40}).empty());
  CHECK(refusal({(uint64_t{1} << 40) + 1}) == range);
  CHECK(refusal({0, 0, 1, 0, 1, -1}) == range);
  CHECK(refusal({0, 0, 1, 0, 1, 1e12}) == range);
  CHECK(refusal({0, 0, 1, 0, 1, 0.0 / 0.0}) == range);
  const std::string rational =
      " must be a rational of values up to 2^40 with a denominator of at least 1";
  CHECK(refusal({0, 1, 0}) == "host: bytes_per_cycle" + rational);
  CHECK(refusal({0, 0, 1, 1, 0}) == "host: ops_per_cycle" + rational);
  CHECK(refusal({0, 0, 1, uint64_t{1} << 41, 1}) == "host: ops_per_cycle" + rational);
}

}  // namespace
}  // namespace sluice_test
