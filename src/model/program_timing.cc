// SPDX-License-Identifier: Apache-2.0
// When the steps of a program end, by the timing of stream.h.
#include "base/checked.h"
#include "model/host.h"
#include "model/off_chip.h"
#include "model/program.h"

namespace sluice {

namespace {

// A LOAD or STORE on its queue, or a HOST call that uses the DRAM port: cycles before
// it asks for the port, and that it holds the port.
struct PortUse {
  int64_t before;
  int64_t hold;
};

PortUse PortUseOf(const Graph& graph, const Hardware& hardware, const Program& program,
                  const Step& step) {
  if (step.kind == StepKind::kHost) {
    const Layer& layer = graph.layers[step.item];
    return {HostCycles(layer), HostHold(hardware, HostTrafficOf(graph, layer).bytes())};
  }
  const TransferForm& form = program.transfer_form(step.item);
  const Queue& queue = program.engines().queue(form.queue);
  const QueueWork work = WorkOf(graph, program, form).queue;
  return {CyclesToPort(queue, work.descriptors) + HomeLatency(hardware, form.region),
          HoldCycles(hardware, form.region, work.bytes)};
}

int64_t StepCycles(const Graph& graph, const Hardware& hardware, const Program& program,
                   const Step& step) {
  switch (step.kind) {
    case StepKind::kCompute:
      return program.tile_form(step.item).cycles;
    case StepKind::kForward: {
      const TransferForm& form = program.transfer_form(step.item);
      const int64_t latency =
          hardware.hop_latency_cycles *
          FarthestHops(program.cols(), step.node, {form.to, form.cols, form.rows});
      const Rational bandwidth = hardware.link_bandwidth;
      if (bandwidth.numerator == 0) return Max<int64_t>(latency, 1);  // unlimited
      return latency + TransferCycles(BoxBytes(program.box(form.buffer)),
                                      bandwidth.numerator, bandwidth.denominator);
    }
    default: {
      const PortUse use = PortUseOf(graph, hardware, program, step);
      return Max<int64_t>(use.before + use.hold, step.kind == StepKind::kHost ? 0 : 1);
    }
  }
}

}  // namespace

int64_t CyclesOfStep(const ProgramRun& run, const Step& step) {
  return StepCycles(run.graph, run.hardware, run.program, step);
}

Status CountEngines(const Program& program, Arena* arena, Span<uint32_t>* begin) {
  const uint32_t engines = program.engines().count();
  SLUICE_TRY(arena->Allocate(engines + 1, begin));
  for (size_t i = 0; i < program.size(); ++i) {
    if (i % 1024 == 1023 && arena->memory()->Stop()) return Status::kStopped;
    ++(*begin)[EngineOf(program, program.step(i)) + 1];
  }
  for (uint32_t e = 0; e < engines; ++e) (*begin)[e + 1] += (*begin)[e];
  return Status::kOk;
}

Status CutBlocks(const Graph& graph, const Hardware& hardware, int64_t max_cycles,
                 Arena* scratch, Program* program) {
  Arena memory(scratch->memory());
  Sequence<uint32_t> cuts(&memory);
  size_t block = 0;
  int64_t left = 0;
  for (size_t i = 0; i < program->size(); ++i) {
    if (i % 256 == 255 && scratch->memory()->Stop()) return Status::kStopped;
    const int64_t cycles = StepCycles(graph, hardware, *program, program->step(i));
    bool begins = false;
    for (; block < program->block_count() && program->block_begin(block) == i; ++block)
      begins = true;
    if (begins || cycles > left) {
      SLUICE_TRY(cuts.Push(static_cast<uint32_t>(i)));
      left = max_cycles;
    }
    left -= Min(cycles, left);
  }
  program->DropBlocks();
  for (size_t i = 0; i < cuts.size(); ++i) SLUICE_TRY(program->BeginBlock(cuts[i]));
  return Status::kOk;
}

namespace {

// When steps end, with transfers of several queues at the DRAM port: first come, first
// served. An engine whose next step waits for a step that has not ended yet is in the
// list of that step's engine.
class Timing {
 public:
  Timing(const ProgramRun& run, const ProgramWaits& waits, Arena* arena)
      : run_(run), waits_(waits), arena_(arena) {}

