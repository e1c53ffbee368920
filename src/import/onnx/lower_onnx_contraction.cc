// SPDX-License-Identifier: Apache-2.0
// ONNX: products of two operands whose axes an equation names. A unit computes those of
// quantised operands: the result, where it is quantised, or its sums; the host the others.
#include <algorithm>
#include <cctype>
#include <cstring>

#include "import/error.h"
#include "import/onnx/onnx_numbers.h"
#include "import/onnx/onnx_sums.h"

namespace sluice::import {
namespace {

using Shape = std::vector<int64_t>;

// Letters that stand for the axes of two operands and of the result.
struct Equation {
  std::string a, b, out;
};

bool Has(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

// Axes of `letters` that stand in `wanted`, in the order of `wanted`, are appended.
void AppendAxes(const std::string& letters, const std::string& wanted,
                AxisOrder* order) {
  for (const char letter : wanted) {
    order->push_back(static_cast<int>(letters.find(letter)));
  }
}

int64_t ExtentOf(const Shape& shape, const std::string& letters,
                 const std::string& wanted) {
  int64_t product = 1;
  for (const char letter : wanted) product *= shape[letters.find(letter)];
  return product;
}

void RequireLetters(const std::string& letters, const Shape& shape) {
  Require(letters.size() == shape.size(), "letters that do not fit the axes");
  for (size_t i = 0; i < letters.size(); ++i) {
    Require(std::isalpha(static_cast<unsigned char>(letters[i])) != 0 &&
                letters.find(letters[i]) == i,
            "axes that an equation names in another way than by one letter each");
  }
}

bool IsQLinear(const OnnxNode& node) {
  return node.op == "QLinearMatMul" || node.op == "com.microsoft.QGemm";
}
// Where the second operand stands: in front of it are the first one's scale and zero point.
size_t SecondOf(const OnnxNode& node) { return IsQLinear(node) ? 3 : 1; }

// Letters of both operands and the result, of one operand and the result, of both
// operands alone; of one operand alone, where the axis has one element.
struct Groups {
  std::string batch, rows, columns, inner, ones_a, ones_b;
};

Groups GroupsOf(const Equation& e, const Shape& a, const Shape& b) {
  Groups g;
  for (const char c : e.out) {
    const bool in_a = Has(e.a, c), in_b = Has(e.b, c);
    Require(in_a || in_b, "a letter that no operand has");
    (in_a && in_b ? g.batch : in_a ? g.rows : g.columns) += c;
  }
  for (const char c : e.a) {
    if (Has(e.out, c)) continue;
    Require(Has(e.b, c) || a[e.a.find(c)] == 1, "sums over an axis of one operand");
    (Has(e.b, c) ? g.inner : g.ones_a) += c;
  }
  for (const char c : e.b) {
    if (Has(e.out, c) || Has(e.a, c)) continue;
    Require(b[e.b.find(c)] == 1, "sums over an axis of one operand");
    g.ones_b += c;
  }
  return g;
}

// A product of matrices: axes are put in the order batch, rows, inner and batch, inner,
// columns; the result lies in the order batch, rows, columns.
struct Contraction {
  int first, second;
  AxisOrder order_a, order_b, order_out;
  AxisOrder columns_b;  // batch, columns, inner
  int32_t batch, m, k, n;
  float factor;  // of every sum

  Dims A() const { return {1, batch, m, k}; }
  Dims B() const { return {1, batch, k, n}; }
  Dims Out() const { return {1, batch, m, n}; }
};

int32_t Extent(const Shape& shape, const std::string& letters,
               const std::string& wanted) {
  const int64_t extent = ExtentOf(shape, letters, wanted);
  Require(extent <= INT32_MAX, "an extent above 2^31 - 1");
  return static_cast<int32_t>(extent);
}

AxisOrder OrderOf(const std::string& letters, std::vector<std::string> parts) {
  AxisOrder order;
  for (const std::string& part : parts) AppendAxes(letters, part, &order);
  return order;
}

Contraction ContractionOf(OnnxLowering* to, const OnnxNode& node, const Equation& e,
                          float factor) {
  Contraction c = {};
  c.first = InputIndex(node, 0);
  c.second = InputIndex(node, SecondOf(node));
  c.factor = factor;
  const Shape &a = ShapeOf(ValueOf(*to, c.first)), &b = ShapeOf(ValueOf(*to, c.second)),
              &out = ShapeOf(OutputOf(*to, node));
  RequireLetters(e.a, a);
  RequireLetters(e.b, b);
  RequireLetters(e.out, out);
  const Groups g = GroupsOf(e, a, b);
  for (const char letter : g.batch + g.inner) {
    Require(a[e.a.find(letter)] == b[e.b.find(letter)],
            "extents that do not fit a product");
  }
  c.order_a = OrderOf(e.a, {g.ones_a, g.batch, g.rows, g.inner});
  c.order_b = OrderOf(e.b, {g.ones_b, g.batch, g.inner, g.columns});
  c.columns_b = OrderOf(e.b, {g.ones_b, g.batch, g.columns, g.inner});
  c.order_out = OrderOf(e.out, {g.batch, g.rows, g.columns});
  c.batch = Extent(a, e.a, g.batch);
  c.m = Extent(a, e.a, g.rows);
  c.k = Extent(a, e.a, g.inner);
  c.n = Extent(b, e.b, g.columns);
  if (ElementsOf(out) != int64_t{c.batch} * c.m * c.n) {
    throw Error(Fault::kBadInput, "shapes contradict each other: operands of " +
                                      node.name + " (" + node.op + ")");
  }
  return c;
}

Equation EinsumOf(const OnnxNode& node) {
  std::string text = node.Text("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t comma = text.find(','), arrow = text.find("->");
  Require(node.inputs.size() == 2 && comma != std::string::npos &&
              arrow != std::string::npos && comma < arrow,
          "an equation that is no product of two operands");
  return {text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1),
          text.substr(arrow + 2)};
}

// Products of matrices, also of vectors, with transposed operands and with batch axes that
// broadcast.
Equation ProductOf(OnnxLowering* to, const OnnxNode& node) {
  const Shape &sa = ShapeOf(InputOf(*to, node, 0)),
              &sb = ShapeOf(InputOf(*to, node, SecondOf(node)));
  const size_t a = sa.size(), b = sb.size();
  Require(a >= 1 && b >= 1 && a <= 8 && b <= 8, "operands of no or over eight axes");
  Require(node.Int("transBatchA", 0) == 0 && node.Int("transBatchB", 0) == 0,
          "batches behind rows");
  const size_t batch_a = a > 2 ? a - 2 : 0, batch_b = b > 2 ? b - 2 : 0,
               batches = std::max(batch_a, batch_b);
  Equation e;
  for (size_t i = 0; i < batches; ++i) {
    const char letter = static_cast<char>('a' + i), one = static_cast<char>('A' + i);
    const bool in_a = i + batch_a >= batches, in_b = i + batch_b >= batches;
    const int64_t na = in_a ? sa[i + batch_a - batches] : 1,
                  nb = in_b ? sb[i + batch_b - batches] : 1;
    if (in_a) e.a += na == 1 && nb != 1 ? one : letter;
    if (in_b) e.b += nb == 1 && na != 1 ? one : letter;
    e.out += letter;
  }
  e.a += a > 1 ? "mk" : "k";
  e.b += b > 1 ? "kn" : "k";
  e.out += std::string(a > 1 ? "m" : "") + (b > 1 ? "n" : "");
  if (node.Int("transA", 0) != 0 && a > 1) std::swap(e.a[batch_a], e.a[batch_a + 1]);
  if (node.Int("transB", 0) != 0 && b > 1) std::swap(e.b[batch_b], e.b[batch_b + 1]);
  return e;
}

void SetOutput(OnnxLowering* to, const OnnxNode& node, const Contraction& c,
               uint32_t tensor, const Numbers& numbers) {
  OnnxPlace place;
  place.tensor = tensor;
  place.order = c.order_out;
  place.numbers = numbers;
  SetPlace(to, node.outputs[0], place);
}

Numbers FloatNumbers() {
  Numbers numbers;
  numbers.floats = true;
  numbers.dtype = SLUICE_DTYPE_INT32;
  return numbers;
}

// ---- on a unit

// The attributes of BATCH_MATMUL for sums that are stored as they are.
std::vector<int32_t> WholeProduct(const Part& a, const Part& b,
                                  bool transposed = false) {
  return {transposed ? 1 : 0, a.zero, b.zero, 0, 1 << 30, 1, INT32_MIN, INT32_MAX};
}

// The bias of a Gemm, or kNoTensor.
uint32_t BiasOf(OnnxLowering* to, const OnnxNode& node, int32_t columns) {
  if (node.op != "Gemm" || !HasInput(node, 2)) return kNoTensor;
  const Shape& bias = ShapeOf(InputOf(*to, node, 2));
  Require(node.Float("beta", 1) == 1, "factors other than 1");
  Require(
      ElementsOf(bias) == 1 || (ElementsOf(bias) == columns && bias.back() == columns),
      "a bias that is not one number for each channel");
  return FloatsOf(to, node.inputs[2]);
}

// Operands and result of a product on a unit.
struct Product {
  Terms a, b;
  bool weight;              // b is a constant [columns, inner]
  bool transposed = false;  // b lies [batch, columns, inner]
  uint32_t bias = kNoTensor;
  std::vector<int32_t> steps;  // the bias of a QGemm
  Numbers target;
};

uint64_t Times(int32_t a, int32_t b, int32_t c) {
  return static_cast<uint64_t>(a) * static_cast<uint64_t>(b) * static_cast<uint64_t>(c);
}

// Floats, which are split.
Terms SecondFloats(OnnxLowering* to, const Contraction& c, bool weight) {
  const FloatRows slices = {c.batch, c.n, c.k};
  const Dims dims = weight ? Dims{c.n, c.k} : Dims{1, c.batch, c.n, c.k};
  return IsFloatConstant(*to, c.second)
             ? SplitConstant(to, c.second, c.columns_b, slices, dims)
             : SplitSecond(to, ViewOf(to, c.second, c.columns_b), slices, dims);
}

Terms SecondTerms(OnnxLowering* to, const OnnxNode& node, const Contraction& c,
                  Product* p) {
  const OnnxConstant constant =
      IsQLinear(node) ? QuantisedBy(*to, node, 3, 4, 5) : ConstantOf(*to, c.second);
  const bool reals =
      !IsQLinear(node) && (IsFloatConstant(*to, c.second) || IsSplit(to, c.second));
  p->weight = ValueOf(*to, c.second).constant && c.batch == 1 &&
              (reals || constant.stored != nullptr);
  p->transposed = reals;
  if (reals) return SecondFloats(to, c, p->weight);
  if (p->weight) {
    const size_t scales = constant.scales.size(), last = c.columns_b.size() - 1;
    Require(scales == 1 || (static_cast<int32_t>(scales) == c.n &&
                            constant.axis != c.columns_b[last]),
            "a weight quantised along another axis than output channels");
    return TermsOf(to, ValueOf(*to, c.second).name, constant, c.columns_b, {c.n, c.k});
  }
  if (!IsQLinear(node)) return TermsOf(to, c.second, c.order_b, c.B());
  const Numbers numbers = ScaleAndZero(*to, node, 4, 5);
  Terms terms;
  terms.parts.push_back(
      {TensorAs(to, c.second, c.order_b, c.B()), numbers.affine.zero, 1});
  terms.scales = {numbers.affine.scale};
  return terms;
}

Terms FirstTerms(OnnxLowering* to, const Contraction& c, const Product& p) {
  const Dims rows = {1, 1, c.m, c.k};
  if (!IsSplit(to, c.first))
    return TermsOf(to, c.first, c.order_a, p.weight ? rows : c.A());
  return SplitFirst(to, ViewOf(to, c.first, c.order_a), {c.batch, c.m, c.k},
                    p.weight ? rows : c.A(), 2, p.b.floats);
}

// The host splits floats and adds up their sums.
void RequireSense(OnnxLowering* to, const Contraction& c) {
  const bool first = IsSplit(to, c.first), second = IsSplit(to, c.second);
  if (!first && !second) return;
  RequireManyProducts(Times(c.batch, c.m, c.n) * static_cast<uint64_t>(c.k),
                      (first ? Times(c.batch, c.m, c.k) : 0) +
                          (second ? Times(c.batch, c.n, c.k) : 0) +
                          Times(c.batch, c.m, c.n));
}

Product ProductFor(OnnxLowering* to, const OnnxNode& node, const Contraction& c) {
  Product p = {};
  if (!IsQLinear(node)) RequireSense(to, c);
  p.b = SecondTerms(to, node, c, &p);
  if (!IsQLinear(node)) {
    p.a = FirstTerms(to, c, p);
    p.bias = BiasOf(to, node, c.n);
    p.target = TargetOf(*to, node.outputs[0]);
    return p;
  }
  const bool gemm = node.op != "QLinearMatMul";
  const Numbers numbers = ScaleAndZero(*to, node, 1, 2);
  p.a.parts.push_back(
      {TensorAs(to, c.first, c.order_a, p.weight ? Dims{1, 1, c.m, c.k} : c.A()),
       numbers.affine.zero, 1});
  p.a.scales = {numbers.affine.scale};
  Require(!gemm || HasInput(node, 7), "an output that is not quantised");
  p.target = gemm ? ScaleAndZero(*to, node, 7, 8) : ScaleAndZero(*to, node, 6, 7);
  if (!gemm || !HasInput(node, 6)) return p;
  const OnnxValue& bias = InputOf(*to, node, 6);
  Require(p.weight && bias.has_data && bias.type == kOnnxInt32 &&
              static_cast<int32_t>(bias.data.size()) == 4 * c.n,
          "a bias that is no constant of one number for each channel");
  p.steps.resize(static_cast<size_t>(c.n));
  std::memcpy(p.steps.data(), bias.data.data(), bias.data.size());
  return p;
}

// Rows by a constant matrix; the result is quantised.
void RowsByWeight(OnnxLowering* to, const OnnxNode& node, const Contraction& c,
                  const Product& p, uint32_t out) {
  to->graph.NeedRows(static_cast<size_t>(c.n));
  std::vector<int32_t> rows;
  for (size_t k = 0; k < static_cast<size_t>(c.n); ++k) {
    const double scale = p.b.scales[p.b.scales.size() == 1 ? 0 : k];
    const Factor f = QuantiseFactor(static_cast<double>(p.a.scales[0]) * scale *
                                    static_cast<double>(c.factor) /
                                    static_cast<double>(p.target.affine.scale));
    Require(f.shift <= 30, "a factor above 2^30");
    rows.insert(rows.end(), {p.steps.empty() ? 0 : p.steps[k], f.multiplier, f.shift});
  }
  const uint32_t parameters =
      to->graph.AddConstant(node.name + "/parameters", SLUICE_DTYPE_INT32, {c.n, 3},
                            rows.data(), rows.size() * 4);
  std::vector<int32_t> attributes(SLUICE_CONV_ATTRIBUTES);
  const Range range = DtypeRange(p.target.dtype);
  attributes[SLUICE_CONV_INPUT_ZERO] = p.a.parts[0].zero;
  attributes[SLUICE_CONV_WEIGHT_ZERO] = p.b.parts[0].zero;
  attributes[SLUICE_CONV_OUTPUT_ZERO] = p.target.affine.zero;
  attributes[SLUICE_CONV_ACT_MIN] = range.min;
  attributes[SLUICE_CONV_ACT_MAX] = range.max;
  attributes[SLUICE_CONV_ROUNDING] = 1;
  AddLayer(to, node.name, SLUICE_OP_FULLY_CONNECTED,
           {p.a.parts[0].tensor, p.b.parts[0].tensor, parameters}, out, attributes);
}

// A product whose result stays float.
void RealOnUnit(OnnxLowering* to, const OnnxNode& node, const Contraction& c,
                const Product& p) {
  RequireFewTerms(c.k);
  uint32_t parameters = kNoTensor;
  if (p.weight) parameters = WholeSums(to, node.name, c.n);
  std::vector<int32_t> whole(SLUICE_CONV_ATTRIBUTES);
  const Dims dims = p.weight ? Dims{1, 1, c.m, c.n} : c.Out();
  const std::vector<Part> sums = SumsOf(
      to, node, {p.a, p.b}, dims, 2, [&](const Part& a, const Part& b, uint32_t out) {
        if (!p.weight) {
          AddLayer(to, node.name, SLUICE_OP_BATCH_MATMUL, {a.tensor, b.tensor}, out,
                   WholeProduct(a, b, p.transposed));
          return;
        }
        whole[SLUICE_CONV_INPUT_ZERO] = a.zero;
        whole[SLUICE_CONV_WEIGHT_ZERO] = b.zero;
        whole[SLUICE_CONV_ACT_MIN] = INT32_MIN;
        whole[SLUICE_CONV_ACT_MAX] = INT32_MAX;
        whole[SLUICE_CONV_ROUNDING] = 1;
        AddLayer(to, node.name, SLUICE_OP_FULLY_CONNECTED,
                 {a.tensor, b.tensor, parameters}, out, whole);
      });
  Scaling scaling;
  scaling.batch = c.batch;
  scaling.rows = c.m;
  scaling.columns = c.n;
  scaling.factor = c.factor;
  scaling.bias = p.bias;
  const uint32_t floats =
      NewTensor(to, OutputOf(*to, node).name, c.Out(), FloatNumbers());
  ScaleSums(to, node, sums, {p.a, p.b}, scaling, floats);
  SetOutput(to, node, c, floats, FloatNumbers());
}

void OnUnit(OnnxLowering* to, const OnnxNode& node, const Contraction& c) {
  const Product p = ProductFor(to, node, c);
  RequireBytes(*to, p.a);
  RequireBytes(*to, p.b);
  const bool bytes = p.a.parts.size() == 1 && p.b.parts.size() == 1 && !p.a.floats;
  if (!p.target.known || !bytes || p.bias != kNoTensor) {
    Require(!IsQLinear(node), "per-axis zero points other than 0");
    return RealOnUnit(to, node, c, p);
  }
  const uint32_t out = NewTensor(to, OutputOf(*to, node).name,
                                 p.weight ? Dims{1, 1, c.m, c.n} : c.Out(), p.target);
  if (p.weight) {
    RowsByWeight(to, node, c, p, out);
  } else {
    const double scale =
        static_cast<double>(p.a.scales[0]) * static_cast<double>(p.b.scales[0]);
    const Factor f = FactorRoundedOnce(scale * static_cast<double>(c.factor) /
                                       static_cast<double>(p.target.affine.scale));
    const Range range = DtypeRange(p.target.dtype);
    AddLayer(to, node.name, SLUICE_OP_BATCH_MATMUL,
             {p.a.parts[0].tensor, p.b.parts[0].tensor}, out,
             {0, p.a.parts[0].zero, p.b.parts[0].zero, p.target.affine.zero,
              f.multiplier, f.shift, range.min, range.max});
  }
  CountRounded(to, node, IsQLinear(node) ? kTies : kFloatSums);
  SetOutput(to, node, c, out, p.target);
}

// MatMulInteger of two operands whose zero points are known at run time: the unit leaves them
// out, the host subtracts what they add.
void IntegersOnUnit(OnnxLowering* to, const OnnxNode& node, const Contraction& c) {
  const uint32_t a = TensorAs(to, c.first, c.order_a, c.A()),
                 b = TensorAs(to, c.second, c.order_b, c.B());
  std::vector<uint32_t> zeros;
  for (size_t i = 2; i < 4; ++i) {
    Require(!HasInput(node, i) || ElementsOf(ShapeOf(InputOf(*to, node, i))) == 1,
            "several zero points");
    zeros.push_back(
        HasInput(node, i)
            ? PlainTensor(to, node.inputs[i])
            : IntegerConstant(to, node.name + "/zero" + std::to_string(i), {0}));
  }
  Terms terms[2];
  terms[0].parts.push_back({a, 0, 1});
  terms[1].parts.push_back({b, 0, 1});
  RequireFewTerms(c.k);
  const std::vector<Part> sums = SumsOf(
      to, node, {terms[0], terms[1]}, c.Out(), 2,
      [&](const Part& first, const Part& second, uint32_t tensor) {
        AddLayer(to, node.name, SLUICE_OP_BATCH_MATMUL, {first.tensor, second.tensor},
                 tensor, WholeProduct(first, second));
      });
  const uint32_t out = NewTensor(to, OutputOf(*to, node).name, c.Out(), SumNumbers());
  AddHost(to, node.name, "LessZeroPoints",
          {{sums[0].tensor, a, b, zeros[0], zeros[1]}, {c.batch, c.m, c.k, c.n}, {out}},
          0);
  SetOutput(to, node, c, out, SumNumbers());
}

// ---- on the host

// A function of two operands of which the second may have one row, or one element.
void Two(OnnxLowering* to, const std::string& name, const std::string& function,
         const std::vector<uint32_t>& operands, const Shape& second, uint32_t out) {
  const Dims dims = to->graph.tensors()[out].dims;
  const Shape shape(dims.begin(), dims.end());
  std::vector<int32_t> options;
  for (const Shape* each : {&shape, &shape, &second}) {
    AppendShape(*each, shape.size(), &options);
  }
  AddHost(to, name, function, {operands, options, {out}}, 0);
}

void OnHost(OnnxLowering* to, const OnnxNode& node, const Contraction& c) {
  std::vector<int32_t> options;
  for (const Shape& shape :
       {Shape{c.batch, c.m, c.n}, {c.batch, c.m, c.k}, {c.batch, c.k, c.n}}) {
    AppendShape(shape, 3, &options);
  }
  const uint32_t a = FloatsOf(to, c.first, c.order_a),
                 b = FloatsOf(to, c.second, c.order_b);
  CountRounded(to, node, kHostFloats);
  const auto next = [&](const char* part) {
    return NewTensor(to, node.name + part, {c.batch, c.m, c.n}, FloatNumbers());
  };
  uint32_t out = next("/product");
  AddHost(to, node.name, "MatMul", {{a, b}, options, {out}},
          static_cast<uint64_t>(c.batch) * static_cast<uint64_t>(c.m) *
              static_cast<uint64_t>(c.n) * static_cast<uint64_t>(c.k));
  const auto times = [&](uint32_t tensor, const char* name, float factor,
                         uint32_t result) {
    Two(to, node.name, "Mul",
        {tensor, FloatConstant(to, node.name + name, {1}, {factor})}, {1}, result);
    return result;
  };
  if (c.factor != 1) out = times(out, "/alpha", c.factor, next("/factored"));
  if (node.op == "Gemm" && HasInput(node, 2)) {
    Shape bias = ShapeOf(InputOf(*to, node, 2));
    Require(bias.size() <= 2, "a bias of higher rank");
    bias.insert(bias.begin(), 2 - bias.size(), 1);
    Require((bias[0] == 1 || bias[0] == c.m) && (bias[1] == 1 || bias[1] == c.n),
            "a bias that does not broadcast");
    const uint32_t sum = next("/sum");
    uint32_t added = FloatsOf(to, node.inputs[2]);
    const float beta = node.Float("beta", 1);
    if (beta != 1) {
      const Dims dims = to->graph.tensors()[added].dims;
      added = times(added, "/beta", beta,
                    NewTensor(to, node.name + "/scaled", dims, FloatNumbers()));
    }
    Two(to, node.name, "Add", {out, added}, {1, bias[0], bias[1]}, sum);
    out = sum;
  }
  SetOutput(to, node, c, out, FloatNumbers());
}

// One operand whose axes change their order.
void Rearranged(OnnxLowering* to, const OnnxNode& node) {
  std::string text = node.Text("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  Require(arrow != std::string::npos, "an equation without a result");
  const std::string in = text.substr(0, arrow), out = text.substr(arrow + 2);
  const int input = InputIndex(node, 0);
  RequireLetters(in, ShapeOf(ValueOf(*to, input)));
  RequireLetters(out, ShapeOf(OutputOf(*to, node)));
  Require(in.size() == out.size(), "sums over an axis of one operand");
  AxisOrder order;
  for (const int axis : PlaceOf(to, input).order) {
    const size_t at = out.find(in[static_cast<size_t>(axis)]);
    Require(at != std::string::npos, "sums over an axis of one operand");
    order.push_back(static_cast<int>(at));
  }
  Alias(to, node.outputs[0], input, order);
}

}  // namespace

void LowerOnnxContraction(OnnxLowering* to, const OnnxNode& node) {
  if (node.inputs.size() == 1) return Rearranged(to, node);
  const Equation e = node.op == "Einsum" ? EinsumOf(node) : ProductOf(to, node);
  const Contraction c = ContractionOf(to, node, e, node.Float("alpha", 1));
  const OnnxMark mark = MarkOf(*to);
  const bool integers = node.op == "MatMulInteger";
  if (IsQLinear(node)) return OnUnit(to, node, c);
  if (to->computes_floats) {
    try {
      return integers ? IntegersOnUnit(to, node, c) : OnUnit(to, node, c);
    } catch (const Unsupported&) {
      if (integers) throw;
      Rewind(to, mark);
    }
  }
  OnHost(to, node, c);
}

}  // namespace sluice::import
