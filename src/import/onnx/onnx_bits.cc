// SPDX-License-Identifier: Apache-2.0
// MatMulNBits, taken apart: weights of 2, 4 or 8 bits in blocks along a row, each of which has a
// scale. Each block is a product of its own, which units multiply; the host scales and adds up.
#include "import/onnx/onnx_rewriter.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;

constexpr int64_t kMostExtent = 1 << 20;
constexpr int kUint4 = 21, kUint2 = 25;  // which older libraries do not name

int TypeOf(int64_t bits) {
  return bits == 2 ? kUint2 : bits == 4 ? kUint4 : onnx::TensorProto::UINT8;
}

struct Blocks {
  int64_t k, n, block, bits, blocks;

  int64_t Middle() const {
    return int64_t{1} << (bits - 1);
  }  // the zero point by default
};

int64_t BytesOf(const onnx::TensorProto& tensor) {
  int64_t bytes = 1;
  for (const int64_t dim : tensor.dims()) {
    if (dim < 1 || bytes > INT32_MAX) return -1;
    bytes *= dim;
  }
  return bytes;
}

// Bytes that hold one or two numbers each, rows one behind the other; they may not be here,
// but in the file. False: others.
bool SetNumbers(onnx::TensorProto* tensor, int64_t bits, const Shape& dims) {
  int64_t elements = 1;
  for (const int64_t dim : dims) elements *= dim;
  const bool done =
      bits != 8 && tensor->data_type() == TypeOf(bits) && BytesOf(*tensor) == elements;
  if (done) return true;  // another node reads it too
  if (tensor->data_type() != onnx::TensorProto::UINT8 ||
      BytesOf(*tensor) * 8 != elements * bits || tensor->int32_data_size() != 0) {
    return false;
  }
  tensor->set_data_type(TypeOf(bits));
  tensor->clear_dims();
  for (const int64_t dim : dims) tensor->add_dims(dim);
  return true;
}

// With the scale 1 and the zero point by default, of each row where there are several: the
// import computes those, and leaves one alone as integers.
std::string Stored(Rewriter* r, const std::string& tensor, const Blocks& b,
                   int64_t rows = 0, int64_t row = 0) {
  const Shape dims = rows == 0 ? Shape{} : Shape{rows, 1};
  const size_t count = rows == 0 ? 1 : static_cast<size_t>(rows);
  const std::string one = r->Real(std::vector<float>(count, 1), dims);
  onnx::TensorProto* zero = r->NewConstant();
  zero->set_data_type(TypeOf(b.bits));
  for (const int64_t dim : dims) zero->add_dims(dim);
  const int64_t each = b.bits == 4   ? 0x11
                       : b.bits == 2 ? 0x55
                                     : 1,
                in_a_byte = 8 / b.bits, packed = (rows + in_a_byte - 1) / in_a_byte;
  for (int64_t i = 0; i < (rows == 0 ? 1 : packed); ++i)
    zero->add_int32_data(
        static_cast<int32_t>(rows == 0 ? b.Middle() : b.Middle() * each));
  const std::string name = zero->name();
  if (rows == 0) return r->Op("DequantizeLinear", {tensor, one, name});
  return r->Op("DequantizeLinear", {tensor, one, name},
               {{"axis", {1}}, {"block_size", {row}}});
}

// What the blocks' zero points exceed the default by, [blocks, 1, N]. Empty: it cannot be told.
std::string Excess(Rewriter* r, const Blocks& b) {
  onnx::TensorProto* zero = r->Constant(r->In(3));
  if (zero == nullptr) return "";
  std::string real = r->In(3);
  const int64_t each = 8 / b.bits, padded = (b.blocks + each - 1) / each * each;
  if (zero->data_type() == onnx::TensorProto::FLOAT) {
    real = r->Op("Sub", {r->Reshape(real, {b.n, b.blocks}),
                         r->Real({static_cast<float>(b.Middle())})});
  } else {
    if (!SetNumbers(zero, b.bits, {b.n, padded})) return "";
    real = Stored(r, real, b, b.n, padded);
    if (padded != b.blocks) real = Part(r, real, 0, b.blocks);
  }
  return r->Reshape(r->Transposed(real, {1, 0}), {b.blocks, 1, b.n});
}

// The rows of x, [rows, blocks, block]; what is missing to the last block is 0.
std::string InBlocks(Rewriter* r, const Blocks& b, int64_t rows) {
  std::string x = r->Reshape(r->In(0), {rows, b.k});
  const int64_t missing = b.blocks * b.block - b.k;
  if (missing != 0) x = r->Op("Pad", {x, r->Whole({0, 0, 0, missing})});
  return r->Transposed(r->Reshape(x, {rows, b.blocks, b.block}), {1, 0, 2});
}

}  // namespace

bool RewriteBits(Rewriter* r) {
  Blocks b = {r->Int("K", 0), r->Int("N", 0), r->Int("block_size", 0),
              r->Int("bits", 4), 0};
  Shape x = r->Shape(r->In(0));
  if ((b.bits != 2 && b.bits != 4 && b.bits != 8) || b.k < 1 || b.n < 1 ||
      b.block < 2 || b.k > kMostExtent || b.n > kMostExtent || b.block > kMostExtent ||
      x.empty() || x.back() != b.k || r->Has(4)) {
    return false;
  }
  b.blocks = (b.k + b.block - 1) / b.block;
  onnx::TensorProto *weight = r->Constant(r->In(1)), *scale = r->Constant(r->In(2));
  if (weight == nullptr || scale == nullptr ||
      scale->data_type() != onnx::TensorProto::FLOAT ||
      BytesOf(*scale) != b.n * b.blocks ||
      !SetNumbers(weight, b.bits, {b.n, b.blocks, b.block})) {
    return false;
  }
  scale->clear_dims();
  scale->add_dims(b.n);
  scale->add_dims(b.blocks);
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < x.size(); ++i) rows *= x[i];
  const std::string in = InBlocks(r, b, rows);
  std::string sums = r->Product("bmk,nbk->bmn", {in, Stored(r, r->In(1), b)});
  if (r->Has(3)) {
    const std::string excess = Excess(r, b);
    if (excess.empty()) return false;
    sums =
        r->Op("Sub", {sums, r->Op("Mul", {r->Reduced("ReduceSum", in, {2}), excess})});
  }
  const std::string scales =
      r->Reshape(r->Transposed(r->In(2), {1, 0}), {b.blocks, 1, b.n});
  std::string y = r->Reduced("ReduceSum", r->Op("Mul", {sums, scales}), {0});
  x.back() = b.n;
  if (r->Has(5)) y = r->Op("Add", {y, r->In(5)});
  r->Finish(0, r->Reshape(y, x));
  return true;
}

}  // namespace sluice::import
