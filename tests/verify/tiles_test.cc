// SPDX-License-Identifier: Apache-2.0
// COMPUTE: a tile must match its layer, and its accumulator must hold the right
// channels.
#include <algorithm>

#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

TEST_CASE("tiles: a tile that disagrees with its layer is caught") {
  Case c = ConvCase();
  Tile(&c, 0).pad[0] = 0;
  CheckRejected(c, "tile");
  c = ConvCase();
  std::swap(Tile(&c, 0).pad[0], Tile(&c, 0).pad[2]);
  CheckRejected(c, "tile");
  c = ConvCase();
  c.stream.attributes[SLUICE_CONV_STRIDE_H] = 2;
  CheckRejected(c, "tile");
  c = ConvCase();
  c.stream.attributes[SLUICE_CONV_OUTPUT_ZERO] += 1;
  CheckRejected(c, "tile");
  c = ConvCase();
  c.stream.kernels[0].op = SLUICE_OP_DEPTHWISE_CONV;
  CheckRejected(c, "tile");
  c = ConvCase();
  Tile(&c, 1).origin[1] = 4;  // the pads fit, the boxes do not
  CheckRejected(c, "content");
  c = ConvCase();
  Tile(&c, 3).origin[1] = 7;
  CheckRejected(c, "tile");
  c = ConvCase();
  Tile(&c, 1).c_end = 7;
  CheckRejected(c, "accumulate");
  c = ConvCase();
  Tile(&c, 1).weight = SLUICE_NONE;
  CheckRejected(c, "tile");
  c = ConvCase();
  Operand(&c, Tile(&c, 1).input0).dtype = SLUICE_DTYPE_UINT8;
  CheckRejected(c, "tile");
  c = ConvCase();
  Shape(&c, Tile(&c, 1).input0).extent[1] = 3;
  CheckRejected(c, "tile");
  c = ConcatCase();
  Tile(&c, 0).kernel = 1;
  CheckRejected(c, "content");
}

TEST_CASE("tiles: wrong first and last flags are caught") {
  Case c = AccumulateCase();
  At(&c, kCompute, 1).record.flags = 0;
  CheckRejected(c, "content");  // adds to bytes that were never written
  c = AccumulateCase();
  At(&c, kCompute, 2).record.flags = SLUICE_FLAG_FIRST | SLUICE_FLAG_LAST;
  CheckRejected(c, "accumulate");
  c = AccumulateCase();
  At(&c, kCompute, 2).record.flags = 0;
  CheckRejected(c, "content");
  c = AccumulateCase();
  At(&c, kCompute, 2).record.flags = SLUICE_FLAG_FIRST;
  CheckRejected(c, "content");
  c = ConvCase();
  At(&c, kCompute, 1).record.flags = SLUICE_FLAG_FIRST;
  CheckRejected(c, "tile");
  c = AddCase();
  At(&c, kCompute, 1).record.flags = SLUICE_FLAG_LAST;
  CheckRejected(c, "accumulate");
}

TEST_CASE("tiles: gaps and overlaps of C ranges are caught") {
  Case c = AccumulateCase();
  c.stream.blocks[0].lists[kCompute].erase(c.stream.blocks[0].lists[kCompute].begin());
  At(&c, kCompute, 1).record.flags = SLUICE_FLAG_LAST;
  At(&c, kDma, 6).waits[0].count = 1;
  CheckRejected(c, "content");
  // The second piece sums the channels of the first again, so others are missing.
  c = AccumulateCase();
  Tile(&c, 1).c_begin = 0;
  Tile(&c, 1).c_end = 8;
  Tile(&c, 1).input0 = Tile(&c, 0).input0;
  Tile(&c, 1).weight = Tile(&c, 0).weight;
  CheckRejected(c, "accumulate");
  // The first tile sums too few channels for the last one.
  c = AccumulateCase();
  Tile(&c, 0).c_end = 7;
  CheckRejected(c, "tile");
}

