// SPDX-License-Identifier: Apache-2.0
// The rules of every operator: a layer that keeps them, and layers that each break one.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "io/read.h"
#include "support/library.h"
#include "support/wire_builder.h"

namespace sluice_test {
namespace {

constexpr uint8_t kU8 = SLUICE_DTYPE_UINT8, kI16 = SLUICE_DTYPE_INT16;

struct Operand {
  std::vector<int32_t> dims;  // empty: an absent optional input
  uint8_t dtype = kI8;
  sluice::TensorKind kind = sluice::TensorKind::kIntermediate;
};

// The message of CheckLayer about a layer of these operands; "" when it accepts the
// layer.
std::string Said(uint16_t op, const std::vector<Operand>& inputs, const Operand& output,
                 const std::vector<int32_t>& attributes = {}) {
  std::vector<sluice::Tensor> tensors;
  std::vector<uint32_t> in;
  const auto add = [&](const Operand& o) {
    if (o.dims.empty()) return sluice::kNone;
    sluice::Tensor t = {};
    t.rank = static_cast<uint8_t>(o.dims.size());
    t.dtype = o.dtype;
    t.kind = o.kind;
    t.element_bytes = sluice::DtypeBytes(o.dtype);
    t.bytes = t.element_bytes;
    for (int32_t& extent : t.extent) extent = 1;
    for (size_t a = 0; a < o.dims.size(); ++a) {
      t.extent[4 - o.dims.size() + a] = o.dims[a];
      t.bytes *= o.dims[a];
    }
    tensors.push_back(t);
    return static_cast<uint32_t>(tensors.size() - 1);
  };
  for (const Operand& o : inputs) in.push_back(add(o));
  const uint32_t out = add(output);
  sluice::Layer layer = {};
  layer.op = op;
  layer.inputs = {in.data(), in.size()};
  layer.outputs = {&out, 1};
  layer.attributes = {attributes.data(), attributes.size()};
  sluice::Graph graph = {};
  graph.tensors = {tensors.data(), tensors.size()};
  graph.layers = {&layer, 1};
  sluice::Diagnostic diagnostic = {};
  const sluice::Status status = sluice::CheckLayer(graph, 0, &diagnostic);
  if (status == sluice::Status::kOk) return "";
  const std::string message = diagnostic.message;
  const std::string head = std::string("layer 0 (") + sluice::OpName(op) + "): ";
  CHECK(message.find(head) == 0);
  return (status == sluice::Status::kUnsupported ? "unsupported: " : "") +
         message.substr(head.size());
}

const Operand kMap = {{1, 4, 4, 8}}, kHalf = {{1, 2, 2, 8}},
              kParameters = {{8, 3}, kI32};

TEST_CASE("check layer: convolutions") {
  const Operand weight = {{8, 3, 3, 8}};
  const std::vector<int32_t> same = {1, 1, 1, 1, 1, 1, 1, 1};  // pads of 1
  const auto conv = [&](const Operand& in, const Operand& w, const Operand& p,
                        const Operand& out, const std::vector<int32_t>& a) {
    return Said(SLUICE_OP_CONV, {in, w, p}, out, a);
  };
  CHECK(conv(kMap, weight, kParameters, kMap, same) == "");
  CHECK(conv(kMap, weight, {{8, 2}, kI32}, kMap, same) ==
        "parameters must be int32 [output channels, 3]");
  CHECK(conv({{1, 4, 4, 8}, kI16}, weight, kParameters, kMap, same) ==
        "operands must be 8 bit");
  CHECK(conv(kMap, weight, kParameters, {{2, 4, 4, 8}}, same) == "batch differs");
  CHECK(conv(kMap, {{8, 3, 3, 4}}, kParameters, kMap, {1, 1, 1, 1, 1, 1, 1, 1, 2}) ==
        "");
  CHECK(conv(kMap, weight, kParameters, kMap, {1, 1, 1, 1, 1, 1, 1, 1, 3}) ==
        "groups must divide input and output channels");
  // 4 + 3 - 3 + 1 rows are right, but the first window would lie in padding alone.
  CHECK(conv(kMap, weight, kParameters, {{1, 5, 4, 8}}, {1, 1, 1, 1, 3, 1, 0, 1}) ==
        "output extents do not follow from filter, stride, dilation and pads");

  const auto depthwise = [&](const Operand& w, const Operand& p, const Operand& out,
                             const std::vector<int32_t>& a) {
    return Said(SLUICE_OP_DEPTHWISE_CONV, {kMap, w, p}, out, a);
  };
  const std::string multiple = "weight must be [1, R, S, K] with K a multiple of C";
  CHECK(depthwise({{1, 3, 3, 16}}, {{16, 3}, kI32}, {{1, 4, 4, 16}}, same) == "");
  CHECK(depthwise({{1, 3, 3, 12}}, {{12, 3}, kI32}, {{1, 4, 4, 12}}, same) == multiple);
  CHECK(depthwise({{8, 3, 3, 1}}, kParameters, kMap, same) == multiple);
  CHECK(depthwise({{1, 3, 3, 8}}, kParameters, kMap, {1, 1, 1, 1, 1, 1, 1, 1, 2}) ==
        "groups must be 0");

  // The input [1,2,2,4] scatters 2 x 2 windows at a stride of 2.
  const auto transposed = [&](const Operand& w, std::vector<int32_t> a, int32_t h) {
    a.resize(16);
    return Said(SLUICE_OP_TRANSPOSED_CONV, {{{1, h, 2, 4}}, w, kParameters}, kMap, a);
  };
  const Operand own = {{8, 2, 2, 4}};
  std::vector<int32_t> two = {2, 2};
  CHECK(transposed(own, two, 2) == "");
  CHECK(transposed(own, two, 3) ==
        "input extents do not follow from output, filter, stride and pads");
  CHECK(transposed(own, {2, 2, 2}, 2) == "dilation and groups must be 0 or 1");
  CHECK(transposed({{4, 2, 2, 8}}, two, 2) ==
        "weight must be [K, R, S, C], [C, R, S, K] or [1, R, S, K = C]");
  two.resize(16);
  two[SLUICE_CONV_WEIGHT_LAYOUT] = SLUICE_WEIGHT_LAYOUT_CONV;
  CHECK(transposed({{4, 2, 2, 8}}, two, 2) == "");
  two[SLUICE_CONV_WEIGHT_LAYOUT] = 3;
  CHECK(transposed(own, two, 2) == "weight_layout must be 0, 1 or 2");
}

TEST_CASE("check layer: products and gradients") {
  const auto product = [&](const Operand& w, int32_t rows) {
    return Said(SLUICE_OP_FULLY_CONNECTED, {{{1, 1, 2, 16}}, w, kParameters},
                {{1, 1, rows, 8}});
  };
  CHECK(product({{8, 16}}, 2) == "");
  CHECK(product({{8, 15}}, 2) == "weight must be [K, C]");
  CHECK(product({{1, 1, 8, 16}}, 2) == "weight must be [K, C]");
  CHECK(product({{8, 16}}, 3) == "rows of input and output differ");

  const auto matmul = [&](const Operand& b, const std::vector<int32_t>& a) {
    return Said(SLUICE_OP_BATCH_MATMUL, {{{2, 3, 4, 5}}, b}, {{2, 3, 4, 6}}, a);
  };
  CHECK(matmul({{2, 3, 5, 6}}, {}) == "");
  CHECK(matmul({{2, 3, 6, 5}}, {1}) == "");
  CHECK(matmul({{2, 3, 6, 5}}, {}) ==
        "shapes must be [B,G,M,C] x [B,G,C,K] -> [B,G,M,K]");
  CHECK(matmul({{1, 3, 5, 6}}, {}) == "batch axes differ");

  const std::vector<int32_t> same = {1, 1, 1, 1, 1, 1, 1, 1};
  const auto weight = [&](const Operand& e, const Operand& out) {
    return Said(SLUICE_OP_WEIGHT_GRADIENT, {kMap, e}, out, same);
  };
  CHECK(weight({{1, 4, 4, 6}}, {{6, 3, 3, 8}}) == "");
  CHECK(weight({{1, 4, 4, 6}}, {{6, 3, 3, 4}}) ==
        "output must be [K, R, S, C / groups]");
  CHECK(weight({{1, 3, 4, 6}}, {{6, 3, 3, 8}}) ==
        "error extents do not follow from filter, stride and pads");
  CHECK(weight({{2, 4, 4, 6}}, {{6, 3, 3, 8}}) == "batch differs");

  CHECK(Said(SLUICE_OP_RELU_GRADIENT, {kMap, kMap}, kMap) == "");
  CHECK(Said(SLUICE_OP_RELU_GRADIENT, {kMap, {{1, 1, 1, 8}}}, kMap) ==
        "extents differ");

  const std::vector<int32_t> window = {2, 2, 2, 2};
  const auto pool = [&](const Operand& e, const Operand& x) {
    return Said(SLUICE_OP_MAX_POOL_GRADIENT, {e, x}, kMap, window);
  };
  CHECK(pool(kHalf, kMap) == "");
  CHECK(pool(kHalf, kHalf) == "ifmap and output extents differ");
  CHECK(pool({{1, 2, 2, 8}, kU8}, kMap) ==
        "operands must be 8 bit, error and output of one dtype");
  CHECK(pool({{1, 3, 2, 8}}, kMap) ==
        "output extents do not follow from window, stride and pads");
}

TEST_CASE("check layer: pools, element by element, rows, reductions") {
  const auto pool = [](const Operand& out, const std::vector<int32_t>& a) {
    return Said(SLUICE_OP_MAX_POOL, {kMap}, out, a);
  };
  CHECK(pool(kHalf, {2, 2, 2, 2}) == "");
  CHECK(pool({{1, 3, 3, 8}}, {2, 2}) == "");  // a stride of 0 is 1
  CHECK(pool({{1, 3, 2, 8}}, {2, 2, 2, 2}) ==
        "output extents do not follow from window, stride and pads");
  CHECK(pool({{1, 2, 2, 4}}, {2, 2, 2, 2}) == "batch or channels differ");
  CHECK(pool({{1, 2, 2, 8}, kU8}, {2, 2, 2, 2}) == "dtype differs");

  const auto sum = [](const Operand& b, const Operand& out) {
    return Said(SLUICE_OP_ADD, {{{1, 4, 1, 8}}, b}, out);
  };
  CHECK(sum({{1, 1, 4, 8}}, kMap) == "");
  CHECK(sum({{1, 1, 4, 4}}, kMap) == "inputs must agree or have extent 1");
  CHECK(sum({{1, 1, 1, 8}}, kMap) == "output extents must be the wider of the inputs'");

  CHECK(Said(SLUICE_OP_REQUANTIZE, {kMap}, kHalf) == "input and output extents differ");
  CHECK(Said(SLUICE_OP_REQUANTIZE, {{{1, 4, 4, 8}, kI32}}, kMap) == "");
  CHECK(Said(SLUICE_OP_LOOKUP, {kMap, {{256}}}, kMap) == "");
  CHECK(Said(SLUICE_OP_LOOKUP, {kMap, {{255}}}, kMap) ==
        "the table must have 256 bytes");

  const auto softmax = [](const Operand& mask) {
    return Said(SLUICE_OP_SOFTMAX, {kMap, mask}, kMap);
  };
  CHECK(softmax({}) == "");
  CHECK(softmax({{1, 1, 4, 8}, kU8}) == "");
  CHECK(softmax({{1, 1, 4, 8}, kI8}) == "the mask must be uint8");
  CHECK(softmax({{1, 1, 4, 4}, kU8}) == "mask does not fit");

  const auto norm = [](uint16_t op, int32_t zero, int32_t epsilon, int32_t channels) {
    const Operand rows = {{1, 1, 2, channels}};
    return Said(op, {rows, {{channels, 3}, kI32}}, rows, {zero, epsilon});
  };
  CHECK(norm(SLUICE_OP_LAYER_NORM, 200, 0, 32768) == "");
  CHECK(norm(SLUICE_OP_LAYER_NORM, 0, 0, 32769) ==
        "unsupported: more than 32768 channels");
  CHECK(norm(SLUICE_OP_LAYER_NORM, 0, -1, 8) == "epsilon must not be negative");
  CHECK(norm(SLUICE_OP_RMS_NORM, 127, 0, 8) == "");
  CHECK(norm(SLUICE_OP_RMS_NORM, 128, 0, 8) ==
        "input_zero must lie in the dtype's range");

  const auto reduce = [](const Operand& out, const std::vector<int32_t>& a) {
    return Said(SLUICE_OP_REDUCE, {kMap}, out, a);
  };
  CHECK(reduce({{1, 1, 1, 8}}, {6, 1}) == "");
  CHECK(reduce({{1, 1, 1, 8}}, {2, 1}) == "reduced axes must keep extent 1");
  CHECK(reduce({{1, 1, 1, 8}}, {6, 2}) == "unknown kind");
  CHECK(reduce(kMap, {0}) == "axes must be a mask of bits 0 to 3");
  CHECK(reduce(kMap, {16}) == "axes must be a mask of bits 0 to 3");
  CHECK(Said(SLUICE_OP_ARGMAX, {kMap}, {{1, 4, 4, 1}, kI32}) == "");
  CHECK(Said(SLUICE_OP_ARGMAX, {kMap}, {{1, 4, 4, 1}, kI8}) ==
        "output must be int32 or int64");
}

TEST_CASE("check layer: what is moved") {
  const auto concat = [](const Operand& second, int32_t axis) {
    return Said(SLUICE_OP_CONCAT, {kMap, second}, {{1, 4, 4, 12}}, {axis});
  };
  CHECK(concat({{1, 4, 4, 4}}, 3) == "");
  CHECK(concat({{1, 4, 4, 5}}, 3) == "extents along the axis do not add up");
  CHECK(concat({{1, 4, 4, 4}}, 2) == "inputs differ outside the axis");
  CHECK(concat({{1, 4, 4, 4}}, 4) == "axis must be 0 to 3");
  CHECK(concat({{1, 4, 4, 4}, kU8}, 3) == "dtype differs");
  CHECK(concat({}, 3) == "a required input is absent");

  const auto slice = [](const std::vector<int32_t>& begin) {
    return Said(SLUICE_OP_SLICE, {kMap}, {{1, 2, 2, 4}}, begin);
  };
  CHECK(slice({0, 2, 2, 4}) == "");
  CHECK(slice({0, 3, 2, 4}) == "the slice leaves the input");
  CHECK(slice({0, -1, 2, 4}) == "the slice leaves the input");

  const auto pad = [](int32_t height, const std::vector<int32_t>& before) {
    return Said(SLUICE_OP_PAD, {kHalf}, {{1, height, 4, 8}}, before);
  };
  CHECK(pad(4, {0, 2, 1, 0}) == "");
  CHECK(pad(4, {0, 3, 1, 0}) == "pads do not fit the output");
  CHECK(pad(65535 + 2, {}) == "");
  CHECK(pad(65536 + 2, {}) == "unsupported: pads above 65535");

  CHECK(Said(SLUICE_OP_RESHAPE, {kMap}, {{128}}) == "");
  CHECK(Said(SLUICE_OP_RESHAPE, {kMap}, {{127}}) ==
        "input and output must have the same bytes");
  CHECK(Said(SLUICE_OP_TRANSPOSE, {kMap}, {{1, 8, 4, 4}}, {0, 3, 1, 2}) == "");
  CHECK(Said(SLUICE_OP_TRANSPOSE, {kMap}, kMap, {0, 3, 1, 2}) ==
        "output extents are not the permuted input extents");
  CHECK(Said(SLUICE_OP_TRANSPOSE, {kMap}, kMap, {0, 1, 1, 3}) ==
        "perm must be a permutation of 0 to 3");

  const auto gather = [](const Operand& table, const Operand& indices) {
    return Said(SLUICE_OP_GATHER, {table, indices}, {{1, 1, 3, 8}});
  };
  CHECK(gather({{10, 8}}, {{3}, kI32}) == "");
  CHECK(gather({{10, 8}}, {{2}, kI32}) == "the output must have one row per index");
  CHECK(gather({{10, 8}, kI8, sluice::TensorKind::kState}, {{3}, kI32}) ==
        "unsupported: gathers from a state");
  CHECK(gather({{1, 10, 8}}, {{3}, kI32}) ==
        "needs a table [V, C], int32 indices and an output [..., C]");

  CHECK(Said(SLUICE_OP_RESIZE_NEAREST, {kHalf}, kMap) == "");
  CHECK(Said(SLUICE_OP_RESIZE_NEAREST, {kHalf}, {{1, 4, 4, 4}}) ==
        "batch or channels differ");
  CHECK(Said(SLUICE_OP_RESIZE_NEAREST, {kHalf}, {{1, (1 << 20) + 1, 4, 8}}) ==
        "unsupported: extents above 2^20");

  const auto opaque = [](int32_t low, int32_t high) {
    return Said(SLUICE_OP_OPAQUE, {kMap}, kHalf, {low, high});
  };
  CHECK(opaque(-1, 0) == "");  // 2^32 - 1
  CHECK(opaque(0, 1 << 18) == "");
  CHECK(opaque(1, 1 << 18) == "must declare 1 to 2^50 cycles");
  CHECK(opaque(0, 0) == "must declare 1 to 2^50 cycles");
}

TEST_CASE("check layer: a state takes rows wherever its parameter may put them") {
  const auto said = [](int32_t axis, int32_t parameter, const ParameterSpec& range,
                       const std::vector<int32_t>& rows) {
    GraphSpec g;
    g.tensors = {{{1, 1, 8, 4}, kI8, 4, 0, 0},
                 {rows, kI8, 1, 0, 0},
                 {{1, 1, 8, 4}, kI8, 2, 0, 0}};
    g.parameters = {range};
    g.layers = {{SLUICE_OP_STATE_APPEND, {0, 1}, {0}, {axis, parameter}},
                {SLUICE_OP_REQUANTIZE, {0}, {2}, {}}};
    Library library;
    (void)library.Graph(GraphBytes(g));
    return library.status == SLUICE_OK ? "" : std::string(library.diagnostic.message);
  };
  const std::string append = "layer 0 (state_append): ";
  CHECK(said(2, 0, {0, 6}, {1, 1, 2, 4}) == "");
  CHECK(said(2, 0, {0, 7}, {1, 1, 2, 4}) ==
        append + "the parameter's maximum puts rows outside the state");
  CHECK(said(2, 1, {0, 6}, {1, 1, 2, 4}) == append + "the parameter does not exist");
  CHECK(said(4, 0, {0, 6}, {1, 1, 2, 4}) == append + "axis must be 0 to 3");
  CHECK(said(2, 0, {0, 6}, {1, 1, 2, 3}) == append + "rows differ");
}

TEST_CASE("hard_swish and prelu: what keeps the kernels exact is checked") {
  GraphSpec good;
  good.tensors.push_back({{1, 4, 4, 8}, kI8, 1, 0, 0});
  good.tensors.push_back({{1, 1, 1, 8}, kI8, 3, 3, 11});
  good.tensors.push_back({{1, 4, 4, 8}, kI8, 0, 0, 0});
  good.tensors.push_back({{1, 4, 4, 8}, kI8, 2, 0, 0});
  good.layers.push_back({SLUICE_OP_HARD_SWISH, {0}, {2}, {3, -4, 16384, -6, 16384, 1}});
  good.layers.push_back(
      {SLUICE_OP_PRELU, {2, 1}, {3}, {-4, 0, 5, 1 << 30, 1, 1 << 30, -6, -128, 127}});
  const auto message = [](const GraphSpec& spec) {
    Library library;
    const GraphPtr graph = library.Graph(GraphBytes(spec));
    CHECK((graph == nullptr) == (library.status == SLUICE_BAD_INPUT));
    return std::string(library.diagnostic.message);
  };
  CHECK(message(good) == "");
  const auto with = [&](const std::function<void(GraphSpec*)>& spoil) {
    GraphSpec spec = good;
    spoil(&spec);
    return message(spec);
  };
  const std::string swish = "layer 0 (hard_swish): ", prelu = "layer 1 (prelu): ";
  const std::string zeros = swish + "zeros must lie in the dtype's range";
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[0] = 128; }) == zeros);
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[1] = -129; }) == zeros);
  const std::string multipliers = swish + "multipliers must lie in 0 to 32767";
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[2] = 32768; }) == multipliers);
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[4] = -1; }) == multipliers);
  const std::string shifts =
      swish + "shift must lie in -15 to 0, gate_shift in -15 to 15";
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[3] = 1; }) == shifts);
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[3] = -16; }) == shifts);
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[5] = 16; }) == shifts);
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes[5] = -16; }) == shifts);
  CHECK(with([](GraphSpec* g) { g->tensors[2].dtype = SLUICE_DTYPE_UINT8; }) ==
        swish + "dtype differs");
  CHECK(with([](GraphSpec* g) {
          g->tensors[1].dims = {1, 1, 1, 4};
        }) == prelu + "slopes do not fit");
  CHECK(with([](GraphSpec* g) { g->tensors[1].dtype = SLUICE_DTYPE_INT16; }) ==
        prelu + "operands must be 8 bit");
  CHECK(with([](GraphSpec* g) { g->layers[1].inputs.pop_back(); }) ==
        prelu + "wrong number of inputs");
  CHECK(with([](GraphSpec* g) { g->layers[0].attributes.push_back(0); }) ==
        swish + "more attributes than the operator has");
}

}  // namespace
}  // namespace sluice_test
