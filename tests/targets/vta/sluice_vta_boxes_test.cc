// SPDX-License-Identifier: Apache-2.0
// Boxes of the buffers by hand: which are one and the same, and what they hold. Plans of
// whole layers have few of these cases.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "targets/vta/recorded.h"

namespace vta_test {
namespace {

struct Work {
  job_t job{};
  part_t part{};
};

// Two rows and columns of a 3 x 3 convolution of 2 x 2 pixels, all around which is padding.
Work Base() {
  Work w;
  w.job.t.in = Dense(0, {1, 2, 2, 32}, 1);
  w.job.t.weight = Dense(4096, {32, 3, 3, 32}, 1);
  w.job.t.parameters = Dense(16384, {1, 1, 32, 3}, 4);
  for (auto& pad : w.job.t.tile.pad) pad = 1;
  w.job.k = w.job.c = 32;
  w.job.kb = w.job.cb = 2;
  w.job.t.rows = w.job.t.cols = 3;
  w.job.taps = 9;
  for (int a = 0; a < 4; ++a) w.job.t.filter[a] = w.job.t.weight.stride[a];
  w.job.t.stride[0] = w.job.t.stride[1] = w.job.t.dilation[0] = w.job.t.dilation[1] = 1;
  w.job.t.input_zero = 3;
  w.job.passes = 1;
  w.job.t.last = 1;
  w.part.pn = w.part.qn = 2;
  w.part.kn = w.part.cn = w.part.cw = 1;
  w.part.in_rows = w.part.in_cols = 4;
  return w;
}

using Vary = std::function<void(Work*)>;
using Need = std::function<box_t*(state_t*, const Work&)>;

// Each of these needs a box of its own, and finds it again.
void CheckApart(const Need& need, const std::vector<Vary>& all) {
  Recorded r;
  std::vector<box_t*> boxes;
  for (const Vary& vary : all) {
    Work w = Base();
    vary(&w);
    boxes.push_back(need(&r.state(), w));
    vta_flush(&r.state());
  }
  CHECK(std::set<box_t*>(boxes.begin(), boxes.end()).size() == all.size());
  const uint64_t moved = r.moved();
  for (size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    Work w = Base();
    all[i](&w);
    CHECK(need(&r.state(), w) == boxes[i]);
  }
  CHECK(r.moved() == moved);
}

}  // namespace

TEST_CASE("vta: inputs that differ in one thing are not taken for each other") {
  CheckApart(
      [](state_t* s, const Work& w) { return vta_need_input(s, &w.job, &w.part); },
      {[](Work*) {}, [](Work* w) { w->job.t.in.offset += 16; },
       [](Work* w) { w->job.t.in.stride[1] += 16; },
       [](Work* w) { w->job.t.in.stride[2] += 16; },
       [](Work* w) { w->job.t.tile.pad[0] = 2; },
       [](Work* w) { w->job.t.tile.pad[1] = 2; }, [](Work* w) { w->part.in_rows = 5; },
       [](Work* w) { w->part.in_cols = 5; }, [](Work* w) { w->job.t.in.extent[1] = 1; },
       [](Work* w) { w->job.t.in.extent[2] = 1; }, [](Work* w) { w->job.c = 10; },
       [](Work* w) { w->part.cn = 2; },
       [](Work* w) {
         w->part.cn = 2;
         w->job.c = 16;
       },
       [](Work* w) { w->job.t.input_zero = 4; },
       [](Work* w) { w->job.t.in.dtype = SLUICE_DTYPE_UINT8; }});
}

TEST_CASE("vta: filters that differ in one thing are not taken for each other") {
  const auto grouped = [](uint32_t per, uint32_t width, uint32_t origin, uint32_t k0,
                          uint32_t c0) {
    return [=](Work* w) {
      w->part.k0 = k0;
      w->part.c0 = c0;
      w->job.per = per;
      w->job.width = width;
      w->job.t.tile.origin[3] = static_cast<int32_t>(origin);
      w->job.group = origin / per;
    };
  };
  const std::vector<Vary> all = {
      [](Work*) {},
      [](Work* w) { w->job.t.weight.offset += 1; },
      [](Work* w) { w->job.t.filter[0] += 1; },
      [](Work* w) { w->job.t.filter[1] += 1; },
      [](Work* w) { w->job.t.filter[2] += 1; },
      [](Work* w) { w->job.t.filter[3] += 1; },
      [](Work* w) { w->part.k0 = 1; },
      [](Work* w) {
        w->part.k0 = 1;
        w->job.k = 20;
      },
      [](Work* w) {
        w->job.t.rows = 9;
        w->job.t.cols = 1;
        w->job.t.filter[1] = 32;
      },
      [](Work* w) {
        w->job.t.rows = 1;
        w->job.taps = 3;
      },
      [](Work* w) { w->job.c = 10; },
      [](Work* w) { w->job.t.weight_zero = 5; },
      [](Work* w) { w->job.t.weight.dtype = SLUICE_DTYPE_UINT8; },
      grouped(8, 16, 0, 0, 0),
      grouped(8, 8, 0, 0, 0),
      grouped(8, 8, 4, 0, 0),
      grouped(4, 8, 0, 0, 0),
      grouped(8, 8, 0, 1, 0),
      grouped(8, 8, 0, 1, 1)};
  CheckApart(
      [](state_t* s, const Work& w) { return vta_need_weight(s, &w.job, &w.part); },
      all);
  std::vector<Vary> biases = all;
  biases.pop_back();  // no part of the input's channels
  biases.insert(biases.end(), {[](Work* w) { w->job.t.input_zero = 4; },
                               [](Work* w) { w->job.t.last = 0; },
                               [](Work* w) { w->job.t.parameters.offset += 4; },
                               [](Work* w) { w->job.t.parameters.stride[2] += 4; }});
  CheckApart(
      [](state_t* s, const Work& w) {
        return vta_need_bias(s, &w.job, w.part.k0, w.part.kn);
      },
      biases);
}

// Another tile that has the same filters finds them, wherever its output begins.
TEST_CASE("vta: filters of groups are found again by another tile") {
  for (const uint32_t per : {5, 6}) {
    CAPTURE(per);
    Recorded r(65536);
    Work a = Base(), b = Base();
    for (Work* w : {&a, &b}) {
      w->job.per = per;
      w->job.width = 1;
      w->job.k = per * 32;
      w->job.c = 32;
    }
    a.part.k0 = per;  // channel 16 * per, which begins a block of input channels
    a.part.c0 = 1;
    b.job.t.tile.origin[3] = 16 * per;
    b.job.group = 16;
    b.job.t.weight.offset += uint64_t{16} * per * b.job.t.filter[0];
    box_t* const box = vta_need_weight(&r.state(), &a.job, &a.part);
    CHECK(vta_need_weight(&r.state(), &b.job, &b.part) == box);
  }
}

// Filters end with the channels that there are; a bias that a product lacks is none.
TEST_CASE("vta: what lies behind a box changes nothing") {
  Work w = Base();
  w.job.c = 20;
  w.part.c0 = 1;
  Recorded r;
  box_t* const box = vta_need_weight(&r.state(), &w.job, &w.part);
  vta_flush(&r.state());
  r.Change(4096 + 15 * 288 + 8 * 32 + 20);
  CHECK(vta_need_weight(&r.state(), &w.job, &w.part) == box);
  r.Change(4096 + 15 * 288 + 8 * 32 + 19);
  CHECK(vta_need_weight(&r.state(), &w.job, &w.part) != box);
  w = Base();
  w.job.t.parameters = {};
  r.Move(1);  // where parameters would begin
  box_t* const bias = vta_need_bias(&r.state(), &w.job, 0, 1);
  CHECK(vta_need_bias(&r.state(), &w.job, 0, 1) == bias);
}

TEST_CASE("vta: a buffer remembers as many boxes as it has places") {
  Recorded r;
  sluice_vta_buffer& b = r.state().buffer[SLUICE_VTA_OF_WGT];
  const auto key = [](uint32_t i) { return std::array<uint32_t, 14>{i}; };
  for (uint32_t i = 0; i < SLUICE_VTA_BOXES; ++i) {
    box_t* const x = vta_take(&b, key(i).data(), 3);
    x->end[0] = x->begin[0] + 1;
  }
  for (uint32_t i = 0; i < SLUICE_VTA_BOXES; ++i) {
    const box_t* const x = vta_find(&b, key(i).data());
    REQUIRE(x != nullptr);
    CHECK(x->first == 3 * i);
  }
}

// Filters and biases are laid out anew where one element of them lies elsewhere.
TEST_CASE("vta: what does not lie as a box is not found again") {
  Work w = Base();
  for (const uint64_t at : {4096 + 5 * 288, 4096 + 96 + 1, 4096 + 32 + 15, 4096 + 2,
                            4096 + 15 * 288 + 8 * 32 + 15, 4096 + 20 * 288 + 5}) {
    CAPTURE(at);
    w.part.k0 = at >= 4096 + 16 * 288;
    Recorded r;
    r.Move(at);
    box_t* const first = vta_need_weight(&r.state(), &w.job, &w.part);
    CHECK(vta_need_weight(&r.state(), &w.job, &w.part) != first);
  }
  for (const uint64_t at : {16384 + 12 * 3, 16384 + 12 * 15 + 3}) {
    CAPTURE(at);
    Recorded r;
    r.Move(at);
    box_t* const first = vta_need_bias(&r.state(), &w.job, 0, 1);
    CHECK(vta_need_bias(&r.state(), &w.job, 0, 1) != first);
  }
}

// The host changes DRAM: boxes that came from there are not found, others are.
TEST_CASE("vta: boxes end with the bytes of DRAM that they came from") {
  const Work w = Base();
  const struct {
    uint64_t at;
    bool input, weight, bias;
  } cases[] = {{0, false, true, true},
               {2 * 32 + 32 + 15, false, true, true},
               {2 * 32 + 32 + 16, true, true, true},
               {4095, true, true, true},
               {4096, true, false, false},
               {4096 + 15 * 288 + 8 * 32 + 15, true, false, false},
               {4096 + 16 * 288 - 16, true, true, false},
               {16384, true, true, false},
               {16384 + 15 * 12 + 3, true, true, false},
               {16384 + 15 * 12 + 4, true, true, true}};
  for (const auto& c : cases) {
    CAPTURE(c.at);
    Recorded r;
    box_t* const input = vta_need_input(&r.state(), &w.job, &w.part);
    box_t* const weight = vta_need_weight(&r.state(), &w.job, &w.part);
    box_t* const bias = vta_need_bias(&r.state(), &w.job, 0, 1);
    vta_flush(&r.state());
    r.Change(c.at);
    CHECK((vta_need_input(&r.state(), &w.job, &w.part) == input) == c.input);
    CHECK((vta_need_weight(&r.state(), &w.job, &w.part) == weight) == c.weight);
    CHECK((vta_need_bias(&r.state(), &w.job, 0, 1) == bias) == c.bias);
  }
}

TEST_CASE("vta: bytes of the scratchpad move before the host writes where they lie") {
  Recorded r;
  std::vector<uint8_t> before(64);
  for (size_t i = 0; i < before.size(); ++i) before[i] = r.Scratchpad(100 + i);
  r.Write(110, 20);
  for (size_t i = 0; i < before.size(); ++i) {
    CAPTURE(i);
    CHECK(r.Scratchpad(100 + i) == before[i]);
    CHECK(r.LiesElsewhere(100 + i) == (i >= 10 && i < 30));
  }
}

// Windows of all kinds: what is loaded is the input, and its zero point around it.
TEST_CASE("vta: a window's entries are its pixels and padding") {
  std::mt19937 random(5);
  const auto draw = [&](uint32_t low, uint32_t high) {
    return low + static_cast<uint32_t>(random() % (high - low + 1));
  };
  for (int i = 0; i < 500; ++i) {
    CAPTURE(i);
    Recorded r;
    Work w = Base();
    const uint32_t h = draw(1, 5), v = draw(1, 5), c = draw(1, 3) * 16;
    const uint32_t pixel = c + 16 * draw(0, 1), row = v * pixel + 16 * draw(0, 1);
    w.job.t.in = Dense(draw(0, 2) * 16, {1, h, v, c}, 1);
    w.job.t.in.stride[1] = row;
    w.job.t.in.stride[2] = pixel;
    if (draw(0, 5) == 0) w.job.t.in.dtype = SLUICE_DTYPE_UINT8;
    w.job.c = draw(0, 3) ? c : c - draw(0, 15);
    w.job.cb = blocks(w.job.c);
    w.job.t.tile.pad[0] = static_cast<uint16_t>(draw(0, 3));
    w.job.t.tile.pad[1] = static_cast<uint16_t>(draw(0, 3));
    w.part.p0 = draw(0, 3);
    w.part.q0 = draw(0, 3);
    w.part.in_rows = draw(1, 6);
    w.part.in_cols = draw(1, 6);
    w.part.c0 = draw(0, w.job.cb - 1);
    w.part.cn = draw(1, w.job.cb - w.part.c0);
    if (draw(0, 2) == 0) r.Move(w.job.t.in.offset + draw(0, h * row - 1));
    const auto wanted = [&](uint32_t y, uint32_t x, uint32_t channel) {
      const int64_t at_h = int64_t{w.part.p0} + y - w.job.t.tile.pad[0];
      const int64_t at_w = int64_t{w.part.q0} + x - w.job.t.tile.pad[1];
      const uint32_t at_c = w.part.c0 * 16 + channel;
      if (at_h < 0 || at_h >= h || at_w < 0 || at_w >= v || at_c >= w.job.c)
        return static_cast<uint8_t>(w.job.t.input_zero);
      const uint8_t byte =
          r.Scratchpad(w.job.t.in.offset + static_cast<uint64_t>(at_h) * row +
                       static_cast<uint64_t>(at_w) * pixel + at_c);
      return static_cast<uint8_t>(w.job.t.in.dtype == SLUICE_DTYPE_UINT8 ? byte ^ 128
                                                                         : byte);
    };
    const box_t* const box = vta_need_input(&r.state(), &w.job, &w.part);
    REQUIRE(box->count == w.part.in_rows * w.part.in_cols * w.part.cn);
    const std::vector<uint8_t> got = r.Loaded(SLUICE_VTA_OF_INP);
    size_t wrong = 0, at = box->first * size_t{16};
    for (uint32_t y = 0; y < w.part.in_rows; ++y)
      for (uint32_t x = 0; x < w.part.in_cols; ++x)
        for (uint32_t k = 0; k < w.part.cn * 16; ++k)
          wrong += got[at++] != wanted(y, x, k);
    CHECK(wrong == 0);
  }
}

// Rows that follow each other with one step are one LOAD, also of one column.
TEST_CASE("vta: lists of micro-ops that differ in one bit are two lists") {
  Recorded r;
  const loops_t once = {1, 1, 0, 0, 0, 0, 0, 0};
  const auto put = [&](const std::vector<uint32_t>& list) {
    vta_reserve(&r.state());
    vta_gemm(&r.state(), list.data(), static_cast<uint32_t>(list.size()), &once,
             nullptr, nullptr);
    Instruction last;
    std::memcpy(last.data(), r.state().queue[r.state().queued - 1], last.size());
    const uint32_t* const uop = r.state().uop;
    CHECK(std::vector<uint32_t>(uop + Field(last, 8, 13), uop + Field(last, 21, 14)) ==
          list);
  };
  for (size_t count = 1; count <= 5; ++count) {
    const std::vector<uint32_t> list(count, 0x12345678);
    put(list);
    for (size_t i = 0; i < count; ++i)
      for (const int bit : {0, 10, 11, 21, 22, 31}) {
        CAPTURE(count);
        CAPTURE(i);
        std::vector<uint32_t> other = list;
        other[i] ^= 1u << bit;
        put(other);
        put(list);
      }
  }
}

TEST_CASE("vta: a window without padding is one load") {
  for (const uint32_t columns : {1, 2}) {
    for (const uint32_t cn : {1, 2}) {
      CAPTURE(columns);
      CAPTURE(cn);
      Recorded r;
      Work w = Base();
      w.job.t.tile.pad[0] = w.job.t.tile.pad[1] = 0;
      w.part.in_rows = 2;
      w.part.in_cols = columns;
      w.part.cn = cn;
      (void)vta_need_input(&r.state(), &w.job, &w.part);
      CHECK(r.state().queued == 1);
    }
  }
}

// A stride has 16 bits, of 16 bytes each: rows that are further apart are loads of their own,
// pixels are laid out by the host.
TEST_CASE("vta: what lies too far apart is no box for one load") {
  for (const uint32_t vectors : {65535u, 65536u}) {
    for (const bool rows : {false, true}) {
      CAPTURE(vectors);
      CAPTURE(rows);
      Recorded r(2 << 20);
      Work w = Base();
      w.job.t.tile.pad[0] = w.job.t.tile.pad[1] = 0;
      w.job.c = 16;
      w.job.cb = 1;
      w.job.t.in = Dense(0, {1, rows ? 2u : 1u, rows ? 1u : 2u, 16}, 1);
      w.job.t.in.stride[rows ? 1 : 2] = vectors * 16;
      w.part.in_rows = w.job.t.in.extent[1];
      w.part.in_cols = w.job.t.in.extent[2];
      (void)vta_need_input(&r.state(), &w.job, &w.part);
      const bool far = vectors > 65535;
      CHECK(r.counts().packed_bytes == (far && !rows ? 32 : 0));
      CHECK(r.state().queued == (far && rows ? 2 : 1));
    }
  }
}

}  // namespace vta_test
