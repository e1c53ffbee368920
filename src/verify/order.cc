// SPDX-License-Identifier: Apache-2.0
#include "verify/order.h"

#include <string.h>

#include "base/checked.h"

namespace sluice {
namespace judge {
namespace {

constexpr size_t kLink = sizeof(void*) / sizeof(uint32_t);  // behind a clock

// Counts of a clock that are joined at once. With many engines most of the judge's time
// goes there, so processors that have such instructions use them, also in code that is
// made for size. Counts are within 2^24: signed comparison is right.
constexpr uint32_t kAtOnce = 4;
typedef int32_t Counts
    __attribute__((vector_size(4 * kAtOnce), aligned(sizeof(int32_t)), may_alias));
constexpr uint64_t kMaxWaits = uint64_t{1} << 26;  // 256 MiB of counts

struct Cursor {  // position of an engine
  uint32_t engine;
  uint32_t visit;
  uint32_t index;  // in the body
  uint32_t wait;   // number of this instruction's waits known to be satisfied
  uint32_t completed;
};

struct Walk {
  Judge* judge;
  Order* order;
  Span<Cursor> cursors;
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
  SLUICE_TRY(judge->arena->Allocate(s.engines, &order->column));
  for (uint32_t& c : order->column) c = kNone;
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
      if (block.list[e] != block.list[e + 1]) order->column[e] = 0;
    }
    if (order->column[e] == 0) order->column[e] = order->columns++;
  }
  const uint64_t cells = (s.visits.size() + 1) * uint64_t{order->columns};
  if (cells > kMaxWaits) return TooLarge(judge, "visits for so many engines");
  SLUICE_TRY(judge->arena->Allocate(static_cast<size_t>(cells), &order->before));
  SLUICE_TRY(judge->arena->Allocate(static_cast<size_t>(instructions), &order->steps));
  SLUICE_TRY(judge->arena->Allocate(static_cast<size_t>(instructions), &order->listed));
  SLUICE_TRY(judge->arena->Allocate(static_cast<size_t>(instructions), &order->needed));
  return judge->arena->Allocate(order->columns + size_t{1}, &order->first);
}

void NumberPositions(Walk* walk) {
  const StreamView& s = walk->judge->stream;
  Order* order = walk->order;
  const uint32_t columns = order->columns;
  const Span<uint32_t> first = order->first;
  for (uint32_t e = 0; e < s.engines; ++e) {
    const uint32_t c = order->column[e];
    if (c == kNone) continue;
    walk->cursors[c].engine = e;
    order->engine[c] = e;
    for (uint32_t v = 0; v < s.visits.size(); ++v) {
      const BlockView& block = BlockOf(s, v);
      order->before[(v + size_t{1}) * columns + c] =
          order->before[size_t{v} * columns + c] + block.list[e + 1] - block.list[e];
    }
    first[c + 1] = first[c] + order->before[s.visits.size() * columns + c];
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

// Completes the instruction under the cursor if all its waits are satisfied; then
// *done.
Status TryStart(Walk* walk, uint32_t column, size_t* emitted, bool* done) {
  Judge* judge = walk->judge;
  Order* order = walk->order;
  const StreamView& s = judge->stream;
  Cursor& cursor = walk->cursors[column];
  const Step step = {cursor.visit, cursor.index, column, cursor.completed + 1};
  judge->step = step;
  judge->has_step = true;
  *done = false;
  if (*emitted % 64 == 0 && judge->arena->memory()->Stop()) return Status::kStopped;
  const Span<const sluice_wait_t> waits = WaitsOf(s, cursor.visit, cursor.index);
  for (; cursor.wait < waits.size(); ++cursor.wait) {
    const Target target = TargetOf(*order, cursor.visit, waits[cursor.wait]);
    if (walk->cursors[target.column].completed < target.position) return Status::kOk;
    if (target.position != 0) {
      ++order->needed[order->PlaceOf(target.column, target.position)];
    }
  }
  if (cursor.completed != 0) ++order->needed[order->PlaceOf(column, cursor.completed)];
  order->listed[order->first[column] + cursor.completed] =
      static_cast<uint32_t>(*emitted);
  order->steps[(*emitted)++] = step;
  ++cursor.completed;
  ++cursor.index;
  cursor.wait = 0;
  *done = true;
  return Status::kOk;
}

}  // namespace

Target TargetOf(const Order& order, uint32_t visit, const sluice_wait_t& wait) {
  const uint32_t column = order.column[wait.engine];
  if (column == kNone) return {0, 0};
  const uint32_t before = order.before[size_t{visit} * order.columns + column];
  if (wait.before == 0) return {column, before + wait.count};
  return {column, before > wait.count ? before - wait.count : 0};
}

Span<const sluice_wait_t> WaitsOf(const StreamView& stream, uint32_t visit,
                                  uint32_t index) {
  const BlockView& block = BlockOf(stream, visit);
  const sluice_instruction_t& i = block.instructions[index];
  return Span<const sluice_wait_t>(block.waits.data() + i.first_wait, i.wait_count);
}

Status Clocks::Init() {
  words_ = size_t{(order_->columns + kAtOnce - 1) / kAtOnce} * kAtOnce;
  return judge_->arena->Allocate(order_->steps.size(), &clock_);
}

void Clocks::GiveBack(size_t at) {
  memcpy(clock_[at] + words_, &unused_, sizeof unused_);
  unused_ = clock_[at];
}

Status Clocks::Next(const uint32_t** clock) {
  const Step& step = order_->steps[at_];
  const size_t previous =
      step.position > 1 ? order_->PlaceOf(step.engine, step.position - 1) : at_;
  // A clock that only the engine's next instruction needs becomes that one's.
  uint32_t* mine = clock_[previous];  // nullptr: the engine's first
  if (mine == nullptr || --order_->needed[previous] != 0) {
    const uint32_t* const known = mine;
    mine = unused_;
    if (mine == nullptr) {
      Span<uint32_t> fresh;
      SLUICE_TRY(judge_->arena->Allocate(words_ + kLink, &fresh));
      mine = fresh.data();
    } else {
      memcpy(&unused_, mine + words_, sizeof unused_);
      memset(mine, 0, words_ * sizeof *mine);
    }
    if (known != nullptr) memcpy(mine, known, words_ * sizeof *mine);
  }
  mine[step.engine] = step.position - 1;
  *clock = clock_[at_] = mine;
  for (const sluice_wait_t& wait : WaitsOf(judge_->stream, step.visit, step.index)) {
    SLUICE_TRY(Join(TargetOf(*order_, step.visit, wait), mine));
  }
  if (order_->needed[at_] == 0) GiveBack(at_);
  ++at_;
  return Status::kOk;
}

// Adds what is known once the target is completed.
Status Clocks::Join(const Target& target, uint32_t* clock) {
  if (target.position == 0) return Status::kOk;
  const size_t place = order_->PlaceOf(target.column, target.position);
  // A clock that includes this position includes everything before it.
  if (clock[target.column] < target.position) {
    SLUICE_TRY(Spend(judge_, 1 + order_->columns / 8));
    const uint32_t* other = clock_[place];
    for (size_t c = 0; c < order_->columns; c += kAtOnce) {
      Counts* mine = reinterpret_cast<Counts*>(clock + c);
      const Counts theirs = *reinterpret_cast<const Counts*>(other + c);
      const Counts less = *mine < theirs;
      *mine = (theirs & less) | (*mine & ~less);
    }
    clock[target.column] = target.position;
  }
  if (--order_->needed[place] == 0) GiveBack(place);
  return Status::kOk;
}

Status FindOrder(Judge* judge, Preference preference, Order* order) {
  order->columns = 0;
  Walk walk = {judge, order, {}};
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
        .Say("engine # waits for an instruction that can never complete",
             cursor.engine);
  }
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
