// SPDX-License-Identifier: Apache-2.0
// Sections of a small graph, and the operators of one of them.
#include "plan/operators/operator_sections.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/plan/operators/small_run.h"

namespace sluice {
namespace {

using sluice_test::SmallRun;

struct Cut : SmallRun {
  Cut() : Cut(sluice_test::RunAndCopy()) {}
  explicit Cut(const sluice_test::GraphSpec& spec) : SmallRun(4096, spec) {
    REQUIRE(FindSections(&schedule) == Status::kOk);
  }
  OperatorCall call = Call();
  OperatorSchedule schedule{call, 16};
};

template <typename T>
std::vector<uint32_t> All(const Span<T>& span) {
  return {span.begin(), span.end()};
}

TEST_CASE("operator sections: runs of layers, and the copy between them by itself") {
  Cut c;
  const Vector<OperatorSection>& sections = c.schedule.sections;
  REQUIRE(sections.size() == 3);
  const uint32_t first[] = {0, 3, 4}, last[] = {3, 4, 5};
  for (uint32_t s = 0; s < 3; ++s) {
    CHECK(sections[s].first == first[s]);
    CHECK(sections[s].last == last[s]);
    CHECK(sections[s].operators == (s != 1));
  }
  CHECK(All(c.schedule.section_of) == std::vector<uint32_t>{0, 0, 0, 1, 2});
}

TEST_CASE("operator sections: a reshape is its input under another name") {
  Cut c;
  CHECK(All(c.schedule.name) == std::vector<uint32_t>{0, 1, 1, 3, 4, 5});
  CHECK(IsRename(c.schedule, 1));
  CHECK(!IsRename(c.schedule, 0));
  CHECK(Runs(c.schedule, 0));
  CHECK(!Runs(c.schedule, 1));
  CHECK(!Runs(c.schedule, 3));
  CHECK(!IsFolded(c.schedule, 1));
}

TEST_CASE("operator sections: needed is what another section or the host reads") {
  Cut c;
  // The copy reads tensor 3, the last layer reads 4, the host reads 5; no section makes 0.
  CHECK(All(c.schedule.needed) == std::vector<uint32_t>{1, 0, 0, 1, 1, 1});
}

TEST_CASE("operator sections: operators in the order of layers, with what each needs") {
  Cut c;
  OperatorSection* section = &c.schedule.sections[0];
  REQUIRE(BuildOperators(&c.schedule, section) == Status::kOk);
  CHECK(All(section->layer_of) == std::vector<uint32_t>{0, 2});
  CHECK(All(section->tensor_of) == std::vector<uint32_t>{0, 1, 3});
  const OperatorGraph& graph = section->graph;
  REQUIRE(graph.tensors.size() == 3);
  CHECK(graph.tensors[0].role == TensorRole::kInput);
  CHECK(graph.tensors[1].role == TensorRole::kIntermediate);
  CHECK(graph.tensors[2].role == TensorRole::kOutput);
  for (const OperatorTensor& tensor : graph.tensors) CHECK(tensor.bytes == 128);
  REQUIRE(graph.operators.size() == 2);
  for (uint32_t o = 0; o < 2; ++o) {
    CHECK(All(graph.InputsOf(graph.operators[o])) == std::vector<uint32_t>{o});
    CHECK(All(graph.OutputsOf(graph.operators[o])) == std::vector<uint32_t>{o + 1});
  }
  CHECK(CheckOperatorGraph(graph, &c.n.arena, &c.n.diagnostic) == Status::kOk);
}

TEST_CASE("operator sections: a layer's own reshape of an input starts a run") {
  sluice_test::GraphSpec spec;
  spec.tensors = {{{1, 4, 4, 8}, SLUICE_DTYPE_INT8, 1},
                  {{1, 1, 16, 8}, SLUICE_DTYPE_INT8, 0},
                  {{1, 1, 16, 8}, SLUICE_DTYPE_INT8, 2}};
  spec.layers = {{SLUICE_OP_RESHAPE, {0}, {1}, {}},
                 {SLUICE_OP_REQUANTIZE, {1}, {2}, {0, 1 << 30, 1, 0, -128, 127}}};
  Cut c(spec);
  CHECK(c.schedule.sections.size() == 1);
  REQUIRE(BuildOperators(&c.schedule, &c.schedule.sections[0]) == Status::kOk);
  CHECK(All(c.schedule.sections[0].layer_of) == std::vector<uint32_t>{1});
  CHECK(All(c.schedule.sections[0].tensor_of) == std::vector<uint32_t>{0, 2});
}

}  // namespace
}  // namespace sluice
