// SPDX-License-Identifier: Apache-2.0
#include "lower/tokens.h"

#include <new>

#include "base/checked.h"
#include "lower/token_depth.h"

namespace sluice {
namespace {

constexpr uint32_t kNothing = SLUICE_NONE;
constexpr uint64_t kMostCells = uint64_t{1} << 30;  // of all clocks together

struct Cursor {  // position of an engine in its list
  uint32_t visit;
  uint32_t index;  // in the body; kNothing: at the start of the visit
  uint32_t wait;   // waits of the instruction that are known to hold
};

struct Build {
  const StreamLists& lists;
  Arena* arena;    // of the graph
  Arena* scratch;  // of what one instruction needs
  TokenGraph* graph;
  Diagnostic* diagnostic;
  Span<uint32_t> column;       // of each engine; kNothing: neither work nor channel
  Span<Cursor> cursors;        // by column
  Span<uint32_t> node_of;      // by number; kNothing: not in P yet
  Span<uint32_t> position_of;  // by number: 1-based place in its column's list
  Span<uint32_t> need;         // by column, of the instruction at hand: positions
  Span<uint32_t> before;       // by visit and column: instructions in earlier visits
  Span<uint32_t> own;          // numbers, column by column, each in its engine's order
  Span<size_t> first_own;      // of each column
  uint32_t at;                 // its number, for messages
};

// ---- Columns and channels

Status AddColumns(Span<const sluice_token_channel_t> channels, Build* b) {
  const StreamLists& s = b->lists;
  SLUICE_TRY(b->scratch->Allocate(s.engines, &b->column));
  for (uint32_t& c : b->column) c = kNothing;
  for (const ListBlock& block : s.blocks) {
    for (uint32_t e = 0; e < s.engines; ++e) {
      if (block.list[e] != block.list[e + 1]) b->column[e] = 0;
    }
  }
  for (const sluice_token_channel_t& c : channels) {
    b->column[c.producer] = b->column[c.consumer] = 0;
  }
  uint32_t columns = 0;
  for (uint32_t& c : b->column) {
    if (c != kNothing) c = columns++;
  }
  if (uint64_t{s.instructions} * columns > kMostCells) {
    return Fail(b->diagnostic, Status::kUnsupported, "tokens")
        .Text("too many instructions for so many engines");
  }
  TokenGraph* g = b->graph;
  SLUICE_TRY(b->arena->Allocate(columns, &g->engine));
  SLUICE_TRY(b->arena->Allocate(columns, &g->lists));
  for (uint32_t e = 0; e < s.engines; ++e) {
    if (b->column[e] == kNothing) continue;
    g->engine[b->column[e]] = e;
    void* list = b->arena->AllocateBytes(sizeof(Sequence<uint32_t>),
                                         alignof(Sequence<uint32_t>));
    if (list == nullptr) return Status::kOutOfMemory;
    g->lists[b->column[e]] = new (list) Sequence<uint32_t>(b->arena);
  }
  SLUICE_TRY(b->arena->Allocate(channels.size(), &g->channels));
  for (size_t c = 0; c < channels.size(); ++c) {
    g->channels[c] = {b->column[channels[c].producer], b->column[channels[c].consumer]};
  }
  return Status::kOk;
}

// The channel from one column to another, or kNothing.
uint32_t ChannelOf(const TokenGraph& g, uint32_t from, uint32_t to) {
  for (uint32_t c = 0; c < g.channels.size(); ++c) {
    if (g.channels[c].from == from && g.channels[c].to == to) return c;
  }
  return kNothing;
}

// The last column before `to` on a shortest way from `from`, of several the one whose
// channels come first; kNothing: there is no way.
uint32_t LastStop(const TokenGraph& g, uint32_t from, uint32_t to) {
  struct Stop {
    uint32_t column, before;
  } stops[SLUICE_TOKEN_CHANNELS_MAX + 1];
  uint32_t n = 0;
  stops[n++] = {from, from};
  for (uint32_t i = 0; i < n; ++i) {
    for (const TokenChannel& c : g.channels) {
      if (c.from != stops[i].column) continue;
      if (c.to == to) return c.from;
      bool known = false;
      for (uint32_t k = 0; k < n; ++k) known = known || stops[k].column == c.to;
      if (!known) stops[n++] = {c.to, c.from};
    }
  }
  return kNothing;
}

// ---- One node

const TokenNode& NodeAt(const TokenGraph& g, uint32_t column, uint32_t position) {
  return g.nodes[(*g.lists[column])[position - 1]];
}

// How many nodes of column e have completed, in every timing, when the next node of
// column q starts, by the order of q's list alone.
uint32_t KnownAt(const TokenGraph& g, uint32_t q, uint32_t e) {
  const uint32_t done = static_cast<uint32_t>(g.lists[q]->size());
  if (e == q || done == 0) return e == q ? done : 0;
  return NodeAt(g, q, done).clock[e];
}

// Takes out of `need` what the list of column q or another need implies.
void DropImplied(const TokenGraph& g, uint32_t q, Span<uint32_t> need) {
  for (uint32_t e = 0; e < need.size(); ++e) {
    if (need[e] != 0 && need[e] <= KnownAt(g, q, e)) need[e] = 0;
  }
  for (uint32_t e = 0; e < need.size(); ++e) {
    for (uint32_t f = 0; need[e] != 0 && f < need.size(); ++f) {
      if (f == e || need[f] == 0) continue;
      if (NodeAt(g, f, need[f]).clock[e] >= need[e]) need[e] = 0;
    }
  }
}

// The first position of column v at which all of `need` has completed; 0: there is
// none.
uint32_t FirstCovering(const TokenGraph& g, uint32_t v, Span<const uint32_t> need) {
  const auto covers = [&](uint32_t position) {
    const uint32_t* clock = NodeAt(g, v, position).clock;
    for (uint32_t e = 0; e < need.size(); ++e) {
      if (clock[e] < need[e]) return false;
    }
    return true;
  };
  uint32_t high = static_cast<uint32_t>(g.lists[v]->size());
  if (high == 0 || !covers(high)) return 0;
  uint32_t low = 0;  // does not cover; high does: clocks of a list grow
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (covers(middle) ? high : low) = middle;
  }
  return high;
}

// Moves a cursor to its engine's next instruction; false at the end of the list.
bool Settle(const StreamLists& s, uint32_t engine, Cursor* cursor) {
  while (cursor->visit < s.visits.size()) {
    const ListBlock& block = s.BlockOf(cursor->visit);
    if (cursor->index == kNothing) cursor->index = block.list[engine];
    if (cursor->index < block.list[engine + 1]) return true;
    ++cursor->visit;
    cursor->index = kNothing;
  }
  return false;
}

uint32_t NumberAt(const StreamLists& s, const Cursor& cursor) {
  return s.first_number[cursor.visit] + cursor.index;
}

// Appends a node to the list of column q. Each entry of `need` becomes a token; its
// column has a channel to q.
Status PushNode(Build* b, uint32_t q, Span<const uint32_t> need, uint32_t number) {
  TokenGraph* g = b->graph;
  Span<uint32_t> clock;
  SLUICE_TRY(b->arena->Allocate(need.size(), &clock));
  for (uint32_t e = 0; e < clock.size(); ++e) clock[e] = KnownAt(*g, q, e);
  TokenNode node = {q, number, kNothing, clock.data(), {0, 0}};
  for (uint32_t e = 0; e < need.size(); ++e) {
    if (need[e] == 0) continue;
    const uint32_t other = (*g->lists[e])[need[e] - 1];
    const uint64_t bit = uint64_t{1} << ChannelOf(*g, e, q);
    g->nodes[other].step.pushes |= bit;
    node.step.pops |= bit;
    const uint32_t* from = g->nodes[other].clock;
    for (uint32_t f = 0; f < clock.size(); ++f) clock[f] = Max(clock[f], from[f]);
    clock[e] = Max(clock[e], need[e]);
  }
  if (number == kNothing) {
    ++g->relays;
    Cursor* next = &b->cursors[q];
    if (Settle(b->lists, g->engine[q], next)) node.before = NumberAt(b->lists, *next);
  }
  const uint32_t index = static_cast<uint32_t>(g->nodes.size());
  SLUICE_TRY(g->nodes.Push(node));
  SLUICE_TRY(g->lists[q]->Push(index));
  if (number == kNothing) return Status::kOk;
  b->node_of[number] = index;
  b->position_of[number] = static_cast<uint32_t>(g->lists[q]->size());
  return Status::kOk;
}

Status NoPath(const Build& b, uint32_t from, uint32_t to) {
  return Fail(b.diagnostic, Status::kInfeasible, "tokens")
      .Rule("path")
      .Instruction(b.at)
      .Say(
          "instruction # needs engine # to wait for engine #, and no channels lead "
          "there",
          b.at, b.graph->engine[to], b.graph->engine[from]);
}

Status AddNode(Build* b, uint32_t q, Span<uint32_t> need, uint32_t number);

// Finds the first position of column v at which all of `through` has completed, so that
// columns to which v has a channel can wait for v instead. If there is none, appends a
// relay that waits for `through` to v.
Status PassOn(Build* b, uint32_t v, Span<uint32_t> through, uint32_t* position) {
  *position = FirstCovering(*b->graph, v, through);
  if (*position != 0) return Status::kOk;
  SLUICE_TRY(AddNode(b, v, through, kNothing));
  *position = static_cast<uint32_t>(b->graph->lists[v]->size());
  return Status::kOk;
}

// Appends an instruction, or a relay (number kNothing), that waits for `need`, and the
// relays on the way. The recursion ends because each relay is one channel nearer to the
// awaited column.
Status AddNode(Build* b, uint32_t q, Span<uint32_t> need, uint32_t number) {
  const TokenGraph& g = *b->graph;
  DropImplied(g, q, need);
  bool relayed = false;
  for (uint32_t e = 0; e < need.size(); ++e) {
    if (need[e] == 0 || ChannelOf(g, e, q) != kNothing) continue;
    const uint32_t v = LastStop(g, e, q);
    if (v == kNothing) return NoPath(*b, e, q);
    ArenaScope scope(b->scratch);
    Span<uint32_t> through;
    SLUICE_TRY(b->scratch->Allocate(need.size(), &through));
    for (uint32_t f = e; f < need.size(); ++f) {
      if (need[f] == 0 || ChannelOf(g, f, q) != kNothing || LastStop(g, f, q) != v) {
        continue;
      }
      through[f] = need[f];
      need[f] = 0;
    }
    uint32_t position = 0;
    SLUICE_TRY(PassOn(b, v, through, &position));
    need[v] = Max(need[v], position);
    relayed = true;
  }
  if (relayed) DropImplied(g, q, need);
  return PushNode(b, q, need, number);
}

// ---- The walk

// Numbers each engine's instructions in the order of its list.
Status CountOwn(Build* b) {
  const StreamLists& s = b->lists;
  const Span<uint32_t> engine = b->graph->engine;
  const size_t columns = engine.size();
  if (uint64_t{s.visits.size()} * columns > kMostCells) {
    return Fail(b->diagnostic, Status::kUnsupported, "tokens")
        .Text("too many visits for so many engines");
  }
  SLUICE_TRY(b->scratch->Allocate((s.visits.size() + 1) * columns, &b->before));
  SLUICE_TRY(b->scratch->Allocate(s.instructions, &b->own));
  SLUICE_TRY(b->scratch->Allocate(columns, &b->first_own));
  size_t at = 0;
  for (size_t c = 0; c < columns; ++c) {
    b->first_own[c] = at;
    for (uint32_t v = 0; v < s.visits.size(); ++v) {
      const ListBlock& block = s.BlockOf(v);
      const uint32_t begin = block.list[engine[c]], end = block.list[engine[c] + 1];
      for (uint32_t i = begin; i < end; ++i) b->own[at++] = s.first_number[v] + i;
      b->before[(v + size_t{1}) * columns + c] =
          b->before[v * columns + c] + end - begin;
    }
  }
  return Status::kOk;
}

// The number of the last instruction that a wait of a visit needs, or kNothing.
uint32_t NumberOf(const Build& b, uint32_t visit, const sluice_wait_t& wait) {
  const uint32_t c = b.column[wait.engine];
  if (c == kNothing) return kNothing;
  const uint32_t before = b.before[size_t{visit} * b.graph->engine.size() + c];
  uint32_t needed = before + wait.count;
  if (wait.before != 0) needed = before > wait.count ? before - wait.count : 0;
  return needed == 0 ? kNothing : b.own[b.first_own[c] + needed - 1];
}

// Adds the instruction at column q's cursor if all its waits are in P; then *done.
Status TryStart(Build* b, uint32_t q, bool* done) {
  const StreamLists& s = b->lists;
  Cursor* cursor = &b->cursors[q];
  const ListBlock& block = s.BlockOf(cursor->visit);
  const sluice_instruction_t& instruction = block.instructions[cursor->index];
  *done = false;
  b->at = NumberAt(s, *cursor);
  for (; cursor->wait < instruction.wait_count; ++cursor->wait) {
    const uint32_t target =
        NumberOf(*b, cursor->visit, block.waits[instruction.first_wait + cursor->wait]);
    if (target == kNothing) continue;
    if (b->node_of[target] == kNothing) return Status::kOk;
  }
  for (uint32_t& n : b->need) n = 0;
  for (uint32_t w = 0; w < instruction.wait_count; ++w) {
    const sluice_wait_t& wait = block.waits[instruction.first_wait + w];
    const uint32_t target = NumberOf(*b, cursor->visit, wait);
    if (target == kNothing) continue;
    const uint32_t e = b->column[wait.engine];
    b->need[e] = Max(b->need[e], b->position_of[target]);
  }
  SLUICE_TRY(AddNode(b, q, b->need, b->at));
  ++cursor->index;
  cursor->wait = 0;
  *done = true;
  return Status::kOk;
}

// Engines take turns, one instruction each, so that a relay lies close to the place at
// which its consumer could have started.
Status Walk(Build* b) {
  const uint32_t columns = static_cast<uint32_t>(b->graph->engine.size());
  uint32_t left = b->lists.instructions;
  for (bool progress = true; progress && left != 0;) {
    progress = false;
    for (uint32_t q = 0; q < columns; ++q) {
      if (!Settle(b->lists, b->graph->engine[q], &b->cursors[q])) continue;
      bool done = false;
      SLUICE_TRY(TryStart(b, q, &done));
      progress = progress || done;
      left -= done ? 1 : 0;
    }
    if (b->arena->memory()->Stop()) return Status::kStopped;
  }
  if (left == 0) return Status::kOk;
  return Fail(b->diagnostic, Status::kBadInput, "tokens")
      .Text("the waits of the stream form a cycle");
}

Status CopyNodes(const TokenGraph& g, uint32_t instructions, Arena* arena,
                 TokenLists* out) {
  SLUICE_TRY(arena->Allocate(instructions, &out->instruction));
  SLUICE_TRY(arena->Allocate(g.relays, &out->relay));
  uint32_t relays = 0;
  for (uint32_t q = 0; q < g.lists.size(); ++q) {
    const Sequence<uint32_t>& list = *g.lists[q];
    for (size_t i = 0; i < list.size(); ++i) {
      const TokenNode& node = g.nodes[list[i]];
      if (node.number != kNothing) {
        out->instruction[node.number] = node.step;
      } else {
        out->relay[relays++] = {g.engine[q], node.before, node.step};
      }
    }
  }
  return Status::kOk;
}

}  // namespace

