// SPDX-License-Identifier: Apache-2.0
#include "verify/order.h"

#include "base/checked.h"

namespace sluice {
namespace judge {
namespace {

constexpr uint64_t kMaxWaits = uint64_t{1} << 26;

struct Cursor {  // position of an engine
  uint32_t engine;
  uint32_t visit;
  uint32_t index;  // in the body
  uint32_t wait;   // number of this instruction's waits known to be satisfied
  uint32_t completed;
  size_t previous;  // number of the engine's last completed instruction
};

struct Walk {
  Judge* judge;
  Order* order;
  Span<Cursor> cursors;
  Span<uint32_t> column;  // of each engine, kNone without work
  // Per visit and column: number of instructions in earlier visits.
  Span<uint32_t> before;
};

Status TooLarge(Judge* judge, const char* what) {
  return Fail(judge->diagnostic, Status::kUnsupported, "verify")
      .Rule("work")
      .Text("too many ")
      .Text(what);
}

// Counts instructions, gives each engine with work a column.
Status Prepare(Walk* walk) {
  Judge* judge = walk->judge;
  const StreamView& s = judge->stream;
  Order* order = walk->order;
  Span<uint32_t> waits;  // per block
  SLUICE_TRY(judge->arena->Allocate(s.blocks.size(), &waits));
  for (size_t b = 0; b < s.blocks.size(); ++b) {
    uint64_t sum = 0;
    for (const sluice_instruction_t& i : s.blocks[b].instructions) sum += i.wait_count;
    if (sum > kMaxWaits) return TooLarge(judge, "waits");
    waits[b] = static_cast<uint32_t>(sum);
  }
  order->visits = Span<const Visit>(s.visits.data(), s.visits.size());
  SLUICE_TRY(judge->arena->Allocate(s.engines, &walk->column));
  for (uint32_t& c : walk->column) c = kNone;
  const uint64_t instructions = s.instructions;
  uint64_t wait_sum = 0;
  for (uint32_t v = 0; v < s.visits.size(); ++v) {
    wait_sum += waits[InstanceOf(s, v).block];
    if (wait_sum > kMaxWaits) return TooLarge(judge, "waits");
  }
  if (uint64_t{s.engines} * s.blocks.size() > kMaxWaits)
    return TooLarge(judge, "blocks");
  for (uint32_t e = 0; e < s.engines; ++e) {
    for (const BlockView& block : s.blocks) {
      if (block.list[e] != block.list[e + 1]) walk->column[e] = 0;
    }
    if (walk->column[e] == 0) walk->column[e] = order->columns++;
  }
  const uint64_t cells = (s.visits.size() + 1) * uint64_t{order->columns};
  if (cells > kMaxWaits || instructions * order->columns > (uint64_t{1} << 30)) {
    return TooLarge(judge, "visits or instructions for so many engines");
  }
  SLUICE_TRY(judge->arena->Allocate(static_cast<size_t>(cells), &walk->before));
  SLUICE_TRY(judge->arena->Allocate(static_cast<size_t>(instructions), &order->steps));
  SLUICE_TRY(judge->arena->Allocate(static_cast<size_t>(instructions), &order->number));
  SLUICE_TRY(judge->arena->Allocate(order->columns + size_t{1}, &order->first));
  return judge->arena->Allocate(static_cast<size_t>(instructions) * order->columns,
                                &order->clocks);
}

void NumberPositions(Walk* walk) {
  const StreamView& s = walk->judge->stream;
  const uint32_t columns = walk->order->columns;
  const Span<uint32_t> first = walk->order->first;
  for (uint32_t e = 0; e < s.engines; ++e) {
    const uint32_t c = walk->column[e];
    if (c == kNone) continue;
    walk->cursors[c].engine = e;
    walk->order->engine[c] = e;
    for (uint32_t v = 0; v < s.visits.size(); ++v) {
      const BlockView& block = BlockOf(s, v);
      walk->before[(v + size_t{1}) * columns + c] =
          walk->before[size_t{v} * columns + c] + block.list[e + 1] - block.list[e];
    }
    first[c + 1] = first[c] + walk->before[s.visits.size() * columns + c];
  }
}

// Moves a cursor to the next instruction; false at the end of the engine's list.
bool Settle(const StreamView& s, Cursor* cursor) {
  while (cursor->visit < s.visits.size()) {
    const BlockView& block = BlockOf(s, cursor->visit);
    if (cursor->index == kNone) cursor->index = block.list[cursor->engine];
    if (cursor->index < block.list[cursor->engine + 1]) return true;
    ++cursor->visit;
    cursor->index = kNone;
  }
  return false;
}

struct Target {  // the instruction that a wait refers to
  uint32_t column;
  uint32_t position;  // 1-based; 0: there is none, the wait always holds
};

Target TargetOf(const Walk& walk, uint32_t visit, const sluice_wait_t& wait) {
  const uint32_t column = walk.column[wait.engine];
  if (column == kNone) return {0, 0};
  const uint32_t before = walk.before[size_t{visit} * walk.order->columns + column];
  if (wait.before == 0) return {column, before + wait.count};
  return {column, before > wait.count ? before - wait.count : 0};
}

void JoinClock(uint32_t* clock, const uint32_t* other, uint32_t columns) {
  for (uint32_t c = 0; c < columns; ++c) clock[c] = Max(clock[c], other[c]);
}

// Completes the instruction under the cursor if all its waits are satisfied; then
// *done.
Status TryStart(Walk* walk, uint32_t column, size_t* emitted, bool* done) {
  Judge* judge = walk->judge;
  Order* order = walk->order;
  const StreamView& s = judge->stream;
  Cursor& cursor = walk->cursors[column];
  const BlockView& block = BlockOf(s, cursor.visit);
  const sluice_instruction_t& instruction = block.instructions[cursor.index];
  const uint32_t columns = order->columns;
  const Step step = {cursor.visit, cursor.index, column, cursor.completed + 1};
  const size_t number = size_t{s.visits[cursor.visit].first_number} + cursor.index;
  uint32_t* clock = order->clocks.data() + number * columns;
  judge->step = step;
  judge->has_step = true;
  *done = false;
  if (*emitted % 64 == 0 && judge->arena->memory()->Stop()) return Status::kStopped;
  for (; cursor.wait < instruction.wait_count; ++cursor.wait) {
    const sluice_wait_t& wait = block.waits[instruction.first_wait + cursor.wait];
    const Target target = TargetOf(*walk, cursor.visit, wait);
    if (walk->cursors[target.column].completed < target.position) return Status::kOk;
    // A clock that includes this position includes everything before it.
    if (clock[target.column] >= target.position) continue;
    SLUICE_TRY(Spend(judge, 1 + columns / 8));
    const uint32_t there =
        order->number[order->first[target.column] + target.position - 1];
    JoinClock(clock, order->clocks.data() + size_t{there} * columns, columns);
    clock[target.column] = target.position;
  }
  if (cursor.completed != 0) {
    JoinClock(clock, order->clocks.data() + cursor.previous * columns, columns);
    clock[column] = cursor.completed;
  }
  cursor.previous = number;
  order->number[order->first[column] + cursor.completed] =
      static_cast<uint32_t>(number);
  order->steps[(*emitted)++] = step;
  ++cursor.completed;
  ++cursor.index;
  cursor.wait = 0;
  *done = true;
  return Status::kOk;
}

}  // namespace

Status FindOrder(Judge* judge, Preference preference, Order* order) {
  order->columns = 0;
  Walk walk = {judge, order, {}, {}, {}};
  SLUICE_TRY(Prepare(&walk));
  SLUICE_TRY(judge->arena->Allocate(order->columns, &walk.cursors));
  SLUICE_TRY(judge->arena->Allocate(order->columns, &order->engine));
  NumberPositions(&walk);
  const StreamView& s = judge->stream;
  const uint32_t columns = order->columns;
  for (Cursor& cursor : walk.cursors) cursor.index = kNone;
  size_t emitted = 0;
  for (bool progress = true; progress;) {
    progress = false;
    for (uint32_t i = 0; i < columns; ++i) {
      const uint32_t c = preference == Preference::kLastEngine ? columns - 1 - i : i;
      bool done = true;
      while (done && Settle(s, &walk.cursors[c])) {
        SLUICE_TRY(TryStart(&walk, c, &emitted, &done));
        progress = progress || done;
        if (preference != Preference::kAny) break;
      }
      if (progress && preference != Preference::kAny) break;
    }
  }
  judge->has_step = false;
  if (emitted == order->steps.size()) return Status::kOk;
  for (Cursor& cursor : walk.cursors) {
    if (!Settle(s, &cursor)) continue;
    judge->step = {cursor.visit, cursor.index, 0, 0};
    judge->has_step = true;
    return Reject(*judge, "deadlock")
        .Text("engine ")
        .Number(cursor.engine)
        .Text(" waits for an instruction that can never complete");
  }
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
