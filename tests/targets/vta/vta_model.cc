// SPDX-License-Identifier: Apache-2.0
#include "targets/vta/vta_model.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace vta_test {
namespace {

constexpr int kLoad = 0, kCompute = 1, kStore = 2;
// Operations of one instruction until what one wrote to ACC is read: the HLS source tells
// the compiler that there is no dependence, the Chisel one has a multiplier, an adder and a
// write behind its read.
constexpr uint64_t kHazard = 4;
constexpr uint64_t kInp = 2048, kWgt = 1024, kAcc = 2048, kUops = 8192, kDepth = 255;
enum Opcode { kOpLoad = 0, kOpStore = 1, kOpGemm = 2, kOpFinish = 3, kOpAlu = 4 };
enum Kind { kUop = 0, kWeight = 1, kInput = 2, kSums = 3, kOutput = 4 };

// Queues of `tokens_` by module and neighbour (previous, next); -1: there is none.
constexpr int kPops[3][2] = {{-1, 1}, {0, 3}, {2, -1}};
constexpr int kPushes[3][2] = {{-1, 0}, {1, 2}, {3, -1}};

}  // namespace

uint64_t Field(const Instruction& i, int low, int width) {
  uint64_t word;
  std::memcpy(&word, i.data() + std::ptrdiff_t{low / 64} * 8, 8);
  return word >> (low % 64) & ((uint64_t{1} << width) - 1);
}

Model::Model(std::vector<uint8_t>* dram, uint64_t seed, size_t depth)
    : dram_(*dram),
      depth_(depth),
      random_(seed),
      inp_(kInp * 16),
      wgt_(kWgt * 256),
      out_(kAcc * 16),
      acc_(kAcc * 16),
      uop_(kUops),
      inp_at_(kInp),
      wgt_at_(kWgt),
      acc_at_(kAcc),
      out_at_(kAcc),
      uop_at_(kUops),
      written_(kAcc) {}

bool Model::Fail(const std::string& why) {
  if (trap_.empty()) trap_ = why;
  return false;
}

std::string Model::Run() {
  for (size_t n = 0; n < fetched_.size(); ++n) {
    const uint64_t opcode = Field(fetched_[n], 0, 3), kind = Field(fetched_[n], 7, 3);
    if (opcode > kOpAlu) return "no such opcode";
    const bool loads = opcode == kOpLoad && (kind == kWeight || kind == kInput);
    if ((opcode == kOpFinish) != (n + 1 == fetched_.size()))
      return "FINISH is not the last";
    list_[loads                ? kLoad
          : opcode == kOpStore ? kStore
                               : kCompute]
        .push_back(fetched_[n]);
  }
  fetched_.clear();
  stored_.clear();
  loaded_.clear();
  finished_ = false;
  // Some seeds always prefer one module: the earliest loads, the latest stores.
  const uint64_t favourite = random_() % 4;
  while (trap_.empty()) {
    std::vector<int> ready;
    for (int m = 0; m < 3; ++m) {
      if (Ready(m)) ready.push_back(m);
    }
    if (ready.empty()) break;
    int module = ready[random_() % ready.size()];
    for (int m : ready) {
      if (favourite == static_cast<uint64_t>(m)) module = m;
    }
    Step(module);
  }
  if (trap_.empty()) Finished();
  return trap_;
}

bool Model::Finished() {
  for (const auto& list : list_) {
    if (!list.empty()) return Fail("a module waits for a token that never comes");
  }
  for (const auto& queue : tokens_) {
    if (!queue.empty()) return Fail("a token remains");
  }
  if (!finished_) return Fail("no FINISH");
  // The host goes on when compute has finished: what it does not know of may still run.
  for (int m = 0; m < 3; ++m) {
    if (clock_[kCompute][m] < number_[m])
      return Fail("FINISH does not wait for a module");
  }
  for (int m = 0; m < 3; ++m) clock_[m] = clock_[kCompute];
  return true;
}

bool Model::Ready(int module) const {
  if (list_[module].empty()) return false;
  for (int side = 0; side < 2; ++side) {
    if (Field(list_[module].front(), 3 + side, 1) == 0) continue;
    const int queue = kPops[module][side];
    if (queue >= 0 && tokens_[queue].empty()) return false;
  }
  for (int side = 0; side < 2 && depth_ < kDepth; ++side) {
    if (Field(list_[module].front(), 5 + side, 1) == 0) continue;
    const int queue = kPushes[module][side];
    if (queue >= 0 && tokens_[queue].size() >= depth_) return false;
  }
  return true;
}

bool Model::TakeTokens(int module, const Instruction& i) {
  for (int side = 0; side < 2; ++side) {
    if (Field(i, 3 + side, 1) == 0) continue;
    const int queue = kPops[module][side];
    if (queue < 0) return Fail("a token of no neighbour");
    const Clock token = tokens_[queue].front();
    tokens_[queue].pop_front();
    for (int m = 0; m < 3; ++m)
      clock_[module][m] = std::max(clock_[module][m], token[m]);
  }
  return true;
}

