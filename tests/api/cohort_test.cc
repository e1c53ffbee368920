// SPDX-License-Identifier: Apache-2.0
// Several models in one scratchpad, by the C functions.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "objects.h"
#include "sluice/experimental.h"

namespace sluice_test {
namespace {

// The same convolution twice.
struct Twins : Objects {
  Twins() {
    models.assign(2, sluice_model_t{graph, 0, 0, 0, 0});
    options.struct_size = sizeof options;
    options.points = 3;
  }
  ~Twins() { sluice_cohort_destroy(cohort); }
  sluice_status_t CoSchedule() {
    sluice_cohort_destroy(cohort);
    cohort = nullptr;
    options.models = models.data();
    options.model_count = static_cast<uint32_t>(models.size());
    return sluice_coschedule(context, hardware, &options, &cohort, &diagnostic);
  }
  sluice_member_t Member(uint32_t model) const {
    sluice_member_t member = {};
    member.struct_size = sizeof member;
    REQUIRE(sluice_cohort_member(cohort, model, &member) == SLUICE_OK);
    return member;
  }
  std::string why() const { return diagnostic.message; }

  std::vector<sluice_model_t> models;
  sluice_coschedule_options_t options = {};
  sluice_cohort_t* cohort = nullptr;
};

TEST_CASE("cohort: two models have ranges of their own, and the turns are judged") {
  Twins t;
  t.options.share = SLUICE_SHARE_PARTITION;
  REQUIRE(t.CoSchedule() == SLUICE_OK);
  const sluice_member_t a = t.Member(0), b = t.Member(1);
  const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
  CHECK(apart);
  CHECK(a.offset + a.bytes <= 4096);
  CHECK(b.offset + b.bytes <= 4096);
  sluice_cohort_summary_t summary = {};
  summary.struct_size = sizeof summary;
  REQUIRE(sluice_cohort_report(t.cohort, &summary) == SLUICE_OK);
  CHECK(summary.models == 2);
  CHECK(summary.share == SLUICE_SHARE_PARTITION);
  CHECK(summary.latency_sum == a.latency_cycles + b.latency_cycles);
  const sluice_turn_t* turns = nullptr;
  uint32_t count = 0;
  REQUIRE(sluice_cohort_turns(t.cohort, &turns, &count) == SLUICE_OK);
  CHECK(count == summary.turns);
  const sluice_graph_t* graphs[] = {t.graph, t.graph};
  const sluice_plan_t* plans[] = {a.plan, b.plan};
  const auto judge = [&](uint32_t n) {
    const sluice_turn_list_t list = {sizeof list, 2, n, 0, graphs, plans, turns};
    return sluice_verify_together(t.context, t.hardware, &list, &t.diagnostic);
  };
  CHECK(judge(count) == SLUICE_OK);
  CHECK(judge(count - 1) == SLUICE_REJECTED);
  CHECK(std::string(t.diagnostic.rule) == "turns");
  graphs[1] = nullptr;
  CHECK(judge(count) == SLUICE_BAD_ARGUMENT);
  CHECK(t.why() ==
        "context, hardware, list, its graphs, plans and turns must not be null, models "
        "1 to 8, the list of a known version");
}

TEST_CASE("cohort: points between instances begin and end with nothing alive") {
  Twins t;
  sluice_plan_t* plan = nullptr;
  REQUIRE(t.Schedule(nullptr, &plan) == SLUICE_OK);
  sluice_preemption_list_t list = {sizeof list, 0, nullptr};
  const auto ask = [&](sluice_preemption_list_t* to) {
    return sluice_preemption_points(t.context, t.graph, t.hardware, plan, to,
                                    &t.diagnostic);
  };
  REQUIRE(ask(&list) == SLUICE_BUFFER_TOO_SMALL);
  REQUIRE(list.count >= 2);
  std::vector<sluice_preemption_point_t> points(list.count);
  list.points = points.data();
  --list.count;
  REQUIRE(ask(&list) == SLUICE_BUFFER_TOO_SMALL);
  REQUIRE(list.count == points.size());
  REQUIRE(ask(&list) == SLUICE_OK);
  CHECK(points.front().cycles == 0);
  for (const auto* end : {&points.front(), &points.back()}) {
    CHECK(end->live_bytes == 0);
    CHECK(end->dead_bytes == 4096);
  }
  CHECK(ask(nullptr) == SLUICE_BAD_ARGUMENT);
  list.struct_size = 0;
  CHECK(ask(&list) == SLUICE_BAD_ARGUMENT);
  sluice_plan_destroy(plan);
}

TEST_CASE("cohort: wrong arguments are named") {
  const std::string sentence =
      "context, hardware, options, models and their graphs must not be null, models "
      "1 to 8, options of a known version, reserved fields 0, points at most 256";
  Twins t;
  const auto call = [&](const sluice_model_t* models, uint32_t n) {
    t.options.models = models;
    t.options.model_count = n;
    return sluice_coschedule(t.context, t.hardware, &t.options, &t.cohort,
                             &t.diagnostic);
  };
  CHECK(call(nullptr, 2) == SLUICE_BAD_ARGUMENT);
  CHECK(call(t.models.data(), 0) == SLUICE_BAD_ARGUMENT);
  CHECK(call(t.models.data(), SLUICE_MODELS_MAX + 1) == SLUICE_BAD_ARGUMENT);
  CHECK(t.why() == sentence);
  t.options.share = 3;
  CHECK(t.CoSchedule() == SLUICE_BAD_ARGUMENT);
  t.options.share = 0;
  t.options.points = 257;
  CHECK(t.CoSchedule() == SLUICE_BAD_ARGUMENT);
  t.options.points = 3;
  t.models[1].graph = nullptr;
  CHECK(t.CoSchedule() == SLUICE_BAD_ARGUMENT);
  CHECK(t.why() == sentence);
  t.models[1].graph = t.graph;
  t.models[1].reserved = 1;
  CHECK(t.CoSchedule() == SLUICE_BAD_ARGUMENT);
  CHECK(t.why() == sentence);
  t.models[1].reserved = 0;
  t.options.scratchpad_bytes = 8;  // too little for any plan
  CHECK(t.CoSchedule() == SLUICE_INFEASIBLE);
  CHECK(t.diagnostic.required_bytes > t.diagnostic.available_bytes);
  t.options.scratchpad_bytes = 0;
  t.options.max_turn_cycles = 1;
  CHECK(t.CoSchedule() == SLUICE_INFEASIBLE);
  CHECK(sluice_cohort_report(nullptr, nullptr) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_cohort_member(nullptr, 0, nullptr) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_cohort_turns(nullptr, nullptr, nullptr) == SLUICE_BAD_ARGUMENT);
  sluice_cohort_destroy(nullptr);
}

}  // namespace
}  // namespace sluice_test
