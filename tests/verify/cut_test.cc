// SPDX-License-Identifier: Apache-2.0
// Boxes that are cut by a frame.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "box_bytes.h"
#include "judged_case.h"
#include "verify/boxes.h"

namespace sluice_test {
namespace {

using sluice::Status;
using sluice::judge::Box;
using sluice::judge::Inside;

// The address of each element of a box, with its twin.
void ElementsOf(const Box& box, uint32_t dim, int64_t at, int64_t twin,
                std::vector<std::pair<int64_t, int64_t>>* out) {
  if (dim == box.dims) return out->push_back({at, twin});
  for (int64_t i = 0; i < box.dim[dim].count; ++i) {
    ElementsOf(box, dim + 1, at + i * box.dim[dim].stride, twin + i * box.dim[dim].twin,
               out);
  }
}

std::vector<std::pair<int64_t, int64_t>> ElementsOf(const Box& box) {
  std::vector<std::pair<int64_t, int64_t>> elements;
  ElementsOf(box, 0, box.base, box.twin, &elements);
  return elements;
}

// Extents and strides that mostly nest, as those of tensors do.
struct Nested {
  int64_t extent[4] = {1, 1, 1, 1}, stride[4] = {};
  Nested(sluice::Rng* rng, int64_t width) {
    int64_t step = width;
    for (int a = 3; a >= 1; --a) {
      extent[a] = 1 + rng->Below(4);
      stride[a] = step;
      step *= extent[a] + rng->Below(3);
      if (rng->Below(8) == 0) step += width;
    }
  }
};

TEST_CASE("cut: a box is cut by a frame into each of its elements, once") {
  OwnJudge own;
  sluice::judge::Judge& judge = own.judge;
  sluice::Rng rng(5);
  sluice::Vector<Box> todo(&own.arena), outside(&own.arena);
  sluice::Vector<sluice::judge::Inside> inside(&own.arena);
  int cut = 0, parts = 0;
  for (int round = 0; round < 40000; ++round) {
    const int64_t width = 1 + rng.Below(2);
    const Nested of_frame(&rng, width);
    sluice::judge::Frame frame;
    REQUIRE(MakeFrame(60, width, of_frame.extent, of_frame.stride, &frame));
    // Mostly the frame's strides, as for boxes of one tensor.
    Nested of_box(&rng, width);
    Box box = Box::At(60 + width * (int64_t{rng.Below(60)} - 30), 0, width);
    for (int a = 0; a < 4; ++a) {
      const int64_t stride = rng.Below(6) == 0 ? of_box.stride[a] : of_frame.stride[a];
      box.Add(of_box.extent[a], stride, a == 3 ? 1 : a == 2 ? 10 : 100);
    }
    inside.Truncate(0);
    outside.Truncate(0);
    bool aligned = true;
    REQUIRE(Cut(box, frame, {&judge, &todo, &inside, &outside, &aligned}) ==
            sluice::Status::kOk);
    if (!aligned) continue;
    std::vector<std::pair<int64_t, int64_t>> got;
    const std::set<int64_t> frame_bytes = BytesOf(BoxOf(frame));
    for (const Box& part : outside) {
      for (const auto& element : ElementsOf(part)) {
        REQUIRE(frame_bytes.count(element.first) == 0);
        got.push_back(element);
      }
    }
    for (const sluice::judge::Inside& in : inside) {
      int64_t first = frame.base;
      for (uint32_t j = 0; j < frame.dims; ++j) {
        REQUIRE(in.at[j] >= 0);
        first += in.at[j] * frame.stride[j];
      }
      REQUIRE(first == in.part.base);
      for (uint32_t k = 0; k < in.part.dims; ++k) {
        const uint32_t j = in.along[k];
        REQUIRE(in.part.dim[k].stride == frame.stride[j]);
        REQUIRE(in.at[j] + in.part.dim[k].count <= frame.count[j]);
      }
      const auto elements = ElementsOf(in.part);
      got.insert(got.end(), elements.begin(), elements.end());
      ++parts;
    }
    auto want = ElementsOf(box);
    std::sort(got.begin(), got.end());
    std::sort(want.begin(), want.end());
    REQUIRE(got == want);
    cut += !inside.span().empty() && !outside.span().empty();
  }
  CHECK(cut > 10000);
  MESSAGE(cut << " boxes cut, " << parts << " parts inside");
}

// Four rows of eight bytes, 16 apart.
sluice::judge::Frame FourRows() {
  const int64_t extent[4] = {1, 1, 4, 8}, stride[4] = {0, 0, 16, 1};
  sluice::judge::Frame frame;
  REQUIRE(MakeFrame(0, 1, extent, stride, &frame));
  return frame;
}

struct Cuts {
  OwnJudge own;
  sluice::Vector<Box> todo{&own.arena}, outside{&own.arena};
  sluice::Vector<Inside> inside{&own.arena};
  bool aligned = true;
  Status Of(const Box& box, const sluice::judge::Frame& frame) {
    return Cut(box, frame, {&own.judge, &todo, &inside, &outside, &aligned});
  }
};

TEST_CASE("cut: a corner inside, the two sides outside") {
  Box box = Box::At(2 * 16 + 6, 0, 1);  // rows 2 to 5, columns 6 to 9
  box.Add(4, 16, 4);
  box.Add(4, 1, 1);
  Cuts cuts;
  REQUIRE(cuts.Of(box, FourRows()) == Status::kOk);
  CHECK(cuts.aligned);
  REQUIRE(cuts.inside.size() == 1);
  const Inside& in = cuts.inside[0];
  CHECK(in.at[0] == 2);
  CHECK(in.at[1] == 6);
  CHECK(in.part.base == 38);
  CHECK(in.part.twin == 0);
  REQUIRE(in.part.dims == 2);
  CHECK(in.part.dim[0].count == 2);
  CHECK(in.part.dim[1].count == 2);
  size_t elements = 0;
  for (const Box& part : cuts.outside) elements += ElementsOf(part).size();
  CHECK(elements == 16 - 4);
}

TEST_CASE("cut: elements that overlap but do not coincide are told") {
  const int64_t extent[4] = {1, 1, 1, 4}, stride[4] = {0, 0, 0, 8};
  sluice::judge::Frame words;  // four words, eight bytes apart
  REQUIRE(MakeFrame(0, 4, extent, stride, &words));
  Cuts between;
  REQUIRE(between.Of(Box::At(4, 0, 4), words) == Status::kOk);
  CHECK(between.aligned);
  CHECK(between.outside.size() == 1);
  Cuts across;
  REQUIRE(across.Of(Box::At(2, 0, 4), words) == Status::kOk);
  CHECK(!across.aligned);
}

TEST_CASE("cut: the judge's work is bounded") {
  Cuts cuts;
  cuts.own.judge.work = 0;
  CHECK(cuts.Of(Box::At(0, 0, 1), FourRows()) == Status::kUnsupported);
  CHECK(std::string(cuts.own.d.rule) == "work");
  CHECK(std::string(cuts.own.d.message) ==
        "the stream's boxes are too intricate to be followed");
}

}  // namespace
}  // namespace sluice_test
