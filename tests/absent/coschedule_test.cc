// SPDX-License-Identifier: Apache-2.0
// Curves and several models, in a library without them.
#include "bare.h"

namespace sluice_test {
namespace {

const char kAbsent[] =
    "this library was built without curves and several models together (CMake option "
    "SLUICE_WITH_COSCHEDULE)";

TEST_CASE("coschedule: curves and cohorts are refused") {
  Bare bare;
  sluice_curve_point_t points[2];
  sluice_curve_list_t curve = {};
  curve.struct_size = sizeof curve;
  curve.count = 2;
  curve.points = points;
  bare.CheckAbsent(sluice_curve(bare.context(), bare.graph.get(), bare.plain.get(),
                                nullptr, &curve, bare.why()),
                   kAbsent);
  const sluice_model_t models[2] = {{bare.graph.get(), 0, 0, 0, 0},
                                    {bare.graph.get(), 0, 0, 0, 0}};
  sluice_coschedule_options_t options = {};
  options.struct_size = sizeof options;
  options.model_count = 2;
  options.models = models;
  sluice_cohort_t* cohort = nullptr;
  bare.CheckAbsent(sluice_coschedule(bare.context(), bare.plain.get(), &options,
                                     &cohort, bare.why()),
                   kAbsent);
  CHECK(cohort == nullptr);
}

TEST_CASE("coschedule: points between instances are refused, turns are still judged") {
  Bare bare;
  const PlanPtr plan = bare.library.Schedule(bare.graph, bare.plain);
  REQUIRE(plan != nullptr);
  sluice_preemption_list_t points = {};
  points.struct_size = sizeof points;
  bare.CheckAbsent(
      sluice_preemption_points(bare.context(), bare.graph.get(), bare.plain.get(),
                               plan.get(), &points, bare.why()),
      kAbsent);
  const sluice_graph_t* graphs[] = {bare.graph.get()};
  const sluice_plan_t* plans[] = {plan.get()};
  const sluice_turn_t turn = {0, 0, 99, 0, 0};  // more instances than there are
  sluice_turn_list_t list = {};
  list.struct_size = sizeof list;
  list.model_count = list.turn_count = 1;
  list.graphs = graphs;
  list.plans = plans;
  list.turns = &turn;
  CHECK(sluice_verify_together(bare.context(), bare.plain.get(), &list, bare.why()) ==
        SLUICE_REJECTED);
  CHECK(std::string(bare.library.diagnostic.rule) == "turns");
}

}  // namespace
}  // namespace sluice_test
