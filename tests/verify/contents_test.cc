// SPDX-License-Identifier: Apache-2.0
// Which instruction wrote each byte of a memory, and in which order.
#include "verify/contents.h"

#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

using sluice::Status;
using sluice::judge::Box;
using sluice::judge::Contents;
using sluice::judge::Part;
using sluice::judge::PartialSum;

// `bytes` elements of one byte at `at`: those of `root` from element `origin` on.
Part Run(uint32_t root, int64_t origin, int64_t bytes, int64_t at) {
  Part part = {root, 1, {0, 0, 0, origin}, {1, 1, 1, bytes}, at, {0, 0, 0, 1}};
  return part;
}

Box Span(int64_t from, int64_t count) {
  Box box = Box::At(from, 0, 1);
  box.Add(count, 1, 1);
  return box;
}

// One instance of one node. Column 0 of the clocks is the DMA, column 1 compute; each
// instruction has two numbers: what it knows to be done in each column.
struct Setting {
  explicit Setting(std::vector<uint32_t> known) : clocks(std::move(known)) {
    own.judge.stream.nodes = 1;
    own.judge.stream.visits = {&visit, 1};
    own.judge.stream.first_debug = {&first, 1};
  }
  OwnJudge own;
  sluice::judge::Visit visit = {};
  uint32_t first = 0;
  std::vector<uint32_t> clocks;
  // The instruction with this index in the body begins.
  void Enter(Contents* contents, const sluice::judge::Step& step) const {
    EnterStep(contents, step, &clocks[2 * step.index]);
  }
};

void Write(Contents* contents, const Part& part) {
  const Box box = Span(part.twin, part.extent[3]);
  REQUIRE(Overwrite(contents, 0, box, false) == Status::kOk);
  REQUIRE(PutPart(contents, 0, part) == Status::kOk);
}

TEST_CASE("contents: a read finds what was written last, part by part") {
  Setting s({0, 0, 1, 0, 2, 0});
  Contents contents(&s.own.judge);
  REQUIRE(InitContents(&contents) == Status::kOk);
  s.Enter(&contents, {0, 0, 0, 1});
  Write(&contents, Run(0, 100, 64, 0));
  s.Enter(&contents, {0, 1, 0, 2});
  Write(&contents, Run(1, 5, 16, 16));
  s.Enter(&contents, {0, 2, 0, 3});
  sluice::Vector<Part> parts(&s.own.arena);
  REQUIRE(ReadParts(&contents, 0, Span(8, 48), false, &parts) == Status::kOk);
  std::set<std::tuple<uint32_t, int64_t, int64_t, int64_t>> found;
  for (const Part& part : parts) {
    found.insert({part.root, part.origin[3], part.extent[3], part.twin});
  }
  // Bytes 8 to 16 and 32 to 56 belong to root 0, those between to root 1. A twin is the
  // distance from the first byte of the read.
  CHECK(found == decltype(found){{0, 108, 8, 0}, {1, 5, 16, 8}, {0, 132, 24, 24}});
}

// 4 x 4 elements of root 0 at 0.
Part Square() { return {0, 1, {0, 0, 0, 0}, {1, 1, 4, 4}, 0, {0, 0, 4, 1}}; }

// Writes the square, then its bytes again with the content `second`; returns the parts
// that a read of byte `at` finds.
Status ReadAfter(const Part& second, int64_t at, std::vector<Part>* found) {
  Setting s({0, 0, 1, 0, 2, 0});
  Box box = Box::At(0, 0, 1);
  box.Add(4, 4, 4);
  box.Add(4, 1, 1);
  Contents contents(&s.own.judge);
  REQUIRE(InitContents(&contents) == Status::kOk);
  const Part parts[] = {Square(), second};
  for (uint32_t i = 0; i < 2; ++i) {
    s.Enter(&contents, {0, i, 0, i + 1});
    REQUIRE(Overwrite(&contents, 0, box, false) == Status::kOk);
    REQUIRE(PutPart(&contents, 0, parts[i]) == Status::kOk);
  }
  s.Enter(&contents, {0, 2, 0, 3});
  sluice::Vector<Part> read(&s.own.arena);
  const Status status = ReadParts(&contents, 0, Span(at, 1), false, &read);
  for (const Part& part : read) found->push_back(part);
  return status;
}

