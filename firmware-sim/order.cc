// SPDX-License-Identifier: Apache-2.0
#include "order.h"

#include <algorithm>
#include <cstring>

#include "sim.h"

namespace sluice_sim {

Order::Order(const sluice_walker_t& walker, const std::vector<Engine>& engines)
    : walker_(walker),
      table_(engines),
      engines_(walker.engines),
      before_(walker.engines, 0),
      clocks_(walker.engines),
      now_(walker.engines),
      ended_(walker.engines, false) {}

const uint32_t* Order::Before(uint32_t visit) {
  while (ahead_.number < visit) {
    sluice_block_t block;
    sluice_walk_block(&walker_, ahead_.instance, &block);
    std::vector<uint32_t> list(engines_ + 1);
    std::memcpy(list.data(), walker_.image + block.list_offset, 4 * list.size());
    for (uint32_t e = 0; e < engines_; ++e) {
      before_.push_back(before_[before_.size() - engines_] + list[e + 1] - list[e]);
    }
    sluice_walk_next_visit(&walker_, &ahead_);
  }
  return before_.data() + size_t{visit} * engines_;
}

// Sets now_ to the joined clocks of the engine's last instruction and all wait targets.
void Order::Join(const sluice_instruction_t& instruction, const Flight& flight) {
  const uint32_t e = flight.engine;
  const uint32_t number = static_cast<uint32_t>(clocks_[e].size() / engines_) + 1;
  const uint32_t* before = Before(flight.visit.number);
  std::fill(now_.begin(), now_.end(), 0);
  const auto join = [&](uint32_t engine, uint32_t count) {
    const uint32_t* clock = clocks_[engine].data() + size_t{count - 1} * engines_;
    for (uint32_t i = 0; i < engines_; ++i) now_[i] = std::max(now_[i], clock[i]);
  };
  if (number > 1) join(e, number - 1);
  for (uint32_t w = 0; w < instruction.wait_count; ++w) {
    sluice_wait_t wait;
    sluice_walk_wait(&walker_, flight.visit.instance, instruction.first_wait + w,
                     &wait);
    const uint32_t there = before[wait.engine];
    if (wait.before == 0) {
      join(wait.engine, there + wait.count);
    } else if (wait.count < there) {
      join(wait.engine, there - wait.count);
    }
  }
  // Every later clock that includes this one also knows that the instruction has completed.
  now_[e] = number;
  clocks_[e].insert(clocks_[e].end(), now_.begin(), now_.end());
}

Trap Order::Compare(const Flight& flight, uint32_t number) {
  for (const Access& mine : flight.accesses) {
    if (past_.size() <= mine.space) past_.resize(mine.space + 1);
    for (const Past& other : past_[mine.space]) {
      if (!mine.write && !other.access.write) continue;
      if (other.engine == flight.engine || now_[other.engine] >= other.number) continue;
      if (!Overlap(mine, other.access)) continue;
      return {"race", std::string(mine.role) + " meets " + other.access.role +
                          " of instruction " + std::to_string(other.instruction) +
                          " of " + table_[other.engine].name +
                          ", and no wait orders the two"};
    }
  }
  for (const Access& mine : flight.accesses) {
    std::vector<Past>& list = past_[mine.space];
    list.push_back({mine, flight.engine, number, flight.instruction});
    if (list.size() % 64 == 0) Forget(&list);
  }
  return {};
}

// Drops accesses that every engine still running already knows to be complete.
void Order::Forget(std::vector<Past>* list) const {
  std::vector<uint32_t> known(engines_, UINT32_MAX);
  for (uint32_t e = 0; e < engines_; ++e) {
    if (ended_[e]) continue;
    const uint32_t* clock =
        clocks_[e].empty() ? nullptr : clocks_[e].data() + clocks_[e].size() - engines_;
    for (uint32_t i = 0; i < engines_; ++i) {
      known[i] = std::min(known[i], clock == nullptr ? 0 : clock[i]);
    }
  }
  const auto is_known = [&](const Past& p) { return p.number <= known[p.engine]; };
  list->erase(std::remove_if(list->begin(), list->end(), is_known), list->end());
}

Trap Order::Start(const sluice_instruction_t& instruction, const Flight& flight) {
  Join(instruction, flight);
  return Compare(flight, now_[flight.engine]);
}

}  // namespace sluice_sim
