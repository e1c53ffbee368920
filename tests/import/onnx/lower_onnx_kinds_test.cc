// SPDX-License-Identifier: Apache-2.0
// Comparisons, conditions, integers and sorting.
#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

// The int8 numbers 1, 5, 5, -2 in steps of 1, through the nodes that `add` makes.
TinyOnnx Four(const std::function<void(TinyOnnx*)>& add) {
  TinyOnnx model(14);
  model.Input("x", {2, 2});
  model.Quantised("x", "xq", 1, 0);
  add(&model);
  model.Output("y");
  return model;
}
const Bytes kFour = {1, 5, 5, static_cast<uint8_t>(-2)};

TEST_CASE("onnx kinds: a comparison selects") {
  const TinyOnnx model = Four([](TinyOnnx* m) {
    m->Reals("two", {}, {2});
    m->Node("Greater", {"xq", "two"}, {"c"});
    m->Node("Not", {"c"}, {"n"});
    m->Node("Where", {"n", "xq", "two"}, {"y"});
  });
  CHECK(RealsFor(model, kFour) == Reals{1, 2, 2, -2});
}

TEST_CASE("onnx kinds: a condition becomes a number, and back") {
  const TinyOnnx model = Four([](TinyOnnx* m) {
    TinyOnnx::Int(m->Node("Cast", {"xq"}, {"i"}), "to", onnx::TensorProto::INT32);
    m->Node("Mul", {"i", "i"}, {"s"});
    m->Node("Equal", {"s", "i"}, {"c"});
    TinyOnnx::Int(m->Node("Cast", {"c"}, {"y"}), "to", onnx::TensorProto::FLOAT);
  });
  const ImportAndGraph import = Import(model.Finish());
  CHECK(OutputFor(import, kFour) == Bytes{1, 0, 0, 0});
}

TEST_CASE("onnx kinds: the first of equal maxima, the largest in order") {
  const auto arg = [](const char* op) {
    const TinyOnnx model = Four([op](TinyOnnx* m) {
      m->Node("Exp", {"xq"}, {"f"});
      TinyOnnx::Int(m->Node(op, {"f"}, {"i"}), "axis", 0);
      TinyOnnx::Int(m->Node("Cast", {"i"}, {"y"}), "to", onnx::TensorProto::FLOAT);
    });
    return RealsFor(model, kFour);
  };
  CHECK(arg("ArgMax") == Reals{1, 0});
  CHECK(arg("ArgMin") == Reals{0, 1});
  const TinyOnnx sorted = Four([](TinyOnnx* m) {
    m->Integers("k", {2});
    m->Node("TopK", {"xq", "k"}, {"y", "at"});
  });
  CHECK(RealsFor(sorted, kFour) == Reals{5, 1, 5, -2});
}

TEST_CASE("onnx kinds: running sums and the place of the largest") {
  const TinyOnnx sums = Four([](TinyOnnx* m) {
    m->Integers("axis", {1});
    TinyOnnx::Int(m->Node("CumSum", {"xq", "axis"}, {"y"}), "reverse", 1);
  });
  CHECK(RealsFor(sums, kFour) == Reals{6, 5, 3, -2});
  const TinyOnnx hard = Four([](TinyOnnx* m) { m->Node("Hardmax", {"xq"}, {"y"}); });
  CHECK(RealsFor(hard, kFour) == Reals{0, 1, 1, 0});
}

// The numbers as indices: 1, 5, 5, -2 less 4 are -3, 1, 1, -6; half of them -1, 0, 0, -3.
TEST_CASE("onnx kinds: elements by indices of the run, which may count from the end") {
  const auto picked = [](const char* op, int axis, const char* indices) {
    const TinyOnnx model = Four([&](TinyOnnx* m) {
      m->Reals("four", {}, {4});
      m->Node("Sub", {"xq", "four"}, {"less"});
      TinyOnnx::Int(m->Node("Cast", {"less"}, {"i"}), "to", onnx::TensorProto::INT64);
      m->Integers("two", {2});
      m->Node("Div", {"i", "two"}, {"half"});
      m->Node("Mod", {"half", "two"}, {"parity"});
      m->Reals("table", {2, 2}, {10, 20, 30, 40});
      m->Node("Add", {"table", "xq"}, {"t"});
      onnx::NodeProto* node = m->Node(op, {"t", indices}, {"y"});
      if (axis >= 0) TinyOnnx::Int(node, "axis", axis);
    });
    return RealsFor(model, kFour);
  };
  // The table plus x: 11 25 35 38.
  CHECK(picked("GatherElements", 0, "parity") == Reals{35, 25, 11, 38});
  CHECK(picked("GatherElements", 1, "parity") == Reals{25, 11, 35, 38});
  // Places (1, 0) and (0, 1).
  CHECK(picked("GatherND", -1, "parity") == Reals{35, 25});
}

TEST_CASE("onnx kinds: what the host does not sort is named") {
  const TinyOnnx least = Four([](TinyOnnx* m) {
    m->Integers("k", {1});
    TinyOnnx::Int(m->Node("TopK", {"xq", "k"}, {"y", "at"}), "largest", 0);
  });
  CHECK(Says(Complaint(least.Finish()), "the least instead of the largest"));
}

}  // namespace
}  // namespace sluice_test