TEST_CASE("contents: a buffer that is written again holds what lies there now") {
  Part moved = Square(), transposed = Square();
  moved.origin[2] = 100;
  std::swap(transposed.twin_stride[2], transposed.twin_stride[3]);
  struct Case {
    const char* name;
    Part second;
    int64_t row, column;  // what byte 9 holds
  };
  const Case cases[] = {{"other rows", moved, 102, 1},
                        {"rows as columns", transposed, 1, 2}};
  for (Case c : cases) {
    CAPTURE(std::string(c.name));
    c.second.root = 1;
    std::vector<Part> found;
    REQUIRE(ReadAfter(c.second, 9, &found) == Status::kOk);
    REQUIRE(found.size() == 1);
    CHECK(found[0].root == 1);
    CHECK(found[0].origin[2] == c.row);
    CHECK(found[0].origin[3] == c.column);
  }
}

TEST_CASE("contents: of a buffer that is written again, less than all may be stored") {
  Part half = Square(), column = Square();
  half.extent[3] = 2;
  column.extent[3] = 1;
  for (const Part& second : {half, column}) {
    std::vector<Part> found;
    CHECK(ReadAfter(second, 8, &found) == Status::kOk);
    CHECK(ReadAfter(second, 10, &found) == Status::kRejected);
  }
}

TEST_CASE("contents: bytes that nobody wrote, and elements that are cut in two") {
  Setting s({0, 0, 1, 0});
  Contents contents(&s.own.judge);
  REQUIRE(InitContents(&contents) == Status::kOk);
  s.Enter(&contents, {0, 0, 0, 1});
  Box words = Box::At(0, 0, 4);
  words.Add(8, 4, 4);
  REQUIRE(Overwrite(&contents, 0, words, false) == Status::kOk);
  REQUIRE(PutPart(&contents, 0, {0, 4, {}, {1, 1, 1, 8}, 0, {0, 0, 0, 4}}) ==
          Status::kOk);
  s.Enter(&contents, {0, 1, 0, 2});
  sluice::Vector<Part> parts(&s.own.arena);
  CHECK(ReadParts(&contents, 0, Span(64, 4), false, &parts) == Status::kRejected);
  CHECK(std::string(s.own.d.rule) == "content");
  CHECK(std::string(s.own.d.message) ==
        "instance 0, instruction 1: reads bytes that were never written, from 64 on");
  CHECK(ReadParts(&contents, 0, Span(2, 4), false, &parts) == Status::kRejected);
  CHECK(std::string(s.own.d.message) ==
        "instance 0, instruction 1: reads across element borders of the content");
}

TEST_CASE("contents: a read must know that the write is done") {
  for (const uint32_t known : {0u, 1u}) {
    CAPTURE(known);
    Setting s({0, 0, known, 0});  // what the compute instruction knows
    Contents contents(&s.own.judge);
    REQUIRE(InitContents(&contents) == Status::kOk);
    s.Enter(&contents, {0, 0, 0, 1});
    Write(&contents, Run(0, 0, 16, 0));
    s.Enter(&contents, {0, 1, 1, 1});
    sluice::Vector<Part> parts(&s.own.arena);
    const Status status = ReadParts(&contents, 0, Span(0, 16), false, &parts);
    CHECK(status == (known == 1 ? Status::kOk : Status::kRejected));
    if (known == 1) continue;
    CHECK(std::string(s.own.d.rule) == "order");
    CHECK(std::string(s.own.d.message) ==
          "instance 0, instruction 1: reads not ordered after instruction 1 of engine "
          "column 0, which touches the same bytes");
  }
}