void Model::GiveTokens(int module, const Instruction& i) {
  for (int side = 0; side < 2; ++side) {
    if (Field(i, 5 + side, 1) == 0) continue;
    const int queue = kPushes[module][side];
    if (queue < 0) {
      Fail("a token for no neighbour");
      return;
    }
    tokens_[queue].push_back(clock_[module]);
    if (tokens_[queue].size() > kDepth) Fail("a token queue overflows");
  }
}

void Model::Step(int module) {
  const Instruction i = list_[module].front();
  list_[module].pop_front();
  if (!TakeTokens(module, i)) return;
  clock_[module][module] = ++number_[module];
  switch (Field(i, 0, 3)) {
    case kOpGemm:
      Compute(i, false);
      break;
    case kOpAlu:
      Compute(i, true);
      break;
    case kOpFinish:
      finished_ = true;
      break;
    default:
      Memory(module, i);
  }
  GiveTokens(module, i);
}

bool Model::Read(int module, std::vector<Touch>* t, uint64_t i, const char* what) {
  if (i >= t->size()) return Fail(std::string("read outside of ") + what);
  Touch& touch = (*t)[i];
  if (!touch.defined) return Fail(std::string("nothing wrote what is read of ") + what);
  if (clock_[module][touch.writer] < touch.write) {
    return Fail(std::string("no token orders a read after the write of ") + what);
  }
  touch.read[module] = number_[module];
  return true;
}

bool Model::Write(int module, std::vector<Touch>* t, uint64_t i, const char* what) {
  if (i >= t->size()) return Fail(std::string("write outside of ") + what);
  Touch& touch = (*t)[i];
  bool ordered = clock_[module][touch.writer] >= touch.write;
  for (int m = 0; m < 3; ++m) ordered = ordered && clock_[module][m] >= touch.read[m];
  if (!ordered) return Fail(std::string("no token orders a write of ") + what);
  touch.write = number_[module];
  touch.writer = module;
  touch.defined = true;
  return true;
}

bool Model::Dram(int module, uint64_t begin, uint64_t bytes, bool write) {
  if (begin + bytes > dram_.size()) return Fail("an address outside of DRAM");
  const auto conflicts = [&](const std::vector<Range>& ranges) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const Range& r) {
      return begin < r.end && r.begin < begin + bytes &&
             clock_[module][r.module] < r.number;
    });
  };
  if (conflicts(stored_) || (write && conflicts(loaded_))) {
    return Fail("no token orders two accesses to DRAM");
  }
  (write ? stored_ : loaded_)
      .push_back({begin, begin + bytes, module, number_[module]});
  return true;
}

void Model::Memory(int module, const Instruction& i) {
  const bool store = module == kStore;
  const uint64_t kind = Field(i, 7, 3), base = Field(i, 26, 32),
                 rows = Field(i, 64, 16), columns = Field(i, 80, 16),
                 stride = Field(i, 96, 16);
  const uint64_t top = Field(i, 112, 4), bottom = Field(i, 116, 4),
                 left = Field(i, 120, 4), right = Field(i, 124, 4);
  if (Field(i, 58, 6) != 0) return (void)Fail("bits that mean nothing");
  if (store != (kind == kOutput) || kind > kOutput) return (void)Fail("no such memory");
  if (rows == 0 || columns == 0) return (void)Fail("a transfer of nothing");
  const bool padded = (top | bottom | left | right) != 0;
  if (padded && kind != kInput && kind != kSums)
    return (void)Fail("padding not of tensors");
  if (rows > 1 && stride != 0 && stride < columns) return (void)Fail("rows overlap");
  if (store && rows > 1 && stride < columns) return (void)Fail("stored rows overlap");
  const uint64_t size = kind == kUop      ? 4
                        : kind == kWeight ? 256
                        : kind == kSums   ? 64
                                          : 16;
  std::vector<Touch>* touch[] = {&uop_at_, &wgt_at_, &inp_at_, &acc_at_, &out_at_};
  uint8_t* memory[] = {
      reinterpret_cast<uint8_t*>(uop_.data()), reinterpret_cast<uint8_t*>(wgt_.data()),
      reinterpret_cast<uint8_t*>(inp_.data()), reinterpret_cast<uint8_t*>(acc_.data()),
      reinterpret_cast<uint8_t*>(out_.data())};
  const char* names[] = {"UOP", "WGT", "INP", "ACC", "OUT"};
  const uint64_t width = left + columns + right;
  for (uint64_t y = 0; y < top + rows + bottom; ++y) {
    const bool inside = y >= top && y < top + rows;
    const uint64_t from = (base + (y - top) * stride) * size;
    if (inside) moved[kind] += columns * size;
    if (inside && !Dram(module, from, columns * size, store)) return;
    for (uint64_t x = 0; x < width; ++x) {
      const uint64_t entry = Field(i, 10, 16) + y * width + x;
      if (store ? !Read(module, touch[kind], entry, names[kind])
                : !Write(module, touch[kind], entry, names[kind])) {
        return;
      }
      uint8_t* at = memory[kind] + entry * size;
      if (!inside || x < left || x >= left + columns) {
        std::memset(at, 0, size);
      } else if (store) {
        std::memcpy(dram_.data() + from + (x - left) * size, at, size);
      } else {
        std::memcpy(at, dram_.data() + from + (x - left) * size, size);
      }
    }
  }
}

