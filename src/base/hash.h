// SPDX-License-Identifier: Apache-2.0
// FNV-1a, 64 bits: content hashes of graphs, hardware, plans and bodies.
//
// Streams and their bodies are hashed word by word, which is four times as fast.
//
// Input    bytes, and the hash of what stands before them
// Output   64 bits
// Errors   kStopped, where a memory with a clock is given
// Cost     one multiplication per byte or word
#ifndef SLUICE_BASE_HASH_H_
#define SLUICE_BASE_HASH_H_

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

namespace sluice {

inline uint64_t Fnv1a(const void* bytes, size_t size,
                      uint64_t hash = 0xcbf29ce484222325u) {
  const unsigned char* p = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i < size; ++i) hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

// Hashes little-endian 32-bit words; ignores a tail shorter than a word.
inline uint64_t Fnv1aWords(const void* bytes, size_t size,
                           uint64_t hash = 0xcbf29ce484222325u) {
  const unsigned char* p = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i + 4 <= size; i += 4) {
    const uint32_t word = p[i] | uint32_t{p[i + 1]} << 8 | uint32_t{p[i + 2]} << 16 |
                          uint32_t{p[i + 3]} << 24;
    hash = (hash ^ word) * 0x100000001b3u;
  }
  return hash;
}

// Fnv1aWords for whole streams; kStopped when the memory's clock runs out on the way.
class Memory;
Status HashWords(const void* bytes, size_t size, const Memory& memory, uint64_t* hash);

}  // namespace sluice

#endif  // SLUICE_BASE_HASH_H_
