// SPDX-License-Identifier: Apache-2.0
// Concats, slices, reshapes, and states behind appends, element by element.
#include "verify/views.h"

#include <map>
#include <utility>

#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

using sluice::Status;
using sluice::judge::Box;
using sluice::judge::CheckViews;
using sluice::judge::Leaf;
using sluice::judge::Views;

// By address: the tensor of the root, and the element of it.
using Elements = std::map<int64_t, std::pair<uint32_t, int64_t>>;

void Add(const Leaf& leaf, uint32_t dim, int64_t at, int64_t index, Elements* out) {
  if (dim < leaf.box.dims) {
    const sluice::judge::Dim& d = leaf.box.dim[dim];
    for (int64_t i = 0; i < d.count; ++i) {
      Add(leaf, dim + 1, at + i * d.stride, index + i * d.twin, out);
    }
    return;
  }
  CHECK(out->insert({at, {leaf.tensor, index}}).second);  // each address once
}

Elements Resolved(OwnJudge* own, uint32_t tensor, const Box& box, uint32_t reader) {
  Views views(&own->judge);
  sluice::Vector<Leaf> leaves(&own->arena);
  REQUIRE(views.Resolve(tensor, box, reader, &leaves) == Status::kOk);
  Elements elements;
  for (const Leaf& leaf : leaves) Add(leaf, 0, leaf.box.base, leaf.box.twin, &elements);
  return elements;
}

TEST_CASE("views: a slice of a concat shows both of its inputs") {
  OwnJudge own(ConcatCase());
  // Tensor 6 is the slice [1,2,4,4] at row 1, channel 6 of the concat of 3 and 4 along
  // channels; tensor 7 is its reshape. Its first element has address 100.
  Box box = Box::At(100, 0, 1);
  box.Add(32, 1, 1);
  Elements want;
  for (int64_t i = 0; i < 32; ++i) {
    const int64_t row = 1 + i / 16, column = i / 4 % 4, channel = 6 + i % 4;
    want[100 + i] = {channel < 8 ? 3 : 4, row * 32 + column * 8 + channel % 8};
  }
  CHECK(Resolved(&own, 6, box, 4) == want);
  CHECK(Resolved(&own, 7, box, 5) == want);
  Views views(&own.judge);
  CHECK(views.IsRoot(3, 2));
  CHECK(!views.IsRoot(5, 3));
  CHECK(views.BehindReshapes(7) == 6);
}

TEST_CASE("views: behind an append, what it may write is another root") {
  Case c = AppendCase();
  c.graph.parameters[0] = {3, 4};  // rows at 3 and 4, or at 4 and 5
  OwnJudge own(c);
  const sluice::judge::AppendReach reach =
      sluice::judge::ReachOf(own.judged.graph, own.judged.graph.layers[0]);
  CHECK(reach.axis == 2);
  CHECK(reach.begin == 3);
  CHECK(reach.end == 6);
  Box box = Box::At(0, 0, 1);  // the whole state: eight rows of four
  box.Add(32, 1, 1);
  const Elements before = Resolved(&own, 0, box, 0);
  const Elements after = Resolved(&own, 0, box, sluice::kNone);
  for (int64_t i = 0; i < 32; ++i) {
    CAPTURE(i);
    CHECK(before.at(i) == std::pair<uint32_t, int64_t>(0, i));
    // There are three tensors, so root 3 is tensor 0 behind the append.
    const uint32_t root = i / 4 >= 3 && i / 4 < 6 ? 3 : 0;
    CHECK(after.at(i) == std::pair<uint32_t, int64_t>(root, i));
  }
}

TEST_CASE("views: strides of elements are row-major") {
  const int32_t extent[4] = {2, 3, 4, 5};
  int64_t stride[4];
  sluice::judge::DenseElements(extent, stride);
  CHECK(stride[0] == 60);
  CHECK(stride[1] == 20);
  CHECK(stride[2] == 5);
  CHECK(stride[3] == 1);
}

// The reader refuses such graphs; the judge checks them by itself.
TEST_CASE("views: shapes that do not fit together are refused, by operator") {
  const auto complaint = [](uint32_t layer, auto change) {
    OwnJudge own(ConcatCase());
    change(const_cast<sluice::Tensor*>(own.judged.graph.tensors.data()));
    CHECK(CheckViews(&own.judge) == Status::kBadInput);
    CHECK(own.d.layer == layer);
    return std::string(own.d.message);
  };
  CHECK(complaint(2, [](sluice::Tensor* t) { t[4].extent[3] = 7; }) ==
        "the shapes of this concat layer do not fit together");
  CHECK(complaint(3, [](sluice::Tensor* t) { t[6].extent[1] = 4; }) ==
        "the shapes of this slice layer do not fit together");
  CHECK(complaint(4, [](sluice::Tensor* t) { t[7].bytes = 31; }) ==
        "the shapes of this reshape layer do not fit together");
}

TEST_CASE("views: layers of unknown operators are refused") {
  const Case c = AddCase();
  Judged judged(c);
  auto* layers = const_cast<sluice::Layer*>(judged.graph.layers.data());
  for (const int code : {0, int{SLUICE_OP_COUNT}, 0xffff}) {
    CAPTURE(code);
    layers[0].op = static_cast<uint16_t>(code);
    const Verdict v = judged.OfImage(c.stream.Image());
    CHECK(v.status == Status::kUnsupported);
    CHECK(v.message == "a layer of unknown op " + std::to_string(code));
  }
  layers[0].op = SLUICE_OP_ADD;
  CHECK(judged.OfImage(c.stream.Image()).status == Status::kOk);
}

}  // namespace
}  // namespace sluice_test
