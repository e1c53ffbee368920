// SPDX-License-Identifier: Apache-2.0
#include "emit/find_loops.h"

#include <string.h>

#include "base/checked.h"

namespace sluice {
namespace {

// A loop that saves fewer steps than this is not worth its own instance and tables.
constexpr uint32_t kLeastSaved = 16;
// The longest period that is looked for, in items per node.
constexpr uint32_t kMostPeriod = 128;
constexpr uint32_t kMostNodes = 64;  // that periods may be long for

struct Item {
  uint32_t begin;  // first step
  uint32_t steps;  // all of its visits together
  uint32_t loop;   // index in Finder::loops_; kNone: one step
  uint32_t hash;
};

struct ItemLoop {
  uint32_t first, last;  // items in Finder::inside_
  uint32_t count, period;
};

uint32_t Mix(uint32_t hash, uint32_t word) {
  hash = (hash ^ word) * 0x9e3779b1u;
  return hash ^ hash >> 15;
}

// Compares steps by their form: steps of one form differ only in the place of their
// transfer in DRAM or of their tile in its layer.
class StepForms {
 public:
  explicit StepForms(const LoopSearch& search)
      : program_(search.program), waits_(search.waits), back_(search.back) {}

  uint32_t Hash(uint32_t i) const {
    const Step step = program_.step(i);
    uint32_t hash = Mix(step.layer, static_cast<uint32_t>(step.kind));
    hash = Mix(hash, FormOf(step));
    hash = Mix(hash, step.node);
    for (uint32_t w = waits_.begin[i]; w < waits_.begin[i + 1]; ++w) {
      hash = Mix(hash, waits_.waits[w].engine);
      hash = Mix(hash, back_[w]);
    }
    return hash;
  }

  bool Same(uint32_t a, uint32_t b) const {
    const Step x = program_.step(a), y = program_.step(b);
    if (x.kind != y.kind || x.layer != y.layer || x.node != y.node ||
        x.kind == StepKind::kHost || FormOf(x) != FormOf(y)) {
      return false;
    }
    if (x.kind == StepKind::kCompute) {
      const TilePlace& p = program_.tile_place(x.item);
      const TilePlace& q = program_.tile_place(y.item);
      if (p.c_end - p.c_begin != q.c_end - q.c_begin) return false;
    } else if (program_.transfer_form(x.item).moves != 0 &&
               program_.dram_offset(x.item) != program_.dram_offset(y.item)) {
      return false;  // what a parameter moves, no loop moves
    }
    const uint32_t first = waits_.begin[a], other = waits_.begin[b];
    const uint32_t n = waits_.begin[a + 1] - first;
    if (waits_.begin[b + 1] - other != n) return false;
    for (uint32_t w = 0; w < n; ++w) {
      if (waits_.waits[first + w].engine != waits_.waits[other + w].engine ||
          back_[first + w] != back_[other + w]) {
        return false;
      }
    }
    return true;
  }

  // Whether a step is that one period before it. third: and has moved as far as that one.
  bool Again(uint32_t i, uint32_t period, bool third) const {
    const uint32_t before = i - period;
    return Same(before, i) &&
           (!third || MoveBetween(program_, before - period, before) ==
                          MoveBetween(program_, before, i));
  }

 private:
  uint32_t FormOf(const Step& step) const {
    if (step.kind == StepKind::kHost) return step.item;
    return step.kind == StepKind::kCompute ? program_.form_of_tile(step.item)
                                           : program_.form_of_transfer(step.item);
  }

  const Program& program_;
  const ProgramWaits& waits_;
  const Sequence<uint32_t>& back_;
};

class Finder {
 public:
  Finder(const LoopSearch& search, Arena* scratch)
      : program_(search.program),
        forms_(search),
        scratch_(scratch),
        loops_(scratch),
        inside_(scratch) {
    most_ = kMostPeriod * Min(program_.nodes(), kMostNodes);
  }

