// SPDX-License-Identifier: Apache-2.0
#include "execution.h"

#include <algorithm>
#include <random>

#include "reference.h"

namespace sluice_sim {

namespace {

// By instance: its first index in debug_layer.
std::vector<uint32_t> FirstDebug(const sluice_walker_t& walker) {
  std::vector<uint32_t> all;
  uint32_t first = 0;
  for (uint32_t i = 0; i < walker.header.instance_count; ++i) {
    sluice_instance_t instance;
    std::memcpy(
        &instance,
        walker.image + walker.header.instance_offset + size_t{i} * sizeof instance,
        sizeof instance);
    sluice_block_t block;
    std::memcpy(&block,
                walker.image + walker.header.block_offset +
                    size_t{instance.block} * sizeof block,
                sizeof block);
    all.push_back(first);
    first += block.instruction_count;
  }
  return all;
}

bool FailAt(Execution* e, const Trap& trap, const Flight& flight) {
  e->result.error_engine = flight.engine;
  e->result.error_instance = flight.visit.instance;
  e->result.error_instruction = flight.instruction;
  e->result.error_code = trap.code;
  e->result.error = trap.text;
  return false;
}

TraceEvent EventOf(const Execution& e, const Flight& f) {
  const bool of_node =
      f.opcode == SLUICE_OPCODE_COMPUTE || f.opcode == SLUICE_OPCODE_FORWARD;
  TraceEvent event;
  event.engine = f.engine;
  if (of_node) event.node = e.machine.hardware.engines[f.engine].record.node;
  event.instance = f.visit.instance;
  event.visit = f.visit.number;
  event.instruction = f.instruction;
  event.opcode = f.opcode;
  event.op = f.op;
  event.layer = f.layer;
  event.start = f.start;
  event.end = f.end;
  event.bytes = f.bytes;
  const size_t debug = size_t{e.first_debug[f.visit.instance]} + f.instruction;
  if (event.layer == kNowhere && debug < e.plan.debug_layer.size()) {
    event.layer = e.plan.debug_layer[debug];
  }
  return event;
}

void Count(Execution* e, const Flight& f) {
  ++e->result.instructions;
  if (f.opcode == SLUICE_OPCODE_LOAD) e->result.dram_read_bytes += f.bytes;
  if (f.opcode == SLUICE_OPCODE_STORE) e->result.dram_write_bytes += f.bytes;
  if (f.opcode == SLUICE_OPCODE_FORWARD) e->result.forward_bytes += f.bytes;
  if (f.opcode == SLUICE_OPCODE_HOST) e->result.host_bytes += f.bytes;
  if (f.opcode == SLUICE_OPCODE_COMPUTE) ++e->result.tiles;
  e->result.macs += f.macs;
  e->result.vector_ops += f.vector_ops;
  for (const Access& access : f.accesses) {
    const sluice_walk_operand_t& o = access.operand;
    if (o.region != SLUICE_REGION_GBUF) continue;
    e->result.peak_buffer_bytes =
        std::max(e->result.peak_buffer_bytes, o.offset + o.span);
  }
  if (!e->options.trace) return;
  e->options.trace(EventOf(*e, f));
}

void Complete(Execution* e, size_t flight) {
  const Flight& f = e->flights[flight];
  CompleteFlight(e->machine, f);
  sluice_walk_complete(&e->walker, e->cursors.data(), f.engine);
  e->busy[f.engine] = false;
  Count(e, f);
  e->flights.erase(e->flights.begin() + static_cast<std::ptrdiff_t>(flight));
}

bool StartOne(Execution* e, uint32_t engine, const sluice_instruction_t& instruction) {
  Flight flight;
  flight.engine = engine;
  flight.visit = e->cursors[engine].visit;
  flight.instruction = sluice_walk_position(&e->walker, e->cursors.data(), engine);
  flight.start = e->now;
  if (!sluice_walk_waits_hold(&e->walker, e->cursors.data(), engine, nullptr))
    return true;
  Poll(e->options.cancel);
  if (Trap trap = StartInstruction(e->machine, instruction, &flight))
    return FailAt(e, trap, flight);
  if (e->options.check_races) {
    if (Trap trap = e->order.Start(instruction, flight)) return FailAt(e, trap, flight);
  }
  e->busy[engine] = true;
  e->flights.push_back(std::move(flight));
  return true;
}

bool StartReady(Execution* e, bool* any_left) {
  *any_left = false;
  for (uint32_t engine = 0; engine < e->walker.engines; ++engine) {
    if (e->busy[engine]) continue;
    sluice_instruction_t instruction;
    if (!sluice_walk_next(&e->walker, e->cursors.data(), engine, &instruction)) {
      e->order.End(engine);
      continue;
    }
    if (e->cursors[engine].visit.number >= e->end) continue;
    *any_left = true;
    if (!StartOne(e, engine, instruction)) return false;
  }
  return true;
}

// Transfers that have reached the DRAM port are served one at a time, in order of
// arrival; of equal arrivals the lower engine is first.
void ServePort(Execution* e) {
  while (true) {
    Flight* first = nullptr;
    for (Flight& f : e->flights) {
      if (!f.at_port || f.arrival > e->now) continue;
      if (first == nullptr || f.arrival < first->arrival ||
          (f.arrival == first->arrival && f.engine < first->engine)) {
        first = &f;
      }
    }
    if (first == nullptr) return;
    const uint64_t at = std::max(first->arrival, e->port_free);
    e->port_free = at + first->hold;
    Serve(e->machine, at, first);
  }
}

// Advances to the next cycle in which a transfer reaches the port or an instruction
// completes.
void CompleteEarliest(Execution* e) {
  const auto next = [](const Flight& f) { return f.at_port ? f.arrival : f.end; };
  e->now = next(e->flights[0]);
  for (const Flight& f : e->flights) e->now = std::min(e->now, next(f));
  for (size_t i = 0; i < e->flights.size();) {
    if (e->flights[i].at_port || e->flights[i].end != e->now) {
      ++i;
      continue;
    }
    Complete(e, i);
  }
}

bool Deadlock(Execution* e) {
  e->result.error_code = "deadlock";
  for (uint32_t engine = 0; engine < e->walker.engines; ++engine) {
    sluice_wait_t wait;
    sluice_instruction_t instruction;
    if (!sluice_walk_next(&e->walker, e->cursors.data(), engine, &instruction))
      continue;
    (void)sluice_walk_waits_hold(&e->walker, e->cursors.data(), engine, &wait);
    const uint32_t at = sluice_walk_position(&e->walker, e->cursors.data(), engine);
    if (e->result.error.empty()) {
      e->result.error_engine = engine;
      e->result.error_instance = e->cursors[engine].visit.instance;
      e->result.error_instruction = at;
    } else {
      e->result.error += "; ";
    }
    e->result.error +=
        e->machine.hardware.engines[engine].name + " stands at instruction " +
        std::to_string(at) + " of instance " +
        std::to_string(e->cursors[engine].visit.instance) + ", visit " +
        std::to_string(e->cursors[engine].visit.number) + ", waits for " +
        (wait.before == 0 ? std::to_string(wait.count) + " of "
                          : "all before but " + std::to_string(wait.count) + " of ") +
        e->machine.hardware.engines[wait.engine].name;
  }
  return false;
}

// Runs in one of the orders that the waits allow, drawn by `seed`: instructions that are
// ready start, and those that run complete, at random. Cycles count these events.
bool RunInAnyOrder(Execution* e, uint64_t seed) {
  std::mt19937_64 random(seed);
  e->end = e->walker.visits;
  while (true) {
    // What may happen next: an engine starts, or an instruction completes.
    std::vector<uint32_t> ready;
    std::vector<sluice_instruction_t> next(e->walker.engines);
    bool any_left = false;
    for (uint32_t engine = 0; engine < e->walker.engines; ++engine) {
      if (e->busy[engine]) continue;
      if (!sluice_walk_next(&e->walker, e->cursors.data(), engine, &next[engine])) {
        e->order.End(engine);
        continue;
      }
      any_left = true;
      if (sluice_walk_waits_hold(&e->walker, e->cursors.data(), engine, nullptr)) {
        ready.push_back(engine);
      }
    }
    e->result.cycles = e->now++;
    const size_t choices = ready.size() + e->flights.size();
    if (choices == 0) return any_left ? Deadlock(e) : true;
    const size_t choice = static_cast<size_t>(random() % choices);
    if (choice < ready.size()) {
      if (!StartOne(e, ready[choice], next[ready[choice]])) return false;
    } else {
      e->flights[choice - ready.size()].end = e->now;
      Complete(e, choice - ready.size());
    }
  }
}

}  // namespace

Execution::Execution(const SimulateOptions& the_options,
                     const sluice_walker_t& the_walker, const Plan& the_plan,
                     Machine* the_machine, SimulateResult* the_result)
    : options(the_options),
      walker(the_walker),
      plan(the_plan),
      machine(*the_machine),
      result(*the_result),
      order(walker, machine.hardware.engines),
      first_debug(FirstDebug(walker)),
      cursors(walker.engines),
      busy(walker.engines, false) {
  sluice_walk_start(&walker, cursors.data());
}

bool Execute(Execution* e) {
  const uint64_t seed = e->options.interleaving;
  return seed != 0 ? RunInAnyOrder(e, seed) : ExecuteUntil(e, e->walker.visits, 0);
}

bool ExecuteUntil(Execution* e, uint32_t end, uint64_t now) {
  e->now = now;
  e->port_free = 0;
  e->end = end;
  while (true) {
    bool any_left = false;
    if (!StartReady(e, &any_left)) return false;
    ServePort(e);
    e->result.cycles = e->now;
    if (e->flights.empty()) return any_left ? Deadlock(e) : true;
    CompleteEarliest(e);
  }
}

}  // namespace sluice_sim
