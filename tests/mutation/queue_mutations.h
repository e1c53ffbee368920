// SPDX-License-Identifier: Apache-2.0
// Mutations of engines, and of what transfers say to them.
#ifndef SLUICE_TESTS_MUTATION_QUEUE_MUTATIONS_H_
#define SLUICE_TESTS_MUTATION_QUEUE_MUTATIONS_H_

#include <algorithm>

#include "mutation/mutant.h"

namespace sluice_test {

// An engine other than `engine` that can have work; the host is left out.
inline uint16_t OtherEngine(Chance* c, const Mutant& m, uint32_t engine) {
  const std::vector<sluice_engine_t> table = m.stream.Engines();
  while (true) {
    const uint32_t other = c->Below(table.size());
    if (other != engine && table[other].does != SLUICE_DOES_HOST) {
      return static_cast<uint16_t>(other);
    }
  }
}
// Moves a transfer to the list of another engine, at the same position.
inline bool OtherQueue(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, IsTransfer)) return false;
  const uint32_t other = OtherEngine(c, *m, s.engine);
  if (s.block->lists.size() <= other) s.block->lists.resize(other + 1);
  auto& from = s.block->lists[s.engine];
  auto& to = s.block->lists[other];
  const size_t at = std::min(s.index, to.size());
  to.insert(to.begin() + static_cast<long>(at), from[s.index]);
  from.erase(from.begin() + static_cast<long>(s.index));
  return true;
}
inline bool WrongRole(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, IsTransfer)) return false;
  s.transfer().role = static_cast<uint8_t>(1u << c->Below(6));
  return true;
}
inline bool WrongDescriptors(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, IsTransfer)) return false;
  s.transfer().descriptors = static_cast<uint16_t>(c->Below(4));
  return true;
}
inline bool WrongEngines(Chance* c, Mutant* m) {
  std::vector<sluice_engine_t> table = m->stream.Engines();
  sluice_engine_t& e = table[c->Below(table.size())];
  switch (c->Below(4)) {
    case 0:
      e.does = static_cast<uint16_t>(1 + c->Below(40));
      break;
    case 1:
      e.roles = static_cast<uint8_t>(c->Below(64));
      break;
    case 2:
      e.node = static_cast<uint16_t>(e.node == 0 ? SLUICE_ALL_NODES : c->Below(3));
      break;
    default:
      e.queue = static_cast<uint16_t>(c->Below(3));
      break;
  }
  m->stream.engine_table = table;
  return true;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_MUTATION_QUEUE_MUTATIONS_H_