  Status Run(uint32_t begin, uint32_t end, Pieces* out) {
    // Too short for a loop that saves enough: its first iteration has a step at least.
    if (end - begin <= kLeastSaved) {
      return begin == end ? Status::kOk : out->pieces.Push(Piece{begin, end, kNone});
    }
    uint32_t slots = 1;
    while (slots < 4 * most_) slots *= 2;
    SLUICE_TRY(scratch_->Allocate(slots, &seen_));
    Sequence<Item> items(scratch_);
    begin_ = begin;
    SLUICE_TRY(FindLevel(nullptr, end - begin, &items));
    for (uint32_t level = 1; level < SLUICE_MAX_LOOPS && !loops_.empty(); ++level) {
      Sequence<Item> next(scratch_);
      const uint32_t before = static_cast<uint32_t>(loops_.size());
      SLUICE_TRY(FindLevel(&items, static_cast<uint32_t>(items.size()), &next));
      if (loops_.size() == before) break;
      items = next;
    }
    for (size_t i = 0; i < items.size(); ++i) {
      SLUICE_TRY(AddPieces(items[i], kNone, out));
    }
    return Status::kOk;
  }

 private:
  struct Seen {
    uint32_t hash;
    uint32_t at;  // index + 1; 0 = none
  };
  class LoopList : public Sequence<ItemLoop> {
   public:
    using Sequence<ItemLoop>::Sequence;
    bool empty() const { return size() == 0; }
  };

  // Calls f(i) for each step i of an item's first visit; stops and returns false once f
  // does.
  template <typename F>
  bool All(const Item& item, F f) const {
    if (item.loop == kNone) return f(item.begin);
    const ItemLoop& loop = loops_[item.loop];
    for (uint32_t i = loop.first; i <= loop.last; ++i) {
      if (!All(inside_[i], f)) return false;
    }
    return true;
  }

  bool SameItem(const Item& a, const Item& b) const {
    if (a.hash != b.hash || a.steps != b.steps ||
        (a.loop == kNone) != (b.loop == kNone)) {
      return false;
    }
    if (a.loop == kNone) return forms_.Same(a.begin, b.begin);
    const ItemLoop& x = loops_[a.loop];
    const ItemLoop& y = loops_[b.loop];
    if (x.count != y.count || x.period != y.period ||
        x.last - x.first != y.last - y.first) {
      return false;
    }
    for (uint32_t i = 0; i <= x.last - x.first; ++i) {
      if (!SameItem(inside_[x.first + i], inside_[y.first + i])) return false;
    }
    const uint32_t by = b.begin - a.begin;
    return All(a, [&](uint32_t i) {
      return MoveBetween(program_, i, i + x.period) ==
             MoveBetween(program_, i + by, i + by + x.period);
    });
  }

  // True if every step of item a moves as far from the second period to the third as
  // from the first to the second.
  bool MovesOn(const Item& a, uint32_t period) const {
    return All(a, [&](uint32_t i) {
      return MoveBetween(program_, i, i + period) ==
             MoveBetween(program_, i + period, i + 2 * period);
    });
  }

  Item ItemAt(const Sequence<Item>* items, uint32_t i) const {
    if (items != nullptr) return (*items)[i];
    return Item{begin_ + i, 1, kNone, forms_.Hash(begin_ + i)};
  }

  // Does item i repeat the one `back` items before, in a run that starts at `first`?
  bool Repeats(const Sequence<Item>* items, uint32_t i, uint32_t back,
               uint32_t first) const {
    if (items == nullptr) return forms_.Again(begin_ + i, back, i >= first + 2 * back);
    const Item now = ItemAt(items, i), before = ItemAt(items, i - back);
    if (!SameItem(before, now)) return false;
    if (i < first + 2 * back) return true;
    const Item earliest = ItemAt(items, i - 2 * back);
    const uint32_t period = now.begin - before.begin;
    return before.begin - earliest.begin == period && MovesOn(earliest, period);
  }

  // items == nullptr: the steps themselves.
  Status FindLevel(const Sequence<Item>* items, uint32_t n, Sequence<Item>* out) {
    memset(seen_.data(), 0, seen_.size() * sizeof(Seen));
    uint32_t floor = 0;  // behind the last loop that was found
    for (uint32_t i = 0; i < n;) {
      if (i % 64 == 0 && scratch_->memory()->Stop()) return Status::kStopped;
      const Item item = ItemAt(items, i);
      Seen& seen = seen_[item.hash & (seen_.size() - 1)];
      const uint32_t first = seen.at - 1;
      const bool again = seen.at != 0 && seen.hash == item.hash && first >= floor &&
                         i - first <= most_;
      seen = Seen{item.hash, i + 1};
      uint32_t end = 0;
      if (again) SLUICE_TRY(TakeLoop(items, {first, i, n}, out, &end));
      if (end != 0) {
        floor = i = end;
        continue;
      }
      SLUICE_TRY(out->Push(item));
      ++i;
    }
    return Status::kOk;
  }

