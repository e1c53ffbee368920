// SPDX-License-Identifier: Apache-2.0
#include "solve/placement/spill/address_beam.h"

#include <algorithm>

#include "base/checked.h"
#include "base/sort.h"
#include "solve/placement/spill/spill_plan.h"

namespace sluice {
namespace {

constexpr uint32_t kNever = 0xffffffffu;
constexpr uint32_t kPlaces = 2;  // tried for a tensor; more leave less width for others
constexpr uint32_t kHurried = 8;  // layouts when the time is over: nearly free
constexpr uint32_t kAhead = 12;   // steps for whose largest new tensor room is kept
// Steps that are run with few layouts at first, and again with more where that costs more
// than the decisions do.
constexpr uint32_t kTogether = 16;
constexpr uint32_t kWiden = 4;   // times as many
constexpr size_t kSeen = 4096;   // hashes of layouts
constexpr int64_t kMisfit = 64;  // steps; neighbours that end further apart are alike
// Of tensors, in all ways to run a step after one layout; then each has one place.
constexpr uint32_t kTurns = 1 << 10;
constexpr uint64_t kLooksPerPoll = 1 << 15;  // blocks looked at between two polls

// A tensor in the scratchpad.
struct Block {
  int64_t offset, bytes;
  uint32_t tensor;
  uint32_t end;   // the planned stay ends before this step
  uint32_t used;  // its last step
  bool copied;    // has a copy outside
  bool left;      // charged as gone, but nothing has taken its bytes so far
  bool written;   // the charge includes a write
};

struct Layout {
  size_t first_block;
  uint32_t block_count;
  uint32_t trace;
  int64_t bytes;  // spent; includes the return of all that left
  int64_t score;
};

struct Made {  // of Beam::stack
  size_t begin, end;
};

struct Entry {  // a tensor gets an address
  int64_t offset;
  uint32_t tensor;
};

struct Trace {
  uint32_t parent, first_entry, entry_count;
};

struct Candidate {
  int64_t cost, misfit, offset;
};

// What a step does with one of its tensors.
struct Use {
  uint32_t tensor;
  uint32_t end;      // of the planned stay that holds this use
  bool first, last;  // of the tensor
};

// Which tensors a step may move: fetch to other bytes than those where they are.
enum class Moves : uint8_t {
  kIdle,  // those that the step before did not use, or that have a copy
  kMost,  // all that the step finds
  kAll    // everything leaves, and all operands enter
};

struct Generation {
  Vector<Block> blocks;
  Vector<Layout> layouts;
};

// Where the beam can go back to.
struct Mark {
  Generation layouts;
  size_t traces = 0, entries = 0;
  uint32_t step = 0;
  int64_t excess = 0;  // bytes of the cheapest layout beyond those of the decisions
};

struct Beam {
  const OperatorGraph& graph;
  const AddressBeamOptions& options;
  const SpillDecisions& decisions;
  Budget* budget;
  Arena* arena;
  uint32_t width = options.width;
  Vector<Use> uses{arena};
  Span<uint32_t> first_use = {};   // per step, into uses, which begin at the end
  Span<int64_t> largest_new = {};  // per step: of the tensors that enter as planned
  Span<int64_t> planned = {};      // per step: bytes of the decisions up to its end
  Generation now = {Vector<Block>(arena), Vector<Layout>(arena)};
  Generation next = {Vector<Block>(arena), Vector<Layout>(arena)};
  Vector<Trace> traces{arena};
  Vector<Entry> entries{arena};
  // The step at hand.
  uint32_t step = 0;
  uint32_t parent = 0;         // trace
  Span<uint32_t> use_of = {};  // per tensor: plus one; 0 = none
  uint32_t taken_over = kNoOperand, taker = kNoOperand;  // in place
  Vector<Block> stack{arena};                            // layouts in the making
  Vector<Entry> wanted{arena};                           // tensors that enter
  Vector<uint32_t> ranked{arena};
  Vector<int64_t> best{arena};  // scores of this step, a heap, the worst first
  Span<uint64_t> seen = {};     // hashes of layouts
  int64_t limit = INT64_MAX;    // of scores that are worth a layout
  Moves moves = Moves::kIdle;
  uint64_t looks = 0;    // at blocks, since the last poll
  bool hurried = false;  // one place for each tensor
  uint32_t turns = 0;    // of tensors, after the layout at hand
};

Span<const Use> UsesAt(const Beam& self, uint32_t t) {
  const size_t end = t == 0 ? self.uses.size() : self.first_use[t - 1];
  return Span<const Use>(self.uses.data() + self.first_use[t], end - self.first_use[t]);
}

const Use& UseOf(const Beam& self, uint32_t tensor) {
  return self.uses[self.use_of[tensor] - 1];
}

int64_t PriceOf(const Beam& self, const Block& block) {
  const bool is_free = block.copied || (self.options.charge == SpillCharge::kHost &&
                                        self.graph.tensors[block.tensor].role !=
                                            TensorRole::kIntermediate);
  return is_free ? block.bytes : 2 * block.bytes;
}

// The tensor leaves.
void Charge(const Beam& self, Block* block, int64_t* bytes) {
  *bytes += PriceOf(self, *block);
  block->left = true;
  block->written = !block->copied;
  block->copied = true;
}

// Its bytes are whole: it has not left after all.
void Refund(const Beam& self, Block* block, int64_t* bytes) {
  block->left = false;
  block->copied = !block->written;
  *bytes -= PriceOf(self, *block);
}

[[gnu::cold]] Status FindUses(Beam* self) {
  const OperatorGraph& g = self->graph;
  const uint32_t n = static_cast<uint32_t>(self->decisions.order.size());
  Span<uint32_t> end,
      later;  // per tensor: of the stay, 0 = none; the next use, plus one
  SLUICE_TRY(self->arena->Allocate(g.tensors.size(), &end));
  SLUICE_TRY(self->arena->Allocate(g.tensors.size(), &later));
  SLUICE_TRY(self->arena->Allocate(n, &self->first_use));
  SLUICE_TRY(self->arena->Allocate(n + kAhead, &self->largest_new));
  for (uint32_t t = n; t-- > 0;) {
    const Operator& op = g.operators[self->decisions.order[t]];
    const size_t first = self->uses.size();
    self->first_use[t] = static_cast<uint32_t>(first);
    for (uint32_t k = 0; k < op.input_count + op.output_count; ++k) {
      const bool input = k < op.input_count;
      const uint32_t slot =
          input ? op.first_input + k : op.first_output + k - op.input_count;
      const uint32_t a = g.operands[slot];
      if (later[a] > first) continue;  // a second slot of this step
      const bool last = later[a] == 0;
      if (!last) self->uses[later[a] - 1].first = false;
      if (end[a] == 0) end[a] = t + 1;
      SLUICE_TRY(self->uses.Push(Use{a, end[a], true, last}));
      later[a] = static_cast<uint32_t>(self->uses.size());
      if (input && self->decisions.fetch[slot] == 0) continue;
      self->largest_new[t] = Max(self->largest_new[t], g.tensors[a].bytes);
      end[a] = 0;
    }
  }
  return Status::kOk;
}

// What the decisions cost up to each step.
[[gnu::cold]] Status FindPlanned(Beam* self) {
  Span<uint8_t> copied;
  SLUICE_TRY(self->arena->Allocate(self->graph.tensors.size(), &copied));
  SLUICE_TRY(self->arena->Allocate(self->first_use.size(), &self->planned));
  int64_t bytes = 0;
  for (uint32_t t = 0; t < self->planned.size(); ++t) {
    for (const Use& use : UsesAt(*self, t)) {
      if (use.last || use.end != t + 1) continue;
      Block block = {};
      block.bytes = self->graph.tensors[use.tensor].bytes;
      block.tensor = use.tensor;
      block.copied = copied[use.tensor] != 0;
      Charge(*self, &block, &bytes);
      copied[use.tensor] = 1;
    }
    self->planned[t] = bytes;
  }
  return Status::kOk;
}

// What room that lies apart may cost in the next steps. Looks no further when it comes to
// `enough`.
int64_t Apart(const Beam& self, Span<const Block> blocks, int64_t enough) {
  int64_t sum = 0, widest = 0;
  uint32_t soonest = 0;  // until then the widest gap stays as it is
  for (uint32_t ahead = 1; ahead < kAhead && 2 * sum / kAhead < enough; ++ahead) {
    const uint32_t t = self.step + ahead;
    const int64_t wanted = self.largest_new[t];
    if (wanted == 0) continue;
    if (t >= soonest) {
      int64_t at = 0;
      widest = 0;
      soonest = kNever;
      for (const Block& b : blocks) {
        if (b.left || b.end <= t) continue;
        soonest = Min(soonest, b.end);
        widest = Max(widest, b.offset - at);
        at = b.offset + b.bytes;
      }
      widest = Max(widest, self.options.capacity - at);
    }
    if (widest < wanted) sum += (wanted - widest) * (kAhead - ahead);
  }
  return 2 * sum / kAhead;
}

uint64_t HashOf(const Block& block, int64_t offset) {
  uint64_t z = static_cast<uint64_t>(offset) * 0x9e3779b97f4a7c15u + block.tensor;
  if (block.left) z = ~z;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  return z ^ (z >> 27);
}

// Whether the layout, or its mirror image, was made in this step before, for no more
// bytes. Forgets some.
bool IsKnown(Beam* self, const Layout& layout) {
  uint64_t hash = 0, mirrored = 0;
  for (uint32_t i = 0; i < layout.block_count; ++i) {
    const Block& b = self->next.blocks[layout.first_block + i];
    hash += HashOf(b, b.offset);
    mirrored += HashOf(b, self->options.capacity - b.offset - b.bytes);
  }
  hash = hash * mirrored + static_cast<uint64_t>(layout.bytes);
  uint64_t* const seen = &self->seen[hash % kSeen];
  hash ^= (self->step + (uint64_t{self->width} << 32)) * 0x94d049bb133111ebu;
  const bool known = *seen == hash;
  *seen = hash;
  return known;
}

// Notes the score of a layout. From `width` layouts on, worse ones are not made.
Status Rank(Beam* self, int64_t score) {
  Vector<int64_t>& heap = self->best;
  size_t at = heap.size();
  if (at < self->width) {
    SLUICE_TRY(heap.Push(score));
    for (; at != 0 && heap[(at - 1) / 2] < score; at = (at - 1) / 2)
      heap[at] = heap[(at - 1) / 2];
  } else {
    at = 0;
    for (size_t child; (child = 2 * at + 1) < heap.size(); at = child) {
      if (child + 1 < heap.size() && heap[child] < heap[child + 1]) ++child;
      if (heap[child] <= score) break;
      heap[at] = heap[child];
    }
  }
  heap[at] = score;
  if (heap.size() == self->width) self->limit = Min(self->options.give_up, heap[0]);
  return Status::kOk;
}

// The step ends: what is not read again goes, what is planned to leave is charged.
Status Finish(Beam* self, size_t from, int64_t bytes) {
  Generation* next = &self->next;
  Layout layout = {next->blocks.size(), 0, static_cast<uint32_t>(self->traces.size()),
                   bytes, 0};
  for (size_t i = from; i < self->stack.size(); ++i) {
    Block block = self->stack[i];
    if (self->use_of[block.tensor] != 0) {
      if (block.tensor == self->taken_over) {
        block.tensor = self->taker;
        block.copied = false;
      }
      const Use& use = UseOf(*self, block.tensor);
      if (use.last) continue;
      block.used = self->step;
      block.end = use.end;
      if (use.end == self->step + 1) Charge(*self, &block, &layout.bytes);
    }
    SLUICE_TRY(next->blocks.Push(block));
    ++layout.block_count;
  }
  const Span<const Block> blocks(next->blocks.data() + layout.first_block,
                                 layout.block_count);
  layout.score = layout.bytes + Apart(*self, blocks, self->limit - layout.bytes);
  if (layout.score >= self->limit || IsKnown(self, layout)) {
    next->blocks.Truncate(layout.first_block);
    return Status::kOk;
  }
  SLUICE_TRY(Rank(self, layout.score));
  SLUICE_TRY(
      self->traces.Push(Trace{self->parent, static_cast<uint32_t>(self->entries.size()),
                              static_cast<uint32_t>(self->wanted.size())}));
  for (const Entry& entry : self->wanted) SLUICE_TRY(self->entries.Push(entry));
  return next->layouts.Push(layout);
}

// A stretch of the scratchpad that moves upwards past the blocks of a layout, which are in
// order of their offsets, and what it costs to have it free.
struct Stretch {
  const Beam& self;
  Span<const Block> blocks;
  int64_t bytes;
  size_t first = 0, behind = 0;  // blocks that it meets
  int64_t cost = 0;
  uint32_t fixed = 0;  // blocks there that may not leave

