// SPDX-License-Identifier: Apache-2.0
// Products by hand: how they are cut, which rows of the accumulators they use, what stays.
#include <doctest/doctest.h>

#include <set>

#include "targets/gemmini/recorded.h"

namespace gemmini_model {
namespace {

// A convolution of h x w pixels, r x s filters and stride 1 whose operands do not stay.
struct Shape {
  uint32_t h, w, k, c, r = 1, s = 1;
};
product_t ProductOf(const Shape& x) {
  product_t p{};
  p.t.in = Box(0, {1, x.h + x.r - 1, x.w + x.s - 1, x.c});
  p.t.weight = Box(1 << 20, {x.k, x.r, x.s, x.c});
  p.t.out = Box(2 << 20, {1, x.h, x.w, x.k});
  p.b = p.t.weight.offset;
  for (int a = 0; a < 4; ++a) p.a_stride[a] = p.t.in.stride[a];
  p.t.filter[OF_K] = p.t.weight.stride[0];
  p.t.filter[OF_R] = p.t.weight.stride[1];
  p.t.filter[OF_S] = p.t.weight.stride[2];
  p.t.filter[OF_C] = p.n = p.pack = 1;
  p.h = x.h;
  p.w = x.w;
  p.k = x.k;
  p.c = x.c;
  p.in_h = p.t.in.extent[1];
  p.in_w = p.t.in.extent[2];
  p.t.rows = x.r;
  p.t.cols = x.s;
  p.t.stride[0] = p.t.stride[1] = p.t.dilation[0] = p.t.dilation[1] = 1;
  p.transposed = 1;
  p.t.sum.span = 4;
  p.may_keep = 1;
  p.step.instruction.flags = SLUICE_FLAG_FIRST | SLUICE_FLAG_LAST;
  static const sluice_walk_visit_t visit{};
  p.step.visit = &visit;
  return p;
}

// Every command keeps to the memories, to the input and to the part's sums.
void CheckCommands(const Fixture& f, const product_t& p, uint32_t sums) {
  std::set<uint64_t> slots;
  uint64_t begun = 0;
  for (const Fixture::Command& c : f.commands) {
    const uint64_t row = c[2] & 0x1fffffff, columns = c[2] >> 32 & 0xffff,
                   rows = c[2] >> 48;
    if (c[0] == SLUICE_GEMMINI_MVIN) {
      CHECK(c[1] + (rows - 1) * p.a_stride[2] + columns <= p.t.in.span);
      CHECK(row + rows <= SLUICE_GEMMINI_ROWS);
    } else if (c[0] == SLUICE_GEMMINI_MVIN2) {
      slots.insert(row);
    } else if (c[0] == SLUICE_GEMMINI_MVIN3) {
      begun += 4 * rows * columns;
      CHECK(row + rows <= sums);
    } else if (c[0] != SLUICE_GEMMINI_COMPUTE && c[0] != SLUICE_GEMMINI_COMPUTE_SAME) {
      CHECK(row + rows <= sums);
    }
  }
  CHECK(begun == f.counts.bias_bytes);
  CHECK(slots.size() <= 4);
  for (const uint64_t slot : slots)  // 64 rows each
    for (uint64_t next = slot + 1; next < slot + 64; ++next)
      CHECK(slots.count(next) == 0);
  if (p.k > 64) CHECK(slots.size() == 4);
}

}  // namespace

TEST_CASE("targets: a product is cut where the accumulators or its input's rows end") {
  const struct {
    Shape shape;
    size_t parts;
    uint32_t sums;                            // rows that the largest needs
  } cases[] = {{{1, 1024, 16, 16}, 1, 1024},  // all rows
               {{1, 1025, 16, 16}, 2, 513},
               {{1025, 1, 16, 16}, 2, 513},
               {{32, 32, 16, 16}, 1, 1024},
               {{3, 342, 16, 16}, 2, 684},
               {{1, 1024, 32, 16}, 2, 1024},  // channels in turns
               {{1, 512, 32, 16}, 1, 1024},
               {{1, 513, 32, 16}, 2, 513},
               {{4, 3, 700, 16}, 1, 528},
               {{1, 512, 16, 256}, 1, 512},  // 8,192 rows of input
               {{1, 512, 16, 257}, 2, 256},
               {{3, 100, 16, 448}, 2, 200},  // two rows and one
               {{2, 60, 16, 1008, 3, 3}, 4, 30}};
  for (const auto& c : cases) {
    CAPTURE(&c - cases);
    Fixture f;
    product_t p = ProductOf(c.shape);
    gemmini_product(&f.lowering, &p);
    CHECK(f.lowering.code == 0);
    CHECK(f.steps.size() == c.parts);
    uint64_t finished = 0;
    for (const sluice_gemmini_step& s : f.steps)
      finished += uint64_t{s.rows} * s.columns * s.channels;
    CHECK(finished == uint64_t{c.shape.h} * c.shape.w * c.shape.k);
    CHECK(f.counts.bias_bytes == 0);  // the first products are written, not added
    CHECK(f.counts.sum_bytes == 4 * finished);
    CHECK(f.counts.fences <= 2 * c.parts);
    CheckCommands(f, p, c.sums);
  }
  // The window of one output pixel needs more rows than there are for it.
  for (const Shape& shape : {Shape{1, 1, 16, 16 * 8193}, Shape{1, 1, 16, 48, 52, 53}}) {
    Fixture f;
    product_t p = ProductOf(shape);
    gemmini_product(&f.lowering, &p);
    CHECK(f.lowering.code == SLUICE_GEMMINI_UNSUPPORTED);
    CHECK(f.commands.empty());
  }
  // Operands that stay leave no rows for what does not.
  Fixture f;
  product_t p = ProductOf({1, 16, 16, 16});
  p.a_stays = 1;
  p.t.in = Box(0, {1, 1, SLUICE_GEMMINI_ROWS, 16});
  gemmini_product(&f.lowering, &p);
  CHECK(f.lowering.code == SLUICE_GEMMINI_UNSUPPORTED);
}

// Channels of several pixels in a row: the last pixels of a line have fewer behind them.
TEST_CASE("targets: packed input is read to the end of the box, no further") {
  for (const uint32_t c : {1, 3, 5, 8}) {
    for (const uint32_t w : {1, 14, 15, 31, 3000, 3001}) {
      CAPTURE(c);
      CAPTURE(w);
      Fixture f;
      product_t p = ProductOf({3, w, 16, c, 3, 3});
      p.pack = least(DIM / c, 3);
      gemmini_product(&f.lowering, &p);
      CHECK(f.lowering.code == 0);
      CheckCommands(f, p, w < 3000 ? 3 * w : w - 2250);
      uint64_t pixels = 0, read = 0;
      for (const sluice_gemmini_step& step : f.steps)
        pixels += uint64_t{step.rows + 2} * (step.columns + 2);
      for (const Fixture::Command& command : f.commands)
        if (command[0] == SLUICE_GEMMINI_MVIN) read += command[2] >> 48;
      CHECK(read == pixels);
    }
  }
}

// A block per filter position and 16 input channels, of as many rows as output channels.
TEST_CASE("targets: weights that stay are multiplied by block after block") {
  for (const uint32_t k : {16, 5}) {
    Fixture f;
    product_t p = ProductOf({2, 2, k, 256, 3, 3});
    p.b_stays = 1;
    p.t.weight.offset = p.b = 65536;
    f.lines[4096] =
        static_cast<unsigned char>(IN_ROWS | IN_BLOCKS | IN_FRONT | (k - 1) << 4);
    gemmini_product(&f.lowering, &p);
    CHECK(f.lowering.code == 0);
    std::set<uint64_t> rows, wanted;
    for (const Fixture::Command& c : f.commands) {
      const uint64_t row = c[1] & 0xffffffff;
      if (c[0] == SLUICE_GEMMINI_PRELOAD && row != ALL_ONES) rows.insert(row);
    }
    for (uint32_t i = 0; i < 9 * 16; ++i) wanted.insert(4096 + i * k);
    CHECK(rows == wanted);
    f.lines[4096] = IN_ROWS | IN_BLOCKS;  // not where 16 output channels begin
    gemmini_product(&f.lowering, &p);
    CHECK(f.lowering.code == SLUICE_GEMMINI_UNSUPPORTED);
  }
}

// A slice of the channels that were loaded: its blocks among theirs. Slices that begin within a
// block, or reach from one filter position into the next, are none.
TEST_CASE("targets: slices of weights that stay are multiplied by their own blocks") {
  const struct {
    uint32_t from, channels, taps;
    bool fits;
  } cases[] = {{64, 32, 3, true},  {240, 16, 3, true},  {0, 256, 1, true},
               {128, 64, 1, true}, {240, 32, 3, false}, {8, 16, 3, false}};
  for (const auto& c : cases) {
    CAPTURE(c.from);
    Fixture f;
    const uint32_t whole = 256, k = 5;
    product_t p = ProductOf({2, 2, k, c.channels, c.taps, c.taps});
    p.b_stays = 1;
    p.t.filter[OF_S] = whole;
    p.t.filter[OF_R] = whole * c.taps;
    p.t.filter[OF_K] = p.t.filter[OF_R] * c.taps;
    p.b = 65536 + c.from;
    f.lines[4096] =
        static_cast<unsigned char>(IN_ROWS | IN_BLOCKS | IN_FRONT | (k - 1) << 4);
    gemmini_product(&f.lowering, &p);
    CHECK((f.lowering.code == 0) == c.fits);
    if (!c.fits) continue;
    std::set<uint64_t> rows, wanted;
    for (const Fixture::Command& command : f.commands) {
      const uint64_t row = command[1] & 0xffffffff;
      if (command[0] == SLUICE_GEMMINI_PRELOAD && row != ALL_ONES) rows.insert(row);
    }
    for (uint32_t tap = 0; tap < c.taps * c.taps; ++tap)
      for (uint32_t i = 0; i < c.channels / 16; ++i)
        wanted.insert(4096 + (tap * 16 + c.from / 16 + i) * k);
    CHECK(rows == wanted);
  }
}

// Rows that hold any block of what was loaded with a slice are held, and not taken.
TEST_CASE("targets: a slice of weights needs the rows of all blocks beside it") {
  Fixture f;
  for (uint32_t i = 64; i < 80; ++i) f.lines[i] = IN_ROWS | IN_BLOCKS;
  f.lines[64] |= IN_FRONT;
  f.lines[72] |= IN_FRONT;
  f.lines[80] |= IN_ROWS | IN_BLOCKS | IN_FRONT;
  sluice_walk_operand_t o = Box(66 * 16, {10, 1, 1, 16});
  o.stride[0] = 16;
  gemmini_whole_blocks(&f.lowering, &o);
  CHECK(o.offset == 64 * 16);
  CHECK(o.span == 16 * 16);
  CHECK(o.bytes == o.span);
  CHECK(o.extent[3] == o.span);
}

TEST_CASE(
    "targets: sums stay for the next slice where the accumulators hold all of them") {
  const struct {
    Shape shape;
    bool keeps;
  } cases[] = {{{32, 32, 16, 16}, true},
               {{16, 16, 64, 16}, true},
               {{16, 16, 65, 16}, false},
               {{1, 1023, 17, 16}, false},
               {{25, 41, 16, 16}, false}};
  for (const auto& c : cases) {
    CAPTURE(&c - cases);
    Fixture f;
    product_t p = ProductOf(c.shape);
    p.step.instruction.flags = SLUICE_FLAG_FIRST;
    gemmini_product(&f.lowering, &p);
    CHECK(f.lowering.keeps == c.keeps);
    CHECK(f.steps.empty() == c.keeps);
    p.step.instruction.flags = SLUICE_FLAG_LAST;
    gemmini_product(&f.lowering, &p);  // adds to them, or is added by the host
    CHECK(f.lowering.keeps == 0);
    CHECK(f.counts.bias_bytes == 0);
    if (c.keeps) CHECK(f.steps.size() == 1);
  }
}

// Scaled sums: each byte of the output once, from its sum, wherever its rows lie.
TEST_CASE("targets: scaled sums leave to the bytes of their output") {
  for (const bool rows : {false, true}) {
    for (const uint32_t gap : {0, 32}) {
      for (const Shape& x :
           {Shape{4, 5, 32, 16}, Shape{1, 1030, 16, 16}, Shape{2, 3, 20, 16},
            Shape{3, 17, 48, 16}, Shape{1, 1, 16, 16}, Shape{5, 210, 16, 16}}) {
        CAPTURE(rows);
        CAPTURE(gap);
        CAPTURE(x.w);
        if (rows && x.k % 16 != 0) continue;
        Fixture f;
        f.port.rows = rows;
        f.port.scale = [](void*, const sluice_gemmini_step*, float*, int*) {
          return 1;
        };
        product_t p = ProductOf(x);
        p.t.out = Box(1024, {2, x.h, x.w, x.k});
        p.t.out.stride[1] += gap;
        p.t.out.stride[0] = p.t.out.stride[1] * x.h;
        p.t.out.span = 2 * p.t.out.stride[0];
        p.step.n = 1;
        gemmini_product(&f.lowering, &p);
        CHECK(f.lowering.code == 0);
        CHECK(f.steps.empty());
        const uint64_t all = uint64_t{x.h} * x.w * x.k;
        CHECK((rows ? f.counts.kept_bytes : f.counts.scaled_bytes) == all);
        std::set<uint64_t> bytes, wanted;
        size_t written = 0;
        for (const Fixture::Command& c : f.commands) {
          const bool spad = c[0] == SLUICE_GEMMINI_MVOUT_SPAD;
          if (!spad && c[0] != SLUICE_GEMMINI_MVOUT) continue;
          const uint64_t columns = c[2] >> 32 & 0xffff, count = c[2] >> 48;
          const uint64_t at = spad ? (c[1] & 0xffffffff) * 16 : c[1];
          const uint64_t step = spad ? (c[1] >> 32) * 16 : p.t.out.stride[2];
          for (uint64_t i = 0; i < count; ++i)
            for (uint64_t k = 0; k < columns; ++k, ++written)
              bytes.insert(at + i * step + k);
        }
        for (uint64_t h = 0; h < x.h; ++h)
          for (uint64_t i = 0; i < uint64_t{x.w} * x.k; ++i)
            wanted.insert(1024 + p.t.out.stride[0] + h * p.t.out.stride[1] + i);
        CHECK(written == all);
        CHECK(bytes == wanted);
        for (uint64_t i = 0; rows && i < 4096; ++i)
          CHECK((f.lines[i] == IN_ROWS) == (wanted.count(16 * i) == 1));
      }
    }
  }
  // What the port answers otherwise.
  for (const int answer : {0, -7}) {
    Fixture f;
    static int answers;
    answers = answer;
    f.port.scale = [](void*, const sluice_gemmini_step*, float*, int*) {
      return answers;
    };
    product_t p = ProductOf({4, 5, 32, 16});
    gemmini_product(&f.lowering, &p);
    CHECK(f.lowering.code == answer);
    CHECK(f.steps.size() == (answer == 0 ? 1 : 0));
  }
}

// Parts of rows and of columns with strides of their own read every row of the input.
TEST_CASE("targets: parts read the input that their own strides say") {
  for (const int axis : {0, 1}) {
    CAPTURE(axis);
    Fixture f;
    product_t p = ProductOf({40, 60, 16, 16, 3, 3});
    p.t.stride[axis] = 2;
    p.in_h = p.t.in.extent[1] = axis == 0 ? 81 : 42;
    p.in_w = p.t.in.extent[2] = axis == 1 ? 121 : 62;
    p.t.in = Box(0, {1, p.in_h, p.in_w, 16});
    for (int a = 0; a < 4; ++a) p.a_stride[a] = p.t.in.stride[a];
    gemmini_product(&f.lowering, &p);
    CHECK(f.lowering.code == 0);
    std::set<uint64_t> rows;
    for (const Fixture::Command& c : f.commands)
      if (c[0] == SLUICE_GEMMINI_MVIN) rows.insert(c[1] / p.a_stride[1]);
    CHECK(rows.size() == p.in_h);
  }
}

// All of the scratchpad is one output: its bytes go to the image, since the input needs rows.
TEST_CASE("targets: scaled sums leave to the image where they leave no rows") {
  Fixture f;
  f.port.rows = 1;
  f.port.scale = [](void*, const sluice_gemmini_step*, float*, int*) { return 1; };
  product_t p = ProductOf({64, 64, 64, 16});
  p.t.out = Box(0, {1, 64, 64, 64});
  gemmini_product(&f.lowering, &p);
  CHECK(f.lowering.code == 0);
  CHECK(f.counts.kept_bytes == 0);
  CHECK(f.counts.scaled_bytes == 64 * 64 * 64);
}

// An accumulator that begins where GBUF does is one as well.
TEST_CASE("targets: sums that stay are released to the next product") {
  Fixture f;
  product_t p = ProductOf({4, 4, 16, 16});
  p.step.instruction.flags = SLUICE_FLAG_FIRST;
  p.t.sum.span = 1;
  gemmini_product(&f.lowering, &p);
  REQUIRE(f.lowering.keeps);
  product_t next = ProductOf({4, 4, 16, 16});
  next.t.sum.offset = 4096;
  gemmini_product(&f.lowering, &next);
  CHECK(f.steps.size() == 2);
}

// Whoever needs the accumulator in GBUF gets the sums: a byte of it is enough.
TEST_CASE("targets: sums that stay are released to who touches their accumulator") {
  const struct {
    uint64_t offset, span;
    bool released;
  } cases[] = {{0, 4096, false},   {0, 4097, true},   {4096, 1, true},
               {4000, 1000, true}, {5119, 1, true},   {5120, 100, false},
               {5119, 9999, true}, {0, 1 << 20, true}};
  for (const auto& c : cases) {
    CAPTURE(c.offset);
    CAPTURE(c.span);
    Fixture f;
    product_t p = ProductOf({4, 4, 16, 16});
    p.step.instruction.flags = SLUICE_FLAG_FIRST;
    p.t.sum.offset = 4096;
    p.t.sum.span = 1024;
    gemmini_product(&f.lowering, &p);
    REQUIRE(f.lowering.keeps);
    gemmini_release(&f.lowering, c.offset, c.span);
    CHECK((f.steps.size() == 1) == c.released);
    CHECK(f.lowering.keeps == !c.released);
    if (c.released) CHECK((f.steps[0].k == 0 && f.steps[0].channels == 16));
  }
}

}  // namespace gemmini_model
