// SPDX-License-Identifier: Apache-2.0
// Families of plans over one dimension, by the C functions.
#include <doctest/doctest.h>

#include <string>

#include "sluice/experimental.h"
#include "support/library.h"
#include "support/wire_builder.h"

namespace sluice_test {
namespace {

using FamilyPtr = std::unique_ptr<sluice_family_t, DestroyWith<sluice_family_destroy>>;

// A requantisation of `value` rows; there is no graph for `missing`.
struct Graphs {
  int64_t missing = 0;
  Bytes last;

  static int32_t Make(void* user, int64_t value, const void** bytes, size_t* size) {
    Graphs* graphs = static_cast<Graphs*>(user);
    if (value == graphs->missing) return 1;
    GraphSpec spec;
    const int32_t rows = static_cast<int32_t>(value);
    spec.tensors.push_back({{1, rows, 4, 8}, SLUICE_DTYPE_INT8, 1, 0, 0});
    spec.tensors.push_back({{1, rows, 4, 8}, SLUICE_DTYPE_INT8, 2, 0, 0});
    spec.layers.push_back(
        {SLUICE_OP_REQUANTIZE, {0}, {1}, {1, 1 << 30, 1, 2, -128, 127}});
    graphs->last = GraphBytes(spec);
    *bytes = graphs->last.data();
    *size = graphs->last.size();
    return 0;
  }
};

struct Setting {
  Setting() {
    options.struct_size = sizeof options;
    options.first = 1;
    options.last = 8;
    options.graph = Graphs::Make;
    options.user = &graphs;
    options.top = tops;
    options.tops = 3;
  }
  FamilyPtr Make() {
    sluice_family_t* family = nullptr;
    library.status = sluice_family_create(library.context.get(), hardware.get(),
                                          &options, &family, &library.diagnostic);
    return FamilyPtr(family);
  }
  std::string Refusal() {
    CHECK(Make() == nullptr);
    CHECK(library.status == SLUICE_BAD_ARGUMENT);
    return library.diagnostic.message;
  }

  Library library;
  HardwarePtr hardware = library.Hardware(HardwareBytes({}));
  Graphs graphs;
  int64_t tops[3] = {2, 4, 8};
  sluice_family_options_t options = {};
};

TEST_CASE("family: a value runs in the plan of the least top that holds it") {
  Setting s;
  const FamilyPtr family = s.Make();
  REQUIRE(family != nullptr);
  const int64_t want[] = {2, 2, 4, 4, 8, 8, 8, 8};
  for (int64_t value = 1; value <= 8; ++value) {
    int64_t top = 0;
    const sluice_plan_t* plan = sluice_family_select(family.get(), value, &top);
    REQUIRE(plan != nullptr);
    CHECK(top == want[value - 1]);
    // Read once, written once, 32 bytes a row.
    CHECK(ReportOf(plan).dram_read_bytes == static_cast<uint64_t>(32 * top));
    CHECK(ReportOf(plan).dram_write_bytes == static_cast<uint64_t>(32 * top));
  }
  CHECK(sluice_family_select(family.get(), 0, nullptr) == nullptr);
  CHECK(sluice_family_select(family.get(), 9, nullptr) == nullptr);
  CHECK(sluice_family_select(nullptr, 1, nullptr) == nullptr);
  CHECK(sluice_family_bucket(family.get(), 2, nullptr) ==
        sluice_family_select(family.get(), 8, nullptr));
  CHECK(sluice_family_bucket(family.get(), 3, nullptr) == nullptr);
}

TEST_CASE("family: a graph that cannot be given ends it by its value") {
  Setting s;
  s.graphs.missing = 4;
  CHECK(s.Refusal() == "there is no graph for the value 4");
}

TEST_CASE("family: ranges and tops that make no sense are refused") {
  const std::string sentence =
      "a family needs context, hardware, a function that gives graphs, 1 <= first <= "
      "last, and tops that ascend within the range to its last";
  const auto refusal = [](auto change) {
    Setting s;
    change(&s);
    return s.Refusal();
  };
  CHECK(refusal([](Setting* s) { s->options.first = 0; }) == sentence);
  CHECK(refusal([](Setting* s) { s->options.last = 0; }) == sentence);
  CHECK(refusal([](Setting* s) { s->options.last = 9; }) == sentence);
  CHECK(refusal([](Setting* s) { s->options.first = 3; }) == sentence);
  CHECK(refusal([](Setting* s) { s->tops[1] = 2; }) == sentence);
  CHECK(refusal([](Setting* s) { s->options.top = nullptr; }) == sentence);
  CHECK(refusal([](Setting* s) { s->options.graph = nullptr; }) == sentence);
  CHECK(refusal([](Setting* s) { s->hardware.reset(); }) == sentence);
}

}  // namespace
}  // namespace sluice_test
