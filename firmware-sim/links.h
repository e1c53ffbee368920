// SPDX-License-Identifier: Apache-2.0
// The links between neighbouring nodes, for a look at contention: stream.h's timing
// knows none.
//
// A transfer takes the way of a tree: along the row to the columns of its rectangle,
// along the column to its rows, there along the row that it meets to all columns, and
// along these to all rows. DRAM is behind the corner nearest to the rectangle. Each link
// carries one transfer at a time, in the order in which they ask, for as long as its
// bytes take: a FORWARD's at the link's bandwidth; a LOAD's or STORE's at DRAM's, to
// which the links are taken to be wide enough. What waits at a link does not hold those
// behind it.
//
// Input    a mesh, transfers in the order of their starts
// Output   by how much each one ends later than alone
// Cost     the links of its tree
#ifndef SLUICE_FIRMWARE_SIM_LINKS_H_
#define SLUICE_FIRMWARE_SIM_LINKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice_sim {

class Links {
 public:
  Links(uint32_t cols, uint32_t rows)
      : cols_(cols),
        rows_(rows),
        free_(std::size_t{cols} * rows * 4),
        busy_(free_.size()) {}

  struct Rectangle {
    uint32_t node, cols, rows;  // top left
  };
  // From `from` to all of the rectangle: the first link is wanted at `start`, each one
  // `hop` later than the one before, for `cycles`.
  uint64_t Delay(uint32_t from, const Rectangle& to, uint64_t start, uint64_t hop,
                 uint64_t cycles);
  // The corner from which the fewest links lead to the rectangle.
  uint32_t CornerOf(const Rectangle& to) const;

  uint64_t waits() const { return waits_; }              // transfers that were delayed
  uint64_t wait_cycles() const { return wait_cycles_; }  // by so much in all
  uint64_t busiest() const;                              // cycles of one link

 private:
  struct Head {  // of the transfer, at a node
    uint32_t col, row;
    uint64_t time;   // when it wants the next link
    uint64_t alone;  // when it would, with all links free
  };
  enum Direction { kEast, kWest, kSouth, kNorth };
  void Go(Head* head, Direction direction);
  void Walk(Head* head, uint32_t col, uint32_t row);
  void Arrive(const Head& head);

  uint32_t cols_, rows_;
  std::vector<uint64_t> free_, busy_;  // per node and direction
  uint64_t hop_ = 0, cycles_ = 0;      // of the transfer at hand
  uint64_t last_ = 0, last_alone_ = 0;
  uint64_t waits_ = 0, wait_cycles_ = 0;
};

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_LINKS_H_