TEST_CASE("contents: a read counts in full again after a part was overwritten") {
  OwnJudge own;
  sluice::judge::Judge& judge = own.judge;
  judge.stream.nodes = 1;
  sluice::judge::Visit visit = {};
  judge.stream.visits = {&visit, 1};
  uint32_t first = 0;
  judge.stream.first_debug = {&first, 1};
  // Two tiles read 64 bytes. After each, a load replaces the first 32. The last load
  // knows that both tiles are done, or the first alone.
  const auto last_load = [&](uint32_t tiles_known) {
    uint32_t clocks[] = {0, 0, 0, 1, 1, 1, 1, tiles_known};
    sluice::judge::Contents contents(&judge);
    REQUIRE(InitContents(&contents) == sluice::Status::kOk);
    const Box whole = Box::At(0, 0, 64), half = Box::At(0, 0, 32);
    for (uint32_t turn = 0; turn < 2; ++turn) {
      EnterStep(&contents, {0, 2 * turn, 1, turn + 1}, clocks + 4 * turn);
      REQUIRE(RecordRead(&contents, 0, whole) == sluice::Status::kOk);
      EnterStep(&contents, {0, 2 * turn + 1, 0, turn + 1}, clocks + 4 * turn + 2);
      const sluice::Status status = Overwrite(&contents, 0, half, false);
      if (turn == 1) return status;
      REQUIRE(status == sluice::Status::kOk);
    }
    return sluice::Status::kInternal;
  };
  CHECK(last_load(2) == sluice::Status::kOk);
  CHECK(last_load(1) == sluice::Status::kRejected);
  CHECK(std::string(own.d.rule) == "order");
}

TEST_CASE("contents: a part lies densely only with each step and its first element") {
  const int64_t dense[4] = {64, 16, 4, 1};
  int64_t index = 0;
  Part part = {0, 1, {0, 1, 2, 3}, {1, 1, 4, 4}, 16 + 8 + 3, {0, 0, 4, 1}};
  CHECK(LiesDensely(part, dense, &index));
  CHECK(index == 27);
  part.twin = 28;
  CHECK(!LiesDensely(part, dense, &index));
  part.twin = 27;
  part.twin_stride[2] = 1;  // rows as columns
  part.twin_stride[3] = 4;
  CHECK(!LiesDensely(part, dense, &index));
  part.twin_stride[3] = 1;
  CHECK(!LiesDensely(part, dense, &index));
  part.extent[2] = 1;
  CHECK(LiesDensely(part, dense, &index));
}

// An engine reads a box; another, ordered after it, writes over a part; a third, which knows
// of neither, writes over bytes that only the first read.
TEST_CASE("contents: a read counts for the bytes that a write left") {
  struct Row {
    Box read, write, other;
  };
  Box three = Box::At(0, 0, 2), two = Box::At(0, 0, 2);
  three.Add(3, 4, 0);
  two.Add(2, 8, 0);  // begins and ends where the three do
  const Row rows[] = {{Box::At(0, 0, 16), Box::At(8, 0, 8), Box::At(0, 0, 8)},
                      {Box::At(0, 0, 16), Box::At(0, 0, 8), Box::At(8, 0, 8)},
                      {Box::At(0, 0, 16), Box::At(4, 0, 4), Box::At(8, 0, 8)},
                      {three, two, Box::At(4, 0, 2)}};
  for (const Row& row : rows) {
    CAPTURE(&row - rows);
    OwnJudge own;
    own.judge.stream.nodes = 1;
    sluice::judge::Visit visit = {};
    own.judge.stream.visits = {&visit, 1};
    uint32_t first = 0;
    own.judge.stream.first_debug = {&first, 1};
    const uint32_t nothing[] = {0, 0, 0}, the_read[] = {1, 0, 0};
    Contents contents(&own.judge);
    REQUIRE(InitContents(&contents) == Status::kOk);
    EnterStep(&contents, {0, 0, 0, 1}, nothing);
    REQUIRE(RecordRead(&contents, 0, row.read) == Status::kOk);
    EnterStep(&contents, {0, 1, 1, 1}, the_read);
    REQUIRE(Overwrite(&contents, 0, row.write, false) == Status::kOk);
    EnterStep(&contents, {0, 2, 2, 1}, nothing);
    CHECK(Overwrite(&contents, 0, row.other, false) == Status::kRejected);
    CHECK(std::string(own.d.rule) == "order");
  }
}