TEST_CASE("tiles: an accumulator of another box is caught") {
  Case c = AccumulateCase();
  // The second tile computes only [1,1,2,8] of the output.
  Four small = {1, 1, 2, 8};
  BlockBuilder& b = c.stream.blocks[0];
  Tile(&c, 1).origin[1] = 1;
  Tile(&c, 1).output = b.Dense(0, SLUICE_DTYPE_INT8, small, 416);
  Tile(&c, 1).accumulator = b.Dense(0, SLUICE_DTYPE_INT32, small, 288);
  Tile(&c, 1).input0 = b.Dense(0, SLUICE_DTYPE_INT8, small, 128 + 16);
  CheckRejected(c, "accumulate");
}

TEST_CASE("tiles: too few cycles are caught") {
  Case c = ConvCase();
  Tile(&c, 2).cycles = 71;  // 2*4*8 outputs * 9 * 8 MACs / 64 = 72
  CheckRejected(c, "cycles");
  c = AddCase();
  Tile(&c, 0).cycles = 7;
  CheckRejected(c, "cycles");
}

TEST_CASE("tiles: an in-place result is legal only just over an input") {
  Case c = NodesCase();
  CheckAccepted(c);
  BlockBuilder& b = c.stream.blocks[0];
  Tile(&c, 0).output = b.Dense(0, SLUICE_DTYPE_INT8, {1, 2, 4, 8}, 32);
  Transfer(&c, 3).src = Tile(&c, 0).output;
  CheckRejected(c, "order");
}

TEST_CASE("tiles: a refusal says what the layer needs") {
  Case c = ConvCase();
  Tile(&c, 0).pad[0] = 0;
  CheckRejected(
      c, "tile",
      "instance 0, instruction 10: conv: pad 0 is 0, the window at this box needs 1");
  c = ConvCase();
  Tile(&c, 2).cycles = 71;
  CheckRejected(
      c, "cycles",
      "instance 0, instruction 12: conv: declares 71 cycles, needs at least 72");
  c = ConvCase();
  Tile(&c, 1).weight = SLUICE_NONE;
  CheckRejected(c, "tile",
                "instance 0, instruction 11: conv: an operand too many or too few");
  c = ConvCase();
  Tile(&c, 1).parameters = SLUICE_NONE;
  CheckRejected(c, "tile", "instance 0, instruction 11: parameters is missing");
  c = ConvCase();
  Tile(&c, 1).output = SLUICE_NONE;
  CheckRejected(c, "tile", "instance 0, instruction 11: a tile without a result");
  c = ConvCase();
  Tile(&c, 3).origin[1] = 7;
  CheckRejected(c, "tile",
                "instance 0, instruction 13: output or accumulator is no box of the "
                "output, or of the wrong dtype");
}

TEST_CASE("tiles: sums say which channels are missing, or come twice") {
  Case c = AccumulateCase();
  Tile(&c, 1).c_end = 17;
  CheckRejected(c, "tile");
  c = AccumulateCase();
  At(&c, kCompute, 2).record.flags = SLUICE_FLAG_FIRST | SLUICE_FLAG_LAST;
  Tile(&c, 1).accumulator = SLUICE_NONE;
  CheckRejected(c, "accumulate",
                "instance 0, instruction 7: conv: first and last with a part of C");
  c = AccumulateCase();  // the last tile drops the first one's sum
  Tile(&c, 1).c_begin = 0;
  Tile(&c, 1).c_end = 8;
  Tile(&c, 1).input0 = Tile(&c, 0).input0;
  Tile(&c, 1).weight = Tile(&c, 0).weight;
  CheckRejected(c, "accumulate", "instance 0, instruction 7: channels are added twice");
}

struct Channels {
  uint32_t begin, end;
};
bool operator<(const Channels& a, const Channels& b) { return a.begin < b.begin; }

