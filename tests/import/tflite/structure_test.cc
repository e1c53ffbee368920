// SPDX-License-Identifier: Apache-2.0
// Models of one operator and a network changed in their structure: edges, operators, options,
// extents, types, scales and constants. The library reads, and the simulator executes, every
// model that the importer accepts. Every other model is refused with an error of the importer.
//
// SLUICE_STRUCTURE_EXECUTIONS and SLUICE_STRUCTURE_SEED in the environment set how many
// models are made, and from which seed. SLUICE_STRUCTURE_KEEP names a file to which
// each model is written before it is imported.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "base/rng.h"
#include "firmware-sim/sim.h"
#include "import/graph_check.h"
#include "support/files.h"
#include "support/setting.h"
#include "tests/import/tflite/imported.h"
#include "tests/import/tiny_models.h"

namespace sluice::import {
namespace {

std::vector<Bytes> Corpus() {
  std::vector<Bytes> corpus;
  for (NamedModel& model : TinyModels()) corpus.push_back(std::move(model.bytes));
  for (int i = 0; i < 6; ++i) {
    corpus.push_back(sluice_test::ReadFile(std::string(SLUICE_TESTS) +
                                           "/models/residual_cnn_int8.tflite"));
  }
  return corpus;
}

template <typename T>
T* Writable(const T* of_a_copy) {
  return const_cast<T*>(of_a_copy);
}

template <typename T>
T* AnyOf(const flatbuffers::Vector<T>* list, Rng* rng) {
  if (list == nullptr || list->size() == 0) return nullptr;
  return Writable(list->data()) + rng->Below(list->size());
}

// A number as extents and constants hold it, or one that they must not hold.
int32_t Number(Rng* rng) {
  static const int32_t kNumbers[] = {0,  1,  2,   3,   4,     5,         8,         16,
                                     -1, -2, 127, 255, 65536, INT32_MAX, INT32_MIN, -7};
  return kNumbers[rng->Below(rng->Below(4) == 0 ? 16 : 8)];
}

void ChangeOperator(const tflite::SubGraph& graph, Rng* rng) {
  if (graph.operators() == nullptr || graph.operators()->size() == 0) return;
  const tflite::Operator* op =
      graph.operators()->Get(rng->Below(graph.operators()->size()));
  const auto tensors = static_cast<int32_t>(graph.tensors()->size());
  switch (rng->Below(3)) {
    case 0:
    case 1:
      if (int32_t* edge =
              AnyOf(rng->Below(3) != 0 ? op->inputs() : op->outputs(), rng)) {
        *edge = static_cast<int32_t>(rng->Below(static_cast<uint32_t>(tensors))) -
                (rng->Below(8) == 0 ? 1 : 0);
      }
      return;
    default: {  // the first byte of an option
      const auto* options =
          static_cast<const flatbuffers::Table*>(op->builtin_options());
      if (options == nullptr) return;
      const auto field = static_cast<flatbuffers::voffset_t>(4 + 2 * rng->Below(6));
      const auto at = options->GetOptionalFieldOffset(field);
      if (at == 0) return;
      const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(options))[at] =
          static_cast<uint8_t>(rng->Below(2) == 0 ? rng->Below(4) : rng->Below(256));
    }
  }
}

void ChangeTensor(const tflite::SubGraph& graph, Rng* rng) {
  const tflite::Tensor* tensor =
      graph.tensors()->Get(rng->Below(graph.tensors()->size()));
  const auto* quantisation = tensor->quantization();
  switch (rng->Below(5)) {
    case 0:
    case 1:
      if (int32_t* extent = AnyOf(tensor->shape(), rng)) *extent = Number(rng);
      return;
    case 2: {
      const auto at =
          reinterpret_cast<const flatbuffers::Table*>(tensor)->GetOptionalFieldOffset(
              tflite::Tensor::VT_TYPE);
      if (at == 0) return;
      const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(tensor))[at] =
          static_cast<uint8_t>(rng->Below(18));
      return;
    }
    case 3: {
      if (quantisation == nullptr) return;
      const float kScales[] = {0.0f,
                               1e-30f,
                               1e30f,
                               -1.0f,
                               0.5f,
                               1.0f / 256,
                               3.0f,
                               std::numeric_limits<float>::quiet_NaN(),
                               std::numeric_limits<float>::infinity()};
      if (float* scale = AnyOf(quantisation->scale(), rng))
        *scale = kScales[rng->Below(9)];
      return;
    }
    default:
      if (quantisation == nullptr) return;
      if (int64_t* zero = AnyOf(quantisation->zero_point(), rng)) *zero = Number(rng);
  }
}

