// SPDX-License-Identifier: Apache-2.0
// Constants of which a file holds some elements. The positions are those of TensorFlow's
// documentation of its sparsity parameters.
#include "import/tflite/sparse_constants.h"

#include "tests/import/tflite/imported.h"

namespace sluice::import {
namespace {

using tflite::DimensionType;
using tflite::TensorType;

struct ListedLevel {
  std::vector<int32_t> segments, indices;  // none: a dense level
  int32_t extent;
};

struct Pruned {
  std::vector<int32_t> shape, order, blocks;
  std::vector<ListedLevel> levels;
  Bytes stored;
};

flatbuffers::Offset<tflite::DimensionMetadata> LevelOf(
    const ListedLevel& level, flatbuffers::FlatBufferBuilder* to) {
  if (level.segments.empty()) {
    return tflite::CreateDimensionMetadata(*to, DimensionType::DENSE, level.extent);
  }
  const std::vector<uint8_t> indices(level.indices.begin(), level.indices.end());
  const auto segments = tflite::CreateInt32VectorDirect(*to, &level.segments);
  const auto listed = tflite::CreateUint8VectorDirect(*to, &indices);
  return tflite::CreateDimensionMetadata(
      *to, DimensionType::SPARSE_CSR, 0, tflite::SparseIndexVector::Int32Vector,
      segments.Union(), tflite::SparseIndexVector::Uint8Vector, listed.Union());
}

// The sparse constant, filled within that many bytes.
TfliteTensor Filled(const Pruned& pruned, uint64_t room, TfliteModel* model) {
  flatbuffers::FlatBufferBuilder to;
  std::vector<flatbuffers::Offset<tflite::DimensionMetadata>> levels;
  for (const ListedLevel& level : pruned.levels) levels.push_back(LevelOf(level, &to));
  to.Finish(tflite::CreateSparsityDirect(to, &pruned.order, &pruned.blocks, &levels));
  TfliteTensor tensor = {};
  tensor.name = "w";
  tensor.type = static_cast<int>(TensorType::INT8);
  tensor.shape = pruned.shape;
  tensor.data = pruned.stored.data();
  tensor.data_bytes = pruned.stored.size();
  tensor.sparsity = flatbuffers::GetRoot<tflite::Sparsity>(to.GetBufferPointer());
  model->tensors = {tensor};
  FillSparseConstants(model, &room);
  return model->tensors[0];
}

Bytes Whole(const Pruned& pruned) {
  TfliteModel model;
  const TfliteTensor tensor = Filled(pruned, 1 << 20, &model);
  CHECK(tensor.sparsity == nullptr);
  return Bytes(tensor.data, tensor.data + tensor.data_bytes);
}

std::string Refusal(const Pruned& pruned, uint64_t room = 1 << 20) {
  TfliteModel model;
  try {
    Filled(pruned, room, &model);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The rows (6 0 9 8) (0 0 0 0) (5 0 0 7).
Pruned Rows() {
  return {{3, 4},
          {0, 1},
          {},
          {{{}, {}, 3}, {{0, 3, 3, 5}, {0, 2, 3, 0, 3}, 0}},
          {6, 9, 8, 5, 7}};
}

// The same elements by columns.
Pruned Columns() {
  return {{3, 4},
          {1, 0},
          {},
          {{{}, {}, 4}, {{0, 2, 2, 3, 5}, {0, 2, 0, 0, 2}, 0}},
          {6, 5, 9, 8, 7}};
}

// Blocks of 2 x 2 of a matrix of 4 x 4: the first one and the last one.
Pruned Blocks() {
  return {{4, 4},
          {0, 1, 2, 3},
          {0, 1},
          {{{}, {}, 2}, {{0, 1, 2}, {0, 1}, 0}, {{}, {}, 2}, {{}, {}, 2}},
          {1, 2, 3, 4, 5, 6, 7, 8}};
}

TEST_CASE("tflite sparse: rows, columns and blocks lie where the file says") {
  const Bytes rows = {6, 0, 9, 8, 0, 0, 0, 0, 5, 0, 0, 7};
  CHECK(Whole(Rows()) == rows);
  CHECK(Whole(Columns()) == rows);
  CHECK(Whole(Blocks()) == Bytes{1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 5, 6, 0, 0, 7, 8});
}

TEST_CASE("tflite sparse: positions that the constant does not have are refused") {
  const std::string where = "sparse constant w does not say where its elements lie";
  Pruned wrong = Rows();
  wrong.levels[1].indices[4] = 4;
  CHECK(Refusal(wrong) == where);
  wrong = Rows();
  wrong.levels[1].segments[3] = 6;
  CHECK(Refusal(wrong) == where);
  wrong = Rows();
  wrong.levels[1].segments = {0, 3, 3};
  CHECK(Refusal(wrong) == where);
  wrong = Rows();
  wrong.stored.push_back(1);
  CHECK(Refusal(wrong) == where);
  wrong = Rows();
  wrong.stored.pop_back();
  CHECK(Refusal(wrong) == where);
  wrong = Rows();
  wrong.order = {0, 0};
  CHECK(Refusal(wrong) == where);
  wrong = Blocks();
  wrong.levels[2].extent = 3;
  CHECK(Refusal(wrong) == where);
  wrong = Blocks();
  wrong.blocks = {0, 2};
  CHECK(Refusal(wrong) == where);
  wrong.blocks = {0, 0};
  CHECK(Refusal(wrong) == where);
}

TEST_CASE("tflite sparse: a constant larger than the caller's limit is not made") {
  CHECK(Refusal(Rows(), 11) == "constant w needs 12 bytes");
  CHECK(Refusal(Rows(), 12) == "");
}

TEST_CASE("tflite constants: 4-bit numbers become int8, the low half first") {
  std::vector<uint8_t> data = {0x21, 0x8f, 0x07};
  TfliteModel model;
  TfliteTensor tensor = {};
  tensor.type = static_cast<int>(tflite::TensorType::INT4);
  tensor.shape = {5};
  tensor.data = data.data();
  tensor.data_bytes = data.size();
  model.tensors = {tensor, tensor};
  model.tensors[1].shape = {7};  // needs four bytes
  uint64_t room = 8;
  UnpackConstants(&model, &room);
  CHECK(room == 3);
  const TfliteTensor& made = model.tensors[0];
  CHECK(made.type == static_cast<int>(tflite::TensorType::INT8));
  CHECK(std::vector<uint8_t>(made.data, made.data + made.data_bytes) ==
        std::vector<uint8_t>{1, 2, 255, 248, 7});
  CHECK(model.tensors[1].type == tensor.type);
}

TEST_CASE("tflite constants: 2-bit numbers become int8, the low bits first") {
  std::vector<uint8_t> data = {0xe4, 0x02};
  TfliteModel model;
  TfliteTensor tensor = {};
  tensor.type = static_cast<int>(tflite::TensorType::INT2);
  tensor.shape = {5};
  tensor.data = data.data();
  tensor.data_bytes = data.size();
  model.tensors = {tensor};
  uint64_t room = 5;
  UnpackConstants(&model, &room);
  CHECK(room == 0);
  const TfliteTensor& made = model.tensors[0];
  CHECK(std::vector<uint8_t>(made.data, made.data + made.data_bytes) ==
        std::vector<uint8_t>{0, 1, 254, 255, 254});
}

}  // namespace
}  // namespace sluice::import
