// SPDX-License-Identifier: Apache-2.0
// A plan of a small graph, moved to another range of the scratchpad.
#include "plan/together/relocate.h"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "io/read.h"
#include "plan/pipeline.h"
#include "tests/plan/together/small_cohort.h"
#include "verify/verify.h"

namespace sluice {
namespace {

struct Relocated {
  Relocated() {
    options.scratchpad_bytes = 1024;
    options.max_iterations = 20;
    REQUIRE(MakePlan({n.graph, n.hardware, options}, &kept, &scratch, &made, nullptr,
                     &n.diagnostic) == Status::kOk);
    before = Read(made);
  }
  Plan Read(Span<const uint8_t> bytes) {
    Plan plan = {};
    REQUIRE(ReadPlan(bytes.data(), bytes.size(), &n.arena, &plan, &n.diagnostic) ==
            Status::kOk);
    return plan;
  }
  Plan To(int64_t offset, int64_t range_bytes) {
    Span<const uint8_t> bytes;
    REQUIRE(RelocatePlan({made, offset, range_bytes}, &kept, &scratch, &bytes,
                         &n.diagnostic) == Status::kOk);
    return Read(bytes);
  }
  sluice_test::Nouns n{sluice_test::ChainOf(2, 16)};
  sluice_schedule_options_t options = {};
  Arena kept{&n.memory}, scratch{&n.memory};
  Span<const uint8_t> made;
  Plan before = {};
};

sluice_stream_header_t HeaderOf(const Plan& plan) {
  sluice_stream_header_t header;
  std::memcpy(&header, plan.stream.data(), sizeof header);
  return header;
}

std::vector<sluice_binding_t> BindingsOf(const Plan& plan) {
  const sluice_stream_header_t header = HeaderOf(plan);
  std::vector<sluice_binding_t> bindings(header.binding_count);
  std::memcpy(bindings.data(), plan.stream.data() + header.binding_offset,
              bindings.size() * sizeof bindings[0]);
  return bindings;
}

TEST_CASE("relocate: only slots of the scratchpad move") {
  Relocated r;
  const Plan after = r.To(1024, 2048);
  const auto old = BindingsOf(r.before), now = BindingsOf(after);
  REQUIRE(old.size() == now.size());
  int moved = 0;
  for (size_t b = 0; b < old.size(); ++b) {
    const bool here = old[b].region == SLUICE_REGION_GBUF;
    moved += here ? 1 : 0;
    CHECK(now[b].region == old[b].region);
    CHECK(now[b].base_lo == old[b].base_lo + (here ? 1024 : 0));
    CHECK(now[b].base_hi == old[b].base_hi);
  }
  CHECK(moved > 0);
}

TEST_CASE("relocate: the stream may use what ends where the range does") {
  Relocated r;
  const Plan after = r.To(1024, 2048);
  const sluice_stream_header_t old = HeaderOf(r.before), now = HeaderOf(after);
  CHECK(now.gbuf_bytes_lo == 3072);
  CHECK(now.gbuf_bytes_hi == 0);
  CHECK(now.region_bytes[SLUICE_REGION_GBUF][0] == 3072);
  CHECK(now.region_bytes[SLUICE_REGION_INPUT][0] ==
        old.region_bytes[SLUICE_REGION_INPUT][0]);
  CHECK(after.report.peak_buffer_bytes == r.before.report.peak_buffer_bytes + 1024);
  CHECK(after.report.latency_cycles == r.before.report.latency_cycles);
}

TEST_CASE(
    "relocate: the judge accepts the result, and the layers of instructions stay") {
  Relocated r;
  const Plan after = r.To(2048, 1024);
  const Status judged =
      Verify(r.n.graph, r.n.hardware, after, &r.scratch, nullptr, &r.n.diagnostic);
  INFO(r.n.diagnostic.message);
  CHECK(judged == Status::kOk);
  REQUIRE(after.debug_layer.size() == r.before.debug_layer.size());
  CHECK(after.debug_layer.size() > 0);
  for (size_t i = 0; i < after.debug_layer.size(); ++i) {
    CHECK(after.debug_layer[i] == r.before.debug_layer[i]);
  }
}

TEST_CASE("relocate: behind the end of the scratchpad the judge refuses it") {
  Relocated r;
  const Plan after = r.To(4096, 1024);
  CHECK(Verify(r.n.graph, r.n.hardware, after, &r.scratch, nullptr, &r.n.diagnostic) ==
        Status::kRejected);
}

TEST_CASE("relocate: what is no plan is refused") {
  Relocated r;
  const std::vector<uint8_t> junk(64, 7);
  Span<const uint8_t> out;
  CHECK(RelocatePlan({{junk.data(), junk.size()}, 0, 64}, &r.kept, &r.scratch, &out,
                     &r.n.diagnostic) != Status::kOk);
}

}  // namespace
}  // namespace sluice
