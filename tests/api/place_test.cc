// SPDX-License-Identifier: Apache-2.0
// Placement and replacement as C users call them.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "sluice/experimental.h"
#include "support/library.h"

namespace {

struct Place {
  sluice_test::Library library;
  sluice_placement_problem_t problem = {};
  sluice_placement_options_t options = {};
  std::vector<sluice_buffer_t> buffers;
  std::vector<int64_t> offsets;
  std::vector<uint32_t> conflict;
  sluice_placement_t placement = {};
  sluice_diagnostic_t diagnostic = sluice_test::EmptyDiagnostic();

  void Add(int64_t begin, int64_t end, int64_t bytes) {
    sluice_buffer_t b = {};
    b.begin = begin;
    b.end = end;
    b.bytes = bytes;
    buffers.push_back(b);
  }
  sluice_status_t Run(int64_t capacity) {
    problem.struct_size = sizeof problem;
    options.struct_size = sizeof options;
    placement.struct_size = sizeof placement;
    problem.buffer_count = static_cast<uint32_t>(buffers.size());
    problem.buffers = buffers.data();
    problem.capacity_bytes = capacity;
    offsets.assign(buffers.size(), -1);
    conflict.assign(buffers.size(), 99);
    placement.offsets = offsets.data();
    placement.conflict = conflict.data();
    return sluice_place(library.context.get(), &problem, &options, &placement,
                        &diagnostic);
  }
};

// An input read by two operators in a chain of three.
struct Operators {
  int64_t bytes[4] = {10, 20, 30, 10};
  uint8_t role[4] = {SLUICE_PLACED_INPUT, SLUICE_PLACED_INTERMEDIATE,
                     SLUICE_PLACED_INTERMEDIATE, SLUICE_PLACED_OUTPUT};
  uint32_t input_begin[4] = {0, 1, 2, 4};
  uint32_t inputs[4] = {0, 1, 0, 2};
  uint32_t output_begin[4] = {0, 1, 2, 3};
  uint32_t outputs[3] = {1, 2, 3};
  sluice_operator_graph_t graph = {};

  Operators() {
    graph.struct_size = sizeof graph;
    graph.tensor_count = 4;
    graph.operator_count = 3;
    graph.tensor_bytes = bytes;
    graph.tensor_role = role;
    graph.input_begin = input_begin;
    graph.inputs = inputs;
    graph.output_begin = output_begin;
    graph.outputs = outputs;
  }
};

struct Replaced {
  sluice_test::Library library;
  sluice_replacement_options_t options = {};
  sluice_replacement_t* replacement = nullptr;
  sluice_replacement_summary_t summary = {};
  sluice_diagnostic_t diagnostic = sluice_test::EmptyDiagnostic();

  explicit Replaced(int64_t capacity) {
    options.struct_size = sizeof options;
    summary.struct_size = sizeof summary;
    options.capacity_bytes = capacity;
  }
  ~Replaced() { sluice_replacement_destroy(replacement); }
  sluice_status_t Run(const sluice_operator_graph_t& graph) {
    const sluice_status_t status = sluice_replace_operators(
        library.context.get(), &graph, &options, &replacement, &diagnostic);
    if (status == SLUICE_OK) {
      REQUIRE(sluice_replacement_report(replacement, &summary) == SLUICE_OK);
    }
    return status;
  }
};

}  // namespace

TEST_CASE("placing buffers in C: offsets, smallest capacity, conflicting set") {
  Place p;
  p.Add(0, 4, 10);
  p.Add(2, 6, 20);
  p.Add(5, 9, 10);
  REQUIRE(p.Run(30) == SLUICE_OK);
  CHECK(p.placement.placed == 1);
  CHECK(p.placement.peak_bytes == 30);
  CHECK((p.offsets[0] + 10 <= p.offsets[1] || p.offsets[1] + 20 <= p.offsets[0]));
  p.options.smallest = 1;
  REQUIRE(p.Run(1000) == SLUICE_OK);
  CHECK(p.placement.proved == 1);
  CHECK(p.placement.peak_bytes == 30);
  REQUIRE(p.Run(29) == SLUICE_INFEASIBLE);
  CHECK(p.placement.conflict_count == 2);
  CHECK(p.placement.irreducible == 1);
  CHECK(p.conflict[1] == 1);
  CHECK(p.diagnostic.required_bytes == 30);
  CHECK(p.diagnostic.available_bytes == 29);
}