// Writes boxes of random rows over 512 bytes, root by root, and asks for each byte after
// every 64 of them. Returns the work that each 64 writes took.
std::vector<int64_t> WriteAtRandom(size_t rounds) {
  Setting s({0, 0});
  s.own.judge.stream.region_limit[SLUICE_REGION_GBUF] = 512;
  Contents contents(&s.own.judge);
  REQUIRE(InitContents(&contents) == Status::kOk);
  sluice::Rng rng(7);
  std::vector<uint32_t> owner(512, 0);
  std::vector<int64_t> work;
  uint32_t position = 1;
  s.Enter(&contents, {0, 0, 0, position});
  Write(&contents, Run(0, 0, 512, 0));
  for (size_t round = 0; round < rounds; ++round) {
    const int64_t before = s.own.judge.work;
    for (int i = 0; i < 64; ++i) {
      // A run of bytes divides what it covers.
      const int64_t rows = 1 + rng.Below(6), length = 2 + rng.Below(6);
      const int64_t stride = length + 1 + rng.Below(40);
      const int64_t at = rng.Below(512 - static_cast<uint32_t>(rows * stride));
      const uint32_t root = ++position;
      Part part = {root, 1, {}, {1, 1, rows, length}, at, {0, 0, stride, 1}};
      Box box = Box::At(at, 0, 1);
      if (rows > 1) box.Add(rows, stride, 0);
      box.Add(length, 1, 0);
      s.Enter(&contents, {0, 0, 0, position});
      REQUIRE(Overwrite(&contents, 0, box, false) == Status::kOk);
      REQUIRE(PutPart(&contents, 0, part) == Status::kOk);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < length; ++c) {
          owner[static_cast<size_t>(at + r * stride + c)] = root;
        }
      }
    }
    work.push_back(before - s.own.judge.work);
    s.Enter(&contents, {0, 0, 0, ++position});
    for (size_t b = 0; b < owner.size(); ++b) {
      sluice::Vector<Part> parts(&s.own.arena);
      REQUIRE(ReadParts(&contents, 0, Span(static_cast<int64_t>(b), 1), false,
                        &parts) == Status::kOk);
      REQUIRE(parts.size() == 1);
      REQUIRE(parts[0].root == owner[b]);
    }
  }
  return work;
}

TEST_CASE("contents: what several later boxes cover together is forgotten") {
  const std::vector<int64_t> work = WriteAtRandom(64);
  CHECK(work[63] < 2 * work[3]);
}

TEST_CASE("contents: what is there from the start may overlap nothing, nor itself") {
  Setting s({0, 0});
  Contents contents(&s.own.judge);
  REQUIRE(InitContents(&contents) == Status::kOk);
  const int64_t stride[4] = {0, 0, 0, 1}, standing[4] = {0, 0, 0, 0};
  const auto fresh = [&](int64_t at, const int64_t* step) {
    bool is_fresh = false;
    REQUIRE(PutPreset(&contents, 0, Run(0, 0, 16, 0), at, step, &is_fresh) ==
            Status::kOk);
    return is_fresh;
  };
  CHECK(fresh(0, stride));
  CHECK(fresh(16, stride));
  CHECK(!fresh(31, stride));
  CHECK(!fresh(100, standing));
}