  struct Run {
    uint32_t first, second;  // items: begin of the run, and of its second period
    uint32_t n;              // of all items
  };
  // *end: the first item behind the loop, or 0 where no loop is worth writing.
  Status TakeLoop(const Sequence<Item>* items, const struct Run& run,
                  Sequence<Item>* out, uint32_t* end) {
    const uint32_t back = run.second - run.first;
    uint32_t i = run.second;
    while (i < run.n && Repeats(items, i, back, run.first)) {
      if (i % 64 == 0 && scratch_->memory()->Stop()) return Status::kStopped;
      ++i;
    }
    const uint32_t count = (i - run.second) / back + 1;
    const Item start = ItemAt(items, run.first);
    const uint32_t period = ItemAt(items, run.second).begin - start.begin;
    if (count < 2 || uint64_t{count - 1} * period < kLeastSaved) return Status::kOk;
    const uint32_t inside = static_cast<uint32_t>(inside_.size());
    uint32_t hash = Mix(count, period);
    for (uint32_t k = 0; k < back; ++k) {
      const Item item = ItemAt(items, run.first + k);
      hash = Mix(hash, item.hash);
      SLUICE_TRY(inside_.Push(item));
    }
    const Item loop = {start.begin, count * period,
                       static_cast<uint32_t>(loops_.size()), hash};
    SLUICE_TRY(loops_.Push(ItemLoop{inside, inside + back - 1, count, period}));
    out->Truncate(out->size() - back);
    *end = run.first + count * back;
    return out->Push(loop);
  }

  // Steps side by side in the same loop make one piece.
  Status AddPieces(const Item& item, uint32_t around, Pieces* out) {
    if (item.loop != kNone) {
      const ItemLoop& loop = loops_[item.loop];
      const uint32_t index = static_cast<uint32_t>(out->loops.size());
      const uint32_t first = static_cast<uint32_t>(out->pieces.size());
      SLUICE_TRY(
          out->loops.Push(PieceLoop{first, first, loop.count, around, loop.period}));
      for (uint32_t i = loop.first; i <= loop.last; ++i) {
        SLUICE_TRY(AddPieces(inside_[i], index, out));
      }
      out->loops[index].last = static_cast<uint32_t>(out->pieces.size()) - 1;
      return Status::kOk;
    }
    if (out->pieces.size() != 0) {
      Piece& last = out->pieces[out->pieces.size() - 1];
      const bool starts =
          around != kNone && out->loops[around].first == out->pieces.size();
      if (last.end == item.begin && last.loop == around && !starts &&
          last.begin >= begin_) {
        ++last.end;
        return Status::kOk;
      }
    }
    return out->pieces.Push(Piece{item.begin, item.begin + 1, around});
  }

  const Program& program_;
  StepForms forms_;
  Arena* scratch_;
  uint32_t most_;
  uint32_t begin_ = 0;
  Span<Seen> seen_;  // by hash; a later item takes the place of an earlier one
  LoopList loops_;
  Sequence<Item> inside_;  // items of loops
};

}  // namespace

StepMove MoveBetween(const Program& program, uint32_t from, uint32_t to) {
  const Step a = program.step(from), b = program.step(to);
  StepMove move = {};
  if (a.kind == StepKind::kLoad || a.kind == StepKind::kStore) {
    move.bytes = program.dram_offset(b.item) - program.dram_offset(a.item);
  } else if (a.kind == StepKind::kCompute) {
    const TilePlace& p = program.tile_place(a.item);
    const TilePlace& q = program.tile_place(b.item);
    for (int i = 0; i < kAxes; ++i) move.place[i] = q.origin[i] - p.origin[i];
    move.place[kAxes] = q.c_begin - p.c_begin;
  }
  return move;
}

Status FindLoops(const LoopSearch& search, size_t block, Arena* scratch, Pieces* out) {
  ArenaScope scope(scratch);
  Finder finder(search, scratch);
  return finder.Run(search.program.block_begin(block),
                    search.program.block_begin(block + 1), out);
}

}  // namespace sluice
