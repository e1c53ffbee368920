// SPDX-License-Identifier: Apache-2.0
#include "targets/vta/vta_model.h"

#include <doctest/doctest.h>

#include <cstring>
#include <initializer_list>
#include <utility>

namespace vta_test {
namespace {

constexpr int kPopPrev = 1, kPopNext = 2, kPushPrev = 4, kPushNext = 8;

struct Bits {
  int low, width;
  uint64_t value;
};

Instruction Make(std::initializer_list<Bits> fields) {
  Instruction i{};
  for (const Bits& f : fields) {
    for (int b = 0; b < f.width; ++b) {
      const int at = f.low + b;
      if ((f.value >> b & 1) != 0)
        i[at / 8] = static_cast<uint8_t>(i[at / 8] | 1 << at % 8);
    }
  }
  return i;
}

Instruction Move(int tokens, uint64_t kind, uint64_t sram, uint64_t dram,
                 uint64_t columns) {
  return Make({{0, 3, kind == 4 ? 1u : 0u},
               {3, 4, static_cast<uint64_t>(tokens)},
               {7, 3, kind},
               {10, 16, sram},
               {26, 32, dram},
               {64, 16, 1},
               {80, 16, columns},
               {96, 16, columns}});
}

Instruction Loop(int tokens, uint64_t opcode, uint64_t reset, uint64_t end) {
  return Make({{0, 3, opcode},
               {3, 4, static_cast<uint64_t>(tokens)},
               {7, 1, reset},
               {21, 14, end},
               {35, 14, 1},
               {49, 14, 1}});
}

Instruction Finish(int tokens) {
  return Make({{0, 3, 3}, {3, 4, static_cast<uint64_t>(tokens)}});
}

// One product of a vector of ones with a block: entry k has the sum of row k.
std::vector<Instruction> Product() {
  return {Move(0, 2, 0, 0, 1),
          Move(kPushNext, 1, 0, 1, 1),
          Move(0, 0, 0, 128, 1),
          Loop(0, 2, 1, 1),
          Loop(kPopPrev | kPushNext, 2, 0, 1),
          Move(kPopPrev | kPushPrev, 4, 0, 64, 1),
          Finish(kPopNext)};
}

std::vector<uint8_t> Memory() {
  std::vector<uint8_t> dram(4096, 0);
  for (int i = 0; i < 16; ++i) dram[i] = 1;
  for (int i = 0; i < 256; ++i) dram[256 + i] = static_cast<uint8_t>(i / 16);
  return dram;
}

std::string RunAll(const std::vector<Instruction>& list, std::vector<uint8_t>* dram,
                   uint64_t seed) {
  Model model(dram, seed);
  for (const Instruction& i : list) model.Push(i);
  return model.Run();
}

TEST_CASE("a block product reaches DRAM in every order") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<uint8_t> dram = Memory();
    REQUIRE(RunAll(Product(), &dram, seed) == "");
    for (int k = 0; k < 16; ++k) CHECK(dram[1024 + k] == 16 * k % 256);
  }
}

TEST_CASE("each token of a product is needed") {
  for (size_t at = 0; at < Product().size(); ++at) {
    for (int bit = 3; bit < 7; ++bit) {
      std::vector<Instruction> list = Product();
      list[at][0] = static_cast<uint8_t>(list[at][0] ^ 1 << bit);
      std::vector<uint8_t> dram = Memory();
      CHECK(RunAll(list, &dram, 1) != "");
    }
  }
}

TEST_CASE("a pair of tokens that lacks is a race in every order") {
  std::vector<Instruction> list = Product();
  list[1][0] = static_cast<uint8_t>(list[1][0] & ~64);
  list[4][0] = static_cast<uint8_t>(list[4][0] & ~8);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<uint8_t> dram = Memory();
    CHECK(RunAll(list, &dram, seed) != "");
  }
}

TEST_CASE("a queue that is full makes the module wait that pushes, or loses a token") {
  // Nine loads give a token each before compute, which loads until then, takes them.
  std::vector<Instruction> list(9, Move(kPushNext, 2, 0, 0, 1));
  for (int i = 0; i < 9; ++i) list.push_back(Move(kPopPrev, 0, 0, 128, 1));
  list.push_back(Finish(0));
  std::vector<uint8_t> dram = Memory();
  for (size_t depth : {1, 8, 255}) {
    Model model(&dram, 3, depth);
    for (const Instruction& i : list) model.Push(i);
    CHECK(model.Run() == "");
  }
  list.assign(256, Move(kPushNext, 2, 0, 0, 1));
  list.push_back(Finish(0));
  CHECK(RunAll(list, &dram, 1).find("overflows") != std::string::npos);
  Model waits(&dram, 1, 8);
  for (const Instruction& i : list) waits.Push(i);
  CHECK(waits.Run().find("never comes") != std::string::npos);
}