TEST_CASE(
    "contents: the piece of a box is found while no later write covers any of it") {
  Setting s({0, 0, 1, 0, 2, 0});
  Contents contents(&s.own.judge);
  REQUIRE(InitContents(&contents) == Status::kOk);
  s.Enter(&contents, {0, 0, 0, 1});
  Write(&contents, Run(3, 100, 64, 0));
  Part part;
  const sluice::judge::Piece* piece = nullptr;
  REQUIRE(FindPiece(&contents, 0, Span(16, 8), &part, &piece) == Status::kOk);
  REQUIRE(piece != nullptr);
  CHECK(part.root == 3);
  CHECK(part.origin[3] == 116);
  CHECK(part.extent[3] == 8);
  REQUIRE(FindPiece(&contents, 0, Span(60, 8), &part, &piece) == Status::kOk);
  CHECK(piece == nullptr);  // ends behind it
  s.Enter(&contents, {0, 1, 0, 2});
  Write(&contents, Run(1, 0, 8, 8));
  REQUIRE(FindPiece(&contents, 0, Span(12, 8), &part, &piece) == Status::kOk);
  CHECK(piece == nullptr);
}

TEST_CASE(
    "contents: what a box is known to hold is forgotten when a byte of it is written") {
  Setting s({0, 0, 1, 0, 2, 0});
  Contents contents(&s.own.judge);
  REQUIRE(InitContents(&contents) == Status::kOk);
  s.Enter(&contents, {0, 0, 0, 1});
  Write(&contents, Run(0, 0, 64, 0));
  const Box box = Span(16, 8);
  NoteKnown(&contents, 0, 5, box);
  NoteKnown(&contents, 0, 6, Span(40, 8));
  CHECK(IsKnown(contents, 0, 5, box));
  CHECK_FALSE(IsKnown(contents, 1, 5, box));          // another memory
  CHECK_FALSE(IsKnown(contents, 0, 6, box));          // another root
  CHECK_FALSE(IsKnown(contents, 0, 5, Span(16, 7)));  // other bytes
  Box other = box;
  other.twin = 1;  // another element lies first
  CHECK_FALSE(IsKnown(contents, 0, 5, other));
  other = box;
  other.dim[0].twin = 2;  // every second element
  CHECK_FALSE(IsKnown(contents, 0, 5, other));
  // Another engine may not be ordered after the writes.
  s.Enter(&contents, {0, 0, 1, 1});
  CHECK_FALSE(IsKnown(contents, 0, 5, box));

  s.Enter(&contents, {0, 1, 0, 2});
  Write(&contents, Run(1, 0, 8, 8));  // ends in front of it
  Write(&contents, Run(1, 0, 8, 24));
  CHECK(IsKnown(contents, 0, 5, box));
  Write(&contents, Run(1, 0, 1, 23));
  CHECK_FALSE(IsKnown(contents, 0, 5, box));
  CHECK(IsKnown(contents, 0, 6, Span(40, 8)));
  Write(&contents, Run(1, 0, 1, 40));
  CHECK_FALSE(IsKnown(contents, 0, 6, Span(40, 8)));
}

TEST_CASE("contents: a partial sum of the same ranges is the same root") {
  Setting s({0, 0});
  Contents contents(&s.own.judge);
  REQUIRE(InitContents(&contents) == Status::kOk);
  const auto root = [&](uint32_t layer, int32_t begin, int32_t end) {
    const PartialSum sum = {layer, 1, {begin}, {end}};
    uint32_t number = 0;
    REQUIRE(RootOf(&contents, sum, &number) == Status::kOk);
    return number;
  };
  // Roots 0 to 7: four tensors, each with one root before and one behind an append.
  CHECK(root(0, 0, 8) == 8);
  CHECK(root(0, 8, 16) == 9);
  CHECK(root(1, 0, 8) == 10);
  CHECK(root(0, 0, 8) == 8);
  CHECK(IsPartial(contents, 8));
  CHECK(!IsPartial(contents, 7));
  CHECK(PartialOf(contents, 9).begin[0] == 8);
}

