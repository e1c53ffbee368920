// SPDX-License-Identifier: Apache-2.0
// Contention on the links between neighbouring nodes, which the timing of stream.h
// ignores.
//
// A transfer travels along a tree: along the source's row to the columns of its
// rectangle, along that column to its rows, along the row it meets there to all
// columns, and along these to all rows. DRAM is behind the corner nearest to the
// rectangle. Each link carries one transfer at a time, in the order of requests, for
// the duration of its bytes: a FORWARD at the link's bandwidth; a LOAD or STORE at
// DRAM's bandwidth, which links are assumed to reach. A transfer that waits for one
// link does not block the links it has passed.
//
// Input    a mesh, transfers in the order of their starts
// Output   how many cycles later each one ends than without contention
// Errors   none
// Cost     the number of links of its tree
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
  // Sends a transfer from `from` to all nodes of the rectangle. It requests the first
  // link at `start` and each further one `hop` later, each for `cycles`. Returns the
  // delay.
  uint64_t Delay(uint32_t from, const Rectangle& to, uint64_t start, uint64_t hop,
                 uint64_t cycles);
  // The corner with the fewest links to the rectangle.
  uint32_t CornerOf(const Rectangle& to) const;

  uint64_t waits() const { return waits_; }              // transfers that were delayed
  uint64_t wait_cycles() const { return wait_cycles_; }  // sum of their delays
  uint64_t busiest() const;  // of the busiest link: cycles in use

 private:
  struct Head {  // a transfer's first word, at a node
    uint32_t col, row;
    uint64_t time;   // when it requests the next link
    uint64_t alone;  // when it would, if no link were busy
  };
  enum Direction { kEast, kWest, kSouth, kNorth };
  void Go(Head* head, Direction direction);
  void Walk(Head* head, uint32_t col, uint32_t row);
  void Arrive(const Head& head);

  uint32_t cols_, rows_;
  std::vector<uint64_t> free_, busy_;  // per node and direction
  uint64_t hop_ = 0, cycles_ = 0;      // of the current transfer
  uint64_t last_ = 0, last_alone_ = 0;
  uint64_t waits_ = 0, wait_cycles_ = 0;
};

}  // namespace sluice_sim

#endif  // SLUICE_FIRMWARE_SIM_LINKS_H_
