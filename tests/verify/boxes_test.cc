// SPDX-License-Identifier: Apache-2.0
#include "verify/boxes.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/rng.h"
#include "judged_case.h"
#include "verify/contents.h"

namespace sluice_test {
namespace {

using sluice::judge::Box;
using sluice::judge::Rows;

// Up to three dims of any order; strides may touch, repeat or be zero.
Box RandomBox(sluice::Rng* rng) {
  Box box = Box::At(rng->Below(60), 0, 1 << rng->Below(3));
  int64_t stride = box.width;
  std::vector<std::pair<int64_t, int64_t>> dims;  // count, stride
  for (uint32_t n = rng->Below(4); n > 0; --n) {
    const int64_t count = 1 + rng->Below(4);
    stride += rng->Below(2) == 0 ? 0 : rng->Below(9);
    dims.push_back({count, rng->Below(10) == 0 ? 0 : stride});
    stride *= count;
  }
  for (size_t i = dims.size(); i-- > 0;) box.Add(dims[i].first, dims[i].second, 0);
  return box;
}

std::set<int64_t> BytesOf(const Box& box) {
  std::set<int64_t> starts = {box.base}, bytes;
  for (uint32_t d = 0; d < box.dims; ++d) {
    std::set<int64_t> next;
    for (const int64_t at : starts) {
      for (int64_t i = 0; i < box.dim[d].count; ++i) {
        next.insert(at + i * box.dim[d].stride);
      }
    }
    starts = next;
  }
  for (const int64_t at : starts) {
    for (int64_t i = 0; i < box.width; ++i) bytes.insert(at + i);
  }
  return bytes;
}

TEST_CASE("verify: overlap of boxes and of their rows is exact") {
  Judged judged(ConvCase());
  sluice::Memory memory(Malloc(), 0);
  sluice::Arena arena(&memory);
  sluice::Diagnostic d;
  sluice::judge::Judge judge = {judged.graph, judged.hardware,  judged.plan, &arena, &d,
                                {},           int64_t{1} << 40, {},          false};
  sluice::Rng rng(11);
  int overlaps = 0, with_rows = 0;
  for (int round = 0; round < 20000; ++round) {
    const Box a = RandomBox(&rng), b = RandomBox(&rng);
    const std::set<int64_t> bytes = BytesOf(a);
    bool want = false;
    for (const int64_t byte : BytesOf(b)) want = want || bytes.count(byte) != 0;
    bool found = false;
    REQUIRE(Overlap(&judge, a, b, &found) == sluice::Status::kOk);
    REQUIRE(found == want);
    const Rows rows_a = RowsOf(a), rows_b = RowsOf(b);
    REQUIRE(Overlap(&judge, a, rows_a, b, rows_b, &found) == sluice::Status::kOk);
    REQUIRE(found == want);
    overlaps += want;
    if (rows_a.count == 0) continue;
    ++with_rows;
    std::set<int64_t> of_rows;
    for (int64_t i = 0; i < rows_a.count * rows_a.length; ++i) {
      of_rows.insert(a.base + i / rows_a.length * rows_a.stride + i % rows_a.length);
    }
    REQUIRE(of_rows == bytes);
  }
  CHECK(overlaps > 4000);
  CHECK(overlaps < 16000);
  CHECK(with_rows > 10000);
}

// Start of each element of a box, with its twin.
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

// A nested box: strides that divide each other, mostly, as those of tensors do.
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

TEST_CASE("verify: a box is cut by a frame into each of its elements, once") {
  Judged judged(ConvCase());
  sluice::Memory memory(Malloc(), 0);
  sluice::Arena arena(&memory);
  sluice::Diagnostic d;
  sluice::judge::Judge judge = {judged.graph, judged.hardware,  judged.plan, &arena, &d,
                                {},           int64_t{1} << 40, {},          false};
  sluice::Rng rng(5);
  sluice::Vector<Box> todo(&arena), outside(&arena);
  sluice::Vector<sluice::judge::Inside> inside(&arena);
  int cut = 0, parts = 0;
  for (int round = 0; round < 40000; ++round) {
    const int64_t width = 1 + rng.Below(2);
    const Nested of_frame(&rng, width);
    sluice::judge::Frame frame;
    REQUIRE(MakeFrame(60, width, of_frame.extent, of_frame.stride, &frame));
    // Mostly of the frame's strides, as boxes of one tensor are.
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

TEST_CASE("verify: a memory map finds what shows, after any clipping") {
  Judged judged(ConvCase());
  sluice::Memory memory(Malloc(), 0);
  sluice::Arena arena(&memory);
  sluice::Diagnostic d;
  sluice::judge::Judge judge = {judged.graph, judged.hardware,  judged.plan, &arena, &d,
                                {},           int64_t{1} << 40, {},          false};
  sluice::judge::MemoryMap map(&arena);
  sluice::judge::PiecePool pool(&arena);
  sluice::Vector<sluice::judge::Piece*> found(&arena);
  std::vector<uint32_t> shows(400, 0);  // piece number of each byte, 0 = none
  sluice::Rng rng(5);
  for (uint32_t number = 1; number < 3000; ++number) {
    const int64_t begin = rng.Below(380);
    const int64_t end = begin + 1 + rng.Below(20);
    found.Truncate(0);
    REQUIRE(map.Collect(&judge, begin, end, &found) == sluice::Status::kOk);
    std::set<uint32_t> want, got;
    for (int64_t i = begin; i < end; ++i) want.insert(shows[static_cast<size_t>(i)]);
    want.erase(0);
    for (const sluice::judge::Piece* piece : found) got.insert(piece->root);
    REQUIRE(want == got);
    for (sluice::judge::Piece* piece : found) {
      bool gone = false;
      REQUIRE(map.Clip(&judge, piece, begin, end, &pool, &gone) == sluice::Status::kOk);
      if (gone) pool.Give(piece);
    }
    sluice::judge::Piece* piece = nullptr;
    REQUIRE(pool.Take(&piece) == sluice::Status::kOk);
    piece->box = Box::At(begin, 0, end - begin);
    piece->begin = begin;
    piece->end = end;
    piece->root = number;
    REQUIRE(map.Insert(piece) == sluice::Status::kOk);
    for (int64_t i = begin; i < end; ++i) shows[static_cast<size_t>(i)] = number;
  }
}

TEST_CASE("verify: a read counts in full again after a part was overwritten") {
  Judged judged(ConvCase());
  sluice::Memory memory(Malloc(), 0);
  sluice::Arena arena(&memory);
  sluice::Diagnostic d;
  sluice::judge::Judge judge = {judged.graph, judged.hardware,  judged.plan, &arena, &d,
                                {},           int64_t{1} << 40, {},          false};
  judge.stream.nodes = 1;
  uint32_t numbers[] = {0};
  judge.stream.first_number = {numbers, 1};
  // Two tiles read 64 bytes; between them, and after the second, a load replaces the first
  // 32. It knows of both tiles or of the first alone.
  const auto last_load = [&](uint32_t tiles_known) {
    uint32_t clocks[] = {0, 0, 0, 1, 1, 1, 1, tiles_known};
    sluice::judge::Order order = {{}, {clocks, 8}, {numbers, 1}, {}, 2};
    sluice::judge::Contents contents(&judge, &order);
    REQUIRE(contents.Init() == sluice::Status::kOk);
    const Box whole = Box::At(0, 0, 64), half = Box::At(0, 0, 32);
    for (uint32_t turn = 0; turn < 2; ++turn) {
      contents.Enter({0, 2 * turn, 1, turn + 1});
      REQUIRE(contents.Record(0, whole) == sluice::Status::kOk);
      contents.Enter({0, 2 * turn + 1, 0, turn + 1});
      const sluice::Status status = contents.Overwrite(0, half, false);
      if (turn == 1) return status;
      REQUIRE(status == sluice::Status::kOk);
    }
    return sluice::Status::kInternal;
  };
  CHECK(last_load(2) == sluice::Status::kOk);
  CHECK(last_load(1) == sluice::Status::kRejected);
  CHECK(std::string(d.rule) == "order");
}

}  // namespace
}  // namespace sluice_test
