// SPDX-License-Identifier: Apache-2.0
#include "plan/carry/carried_section.h"

#include "base/checked.h"
#include "plan/carry/carried_dram.h"
#include "plan/carry/carried_offsets.h"
#include "plan/fused/place_section.h"

namespace sluice {
namespace {

constexpr int kMostEighths = 3;  // of the scratchpad, kept free for new buffers
// Latencies count as equal up to 1 / kAllowance above the smaller one. A carried
// schedule is much slower than a list schedule from 1 / kMuchSlower above it on; from 1
// / kSearched if it comes from a search on this machine.
constexpr int64_t kAllowance = 50, kMuchSlower = 20, kSearched = 10;

}  // namespace

Status StartOfCarried(const CarriedSchedule& carried, Span<const uint32_t> layers,
                      Span<uint32_t> local, Arena* arena, Section* section,
                      bool* touched) {
  const FusionRun& run = section->run;
  GroupNotation* n = &section->start;
  const size_t size = run.layer.size();
  SLUICE_TRY(arena->Allocate(size, &n->order));
  SLUICE_TRY(arena->Allocate(size, &n->cut));
  SLUICE_TRY(arena->Allocate(size, &n->tiles));
  SLUICE_TRY(arena->Allocate(size, &section->touched));
  for (uint32_t i = 0; i < size; ++i) local[run.layer[i]] = i;
  const CarriedLayer* last = nullptr;
  uint32_t count = 0;
  *touched = false;
  for (uint32_t layer : layers) {
    const uint32_t at = local[layer];
    if (at >= size || run.layer[at] != layer) continue;  // an append
    const CarriedLayer& c = carried.layer[layer];
    n->order[count] = at;
    n->cut[count] = last == nullptr || last->fusion != c.fusion ? kCutDram
                    : last->group != c.group                    ? kCutFine
                                                                : kCutNone;
    n->tiles[count++] = c.tiles;
    section->touched[at] = c.touched;
    *touched = *touched || c.touched != 0;
    last = &c;
  }
  return Status::kOk;
}

Status HoldTimes(const CarriedCall& call, Section* section, bool* held) {
  CarriedParts parts;
  section->result.dma = DmaNotation{};
  *held = false;
  SLUICE_TRY(AdoptDram(call, DmaNotation{}, 0, section, &parts, held));
  *held = *held && !parts.tight;
  if (!*held) return Status::kOk;
  SLUICE_TRY(
      BuffersOfFused(section->run, section->result, call.arena, &section->buffers));
  bool crowded = false;
  return AdoptOffsets(call, parts, section, held, &crowded);
}

Status AdoptTimes(const CarriedCall& call, Budget* budget, Section* section) {
  const CarriedSchedule& carried = call.schedule;
  const int64_t capacity = call.capacity;
  Arena* arena = call.arena;
  FusionResult* r = &section->result;
  const DmaNotation listed = r->dma;
  const int64_t listed_cycles = r->score.latency_cycles;
  bool adopted = false;
  bool held = false;
  CarriedParts parts;
  // Loads near the new part may start later to make room, as long as latency hardly
  // grows.
  int64_t first = 0;
  bool crowded = true;
  for (int eighths = 0; eighths <= kMostEighths && crowded; ++eighths) {
    SLUICE_TRY(AdoptDram(call, listed, eighths, section, &parts, &adopted));
    if (!adopted) break;
    if (eighths == 0) first = r->score.latency_cycles;
    SLUICE_TRY(BuffersOfFused(section->run, *r, arena, &section->buffers));
    if (r->score.latency_cycles > first + first / kAllowance) break;
    SLUICE_TRY(AdoptOffsets(call, parts, section, &held, &crowded));
  }
  QuickPlacement placed;
  if (adopted) {
    if (!held) {
      SLUICE_TRY(PlaceAtOnce(section, capacity, false, budget, arena, &placed));
      held = placed.status == Status::kOk;
    }
    const int64_t cycles = r->score.latency_cycles;
    if (held &&
        (carried.minimise || cycles <= listed_cycles + listed_cycles / kAllowance)) {
      return Status::kOk;
    }
  }
  const Section kept = *section;
  r->dma = listed;
  r->score.latency_cycles = listed_cycles;
  // If the carried schedule is much slower than the list schedule, placing the latter
  // is worth more time. A list schedule ignores addresses, so a schedule that was
  // searched on this machine may lie further above it.
  const bool searched =
      carried.same_machine && carried.touched <= kFewLayers && !parts.tight;
  const int64_t slow =
      listed_cycles + listed_cycles / (searched ? kSearched : kMuchSlower);
  const bool stays =
      held && (carried.minimise || kept.result.score.latency_cycles <= slow);
  SLUICE_TRY(BuffersOfFused(section->run, *r, arena, &section->buffers));
  SLUICE_TRY(PlaceAtOnce(section, capacity, !stays, budget, arena, &placed));
  if (placed.status == Status::kOk) return Status::kOk;
  if (!stays) return PlaceOrTighten(section, capacity, budget, arena, &placed);
  *section = kept;
  return Status::kOk;
}

}  // namespace sluice
