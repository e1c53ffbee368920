// SPDX-License-Identifier: Apache-2.0
// Every function that works in a context, called while another call works in it: from the
// progress callback, which is where a second thread would be. None may touch the context.
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "objects.h"
#include "sluice/experimental.h"
#include "sluice/layers.h"
#include "sluice/lowering.h"

namespace sluice_test {
namespace {

// The calls that were made meanwhile, with right arguments: nothing but the context stands
// in their way.
struct Busy {
  Objects* o = nullptr;
  sluice_plan_t* plan = nullptr;  // made before
  sluice_diagnostic_t why = {};
  std::vector<std::pair<std::string, sluice_status_t>> answers;
  std::set<std::string> sentences;
  uint64_t allocations_before = 0, allocations_after = 0;

  template <typename Call>
  void Ask(const char* name, Call call) {
    why = {};
    why.struct_size = sizeof why;
    answers.emplace_back(name, call());
    sentences.insert(why.message);
  }
  uint64_t Allocations() const {
    sluice_memory_stats_t stats = {};
    stats.struct_size = sizeof stats;
    REQUIRE(sluice_context_memory(o->context, &stats) == SLUICE_OK);
    return stats.allocations;
  }
};

template <typename T>
T Sized() {
  T t = {};
  t.struct_size = sizeof t;
  return t;
}

void AskObjects(Busy* b) {
  sluice_context_t* c = b->o->context;
  b->Ask("sluice_graph_create", [&] {
    sluice_graph_t* graph = nullptr;
    return sluice_graph_create(c, b->o->graph_bytes.data(), b->o->graph_bytes.size(),
                               &graph, &b->why);
  });
  b->Ask("sluice_hardware_create", [&] {
    sluice_hardware_t* hardware = nullptr;
    return sluice_hardware_create(c, b->o->hardware_bytes.data(),
                                  b->o->hardware_bytes.size(), &hardware, &b->why);
  });
  b->Ask("sluice_plan_create", [&] {
    const Bytes bytes = PlanBytesOf(b->plan);
    sluice_plan_t* plan = nullptr;
    return sluice_plan_create(c, bytes.data(), bytes.size(), &plan, &b->why);
  });
  b->Ask("sluice_schedule", [&] {
    sluice_plan_t* plan = nullptr;
    return sluice_schedule(c, b->o->graph, b->o->hardware, nullptr, &plan, &b->why);
  });
  b->Ask("sluice_reschedule", [&] {
    sluice_reschedule_options_t options = Sized<sluice_reschedule_options_t>();
    options.previous = b->plan;
    sluice_plan_t* plan = nullptr;
    return sluice_reschedule(c, b->o->graph, b->o->hardware, &options, &plan, &b->why);
  });
  b->Ask("sluice_schedule_memory_bound", [&] {
    uint64_t bytes = 0;
    return sluice_schedule_memory_bound(c, b->o->graph, b->o->hardware, nullptr, &bytes,
                                        &b->why);
  });
  b->Ask("sluice_verify", [&] {
    return sluice_verify(c, b->o->graph, b->o->hardware, b->plan, &b->why);
  });
  b->Ask("sluice_plan_layers", [&] {
    sluice_layer_cost_t costs[4] = {};
    sluice_layer_list_t list = Sized<sluice_layer_list_t>();
    list.costs = costs;
    list.capacity = 4;
    return sluice_plan_layers(c, b->o->graph, b->o->hardware, b->plan, &list, &b->why);
  });
  b->Ask("sluice_tokens", [&] {
    const void* stream = nullptr;
    size_t size = 0;
    REQUIRE(sluice_plan_stream(b->plan, &stream, &size) == SLUICE_OK);
    sluice_token_lists_t* lists = nullptr;
    return sluice_tokens(c, stream, size, nullptr, &lists, &b->why);
  });
}

void AskNotations(Busy* b) {
  sluice_context_t* c = b->o->context;
  b->Ask("sluice_evaluate", [&] {
    const uint32_t order = 0;
    const uint8_t cut = SLUICE_CUT_DRAM;
    const int32_t tiles = 1;
    sluice_notation_t notation = Sized<sluice_notation_t>();
    notation.layers = 1;
    notation.order = &order;
    notation.cuts = &cut;
    notation.tiles = &tiles;
    sluice_evaluation_t evaluation = Sized<sluice_evaluation_t>();
    return sluice_evaluate(c, b->o->graph, b->o->hardware, &notation, &evaluation,
                           &b->why);
  });
  b->Ask("sluice_evaluate_timed", [&] {
    const sluice_timed_schedule_t schedule = Sized<sluice_timed_schedule_t>();
    sluice_evaluation_t evaluation = Sized<sluice_evaluation_t>();
    return sluice_evaluate_timed(c, &schedule, &evaluation, &b->why);
  });
  b->Ask("sluice_map_gemm", [&] {
    sluice_gemm_mapping_t mapping = Sized<sluice_gemm_mapping_t>();
    const sluice_gemm_t gemm = {8, 8, 8};
    return sluice_map_gemm(c, b->o->hardware, &gemm, nullptr, &mapping, &b->why);
  });
  sluice_layer_mapping_t mapping = Sized<sluice_layer_mapping_t>();
  b->Ask("sluice_map_layers", [&] {
    const uint32_t layer = 0;
    sluice_mapping_list_t list = Sized<sluice_mapping_list_t>();
    list.count = 1;
    list.layers = &layer;
    list.mappings = &mapping;
    return sluice_map_layers(c, b->o->graph, b->o->hardware, nullptr, &list, &b->why);
  });
  b->Ask("sluice_mapping_directives", [&] {
    sluice_directives_t directives = Sized<sluice_directives_t>();
    return sluice_mapping_directives(c, b->o->hardware, &mapping, &directives, &b->why);
  });
  b->Ask("sluice_segments", [&] {
    sluice_segment_schedule_t schedule = Sized<sluice_segment_schedule_t>();
    return sluice_segments(c, b->o->graph, b->o->hardware, nullptr, &schedule, &b->why);
  });
}

void AskPlacement(Busy* b) {
  sluice_context_t* c = b->o->context;
  b->Ask("sluice_place", [&] {
    sluice_buffer_t buffer = {};
    buffer.end = 1;
    buffer.bytes = 8;
    sluice_placement_problem_t problem = Sized<sluice_placement_problem_t>();
    problem.buffer_count = 1;
    problem.buffers = &buffer;
    problem.capacity_bytes = 8;
    int64_t offset = 0;
    sluice_placement_t placement = Sized<sluice_placement_t>();
    placement.offsets = &offset;
    return sluice_place(c, &problem, nullptr, &placement, &b->why);
  });
  sluice_replacement_options_t options = Sized<sluice_replacement_options_t>();
  options.capacity_bytes = 1 << 20;
  b->Ask("sluice_replace", [&] {
    sluice_replacement_t* replacement = nullptr;
    return sluice_replace(c, b->o->graph, &options, &replacement, &b->why);
  });
  const sluice_operator_graph_t none = Sized<sluice_operator_graph_t>();
  b->Ask("sluice_replace_operators", [&] {
    sluice_replacement_t* replacement = nullptr;
    return sluice_replace_operators(c, &none, &options, &replacement, &b->why);
  });
  b->Ask("sluice_minimum_footprint", [&] {
    sluice_footprint_t footprint = Sized<sluice_footprint_t>();
    return sluice_minimum_footprint(c, &none, &options, &footprint, &b->why);
  });
}

void AskSeveral(Busy* b) {
  sluice_context_t* c = b->o->context;
  b->Ask("sluice_curve", [&] {
    sluice_curve_point_t points[4] = {};
    sluice_curve_list_t curve = Sized<sluice_curve_list_t>();
    curve.count = 2;
    curve.points = points;
    return sluice_curve(c, b->o->graph, b->o->hardware, nullptr, &curve, &b->why);
  });
  b->Ask("sluice_family_create", [&] {
    sluice_family_options_t options = Sized<sluice_family_options_t>();
    options.first = options.last = 1;
    options.graph = [](void* user, int64_t, const void** bytes, size_t* size) {
      const Busy* busy = static_cast<const Busy*>(user);
      *bytes = busy->o->graph_bytes.data();
      *size = busy->o->graph_bytes.size();
      return int32_t{0};
    };
    options.user = b;
    sluice_family_t* family = nullptr;
    return sluice_family_create(c, b->o->hardware, &options, &family, &b->why);
  });
  b->Ask("sluice_preemption_points", [&] {
    sluice_preemption_list_t list = Sized<sluice_preemption_list_t>();
    return sluice_preemption_points(c, b->o->graph, b->o->hardware, b->plan, &list,
                                    &b->why);
  });
  b->Ask("sluice_coschedule", [&] {
    sluice_model_t model = {};
    model.graph = b->o->graph;
    sluice_coschedule_options_t options = Sized<sluice_coschedule_options_t>();
    options.model_count = 1;
    options.models = &model;
    sluice_cohort_t* cohort = nullptr;
    return sluice_coschedule(c, b->o->hardware, &options, &cohort, &b->why);
  });
  b->Ask("sluice_verify_together", [&] {
    const sluice_graph_t* graph = b->o->graph;
    const sluice_plan_t* plan = b->plan;
    sluice_turn_list_t list = Sized<sluice_turn_list_t>();
    list.model_count = 1;
    list.graphs = &graph;
    list.plans = &plan;
    return sluice_verify_together(c, b->o->hardware, &list, &b->why);
  });
}

// The functions of the public headers that work in a context.
std::set<std::string> Declared() {
  std::set<std::string> names;
  for (const char* header :
       {"sluice.h", "experimental.h", "schedule.h", "layers.h", "lowering.h",
        "machine.h", "place.h", "build.h", "import.h", "presets.h", "zoo.h"}) {
    std::ifstream file(std::string(SLUICE_HEADERS "/sluice/") + header);
    REQUIRE_MESSAGE(file.good(), header);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::regex call(R"((sluice_\w+)\(\s*sluice_context_t\*)");
    for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end;
         ++at) {
      names.insert((*at)[1]);
    }
  }
  names.erase("sluice_context_destroy");  // which cannot answer
  return names;
}

TEST_CASE("busy context: every function answers a call that comes meanwhile") {
  Objects o;
  Busy busy;
  busy.o = &o;
  REQUIRE(o.Schedule(nullptr, &busy.plan) == SLUICE_OK);
  sluice_schedule_options_t options = Sized<sluice_schedule_options_t>();
  options.progress_user = &busy;
  options.progress = [](void* user, uint64_t, double) {
    Busy* b = static_cast<Busy*>(user);
    if (!b->answers.empty()) return int32_t{0};
    b->allocations_before = b->Allocations();
    AskObjects(b);
    AskNotations(b);
    AskPlacement(b);
    AskSeveral(b);
    b->allocations_after = b->Allocations();
    return int32_t{0};
  };
  sluice_plan_t* plan = nullptr;
  CHECK(o.Schedule(&options, &plan) == SLUICE_OK);
  std::set<std::string> asked;
  for (const auto& answer : busy.answers) {
    CHECK_MESSAGE(answer.second == SLUICE_BAD_ARGUMENT, answer.first);
    asked.insert(answer.first);
  }
  CHECK(busy.sentences ==
        std::set<std::string>{
            "the context is in use by another call; it serves one at a time"});
  CHECK(busy.allocations_before == busy.allocations_after);
  CHECK(asked == Declared());
  sluice_plan_destroy(plan);
  // The context is free again.
  CHECK(sluice_verify(o.context, o.graph, o.hardware, busy.plan, nullptr) == SLUICE_OK);
  sluice_plan_destroy(busy.plan);
}

}  // namespace
}  // namespace sluice_test
