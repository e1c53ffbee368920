// SPDX-License-Identifier: Apache-2.0
// The worst neighbour: functions with the very names that sluice uses inside, as a host
// has them that brings its own flatbuffers or its own copy of sluice. Each counts its
// calls.
#ifndef SLUICE_TESTS_PACKAGE_HOST_OTHER_H_
#define SLUICE_TESTS_PACKAGE_HOST_OTHER_H_

#include <stddef.h>
#include <stdint.h>

extern int foreign_calls;

// flatbuffers of another version, under its own namespace and under sluice's. They are
// templates and inline functions, which linkers merge with others of the same name.
#define OTHER_FLATBUFFERS(space)                                                   \
  namespace space {                                                                \
  class Verifier;                                                                  \
  class Table {                                                                    \
   public:                                                                         \
    template <typename T>                                                          \
    __attribute__((noinline)) T GetField(uint16_t, T) const {                      \
      ++foreign_calls;                                                             \
      return static_cast<T>(99);                                                   \
    }                                                                              \
    __attribute__((noinline)) uint16_t GetOptionalFieldOffset(uint16_t) const {    \
      ++foreign_calls;                                                             \
      return 99;                                                                   \
    }                                                                              \
    __attribute__((noinline)) bool VerifyOffset(const Verifier&, uint16_t) const { \
      ++foreign_calls;                                                             \
      return false;                                                                \
    }                                                                              \
  };                                                                               \
  }
OTHER_FLATBUFFERS(flatbuffers)
OTHER_FLATBUFFERS(sluice_flatbuffers)
#undef OTHER_FLATBUFFERS

// Strong symbols: a second definition is a link error, unless sluice's are hidden.
namespace sluice {
uint64_t Fnv1aWords(const void* data, size_t size);
struct Clock {
  uint64_t Now() const;
};
class Arena {
 public:
  void* AllocateBytes(size_t bytes, size_t alignment);
};
}  // namespace sluice

int CallTheNeighbour();  // how often its own functions were called

#endif  // SLUICE_TESTS_PACKAGE_HOST_OTHER_H_
