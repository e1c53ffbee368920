// SPDX-License-Identifier: Apache-2.0
#include "execution.h"

#include <algorithm>
#include <random>

#include "reference.h"

namespace sluice_sim {

Execution::Execution(const SimulateOptions& options, const sluice_walker_t& walker,
                     const Plan& plan, Machine* machine, SimulateResult* result)
    : options_(options),
      walker_(walker),
      plan_(plan),
      machine_(*machine),
      result_(*result),
      order_(walker, machine->hardware.engines),
      cursors_(walker.engines),
      busy_(walker.engines, false) {
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
    first_debug_.push_back(first);
    first += block.instruction_count;
  }
  sluice_walk_start(&walker_, cursors_.data());
}

bool Execution::FailAt(const Trap& trap, const Flight& flight) {
  result_.error_engine = flight.engine;
  result_.error_instance = flight.visit.instance;
  result_.error_instruction = flight.instruction;
  result_.error_code = trap.code;
  result_.error = trap.text;
  return false;
}

bool Execution::StartOne(uint32_t e, const sluice_instruction_t& instruction) {
  Flight flight;
  flight.engine = e;
  flight.visit = cursors_[e].visit;
  flight.instruction = sluice_walk_position(&walker_, cursors_.data(), e);
  flight.start = now_;
  if (!sluice_walk_waits_hold(&walker_, cursors_.data(), e, nullptr)) return true;
  if (Cancelled(options_.cancel)) return FailAt({"cancelled", "cancelled"}, flight);
  if (Trap trap = StartInstruction(machine_, instruction, &flight))
    return FailAt(trap, flight);
  if (options_.check_races) {
    if (Trap trap = order_.Start(instruction, flight)) return FailAt(trap, flight);
  }
  busy_[e] = true;
  flights_.push_back(std::move(flight));
  return true;
}

bool Execution::StartReady(bool* any_left) {
  *any_left = false;
  for (uint32_t e = 0; e < walker_.engines; ++e) {
    if (busy_[e]) continue;
    sluice_instruction_t instruction;
    if (!sluice_walk_next(&walker_, cursors_.data(), e, &instruction)) {
      order_.End(e);
      continue;
    }
    if (cursors_[e].visit.number >= end_) continue;
    *any_left = true;
    if (!StartOne(e, instruction)) return false;
  }
  return true;
}

// Transfers that have reached the DRAM port are served one at a time, in order of
// arrival; of equal arrivals the lower engine is first.
void Execution::ServePort() {
  while (true) {
    Flight* first = nullptr;
    for (Flight& f : flights_) {
      if (!f.at_port || f.arrival > now_) continue;
      if (first == nullptr || f.arrival < first->arrival ||
          (f.arrival == first->arrival && f.engine < first->engine)) {
        first = &f;
      }
    }
    if (first == nullptr) return;
    const uint64_t at = std::max(first->arrival, port_free_);
    port_free_ = at + first->hold;
    Serve(machine_, at, first);
  }
}

// Advances to the next cycle in which a transfer reaches the port or an instruction
// completes.
void Execution::CompleteEarliest() {
  const auto next = [](const Flight& f) { return f.at_port ? f.arrival : f.end; };
  now_ = next(flights_[0]);
  for (const Flight& f : flights_) now_ = std::min(now_, next(f));
  for (size_t i = 0; i < flights_.size();) {
    if (flights_[i].at_port || flights_[i].end != now_) {
      ++i;
      continue;
    }
    Complete(i);
  }
}

void Execution::Complete(size_t flight) {
  const Flight& f = flights_[flight];
  CompleteFlight(machine_, f);
  sluice_walk_complete(&walker_, cursors_.data(), f.engine);
  busy_[f.engine] = false;
  Count(f);
  flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(flight));
}

