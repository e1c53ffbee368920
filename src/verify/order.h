// SPDX-License-Identifier: Apache-2.0
// Happens-before: which instructions have completed, in every timing, when one starts.
//
// Input    a stream whose structure is sound.
// Output   one linear extension, and per instruction a vector clock: how many
//          instructions of each engine are completed before it starts.
// Errors   kRejected "deadlock" when some instruction can never start; kOutOfMemory.
// Cost     time O((instructions + waits) * engines with work), scratch 4 bytes per
//          instruction and engine with work.
#ifndef SLUICE_VERIFY_ORDER_H_
#define SLUICE_VERIFY_ORDER_H_

#include "verify/stream_view.h"

namespace sluice {
namespace judge {

struct Order {
  Span<Step> steps;       // a linear extension
  Span<uint32_t> clocks;  // columns per instruction, by number
  Span<const Visit> visits;
  Span<uint32_t> engine;  // of each column
  uint32_t columns;       // engines that have any instruction
  // Numbers of a column's instructions in its order: those of column c from
  // number[first[c]] up to first[c + 1].
  Span<uint32_t> number, first;

  const uint32_t* ClockOf(const Step& step) const {
    const size_t at = size_t{visits[step.visit].first_number} + step.index;
    return clocks.data() + at * columns;
  }
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
