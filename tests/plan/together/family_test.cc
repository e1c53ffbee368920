// SPDX-License-Identifier: Apache-2.0
// Families of plans over one dimension.
#include <doctest/doctest.h>

#include <ctime>

#include "presets/presets.h"
#include "sluice/experimental.h"
#include "support/library.h"
#include "zoo/zoo.h"

namespace {

using Bytes = std::vector<uint8_t>;
using FamilyPtr =
    std::unique_ptr<sluice_family_t, sluice_test::DestroyWith<sluice_family_destroy>>;
using sluice_test::Library;

struct Graphs {
  const char* name;
  bool context;  // the dimension: KV length, else batch
  Bytes last;

  static int32_t Make(void* user, int64_t value, const void** bytes, size_t* size) {
    Graphs* graphs = static_cast<Graphs*>(user);
    sluice::zoo::ZooOptions o;
    (graphs->context ? o.context : o.batch) = static_cast<int32_t>(value);
    if (graphs->context) o.blocks = 2;
    graphs->last = sluice::zoo::MakeZooGraph(graphs->name, o);
    *bytes = graphs->last.data();
    *size = graphs->last.size();
    return 0;
  }
};

sluice_family_options_t Options(Graphs* graphs, int64_t first, int64_t last) {
  sluice_family_options_t o = {};
  o.struct_size = sizeof o;
  o.first = first;
  o.last = last;
  o.graph = Graphs::Make;
  o.user = graphs;
  return o;
}

FamilyPtr Family(Library* library, const sluice_test::HardwarePtr& hardware,
                 const sluice_family_options_t& options) {
  sluice_family_t* family = nullptr;
  library->status = sluice_family_create(library->context.get(), hardware.get(),
                                         &options, &family, &library->diagnostic);
  return FamilyPtr(family);
}

// Checks that every bucket's plan is valid for the graph of the bucket's largest value.
void CheckBuckets(Library* library, const sluice_test::HardwarePtr& hardware,
                  const FamilyPtr& family, Graphs* graphs) {
  int64_t top = 0;
  for (uint32_t i = 0; sluice_family_bucket(family.get(), i, &top) != nullptr; ++i) {
    const void* bytes = nullptr;
    size_t size = 0;
    REQUIRE(Graphs::Make(graphs, top, &bytes, &size) == 0);
    const auto graph = library->Graph(graphs->last);
    REQUIRE(library->status == SLUICE_OK);
    CHECK(sluice_verify(library->context.get(), graph.get(), hardware.get(),
                        sluice_family_bucket(family.get(), i, nullptr),
                        &library->diagnostic) == SLUICE_OK);
  }
}

}  // namespace

TEST_CASE("decoding: KV lengths 1 to 1024, buckets as asked, the least that holds") {
  Library library;
  const auto hardware = library.Hardware(sluice::presets::LoadPreset("soma-edge"));
  Graphs graphs = {"gpt2_small_decode", true, {}};
  const int64_t tops[] = {128, 256, 512, 1024};
  sluice_family_options_t options = Options(&graphs, 1, 1024);
  options.top = tops;
  options.tops = 4;
  const FamilyPtr family = Family(&library, hardware, options);
  INFO(library.diagnostic.message);
  REQUIRE(library.status == SLUICE_OK);
  CheckBuckets(&library, hardware, family, &graphs);
  for (int64_t value = 1; value <= 1024; ++value) {
    int64_t top = 0;
    REQUIRE(sluice_family_select(family.get(), value, &top) != nullptr);
    int64_t least = 1024;
    for (int64_t t : tops) {
      if (t >= value && t < least) least = t;
    }
    CHECK(top == least);
  }
  CHECK(sluice_family_select(family.get(), 0, nullptr) == nullptr);
  CHECK(sluice_family_select(family.get(), 1025, nullptr) == nullptr);
  CHECK(sluice_family_bucket(family.get(), 4, nullptr) == nullptr);
}

TEST_CASE("batches 1 to 8: buckets where the cost grows, none above the most") {
  Library library;
  const auto hardware = library.Hardware(sluice::presets::LoadPreset("soma-edge"));
  Graphs graphs = {"mobilenet_v1", false, {}};
  sluice_family_options_t options = Options(&graphs, 1, 8);
  options.tolerance_percent = 60;
  options.most = 5;
  const FamilyPtr family = Family(&library, hardware, options);
  INFO(library.diagnostic.message);
  REQUIRE(library.status == SLUICE_OK);
  CheckBuckets(&library, hardware, family, &graphs);
  int64_t last = 0;
  int64_t top = 0;
  uint32_t count = 0;
  while (sluice_family_bucket(family.get(), count, &top) != nullptr) {
    CHECK(top > last);
    last = top;
    ++count;
  }
  CHECK(last == 8);
  CHECK(count >= 3);
  CHECK(count <= 5);
}
