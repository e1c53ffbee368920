// SPDX-License-Identifier: Apache-2.0
#include "other.h"

int foreign_calls = 0;

namespace sluice {
uint64_t Fnv1aWords(const void*, size_t) {
  ++foreign_calls;
  return 99;
}
uint64_t Clock::Now() const {
  ++foreign_calls;
  return 99;
}
void* Arena::AllocateBytes(size_t, size_t) {
  ++foreign_calls;
  return nullptr;
}
}  // namespace sluice

namespace {
template <typename Table, typename Verifier>
int CallTable(const Table& table) {
  const uint64_t room[8] = {};
  int own = 0;
  own += table.template GetField<uint32_t>(4, 1) == 99;
  own += table.template GetField<uint8_t>(4, 1) == 99;
  own += table.template GetField<uint64_t>(4, 1) == 99;
  own += table.GetOptionalFieldOffset(4) == 99;
  own += !table.VerifyOffset(reinterpret_cast<const Verifier&>(room), 4);
  return own;
}
}  // namespace

int CallTheNeighbour() {
  sluice::Arena arena;
  int own = sluice::Fnv1aWords(nullptr, 0) == 99;
  own += sluice::Clock().Now() == 99;
  own += arena.AllocateBytes(1, 1) == nullptr;
  own += CallTable<flatbuffers::Table, flatbuffers::Verifier>({});
  own += CallTable<sluice_flatbuffers::Table, sluice_flatbuffers::Verifier>({});
  return own;
}
