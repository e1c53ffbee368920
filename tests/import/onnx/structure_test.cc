// SPDX-License-Identifier: Apache-2.0
// Models changed in their structure: operators, edges, attributes, shapes and constants of one
// model in the places of others. The library reads, and the simulator executes, every model
// that the importer accepts. Every other model is refused with an error of the importer.
//
// SLUICE_STRUCTURE_EXECUTIONS and SLUICE_STRUCTURE_SEED in the environment set how many
// models are made, and from which seed. SLUICE_STRUCTURE_KEEP names a file to which
// each model is written before it is imported.
#include <onnx/onnx_pb.h>

#include <cstdlib>
#include <fstream>

#include "base/rng.h"
#include "import/graph_check.h"
#include "support/files.h"
#include "support/setting.h"
#include "tests/import/onnx/imported.h"

namespace sluice_test {
namespace {

using sluice::Rng;

std::vector<onnx::ModelProto> Corpus() {
  const char* const names[] = {"qdq_cnn",
                               "qlinear",
                               "networks/style_transfer.qoperator",
                               "networks/sums.qdq_uint8",
                               "networks/segmentation.qoperator",
                               "networks/clipped.qoperator",
                               "networks/gru.qdq",
                               "networks/lstm.qoperator",
                               "networks/unet.qoperator_int8",
                               "networks/inception.qdq",
                               "networks/super_resolution.qdq",
                               "networks/temporal.qoperator",
                               "networks/llama.qdq",
                               "networks/autoencoder.dynamic"};
  std::vector<onnx::ModelProto> corpus;
  for (const char* name : names) {
    const Bytes bytes =
        ReadFile(std::string(SLUICE_GOLDENS_FOLDER) + "/" + name + ".onnx");
    corpus.emplace_back();
    REQUIRE(corpus.back().ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  }
  return corpus;
}

template <typename List>
int Any(const List& list, Rng* rng) {
  return static_cast<int>(rng->Below(static_cast<uint32_t>(list.size())));
}

// A number as shapes and attributes hold it, or one that they must not hold.
int64_t Number(Rng* rng) {
  static const int64_t kNumbers[] = {
      0,         1,        2, 3, 4, 5, 8, 16, 64, -1, -2, 255, 65536, int64_t{1} << 31,
      INT64_MAX, INT64_MIN};
  return kNumbers[rng->Below(rng->Below(4) == 0 ? 16 : 8)];
}

std::string AnyTensor(const onnx::GraphProto& graph, Rng* rng) {
  const int from = static_cast<int>(rng->Below(3));
  if (from == 0 && graph.initializer_size() != 0) {
    return graph.initializer(Any(graph.initializer(), rng)).name();
  }
  if (from == 1) return graph.input(Any(graph.input(), rng)).name();
  const onnx::NodeProto& node = graph.node(Any(graph.node(), rng));
  return node.output_size() == 0 ? "" : node.output(0);
}

void ChangeNode(onnx::GraphProto* graph, const onnx::GraphProto& other, Rng* rng) {
  onnx::NodeProto* node = graph->mutable_node(Any(graph->node(), rng));
  switch (rng->Below(6)) {
    case 0: {  // another operator on the same operands
      const onnx::NodeProto& from = other.node(Any(other.node(), rng));
      node->set_op_type(from.op_type());
      node->set_domain(from.domain());
      if (rng->Below(2) == 0) *node->mutable_attribute() = from.attribute();
      return;
    }
    case 1:
      if (node->input_size() == 0) return;
      node->set_input(Any(node->input(), rng), AnyTensor(*graph, rng));
      return;
    case 2:
      node->add_input(AnyTensor(*graph, rng));
      return;
    case 3:
      if (node->input_size() == 0) return;
      node->mutable_input()->RemoveLast();
      return;
    case 4:
      if (node->input_size() == 0) return;
      node->set_input(Any(node->input(), rng), "");
      return;
    default:
      if (node->output_size() > 1) node->mutable_output()->RemoveLast();
  }
}

void ChangeAttribute(onnx::GraphProto* graph, Rng* rng) {
  onnx::NodeProto* node = graph->mutable_node(Any(graph->node(), rng));
  if (node->attribute_size() == 0) return;
  onnx::AttributeProto* attribute =
      node->mutable_attribute(Any(node->attribute(), rng));
  switch (rng->Below(4)) {
    case 0:
      attribute->set_i(Number(rng));
      return;
    case 1:
      if (attribute->ints_size() == 0) return;
      attribute->set_ints(Any(attribute->ints(), rng), Number(rng));
      return;
    case 2:
      attribute->add_ints(Number(rng));
      return;
    default:
      attribute->set_name(rng->Below(2) == 0 ? "axis" : "axes");
  }
}

void ChangeConstant(onnx::GraphProto* graph, const onnx::GraphProto& other, Rng* rng) {
  if (graph->initializer_size() == 0) return;
  onnx::TensorProto* tensor =
      graph->mutable_initializer(Any(graph->initializer(), rng));
  switch (rng->Below(4)) {
    case 0: {
      if (other.initializer_size() == 0) return;
      const std::string name = tensor->name();
      *tensor = other.initializer(Any(other.initializer(), rng));
      tensor->set_name(name);
      return;
    }
    case 1:
      if (tensor->dims_size() != 0) {
        tensor->set_dims(Any(tensor->dims(), rng), Number(rng));
      }
      return;
    case 2: {  // the bytes of numbers
      std::string* raw = tensor->mutable_raw_data();
      if (!raw->empty()) {
        (*raw)[rng->Below(static_cast<uint32_t>(raw->size()))] =
            static_cast<char>(rng->Next());
      }
      return;
    }
    default:
      tensor->set_data_type(static_cast<int>(rng->Below(18)));
  }
}

void ChangeBorder(onnx::GraphProto* graph, Rng* rng) {
  if (rng->Below(3) == 0) {
    graph->mutable_output(Any(graph->output(), rng))->set_name(AnyTensor(*graph, rng));
    return;
  }
  auto* type = graph->mutable_input(Any(graph->input(), rng))
                   ->mutable_type()
                   ->mutable_tensor_type();
  if (rng->Below(4) == 0) {
    type->set_elem_type(static_cast<int>(rng->Below(14)));
  } else if (type->shape().dim_size() != 0) {
    type->mutable_shape()
        ->mutable_dim(Any(type->shape().dim(), rng))
        ->set_dim_value(1 + rng->Below(9));
  }
}

// Lists of the graph: nodes in another order, twice, of another model or gone; a constant that
// is gone, or also an input; a value as a further output, or said to have another's shape.
void ChangeLists(onnx::GraphProto* graph, const onnx::GraphProto& other, Rng* rng) {
  const int node = Any(graph->node(), rng);
  switch (rng->Below(7)) {
    case 0:
      graph->mutable_node()->SwapElements(node, Any(graph->node(), rng));
      return;
    case 1: {
      const onnx::NodeProto twice = graph->node(node);
      *graph->add_node() = twice;
      if (rng->Below(2) == 0) return;
      for (auto& name :
           *graph->mutable_node(graph->node_size() - 1)->mutable_output()) {
        name += "_again";
      }
      return;
    }
    case 2:
      *graph->mutable_node(node) = other.node(Any(other.node(), rng));
      return;
    case 3:
      if (graph->node_size() > 1) graph->mutable_node()->DeleteSubrange(node, 1);
      return;
    case 4: {
      if (graph->initializer_size() == 0) return;
      const int gone = Any(graph->initializer(), rng);
      if (rng->Below(2) == 0) {
        graph->add_input()->set_name(graph->initializer(gone).name());
      } else {
        graph->mutable_initializer()->DeleteSubrange(gone, 1);
      }
      return;
    }
    case 5:
      graph->add_output()->set_name(AnyTensor(*graph, rng));
      return;
    default: {
      onnx::ValueInfoProto* info = graph->add_value_info();
      *info = other.input(Any(other.input(), rng));
      info->set_name(AnyTensor(*graph, rng));
    }
  }
}

void Change(onnx::ModelProto* model, const onnx::ModelProto& other, Rng* rng) {
  onnx::GraphProto* graph = model->mutable_graph();
  switch (rng->Below(10)) {
    case 8:
    case 9:
      return ChangeLists(graph, other.graph(), rng);
    case 0:
    case 1:
    case 2:
      return ChangeNode(graph, other.graph(), rng);
    case 3:
    case 4:
      return ChangeAttribute(graph, rng);
    case 5:
      return ChangeConstant(graph, other.graph(), rng);
    case 6:
      return ChangeBorder(graph, rng);
    default:
      model->mutable_opset_import(0)->set_version(7 + rng->Below(15));
  }
}

// Whether a test has time to execute the graph.
bool IsSmall(const ImportAndGraph& import) {
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  uint64_t elements = 0;
  for (uint32_t t = 0; t < graph.tensor_kind()->size(); ++t) {
    uint64_t extent = 1;
    for (const int32_t dim : DimsOfTensor(import, t)) {
      extent *= static_cast<uint64_t>(dim);
    }
    elements += extent;
  }
  return elements < 400000;
}

// "", or what is wrong with a graph that the importer has accepted.
std::string WrongWith(const ImportAndGraph& import) {
  try {
    sluice::import::CheckGraph(import.graph);
  } catch (const Error& error) {
    // The extents in the file may contradict those that follow from the operators.
    const std::string what = error.what();
    const bool extents =
        what.find("output extents do not follow") != std::string::npos ||
        what.find("pads do not fit the output") != std::string::npos;
    return extents || error.fault() == Fault::kUnsupported ? "" : what;
  }
  if (!IsSmall(import)) return "";
  sluice_sim::SimulateOptions options;
  options.graph = import.graph.data();
  options.graph_size = import.graph.size();
  options.seed = 1;
  const auto result = sluice_sim::RunReference(options);
  const bool unknown = result.error.find("no host function") != std::string::npos;
  return result.ok || unknown ? "" : result.error;
}

TEST_CASE("onnx structure: what is accepted of changed models is read and executed") {
  const std::vector<onnx::ModelProto> corpus = Corpus();
  const uint64_t executions = sluice_test::Setting("SLUICE_STRUCTURE_EXECUTIONS", 600);
  const char* keep = std::getenv("SLUICE_STRUCTURE_KEEP");
  Rng rng(sluice_test::Setting("SLUICE_STRUCTURE_SEED", 1));
  uint64_t accepted = 0;
  for (uint64_t n = 0; n < executions; ++n) {
    onnx::ModelProto model = corpus[static_cast<size_t>(Any(corpus, &rng))];
    for (uint32_t i = 0; i <= rng.Below(4); ++i) {
      Change(&model, corpus[static_cast<size_t>(Any(corpus, &rng))], &rng);
    }
    const std::string text = model.SerializeAsString();
    if (keep != nullptr) std::ofstream(keep, std::ios::binary) << text;
    OnnxImportOptions options;
    options.allow_opaque = rng.Below(2) == 0;
    options.max_constant_bytes = 64 << 20;
    try {
      const ImportAndGraph import = Import(Bytes(text.begin(), text.end()), options);
      ++accepted;
      const std::string wrong = WrongWith(import);
      CHECK_MESSAGE(wrong == "", "model " << n << ": " << wrong);
      if (wrong != "" && keep != nullptr) {
        std::ofstream(keep + std::to_string(n), std::ios::binary) << text;
      }
    } catch (const Error& error) {
      CHECK(error.what() != std::string());
    }
  }
  MESSAGE(executions << " models, " << accepted << " accepted");
  CHECK(accepted > executions / 10);
}

}  // namespace
}  // namespace sluice_test