// AccumulateCase's sum over 16 channels, cut into these pieces in this order. Input and
// weights are on chip as a whole; a tile reads its channels of them.
Case SumOf(const std::vector<Channels>& pieces) {
  Case c = AccumulateCase();
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  BlockBuilder& b = c.stream.blocks[0];
  const sluice_tile_t like = Tile(&c, 1);
  const uint32_t store = At(&c, kDma, 6).record.descriptor;
  for (auto& list : b.lists) list.clear();
  b.tiles.clear();
  b.Append(kDma, SLUICE_OPCODE_LOAD, 0, 0, {});
  b.Load(b.Dense(2, i8, {1, 2, 2, 16}, 0), b.Dense(0, i8, {1, 2, 2, 16}, 96));
  b.Load(b.Dense(1, i8, {8, 1, 1, 16}, 0), b.Dense(0, i8, {8, 1, 1, 16}, 160));
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto [begin, end] = pieces[i];
    const bool last = i + 1 == pieces.size();
    sluice_tile_t tile = like;
    tile.cycles = 8;
    tile.input0 = b.Strided(0, i8, {1, 2, 2, end - begin}, {64, 32, 16, 1}, 96 + begin);
    tile.weight =
        b.Strided(0, i8, {8, 1, 1, end - begin}, {16, 16, 16, 1}, 160 + begin);
    if (!last) tile.parameters = tile.output = SLUICE_NONE;
    tile.c_begin = begin;
    tile.c_end = end;
    uint8_t flags = i == 0 ? SLUICE_FLAG_FIRST : 0;
    if (last) flags |= SLUICE_FLAG_LAST;
    b.Compute(tile, {After(kDma, 3)}, flags);
  }
  b.Append(kDma, SLUICE_OPCODE_STORE, 0, store,
           {After(kCompute, static_cast<uint32_t>(pieces.size()))});
  return c;
}

TEST_CASE("tiles: the pieces of a sum may come in any order, each of them once") {
  std::vector<Channels> pieces = {{0, 3}, {3, 4}, {4, 9}, {9, 12}, {12, 16}};
  do {
    const Verdict whole = Judge(SumOf(pieces));
    INFO(whole.rule << ": " << whole.message);
    REQUIRE((whole.status == sluice::Status::kOk || whole.rule == "report"));
    for (size_t i = 0; i < pieces.size(); ++i) {
      std::vector<Channels> changed = pieces;
      changed.erase(changed.begin() + static_cast<long>(i));
      const Verdict missing = Judge(SumOf(changed));
      CHECK(missing.rule == "accumulate");
      CHECK(missing.message.find("only some of the channels") != std::string::npos);
      changed = pieces;
      changed.insert(changed.begin(), pieces[i]);
      const Verdict twice = Judge(SumOf(changed));
      CHECK(twice.rule == "accumulate");
      CHECK(twice.message.find("channels are added twice") != std::string::npos);
    }
  } while (std::next_permutation(pieces.begin(), pieces.end()));
}

TEST_CASE("tiles: a range of channels that is empty, or of no sum, is refused") {
  Case c = AccumulateCase();
  Tile(&c, 0).c_end = Tile(&c, 0).c_begin;
  CheckRejected(c, "tile");
  for (const Channels range : {Channels{0, 1}, Channels{1, 0}}) {
    c = AddCase();
    Tile(&c, 0).c_begin = range.begin;
    Tile(&c, 0).c_end = range.end;
    const Verdict v = Judge(c);
    CHECK(v.rule == "tile");
    CHECK(v.message.find("a C range without a sum") != std::string::npos);
  }
  for (const uint8_t flags : {SLUICE_FLAG_FIRST, SLUICE_FLAG_LAST}) {
    c = AddCase();
    Tile(&c, 0).accumulator = Tile(&c, 0).output;
    At(&c, kCompute, 1).record.flags = flags;
    CHECK(Judge(c).status == sluice::Status::kRejected);
  }
}

TEST_CASE("tiles: without a sum each tile is first and last") {
  Case c = AddCase();
  At(&c, kCompute, 1).record.flags = SLUICE_FLAG_LAST;
  CheckRejected(c, "accumulate");
}

