// SPDX-License-Identifier: Apache-2.0
#include "plan/fused/parallel_starts.h"

#include <new>

#include "base/block_heap.h"

namespace sluice {

struct ParallelStarts::Start {
  Start(const FusionRun& shared, const sluice_schedule_options_t& options,
        const FusionSearch& s, const Budget& b, const Clock& time)
      : memory(heap.allocator(), 0, time),
        arena(&memory),
        kept(&memory),
        run(shared),
        costs(*shared.graph, *shared.hardware, *shared.lowering, options, &kept),
        search(s),
        budget(b) {}

  BlockHeap heap;
  Memory memory;
  Arena arena;
  Arena kept;  // what tiles cost: the search rewinds its own arena
  FusionRun run;
  TileCosts costs;
  FusionSearch search;
  Budget budget;
  Budget clock;  // of the memory: ends only with the call's own limits
  FusionResult result;
  Status status = Status::kStopped;
};

ParallelStarts::~ParallelStarts() {
  for (Start* start : start_) {
    if (start != nullptr) start->~Start();
  }
}

void ParallelStarts::Job(void* argument, uint32_t index) {
  Start* s = static_cast<ParallelStarts*>(argument)->start_[index];
  Diagnostic ignored = {};
  s->status = s->costs.Init(&ignored);
  if (s->status != Status::kOk) return;
  s->run.coster = s->costs.coster();
  s->status = SearchFusion(s->run.problem, ModelOf(&s->run), s->search,
                           Workspace{&s->budget, &s->arena, &ignored}, &s->result);
  if (s->status == Status::kOk) s->status = s->costs.status(&ignored);
}

Status ParallelStarts::Run(const FusionRun& run,
                           const sluice_schedule_options_t& options,
                           const FusionSearch& search, uint64_t bytes, Budget* budget,
                           FusionResult* out) {
  for (uint32_t i = 0; i < kStarts; ++i) {
    void* at = arena_.AllocateBytes(sizeof(Start), alignof(Start));
    void* block = arena_.AllocateBytes(bytes, 64);
    if (at == nullptr || block == nullptr) return Status::kOutOfMemory;
    start_[i] =
        new (at) Start(run, options, search, budget->Alone(), arena_.memory()->time());
    if (!start_[i]->heap.Init(block, bytes)) return Status::kOutOfMemory;
    // Seeds of starts lie far apart: otherwise a call with the next seed would repeat
    // starts of this call.
    start_[i]->search.seed = search.seed + (uint64_t{i} << 32);
    if (arena_.memory()->clock() != nullptr) {
      start_[i]->clock = arena_.memory()->clock()->Alone();
    }
    start_[i]->memory.Watch(&start_[i]->clock);
  }
  options.runner->run(options.runner->user, Job, this, kStarts);
  const Start* best = nullptr;
  for (const Start* s : start_) {
    if (s->status != Status::kOk) continue;
    if (best == nullptr || s->result.score.cost < best->result.score.cost) best = s;
  }
  budget->Join(start_[0]->budget);
  if (best == nullptr) return start_[0]->status;
  *out = best->result;
  return Status::kOk;
}

}  // namespace sluice
