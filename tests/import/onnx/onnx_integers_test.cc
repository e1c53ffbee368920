// SPDX-License-Identifier: Apache-2.0
// Arithmetic on shapes, done at import.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "import/onnx/onnx_model.h"

namespace sluice_test {
namespace {

using sluice::import::OnnxModel;
using sluice::import::OnnxNode;
using sluice::import::OnnxValue;
using Integers = std::vector<int64_t>;

// Builds a model of int64 values and nodes; a value is named by its index.
struct Arithmetic {
  int Stored(const Integers& numbers) {
    OnnxValue value;
    value.type = sluice::import::kOnnxInt64;
    value.has_data = value.constant = true;
    const auto* bytes = reinterpret_cast<const uint8_t*>(numbers.data());
    value.data.assign(bytes, bytes + numbers.size() * 8);
    return Add(value);
  }
  int Shaped(const Integers& dims) {
    OnnxValue value;
    value.has_shape = true;
    value.dims = dims;
    return Add(value);
  }
  int Node(const char* op, const std::vector<int>& inputs,
           const std::vector<std::pair<const char*, int64_t>>& attributes = {}) {
    OnnxNode node;
    node.op = op;
    node.inputs = inputs;
    for (const auto& [name, i] : attributes) node.attributes[name].i = i;
    const int out = Add(OnnxValue());
    node.outputs = {out};
    model.nodes.push_back(node);
    return out;
  }
  // The integers that a value holds after folding; {-99} when they are not known.
  Integers Of(int value) {
    FoldConstants(&model);
    const OnnxValue& v = model.values[static_cast<size_t>(value)];
    return v.has_integers ? v.integers : Integers{-99};
  }
  OnnxModel model;