Status BuildTokenGraph(const StreamLists& lists,
                       Span<const sluice_token_channel_t> channels, Arena* arena,
                       TokenGraph* graph, Diagnostic* diagnostic) {
  Arena scratch(arena->memory());
  Build b = {lists, arena, &scratch, graph, diagnostic, {}, {},
             {},    {},    {},       {},    {},         {}, 0};
  SLUICE_TRY(AddColumns(channels, &b));
  SLUICE_TRY(CountOwn(&b));
  SLUICE_TRY(scratch.Allocate(graph->engine.size(), &b.cursors));
  SLUICE_TRY(scratch.Allocate(graph->engine.size(), &b.need));
  SLUICE_TRY(scratch.Allocate(lists.instructions, &b.node_of));
  SLUICE_TRY(scratch.Allocate(lists.instructions, &b.position_of));
  for (Cursor& cursor : b.cursors) cursor.index = kNothing;
  for (uint32_t& node : b.node_of) node = kNothing;
  return Walk(&b);
}

Status MakeTokens(const TokenCall& call, Arena* out_arena, TokenLists* out,
                  Diagnostic* diagnostic) {
  Arena scratch(out_arena->memory());
  StreamLists lists = {};
  SLUICE_TRY(ReadStreamLists(call.stream, &scratch, &lists, diagnostic));
  for (size_t c = 0; c < call.channels.size(); ++c) {
    const sluice_token_channel_t& channel = call.channels[c];
    bool twice = false;
    for (size_t o = 0; o < c; ++o) {
      twice = twice || (call.channels[o].producer == channel.producer &&
                        call.channels[o].consumer == channel.consumer);
    }
    if (twice || channel.producer >= lists.engines ||
        channel.consumer >= lists.engines || channel.producer == channel.consumer ||
        channel.reserved != 0) {
      return Fail(diagnostic, Status::kBadArgument, "tokens")
          .Say("channel #", c)
          .Text(twice ? " leads where another one leads"
                      : " does not lead from one engine of the stream to another");
    }
  }
  TokenGraph graph(&scratch);
  SLUICE_TRY(BuildTokenGraph(lists, call.channels, &scratch, &graph, diagnostic));
  SLUICE_TRY(out_arena->Allocate(call.channels.size(), &out->channel));
  SLUICE_TRY(out_arena->Allocate(lists.visits.size(), &out->visit));
  for (size_t v = 0; v < lists.visits.size(); ++v) out->visit[v] = lists.visits[v];
  SLUICE_TRY(FindDepths(graph, call.channels, &scratch, out, diagnostic));
  return CopyNodes(graph, lists.instructions, out_arena, out);
}

}  // namespace sluice