  bool IsFixed(const Block& b) const {
    return self.use_of[b.tensor] != 0 &&
           (b.used == self.step ||
            (b.used + 1 == self.step && !b.copied && self.moves == Moves::kIdle));
  }
  void MoveTo(int64_t at) {
    for (; behind < blocks.size() && blocks[behind].offset < at + bytes; ++behind) {
      const Block& b = blocks[behind];
      if (b.left) continue;
      cost += PriceOf(self, b);
      fixed += IsFixed(b);
    }
    for (; first < behind && blocks[first].offset + blocks[first].bytes <= at;
         ++first) {
      const Block& b = blocks[first];
      if (b.left) continue;
      cost -= PriceOf(self, b);
      fixed -= IsFixed(b);
    }
  }
  // By how many steps its neighbours outlive a stay until `end`, or end before it.
  int64_t Misfit(int64_t at, uint32_t end) const {
    const auto apart = [&](size_t block, bool touches) {
      if (!touches || blocks[block].left) return kMisfit;
      const uint32_t other = blocks[block].end;
      return Min<int64_t>(kMisfit, other > end ? other - end : end - other);
    };
    const int64_t top = at + bytes;
    const bool below =
        first > 0 && blocks[first - 1].offset + blocks[first - 1].bytes == at;
    const bool above = behind < blocks.size() && blocks[behind].offset == top;
    return (at == 0 ? 0 : apart(first - 1, below)) +
           (top == self.options.capacity ? 0 : apart(behind, above));
  }
};

bool IsBetter(const Candidate& a, const Candidate& b) {
  if (a.cost != b.cost) return a.cost < b.cost;
  if (a.misfit != b.misfit) return a.misfit < b.misfit;
  return a.offset < b.offset;
}

// The best places for a tensor of this step.
struct Places {
  uint32_t count = 0;
  Candidate best[kPlaces] = {};
};

void Offer(Stretch* stretch, uint32_t end, int64_t at, Places* places) {
  if (at < 0 || at + stretch->bytes > stretch->self.options.capacity) return;
  stretch->MoveTo(at);
  uint32_t* const count = &places->count;
  Candidate* const best = places->best;
  if (stretch->fixed != 0 ||
      (*count == kPlaces && stretch->cost > best[*count - 1].cost)) {
    return;
  }
  const Candidate c = {stretch->cost, stretch->Misfit(at, end), at};
  uint32_t i = 0;
  for (uint32_t k = 0; k < *count; ++k) {
    if (best[k].offset == at) return;
    if (IsBetter(best[k], c)) i = k + 1;
  }
  if (i == kPlaces) return;
  if (*count < kPlaces) ++*count;
  for (uint32_t k = *count - 1; k > i; --k) best[k] = best[k - 1];
  best[i] = c;
}

// Buffers that find no place in a step can be tried in very many ways. Decisions need a
// plan even when the time is over; they hurry instead.
Status Poll(Beam* self, uint64_t blocks) {
  self->looks += 2 * blocks * blocks + 1;
  if (self->looks < kLooksPerPoll) return Status::kOk;
  self->looks = 0;
  if (!self->budget->Exhausted()) return Status::kOk;
  self->hurried = true;
  const bool stop = !self->options.given.empty() || self->arena->memory()->Stop();
  return stop ? Status::kStopped : Status::kOk;
}

Status PlaceNext(Beam* self, size_t from, int64_t bytes, size_t turn);

// Gives the tensor whose turn it is this address in a layout in the
// making: what lies there leaves.
Status PlaceAt(Beam* self, Made layout, int64_t bytes, size_t turn, int64_t at) {
  const uint32_t a = self->wanted[turn].tensor;
  const Use& use = UseOf(*self, a);
  const int64_t behind = at + self->graph.tensors[a].bytes;
  const size_t base = self->stack.size(), count = self->wanted.size();
  const Block mine = {at,         behind - at, a,     use.end,
                      self->step, !use.first,  false, false};
  bool in = false;
  for (size_t i = layout.begin; i < layout.end; ++i) {
    Block b = self->stack[i];
    if (!in && b.offset >= at) {
      SLUICE_TRY(self->stack.Push(mine));
      in = true;
    }
    if (b.offset + b.bytes <= at || b.offset >= behind) {
      SLUICE_TRY(self->stack.Push(b));
    } else if (!b.left) {
      Charge(*self, &b, &bytes);
      if (self->use_of[b.tensor] != 0)
        SLUICE_TRY(self->wanted.Push(Entry{0, b.tensor}));
    }
  }
  if (!in) SLUICE_TRY(self->stack.Push(mine));
  self->wanted[turn].offset = at;
  if (bytes < self->limit) SLUICE_TRY(PlaceNext(self, base, bytes, turn + 1));
  self->stack.Truncate(base);
  self->wanted.Truncate(count);
  return Status::kOk;
}

Status PlaceNext(Beam* self, size_t from, int64_t bytes, size_t turn) {
  if (turn == self->wanted.size()) return Finish(self, from, bytes);
  const uint32_t a = self->wanted[turn].tensor;
  const int64_t size = self->graph.tensors[a].bytes;
  const Made layout = {from, self->stack.size()};
  if (!self->options.given.empty() && self->options.given[a] != kFreeOffset)
    return PlaceAt(self, layout, bytes, turn, self->options.given[a]);
  const Span<const Block> blocks(self->stack.data() + from, layout.end - from);
  SLUICE_TRY(Poll(self, blocks.size()));
  Places places;
  const uint32_t end = UseOf(*self, a).end;
  Stretch above = {*self, blocks, size}, below = {*self, blocks, size};
  Offer(&above, end, 0, &places);
  for (const Block& b : blocks) Offer(&above, end, b.offset + b.bytes, &places);
  for (const Block& b : blocks) Offer(&below, end, b.offset - size, &places);
  Offer(&below, end, self->options.capacity - size, &places);
  ++self->turns;
  for (uint32_t i = 0; i < places.count; ++i) {
    const bool one = self->hurried || self->turns > kTurns;
    if (bytes + places.best[i].cost >= self->limit || (i != 0 && one)) break;
    SLUICE_TRY(PlaceAt(self, layout, bytes, turn, places.best[i].offset));
  }
  return Status::kOk;
}

// All ways to run the step after one layout.
Status Expand(Beam* self, const Layout& layout) {
  const OperatorGraph& g = self->graph;
  int64_t bytes = layout.bytes;
  self->parent = layout.trace;
  self->turns = 0;
  self->stack.Truncate(0);
  self->wanted.Truncate(0);
  for (const Use& use : UsesAt(*self, self->step)) {
    bool here = use.tensor == self->taker;
    for (uint32_t i = 0; i < layout.block_count && !here; ++i) {
      here = self->moves != Moves::kAll &&
             self->now.blocks[layout.first_block + i].tensor == use.tensor;
    }
    if (!here) SLUICE_TRY(self->wanted.Push(Entry{0, use.tensor}));
  }
  for (uint32_t i = 0; i < layout.block_count; ++i) {
    Block block = self->now.blocks[layout.first_block + i];
    if (self->moves == Moves::kAll) {
      if (!block.left) Charge(*self, &block, &bytes);
      continue;
    }
    if (block.left && self->use_of[block.tensor] != 0) Refund(*self, &block, &bytes);
    SLUICE_TRY(self->stack.Push(block));
  }
  Sort(self->wanted.begin(), self->wanted.end(), [&](const Entry& a, const Entry& b) {
    const int64_t x = g.tensors[a.tensor].bytes, y = g.tensors[b.tensor].bytes;
    return x != y ? x > y : a.tensor < b.tensor;
  });
  return PlaceNext(self, 0, bytes, 0);
}

// Keeps the best layouts of the next step.
Status Keep(Beam* self) {
  const Vector<Layout>& all = self->next.layouts;
  Vector<uint32_t>& ranked = self->ranked;
  ranked.Truncate(0);
  for (uint32_t i = 0; i < all.size(); ++i) SLUICE_TRY(ranked.Push(i));
  Sort(ranked.begin(), ranked.end(), [&](uint32_t a, uint32_t b) {
    return all[a].score != all[b].score ? all[a].score < all[b].score : a < b;
  });
  self->now.blocks.Truncate(0);
  self->now.layouts.Truncate(0);
  for (size_t i = 0; i < Min<size_t>(self->width, ranked.size()); ++i) {
    Layout layout = all[ranked[i]];
    const Block* const blocks = self->next.blocks.data() + layout.first_block;
    layout.first_block = self->now.blocks.size();
    for (uint32_t b = 0; b < layout.block_count; ++b)
      SLUICE_TRY(self->now.blocks.Push(blocks[b]));
    SLUICE_TRY(self->now.layouts.Push(layout));
  }
  self->next.blocks.Truncate(0);
  self->next.layouts.Truncate(0);
  return Status::kOk;
}

// In-place: the output takes over the bytes of an operand that nobody reads later.
void FindTaker(Beam* self) {
  const OperatorGraph& g = self->graph;
  const Operator& op = g.operators[self->decisions.order[self->step]];
  self->taken_over = self->taker = kNoOperand;
  if (op.in_place == kNoOperand) return;
  const uint32_t from = g.InputsOf(op)[op.in_place], to = g.OutputsOf(op)[0];
  if (!UseOf(*self, from).last || g.tensors[from].bytes != g.tensors[to].bytes) return;
  self->taken_over = from;
  self->taker = to;
}

Status Step(Beam* self) {
  const Span<const Use> uses = UsesAt(*self, self->step);
  for (uint32_t i = 0; i < uses.size(); ++i)
    self->use_of[uses[i].tensor] = self->first_use[self->step] + i + 1;
  FindTaker(self);
  for (const Moves moves : {Moves::kIdle, Moves::kMost, Moves::kAll}) {
    self->moves = moves;
    self->best.Truncate(0);
    self->limit = self->options.give_up;
    for (const Layout& layout : self->now.layouts) {
      if (layout.bytes < self->limit) SLUICE_TRY(Expand(self, layout));
      const bool over = self->options.given.empty() && self->budget->Tick();
      if (over && self->next.layouts.size() >= kHurried) break;
    }
    if (self->next.layouts.size() != 0) break;
  }
  for (const Use& use : uses) self->use_of[use.tensor] = 0;
  return Keep(self);
}

Status CopyTo(const Generation& from, Generation* to) {
  to->blocks.Truncate(0);
  to->layouts.Truncate(0);
  for (const Block& b : from.blocks) SLUICE_TRY(to->blocks.Push(b));
  for (const Layout& l : from.layouts) SLUICE_TRY(to->layouts.Push(l));
  return Status::kOk;
}

uint32_t Fewest(const Beam& self) { return Max(1u, self.options.width / kWiden); }

// After some steps: goes on, or back to where they began, with more layouts.
Status GoOn(Beam* self, Mark* mark) {
  int64_t excess = INT64_MAX;
  for (const Layout& layout : self->now.layouts)
    excess = Min(excess, layout.bytes - self->planned[self->step - 1]);
  if (excess > mark->excess && self->width < self->options.width) {
    self->width = Min(kWiden * self->width, self->options.width);
    self->step = mark->step;
    self->traces.Truncate(mark->traces);
    self->entries.Truncate(mark->entries);
    return CopyTo(mark->layouts, &self->now);
  }
  self->width = Fewest(*self);
  mark->step = self->step;
  mark->traces = self->traces.size();
  mark->entries = self->entries.size();
  mark->excess = excess;
  return CopyTo(self->now, &mark->layouts);
}

[[gnu::cold]] Status Search(Beam* self) {
  SLUICE_TRY(self->arena->Allocate(self->graph.tensors.size(), &self->use_of));
  SLUICE_TRY(self->arena->Allocate(kSeen, &self->seen));
  SLUICE_TRY(self->now.layouts.Push(Layout{0, 0, kNever, 0, 0}));
  Mark mark = {{Vector<Block>(self->arena), Vector<Layout>(self->arena)}};
  SLUICE_TRY(CopyTo(self->now, &mark.layouts));
  const bool may_leave = self->options.given.empty();
  if (may_leave) self->width = Fewest(*self);
  const size_t steps = self->decisions.order.size();
  while (self->step < steps && self->now.layouts.size() != 0) {
    const bool over = self->budget->Exhausted();
    if (over) self->width = Min(self->width, kHurried);
    SLUICE_TRY(Step(self));
    ++self->step;
    const bool ends = self->step == steps || self->now.layouts.size() == 0 ||
                      self->step == mark.step + kTogether;
    if (may_leave && ends && !over) SLUICE_TRY(GoOn(self, &mark));
  }
  return Status::kOk;
}

// The residences of the best layout at the end, in spans that *plan has.
[[gnu::cold]] Status TracePlan(const Beam& self, const Layout& last, SpillPlan* plan) {
  const OperatorGraph& g = self.graph;
  const Span<const uint32_t> order = self.decisions.order;
  Span<uint32_t> chain;
  Span<uint8_t> fetch;
  SLUICE_TRY(self.arena->Allocate(order.size(), &chain));
  SLUICE_TRY(self.arena->Allocate(g.operands.size(), &fetch));
  for (size_t t = order.size(), at = last.trace; t-- > 0; at = self.traces[at].parent)
    chain[t] = static_cast<uint32_t>(at);
  const auto entries_at = [&](size_t t) {
    const Trace& trace = self.traces[chain[t]];
    return Span<const Entry>(self.entries.data() + trace.first_entry,
                             trace.entry_count);
  };
  for (size_t t = 0; t < order.size(); ++t) {
    const Operator& op = g.operators[order[t]];
    for (const Entry& entry : entries_at(t)) {
      for (uint32_t k = 0; k < op.input_count; ++k)
        fetch[op.first_input + k] |= g.operands[op.first_input + k] == entry.tensor;
    }
  }
  SpillPlan built;
  SLUICE_TRY(BuildResidences(g, order, fetch, self.options.charge, self.arena, &built));
  plan->residences = plan->residences.Slice(0, built.residences.size());
  std::copy(built.residences.begin(), built.residences.end(), plan->residences.begin());
  plan->spill_bytes = built.spill_bytes;
  plan->retrieve_bytes = built.retrieve_bytes;
  plan->peak_bytes = 0;
  for (Residence& stay : plan->residences) {
    for (const Entry& entry : entries_at(stay.begin)) {
      if (entry.tensor == stay.tensor) stay.offset = entry.offset;
    }
    if (stay.takes_over != kNoOperand)
      stay.offset = plan->residences[stay.takes_over].offset;
    plan->peak_bytes =
        Max(plan->peak_bytes, stay.offset + g.tensors[stay.tensor].bytes);
  }
  plan->placed = true;
  return Status::kOk;
}

[[gnu::cold]] Status RunBeam(const OperatorGraph& graph,
                             const AddressBeamOptions& options,
                             const SpillDecisions& decisions, const Workspace& work,
                             SpillPlan* plan) {
  ArenaScope scope(work.arena);
  Beam beam = {graph, options, decisions, work.budget, work.arena};
  SLUICE_TRY(FindUses(&beam));
  SLUICE_TRY(FindPlanned(&beam));
  SLUICE_TRY(Search(&beam));
  const Layout* best = nullptr;
  for (const Layout& layout : beam.now.layouts) {
    if (best == nullptr || layout.bytes < best->bytes) best = &layout;
  }
  return best == nullptr ? Status::kOk : TracePlan(beam, *best, plan);
}

}  // namespace

Status PlaceDecisions(const OperatorGraph& graph, const AddressBeamOptions& options,
                      const SpillDecisions& decisions, const Workspace& work,
                      SpillPlan* plan) {
  SLUICE_TRY(BuildResidences(graph, decisions.order, decisions.fetch, options.charge,
                             work.arena, plan));
  if (options.max_nodes != 0) {
    AddressOptions address;
    address.capacity = options.capacity;
    address.max_nodes = options.max_nodes;
    const Status status =
        PlaceResidences(graph, address, work.budget, work.arena, plan);
    if (status == Status::kOk || status == Status::kOutOfMemory) return status;
  }
  if (options.width == 0) return Status::kOk;
  size_t most = graph.tensors.size();
  for (const Operator& op : graph.operators) most += op.input_count;
  SLUICE_TRY(work.arena->Allocate(most, &plan->residences));
  return RunBeam(graph, options, decisions, work, plan);
}

}  // namespace sluice
