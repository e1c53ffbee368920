// SPDX-License-Identifier: Apache-2.0
// A context with the graph and the machine of a hand-made convolution.
#ifndef SLUICE_TESTS_API_OBJECTS_H_
#define SLUICE_TESTS_API_OBJECTS_H_

#include <doctest/doctest.h>

#include "sluice/sluice.h"
#include "support/stream_builder.h"

namespace sluice_test {

struct Objects {
  sluice_context_t* context = nullptr;
  sluice_graph_t* graph = nullptr;
  sluice_hardware_t* hardware = nullptr;
  sluice_diagnostic_t diagnostic = {};
  Bytes graph_bytes = ConvCase().Graph();
  Bytes hardware_bytes = ConvCase().Hardware();

  explicit Objects(const sluice_context_options_t* options = nullptr) {
    diagnostic.struct_size = sizeof diagnostic;
    REQUIRE(sluice_context_create(options, &context, &diagnostic) == SLUICE_OK);
    REQUIRE(sluice_graph_create(context, graph_bytes.data(), graph_bytes.size(), &graph,
                                &diagnostic) == SLUICE_OK);
    REQUIRE(sluice_hardware_create(context, hardware_bytes.data(),
                                   hardware_bytes.size(), &hardware,
                                   &diagnostic) == SLUICE_OK);
  }
  ~Objects() {
    sluice_hardware_destroy(hardware);
    sluice_graph_destroy(graph);
    sluice_context_destroy(context);
  }
  sluice_status_t Schedule(const sluice_schedule_options_t* options,
                           sluice_plan_t** plan) {
    return sluice_schedule(context, graph, hardware, options, plan, &diagnostic);
  }
  uint64_t LiveBytes() const {
    sluice_memory_stats_t stats = {};
    stats.struct_size = sizeof stats;
    REQUIRE(sluice_context_memory(context, &stats) == SLUICE_OK);
    return stats.live_bytes;
  }
};

inline Bytes PlanBytesOf(const sluice_plan_t* plan) {
  size_t size = 0;
  REQUIRE(sluice_plan_write(plan, nullptr, &size) == SLUICE_BUFFER_TOO_SMALL);
  Bytes bytes(size);
  size_t shorter = size - 1;
  REQUIRE(sluice_plan_write(plan, bytes.data(), &shorter) == SLUICE_BUFFER_TOO_SMALL);
  REQUIRE(shorter == size);
  REQUIRE(sluice_plan_write(plan, bytes.data(), &size) == SLUICE_OK);
  return bytes;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_API_OBJECTS_H_
