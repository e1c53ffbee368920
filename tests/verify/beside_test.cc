// SPDX-License-Identifier: Apache-2.0
// What a plan says beside its stream: sizes of regions, the debug map, the schedule.
#include "verify/beside.h"

#include <vector>

#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

TEST_CASE("beside: a region is no larger than what is used of it, rounded up") {
  for (const int region : {SLUICE_REGION_CONST, SLUICE_REGION_INPUT,
                           SLUICE_REGION_OUTPUT, SLUICE_REGION_WORKSPACE}) {
    CAPTURE(region);
    Case c = ConvCase();
    const uint64_t alignment = c.stream.region_alignment;
    uint64_t* bytes = &c.stream.region_bytes[region];
    *bytes = (*bytes + alignment - 1) / alignment * alignment;
    CheckAccepted(c);
    *bytes += 1;
    CheckRejected(
        c, "bounds",
        "region " + std::to_string(region) + " is larger than what is used of it");
    *bytes += uint64_t{1} << 44;
    CheckRejected(c, "bounds");
  }
}

TEST_CASE("beside: the debug map names the layer of each instruction's kernel") {
  Case c = ConvCase();
  c.debug_layer.assign(14, 0);
  CheckAccepted(c);
  for (const size_t instruction : {size_t{0}, size_t{13}}) {
    Case wrong = c;
    wrong.debug_layer[instruction] = 1;
    CheckRejected(wrong, "structure",
                  "the debug map names layer 1 where the kernel is of layer 0");
  }
  c.debug_layer.pop_back();
  CheckRejected(c, "structure", "debug map of another length");
}

struct Schedule {
  std::vector<uint32_t> order;
  std::vector<sluice::PlanSegment> segments;
  std::vector<sluice::PlanLoop> loops;
};

template <typename T>
sluice::Span<const T> SpanOf(const std::vector<T>& of) {
  return {of.data(), of.size()};
}

std::string SentenceOn(const Schedule& schedule) {
  const Case c = ConvCase();
  Judged judged(c);
  judged.plan.notation.order = SpanOf(schedule.order);
  judged.plan.notation.segment = SpanOf(schedule.segments);
  judged.plan.notation.loop = SpanOf(schedule.loops);
  const Verdict v = judged.OfImage(c.stream.Image());
  CHECK(v.rule == (v.status == sluice::Status::kOk ? "" : "structure"));
  return v.message;
}

TEST_CASE(
    "beside: the schedule names each layer once, segments are made of all of it") {
  CHECK(SentenceOn({}) == "");
  CHECK(SentenceOn({{0}, {}, {}}) == "");
  CHECK(SentenceOn({{0}, {{1, 1, 0, 0}}, {{1, 2}}}) == "");
  CHECK(SentenceOn({{0, 0}, {}, {}}) == "the order of layers names 0 twice");
  CHECK(SentenceOn({{1}, {}, {}}) == "the order of layers names 1, which is none");
  CHECK(SentenceOn({{0}, {{2, 1, 0, 0}}, {{1, 2}}}) ==
        "segments have 2 layers and 1 loops, the plan 1 and 1");
  CHECK(SentenceOn({{0}, {{1, 4294967295u, 0, 0}}, {{1, 2}}}) ==
        "segments have 1 layers and 4294967295 loops, the plan 1 and 1");
}

}  // namespace
}  // namespace sluice_test
