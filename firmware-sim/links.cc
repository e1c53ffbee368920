// SPDX-License-Identifier: Apache-2.0
#include "links.h"

#include <algorithm>

namespace sluice_sim {
namespace {

// The position in [first, first + count) nearest to `at`.
uint32_t Nearest(uint32_t at, uint32_t first, uint32_t count) {
  return std::min(std::max(at, first), first + count - 1);
}

}  // namespace

void Links::Go(Head* head, Direction direction) {
  const size_t link = (size_t{head->row} * cols_ + head->col) * 4 + direction;
  const uint64_t begin = std::max(head->time, free_[link]);
  free_[link] = begin + cycles_;
  busy_[link] += cycles_;
  head->time = begin + hop_;
  head->alone += hop_;
  head->col += direction == kEast ? 1u : direction == kWest ? ~0u : 0u;
  head->row += direction == kSouth ? 1u : direction == kNorth ? ~0u : 0u;
  Arrive(*head);
}

void Links::Arrive(const Head& head) {
  last_ = std::max(last_, head.time);
  last_alone_ = std::max(last_alone_, head.alone);
}

void Links::Walk(Head* head, uint32_t col, uint32_t row) {
  while (head->col != col) Go(head, head->col < col ? kEast : kWest);
  while (head->row != row) Go(head, head->row < row ? kSouth : kNorth);
}

uint64_t Links::Delay(uint32_t from, const Rectangle& to, uint64_t start, uint64_t hop,
                      uint64_t cycles) {
  hop_ = hop;
  cycles_ = cycles;
  const uint32_t first_col = to.node % cols_, first_row = to.node / cols_;
  const uint32_t last_row = first_row + to.rows - 1;
  Head head = {from % cols_, from / cols_, start, start};
  last_ = last_alone_ = start;
  Walk(&head, Nearest(head.col, first_col, to.cols),
       Nearest(head.row, first_row, to.rows));
  const auto column = [&](const Head& at) {
    Head up = at, down = at;
    Walk(&up, at.col, first_row);
    Walk(&down, at.col, last_row);
  };
  column(head);
  for (Head left = head; left.col > first_col;) {
    Go(&left, kWest);
    column(left);
  }
  for (Head right = head; right.col < first_col + to.cols - 1;) {
    Go(&right, kEast);
    column(right);
  }
  const uint64_t delay = last_ - last_alone_;
  waits_ += delay != 0;
  wait_cycles_ += delay;
  return delay;
}

uint32_t Links::CornerOf(const Rectangle& to) const {
  uint32_t best = 0;
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t col = i % 2 == 0 ? 0 : cols_ - 1;
    const uint32_t row = i / 2 == 0 ? 0 : rows_ - 1;
    const uint32_t near_col = Nearest(col, to.node % cols_, to.cols);
    const uint32_t near_row = Nearest(row, to.node / cols_, to.rows);
    const uint64_t links = (col > near_col ? col - near_col : near_col - col) +
                           uint64_t{row > near_row ? row - near_row : near_row - row};
    if (links >= least) continue;
    least = links;
    best = row * cols_ + col;
  }
  return best;
}

uint64_t Links::busiest() const {
  return *std::max_element(busy_.begin(), busy_.end());
}

}  // namespace sluice_sim