// Bytes of DRAM of a machine whose engines are a store (column 0), a load (1) and the host
// (2).
struct DramSetting {
  explicit DramSetting(bool joins) {
    setting.own.judge.stream.engines = setting.own.judge.stream.dram_engines = 3;
    setting.own.judge.joins = joins;
    setting.own.judge.storer = 0;
    contents.emplace(&setting.own.judge);
    REQUIRE(InitContents(&*contents) == Status::kOk);
    memory = MemoryOf(*contents, SLUICE_REGION_WORKSPACE, 0);
  }
  // The next instruction of an engine begins, knowing so many of the others to be done.
  void Enter(uint32_t engine, uint32_t stores, uint32_t loads) {
    const uint32_t now[] = {stores, loads, 0};
    for (int e = 0; e < 3; ++e) clock[e] = now[e];
    EnterStep(&*contents, {0, 0, engine, ++issued[engine]}, clock);
  }
  Status Store(int64_t at, int64_t bytes) {
    const Status status = Overwrite(&*contents, memory, Span(at, bytes), false);
    return status != Status::kOk ? status
                                 : PutPart(&*contents, memory, Run(0, at, bytes, at));
  }
  Status Read(int64_t at, int64_t bytes, size_t parts_found) {
    sluice::Vector<Part> parts(&setting.own.arena);
    const Status status = ReadParts(&*contents, memory, Span(at, bytes), true, &parts);
    if (status == Status::kOk) CHECK(parts.size() == parts_found);
    return status;
  }
  Setting setting{{}};
  std::optional<Contents> contents;
  uint32_t memory, clock[3], issued[3] = {};
};

TEST_CASE("contents: who knows less of what was stored and joined is refused") {
  for (const bool joins : {true, false}) {
    for (const uint32_t host_knows : {1u, 2u}) {
      DramSetting s(joins);
      s.Enter(0, 0, 0);
      REQUIRE(s.Store(0, 32) == Status::kOk);
      s.Enter(0, 1, 0);
      REQUIRE(s.Store(32, 32) == Status::kOk);
      s.Enter(1, 2, 0);
      REQUIRE(s.Read(0, 64, joins ? 1 : 2) == Status::kOk);
      s.Enter(2, host_knows, 0);
      // The host reads the first store alone. The two joined may be refused: then the
      // stream is judged again.
      const bool refused = joins && host_knows == 1;
      CHECK(s.Read(0, 32, 1) == (refused ? Status::kRejected : Status::kOk));
      CHECK(s.setting.own.judge.joined == joins);
    }
  }
}

TEST_CASE(
    "contents: reads that stores follow are dropped, and the host must follow them") {
  for (const bool joins : {true, false}) {
    for (const bool host_knows : {false, true}) {
      for (const int64_t at : {32, 64}) {  // bytes that were read, bytes that were not
        DramSetting s(joins);
        s.Enter(0, 0, 0);
        REQUIRE(s.Store(0, 64) == Status::kOk);
        s.Enter(1, 1, 0);
        REQUIRE(s.Read(0, 64, 1) == Status::kOk);
        s.Enter(0, 1, 1);
        REQUIRE(s.Store(0, 16) == Status::kOk);
        s.Enter(2, 2, host_knows ? 1 : 0);
        const bool refused = !host_knows && (joins || at < 64);
        CHECK(s.Store(at, 16) == (refused ? Status::kRejected : Status::kOk));
        // Refused though it is right: the stream is judged again.
        if (refused && at == 64) CHECK(s.setting.own.judge.joined);
      }
    }
  }
}

}  // namespace
}  // namespace sluice_test
