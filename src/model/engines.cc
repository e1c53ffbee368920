// SPDX-License-Identifier: Apache-2.0
#include "model/engines.h"

#include "base/checked.h"

namespace sluice {

namespace {

// One queue that loads and stores everything: the machine whose descriptor names none.
Queue OnlyQueue(const Hardware& hardware) {
  Queue queue;
  queue.latency_cycles = hardware.dma_latency_cycles;
  return queue;
}

}  // namespace

Engines::Engines(const Hardware& hardware)
    : queue_count_(
          hardware.queues.empty() ? 1 : static_cast<uint32_t>(hardware.queues.size())),
      nodes_(Max(hardware.node_cols, 1u) * Max(hardware.node_rows, 1u)) {
  SLUICE_ASSERT(queue_count_ <= kMaxQueues);
  first_[0] = 0;
  for (uint32_t q = 0; q < queue_count_; ++q) {
    queue_[q] = hardware.queues.empty() ? OnlyQueue(hardware) : hardware.queues[q];
    first_[q + 1] = first_[q] + (queue_[q].per_node ? nodes_ : 1);
    if ((queue_[q].does & SLUICE_DOES_COMPUTE) != 0) computes_ = q;
    if ((queue_[q].does & SLUICE_DOES_FORWARD) != 0) sends_ = q;
  }
  own_ = (computes_ == kNone ? 1 : 0) + (sends_ == kNone && nodes_ > 1 ? 1 : 0);
  count_ = host() + 1 + nodes_ * own_;
}

uint32_t Engines::queue_of(uint32_t engine) const {
  for (uint32_t q = 0; q < queue_count_; ++q) {
    if (engine < first_[q + 1]) return q;
  }
  return kNone;
}

sluice_engine_t Engines::Describe(uint32_t engine) const {
  sluice_engine_t out = {};
  const uint32_t q = queue_of(engine);
  if (q != kNone) {
    const Queue& queue = queue_[q];
    const bool moves = (queue.does & (SLUICE_DOES_LOAD | SLUICE_DOES_STORE)) != 0;
    out.does = static_cast<uint16_t>(queue.does);
    out.node =
        static_cast<uint16_t>(queue.per_node ? engine - first_[q] : SLUICE_ALL_NODES);
    out.queue = static_cast<uint16_t>(q);
    out.roles = static_cast<uint8_t>(moves ? queue.roles : 0);
    return out;
  }
  out.queue = SLUICE_NO_QUEUE;
  if (engine == host()) {
    out.does = SLUICE_DOES_HOST;
    out.node = SLUICE_ALL_NODES;
    return out;
  }
  const uint32_t own = engine - host() - 1;
  out.node = static_cast<uint16_t>(own / own_);
  const bool is_compute = computes_ == kNone && own % own_ == 0;
  out.does = is_compute ? SLUICE_DOES_COMPUTE : SLUICE_DOES_FORWARD;
  return out;
}

namespace {

// Descriptors for rows along the outer axes, each of which is `pieces` rows that lie one
// behind the other. One descriptor has max_axes axes, one of which is the row; axes of
// one element count as none.
int64_t Descriptors(const Queue& queue, int64_t pieces, Span<const int32_t> outer) {
  int64_t together = 1, apart = 1;
  uint32_t axes = 1;
  const auto add = [&](int64_t extent) {
    if (extent == 1) return;
    const bool fits = ++axes <= queue.max_axes || queue.max_axes == 0;
    (fits ? together : apart) *= extent;
  };
  add(pieces);
  for (size_t a = outer.size(); a-- > 0;) add(outer[a]);
  return apart *
         (queue.max_rows == 0 ? 1 : CeilDivide(together, int64_t{queue.max_rows}));
}

}  // namespace

QueueWork WorkOf(const Queue& queue, const MovedBox& box) {
  // A row extends over an axis as long as neither side leaves a gap.
  int64_t row = box.encoded != 0 ? box.encoded : int64_t{box.element_bytes};
  int a = box.encoded != 0 ? -1 : kAxes - 1;
  for (; a >= 0; --a) {
    if (box.extent[a] == 1) continue;
    if (box.dram_stride[a] != row || box.scratch_stride[a] != row) break;
    if (box.indexed && a <= 2) break;
    row *= box.extent[a];
  }
  int64_t rows = 1;
  for (int outer = 0; outer <= a; ++outer) rows *= box.extent[outer];
  const Span<const int32_t> outer(box.extent, static_cast<size_t>(a + 1));
  const int64_t longest = queue.max_row_bytes == 0 ? row : queue.max_row_bytes;
  const int64_t whole = row / longest, rest = row % longest == 0 ? 0 : 1;
  const int64_t each = Descriptors(queue, 1, outer);
  int64_t descriptors = (whole + rest) * each;
  if (whole > 1) {
    descriptors = Min(descriptors, Descriptors(queue, whole, outer) + rest * each);
  }
  return {rows * RoundUpTo(row, queue.burst_bytes), descriptors};
}

int64_t CyclesToPort(const Queue& queue, int64_t descriptors) {
  return queue.latency_cycles + (descriptors - 1) * queue.descriptor_cycles;
}

}  // namespace sluice
