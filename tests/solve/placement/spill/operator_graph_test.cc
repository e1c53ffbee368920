// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/operator_graph.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/solve/placement/spill/spill_judge.h"

using namespace sluice;
using sluice_test::Ground;
using sluice_test::Net;

namespace {

// Three operators; each reads what the one before wrote, and the input again.
Net Chain() {
  Net net;
  net.Tensor(10, TensorRole::kInput);
  for (uint32_t o = 0; o < 3; ++o) {
    net.Tensor(10, o == 2 ? TensorRole::kOutput : TensorRole::kIntermediate);
    net.Op({o, 0}, {o + 1});
  }
  return net;
}

}  // namespace

TEST_CASE("bad operator graphs are refused by name") {
  struct Case {
    const char* message;
    void (*spoil)(Net*);
  };
  const Case cases[] = {
      {"tensor 1 has size 0", [](Net* n) { n->tensors[1].bytes = 0; }},
      {"tensor 2 brings the sizes beyond 2^58 bytes: 9223372036854775807",
       [](Net* n) { n->tensors[2].bytes = INT64_MAX; }},
      {"operator 1 reads a tensor that does not exist",
       [](Net* n) { n->operands[n->operators[1].first_input] = 77; }},
      {"operator 1 names operands that do not exist",
       [](Net* n) { n->operators[1].input_count = 1000; }},
      {"operator 1 writes a tensor that another operator wrote",
       [](Net* n) { n->operands[n->operators[1].first_output] = 1; }},
      {"operator 1 writes a network input",
       [](Net* n) { n->operands[n->operators[1].first_output] = 0; }},
      {"operator 0 is on a cycle or behind one",
       [](Net* n) { n->operands[n->operators[0].first_input] = 2; }},
      {"tensor 0 is no network input and nothing writes it",
       [](Net* n) { n->tensors[0].role = TensorRole::kIntermediate; }},
      {"operator 2 writes a tensor that does not exist",
       [](Net* n) { n->operands[n->operators[2].first_output] = 4; }},
      {"operator 0 works in place on an operand it does not have",
       [](Net* n) { n->operators[0].in_place = 5; }},
  };
  for (const Case& c : cases) {
    Net net = Chain();
    c.spoil(&net);
    Ground ground;
    CHECK(CheckOperatorGraph(net.Graph(), &ground.arena, &ground.diagnostic) ==
          Status::kBadInput);
    CHECK(std::string(ground.diagnostic.message) == c.message);
  }
}

TEST_CASE("edges order operators that no tensor orders, and may close a cycle") {
  const Net net = Chain();
  const auto check = [&](std::vector<OperatorEdge> edges) {
    Ground ground;
    OperatorGraph graph = net.Graph();
    graph.edges = sluice_test::View(edges);
    const Status status = CheckOperatorGraph(graph, &ground.arena, &ground.diagnostic);
    return status == Status::kOk ? std::string() : ground.diagnostic.message;
  };
  CHECK(check({{0, 2}, {0, 1}}) == "");
  CHECK(check({{0, 1}, {2, 1}}) == "operator 1 is on a cycle or behind one");
  CHECK(check({{0, 1}, {1, 3}}) == "edge 1 names an operator that does not exist");
}

TEST_CASE("the largest operator: each operand once, rounded up to the alignment") {
  Net net = Chain();
  CHECK(LargestOperator(net.Graph()) == 30);
  CHECK(LargestOperator(net.Graph(), 8) == 48);
  net.tensors[1].bytes = 50;  // written by the first, which reads the input twice
  CHECK(LargestOperator(net.Graph()) == 70);
  net.operators[1].input_count = 1;
  CHECK(LargestOperator(net.Graph()) == 60);
}
