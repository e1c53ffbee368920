// SPDX-License-Identifier: Apache-2.0
#include "cli/out_of_memory.h"

#include <unistd.h>

#include <cstdlib>
#include <new>

#include "cli/failure.h"

namespace {

bool throws = false;

[[noreturn]] void RunOut() {
  using sluice::cli::kOutOfMemory;
  if (throws) throw std::bad_alloc();
  (void)!write(STDERR_FILENO, kOutOfMemory, sizeof kOutOfMemory - 1);
  _exit(sluice::cli::kIo);
}

void* Allocate(size_t bytes) {
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) RunOut();
  return memory;
}

void* Allocate(size_t bytes, std::align_val_t alignment) {
  void* memory = nullptr;
  if (posix_memalign(&memory, static_cast<size_t>(alignment), bytes) != 0) RunOut();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return Allocate(bytes); }
void* operator new[](size_t bytes) { return Allocate(bytes); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, alignment);
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

void sluice::cli::ThrowWhenOutOfMemory() { throws = true; }
