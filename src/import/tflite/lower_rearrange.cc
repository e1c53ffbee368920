// SPDX-License-Identifier: Apache-2.0
// Operators that cut tensors into blocks and lay them out anew: each is a RESHAPE to four
// axes of which two change places, a TRANSPOSE, and a RESHAPE.
#include "import/error.h"
#include "import/tflite/tflite_lowering.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using tflite::BuiltinOperator;

bool Is(const TfliteOperator& op, BuiltinOperator code) {
  return op.code == static_cast<int>(code);
}

// A product of extents as one extent.
int32_t Joined(int64_t a, int64_t b) {
  Require(a * b <= INT32_MAX, "axes that are too long to be one");
  return static_cast<int32_t>(a * b);
}

// The number of elements; 0 if it does not fit 31 bits.
int64_t Elements(const Extents& extents) {
  int64_t product = 1;
  for (const int32_t extent : extents) {
    product *= extent;
    if (product > INT32_MAX) return 0;
  }
  return product;
}

// `tensor`, read as [a, b, c, d], with b and c exchanged.
uint32_t Exchanged(Lowering* to, const TfliteTensor& like, const char* suffix,
                   uint32_t tensor, const Dims& view) {
  const uint32_t from = Reshaped(to, tensor, like, view);
  const uint32_t made =
      Temporary(to, like, suffix, {view[0], view[2], view[1], view[3]});
  to->graph.AddLayer(like.name + suffix, SLUICE_OP_TRANSPOSE, {from}, {made},
                     {0, 2, 1, 3});
  return made;
}

// As Exchanged, but writes the operator's output.
void ExchangeIntoOutput(Lowering* to, const TfliteOperator& op, uint32_t tensor,
                        const Dims& view) {
  const uint32_t from = Reshaped(to, tensor, OutputOf(*to, op), view);
  const uint32_t made = OpenOutput(to, op, {view[0], view[2], view[1], view[3]});
  AddLayer(to, op, SLUICE_OP_TRANSPOSE, {from}, made, {0, 2, 1, 3});
  CloseOutput(to, op, made);
}

// Extents of a tensor of three or four axes as [N, H, W, C]; with three axes W is 1.
Dims Image(const TfliteTensor& tensor) {
  Require(tensor.shape.size() == 3 || tensor.shape.size() == 4,
          "operands that have neither three nor four axes");
  Dims dims = DimsOf(tensor);
  if (dims.size() == 3) dims.insert(dims.begin() + 2, 1);
  return dims;
}

// Rows and columns: block extents, or pairs of pads or crops.
std::vector<int64_t> PerAxis(const TfliteTensor& tensor, const TfliteTensor& image,
                             size_t each) {
  std::vector<int64_t> values = Integers(tensor);
  Require(values.size() == each * (image.shape.size() - 2),
          "blocks of another number of axes than rows and columns");
  values.resize(2 * each, each == 1 ? 1 : 0);
  for (const int64_t value : values) {
    Require(value >= (each == 1 ? 1 : 0) && value <= INT32_MAX,
            "a block below 1, or a crop below 0");
  }
  return values;
}

void RequireAlike(const TfliteTensor& input, const TfliteTensor& out) {
  SmallInteger(input);
  Require(input.type == out.type && SameAffine(input, out),
          "an output of another type or quantisation than the input");
}

// Whether the batches are images times the block's positions.
bool HasBatches(int64_t batches, int64_t images, const std::vector<int64_t>& block) {
  const int64_t places = block[0] * block[1];
  return places <= batches && images * places == batches;
}

[[noreturn]] void Misfit(const TfliteTensor& out) {
  throw Error(Fault::kBadInput,
              "the blocks of " + out.name + " do not fit its extents");
}

}  // namespace

// DEPTH_TO_SPACE exchanges the inner two of [rows, columns, block rows, block columns *
// channels]; SPACE_TO_DEPTH exchanges them back.
void LowerDepthToSpace(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  RequireAlike(input, out);
  Require(input.shape.size() == 4 && out.shape.size() == 4,
          "operands that do not have four axes");
  const bool apart = Is(op, BuiltinOperator::DEPTH_TO_SPACE);
  const Extents few = ExtentsOf(apart ? input : out),
                many = ExtentsOf(apart ? out : input);
  const int32_t block = many[1] / few[1];
  if (block < 1 || few[0] != many[0] || int64_t{few[1]} * block != many[1] ||
      int64_t{few[2]} * block != many[2] || few[3] % block != 0 ||
      few[3] / block % block != 0 || few[3] / block / block != many[3]) {
    Misfit(out);
  }
  const int32_t rows = Joined(few[0], few[1]), depth = few[3] / block;
  const Dims view =
      apart ? Dims{rows, few[2], block, depth} : Dims{rows, block, few[2], depth};
  ExchangeIntoOutput(to, op, InputTensor(to, op, 0), view);
}

