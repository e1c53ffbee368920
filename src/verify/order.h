// SPDX-License-Identifier: Apache-2.0
// Happens-before: which instructions have completed, in every timing, when one starts.
//
// Input    a stream whose structure is sound.
// Output   one linear extension; along it, per instruction a vector clock: how many
//          instructions of each engine are completed before it starts.
// Errors   kRejected "deadlock" when some instruction can never start; kOutOfMemory.
// Cost     time O((instructions + waits) * engines with work), scratch 4 bytes per
//          engine with work for each clock that a later instruction still needs.
#ifndef SLUICE_VERIFY_ORDER_H_
#define SLUICE_VERIFY_ORDER_H_

#include "verify/stream_view.h"

namespace sluice {
namespace judge {

struct Order {
  Span<Step> steps;  // a linear extension
  Span<const Visit> visits;
  Span<uint32_t> engine;  // of each column
  uint32_t columns;       // engines that have any instruction
  // Where a column's instructions are in `steps`, in their order: those of column c
  // from listed[first[c]] up to first[c + 1].
  Span<uint32_t> listed, first;
  Span<uint32_t> needed;  // by place in `steps`: how many clocks follow from this one
  Span<uint32_t> column;  // of each engine, kNone without work
  // Per visit and column: number of instructions in earlier visits.
  Span<uint32_t> before;

  size_t NumberOf(const Step& step) const {
    return size_t{visits[step.visit].first_number} + step.index;
  }
  // The place of a column's instruction, counted from 1, in `steps`.
  size_t PlaceOf(uint32_t c, uint32_t position) const {
    return listed[first[c] + position - 1];
  }
};

struct Target {  // the instruction that a wait refers to
  uint32_t column;
  uint32_t position;  // 1-based; 0: there is none, the wait always holds
};

Target TargetOf(const Order& order, uint32_t visit, const sluice_wait_t& wait);

// The waits of an instruction of a visit.
Span<const sluice_wait_t> WaitsOf(const StreamView& stream, uint32_t visit,
                                  uint32_t index);

// The clocks of an order's instructions, one after the other.
class Clocks {
 public:
  Clocks(Judge* judge, const Order* order) : judge_(judge), order_(order) {}
  Status Init();
  // The clock of the next instruction, valid until the next call.
  Status Next(const uint32_t** clock);

 private:
  Status Join(const Target& target, uint32_t* clock);
  // Gives back a clock that nothing to come needs; it stays as it is until the next
  // one is made.
  void GiveBack(size_t at);

  Judge* judge_;
  const Order* order_;
  Span<uint32_t*> clock_;       // by place in the order
  uint32_t* unused_ = nullptr;  // clocks given back: each points to the one before it
  size_t at_ = 0;
  size_t words_ = 0;  // of a clock
};

// Which of the many linear extensions to take; the verdict does not depend on it. The
// strict ones more often show an unordered read as such, rather than as a read of
// missing content.
enum class Preference {
  kAny,          // the fastest to find
  kFirstEngine,  // always the lowest-numbered engine that can proceed
  kLastEngine,   // always the highest-numbered one
};

Status FindOrder(Judge* judge, Preference preference, Order* order);

}  // namespace judge
}  // namespace sluice

#endif  // SLUICE_VERIFY_ORDER_H_