void Model::Compute(const Instruction& i, bool alu) {
  const bool reset = Field(i, 7, 1) != 0;
  const uint64_t begin = Field(i, 8, 13), end = Field(i, 21, 14),
                 outer = Field(i, 35, 14), inner = Field(i, 49, 14);
  if (Field(i, 63, 1) != 0 || (alu && reset)) {
    return (void)Fail("bits that mean nothing");
  }
  if (begin >= end || end > kUops || outer == 0 || inner == 0) {
    return (void)Fail("a loop over nothing");
  }
  operation_ +=
      kHazard;  // an instruction starts when the one before has left the pipeline
  for (uint64_t o = 0; o < outer; ++o) {
    for (uint64_t n = 0; n < inner; ++n) {
      for (uint64_t u = begin; u < end; ++u) {
        if (!Read(kCompute, &uop_at_, u, "UOP")) return;
        const uint32_t uop = uop_[u];
        const uint64_t dst = (uop & 2047) + o * Field(i, 64, 11) + n * Field(i, 75, 11);
        const uint64_t src =
            (uop >> 11 & 2047) + o * Field(i, 86, 11) + n * Field(i, 97, 11);
        ++(alu ? alus : gemms);
        ++operation_;
        if (alu) {
          Alu(i, static_cast<uint32_t>(dst), static_cast<uint32_t>(src));
        } else {
          const uint64_t wgt =
              (uop >> 22) + o * Field(i, 108, 10) + n * Field(i, 118, 10);
          Gemm(reset, static_cast<uint32_t>(dst), static_cast<uint32_t>(src),
               static_cast<uint32_t>(wgt));
        }
        if (!trap_.empty()) return;
      }
    }
  }
}

// The pipeline reads an entry of ACC some cycles before it writes one, and nothing in it
// compares the two: within one instruction what was written fewer than kHazard operations
// before would be read as it was.
bool Model::ReadSum(uint32_t i) {
  if (!Read(kCompute, &acc_at_, i, "ACC")) return false;
  if (operation_ - written_[i] < kHazard) {
    return Fail("a sum is read that the pipeline has not written yet");
  }
  return true;
}

// Each result goes to OUT too, its low eight bits.
void Model::Result(uint32_t dst) {
  written_[dst] = operation_;
  if (!Write(kCompute, &out_at_, dst, "OUT")) return;
  for (uint32_t c = 0; c < 16; ++c) {
    out_[dst * 16 + c] = static_cast<int8_t>(static_cast<uint8_t>(acc_[dst * 16 + c]));
  }
}

void Model::Gemm(bool reset, uint32_t dst, uint32_t src, uint32_t wgt) {
  if (reset) {
    if (!Write(kCompute, &acc_at_, dst, "ACC")) return;
    std::fill_n(acc_.begin() + std::ptrdiff_t{dst} * 16, 16, 0);
    return Result(dst);
  }
  if (!Read(kCompute, &inp_at_, src, "INP") || !Read(kCompute, &wgt_at_, wgt, "WGT") ||
      !ReadSum(dst) || !Write(kCompute, &acc_at_, dst, "ACC")) {
    return;
  }
  const int8_t* a = &inp_[size_t{src} * 16];
  for (uint32_t k = 0; k < 16; ++k) {
    const int8_t* w = &wgt_[size_t{wgt} * 256 + size_t{k} * 16];
    int32_t sum = 0;
    for (uint32_t c = 0; c < 16; ++c) sum += a[c] * w[c];
    int32_t& to = acc_[size_t{dst} * 16 + k];
    to = static_cast<int32_t>(static_cast<uint32_t>(to) + static_cast<uint32_t>(sum));
  }
  Result(dst);
}

void Model::Alu(const Instruction& i, uint32_t dst, uint32_t src) {
  const uint64_t op = Field(i, 108, 3);
  const bool immediate = Field(i, 111, 1) != 0;
  const auto imm = static_cast<int16_t>(Field(i, 112, 16));
  if (op > 3) return (void)Fail("no such ALU operation");
  if (!immediate && !ReadSum(src)) return;
  if (!ReadSum(dst) || !Write(kCompute, &acc_at_, dst, "ACC")) return;
  for (uint32_t c = 0; c < 16; ++c) {
    int32_t& to = acc_[size_t{dst} * 16 + c];
    const int32_t by = immediate ? imm : acc_[size_t{src} * 16 + c];
    if (op == 0) to = std::min(to, by);
    if (op == 1) to = std::max(to, by);
    if (op == 2)
      to = static_cast<int32_t>(static_cast<uint32_t>(to) + static_cast<uint32_t>(by));
    if (op == 3 && (by < -16 || by > 15))
      return (void)Fail("a shift that has no 5 bits");
    if (op == 3)
      to = by >= 0 ? to >> by : static_cast<int32_t>(static_cast<uint32_t>(to) << -by);
  }
  Result(dst);
}

}  // namespace vta_test
