// SPDX-License-Identifier: Apache-2.0
// A hand-made case read in and put before the static judge.
#ifndef SLUICE_TESTS_VERIFY_JUDGED_CASE_H_
#define SLUICE_TESTS_VERIFY_JUDGED_CASE_H_

#include <doctest/doctest.h>

#include <string>

#include "honest_report.h"
#include "io/read.h"
#include "support/malloc_allocator.h"
#include "support/stream_builder.h"
#include "verify/stream_view.h"
#include "verify/verify.h"

namespace sluice_test {

struct Verdict {
  sluice::Status status;
  std::string rule;
  std::string message;
  sluice::VerifiedCounts counts;
  uint64_t peak_bytes;  // of scratch
};

// Graph, hardware and plan of a case, read into structs; the stream can be replaced.
class Judged {
 public:
  explicit Judged(const Case& c)
      : memory_(Malloc(), 0),
        arena_(&memory_),
        graph_bytes_(c.Graph()),
        hardware_bytes_(c.Hardware()),
        plan_bytes_(c.Plan()) {
    sluice::Diagnostic d = {};
    CAPTURE(d.message);
    REQUIRE(sluice::ReadGraph(graph_bytes_.data(), graph_bytes_.size(), &arena_, &graph,
                              &d) == sluice::Status::kOk);
    REQUIRE(sluice::ReadHardware(hardware_bytes_.data(), hardware_bytes_.size(),
                                 &arena_, &hardware, &d) == sluice::Status::kOk);
    REQUIRE(sluice::ReadPlan(plan_bytes_.data(), plan_bytes_.size(), &arena_, &plan,
                             &d) == sluice::Status::kOk);
    plan.graph_hash = graph.hash;
    plan.hardware_hash = hardware.hash;
    plan.report.peak_buffer_bytes = c.stream.region_bytes[SLUICE_REGION_GBUF];
  }
  // Judges a stream under a report that fits it, except what the case states.
  Verdict OfImage(const Bytes& image, uint64_t max_bytes = 0) {
    plan.stream = sluice::Span<const uint8_t>(image.data(), image.size());
    const sluice_report_t stated = plan.report;
    const Verdict first = AsItIs(max_bytes);
    if (first.rule != "report") return first;
    plan.report = HonestReport(hardware, first.counts, stated);
    const Verdict second = AsItIs(max_bytes);
    plan.report = stated;
    return second;
  }
  // Gives the plan the report that fits its stream.
  void Deserve() { plan.report = HonestReport(hardware, AsItIs().counts, plan.report); }
  // Judges the plan with its own report.
  Verdict AsItIs(uint64_t max_bytes = 0) const {
    sluice::Memory scratch_memory(Malloc(), max_bytes);
    sluice::Arena scratch(&scratch_memory);
    sluice::Diagnostic d;
    Verdict v;
    v.status = sluice::Verify(graph, hardware, plan, &scratch, &v.counts, &d);
    v.rule = d.rule;
    v.message = d.message;
    v.peak_bytes = scratch_memory.peak_bytes();
    return v;
  }

  sluice::Graph graph;
  sluice::Hardware hardware;
  sluice::Plan plan;

 private:
  sluice::Memory memory_;
  sluice::Arena arena_;
  Bytes graph_bytes_, hardware_bytes_, plan_bytes_;
};

inline Verdict Judge(const Case& c) {
  Judged judged(c);
  return judged.OfImage(c.stream.Image());
}

inline void CheckAccepted(const Case& c) {
  const Verdict v = Judge(c);
  INFO(v.rule << ": " << v.message);
  CHECK(v.status == sluice::Status::kOk);
}

inline void CheckRejected(const Case& c, const std::string& rule) {
  const Verdict v = Judge(c);
  INFO(v.rule << ": " << v.message);
  CHECK(v.status == sluice::Status::kRejected);
  CHECK(v.rule == rule);
}

// Also compares the whole message.
inline void CheckRejected(const Case& c, const std::string& rule,
                          const std::string& message) {
  const Verdict v = Judge(c);
  CHECK(v.status == sluice::Status::kRejected);
  CHECK(v.rule == rule);
  CHECK(v.message == message);
}

// The judge's parts, for tests that call them directly: no stream has been read yet.
struct OwnJudge {
  explicit OwnJudge(const Case& c = ConvCase())
      : judged(c), memory(Malloc(), 0), arena(&memory) {}

  Judged judged;
  sluice::Memory memory;
  sluice::Arena arena;
  sluice::Diagnostic d = {};
  sluice::judge::Judge judge = {judged.graph, judged.hardware,  judged.plan, &arena, &d,
                                {},           int64_t{1} << 40, {},          false};
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_VERIFY_JUDGED_CASE_H_