TEST_CASE("what nothing wrote is not read") {
  for (size_t at : {0u, 2u, 3u}) {
    std::vector<Instruction> list = Product();
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    std::vector<uint8_t> dram = Memory();
    CHECK(RunAll(list, &dram, 1).find("nothing wrote") == 0);
  }
}

TEST_CASE("a sum that is added to again too early ends the run") {
  // A loop over as many products, each to a sum of its own, then all of them again.
  for (uint64_t sums = 1; sums <= 6; ++sums) {
    const auto loop = [&](uint64_t reset) {
      Instruction i = Make({{0, 3, 2},
                            {7, 1, reset},
                            {21, 14, 1},
                            {35, 14, 2},
                            {49, 14, sums},
                            {64, 11, 0},
                            {75, 11, 1}});
      i[0] = static_cast<uint8_t>(i[0] | (reset != 0 ? 0 : 8 | 64));
      return i;
    };
    std::vector<Instruction> list = Product();
    list[3] = loop(1);
    list[4] = loop(0);
    std::vector<uint8_t> dram = Memory();
    const std::string error = RunAll(list, &dram, 1);
    CHECK((error == "") == (sums >= 4));
    // One product, then the same in an instruction of its own: that one waits.
    list = Product();
    list.insert(list.begin() + 4, Loop(kPopPrev, 2, 0, 1));
    list[5] = Loop(kPushNext, 2, 0, 1);
    CHECK(RunAll(list, &dram, 1) == "");
  }
}

TEST_CASE("indices, sizes and addresses outside end the run") {
  const std::pair<size_t, Instruction> wrong[] = {
      {0, Move(0, 2, 2048, 0, 1)}, {0, Move(0, 2, 0, 256, 1)},
      {0, Move(0, 2, 0, 0, 0)},    {0, Move(0, 5, 0, 0, 1)},
      {2, Move(0, 0, 8192, 0, 1)}, {3, Loop(0, 2, 1, 0)},
      {3, Loop(0, 2, 1, 8193)},    {3, Loop(0, 5, 0, 1)},
      {1, Move(8, 1, 1024, 1, 1)}};
  for (const auto& [at, instruction] : wrong) {
    std::vector<Instruction> list = Product();
    list[at] = instruction;
    std::vector<uint8_t> dram = Memory();
    CHECK(RunAll(list, &dram, 1) != "");
  }
}

TEST_CASE("a store over what a load reads, without a token, is a race") {
  // Both run after the product's STORE: the load of DRAM's vector 64 on its own.
  std::vector<Instruction> list = Product();
  list.insert(list.begin(), Move(0, 2, 1, 64, 1));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<uint8_t> dram = Memory();
    CHECK(RunAll(list, &dram, seed) == "");  // the later load's token orders both
  }
  list.insert(list.begin() + 3, Move(0, 2, 2, 64, 1));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<uint8_t> dram = Memory();
    CHECK(RunAll(list, &dram, seed) != "");
  }
}

TEST_CASE("the ALU") {
  // ACC 0 holds 300 and -5 from DRAM; OUT takes the low eight bits of each result.
  const auto run = [](uint64_t op, uint64_t immediate) {
    std::vector<uint8_t> dram = Memory();
    const int32_t values[2] = {300, -5};
    std::memcpy(dram.data() + 2048, values, sizeof values);
    Instruction alu = Loop(kPushNext, 4, 0, 1);
    const Instruction rest = Make({{108, 3, op}, {111, 1, 1}, {112, 16, immediate}});
    for (size_t b = 8; b < 16; ++b) alu[b] = static_cast<uint8_t>(alu[b] | rest[b]);
    const std::string error =
        RunAll({Move(0, 3, 0, 32, 1), Move(0, 0, 0, 128, 1), alu,
                Move(kPopPrev | kPushPrev, 4, 0, 64, 1), Finish(kPopNext)},
               &dram, 1);
    REQUIRE(error == "");
    return std::pair<int, int>(dram[1024], static_cast<int8_t>(dram[1025]));
  };
  CHECK(run(0, 7) == std::pair<int, int>(7, -5));
  CHECK(run(1, 7) == std::pair<int, int>(300 % 256, 7));
  CHECK(run(2, 0xffff) == std::pair<int, int>(299 % 256, -6));
  CHECK(run(3, 1) == std::pair<int, int>(150, -3));
  CHECK(run(3, 0xffff) == std::pair<int, int>(600 % 256, -10));
}

}  // namespace
}  // namespace vta_test
