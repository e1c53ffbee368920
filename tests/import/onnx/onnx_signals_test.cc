// SPDX-License-Identifier: Apache-2.0
// Fourier transforms and windows, beside sums written out.
#include <cmath>

#include "tests/import/onnx/reals.h"

namespace sluice_test {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Real parts of the bins of `count` numbers from `first` on, then the imaginary ones: so the
// graph's output lies, whose order of axes the report tells.
Reals Bins(const Bytes& x, size_t first, int count, int bins) {
  Reals reals, imaginaries;
  for (int k = 0; k < bins; ++k) {
    double real = 0, imaginary = 0;
    for (int n = 0; n < count; ++n) {
      const double value = static_cast<int8_t>(x[first + static_cast<size_t>(n)]);
      real += value * std::cos(2 * kPi * n * k / count);
      imaginary -= value * std::sin(2 * kPi * n * k / count);
    }
    reals.push_back(static_cast<float>(real));
    imaginaries.push_back(static_cast<float>(imaginary));
  }
  reals.insert(reals.end(), imaginaries.begin(), imaginaries.end());
  return reals;
}

void CheckClose(const Reals& got, const Reals& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - want[i]) < 1e-2f);
}

Bytes Wave() {
  Bytes x;
  for (int i = 0; i < 8; ++i) x.push_back(static_cast<uint8_t>(i * i % 11 - 4));
  return x;
}

TEST_CASE("onnx signals: a transform is a product by cosines and sines") {
  TinyOnnx model;
  model.proto.mutable_opset_import(0)->set_version(17);
  model.Input("x", {1, 8, 1});
  model.Quantised("x", "xq", 1, 0);
  onnx::NodeProto* node = model.Node("DFT", {"xq"}, {"y"});
  TinyOnnx::Int(node, "axis", 1);
  TinyOnnx::Int(node, "onesided", 1);
  model.Output("y");
  CheckClose(RealsFor(model, Wave()), Bins(Wave(), 0, 8, 5));
}

TEST_CASE("onnx signals: a short-time transform is one of each frame") {
  TinyOnnx model;
  model.proto.mutable_opset_import(0)->set_version(17);
  model.Input("x", {1, 8});
  model.Quantised("x", "xq", 1, 0);
  model.Integers("step", {2});
  model.Reals("ones", {4}, {1, 1, 1, 1});
  model.Node("STFT", {"xq", "step", "ones"}, {"y"});
  model.Output("y");
  Reals want;
  for (const size_t first : {size_t{0}, size_t{2}, size_t{4}}) {
    const Reals bins = Bins(Wave(), first, 4, 3);
    want.insert(want.end(), bins.begin(), bins.end());
  }
  CheckClose(RealsFor(model, Wave()), want);
}

TEST_CASE("onnx signals: what is not known at import is refused with what to do") {
  TinyOnnx model;
  model.proto.mutable_opset_import(0)->set_version(17);
  model.Input("x", {1, 8, 1});
  model.Input("length", {1}, onnx::TensorProto::INT64);
  model.Quantised("x", "xq", 1, 0);
  model.Node("DFT", {"xq", "length"}, {"y"});
  model.Output("y");
  CHECK(Says(Complaint(model.Finish()), "export the model with constants"));
}

}  // namespace
}  // namespace sluice_test
