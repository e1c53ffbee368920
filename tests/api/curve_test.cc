// SPDX-License-Identifier: Apache-2.0
// sluice_curve: latency over scratchpad.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "objects.h"
#include "sluice/experimental.h"
#include "support/library.h"
#include "support/random_graph.h"
#include "support/random_machine.h"

namespace sluice_test {
namespace {

// The first random graph from seed * 1000 on without an opaque layer.
Bytes RunnableGraph(uint64_t seed) {
  for (uint64_t at = seed * 1000;; ++at) {
    const GraphSpec spec = MakeRandomGraph(at);
    const bool opaque =
        std::any_of(spec.layers.begin(), spec.layers.end(),
                    [](const LayerSpec& l) { return l.op == SLUICE_OP_OPAQUE; });
    if (!opaque) return GraphBytes(spec);
  }
}

TEST_CASE("curve: curves never rise, and a smaller plan is a plan for more") {
  int curves = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    Library library;
    const auto graph = library.Graph(RunnableGraph(seed + 30));
    const auto hardware = library.Hardware(MachineBytes(OneQueueMachine(seed)));
    sluice_curve_point_t points[8];
    sluice_curve_list_t curve = {sizeof curve, 8, points};
    sluice_schedule_options_t options = {};
    options.struct_size = sizeof options;
    options.max_iterations = 200;
    const auto trace = [&] {
      return sluice_curve(library.context.get(), graph.get(), hardware.get(), &options,
                          &curve, &library.diagnostic);
    };
    if (trace() != SLUICE_OK) continue;
    ++curves;
    const uint32_t count = curve.count;
    REQUIRE(count >= 1);
    for (uint32_t i = 0; i < count; ++i) {
      CHECK(points[i].plan_bytes <= points[i].scratchpad_bytes);
      CHECK(points[i].latency_cycles > 0);
      if (i == 0) continue;
      CHECK(points[i].scratchpad_bytes > points[i - 1].scratchpad_bytes);
      CHECK(points[i].latency_cycles <= points[i - 1].latency_cycles);
    }
    // The smallest point can be scheduled; 64 bytes, one step, less cannot.
    options.scratchpad_bytes = points[0].scratchpad_bytes;
    sluice_plan_t* plan = nullptr;
    options.delay_exponent = 1;
    CHECK(sluice_schedule(library.context.get(), graph.get(), hardware.get(), &options,
                          &plan, &library.diagnostic) == SLUICE_OK);
    sluice_plan_destroy(plan);
    if (points[0].scratchpad_bytes > 64 && count > 1) {
      options.scratchpad_bytes = points[0].scratchpad_bytes - 64;
      CHECK(sluice_schedule(library.context.get(), graph.get(), hardware.get(),
                            &options, &plan, &library.diagnostic) != SLUICE_OK);
    }
    curve.count = 1;
    CHECK(trace() == SLUICE_BAD_ARGUMENT);
  }
  CHECK(curves > 5);
}

TEST_CASE(
    "curve: its ends are the least scratchpad that has a plan, and all there is") {
  Objects o;
  sluice_schedule_options_t tight = {};
  tight.struct_size = sizeof tight;
  tight.scratchpad_bytes = 1;
  sluice_plan_t* plan = nullptr;
  REQUIRE(o.Schedule(&tight, &plan) == SLUICE_INFEASIBLE);
  const uint64_t least = o.diagnostic.smallest_scratchpad_bytes;
  sluice_curve_point_t points[2];
  sluice_curve_list_t curve = {sizeof curve, 2, points};
  REQUIRE(sluice_curve(o.context, o.graph, o.hardware, nullptr, &curve,
                       &o.diagnostic) == SLUICE_OK);
  REQUIRE(curve.count == 2);
  CHECK(points[0].scratchpad_bytes >= least);
  CHECK(points[0].scratchpad_bytes < least + 64);
  CHECK(points[1].scratchpad_bytes == 4096);
  CHECK(points[1].latency_cycles < points[0].latency_cycles);
}

TEST_CASE("curve: two to 256 points are made") {
  Objects o;
  sluice_curve_point_t points[2];
  for (uint32_t count : {0u, 1u, 257u}) {
    sluice_curve_list_t curve = {sizeof curve, count, points};
    CHECK(sluice_curve(o.context, o.graph, o.hardware, nullptr, &curve,
                       &o.diagnostic) == SLUICE_BAD_ARGUMENT);
    CHECK(std::string(o.diagnostic.message) ==
          "context, graph, hardware, curve and its points must not be null, 2 to 256 "
          "points be asked for, structs be of a known version");
  }
}

}  // namespace
}  // namespace sluice_test