TEST_CASE("placing buffers in C: fixed, banked and reserved bytes are kept") {
  Place p;
  p.Add(0, 4, 16);
  p.Add(0, 4, 16);
  p.Add(0, 4, 8);
  p.buffers[0].flags = SLUICE_BUFFER_FIXED;
  p.buffers[0].fixed_offset = 16;
  p.buffers[1].banks = 2;
  p.buffers[2].alignment = 8;
  const sluice_reserved_region_t region = {0, 9, 0, 4};
  p.problem.regions = &region;
  p.problem.region_count = 1;
  p.problem.bank_bytes = 32;
  REQUIRE(p.Run(64) == SLUICE_OK);
  CHECK(p.offsets == std::vector<int64_t>{16, 32, 8});
  p.buffers[2].flags = 8;
  CHECK(p.Run(64) == SLUICE_BAD_ARGUMENT);
  CHECK(std::string(p.diagnostic.message) == "buffer 2 has unknown flags");
  p.buffers[2].flags = 0;
  p.buffers[1].begin = 4;
  CHECK(p.Run(64) == SLUICE_BAD_INPUT);
  CHECK(p.diagnostic.tensor == 1);
  p.problem.regions = nullptr;
  CHECK(p.Run(64) == SLUICE_BAD_ARGUMENT);
}

TEST_CASE("replacing in C: spills counted, residences placed, order kept on demand") {
  const Operators net;
  Replaced roomy(60);
  REQUIRE(roomy.Run(net.graph) == SLUICE_OK);
  CHECK(roomy.summary.proved == 1);
  CHECK(roomy.summary.spill_bytes + roomy.summary.retrieve_bytes == 0);
  Replaced tight(50);
  REQUIRE(tight.Run(net.graph) == SLUICE_OK);
  CHECK(tight.summary.largest_operator_bytes == 50);
  CHECK(tight.summary.retrieve_bytes == 10);  // the input leaves and is read again
  CHECK(tight.summary.spill_bytes == 0);      // DRAM still has its copy
  CHECK(tight.summary.peak_bytes <= 50);
  const uint32_t* order = nullptr;
  const sluice_residence_t* residences = nullptr;
  REQUIRE(sluice_replacement_plan(tight.replacement, &order, &residences) == SLUICE_OK);
  CHECK(order[0] == 0);
  uint32_t returns = 0;
  for (uint32_t i = 0; i < tight.summary.residence_count; ++i) {
    returns += residences[i].retrieved;
    CHECK(residences[i].offset + net.bytes[residences[i].tensor] <= 50);
  }
  CHECK(returns == 1);
  Replaced paper(50);
  paper.options.charge = SLUICE_CHARGE_PAPER;
  paper.options.keep_order = 1;
  REQUIRE(paper.Run(net.graph) == SLUICE_OK);
  CHECK(paper.summary.spill_bytes == 10);
  Replaced hopeless(49);
  CHECK(hopeless.Run(net.graph) == SLUICE_INFEASIBLE);
  CHECK(hopeless.diagnostic.required_bytes == 50);
}

TEST_CASE("replacing in C: edges order operators, bad lists are named") {
  Operators net;
  const uint32_t cycle[2] = {2, 0};
  net.graph.edges = cycle;
  net.graph.edge_count = 1;
  Replaced r(100);
  CHECK(r.Run(net.graph) == SLUICE_BAD_INPUT);
  CHECK(std::string(r.diagnostic.message) == "operator 0 is on a cycle or behind one");
  net.graph.edge_count = 0;
  net.input_begin[1] = 7;
  CHECK(r.Run(net.graph) == SLUICE_BAD_INPUT);
  CHECK(r.diagnostic.layer == 1);
  net.input_begin[1] = 1;
  net.role[0] = 9;
  CHECK(r.Run(net.graph) == SLUICE_BAD_INPUT);
  CHECK(r.diagnostic.tensor == 0);
  net.role[0] = SLUICE_PLACED_INPUT;
  uint32_t order[3] = {};
  sluice_footprint_t footprint = {};
  const auto find = [&] {
    return sluice_minimum_footprint(r.library.context.get(), &net.graph, nullptr,
                                    &footprint, &r.diagnostic);
  };
  CHECK(find() == SLUICE_BAD_ARGUMENT);  // struct_size 0
  footprint.struct_size = sizeof footprint;
  CHECK(find() == SLUICE_BAD_ARGUMENT);  // no room for the order
  footprint.order = order;
  REQUIRE(find() == SLUICE_OK);
  CHECK(footprint.peak_bytes == 60);
  CHECK(footprint.proved == 1);
  CHECK(footprint.order == order);
  CHECK(order[2] == 2);
}