 private:
  int Add(const OnnxValue& value) {
    model.values.push_back(value);
    return static_cast<int>(model.values.size()) - 1;
  }
};

const Integers kUnknown = {-99};

TEST_CASE("onnx integers: a shape that is taken apart and put together again") {
  Arithmetic a;
  const int shape = a.Node("Shape", {a.Shaped({2, 3, 5, 7})});
  const int batch = a.Node("Gather", {shape, a.Stored({0})});
  const int last = a.Node("Gather", {shape, a.Stored({-1})});
  const int area = a.Node("Mul", {last, a.Node("Gather", {shape, a.Stored({2})})});
  const int whole = a.Node("Concat", {batch, a.Stored({-1}), area});
  CHECK(a.Of(whole) == Integers{2, -1, 35});
}

TEST_CASE("onnx integers: shapes from one axis to another, slices and copies") {
  Arithmetic a;
  const int value = a.Shaped({2, 3, 5, 7});
  CHECK(a.Of(a.Node("Shape", {value}, {{"start", 1}, {"end", -1}})) == Integers{3, 5});
  CHECK(a.Of(a.Node("Shape", {value}, {{"start", 3}, {"end", 1}})) == Integers{});
  const int list = a.Stored({4, 5, 6, 7});
  const int slice = a.Node("Slice", {list, a.Stored({-3}), a.Stored({99})});
  CHECK(a.Of(slice) == Integers{5, 6, 7});
  CHECK(a.Of(a.Node("Unsqueeze", {slice})) == Integers{5, 6, 7});
  CHECK(a.Of(a.Node("Slice", {list, a.Stored({0}), a.Stored({4}), a.Stored({0}),
                              a.Stored({2})})) == Integers{4, 6});
}

TEST_CASE("onnx integers: one number meets many, and nothing overflows") {
  Arithmetic a;
  const int list = a.Stored({8, -9, 10});
  CHECK(a.Of(a.Node("Add", {list, a.Stored({2})})) == Integers{10, -7, 12});
  CHECK(a.Of(a.Node("Sub", {a.Stored({1}), list})) == Integers{-7, 10, -9});
  CHECK(a.Of(a.Node("Div", {list, a.Stored({2})})) == Integers{4, -4, 5});
  CHECK(a.Of(a.Node("Div", {list, a.Stored({0})})) == kUnknown);
  CHECK(a.Of(a.Node("Div", {list, a.Stored({-1})})) ==
        kUnknown);  // overflows for INT64_MIN
  CHECK(a.Of(a.Node("Add", {list, a.Stored({1, 2})})) == kUnknown);
  const int most = a.Stored({std::numeric_limits<int64_t>::max()});
  CHECK(a.Of(a.Node("Add", {most, a.Stored({1})})) == kUnknown);
  CHECK(a.Of(a.Node("Mul", {most, a.Stored({2})})) == kUnknown);
}

TEST_CASE("onnx integers: what is not known leaves what follows unknown") {
  Arithmetic a;
  const int list = a.Stored({4, 5});
  CHECK(a.Of(a.Node("Gather", {list, a.Stored({2})})) == kUnknown);  // beyond the end
  CHECK(a.Of(a.Node("Gather", {list, a.Stored({0})}, {{"axis", 1}})) == kUnknown);
  const int lost = a.Node("NonZero", {list});
  CHECK(a.Of(lost) == kUnknown);
  CHECK(a.Of(a.Node("Concat", {list, lost})) == kUnknown);
  CHECK(a.model.values[static_cast<size_t>(lost)].constant == false);
  CHECK(a.model.values[static_cast<size_t>(a.Node("Cast", {list}))].constant == false);
  FoldConstants(&a.model);
  CHECK(a.model.values.back().constant);  // computed from constants alone
}

TEST_CASE(
    "onnx integers: remainders take the sign of the divisor, or of fmod's dividend") {
  Arithmetic a;
  const int list = a.Stored({7, -7});
  CHECK(a.Of(a.Node("Mod", {list, a.Stored({3})})) == Integers{1, 2});
  CHECK(a.Of(a.Node("Mod", {list, a.Stored({-3})})) == Integers{-2, -1});
  CHECK(a.Of(a.Node("Mod", {list, a.Stored({3})}, {{"fmod", 1}})) == Integers{1, -1});
  CHECK(a.Of(a.Node("Mod", {list, a.Stored({0})})) == kUnknown);
  CHECK(a.Of(a.Node("Min", {list, a.Stored({0})})) == Integers{0, -7});
  CHECK(a.Of(a.Node("Max", {list, a.Stored({0})})) == Integers{7, 0});
}

TEST_CASE("onnx integers: extents that Expand is given: Where, Equal, ranges, fills") {
  Arithmetic a;
  const int list = a.Stored({-1, 5, -1});
  const int open = a.Node("Equal", {list, a.Stored({-1})});
  CHECK(a.Of(open) == Integers{1, 0, 1});
  CHECK(a.Of(a.Node("Where", {open, a.Stored({1}), list})) == Integers{1, 5, 1});
  CHECK(a.Of(a.Node("Where", {open, a.Stored({1, 2}), list})) == kUnknown);
  CHECK(a.Of(a.Node("Range", {a.Stored({2}), a.Stored({9}), a.Stored({3})})) ==
        Integers{2, 5, 8});
  CHECK(a.Of(a.Node("Range", {a.Stored({2}), a.Stored({0}), a.Stored({-1})})) ==
        Integers{2, 1});
  CHECK(a.Of(a.Node("Range", {a.Stored({2}), a.Stored({0}), a.Stored({0})})) ==
        kUnknown);
  const int64_t most = std::numeric_limits<int64_t>::max();
  CHECK(a.Of(a.Node("Range", {a.Stored({0}), a.Stored({most}), a.Stored({1})})) ==
        kUnknown);
  const int fill = a.Node("ConstantOfShape", {a.Stored({3})});
  CHECK(a.Of(fill) == kUnknown);  // repeats a float
  a.model.nodes.back().attributes["value"].i = sluice::import::kOnnxInt64;
  a.model.nodes.back().attributes["value"].s = std::string("\7\0\0\0\0\0\0\0", 8);
  CHECK(a.Of(fill) == Integers{7, 7, 7});
}

TEST_CASE("onnx integers: comparisons of rows and columns give a mask") {
  Arithmetic a;
  const int rows = a.Stored({0, 1}), columns = a.Stored({0, 1});
  a.model.values[static_cast<size_t>(rows)].has_shape = true;
  a.model.values[static_cast<size_t>(rows)].dims = {2, 1};
  a.model.values[static_cast<size_t>(columns)].has_shape = true;
  a.model.values[static_cast<size_t>(columns)].dims = {2};
  const auto mask = [&](const char* op) {
    const int result = a.Node(op, {rows, columns});
    OnnxValue& value = a.model.values[static_cast<size_t>(result)];
    value.type = sluice::import::kOnnxBool;
    value.has_shape = true;
    value.dims = {2, 2};
    return result;
  };
  CHECK(a.Of(mask("Less")) == Integers{0, 1, 0, 0});
  CHECK(a.Of(mask("LessOrEqual")) == Integers{1, 1, 0, 1});
  CHECK(a.Of(mask("Greater")) == Integers{0, 0, 1, 0});
  CHECK(a.Of(mask("And")) == Integers{0, 0, 0, 1});
  CHECK(a.Of(mask("Or")) == Integers{0, 1, 1, 1});
  const int last = mask("GreaterOrEqual");
  CHECK(a.Of(last) == Integers{1, 0, 1, 1});
  const OnnxValue& stored = a.model.values[static_cast<size_t>(last)];
  CHECK(stored.has_data);  // a layer may read the mask
  CHECK(stored.data.size() == 4);
  CHECK(a.Of(a.Node("Not", {last})) == Integers{0, 1, 0, 0});
}

TEST_CASE("onnx integers: lists stay lists") {
  Arithmetic a;
  const int list = a.Stored({1, 2, 3, 4});
  CHECK(a.Of(a.Node("Reshape", {list, a.Stored({-1})})) == Integers{1, 2, 3, 4});
  const int pairs = a.Node("Reshape", {list, a.Stored({2, 2})});
  CHECK(a.Of(pairs) == kUnknown);  // a list of which nobody knows the rows
  a.model.values[static_cast<size_t>(pairs)].has_shape = true;
  a.model.values[static_cast<size_t>(pairs)].dims = {2, 2};
  CHECK(a.Of(pairs) == Integers{1, 2, 3, 4});
}

}  // namespace
}  // namespace sluice_test
