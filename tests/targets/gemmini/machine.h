// SPDX-License-Identifier: Apache-2.0
// A strict functional model of Gemmini's commands.
//
// Input    commands as (funct, rs1, rs2); one range of DRAM bytes
// Output   DRAM, after Fence
// Errors   Step returns a sentence: reads of bytes or rows that nothing wrote, addresses
//          and sizes outside, unknown commands. Nothing after it has a meaning
// Cost     linear in rows moved and multiplied
// Source   the ISA section of Gemmini's README. Hardware orders commands of different
//          controllers by local addresses alone; so loads or stores, as told, are kept back
//          until a local address or a fence demands them
#ifndef SLUICE_TESTS_TARGETS_GEMMINI_MACHINE_H_
#define SLUICE_TESTS_TARGETS_GEMMINI_MACHINE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace gemmini_model {

constexpr uint32_t kDim = 16, kRows = 16384, kSumRows = 1024;

enum class Late { kNothing, kLoads, kStores };  // which controller hardware keeps back

// One element of the scratchpad or the accumulators.
struct Cell {
  int32_t value = 0;
  bool defined = false;
};
using Row = std::array<Cell, kDim>;

class Machine {
 public:
  Machine(uint64_t dram_bytes, Late late)
      : late_(late), dram_(dram_bytes), scratchpad_(kRows), sums_(kSumRows) {}

  virtual ~Machine() = default;
  // "": the command is legal.
  virtual std::string Step(uint32_t funct, uint64_t rs1, uint64_t rs2);
  virtual std::string Fence();
  // What the CPU reads and writes. Commands that are kept back have not happened.
  std::vector<uint8_t>& dram() { return dram_; }

 private:
  struct Mover {  // a load or store with the configuration of its time
    bool load = false;
    uint64_t dram = 0, stride = 0;
    uint32_t address = 0, columns = 0, rows = 0, block_stride = 0;
    float scale = 1;  // of sums that leave as int8
    bool relu = false;
  };
  struct Load {
    bool set = false;
    uint64_t stride = 0;
    uint32_t block_stride = 0;
  };
  struct Matrix {
    uint32_t address = 0xffffffff, columns = 0, rows = 0;
    bool absent() const { return address == 0xffffffff; }
  };
  static Matrix MatrixOf(uint64_t operand);
  std::string Configure(uint64_t rs1, uint64_t rs2);
  std::string Move(const Mover& mover);
  std::string Do(const Mover& mover);
  std::string Check(const Mover& mover) const;
  std::string Settle(uint32_t address, uint32_t rows);
  std::string SettleFor(const Mover& mover);
  std::string Compute(bool same, const Matrix& a, const Matrix& d);
  std::string ReadWeights();
  // The extents of a preload are those after transposing (RTL: ExecuteController, d_rows).
  uint32_t RowsOfWeights() const { return transpose_ ? next_b_.columns : next_b_.rows; }
  std::string MoveToRows(uint64_t rs1, const Matrix& from);
  Row* At(uint32_t address, uint32_t row);

  Late late_;
  std::vector<uint8_t> dram_;
  std::vector<Row> scratchpad_, sums_;
  std::deque<Mover> kept_;
  std::vector<std::pair<uint32_t, Row>> spread_;  // rows that a fence writes
  Load loads_[3];
  float store_scale_ = 1;
  bool store_relu_ = false;
  bool store_set_ = false, execute_set_ = false, transpose_ = false;
  uint64_t store_stride_ = 0;
  uint32_t a_stride_ = 1;
  bool preloaded_ = false;
  Matrix next_b_, c_;
  bool has_weights_ = false;
  int32_t weights_[kDim][kDim] = {};
};

}  // namespace gemmini_model

#endif  // SLUICE_TESTS_TARGETS_GEMMINI_MACHINE_H_
