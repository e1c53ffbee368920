// SPDX-License-Identifier: Apache-2.0
// Loops of a stream: checks their rules, and lists the visits of its instances.
#include "base/checked.h"
#include "verify/stream_view.h"

namespace sluice {
namespace judge {
Nest NestOf(const StreamView& s, const sluice_instance_t& instance) {
  Nest inner, nest;
  if (instance.first_step == SLUICE_NONE) return nest;
  uint32_t at = static_cast<uint32_t>(s.steps[instance.first_step]);
  for (; at != SLUICE_NONE; at = s.loops[at].parent) inner.loop[inner.depth++] = at;
  for (uint32_t d = inner.depth; d-- > 0;) nest.loop[nest.depth++] = inner.loop[d];
  return nest;
}

namespace {

constexpr uint32_t kMaxInstructions = 1u << 24;  // of all visits together
constexpr uint32_t kWordsOfKernel = 5;           // four of the origin, one of C

// Words that the steps of an instance take for one loop.
uint64_t WordsOf(const BlockView& block) {
  return 2 * uint64_t{block.slot_count} + kWordsOfKernel * uint64_t{block.kernel_count};
}

Status CheckLoops(Judge* judge) {
  const StreamView& s = judge->stream;
  uint32_t open[SLUICE_MAX_LOOPS];
  uint32_t depth = 0, first = 0;
  for (uint32_t l = 0; l < s.loops.size(); ++l) {
    const sluice_loop_t& loop = s.loops[l];
    while (depth > 0 && s.loops[open[depth - 1]].last < loop.first) --depth;
    const bool fits = loop.first >= first && loop.first <= loop.last &&
                      loop.last < s.instances.size() && loop.count >= 2 &&
                      depth < SLUICE_MAX_LOOPS &&
                      loop.parent == (depth == 0 ? SLUICE_NONE : open[depth - 1]) &&
                      (depth == 0 || loop.last <= s.loops[open[depth - 1]].last);
    if (!fits) {
      return Reject(*judge, "structure")
          .Say("loop # is not nested or apart, or its count or parent is wrong", l);
    }
    first = loop.first;
    open[depth++] = l;
  }
  return Status::kOk;
}

// Checks the steps of one loop for the slots of an instance: a slot in the scratchpad
// or one that a parameter moves must stay, and no base may leave the range of
// addresses.
Status CheckSlotSteps(Judge* judge, const sluice_instance_t& instance, uint32_t count,
                      size_t at) {
  const StreamView& s = judge->stream;
  const BlockView& block = s.blocks[instance.block];
  for (uint32_t slot = 0; slot < block.slot_count; ++slot) {
    const uint32_t number = instance.first_binding + slot;
    const int64_t step = static_cast<int64_t>(
        Join(static_cast<uint32_t>(s.steps[at + 2 * size_t{slot}]),
             static_cast<uint32_t>(s.steps[at + 2 * size_t{slot} + 1])));
    const bool fixed = s.bindings[number].region == SLUICE_REGION_GBUF ||
                       (s.patch_of.size() != 0 && s.patch_of[number] != kNone);
    if (fixed && step != 0) {
      return Reject(*judge, "structure")
          .Text("a loop moves a slot in the scratchpad or a patched one");
    }
    const int64_t most = static_cast<int64_t>(kAddressLimit / count);
    if (step > most || step < -most) {
      return Reject(*judge, "bounds").Text("a loop moves a slot beyond its region");
    }
  }
  return Status::kOk;
}

// Checks the steps of instance i; its innermost loop is `inner`. *visits: how many.
Status CheckSteps(Judge* judge, uint32_t i, uint32_t inner, uint64_t* visits) {
  const StreamView& s = judge->stream;
  const sluice_instance_t& instance = s.instances[i];
  const size_t first = instance.first_step;
  *visits = 1;
  if (inner == SLUICE_NONE) {
    if (instance.first_step == SLUICE_NONE) return Status::kOk;
    return Reject(*judge, "structure").Text("steps of an instance outside of loops");
  }
  uint64_t depth = 0;
  for (uint32_t l = inner; l != SLUICE_NONE; l = s.loops[l].parent) ++depth;
  const uint64_t words = WordsOf(s.blocks[instance.block]);
  if (first >= s.steps.size() || static_cast<uint32_t>(s.steps[first]) != inner ||
      first + 1 + depth * words > s.steps.size()) {
    return Reject(*judge, "structure")
        .Say("the steps of instance # are missing or name another loop", i);
  }
  const Nest nest = NestOf(s, instance);
  for (uint32_t d = 0; d < nest.depth; ++d) {
    const uint32_t count = s.loops[nest.loop[d]].count;
    *visits = Min<uint64_t>(*visits * count, kMaxInstructions + 1);
    SLUICE_TRY(CheckSlotSteps(judge, instance, count,
                              first + 1 + d * static_cast<size_t>(words)));
  }
  return Status::kOk;
}

// Checks all steps; counts instructions and visits.
Status CountVisits(Judge* judge, uint64_t* visits) {
  StreamView& s = judge->stream;
  uint32_t inner = SLUICE_NONE, next = 0;
  uint64_t instructions = 0;
  *visits = 0;
  for (uint32_t i = 0; i < s.instances.size(); ++i) {
    while (next < s.loops.size() && s.loops[next].first <= i) inner = next++;
    while (inner != SLUICE_NONE && s.loops[inner].last < i)
      inner = s.loops[inner].parent;
    uint64_t times = 0;
    SLUICE_TRY(CheckSteps(judge, i, inner, &times));
    *visits += times;
    instructions += times * s.blocks[s.instances[i].block].instructions.size();
    if (instructions > kMaxInstructions || *visits > kMaxInstructions) {
      return Fail(judge->diagnostic, Status::kUnsupported, "verify")
          .Rule("work")
          .Text("more than 2^24 instructions or visits");
    }
  }
  s.instructions = static_cast<uint32_t>(instructions);
  return Status::kOk;
}

// Goes on to the next visit.
void Advance(const StreamView& s, Visit* visit) {
  const Nest nest = NestOf(s, s.instances[visit->instance]);
  visit->first_number += static_cast<uint32_t>(
      s.blocks[s.instances[visit->instance].block].instructions.size());
  for (uint32_t d = nest.depth; d-- > 0;) {
    const sluice_loop_t& loop = s.loops[nest.loop[d]];
    if (loop.last != visit->instance) break;
    if (++visit->index[d] < loop.count) {
      visit->instance = loop.first;
      return;
    }
    visit->index[d] = 0;
  }
  ++visit->instance;
}

}  // namespace

Status ReadLoops(Judge* judge) {
  StreamView& s = judge->stream;
  uint64_t visits = 0;
  SLUICE_TRY(CheckLoops(judge));
  SLUICE_TRY(CountVisits(judge, &visits));
  SLUICE_TRY(judge->arena->Allocate(static_cast<size_t>(visits), &s.visits));
  Visit at = {};
  for (Visit& visit : s.visits) {
    visit = at;
    Advance(s, &at);
  }
  return Status::kOk;
}

int64_t MoveOfSlot(const StreamView& stream, uint32_t visit, uint32_t slot) {
  const sluice_instance_t& instance = InstanceOf(stream, visit);
  if (instance.first_step == SLUICE_NONE) return 0;
  const Nest nest = NestOf(stream, instance);
  const size_t words = static_cast<size_t>(WordsOf(BlockOf(stream, visit)));
  size_t at = size_t{instance.first_step} + 1 + 2 * size_t{slot};
  int64_t sum = 0;
  for (uint32_t d = 0; d < nest.depth; ++d, at += words) {
    const uint64_t step = Join(static_cast<uint32_t>(stream.steps[at]),
                               static_cast<uint32_t>(stream.steps[at + 1]));
    sum += static_cast<int64_t>(step) * stream.visits[visit].index[d];
  }
  return sum;
}

bool MoveTile(const StreamView& stream, uint32_t visit, sluice_tile_t* tile) {
  const sluice_instance_t& instance = InstanceOf(stream, visit);
  if (instance.first_step == SLUICE_NONE) return true;
  const BlockView& block = BlockOf(stream, visit);
  const Nest nest = NestOf(stream, instance);
  const size_t words = static_cast<size_t>(WordsOf(block));
  size_t at = size_t{instance.first_step} + 1 + 2 * size_t{block.slot_count} +
              kWordsOfKernel * size_t{tile->kernel};
  int64_t move[kWordsOfKernel] = {};
  for (uint32_t d = 0; d < nest.depth; ++d, at += words) {
    for (uint32_t i = 0; i < kWordsOfKernel; ++i) {
      move[i] += int64_t{stream.steps[at + i]} * stream.visits[visit].index[d];
    }
  }
  bool fits = true;
  const auto add = [&fits](int64_t by, uint32_t* field) {
    const int64_t sum = int64_t{*field} + by;
    fits = fits && sum >= 0 && sum <= INT32_MAX;
    *field = static_cast<uint32_t>(sum);
  };
  for (int a = 0; a < kAxes; ++a) add(move[a], &tile->origin[a]);
  add(move[kAxes], &tile->c_begin);
  add(move[kAxes], &tile->c_end);
  return fits;
}

}  // namespace judge
}  // namespace sluice
