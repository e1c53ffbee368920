// SPDX-License-Identifier: Apache-2.0
#include "import/border.h"

#include <cstdlib>

namespace sluice::import {
namespace {

constexpr size_t kAlignment = 16;

void* Allocate(void*, size_t bytes, size_t alignment) {
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

void Release(void*, void* pointer, size_t, size_t) { std::free(pointer); }

sluice_allocator_t AllocatorOf(const sluice_allocator_t* given) {
  if (given == nullptr)
    return {sizeof(sluice_allocator_t), 0, nullptr, Allocate, Release};
  const sluice_allocator_t allocator = Complete(given, "allocator");
  if (allocator.allocate == nullptr || allocator.release == nullptr) {
    throw Error(Fault::kBadArgument, "allocator.allocate or allocator.release is NULL");
  }
  return allocator;
}

// Copies a list of several lines as one line, cut to the diagnostic's capacity.
void CopyLine(const char* from, char* to, size_t capacity) {
  size_t n = 0;
  for (; *from != '\0' && n + 1 < capacity; ++from) {
    if (*from != '\n') {
      to[n++] = *from;
      continue;
    }
    while (from[1] == ' ') ++from;
    if (n > 0 && to[n - 1] != ':' && n + 1 < capacity) to[n++] = ',';
    if (n + 1 < capacity) to[n++] = ' ';
  }
  to[n] = '\0';
}

}  // namespace

sluice_status_t StatusOf(Fault fault) {
  switch (fault) {
    case Fault::kBadArgument:
      return SLUICE_BAD_ARGUMENT;
    case Fault::kBadInput:
      return SLUICE_BAD_INPUT;
    case Fault::kUnsupported:
      return SLUICE_UNSUPPORTED;
    case Fault::kTooLarge:
      return SLUICE_OUT_OF_MEMORY;
  }
  return SLUICE_INTERNAL;
}

sluice_status_t Tell(sluice_diagnostic_t* out, sluice_status_t status,
                     const char* stage, const char* message) noexcept {
  sluice_diagnostic_t diagnostic;
  std::memset(&diagnostic, 0, sizeof diagnostic);
  diagnostic.status = status;
  diagnostic.layer = diagnostic.tensor = diagnostic.instruction = SLUICE_NO_INDEX;
  CopyLine(stage, diagnostic.stage, sizeof diagnostic.stage);
  CopyLine(message, diagnostic.message, sizeof diagnostic.message);
  (void)WriteOut(diagnostic, out);
  return status;
}

sluice_bytes_t NewBytes(size_t size, const sluice_allocator_t* given) {
  const sluice_allocator_t allocator = AllocatorOf(given);
  void* memory = allocator.allocate(allocator.user, size, kAlignment);
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, size};
}

void HandOver(const Bytes& bytes, const sluice_allocator_t* given,
              sluice_bytes_t* out) {
  *out = NewBytes(bytes.size(), given);
  std::memcpy(out->data, bytes.data(), bytes.size());
}

}  // namespace sluice::import

void sluice_bytes_release(const sluice_allocator_t* given, sluice_bytes_t* bytes) {
  if (bytes == nullptr || bytes->data == nullptr) return;
  (void)sluice::import::Guarded(nullptr, "bytes", [&] {
    const sluice_allocator_t allocator = sluice::import::AllocatorOf(given);
    allocator.release(allocator.user, bytes->data, bytes->size,
                      sluice::import::kAlignment);
    *bytes = {nullptr, 0};
  });
}