// A list without its last element, or with another tensor in it.
void ChangeList(const flatbuffers::Vector<int32_t>* list, uint32_t tensors, Rng* rng) {
  int32_t* element = AnyOf(list, rng);
  if (element == nullptr) return;
  if (rng->Below(2) == 0) {
    *element = static_cast<int32_t>(rng->Below(tensors));
  } else {
    reinterpret_cast<flatbuffers::uoffset_t*>(Writable(list))[0] -= 1;
  }
}

// Another constant for a tensor, a constant where there was none, another axis of scales, and
// shorter lists: of extents, scales, operands, inputs or outputs.
void ChangeEdges(const tflite::Model& model, const tflite::SubGraph& graph, Rng* rng) {
  const uint32_t tensors = graph.tensors()->size();
  const tflite::Tensor* tensor = graph.tensors()->Get(rng->Below(tensors));
  const auto set = [](const auto* of, flatbuffers::voffset_t field, uint32_t number) {
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(of);
    const auto at = table->GetOptionalFieldOffset(field);
    if (at == 0) return;
    std::copy_n(reinterpret_cast<const uint8_t*>(&number), 4,
                const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(of)) + at);
  };
  const auto* quantisation = tensor->quantization();
  switch (rng->Below(7)) {
    case 0:
      return set(tensor, tflite::Tensor::VT_BUFFER,
                 rng->Below(model.buffers()->size()));
    case 1:
      if (quantisation == nullptr) return;
      return set(quantisation, tflite::Quantization::VT_QUANTIZED_DIMENSION,
                 static_cast<uint32_t>(Number(rng)));
    case 2:
      return ChangeList(graph.inputs(), tensors, rng);
    case 3:
      return ChangeList(graph.outputs(), tensors, rng);
    case 4:
      if (tensor->shape() == nullptr || tensor->shape()->size() == 0) return;
      reinterpret_cast<flatbuffers::uoffset_t*>(Writable(tensor->shape()))[0] -= 1;
      return;
    case 5:
      if (quantisation == nullptr || AnyOf(quantisation->scale(), rng) == nullptr)
        return;
      reinterpret_cast<flatbuffers::uoffset_t*>(Writable(quantisation->scale()))[0] -=
          1;
      return;
    default: {
      if (graph.operators() == nullptr || graph.operators()->size() == 0) return;
      const tflite::Operator* op =
          graph.operators()->Get(rng->Below(graph.operators()->size()));
      return ChangeList(rng->Below(3) == 0 ? op->outputs() : op->inputs(), tensors,
                        rng);
    }
  }
}

void ChangeConstant(const tflite::Model& model, Rng* rng) {
  const tflite::Buffer* buffer =
      model.buffers()->Get(rng->Below(model.buffers()->size()));
  if (buffer->data() == nullptr || buffer->data()->size() < 4) return;
  const uint32_t words = buffer->data()->size() / 4;
  const int32_t number = Number(rng);
  std::copy_n(reinterpret_cast<const uint8_t*>(&number), 4,
              Writable(buffer->data()->data()) + 4 * rng->Below(words));
}

// Gives an operator code of `model` the operator of a code of `other`.
void ChangeCode(const tflite::Model& model, const tflite::Model& other, Rng* rng) {
  const auto* codes = model.operator_codes();
  const auto* from =
      other.operator_codes()->Get(rng->Below(other.operator_codes()->size()));
  auto* to = reinterpret_cast<flatbuffers::Table*>(
      Writable(codes->Get(rng->Below(codes->size()))));
  const auto code = static_cast<int32_t>(from->builtin_code());
  to->SetField<int32_t>(tflite::OperatorCode::VT_BUILTIN_CODE, code, 0);
  to->SetField<int8_t>(tflite::OperatorCode::VT_DEPRECATED_BUILTIN_CODE,
                       static_cast<int8_t>(std::min(code, 127)), 0);
}

