// SPDX-License-Identifier: Apache-2.0
// The engines of a machine, numbered as in its streams: its queues, the host, then of
// each node the engines that are not queues. stream.h says the rule.
//
// Input    the descriptor's queues and its mesh.
// Output   which engine runs a transfer or a tile; what a transfer costs on its queue.
// Errors   none: io refuses a machine on which a transfer has no queue.
// Cost     constant; nothing is allocated.
#ifndef SLUICE_MODEL_ENGINES_H_
#define SLUICE_MODEL_ENGINES_H_

#include "model/hardware.h"
#include "sluice/stream.h"

namespace sluice {

class Engines {
 public:
  explicit Engines(const Hardware& hardware);

  uint32_t count() const { return count_; }
  uint32_t queues() const { return queue_count_; }
  const Queue& queue(uint32_t q) const { return queue_[q]; }
  // Whether one engine moves everything between DRAM and the scratchpads, so that the
  // order of its list is the order of DRAM.
  bool one_queue() const { return queue_count_ == 1 && first_[1] == 1; }
  uint32_t host() const { return first_[queue_count_]; }
  uint32_t compute(uint32_t node) const {
    return computes_ == kNone ? host() + 1 + node * own_ : first_[computes_] + node;
  }
  uint32_t send(uint32_t node) const {
    return sends_ == kNone ? host() + own_ + node * own_ : first_[sends_] + node;
  }
  // The engine of a queue that serves `node`.
  uint32_t of_queue(uint32_t q, uint32_t node) const {
    return first_[q] + (queue_[q].per_node ? node : 0);
  }
  // The queue of an engine, or kNone.
  uint32_t queue_of(uint32_t engine) const;
  sluice_engine_t Describe(uint32_t engine) const;

 private:
  Queue queue_[kMaxQueues];
  uint32_t first_[kMaxQueues + 1];  // engine of each queue, of its first node; the host
  uint32_t queue_count_;
  uint32_t nodes_;
  uint32_t computes_ = kNone, sends_ = kNone;  // the queue that does, or kNone
  uint32_t own_;                               // engines of a node that are no queues
  uint32_t count_;
};

// A box that a queue moves: its bytes in DRAM and in the scratchpad.
struct MovedBox {
  const int32_t* extent;           // of kAxes axes
  const uint32_t* dram_stride;     // bytes
  const uint32_t* scratch_stride;  // bytes
  uint32_t element_bytes;
  bool indexed;         // rows of axis 2 come from anywhere: each is a row of its own
  int64_t encoded = 0;  // bytes of one row off chip, in place of the box; 0 = the box
};

// What moving a box takes of a queue.
struct QueueWork {
  int64_t bytes;        // bursts that are filled, in bytes
  int64_t descriptors;  // at least 1
};
QueueWork WorkOf(const Queue& queue, const MovedBox& box);
// Cycles before a transfer of so many descriptors asks for the DRAM port.
int64_t CyclesToPort(const Queue& queue, int64_t descriptors);

}  // namespace sluice

#endif  // SLUICE_MODEL_ENGINES_H_