  Status Init() {
    const uint32_t engines = run_.program.engines().count();
    SLUICE_TRY(CountEngines(run_.program, arena_, &begin_));
    SLUICE_TRY(arena_->Allocate(run_.program.size(), &step_));
    SLUICE_TRY(arena_->Allocate(run_.program.size(), &finish_));
    SLUICE_TRY(arena_->Allocate(engines, &next_));
    SLUICE_TRY(arena_->Allocate(engines, &arrival_));
    SLUICE_TRY(arena_->Allocate(engines, &waiting_));
    SLUICE_TRY(arena_->Allocate(engines, &link_));
    SLUICE_TRY(arena_->Allocate(engines, &ready_));
    for (uint32_t e = 0; e < engines; ++e) {
      next_[e] = begin_[e];
      arrival_[e] = -1;
      waiting_[e] = link_[e] = kNone;
    }
    for (uint32_t i = 0; i < run_.program.size(); ++i) {
      step_[next_[EngineOf(run_.program, run_.program.step(i))]++] = i;
    }
    for (uint32_t e = 0; e < engines; ++e) next_[e] = begin_[e];
    return Status::kOk;
  }

  // *finish: when each step of the program ends.
  Status Run(Span<int64_t>* finish) {
    SLUICE_TRY(Serve());
    SLUICE_TRY(arena_->Allocate(finish_.size(), finish));
    for (size_t i = 0; i < finish_.size(); ++i) (*finish)[step_[i]] = finish_[i];
    return Status::kOk;
  }

 private:
  Status Serve() {
    const Engines& engines = run_.program.engines();
    for (uint32_t e = engines.count(); e-- > 0;) ready_[ready_count_++] = e;
    while (true) {
      while (ready_count_ > 0) SLUICE_TRY(GoOn(ready_[--ready_count_]));
      // The transfer that asked for the port first. A transfer that is not known yet
      // starts after one that still waits for the port, so it asks later.
      uint32_t first = kNone;
      for (uint32_t e = 0; e <= engines.host(); ++e) {
        if (arrival_[e] < 0) continue;
        if (first == kNone || arrival_[e] < arrival_[first]) first = e;
      }
      if (first == kNone) return Status::kOk;
      const Step step = run_.program.step(step_[next_[first]]);
      const int64_t hold =
          PortUseOf(run_.graph, run_.hardware, run_.program, step).hold;
      port_free_ = Later(Max(arrival_[first], port_free_), hold);
      arrival_[first] = -1;
      finish_[next_[first]++] = port_free_;
      ready_[ready_count_++] = first;
      Wake(first);
    }
  }

  static int64_t Later(int64_t at, int64_t cycles) {
    int64_t end = 0;
    return CheckedAdd(at, cycles, &end) ? end : INT64_MAX;
  }

  // Engines that wait for a step of `engine` become ready to look again. An engine is
  // ready or in one list.
  void Wake(uint32_t engine) {
    for (uint32_t e = waiting_[engine]; e != kNone; e = link_[e]) {
      ready_[ready_count_++] = e;
    }
    waiting_[engine] = kNone;
  }

  // The cycle at which the waits of the engine's next step hold. -1: not known yet; the
  // engine is then in the list of one that it waits for.
  int64_t StartOf(uint32_t engine) {
    const uint32_t i = step_[next_[engine]];
    int64_t start = next_[engine] == begin_[engine] ? 0 : finish_[next_[engine] - 1];
    for (uint32_t w = waits_.begin[i]; w < waits_.begin[i + 1]; ++w) {
      const ProgramWait& wait = waits_.waits[w];
      const uint32_t target = begin_[wait.engine] + wait.count - 1;
      if (target >= next_[wait.engine]) {
        link_[engine] = waiting_[wait.engine];
        waiting_[wait.engine] = engine;
        return -1;
      }
      start = Max(start, finish_[target]);
    }
    return start;
  }

