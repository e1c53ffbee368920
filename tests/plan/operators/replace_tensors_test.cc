// SPDX-License-Identifier: Apache-2.0
// Replacement through the C interface's structs: results use the caller's numbers of tensors
// and operators; errors.
#include "plan/operators/replace_tensors.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/read_graph.h"
#include "support/stream_builder.h"

namespace sluice {
namespace {

// An input read by the first and the last of three operators in a chain. The lists of
// operands begin with an entry that belongs to no operator.
struct Chain {
  std::vector<int64_t> bytes = {10, 20, 30, 10};
  std::vector<uint8_t> role = {SLUICE_PLACED_INPUT, SLUICE_PLACED_INTERMEDIATE,
                               SLUICE_PLACED_INTERMEDIATE, SLUICE_PLACED_OUTPUT};
  std::vector<uint32_t> input_begin = {1, 2, 3, 5}, inputs = {99, 0, 1, 0, 2};
  std::vector<uint32_t> output_begin = {1, 2, 3, 4}, outputs = {99, 1, 2, 3};
  std::vector<uint32_t> edges;
  sluice_test::Nouns n{sluice_test::ConvCase().graph};
  sluice_replacement_options_t options = {};
  Replacement replaced;

  explicit Chain(int64_t capacity) { options.capacity_bytes = capacity; }
  sluice_operator_graph_t Graph() const {
    sluice_operator_graph_t graph = {};
    graph.struct_size = sizeof graph;
    graph.tensor_count = static_cast<uint32_t>(bytes.size());
    graph.operator_count = static_cast<uint32_t>(input_begin.size()) - 1;
    graph.tensor_bytes = bytes.data();
    graph.tensor_role = role.data();
    graph.input_begin = input_begin.data();
    graph.inputs = inputs.data();
    graph.output_begin = output_begin.data();
    graph.outputs = outputs.data();
    graph.edge_count = static_cast<uint32_t>(edges.size() / 2);
    graph.edges = edges.data();
    return graph;
  }
  ReplacementCall Call() { return {options, &n.arena, &n.arena, &n.diagnostic}; }
  Status Run() { return ReplaceInOperators(Graph(), Call(), &replaced); }
  std::string why() const { return n.diagnostic.message; }
};

TEST_CASE("replace tensors: the answer in the caller's numbers, with its sums") {
  Chain c(60);
  REQUIRE(c.Run() == Status::kOk);
  CHECK(c.replaced.order.size() == 3);
  CHECK(c.replaced.residences.size() == 4);
  const sluice_replacement_summary_t& report = c.replaced.report;
  CHECK(report.struct_size == sizeof report);
  CHECK(report.proved == 1);
  CHECK(report.operator_count == 3);
  CHECK(report.residence_count == 4);
  CHECK(report.spill_bytes + report.retrieve_bytes == 0);
  CHECK(report.largest_operator_bytes == 50);
  CHECK(report.peak_bytes <= 60);
}

TEST_CASE("replace tensors: an operator runs again, under its own number") {
  // 1 is made of 0, and read by the two operators around a large one.
  Chain c(100);
  c.bytes = {10, 40, 60, 40, 40};
  c.role = {SLUICE_PLACED_INPUT, SLUICE_PLACED_INTERMEDIATE, SLUICE_PLACED_INTERMEDIATE,
            SLUICE_PLACED_INTERMEDIATE, SLUICE_PLACED_OUTPUT};
  c.input_begin = {1, 2, 3, 4, 6};
  c.inputs = {99, 0, 1, 2, 1, 3};
  c.output_begin = {1, 2, 3, 4, 5};
  c.outputs = {99, 1, 2, 3, 4};
  c.options.capacity_bytes = 120;
  REQUIRE(c.Run() == Status::kOk);
  CHECK(c.replaced.report.spill_bytes + c.replaced.report.retrieve_bytes == 80);
  CHECK(c.replaced.report.again_bytes == 0);
  const std::vector<int64_t> again = {7, 0, -1, -1};
  c.options.again_bytes = again.data();
  REQUIRE(c.Run() == Status::kOk);
  const sluice_replacement_summary_t& report = c.replaced.report;
  CHECK(report.spill_bytes == 0);
  CHECK(report.retrieve_bytes == 0);  // tensor 0 stays
  CHECK(report.again_bytes == 7);
  CHECK(report.lower_bound_bytes <= 7);
  CHECK(report.operator_count == 5);
  int first = 0, second = 0;
  for (const uint32_t o : c.replaced.order) first += o == 0;
  for (const sluice_residence_t& stay : c.replaced.residences)
    second += stay.tensor == 1;
  CHECK(first == 2);
  CHECK(second == 2);
  CHECK(report.peak_bytes <= 120);
}

TEST_CASE("replace tensors: an input that leaves is read again, at the host's charge") {
  Chain c(50);
  REQUIRE(c.Run() == Status::kOk);
  CHECK(c.replaced.report.retrieve_bytes == 10);
  CHECK(c.replaced.report.spill_bytes == 0);
  CHECK(c.replaced.residences.size() == 5);
  int retrieved = 0;
  for (const sluice_residence_t& stay : c.replaced.residences) {
    retrieved += stay.retrieved != 0 ? 1 : 0;
    if (stay.retrieved != 0) CHECK(stay.tensor == 0);
  }
  CHECK(retrieved == 1);
  // The paper charges the write of an input too.
  c.options.charge = SLUICE_CHARGE_PAPER;
  REQUIRE(c.Run() == Status::kOk);
  CHECK(c.replaced.report.spill_bytes == 10);
}

TEST_CASE("replace tensors: an order that is kept, the caller's or its own") {
  Chain c(100);
  // Two operators that nothing orders.
  c.bytes = {10, 10, 10};
  c.role = {SLUICE_PLACED_INPUT, SLUICE_PLACED_OUTPUT, SLUICE_PLACED_OUTPUT};
  c.input_begin = {0, 1, 2};
  c.inputs = {0, 0};
  c.output_begin = {0, 1, 2};
  c.outputs = {1, 2};
  const std::vector<uint32_t> turned = {1, 0};
  c.options.keep_order = 1;
  c.options.order = turned.data();
  REQUIRE(c.Run() == Status::kOk);
  CHECK(c.replaced.order[0] == 1);
  c.options.order = nullptr;
  REQUIRE(c.Run() == Status::kOk);
  CHECK(c.replaced.order[0] == 0);
  c.options.keep_order = 0;
  c.edges = {1, 0};
  REQUIRE(c.Run() == Status::kOk);
  CHECK(c.replaced.order[0] == 1);
}

TEST_CASE("replace tensors: bad lists, roles and operands are named") {
  Chain inputs(60);
  inputs.input_begin = {1, 3, 2, 5};
  CHECK(inputs.Run() == Status::kBadInput);
  CHECK(inputs.why() ==
        "input list of operator 1 ends before it begins or is too long");
  CHECK(inputs.n.diagnostic.layer == 1);
  Chain outputs(60);
  outputs.output_begin = {1, 2, 3, 2};
  CHECK(outputs.Run() == Status::kBadInput);
  CHECK(outputs.why() ==
        "output list of operator 2 ends before it begins or is too long");
  Chain role(60);
  role.role[2] = SLUICE_PLACED_OUTPUT + 1;
  CHECK(role.Run() == Status::kBadInput);
  CHECK(role.why() == "tensor 2 has an unknown role");
  CHECK(role.n.diagnostic.tensor == 2);
  Chain twice(60);
  twice.outputs[2] = 1;
  CHECK(twice.Run() == Status::kBadInput);
  Chain small(49);
  CHECK(small.Run() == Status::kInfeasible);
  CHECK(small.n.diagnostic.required_bytes == 50);
}

TEST_CASE("replace tensors: the layers of a graph, with constants where asked") {
  Chain c(4096);  // its graph: a convolution of 256 bytes to 256, with 672 of constants
  REQUIRE(ReplaceInGraph(c.n.graph, c.Call(), &c.replaced) == Status::kOk);
  CHECK(c.replaced.report.largest_operator_bytes == 512);
  // Tensors have the graph's numbers: the layer reads 0 and makes 3.
  REQUIRE(c.replaced.residences.size() == 2);
  CHECK(c.replaced.residences[0].tensor + c.replaced.residences[1].tensor == 3);
  c.options.parameters = 1;
  REQUIRE(ReplaceInGraph(c.n.graph, c.Call(), &c.replaced) == Status::kOk);
  CHECK(c.replaced.report.largest_operator_bytes == 512 + 672);
  c.options.capacity_bytes = 1000;
  CHECK(ReplaceInGraph(c.n.graph, c.Call(), &c.replaced) == Status::kInfeasible);
}

TEST_CASE("replace tensors: the least footprint, and an order that has it") {
  Chain c(0);
  uint32_t order[3] = {9, 9, 9};
  Footprint footprint = {order, 0, false};
  REQUIRE(FindMinimumFootprint(c.Graph(), c.Call(), &footprint) == Status::kOk);
  CHECK(footprint.peak_bytes == 60);  // tensors 0, 1 and 2 while operator 1 runs
  CHECK(footprint.proved);
  CHECK(order[0] == 0);
  CHECK(order[2] == 2);
  c.role[1] = 7;
  CHECK(FindMinimumFootprint(c.Graph(), c.Call(), &footprint) == Status::kBadInput);
}

}  // namespace
}  // namespace sluice
