// SPDX-License-Identifier: Apache-2.0
// Shared by all C functions of libsluice_import: reads and writes the caller's structs
// of any version, turns an exception into a status and a diagnostic, and copies results
// into memory of the caller's allocator.
//
// Input    the caller's structs, struct_size first; the caller's allocator or NULL
// Output   complete structs of this version; the caller's structs up to their
//          struct_size
// Errors   statuses of sluice.h; nothing is thrown through Guarded
#ifndef SLUICE_IMPORT_BORDER_H_
#define SLUICE_IMPORT_BORDER_H_

#include <cstring>
#include <new>
#include <string>

#include "import/bytes.h"
#include "import/error.h"
#include "sluice/import.h"

namespace sluice::import {

// The reserved field of a struct; 0 if the struct has none.
template <typename T>
auto ReservedOf(const T& in, int) -> decltype(in.reserved) {
  return in.reserved;
}
template <typename T>
uint32_t ReservedOf(const T&, long) {
  return 0;
}

// The caller's struct in this version's layout: a missing tail is zero, an unknown tail
// and a reserved field must be zero.
template <typename T>
T Complete(const T* in, const char* name) {
  T out;
  std::memset(static_cast<void*>(&out), 0, sizeof out);
  out.struct_size = sizeof out;
  if (in == nullptr) return out;
  const size_t size = in->struct_size;
  const auto* bytes = reinterpret_cast<const unsigned char*>(in);
  bool known = size >= sizeof(uint32_t);
  for (size_t i = sizeof out; i < size; ++i) known = known && bytes[i] == 0;
  if (!known) {
    throw Error(Fault::kBadArgument,
                std::string(name) + ".struct_size is not that of a known version");
  }
  std::memcpy(static_cast<void*>(&out), in, size < sizeof out ? size : sizeof out);
  out.struct_size = sizeof out;
  if (ReservedOf(out, 0) != 0) {
    throw Error(Fault::kBadArgument, std::string(name) + ".reserved must be 0");
  }
  return out;
}

// Writes up to the caller's struct_size and sets it to what was written.
template <typename T>
sluice_status_t WriteOut(const T& from, T* to) {
  if (to == nullptr || to->struct_size < sizeof(uint32_t)) return SLUICE_BAD_ARGUMENT;
  const size_t size = to->struct_size < sizeof from ? to->struct_size : sizeof from;
  std::memcpy(static_cast<void*>(to), &from, size);
  to->struct_size = static_cast<uint32_t>(size);
  return SLUICE_OK;
}

// Throws kBadArgument when a pointer that must be there is NULL.
inline void MustBeThere(const void* pointer, const char* name) {
  if (pointer == nullptr) {
    throw Error(Fault::kBadArgument, std::string(name) + " is NULL");
  }
}

sluice_status_t StatusOf(Fault fault);

// Fills the caller's diagnostic, where there is one, and returns the status.
sluice_status_t Tell(sluice_diagnostic_t* out, sluice_status_t status,
                     const char* stage, const char* message) noexcept;

// Memory of the allocator; throws bad_alloc when it has none left.
sluice_bytes_t NewBytes(size_t size, const sluice_allocator_t* allocator);
// Copies the bytes into such memory.
void HandOver(const Bytes& bytes, const sluice_allocator_t* allocator,
              sluice_bytes_t* out);

// Runs work(); what it throws becomes the status.
template <typename Work>
sluice_status_t Guarded(sluice_diagnostic_t* diagnostic, const char* stage,
                        Work work) noexcept {
  try {
    work();
    return SLUICE_OK;
  } catch (const Error& error) {
    return Tell(diagnostic, StatusOf(error.fault()), stage, error.what());
  } catch (const std::bad_alloc&) {
    return Tell(diagnostic, SLUICE_OUT_OF_MEMORY, stage, "memory is exhausted");
  } catch (const std::exception& error) {
    return Tell(diagnostic, SLUICE_INTERNAL, stage, error.what());
  } catch (...) {
    return Tell(diagnostic, SLUICE_INTERNAL, stage, "an unknown exception");
  }
}

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_BORDER_H_
