// SPDX-License-Identifier: Apache-2.0
// If and Loop.
#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

// A graph of one node, of x or of what it is given.
onnx::GraphProto One(const std::string& op, const std::string& from,
                     const std::string& to) {
  onnx::GraphProto graph;
  graph.set_name(to);
  onnx::NodeProto* node = graph.add_node();
  node->set_op_type(op);
  node->add_input(from);
  node->add_output(to);
  graph.add_output()->set_name(to);
  graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(1);
  return graph;
}

void Branch(onnx::NodeProto* node, const std::string& name,
            const onnx::GraphProto& graph) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  *attribute->mutable_g() = graph;
}

TEST_CASE("onnx subgraphs: both branches are computed and one is selected") {
  TinyOnnx model;
  model.Input("x", {2});
  model.Quantised("x", "xq", 1, 0);
  model.Reals("zero", {}, {0});
  TinyOnnx::Int(model.Node("ReduceSum", {"xq"}, {"sum"}), "keepdims", 0);
  model.Node("Greater", {"sum", "zero"}, {"c"});
  onnx::NodeProto* node = model.Node("If", {"c"}, {"y"});
  Branch(node, "then_branch", One("Neg", "xq", "t"));
  Branch(node, "else_branch", One("Abs", "xq", "e"));
  model.Output("y");
  CHECK(RealsFor(model, {5, static_cast<uint8_t>(-2)}) == Reals{-5, 2});
  CHECK(RealsFor(model, {1, static_cast<uint8_t>(-2)}) == Reals{1, 2});
}

TEST_CASE("onnx subgraphs: a condition of extents takes one branch") {
  for (const int64_t extent : {1, 2}) {
    TinyOnnx model;
    model.Input("x", {extent, 2});
    model.Quantised("x", "xq", 1, 0);
    model.Node("Shape", {"xq"}, {"shape"});
    model.Integers("first", {0});
    model.Integers("one", {1});
    model.Node("Gather", {"shape", "first"}, {"n"});
    model.Node("Equal", {"n", "one"}, {"c"});
    onnx::NodeProto* node = model.Node("If", {"c"}, {"y"});
    onnx::GraphProto flat = One("Squeeze", "xq", "t");
    flat.mutable_node(0)->add_input("first");
    Branch(node, "then_branch", flat);
    Branch(node, "else_branch", One("Neg", "xq", "e"));
    model.Output("y");
    const Bytes out = OutputFor(Import(model.Finish()), Bytes(extent * 2, 3));
    CHECK(out.size() == (extent == 1 ? 2 : 16));
  }
}

onnx::NodeProto* Loop(TinyOnnx* model, int64_t runs) {
  model->Input("x", {1, 2});
  model->Quantised("x", "xq", 1, 0);
  onnx::TensorProto* count = model->graph->add_initializer();
  count->set_name("runs");
  count->set_data_type(onnx::TensorProto::INT64);
  count->add_int64_data(runs);
  onnx::NodeProto* node = model->Node("Loop", {"runs", "", "xq"}, {"last", "y"});
  onnx::GraphProto body;
  body.set_name("body");
  const char* const inputs[] = {"i", "on", "v"};
  for (int i = 0; i < 3; ++i) {
    onnx::ValueInfoProto* info = body.add_input();
    info->set_name(inputs[i]);
    const int type = i == 0 ? 7 : i == 1 ? 9 : 1;
    info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  }
  for (const auto& [op, from, to] :
       {std::tuple("Identity", "on", "go"), std::tuple("Add", "v", "w"),
        std::tuple("Identity", "w", "row")}) {
    onnx::NodeProto* inner = body.add_node();
    inner->set_op_type(op);
    inner->add_input(from);
    if (std::string(op) == "Add") inner->add_input("xq");
    inner->add_output(to);
    onnx::ValueInfoProto* info = body.add_output();
    info->set_name(to);
    const int type = std::string(to) == "go" ? 9 : 1;
    info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  }
  Branch(node, "body", body);
  model->Output("y");
  return node;
}

TEST_CASE("onnx subgraphs: a loop of known length is written out") {
  TinyOnnx model;
  Loop(&model, 3);
  CHECK(RealsFor(model, {1, 10}) == Reals{2, 20, 3, 30, 4, 40});
}

TEST_CASE("onnx subgraphs: a loop that is too long, or ends by itself, is refused") {
  TinyOnnx long_one;
  Loop(&long_one, 65);
  CHECK(Says(Complaint(long_one.Finish()), "Loop"));
  TinyOnnx ends;
  onnx::NodeProto* node = Loop(&ends, 3);
  node->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_op_type("Not");
  CHECK(Says(Complaint(ends.Finish()), "Loop"));
}

}  // namespace
}  // namespace sluice_test