// [N, rows, block rows, columns, block columns, C] to block rows, block columns, N, rows,
// columns, C, in two steps.
void LowerSpaceToBatch(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  RequireAlike(input, out);
  Dims image = Image(input);
  const Dims batches = Image(out);
  const std::vector<int64_t> block = PerAxis(InputOf(*to, op, 1), input, 1);
  const std::vector<int64_t> pads = PerAxis(InputOf(*to, op, 2), input, 2);
  const int64_t padded_h = image[1] + pads[0] + pads[1];
  const int64_t padded_w = image[2] + pads[2] + pads[3];
  if (padded_h != batches[1] * block[0] || padded_w != batches[2] * block[1] ||
      !HasBatches(batches[0], image[0], block) || batches[3] != image[3]) {
    Misfit(out);
  }
  uint32_t tensor = Reshaped(to, InputTensor(to, op, 0), input, image);
  if (padded_h != image[1] || padded_w != image[2]) {
    image[1] = Joined(padded_h, 1);
    image[2] = Joined(padded_w, 1);
    const uint32_t padded = Temporary(to, input, "/padded", image);
    std::vector<int32_t> attributes(SLUICE_PAD_ATTRIBUTES);
    attributes[1] = static_cast<int32_t>(pads[0]);
    attributes[2] = static_cast<int32_t>(pads[2]);
    attributes[SLUICE_PAD_VALUE] = AffineOf(out).zero;
    to->graph.AddLayer(out.name + "/padded", SLUICE_OP_PAD, {tensor}, {padded},
                       attributes);
    tensor = padded;
  }
  const auto rows = static_cast<int32_t>(block[0]),
             columns = static_cast<int32_t>(block[1]);
  const int32_t n = Joined(image[0], batches[1]);
  const uint32_t apart =
      Exchanged(to, out, "/rows", tensor, {1, n, rows, Joined(image[2], image[3])});
  ExchangeIntoOutput(to, op, apart, {rows, Joined(n, batches[2]), columns, image[3]});
}

void LowerBatchToSpace(Lowering* to, const TfliteOperator& op) {
  const TfliteTensor& input = InputOf(*to, op, 0);
  const TfliteTensor& out = OutputOf(*to, op);
  RequireAlike(input, out);
  const Dims batches = Image(input), image = Image(out);
  const std::vector<int64_t> block = PerAxis(InputOf(*to, op, 1), input, 1);
  const std::vector<int64_t> crops = PerAxis(InputOf(*to, op, 2), input, 2);
  const int64_t whole_h = batches[1] * block[0], whole_w = batches[2] * block[1];
  if (whole_h - crops[0] - crops[1] != image[1] ||
      whole_w - crops[2] - crops[3] != image[2] ||
      !HasBatches(batches[0], image[0], block) || batches[3] != image[3]) {
    Misfit(out);
  }
  const auto rows = static_cast<int32_t>(block[0]),
             columns = static_cast<int32_t>(block[1]);
  const int32_t n = Joined(image[0], batches[1]);
  const uint32_t apart = Exchanged(to, out, "/columns", InputTensor(to, op, 0),
                                   {rows, columns, Joined(n, batches[2]), image[3]});
  const Dims view = {1, rows, n, Joined(whole_w, image[3])};
  if (whole_h == image[1] && whole_w == image[2]) {
    ExchangeIntoOutput(to, op, apart, view);
    return;
  }
  const uint32_t whole = Exchanged(to, out, "/rows", apart, view);
  const uint32_t cut = Reshaped(
      to, whole, out, {image[0], Joined(whole_h, 1), Joined(whole_w, 1), image[3]});
  const uint32_t made = OpenOutput(to, op, image);
  AddLayer(to, op, SLUICE_OP_SLICE, {cut}, made,
           {0, static_cast<int32_t>(crops[0]), static_cast<int32_t>(crops[2]), 0});
  CloseOutput(to, op, made);
}

// A slice for each output, which has lost the axis.
void LowerUnpack(Lowering* to, const TfliteOperator& op) {
  const auto* options = op.wire->builtin_options_as_UnpackOptions();
  Require(options != nullptr, "missing options");
  const TfliteTensor& input = InputOf(*to, op, 0);
  const size_t axis = static_cast<size_t>(AxisOf(input, options->axis()));
  const Extents in = ExtentsOf(input);
  Dims part(in.begin(), in.end());
  part[axis] = 1;
  if (op.outputs.size() != static_cast<size_t>(in[axis])) {
    throw Error(Fault::kBadInput, "outputs of " + OutputOf(*to, op).name +
                                      " are not as many as what is unpacked");
  }
  const uint32_t whole = InputTensor(to, op, 0);
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const TfliteTensor& out = OutputOf(*to, op, i);
    Require(input.type == out.type, "an output of another type than the input");
    Extents one = in;
    one[axis] = 1;
    const Extents extents = ExtentsOf(out);
    if (Elements(extents) != Elements(one)) Misfit(out);
    std::vector<int32_t> begin(4);
    begin[axis] = static_cast<int32_t>(i);
    const uint32_t made = OutputTensor(to, op, i);
    const bool same = extents == one;
    const uint32_t cut = same ? made : Temporary(to, out, "/part", part);
    to->graph.AddLayer(same ? out.name : out.name + "/part", SLUICE_OP_SLICE, {whole},
                       {cut}, begin);
    if (!same) to->graph.AddLayer(out.name, SLUICE_OP_RESHAPE, {cut}, {made});
  }
}

// Loops that are left have not become their bodies (while_loops.h).
void LowerLoop(Lowering*, const TfliteOperator&) {
  Require(false, "a loop whose number of turns does not follow from constants");
}

}  // namespace sluice::import