// One tile whose result lies just over its only input.
Case OverItsInput(uint16_t op, const std::vector<int32_t>& attributes) {
  Case c;
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  const Four box = {1, 2, 4, 8};
  c.graph.tensors = {{{1, 2, 4, 8}, i8, 1, 0, 0}, {{1, 2, 4, 8}, i8, 2, 0, 0}};
  c.graph.layers.push_back({op, {0}, {1}, attributes});
  c.places = {PlaceAt(SLUICE_REGION_INPUT, 0, box, i8),
              PlaceAt(SLUICE_REGION_OUTPUT, 0, box, i8)};
  BlockBuilder& b = OneBlock(&c, 64, 0, 64, 64, 0);
  c.stream.AddKernel(op, 0, attributes);
  const uint32_t x = b.Dense(0, i8, box, 0);
  b.Load(b.Dense(2, i8, box, 0), x);
  sluice_tile_t tile = EmptyTile(0, 64);
  tile.input0 = tile.output = x;
  b.Compute(tile, {After(kDmaEngine, 1)});
  b.Store(x, b.Dense(3, i8, box, 0), {After(ComputeEngine(0), 1)});
  c.report = {0, 64, 64};
  return c;
}

TEST_CASE("tiles: only what goes element by element may lie over its input") {
  CheckAccepted(OverItsInput(SLUICE_OP_REQUANTIZE, {1, 1 << 30, 1, 2, -128, 127}));
  CheckRejected(OverItsInput(SLUICE_OP_TRANSPOSE, {0, 1, 2, 3}), "order");
  CheckRejected(OverItsInput(SLUICE_OP_MAX_POOL, {1, 1, 1, 1, 0, 0, 0, 0, -128, 127}),
                "order");
}

TEST_CASE("tiles: a box of a sum that leaves the output, or of no sum, is refused") {
  Case c = AccumulateCase();
  Tile(&c, 1).origin[1] = 1;  // two rows of two
  CheckRejected(c, "tile");
  // An accumulator of the right kind makes no sum of what has none.
  for (const uint8_t flags : {SLUICE_FLAG_FIRST, SLUICE_FLAG_LAST}) {
    c = AddCase();
    BlockBuilder& b = c.stream.blocks[0];
    Tile(&c, 0).accumulator = b.Dense(0, SLUICE_DTYPE_INT32, {1, 2, 4, 8}, 384);
    c.stream.region_bytes[SLUICE_REGION_GBUF] = 640;
    At(&c, kCompute, 1).record.flags = flags;
    CheckRejected(c, "accumulate");
  }
}

TEST_CASE("tiles: an array demands nothing of tiles without MACs") {
  Judged judged(AddCase());
  sluice::MacArray* array = &judged.hardware.array;
  array->k = array->c = array->p = 16;
  array->demands = 7;
  CHECK(judged.OfImage(AddCase().stream.Image()).rule == "");
}

// The convolution's tiles have 2 of 8 rows, and all of 4 columns and 8 channels.
TEST_CASE("tiles: what an array demands of tiles, which may end where the layer does") {
  const Case c = ConvCase();
  const auto broken = [&](uint32_t demands, uint32_t size, bool crosses_rows) {
    Judged judged(c);
    sluice::MacArray* array = &judged.hardware.array;
    array->k = array->c = array->p = size;
    array->demands = demands;
    array->crosses_rows = crosses_rows;
    const Verdict v = judged.OfImage(c.stream.Image());
    CHECK((v.rule == "granule" || v.rule.empty()));
    return v.rule.empty() ? ' ' : v.message.back();
  };
  CHECK(broken(7, 1, true) == ' ');
  CHECK(broken(1, 3, true) == ' ');  // ends where the channels do
  CHECK(broken(2, 5, true) == ' ');
  CHECK(broken(4, 8, true) == ' ');   // two rows
  CHECK(broken(4, 16, true) == 'p');  // four rows
  CHECK(broken(4, 6, true) == 'p');   // three
  CHECK(broken(4, 3, false) == ' ');
  CHECK(broken(3, 16, true) == ' ');
}

TEST_CASE(
    "tiles: a last tile's result lies in the scratchpad, and its box in the output") {
  const std::string none =
      "instance 0, instruction 7: output or accumulator is no box of the output, or of "
      "the wrong dtype";
  Case c = AccumulateCase();
  Operand(&c, Tile(&c, 1).output).slot = 3;
  Operand(&c, Tile(&c, 1).output).offset_lo = 0;
  CheckRejected(c, "tile", none);
  c = AccumulateCase();
  Tile(&c, 1).origin[1] = 1;
  CheckRejected(c, "tile", none);
}

}  // namespace
}  // namespace sluice_test
