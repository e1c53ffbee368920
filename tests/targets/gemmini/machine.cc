// SPDX-License-Identifier: Apache-2.0
#include "targets/gemmini/machine.h"

#include <cmath>
#include <cstring>

namespace gemmini_model {
namespace {

constexpr uint32_t kSums = 0x80000000u, kAdd = 0x40000000u, kWide = 0x20000000u;
constexpr uint32_t kPlace = 0x1fffffffu;

// Rows that a transfer touches, as one range of a memory.
struct Span {
  bool sums;
  uint32_t begin, end;
  bool Meets(const Span& other) const {
    return sums == other.sums && begin < other.end && other.begin < end;
  }
};

Span SpanOf(uint32_t address, uint32_t rows) {
  const uint32_t begin = address & kPlace;
  return {(address & kSums) != 0, begin, begin + rows};
}

// As the accumulators' scaling units: the sum as a float times the scale, to nearest even.
template <typename Mover>
int32_t Scaled(const Mover& m, int32_t sum) {
  if (m.relu && sum < 0) sum = 0;
  const float y = std::nearbyintf(static_cast<float>(sum) * m.scale);
  return y > 127 ? 127 : y < -128 ? -128 : static_cast<int32_t>(y);
}

uint32_t BlocksOf(uint32_t columns) { return (columns + kDim - 1) / kDim; }

}  // namespace

Machine::Matrix Machine::MatrixOf(uint64_t operand) {
  return {static_cast<uint32_t>(operand), static_cast<uint32_t>(operand >> 32 & 0xffff),
          static_cast<uint32_t>(operand >> 48)};
}

Row* Machine::At(uint32_t address, uint32_t row) {
  const uint32_t place = (address & kPlace) + row;
  if (address & kSums) return place < kSumRows ? &sums_[place] : nullptr;
  return place < kRows ? &scratchpad_[place] : nullptr;
}

std::string Machine::Configure(uint64_t rs1, uint64_t rs2) {
  constexpr uint32_t kOne = 0x3f800000u;
  uint32_t scale = 0;
  switch (rs1 & 3) {
    case 0:
      if (!(rs1 & 4)) return "config_ex: output stationary is not modelled";
      if (rs1 & 0x108) return "config_ex: activations, transposed A are not modelled";
      if (rs1 >> 32 != kOne) return "config_ex: a scale other than 1 is not modelled";
      if (rs2 >> 48 != 1) return "config_ex: rows of C are not next to each other";
      transpose_ = (rs1 & 0x200) != 0;
      a_stride_ = static_cast<uint32_t>(rs1 >> 16 & 0xffff);
      if (a_stride_ == 0) return "config_ex: the stride of A is 0";
      execute_set_ = true;
      return "";
    case 1: {
      const uint32_t which = static_cast<uint32_t>(rs1 >> 3 & 3);
      if (which > 2) return "config_mvin: there are three";
      if (rs1 >> 32 != kOne || rs1 & 4) return "config_mvin: scales are not modelled";
      loads_[which] = {true, rs2, static_cast<uint32_t>(rs1 >> 16 & 0xffff)};
      return "";
    }
    case 2:
      if ((rs1 & ~uint64_t{4}) != 2) return "config_mvout: pooling is not modelled";
      store_set_ = true;
      store_relu_ = (rs1 & 4) != 0;
      scale = static_cast<uint32_t>(rs2 >> 32);
      std::memcpy(&store_scale_, &scale, 4);
      if (!(store_scale_ > 0)) return "config_mvout: the scale is not above 0";
      store_stride_ = rs2 & 0xffffffffu;
      return "";
    default:
      return "config: unknown";
  }
}

std::string Machine::Check(const Mover& m) const {
  const bool sums = (m.address & kSums) != 0;
  const uint32_t most = m.load ? 4 * kDim : kDim;
  if (m.dram == 0) return "transfer: address 0 is none, the hardware loads zeros";
  if (m.rows == 0 || m.rows > kDim) return "transfer: rows";
  if (m.columns == 0 || m.columns > (sums ? kDim : most)) return "transfer: columns";
  if (!sums && m.address > kPlace) return "transfer: address bits of the scratchpad";
  if (sums && m.load && m.address & kWide) return "mvin: reads int32";
  const uint64_t last = (m.address & kPlace) +
                        uint64_t{BlocksOf(m.columns) - 1} * m.block_stride + m.rows;
  if (last > (sums ? kSumRows : kRows)) return "transfer: behind the last row";
  if (BlocksOf(m.columns) > 1 && m.block_stride < m.rows) return "mvin: blocks overlap";
  const bool wide = sums && (m.load || m.address & kWide);
  const uint64_t width = m.columns * (wide ? 4 : 1);
  const uint64_t span = (m.rows - 1) * m.stride + width;
  if (m.stride > dram_.size() || m.dram > dram_.size() ||
      span > dram_.size() - m.dram) {
    return "transfer: outside DRAM";
  }
  if (!m.load && m.rows > 1 && m.stride < width) return "mvout: rows overlap";
  if (wide && m.dram % 4 != 0) return "transfer: sums are not aligned";
  return "";
}

std::string Machine::Do(const Mover& m) {
  const bool sums = (m.address & kSums) != 0 && (m.load || m.address & kWide);
  for (uint32_t i = 0; i < m.rows; ++i) {
    for (uint32_t j = 0; j < m.columns; ++j) {
      Row& row = *At(m.address, i + j / kDim * m.block_stride);
      const bool adds = m.load && sums && m.address & kAdd;
      // What is not loaded is not defined.
      if (m.load && !adds && j % kDim == 0) row = Row{};
      Cell& cell = row[j % kDim];
      uint8_t* const at = &dram_[m.dram + i * m.stride + j * (sums ? 4 : 1)];
      if (m.load) {
        if (adds && !cell.defined) return "mvin: adds to a cell that nothing wrote";
        const uint32_t before = adds ? static_cast<uint32_t>(cell.value) : 0;
        cell.defined = true;
        cell.value = static_cast<int8_t>(*at);
        if (sums) std::memcpy(&cell.value, at, 4);
        cell.value = static_cast<int32_t>(before + static_cast<uint32_t>(cell.value));
        continue;
      }
      if (!cell.defined) return "mvout: a cell that nothing wrote";
      if (sums) {
        std::memcpy(at, &cell.value, 4);
      } else {
        *at = static_cast<uint8_t>(m.address & kSums ? Scaled(m, cell.value)
                                                     : cell.value);
      }
    }
  }
  return "";
}

// Lets transfers happen that were kept back and touch these rows, and those before them.
std::string Machine::Settle(uint32_t address, uint32_t rows) {
  size_t upto = 0;
  const Span span = SpanOf(address, rows);
  for (size_t i = 0; i < kept_.size(); ++i) {
    const Mover& k = kept_[i];
    for (uint32_t b = 0; b < BlocksOf(k.columns); ++b) {
      if (span.Meets(SpanOf(k.address + b * k.block_stride, k.rows))) upto = i + 1;
    }
  }
  for (; upto > 0; --upto) {
    const std::string error = Do(kept_.front());
    kept_.pop_front();
    if (!error.empty()) return error;
  }
  return "";
}

std::string Machine::SettleFor(const Mover& m) {
  for (uint32_t b = 0; b < BlocksOf(m.columns); ++b) {
    const std::string error = Settle(m.address + b * m.block_stride, m.rows);
    if (!error.empty()) return error;
  }
  return "";
}

std::string Machine::Move(const Mover& m) {
  const std::string error = Check(m);
  if (!error.empty()) return error;
  const bool late = m.load ? late_ == Late::kLoads : late_ == Late::kStores;
  if (late) {
    kept_.push_back(m);
    return "";
  }
  const std::string before = SettleFor(m);
  return before.empty() ? Do(m) : before;
}

std::string Machine::ReadWeights() {
  std::memset(weights_, 0, sizeof weights_);
  has_weights_ = true;
  if (next_b_.absent()) return "";
  const uint32_t columns = transpose_ ? next_b_.rows : next_b_.columns;
  for (uint32_t i = 0; i < RowsOfWeights(); ++i) {
    const Row* const row = At(next_b_.address, i);
    if (row == nullptr) return "preload: behind the last row";
    for (uint32_t j = 0; j < columns; ++j) {
      if (!(*row)[j].defined) return "preload: a cell that nothing wrote";
      (transpose_ ? weights_[j][i] : weights_[i][j]) = (*row)[j].value;
    }
  }
  return "";
}

std::string Machine::Compute(bool same, const Matrix& a, const Matrix& d) {
  if (!execute_set_) return "compute: not configured";
  if (!preloaded_) return "compute: nothing was preloaded";
  preloaded_ = false;
  if (a.absent() || a.address & kSums) return "compute: A is not in the scratchpad";
  if (!d.absent()) return "compute: D is not modelled";
  if (a.columns == 0 || a.columns > kDim || a.rows == 0 || a.rows > kDim ||
      a.rows != c_.rows || c_.columns == 0 || c_.columns > kDim) {
    return "compute: extents";
  }
  if (!(c_.address & kSums) || c_.address & kWide)
    return "compute: C is no accumulator";
  std::string error = Settle(a.address, (a.rows - 1) * a_stride_ + 1);
  if (error.empty()) error = Settle(c_.address, c_.rows);
  if (error.empty() && !next_b_.absent()) {
    error = Settle(next_b_.address, RowsOfWeights());
  }
  if (error.empty() && same && !next_b_.absent())
    error = "compute: weights are dropped";
  if (error.empty() && same && !has_weights_)
    error = "compute: the array has no weights";
  if (error.empty() && !same) error = ReadWeights();
  for (uint32_t i = 0; error.empty() && i < a.rows; ++i) {
    const Row* const row = At(a.address, i * a_stride_);
    Row* const to = At(c_.address, i);
    if (row == nullptr || to == nullptr) return "compute: behind the last row";
    for (uint32_t j = 0; j < c_.columns; ++j) {
      uint32_t sum = 0;
      for (uint32_t k = 0; k < a.columns; ++k) {
        if (!(*row)[k].defined) return "compute: a cell of A that nothing wrote";
        sum += static_cast<uint32_t>((*row)[k].value * weights_[k][j]);
      }
      Cell& cell = (*to)[j];
      const bool adds = (c_.address & kAdd) != 0;
      if (adds && !cell.defined) return "compute: adds to a cell that nothing wrote";
      cell = {
          static_cast<int32_t>((adds ? static_cast<uint32_t>(cell.value) : 0) + sum),
          true};
    }
    for (uint32_t j = c_.columns; !(c_.address & kAdd) && j < kDim; ++j)
      (*to)[j] = Cell{};
  }
  return error;
}

std::string Machine::Step(uint32_t funct, uint64_t rs1, uint64_t rs2) {
  const Matrix m = MatrixOf(rs2);
  switch (funct) {
    case 0:
      return Configure(rs1, rs2);
    case 1:
    case 2:
    case 14: {
      const Load& load = loads_[funct == 2 ? 0 : funct == 1 ? 1 : 2];
      if (!load.set) return "mvin: not configured";
      return Move(
          {true, rs1, load.stride, m.address, m.columns, m.rows, load.block_stride});
    }
    case 3:
      if (!store_set_) return "mvout: not configured";
      return Move({false, rs1, store_stride_, m.address, m.columns, m.rows, 0,
                   store_scale_, store_relu_});
    case 23:
      return MoveToRows(rs1, m);
    case 4:
    case 5:
      return Compute(funct == 5, MatrixOf(rs1), m);
    case 6:
      if (preloaded_) return "preload: the one before was not used";
      preloaded_ = true;
      next_b_ = MatrixOf(rs1);
      c_ = m;
      if (!next_b_.absent() &&
          (next_b_.address & kSums || next_b_.columns == 0 || next_b_.columns > kDim ||
           next_b_.rows == 0 || next_b_.rows > kDim)) {
        return "preload: address or extents of B";
      }
      return "";
    default:
      return "unknown command";
  }
}

// From accumulators to rows of the scratchpad, some rows apart. Hazards are found as if the
// rows followed each other; so those that do not are there after a fence.
std::string Machine::MoveToRows(uint64_t rs1, const Matrix& from) {
  const uint32_t to = static_cast<uint32_t>(rs1),
                 step = static_cast<uint32_t>(rs1 >> 32);
  if (!store_set_) return "mvout_spad: not configured";
  if (!(from.address & kSums) || from.address & (kAdd | kWide))
    return "mvout_spad: not from accumulators";
  if (from.rows == 0 || from.rows > kDim || from.columns == 0 || from.columns > kDim)
    return "mvout_spad: extents";
  if (step == 0 || to > kPlace || to + uint64_t{from.rows - 1} * step >= kRows ||
      (from.address & kPlace) + from.rows > kSumRows) {
    return "mvout_spad: behind the last row";
  }
  std::string error = Settle(from.address, from.rows);
  if (error.empty()) error = Settle(to, from.rows);
  Mover scaling;
  scaling.scale = store_scale_;
  scaling.relu = store_relu_;
  for (uint32_t i = 0; error.empty() && i < from.rows; ++i) {
    Row row{};
    for (uint32_t j = 0; j < from.columns; ++j) {
      const Cell& sum = (*At(from.address, i))[j];
      if (!sum.defined) return "mvout_spad: a cell that nothing wrote";
      row[j] = {Scaled(scaling, sum.value), true};
    }
    *At(to, i * step) = step == 1 ? row : Row{};
    if (step != 1) spread_.push_back({to + i * step, row});
  }
  return error;
}

std::string Machine::Fence() {
  for (const auto& [place, row] : spread_) scratchpad_[place] = row;
  spread_.clear();
  while (!kept_.empty()) {
    const std::string error = Do(kept_.front());
    kept_.pop_front();
    if (!error.empty()) return error;
  }
  return "";
}

}  // namespace gemmini_model