void Change(Bytes* bytes, const Bytes& other, Rng* rng) {
  const tflite::Model& model = *tflite::GetModel(bytes->data());
  const tflite::SubGraph& graph = *model.subgraphs()->Get(0);
  switch (rng->Below(11)) {
    case 9:
    case 10:
      return ChangeEdges(model, graph, rng);
    case 0:
    case 1:
    case 2:
      return ChangeOperator(graph, rng);
    case 3:
    case 4:
    case 5:
      return ChangeTensor(graph, rng);
    case 6:
    case 7:
      return ChangeConstant(model, rng);
    default:
      return ChangeCode(model, *tflite::GetModel(other.data()), rng);
  }
}

// Whether a test has time to execute the graph.
bool IsSmall(const ImportAndGraph& import) {
  const wire::Graph& graph = *wire::GetGraph(import.graph.data());
  uint64_t elements = 0;
  for (uint32_t t = 0; t < graph.tensor_kind()->size(); ++t) {
    uint64_t extent = 1;
    for (uint32_t d = graph.tensor_dim_begin()->Get(t);
         d < graph.tensor_dim_begin()->Get(t + 1); ++d) {
      extent *= static_cast<uint64_t>(graph.tensor_dims()->Get(d));
    }
    elements += extent;
  }
  return elements < 400000;
}

// "", or what is wrong with a graph that the importer has accepted.
std::string WrongWith(const ImportAndGraph& import) {
  try {
    CheckGraph(import.graph);
  } catch (const Error& error) {
    // The extents and types in the file may contradict those that follow from the
    // operators.
    return error.fault() == Fault::kUnsupported || error.fault() == Fault::kBadInput
               ? ""
               : error.what();
  }
  if (!IsSmall(import)) return "";
  sluice_sim::SimulateOptions options;
  options.graph = import.graph.data();
  options.graph_size = import.graph.size();
  options.seed = 1;
  const auto result = sluice_sim::RunReference(options);
  // Computed indices may lie outside of the table, divisors may be 0; TensorFlow Lite
  // stops there, too.
  for (const char* allowed :
       {"no host function", "an index out of range", "an index outside of",
        "a division by zero", "a root of a number below zero", "a segment that",
        "a sequence of more steps"}) {
    if (result.error.find(allowed) != std::string::npos) return "";
  }
  return result.ok ? "" : result.error;
}

TEST_CASE("tflite structure: what is accepted of changed models is read and executed") {
  const std::vector<Bytes> corpus = Corpus();
  const uint64_t executions = sluice_test::Setting("SLUICE_STRUCTURE_EXECUTIONS", 2000);
  const char* keep = std::getenv("SLUICE_STRUCTURE_KEEP");
  Rng rng(sluice_test::Setting("SLUICE_STRUCTURE_SEED", 1));
  const auto any = [&]() -> const Bytes& {
    return corpus[rng.Below(static_cast<uint32_t>(corpus.size()))];
  };
  uint64_t accepted = 0;
  for (uint64_t n = 0; n < executions; ++n) {
    Bytes model = any();
    for (uint32_t i = 0; i <= rng.Below(3); ++i) Change(&model, any(), &rng);
    if (keep != nullptr) {
      std::ofstream(keep, std::ios::binary)
          .write(reinterpret_cast<const char*>(model.data()),
                 static_cast<std::streamsize>(model.size()));
    }
    try {
      TfliteImportOptions options;
      options.name = "test";
      options.allow_opaque = rng.Below(2) == 0;
      options.max_constant_bytes = 64 << 20;
      const ImportAndGraph import(ImportTflite(model.data(), model.size(), options));
      ++accepted;
      const std::string wrong = WrongWith(import);
      CHECK_MESSAGE(wrong == "", "model " << n << ": " << wrong);
      if (wrong != "" && keep != nullptr) {
        std::ofstream(keep + std::to_string(n), std::ios::binary)
            .write(reinterpret_cast<const char*>(model.data()),
                   static_cast<std::streamsize>(model.size()));
      }
    } catch (const Error& error) {
      CHECK(error.what() != std::string());
    }
  }
  MESSAGE(executions << " models, " << accepted << " accepted");
  CHECK(accepted > executions / 10);
}

}  // namespace
}  // namespace sluice::import
