// SPDX-License-Identifier: Apache-2.0
#include "solve/mapping/kapla/kapla.h"

#include "base/checked.h"
#include "solve/mapping/nest_search.h"

namespace sluice {

namespace {

// The exact search supports one array, fed by level 1 of two or three levels.
bool IsFlat(const Hardware& hardware) {
  for (const Fanout& fanout : hardware.fanouts) {
    if (fanout.extent > 1 && fanout.level != 1) return false;
  }
  return hardware.levels.size() <= 3;
}

bool IsBetter(const MappedNest& a, const MappedNest& b) {
  return a.objective < b.objective;
}

}  // namespace

Status MapKapla(const KaplaRequest& request, Budget* budget, Arena* arena,
                MappedNest* mapped, Diagnostic* diagnostic) {
  const MappingProblem& problem = request.problem;
  const Hardware& hardware = request.hardware;
  const KaplaOptions& options = request.options;
  if (options.greedy) {
    return MapKaplaGreedy({problem, hardware, options}, budget, mapped, diagnostic);
  }
  const bool flat = IsFlat(hardware);
  const Status exact = MapConvExact({problem, hardware, options.constraints}, budget,
                                    arena, mapped, diagnostic);
  if (exact == Status::kOk && mapped->proved) return exact;
  if (exact != Status::kOk && exact != Status::kUnsupported && flat) return exact;
  // Outside the exact search's space (sliding registers, other hierarchies) the greedy
  // or the local search may find a better nest.
  const double bound = NestBound(problem, hardware, options.constraints);
  if (exact == Status::kOk) mapped->bound = Min(mapped->bound, bound);
  MappedNest other;
  Diagnostic second = *diagnostic;
  const Status status =
      flat
          ? MapKaplaGreedy({problem, hardware, options}, budget, &other, &second)
          : SearchNest(problem, hardware, options.constraints, budget, &other, &second);
  if (status == Status::kOk) {
    if (exact == Status::kOk && !IsBetter(other, *mapped)) return exact;
    *mapped = other;
    mapped->bound = Min(bound, other.objective);
    mapped->proved = mapped->objective <= mapped->bound;
    return status;
  }
  if (exact == Status::kOk) return exact;
  *diagnostic = second;
  return status;
}

Status MapLayers(const LayersRequest& request, Budget* budget, Arena* arena,
                 MappingTable* table, Diagnostic* diagnostic) {
  const Span<const MappingProblem> layers = request.layers;
  size_t slots = 16;
  while (slots < 2 * layers.size()) slots *= 2;
  Span<uint32_t> index;  // open addressing: entry + 1, 0 = free
  SLUICE_TRY(arena->Allocate(slots, &index));
  SLUICE_TRY(arena->Allocate(layers.size(), &table->entry));
  SLUICE_TRY(arena->Allocate(layers.size(), &table->problems));
  SLUICE_TRY(arena->Allocate(layers.size(), &table->nests));
  uint32_t entries = 0;
  for (uint32_t i = 0; i < layers.size(); ++i) {
    size_t slot = HashProblem(layers[i]) & (slots - 1);
    while (index[slot] != 0 &&
           !SameProblem(table->problems[index[slot] - 1], layers[i])) {
      slot = (slot + 1) & (slots - 1);
    }
    if (index[slot] == 0) {
      table->problems[entries] = layers[i];
      // A search may finish one layer before it looks at the budget.
      const Status status =
          budget->Exhausted()
              ? Fail(diagnostic, Status::kStopped, "mapping")
                    .Text(
                        "a limit or a cancel ended the call before this layer was "
                        "mapped")
              : MapKapla({layers[i], request.hardware, request.options}, budget, arena,
                         &table->nests[entries], diagnostic);
      if (status != Status::kOk) {
        diagnostic->layer = i;
        return status;
      }
      index[slot] = ++entries;
    }
    table->entry[i] = index[slot] - 1;
  }
  table->problems = table->problems.Slice(0, entries);
  table->nests = table->nests.Slice(0, entries);
  return Status::kOk;
}

}  // namespace sluice