  // Ends the engine's steps until one asks for the port or waits for another engine.
  Status GoOn(uint32_t engine) {
    const uint32_t before = next_[engine];
    while (next_[engine] < begin_[engine + 1]) {
      if (++looks_ % 256 == 0 && arena_->memory()->Stop()) return Status::kStopped;
      const int64_t start = StartOf(engine);
      if (start < 0) break;
      const Step step = run_.program.step(step_[next_[engine]]);
      if (step.kind == StepKind::kLoad || step.kind == StepKind::kStore ||
          (step.kind == StepKind::kHost && run_.hardware.host.uses_port)) {
        arrival_[engine] = Later(
            start, PortUseOf(run_.graph, run_.hardware, run_.program, step).before);
        break;
      }
      finish_[next_[engine]++] =
          Later(start, StepCycles(run_.graph, run_.hardware, run_.program, step));
    }
    if (next_[engine] != before) Wake(engine);
    return Status::kOk;
  }

  const ProgramRun& run_;
  const ProgramWaits& waits_;
  Arena* arena_;
  // Steps by engine and number: those of engine e from begin_[e] on.
  Span<uint32_t> begin_;
  Span<uint32_t> step_;
  Span<int64_t> finish_;
  Span<uint32_t> next_;     // per engine: the first that has not ended
  Span<int64_t> arrival_;   // per engine: when its transfer asks for the port, or -1
  Span<uint32_t> waiting_;  // per engine: the first of the engines that wait for it
  Span<uint32_t> link_;     // per engine: the next in the list that it is in
  Span<uint32_t> ready_;    // engines that may go on
  uint32_t ready_count_ = 0;
  int64_t port_free_ = 0;
  uint32_t looks_ = 0;
};

// When steps end where one queue moves everything: in the order of the program.
Status FinishInOrder(const ProgramRun& run, const ProgramWaits& waits, Arena* arena,
                     Span<int64_t>* finish) {
  const auto& [graph, hardware, program] = run;
  Span<uint32_t> begin, next;
  SLUICE_TRY(CountEngines(program, arena, &begin));
  SLUICE_TRY(arena->Allocate(program.engines().count(), &next));
  // What transfers of a form took: those side by side are of few forms.
  constexpr uint32_t kKnown = 8;
  struct {
    uint32_t form = kNone;
    int64_t cycles = 0;
  } known[kKnown];
  Span<int64_t> by_engine;
  SLUICE_TRY(arena->Allocate(program.size(), &by_engine));
  SLUICE_TRY(arena->Allocate(program.size(), finish));
  for (size_t i = 0; i < program.size(); ++i) {
    if (i % 256 == 255 && arena->memory()->Stop()) return Status::kStopped;
    const Step step = program.step(i);
    const uint32_t engine = EngineOf(program, step);
    const uint32_t number = begin[engine] + next[engine]++;
    int64_t start = number == begin[engine] ? 0 : by_engine[number - 1];
    for (uint32_t w = waits.begin[i]; w < waits.begin[i + 1]; ++w) {
      const ProgramWait& wait = waits.waits[w];
      start = Max(start, by_engine[begin[wait.engine] + wait.count - 1]);
    }
    int64_t cycles = 0, end = 0;
    if (step.kind == StepKind::kLoad || step.kind == StepKind::kStore) {
      const uint32_t form = program.form_of_transfer(step.item);
      auto& one = known[form % kKnown];
      if (one.form != form) one = {form, StepCycles(graph, hardware, program, step)};
      cycles = one.cycles;
    } else {
      cycles = StepCycles(graph, hardware, program, step);
    }
    if (!CheckedAdd(start, cycles, &end)) end = INT64_MAX;
    by_engine[number] = (*finish)[i] = end;
  }
  return Status::kOk;
}

}  // namespace

Status PredictCycles(const ProgramRun& run, const ProgramWaits& waits, Arena* scratch,
                     int64_t* cycles, Span<int64_t> block_cycles) {
  Arena memory(scratch->memory());
  Span<int64_t> finish;  // of each step
  if (run.program.engines().one_queue()) {
    SLUICE_TRY(FinishInOrder(run, waits, &memory, &finish));
  } else {
    Timing timing(run, waits, &memory);
    SLUICE_TRY(timing.Init());
    SLUICE_TRY(timing.Run(&finish));
  }
  *cycles = 0;
  size_t block = 0;
  for (size_t i = 0; i < finish.size(); ++i) {
    while (block < block_cycles.size() && run.program.block_begin(block + 1) <= i) {
      block_cycles[block++] = *cycles;
    }
    *cycles = Max(*cycles, finish[i]);
  }
  while (block < block_cycles.size()) block_cycles[block++] = *cycles;
  return Status::kOk;
}

}  // namespace sluice