bool Execution::RunInAnyOrder(uint64_t seed) {
  std::mt19937_64 random(seed);
  end_ = walker_.visits;
  while (true) {
    // What may happen next: an engine starts, or an instruction completes.
    std::vector<uint32_t> ready;
    std::vector<sluice_instruction_t> next(walker_.engines);
    bool any_left = false;
    for (uint32_t e = 0; e < walker_.engines; ++e) {
      if (busy_[e]) continue;
      if (!sluice_walk_next(&walker_, cursors_.data(), e, &next[e])) {
        order_.End(e);
        continue;
      }
      any_left = true;
      if (sluice_walk_waits_hold(&walker_, cursors_.data(), e, nullptr)) {
        ready.push_back(e);
      }
    }
    result_.cycles = now_++;
    const size_t choices = ready.size() + flights_.size();
    if (choices == 0) return any_left ? Deadlock() : true;
    const size_t choice = static_cast<size_t>(random() % choices);
    if (choice < ready.size()) {
      if (!StartOne(ready[choice], next[ready[choice]])) return false;
    } else {
      flights_[choice - ready.size()].end = now_;
      Complete(choice - ready.size());
    }
  }
}

void Execution::Count(const Flight& f) {
  ++result_.instructions;
  if (f.opcode == SLUICE_OPCODE_LOAD) result_.dram_read_bytes += f.bytes;
  if (f.opcode == SLUICE_OPCODE_STORE) result_.dram_write_bytes += f.bytes;
  if (f.opcode == SLUICE_OPCODE_FORWARD) result_.forward_bytes += f.bytes;
  if (f.opcode == SLUICE_OPCODE_HOST) result_.host_bytes += f.bytes;
  if (f.opcode == SLUICE_OPCODE_COMPUTE) ++result_.tiles;
  result_.macs += f.macs;
  result_.vector_ops += f.vector_ops;
  for (const Access& access : f.accesses) {
    const sluice_walk_operand_t& o = access.operand;
    if (o.region != SLUICE_REGION_GBUF) continue;
    result_.peak_buffer_bytes = std::max(result_.peak_buffer_bytes, o.offset + o.span);
  }
  if (!options_.trace) return;
  const bool of_node =
      f.opcode == SLUICE_OPCODE_COMPUTE || f.opcode == SLUICE_OPCODE_FORWARD;
  TraceEvent event;
  event.engine = f.engine;
  if (of_node) event.node = machine_.hardware.engines[f.engine].record.node;
  event.instance = f.visit.instance;
  event.visit = f.visit.number;
  event.instruction = f.instruction;
  event.opcode = f.opcode;
  event.op = f.op;
  event.layer = f.layer;
  event.start = f.start;
  event.end = f.end;
  event.bytes = f.bytes;
  const size_t debug = size_t{first_debug_[f.visit.instance]} + f.instruction;
  if (event.layer == kNowhere && debug < plan_.debug_layer.size()) {
    event.layer = plan_.debug_layer[debug];
  }
  options_.trace(event);
}

bool Execution::RunUntil(uint32_t end, uint64_t now) {
  now_ = now;
  port_free_ = 0;
  end_ = end;
  while (true) {
    bool any_left = false;
    if (!StartReady(&any_left)) return false;
    ServePort();
    result_.cycles = now_;
    if (flights_.empty()) return any_left ? Deadlock() : true;
    CompleteEarliest();
  }
}

bool Execution::Deadlock() {
  result_.error_code = "deadlock";
  for (uint32_t e = 0; e < walker_.engines; ++e) {
    sluice_wait_t wait;
    sluice_instruction_t instruction;
    if (!sluice_walk_next(&walker_, cursors_.data(), e, &instruction)) continue;
    (void)sluice_walk_waits_hold(&walker_, cursors_.data(), e, &wait);
    const uint32_t at = sluice_walk_position(&walker_, cursors_.data(), e);
    if (result_.error.empty()) {
      result_.error_engine = e;
      result_.error_instance = cursors_[e].visit.instance;
      result_.error_instruction = at;
    } else {
      result_.error += "; ";
    }
    result_.error +=
        machine_.hardware.engines[e].name + " stands at instruction " +
        std::to_string(at) + " of instance " +
        std::to_string(cursors_[e].visit.instance) + ", visit " +
        std::to_string(cursors_[e].visit.number) + ", waits for " +
        (wait.before == 0 ? std::to_string(wait.count) + " of "
                          : "all before but " + std::to_string(wait.count) + " of ") +
        machine_.hardware.engines[wait.engine].name;
  }
  return false;
}

}  // namespace sluice_sim
