// SPDX-License-Identifier: Apache-2.0
// A strict functional model of VTA's instruction set in its default configuration: three
// modules that only tokens order, INP, WGT, ACC, OUT and micro-op buffers.
//
// Input    instructions of 16 bytes, DRAM as one byte range
// Output   DRAM's bytes
// Errors   Trap, a sentence: what hardware would do silently wrong ends the run. Entries
//          that nothing wrote, indices, sizes and addresses outside, tokens that lack or
//          remain, accesses that no token orders (by vector clocks, so in every run), a sum
//          that is read before the operation that writes it has left the pipeline
// Cost     the instructions' work
// Source   TVM's VTA hardware guide; arXiv 1807.04188; facts of the public headers
//          hw_spec.h (widths and order of an instruction's fields, opcodes, memories) and
//          vta_config.json (sizes of the buffers), both of apache/tvm-vta; that sums of
//          one instruction are not interlocked: the dependence pragma of its HLS source
#ifndef SLUICE_TESTS_TARGETS_VTA_VTA_MODEL_H_
#define SLUICE_TESTS_TARGETS_VTA_VTA_MODEL_H_

#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace vta_test {

using Instruction = std::array<uint8_t, 16>;
using Clock = std::array<uint64_t, 3>;  // instructions of load, compute, store

// Who touched an entry or a range last.
struct Touch {
  uint64_t write = 0;  // number of the instruction in its module; 0: in no run yet
  int writer = 0;
  Clock read{};
  bool defined = false;
};

class Model {
 public:
  // Queues hold `depth` tokens. At 255, as in hardware, a token more is lost: it ends the
  // run. Queues of fewer tokens make the module that pushes wait.
  Model(std::vector<uint8_t>* dram, uint64_t seed, size_t depth = 255);
  virtual ~Model() = default;
  void Push(const Instruction& instruction) { fetched_.push_back(instruction); }
  // Runs what was pushed, in an order drawn from the seed that tokens allow. "" or why not.
  virtual std::string Run();
  // What was done: bytes by memory (micro-ops, weights, inputs, sums, outputs), micro-ops.
  uint64_t moved[5]{}, gemms = 0, alus = 0;

 protected:
  std::vector<Instruction> fetched_;

 private:
  struct Range {
    uint64_t begin, end;
    int module;
    uint64_t number;
  };
  bool Fail(const std::string& why);
  bool Ready(int module) const;
  void Step(int module);
  bool Finished();
  bool TakeTokens(int module, const Instruction& i);
  void GiveTokens(int module, const Instruction& i);
  void Memory(int module, const Instruction& i);
  bool Dram(int module, uint64_t begin, uint64_t bytes, bool write);
  bool Read(int module, std::vector<Touch>* t, uint64_t i, const char* what);
  bool Write(int module, std::vector<Touch>* t, uint64_t i, const char* what);
  void Compute(const Instruction& i, bool alu);
  void Gemm(bool reset, uint32_t dst, uint32_t src, uint32_t wgt);
  void Alu(const Instruction& i, uint32_t dst, uint32_t src);
  bool ReadSum(uint32_t i);
  void Result(uint32_t dst);

  std::vector<uint8_t>& dram_;
  size_t depth_;
  std::mt19937_64 random_;
  std::deque<Instruction> list_[3];
  std::deque<Clock>
      tokens_[4];  // load>compute compute>load compute>store store>compute
  Clock clock_[3]{};
  uint64_t number_[3]{};
  bool finished_ = false;
  std::string trap_;
  std::vector<Range> stored_, loaded_;  // of this run
  std::vector<int8_t> inp_, wgt_, out_;
  std::vector<int32_t> acc_;
  std::vector<uint32_t> uop_;
  std::vector<Touch> inp_at_, wgt_at_, acc_at_, out_at_, uop_at_;
  uint64_t operation_ = 0;         // of GEMM and ALU
  std::vector<uint64_t> written_;  // by which of them, entries of ACC
};

// Bits [low, low + width) of an instruction.
uint64_t Field(const Instruction& i, int low, int width);

}  // namespace vta_test

#endif  // SLUICE_TESTS_TARGETS_VTA_VTA_MODEL_H_
